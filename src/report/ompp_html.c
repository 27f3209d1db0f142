/**
 * \file
 * The report as one page for browsers: the page of viewer/ with the profile in it, as compressed JSON (docs/html.md).
 * Its numbers are those of the text report; what the page has no view for goes along as lines of that.
 */
#define _GNU_SOURCE /* memmem */
#include "report/ompp_report.h"

#include "report/ompp_html_priv.h"
#include "report/ompp_plain_locale.h"

#include "analysis/ompp_outline.h"
#include "analysis/ompp_serial.h"
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

    ompp_json_open(&h->json, "sections", '{');
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        ompp_html_section(h, sections[i].key, t, sections[i].write, profile);
    ompp_json_close(&h->json, '}');
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

static void put_run(ompp_html_t *h, const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    ompp_json_string(&h->json, "application", t->app);
    ompp_json_string(&h->json, "version", ompp_profile_text(p, p->version));
    ompp_json_string(&h->json, "source", ompp_profile_text(p, p->source));
    ompp_json_string(&h->json, "end", ompp_text_type(p));
    ompp_json_number(&h->json, "mpi", p->mpi);
    ompp_json_number(&h->json, "ranks", p->nranks);
    ompp_json_number(&h->json, "rest", p->nrest);
    ompp_json_number(&h->json, "slots", t->nslots);
    ompp_json_number(&h->json, "duration", t->duration_ns);
    ompp_json_number(&h->json, "outside", ompp_analysis_outside_ns(p, t->paths));
    ompp_json_real(&h->json, "basis", ompp_analysis_basis(p));
}

static bool put_ranks(ompp_html_t *h, const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    ompp_rank_time_t *times = calloc(p->nranks_kept + 1, sizeof *times);

    if (!times) return false;
    if (p->nranks_kept) ompp_analysis_rank_times(p, t->paths, times);
    ompp_json_open(&h->json, "rank", '[');
    for (size_t r = 0; r < p->nranks_kept; r++) {
        ompp_json_open(&h->json, NULL, '{');
        ompp_json_number(&h->json, "rank", p->ranks[r].rank);
        ompp_json_string(&h->json, "host", ompp_profile_text(p, p->ranks[r].host));
        ompp_json_number(&h->json, "threads", p->ranks[r].nthreads);
        ompp_json_number(&h->json, "duration", p->ranks[r].duration_ns);
        ompp_json_number(&h->json, "parallel", times[r].parallel_ns);
        ompp_json_number(&h->json, "mpi", times[r].mpi_ns);
        ompp_json_number(&h->json, "serial", times[r].serial_ns);
        ompp_json_close(&h->json, '}');
    }
    ompp_json_close(&h->json, ']');
    free(times);
    return true;
}

/* ---- Efficiency -------------------------------------------------------------------------------------------------- */

/* A part of the time of all threads. */
static void put_part(ompp_html_t *h, const char *name, const char *kind, uint64_t ns, const char *meaning)
{
    if (!ns) return;
    ompp_json_open(&h->json, NULL, '{');
    ompp_json_string(&h->json, "name", name);
    ompp_json_string(&h->json, "kind", kind);
    ompp_json_number(&h->json, "time", ns);
    ompp_json_string(&h->json, "meaning", meaning);
    ompp_json_close(&h->json, '}');
}

/* level: how deep it stands below the rows before. */
static void put_ratio(ompp_html_t *h, unsigned level, const char *name, double value, const char *meaning)
{
    ompp_json_open(&h->json, NULL, '{');
    ompp_json_number(&h->json, "level", level);
    ompp_json_string(&h->json, "name", name);
    ompp_json_real(&h->json, "value", value);
    ompp_json_string(&h->json, "meaning", meaning);
    ompp_json_close(&h->json, '}');
}

/* meanings: of the efficiency, its balance, its communication, the serialisation and transfer of that. */
static void put_pop(ompp_html_t *h, unsigned level, const char *name, const ompp_pop_t *pop,
                    const char *const meanings[5])
{
    put_ratio(h, level, name, pop->parallel, meanings[0]);
    put_ratio(h, level + 1, "Load balance", pop->balance, meanings[1]);
    put_ratio(h, level + 1, "Communication efficiency", pop->communication, meanings[2]);
    if (!pop->transfer) return;
    put_ratio(h, level + 2, "Serialisation efficiency", pop->serialisation, meanings[3]);
    put_ratio(h, level + 2, "Transfer efficiency", pop->transfer, meanings[4]);
}

