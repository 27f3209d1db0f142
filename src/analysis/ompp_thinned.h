/**
 * \file
 * Regions that came so often that only some of their executions were timed. Includes base and model only.
 */
#ifndef OMPP_THINNED_H
#define OMPP_THINNED_H

#include "model/ompp_profile.h"

/** \return executions of a node on a location that were counted, and not timed. */
uint64_t ompp_thinned_untimed(const ompp_profile_t *profile, uint32_t node, uint32_t location);

/** \return the same at all locations. */
uint64_t ompp_thinned_untimed_all(const ompp_profile_t *profile, uint32_t node);

/**
 * \brief Adds lines to Coverage: these regions, how many of their executions were timed, and how certain their times
 *        are. Call once, after regions have their numbers. Without memory, none.
 */
void ompp_analysis_thinned(ompp_profile_t *profile);

#endif
