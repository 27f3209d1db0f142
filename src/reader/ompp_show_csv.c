/**
 * \file
 * Document to CSV. There is no quoting in the format, so what was read from text has no commas in its names.
 */
#include "reader/ompp_document_priv.h"

#include <inttypes.h>
#include <string.h>

/* A report being written. */
typedef struct {
    const ompp_document_t *doc;
    FILE *out, *notes;
    bool from_text;
} show_t;

static void put_decimal(const show_t *s, const ompp_decimal_t *value)
{
    fprintf(s->out, ",%s", ompp_decimal_format(value, -1).text);
}

/* Commas of text would be read as more cells. */
static void put_text(const show_t *s, const char *text)
{
    for (; *text; text++) putc(s->from_text && *text == ',' ? ';' : *text, s->out);
}

static void put_region(const show_t *s, uint32_t region)
{
    ompp_layout_number(s->out, s->doc->regions[region].number);
    fprintf(s->out, ",%s\n", s->doc->regions[region].fields);
}

/* ---- Header and overview ----------------------------------------------------------------------------------------- */

/* "0.8.99" in three lines. */
static void put_version(const show_t *s, const char *text)
{
    for (size_t i = 0; i < 3; i++) {
        uint64_t part = 0;
        ompp_take_version(&text, &part);
        fprintf(s->out, "%s,%" PRIu64 "\n", ompp_version_keys[i], part);
    }
}

/* A field that was read from text. */
static void put_text_field(const show_t *s, const ompp_doc_field_t *field)
{
    const ompp_field_row_t *row = ompp_field_find(OMPP_DOC_TEXT, field->name);
    const char *value = field->value;
    ompp_decimal_t time;

    if (row && row->form == OMPP_FIELD_VERSION) {
        put_version(s, value);
    } else if (row && row->form == OMPP_FIELD_SECONDS && ompp_take_number(&value, &time)) {
        fprintf(s->out, "%s,%s,sec\n", row->csv, ompp_decimal_format(&time, -1).text);
    } else if (!row || row->csv) {
        fprintf(s->out, "%s,", row ? row->csv : field->name);
        put_text(s, field->value);
        putc('\n', s->out);
    } else if (s->notes) {
        fprintf(s->notes, "left out: %s, which CSV does not have\n", field->name);
    }
}

static void put_header(const show_t *s)
{
    fputs("##BEG header separator=,\n", s->out);
    for (size_t i = 0; i < s->doc->nfields; i++)
        if (s->from_text) put_text_field(s, &s->doc->fields[i]);
        else fprintf(s->out, "%s,%s\n", s->doc->fields[i].name, s->doc->fields[i].value);
}

static void put_overview(const show_t *s)
{
    const ompp_document_t *d = s->doc;

    for (size_t i = 0, n; i < d->noverview; i += n) {
        ompp_construct_t construct = d->regions[d->overview[i]].construct;
        for (n = 0; i + n < d->noverview && d->regions[d->overview[i + n]].construct == construct;) n++;
        fprintf(s->out, "%s,%zu\n", ompp_constructs[construct].full, n);
        for (size_t k = i; k < i + n; k++) put_region(s, d->overview[k]);
    }
}

