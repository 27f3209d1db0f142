/**
 * \file
 * Tasks by construct: how many, how long, and how long they waited to be run. Called by the writers. Includes base and
 * model only.
 */
#ifndef OMPP_TASKS_H
#define OMPP_TASKS_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"
#include "model/ompp_property.h"

/** All instances of one task construct, over threads and ranks. Times in ns. */
typedef struct {
    uint32_t region;                        /* index: the TASKEXEC (UTASKEXEC) */
    uint32_t nthreads;                      /* threads that ended one */
    uint64_t created;                       /* executions of its TASK (UTASK); 0 = its creation is not told */
    uint64_t create_ns;                     /* time of these */
    uint64_t started, wait_ns, wait_max_ns; /* from creation to begin */
    /* of tasks that have ended, without other tasks that ran meanwhile */
    uint64_t ended, run_ns, run_min_ns, run_max_ns;
    uint64_t untimed; /* of these, counted only: they are not in the longest and shortest ones */
} ompp_task_sum_t;

/**
 * \brief Sums of all task constructs that were run, in the order of the profile's regions.
 * \param[in]  paths  of this profile.
 * \param[out] sums   owned by the caller, free(); shape [*n].
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_analysis_tasks(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_task_sum_t **sums, size_t *n);

/** The tasks that the teams of one fork ran, of all constructs. */
typedef struct {
    ompp_task_size_t size;
    uint32_t region;  /* the TASKEXEC that was run most often; OMPP_NONE = there were no tasks */
    uint64_t most;    /* executions of it */
    uint64_t ended;   /* executions of all */
    uint64_t work_ns; /* of these, without what regions and tasks in them took */
    uint64_t max_ns;  /* the longest of them */
    uint64_t lost_ns; /* what threads that are not alone waited in the teams, and what making the tasks took */
    uint64_t own_ns;  /* own cost of these, outside of their measured time */
    uint64_t wait_ns; /* the longest that a thread waited at one place, in the mean of its visits */
    uint64_t visits;  /* executions of the fork, by all threads */
} ompp_task_team_t;

/**
 * \brief The tasks of each fork.
 * \param[in]  paths  of this profile.
 * \return owned by the caller, free(); shape [nnodes], by the fork's node, 0 = outside of teams. NULL: out of memory.
 */
ompp_task_team_t *ompp_analysis_task_teams(const ompp_profile_t *profile, const ompp_paths_t *paths);

/** \return whether threads wait for tasks in this phase of a node: some were run in it, or it is there for that. */
bool ompp_analysis_waits_for_tasks(const ompp_profile_t *profile, uint32_t node, unsigned phase);

#endif
