/**
 * \file
 * OpenMP libraries in the process, and which of them tells events. Private to src/process.
 */
#ifndef OMPP_OPENMP_H
#define OMPP_OPENMP_H

#include "model/ompp_profile.h"

/** \return name of an OpenMP library that is loaded, or was (ompp_openmp_note()), as in libgomp.so; NULL = none. */
const char *ompp_openmp_loaded(void);

/** \brief Before a library is closed: an OpenMP library that is there now counts as loaded later, too. */
void ompp_openmp_note(void);

/** \brief Notes in Coverage what OpenMP libraries do that no events tell of. */
void ompp_openmp_coverage(ompp_profile_t *profile);

#endif