static void put_callgraph(const show_t *s)
{
    const ompp_document_t *d = s->doc;

    fputs("Inclusive,(%),Exclusive,(%)\n", s->out);
    fputs(ompp_decimal_format(&d->root[0], -1).text, s->out);
    for (unsigned i = 1; i < 4; i++) put_decimal(s, &d->root[i]);
    fputs(",0,[", s->out);
    put_text(s, d->app);
    fprintf(s->out, ": %" PRIu64 " threads]\n", d->nthreads);
    for (size_t n = 0; n < d->nnodes; n++) {
        fputs(ompp_decimal_format(&d->nodes[n].value[0], -1).text, s->out);
        for (unsigned i = 1; i < 4; i++) put_decimal(s, &d->nodes[n].value[i]);
        fprintf(s->out, ",%" PRIu32 ",", d->nodes[n].level);
        put_region(s, d->nodes[n].region);
    }
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void put_title(const show_t *s, const ompp_doc_column_t *c)
{
    fprintf(s->out, ",%s", c->title);
    if (c->part) fprintf(s->out, "/%c", c->part);
    if (strncmp(c->title, "OMPP_EVAL", 9) == 0) putc(' ', s->out); /* as ompP */
}

static void put_label(const show_t *s, const ompp_doc_table_t *t, const ompp_doc_row_t *row)
{
    if (row->kind == OMPP_ROW_SUM) {
        fputs(t->ranked ? "SUM," : "SUM", s->out);
    } else if (row->kind == OMPP_ROW_OTHERS) {
        fputs("oth,-", s->out);
    } else {
        if (t->ranked) fprintf(s->out, "%" PRIu32 ",", row->rank);
        fprintf(s->out, "%" PRIu32, row->tid);
    }
}

/* Value that stands at this position of a row: ompP's MPI builds shift them in the same way in both forms. */
static size_t value_at(const show_t *s, const ompp_doc_table_t *t, size_t position)
{
    if (!t->mpi_first || s->from_text) return position;
    for (size_t c = 0; c < t->ncolumns; c++)
        if (ompp_cell_position(t->columns, t->ncolumns, c) == position) return c;
    return position;
}

static void put_rows(const show_t *s, const ompp_doc_table_t *t)
{
    fputs(t->ranked ? "RANK,TID" : "TID", s->out);
    for (size_t c = 0; c < t->ncolumns; c++) put_title(s, &t->columns[c]);
    putc('\n', s->out);
    for (size_t i = 0; i < t->nrows; i++) {
        put_label(s, t, &t->rows[i]);
        for (size_t position = 0; position < t->ncolumns; position++)
            put_decimal(s, &t->rows[i].values[value_at(s, t, position)]);
        putc('\n', s->out);
    }
}

static void put_bracket(const show_t *s, const char *mark, uint32_t number, const char *what)
{
    fprintf(s->out, "%s ", mark);
    ompp_layout_number(s->out, number);
    fprintf(s->out, " %s\n", what);
}

static void put_tables(const show_t *s, const char *what, const ompp_doc_table_t *tables, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const ompp_doc_table_t *t = &tables[i];
        uint32_t number = s->doc->regions[t->steps[t->nsteps - 1].region].number;
        put_bracket(s, "##BEG", number, what);
        if (t->steps[0].mark) fprintf(s->out, "[*00],%s\n", s->doc->app);
        for (size_t k = 0; k < t->nsteps; k++) {
            if (t->steps[k].mark) fprintf(s->out, "[%c%02zu],", t->steps[k].mark, k + 1);
            put_region(s, t->steps[k].region);
        }
        put_rows(s, t);
        put_bracket(s, "##END", number, what);
        putc('\n', s->out);
    }
}

/* ---- Overheads --------------------------------------------------------------------------------------------------- */

static void put_totals(const show_t *s)
{
    const ompp_document_t *d = s->doc;

    fprintf(s->out, "Total runtime (wallclock) [secs],%s\n", ompp_decimal_format(&d->runtime, -1).text);
    fprintf(s->out, "Number of threads,%" PRIu64 "\n", d->runtime_threads);
    fprintf(s->out, "Number of parallel regions,%" PRIu64 "\n", d->nparallel);
    fprintf(s->out, "Parallel coverage [secs],%s\n", ompp_decimal_format(&d->coverage, -1).text);
    fprintf(s->out, "Parallel coverage [percent],%s\n\n", ompp_decimal_format(&d->coverage_percent, -1).text);
}

static void put_walls(const show_t *s)
{
    const ompp_document_t *d = s->doc;

    fputs("##BEG parallel regions sorted by wallclock time\n,Type,Wallclock,(%)", s->out);
    for (size_t c = 0; c < d->nextra; c++) put_title(s, &d->extra[c]);
    putc('\n', s->out);
    for (size_t i = 0; i < d->nwall; i++) {
        const ompp_doc_wall_t *row = &d->wall[i];
        ompp_decimal_text_t wall = ompp_decimal_format(&row->wall, -1);
        if (row->region == OMPP_DOC_NONE) {
            fprintf(s->out, "SUM,%s,", wall.text); /* ompP's shift of one column */
        } else {
            const ompp_doc_region_t *region = &d->regions[row->region];
            ompp_layout_number(s->out, region->number);
            fprintf(s->out, ",%s,%s", ompp_constructs[region->construct].brief, wall.text);
        }
        put_decimal(s, &row->percent);
        for (size_t c = 0; c < d->nextra; c++) {
            put_decimal(s, &row->values[c]);
            if (d->extra[c].kind == OMPP_CELL_EVALUATOR && !d->ours) putc(' ', s->out); /* as ompP */
        }
        putc('\n', s->out);
    }
    fputs("##END parallel regions sorted by wallclock time\n\n", s->out);
}

