/**
 * \file
 * What all checks of a report need: objections to numbers, and the values of tables.
 */
#include "reader/ompp_document_check_priv.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- Objections -------------------------------------------------------------------------------------------------- */

void ompp_doc_object(ompp_doc_check_t *c, size_t line, const char *format, ...)
{
    va_list args;

    if (c->nbad++ >= OMPP_DOC_OBJECTIONS) return;
    fprintf(c->out, "%s:%zu: ", c->name, line);
    va_start(args, format);
    vfprintf(c->out, format, args);
    va_end(args);
    putc('\n', c->out);
}

void ompp_doc_near(ompp_doc_check_t *c, size_t line, const char *what, const char *of, const ompp_decimal_t *printed,
                   double want, double slack)
{
    double value = ompp_decimal_value(printed);

    c->nchecked++;
    if (!isfinite(value) || !isfinite(want)) return; /* a run of no length */
    slack += ompp_decimal_slack(printed) + 1e-12 * fabs(want) + 1e-9;
    if (fabs(value - want) > slack)
        ompp_doc_object(c, line, "%s%s is %s, follows as %.9g", what, of, ompp_decimal_format(printed, -1).text, want);
}

void ompp_doc_percent(ompp_doc_check_t *c, size_t line, const char *what, const ompp_decimal_t *printed,
                      const ompp_decimal_t *part, double whole, double whole_slack)
{
    double value = ompp_decimal_value(part), slack = ompp_decimal_slack(part), least, most;

    if (!(whole > whole_slack)) return;
    least = 100 * (value - slack) / (value < slack ? whole - whole_slack : whole + whole_slack);
    most = 100 * (value + slack) / (value < -slack ? whole + whole_slack : whole - whole_slack);
    ompp_doc_near(c, line, what, " (%)", printed, (least + most) / 2, (most - least) / 2);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

const ompp_doc_region_t *ompp_doc_last(const ompp_doc_check_t *c, const ompp_doc_table_t *t)
{
    return &c->doc->regions[t->steps[t->nsteps - 1].region];
}

size_t ompp_doc_find(const ompp_doc_table_t *t, ompp_column_t column, char part)
{
    for (size_t i = 0; i < t->ncolumns; i++)
        if (t->columns[i].part == part && strcmp(t->columns[i].title, ompp_columns[column].title) == 0) return i;
    return t->ncolumns;
}

/* A split column has its inclusive value. */
double ompp_doc_value(const ompp_doc_table_t *t, const ompp_doc_row_t *row, ompp_column_t column)
{
    size_t i = ompp_doc_find(t, column, 0);

    if (i == t->ncolumns) i = ompp_doc_find(t, column, 'I');
    return i == t->ncolumns ? 0 : ompp_decimal_value(&row->values[i]);
}

const ompp_doc_row_t *ompp_doc_sum(const ompp_doc_table_t *t) { return &t->rows[t->nrows - 1]; }

double ompp_doc_total(const ompp_doc_table_t *t, ompp_column_t column)
{
    return ompp_doc_value(t, ompp_doc_sum(t), column);
}

/* Rounding of one time of this table. */
double ompp_doc_half(const ompp_doc_table_t *t)
{
    for (size_t i = 0; i < t->ncolumns; i++)
        if (t->columns[i].kind == OMPP_CELL_TIME) return ompp_decimal_slack(&t->rows[0].values[i]);
    return 0;
}
