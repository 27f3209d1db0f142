/**
 * \file
 * From a line of the source to the code that was made of it, inlined calls that stand in the line included.
 */
#ifndef OMPP_CODE_H
#define OMPP_CODE_H

#include "structure/ompp_structure.h"

/** begin <= address < end, in the module's own addresses. */
typedef struct {
    uint64_t begin, end;
    bool other; /* of another line of the same statement */
} ompp_code_t;

/**
 * \brief The code of a line, and behind it that of the other lines of its statement, as the source's text has it. In C
 *        and C++ only its own where several lines of the statement call an allocator, and it is one of them.
 * \param[in]     file      "solve.c", or the end of its path, "src/solve.c".
 * \param[in]     deadline  ompp_clock_seconds(); checked before a compilation unit is read.
 * \param[out]    code      shape [max].
 * \param[in,out] nearest   the line that is nearest and has code; 0 = none so far.
 * \return how many ranges there are, which may be more than max.
 */
size_t ompp_code_of_line(ompp_structure_t *structure, const char *file, uint32_t line, double deadline,
                         ompp_code_t *code, size_t max, uint32_t *nearest);

/** \brief Whether a path is, or ends with, these parts: "solve.c" and "src/solve.c" for /home/x/src/solve.c. */
bool ompp_code_ends_path(const char *path, const char *end);

/**
 * \brief Whether there may be code of a source file: its name is in the debug information. To be asked before that is
 *        read, of a structure from ompp_structure_open_symbols() as well.
 * \param[in] file        as for ompp_code_of_line().
 * \param[in] compressed  the answer when it cannot be looked at without decompression.
 */
bool ompp_code_may_be(const ompp_structure_t *structure, const char *file, bool compressed);

#endif