static void put_classes(const show_t *s, const char *name, const ompp_doc_overhead_t *rows, size_t n)
{
    fprintf(s->out, "##BEG %s\n,Total,Ovhds,(%%)", name);
    for (size_t c = 0; c < s->doc->nclasses; c++) fprintf(s->out, ",%s,(%%)", s->doc->classes[c]);
    putc('\n', s->out);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].number == OMPP_DOC_NONE) fputs("SUM", s->out);
        else ompp_layout_number(s->out, rows[i].number);
        put_decimal(s, &rows[i].total);
        for (size_t c = 0; c <= s->doc->nclasses; c++) {
            put_decimal(s, &rows[i].shares[c].time);
            put_decimal(s, &rows[i].shares[c].percent);
        }
        putc('\n', s->out);
    }
    fprintf(s->out, "##END %s\n\n", name);
}

static void put_overheads(const show_t *s)
{
    put_totals(s);
    put_walls(s);
    put_classes(s, "overheads for parallel region", s->doc->each, s->doc->neach);
    put_classes(s, "overheads for whole program", s->doc->whole, s->doc->nwhole);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* The section of properties, as a block; what else stands in it has no place there. */
static void put_properties(const show_t *s, const ompp_doc_section_t *section)
{
    ompp_doc_property_t p;

    fprintf(s->out, "##BEG %s\n", ompp_property_block);
    for (size_t i = 0; i + 1 < section->nlines; i++) {
        if (!ompp_property_from_text(section->lines[i], section->lines[i + 1], &p)) continue;
        fprintf(s->out, "%.*s,", (int)p.name_length, p.name);
        for (size_t k = ompp_property_type_length(p.subject); k < p.subject_length; k++)
            putc(p.subject[k] == ',' ? ';' : p.subject[k], s->out);
        fprintf(s->out, ",%s\n", ompp_decimal_format(&p.severity, 6).text);
    }
    fprintf(s->out, "##END %s\n\n", ompp_property_block);
}

static void put_other(const show_t *s, const ompp_doc_section_t *section)
{
    if (s->from_text && strcmp(section->title, ompp_property_title) == 0) {
        put_properties(s, section);
    } else if (s->from_text) {
        if (s->notes) fprintf(s->notes, "left out: the section \"%s\", which has no CSV form here\n", section->title);
    } else {
        for (size_t i = 0; i < section->nlines; i++) fprintf(s->out, "%s\n", section->lines[i]);
    }
}

static void put_section(const show_t *s, const ompp_doc_section_t *section)
{
    const ompp_document_t *d = s->doc;

    if (section->kind == OMPP_SECTION_OTHER) {
        put_other(s, section);
        return;
    }
    if (section->kind != OMPP_SECTION_GENERAL) fprintf(s->out, "##BEG %s\n", ompp_sections[section->kind].block);
    if (section->kind == OMPP_SECTION_GENERAL) put_header(s);
    if (section->kind == OMPP_SECTION_OVERVIEW) put_overview(s);
    if (section->kind == OMPP_SECTION_CALLGRAPH) put_callgraph(s);
    if (section->kind == OMPP_SECTION_FLAT) put_tables(s, "flat profile", d->flat, d->nflat);
    if (section->kind == OMPP_SECTION_PATHS) put_tables(s, "callgraph profile", d->paths, d->npaths);
    if (section->kind == OMPP_SECTION_OVERHEADS) put_overheads(s);
    fprintf(s->out, "##END %s\n%s", ompp_sections[section->kind].block,
            section->kind == OMPP_SECTION_GENERAL ? "" : "\n");
}

int ompp_document_csv(const ompp_document_t *document, FILE *out, FILE *notes)
{
    show_t s = {.doc = document, .out = out, .notes = notes, .from_text = document->form == OMPP_DOC_TEXT};

    if (s.from_text && notes)
        fprintf(notes, "times have the %d digits after the point that the text has\n", document->digits);
    for (size_t i = 0; i < document->nsections; i++) put_section(&s, &document->sections[i]);
    return 0;
}
