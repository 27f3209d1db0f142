/**
 * \file
 * The meters of a thread, for the runtime and for who ends measurement.
 */
#ifndef OMPP_METERS_H
#define OMPP_METERS_H

#include "runtime/ompp_component.h"
#include "runtime/ompp_thread.h"

/** \brief A component that follows threads; inside the process lock. There is room for all components. */
void ompp_meter_add(const ompp_component_t *meter);

/**
 * \brief The thread has come: makes its meters' states. Called on the thread, outside the process lock; tell them with
 *        ompp_moved().
 */
void ompp_meter_begin(ompp_thread_t *thread);

/** \return where the thread is. */
ompp_place_now_t ompp_meter_place_of(const ompp_thread_t *thread);

/** \brief The operating system's thread goes on with another state. */
void ompp_meter_change(ompp_thread_t *from, ompp_thread_t *to);

/** \brief The counts so far, for a report. */
void ompp_meter_flush(ompp_thread_t *thread);

/** \brief Last counts, then the states end. Called on the thread, while its arena is still mapped. */
void ompp_meter_end(ompp_thread_t *thread);

/**
 * \brief At the end of measurement, after ompp_threads_stop(): takes over what the living threads but self have
 *        counted, and has their meters told of nothing more. Sets ompp_thread_self of the calling thread, which the
 *        caller must set again.
 * \return number of threads whose counts since they changed their place last could not be had.
 */
unsigned ompp_meter_take_over(const ompp_thread_t *self);

#endif
