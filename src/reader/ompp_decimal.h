/**
 * \file
 * Numbers as reports print them: what was written with six digits is written again with six digits, and nothing goes
 * through floating point. Needs the layout of reports.
 */
#ifndef OMPP_DECIMAL_H
#define OMPP_DECIMAL_H

#include "report/ompp_text_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** NONE: a cell without value; it prints as nothing. */
typedef enum { OMPP_DECIMAL_FINITE, OMPP_DECIMAL_NAN, OMPP_DECIMAL_INF, OMPP_DECIMAL_NONE } ompp_decimal_kind_t;

/** A decimal number; {0} is "0". */
typedef struct {
    uint64_t units;   /* all digits, without the point */
    uint16_t zeros;   /* zeros behind them; 0, but for evaluators, where they would not go into units */
    uint16_t places;  /* how many digits stand after the point, 0-18; of evaluators up to 400 */
    uint8_t kind;     /* ompp_decimal_kind_t: printf writes "nan" and "inf", too */
    bool negative;    /* also of "-0.00" and "-nan" */
    int16_t exponent; /* of 10, which the rest is times; 0 = written without */
} ompp_decimal_t;

/** Buffer for a number as text. */
typedef struct {
    char text[OMPP_LAYOUT_EVALUATOR];
} ompp_decimal_text_t;

/**
 * \brief Reads the number at the beginning of text.
 * \return bytes taken; 0 when there is no number, or one with more than 18 digits after the point or beyond 64 bits.
 */
size_t ompp_decimal_parse(const char *text, ompp_decimal_t *number);

/**
 * \brief The same for what an evaluator gives: with many zeros before or behind at most 19 digits, or with an exponent
 *        ("1.51e-04", as reports of early versions have it).
 */
size_t ompp_decimal_parse_evaluator(const char *text, ompp_decimal_t *number);

/** \brief The same for a whole number with a dot between groups of three digits, as ompP prints
 * counters: 1.874.605.256. */
size_t ompp_decimal_parse_grouped(const char *text, ompp_decimal_t *number);

/** \brief As it was read; with 0 <= digits < places rounded half up to that many digits. digits < 0: all. */
ompp_decimal_text_t ompp_decimal_format(const ompp_decimal_t *number, int digits);

/** \brief A whole number with dots between groups of three digits. */
ompp_decimal_text_t ompp_decimal_format_grouped(const ompp_decimal_t *number);

/** \brief The number times 10^power, exactly: the point moves. power -2 or 2: percent to fraction and back. */
ompp_decimal_t ompp_decimal_shift(const ompp_decimal_t *number, int power);

/** \return the value, rounded to a double. */
double ompp_decimal_value(const ompp_decimal_t *number);

/** \return half a unit of the last digit: how far the truth may be from what was printed; 0 for whole numbers. */
double ompp_decimal_slack(const ompp_decimal_t *number);

#endif
