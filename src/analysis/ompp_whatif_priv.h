/**
 * \file
 * Shared by the files about what-if results.
 */
#ifndef OMPP_ANALYSIS_WHATIF_PRIV_H
#define OMPP_ANALYSIS_WHATIF_PRIV_H

#include "analysis/ompp_whatif.h"

/** \brief (O - B) / (T - B); 0 when nothing is left. */
double ompp_whatif_gain_of(double time, double saved, double paid);

/** \brief Finds interval, low and high of a gain that is there already. */
void ompp_whatif_interval(const ompp_whatif_clock_t *clock, ompp_gain_t *gain);

#endif
