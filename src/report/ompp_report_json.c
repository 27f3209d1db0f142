/**
 * \file
 * A report for programs: the profile and what follows from it, as one object of JSON. Times are whole nanoseconds of
 * all threads and ranks, unless a name says otherwise. What is 0, or not known, may be left out.
 */
#include "report/ompp_plain_locale.h"
#include "report/ompp_report.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_ideal.h"
#include "analysis/ompp_outline.h"
#include "analysis/ompp_properties.h"
#include "base/ompp_error.h"
#include "base/ompp_json.h"

#include <stdlib.h>

/* ---- Members of objects ------------------------------------------------------------------------------------------ */

static void put_text(ompp_json_t *j, const char *name, const char *text)
{
    if (*text) ompp_json_string(j, name, text);
}

static void put_region_number(ompp_json_t *j, const ompp_profile_t *p, uint32_t region)
{
    if (region != OMPP_NONE) ompp_json_number(j, "region", p->regions[region].number);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static void put_run(ompp_json_t *j, const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    put_text(j, "application", ompp_profile_text(p, p->app));
    put_text(j, "version", ompp_profile_text(p, p->version));
    put_text(j, "type", ompp_text_type(p));
    put_text(j, "openmp_source", ompp_profile_text(p, p->source));
    ompp_json_number(j, "duration_ns", t->duration_ns);
    ompp_json_number(j, "ranks", p->nranks);
    ompp_json_number(j, "threads", p->nslots);
}

static void put_regions(ompp_json_t *j, ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    ompp_json_open(j, "regions", '[');
    for (size_t i = 0; i < t->nexecuted; i++) {
        const uint32_t r = t->regions[i];
        uint64_t visits = 0, time = 0, own = 0;
        for (const uint32_t *n = ompp_paths_begin(t->paths, r); n < ompp_paths_end(t->paths, r); n++) {
            const ompp_row_t *total = &t->totals[*n];
            visits += total->value[OMPP_COLUMN_EXEC_C];
            time += total->value[OMPP_COLUMN_EXEC_T];
            own += ompp_less(total->value[OMPP_COLUMN_EXEC_T], total->below_ns);
        }
        ompp_json_open(j, NULL, '{');
        ompp_json_number(j, "number", p->regions[r].number);
        put_text(j, "type", ompp_constructs[p->regions[r].construct].full);
        put_text(j, "place", t->places[r]);
        put_text(j, "file", ompp_profile_text(p, p->regions[r].file));
        if (p->regions[r].begin) ompp_json_number(j, "begin", p->regions[r].begin);
        if (p->regions[r].end) ompp_json_number(j, "end", p->regions[r].end);
        put_text(j, "name", ompp_profile_text(p, p->regions[r].name));
        ompp_json_number(j, "visits", visits);
        ompp_json_number(j, "time_ns", time);
        ompp_json_number(j, "own_ns", own);
        ompp_json_close(j, '}');
    }
    ompp_json_close(j, ']');
}

/* Node 0 is the run. */
static void put_paths(ompp_json_t *j, const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    ompp_json_open(j, "call_paths", '[');
    for (size_t i = 0; i < t->nordered; i++) {
        const uint32_t n = t->nodes[i];
        ompp_json_open(j, NULL, '{');
        ompp_json_number(j, "id", n);
        ompp_json_number(j, "parent", p->nodes[n].parent);
        put_region_number(j, p, p->nodes[n].region);
        ompp_json_number(j, "visits", t->totals[n].value[OMPP_COLUMN_EXEC_C]);
        ompp_json_number(j, "inclusive_ns", ompp_text_inclusive(t, n));
        ompp_json_number(j, "exclusive_ns", ompp_text_exclusive(t, n));
        ompp_json_close(j, '}');
    }
    ompp_json_close(j, ']');
}

static int put_properties(ompp_json_t *j, const ompp_text_t *t)
{
    const double basis = ompp_analysis_basis(t->profile);
    ompp_finding_t *findings;
    size_t n;

    if (ompp_analysis_properties(t->profile, t->paths, &findings, &n) != 0) return -OMPP_E_NOMEM;
    ompp_json_open(j, "properties", '[');
    for (size_t i = 0; i < n; i++) {
        ompp_json_open(j, NULL, '{');
        put_text(j, "name", ompp_properties[findings[i].property].name);
        put_region_number(j, t->profile, findings[i].region);
        if (findings[i].rank != OMPP_NONE) ompp_json_number(j, "rank", findings[i].rank);
        ompp_json_number(j, "lost_ns", findings[i].lost_ns);
        ompp_json_real(j, "severity", basis > 0 ? (double)findings[i].lost_ns / basis : 0);
        ompp_json_close(j, '}');
    }
    ompp_json_close(j, ']');
    free(findings);
    return 0;
}

static void put_pop(ompp_json_t *j, const char *level, const ompp_pop_t *pop)
{
    const char *const names[] = {"parallel", "balance",      "communication", "serialisation",
                                 "transfer", "transfer_low", "transfer_high"};
    const double values[] = {pop->parallel, pop->balance, pop->communication, pop->serialisation,
                             pop->transfer, pop->low,     pop->high};
    char name[40];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(name, sizeof name, "%s%s", level, names[i]);
        if (i < 3 || values[i] > 0) ompp_json_real(j, name, values[i]);
    }
}

