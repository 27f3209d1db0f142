/**
 * \file
 * Section ompp Summary: what the run was, where its time went, what to look at first. At most 15 lines of 80 columns.
 */
#define _GNU_SOURCE /* fmemopen */
#include "report/ompp_plain_locale.h"
#include "report/ompp_report.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_outline.h"
#include "analysis/ompp_own.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_sample_sums.h"
#include "base/ompp_error.h"
#include "base/ompp_path.h"
#include "base/ompp_utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 80,
    LINES = 15,
    LAST_LINES = 2, /* hottest function, limits */
    ADVICE_LINES = 2,
    LARGEST = 3, /* losses that are named */
    LOSS_COLUMN = 23,
    FIRST_COLUMN = 8
};

#define LEAST_PART 0.01 /* of the thread time, that a loss has at least */
#define LARGE_START 10  /* percent of the thread time that MPI takes to start, which is not listed as a loss */
#define LEAST_HOT 5.0   /* percent of processor time, that the hottest function has at least */

static size_t put_part(const ompp_text_t *t, uint64_t ns, uint64_t all, const char *what)
{
    fprintf(t->out, "%8s sec %5.1f %%  %s\n", ompp_text_seconds_digits(ns, 2).text, 100 * (double)ns / (double)all,
            what);
    return 1;
}

/* Parts are those of the loss budget. */
static uint64_t openmp_of(const ompp_efficiency_t *e)
{
    return e->lost_ns[OMPP_LOST_IMBALANCE] + e->lost_ns[OMPP_LOST_LIMPAR] + e->lost_ns[OMPP_LOST_SYNCH] +
           e->lost_ns[OMPP_LOST_MANAGEMENT];
}

/* With the threads that have nothing to do while a call of MPI holds their rank. */
static uint64_t mpi_of(const ompp_efficiency_t *e)
{
    return ompp_efficiency_lost(e, OMPP_LEVEL_MPI) - e->lost_ns[OMPP_LOST_ENDED];
}

static size_t put_openmp(const ompp_text_t *t, const ompp_efficiency_t *e)
{
    const uint64_t *lost = e->lost_ns, imbalance = lost[OMPP_LOST_IMBALANCE] + lost[OMPP_LOST_LIMPAR],
                   sum = openmp_of(e);
    const double all = (double)e->thread_ns;
    char text[120];

    if (sum < e->thread_ns / 2000) return 0;
    snprintf(text, sizeof text, "OpenMP: imbalance %.1f, synchronising %.1f, management %.1f",
             100 * (double)imbalance / all, 100 * (double)lost[OMPP_LOST_SYNCH] / all,
             100 * (double)lost[OMPP_LOST_MANAGEMENT] / all);
    return put_part(t, sum, e->thread_ns, text);
}

/* What is waiting is known where both sides of calls were compared. */
static size_t put_mpi(const ompp_text_t *t, const ompp_efficiency_t *e)
{
    const uint64_t *lost = e->lost_ns, sum = mpi_of(e);
    const double percent = 100 / (double)e->thread_ns;
    const double start = percent * (double)lost[OMPP_LOST_MPI_START], unknown = percent * (double)lost[OMPP_LOST_MPI];
    char text[120] = "MPI", more[40] = "";

    if (!sum) return 0;
    if (unknown >= 0.05) snprintf(more, sizeof more, ", unknown %.1f", unknown);
    else if (start >= LARGE_START) snprintf(more, sizeof more, " (once)");
    if (sum > lost[OMPP_LOST_MPI])
        snprintf(text, sizeof text, "MPI: waiting %.1f, moving %.1f, startup %.1f%s",
                 percent * (double)lost[OMPP_LOST_MPI_WAIT], percent * (double)lost[OMPP_LOST_MPI_TRANSFER], start,
                 more);
    return put_part(t, sum, e->thread_ns, text);
}

