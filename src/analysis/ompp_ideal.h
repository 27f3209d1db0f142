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

/** Parts of the run time. What all threads of a team wait may be a barrier's cost, or one thread after the other being
 * late: the gain lies between low and high. By ideal clocks: low and high are equal, or the interval of an estimate. */
typedef struct {
    bool known, applies; /* applies: the program has such a thing */
    double low, high;
} ompp_gain_range_t;

/** A parallel region in which threads hardly work. */
typedef struct {
    uint32_t region;
    double cost;  /* part of its time that is fork, join and barriers */
    double share; /* part of the run that it takes */
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

#endif
