/**
 * \file
 * Which of many structures one thread has counted for since it last handed its counts over: a bit for each, and a bit
 * for each word of these that is not 0. One writer, whose signal handlers may write, too. Private to src/data.
 */
#ifndef OMPP_USED_H
#define OMPP_USED_H

#include "data/ompp_data.h"

#define OMPP_USED_WORDS ((OMPP_DATA_MAX + 64) / 64)

typedef struct {
    uint64_t some[(OMPP_USED_WORDS + 63) / 64];
    uint64_t word[OMPP_USED_WORDS];
} ompp_used_t;

static inline void ompp_used_mark(ompp_used_t *used, uint32_t object)
{
    uint64_t bit = 1ull << (object & 63), *word = &used->word[object >> 6];

    if (*word & bit) return;
    __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    __atomic_fetch_or(&used->some[object >> 12], 1ull << ((object >> 6) & 63), __ATOMIC_RELAXED);
}

/**
 * \brief Takes out what is noted in one word, the next one behind those that were taken: a sweep comes to its end also
 * while the thread goes on counting.
 * \param[in,out] next  words below are not looked at; 0 = a sweep begins.
 * \param[out] first    the structure that the lowest bit stands for.
 * \return the bits; 0: there is no more.
 */
static inline uint64_t ompp_used_take(ompp_used_t *used, uint32_t most, uint32_t *next, uint32_t *first)
{
    while (*next <= most >> 6) {
        const uint32_t i = *next >> 6;
        const uint64_t some = __atomic_load_n(&used->some[i], __ATOMIC_RELAXED) & ~0ull << (*next & 63);
        if (!some) {
            *next = (i + 1) << 6;
            continue;
        }
        const uint32_t at = i * 64 + (uint32_t)__builtin_ctzll(some);
        __atomic_fetch_and(&used->some[i], ~(1ull << (at & 63)), __ATOMIC_RELAXED);
        const uint64_t bits = __atomic_exchange_n(&used->word[at], 0, __ATOMIC_RELAXED);
        *next = at + 1;
        *first = at * 64;
        if (bits) return bits;
    }
    return 0;
}

#endif
