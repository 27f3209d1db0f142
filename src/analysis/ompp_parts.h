/**
 * \file
 * Loops and inlined calls between a function and the lines of its samples, and between it and what it calls there.
 * Includes base, model and structure only.
 */
#ifndef OMPP_PARTS_H
#define OMPP_PARTS_H

#include "model/ompp_profile.h"
#include "structure/ompp_structure.h"

#include <stddef.h>

/** Name of loops, and in that of functions, that copy an argument which is not contiguous. */
#define OMPP_PARTS_COPY "made by the compiler: copy of an argument"

/** What each line of samples, and each call of a path, lies in; all 0 at first. */
typedef struct {
    struct ompp_part_of *places; /* [n] */
    size_t n, allocated;
    uint32_t *chains; /* [nchains] regions, from the outermost inwards */
    size_t nchains, achains;
    char *file; /* whose text was looked at last; NULL = none */
    struct ompp_source *source;
} ompp_parts_t;

/**
 * \brief Finds what code lies in, and adds regions for it.
 * \param[in] region     a LINE, or a FUNCTION that a call path has.
 * \param[in] address    of the line's code; of the call. A function's entry is no call.
 * \param[in] structure  of its module.  \param[in] deadline  ompp_clock_seconds(); what is later lies in its function
 *                       alone.
 * \return 0, -OMPP_E_TIMEOUT, -OMPP_E_NOMEM.
 */
int ompp_parts_find(ompp_parts_t *parts, ompp_profile_t *profile, uint32_t region, uint64_t address,
                    ompp_structure_t *structure, double deadline);

/**
 * \brief Puts them into the call tree: above lines, and between functions and what these call. Equal ones are not
 *        joined.
 * \return false: out of memory.
 */
bool ompp_parts_insert(const ompp_parts_t *parts, ompp_profile_t *profile);

void ompp_parts_fini(ompp_parts_t *parts);

#endif
