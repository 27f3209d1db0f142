/**
 * \file
 * Text report to document. Sections are found by their titles and may come in any order; those that ompP does not have
 * are kept line by line.
 */
#include "reader/ompp_document_priv.h"

#include "base/ompp_error.h"

#include <inttypes.h>
#include <string.h>

#define MAX_LEVEL 4096 /* of call paths; ompP stops at 32 */
#define WORD_SIZE 24

static const char dashes[] = "----------------------------------------------------------------------";

static bool layout(ompp_reading_t *r, const char *expected)
{
    if (r->at >= r->nlines)
        return ompp_reading_fail(r, "the file is cut off; " OMPP_DO_RESTORE, "it ends where %s should stand", expected);
    return ompp_reading_fail(r, r->at + 1 == r->nlines ? "the file is cut off; " OMPP_DO_RESTORE : OMPP_DO_RESTORE,
                             "\"%.60s\" is not %s", ompp_reading_line(r), expected);
}

/* ---- Titles ---------------------------------------------------------------------------------------------------------
 */

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

/* ---- Words ----------------------------------------------------------------------------------------------------------
 */

static const char *skip(const char *p)
{
    return p + strspn(p, " ");
}

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
    if (!place) return false;
    *region = ompp_document_region(r->doc, number, construct, place, NULL);
    return *region != OMPP_DOC_NONE || ompp_reading_nomem(r);
}

/* ---- General Information --------------------------------------------------------------------------------------------
 */

/* The duration says how many digits times have. */
static bool note_field(ompp_reading_t *r, const ompp_doc_field_t *field)
{
    const char *value = field->value;
    ompp_decimal_t seconds;

    if (strcmp(field->name, "Duration") != 0) return true;
    if (!take_seconds(&value, &seconds)) return layout(r, "\"Duration        : 1.00 sec\"");
    r->doc->digits = seconds.places;
    return true;
}

static bool read_field(ompp_reading_t *r)
{
    const char *line = ompp_reading_line(r), *colon = strchr(line, ':'), *end = colon;
    ompp_doc_field_t *field;

    if (!colon || colon == line || (colon[1] != ' ' && colon[1])) return layout(r, "\"name: value\"");
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
    if (!ompp_document_field(r->doc, "Duration")) return layout(r, "a line \"Duration        : 1.00 sec\"");
    return true;
}

/* ---- Region Overview ------------------------------------------------------------------------------------------------
 */

static bool read_member(ompp_reading_t *r, ompp_construct_t construct)
{
    const char *p = ompp_reading_line(r), *place;
    uint32_t number, *slot;

    if (!ompp_take(&p, " * ") || !ompp_take_region(&p, &number) || !ompp_take(&p, " "))
        return layout(r, "\" * R00001 place\"");
    place = ompp_reading_keep(r, p, strlen(p));
    slot = place ? ompp_reading_push(r, &r->doc->overview, &r->doc->noverview, sizeof *slot) : NULL;
    if (!slot) return false;
    *slot = ompp_document_region(r->doc, number, construct, place, NULL);
    r->at++;
    return *slot != OMPP_DOC_NONE || ompp_reading_nomem(r);
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
        return layout(r, "\"LOOP: 2 regions:\"");
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

/* ---- Callgraph ------------------------------------------------------------------------------------------------------
 */

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
        return layout(r, "the line of the whole program, with [name: n threads]");
    return ompp_reading_root(r, p + 1) || layout(r, "\"[name: n threads]\"");
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
    if (!take_times(&p, node->value) || !take_word(&p, brief)) return layout(r, "a line of the callgraph");
    construct = ompp_construct_by_brief(brief);
    if (construct == OMPP_CONSTRUCT_NUM)
        return ompp_reading_fail(r, OMPP_DO_VERSION, "%s is no known type of region", brief);
    if (*p == ' ') p++;
    width = strspn(p, " |+-");
    p += width;
    if (width == 0 || width % 3 || !ompp_take_region(&p, &number) || !ompp_take(&p, " "))
        return layout(r, "a branch of the callgraph");
    if (width / 3 > above + 1 || width / 3 > MAX_LEVEL)
        return ompp_reading_fail(r, OMPP_DO_RESTORE, "level %zu of the callgraph follows level %" PRIu32, width / 3,
                                 above);
    node->level = (uint32_t)(width / 3);
    place = ompp_reading_keep(r, p, strlen(p));
    if (!place) return false;
    node->region = ompp_document_region(r->doc, number, construct, place, NULL);
    r->at++;
    return node->region != OMPP_DOC_NONE || ompp_reading_nomem(r);
}

