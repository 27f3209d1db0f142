/**
 * \file
 * The report as one page for browsers: the page of viewer/ with the profile in it, as compressed JSON (docs/html.md).
 * Its numbers are those of the text report; what the page has no view for goes along as lines of that.
 */
#define _GNU_SOURCE /* memmem */
#include "report/ompp_report.h"

#include "report/ompp_html_priv.h"
#include "report/ompp_plain_locale.h"

#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_outline.h"
#include "base/ompp_error.h"

#include <stdlib.h>
#include <string.h>

#define FORMAT 1 /* of the data; the page that reads it is in the same file */

/* ---- Parts of the text report ------------------------------------------------------------------------------------ */

static int general(ompp_text_t *t, const void *what)
{
    (void)what;
    ompp_text_general(t);
    return 0;
}

static int summary(ompp_text_t *t, const void *profile) { return ompp_text_summary(t, profile); }

static int coverage(ompp_text_t *t, const void *what)
{
    (void)what;
    ompp_text_coverage(t);
    return 0;
}

static int caution(ompp_text_t *t, const void *what)
{
    (void)what;
    ompp_text_cautions(t);
    return 0;
}

static int outside(ompp_text_t *t, const void *what) { return (void)what, ompp_text_outside(t); }
static int tasks(ompp_text_t *t, const void *what) { return (void)what, ompp_text_tasks(t); }
static int loops(ompp_text_t *t, const void *what) { return (void)what, ompp_text_loops(t); }
static int never(ompp_text_t *t, const void *what) { return (void)what, ompp_text_never(t); }
static int data(ompp_text_t *t, const void *what) { return (void)what, ompp_text_data(t); }
static int cache(ompp_text_t *t, const void *what) { return (void)what, ompp_text_cache(t); }
static int ideal(ompp_text_t *t, const void *what) { return (void)what, ompp_text_ideal(t); }
static int whatif(ompp_text_t *t, const void *what) { return (void)what, ompp_text_whatif(t); }

