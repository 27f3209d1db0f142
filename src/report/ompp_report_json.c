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

#include <inttypes.h>
#include <stdlib.h>

/* ---- Members of objects ------------------------------------------------------------------------------------------ */

typedef struct {
    FILE *out;
    bool first; /* of the object that is open */
} json_t;

static void open_value(json_t *j, const char *name, char bracket)
{
    if (name) ompp_json_name(j->out, name, &j->first);
    else fputs(j->first ? "\n  " : ",\n  ", j->out);
    putc(bracket, j->out);
    j->first = true;
}

static void close_value(json_t *j, char bracket)
{
    putc(bracket, j->out);
    j->first = false;
}

static void put_number(json_t *j, const char *name, uint64_t value)
{
    ompp_json_name(j->out, name, &j->first);
    fprintf(j->out, "%" PRIu64, value);
}

static void put_real(json_t *j, const char *name, double value)
{
    ompp_json_name(j->out, name, &j->first);
    fprintf(j->out, "%.9g", value);
}

static void put_text(json_t *j, const char *name, const char *text)
{
    if (!*text) return;
    ompp_json_name(j->out, name, &j->first);
    ompp_json_text(j->out, text);
}

static void put_region_number(json_t *j, const ompp_profile_t *p, uint32_t region)
{
    if (region != OMPP_NONE) put_number(j, "region", p->regions[region].number);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static void put_run(json_t *j, const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    put_text(j, "application", ompp_profile_text(p, p->app));
    put_text(j, "version", ompp_profile_text(p, p->version));
    put_text(j, "type", ompp_text_type(p));
    put_text(j, "openmp_source", ompp_profile_text(p, p->source));
    put_number(j, "duration_ns", t->duration_ns);
    put_number(j, "ranks", p->nranks);
    put_number(j, "threads", p->nslots);
}

static void put_regions(json_t *j, ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    open_value(j, "regions", '[');
    for (size_t i = 0; i < t->nexecuted; i++) {
        const uint32_t r = t->regions[i];
        uint64_t visits = 0, time = 0, own = 0;
        for (const uint32_t *n = ompp_paths_begin(t->paths, r); n < ompp_paths_end(t->paths, r); n++) {
            const ompp_row_t *total = &t->totals[*n];
            visits += total->value[OMPP_COLUMN_EXEC_C];
            time += total->value[OMPP_COLUMN_EXEC_T];
            own += ompp_less(total->value[OMPP_COLUMN_EXEC_T], total->below_ns);
        }
        open_value(j, NULL, '{');
        put_number(j, "number", p->regions[r].number);
        put_text(j, "type", ompp_constructs[p->regions[r].construct].full);
        put_text(j, "place", t->places[r]);
        put_text(j, "file", ompp_profile_text(p, p->regions[r].file));
        if (p->regions[r].begin) put_number(j, "begin", p->regions[r].begin);
        if (p->regions[r].end) put_number(j, "end", p->regions[r].end);
        put_text(j, "name", ompp_profile_text(p, p->regions[r].name));
        put_number(j, "visits", visits);
        put_number(j, "time_ns", time);
        put_number(j, "own_ns", own);
        close_value(j, '}');
    }
    close_value(j, ']');
}

/* Node 0 is the run. */
static void put_paths(json_t *j, const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    open_value(j, "call_paths", '[');
    for (size_t i = 0; i < t->nordered; i++) {
        const uint32_t n = t->nodes[i];
        open_value(j, NULL, '{');
        put_number(j, "id", n);
        put_number(j, "parent", p->nodes[n].parent);
        put_region_number(j, p, p->nodes[n].region);
        put_number(j, "visits", t->totals[n].value[OMPP_COLUMN_EXEC_C]);
        put_number(j, "inclusive_ns", ompp_text_inclusive(t, n));
        put_number(j, "exclusive_ns", ompp_text_exclusive(t, n));
        close_value(j, '}');
    }
    close_value(j, ']');
}

static int put_properties(json_t *j, const ompp_text_t *t)
{
    const double basis = ompp_analysis_basis(t->profile);
    ompp_finding_t *findings;
    size_t n;

    if (ompp_analysis_properties(t->profile, t->paths, &findings, &n) != 0) return -OMPP_E_NOMEM;
    open_value(j, "properties", '[');
    for (size_t i = 0; i < n; i++) {
        open_value(j, NULL, '{');
        put_text(j, "name", ompp_properties[findings[i].property].name);
        put_region_number(j, t->profile, findings[i].region);
        if (findings[i].rank != OMPP_NONE) put_number(j, "rank", findings[i].rank);
        put_number(j, "lost_ns", findings[i].lost_ns);
        put_real(j, "severity", basis > 0 ? (double)findings[i].lost_ns / basis : 0);
        close_value(j, '}');
    }
    close_value(j, ']');
    free(findings);
    return 0;
}

static void put_pop(json_t *j, const char *level, const ompp_pop_t *pop)
{
    const char *const names[] = {"parallel", "balance", "communication"};
    const double values[] = {pop->parallel, pop->balance, pop->communication};
    char name[40];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(name, sizeof name, "%s%s", level, names[i]);
        put_real(j, name, values[i]);
    }
}

