/**
 * \file
 * A report being read: how it is refused, and how what both readers find in its lines gets into the document.
 */
#include "reader/ompp_document_priv.h"

#include "base/ompp_error.h"
#include "base/ompp_utf8.h"

#include <stdarg.h>
#include <string.h>

/* ---- Failing ----------------------------------------------------------------------------------------------------- */

bool ompp_reading_fail(ompp_reading_t *r, const char *what, const char *format, ...)
{
    va_list args;
    size_t used;

    if (r->rc) return false;
    r->rc = -OMPP_E_FORMAT;
    r->fail_line = r->at + 1;
    va_start(args, format);
    vsnprintf(r->why, sizeof r->why - 120, format, args); /* what to do must fit behind it */
    va_end(args);
    used = strlen(r->why);
    snprintf(r->why + used, sizeof r->why - used, "; %s", what);
    ompp_utf8_make_printable(r->why);
    return false;
}

bool ompp_reading_nomem(ompp_reading_t *r)
{
    if (!r->rc) {
        ompp_reading_fail(r, "free some memory, or split the file", "out of memory");
        r->rc = -OMPP_E_NOMEM;
    }
    return false;
}

const char *ompp_reading_keep(ompp_reading_t *r, const char *text, size_t length)
{
    const char *copy = ompp_document_text_copy(r->doc, text, length);

    if (!copy) ompp_reading_nomem(r);
    return copy;
}

void *ompp_reading_push(ompp_reading_t *r, void *array, size_t *n, size_t size)
{
    void *item = ompp_document_push(r->doc, array, n, size);

    if (!item) ompp_reading_nomem(r);
    return item;
}

void *ompp_reading_alloc(ompp_reading_t *r, size_t n, size_t size)
{
    void *items = ompp_document_alloc(r->doc, n * size);

    if (!items) ompp_reading_nomem(r);
    return items;
}

ompp_doc_section_t *ompp_reading_section(ompp_reading_t *r, ompp_section_kind_t kind, const char *title, size_t length)
{
    ompp_doc_section_t *s;

    for (size_t i = 0; kind != OMPP_SECTION_OTHER && i < r->doc->nsections; i++)
        if (r->doc->sections[i].kind == kind) {
            ompp_reading_fail(r, "a file holds one report", "the section \"%s\" stands here a second time",
                              ompp_sections[kind].title);
            return NULL;
        }
    s = ompp_reading_push(r, &r->doc->sections, &r->doc->nsections, sizeof *s);
    if (!s) return NULL;
    s->kind = kind;
    s->title = ompp_reading_keep(r, title, length);
    return s->title ? s : NULL;
}

bool ompp_reading_root(ompp_reading_t *r, const char *text)
{
    const char *colon = NULL, *p;

    for (p = strstr(text, ": "); p; p = strstr(p + 1, ": ")) colon = p;
    p = colon ? colon + 2 : "";
    if (!ompp_take_whole(&p, UINT32_MAX, &r->doc->nthreads) || strcmp(p, " threads]") != 0) return false;
    r->doc->app = ompp_reading_keep(r, text, (size_t)(colon - text));
    r->at++;
    return r->doc->app != NULL;
}

/* ---- Columns and cells ------------------------------------------------------------------------------------------- */

static ompp_cell_kind_t kind_of(const char *title)
{
    for (unsigned c = 0; c < OMPP_COLUMN_NUM; c++)
        if (strcmp(ompp_columns[c].title, title) == 0)
            return ompp_columns[c].unit == OMPP_UNIT_NS ? OMPP_CELL_TIME : OMPP_CELL_COUNT;
    return strncmp(title, "OMPP_EVAL", 9) == 0 ? OMPP_CELL_EVALUATOR : OMPP_CELL_COUNTER;
}

bool ompp_reading_column(ompp_reading_t *r, ompp_doc_column_t **columns, size_t *n, const char *title, size_t length)
{
    ompp_doc_column_t *c;
    char part = 0;

    if (*n == OMPP_DOC_COLUMNS) return ompp_reading_fail(r, OMPP_DO_RESTORE, "more than %d columns", OMPP_DOC_COLUMNS);
    if (length > 2 && title[length - 2] == '/' && (title[length - 1] == 'I' || title[length - 1] == 'E')) {
        part = title[length - 1];
        length -= 2;
    }
    if (!length) return ompp_reading_fail(r, OMPP_DO_RESTORE, "a column without a title");
    c = ompp_reading_push(r, columns, n, sizeof *c);
    if (!c) return false;
    c->part = part;
    c->title = ompp_reading_keep(r, title, length);
    if (!c->title) return false;
    c->kind = kind_of(c->title);
    return true;
}

static bool cell_ends(ompp_doc_form_t form, const char *p)
{
    if (form == OMPP_DOC_TEXT) return !*p || *p == ' ';
    p += strspn(p, " ");
    return !*p || *p == ',';
}

