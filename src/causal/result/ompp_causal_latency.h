/**
 * \file
 * Units of latency points in causal profiling (ompp_causal_latency.c). Private to src/causal.
 */
#ifndef OMPP_CAUSAL_LATENCY_H
#define OMPP_CAUSAL_LATENCY_H

#include "runtime/ompp_event.h"

/** \brief Makes records of a known region for the latency points that there are. Takes the process's lock. */
void ompp_causal_latency_region(unsigned known, ompp_region_ref_t region);

/**
 * \brief A set of regions, or an experiment, ends: units that are under way belong to none.
 * \param[in] keeps            what units have shown in it is kept.
 * \param[in] set, experiment  numbers of those that follow; before any thread can know of them.
 */
void ompp_causal_latency_turn(bool keeps, uint64_t set, uint64_t experiment);

/** \brief Without delays: writes what units that have ended have shown. */
void ompp_causal_latency_write(void);

#endif
