/**
 * \file
 * Values of the report's tables, row by row: what ompp_analysis_value() gives, for a whole node at once and in linear
 * time. Called by the writers. Includes base and model only.
 */
#ifndef OMPP_VALUES_H
#define OMPP_VALUES_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"

/** A column of a registered metric (OMPP_USE_COLUMN, OMPP_USE_OBJECTS, OMPP_USE_SELECTED), in the order of the
 * profile's sets. */
typedef struct {
    const char *name; /* one word; borrowed from ompp_values_t: "PAPI_LD_INS", "loads(a)" */
    unsigned unit, quality;
    uint32_t set, index, waits; /* waits: index of the OMPP_USE_WAITS metric; OMPP_NONE = there is none */
    uint32_t object;            /* data structure; 0 = all data */
} ompp_counter_t;

/** One row of a table: the values of a node (or of all nodes of a region) on one location, ns, bytes or counts. From
 * ompp_rows_new(). */
typedef struct {
    uint64_t value[OMPP_COLUMN_NUM]; /* inclusive; 0 for columns that the construct does not have */
    uint64_t exclusive;              /* of the construct's SPLIT column */
    uint64_t *counter;               /* [number of counters] inclusive */
    uint64_t *counter_exclusive;     /* [number of counters] of the node alone, while the thread works */
    uint64_t below_ns;               /* of execT, in children and in tasks, over all phases */
} ompp_row_t;

typedef struct ompp_values ompp_values_t;

/**
 * \brief Prepares the sums over subtrees.
 * \param[in] profile  borrowed; must stay as it is until ompp_values_free().
 * \return owned, free with ompp_values_free(); NULL when out of memory.
 */
ompp_values_t *ompp_values_new(const ompp_profile_t *profile);
void ompp_values_free(ompp_values_t *values);

/**
 * \brief Adds the values of a node to rows.
 * \param[in,out] rows  shape [profile->nlocations].
 */
void ompp_values_add(const ompp_values_t *values, uint32_t node, ompp_row_t *rows);

/** \brief The same into one row: sums over all locations. */
void ompp_values_sum(const ompp_values_t *values, uint32_t node, ompp_row_t *row);

/** \return what was found of all call paths; borrowed. */
const ompp_paths_t *ompp_values_paths(const ompp_values_t *values);

/** \brief Columns of registered metrics. \param[out] n  their number. \return borrowed, shape [n]. */
const ompp_counter_t *ompp_values_counters(const ompp_values_t *values, size_t *n);

/** \brief Rows with room for all counters, all zero. \return owned, free() frees all of it; NULL when out of memory. */
ompp_row_t *ompp_rows_new(const ompp_values_t *values, size_t n);

/** \brief Makes rows zero again. */
void ompp_rows_clear(const ompp_values_t *values, ompp_row_t *rows, size_t n);

/** \brief Adds a row to another. */
void ompp_row_add(const ompp_values_t *values, ompp_row_t *into, const ompp_row_t *from);

/**
 * \brief By what the sum over threads is divided in the callgraph: slots inside a team, and where threads of the
 *        program's own were beside the initial one; ranks elsewhere outside of teams, and in ALONE constructs of a team
 *        that is in no other one.
 */
uint64_t ompp_analysis_divisor(const ompp_profile_t *profile, const ompp_paths_t *paths, uint32_t node);

/** \brief Time of a phase of a node over threads and ranks, without the tasks that ran in it, ns. */
uint64_t ompp_analysis_phase(const ompp_profile_t *profile, uint32_t node, unsigned phase);

/** \brief Adds the time of a node's phases to their overhead classes, ns. */
void ompp_analysis_classes(const ompp_profile_t *profile, uint32_t node, uint64_t classes[OMPP_CLASS_NUM]);

/** \brief Number of ranks in the profile, kept and summed. At least 1. */
uint64_t ompp_analysis_nranks(const ompp_profile_t *profile);

/** \return index of a rank among those that are kept one by one; nranks_kept when it is not. */
size_t ompp_analysis_rank_index(const ompp_profile_t *profile, uint32_t rank);

/** \brief Largest duration of a rank, ns. */
uint64_t ompp_analysis_duration(const ompp_profile_t *profile);

/** \brief Largest number of threads of a rank that is kept. */
uint32_t ompp_analysis_max_threads(const ompp_profile_t *profile);

/** \return the set whose metrics have the names of these rows; 0 = the profile has none. */
uint32_t ompp_analysis_find_set(const ompp_profile_t *profile, const ompp_metric_row_t *rows, unsigned n);

/** \return a - b, not below 0. */
static inline uint64_t ompp_less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

#endif
