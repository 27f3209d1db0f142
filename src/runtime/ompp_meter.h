/**
 * \file
 * Meters: components (ompp_component.h) that count something per thread (hardware counters, loads and stores of a data
 * structure) and attribute it to the region the thread is in. The runtime tells a meter when the thread's place in the
 * call tree changes; what is counted until then belongs to the place that is left. Values are exclusive: the inclusive
 * ones follow by summing below a node.
 *
 * A place is a node and whether the thread waits there: phases of ompp_phase.def that are not the user's code. Meters
 * are told only of changes of one of the two. Programs without a meter pay one comparison per event.
 */
#ifndef OMPP_METER_H
#define OMPP_METER_H

#include "runtime/ompp_event.h"

#define OMPP_MAX_COMPONENTS 8

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/** Where a thread is. node: opaque, for ompp_meter_values(); 0 = not measured. */
typedef struct {
    ompp_off_t node;
    bool waits;
} ompp_place_now_t;

/**
 * \brief Values of a place of the calling thread's tree, made when missing.
 * \param[in] set     from ompp_metric_register().  \param[in] object  0 = all data, else of the set's own numbering.
 * \param[in] n       number of values.
 * \return borrowed until the end of the process, shape [n], written by this thread alone; NULL when memory is full.
 */
uint64_t *ompp_meter_values(ompp_off_t node, unsigned set, unsigned object, unsigned n);

/** \return the node of the next region above, or the root: functions of call paths are passed; 0 for a root. */
ompp_off_t ompp_meter_parent(ompp_off_t node);

/** \return the node's region; 0 for a root. */
ompp_region_ref_t ompp_meter_region(ompp_off_t node);

/**
 * \return time from which is measured: when the program was loaded, less what our own start has taken. Once a thread is
 *         measured.
 */
ompp_time_t ompp_meter_since(void);

/**
 * \return time until which is measured: now, or the end of the measurement once that has come. For results, not for
 *         events.
 */
ompp_time_t ompp_meter_until(void);

/**
 * \brief A meter need not be told of moves for now: whoever calls this does without, until it calls again with false.
 * \note It is told all the same when there are others that want to be.
 */
void ompp_meters_suspend(bool on);

/**
 * \return the node that the meters of the calling thread were told last, or would have been; 0 = it is not measured.
 */
ompp_off_t ompp_meter_last(void);

/** \brief The place the calling thread is in, without counting a change; node 0 when it is not measured. */
ompp_place_now_t ompp_meter_place(void);

#pragma GCC visibility pop

#endif