/* Of the run, or of a user region. */
static void put_ratios(ompp_html_t *h, const ompp_text_t *t, const ompp_efficiency_t *e)
{
    static const char *const all[] = {"work / time of all threads = load balance x communication efficiency",
                                      "mean work of a thread / the most of one", "the most work of a thread / duration",
                                      "the most work of a thread / duration on virtual clocks on which MPI and the "
                                      "OpenMP runtime take no time",
                                      "duration on these clocks / duration"},
                             *const mpi[] = {"the same of ranks, where all that is not lost between ranks is work",
                                             "mean of a rank / the most of one", "the most of a rank / duration",
                                             "the most of a rank / duration on virtual clocks on which MPI takes no "
                                             "time",
                                             "duration on these clocks / duration"},
                             *const openmp[] = {"parallel efficiency / that of MPI", "load balance / that of MPI",
                                                "communication efficiency / that of MPI",
                                                "serialisation efficiency / that of MPI",
                                                "transfer efficiency / that of MPI"};

    ompp_json_open(&h->json, NULL, '{');
    if (e->region != OMPP_NONE) ompp_json_number(&h->json, "region", e->region);
    ompp_json_number(&h->json, "time", e->thread_ns);
    ompp_json_number(&h->json, "work", e->useful_ns);
    ompp_json_number(&h->json, "threads", e->nthreads);
    ompp_json_open(&h->json, "ratios", '[');
    put_pop(h, 0, "Parallel efficiency", &e->all, all);
    if (t->profile->mpi) {
        put_pop(h, 1, "MPI parallel efficiency", &e->mpi, mpi);
        put_pop(h, 1, "OpenMP parallel efficiency", &e->openmp, openmp);
    }
    ompp_json_close(&h->json, ']');
    ompp_json_close(&h->json, '}');
}

static void put_losses(ompp_html_t *h, const ompp_loss_t *losses, size_t n)
{
    ompp_json_open(&h->json, "lost", '[');
    for (unsigned l = 0; l < OMPP_LOST_NUM; l++) {
        ompp_json_open(&h->json, NULL, '[');
        ompp_json_string(&h->json, NULL, ompp_lost_rows[l].name);
        ompp_json_string(&h->json, NULL, ompp_lost_rows[l].text);
        ompp_json_close(&h->json, ']');
    }
    ompp_json_close(&h->json, ']');
    ompp_json_open(&h->json, "losses", '['); /* kind, region (-1: none), rank (-1: none), time, that of the rank */
    for (size_t i = 0; i < n; i++) {
        ompp_json_open(&h->json, NULL, '[');
        ompp_json_number(&h->json, NULL, losses[i].lost);
        ompp_json_real(&h->json, NULL, losses[i].region == OMPP_NONE ? -1 : (double)losses[i].region);
        ompp_json_real(&h->json, NULL, losses[i].rank == OMPP_NONE ? -1 : (double)losses[i].rank);
        ompp_json_number(&h->json, NULL, losses[i].lost_ns);
        ompp_json_number(&h->json, NULL, losses[i].rank_ns);
        ompp_json_close(&h->json, ']');
    }
    ompp_json_close(&h->json, ']');
}

static void put_efficiency(ompp_html_t *h, const ompp_text_t *t, const ompp_efficiency_t *all, size_t n,
                           const ompp_loss_t *losses, size_t nlosses)
{
    if (!n) return;
    ompp_json_open(&h->json, "efficiency", '{');
    ompp_json_open(&h->json, "of", '[');
    for (size_t i = 0; i < n; i++) put_ratios(h, t, &all[i]);
    ompp_json_close(&h->json, ']');
    ompp_json_open(&h->json, "parts", '[');
    put_part(h, "work", "work", all[0].useful_ns - all[0].measuring_ns, "what is not lost");
    put_part(h, "measuring", "measuring", all[0].measuring_ns,
             "by estimate, what measuring took of work; more of it may be in the other parts");
    for (unsigned l = 0; l < OMPP_LOST_NUM; l++)
        put_part(h, ompp_lost_rows[l].text, ompp_lost_rows[l].name, all[0].lost_ns[l],
                 ompp_lost_rows[l].level == OMPP_LEVEL_MPI ? "between ranks" : "between threads of a rank");
    ompp_json_close(&h->json, ']');
    put_losses(h, losses, nlosses);
    ompp_json_close(&h->json, '}');
}

static void put_overhead(ompp_html_t *h, const ompp_text_overhead_t *line, bool sum)
{
    ompp_json_open(&h->json, NULL, '{');
    if (!sum) ompp_json_number(&h->json, "region", line->values.region);
    if (!sum) ompp_json_number(&h->json, "wall", line->values.wall_ns);
    ompp_json_number(&h->json, "total", line->values.total_ns);
    ompp_json_number(&h->json, "lost", line->sum_ns);
    ompp_json_open(&h->json, "classes", '[');
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) ompp_json_number(&h->json, NULL, line->values.class_ns[c]);
    ompp_json_close(&h->json, ']');
    ompp_json_close(&h->json, '}');
}

