/**
 * \file
 * Brief regions that come often, the rare side. Private to src/runtime.
 */
#ifndef OMPP_BRIEF_H
#define OMPP_BRIEF_H

#include "runtime/ompp_thread.h"

#define OMPP_BRIEF_LOOK 256u /* executions that are timed between two looks */

/** \brief The node has come so often that it is looked at how often, from t on. */
void ompp_brief_begin_slow(ompp_thread_t *thread, ompp_a_node_t *node, ompp_time_t t);

/** \brief How many executions one that is timed stands for from now on. */
void ompp_brief_look_slow(ompp_thread_t *thread, ompp_off_t node, ompp_time_t t);

#endif
