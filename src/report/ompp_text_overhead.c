/**
 * \file
 * Overhead Analysis Report.
 */
#include "report/ompp_text_priv.h"
#include "report/ompp_utf8.h"

#include "base/ompp_error.h"

#include <stdlib.h>

/* One row, with the number that orders it. */
typedef struct {
    ompp_overhead_t *values;
    uint32_t number;
    uint64_t sum_ns; /* of all classes */
    uint64_t key;    /* descending */
} line_t;

static int descending(const void *a, const void *b)
{
    const line_t *x = a, *y = b;

    if (x->key != y->key) return x->key > y->key ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool has_class(const ompp_text_t *t, unsigned class)
{
    return class != OMPP_CLASS_MPI || t->profile->mpi;
}

/* A time and its share. */
static void print_share(ompp_text_t *t, uint64_t ns, double basis_ns)
{
    ompp_layout_share(t->out, t->extra, ompp_text_seconds(t, ns).text, ompp_text_share(ns, basis_ns).text);
}

static void print_wallclock(ompp_text_t *t, const line_t *lines, size_t n, uint64_t coverage_ns)
{
    double duration = (double)t->duration_ns;

    ompp_layout_wall_titles(t->out, t->extra);
    putc('\n', t->out);
    for (size_t i = 0; i < n; i++) {
        const ompp_region_t *region = &t->profile->regions[lines[i].values->region];
        const char *place = t->places[lines[i].values->region];
        size_t used = ompp_utf8_width(place); /* a column is a character, not a byte */
        ompp_layout_wall(t->out, region->number, ompp_constructs[region->construct].brief, place,
                         used < OMPP_WIDTH_PLACE ? OMPP_WIDTH_PLACE - (int)used : 0, t->extra,
                         ompp_text_seconds(t, lines[i].values->wall_ns).text,
                         ompp_text_share(lines[i].values->wall_ns, duration).text);
        putc('\n', t->out);
    }
    ompp_layout_wall_sum(t->out, t->extra, ompp_text_seconds(t, coverage_ns).text, ompp_text_share(coverage_ns, duration).text);
    fputs("\n\n", t->out);
}

static void print_titles(ompp_text_t *t, const char *what)
{
    unsigned position = 0;

    ompp_layout_class_titles(t->out, t->extra, what);
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++)
        if (has_class(t, c)) ompp_layout_class_title(t->out, t->extra, position++, ompp_classes[c].title);
    putc('\n', t->out);
}

/* The row of a region, or of the sum (region OMPP_NONE). */
static void print_classes(ompp_text_t *t, uint32_t region, const ompp_overhead_t *values, uint64_t total_ns, uint64_t sum_ns,
                          double basis_ns)
{
    bool sum = region == OMPP_NONE;

    ompp_layout_class_row(t->out, sum, sum ? 0 : t->profile->regions[region].number, t->extra, ompp_text_seconds(t, total_ns).text);
    print_share(t, sum_ns, basis_ns);
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) {
        if (!has_class(t, c)) continue;
        putc(' ', t->out);
        print_share(t, values->class_ns[c], basis_ns);
    }
    putc('\n', t->out);
}

static void print_each(ompp_text_t *t, const line_t *lines, size_t n)
{
    print_titles(t, "each individual parallel region");
    for (size_t i = 0; i < n; i++) {
        const ompp_overhead_t *values = lines[i].values;
        print_classes(t, values->region, values, values->total_ns, lines[i].sum_ns, (double)values->total_ns);
    }
    putc('\n', t->out);
}

static void print_whole(ompp_text_t *t, const line_t *lines, size_t n)
{
    double basis = (double)t->duration_ns * (double)t->nslots;
    ompp_overhead_t all = {0};
    uint64_t sum_ns = 0;

    print_titles(t, "whole program");
    for (size_t i = 0; i < n; i++) {
        print_classes(t, lines[i].values->region, lines[i].values, lines[i].values->total_ns, lines[i].sum_ns, basis);
        all.total_ns += lines[i].values->outer_total_ns;
        sum_ns += lines[i].sum_ns;
        for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) all.class_ns[c] += lines[i].values->class_ns[c];
    }
    print_classes(t, OMPP_NONE, &all, all.total_ns, sum_ns, basis);
    fputs("\n\n", t->out);
}

static void print_head(ompp_text_t *t, size_t n, uint64_t coverage_ns)
{
    ompp_layout_overheads(t->out, ompp_text_seconds(t, t->duration_ns).text, t->nslots, n, ompp_text_seconds(t, coverage_ns).text,
                          ompp_text_share(coverage_ns, (double)t->duration_ns).text);
}

int ompp_text_overheads(ompp_text_t *t)
{
    ompp_overhead_t *overheads;
    size_t n;
    int rc = ompp_analysis_overheads(t->profile, &overheads, &n);
    line_t *lines = rc ? NULL : calloc(n + 1, sizeof *lines);
    uint64_t coverage_ns = 0;

    if (!lines) {
        if (!rc) free(overheads);
        return -OMPP_E_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        lines[i] = (line_t){&overheads[i], t->profile->regions[overheads[i].region].number, 0, overheads[i].wall_ns};
        for (unsigned c = 0; c < OMPP_CLASS_NUM; c++)
            if (has_class(t, c)) lines[i].sum_ns += overheads[i].class_ns[c];
        coverage_ns += overheads[i].outer_wall_ns;
    }
    print_head(t, n, coverage_ns);
    qsort(lines, n, sizeof *lines, descending);
    print_wallclock(t, lines, n, coverage_ns);
    print_each(t, lines, n);
    for (size_t i = 0; i < n; i++) lines[i].key = lines[i].sum_ns;
    qsort(lines, n, sizeof *lines, descending);
    print_whole(t, lines, n);
    free(lines);
    free(overheads);
    return 0;
}
