/**
 * \file
 * A hash index over an array: open addressing, slots hold an element's index and part of its hash. The array and the
 * equality stay with the user. Sized once for all elements that will ever come in; never grows. For src/model only.
 */
#ifndef OMPP_KEY_MAP_PRIV_H
#define OMPP_KEY_MAP_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    uint32_t index; /* of the element + 1; 0 = free */
    uint32_t hash;
} ompp_map_slot_t;

typedef struct {
    size_t mask;
    ompp_map_slot_t *slots; /* owned */
} ompp_map_t;

/** Whether the element at index is the wanted one. */
typedef bool ompp_map_equal_t(const void *array, uint32_t index, const void *wanted);

/** \brief Room for n elements. \return false when out of memory. Free with ompp_map_fini(). */
static inline bool ompp_map_init(ompp_map_t *map, size_t n)
{
    size_t size = 16;

    while (size < 2 * n) size *= 2;
    map->mask = size - 1;
    map->slots = calloc(size, sizeof *map->slots);
    return map->slots != NULL;
}

static inline void ompp_map_fini(ompp_map_t *map)
{
    free(map->slots);
    map->slots = NULL;
}

/** \brief Joins one more number to a hash (splitmix64's finisher; start with any seed). */
static inline uint64_t ompp_map_hash(uint64_t seed, uint64_t value)
{
    uint64_t h = (seed ^ value) + 0x9e3779b97f4a7c15u;

    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

/** \return index of the element that is equal to wanted, or UINT32_MAX. */
static inline uint32_t ompp_map_find(const ompp_map_t *map, uint64_t hash, ompp_map_equal_t *equal, const void *array,
                                     const void *wanted)
{
    for (size_t i = hash & map->mask; map->slots[i].index; i = (i + 1) & map->mask) {
        const ompp_map_slot_t *slot = &map->slots[i];
        if (slot->hash == (uint32_t)(hash >> 32) && equal(array, slot->index - 1, wanted)) return slot->index - 1;
    }
    return UINT32_MAX;
}

/** \brief Adds an element; of equal ones, the first added is found. */
static inline void ompp_map_put(ompp_map_t *map, uint64_t hash, uint32_t index)
{
    size_t i = hash & map->mask;

    while (map->slots[i].index) i = (i + 1) & map->mask;
    map->slots[i] = (ompp_map_slot_t){index + 1, (uint32_t)(hash >> 32)};
}

#endif
