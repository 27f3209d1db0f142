/**
 * \file
 * From a file to lines to a document, and the small tools that both readers share. Every byte may be wrong: nothing is
 * believed before it was looked at, and what cannot be read is refused with its line and the reason.
 */
#include "reader/ompp_document_priv.h"

#include "base/ompp_error.h"
#include "report/ompp_utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES ((size_t)256 << 20) /* of a file */
#define MAX_LINE ((size_t)1 << 20)    /* of a line */

const ompp_field_row_t ompp_fields[] = {
    {"Duration", "Duration", OMPP_FIELD_SECONDS, true}, {"Max Threads", "Thread Count", OMPP_FIELD_SAME, true},
    {"ompP Version", NULL, OMPP_FIELD_VERSION, true},   {"User Time", NULL, OMPP_FIELD_SAME, true},
    {"System Time", NULL, OMPP_FIELD_SAME, true},       {"Data Address", NULL, OMPP_FIELD_SAME, false},
    {"Data Size", NULL, OMPP_FIELD_SAME, false},        {"Data Name", NULL, OMPP_FIELD_SAME, false},
    {"Data Start Offs.", NULL, OMPP_FIELD_SAME, false}, {"Data End   Offs.", NULL, OMPP_FIELD_SAME, false},
};
const size_t ompp_nfields = sizeof ompp_fields / sizeof ompp_fields[0];
const char *const ompp_version_keys[3] = {"ompP Version Major", "ompP Version Minor", "ompP Version Revision"};

const ompp_field_row_t *ompp_field_find(ompp_doc_form_t form, const char *name)
{
    for (size_t i = 0; i < ompp_nfields; i++) {
        const char *known = form == OMPP_DOC_TEXT ? ompp_fields[i].text : ompp_fields[i].csv;
        if (known && strcmp(known, name) == 0) return &ompp_fields[i];
    }
    return NULL;
}

/* ---- Failing --------------------------------------------------------------------------------------------------------
 */

/* Control characters and bytes that are not UTF-8 do not reach the terminal; a message is one line. */
static void make_printable(char *text)
{
    uint32_t code;

    while (*text) {
        size_t n = ompp_utf8_next(text, &code);
        if (n == 0 || *text == '\t' || *text == '\n' || *text == '\r') *text = '?';
        text += n ? n : 1;
    }
}

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
    make_printable(r->why);
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

/* ---- Taking things from a line --------------------------------------------------------------------------------------
 */

bool ompp_take(const char **p, const char *text)
{
    size_t n = strlen(text);

    if (strncmp(*p, text, n) != 0) return false;
    *p += n;
    return true;
}

bool ompp_take_number(const char **p, ompp_decimal_t *number)
{
    const char *at = *p + strspn(*p, " ");
    size_t n = ompp_decimal_parse(at, number);

    if (n) *p = at + n;
    return n > 0;
}

bool ompp_take_whole(const char **p, uint64_t limit, uint64_t *number)
{
    ompp_decimal_t d;
    size_t n = ompp_decimal_parse(*p, &d);

    if (!n || d.places || d.negative || d.kind != OMPP_DECIMAL_FINITE || d.units > limit) return false;
    *number = d.units;
    *p += n;
    return true;
}

bool ompp_take_version(const char **p, uint64_t *part)
{
    const char *at = *p;

    *part = 0;
    for (; *at >= '0' && *at <= '9' && *part < UINT32_MAX; at++) *part = *part * 10 + (uint64_t)(*at - '0');
    if (at == *p) return false;
    *p = at + (*at == '.');
    return true;
}

bool ompp_take_region(const char **p, uint32_t *number)
{
    const char *at = *p;
    uint64_t n;

    if (*at++ != 'R' || !ompp_take_whole(&at, UINT32_MAX - 1, &n)) return false;
    *number = (uint32_t)n;
    *p = at;
    return true;
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

ompp_construct_t ompp_construct_by_brief(const char *brief)
{
    unsigned c = 0;

    while (c < OMPP_CONSTRUCT_NUM && strcmp(ompp_constructs[c].brief, brief) != 0) c++;
    return c;
}

/* Both prefer the longest name: PARALLEL LOOP ends with LOOP. */
ompp_construct_t ompp_construct_at_end(const char *text, char separator, size_t *length)
{
    size_t all = strlen(text), best = 0;
    ompp_construct_t found = OMPP_CONSTRUCT_NUM;

    *length = all;
    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++) {
        size_t n = strlen(ompp_constructs[c].full);
        if (n <= best || all < n + 1 || text[all - n - 1] != separator ||
            strcmp(text + all - n, ompp_constructs[c].full) != 0)
            continue;
        found = c;
        best = n;
        *length = all - n - 1;
    }
    return found;
}

