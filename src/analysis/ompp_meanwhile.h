/**
 * \file
 * What one thread of a team does while the others wait: it waits for tasks, or calls MPI. Called by the analysis.
 * Includes base and model only.
 */
#ifndef OMPP_MEANWHILE_H
#define OMPP_MEANWHILE_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"

/** Of a node and what lies below it in the same team and task; ns of all threads. */
typedef struct {
    uint64_t tasks;  /* waits for tasks: taskwait, the end of taskgroup. The tasks that they run meanwhile are in it */
    uint64_t called; /* in calls of MPI */
} ompp_meanwhile_t;

/** \return owned by the caller, free(); shape [nnodes]. NULL: out of memory. */
ompp_meanwhile_t *ompp_analysis_meanwhile(const ompp_profile_t *profile);

/**
 * \brief Whether the waits at a region, a barrier or one that ends with it, are for a thread that calls MPI: in each
 *        rank one thread of the team calls it and waits at none of the team's barriers, and the others wait there as
 *        long as the calls take.
 */
bool ompp_analysis_waits_for_calls(const ompp_profile_t *profile, const ompp_paths_t *paths,
                                   const ompp_meanwhile_t *meanwhile, uint32_t region);

#endif
