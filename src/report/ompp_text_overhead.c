/**
 * \file
 * Overhead Analysis Report.
 */
#include "base/ompp_utf8.h"
#include "report/ompp_text_priv.h"

#include "base/ompp_error.h"

#include <stdlib.h>

static int descending(const void *a, const void *b)
{
    const ompp_text_overhead_t *x = a, *y = b;

    if (x->key != y->key) return x->key > y->key ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

bool ompp_text_has_class(const ompp_text_t *t, unsigned class) { return class != OMPP_CLASS_MPI || t->profile->mpi; }

/* A time and its share. */
static void print_share(ompp_text_t *t, uint64_t ns, double basis_ns)
{
    ompp_layout_share(t->out, t->extra, ompp_text_seconds(t, ns).text, ompp_text_share(ns, basis_ns).text);
}

static void print_wallclock(ompp_text_t *t, const ompp_text_overheads_t *o)
{
    double duration = (double)t->duration_ns;

    ompp_layout_wall_titles(t->out, t->extra);
    ompp_text_counter_titles(t, ompp_text_counter_title);
    putc('\n', t->out);
    for (size_t i = 0; i < o->n; i++) {
        const ompp_overhead_t *values = &o->lines[i].values;
        const ompp_region_t *region = &t->profile->regions[values->region];
        const char *place = t->places[values->region];
        size_t used = ompp_utf8_width(place); /* a column is a character, not a byte */
        ompp_layout_wall(t->out, region->number, ompp_constructs[region->construct].brief, place,
                         used < OMPP_WIDTH_PLACE ? OMPP_WIDTH_PLACE - (int)used : 0, t->extra,
                         ompp_text_seconds(t, values->wall_ns).text, ompp_text_share(values->wall_ns, duration).text);
        ompp_text_counter_sums(t, values->region, ompp_text_counter_cell);
        putc('\n', t->out);
    }
    ompp_layout_wall_sum(t->out, t->extra, ompp_text_seconds(t, o->coverage_ns).text,
                         ompp_text_share(o->coverage_ns, duration).text);
    ompp_text_counter_sums(t, OMPP_NONE, ompp_text_counter_cell);
    fputs("\n\n", t->out);
}

static void print_titles(ompp_text_t *t, const char *what)
{
    unsigned position = 0;

    ompp_layout_class_titles(t->out, t->extra, what);
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++)
        if (ompp_text_has_class(t, c)) ompp_layout_class_title(t->out, t->extra, position++, ompp_classes[c].title);
    putc('\n', t->out);
}

static void print_classes(ompp_text_t *t, bool sum, const ompp_text_overhead_t *line, double basis_ns)
{
    ompp_layout_class_row(t->out, sum, line->number, t->extra, ompp_text_seconds(t, line->values.total_ns).text);
    print_share(t, line->sum_ns, basis_ns);
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) {
        if (!ompp_text_has_class(t, c)) continue;
        putc(' ', t->out);
        print_share(t, line->values.class_ns[c], basis_ns);
    }
    putc('\n', t->out);
}

static void print_each(ompp_text_t *t, const ompp_text_overheads_t *o)
{
    print_titles(t, "each individual parallel region");
    for (size_t i = 0; i < o->n; i++) print_classes(t, false, &o->lines[i], (double)o->lines[i].values.total_ns);
    putc('\n', t->out);
}

static void print_whole(ompp_text_t *t, const ompp_text_overheads_t *o)
{
    double basis = (double)t->duration_ns * (double)t->nslots;

    print_titles(t, "whole program");
    for (size_t i = 0; i < o->n; i++) print_classes(t, false, &o->lines[i], basis);
    print_classes(t, true, &o->sum, basis);
    fputs("\n\n", t->out);
}

static void print_head(ompp_text_t *t, const ompp_text_overheads_t *o)
{
    ompp_layout_overheads(t->out, ompp_text_seconds(t, t->duration_ns).text, t->nslots, o->nregions,
                          ompp_text_seconds(t, o->coverage_ns).text,
                          ompp_text_share(o->coverage_ns, (double)t->duration_ns).text);
}

static void fill_line(const ompp_text_t *t, const ompp_overhead_t *values, ompp_text_overheads_t *o,
                      ompp_text_overhead_t *line)
{
    *line = (ompp_text_overhead_t){*values, t->profile->regions[values->region].number, 0, values->wall_ns};
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) {
        if (ompp_text_has_class(t, c)) line->sum_ns += values->class_ns[c];
        o->sum.values.class_ns[c] += values->class_ns[c];
    }
    o->sum.values.total_ns += values->outer_total_ns;
    o->sum.sum_ns += line->sum_ns;
    o->coverage_ns += values->outer_wall_ns;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

int ompp_text_overhead_lines(const ompp_text_t *t, ompp_text_overheads_t *o)
{
    ompp_overhead_t *overheads;

    *o = (ompp_text_overheads_t){0};
    if (ompp_analysis_overheads(t->profile, t->paths, &overheads, &o->n)) return -OMPP_E_NOMEM;
    o->lines = calloc(o->n + 1, sizeof *o->lines);
    o->nregions = o->n;
    o->n = 0;
    for (size_t i = 0; o->lines && i < o->nregions; i++) {
        fill_line(t, &overheads[i], o, &o->lines[o->n]);
        o->n += ompp_text_shows(t, overheads[i].region);
    }
    free(overheads);
    if (!o->lines) return -OMPP_E_NOMEM;
    /* regions of the program's own threads may run at the same time */
    o->coverage_ns = least(o->coverage_ns, t->duration_ns);
    o->sum.values.total_ns = least(o->sum.values.total_ns, t->duration_ns * t->nslots);
    qsort(o->lines, o->n, sizeof *o->lines, descending);
    return 0;
}

void ompp_text_overhead_by_sum(ompp_text_overheads_t *o)
{
    for (size_t i = 0; i < o->n; i++) o->lines[i].key = o->lines[i].sum_ns;
    qsort(o->lines, o->n, sizeof *o->lines, descending);
}

int ompp_text_overheads(ompp_text_t *t)
{
    ompp_text_overheads_t o;
    int rc = ompp_text_overhead_lines(t, &o);

    if (rc) return rc;
    print_head(t, &o);
    print_wallclock(t, &o);
    print_each(t, &o);
    ompp_text_overhead_by_sum(&o);
    print_whole(t, &o);
    free(o.lines);
    return 0;
}
