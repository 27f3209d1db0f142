/**
 * \file
 * CSV report to document. Blocks are bracketed by ##BEG name and ##END name; those that ompP does not have are kept
 * line by line.
 */
#include "reader/ompp_document_priv.h"

#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CELLS 272 /* of a row */

/* The cells of a line; a cell ends at a comma or at the end of the line. */
typedef struct {
    const char *cell[MAX_CELLS];
    size_t n;
} cells_t;

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* The name after ##BEG or ##END, NULL on other lines. */
static const char *block_name(const ompp_reading_t *r, const char *mark)
{
    const char *p = ompp_reading_line(r);

    return ompp_take(&p, mark) && ompp_take(&p, " ") ? p : NULL;
}

static bool at_end(const ompp_reading_t *r, const char *name)
{
    const char *found = block_name(r, "##END");

    return found && strcmp(found, name) == 0;
}

/* There is another line before the end of this block. */
static bool more(ompp_reading_t *r, const char *name)
{
    if (r->rc || at_end(r, name)) return false;
    if (r->at >= r->nlines)
        return ompp_reading_fail(r, "the file is cut off; " OMPP_DO_RESTORE, "no \"##END %.60s\"", name);
    return true;
}

static void skip_blank(ompp_reading_t *r)
{
    while (r->at < r->nlines && !*ompp_reading_line(r)) r->at++;
}

static bool enter(ompp_reading_t *r, const char *name)
{
    const char *found = block_name(r, "##BEG");

    if (!found || strcmp(found, name) != 0) {
        if (r->at >= r->nlines)
            return ompp_reading_fail(r, "the file is cut off; " OMPP_DO_RESTORE, "it ends before \"##BEG %.60s\"",
                                     name);
        return ompp_reading_fail(r, OMPP_DO_RESTORE, "\"%.60s\" is not \"##BEG %.60s\"", ompp_reading_line(r), name);
    }
    r->at++;
    return true;
}

static bool leave(ompp_reading_t *r, const char *name)
{
    if (r->rc) return false;
    if (r->at >= r->nlines)
        return ompp_reading_fail(r, "the file is cut off; " OMPP_DO_RESTORE, "no \"##END %.60s\"", name);
    if (!at_end(r, name))
        return ompp_reading_fail(r, OMPP_DO_RESTORE, "\"%.60s\" is not \"##END %.60s\"", ompp_reading_line(r), name);
    r->at++;
    skip_blank(r);
    return true;
}

static void split(const char *p, cells_t *cells)
{
    cells->n = 0;
    while (cells->n < MAX_CELLS) {
        cells->cell[cells->n++] = p;
        p = strchr(p, ',');
        if (!p) return;
        p++;
    }
    cells->n = MAX_CELLS + 1; /* too many for any table */
}

static bool ends(const char *p)
{
    p += strspn(p, " ");
    return !*p || *p == ',';
}

static bool number_in(const char *cell, ompp_decimal_t *number)
{
    return ompp_take_number(&cell, number) && ends(cell);
}

static size_t length_of(const char *cell) { return strcspn(cell, ","); }

static bool is(const char *cell, const char *word)
{
    return strncmp(cell, word, strlen(word)) == 0 && ends(cell + strlen(word));
}

/* "R00001,LOOP,solve.c,20,30,": also with the type last, as 0.6 had it. */
static bool read_region(ompp_reading_t *r, const char *p, uint32_t *region)
{
    ompp_construct_t construct;
    const char *fields;
    uint32_t number;
    size_t length;

    if (!ompp_take_region(&p, &number) || !ompp_take(&p, ","))
        return ompp_reading_expect(r, "a region, R00001,TYPE,file,begin,end,name");
    construct = ompp_construct_at_start(p, ',');
    if (construct == OMPP_CONSTRUCT_NUM) construct = ompp_construct_at_end(p, ',', &length);
    if (construct == OMPP_CONSTRUCT_NUM)
        return ompp_reading_fail(r, OMPP_DO_VERSION, "\"%.60s\" has no known type of region", p);
    fields = ompp_reading_keep(r, p, strlen(p));
    if (!fields) return false;
    return ompp_reading_region(r, number, construct, NULL, fields, region);
}

