/**
 * \file
 * What samples say: where the processor time was spent, by function, line, call path and owner of the code. Called by
 * the writers. Includes base, image and model only.
 */
#ifndef OMPP_SAMPLE_SUMS_H
#define OMPP_SAMPLE_SUMS_H

#include "analysis/ompp_owner.h"
#include "model/ompp_profile.h"

/** Processor time, ns, over all threads and ranks. own: in it alone; all: in what it calls, too. */
typedef struct {
    /* of the region (a FUNCTION, a LINE, a SOURCE LOOP); for paths, of the node: what the program has called, or its
     * function */
    uint32_t index;
    uint64_t own_ns, all_ns;
} ompp_sampled_t;

/** Each list: descending by own_ns; only what has samples. */
typedef struct {
    ompp_sampled_t *functions, *lines, *loops, *paths; /* of loops, own: not in a loop inside it */
    size_t nfunctions, nlines, nloops, npaths;
    uint64_t total, total_ns; /* samples, and the time that they stand for */
    uint64_t owner_ns[OMPP_CODE_OWNERS];
    uint64_t *inclusive_ns; /* [nnodes] of each node and all below it */
} ompp_samples_t;

/** \return 0 or -OMPP_E_NOMEM; nothing is to be freed then. total is 0 when there are no samples. */
int ompp_samples_init(ompp_samples_t *samples, const ompp_profile_t *profile);
void ompp_samples_fini(ompp_samples_t *samples);

/** \return user and system time of all processes. */
uint64_t ompp_samples_cpu_ns(const ompp_profile_t *profile);

/** \brief Adds a Coverage line when samples stand for clearly more or less than that. */
void ompp_samples_check(ompp_profile_t *profile);

#endif
