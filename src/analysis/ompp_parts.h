/**
 * \file
 * Loops and inlined calls between a function and the lines of its samples. Includes base, model and structure only.
 */
#ifndef OMPP_PARTS_H
#define OMPP_PARTS_H

#include "model/ompp_profile.h"
#include "structure/ompp_structure.h"

#include <stddef.h>

/** What each line of samples lies in; all 0 at first. */
typedef struct {
    struct ompp_part_of *lines; /* [n] */
    size_t n, allocated;
    uint32_t *chains; /* [nchains] regions, from the outermost inwards */
    size_t nchains, achains;
} ompp_parts_t;

/**
 * \brief Finds what the code of a LINE lies in, and adds regions for it.
 * \param[in] structure  of its module.  \param[in] deadline  ompp_clock_seconds(); later lines lie in their function
 *                       alone.
 * \return false when out of memory.
 */
bool ompp_parts_find(ompp_parts_t *parts, ompp_profile_t *profile, uint32_t line, ompp_structure_t *structure,
                     double deadline);

/** \brief Puts them into the call tree, above their lines. Equal ones are not joined. \return false: out of memory. */
bool ompp_parts_insert(const ompp_parts_t *parts, ompp_profile_t *profile);

void ompp_parts_fini(ompp_parts_t *parts);

#endif
