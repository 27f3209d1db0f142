/**
 * \file
 * Names that look like one that is not there: what a user may have meant.
 */
#ifndef OMPP_NEAREST_H
#define OMPP_NEAREST_H

#include <stddef.h>

enum { OMPP_NEAREST_MAX = 3 };

/** The best so far. */
typedef struct {
    const char *wanted;
    size_t limit; /* letters that may differ */
    size_t n;
    struct {
        const void *item;
        size_t distance;
    } best[OMPP_NEAREST_MAX]; /* [n], the nearest first; of equal ones the first that was offered */
} ompp_nearest_t;

/**
 * \brief Letters to change, leave out or put in, without regard to case; of longer names the first 127 are looked at.
 */
size_t ompp_nearest_distance(const char *a, const char *b);

/**
 * \brief Begins a search: a name may differ in a third of its letters, a short one in two.
 * \param[in] wanted  borrowed.
 */
void ompp_nearest_begin(ompp_nearest_t *nearest, const char *wanted);

/** \brief One that there is. \param[in] item  what is kept of it; borrowed. */
void ompp_nearest_offer(ompp_nearest_t *nearest, const char *name, const void *item);

#endif