static void put_efficiency(ompp_json_t *j, const ompp_profile_t *p, const ompp_efficiency_t *e)
{
    ompp_json_open(j, NULL, '{');
    put_region_number(j, p, e->region);
    ompp_json_number(j, "thread_ns", e->thread_ns);
    ompp_json_number(j, "threads", e->nthreads);
    ompp_json_number(j, "ranks", e->nranks);
    ompp_json_number(j, "useful_ns", e->useful_ns);
    if (e->measuring_ns) ompp_json_number(j, "measuring_ns", e->measuring_ns);
    put_pop(j, "", &e->all);
    put_pop(j, "mpi_", &e->mpi);
    put_pop(j, "openmp_", &e->openmp);
    ompp_json_open(j, "lost_ns", '{');
    for (unsigned lost = 0; lost < OMPP_LOST_NUM; lost++)
        if (e->lost_ns[lost]) ompp_json_number(j, ompp_lost_rows[lost].name, e->lost_ns[lost]);
    ompp_json_close(j, '}');
    ompp_json_close(j, '}');
}

/* Of the run first, which has no region; its losses by call path. */
static int put_efficiencies(ompp_json_t *j, const ompp_text_t *t)
{
    ompp_efficiency_t *all;
    ompp_loss_t *losses;
    size_t n, nlosses;
    const int rc = ompp_analysis_efficiency(t->profile, t->paths, &all, &n, &losses, &nlosses);

    if (rc == 0) {
        ompp_json_open(j, "efficiency", '[');
        for (size_t i = 0; i < n; i++) put_efficiency(j, t->profile, &all[i]);
        ompp_json_close(j, ']');
        ompp_json_open(j, "losses", '[');
        for (size_t i = 0; i < nlosses; i++) {
            ompp_json_open(j, NULL, '{');
            put_text(j, "to", ompp_lost_rows[losses[i].lost].name);
            put_region_number(j, t->profile, losses[i].region);
            if (losses[i].node != OMPP_NONE) ompp_json_number(j, "call_path", losses[i].node);
            ompp_json_number(j, "lost_ns", losses[i].lost_ns);
            if (losses[i].rank != OMPP_NONE) {
                ompp_json_number(j, "rank", losses[i].rank);
                ompp_json_number(j, "rank_ns", losses[i].rank_ns);
            }
            ompp_json_close(j, '}');
        }
        ompp_json_close(j, ']');
    }
    free(all);
    free(losses);
    return rc;
}

static void put_gain(ompp_json_t *j, const char *scenario, uint32_t region, const ompp_gain_range_t *gain,
                     const char *assumes)
{
    ompp_json_open(j, NULL, '{');
    put_text(j, "scenario", scenario);
    if (region != OMPP_NONE) ompp_json_number(j, "region", region);
    ompp_json_real(j, "low", gain->low);
    ompp_json_real(j, "high", gain->high);
    put_text(j, "assumes", assumes);
    ompp_json_close(j, '}');
}

