/**
 * \file
 * Text report to document. Sections are found by their titles and may come in any order; those that ompP does not have
 * are kept line by line.
 */
#include "reader/ompp_document_priv.h"

#include "base/ompp_error.h"

#include <inttypes.h>
#include <string.h>

#define WORD_SIZE 24

static const char dashes[] = "----------------------------------------------------------------------";

/* ---- Titles ------------------------------------------------------------------------------------------------------ */

/* Title of a section at this line, its length in *length; NULL when there is none. */
static const char *title_at(const ompp_reading_t *r, size_t *length)
{
    const char *title;

    if (r->at + 2 >= r->nlines || strcmp(r->lines[r->at], dashes) != 0 || strcmp(r->lines[r->at + 2], dashes) != 0)
        return NULL;
    title = r->lines[r->at + 1];
    if (strncmp(title, "----     ", 9) != 0) return NULL;
    title += 9;
    for (*length = strlen(title); *length && strchr(" -", title[*length - 1]);) --*length;
    return title;
}

/* There is another line in this section. */
static bool more(const ompp_reading_t *r)
{
    size_t length;

    return !r->rc && r->at < r->nlines && !title_at(r, &length);
}

static void skip_blank(ompp_reading_t *r)
{
    while (more(r) && !*ompp_reading_line(r)) r->at++;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static const char *skip(const char *p) { return p + strspn(p, " "); }

/* Takes a word of at most WORD_SIZE - 1 bytes. */
static bool take_word(const char **p, char word[WORD_SIZE])
{
    const char *at = skip(*p);
    size_t n = strcspn(at, " ");

    if (!n || n >= WORD_SIZE) return false;
    memcpy(word, at, n);
    word[n] = 0;
    *p = at + n;
    return true;
}

/* "12.34 sec". */
static bool take_seconds(const char **p, ompp_decimal_t *number)
{
    return ompp_take_number(p, number) && ompp_take(p, " sec");
}

/* "(12.34)", "( 1.23%)" with sign "%". */
static bool take_percent(const char **p, const char *sign, ompp_decimal_t *percent)
{
    *p = skip(*p);
    return ompp_take(p, "(") && ompp_take_number(p, percent) && ompp_take(p, sign) && ompp_take(p, ")");
}

/* What follows "R00001 " where the type is the last word: a region. Locks of ompP have no type. */
static bool parse_region(ompp_reading_t *r, uint32_t number, const char *text, uint32_t *region)
{
    size_t length;
    ompp_construct_t construct = ompp_construct_at_end(text, ' ', &length);
    const char *place;

    if (construct == OMPP_CONSTRUCT_NUM && strncmp(text, "LOCK (", 6) == 0) construct = OMPP_CONSTRUCT_LOCK;
    if (construct == OMPP_CONSTRUCT_NUM)
        return ompp_reading_fail(r, OMPP_DO_VERSION, "\"%.60s\" does not end with a type of region that is known",
                                 text);
    place = ompp_reading_keep(r, text, length);
    return place && ompp_reading_region(r, number, construct, place, NULL, region);
}

/* ---- General Information ----------------------------------------------------------------------------------------- */

/* The duration says how many digits times have. */
static bool note_field(ompp_reading_t *r, const ompp_doc_field_t *field)
{
    const char *value = field->value;
    ompp_decimal_t seconds;

    if (strcmp(field->name, "Duration") != 0) return true;
    if (!take_seconds(&value, &seconds)) return ompp_reading_expect(r, "\"Duration        : 1.00 sec\"");
    r->doc->digits = seconds.places;
    return true;
}

static bool read_field(ompp_reading_t *r)
{
    const char *line = ompp_reading_line(r), *colon = strchr(line, ':'), *end = colon;
    ompp_doc_field_t *field;

    if (!colon || colon == line || (colon[1] != ' ' && colon[1])) return ompp_reading_expect(r, "\"name: value\"");
    field = ompp_reading_push(r, &r->doc->fields, &r->doc->nfields, sizeof *field);
    while (end > line && end[-1] == ' ') end--;
    if (!field) return false;
    field->name = ompp_reading_keep(r, line, (size_t)(end - line));
    field->value = ompp_reading_keep(r, colon + 1 + (colon[1] == ' '), strlen(colon + 1 + (colon[1] == ' ')));
    if (!field->name || !field->value || !note_field(r, field)) return false;
    r->at++;
    return true;
}

static bool read_general(ompp_reading_t *r)
{
    for (skip_blank(r); more(r) && *ompp_reading_line(r);)
        if (!read_field(r)) return false;
    skip_blank(r);
    if (!ompp_document_field(r->doc, "Duration"))
        return ompp_reading_expect(r, "a line \"Duration        : 1.00 sec\"");
    return true;
}

/* ---- Region Overview --------------------------------------------------------------------------------------------- */

static bool read_member(ompp_reading_t *r, ompp_construct_t construct)
{
    const char *p = ompp_reading_line(r), *place;
    uint32_t number, *slot;

    if (!ompp_take(&p, " * ") || !ompp_take_region(&p, &number) || !ompp_take(&p, " "))
        return ompp_reading_expect(r, "\" * R00001 place\"");
    place = ompp_reading_keep(r, p, strlen(p));
    slot = place ? ompp_reading_push(r, &r->doc->overview, &r->doc->noverview, sizeof *slot) : NULL;
    if (!slot) return false;
    r->at++;
    return ompp_reading_region(r, number, construct, place, NULL, slot);
}

/* "LOOP: 2 regions:" and its members. */
static bool read_group(ompp_reading_t *r)
{
    const char *line = ompp_reading_line(r), *p;
    ompp_construct_t construct = ompp_construct_at_start(line, ':');
    uint64_t n;

    if (construct == OMPP_CONSTRUCT_NUM)
        return ompp_reading_fail(r, OMPP_DO_VERSION, "\"%.60s\" is no known type of region", line);
    p = line + strlen(ompp_constructs[construct].full);
    if (!ompp_take(&p, ": ") || !ompp_take_whole(&p, UINT32_MAX, &n) || !ompp_take(&p, " region"))
        return ompp_reading_expect(r, "\"LOOP: 2 regions:\"");
    for (r->at++; n > 0; n--)
        if (!read_member(r, construct)) return false;
    if (more(r) && *ompp_reading_line(r) == ' ')
        return ompp_reading_fail(r, OMPP_DO_RESTORE, "more regions than the line above them says");
    return true;
}

static bool read_overview(ompp_reading_t *r)
{
    for (skip_blank(r); more(r); skip_blank(r))
        if (!read_group(r)) return false;
    return !r->rc;
}

/* ---- Callgraph --------------------------------------------------------------------------------------------------- */

static bool take_times(const char **p, ompp_decimal_t value[4])
{
    return ompp_take_number(p, &value[0]) && take_percent(p, "%", &value[1]) && ompp_take_number(p, &value[2]) &&
           take_percent(p, "%", &value[3]);
}

/* "[name: 4 threads]"; the name may have colons. */
static bool read_root(ompp_reading_t *r)
{
    const char *p = ompp_reading_line(r);

    r->doc->root_line = r->at + 1;
    if (!take_times(&p, r->doc->root) || *(p = skip(p)) != '[')
        return ompp_reading_expect(r, "the line of the whole program, with [name: n threads]");
    return ompp_reading_root(r, p + 1) || ompp_reading_expect(r, "\"[name: n threads]\"");
}

/* Branches of the tree take three columns a level. */
static bool read_node(ompp_reading_t *r)
{
    const char *p = ompp_reading_line(r), *place;
    uint32_t above = r->doc->nnodes ? r->doc->nodes[r->doc->nnodes - 1].level : 0, number;
    ompp_doc_node_t *node = ompp_reading_push(r, &r->doc->nodes, &r->doc->nnodes, sizeof *node);
    char brief[WORD_SIZE];
    ompp_construct_t construct;
    size_t width;

    if (!node) return false;
    node->line = r->at + 1;
    if (!take_times(&p, node->value) || !take_word(&p, brief)) return ompp_reading_expect(r, "a line of the callgraph");
    construct = ompp_construct_by_brief(brief);
    if (construct == OMPP_CONSTRUCT_NUM)
        return ompp_reading_fail(r, OMPP_DO_VERSION, "%s is no known type of region", brief);
    if (*p == ' ') p++;
    width = strspn(p, " |+-");
    p += width;
    if (width == 0 || width % 3 || !ompp_take_region(&p, &number) || !ompp_take(&p, " "))
        return ompp_reading_expect(r, "a branch of the callgraph");
    if (width / 3 > above + 1 || width / 3 > OMPP_DOC_LEVELS)
        return ompp_reading_fail(r, OMPP_DO_RESTORE, "level %zu of the callgraph follows level %" PRIu32, width / 3,
                                 above);
    node->level = (uint32_t)(width / 3);
    place = ompp_reading_keep(r, p, strlen(p));
    r->at++;
    return place && ompp_reading_region(r, number, construct, place, NULL, &node->region);
}

static bool read_callgraph(ompp_reading_t *r)
{
    skip_blank(r);
    if (strncmp(skip(ompp_reading_line(r)), "Inclusive  (%)", 14) != 0)
        return ompp_reading_expect(r, "\"Inclusive  (%)   Exclusive  (%)\"");
    r->at++;
    if (!read_root(r)) return false;
    for (skip_blank(r); more(r); skip_blank(r))
        if (!read_node(r)) return false;
    return !r->rc;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static bool read_titles(ompp_reading_t *r, ompp_doc_table_t *t)
{
    const char *p = skip(ompp_reading_line(r));

    t->ranked = ompp_take(&p, "RANK ");
    p = skip(p);
    if (!ompp_take(&p, "TID")) return ompp_reading_expect(r, "the titles of a table, from TID");
    for (p = skip(p); *p; p = skip(p)) {
        size_t n = strcspn(p, " ");
        if (!ompp_reading_column(r, &t->columns, &t->ncolumns, p, n)) return false;
        p += n;
    }
    r->at++;
    return true;
}

static bool take_label(const char **p, const ompp_doc_table_t *t, ompp_doc_row_t *row)
{
    uint64_t rank = 0, tid;

    *p = skip(*p);
    if (ompp_take(p, "SUM")) {
        row->kind = OMPP_ROW_SUM;
        return true;
    }
    if (t->ranked && ompp_take(p, "oth")) {
        row->kind = OMPP_ROW_OTHERS;
        *p = skip(*p);
        return ompp_take(p, "-");
    }
    if (t->ranked && !ompp_take_whole(p, UINT32_MAX, &rank)) return false;
    *p = skip(*p);
    if (!ompp_take_whole(p, UINT32_MAX, &tid)) return false;
    row->rank = (uint32_t)rank;
    row->tid = (uint32_t)tid;
    return true;
}

static bool read_row(ompp_reading_t *r, ompp_doc_table_t *t)
{
    const char *p = ompp_reading_line(r), *cells[OMPP_DOC_COLUMNS + 1];
    ompp_doc_row_t *row = ompp_reading_row(r, t);
    size_t n = 0;

    if (!row) return false;
    if (!take_label(&p, t, row) || *p != ' ')
        return ompp_reading_expect(r, t->nrows == 1 ? "the first row of a table" : "a row, or SUM");
    for (p = skip(p); *p && n <= OMPP_DOC_COLUMNS; p = skip(p + strcspn(p, " "))) cells[n++] = p;
    return ompp_reading_cells(r, t, OMPP_DOC_TEXT, cells, n);
}

static bool read_rows(ompp_reading_t *r, ompp_doc_table_t *t)
{
    if (!read_titles(r, t) || !ompp_reading_rows(r, t, read_row)) return false;
    if (more(r) && *ompp_reading_line(r)) return ompp_reading_expect(r, "the empty line after a table");
    return true;
}

/* "R00001 place TYPE" of a step; NULL = that has failed. */
static bool read_step(ompp_reading_t *r, ompp_doc_table_t *t, ompp_doc_step_t *step, const char *text)
{
    uint32_t number;

    if (!step) return false;
    if (!ompp_take_region(&text, &number) || !ompp_take(&text, " "))
        return ompp_reading_expect(r, "\"R00001 place TYPE\"");
    t->line = r->at + 1;
    if (!parse_region(r, number, text, &step->region)) return false;
    r->at++;
    return true;
}

static bool read_flat(ompp_reading_t *r)
{
    for (skip_blank(r); more(r); skip_blank(r)) {
        ompp_doc_table_t *t = ompp_reading_push(r, &r->doc->flat, &r->doc->nflat, sizeof *t);
        if (!t || !read_step(r, t, ompp_reading_push(r, &t->steps, &t->nsteps, sizeof *t->steps), ompp_reading_line(r)))
            return false;
        if (!read_rows(r, t)) return false;
    }
    return !r->rc;
}

static bool read_paths(ompp_reading_t *r)
{
    for (skip_blank(r); more(r); skip_blank(r)) {
        ompp_doc_table_t *t;
        if (strncmp(ompp_reading_line(r), "[*00] ", 6) != 0) return ompp_reading_expect(r, "a call path, from [*00]");
        t = ompp_reading_push(r, &r->doc->paths, &r->doc->npaths, sizeof *t);
        if (!t) return false;
        r->at++;
        do {
            const char *p = NULL;
            ompp_doc_step_t *step = ompp_reading_step(r, t, " ", &p);
            if (!read_step(r, t, step, p)) return false;
        } while (*ompp_reading_line(r) == '[');
        if (!read_rows(r, t)) return false;
    }
    return !r->rc;
}

/* ---- Overhead Analysis Report ------------------------------------------------------------------------------------ */

static bool read_totals(ompp_reading_t *r)
{
    ompp_document_t *d = r->doc;
    const char *p = ompp_reading_line(r);

    d->overheads_line = r->at + 1;
    if (!ompp_take(&p, "Total runtime (wallclock)   :") || !take_seconds(&p, &d->runtime) || !ompp_take(&p, " [") ||
        !ompp_take_whole(&p, UINT32_MAX, &d->runtime_threads) || !ompp_take(&p, " thread"))
        return ompp_reading_expect(r, "\"Total runtime (wallclock)   : 1.00 sec [2 threads]\"");
    r->at++;
    p = ompp_reading_line(r);
    if (!ompp_take(&p, "Number of parallel regions  : ") || !ompp_take_whole(&p, UINT32_MAX, &d->nparallel))
        return ompp_reading_expect(r, "\"Number of parallel regions  : 1\"");
    r->at++;
    p = ompp_reading_line(r);
    if (!ompp_take(&p, "Parallel coverage           :") || !take_seconds(&p, &d->coverage) ||
        !take_percent(&p, "%", &d->coverage_percent))
        return ompp_reading_expect(r, "\"Parallel coverage           : 1.00 sec (50.00%)\"");
    r->at++;
    return true;
}

/* The last word of text before *end, which moves to its begin; NULL when there is none. */
static const char *word_from_right(const char *text, const char **end)
{
    const char *stop = *end;

    while (stop > text && stop[-1] == ' ') stop--;
    *end = stop;
    while (stop > text && stop[-1] != ' ') stop--;
    if (stop == *end) return NULL;
    *end = stop;
    return stop;
}

/* Values are read from the right, as the place may hold anything. *end: where the place ends. */
static bool take_wall(ompp_reading_t *r, const char *text, const char **end, ompp_doc_wall_t *row)
{
    const char *p;

    for (size_t i = r->doc->nextra; i-- > 0;) {
        p = word_from_right(text, end);
        if (!p || !ompp_cell_take(&r->doc->extra[i].kind, r->doc->nwall == 1, OMPP_DOC_TEXT, p, &row->values[i]))
            return false;
    }
    while (*end > text && (*end)[-1] != '(') --*end;
    if (*end == text) return false;
    p = --*end;
    if (!take_percent(&p, "", &row->percent)) return false;
    p = word_from_right(text, end);
    return p && ompp_take_number(&p, &row->wall) && *p == ' ';
}

static bool read_wall(ompp_reading_t *r)
{
    const char *line = ompp_reading_line(r), *p = line, *end = line + strlen(line);
    ompp_doc_wall_t *row = ompp_reading_wall(r);
    ompp_construct_t construct;
    uint32_t number;
    char brief[WORD_SIZE];
    const char *place;

    if (!row) return false;
    if (!take_wall(r, line, &end, row)) return ompp_reading_expect(r, "a region with wallclock and percentage");
    while (end > line && end[-1] == ' ') end--;
    if (strncmp(skip(line), "SUM", 3) == 0) return true;
    if (!ompp_take_region(&p, &number) || !take_word(&p, brief) || p > end)
        return ompp_reading_expect(r, "a region with its type, or SUM");
    construct = ompp_construct_by_brief(brief);
    if (construct == OMPP_CONSTRUCT_NUM)
        return ompp_reading_fail(r, OMPP_DO_VERSION, "%s is no known type of region", brief);
    p = skip(p);
    place = ompp_reading_keep(r, p, p < end ? (size_t)(end - p) : 0);
    return place && ompp_reading_region(r, number, construct, place, NULL, &row->region);
}

static bool read_walls(ompp_reading_t *r)
{
    const char *p;

    if (strcmp(ompp_reading_line(r), "Parallel regions sorted by wallclock time:") != 0)
        return ompp_reading_expect(r, "\"Parallel regions sorted by wallclock time:\"");
    r->at++;
    p = strstr(ompp_reading_line(r), "Wallclock (%)");
    if (!p) return ompp_reading_expect(r, "the titles of the table of wallclocks");
    for (p = skip(p + 13); *p; p = skip(p)) {
        size_t n = strcspn(p, " ");
        if (!ompp_reading_column(r, &r->doc->extra, &r->doc->nextra, p, n)) return false;
        p += n;
    }
    do {
        r->at++;
        if (!read_wall(r)) return false;
    } while (r->doc->wall[r->doc->nwall - 1].region != OMPP_DOC_NONE);
    r->at++;
    return true;
}

/* Titles of classes stand between "=", "+" and "(%)". */
static bool read_class_titles(ompp_reading_t *r, bool first)
{
    const char *p = strstr(ompp_reading_line(r), "Ovhds (%)");
    size_t n = 0;
    char word[WORD_SIZE];

    if (!p) return ompp_reading_expect(r, "the titles of a table of overheads");
    for (p += 9; take_word(&p, word);) {
        if (strcmp(word, "=") == 0 || strcmp(word, "+") == 0 || strcmp(word, "(%)") == 0) continue;
        if (!ompp_reading_class(r, first, n, word, strlen(word))) return false;
        n++;
    }
    if (*skip(p) || n != r->doc->nclasses)
        return ompp_reading_fail(r, OMPP_DO_RESTORE, "other classes than in the table above");
    r->at++;
    return true;
}

static bool read_class_row(ompp_reading_t *r, ompp_doc_overhead_t **rows, size_t *n)
{
    const char *p = ompp_reading_line(r);
    ompp_doc_overhead_t *row = ompp_reading_overhead(r, rows, n);

    if (!row) return false;
    if (!ompp_take_region(&p, &row->number) && (p = skip(p), !ompp_take(&p, "SUM")))
        return ompp_reading_expect(r, "a region, or SUM");
    if (*p != ' ' || !ompp_take_number(&p, &row->total)) return ompp_reading_expect(r, "a row of overheads");
    for (size_t i = 0; i <= r->doc->nclasses; i++)
        if (!ompp_take_number(&p, &row->shares[i].time) || !take_percent(&p, "", &row->shares[i].percent))
            return ompp_reading_expect(r, "a row of overheads with all its classes");
    if (*skip(p)) return ompp_reading_expect(r, "a row of overheads with as many classes as titles");
    r->at++;
    return true;
}

static bool read_classes(ompp_reading_t *r, const char *what, ompp_doc_overhead_t **rows, size_t *n)
{
    const char *p = ompp_reading_line(r);

    if (!ompp_take(&p, "Overheads wrt. ") || !ompp_take(&p, what))
        return ompp_reading_expect(r, "a table of overheads");
    r->at++;
    if (!read_class_titles(r, rows == &r->doc->each)) return false;
    while (more(r) && *ompp_reading_line(r))
        if (!read_class_row(r, rows, n)) return false;
    return !r->rc;
}

static bool read_overheads(ompp_reading_t *r)
{
    ompp_document_t *d = r->doc;

    skip_blank(r);
    if (!read_totals(r)) return false;
    skip_blank(r);
    if (!read_walls(r)) return false;
    skip_blank(r);
    if (!read_classes(r, "each individual parallel region:", &d->each, &d->neach)) return false;
    skip_blank(r);
    if (!read_classes(r, "whole program:", &d->whole, &d->nwhole)) return false;
    if (!d->nwhole || d->whole[d->nwhole - 1].number != OMPP_DOC_NONE)
        return ompp_reading_expect(r, "the SUM of the overheads");
    skip_blank(r);
    if (d->neach == 0 && more(r) && strcmp(ompp_reading_line(r), ompp_layout_no_parallel[0]) == 0) {
        r->at++;
        if (!more(r) || strcmp(ompp_reading_line(r), ompp_layout_no_parallel[1]) != 0)
            return ompp_reading_expect(r, "where MPI's costs stand");
        r->at++;
        d->no_parallel = true;
        skip_blank(r);
    }
    return more(r) ? ompp_reading_expect(r, "the end of the section") : true;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool read_other(ompp_reading_t *r, ompp_doc_section_t *s)
{
    s->lines = r->lines + r->at;
    for (; more(r); r->at++) s->nlines++;
    if (strncmp(s->title, "ompp ", 5) == 0) r->doc->ours = true;
    return true;
}

static bool (*const readers[OMPP_SECTION_NUM])(ompp_reading_t *r) = {
    [OMPP_SECTION_GENERAL] = read_general,     [OMPP_SECTION_OVERVIEW] = read_overview,
    [OMPP_SECTION_CALLGRAPH] = read_callgraph, [OMPP_SECTION_FLAT] = read_flat,
    [OMPP_SECTION_PATHS] = read_paths,         [OMPP_SECTION_OVERHEADS] = read_overheads,
};

static bool read_section(ompp_reading_t *r)
{
    size_t length;
    const char *title = title_at(r, &length);
    unsigned kind;
    ompp_doc_section_t *s;

    if (!title) return ompp_reading_expect(r, "the title of a section");
    kind = ompp_reading_kind(OMPP_DOC_TEXT, title, length);
    if (kind != OMPP_SECTION_GENERAL && !r->doc->nsections)
        return ompp_reading_expect(r, "the title \"ompP General Information\"");
    s = ompp_reading_section(r, kind, title, length);
    if (!s) return false;
    r->at += 3;
    return kind == OMPP_SECTION_OTHER ? read_other(r, s) : readers[kind](r);
}

bool ompp_read_text(ompp_reading_t *r)
{
    while (r->at < r->nlines)
        if (!read_section(r)) return false;
    return ompp_reading_complete(r, OMPP_DOC_TEXT);
}
