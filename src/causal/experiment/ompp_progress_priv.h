/**
 * \file
 * Progress points: where the program says, or where it can be seen, that it has done a unit of work. Blocks and
 * experiments end at them. Named by coz.h's macros, by OMPP_PROGRESS, OMPP_BEGIN and OMPP_END of ompp.h, or found: the
 * most regular one of the outermost parallel regions and collective calls; in a program that has none, the most regular
 * barrier. Private to src/causal.
 */
#ifndef OMPP_PROGRESS_PRIV_H
#define OMPP_PROGRESS_PRIV_H

#include "model/ompp_layout.h"
#include "runtime/ompp_component.h"
#include "runtime/ompp_event.h"

/**
 * \brief Visits of the leading progress point until now: of the one the program names, the one most visited; else of
 *        the most regular automatic one. May change to another point; never falls.
 *
 * Call it where a block may end: it also samples how many units are between the begin and the end of a latency point
 * that coz.h's macros count, for these cannot call us.
 * \param[in] t  now.
 * \note Threads: any. A few loads per point.
 */
uint64_t ompp_progress_visits(ompp_time_t t);

/**
 * \return how often another point has become the leading one: visits before and after that do not count the same units
 *         of work.
 */
uint64_t ompp_progress_changes(void);

/**
 * \brief A region that could serve as a progress point has been left: an outermost parallel region, or a collective
 *        call; or one whose barrier the initial thread has left. The latter only while none of the others is regular.
 * \param[in] region   0 is ignored.
 * \param[in] barrier  of the latter kind.
 * \note Threads: any; two at the same time: one is not counted. No lock is waited for, no allocation but at the first
 *       visit.
 */
void ompp_progress_candidate(ompp_region_ref_t region, bool barrier, ompp_time_t t);

/** A region that could serve as one. */
typedef struct ompp_progress_candidate ompp_progress_candidate_t;

/** \return the candidate of a region, made if need be; NULL = another thread is just looking. */
ompp_progress_candidate_t *ompp_progress_find(ompp_region_ref_t region, bool barrier);

/**
 * \brief While clocks are suspended: the region has been left. Nothing ends at it.
 * \param[in] candidate  called for on one thread only.
 */
void ompp_progress_pass(ompp_progress_candidate_t *candidate, ompp_time_t t);

/** \brief A unit of a latency point begins, or ends, on this thread at t (ompp_causal_latency.c). */
void ompp_causal_unit(ompp_a_whatif_point_t *point, bool begins, ompp_time_t t);

/**
 * \brief Tells components (visited) when the leading point has been visited since the last look:
 *        for programs whose points only count (coz.h), where threads wait for one another.
 */
void ompp_progress_look(ompp_time_t t);

/**
 * \brief Latency points up to now, with units that are still under way: before the records are read. Again is no harm.
 */
void ompp_progress_finish(ompp_time_t t);

#endif
