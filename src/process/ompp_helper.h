/**
 * \file
 * Threads of ours beside those of the program.
 */
#ifndef OMPP_HELPER_H
#define OMPP_HELPER_H

#include <pthread.h>
#include <stdbool.h>

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/** How often a helper looks whether it is alone, at least. */
#define OMPP_HELPER_LOOK_MS 1000

/**
 * \brief Starts a thread. It takes no signal: they are the program's. What it does is no event.
 * \param[in]  name    of the thread, at most 15 bytes; static.
 * \param[in]  run     must return when ompp_helper_is_alone().
 * \param[out] thread  to be joined, or detached.
 * \return 0, or an error of pthread_create().
 */
int ompp_helper_start(pthread_t *thread, const char *name, size_t stack_bytes, void (*run)(void *argument),
                      void *argument);

/**
 * \return whether helpers are all that is left: a program whose first thread ends by pthread_exit() ends with its last
 *         thread, which must not be one of ours.
 */
bool ompp_helper_is_alone(void);

#pragma GCC visibility pop

/**
 * \brief The calling helper gets a table of descriptors of its own, empty, where Linux can do that. Files that it opens
 *        then take no number that the program's next file would get, and are in no child of the program. Nor does the
 *        helper hold a pipe open that the program closes.
 */
void ompp_helper_leave_descriptors(void);

/** \brief For the calling helper: stderr is the program's, if it has one, until ompp_helper_return_stderr(). */
void ompp_helper_borrow_stderr(void);
void ompp_helper_return_stderr(void);

#endif