/* Gains as parts of the run time; those that are not determined are left out. */
static int put_ideal(ompp_json_t *j, const ompp_text_t *t)
{
    ompp_gain_range_t gains[OMPP_IDEAL_NUM];
    ompp_lock_gain_t locks[OMPP_IDEAL_NLOCKS];
    ompp_tiny_t *tiny;
    size_t n;
    const int rc = ompp_analysis_ideal(t->profile, t->paths, gains, &tiny, &n);

    ompp_json_open(j, "ideal", '[');
    for (unsigned i = 0; rc == 0 && i < OMPP_IDEAL_NUM; i++) {
        if (gains[i].known) put_gain(j, ompp_ideal_rows[i].name, OMPP_NONE, &gains[i], ompp_ideal_rows[i].assumes);
    }
    const size_t nlocks = rc == 0 ? ompp_analysis_ideal_locks(t->profile, &gains[OMPP_IDEAL_LOCKS], locks) : 0;
    for (size_t i = 0; i < nlocks; i++)
        put_gain(j, OMPP_IDEAL_ONE_LOCK, t->profile->regions[locks[i].region].number, &locks[i].gain,
                 ompp_ideal_rows[OMPP_IDEAL_LOCKS].assumes);
    ompp_json_close(j, ']');
    free(tiny);
    return rc;
}

/* Those of several ranks together lack "from" or "to". */
static void put_messages(ompp_json_t *j, const ompp_profile_t *p)
{
    if (!p->nmessages) return;
    ompp_json_open(j, "messages", '[');
    for (size_t i = 0; i < p->nmessages; i++) {
        ompp_json_open(j, NULL, '{');
        if (p->messages[i].from != OMPP_NONE) ompp_json_number(j, "from", p->messages[i].from);
        if (p->messages[i].to != OMPP_NONE) ompp_json_number(j, "to", p->messages[i].to);
        ompp_json_number(j, "messages", p->messages[i].messages);
        ompp_json_number(j, "bytes", p->messages[i].bytes);
        ompp_json_close(j, '}');
    }
    ompp_json_close(j, ']');
}

static void put_coverage(ompp_json_t *j, const ompp_profile_t *p)
{
    ompp_json_open(j, "coverage", '[');
    for (size_t i = 0; i < p->ncoverage; i++) {
        ompp_json_open(j, NULL, '{');
        put_text(j, "kind", ompp_coverage_rows[p->coverage[i].kind].name);
        put_text(j, "subject", ompp_profile_text(p, p->coverage[i].subject));
        put_text(j, "reason", ompp_profile_text(p, p->coverage[i].reason));
        ompp_json_number(j, "count", p->coverage[i].count);
        ompp_json_close(j, '}');
    }
    ompp_json_close(j, ']');
}

int ompp_report_json(const ompp_profile_t *profile, const ompp_view_t *view, FILE *out)
{
    const ompp_profile_t *outline = ompp_outline_new(profile, true);
    ompp_text_t t = {.out = out, .profile = outline, .whole = profile, .view = view, .digits = OMPP_REPORT_DIGITS};
    ompp_json_t j = {.out = out};
    const ompp_plain_locale_t locale = ompp_plain_locale_begin();
    int rc = outline ? ompp_text_prepare(&t) : -OMPP_E_NOMEM;

    if (rc == 0) rc = ompp_text_view(&t);
    if (rc == 0) {
        ompp_json_open(&j, NULL, '{');
        put_run(&j, &t);
        put_regions(&j, &t);
        put_paths(&j, &t);
        rc = put_properties(&j, &t);
        if (rc == 0) rc = put_efficiencies(&j, &t);
        if (rc == 0) rc = put_ideal(&j, &t);
        put_messages(&j, outline);
        put_coverage(&j, outline);
        ompp_json_close(&j, '}');
        putc('\n', out);
    }
    if (outline) ompp_text_release(&t);
    ompp_outline_free(outline, profile);
    ompp_plain_locale_end(locale);
    return rc;
}
