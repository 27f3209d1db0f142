/**
 * \file
 * Document to text, in the layout of src/report/ompp_layout.c.
 */
#include "reader/ompp_document_priv.h"

#include "base/ompp_error.h"
#include "base/ompp_utf8.h"

#include <stdlib.h>
#include <string.h>

/* A report being written. */
typedef struct {
    const ompp_document_t *doc;
    FILE *out, *notes;
    int digits;  /* of times; -1: as they were read */
    int percent; /* of percentages; -1: as they were read */
    int extra;   /* columns that times need beyond ompP's width */
} show_t;

static ompp_decimal_text_t seconds(const show_t *s, const ompp_decimal_t *time)
{
    return ompp_decimal_format(time, s->digits);
}

static ompp_decimal_text_t percent(const show_t *s, const ompp_decimal_t *value)
{
    return ompp_decimal_format(value, s->percent);
}

/* From CSV, as each program rounds it. */
static ompp_decimal_text_t evaluated(const show_t *s, const ompp_decimal_t *value)
{
    ompp_decimal_text_t t = percent(s, value);

    if (s->percent >= 0 && s->doc->ours) ompp_layout_evaluator(ompp_decimal_value(value), t.text);
    return t;
}

/* ---- Sections before the tables ---------------------------------------------------------------------------------- */

static void show_field(const show_t *s, const char *name, const char *value)
{
    ompp_layout_label(s->out, name);
    fprintf(s->out, "%s\n", value);
}

static void show_seconds(const show_t *s, const char *name, const ompp_decimal_t *time)
{
    ompp_layout_label(s->out, name);
    fprintf(s->out, "%s sec\n", seconds(s, time).text);
}

static void show_version(const show_t *s)
{
    const char *part[3];

    for (size_t i = 0; i < 3; i++) {
        part[i] = ompp_document_field(s->doc, ompp_version_keys[i]);
        if (!part[i]) part[i] = "0";
    }
    ompp_layout_label(s->out, "ompP Version");
    fprintf(s->out, "%s.%s.%s\n", part[0], part[1], part[2]);
}

/* A field that was read from CSV. */
static void show_csv_field(const show_t *s, const ompp_doc_field_t *field)
{
    const ompp_field_row_t *row = ompp_field_find(OMPP_DOC_CSV, field->name);
    const char *value = field->value;
    ompp_decimal_t time;

    if (row && row->form == OMPP_FIELD_SECONDS && ompp_take_number(&value, &time)) {
        show_seconds(s, row->text, &time);
    } else if (strcmp(field->name, ompp_version_keys[0]) == 0) {
        show_version(s);
    } else if (strcmp(field->name, ompp_version_keys[1]) != 0 && strcmp(field->name, ompp_version_keys[2]) != 0) {
        show_field(s, row ? row->text : field->name, field->value);
    }
}

static void show_general(const show_t *s)
{
    for (size_t i = 0; i < s->doc->nfields; i++) {
        const ompp_doc_field_t *f = &s->doc->fields[i];
        const char *value = f->value;
        ompp_decimal_t time;
        if (s->doc->form != OMPP_DOC_TEXT) show_csv_field(s, f);
        else if (s->digits >= 0 && ompp_take_number(&value, &time) && strcmp(value, " sec") == 0)
            show_seconds(s, f->name, &time);
        else show_field(s, f->name, f->value);
    }
    putc('\n', s->out);
}

static void show_overview(const show_t *s)
{
    const ompp_document_t *d = s->doc;

    for (size_t i = 0, n; i < d->noverview; i += n) {
        ompp_construct_t construct = d->regions[d->overview[i]].construct;
        for (n = 0; i + n < d->noverview && d->regions[d->overview[i + n]].construct == construct;) n++;
        ompp_layout_group(s->out, ompp_constructs[construct].full, n);
        for (size_t k = i; k < i + n; k++)
            ompp_layout_member(s->out, d->regions[d->overview[k]].number, d->regions[d->overview[k]].place);
        putc('\n', s->out);
    }
}

/* ---- Callgraph --------------------------------------------------------------------------------------------------- */

/* Percentages of the callgraph change their digits. */
static void show_node(const show_t *s, const ompp_doc_node_t *node)
{
    const ompp_doc_region_t *region = &s->doc->regions[node->region];
    ompp_decimal_text_t value[4];
    int digits[2] = {-1, -1};

    if (s->percent >= 0)
        ompp_layout_percent_digits(ompp_decimal_value(&node->value[1]), ompp_decimal_value(&node->value[3]), digits);
    for (unsigned i = 0; i < 4; i++)
        value[i] = i % 2 ? ompp_decimal_format(&node->value[i], digits[i / 2]) : seconds(s, &node->value[i]);
    ompp_layout_node(s->out, s->extra, (const char *[]){value[0].text, value[1].text, value[2].text, value[3].text},
                     ompp_constructs[region->construct].brief);
}