static bool put_overheads(ompp_html_t *h, const ompp_text_t *t)
{
    ompp_text_overheads_t o;

    if (ompp_text_overhead_lines(t, &o) != 0) return false;
    ompp_json_open(&h->json, "overheads", '{');
    ompp_json_number(&h->json, "coverage", o.coverage_ns);
    ompp_json_open(&h->json, "classes", '[');
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) ompp_json_string(&h->json, NULL, ompp_classes[c].title);
    ompp_json_close(&h->json, ']');
    ompp_json_open(&h->json, "regions", '[');
    for (size_t i = 0; i < o.n; i++) put_overhead(h, &o.lines[i], false);
    ompp_json_close(&h->json, ']');
    ompp_json_open(&h->json, "sum", '[');
    put_overhead(h, &o.sum, true);
    ompp_json_close(&h->json, ']');
    ompp_json_close(&h->json, '}');
    free(o.lines);
    return true;
}

/* ---- Advice ------------------------------------------------------------------------------------------------------ */

/* Where the work is that others wait for, or that one thread does alone; OMPP_NONE = not known. */
static uint32_t cause_of(const ompp_text_t *t, const ompp_finding_t *f)
{
    if (f->property == OMPP_PROPERTY_SERIAL_PROGRAM) return ompp_analysis_serial_place(t->whole, NULL);
    if (!f->more_ns || f->where != OMPP_NONE) return f->more_ns ? f->where : OMPP_NONE;
    return ompp_analysis_serial_place(t->whole, &(ompp_late_t){f->rank, f->more_ns});
}

static bool put_advice(ompp_html_t *h, const ompp_text_t *t)
{
    ompp_finding_t *findings;
    size_t n, listed = 0;

    if (ompp_analysis_properties(t->profile, t->paths, &findings, &n) != 0) return false;
    ompp_json_open(&h->json, "advice", '[');
    for (; listed < n && ompp_text_is_listed(t, &findings[listed]); listed++) {
        ompp_json_open(&h->json, NULL, '{');
        ompp_json_string(&h->json, "name", ompp_properties[findings[listed].property].name);
        ompp_json_number(&h->json, "lost", findings[listed].lost_ns);
        if (findings[listed].region != OMPP_NONE) ompp_json_number(&h->json, "region", findings[listed].region);
        const uint32_t cause = cause_of(t, &findings[listed]);
        if (cause != OMPP_NONE) ompp_json_number(&h->json, "cause", cause);
        char *text = ompp_text_advice(t, &findings[listed]);
        ompp_json_string(&h->json, "text", text ? text : "");
        free(text);
        ompp_json_close(&h->json, '}');
    }
    ompp_json_close(&h->json, ']');
    ompp_json_number(&h->json, "unlisted", n - listed);
    free(findings);
    return true;
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static void put_rank(ompp_html_t *h, uint32_t rank)
{
    ompp_json_real(&h->json, NULL, rank == OMPP_NONE ? -1 : (double)rank);
}

static void put_messages(ompp_html_t *h, const ompp_profile_t *p)
{
    if (!p->nmessages) return;
    ompp_json_open(&h->json, "messages", '['); /* from, to (-1: several together), messages, bytes */
    for (size_t i = 0; i < p->nmessages; i++) {
        ompp_json_open(&h->json, NULL, '[');
        put_rank(h, p->messages[i].from);
        put_rank(h, p->messages[i].to);
        ompp_json_number(&h->json, NULL, p->messages[i].messages);
        ompp_json_number(&h->json, NULL, p->messages[i].bytes);
        ompp_json_close(&h->json, ']');
    }
    ompp_json_close(&h->json, ']');
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool put_data(ompp_html_t *h, ompp_text_t *t, const ompp_profile_t *profile, bool source)
{
    ompp_efficiency_t *all;
    ompp_loss_t *losses;
    size_t n, nlosses;

    if (ompp_analysis_efficiency(t->profile, t->paths, &all, &n, &losses, &nlosses) != 0) return false;
    ompp_json_open(&h->json, NULL, '{');
    ompp_json_number(&h->json, "format", FORMAT);
    put_run(h, t);
    bool ok = put_ranks(h, t);
    put_sections(h, t, profile);
    put_efficiency(h, t, all, n, losses, nlosses);
    ok = ok && put_overheads(h, t) && put_advice(h, t);
    ompp_html_regions(h, profile, t);
    ok = ok && ompp_html_paths(h, t, losses, nlosses) && ompp_html_rows(h, t);
    free(all);
    free(losses);
    put_messages(h, t->profile);
    ok = ok && ompp_html_data(h, t) && ompp_html_whatif(h, t->profile) && ompp_html_samples(h, profile, source);
    ompp_json_close(&h->json, '}');
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
    ompp_text_t t = {.profile = outline, .whole = profile, .digits = OMPP_REPORT_DIGITS};
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