/* ---- Header and overview ----------------------------------------------------------------------------------------- */

static bool read_field(ompp_reading_t *r)
{
    const char *line = ompp_reading_line(r), *comma = strchr(line, ','), *value;
    ompp_doc_field_t *field;
    ompp_decimal_t seconds;

    if (!comma || comma == line) return ompp_reading_expect(r, "name,value");
    field = ompp_reading_push(r, &r->doc->fields, &r->doc->nfields, sizeof *field);
    if (!field) return false;
    field->name = ompp_reading_keep(r, line, (size_t)(comma - line));
    field->value = value = ompp_reading_keep(r, comma + 1, strlen(comma + 1));
    if (!field->name || !value) return false;
    if (strcmp(field->name, "Duration") == 0) { /* says how many digits times have */
        if (!ompp_take_number(&value, &seconds)) return ompp_reading_expect(r, "\"Duration,1.000000,sec\"");
        r->doc->digits = seconds.places;
    }
    r->at++;
    return true;
}

static bool read_header(ompp_reading_t *r)
{
    while (more(r, "header"))
        if (!read_field(r)) return false;
    if (!r->rc && !ompp_document_field(r->doc, "Duration"))
        return ompp_reading_expect(r, "a line \"Duration,1.000000,sec\"");
    return !r->rc;
}

/* "LOOP,2" or a region. The count must be the number of regions that follow. */
static bool read_overview(ompp_reading_t *r)
{
    ompp_construct_t group = OMPP_CONSTRUCT_NUM;
    uint64_t left = 0;

    while (more(r, "region overview")) {
        const char *p = ompp_reading_line(r), *count = strchr(p, ',');
        ompp_construct_t construct = ompp_construct_at_start(p, ',');
        uint32_t *slot;
        if (construct != OMPP_CONSTRUCT_NUM && left == 0) {
            count++;
            group = construct;
            if (!ompp_take_whole(&count, UINT32_MAX, &left) || *count || !left)
                return ompp_reading_expect(r, "a type and the number of its regions");
        } else {
            slot = ompp_reading_push(r, &r->doc->overview, &r->doc->noverview, sizeof *slot);
            if (!slot || !read_region(r, p, slot)) return false;
            if (!left || r->doc->regions[*slot].construct != group)
                return ompp_reading_fail(r, OMPP_DO_RESTORE,
                                         "more regions than the line above them says, or of another type");
            left--;
        }
        r->at++;
    }
    if (left) return ompp_reading_fail(r, OMPP_DO_RESTORE, "%" PRIu64 " regions less than said above", left);
    return !r->rc;
}

/* ---- Callgraph --------------------------------------------------------------------------------------------------- */

static bool take_values(const cells_t *cells, ompp_decimal_t value[4])
{
    for (unsigned i = 0; i < 4; i++)
        if (i >= cells->n || !number_in(cells->cell[i], &value[i])) return false;
    return true;
}

/* "[name: 4 threads]": the name may have commas and colons. */
static bool read_root(ompp_reading_t *r)
{
    const char *line = ompp_reading_line(r), *name = strstr(line, ",0,[");
    cells_t cells;

    split(line, &cells);
    r->doc->root_line = r->at + 1;
    if (!name || !take_values(&cells, r->doc->root)) return ompp_reading_expect(r, "the line of the whole program");
    return ompp_reading_root(r, name + 4) || ompp_reading_expect(r, "\"[name: n threads]\"");
}