/* Cores that all ranks share; 0 where they have different ones, or it is not known. */
static uint32_t shared_cores(const ompp_profile_t *p)
{
    for (size_t r = 1; r < p->nranks_kept; r++)
        if (p->ranks[r].processors != p->ranks[0].processors || p->ranks[r].host != p->ranks[0].host) return 0;
    return p->nranks_kept ? p->ranks[0].cores : 0;
}

/* Threads of a rank; 0 where they differ, or ranks are not kept. */
static uint32_t threads_each(const ompp_profile_t *p)
{
    for (size_t r = 1; r < p->nranks_kept; r++)
        if (p->ranks[r].nthreads != p->ranks[0].nthreads) return 0;
    return p->nranks_kept && p->nranks_kept == p->nranks ? p->ranks[0].nthreads : 0;
}

static void put_run(const ompp_text_t *t, const ompp_efficiency_t *e)
{
    const uint32_t cores = shared_cores(t->profile), each = threads_each(t->profile);

    fprintf(t->out, "%s sec", ompp_text_seconds_digits(t->duration_ns, 2).text);
    if (t->profile->nranks > 1) fprintf(t->out, ", %" PRIu32 " ranks%s", t->profile->nranks, each ? " x " : ", ");
    else fputs(", ", t->out);
    fprintf(t->out, "%" PRIu64 " thread%s", each ? each : e->nthreads, (each ? each : e->nthreads) > 1 ? "s" : "");
    if (cores) fprintf(t->out, " on %" PRIu32 " core%s", cores, cores > 1 ? "s" : "");
    fprintf(t->out, ": %s sec of thread time\n", ompp_text_seconds_digits(e->thread_ns, 2).text);
}

/* What measuring took of work; in all it took more, where a part of it is in waits and calls. */
static size_t put_measuring(const ompp_text_t *t, const ompp_efficiency_t *e)
{
    const double all = (double)ompp_own_told_permille(t->profile) / 10;
    char text[80] = "measuring (estimated)";

    if (!e->measuring_ns) return 0;
    if (all - 100 * (double)e->measuring_ns / (double)e->thread_ns >= 0.1)
        snprintf(text, sizeof text, "measuring (about %.1f %% in all, the rest is below)", all);
    return put_part(t, e->measuring_ns, e->thread_ns, text);
}

static size_t put_parts(const ompp_text_t *t, const ompp_efficiency_t *e)
{
    const uint64_t idle_ns = e->thread_ns - e->useful_ns - openmp_of(e) - mpi_of(e);
    size_t lines = put_part(t, e->useful_ns - e->measuring_ns, e->thread_ns, "work");

    lines += put_measuring(t, e);
    lines += put_openmp(t, e);
    lines += put_mpi(t, e);
    if (idle_ns > e->thread_ns / 1000)
        lines += put_part(t, idle_ns, e->thread_ns,
                          t->profile->nranks > 1 ? "idle: one thread of the rank works, or it has ended"
                                                 : "idle: one thread works alone");
    if (e->nthreads <= 1) return lines;
    fprintf(t->out, "Parallel efficiency %.2f = load balance %.2f x communication efficiency %.2f", e->all.parallel,
            e->all.balance, e->all.communication);
    if (e->all.transfer > 0)
        fprintf(t->out, " (serialisation %.2f x transfer %.2f)", e->all.serialisation, e->all.transfer);
    putc('\n', t->out);
    return lines + 1;
}

/* One line, or two where it is wider than the page. */
static size_t put_loss(ompp_text_t *t, const ompp_finding_t *f, double basis)
{
    char name[80];
    char *subject = ompp_text_subject(t, f->region);

    snprintf(name, sizeof name, "%s", ompp_properties[f->property].name);
    if (f->own_permille >= 1000 * OMPP_OWN_WORTH)
        snprintf(name, sizeof name, "%s (measuring took %.0f %%)", ompp_properties[f->property].name,
                 (double)f->own_permille / 10);
    const bool fits = subject && LOSS_COLUMN + strlen(name) + 2 + ompp_utf8_width(subject) <= COLUMNS;

    fprintf(t->out, "%8s sec %5.1f %%  %s", ompp_text_seconds_digits(f->lost_ns, 2).text,
            100 * (double)f->lost_ns / basis, name);
    if (fits) fprintf(t->out, ", %s\n", subject);
    else fprintf(t->out, "\n%*s%s\n", LOSS_COLUMN, "", subject ? subject : "");
    free(subject);
    return fits ? 1 : 2;
}