/* As the text report has them, with their titles. */
static void put_sections(ompp_html_t *h, ompp_text_t *t, const ompp_profile_t *profile)
{
    static const struct {
        const char *key;
        ompp_html_write_fn *write;
    } sections[] = {{"general", general}, {"summary", summary}, {"coverage", coverage}, {"caution", caution},
                    {"outside", outside}, {"tasks", tasks},     {"loops", loops},       {"never", never},
                    {"data", data},       {"cache", cache},     {"ideal", ideal},       {"whatif", whatif}};

    ompp_html_open(h, "sections", '{');
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        ompp_html_section(h, sections[i].key, t, sections[i].write, profile);
    ompp_html_close(h, '}');
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

static void put_run(ompp_html_t *h, const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    ompp_html_text(h, "application", t->app);
    ompp_html_text(h, "version", ompp_profile_text(p, p->version));
    ompp_html_text(h, "source", ompp_profile_text(p, p->source));
    ompp_html_text(h, "end", ompp_text_type(p));
    ompp_html_number(h, "mpi", p->mpi);
    ompp_html_number(h, "ranks", p->nranks);
    ompp_html_number(h, "rest", p->nrest);
    ompp_html_number(h, "slots", t->nslots);
    ompp_html_number(h, "duration", t->duration_ns);
    ompp_html_number(h, "outside", ompp_analysis_outside_ns(p, t->paths));
    ompp_html_real(h, "basis", ompp_analysis_basis(p));
}

static bool put_ranks(ompp_html_t *h, const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    ompp_rank_time_t *times = calloc(p->nranks_kept + 1, sizeof *times);

    if (!times) return false;
    if (p->nranks_kept) ompp_analysis_rank_times(p, t->paths, times);
    ompp_html_open(h, "rank", '[');
    for (size_t r = 0; r < p->nranks_kept; r++) {
        ompp_html_open(h, NULL, '{');
        ompp_html_number(h, "rank", p->ranks[r].rank);
        ompp_html_text(h, "host", ompp_profile_text(p, p->ranks[r].host));
        ompp_html_number(h, "threads", p->ranks[r].nthreads);
        ompp_html_number(h, "duration", p->ranks[r].duration_ns);
        ompp_html_number(h, "parallel", times[r].parallel_ns);
        ompp_html_number(h, "mpi", times[r].mpi_ns);
        ompp_html_number(h, "serial", times[r].serial_ns);
        ompp_html_close(h, '}');
    }
    ompp_html_close(h, ']');
    free(times);
    return true;
}

/* ---- Efficiency -------------------------------------------------------------------------------------------------- */

/* A part of the time of all threads. */
static void put_part(ompp_html_t *h, const char *name, const char *kind, uint64_t ns, const char *meaning)
{
    if (!ns) return;
    ompp_html_open(h, NULL, '{');
    ompp_html_text(h, "name", name);
    ompp_html_text(h, "kind", kind);
    ompp_html_number(h, "time", ns);
    ompp_html_text(h, "meaning", meaning);
    ompp_html_close(h, '}');
}

/* level: how deep it stands below the rows before. */
static void put_ratio(ompp_html_t *h, unsigned level, const char *name, double value, const char *meaning)
{
    ompp_html_open(h, NULL, '{');
    ompp_html_number(h, "level", level);
    ompp_html_text(h, "name", name);
    ompp_html_real(h, "value", value);
    ompp_html_text(h, "meaning", meaning);
    ompp_html_close(h, '}');
}

/* meanings: of the efficiency, of its balance, of its communication. */
static void put_pop(ompp_html_t *h, unsigned level, const char *name, const ompp_pop_t *pop,
                    const char *const meanings[3])
{
    put_ratio(h, level, name, pop->parallel, meanings[0]);
    put_ratio(h, level + 1, "Load balance", pop->balance, meanings[1]);
    put_ratio(h, level + 1, "Communication efficiency", pop->communication, meanings[2]);
}

/* Of the run, or of a user region. */
static void put_ratios(ompp_html_t *h, const ompp_text_t *t, const ompp_efficiency_t *e)
{
    static const char *const all[] = {"work / time of all threads = load balance x communication efficiency",
                                      "mean work of a thread / the most of one",
                                      "the most work of a thread / duration"},
                             *const mpi[] = {"the same of ranks, where all that is not lost between ranks is work",
                                             "mean of a rank / the most of one", "the most of a rank / duration"},
                             *const openmp[] = {"parallel efficiency / that of MPI", "load balance / that of MPI",
                                                "communication efficiency / that of MPI"};

    ompp_html_open(h, NULL, '{');
    if (e->region != OMPP_NONE) ompp_html_number(h, "region", e->region);
    ompp_html_number(h, "time", e->thread_ns);
    ompp_html_number(h, "work", e->useful_ns);
    ompp_html_number(h, "threads", e->nthreads);
    ompp_html_open(h, "ratios", '[');
    put_pop(h, 0, "Parallel efficiency", &e->all, all);
    if (t->profile->mpi) {
        put_pop(h, 1, "MPI parallel efficiency", &e->mpi, mpi);
        put_pop(h, 1, "OpenMP parallel efficiency", &e->openmp, openmp);
    }
    ompp_html_close(h, ']');
    ompp_html_close(h, '}');
}

static void put_losses(ompp_html_t *h, const ompp_loss_t *losses, size_t n)
{
    ompp_html_open(h, "lost", '[');
    for (unsigned l = 0; l < OMPP_LOST_NUM; l++) {
        ompp_html_open(h, NULL, '[');
        ompp_html_text(h, NULL, ompp_lost_rows[l].name);
        ompp_html_text(h, NULL, ompp_lost_rows[l].text);
        ompp_html_close(h, ']');
    }
    ompp_html_close(h, ']');
    ompp_html_open(h, "losses", '['); /* kind, region (-1: none), rank (-1: none), time, that of the rank */
    for (size_t i = 0; i < n; i++) {
        ompp_html_open(h, NULL, '[');
        ompp_html_number(h, NULL, losses[i].lost);
        ompp_html_real(h, NULL, losses[i].region == OMPP_NONE ? -1 : (double)losses[i].region);
        ompp_html_real(h, NULL, losses[i].rank == OMPP_NONE ? -1 : (double)losses[i].rank);
        ompp_html_number(h, NULL, losses[i].lost_ns);
        ompp_html_number(h, NULL, losses[i].rank_ns);
        ompp_html_close(h, ']');
    }
    ompp_html_close(h, ']');
}

static bool put_efficiency(ompp_html_t *h, const ompp_text_t *t)
{
    ompp_efficiency_t *all;
    ompp_loss_t *losses;
    size_t n, nlosses;

    if (ompp_analysis_efficiency(t->profile, t->paths, &all, &n, &losses, &nlosses) != 0) return false;
    if (n) {
        ompp_html_open(h, "efficiency", '{');
        ompp_html_open(h, "of", '[');
        for (size_t i = 0; i < n; i++) put_ratios(h, t, &all[i]);
        ompp_html_close(h, ']');
        ompp_html_open(h, "parts", '[');
        put_part(h, "work", "work", all[0].useful_ns, "what is not lost");
        for (unsigned l = 0; l < OMPP_LOST_NUM; l++)
            put_part(h, ompp_lost_rows[l].text, ompp_lost_rows[l].name, all[0].lost_ns[l],
                     ompp_lost_rows[l].level == OMPP_LEVEL_MPI ? "between ranks" : "between threads of a rank");
        ompp_html_close(h, ']');
        put_losses(h, losses, nlosses);
        ompp_html_close(h, '}');
    }
    free(all);
    free(losses);
    return true;
}

static void put_overhead(ompp_html_t *h, const ompp_text_overhead_t *line, bool sum)
{
    ompp_html_open(h, NULL, '{');
    if (!sum) ompp_html_number(h, "region", line->values.region);
    if (!sum) ompp_html_number(h, "wall", line->values.wall_ns);
    ompp_html_number(h, "total", line->values.total_ns);
    ompp_html_number(h, "lost", line->sum_ns);
    ompp_html_open(h, "classes", '[');
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) ompp_html_number(h, NULL, line->values.class_ns[c]);
    ompp_html_close(h, ']');
    ompp_html_close(h, '}');
}

