/**
 * \file
 * Tasks by construct: how many, how long, and how long they waited to be run. Called by the writers. Includes base and
 * model only.
 */
#ifndef OMPP_TASKS_H
#define OMPP_TASKS_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"

/** All instances of one task construct, over threads and ranks. Times in ns. */
typedef struct {
    uint32_t region;                        /* index: the TASKEXEC (UTASKEXEC) */
    uint32_t nthreads;                      /* threads that ended one */
    uint64_t created;                       /* executions of its TASK (UTASK); 0 = its creation is not told */
    uint64_t create_ns;                     /* time of these */
    uint64_t started, wait_ns, wait_max_ns; /* from creation to begin */
    /* of tasks that have ended, without other tasks that ran meanwhile */
    uint64_t ended, run_ns, run_min_ns, run_max_ns;
} ompp_task_sum_t;

/**
 * \brief Sums of all task constructs that were run, in the order of the profile's regions.
 * \param[in]  paths  of this profile.
 * \param[out] sums   owned by the caller, free(); shape [*n].
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_analysis_tasks(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_task_sum_t **sums, size_t *n);

#endif
