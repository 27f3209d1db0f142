/**
 * \file
 * Which processors this process may use, and whether its threads have equal ones.
 */
#ifndef OMPP_CPUS_H
#define OMPP_CPUS_H

#include "model/ompp_profile.h"

/**
 * \brief Adds to the profile of this process its processors, their cores and NUMA nodes, and how many threads are bound
 *        to one core each; and the Coverage lines PROCESSOR, and UNEQUAL where threads share a core while others have
 *        one of their own.
 */
void ompp_cpus_add(ompp_profile_t *profile);

#endif
