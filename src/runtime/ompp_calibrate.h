/**
 * \file
 * What events cost in this run. Called as measurement starts, and when the source of OpenMP's events is known later.
 */
#ifndef OMPP_CALIBRATE_H
#define OMPP_CALIBRATE_H

#include "model/ompp_tables.h"

#include <stdint.h>

/**
 * \brief Measures the functions that event sources call, by a thread that is in no report. Takes less than 1 ms, also
 *        where the clock is slow. Nothing that the process measures changes. The caller's thread is in no event.
 * \param[out] whole   picoseconds of one event with its end, [OMPP_COST_NUM].
 * \param[out] inside  of these, in the measured time of the region; PHASE, TEAM: of each phase. [OMPP_COST_NUM]
 */
void ompp_calibrate(uint32_t *whole, uint32_t *inside);

#endif
