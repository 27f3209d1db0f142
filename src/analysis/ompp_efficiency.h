/**
 * \file
 * Where the time of all threads goes, the efficiencies of the POP project that follow from it, and to what each lost
 * part goes. Called by the writers. Includes base and model only. All of it is of the ranks that are kept one by one.
 */
#ifndef OMPP_EFFICIENCY_H
#define OMPP_EFFICIENCY_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"

/** What time is lost to: rows of ompp_lost.def. */
typedef enum {
#define OMPP_LOST(id, name, level, text) OMPP_LOST_##id,
#include "analysis/ompp_lost.def"
#undef OMPP_LOST
    OMPP_LOST_NUM
} ompp_lost_t;

typedef enum { OMPP_LEVEL_MPI, OMPP_LEVEL_OPENMP } ompp_level_t;

typedef struct {
    const char *name, *text;
    ompp_level_t level;
} ompp_lost_row_t;

extern const ompp_lost_row_t ompp_lost_rows[OMPP_LOST_NUM];

/**
 * The POP project's multiplicative hierarchy at one level: parallel = balance x communication; of the run also
 * communication = serialisation x transfer, when there are ideal clocks; else these are 0.
 */
typedef struct {
    double parallel, balance, communication, serialisation, transfer;
    double low, high; /* of transfer: 95 % interval of an estimate; 0 = it is none, or the interval is not known */
} ompp_pop_t;

/**
 * Of the run, or of a user region: of all threads of the ranks that run it; of the threads that run it, where it is in
 * a team. thread_ns = useful_ns + the sum of lost_ns.
 *   useful  in regions, what belongs to no overhead class; outside of regions on the first thread of a rank and on the
 *           program's own threads
 *   lost    with threads that have nothing to do: while others run alone, while a call of MPI holds their rank, or when
 *           that is done
 *   all     balance: mean useful time of a thread / the largest; communication: the largest / length
 *   mpi     the same of ranks, with all that is not between ranks (OMPP_LEVEL_MPI) as useful
 *   openmp  all / mpi, each: its balance may be above 1, when one level makes up for the other
 *   transfer of all: duration on the clock on which MPI and the OpenMP runtime take no time / length; of mpi: the same
 *           with MPI alone
 */
typedef struct {
    uint32_t region;    /* index; OMPP_NONE = the run */
    uint64_t thread_ns; /* length (of the longest rank) x threads */
    uint64_t nthreads, nranks;
    uint64_t useful_ns, lost_ns[OMPP_LOST_NUM];
    uint64_t measuring_ns; /* of useful_ns, of the run: what measuring took, by estimate; 0 = less than is told */
    ompp_pop_t all, mpi, openmp;
    bool is_estimate; /* serialisation and transfer: clocks were suspended for a part of the run */
} ompp_efficiency_t;

/** A part of what is lost in the run. */
typedef struct {
    uint32_t lost;             /* ompp_lost_t */
    uint32_t region, node;     /* where; OMPP_NONE = of no region */
    uint32_t rank;             /* that loses most of it */
    uint64_t lost_ns, rank_ns; /* of all; of that rank */
} ompp_loss_t;

/** \return ompp_lost_t of the time of a phase (slot of a construct); OMPP_LOST_NUM = it is work. */
unsigned ompp_efficiency_lost_in(unsigned construct, unsigned slot);

/**
 * \brief What measuring a node took a thread of what would be work, ns: in its own phases, and around it.
 * \param[in] lost  of the node's construct: ompp_efficiency_lost_in() of its slots.
 */
double ompp_efficiency_measuring_ns(const ompp_profile_t *profile, uint32_t node, const ompp_block_t *block,
                                    const unsigned *lost);

/** \return sum of what is lost, ns: of one level, or of both. */
uint64_t ompp_efficiency_lost(const ompp_efficiency_t *efficiency, ompp_level_t level);

/**
 * \brief Efficiency of the run, and of each user region with the most time, up to OMPP_EFFICIENCY_REGIONS;
 *        of fewer where walking through what is below them would take long.
 * \param[in]  paths  of this profile.
 * \param[out] all    owned by the caller, free(); shape [*n]: the run, then regions by time, descending.
 * \param[out] losses owned by the caller, free(); shape [*nlosses]: of the run, largest first; one for each call path
 *                    and what it loses to, one for each rank that is done before others, one for the rest. They add up
 *                    to thread_ns - useful_ns. NULL = not wanted.
 * \return 0 or -OMPP_E_NOMEM. *n is 0 when no rank is kept, or nothing worked.
 */
int ompp_analysis_efficiency(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_efficiency_t **all,
                             size_t *n, ompp_loss_t **losses, size_t *nlosses);

#define OMPP_EFFICIENCY_REGIONS 1000
#define OMPP_EFFICIENCY_WALKS 10 /* so often all call paths are walked through for regions, at most */

#endif