static bool put_overheads(ompp_html_t *h, const ompp_text_t *t)
{
    ompp_text_overheads_t o;

    if (ompp_text_overhead_lines(t, &o) != 0) return false;
    ompp_html_open(h, "overheads", '{');
    ompp_html_number(h, "coverage", o.coverage_ns);
    ompp_html_open(h, "classes", '[');
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) ompp_html_text(h, NULL, ompp_classes[c].title);
    ompp_html_close(h, ']');
    ompp_html_open(h, "regions", '[');
    for (size_t i = 0; i < o.n; i++) put_overhead(h, &o.lines[i], false);
    ompp_html_close(h, ']');
    ompp_html_open(h, "sum", '[');
    put_overhead(h, &o.sum, true);
    ompp_html_close(h, ']');
    ompp_html_close(h, '}');
    free(o.lines);
    return true;
}

/* ---- Advice ------------------------------------------------------------------------------------------------------ */

static bool put_advice(ompp_html_t *h, const ompp_text_t *t)
{
    ompp_finding_t *findings;
    size_t n, listed = 0;

    if (ompp_analysis_properties(t->profile, t->paths, &findings, &n) != 0) return false;
    ompp_html_open(h, "advice", '[');
    for (; listed < n && ompp_text_is_listed(t, &findings[listed]); listed++) {
        ompp_html_open(h, NULL, '{');
        ompp_html_text(h, "name", ompp_properties[findings[listed].property].name);
        ompp_html_number(h, "lost", findings[listed].lost_ns);
        if (findings[listed].region != OMPP_NONE) ompp_html_number(h, "region", findings[listed].region);
        char *text = ompp_text_advice(t, &findings[listed]);
        ompp_html_text(h, "text", text ? text : "");
        free(text);
        ompp_html_close(h, '}');
    }
    ompp_html_close(h, ']');
    ompp_html_number(h, "unlisted", n - listed);
    free(findings);
    return true;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool put_data(ompp_html_t *h, ompp_text_t *t, const ompp_profile_t *profile, bool source)
{
    ompp_html_open(h, NULL, '{');
    ompp_html_number(h, "format", FORMAT);
    put_run(h, t);
    bool ok = put_ranks(h, t);
    put_sections(h, t, profile);
    ok = ok && put_efficiency(h, t) && put_overheads(h, t) && put_advice(h, t);
    ompp_html_regions(h, profile, t);
    ok = ok && ompp_html_paths(h, t) && ompp_html_rows(h, t);
    ok = ok && ompp_html_whatif(h, t->profile) && ompp_html_samples(h, profile, source);
    ompp_html_close(h, '}');
    return ompp_html_finish(h) && ok;
}

static bool put_page(ompp_html_t *h, ompp_text_t *t, const ompp_profile_t *profile, bool source)
{
    static const char mark[] = "@PROFILE@"; /* of viewer/shell.html */
    const unsigned char *at = memmem(ompp_html_page, ompp_html_page_size, mark, sizeof mark - 1);

    if (!at) return false;
    const unsigned char *rest = at + sizeof mark - 1;
    fwrite(ompp_html_page, 1, (size_t)(at - ompp_html_page), h->out);
    const bool ok = put_data(h, t, profile, source);
    fwrite(rest, 1, (size_t)(ompp_html_page + ompp_html_page_size - rest), h->out);
    return ok;
}

int ompp_report_html(const ompp_profile_t *profile, bool source, FILE *out)
{
    const ompp_profile_t *outline = ompp_outline_new(profile, true);
    ompp_text_t t = {.profile = outline, .digits = OMPP_REPORT_DIGITS};
    ompp_html_t *h = ompp_html_new(out);
    /* as in ompp_report_text() */
    const ompp_plain_locale_t locale = ompp_plain_locale_begin();
    int rc = h && outline ? ompp_text_prepare(&t) : -OMPP_E_NOMEM;

    if (rc == 0 && !put_page(h, &t, profile, source)) rc = -OMPP_E_NOMEM;
    if (outline) ompp_text_release(&t);
    ompp_outline_free(outline, profile);
    ompp_html_free(h);
    ompp_plain_locale_end(locale);
    return rc;
}
