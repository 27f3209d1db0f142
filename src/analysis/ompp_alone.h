/**
 * \file
 * Threads that nobody is beside: members of a team of one, and those outside of teams. They wait for no other thread,
 * so that no advice is due on how they wait. Called by the analysis. Includes base and model only.
 */
#ifndef OMPP_ALONE_H
#define OMPP_ALONE_H

#include "analysis/ompp_paths.h"
#include "model/ompp_profile.h"

/**
 * \return whether the location is the only member of its innermost team at this node; for the ranks that are not kept,
 *         whether they have a thread each. A team of one in another team is known by its members: all of them are
 *         members of the outer team too. A thread of the program's own is alone, unless others join its team.
 */
bool ompp_analysis_alone(const ompp_profile_t *profile, const ompp_paths_t *paths, uint32_t node, uint32_t location);

/** \return whether no other thread of the process runs beside it: nobody can hold the lock that it waits for. */
bool ompp_analysis_unrivalled(const ompp_profile_t *profile, const ompp_paths_t *paths, uint32_t node,
                              uint32_t location);

#endif
