/**
 * \file
 * Overhead Analysis Report.
 */
#include "report/ompp_text_priv.h"

#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdlib.h>

/* How ompP writes the titles of the classes, by position: each takes 16 columns. */
static const char *const title_layout[] = {"  =   %s  (%%)", "  +  %s   (%%)", "  +   %s (%%)", "   +    %s (%%)",
                                           "   +     %s (%%)"};
#define TITLE_LAYOUTS (sizeof title_layout / sizeof title_layout[0])

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

static void print_time(ompp_text_t *t, uint64_t ns)
{
    fprintf(t->out, "%*s", 7 + t->extra, ompp_text_seconds(t, ns).text);
}

/* A time and its share. */
static void print_share(ompp_text_t *t, uint64_t ns, double basis_ns)
{
    print_time(t, ns);
    fprintf(t->out, " (%5.2f)", basis_ns > 0 ? 100.0 * (double)ns / basis_ns : 0.0);
}

static void print_wallclock(ompp_text_t *t, const line_t *lines, size_t n, uint64_t coverage_ns)
{
    fputs("Parallel regions sorted by wallclock time:\n", t->out);
    fprintf(t->out, "            Type                            Location      %*s%s\n", t->extra, "", "Wallclock (%) ");
    for (size_t i = 0; i < n; i++) {
        uint32_t region = lines[i].values->region;
        ompp_text_number(t, region);
        fprintf(t->out, "  %8s ", ompp_constructs[t->profile->regions[region].construct].brief);
        ompp_text_right(t, t->places[region], 35);
        fputs("    ", t->out);
        print_share(t, lines[i].values->wall_ns, (double)t->duration_ns);
        fputs(" \n", t->out);
    }
    fprintf(t->out, "%52s    ", "SUM");
    print_share(t, coverage_ns, (double)t->duration_ns);
    fputs(" \n\n", t->out);
}

static void print_titles(ompp_text_t *t, const char *what)
{
    fprintf(t->out, "Overheads wrt. %s:\n%*s%*s", what, 15 + t->extra, "Total", 17 + t->extra, "Ovhds (%)");
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) {
        if (!has_class(t, c)) continue;
        char title[64];
        snprintf(title, sizeof title, title_layout[c < TITLE_LAYOUTS ? c : TITLE_LAYOUTS - 1], ompp_classes[c].title);
        fprintf(t->out, "%*s%s", t->extra, "", title);
    }
    putc('\n', t->out);
}

/* What follows the number of a region, or SUM. */
static void print_classes(ompp_text_t *t, uint64_t total_ns, uint64_t sum_ns, const uint64_t *class_ns, double basis_ns)
{
    fputs("  ", t->out);
    print_time(t, total_ns);
    fputs("  ", t->out);
    print_share(t, sum_ns, basis_ns);
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) {
        if (!has_class(t, c)) continue;
        putc(' ', t->out);
        print_share(t, class_ns[c], basis_ns);
    }
    putc('\n', t->out);
}

static void print_each(ompp_text_t *t, const line_t *lines, size_t n)
{
    print_titles(t, "each individual parallel region");
    for (size_t i = 0; i < n; i++) {
        ompp_text_number(t, lines[i].values->region);
        print_classes(t, lines[i].values->total_ns, lines[i].sum_ns, lines[i].values->class_ns,
                      (double)lines[i].values->total_ns);
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
        ompp_text_number(t, lines[i].values->region);
        print_classes(t, lines[i].values->total_ns, lines[i].sum_ns, lines[i].values->class_ns, basis);
        all.total_ns += lines[i].values->outer_total_ns;
        sum_ns += lines[i].sum_ns;
        for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) all.class_ns[c] += lines[i].values->class_ns[c];
    }
    fputs("   SUM", t->out);
    print_classes(t, all.total_ns, sum_ns, all.class_ns, basis);
    fputs("\n\n", t->out);
}

static void print_head(ompp_text_t *t, size_t n, uint64_t coverage_ns)
{
    ompp_text_title(t, "ompP Overhead Analysis Report");
    fprintf(t->out, "Total runtime (wallclock)   : %s sec [%" PRIu64 " thread%s]\n", ompp_text_seconds(t, t->duration_ns).text,
            t->nslots, t->nslots > 1 ? "s" : "");
    fprintf(t->out, "Number of parallel regions  : %zu\n", n);
    fprintf(t->out, "Parallel coverage           : %s sec (%5.2f%%)\n\n", ompp_text_seconds(t, coverage_ns).text,
            ompp_text_percent(coverage_ns, t->duration_ns));
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
