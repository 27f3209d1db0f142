/**
 * \file
 * The cache of recipes. Async-signal-safe, by any threads at once. Private to src/unwind.
 *
 * An entry is read and written without a lock. Its first word is the key, mixed with the other words: where two threads
 * have written at once, or one is at it, the words do not match, and the entry is none.
 */
#ifndef OMPP_CACHE_PRIV_H
#define OMPP_CACHE_PRIV_H

#include "unwind/ompp_unwind_priv.h"

#include "base/ompp_hash.h"

#include <stdatomic.h>

#define OMPP_CACHE_BITS 14u
#define OMPP_CACHE_BYTES (sizeof(ompp_cache_entry_t) << OMPP_CACHE_BITS)

typedef struct {
    _Atomic uint64_t check, recipe, start, target;
} ompp_cache_entry_t;

/** NULL until ompp_unwind_start(). On a line of memory, all 0 at first. */
extern _Atomic(ompp_cache_entry_t *) ompp_cache_entries;

static inline uint64_t ompp_cache_key(uint64_t rip, bool is_exact)
{
    return (rip << 1 | is_exact) ^ (uint64_t)atomic_load_explicit(&ompp_unwind_generation, memory_order_relaxed) << 49;
}

static inline uint64_t ompp_cache_mixed(uint64_t key, uint64_t recipe, uint64_t start, uint64_t target)
{
    return key * OMPP_HASH_STEP ^ recipe ^ (start << 23 | start >> 41) ^ (target << 46 | target >> 18);
}

/** Two entries share a line of memory; the second is the older one. */
static inline ompp_cache_entry_t *ompp_cache_line(uint64_t key)
{
    return atomic_load_explicit(&ompp_cache_entries, memory_order_relaxed) +
           2 * ompp_hash_place(key, OMPP_CACHE_BITS - 1);
}

static inline bool ompp_cache_read(ompp_cache_entry_t *entry, uint64_t key, ompp_place_t *place)
{
    const uint64_t check = atomic_load_explicit(&entry->check, memory_order_relaxed);
    const uint64_t recipe = atomic_load_explicit(&entry->recipe, memory_order_relaxed);
    const uint64_t start = atomic_load_explicit(&entry->start, memory_order_relaxed);
    const uint64_t target = atomic_load_explicit(&entry->target, memory_order_relaxed);

    if (ompp_cache_mixed(key, recipe, start, target) != check) return false;
    memcpy(&place->recipe, &recipe, sizeof recipe);
    place->start = start;
    place->target = target;
    return true;
}

/** \brief What is known by this key. \return false: nothing. */
static inline bool ompp_cache_get(uint64_t key, ompp_place_t *place)
{
    ompp_cache_entry_t *line = ompp_cache_line(key);

    return ompp_cache_read(line, key, place) || ompp_cache_read(line + 1, key, place);
}

static inline void ompp_cache_put(uint64_t key, const ompp_place_t *place)
{
    ompp_cache_entry_t *line = ompp_cache_line(key);
    ompp_place_t other;
    uint64_t recipe;

    memcpy(&recipe, &place->recipe, sizeof recipe);
    if (!ompp_cache_read(line, key, &other)) {
        for (int i = 0; i < 4; i++) {
            _Atomic uint64_t *from = &line[0].check + i, *to = &line[1].check + i;
            atomic_store_explicit(to, atomic_load_explicit(from, memory_order_relaxed), memory_order_relaxed);
        }
    }
    atomic_store_explicit(&line->recipe, recipe, memory_order_relaxed);
    atomic_store_explicit(&line->start, place->start, memory_order_relaxed);
    atomic_store_explicit(&line->target, place->target, memory_order_relaxed);
    atomic_store_explicit(&line->check, ompp_cache_mixed(key, recipe, place->start, place->target),
                          memory_order_relaxed);
}

#endif
