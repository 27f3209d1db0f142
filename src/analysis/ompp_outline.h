/**
 * \file
 * The call tree as reports about regions have it: of the functions on the way to regions, those that tell places apart.
 * Includes base and model only.
 */
#ifndef OMPP_OUTLINE_H
#define OMPP_OUTLINE_H

#include "model/ompp_profile.h"

#include <stdbool.h>

/**
 * \brief The profile without lines, samples, and most functions. A function stays where a region is executed below it
 *        and also below another function that has the same caller: the region's executions differ by it. Its time
 *        is that of the regions below it. With OMPP_CALLPATH=full all functions above a region stay.
 * \param[in] profile    unified; borrowed, must outlive the result.
 * \param[in] functions  false: none stays.
 * \return profile itself when there is nothing to leave out; else one whose nodes are its own, and all else the
 *         profile's. ompp_outline_free(). NULL when out of memory.
 */
const ompp_profile_t *ompp_outline_new(const ompp_profile_t *profile, bool functions);

/** \param[in] outline  of ompp_outline_new(); NULL = nothing to do.  \param[in] profile  what it was made of. */
void ompp_outline_free(const ompp_profile_t *outline, const ompp_profile_t *profile);

#endif
