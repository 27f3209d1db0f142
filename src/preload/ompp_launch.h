/**
 * \file
 * What the launcher of the job (mpirun, srun) tells of this process before MPI does. Needs the environment and /proc
 * alone.
 */
#ifndef OMPP_LAUNCH_H
#define OMPP_LAUNCH_H

#include <stdbool.h>

#pragma GCC visibility push(default)

/** \return rank that the launcher gave this process; -1 = none. Read once. */
int ompp_launch_rank(void);

/**
 * \return what the launcher calls this job, the same on all ranks of it on this node and different for every job that
 * runs on it. Where nothing else tells, that is the parent process. Never NULL.
 */
const char *ompp_launch_name(void);

/** \return the same, for the ranks of all nodes; "" when nothing tells it. */
const char *ompp_launch_name_everywhere(void);

/** \return ranks of this job on this node; 0 = not known. */
int ompp_launch_ranks_here(void);

#pragma GCC visibility pop

/** \brief Takes what "ompp --" has put into the environment out of it again, at load. */
void ompp_launch_restore(void);

/** \return whether "ompp --" started this program: somebody expects a report of it. */
bool ompp_is_launched(void);

/** \return whether the environment brings ompp into each program that is started, as "ompp --children --" has it. */
bool ompp_is_preloaded(void);

#endif
