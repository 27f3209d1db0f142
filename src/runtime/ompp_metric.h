/**
 * \file
 * Registration of metrics at run time (counters, evaluators, components).
 */
#ifndef OMPP_METRIC_H
#define OMPP_METRIC_H

#include "model/ompp_tables.h"

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/**
 * \brief Registers a set of metrics; its values are then added with ompp_event_add(set, index, value).
 * \param[in] rows  borrowed while the call runs; shape [n].
 * \return the set, OMPP_SET_FIRST_FREE or above; 0 when there is no room or measurement does not run.
 * \note Threads: any; before the first value of the set.
 */
unsigned ompp_metric_register(const ompp_metric_row_t *rows, unsigned n);

#pragma GCC visibility pop

#endif
