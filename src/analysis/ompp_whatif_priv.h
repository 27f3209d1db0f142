/**
 * \file
 * Shared by the files about what-if results.
 */
#ifndef OMPP_ANALYSIS_WHATIF_PRIV_H
#define OMPP_ANALYSIS_WHATIF_PRIV_H

#include "analysis/ompp_whatif.h"

/** \brief (O - B) / (T - B); 0 when nothing is left. */
double ompp_whatif_gain_of(double time, double saved, double paid);

/**
 * \brief Scales a gain that is there already, and finds interval, low and high of what comes of that.
 * \param[in] correction  for the part of the run that the region was followed: 1 = none.
 */
void ompp_whatif_interval(const ompp_whatif_clock_t *clock, double correction, ompp_gain_t *gain);

/**
 * \brief Gain, interval, low and high by units of work of the experiments against those at 0 %, COZ's formula, when there are enough of
 *        both.
 * \return false when there are not, or they differ too much to say something: the gain is as it was.
 */
bool ompp_whatif_by_control(const ompp_whatif_clock_t *clock, const ompp_whatif_clock_t *control, ompp_gain_t *gain);

#endif
