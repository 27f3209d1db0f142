/**
 * \file
 * Samples: each thread of the program is interrupted whenever it has used so much processor time, and its call path
 * gets a sample (runtime/ompp_callpath.h). OMPP_SAMPLE_HZ says how often. docs/sampling.md has what it does to the
 * program.
 */
#ifndef OMPP_SAMPLE_H
#define OMPP_SAMPLE_H

#include <stdbool.h>

/** \return whether the environment asks for samples, before and after it is read. */
bool ompp_sample_is_wanted(void);

/** \return whether samples are taken: they can be here, measurement runs, and the program does not use the signal. */
bool ompp_sample_is_on(void);

/**
 * \brief As the library is loaded: a program that the launcher has started, which may have no event, is measured from
 *        here on, if there are samples. Not with --children: much of what a script starts is of no interest. A program
 *        that is built with us is measured from its first event on, as without samples. Those of its initial thread
 *        before that event are kept for it.
 * \note Threads: at load, before there are others.
 */
void ompp_sample_at_load(void);

/** \brief The calling thread gets samples from here on; the first one starts them. For ompp_runtime_hooks. */
void ompp_sample_thread_begins(void);

/** \brief It gets none any more. For ompp_runtime_hooks. */
void ompp_sample_thread_ends(void);

/**
 * \brief Sets ompp_signals_are_handled from here on: whether the program has a handler that may come at any time. Also
 *        without samples. For ompp_runtime_hooks.
 */
void ompp_sample_follow_handlers(void);

/** \brief No thread gets samples any more; Coverage has what went wrong. For ompp_runtime_hooks. */
void ompp_sample_ends(void);

#endif