enum { ROOM = COLUMNS - FIRST_COLUMN - 4 };

/* The last words that a line has room for; a place (file and line, at the end) is whole. */
static const char *last_words(const char *text, size_t room)
{
    const char *end = text + strlen(text), *place = end, *words = end - room;

    for (int blanks = 0; place > text && blanks < 2; place--) blanks += place[-1] == ' ';
    while (words < end && words[-1] != ' ') words++;
    return words < place ? words : place + (place > text);
}

/* How much of a text a line gets: whole words, a longer one alone. */
static size_t fitting(const char *text)
{
    size_t n = strlen(text);

    if (n <= ROOM) return n;
    for (n = ROOM; n && text[n] != ' ';) n--;
    return n ? n : strcspn(text, " ");
}

/* Of a name that is wider than a line the end goes; a file is whole. */
static void put_words(FILE *out, const char *text, size_t n)
{
    const bool cut = n > ROOM && text[n] && strncmp(text + n, " (", 2) != 0;

    fprintf(out, "%.*s%s", (int)(cut ? ROOM - 3 : n), text, cut ? "..." : "");
}

/*
 * The advice on the largest loss, wrapped; what has no room is in the properties report. With a caution, the loss may
 * be the effect of what that says.
 */
static void put_first(const ompp_text_t *t, const ompp_finding_t *f, size_t room)
{
    char *advice = ompp_text_advice(t, f), *mark = advice ? strstr(advice, OMPP_TEXT_OWN_MARK) : NULL;
    if (mark) *mark = '\0'; /* the line of the loss tells of own cost */
    char *remedy = ompp_text_remedy(t, f->lost_ns, advice ? advice : "");
    const char *rest = remedy ? remedy : advice ? advice : "";
    const size_t length = strlen(rest);
    const bool has_place = length > 2 && strcmp(rest + length - 2, ").") == 0;

    for (size_t line = 0; *rest && line < room; line++) {
        const bool last = line + 1 == room && strlen(rest) > ROOM;
        const char *words = last && has_place ? last_words(rest, ROOM - 4) : rest;
        fprintf(t->out, "%-*s%s", FIRST_COLUMN, line ? "" : "First:", words > rest ? "... " : "");
        rest = words;
        const size_t n = last && has_place ? strlen(rest) : fitting(rest);
        put_words(t->out, rest, n);
        for (rest += n; *rest == ' ';) rest++;
        fputs(*rest && last ? " ...\n" : "\n", t->out);
    }
    free(remedy);
    free(advice);
}

/* The one to begin with: where threads wait for one that calls MPI, that call, if it is among the findings. */
static const ompp_finding_t *first_of(const ompp_profile_t *p, const ompp_finding_t *findings, size_t n, double least)
{
    if (findings[0].property != OMPP_PROPERTY_WAIT_CALLS) return findings;
    for (const ompp_finding_t *f = findings; f < findings + n && (double)f->lost_ns >= least; f++)
        if (f->region != OMPP_NONE && p->regions[f->region].construct == OMPP_CONSTRUCT_MPI) return f;
    return findings;
}

