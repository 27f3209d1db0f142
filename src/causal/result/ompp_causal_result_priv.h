/**
 * \file
 * What src/causal/result does for the other folders: what clocks and experiments have shown is kept for the report.
 */
#ifndef OMPP_CAUSAL_RESULT_PRIV_H
#define OMPP_CAUSAL_RESULT_PRIV_H

#include "causal/experiment/ompp_causal_experiment_priv.h"

/* ---- Results (ompp_causal_result.c; of experiments: ompp_causal_result_experiment.c) ----------------------------- */

/** \brief Makes the records. \return false when there is no room. */
bool ompp_causal_result_open(ompp_whatif_mode_t mode);

/** \brief The first thread is measured: clocks begin with the run, as far as it was not our own start. */
void ompp_causal_result_begin(void);

/** \return ns of the run until t; of these, those that clocks were kept. */
ompp_time_t ompp_causal_result_passed(ompp_time_t t);
ompp_time_t ompp_causal_result_observed(ompp_time_t t);
/** \return when the part of the run began that the present set is about: the first one, with the run. */
ompp_time_t ompp_causal_set_begin(void);

/** \return work of all threads until t, ns; while clocks were suspended, at the rate of the other pieces of the run. */
uint64_t ompp_causal_result_work(ompp_clocks_where_t where, ompp_time_t t);

/**
 * \brief With delays: the slot is about to belong to another region: what was seen of the order of this one is kept.
 */
void ompp_causal_result_leave(unsigned slot);

/**
 * \brief A turn ends at t: what the clocks of this thread say is kept.
 * \param[in] next      number of the set that follows.
 * \param[in] anywhere  threads are anywhere: what the one that has saved least says is kept.
 */
void ompp_causal_result_turn(ompp_causal_thread_t *self, uint64_t next, bool suspension, bool anywhere, ompp_time_t t);

/**
 * \brief A turn is about to end; it has ended. Under the lock of the results.
 * \param[in] anywhere  threads do not meet there.
 */
void ompp_causal_carry_begin(bool anywhere);
void ompp_causal_carry_end(void);

/**
 * \return what a clock has saved in the present turn by t, 1/100 ns: as the thread that stands for the process says, or
 *         where threads do not meet as all say that work.
 */
ompp_fine_t ompp_causal_carry_saved(const ompp_causal_thread_t *self, unsigned slot, unsigned k, ompp_time_t t);

/** \return ns that a known region has been followed in turns that are over. */
ompp_time_t ompp_causal_result_followed(unsigned known);

/**
 * \brief Until t: work of the whole run in the region of an experiment, as far as it has a slot here, visits since
 *        offsets began.
 */
ompp_causal_seen_t ompp_causal_result_seen(const ompp_causal_experiment_t *experiment, ompp_time_t t);

/**
 * \brief Takes over an experiment that is over.
 * \param[in] seen  during the block, by this rank's threads.
 */
void ompp_causal_result_add(const ompp_causal_experiment_t *experiment, const ompp_whatif_block_t *block,
                            const ompp_causal_seen_t *seen);

/**
 * \brief With delays, where an experiment ends: writes what was done in all of the run until t, for one that may not
 *        come to its end.
 */
void ompp_causal_result_until(ompp_time_t t);

/** \return whether there is a result of this region and speed-up. */
bool ompp_causal_result_has(const ompp_causal_experiment_t *experiment);

/**
 * \brief Flags of a slot that are to be told to other ranks. Who sees that order is open (the receiver of messages from
 *        any source) may never be in the regions that move it; the report takes flags from ranks that are.
 * \param[in] open  with what is put by.
 */
uint32_t ompp_causal_result_flags(unsigned slot, bool open);

/** \brief Whether there can be any. */
static inline bool ompp_causal_any_flags(void)
{
    return atomic_load_explicit(&ompp_causal.flagged, memory_order_relaxed);
}

/** \brief Another rank has seen these. */
void ompp_causal_result_heard(unsigned slot, uint32_t flags);

/** \brief An experiment has taken so many ns of pauses, whether it was worth anything or not. */
void ompp_causal_result_paid(ompp_time_t paid);

/**
 * \brief Without delays: a block ends at t, as the clocks of this thread say.
 * \param[in] visits  of progress points until now.
 */
void ompp_causal_result_block(ompp_causal_thread_t *self, uint64_t visits, ompp_time_t t);

/** \brief Writes what the clocks of this thread say now, at the end or as if it were. */
void ompp_causal_result(ompp_causal_thread_t *self, ompp_time_t t);

/** \brief A part of that: what experiments have shown, what clocks say; goes_on: the threads do. */
void ompp_causal_result_experiments(ompp_causal_thread_t *self, bool goes_on, ompp_time_t t);
void ompp_causal_result_clocks(ompp_causal_thread_t *self, bool goes_on, ompp_time_t t);

/** \brief The measurement is over: what has been written stays as it is. */
void ompp_causal_result_close(void);

/** \brief Whether it is time to write what there is by now, for a program that does not come to its end. */
bool ompp_causal_result_due(ompp_time_t t);

/**
 * \brief Without delays, and while no turn can begin: writes what the clocks of this thread, which have their turn, say
 *        by now.
 */
void ompp_causal_result_so_far(ompp_causal_thread_t *self, ompp_time_t t);

/** \brief Notes an observation of order; see ompp_clocks_overtaken(). */
static inline void ompp_causal_watch(unsigned flag_bit, unsigned slots)
{
    atomic_fetch_add_explicit(&ompp_causal.watched[flag_bit], 1, memory_order_relaxed);
    if (slots) atomic_store_explicit(&ompp_causal.flagged, true, memory_order_relaxed);
    for (; slots; slots &= slots - 1)
        atomic_fetch_add_explicit(&ompp_causal.overtaken[flag_bit][__builtin_ctz(slots)], 1, memory_order_relaxed);
}

/** \brief What may be wrong with all regions, if it happened often: asked once more. */
static inline void ompp_causal_asked(unsigned flag_bit, bool happened)
{
    atomic_fetch_add_explicit(&ompp_causal.asked[flag_bit], 1, memory_order_relaxed);
    if (!happened) return;
    atomic_fetch_add_explicit(&ompp_causal.is_flagged[flag_bit], 1, memory_order_relaxed);
    atomic_store_explicit(&ompp_causal.flagged, true, memory_order_relaxed);
}

/* ---- Latency points (ompp_causal_latency.c) ---------------------------------------------------------------------- */

/** \return the place of a speed-up in a record with delays; NULL = there is none. */
ompp_whatif_clock_t *ompp_causal_clock_of(ompp_a_whatif_region_t *record, unsigned percent);

/**
 * \brief A set of regions, or an experiment, ends: units that are under way belong to none.
 * \param[in] keeps            what units have shown in it is kept.
 * \param[in] set, experiment  numbers of those that follow; before any thread can know of them.
 */
void ompp_causal_latency_turn(bool keeps, uint64_t set, uint64_t experiment);

/** \brief Without delays: writes what units that have ended have shown. */
void ompp_causal_latency_write(void);

#endif
