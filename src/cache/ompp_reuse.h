/**
 * \file
 * Reuse distance: how many distinct lines of memory a thread has touched since it touched a line last. A fully
 * associative cache of so many lines, or fewer, that replaces the least recently used one misses there. So one pass
 * gives the misses of caches of every size.
 *
 * A tracker knows a bounded number of lines. It is told of all lines, or of a part that is chosen by the line alone (a
 * spatial sample, as SHARDS does): then distances are those of the part, and the caller scales them.
 */
#ifndef OMPP_REUSE_H
#define OMPP_REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OMPP_REUSE_NEW UINT32_MAX

/* Lines have a place in the order of their last touches: a bit in a map, and sums over its words. */
typedef struct {
    uint32_t capacity; /* lines, a power of 2 */
    uint32_t live;     /* lines that are known */
    uint32_t next;     /* place of the next touch, below 2 * capacity */
    uint32_t oldest;   /* no line stands below */
    uint64_t last;     /* line touched last */
    uint64_t *line_at; /* [2 * capacity] by place */
    uint64_t *bits;    /* [2 * capacity / 64] places that hold a line */
    uint32_t *sums;    /* [2 * capacity / 64 + 1] a Fenwick tree over the words of bits, from 1 */
    uint32_t *table;   /* [2 * capacity] open addressing by line: place + 1, 0 = free */
} ompp_reuse_t;

/** \brief Bytes for a tracker's arrays. \param[in] capacity  a power of 2, 64 or more. */
size_t ompp_reuse_bytes(uint32_t capacity);

/** \brief Makes a tracker. \param[in] memory  borrowed, zero, ompp_reuse_bytes() long, aligned to 8. */
void ompp_reuse_init(ompp_reuse_t *reuse, uint32_t capacity, void *memory);

/** \brief Forgets all lines. */
void ompp_reuse_clear(ompp_reuse_t *reuse);

/**
 * \brief Touches a line. When the tracker is full, the line touched longest ago is forgotten: its distance would be
 *        capacity or more.
 * \param[in] line  not 0.
 * \return distinct lines touched since it was touched last; OMPP_REUSE_NEW: it is not known.
 */
uint32_t ompp_reuse_touch(ompp_reuse_t *reuse, uint64_t line);

/** \brief Forgets the lines that are not kept: the part that is told of has become smaller. */
void ompp_reuse_thin(ompp_reuse_t *reuse, bool (*keeps)(const void *rule, uint64_t line), const void *rule);

#endif