ompp_construct_t ompp_construct_at_start(const char *text, char separator)
{
    size_t best = 0;
    ompp_construct_t found = OMPP_CONSTRUCT_NUM;

    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++) {
        size_t n = strlen(ompp_constructs[c].full);
        if (n <= best || strncmp(text, ompp_constructs[c].full, n) != 0 || text[n] != separator) continue;
        found = c;
        best = n;
    }
    return found;
}

/* ---- Columns and cells ----------------------------------------------------------------------------------------------
 */

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

/* ---- The file -------------------------------------------------------------------------------------------------------
 */

char ompp_document_sniff(const char *data, size_t length)
{
    const char *p = data, *end = data + length;

    if (length >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
    if (end - p >= 5 && memcmp(p, "##BEG", 5) == 0) return 'C';
    if (end - p >= 20 && memcmp(p, "--------------------", 20) == 0) return 'T';
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    return p < end && *p == '<' ? 'X' : 0;
}

/* One line of data, up to end; its carriage return is no part of it. */
static bool add_line(ompp_reading_t *r, const char ***lines, const char *text, size_t length)
{
    const char **line;

    r->at = r->nlines;
    if (length && text[length - 1] == '\r') length--;
    if (length > MAX_LINE)
        return ompp_reading_fail(r, "it is no report", "a line of more than %zu characters", MAX_LINE);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' && text[i] != '\t')
            return ompp_reading_fail(r, "it is no text; name a report of ompP or ompp",
                                     "the character 0x%02x in column %zu", (unsigned char)text[i], i + 1);
    line = ompp_reading_push(r, lines, &r->nlines, sizeof *line);
    if (line) *line = ompp_reading_keep(r, text, length);
    return line && *line;
}

static bool split(ompp_reading_t *r, const char *data, size_t length)
{
    const char **lines = NULL;

    if (length >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
        data += 3;
        length -= 3;
    }
    while (length) {
        const char *newline = memchr(data, '\n', length);
        size_t n = newline ? (size_t)(newline - data) : length;
        if (!add_line(r, &lines, data, n)) return false;
        n += newline != NULL;
        data += n;
        length -= n;
    }
    r->lines = lines;
    r->at = 0;
    return true;
}

static void parse(ompp_reading_t *r, const char *data, size_t length)
{
    char kind = ompp_document_sniff(data, length);

    if (!length) {
        ompp_reading_fail(r, "name a report of ompP or ompp", "the file is empty");
    } else if (kind != 'T' && kind != 'C') {
        ompp_reading_fail(
            r, "name a report of ompP or ompp",
            "no report: a text report begins with a line of dashes, a CSV report with ##BEG header, XML with <");
    } else if (split(r, data, length)) {
        r->doc->form = kind == 'T' ? OMPP_DOC_TEXT : OMPP_DOC_CSV;
        (kind == 'T' ? ompp_read_text : ompp_read_csv)(r);
    }
}

int ompp_document_parse(const char *name, const char *data, size_t length, ompp_document_t **document, char *why,
                        size_t size)
{
    ompp_reading_t r = {.doc = ompp_document_new()};

    *document = NULL;
    if (!r.doc) {
        snprintf(why, size, "%s: out of memory", name);
        return -OMPP_E_NOMEM;
    }
    parse(&r, data, length);
    if (r.rc) {
        snprintf(why, size, "%s:%zu: %s", name, r.fail_line, r.why);
        ompp_document_free(r.doc);
    } else {
        *document = r.doc;
    }
    return r.rc;
}

/* The whole file; at most MAX_BYTES. */
static int load(int fd, char **data, size_t *length)
{
    size_t room = 0;
    ssize_t n;
    int rc = 0;

    *data = NULL;
    *length = 0;
    do {
        if (*length == room) {
            room = room ? 2 * room : 65536;
            char *more = room > 2 * MAX_BYTES ? NULL : realloc(*data, room);
            if (!more) {
                rc = room > 2 * MAX_BYTES ? -OMPP_E_LIMIT : -OMPP_E_NOMEM;
                break;
            }
            *data = more;
        }
        n = read(fd, *data + *length, room - *length);
        if (n < 0) rc = -OMPP_E_IO;
        if (n > 0) *length += (size_t)n;
        if (*length > MAX_BYTES) rc = -OMPP_E_LIMIT;
    } while (n > 0 && !rc);
    return rc;
}

int ompp_document_read_fd(int fd, const char *name, ompp_document_t **document, char *why, size_t size)
{
    char *data;
    size_t length;
    int rc = load(fd, &data, &length);

    *document = NULL;
    if (rc == -OMPP_E_IO)
        snprintf(why, size, "%s:1: cannot read it: %s; name a report that you may read", name, strerror(errno));
    else if (rc == -OMPP_E_LIMIT)
        snprintf(why, size, "%s:1: more than %zu MiB; it is no report", name, MAX_BYTES >> 20);
    else if (rc) snprintf(why, size, "%s:1: %s; free some memory", name, ompp_error_message(rc));
    else rc = ompp_document_parse(name, data, length, document, why, size);
    free(data);
    return rc;
}
