/**
 * \file
 * From a merged profile to one that reports can be printed from. Called on rank 0 at the end of a run and by the tools;
 * never by the measurement. Includes base, model and structure only.
 *
 * Order: resolve (addresses to lines) -> unify (equal regions, combined constructs, equal call paths) -> number.
 */
#ifndef OMPP_ANALYSIS_H
#define OMPP_ANALYSIS_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"

#include <stdio.h>

/**
 * \brief Finds file, function, begin and end line of every region known by address (OMPP_REGION_F_ADDRESS) from the
 *        DWARF information of its module. What stays unknown keeps its address and is counted in Coverage (UNRESOLVED).
 * \param[in] deadline  ompp_clock_seconds(): regions left over then stay unresolved.
 * \param[in] who       the variable that set it: what is left over is said in Coverage with that name.
 */
int ompp_analysis_resolve(ompp_profile_t *profile, double deadline, const char *who);

/** Coverage lines of what was left over, and how the reason of one begins. */
#define OMPP_LATE_LOOPS "lines and calls whose loops were not looked up"
#define OMPP_LATE_LOCKS "locks whose variables were not looked up"
#define OMPP_LATE_LIMIT "time limit: "

/** \brief Whether a profile of a finished run has such lines, and files to look them up in are here. */
bool ompp_analysis_is_late(const ompp_profile_t *profile);

/** \brief Looks up what was left over in such a profile, which is resolved, unified and numbered then. */
int ompp_analysis_resolve_late(ompp_profile_t *profile, double deadline, const char *who);

/**
 * \brief Gives structures that the user has not named (ompp_object_is_all()) names of the source, most used ones first,
 *        and makes one of those that turned out equal. Those that were not used are left out; all are when the user has
 *        named others and does not ask for all (OMPP_DATA=all).
 * \param[in] deadline, who  as above: structures left over then are known by their places.
 */
int ompp_analysis_names(ompp_profile_t *profile, double deadline, const char *who);

/**
 * \brief Makes one region of regions that turned out equal (same construct, file, lines, name), then one node of nodes
 *        that are the same call path; and folds a LOOP, SECTIONS or WORKSHARE that begins on the line of the PARALLEL
 *        around it into PARALLEL LOOP, PARALLEL SECTIONS or PARALLEL WORKSHARE. All sums are kept exactly.
 */
int ompp_analysis_unify(ompp_profile_t *profile);

/**
 * \brief Gives regions their numbers, 1-based, ordered by (file, begin, end, type, name): equal for every run and rank
 *        count. TASKEXEC has the number of its TASK. Nodes are put in report order: depth first, children by first
 *        entry.
 */
int ompp_analysis_number(ompp_profile_t *profile);

/**
 * \brief Time outside any measured region, ns, of the duration of the longest rank: the callgraph's root less what
 *        stands directly below it. What a rank does outside of parallel regions counts for all its threads, which have
 *        nothing else to do then.
 */
uint64_t ompp_analysis_outside_ns(const ompp_profile_t *profile, const ompp_paths_t *paths);

/**
 * \brief Adds the Coverage line OUTSIDE: the same as a share of the duration, in thousandths, less the time of threads
 *        of teams in teams, which the outer region does not have. And ENDED_EARLY, where a rank was stopped before
 *        the others ended. Call once, after the merge.
 */
void ompp_analysis_outside(ompp_profile_t *profile);

/**
 * \brief Adds the Coverage lines about counts: what back ends have lost (OMPP_USE_LOSS), that no parallel region was
 *        run, and that calls which receive had room for more than what was sent.
 */
void ompp_analysis_counted(ompp_profile_t *profile);

/** Values of the overhead classes of one parallel region, ns, summed over ranks and threads. */
typedef struct {
    uint32_t region;         /* index */
    uint64_t wall_ns;        /* mean over ranks of the longest execT of its threads */
    uint64_t total_ns;       /* sum over ranks of that x threads */
    uint64_t outer_wall_ns;  /* the same two without executions inside another parallel region, so that */
    uint64_t outer_total_ns; /* their sums over regions count no time twice */
    uint64_t class_ns[OMPP_CLASS_NUM];
} ompp_overhead_t;

/**
 * \brief Overheads of all parallel regions, unordered.
 * \param[in]  paths      of this profile.
 * \param[out] overheads  owned by the caller, free(); shape [*n].
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_analysis_overheads(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_overhead_t **overheads,
                            size_t *n);

/**
 * \brief Value of a column for a node and a location, inclusive (ns, bytes or count).
 * Columns of source MPI_TIME and METRIC include all nodes below.
 */
uint64_t ompp_analysis_value(const ompp_profile_t *profile, uint32_t node, uint32_t location, ompp_column_t column);

/**
 * \brief Do the times of a profile agree with each other and with the length of the run? References must be right
 *        already (ompp_profile_check()).
 * \param[in] name  of the file, in front of each line.
 * \param[in] out   gets a line for each objection, up to 20.
 * \return number of objections.
 */
size_t ompp_analysis_check(const ompp_profile_t *profile, const char *name, FILE *out);

#endif