/* sibling[n]: another child of the same parent follows node n. Seen from the end: the level was met with no lower one
 * between. */
static bool *find_siblings(const ompp_document_t *d)
{
    bool *sibling = calloc(d->nnodes + 1, sizeof *sibling);
    size_t deepest = 0;
    bool *met;

    for (size_t n = 0; n < d->nnodes; n++)
        if (d->nodes[n].level > deepest) deepest = d->nodes[n].level;
    met = calloc(deepest + 2, sizeof *met);
    for (size_t n = d->nnodes; sibling && met && n-- > 0;) {
        uint32_t level = d->nodes[n].level;
        sibling[n] = met[level];
        met[level] = true;
        for (size_t below = level + 1; below <= deepest && met[below]; below++) met[below] = false;
    }
    if (!met) {
        free(sibling);
        sibling = NULL;
    }
    free(met);
    return sibling;
}

static int show_callgraph(const show_t *s)
{
    const ompp_document_t *d = s->doc;
    bool *sibling = find_siblings(d), *open = calloc(d->nnodes + 2, sizeof *open); /* per level: its branch goes on */

    if (sibling && open) {
        ompp_layout_callgraph_titles(s->out, s->extra);
        ompp_layout_root(s->out, s->extra, seconds(s, &d->root[0]).text, ompp_decimal_format(&d->root[1], -1).text,
                         seconds(s, &d->root[2]).text, percent(s, &d->root[3]).text, d->app, d->nthreads);
        for (size_t n = 0; n < d->nnodes; n++) {
            uint32_t level = d->nodes[n].level;
            open[level] = sibling[n];
            show_node(s, &d->nodes[n]);
            for (uint32_t l = 1; l <= level; l++) ompp_layout_branch(s->out, l == level, open[l]);
            ompp_layout_heading(s->out, d->regions[d->nodes[n].region].number, d->regions[d->nodes[n].region].place,
                                "");
        }
        putc('\n', s->out);
    }
    free(open);
    free(sibling);
    return sibling && open ? 0 : -OMPP_E_NOMEM;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* Our reports widen the column of a counter for its name; ompP's let the title stick out. */
static int counter_width(const show_t *s, const ompp_doc_column_t *c)
{
    size_t name = strlen(c->title);

    return s->doc->ours && name > OMPP_WIDTH_COUNTER ? (int)name : OMPP_WIDTH_COUNTER;
}

static void show_title(const show_t *s, const ompp_doc_column_t *c)
{
    int width = OMPP_WIDTH_VALUE -
                (c->part ? 2 : 0); /* the part is inside the width of a value, and beside that of a counter */

    if (c->kind == OMPP_CELL_COUNTER) width = counter_width(s, c);
    if (c->kind == OMPP_CELL_EVALUATOR) width = OMPP_WIDTH_EVALUATOR;
    if (c->kind == OMPP_CELL_TIME) width += s->extra;
    fprintf(s->out, " %*s", width, c->title);
    if (c->part) fprintf(s->out, "/%c", c->part);
    if (c->kind == OMPP_CELL_EVALUATOR) putc(' ', s->out);
}

static void show_value(const show_t *s, const ompp_doc_column_t *c, const ompp_decimal_t *value)
{
    bool missing = value->kind == OMPP_DECIMAL_NONE;

    if (c->kind == OMPP_CELL_COUNTER)
        ompp_layout_cell(s->out, counter_width(s, c) + (c->part ? 2 : 0), ompp_decimal_format_grouped(value).text);
    else if (c->kind == OMPP_CELL_EVALUATOR)
        fprintf(s->out, " %*s ", OMPP_WIDTH_EVALUATOR, missing ? "-" : evaluated(s, value).text);
    else if (c->kind == OMPP_CELL_TIME) ompp_layout_cell(s->out, OMPP_WIDTH_VALUE + s->extra, seconds(s, value).text);
    else ompp_layout_cell(s->out, OMPP_WIDTH_VALUE, ompp_decimal_format(value, -1).text);
}

/* Value that stands at this position of a row. */
static size_t value_at(const ompp_doc_table_t *t, size_t position)
{
    if (!t->mpi_first) return position;
    for (size_t c = 0; c < t->ncolumns; c++)
        if (ompp_cell_position(t->columns, t->ncolumns, c) == position) return c;
    return position;
}

static void show_table(const show_t *s, const ompp_doc_table_t *t)
{
    ompp_layout_row_title(s->out, t->ranked);
    for (size_t c = 0; c < t->ncolumns; c++) show_title(s, &t->columns[c]);
    putc('\n', s->out);
    for (size_t i = 0; i < t->nrows; i++) {
        const ompp_doc_row_t *row = &t->rows[i];
        ompp_layout_row_label(s->out, t->ranked, row->kind, row->rank, row->tid);
        for (size_t position = 0; position < t->ncolumns; position++) {
            size_t c = value_at(t, position);
            show_value(s, &t->columns[c], &row->values[c]);
        }
        putc('\n', s->out);
    }
    putc('\n', s->out);
}

/* Where the place names the construct, only call paths repeat it. */
static void show_heading(const show_t *s, const ompp_doc_region_t *region, bool path)
{
    const ompp_construct_row_t *construct = &ompp_constructs[region->construct];

    ompp_layout_heading(s->out, region->number, region->place,
                        path || construct->place != OMPP_PLACE_ADDRESS ? construct->full : "");
}

static void show_flat(const show_t *s)
{
    for (size_t i = 0; i < s->doc->nflat; i++) {
        show_heading(s, &s->doc->regions[s->doc->flat[i].steps[0].region], false);
        show_table(s, &s->doc->flat[i]);
    }
}

static void show_paths(const show_t *s)
{
    putc('\n', s->out);
    for (size_t i = 0; i < s->doc->npaths; i++) {
        const ompp_doc_table_t *t = &s->doc->paths[i];
        ompp_layout_step(s->out, '*', 0);
        fprintf(s->out, "%s\n", s->doc->app);
        for (size_t k = 0; k < t->nsteps; k++) {
            ompp_layout_step(s->out, t->steps[k].mark, (uint32_t)k + 1);
            show_heading(s, &s->doc->regions[t->steps[k].region], true);
        }
        show_table(s, t);
    }
    putc('\n', s->out);
}

/* ---- Overheads --------------------------------------------------------------------------------------------------- */

static void show_walls(const show_t *s)
{
    const ompp_document_t *d = s->doc;

    ompp_layout_wall_titles(s->out, s->extra);
    for (size_t c = 0; c < d->nextra; c++) show_title(s, &d->extra[c]);
    putc('\n', s->out);
    for (size_t i = 0; i < d->nwall; i++) {
        const ompp_doc_wall_t *row = &d->wall[i];
        ompp_decimal_text_t wall = seconds(s, &row->wall), share = percent(s, &row->percent);
        if (row->region == OMPP_DOC_NONE) {
            ompp_layout_wall_sum(s->out, s->extra, wall.text, share.text);
        } else {
            const ompp_doc_region_t *region = &d->regions[row->region];
            size_t width = d->ours ? ompp_utf8_width(region->place) : strlen(region->place);
            ompp_layout_wall(s->out, region->number, ompp_constructs[region->construct].brief, region->place,
                             width < OMPP_WIDTH_PLACE ? OMPP_WIDTH_PLACE - (int)width : 0, s->extra, wall.text,
                             share.text);
        }
        for (size_t c = 0; c < d->nextra; c++) show_value(s, &d->extra[c], &row->values[c]);
        putc('\n', s->out);
    }
    putc('\n', s->out);
}

static void show_classes(const show_t *s, const char *what, const ompp_doc_overhead_t *rows, size_t n)
{
    ompp_layout_class_titles(s->out, s->extra, what);
    for (unsigned c = 0; c < s->doc->nclasses; c++) ompp_layout_class_title(s->out, s->extra, c, s->doc->classes[c]);
    putc('\n', s->out);
    for (size_t i = 0; i < n; i++) {
        ompp_layout_class_row(s->out, rows[i].number == OMPP_DOC_NONE, rows[i].number, s->extra,
                              seconds(s, &rows[i].total).text);
        for (size_t c = 0; c <= s->doc->nclasses; c++) {
            if (c) putc(' ', s->out);
            ompp_layout_share(s->out, s->extra, seconds(s, &rows[i].shares[c].time).text,
                              percent(s, &rows[i].shares[c].percent).text);
        }
        putc('\n', s->out);
    }
    putc('\n', s->out);
}

static void show_overheads(const show_t *s)
{
    const ompp_document_t *d = s->doc;

    ompp_layout_overheads(s->out, seconds(s, &d->runtime).text, d->runtime_threads, d->nparallel,
                          seconds(s, &d->coverage).text, percent(s, &d->coverage_percent).text);
    show_walls(s);
    show_classes(s, "each individual parallel region", d->each, d->neach);
    show_classes(s, "whole program", d->whole, d->nwhole);
    putc('\n', s->out);
    if (d->no_parallel) fprintf(s->out, "%s\n%s\n\n", ompp_layout_no_parallel[0], ompp_layout_no_parallel[1]);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* The block of properties, as text. */
static int show_properties(const show_t *s, const ompp_doc_section_t *section)
{
    ompp_doc_property_t p;
    ompp_table_t places = {0};
    unsigned number = 0;

    ompp_layout_title(s->out, ompp_property_title);
    putc('\n', s->out);
    const bool found = ompp_property_places(s->doc, &places);
    for (size_t i = 1; found && i < section->nlines; i++) {
        if (!ompp_property_from_csv(section->lines[i], &p)) continue;
        p.severity = ompp_decimal_shift(&p.severity, 2);
        ompp_layout_property(s->out, ++number, p.name, p.name_length, ompp_property_type(s->doc, &places, &p),
                             p.subject, p.subject_length, ompp_decimal_format(&p.severity, -1).text);
        putc('\n', s->out);
    }
    ompp_table_fini(&places);
    return found ? 0 : -OMPP_E_NOMEM;
}

/* Sections that this program does not know are text as they stand; from CSV they would not be. */
static int show_other(const show_t *s, const ompp_doc_section_t *section)
{
    if (s->doc->form != OMPP_DOC_TEXT && strcmp(section->title, ompp_property_block) == 0) {
        return show_properties(s, section);
    } else if (s->doc->form != OMPP_DOC_TEXT) {
        if (s->notes) fprintf(s->notes, "left out: the block \"%s\", which has no text form here\n", section->title);
    } else {
        ompp_layout_title(s->out, section->title);
        for (size_t i = 0; i < section->nlines; i++) fprintf(s->out, "%s\n", section->lines[i]);
    }
    return 0;
}

static int show_section(const show_t *s, const ompp_doc_section_t *section)
{
    if (section->kind == OMPP_SECTION_OTHER) return show_other(s, section);
    if (section->kind != OMPP_SECTION_OVERHEADS) ompp_layout_title(s->out, ompp_sections[section->kind].title);
    if (section->kind == OMPP_SECTION_GENERAL) show_general(s);
    if (section->kind == OMPP_SECTION_OVERVIEW) show_overview(s);
    if (section->kind == OMPP_SECTION_FLAT) show_flat(s);
    if (section->kind == OMPP_SECTION_PATHS) show_paths(s);
    if (section->kind == OMPP_SECTION_OVERHEADS) show_overheads(s);
    return section->kind == OMPP_SECTION_CALLGRAPH ? show_callgraph(s) : 0;
}

static void note_losses(const show_t *s)
{
    const ompp_document_t *d = s->doc;

    if (!s->notes) return;
    if (s->digits > d->digits)
        fprintf(s->notes, "times have %d digits after the point: the report has no more\n", d->digits);
    if (d->form == OMPP_DOC_TEXT) return;
    if (s->digits < d->digits)
        fprintf(s->notes, "times rounded from %d to %d digits after the point\n", d->digits, s->digits);
    for (size_t i = 0; i < ompp_nfields; i++)
        if (!ompp_fields[i].csv && ompp_fields[i].usual && ompp_fields[i].form == OMPP_FIELD_SAME)
            fprintf(s->notes, "left out: %s, which CSV does not have\n", ompp_fields[i].text);
}

int ompp_document_text(const ompp_document_t *document, int digits, FILE *out, FILE *notes)
{
    show_t s = {.doc = document, .out = out, .notes = notes, .digits = digits, .percent = -1};
    int rc = 0;

    if (document->form == OMPP_DOC_CSV) {
        s.percent = OMPP_LAYOUT_DIGITS;
        if (digits < 0) s.digits = OMPP_LAYOUT_DIGITS;
    }
    s.extra = ompp_layout_extra(s.digits >= 0 && s.digits < document->digits ? s.digits : document->digits);
    note_losses(&s);
    for (size_t i = 0; i < document->nsections && rc == 0; i++) rc = show_section(&s, &document->sections[i]);
    return rc;
}
