/**
 * \file
 * What ideal clocks say of the run (model/ompp_whatif_profile.h). Includes base and model only.
 */
#ifndef OMPP_IDEAL_CLOCKS_H
#define OMPP_IDEAL_CLOCKS_H

#include "model/ompp_profile.h"

/** Parts of the run time that the run would save. */
typedef struct {
    double gain;
    bool is_estimate; /* clocks were suspended for a part of the run */
    bool is_known;    /* the interval, 95 %: low, high; of an estimate alone */
    double low, high;
} ompp_ideal_gain_t;

/** \return false when there is no such clock, or what it says is no result. */
bool ompp_analysis_ideal_clock(const ompp_profile_t *profile, ompp_whatif_ideal_t ideal, ompp_ideal_gain_t *gain);

/** \return whether gains of regions were not asked for: the clocks are there for efficiencies (OMPP_EFFICIENCY). */
bool ompp_whatif_is_unasked(const ompp_profile_t *profile);

#endif
