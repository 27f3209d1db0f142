/**
 * \file
 * Call paths in the tree of a thread: which functions of the program led to a region, or were running when a sample was
 * taken.
 */
#ifndef OMPP_PATH_H
#define OMPP_PATH_H

#include <stdint.h>

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/**
 * \brief A sample of the calling thread: its call path gets one sample more, and so much processor time.
 * \param[in] context  of the signal handler (ucontext_t).
 * \param[in] ns       processor time that it stands for.
 * \note Async-signal-safe. Does nothing on a thread without state, and counts the sample at the thread's place where an
 *       event of ours was interrupted.
 */
void ompp_path_sample(const void *context, uint64_t ns);

#pragma GCC visibility pop

#endif
