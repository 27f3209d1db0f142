/**
 * \file
 * Loops whose iterations are handed out as they go: in how many chunks, and what that took. Called by the writers.
 * Includes base and model only.
 */
#ifndef OMPP_CHUNKS_H
#define OMPP_CHUNKS_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"

/** All executions of one loop, over threads and ranks. Times in ns. */
typedef struct {
    uint32_t region;     /* index */
    uint64_t visits;     /* threads, each time that they came to the loop */
    uint64_t chunks;     /* that were handed out */
    uint64_t asks;       /* times that threads came for one */
    uint64_t timed;      /* of these, a sample that was timed */
    uint64_t handing_ns; /* what asking took: that of the sample, as often as asked, without own cost */
    uint64_t body_ns;    /* of the threads in the loop, with handing out */
    uint64_t each_ns;    /* of a chunk on average: the rest of that */
} ompp_chunk_sum_t;

/**
 * \brief Sums of all loops that threads asked for iterations of, in the order of the profile's regions.
 * \param[in]  paths  of this profile.
 * \param[out] sums   owned by the caller, free(); shape [*n].
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_analysis_chunks(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_chunk_sum_t **sums, size_t *n);

/** \brief Too few to share evenly, or to be made larger: at most two for each thread that comes, in the mean. */
static inline bool ompp_chunks_are_few(ompp_chunk_sum_t sum) { return sum.chunks && sum.chunks <= 2 * sum.visits; }

/** \return the sums of one region; without chunks where its iterations are not handed out as it goes. */
ompp_chunk_sum_t ompp_analysis_chunks_of(const ompp_profile_t *profile, const ompp_paths_t *paths, uint32_t region);

/** \return whether a loop has at most so many iterations per thread in any execution; false = not known. */
bool ompp_analysis_few_iterations(const ompp_profile_t *profile, const ompp_paths_t *paths, uint32_t region,
                                  unsigned of_thread);

#endif
