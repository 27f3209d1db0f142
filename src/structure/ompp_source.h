/**
 * \file
 * What the source text says of an OpenMP directive in C or C++: where its block ends, and a critical section's name.
 * Compilers keep no trace of the last line of "if (..) { .. }" below a directive, of a loop, or of a section list; the
 * text does.
 */
#ifndef OMPP_SOURCE_H
#define OMPP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Text of a source file, with its lines. */
typedef struct ompp_source ompp_source_t;

/**
 * \brief Reads a source file.
 * \param[in] newest  a file changed after this time (s since 1970) is not the one that was compiled.
 * \return owned, ompp_source_close(); NULL when there is no such file, it is newer, or larger than 64 MiB.
 */
ompp_source_t *ompp_source_open(const char *path, int64_t newest);

void ompp_source_close(ompp_source_t *source);

/**
 * \brief Text of a line, 1-based, without its newline.
 * \return borrowed, not zero-terminated; NULL when there is no such line.
 */
const char *ompp_source_line(const ompp_source_t *source, uint32_t line, size_t *length);

/**
 * \brief Lines of the statements that stand on a line, 1-based: a brace ends one, that of values does not.
 * \param[out] first, last  the line itself where the text has no such line, or no statement on it.
 */
void ompp_source_statement(const ompp_source_t *source, uint32_t line, uint32_t *first, uint32_t *last);

/** \brief Does one of these words, NULL behind them, stand on a line, outside of comments and literals? */
bool ompp_source_has_word(const ompp_source_t *source, uint32_t line, const char *const words[]);

typedef struct {
    char words[96]; /* what follows "#pragma omp", up to the first clause, one blank between words: "parallel for" */
    char name[64];  /* in parentheses behind "critical"; "" = none */
    uint32_t first; /* line of the directive */
    uint32_t last;  /* last line of the statement below it; 0 = not found */
} ompp_directive_t;

/**
 * \brief The "#pragma omp" directive that begins on a line, 1-based, with the statement it stands before.
 * \return 0, or -OMPP_E_NOTFOUND when there is none on this line.
 */
int ompp_source_directive(const ompp_source_t *source, uint32_t line, ompp_directive_t *directive);

#endif
