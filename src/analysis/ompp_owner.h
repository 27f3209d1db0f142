/**
 * \file
 * Whose code functions are. Includes base, image and model only.
 */
#ifndef OMPP_OWNER_H
#define OMPP_OWNER_H

#include "model/ompp_profile.h"

/** Whose code: the program's, or the library that the program has called. */
typedef enum {
    OMPP_CODE_PROGRAM,
    OMPP_CODE_MPI,
    OMPP_CODE_OPENMP,
    OMPP_CODE_C_LIBRARY,
    OMPP_CODE_LIBRARY,
    OMPP_CODE_OMPP,
    OMPP_CODE_UNKNOWN, /* samples whose path was not found */
    OMPP_CODE_OWNERS
} ompp_code_owner_t;

extern const char *const ompp_code_owner_names[OMPP_CODE_OWNERS];

/** \return whose code a FUNCTION or LINE is, by the name of its file. */
ompp_code_owner_t ompp_code_owner(const ompp_profile_t *profile, const ompp_region_t *region);

/** \return whether it may be a function that only calls main() or a thread's first function. */
bool ompp_code_is_start(const ompp_profile_t *profile, const ompp_region_t *region);

#endif
