/**
 * \file
 * What was not measured, and how it would be: nothing at all, or libraries that came after the start. Private to
 * src/process.
 */
#ifndef OMPP_UNMEASURED_PRIV_H
#define OMPP_UNMEASURED_PRIV_H

#include "model/ompp_profile.h"

/**
 * \brief At load. In a launched process it sees to it that the line is said before the program closes stderr at its
 *        end.
 */
void ompp_unmeasured_follow(void (*at_exit)(void));

/** \brief The line at the end of a process that had no event, once, by the first rank. */
void ompp_unmeasured_say(void);

/** \brief MPI that the program has, and whose calls are not told: a note in Coverage, and a line by the first rank. */
void ompp_unmeasured_mpi(ompp_profile_t *profile);

#endif
