/*
 * Where the values of a thread go: the profile's node for each of the arena's, and values added to it.
 */
#include "model/ompp_collect_priv.h"

#include <string.h>

uint32_t ompp_collect_mapped(const ompp_collecting_t *c, ompp_off_t off)
{
    const uint64_t node = ompp_table_get(&c->map, ompp_collect_key(c, off));

    return node ? (uint32_t)node - 1 : OMPP_NONE;
}

void ompp_collect_put(ompp_collecting_t *c, uint32_t node, uint32_t location, uint32_t set, uint32_t object,
                      const uint64_t *from, uint32_t n)
{
    const bool another = ompp_profile_find_block(c->profile, node, location, set, object) != NULL;
    const ompp_node_t *in = &c->profile->nodes[node];
    const ompp_block_t key = {.location = location, .set = set, .object = object};

    /* One that comes out of order moves the others. */
    if (!another && in->nblocks && ompp_block_compare(&in->blocks[in->nblocks - 1], &key) > 0 &&
        !ompp_collect_spend(c, in->nblocks * sizeof key))
        return;
    uint64_t *to = ompp_profile_block(c->profile, node, location, set, object, n);

    if (to && another) ompp_combine(&c->metrics, set, OMPP_OVER_THREADS, to, from, n);
    else if (to) memcpy(to, from, n * sizeof *to);
}
