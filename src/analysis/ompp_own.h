/**
 * \file
 * Own cost: what measuring took, by how often events were and by what one of each kind took in this run
 * (ompp_cost.def). Measured times stay as they are; advice looks at what they are without it. Includes base and model
 * only.
 */
#ifndef OMPP_OWN_H
#define OMPP_OWN_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"

#define OMPP_OWN_PART 0.01  /* of the run's thread time: a part of the run by itself */
#define OMPP_OWN_WORTH 0.05 /* of a region's time: said beside what is said of it */
#define OMPP_OWN_MUCH 0.10  /* of the run's thread time: a caution; the same above that of events, by samples */
#define OMPP_OWN_AHEAD 25   /* ns of work that a processor has begun and not finished, some 100 cycles */
#define OMPP_OWN_SAMPLES 50 /* at least, for what they say */

/** \return ns that the events of a node took on a location: of a block of OMPP_SET_PHASES. */
double ompp_own_events_ns(const ompp_profile_t *profile, uint32_t node, const ompp_block_t *block);

/**
 * \brief What the second barrier of a parallel region took a thread, ns. OPARI2 makes an explicit barrier of the one at
 *        its end, and the OpenMP library keeps its own, which is in the phase behind. It takes as long as the thread
 *        that came last was in the first one, at most. \return 0 for other sources and regions.
 */
double ompp_own_barrier_ns(const ompp_profile_t *profile, uint32_t node, const ompp_block_t *block);

/**
 * \brief What a thread waited longer for a lock because those that had it measured meanwhile, ns: of its waiting, the
 *        part that our events are of the time that the other threads had the lock; at most what these events took.
 * \return 0 for other regions than critical sections and locks.
 */
double ompp_own_waits_ns(const ompp_profile_t *profile, uint32_t node, const ompp_block_t *block);

/** \return ns that measuring a node took on a location: events, the second barrier, and waiting for others' events. */
double ompp_own_ns(const ompp_profile_t *profile, uint32_t node, const ompp_block_t *block);

/** \return ns of these in the measured time of a phase (slot); not more than that has without children and tasks. */
uint64_t ompp_own_in_phase(const ompp_profile_t *profile, uint32_t node, const ompp_block_t *block, unsigned slot);

/** \return ns that the events of a node took in the time of what is around it, on a location. */
double ompp_own_around_ns(const ompp_profile_t *profile, uint32_t node, const ompp_block_t *block);

/**
 * \brief What of the time of atomic updates may be work that stands before them, ns: the processor finishes that first,
 *        and reading the clock does not wait for it. Without updates it takes as long. None where there is little of
 *        it for each update.
 */
double ompp_own_unfinished_of(const ompp_profile_t *profile, uint32_t node);

/** \return ns that an event of a kind takes on a location; inside: of that, what lies in the region itself. */
double ompp_own_cost(const ompp_profile_t *profile, uint32_t location, ompp_cost_t kind, bool inside);

/** \return thousandths of the run that events took, as Coverage says; 0 = nothing, or samples say clearly more. */
uint64_t ompp_own_told_permille(const ompp_profile_t *profile);

/** \return thousandths of the run that cautions say measuring took, the most of them; 0 = there is none. */
uint64_t ompp_own_much_permille(const ompp_profile_t *profile);

/** \brief Own cost of each node and all below it, ns, over threads and ranks. \return owned, free(), shape [nnodes];
 *         NULL when out of memory. */
double *ompp_own_below(const ompp_profile_t *profile);

/**
 * \brief Part of a region's time that measuring it, and what lies in it, took.
 * \param[in] below  of ompp_own_below().
 */
double ompp_own_share(const ompp_profile_t *profile, const ompp_paths_t *paths, const double *below, uint32_t region);

/**
 * \brief Adds the Coverage lines OWN or OWN_MUCH, by events, and OWN_SAMPLED, where samples say clearly more; none
 *        where nothing is known. Call once, after the merge.
 */
void ompp_analysis_own(ompp_profile_t *profile);

#endif
