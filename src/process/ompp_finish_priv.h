/**
 * \file
 * End of measurement. Private to src/process.
 */
#ifndef OMPP_FINISH_PRIV_H
#define OMPP_FINISH_PRIV_H

#include "base/ompp_clock.h"
#include "model/ompp_profile.h"
#include "process/ompp_lifecycle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * \brief Exit handler of the process: the report of a program without MPI, or what there is of one that did not
 *        finalize.
 */
void ompp_finish_at_exit(void);

/** \brief A report of this process now (OMPP_DUMP_INTERVAL), if measurement runs. */
void ompp_finish_dump(void);

/** \brief A copy of the profile now (OMPP_CHECKPOINT), if measurement runs. */
void ompp_finish_checkpoint(void);

/**
 * \brief Waits until no report or copy is being written, for a limited time, and lets none begin until
 *        ompp_finish_release(): a child forked meanwhile would inherit locks of libc that nobody in it holds.
 * \return whether there is something to release.
 */
bool ompp_finish_hold(void);
void ompp_finish_release(void);

/**
 * \brief The profile of this process from the arena or a copy of it, with settings, source of events and CPU time.
 * \param[in] missed  threads whose last counts could not be had.
 * \return owned, ompp_profile_free(); NULL when out of memory.
 */
ompp_profile_t *ompp_finish_collect(const char *arena, uint64_t size, ompp_time_t t, ompp_end_t end, unsigned missed);

/** \brief The report begins to be made: from now on its time counts (OMPP_REPORT_SECONDS). */
void ompp_finish_begin(void);

/**
 * \brief Writes the report.
 * \param[in] local_rank  the report is of this rank alone; -1 = of the run.
 * \param[in] why         it did not end well; NULL = it did.
 * \return whether there is a report now, or the compact profile.
 */
bool ompp_finish_write(ompp_profile_t *profile, int local_rank, const char *why);

/**
 * \brief Warns.
 * \param[in] incremental  a report by the clock may meet the same trouble every time: it is said once.
 */
void ompp_finish_warn(bool incremental, const char *before, const char *text);

/** \brief Are all ranks here? Collective. \return 0, or the error on which this rank ends alone. */
int ompp_finish_meet(const ompp_reduce_t *reduce);

/** \brief Brings the profiles of all ranks to rank 0, into its profile. Collective. */
void ompp_finish_reduce(const ompp_reduce_t *reduce, ompp_profile_t *profile);

/** \brief The same of a rank that has no profile: nobody waits for it. */
void ompp_finish_reduce_nothing(const ompp_reduce_t *reduce);

/**
 * \brief Whether rank 0 has made the report: it says so to the others, whose files would else be all that there is.
 *        Collective, behind ompp_finish_reduce().
 * \param[in,out] done  of rank 0; then, of all.
 * \return 0; -OMPP_E_TIMEOUT, -OMPP_E_MPI: it has not said it, and may yet do it.
 */
int ompp_finish_tell(const ompp_reduce_t *reduce, bool *done);

#endif
