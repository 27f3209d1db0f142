/**
 * \file
 * End of measurement. Private to src/runtime.
 */
#ifndef OMPP_FINISH_PRIV_H
#define OMPP_FINISH_PRIV_H

#include "base/ompp_clock.h"
#include "model/ompp_profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * \brief Exit handler of the process: the report of a program without MPI, or what there is of one that did not
 *        finalize.
 */
void ompp_finish_at_exit(void);

/** \brief A copy of the profile now (OMPP_CHECKPOINT), if measurement runs. */
void ompp_finish_checkpoint(void);

/**
 * \brief Waits until no report or copy is being written, for a limited time, and lets none begin until
 *        ompp_finish_release(): a child forked meanwhile would inherit locks of libc that nobody in it holds.
 * \return whether there is something to release.
 */
bool ompp_finish_hold(void);
void ompp_finish_release(void);

/** \brief CPU time of the process since its time began, ns. */
void ompp_process_cpu(uint64_t *user_ns, uint64_t *system_ns);

/** \brief Says in the profile when threads waited much for processors (ompp_cpu_wait.c). */
void ompp_cpu_wait_add(ompp_profile_t *profile);

/**
 * \brief The profile of this process from the arena or a copy of it, with settings, source of events and CPU time.
 * \return owned, ompp_profile_free(); NULL when out of memory.
 */
ompp_profile_t *ompp_finish_collect(const char *arena, uint64_t size, ompp_time_t t, ompp_end_t end);

#endif
