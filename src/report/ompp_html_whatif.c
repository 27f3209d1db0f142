/**
 * \file
 * Gains of faster regions with their intervals, as lists of the page.
 */
#include "report/ompp_html_priv.h"

#include "analysis/ompp_ideal_clocks.h"
#include "analysis/ompp_whatif.h"

#include <stdlib.h>

static const char *verdict_of(const ompp_whatif_result_t *r)
{
    if (r->contention) return "contention";
    if (r->verdict == OMPP_WHATIF_BUSY_FOR_NOTHING) return "busy for nothing";
    return r->verdict == OMPP_WHATIF_SMALL_BUT_CRITICAL ? "small but critical" : "";
}

static void put_gain(ompp_html_t *h, const ompp_gain_t *gain)
{
    ompp_json_open(&h->json, NULL, '{');
    ompp_json_real(&h->json, "speedup", gain->permille / 1000.0);
    ompp_json_real(&h->json, "gain", gain->gain);
    if (gain->interval == OMPP_INTERVAL_KNOWN) {
        ompp_json_real(&h->json, "low", gain->low);
        ompp_json_real(&h->json, "high", gain->high);
    }
    ompp_json_number(&h->json, "chance", gain->chance);
    ompp_json_number(&h->json, "observations", gain->observations);
    ompp_json_close(&h->json, '}');
}

/* Each once, with the names that XML has of it. */
static void put_warnings(ompp_html_t *h, unsigned flags)
{
    bool seen[OMPP_WHATIF_WARNING_NUM] = {false};

    ompp_json_open(&h->json, "flags", '[');
    for (unsigned i = 0; i < OMPP_WHATIF_FLAG_NUM; i++) {
        const unsigned warning = ompp_whatif_flags[i].warning;
        if (!(flags & 1u << i) || warning >= OMPP_WHATIF_WARNING_NUM || seen[warning]) continue;
        seen[warning] = true;
        ompp_json_string(&h->json, NULL, ompp_whatif_warnings[warning].name);
    }
    ompp_json_close(&h->json, ']');
}

static void put_result(ompp_html_t *h, const ompp_whatif_result_t *r)
{
    ompp_json_open(&h->json, NULL, '{');
    if (r->region != OMPP_NONE) ompp_json_number(&h->json, "region", r->region);
    if (r->inside != OMPP_NONE) ompp_json_number(&h->json, "inside", r->inside);
    ompp_json_real(&h->json, "share", r->share);
    ompp_json_real(&h->json, "own", r->own);
    ompp_json_real(&h->json, "slope", r->slope);
    ompp_json_real(&h->json, "knee", r->knee / 1000.0);
    ompp_json_string(&h->json, "verdict", verdict_of(r));
    put_warnings(h, r->flags);
    ompp_json_open(&h->json, "gains", '[');
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++)
        if (r->gains[i].permille) put_gain(h, &r->gains[i]);
    ompp_json_close(&h->json, ']');
    ompp_json_close(&h->json, '}');
}

bool ompp_html_whatif(ompp_html_t *h, const ompp_profile_t *p)
{
    ompp_whatif_result_t *results;
    size_t n;

    if (p->whatif.mode == OMPP_WHATIF_OFF || ompp_whatif_is_unasked(p)) return true;
    if (ompp_analysis_whatif(p, &results, &n) != 0) return false;
    ompp_json_open(&h->json, "whatif", '{');
    ompp_json_string(&h->json, "mode", ompp_whatif_modes[p->whatif.mode]);
    ompp_json_number(&h->json, "time", p->whatif.time_ns);
    ompp_json_string(&h->json, "outside", OMPP_WHATIF_OUTSIDE);
    ompp_json_open(&h->json, "results", '[');
    for (size_t i = 0; i < n; i++) put_result(h, &results[i]);
    ompp_json_close(&h->json, ']');
    ompp_json_close(&h->json, '}');
    free(results);
    return true;
}
