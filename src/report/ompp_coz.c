/**
 * \file
 * The What-if results as a profile of Coz, for its viewer: lines of tab-separated key=value. Of each region one
 * experiment without speed-up, as long as the program took, and one per speed-up, as long as it would take. Durations
 * are corrected already, because the viewer does not do it; it refuses records that it does not know, so there is
 * nothing else. Of a latency point it knows how many units began, and how many were under way on average, and computes
 * how long one took by Little's law.
 */
#include "report/ompp_plain_locale.h"
#include "report/ompp_report.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_outline.h"
#include "analysis/ompp_whatif.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One word of the file: tabs and line ends cannot be in it. */
static void put_word(FILE *out, const char *text)
{
    char *printable = ompp_text_printable(text, false);

    if (printable) fputs(printable, out);
    free(printable);
}

/* "solve.c:12 LOOP": the viewer shows it as it is. */
static void put_region(FILE *out, const ompp_profile_t *p, uint32_t region)
{
    const ompp_region_t *r = &p->regions[region < p->nregions ? region : 0];

    if (region >= p->nregions) {
        fputs(OMPP_WHATIF_OUTSIDE, out);
        return;
    }
    put_word(out, ompp_text_file(p, r));
    if (r->begin) fprintf(out, ":%" PRIu32, r->begin);
    else fprintf(out, ":0x%" PRIx64, r->addr);
    fprintf(out, " %s", ompp_constructs[r->construct].full);
    if (*ompp_profile_text(p, r->name)) {
        putc(' ', out);
        put_word(out, ompp_profile_text(p, r->name));
    }
}

/* What the viewer is told of in whole numbers is told in so many parts of one: it cuts fractions, and takes the
 * ratio. */
#define PARTS 1e6

/* The program with a faster region. */
typedef struct {
    uint32_t region, permille;
    double duration;                 /* ns */
    const ompp_whatif_unit_t *units; /* what units of latency points gain, of all regions */
    size_t nunits;
} faster_t;

/* \return by what part units of a latency point take less; negative infinity: not known. */
static double latency_gain(const faster_t *f, uint32_t point)
{
    for (size_t i = 0; i < f->nunits; i++) {
        const ompp_whatif_unit_t *u = &f->units[i];
        if (u->region != f->region || u->point != point || !u->known) continue;
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
            if (u->gains[k].permille == f->permille) return u->gains[k].gain;
        return f->permille ? -INFINITY : 0;
    }
    return -INFINITY;
}

static void put_latency(FILE *out, const ompp_profile_t *p, uint32_t index, const faster_t *f)
{
    const ompp_whatif_point_t *point = &p->whatif.points[index];
    const double gain = latency_gain(f, index);
    double latency;

    if (isinf(gain) || !ompp_whatif_latency(point, &latency)) return;
    fputs("latency-point\tname=", out);
    put_word(out, ompp_profile_text(p, point->name));
    fprintf(out, "\tarrivals=%.0f\tdepartures=%.0f\tdifference=%.0f\n", PARTS * (double)point->begins,
            PARTS * (double)point->visits, PARTS * latency * (1 - gain) * (double)point->begins / f->duration);
}

static void put_point(FILE *out, const ompp_profile_t *p, const ompp_whatif_point_t *point)
{
    fputs("throughput-point\tname=", out);
    if (point->region < p->nregions) put_region(out, p, point->region);
    else put_word(out, ompp_profile_text(p, point->name));
    fprintf(out, "\tdelta=%" PRIu64 "\n", point->visits);
}

/*
 * The viewer needs a point to tell anything: without one, the run as a whole is one unit of work.
 */
static void put_points(FILE *out, const ompp_profile_t *p, const faster_t *f)
{
    bool any = false;

    for (uint32_t i = 0; i < p->whatif.npoints; i++) {
        const ompp_whatif_point_t *point = &p->whatif.points[i];
        if (point->kind == OMPP_WHATIF_LATENCY) put_latency(out, p, i, f);
        if (!point->visits || point->kind != OMPP_WHATIF_THROUGHPUT) continue;
        put_point(out, p, point);
        any = true;
    }
    if (!any) fputs("throughput-point\tname=end-to-end\tdelta=1\n", out);
}

static void put_experiment(FILE *out, const ompp_profile_t *p, const faster_t *f, uint64_t samples)
{
    fputs("experiment\tselected=", out);
    put_region(out, p, f->region);
    fprintf(out, "\tspeedup=%.2f\tduration=%.0f\tselected-samples=%" PRIu64 "\n", f->permille / 1000.0, f->duration,
            samples);
    put_points(out, p, f);
}

static int put_all(const ompp_profile_t *p, FILE *out)
{
    ompp_whatif_result_t *results;
    ompp_whatif_unit_t *units = NULL;
    size_t n, nunits = 0;
    double alone = ompp_whatif_time_alone(p);
    /* no decimal comma */
    const ompp_plain_locale_t locale = ompp_plain_locale_begin();
    int rc = ompp_analysis_whatif(p, &results, &n);

    if (rc == 0) rc = ompp_analysis_units(p, &units, &nunits);
    fprintf(out, "startup\ttime=%" PRIu64 "\n", p->nranks_kept ? p->ranks[0].begin_epoch_ns : 0);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const ompp_whatif_result_t *r = &results[i];
        faster_t f = {.region = r->region, .duration = fmax(alone, 1), .units = units, .nunits = nunits};
        put_experiment(out, p, &f, ompp_whatif_most(r)->observations);
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
            f.permille = r->gains[k].permille;
            f.duration = fmax(alone * (1 - r->gains[k].gain), 1);
            if (f.permille) put_experiment(out, p, &f, r->gains[k].observations);
        }
    }
    fprintf(out, "runtime\ttime=%" PRIu64 "\n", p->whatif.time_ns);
    free(units);
    free(results);
    ompp_plain_locale_end(locale);
    return rc;
}

int ompp_report_coz(const ompp_profile_t *profile, FILE *out)
{
    const ompp_profile_t *outline = ompp_outline_new(profile, false);
    const int rc = outline ? put_all(outline, out) : -OMPP_E_NOMEM;

    ompp_outline_free(outline, profile);
    return rc;
}
