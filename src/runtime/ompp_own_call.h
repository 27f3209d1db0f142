/**
 * \file
 * What MPI calls cost us, as the program runs: wrappers do more than their two events, and how much depends on the
 * call. Private to src/runtime.
 */
#ifndef OMPP_OWN_CALL_H
#define OMPP_OWN_CALL_H

#include "runtime/ompp_thread.h"

typedef enum { OMPP_OWN_BEFORE, OMPP_OWN_AFTER, OMPP_OWN_NUM } ompp_own_part_t;

/** \brief What a call took us before it was entered, or after it had returned, ns: part of the cost of a call. */
void ompp_own_call_slow(const ompp_thread_t *thread, ompp_own_part_t part, ompp_time_t ns);

#endif
