/**
 * \file
 * Where the time of all threads goes, and the efficiencies of the POP project that follow from it. Called by the
 * writers. Includes base and model only.
 */
#ifndef OMPP_EFFICIENCY_H
#define OMPP_EFFICIENCY_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"

/**
 * Of the ranks that are kept one by one, ns. thread_ns = useful_ns + the sum of class_ns + idle_ns.
 *   useful        outside of regions on the first thread of a rank and on the program's own threads; in regions, what
 *                 belongs to no overhead class
 *   idle          the rest: threads that have nothing to do while others run alone, or whose rank has ended
 *   balance       mean of the threads' useful time / the largest
 *   communication largest useful time of a thread / duration
 *   parallel      useful_ns / thread_ns = balance x communication
 */
typedef struct {
    uint64_t thread_ns; /* duration of the longest rank x threads of all ranks */
    uint64_t nthreads;
    uint64_t useful_ns, class_ns[OMPP_CLASS_NUM], idle_ns;
    double balance, communication, parallel;
} ompp_efficiency_t;

/**
 * \param[in] paths  of this profile.
 * \return false when out of memory, or when no rank is kept.
 */
bool ompp_analysis_efficiency(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_efficiency_t *efficiency);

#endif