static bool read_callgraph(ompp_reading_t *r)
{
    skip_blank(r);
    if (strncmp(skip(ompp_reading_line(r)), "Inclusive  (%)", 14) != 0)
        return layout(r, "\"Inclusive  (%)   Exclusive  (%)\"");
    r->at++;
    if (!read_root(r)) return false;
    for (skip_blank(r); more(r); skip_blank(r))
        if (!read_node(r)) return false;
    return !r->rc;
}

/* ---- Tables ---------------------------------------------------------------------------------------------------------
 */

static bool read_titles(ompp_reading_t *r, ompp_doc_table_t *t)
{
    const char *p = skip(ompp_reading_line(r));

    t->ranked = ompp_take(&p, "RANK ");
    p = skip(p);
    if (!ompp_take(&p, "TID")) return layout(r, "the titles of a table, from TID");
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
        return layout(r, t->nrows == 1 ? "the first row of a table" : "a row, or SUM");
    for (p = skip(p); *p && n <= OMPP_DOC_COLUMNS; p = skip(p + strcspn(p, " "))) cells[n++] = p;
    return ompp_reading_cells(r, t, OMPP_DOC_TEXT, cells, n);
}

static bool read_rows(ompp_reading_t *r, ompp_doc_table_t *t)
{
    if (!read_titles(r, t)) return false;
    do {
        if (!read_row(r, t)) return false;
        r->at++;
    } while (t->rows[t->nrows - 1].kind != OMPP_ROW_SUM);
    if (more(r) && *ompp_reading_line(r)) return layout(r, "the empty line after a table");
    return true;
}

static bool add_step(ompp_reading_t *r, ompp_doc_table_t *t, char mark, const char *text)
{
    ompp_doc_step_t *step = ompp_reading_push(r, &t->steps, &t->nsteps, sizeof *step);
    uint32_t number;

    if (!step) return false;
    step->mark = mark;
    if (!ompp_take_region(&text, &number) || !ompp_take(&text, " ")) return layout(r, "\"R00001 place TYPE\"");
    t->line = r->at + 1;
    return parse_region(r, number, text, &step->region);
}

static bool read_flat(ompp_reading_t *r)
{
    for (skip_blank(r); more(r); skip_blank(r)) {
        ompp_doc_table_t *t = ompp_reading_push(r, &r->doc->flat, &r->doc->nflat, sizeof *t);
        if (!t || !add_step(r, t, 0, ompp_reading_line(r))) return false;
        r->at++;
        if (!read_rows(r, t)) return false;
    }
    return !r->rc;
}

/* "[+01] R00001 place TYPE"; levels ascend from 1. */
static bool read_step(ompp_reading_t *r, ompp_doc_table_t *t)
{
    const char *p = ompp_reading_line(r);
    char mark = p[0] == '[' ? p[1] : 0;
    uint64_t level;

    if (mark != '+' && mark != '=') return layout(r, "a step of a call path, [+01] or [=01]");
    p += 2;
    if (!ompp_take_whole(&p, MAX_LEVEL, &level) || !ompp_take(&p, "] ")) return layout(r, "a step of a call path");
    if (level != t->nsteps + 1)
        return ompp_reading_fail(r, OMPP_DO_RESTORE, "level %" PRIu64 " follows level %zu", level, t->nsteps);
    if (!add_step(r, t, mark, p)) return false;
    r->at++;
    return true;
}

