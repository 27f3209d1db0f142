/**
 * \file
 * Evaluators: columns computed from others. An expression (+ - * / ^, brackets, sqrt, exp, log, log2, log10, abs, sin,
 * cos, floor, ceil, min, max) over the names of counters, EXECT and other times in seconds, EXECC and other counts.
 * Names are those of the columns in capitals.
 */
#ifndef OMPP_EVAL_H
#define OMPP_EVAL_H

#include "analysis/ompp_values.h"

typedef struct ompp_eval ompp_eval_t;

/** A derived metric that appears by itself when all its counters are there. */
typedef struct {
    const char *name, *unit, *expression, *meaning;
} ompp_derived_t;

extern const ompp_derived_t ompp_derived[];
extern const size_t ompp_nderived;

/**
 * \brief Compiles an expression for the counters of a profile.
 * \param[in] values  borrowed; must stay until ompp_eval_free().
 * \param[out] error  what is wrong and where, one line, shape [n]; "" when all is well.
 * \return owned, ompp_eval_free(); NULL when it cannot be used.
 */
ompp_eval_t *ompp_eval_new(const char *expression, const ompp_values_t *values, char *error, size_t n);

/**
 * \brief Whether an expression can be used with some counters; without a profile.
 * \param[in] counters  shape [n]; of them the names alone are looked at.
 */
bool ompp_eval_check(const char *expression, const ompp_counter_t *counters, size_t ncounters, char *error, size_t n);

/** \return value for a row; NaN where it is undefined (division by zero). */
double ompp_eval_value(const ompp_eval_t *eval, const ompp_row_t *row);

void ompp_eval_free(ompp_eval_t *eval);

#endif
