/**
 * \file
 * The What-if results as a profile of Coz, for its viewer: lines of tab-separated key=value. Of each region one experiment without
 * speed-up, as long as the program took, and one per speed-up, as long as it would take. Durations are corrected already, because the
 * viewer does not do it; it refuses records that it does not know, so there is nothing else.
 */
#include "report/ompp_report.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_whatif.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One word of the file: tabs and line ends cannot be in it. */
static void put_word(FILE *out, const char *text)
{
    for (; *text; text++) putc((unsigned char)*text < ' ' ? '?' : *text, out);
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

static void put_point(FILE *out, const ompp_profile_t *p, const ompp_whatif_point_t *point)
{
    fputs("throughput-point\tname=", out);
    if (point->region < p->nregions) put_region(out, p, point->region);
    else put_word(out, ompp_profile_text(p, point->name));
    fprintf(out, "\tdelta=%" PRIu64 "\n", point->visits);
}

/*
 * The viewer needs a point to tell anything: without one, the run as a whole is one unit of work. Latency points are left out: how many
 * units the faster program would have under way is not known.
 */
static void put_points(FILE *out, const ompp_profile_t *p)
{
    bool any = false;

    for (size_t i = 0; i < p->whatif.npoints; i++) {
        const ompp_whatif_point_t *point = &p->whatif.points[i];
        if (!point->visits || point->kind != OMPP_WHATIF_THROUGHPUT) continue;
        put_point(out, p, point);
        any = true;
    }
    if (!any) fputs("throughput-point\tname=end-to-end\tdelta=1\n", out);
}

static void put_experiment(FILE *out, const ompp_profile_t *p, uint32_t region, uint32_t permille, double duration, uint64_t samples)
{
    fputs("experiment\tselected=", out);
    put_region(out, p, region);
    fprintf(out, "\tspeedup=%.2f\tduration=%.0f\tselected-samples=%" PRIu64 "\n", permille / 1000.0, duration, samples);
    put_points(out, p);
}

int ompp_report_coz(const ompp_profile_t *p, FILE *out)
{
    ompp_whatif_result_t *results;
    size_t n;
    double alone = (double)p->whatif.time_ns - (double)p->whatif.paid_ns;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), saved = plain ? uselocale(plain) : (locale_t)0; /* no decimal comma */
    int rc = ompp_analysis_whatif(p, &results, &n);

    fprintf(out, "startup\ttime=%" PRIu64 "\n", p->nranks_kept ? p->ranks[0].begin_epoch_ns : 0);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const ompp_whatif_result_t *r = &results[i];
        put_experiment(out, p, r->region, 0, alone, ompp_whatif_most(r)->observations);
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
            if (r->gains[k].permille)
                put_experiment(out, p, r->region, r->gains[k].permille, fmax(alone * (1 - r->gains[k].gain), 1), r->gains[k].observations);
    }
    fprintf(out, "runtime\ttime=%" PRIu64 "\n", p->whatif.time_ns);
    free(results);
    if (plain) {
        uselocale(saved);
        freelocale(plain);
    }
    return rc;
}