static bool read_paths(ompp_reading_t *r)
{
    for (skip_blank(r); more(r); skip_blank(r)) {
        ompp_doc_table_t *t;
        if (strncmp(ompp_reading_line(r), "[*00] ", 6) != 0) return layout(r, "a call path, from [*00]");
        t = ompp_reading_push(r, &r->doc->paths, &r->doc->npaths, sizeof *t);
        if (!t) return false;
        r->at++;
        do {
            if (!read_step(r, t)) return false;
        } while (*ompp_reading_line(r) == '[');
        if (!read_rows(r, t)) return false;
    }
    return !r->rc;
}

/* ---- Overhead Analysis Report ---------------------------------------------------------------------------------------
 */

static bool read_totals(ompp_reading_t *r)
{
    ompp_document_t *d = r->doc;
    const char *p = ompp_reading_line(r);

    d->overheads_line = r->at + 1;
    if (!ompp_take(&p, "Total runtime (wallclock)   :") || !take_seconds(&p, &d->runtime) || !ompp_take(&p, " [") ||
        !ompp_take_whole(&p, UINT32_MAX, &d->runtime_threads) || !ompp_take(&p, " thread"))
        return layout(r, "\"Total runtime (wallclock)   : 1.00 sec [2 threads]\"");
    r->at++;
    p = ompp_reading_line(r);
    if (!ompp_take(&p, "Number of parallel regions  : ") || !ompp_take_whole(&p, UINT32_MAX, &d->nparallel))
        return layout(r, "\"Number of parallel regions  : 1\"");
    r->at++;
    p = ompp_reading_line(r);
    if (!ompp_take(&p, "Parallel coverage           :") || !take_seconds(&p, &d->coverage) ||
        !take_percent(&p, "%", &d->coverage_percent))
        return layout(r, "\"Parallel coverage           : 1.00 sec (50.00%)\"");
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
    ompp_doc_wall_t *row = ompp_reading_push(r, &r->doc->wall, &r->doc->nwall, sizeof *row);
    ompp_construct_t construct;
    uint32_t number;
    char brief[WORD_SIZE];
    const char *place;

    if (!row) return false;
    row->region = OMPP_DOC_NONE;
    row->line = r->at + 1;
    row->values = ompp_reading_alloc(r, r->doc->nextra, sizeof *row->values);
    if (!row->values) return false;
    if (!take_wall(r, line, &end, row)) return layout(r, "a region with wallclock and percentage");
    while (end > line && end[-1] == ' ') end--;
    if (strncmp(skip(line), "SUM", 3) == 0) return true;
    if (!ompp_take_region(&p, &number) || !take_word(&p, brief) || p > end)
        return layout(r, "a region with its type, or SUM");
    construct = ompp_construct_by_brief(brief);
    if (construct == OMPP_CONSTRUCT_NUM)
        return ompp_reading_fail(r, OMPP_DO_VERSION, "%s is no known type of region", brief);
    p = skip(p);
    place = ompp_reading_keep(r, p, p < end ? (size_t)(end - p) : 0);
    if (!place) return false;
    row->region = ompp_document_region(r->doc, number, construct, place, NULL);
    return row->region != OMPP_DOC_NONE || ompp_reading_nomem(r);
}

