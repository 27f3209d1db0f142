/**
 * \file
 * Reports while the program runs. Private to src/runtime.
 */
#ifndef OMPP_DUMP_PRIV_H
#define OMPP_DUMP_PRIV_H

#include "model/ompp_profile.h"
#include "runtime/ompp_thread_priv.h"

/**
 * \brief The profile as it is now, while other threads go on: each thread as it was between two of its events.
 * \return owned, ompp_profile_free(); NULL when out of memory.
 * \note Threads: any, one at a time, outside events; takes up to some milliseconds per busy thread.
 */
ompp_profile_t *ompp_dump_profile(ompp_end_t end);

/** \brief This thread was asked to copy itself, and is between two events. */
void ompp_dump_self_slow(ompp_thread_t *thread);

/** \brief Starts the thread that writes reports every OMPP_DUMP_INTERVAL seconds and copies every OMPP_CHECKPOINT
 *        seconds; nothing without these variables. */
void ompp_dump_start(void);

/** \brief Ends it and waits for a report that it is writing, for a limited time. */
void ompp_dump_stop(void);

#endif