/* room: lines that there are. */
static int put_losses(ompp_text_t *t, size_t room)
{
    ompp_finding_t *findings;
    const double basis = ompp_analysis_basis(t->profile);
    size_t n, lines = 1 + ADVICE_LINES;

    if (ompp_analysis_properties(t->profile, t->paths, &findings, &n) != 0) return -OMPP_E_NOMEM;
    for (size_t k = 0; k < n && k < LARGEST && (double)findings[k].lost_ns >= LEAST_PART * basis; k++) {
        if (k == 0) fputs("Largest losses, of thread time:\n", t->out);
        else if (lines + 2 > room) break;
        lines += put_loss(t, &findings[k], basis);
    }
    if (n && (double)findings[0].lost_ns >= LEAST_PART * basis)
        put_first(t, first_of(t->profile, findings, n, LEAST_PART * basis), room - (lines - ADVICE_LINES));
    free(findings);
    return 0;
}

#define HOTTEST "Hottest function: "

/* own, all: percent. What a line has no room for goes: the file, the share with callees, the name's end. */
static void put_hot(FILE *out, const char *name, const char *file, double own, double all)
{
    char share[40], callees[40] = "";

    snprintf(share, sizeof share, ", %.1f %% of processor time", own);
    if (all - own > 1) snprintf(callees, sizeof callees, " (%.1f %% with callees)", all);
    const size_t room = COLUMNS - (sizeof HOTTEST - 1) - strlen(share);
    size_t n = strlen(name), in = *file ? strlen(file) + strlen(" in ") : 0;

    if (n + in + strlen(callees) > room) in = 0;
    if (n + strlen(callees) > room) *callees = '\0';
    const bool cut = n > room;
    if (cut) n = room - 3;
    fprintf(out, HOTTEST "%.*s%s%s%s%s%s\n", (int)n, name, cut ? "..." : "", in ? " in " : "", in ? file : "", share,
            callees);
}

/* Samples outside of all regions have none. */
static ompp_code_owner_t owner_of(const ompp_profile_t *p, uint32_t region)
{
    return region < p->nregions ? ompp_code_owner(p, &p->regions[region]) : OMPP_CODE_UNKNOWN;
}

/* The call of a library with most time in it, unless a function of the program has more: those of OpenMP and MPI have
 * lines of their own. \return whether there is one. */
static bool put_hot_call(const ompp_text_t *t, const ompp_profile_t *p, const ompp_samples_t *samples, uint64_t least)
{
    const ompp_sampled_t *call = samples->paths, *end = call + samples->npaths;

    while (call < end && owner_of(p, p->nodes[call->index].region) != OMPP_CODE_C_LIBRARY &&
           owner_of(p, p->nodes[call->index].region) != OMPP_CODE_LIBRARY)
        call++;
    uint32_t caller = call < end && call->own_ns > least ? p->nodes[call->index].parent : 0;
    while (caller && p->regions[p->nodes[caller].region].construct == OMPP_CONSTRUCT_SOURCE_LOOP)
        caller = p->nodes[caller].parent;
    const ompp_region_t *by = caller ? &p->regions[p->nodes[caller].region] : NULL;
    if (!by || !ompp_construct_is_path(by->construct)) return false;
    char *name = ompp_text_printable(ompp_profile_text(p, p->regions[p->nodes[call->index].region].name), false),
         *from = ompp_text_printable(ompp_profile_text(p, by->name), false), text[400];
    const bool named = name && from && *name && *from;
    if (named) snprintf(text, sizeof text, "%s, called by %s", name, from);
    const double own = 100 * (double)call->own_ns / (double)samples->total_ns;
    if (named) put_hot(t->out, text, ompp_path_last(ompp_profile_text(p, by->file)), own, own);
    free(name);
    free(from);
    return named;
}