static bool read_walls(ompp_reading_t *r)
{
    const char *p;

    if (strcmp(ompp_reading_line(r), "Parallel regions sorted by wallclock time:") != 0)
        return layout(r, "\"Parallel regions sorted by wallclock time:\"");
    r->at++;
    p = strstr(ompp_reading_line(r), "Wallclock (%)");
    if (!p) return layout(r, "the titles of the table of wallclocks");
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

    if (!p) return layout(r, "the titles of a table of overheads");
    for (p += 9; take_word(&p, word);) {
        if (strcmp(word, "=") == 0 || strcmp(word, "+") == 0 || strcmp(word, "(%)") == 0) continue;
        if (first) {
            const char **title = ompp_reading_push(r, &r->doc->classes, &r->doc->nclasses, sizeof *title);
            if (!title || !(*title = ompp_reading_keep(r, word, strlen(word)))) return false;
        } else if (n >= r->doc->nclasses || strcmp(r->doc->classes[n], word) != 0) {
            return ompp_reading_fail(r, OMPP_DO_RESTORE, "%s is not among the classes of the table above", word);
        }
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
    ompp_doc_overhead_t *row = ompp_reading_push(r, rows, n, sizeof *row);

    if (!row) return false;
    row->number = OMPP_DOC_NONE;
    row->line = r->at + 1;
    row->shares = ompp_reading_alloc(r, 1 + r->doc->nclasses, sizeof *row->shares);
    if (!row->shares) return false;
    if (!ompp_take_region(&p, &row->number) && (p = skip(p), !ompp_take(&p, "SUM")))
        return layout(r, "a region, or SUM");
    if (*p != ' ' || !ompp_take_number(&p, &row->total)) return layout(r, "a row of overheads");
    for (size_t i = 0; i <= r->doc->nclasses; i++)
        if (!ompp_take_number(&p, &row->shares[i].time) || !take_percent(&p, "", &row->shares[i].percent))
            return layout(r, "a row of overheads with all its classes");
    if (*skip(p)) return layout(r, "a row of overheads with as many classes as titles");
    r->at++;
    return true;
}

static bool read_classes(ompp_reading_t *r, const char *what, ompp_doc_overhead_t **rows, size_t *n)
{
    const char *p = ompp_reading_line(r);

    if (!ompp_take(&p, "Overheads wrt. ") || !ompp_take(&p, what)) return layout(r, "a table of overheads");
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
    if (!d->nwhole || d->whole[d->nwhole - 1].number != OMPP_DOC_NONE) return layout(r, "the SUM of the overheads");
    skip_blank(r);
    if (d->neach == 0 && more(r) && strcmp(ompp_reading_line(r), ompp_layout_no_parallel[0]) == 0) {
        r->at++;
        if (!more(r) || strcmp(ompp_reading_line(r), ompp_layout_no_parallel[1]) != 0) return layout(r, "where MPI's costs stand");
        r->at++;
        d->no_parallel = true;
        skip_blank(r);
    }
    return more(r) ? layout(r, "the end of the section") : true;
}

/* ---- All of it ------------------------------------------------------------------------------------------------------
 */

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
    unsigned kind = 0;
    ompp_doc_section_t *s;

    if (!title) return layout(r, "the title of a section");
    while (kind < OMPP_SECTION_NUM &&
           (strlen(ompp_sections[kind].title) != length || memcmp(ompp_sections[kind].title, title, length) != 0))
        kind++;
    if (kind != OMPP_SECTION_GENERAL && !r->doc->nsections) return layout(r, "the title \"ompP General Information\"");
    s = ompp_reading_section(r, kind, title, length);
    if (!s) return false;
    r->at += 3;
    return kind == OMPP_SECTION_OTHER ? read_other(r, s) : readers[kind](r);
}

bool ompp_read_text(ompp_reading_t *r)
{
    unsigned found = 0;

    while (r->at < r->nlines)
        if (!read_section(r)) return false;
    for (size_t i = 0; i < r->doc->nsections; i++)
        if (r->doc->sections[i].kind != OMPP_SECTION_OTHER) found |= 1u << r->doc->sections[i].kind;
    for (unsigned kind = 0; kind < OMPP_SECTION_NUM; kind++)
        if (!(found & 1u << kind))
            return ompp_reading_fail(r, "the file is cut off; " OMPP_DO_RESTORE, "the section \"%s\" is missing",
                                     ompp_sections[kind].title);
    return true;
}
