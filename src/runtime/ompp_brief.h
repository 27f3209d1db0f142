/**
 * \file
 * Brief regions that come often, the rare side. Private to src/runtime.
 */
#ifndef OMPP_BRIEF_H
#define OMPP_BRIEF_H

#include "runtime/ompp_thread.h"

#define OMPP_BRIEF_LOOK 256u /* executions that are timed between two looks */
/* of an execution that stands for others: a thread that took longer had lost its processor */
#define OMPP_BRIEF_LONGEST_NS 100000u

/** \brief Of a node that is timed each time, which has none: zero bytes. */
static inline ompp_a_brief_t *ompp_brief_of(const ompp_thread_t *thread, const ompp_a_node_t *node)
{
    return ompp_at(thread, node->brief);
}

/** \brief Nothing skipped, no meters, measurement is on, and no copy wanted: executions may be only counted. */
static inline bool ompp_brief_may(const ompp_thread_t *thread)
{
    return thread && !thread->unusual && *(const unsigned *)&ompp_process.on == OMPP_ON_ENTER;
}

/** \brief An execution that took so long stands for so many, itself among them. values: OMPP_METRIC_THINNED_*. */
static inline void ompp_brief_note(uint64_t *values, uint32_t executions, uint64_t ns)
{
    values[OMPP_METRIC_THINNED] += executions;
    values[OMPP_METRIC_THINNED_TIMED]++;
    values[OMPP_METRIC_THINNED_TIME] += ns;
    values[OMPP_METRIC_THINNED_SQUARES] += ns * ns;
}

/** \brief A creation is over at t in which a task was timed: what that one stands for lies in the creations, which have
 *         their time now. */
void ompp_tasks_created_slow(ompp_thread_t *thread, ompp_a_brief_t *creation, ompp_time_t t);

/** \return metric set of these values; 0 = none. Registers it when it is new. */
unsigned ompp_brief_set_slow(void);

/** \brief The node has come so often that it is looked at how often, from t on. */
void ompp_brief_begin_slow(ompp_thread_t *thread, ompp_a_node_t *node, ompp_time_t t);

/** \brief How many executions one that is timed stands for from now on. */
void ompp_brief_look_slow(ompp_thread_t *thread, ompp_off_t node, ompp_time_t t);

#endif