static void put_efficiency(json_t *j, const ompp_profile_t *p, const ompp_efficiency_t *e)
{
    open_value(j, NULL, '{');
    put_region_number(j, p, e->region);
    put_number(j, "thread_ns", e->thread_ns);
    put_number(j, "threads", e->nthreads);
    put_number(j, "ranks", e->nranks);
    put_number(j, "useful_ns", e->useful_ns);
    put_pop(j, "", &e->all);
    put_pop(j, "mpi_", &e->mpi);
    put_pop(j, "openmp_", &e->openmp);
    open_value(j, "lost_ns", '{');
    for (unsigned lost = 0; lost < OMPP_LOST_NUM; lost++)
        if (e->lost_ns[lost]) put_number(j, ompp_lost_rows[lost].name, e->lost_ns[lost]);
    close_value(j, '}');
    close_value(j, '}');
}

/* Of the run first, which has no region; its losses by call path. */
static int put_efficiencies(json_t *j, const ompp_text_t *t)
{
    ompp_efficiency_t *all;
    ompp_loss_t *losses;
    size_t n, nlosses;
    const int rc = ompp_analysis_efficiency(t->profile, t->paths, &all, &n, &losses, &nlosses);

    if (rc == 0) {
        open_value(j, "efficiency", '[');
        for (size_t i = 0; i < n; i++) put_efficiency(j, t->profile, &all[i]);
        close_value(j, ']');
        open_value(j, "losses", '[');
        for (size_t i = 0; i < nlosses; i++) {
            open_value(j, NULL, '{');
            put_text(j, "to", ompp_lost_rows[losses[i].lost].name);
            put_region_number(j, t->profile, losses[i].region);
            if (losses[i].node != OMPP_NONE) put_number(j, "call_path", losses[i].node);
            put_number(j, "lost_ns", losses[i].lost_ns);
            if (losses[i].rank != OMPP_NONE) {
                put_number(j, "rank", losses[i].rank);
                put_number(j, "rank_ns", losses[i].rank_ns);
            }
            close_value(j, '}');
        }
        close_value(j, ']');
    }
    free(all);
    free(losses);
    return rc;
}

/* Gains as parts of the run time; those that are not determined are left out. */
static int put_ideal(json_t *j, const ompp_text_t *t)
{
    ompp_gain_range_t gains[OMPP_IDEAL_NUM];
    ompp_tiny_t *tiny;
    size_t n;
    const int rc = ompp_analysis_ideal(t->profile, t->paths, gains, &tiny, &n);

    open_value(j, "ideal", '[');
    for (unsigned i = 0; rc == 0 && i < OMPP_IDEAL_NUM; i++) {
        if (!gains[i].known) continue;
        open_value(j, NULL, '{');
        put_text(j, "scenario", ompp_ideal_rows[i].name);
        put_real(j, "low", gains[i].low);
        put_real(j, "high", gains[i].high);
        put_text(j, "assumes", ompp_ideal_rows[i].assumes);
        close_value(j, '}');
    }
    close_value(j, ']');
    free(tiny);
    return rc;
}

static void put_coverage(json_t *j, const ompp_profile_t *p)
{
    open_value(j, "coverage", '[');
    for (size_t i = 0; i < p->ncoverage; i++) {
        open_value(j, NULL, '{');
        put_text(j, "kind", ompp_coverage_rows[p->coverage[i].kind].name);
        put_text(j, "subject", ompp_profile_text(p, p->coverage[i].subject));
        put_text(j, "reason", ompp_profile_text(p, p->coverage[i].reason));
        put_number(j, "count", p->coverage[i].count);
        close_value(j, '}');
    }
    close_value(j, ']');
}

int ompp_report_json(const ompp_profile_t *profile, const ompp_view_t *view, FILE *out)
{
    const ompp_profile_t *outline = ompp_outline_new(profile, true);
    ompp_text_t t = {.out = out, .profile = outline, .view = view, .digits = OMPP_REPORT_DIGITS};
    json_t j = {out, true};
    const ompp_plain_locale_t locale = ompp_plain_locale_begin();
    int rc = outline ? ompp_text_prepare(&t) : -OMPP_E_NOMEM;

    if (rc == 0) rc = ompp_text_view(&t);
    if (rc == 0) {
        putc('{', out);
        put_run(&j, &t);
        put_regions(&j, &t);
        put_paths(&j, &t);
        rc = put_properties(&j, &t);
        if (rc == 0) rc = put_efficiencies(&j, &t);
        if (rc == 0) rc = put_ideal(&j, &t);
        put_coverage(&j, outline);
        fputs("}\n", out);
    }
    if (outline) ompp_text_release(&t);
    ompp_outline_free(outline, profile);
    ompp_plain_locale_end(locale);
    return rc;
}
