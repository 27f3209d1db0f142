/**
 * \file
 * Arena to profile: the one reader of the arena. Serves finalize, dumps and, from the file, processes that died.
 */
#ifndef OMPP_COLLECT_H
#define OMPP_COLLECT_H

#include "model/ompp_profile.h"

/**
 * \brief Copies an arena into a profile, closing open frames in the copy at min(t, join of their team).
 * \param[in] base  start of the mapping, borrowed; other threads may go on writing into it.
 * \param[in] size  bytes of it that are mapped.
 * \param[in] t     end of the measurement, ns of its clock; used as the rank's duration.
 * \return profile of one rank, owned, ompp_profile_free(); NULL when it is not an arena of this version, or out of
 *         memory.
 */
ompp_profile_t *ompp_collect(const char *base, uint64_t size, uint64_t t, ompp_end_t end);

/** What is known of the process whose arena a file is. */
typedef enum {
    OMPP_LIFE_OVER,      /* it is gone */
    OMPP_LIFE_ELSEWHERE, /* it ran on another machine: nobody here can tell */
    OMPP_LIFE_HIDDEN,    /* it ran on this machine, in a PID namespace (a container) that is not seen from here */
    OMPP_LIFE_ENDS,      /* it is still there, its measurement has ended */
    OMPP_LIFE_RUNS
} ompp_life_t;

/**
 * \brief Reads the arena of a process that died, from its file; the measurement ends with the last event that it holds.
 * \param[out] profile  owned, ompp_profile_free(); marked incomplete, with a Coverage line that says what is known of
 *                      its end.
 * \param[out] life     of the process; may be NULL.
 * \return 0; -OMPP_E_OPEN or -OMPP_E_IO with errno; -OMPP_E_FORMAT when the file is not an arena.
 * \return -OMPP_E_VERSION  an arena of another layout.
 */
int ompp_collect_file(const char *path, ompp_profile_t **profile, ompp_life_t *life);

/** \brief The same of a file that is open. Its work is bounded by its size, whatever is in it. */
int ompp_collect_fd(int fd, ompp_profile_t **profile, ompp_life_t *life);

#endif