static bool read_callgraph(ompp_reading_t *r)
{
    if (strcmp(ompp_reading_line(r), "Inclusive,(%),Exclusive,(%)") != 0)
        return ompp_reading_expect(r, "\"Inclusive,(%),Exclusive,(%)\"");
    r->at++;
    if (!read_root(r)) return false;
    for (; more(r, "ompp callgraph"); r->at++) {
        ompp_doc_node_t *node = ompp_reading_push(r, &r->doc->nodes, &r->doc->nnodes, sizeof *node);
        uint32_t above;
        uint64_t level;
        cells_t cells;
        const char *p;
        if (!node) return false;
        above = r->doc->nnodes > 1 ? node[-1].level : 0;
        node->line = r->at + 1;
        split(ompp_reading_line(r), &cells);
        if (cells.n < 6 || !take_values(&cells, node->value)) return ompp_reading_expect(r, "a line of the callgraph");
        p = cells.cell[4];
        if (!ompp_take_whole(&p, OMPP_DOC_LEVELS, &level) || *p != ',')
            return ompp_reading_expect(r, "a line of the callgraph, with a level");
        if (level < 1 || level > above + 1)
            return ompp_reading_fail(r, OMPP_DO_RESTORE, "level %" PRIu64 " follows level %" PRIu32, level, above);
        node->level = (uint32_t)level;
        if (!read_region(r, cells.cell[5], &node->region)) return false;
    }
    return !r->rc;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static bool read_titles(ompp_reading_t *r, ompp_doc_table_t *t)
{
    cells_t cells;
    size_t first;

    split(ompp_reading_line(r), &cells);
    t->ranked = is(cells.cell[0], "RANK");
    first = t->ranked;
    if (first >= cells.n || !is(cells.cell[first], "TID"))
        return ompp_reading_expect(r, "the titles of a table, from TID");
    for (size_t i = first + 1; i < cells.n && i < MAX_CELLS; i++) {
        size_t length = length_of(cells.cell[i]);
        while (length && cells.cell[i][length - 1] == ' ') length--;
        if (!ompp_reading_column(r, &t->columns, &t->ncolumns, cells.cell[i], length)) return false;
    }
    r->at++;
    return true;
}

static bool take_label(const cells_t *cells, const ompp_doc_table_t *t, ompp_doc_row_t *row)
{
    const char *p = cells->cell[0];
    uint64_t rank = 0, tid;

    row->kind = is(p, "SUM") ? OMPP_ROW_SUM : t->ranked && is(p, "oth") ? OMPP_ROW_OTHERS : OMPP_ROW_THREAD;
    if (row->kind != OMPP_ROW_THREAD) return true;
    if (t->ranked && (!ompp_take_whole(&p, UINT32_MAX, &rank) || *p++ != ',')) return false;
    if (!ompp_take_whole(&p, UINT32_MAX, &tid) || *p != ',') return false;
    row->rank = (uint32_t)rank;
    row->tid = (uint32_t)tid;
    return true;
}

static bool read_row(ompp_reading_t *r, ompp_doc_table_t *t)
{
    ompp_doc_row_t *row = ompp_reading_row(r, t);
    const size_t labels = 1 + t->ranked;
    cells_t cells;

    if (!row) return false;
    split(ompp_reading_line(r), &cells);
    if (!take_label(&cells, t, row)) return ompp_reading_expect(r, "a row, or SUM");
    return ompp_reading_cells(r, t, OMPP_DOC_CSV, cells.cell + labels, cells.n >= labels ? cells.n - labels : 0);
}

static bool read_rows(ompp_reading_t *r, ompp_doc_table_t *t)
{
    return read_titles(r, t) && ompp_reading_rows(r, t, read_row);
}

/* Step: NULL = it has failed. */
static bool read_step(ompp_reading_t *r, ompp_doc_table_t *t, ompp_doc_step_t *step, const char *text)
{
    t->line = r->at + 1;
    if (!step || !read_region(r, text, &step->region)) return false;
    r->at++;
    return true;
}

/* "[*00],name", then "[+01],R00001,..." with ascending levels. */
static bool read_steps(ompp_reading_t *r, ompp_doc_table_t *t)
{
    if (strncmp(ompp_reading_line(r), "[*00],", 6) != 0) return ompp_reading_expect(r, "a call path, from [*00]");
    r->at++;
    do {
        const char *p = NULL;
        ompp_doc_step_t *step = ompp_reading_step(r, t, ",", &p);
        if (!read_step(r, t, step, p)) return false;
    } while (*ompp_reading_line(r) == '[');
    return true;
}

/* "##BEG R00001 flat profile" and the like: the number must be that of the table's region. */
static bool read_table(ompp_reading_t *r, const char *what, ompp_doc_table_t **tables, size_t *n, bool path)
{
    ompp_doc_table_t *t = ompp_reading_push(r, tables, n, sizeof *t);
    const char *name = block_name(r, "##BEG"), *p = name;
    uint32_t number;

    if (!t) return false;
    if (!name || !ompp_take_region(&p, &number) || *p != ' ' || strcmp(p + 1, what) != 0)
        return ompp_reading_expect(r, "the begin of a table, ##BEG R00001 ...");
    r->at++;
    if (path ? !read_steps(r, t)
             : !read_step(r, t, ompp_reading_push(r, &t->steps, &t->nsteps, sizeof *t->steps), ompp_reading_line(r)))
        return false;
    if (r->doc->regions[t->steps[t->nsteps - 1].region].number != number)
        return ompp_reading_fail(r, OMPP_DO_RESTORE, "another region than in the line ##BEG %.60s", name);
    return read_rows(r, t) && leave(r, name);
}

static bool read_flat(ompp_reading_t *r)
{
    while (more(r, ompp_sections[OMPP_SECTION_FLAT].block))
        if (!read_table(r, "flat profile", &r->doc->flat, &r->doc->nflat, false)) return false;
    return !r->rc;
}

static bool read_paths(ompp_reading_t *r)
{
    while (more(r, ompp_sections[OMPP_SECTION_PATHS].block))
        if (!read_table(r, "callgraph profile", &r->doc->paths, &r->doc->npaths, true)) return false;
    return !r->rc;
}

/* ---- Overhead analysis report ------------------------------------------------------------------------------------ */

static bool read_total(ompp_reading_t *r, const char *name, ompp_decimal_t *real, uint64_t *whole)
{
    const char *p = ompp_reading_line(r);
    bool ok = ompp_take(&p, name) && ompp_take(&p, ",") &&
              (real ? ompp_take_number(&p, real) : ompp_take_whole(&p, UINT32_MAX, whole)) && !*p;

    if (!ok) return ompp_reading_expect(r, name);
    r->at++;
    return true;
}

static bool read_wall(ompp_reading_t *r, const ompp_table_t *overview)
{
    ompp_document_t *d = r->doc;
    ompp_doc_wall_t *row = ompp_reading_wall(r);
    cells_t cells;
    const char *p;
    uint32_t number;
    char brief[24];

    if (!row) return false;
    split(ompp_reading_line(r), &cells);
    if (cells.n != 4 + d->nextra)
        return ompp_reading_fail(r, OMPP_DO_RESTORE, "the row does not fit the titles of its table");
    for (size_t i = 0; i < d->nextra; i++)
        if (!ompp_cell_take(&d->extra[i].kind, d->nwall == 1, OMPP_DOC_CSV, cells.cell[4 + i], &row->values[i]))
            return ompp_reading_expect(r, "a row of wallclocks");
    if (!number_in(cells.cell[3], &row->percent)) return ompp_reading_expect(r, "a row of wallclocks");
    if (is(cells.cell[0], "SUM")) /* its wallclock stands under Type */
        return number_in(cells.cell[1], &row->wall) || number_in(cells.cell[2], &row->wall) ||
               ompp_reading_expect(r, "the SUM of wallclocks");
    p = cells.cell[0];
    if (!ompp_take_region(&p, &number) || *p != ',' || !number_in(cells.cell[2], &row->wall))
        return ompp_reading_expect(r, "a row of wallclocks");
    snprintf(brief, sizeof brief, "%.*s", (int)(length_of(cells.cell[1]) < 23 ? length_of(cells.cell[1]) : 23),
             cells.cell[1]);
    const uint64_t found = ompp_table_get(overview, ompp_hash_pair(number, ompp_construct_by_brief(brief)));
    if (found) row->region = d->overview[found - 1];
    else return ompp_reading_fail(r, OMPP_DO_RESTORE, "%s R%05" PRIu32 " is not in the overview", brief, number);
    return true;
}

/* Places of the overview + 1, by number and type. */
static bool find_overview(ompp_reading_t *r, ompp_table_t *overview)
{
    const ompp_document_t *d = r->doc;

    for (size_t i = 0; i < d->noverview; i++) {
        const ompp_doc_region_t *region = &d->regions[d->overview[i]];
        const uint64_t key =
            ompp_hash_pair(region->number, ompp_construct_by_brief(ompp_constructs[region->construct].brief));
        if (!ompp_table_get(overview, key) && !ompp_table_set(overview, key, i + 1)) return ompp_reading_nomem(r);
    }
    return true;
}

static bool read_wall_rows(ompp_reading_t *r, const char *name)
{
    ompp_table_t overview = {0};
    bool ok = find_overview(r, &overview);

    for (r->at++; ok && more(r, name); r->at++) {
        if (r->doc->nwall && r->doc->wall[r->doc->nwall - 1].region == OMPP_DOC_NONE)
            ok = ompp_reading_expect(r, "the end of the table, behind SUM");
        ok = ok && read_wall(r, &overview);
        if (!ok) break;
    }
    ompp_table_fini(&overview);
    return ok;
}

static bool read_walls(ompp_reading_t *r)
{
    static const char name[] = "parallel regions sorted by wallclock time", titles[] = ",Type,Wallclock,(%)";
    const char *p = "";
    cells_t cells;

    if (!enter(r, name)) return false;
    p = ompp_reading_line(r);
    if (!ompp_take(&p, titles) || (*p && *p != ','))
        return ompp_reading_expect(r, "the titles of the table of wallclocks");
    split(p, &cells);
    for (size_t i = 1; i < cells.n && i < MAX_CELLS; i++) {
        size_t length = length_of(cells.cell[i]);
        while (length && cells.cell[i][length - 1] == ' ') length--;
        if (!ompp_reading_column(r, &r->doc->extra, &r->doc->nextra, cells.cell[i], length)) return false;
    }
    if (!read_wall_rows(r, name)) return false;
    if (!r->rc && (!r->doc->nwall || r->doc->wall[r->doc->nwall - 1].region != OMPP_DOC_NONE))
        return ompp_reading_expect(r, "the SUM of wallclocks");
    return leave(r, name);
}

/* ",Total,Ovhds,(%),Synch,(%),..." */
static bool read_class_titles(ompp_reading_t *r, bool first)
{
    const char *p = ompp_reading_line(r);
    cells_t cells;
    size_t n = 0;

    if (!ompp_take(&p, ",Total,Ovhds,(%)") || (*p && *p != ','))
        return ompp_reading_expect(r, "the titles of a table of overheads");
    split(p, &cells);
    for (size_t i = 1; i < cells.n && i < MAX_CELLS; i++) {
        size_t length = length_of(cells.cell[i]);
        if (is(cells.cell[i], "(%)")) continue;
        if (!ompp_reading_class(r, first, n, cells.cell[i], length)) return false;
        n++;
    }
    if (n != r->doc->nclasses) return ompp_reading_fail(r, OMPP_DO_RESTORE, "other classes than in the table above");
    r->at++;
    return true;
}

static bool read_class_row(ompp_reading_t *r, ompp_doc_overhead_t **rows, size_t *nrows)
{
    ompp_doc_overhead_t *row = ompp_reading_overhead(r, rows, nrows);
    const char *p = ompp_reading_line(r);
    cells_t cells;

    if (!row) return false;
    split(p, &cells);
    if (cells.n != 4 + 2 * r->doc->nclasses)
        return ompp_reading_fail(r, OMPP_DO_RESTORE, "the row does not fit the titles of its table");
    if (!is(p, "SUM") && (!ompp_take_region(&p, &row->number) || *p != ','))
        return ompp_reading_expect(r, "a region, or SUM");
    if (!number_in(cells.cell[1], &row->total)) return ompp_reading_expect(r, "a row of overheads");
    for (size_t i = 0; i <= r->doc->nclasses; i++)
        if (!number_in(cells.cell[2 + 2 * i], &row->shares[i].time) ||
            !number_in(cells.cell[3 + 2 * i], &row->shares[i].percent))
            return ompp_reading_expect(r, "a row of overheads");
    return true;
}

static bool read_classes(ompp_reading_t *r, const char *name, ompp_doc_overhead_t **rows, size_t *n)
{
    if (!enter(r, name) || !read_class_titles(r, rows == &r->doc->each)) return false;
    for (; more(r, name); r->at++)
        if (!read_class_row(r, rows, n)) return false;
    return leave(r, name);
}

static bool read_overheads(ompp_reading_t *r)
{
    ompp_document_t *d = r->doc;

    d->overheads_line = r->at + 1;
    if (!read_total(r, "Total runtime (wallclock) [secs]", &d->runtime, NULL) ||
        !read_total(r, "Number of threads", NULL, &d->runtime_threads) ||
        !read_total(r, "Number of parallel regions", NULL, &d->nparallel) ||
        !read_total(r, "Parallel coverage [secs]", &d->coverage, NULL) ||
        !read_total(r, "Parallel coverage [percent]", &d->coverage_percent, NULL))
        return false;
    skip_blank(r);
    return read_walls(r) && read_classes(r, "overheads for parallel region", &d->each, &d->neach) &&
           read_classes(r, "overheads for whole program", &d->whole, &d->nwhole);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* Kept with the lines around it; blocks in it may have any name but its own. */
static bool read_other(ompp_reading_t *r, ompp_doc_section_t *s, const char *name)
{
    s->lines = r->lines + r->at - 1;
    if (strncmp(name, "ompp ", 5) == 0) r->doc->ours = true;
    while (more(r, name)) r->at++;
    if (r->rc) return false;
    r->at++;
    skip_blank(r);
    s->nlines = (size_t)(r->lines + r->at - s->lines);
    return true;
}

static bool (*const readers[OMPP_SECTION_NUM])(ompp_reading_t *r) = {
    [OMPP_SECTION_GENERAL] = read_header,      [OMPP_SECTION_OVERVIEW] = read_overview,
    [OMPP_SECTION_CALLGRAPH] = read_callgraph, [OMPP_SECTION_FLAT] = read_flat,
    [OMPP_SECTION_PATHS] = read_paths,         [OMPP_SECTION_OVERHEADS] = read_overheads,
};

static bool read_section(ompp_reading_t *r)
{
    const char *name = block_name(r, "##BEG"), *header = "header separator=";
    unsigned kind;
    ompp_doc_section_t *s;

    if (!name) return ompp_reading_expect(r, "\"##BEG name\"");
    if (strncmp(name, header, strlen(header)) == 0) {
        if (strcmp(name + strlen(header), ",") != 0)
            return ompp_reading_fail(r, "convert it to commas", "another separator than the comma: %.20s",
                                     name + strlen(header));
        name = ompp_sections[OMPP_SECTION_GENERAL].block;
    }
    kind = ompp_reading_kind(OMPP_DOC_CSV, name, strlen(name));
    if (kind != OMPP_SECTION_GENERAL && !r->doc->nsections)
        return ompp_reading_expect(r, "\"##BEG header separator=,\"");
    s = ompp_reading_section(r, kind, name, strlen(name));
    if (!s) return false;
    r->at++;
    return kind == OMPP_SECTION_OTHER ? read_other(r, s, name) : readers[kind](r) && leave(r, name);
}

bool ompp_read_csv(ompp_reading_t *r)
{
    for (skip_blank(r); r->at < r->nlines;)
        if (!read_section(r)) return false;
    return ompp_reading_complete(r, OMPP_DOC_CSV);
}
