/**
 * \file
 * Collective calls whose entries were compared, call by call: how much of them is waiting for the rank that comes last,
 * and which rank that is. Called by the analysis. Includes base and model only.
 */
#ifndef OMPP_MEETS_H
#define OMPP_MEETS_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"

/** The compared calls of one region. */
typedef struct {
    uint64_t calls;   /* that were compared */
    double waiting;   /* part of their time that is waiting for the last rank */
    uint32_t rank;    /* that the others waited for most */
    double share;     /* of all lateness, that rank's */
    uint64_t last;    /* times that it came last */
    uint64_t late_ns; /* by which the last rank came later than the others on average, in the mean of all calls */
} ompp_meet_sum_t;

/** \return false when calls of the region were not compared, or no rank was the last one of any. */
bool ompp_analysis_meets(const ompp_profile_t *profile, const ompp_paths_t *paths, uint32_t region,
                         ompp_meet_sum_t *sum);

/** Calls of one region that wait for messages, of which both sides were compared. */
typedef struct {
    uint64_t calls;
    double part[3];      /* of their time: until the senders came, until the receivers came, after that */
    uint64_t wait_ns[2]; /* until the senders came, the receivers came, in the mean of all calls */
} ompp_pair_sum_t;

/** \return false when none were compared. */
bool ompp_analysis_pairs(const ompp_profile_t *profile, const ompp_paths_t *paths, uint32_t region,
                         ompp_pair_sum_t *sum);

/**
 * \brief Where a rank works longer than the others do on average.
 * \param[out] more_ns  by how much, of its threads together.
 * \return the region in which the difference is largest, without what lies in it; OMPP_NONE = outside of regions.
 */
uint32_t ompp_analysis_longer(const ompp_profile_t *profile, const ompp_paths_t *paths, uint32_t rank,
                              uint64_t *more_ns);

#endif
