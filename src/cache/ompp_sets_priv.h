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

/** \return whether lines can be touched by their tags alone: a tag has all bits of the set, and vectors hold a set. */
bool ompp_sets_go_by_tags(const ompp_sets_t *s);

/**
 * \brief Touches many lines, in their order.
 * \param[in]     next   goes by tags, too: those that were not there will be looked for in it soon. NULL = nowhere.
 * \param[in,out] tags   of them, ompp_sets_tag(); those of lines that were there leave it. Shape [n].
 * \param[in,out] which  goes with them. Shape [n].
 * \return how many stay.
 */
unsigned ompp_sets_touch_tags(ompp_sets_t *s, const ompp_sets_t *next, uint32_t *tags, uint16_t *which, unsigned n);

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

/** \brief The set of a line will be looked at soon: its tag, of sets that go by tags. */
static inline void ompp_sets_prepare(const ompp_sets_t *s, uint32_t tag)
{
    __builtin_prefetch(s->tags + (size_t)(tag & (s->sets - 1)) * s->stride, 1);
}

#endif
