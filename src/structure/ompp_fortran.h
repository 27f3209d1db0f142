/**
 * \file
 * What the source text says of calls in Fortran. Compilers put a call on the last line of its statement, and gfortran,
 * where the interface has an argument INTENT(OUT), on the first line of the block around it; the text knows the line
 * where the call stands. Called by src/analysis, and for the lines that allocate.
 */
#ifndef OMPP_FORTRAN_H
#define OMPP_FORTRAN_H

#include "structure/ompp_source.h"

#include <stdbool.h>

/** \brief Whether a file is Fortran, by its name. */
bool ompp_fortran_is(const char *path);

/** \brief Whether a function of a compiler's library copies arguments that are not contiguous: no source calls it. */
bool ompp_fortran_copies(const char *symbol);

/** \brief Whether a file of Fortran is in fixed form, by its name. */
bool ompp_fortran_is_fixed(const char *path);

/** A file of Fortran in one of the two forms. */
typedef struct {
    const ompp_source_t *text; /* borrowed */
    bool fixed;
} ompp_fortran_t;

/**
 * \brief The statement that a line belongs to, when it uses a name (of a procedure; case does not matter).
 * \return line on which the name stands, <= line; 0 when the statement does not use it.
 */
uint32_t ompp_fortran_statement(const ompp_fortran_t *source, uint32_t line, const char *name);

/**
 * \brief Lines of the statement that a line belongs to; the line itself when it is blank or a comment.
 */
void ompp_fortran_lines(const ompp_fortran_t *source, uint32_t line, uint32_t *first, uint32_t *last);

/**
 * \brief Lines first .. last on which a name stands, comments left out.
 * \param[out] lines  the caller's, shape [max], ascending.
 * \return how many there are; may be more than max.
 */
size_t ompp_fortran_uses(const ompp_fortran_t *source, uint32_t first, uint32_t last, const char *name,
                         uint32_t lines[], size_t max);

/**
 * \return line of the innermost DO construct that a line is in; of a construct's own line, of the one around it; 0 =
 *         there is none.
 */
uint32_t ompp_fortran_do(const ompp_fortran_t *source, uint32_t line);

/**
 * \brief The executable part of the program unit around a line, without procedures that it contains: lines *first ..
 *        *last.
 */
void ompp_fortran_unit(const ompp_fortran_t *source, uint32_t line, uint32_t *first, uint32_t *last);

#endif
