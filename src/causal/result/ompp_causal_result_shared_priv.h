/**
 * \file
 * What results of virtual clocks (ompp_causal_result.c) and of experiments (ompp_causal_result_experiment.c) share.
 * Among the files of this folder.
 */
#ifndef OMPP_CAUSAL_RESULT_SHARED_PRIV_H
#define OMPP_CAUSAL_RESULT_SHARED_PRIV_H

#include "causal/result/ompp_causal_result_priv.h"

extern struct ompp_causal_results {
    _Atomic uint32_t lock;
    ompp_a_whatif_t *whatif;
    bool oversubscribed; /* more threads than processors were at work */
    bool closed;         /* the measurement is over */
} ompp_causal_results;

/**
 * \brief Sums over all threads; those that are at work now are read as they are.
 * \param[in] until  0 = as far as they have counted. \return pieces of work in the region of the slot.
 */
uint64_t ompp_causal_sum_threads(unsigned slot, ompp_causal_seen_t *to, ompp_time_t until);

/** \return all flags of the region of a slot, OMPP_WHATIF_F_*. */
uint32_t ompp_causal_flags_of(unsigned slot);

/** \return room for one more block; neighbours become one when there is none. */
ompp_whatif_block_t *ompp_causal_next_block(ompp_whatif_clock_t *clock);

/**
 * \brief Writes what is known of all regions together until t. Under the lock.
 * \param[in] suspended  clocks are, from t on. \return whether too many waits are lost.
 */
bool ompp_causal_write_totals(bool suspended, ompp_time_t t);

#endif
