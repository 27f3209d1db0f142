/**
 * \file
 * Call paths in the tree of a thread: which functions of the program led to a region, or were running when a sample was
 * taken. They are nodes of the tree that belong to no region: an address of code each, and between the node of a region
 * and its parent's.
 */
#ifndef OMPP_CALLPATH_H
#define OMPP_CALLPATH_H

#include <stdbool.h>
#include <stdint.h>

/**
 * \brief From now on the call paths of events are looked for, unless OMPP_CALLPATH=site. Once, before the first thread
 *        is measured.
 * \note This and the next two not in a signal handler: they take the loader's lock, and the process's.
 */
void ompp_callpath_start(void);

/**
 * \brief From now on ompp_callpath_sample() may be called. Once.
 * \return false: no room, or walks cannot be made here.
 */
bool ompp_callpath_start_samples(void);

/**
 * \brief Libraries were loaded or unloaded. Cheap when nothing has changed.
 */
void ompp_callpath_refresh(void);

/**
 * \brief A sample of the calling thread: its call path gets one sample more, and so much processor time.
 * \param[in] context  of the signal handler (ucontext_t).
 * \param[in] ns       processor time that it stands for.
 * \note Async-signal-safe. Does nothing on a thread without state. Where an event of ours was interrupted, the sample
 *       counts as one of ours.
 */
void ompp_callpath_sample(const void *context, uint64_t ns);

#endif
