/**
 * \file
 * Experiments that ranks begin or end at different moments: whether what they say of a region may be off by that. On
 * plain data.
 */
#ifndef OMPP_UNSYNCHRONISED_H
#define OMPP_UNSYNCHRONISED_H

#include "model/ompp_whatif_profile.h"

#include <stdbool.h>

/* larger speed-ups were seen to be off where order is decided as it goes, or ranks do not all meet */
#define OMPP_CAUSAL_RELIABLE_PERCENT 50u
/* experiments with one speed-up: then it does not matter that ranks are at another place at begin and end */
#define OMPP_UNSYNCHRONISED_ENOUGH 12u

/** Of the experiments with a region so far. All zero bytes: none. */
typedef struct {
    bool clocks[OMPP_WHATIF_SPEEDUPS]; /* one at least, with this speed-up, was begun or ended unsynchronised */
    bool drifts;                       /* more, or less, is queued between ranks at the ends of all of them */
} ompp_unsynchronised_t;

/**
 * \brief An experiment of this clock is over, and counted there.
 * \param[in] drifts  known of one that is unsynchronised only.
 */
static inline void ompp_unsynchronised_note(ompp_unsynchronised_t *a, unsigned clock, bool unsynchronised, bool drifts)
{
    if (!unsynchronised) return;
    a->clocks[clock] = true;
    a->drifts = drifts;
}

/** \return whether the region's results may be off. */
static inline bool ompp_unsynchronised_matters(const ompp_unsynchronised_t *a,
                                               const ompp_whatif_clock_t clocks[OMPP_WHATIF_SPEEDUPS])
{
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
        if (a->clocks[k] && (clocks[k].observations < OMPP_UNSYNCHRONISED_ENOUGH ||
                             clocks[k].permille > 10 * OMPP_CAUSAL_RELIABLE_PERCENT))
            return true;
    return a->drifts;
}

#endif
