/*
 * Where the values of a thread go: the profile's node for each of the arena's, and values added to it.
 */
#include "model/ompp_collect_priv.h"
#include "model/ompp_key_map_priv.h"

#include <stdlib.h>
#include <string.h>

uint32_t ompp_collect_mapped(const ompp_collecting_t *c, ompp_off_t off)
{
    for (uint32_t i = (uint32_t)ompp_map_hash(0, off); c->map_size; i++) {
        uint32_t k = i & (c->map_size - 1);
        if (c->map[k].off == off) return c->map[k].node;
        if (c->map[k].off == 0) break;
    }
    return OMPP_NONE;
}

void ompp_collect_map(ompp_collecting_t *c, ompp_off_t off, uint32_t node)
{
    uint32_t i = (uint32_t)ompp_map_hash(0, off);

    while (c->map[i & (c->map_size - 1)].off) i++;
    c->map[i & (c->map_size - 1)].off = off;
    c->map[i & (c->map_size - 1)].node = node;
}

bool ompp_collect_map_new(ompp_collecting_t *c, uint32_t nnodes)
{
    c->map_size = 64;
    while (c->map_size < 2 * (size_t)nnodes) c->map_size *= 2;
    free(c->map);
    c->map = calloc(c->map_size, sizeof *c->map);
    return c->map != NULL;
}

void ompp_collect_put(ompp_collecting_t *c, uint32_t node, uint32_t location, uint32_t set, uint32_t object,
                      const uint64_t *from, uint32_t n)
{
    const bool another = ompp_profile_find_block(c->profile, node, location, set, object) != NULL;
    uint64_t *to = ompp_profile_block(c->profile, node, location, set, object, n);

    if (to && another) ompp_combine(&c->metrics, set, OMPP_OVER_THREADS, to, from, n);
    else if (to) memcpy(to, from, n * sizeof *to);
}
