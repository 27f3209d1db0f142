/**
 * \file
 * Lines of calls in Fortran, mended by the source text. Private to src/analysis.
 */
#ifndef OMPP_CALLS_H
#define OMPP_CALLS_H

#include "structure/ompp_source.h"

#include <stddef.h>
#include <stdint.h>

/** A call of one procedure in one file. */
typedef struct {
    const char *name;       /* of the procedure; borrowed */
    uint64_t addr;          /* of the call */
    uint32_t before, after; /* lines of the code before and after it; 0 = not known */
    uint32_t line;          /* in: where the compiler puts it; out: where it stands */
} ompp_call_t;

/**
 * \brief Finds the lines on which calls stand. A line that the text contradicts and for which it has no certain other
 *        one stays.
 * \param[in]     source  of a file; path: its name, which tells its language: only Fortran is looked at.
 * \param[in,out] calls   all that are known in this file, shape [n]; sorted by this function.
 */
void ompp_calls_mend(const ompp_source_t *source, const char *path, ompp_call_t *calls[], size_t n);

#endif
