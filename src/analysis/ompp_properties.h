/**
 * \file
 * Performance properties, and the time of ranks outside parallel regions. Called by the writers. Includes base and
 * model only.
 */
#ifndef OMPP_PROPERTIES_H
#define OMPP_PROPERTIES_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"
#include "model/ompp_property.h"

/** A property that holds for a region. Its severity is lost_ns over ompp_analysis_basis(). */
typedef struct {
    uint32_t property; /* ompp_property_t */
    uint32_t region;   /* index; OMPP_NONE = the whole program */
    uint32_t rank;     /* that is meant; OMPP_NONE = none */
    uint64_t lost_ns;  /* thread time, over threads and ranks */
    uint64_t count;    /* of what the advice speaks of, such as tasks; 0 = it names none */
    uint64_t each_ns;  /* what one of them takes in the mean, or the longest, as the advice says */
    uint32_t where;    /* region in which the rank that is meant works longer than others; OMPP_NONE = outside of all */
    uint64_t more_ns;  /* by how much; 0 = not known */
    uint32_t own_permille; /* of the region's time, that measuring took (ompp_own.h) */
    uint64_t own_ns;       /* of management: what measuring took of it, which is not in lost_ns */
    /* of all threads' time, that they waited for processors, where others may have waited as long for them; else 0 */
    uint32_t waited_permille;
} ompp_finding_t;

/** Where the wallclock of a rank goes, seen by its first thread. */
typedef struct {
    uint64_t parallel_ns; /* in parallel regions */
    uint64_t mpi_ns;      /* in MPI calls outside them */
    uint64_t serial_ns;   /* the rest */
} ompp_rank_time_t;

/**
 * \brief All properties with a time above 0, by severity, descending; of equal ones the lower region number first.
 * \param[in]  paths     of this profile.
 * \param[out] findings  owned by the caller, free(); shape [*n].
 * \return 0 or -OMPP_E_NOMEM.
 * \note A call of MPI outside parallel regions holds all threads of its rank: its time counts for each.
 */
int ompp_analysis_properties(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_finding_t **findings,
                             size_t *n);

/** \brief What severities are shares of: duration x threads of all ranks, ns. */
double ompp_analysis_basis(const ompp_profile_t *profile);

/**
 * \brief Time of the ranks that are kept one by one.
 * \param[in]  paths  of this profile.
 * \param[out] times  shape [profile->nranks_kept].
 */
void ompp_analysis_rank_times(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_rank_time_t *times);

/** \return whether a region of an MPI call is the start of MPI. */
bool ompp_analysis_starts_mpi(const ompp_profile_t *profile, uint32_t region);

#endif
