/**
 * \file
 * What the parts of the check of a report share.
 */
#ifndef OMPP_DOCUMENT_CHECK_PRIV_H
#define OMPP_DOCUMENT_CHECK_PRIV_H

#include "reader/ompp_document_priv.h"

#define OMPP_DOC_OBJECTIONS 20 /* that are printed */

/** A report being checked. */
typedef struct {
    const ompp_document_t *doc;
    const char *name; /* for messages */
    FILE *out;
    size_t nbad, nchecked;
    uint32_t nranks;
    ompp_table_t rows;                /* of overheads, index + 1 by the number of the region */
    bool folded;                      /* some regions and call paths are left out: sums have more than what is there */
    bool nested;                      /* a parallel region stands inside another one */
    uint32_t *same;                   /* [nregions] the first region with this number and type */
    const ompp_doc_table_t **flat_of; /* [nregions] */
    const ompp_doc_table_t **first_path; /* [nregions] the first call path that ends there, */
    const ompp_doc_table_t **next_path;  /* [npaths] and the next one */
} ompp_doc_check_t;

/** \brief One objection, printed while they are few. */
void ompp_doc_object(ompp_doc_check_t *c, size_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** \brief printed must be want, give or take its own rounding and slack. */
void ompp_doc_near(ompp_doc_check_t *c, size_t line, const char *what, const char *of, const ompp_decimal_t *printed,
                   double want, double slack);

/** \brief printed must be part in percent of whole; nothing is compared where whole is no more than its rounding. */
void ompp_doc_percent(ompp_doc_check_t *c, size_t line, const char *what, const ompp_decimal_t *printed,
                      const ompp_decimal_t *part, double whole, double whole_slack);

/** \return the region that a table is about. */
const ompp_doc_region_t *ompp_doc_last(const ompp_doc_check_t *c, const ompp_doc_table_t *t);

/** \return position of a column, ncolumns when there is none. part: 0, 'I' or 'E'. */
size_t ompp_doc_find(const ompp_doc_table_t *t, ompp_column_t column, char part);

/** \return inclusive value of a row; 0 without that column. */
double ompp_doc_value(const ompp_doc_table_t *t, const ompp_doc_row_t *row, ompp_column_t column);

/** \return the row SUM, its inclusive value, and how far a time of the table may be off. */
const ompp_doc_row_t *ompp_doc_sum(const ompp_doc_table_t *t);
double ompp_doc_total(const ompp_doc_table_t *t, ompp_column_t column);
double ompp_doc_half(const ompp_doc_table_t *t);

void ompp_doc_check_callgraph(ompp_doc_check_t *c);
void ompp_doc_check_overheads(ompp_doc_check_t *c);

#endif
