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
 * \brief From now on, until the first event of the calling thread, which is the initial one, its samples are kept
 *        aside. With that event they are put into its tree, outside of any region; without one they are forgotten.
 * \return false: walks cannot be made here.
 */
bool ompp_callpath_start_early(void);

/** \brief What was kept aside is forgotten, and no more is: of a child's parent. */
void ompp_callpath_early_forget(void);

/** \return whether samples are kept aside. */
bool ompp_callpath_early_is_on(void);

/** \brief A library was unloaded: samples that were kept aside have met its code, not that of the next one there. */
void ompp_callpath_early_unloaded(uintptr_t low, uintptr_t high);

/**
 * \brief Libraries were loaded or unloaded. Cheap when nothing has changed.
 */
void ompp_callpath_refresh(void);

/**
 * \brief A sample of the calling thread: its call path gets one sample more, and so much processor time.
 * \param[in] context  of the signal handler (ucontext_t).
 * \param[in] ns       processor time that it stands for.
 * \note Async-signal-safe. Of a thread without state, only those that are kept aside. Where an event of ours was
 *       interrupted, the sample counts as one of ours.
 */
void ompp_callpath_sample(const void *context, uint64_t ns);

#endif
