/**
 * \file
 * What going through intervals again (ompp_replay.h) may cost. Beyond that they keep the order that was measured, and what the others
 * have saved beyond theirs is taken for them, by their length. Which ones, is left to chance when not all can be had, so that a program
 * whose loops take turns has a part of each.
 *
 * On plain data, as ompp_replay.h. One thread uses it at a time.
 */
#ifndef OMPP_RATION_H
#define OMPP_RATION_H

#include "causal/ompp_clocks.h"

#define OMPP_RATION_PART 100u      /* one part in so many of the run: virtual clocks as a whole may take two */
#define OMPP_RATION_FREE 1000000u  /* ns that may be spent however short the run is */
#define OMPP_RATION_ENOUGH 20u     /* one in so many intervals that were gone through speaks for the others */

/** All zero bytes: nothing spent. */
typedef struct {
    uint64_t replayed, kept; /* intervals */
    ompp_time_t spent;       /* ns */
    unsigned skip;           /* so many are passed over, although they could be had */
    uint64_t chance;
    bool scarce;             /* one was kept since the last that was not */
    uint64_t set;            /* that the rest is about */
    ompp_fine_t length;      /* of those that were gone through */
    ompp_fine_t more[OMPP_CLOCKS]; /* that they saved so */
} ompp_ration_t;

/** \brief Whether an interval that begins may be gone through. \param[in] passed  ns of the run so far. */
bool ompp_ration_allows(ompp_ration_t *ration, ompp_time_t passed);

/** \brief An interval was noted, whatever came of it. \param[in] spent  ns of the program, for all that it took. */
void ompp_ration_spend(ompp_ration_t *ration, ompp_time_t spent);

/**
 * \brief What one that was gone through has brought.
 * \param[in] before, after  what its members leave it with: by the measured order, and as it is now. \param[in] length  1/100 ns.
 */
void ompp_ration_learn(ompp_ration_t *ration, const ompp_stamp_t *before, const ompp_stamp_t *after, ompp_fine_t length);

/**
 * \brief One that kept its order, and had this length, has come to its end.
 * \param[in,out] stamp  by the measured order; as others say.
 * \return whether there were enough of those.
 */
bool ompp_ration_estimate(const ompp_ration_t *ration, ompp_stamp_t *stamp, ompp_fine_t length);

#endif
