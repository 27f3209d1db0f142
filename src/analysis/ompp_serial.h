/**
 * \file
 * Where the program works outside of parallel regions. Called by the writers. Includes base and model only.
 */
#ifndef OMPP_SERIAL_H
#define OMPP_SERIAL_H

#include "model/ompp_profile.h"

/**
 * \brief By samples: the outermost loop of the program that has at least half of the processor time outside of parallel
 *        regions and MPI, and no parallel region inside: what to parallelize. A function, which may be
 *        inlined, where there is no such loop.
 * \param[in] profile  with its samples, no outline of one.
 * \param[in] rank  OMPP_NONE, or one that works longer than the others: then the function that has at least half of
 *            what it works longer than they do on average. Of those that call each other, the one where that is the
 *            largest part. It has to be more than three standard deviations of samples.
 * \return its region; OMPP_NONE = no place has so much, samples are too few, or out of memory.
 */
uint32_t ompp_analysis_serial_place(const ompp_profile_t *profile, uint32_t rank);

#endif
