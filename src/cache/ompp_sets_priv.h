/**
 * \file
 * The sets of one cache or TLB, with a policy. Private to src/cache.
 */
#ifndef OMPP_SETS_PRIV_H
#define OMPP_SETS_PRIV_H

#include "cache/ompp_levels.h"

#define OMPP_SETS_EMPTY UINT32_MAX

typedef struct {
    uint32_t *tags;      /* [sets][stride]; with LRU and FIFO those that stay longest come first */
    uint32_t *tree;      /* [sets] bits of PLRU; NULL with others */
    uint64_t reciprocal; /* of sets, where they are no power of 2; 0 = they are */
    uint64_t chance;     /* state of RANDOM */
    uint32_t sets, ways, stride;
    ompp_policy_t policy;
} ompp_sets_t;

/** \return false: no memory. */
bool ompp_sets_init(ompp_sets_t *s, uint32_t sets, uint32_t ways, ompp_policy_t policy, ompp_memory_new_t memory_new);

void ompp_sets_clear(ompp_sets_t *s);

/**
 * \brief A line is looked for, and brought when it is not there.
 * \param[out] evicted  what has left for it, OMPP_SETS_EMPTY = nothing.
 * \return whether it was there.
 */
bool ompp_sets_touch(ompp_sets_t *s, uint64_t line, uint32_t *evicted);

/**
 * \brief Touches the lines of many addresses, in their order.
 * \param[in]  first, stride  where the first address is, and bytes from one to the next.
 * \param[out] missed         numbers of those that were not there; shape [n].  \return how many.
 */
unsigned ompp_sets_touch_all(ompp_sets_t *s, const uint64_t *first, size_t stride, unsigned n, unsigned shift,
                             uint16_t *missed);

/**
 * \brief The same of some of them, n numbers in which[]; those of lines that were there leave it.
 * \return how many stay.
 */
unsigned ompp_sets_touch_some(ompp_sets_t *s, const uint64_t *first, size_t stride, uint16_t *which, unsigned n,
                              unsigned shift);

/** \brief The same as touch, but a line that is not there is not brought. */
bool ompp_sets_touch_only(ompp_sets_t *s, uint64_t line);

/** \brief Takes out a line, by the bits of its tag that tell lines near each other apart. \return it was there. */
bool ompp_sets_remove(ompp_sets_t *s, uint64_t line);

/* Lines of 16 GiB and their sets can be told from tags alone; lines further away differ by chance in the high bits. */
#define OMPP_TAG_BITS 28
#define OMPP_TAG_EXACT 0x0fffffffu

static inline uint32_t ompp_sets_tag(uint64_t line)
{
    const uint64_t far = line >> OMPP_TAG_BITS;

    return (uint32_t)(line & OMPP_TAG_EXACT) | (uint32_t)((far ^ far >> 4 ^ far >> 8 ^ far >> 12) << OMPP_TAG_BITS);
}

static inline uint32_t ompp_sets_index(const ompp_sets_t *s, uint64_t line)
{
    if (!s->reciprocal) return (uint32_t)line & (s->sets - 1);
    const uint64_t times = (uint64_t)(((unsigned __int128)line * s->reciprocal) >> 64);
    return (uint32_t)(line - times * s->sets);
}

/** \brief The set of a line will be looked at soon. */
static inline void ompp_sets_prepare(const ompp_sets_t *s, uint64_t line)
{
    const uint32_t *row = s->tags + (size_t)ompp_sets_index(s, line) * s->stride;

    __builtin_prefetch(row, 1);
    if (s->stride > 8) __builtin_prefetch(row + 8, 1);
}

#endif
