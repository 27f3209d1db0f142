/**
 * \file
 * Whether threads that do not meet are in step: units of work that one counts are really made by all, and do not come
 * from what was stored between threads (a queue) and will be used up. On plain data.
 *
 * A flow is the work in a region, of all threads. As long as nothing is taken from a store, a unit of work takes as
 * much of each flow as on average of the run. One that takes less was made before. One that takes more fills a store:
 * then others are waited for as always.
 */
#ifndef OMPP_STEADY_H
#define OMPP_STEADY_H

#include "causal/clock/ompp_clocks.h"

#define OMPP_STEADY_SMALL 8u   /* flows of less than one part in so many of the largest do not count */
#define OMPP_STEADY_SLACK 0.5  /* units that may be missing: threads are at any place of theirs */
#define OMPP_STEADY_PART 0.02  /* of the units */
#define OMPP_STEADY_STORED 2.0 /* units that the average may be off by: stores are filled as the run begins */

/** What was done until a moment. */
typedef struct {
    uint64_t visits;                     /* units of work */
    ompp_time_t work[OMPP_CLOCKS_SLOTS]; /* ns, of each flow; 0 = none */
} ompp_steady_t;

/**
 * \return units that were not made, by the flow that misses most, of those between from and to; the average is that
 *         since first.
 */
static inline double ompp_steady_missing(const ompp_steady_t *first, const ompp_steady_t *from, const ompp_steady_t *to)
{
    const double units = (double)(to->visits - from->visits), all = (double)(to->visits - first->visits);
    ompp_time_t largest = 0;
    double missing = 0;

    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++)
        if (to->work[s] > first->work[s] && to->work[s] - first->work[s] > largest)
            largest = to->work[s] - first->work[s];
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        const ompp_time_t work = to->work[s] > first->work[s] ? to->work[s] - first->work[s] : 0;
        if (work == 0 || work < largest / OMPP_STEADY_SMALL) continue;
        const double made = (double)(to->work[s] - from->work[s]) * all / (double)work;
        if (units - made > missing) missing = units - made;
    }
    return missing;
}

/** \return whether as much was done for each unit between from and to as between first and to. */
static inline bool ompp_steady(const ompp_steady_t *first, const ompp_steady_t *from, const ompp_steady_t *to)
{
    if (to->visits <= from->visits || from->visits < first->visits) return false;
    const double units = (double)(to->visits - from->visits), all = (double)(to->visits - first->visits);
    const double slack = OMPP_STEADY_PART * units > OMPP_STEADY_SLACK ? OMPP_STEADY_PART * units : OMPP_STEADY_SLACK;

    return ompp_steady_missing(first, from, to) <= slack + OMPP_STEADY_STORED * units / all;
}

#endif
