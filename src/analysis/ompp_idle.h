/**
 * \file
 * Threads that have nothing to do while the first one of their rank works outside of parallel regions. Called by the
 * analysis. Includes base and model only.
 */
#ifndef OMPP_IDLE_H
#define OMPP_IDLE_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"

/** \return threads of a rank that is not kept, in the mean; 0 = all are kept. */
double ompp_analysis_rest_threads(const ompp_profile_t *profile);

/** \return ns of all these threads; what threads of the program's own do meanwhile is no loss. */
uint64_t ompp_analysis_idle_ns(const ompp_profile_t *profile, const ompp_paths_t *paths);

/** \brief Share of the threads' time that they were ready to run and had no processor, over all ranks; 0 = little. */
double ompp_analysis_waited(const ompp_profile_t *profile);

#endif
