/*
 * Units of latency points: what begin and end of each are, and what would come of a faster region for the time between.
 */
#include "analysis/ompp_whatif_priv.h"

#include "base/ompp_error.h"

#include <math.h>
#include <stdlib.h>

bool ompp_whatif_latency(const ompp_whatif_point_t *point, double *ns)
{
    if (point->kind != OMPP_WHATIF_LATENCY || point->visits == 0 || point->visits > point->begins) return false;
    *ns = (double)point->in_flight_ns / (double)point->visits;
    return true;
}

/* \return whether there is a clock for the region, even one that says nothing. */
static bool find_gains(const ompp_whatif_region_t *from, ompp_whatif_unit_t *u)
{
    bool tried = false;

    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
        const ompp_whatif_clock_t *c = &from->clocks[k];
        tried = tried || c->permille;
        if (!c->permille || !c->time_ns) continue;
        u->known = true;
        u->gains[k] = (ompp_gain_t){.permille = c->permille, .observations = c->observations};
        u->gains[k].gain = fmin(ompp_whatif_gain_of((double)c->time_ns, (double)c->saved_ns, (double)c->paid_ns), 1);
    }
    return tried;
}

static double most(const ompp_whatif_unit_t *u)
{
    double gain = 0;

    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) gain = fmax(gain, u->gains[k].gain);
    return round(1000 * gain);
}

static int compare(const void *a, const void *b)
{
    const ompp_whatif_unit_t *x = a, *y = b;

    if (x->point != y->point) return x->point < y->point ? -1 : 1;
    if (most(x) != most(y)) return most(x) > most(y) ? -1 : 1;
    return x->region < y->region ? -1 : x->region > y->region;
}

int ompp_analysis_units(const ompp_profile_t *p, ompp_whatif_unit_t **units, size_t *n)
{
    *n = 0;
    *units = calloc(p->whatif.nregions + 1, sizeof **units);
    if (!*units) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < p->whatif.nregions && !p->whatif.why; i++) {
        const ompp_whatif_region_t *r = &p->whatif.regions[i];
        if (r->point == OMPP_NONE || (r->region != OMPP_NONE && r->region >= p->nregions)) continue;
        ompp_whatif_unit_t unit = {.region = r->region, .point = r->point};
        if (find_gains(r, &unit)) (*units)[(*n)++] = unit;
    }
    qsort(*units, *n, sizeof **units, compare);
    return 0;
}