static bool take_value(ompp_cell_kind_t kind, ompp_doc_form_t form, const char *cell, ompp_decimal_t *value)
{
    bool counter = kind == OMPP_CELL_COUNTER, grouped = counter && form == OMPP_DOC_TEXT;
    size_t n = grouped                       ? ompp_decimal_parse_grouped(cell, value)
               : kind == OMPP_CELL_EVALUATOR ? ompp_decimal_parse_evaluator(cell, value)
                                             : ompp_decimal_parse(cell, value);

    if ((counter || kind == OMPP_CELL_COUNT) && (value->places || value->kind != OMPP_DECIMAL_FINITE)) return false;
    return n && cell_ends(form, cell + n);
}

/* "-" in text, nothing in CSV. */
static bool is_missing(ompp_doc_form_t form, const char *cell)
{
    return form == OMPP_DOC_TEXT ? *cell == '-' && cell_ends(form, cell + 1) : cell_ends(form, cell);
}

bool ompp_cell_take(ompp_cell_kind_t *kind, bool first, ompp_doc_form_t form, const char *cell, ompp_decimal_t *value)
{
    if (take_value(*kind, form, cell, value)) return true;
    if (*kind == OMPP_CELL_COUNTER && first) *kind = OMPP_CELL_EVALUATOR;
    if (*kind != OMPP_CELL_EVALUATOR) return false;
    if (take_value(*kind, form, cell, value)) return true;
    *value = (ompp_decimal_t){.kind = OMPP_DECIMAL_NONE};
    return is_missing(form, cell);
}

bool ompp_doc_is_mpi(const ompp_doc_column_t *column)
{
    for (size_t i = 0; i < ompp_nmpi_columns; i++)
        if (strcmp(ompp_columns[ompp_mpi_columns[i]].title, column->title) == 0) return true;
    return false;
}

static bool is_counter(const ompp_doc_column_t *column)
{
    return column->kind == OMPP_CELL_COUNTER || column->kind == OMPP_CELL_EVALUATOR;
}

bool ompp_cells_may_shift(const ompp_doc_column_t *columns, size_t ncolumns)
{
    bool counters = false;

    for (size_t c = 0; c < ncolumns; c++) {
        if (counters && ompp_doc_is_mpi(&columns[c])) return true;
        counters |= is_counter(&columns[c]);
    }
    return false;
}

ompp_doc_row_t *ompp_reading_row(ompp_reading_t *r, ompp_doc_table_t *t)
{
    ompp_doc_row_t *row = ompp_reading_push(r, &t->rows, &t->nrows, sizeof *row);

    if (!row) return NULL;
    row->line = r->at + 1;
    row->values = ompp_reading_alloc(r, t->ncolumns, sizeof *row->values);
    return row->values ? row : NULL;
}

/* Text has one number of digits for all times; CSV writes them in full. */
static bool is_time(const ompp_reading_t *r, ompp_doc_form_t form, const ompp_decimal_t *value)
{
    return form == OMPP_DOC_TEXT ? value->places == r->doc->digits : value->places != 0;
}

/* Cells in the order of the titles, or of ompP's rows. Kinds of columns are settled when the row fits. */
static bool take_cells(const ompp_reading_t *r, ompp_doc_table_t *t, ompp_doc_form_t form, const char *const cells[],
                       bool shifted)
{
    ompp_decimal_t *values = t->rows[t->nrows - 1].values;
    ompp_cell_kind_t kind[OMPP_DOC_COLUMNS];

    for (size_t c = 0; c < t->ncolumns; c++) {
        const char *cell = cells[shifted ? ompp_cell_position(t->columns, t->ncolumns, c) : c];
        kind[c] = t->columns[c].kind;
        if (!ompp_cell_take(&kind[c], t->nrows == 1, form, cell, &values[c])) return false;
        if (kind[c] == OMPP_CELL_TIME && values[c].kind == OMPP_DECIMAL_FINITE && !is_time(r, form, &values[c]))
            return false;
    }
    for (size_t c = 0; c < t->ncolumns; c++) t->columns[c].kind = kind[c];
    return true;
}

bool ompp_reading_cells(ompp_reading_t *r, ompp_doc_table_t *t, ompp_doc_form_t form, const char *const cells[],
                        size_t n)
{
    if (n == t->ncolumns) {
        if (take_cells(r, t, form, cells, t->mpi_first)) return true;
        if (t->nrows == 1 && ompp_cells_may_shift(t->columns, t->ncolumns) && take_cells(r, t, form, cells, true))
            return t->mpi_first = true;
    }
    return ompp_reading_fail(r, OMPP_DO_RESTORE, "the row does not fit the %zu titles of its table", t->ncolumns);
}

size_t ompp_cell_position(const ompp_doc_column_t *columns, size_t ncolumns, size_t c)
{
    size_t before = 0;
    bool counter = is_counter(&columns[c]), mpi = ompp_doc_is_mpi(&columns[c]);

    for (size_t i = 0; i < ncolumns; i++) {
        if (i < c && !(mpi && is_counter(&columns[i]))) before++;
        if (i > c && counter && ompp_doc_is_mpi(&columns[i])) before++;
    }
    return before;
}
