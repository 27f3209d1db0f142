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
    ompp_html_open(h, NULL, '{');
    ompp_html_real(h, "speedup", gain->permille / 1000.0);
    ompp_html_real(h, "gain", gain->gain);
    if (gain->interval == OMPP_INTERVAL_KNOWN) {
        ompp_html_real(h, "low", gain->low);
        ompp_html_real(h, "high", gain->high);
    }
    ompp_html_number(h, "chance", gain->chance);
    ompp_html_number(h, "observations", gain->observations);
    ompp_html_close(h, '}');
}

/* Each once, with the names that XML has of it. */
static void put_warnings(ompp_html_t *h, unsigned flags)
{
    bool seen[OMPP_WHATIF_WARNING_NUM] = {false};

    ompp_html_open(h, "flags", '[');
    for (unsigned i = 0; i < OMPP_WHATIF_FLAG_NUM; i++) {
        const unsigned warning = ompp_whatif_flags[i].warning;
        if (!(flags & 1u << i) || warning >= OMPP_WHATIF_WARNING_NUM || seen[warning]) continue;
        seen[warning] = true;
        ompp_html_text(h, NULL, ompp_whatif_warnings[warning].name);
    }
    ompp_html_close(h, ']');
}

static void put_result(ompp_html_t *h, const ompp_whatif_result_t *r)
{
    ompp_html_open(h, NULL, '{');
    if (r->region != OMPP_NONE) ompp_html_number(h, "region", r->region);
    if (r->inside != OMPP_NONE) ompp_html_number(h, "inside", r->inside);
    ompp_html_real(h, "share", r->share);
    ompp_html_real(h, "own", r->own);
    ompp_html_real(h, "slope", r->slope);
    ompp_html_real(h, "knee", r->knee / 1000.0);
    ompp_html_text(h, "verdict", verdict_of(r));
    put_warnings(h, r->flags);
    ompp_html_open(h, "gains", '[');
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++)
        if (r->gains[i].permille) put_gain(h, &r->gains[i]);
    ompp_html_close(h, ']');
    ompp_html_close(h, '}');
}

bool ompp_html_whatif(ompp_html_t *h, const ompp_profile_t *p)
{
    ompp_whatif_result_t *results;
    size_t n;

    if (p->whatif.mode == OMPP_WHATIF_OFF || ompp_whatif_is_unasked(p)) return true;
    if (ompp_analysis_whatif(p, &results, &n) != 0) return false;
    ompp_html_open(h, "whatif", '{');
    ompp_html_text(h, "mode", ompp_whatif_modes[p->whatif.mode]);
    ompp_html_number(h, "time", p->whatif.time_ns);
    ompp_html_text(h, "outside", OMPP_WHATIF_OUTSIDE);
    ompp_html_open(h, "results", '[');
    for (size_t i = 0; i < n; i++) put_result(h, &results[i]);
    ompp_html_close(h, ']');
    ompp_html_close(h, '}');
    free(results);
    return true;
}
