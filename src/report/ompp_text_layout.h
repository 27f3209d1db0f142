/**
 * \file
 * The layout of the text report, byte for byte ompP's: where blanks, brackets and rulers stand, and how wide a column
 * is. Takes finished strings, so that a report made from a profile (ompp_text*.c) and one that was read from a file
 * (src/reader) look the same without knowing each other. Needs nothing but stdio.
 */
#ifndef OMPP_TEXT_LAYOUT_H
#define OMPP_TEXT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Widths of the columns of tables, without the blank before them. Times get `extra` more, where they have more
 * digits. */
enum {
    OMPP_WIDTH_VALUE = 10,
    OMPP_WIDTH_COUNTER = 18,
    OMPP_WIDTH_EVALUATOR = 12,
    OMPP_WIDTH_TIME = 7,
    OMPP_WIDTH_PLACE = 35
};

/** In the line that says what a report leaves out. */
#define OMPP_LAYOUT_FOLDED "which have no time and no finding"

#define OMPP_LAYOUT_DIGITS 2 /* of times and percentages, which the widths are made for */

/** Rows of tables. */
typedef enum { OMPP_ROW_THREAD, OMPP_ROW_OTHERS, OMPP_ROW_SUM } ompp_row_kind_t;

/** \return columns that times with this number of digits need beyond ompP's width. */
static inline int ompp_layout_extra(int digits)
{
    return digits > OMPP_LAYOUT_DIGITS ? digits - OMPP_LAYOUT_DIGITS : 0;
}

/** \brief Title of a section: three lines. */
void ompp_layout_title(FILE *out, const char *title);

/** \brief "Start Date      : ". */
void ompp_layout_label(FILE *out, const char *label);

/** \brief "R00001". */
void ompp_layout_number(FILE *out, uint32_t number);

/** \brief "LOOP: 2 regions:\n". */
void ompp_layout_group(FILE *out, const char *type, size_t nregions);

/** \brief " * R00001 place\n". */
void ompp_layout_member(FILE *out, uint32_t number, const char *place);

/** \brief Blanks and two titles above the callgraph. */
void ompp_layout_callgraph_titles(FILE *out, int extra);

/** \brief The root's line; exclusive has its percentage beside it. */
void ompp_layout_root(FILE *out, int extra, const char *total, const char *total_percent, const char *exclusive,
                      const char *exclusive_percent, const char *app, uint64_t nthreads);

/** \brief A node's line up to its short name: inclusive, exclusive, both with percentage. */
void ompp_layout_node(FILE *out, int extra, const char *const value[4], const char *brief);

/** \brief The branch of an ancestor of the node (own false), or of the node itself. */
void ompp_layout_branch(FILE *out, bool own, bool has_sibling);

/** \brief Digits of a pair of percentages in the callgraph: 2, unless both are extreme. */
void ompp_layout_percent_digits(double a, double b, int digits[2]);

/** \brief "[+01] "; the root is level 0 with the mark '*'. */
void ompp_layout_step(FILE *out, char mark, uint32_t level);

/** \brief "R00001 place LOOP\n"; type "" where the place already names the construct. */
void ompp_layout_heading(FILE *out, uint32_t number, const char *place, const char *type);

/** \brief " TID" or " RANK TID". */
void ompp_layout_row_title(FILE *out, bool ranked);

/** \brief What a row starts with; rank and tid count for OMPP_ROW_THREAD only. */
void ompp_layout_row_label(FILE *out, bool ranked, ompp_row_kind_t kind, uint32_t rank, uint32_t tid);

/** \brief A blank and the text, right-aligned in width bytes. */
void ompp_layout_cell(FILE *out, int width, const char *text);

#define OMPP_LAYOUT_EVALUATOR 400 /* bytes that hold any number in the two forms below */

/**
 * \brief What evaluators give, with three significant digits or more: 2, 4, 6 or more behind the point, never an
 *        exponent, and never 3, which would read as a counter's group. From 1e13 on, zeros stand behind 13 significant
 *        digits. It is made from the form that CSV has, so that text made from CSV is the same.
 * \param[in] value  finite, or NaN: "-".
 * \param[out] text  shape [OMPP_LAYOUT_EVALUATOR].
 */
void ompp_layout_evaluator(double value, char *text);

/** \brief The same for CSV: 6 digits behind the point, or as many as 7 significant digits need; "" for NaN. */
void ompp_layout_evaluator_csv(double value, char *text);

/** \brief First lines of the overhead section. */
void ompp_layout_overheads(FILE *out, const char *duration, uint64_t nthreads, uint64_t nregions, const char *coverage,
                           const char *percent);
/** \brief Two lines behind the overheads of a program with MPI and no parallel region: where MPI's costs stand. */
extern const char *const ompp_layout_no_parallel[2];

/** \brief Title of the table of wallclocks, up to the blank before the titles of counters. */
void ompp_layout_wall_titles(FILE *out, int extra);

/**
 * \brief Row of that table up to the blank before the counters. place: brief and width are the caller's matter (pad
 *        blanks).
 */
void ompp_layout_wall(FILE *out, uint32_t number, const char *brief, const char *place, int pad, int extra,
                      const char *wall, const char *percent);

/** \brief Its last row. */
void ompp_layout_wall_sum(FILE *out, int extra, const char *wall, const char *percent);

/** \brief Titles of a table of overheads, without the classes. what: "whole program". */
void ompp_layout_class_titles(FILE *out, int extra, const char *what);

/** \brief Title of one class, by position from 0. */
void ompp_layout_class_title(FILE *out, int extra, unsigned position, const char *title);

/** \brief What a row of overheads starts with: the number, or SUM where sum is set; then the total. */
void ompp_layout_class_row(FILE *out, bool sum, uint32_t number, int extra, const char *total);

/** \brief A time and its share: "   1.00 ( 5.00)". */
void ompp_layout_share(FILE *out, int extra, const char *time, const char *percent);

/** \brief The two lines of a performance property. type may be ""; lengths in bytes. */
void ompp_layout_property(FILE *out, size_t number, const char *name, size_t name_length, const char *type,
                          const char *subject, size_t subject_length, const char *percent);

#endif
