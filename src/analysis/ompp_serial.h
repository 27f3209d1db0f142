/**
 * \file
 * Where the program works outside of parallel regions. Called by the writers. Includes base and model only.
 */
#ifndef OMPP_SERIAL_H
#define OMPP_SERIAL_H

#include "model/ompp_profile.h"

/** A rank that comes late, and how much longer its first thread works than those of the others do on average. */
typedef struct {
    uint32_t rank;
    uint64_t more_ns;
} ompp_late_t;

/**
 * \brief By samples: the outermost loop of the program that has at least half of the processor time outside of parallel
 *        regions and MPI, and no parallel region inside: what to parallelize. A function, which may be
 *        inlined, where there is no such loop.
 * \param[in] profile  with its samples, no outline of one.
 * \param[in] late  NULL, or a rank: then the function in which the rank has at least half of more_ns more than the
 *            others have on average. Of a function and its callers, the one whose time differs by a clearly larger
 *            part.
 * \return its region; OMPP_NONE = no place has so much, samples are too few, not all ranks are there, or out of memory.
 */
uint32_t ompp_analysis_serial_place(const ompp_profile_t *profile, const ompp_late_t *late);

#endif
