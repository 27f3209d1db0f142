/**
 * \file
 * Which of many intervals hold a point: functions that hold an address, statements that hold a line. Each interval
 * knows the last one before it that holds its begin, so that an answer takes as many steps as intervals are nested
 * there, also where some overlap without being nested.
 */
#ifndef OMPP_INTERVAL_H
#define OMPP_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

#define OMPP_NO_INTERVAL UINT32_MAX

typedef struct {
    uint64_t low, high; /* [low, high) */
    uint32_t item;      /* the caller's */
    uint32_t around;    /* set by ompp_intervals_link() */
} ompp_interval_t;

/** \brief Puts them in the order of their begins, and links them. n < OMPP_NO_INTERVAL. */
void ompp_intervals_link(ompp_interval_t *intervals, size_t n);

/**
 * \brief The last interval that begins at or before a point and holds it, and the next one before that.
 * \return index, descending; OMPP_NO_INTERVAL = there is none.
 */
uint32_t ompp_intervals_last(const ompp_interval_t *intervals, size_t n, uint64_t point);
uint32_t ompp_intervals_before(const ompp_interval_t *intervals, uint32_t index, uint64_t point);

#endif
