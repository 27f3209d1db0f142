/**
 * \file
 * What going through intervals again (ompp_replay.h) may cost. When not all can be had, each one is drawn by itself,
 * with a probability that goes by what is left and what one costs: 1 when all can be had, as with long ones. One that
 * was drawn with p stands for 1/p - 1 that were not (Horvitz and Thompson's weights). What those have saved so beyond
 * the order that was measured is handed out to them as they come to their ends, by their length, so that the sum is
 * that of the latest estimate.
 *
 * On plain data, as ompp_replay.h. One thread uses it at a time.
 */
#ifndef OMPP_REPLAY_BUDGET_H
#define OMPP_REPLAY_BUDGET_H

#include "causal/clock/ompp_clocks.h"

#define OMPP_REPLAY_BUDGET_PART 100u     /* one part in so many of the run: virtual clocks as a whole may take two */
#define OMPP_REPLAY_BUDGET_FREE 1000000u /* ns that may be spent however short the run is */
#define OMPP_REPLAY_BUDGET_ENOUGH 20u    /* one in so many intervals that were gone through speaks for the others */

/** Of the present set of regions. */
typedef struct {
    uint64_t set, replayed, kept;
    unsigned used;                                /* clocks that they had to do with */
    ompp_fine_t length;                           /* of those that were gone through, weighted */
    ompp_fine_t more[OMPP_CLOCKS];                /* that they saved so, weighted */
    double least[OMPP_CLOCKS], most[OMPP_CLOCKS]; /* that one of them saved so, per length */
    ompp_fine_t others;                           /* length of those that were not */
    ompp_fine_t given[OMPP_CLOCKS];               /* that was taken for them */
} ompp_replay_budget_learnt_t;

/** All zero bytes: nothing charged. */
typedef struct {
    /* intervals: gone through; not drawn; drawn, but they could not be gone through */
    uint64_t replayed, kept, spoiled;
    uint64_t begun, paid; /* intervals that were drawn for; whose cost is in charged */
    ompp_time_t charged;  /* ns */
    uint64_t chance;
    ompp_replay_budget_learnt_t learnt;
} ompp_replay_budget_t;

/**
 * \brief Whether an interval that begins may be gone through.
 * \param[in] passed  ns of the run so far. \return the probability with which it was drawn; 0 = it was not.
 */
double ompp_replay_budget_allows(ompp_replay_budget_t *budget, ompp_time_t passed);

/** \brief An interval was noted, whatever came of it. \param[in] charged  ns of the program, for all that it took. */
void ompp_replay_budget_charge(ompp_replay_budget_t *budget, ompp_time_t charged);

/**
 * \brief What one that was gone through has brought.
 * \param[in] before, after what its members leave it with: by the measured order, and as it is now. \param[in] length
 *                    1/100 ns.
 * \param[in] p  what ompp_replay_budget_allows() has said.
 */
void ompp_replay_budget_learn(ompp_replay_budget_t *budget, const ompp_clock_vector_t *before,
                              const ompp_clock_vector_t *after, ompp_fine_t length, double p);

/** \brief One that was drawn could not be gone through. */
void ompp_replay_budget_give_up(ompp_replay_budget_t *budget);

/**
 * \brief One that was not drawn, and had this length, has come to its end.
 * \param[in,out] vector  by the measured order; as others say.
 * \return whether there were enough of those.
 */
bool ompp_replay_budget_estimate(ompp_replay_budget_t *budget, ompp_clock_vector_t *vector, ompp_fine_t length);

#endif
