/*
 * A place keeps its value blocks in a chain, which is walked; so those of structures that come late are remembered in a
 * table. Where memory for the profile is full, that is remembered, too, and not tried again with each change of region.
 */
#include "hooks/ompp_count_values_priv.h"

#include <sys/mman.h>

#define CHAINED 16 /* structures: a chain is as quick for so many */

static ompp_values_found_t *place_of(const ompp_values_cache_t *cache, ompp_off_t node, uint32_t object)
{
    uint64_t hash = (node ^ (uint64_t)object << 32) * 0x9e3779b97f4a7c15u;

    for (size_t at = hash >> 32;; at++) {
        ompp_values_found_t *found = &cache->found[at & (cache->size - 1)];
        if (!found->node || (found->node == node && found->object == object)) return found;
    }
}

static bool has_room(ompp_values_cache_t *cache)
{
    ompp_values_cache_t bigger = {.size = cache->size ? 2 * cache->size : 1024, .used = cache->used};

    if (2 * (cache->used + 1) <= cache->size) return true;
    bigger.found =
        mmap(NULL, bigger.size * sizeof *bigger.found, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bigger.found == MAP_FAILED) return false;
    for (size_t i = 0; i < cache->size; i++)
        if (cache->found[i].node) *place_of(&bigger, cache->found[i].node, cache->found[i].object) = cache->found[i];
    ompp_values_cache_free(cache);
    *cache = bigger;
    return true;
}

uint64_t *ompp_values_cached(ompp_values_cache_t *cache, ompp_off_t node, unsigned set, unsigned object, unsigned n)
{
    if (object <= CHAINED || !node || !has_room(cache)) return ompp_meter_values(node, set, object, n);
    ompp_values_found_t *found = place_of(cache, node, object);
    if (!found->node) {
        *found = (ompp_values_found_t){node, object, ompp_meter_values(node, set, object, n)};
        cache->used++;
    }
    return found->values;
}

void ompp_values_cache_free(ompp_values_cache_t *cache)
{
    if (cache->found) munmap(cache->found, cache->size * sizeof *cache->found);
    *cache = (ompp_values_cache_t){0};
}
