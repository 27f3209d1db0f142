/**
 * \file
 * Misses of simulated caches, by structure and by region and structure. Called by the writers. Includes base and model
 * only.
 */
#ifndef OMPP_CACHE_ROWS_H
#define OMPP_CACHE_ROWS_H

#include "analysis/ompp_paths.h"
#include "model/ompp_cached.h"
#include "model/ompp_profile.h"

#define OMPP_CACHE_ALL (OMPP_NONE - 1) /* of region: all of the program; of object: other data */

/** Sizes of caches of a curve: 1 KiB << n. */
#define OMPP_CACHE_SIZES (OMPP_CACHED_DISTANCES - 1)

/** One structure in one region, over threads and ranks. */
typedef struct {
    uint32_t region; /* index; OMPP_NONE = outside regions, OMPP_CACHE_ALL = all */
    uint32_t object; /* 0 = all data, OMPP_CACHE_ALL = what belongs to no structure */
    uint64_t loads, stores;
    uint64_t values[OMPP_CACHED_CURVE_VALUES]; /* of a curve, or of the model, as ompp_cached.h has them */
    uint64_t misses[OMPP_CACHE_SIZES];         /* of a curve: see ompp_cache_misses() */
    uint32_t known;                            /* bits: of which sizes they can be told */
    uint32_t in_doubt;                         /* bits: of which sizes parts of it cannot */
    uint64_t lines;                            /* of its structure, all that are followed and all that are not */
} ompp_cache_row_t;

typedef struct {
    ompp_cache_row_t *rows; /* owned; those of all come first, then by region */
    size_t n;
    bool is_model;
    uint64_t one_in;
} ompp_cache_rows_t;

/**
 * \brief Sums of all that were counted.
 * \param[out] rows  n = 0: no caches were simulated. Free with ompp_cache_rows_free().
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_analysis_cache(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_cache_rows_t *rows);
void ompp_cache_rows_free(ompp_cache_rows_t *rows);

/** \brief The smallest size that the part of lines tells, as its number. */
unsigned ompp_cache_least(const ompp_cache_rows_t *rows);

/**
 * \brief Misses of a fully associative cache of a curve. Those of regions and structures add up to those of all.
 * \param[out] misses  of all references of the row, as far as can be told.
 * \return false: it cannot be told: bursts have met too little of it, and too few of its lines are followed.
 */
static inline bool ompp_cache_misses(const ompp_cache_row_t *row, unsigned size, uint64_t *misses)
{
    *misses = row->misses[size];
    return row->known >> size & 1;
}

#endif
