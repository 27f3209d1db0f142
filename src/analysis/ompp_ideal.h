/**
 * \file
 * What the run would gain if one thing were ideal and all else as it was, as far as that follows from its profile.
 * Called by the writers. Includes base and model only.
 */
#ifndef OMPP_IDEAL_H
#define OMPP_IDEAL_H

#include "analysis/ompp_efficiency.h"

/** Rows of ompp_ideal.def. */
typedef enum {
#define OMPP_IDEAL(id, name, text, assumes) OMPP_IDEAL_##id,
#include "analysis/ompp_ideal.def"
#undef OMPP_IDEAL
    OMPP_IDEAL_NUM
} ompp_ideal_t;

typedef struct {
    const char *name, *text, *assumes;
} ompp_ideal_row_t;

extern const ompp_ideal_row_t ompp_ideal_rows[OMPP_IDEAL_NUM];

/** Why a gain is not known. */
typedef enum {
    OMPP_IDEAL_NO_CLOCKS, /* it takes virtual clocks, or they tell nothing of this run */
    OMPP_IDEAL_OWN_COST,  /* measuring took so much that the gain may be anything */
    OMPP_IDEAL_VAGUE,     /* the gain would be anything between nothing and most of the run */
    OMPP_IDEAL_WHY_NUM
} ompp_ideal_why_t;

/** Parts of the run time as it would be without measuring. What all threads of a team wait may be a barrier's cost, or
 * one thread after the other being late: the gain lies between low and high. By ideal clocks: low and high are equal,
 * or the interval of an estimate. What measuring took, and is not known better, makes it wider. */
typedef struct {
    bool known, applies; /* applies: the program has such a thing */
    double low, high;
    ompp_ideal_why_t why; /* where it is not known */
} ompp_gain_range_t;

/** A lock that the program would do without, with what handing it over takes; the work inside stays. */
typedef struct {
    uint32_t region;  /* of its places the one where threads waited longest */
    double waited_ns; /* for it, all threads and places */
    ompp_gain_range_t gain;
} ompp_lock_gain_t;

/** A parallel region in which threads hardly work. */
typedef struct {
    uint32_t region;
    double cost;      /* part of its time that is fork, join and barriers */
    double share;     /* part of the run that it takes */
    double low, high; /* what the run gains when one thread does it, without a team */
} ompp_tiny_t;

/**
 * \brief Fills all scenarios.
 * \param[out] gains  shape [OMPP_IDEAL_NUM].
 * \param[out] tiny   regions of which OMPP_IDEAL_TINY and more are such cost, by what the run loses to it; owned by the
 *                    caller, free(); shape [*ntiny].
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_analysis_ideal(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_gain_range_t *gains,
                        ompp_tiny_t **tiny, size_t *ntiny);

#define OMPP_IDEAL_TINY 0.8
#define OMPP_IDEAL_LEAST 0.1     /* of the run: a range that begins below, ... */
#define OMPP_IDEAL_MOST_WIDE 0.6 /* ... and is wider than that, says nothing */
#define OMPP_IDEAL_WIDE 0.2      /* a gain that measuring makes less certain than that is not known */

/**
 * \brief The locks that threads waited for longest, each gone by itself.
 * \param[in]  all    the gain without any lock: gains[OMPP_IDEAL_LOCKS].
 * \param[out] locks  shape [OMPP_IDEAL_NLOCKS].
 * \return how many there are.
 */
size_t ompp_analysis_ideal_locks(const ompp_profile_t *profile, const ompp_gain_range_t *all, ompp_lock_gain_t *locks);

#define OMPP_IDEAL_NLOCKS 3u
#define OMPP_IDEAL_ONE_LOCK "without-this-lock" /* as the name of a scenario */

#endif