static int put_hottest(const ompp_text_t *t, const ompp_profile_t *profile)
{
    ompp_samples_t samples;

    if (ompp_samples_init(&samples, profile) != 0) return -OMPP_E_NOMEM;
    size_t f = 0;
    while (f < samples.nfunctions && owner_of(profile, samples.functions[f].index) != OMPP_CODE_PROGRAM) f++;
    const ompp_sampled_t *most = f < samples.nfunctions ? &samples.functions[f] : NULL;
    const uint64_t least = (uint64_t)(LEAST_HOT / 100 * (double)samples.total_ns), own_ns = most ? most->own_ns : 0;
    if (!put_hot_call(t, profile, &samples, own_ns > least ? own_ns : least) && own_ns > least) {
        const ompp_region_t *r = &profile->regions[most->index];
        char *name = ompp_text_printable(ompp_profile_text(profile, r->name), false);
        const char *file = ompp_path_last(ompp_profile_text(profile, r->file));
        const double own = 100 * (double)most->own_ns / (double)samples.total_ns;
        const double all = 100 * (double)most->all_ns / (double)samples.total_ns;
        put_hot(t->out, name && *name ? name : "no name", file, own, all);
        free(name);
    }
    ompp_samples_fini(&samples);
    return 0;
}

/* Own cost, where neither a part (is_part) nor a caution tells it, and whether Coverage says what was not measured. */
static void put_limits(const ompp_text_t *t, bool is_part)
{
    const ompp_profile_t *p = t->profile;
    const uint64_t own = is_part || ompp_own_much_permille(p) ? 0 : ompp_own_told_permille(p);
    size_t n = 0;

    for (size_t i = 0; i < p->ncoverage; i++)
        if (p->coverage[i].kind > OMPP_COVERAGE_SOURCE && p->coverage[i].kind < OMPP_COVERAGE_CPU_WAIT &&
            p->coverage[i].kind != OMPP_COVERAGE_AFTER_FINALIZE)
            n++; /* what runs after MPI_Finalize is never measured */
    if (own) fprintf(t->out, "Measuring took %.1f %%, part of all figures.%s", (double)own / 10, n ? " " : "\n");
    if (n) fputs("Not measured: see section ompp Coverage.\n", t->out);
}

static bool has_parallel(const ompp_text_t *t)
{
    for (size_t i = 0; i < t->nexecuted; i++)
        if (ompp_construct_forks(t->profile->regions[t->regions[i]].construct)) return true;
    return false;
}

static int put_lines(ompp_text_t *t, const ompp_profile_t *profile)
{
    ompp_efficiency_t *all;
    size_t n, lines = 0;
    bool measuring = false;

    if (ompp_analysis_efficiency(t->profile, t->paths, &all, &n, NULL, NULL) != 0) return -OMPP_E_NOMEM;
    if (n) {
        put_run(t, all);
        lines = 1 + ompp_text_short_cautions(t);
        lines += put_parts(t, all);
        measuring = all->measuring_ns;
    }
    free(all);
    if (t->profile->mpi && !has_parallel(t)) {
        fputs("No parallel region was executed: the sections on OpenMP are empty.\n", t->out);
        lines++;
    }
    int rc = put_losses(t, LINES - LAST_LINES - lines);
    if (rc == 0) rc = put_hottest(t, profile);
    put_limits(t, measuring);
    return rc;
}

int ompp_text_summary(ompp_text_t *t, const ompp_profile_t *profile)
{
    ompp_layout_title(t->out, "ompp Summary");
    const int rc = put_lines(t, profile);
    putc('\n', t->out);
    return rc;
}

int ompp_report_summary(const ompp_profile_t *profile, char *text, size_t size)
{
    const ompp_profile_t *outline = ompp_outline_new(profile, true);
    ompp_text_t t = {
        .out = fmemopen(text, size, "w"), .profile = outline, .whole = profile, .digits = OMPP_REPORT_DIGITS};
    /* as in ompp_report_text() */
    const ompp_plain_locale_t locale = ompp_plain_locale_begin();
    int rc = -OMPP_E_NOMEM;

    *text = '\0';
    if (outline && t.out) {
        rc = ompp_text_prepare(&t);
        if (rc == 0) rc = put_lines(&t, profile);
        ompp_text_release(&t);
    }
    if (t.out) fclose(t.out);
    text[size - 1] = '\0';
    ompp_outline_free(outline, profile);
    ompp_plain_locale_end(locale);
    return rc;
}
