/**
 * \file
 * The profile while the program runs.
 */
#ifndef OMPP_SNAPSHOT_H
#define OMPP_SNAPSHOT_H

#include "model/ompp_profile.h"
#include "runtime/ompp_thread.h"

/**
 * \brief The profile as it is now, while other threads go on: each thread as it was between two of its events.
 * \return owned, ompp_profile_free(); NULL when out of memory.
 * \note Threads: any, one at a time, outside events; takes up to some milliseconds per busy thread.
 */
ompp_profile_t *ompp_snapshot_profile(ompp_end_t end);

/** \brief This thread was asked to copy itself, and is between two events; for ompp_runtime_hooks. */
void ompp_snapshot_self(ompp_thread_t *thread);

#endif
