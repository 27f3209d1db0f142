/**
 * \file
 * The text report: what it needs once, and the sections before the tables.
 */
#include "report/ompp_plain_locale.h"
#include "report/ompp_report.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_outline.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- General Information ----------------------------------------------------------------------------------------- */

static void label(const ompp_text_t *t, const char *name) { ompp_layout_label(t->out, name); }

static void line(const ompp_text_t *t, const char *name, const char *text)
{
    label(t, name);
    ompp_text_put(t, text);
    putc('\n', t->out);
}

static void line_seconds(ompp_text_t *t, const char *name, uint64_t ns)
{
    label(t, name);
    fprintf(t->out, "%s sec\n", ompp_text_seconds(t, ns).text);
}

void ompp_text_date(uint64_t epoch_ns, char *out, size_t size)
{
    time_t seconds = (time_t)(epoch_ns / 1000000000u);
    struct tm tm;

    if (!localtime_r(&seconds, &tm) || !strftime(out, size, "%a %b %d %T %Y", &tm)) snprintf(out, size, "unknown");
}

void ompp_text_period(const ompp_profile_t *p, uint64_t *first, uint64_t *last)
{
    *first = *last = 0;
    for (size_t r = 0; r < p->nranks_kept; r++) {
        uint64_t begin = p->ranks[r].begin_epoch_ns, end = begin + p->ranks[r].duration_ns;
        if (r == 0 || begin < *first) *first = begin;
        if (end > *last) *last = end;
    }
}

static void dates(ompp_text_t *t)
{
    char start[64], end[64];
    uint64_t first, last;

    ompp_text_period(t->profile, &first, &last);
    ompp_text_date(first, start, sizeof start);
    ompp_text_date(last, end, sizeof end);
    line(t, "Start Date", start);
    line(t, "End Date", end);
}

const char *ompp_text_type(const ompp_profile_t *p)
{
    static const char *const names[] = {
        [OMPP_END_FINAL] = "final", [OMPP_END_DUMP] = "incremental", [OMPP_END_INCOMPLETE] = "incomplete"};
    uint32_t worst = OMPP_END_FINAL;

    for (size_t r = 0; r < p->nranks_kept; r++)
        if (p->ranks[r].end > worst) worst = p->ranks[r].end;
    return names[worst];
}

/* Nobody knows the time of a process that died. */
static void line_cpu(ompp_text_t *t, const char *name, uint64_t ns, size_t unknown)
{
    char text[100];

    if (!unknown) {
        line_seconds(t, name, ns);
    } else if (ns == 0) {
        line(t, name, "not known");
    } else {
        snprintf(text, sizeof text, "%s sec (not known of %zu ranks)", ompp_text_seconds(t, ns).text, unknown);
        line(t, name, text);
    }
}

static void cpu_times(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    uint64_t user = p->rest_user_ns, system = p->rest_system_ns;
    size_t unknown = 0;

    for (size_t r = 0; r < p->nranks_kept; r++) {
        user += p->ranks[r].user_ns;
        system += p->ranks[r].system_ns;
        unknown += p->ranks[r].end == OMPP_END_INCOMPLETE && p->ranks[r].user_ns + p->ranks[r].system_ns == 0;
    }
    line_cpu(t, "User Time", user, unknown);
    line_cpu(t, "System Time", system, unknown);
}

/* Says which TIDs do not belong to the outermost team; nothing when there are none. */
static void line_tids(ompp_text_t *t, const char *name, uint32_t kind)
{
    const char *between = "";
    uint32_t last = OMPP_NONE;

    for (size_t i = 0; i < t->profile->nlocations; i++) {
        const ompp_location_t *l = &t->profile->locations[t->order[i]];
        if (l->kind != kind || l->rank == OMPP_NONE) continue;
        if (last == OMPP_NONE) label(t, name);
        if (t->show_ranks) fprintf(t->out, "%s%" PRIu32 " of rank %" PRIu32, between, l->tid, l->rank);
        else fprintf(t->out, "%s%" PRIu32, between, l->tid);
        between = ", ";
        last = l->tid;
    }
    if (last != OMPP_NONE) putc('\n', t->out);
}

void ompp_text_hosts(const ompp_text_t *t, const char *separator)
{
    const ompp_profile_t *p = t->profile;
    const char *between = "";

    for (size_t r = 0; r < p->nranks_kept; r++) {
        size_t before = 0;
        while (before < r && p->ranks[before].host != p->ranks[r].host) before++;
        if (before < r) continue;
        char *host = ompp_text_printable(ompp_profile_text(p, p->ranks[r].host), true);
        fprintf(t->out, "%s%s", between, host ? host : "");
        free(host);
        between = separator;
    }
}

/* ---- Processors -------------------------------------------------------------------------------------------------- */

#define MOST_PLACES 4 /* that are listed */

static bool same_place(const ompp_rank_t *a, const ompp_rank_t *b)
{
    return a->processors == b->processors && a->numa_nodes == b->numa_nodes && a->cores == b->cores &&
           a->bound == b->bound && a->host == b->host;
}

static void put_place(ompp_text_t *t, const ompp_rank_t *rank)
{
    const char *nodes = ompp_profile_text(t->profile, rank->numa_nodes);
    const bool several = strpbrk(nodes, "-,") != NULL;

    fprintf(t->out, "%s (%" PRIu32 " %s", ompp_profile_text(t->profile, rank->processors), rank->cores,
            rank->cores == 1 ? "core" : "cores");
    if (*nodes) fprintf(t->out, ", NUMA node%s %s", several ? "s" : "", nodes);
    if (rank->bound)
        fprintf(t->out, ", %" PRIu32 " %s bound to one core%s", rank->bound, rank->bound == 1 ? "thread" : "threads",
                rank->bound == 1 ? "" : " each");
    putc(')', t->out);
}

/* Which processors the ranks may use; those with the same ones together. */
static void line_processors(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    size_t nplaces = 0;

    for (size_t r = 0, end; r < p->nranks_kept; r = end) {
        const ompp_rank_t *rank = &p->ranks[r];
        for (end = r + 1; end < p->nranks_kept && same_place(rank, &p->ranks[end]);) end++;
        if (!rank->processors) continue;
        if (nplaces == 0) label(t, "Processors");
        if (++nplaces > MOST_PLACES) break;
        if (nplaces > 1) fputs("; ", t->out);
        if (end - r > 1) fprintf(t->out, "ranks %" PRIu32 "-%" PRIu32 ": ", rank->rank, p->ranks[end - 1].rank);
        else if (p->nranks > 1) fprintf(t->out, "rank %" PRIu32 ": ", rank->rank);
        put_place(t, rank);
    }
    if (nplaces > MOST_PLACES) fputs("; ...", t->out);
    if (nplaces) putc('\n', t->out);
}

/* ---- MPI --------------------------------------------------------------------------------------------------------- */

const ompp_text_mpi_line_t ompp_text_mpi_lines[] = {
    {"MPI time", OMPP_COLUMN_MPI_T},        {"MPI bytes in", OMPP_COLUMN_IN_V},
    {"MPI bytes out", OMPP_COLUMN_OUT_V},   {"MPI recv calls", OMPP_COLUMN_RECV_C},
    {"MPI send calls", OMPP_COLUMN_SEND_C}, {"MPI collectives", OMPP_COLUMN_COLL_C},
};
const size_t ompp_text_nmpi_lines = sizeof ompp_text_mpi_lines / sizeof ompp_text_mpi_lines[0];

/* ompP's lines of MPI runs: sums over the whole report. */
static void mpi_lines(ompp_text_t *t)
{
    if (!t->show_ranks && t->profile->nranks_kept) {
        label(t, "MPI my rank");
        fprintf(t->out, "%" PRIu32 "\n", t->profile->ranks[0].rank);
    }
    label(t, "MPI num procs");
    fprintf(t->out, "%" PRIu32 "\n", t->profile->nranks);
    label(t, "MPI hostname");
    ompp_text_hosts(t, ", ");
    putc('\n', t->out);
    for (size_t i = 0; i < ompp_text_nmpi_lines; i++) {
        ompp_column_t column = ompp_text_mpi_lines[i].column;
        uint64_t value = t->totals[0].value[column];
        label(t, ompp_text_mpi_lines[i].name);
        if (ompp_columns[column].unit == OMPP_UNIT_NS) fprintf(t->out, "%s\n", ompp_text_seconds_digits(value, 6).text);
        else fprintf(t->out, "%" PRIu64 "\n", value);
    }
}

/* How often, by what, and how many threads have none. */
static void line_samples(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    uint64_t without = 0;

    if (!*ompp_profile_setting(p, "Samples")) return;
    for (size_t i = 0; i < p->ncoverage; i++)
        if (p->coverage[i].kind == OMPP_COVERAGE_UNSAMPLED) without += p->coverage[i].count;
    label(t, "Samples");
    ompp_text_put(t, ompp_profile_setting(p, "Samples"));
    if (without) fprintf(t->out, "; threads without: %" PRIu64, without);
    putc('\n', t->out);
}

void ompp_text_general(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    ompp_layout_title(t->out, "ompP General Information");
    dates(t);
    line_seconds(t, "Duration", t->duration_ns);
    line(t, "Application Name", t->app);
    line(t, "Type of Report", ompp_text_type(p));
    cpu_times(t);
    label(t, "Max Threads");
    fprintf(t->out, "%" PRIu32 "\n", ompp_analysis_max_threads(p));
    line_tids(t, "Nested TIDs", OMPP_THREAD_NESTED);
    line_tids(t, "Other TIDs", OMPP_THREAD_OTHER);
    line_processors(t);
    line_samples(t);
    line(t, "ompP Version", ompp_profile_text(p, p->version));
    line(t, "ompP Build Date", ompp_profile_text(p, p->build_date));
    line(t, "PAPI Support", ompp_text_has_counters(t) ? "available" : "not available");
    if (ompp_text_has_counters(t)) ompp_text_counter_lines(t, line);
    ompp_text_data_lines(t);
    if (p->mpi) mpi_lines(t);
    putc('\n', t->out);
}

/* ---- Region Overview --------------------------------------------------------------------------------------------- */

void ompp_text_overview(ompp_text_t *t)
{
    ompp_layout_title(t->out, "ompP Region Overview");
    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++) {
        size_t n = 0;
        for (size_t i = 0; i < t->nexecuted; i++) n += t->profile->regions[t->regions[i]].construct == c;
        if (!n) continue;
        ompp_layout_group(t->out, ompp_constructs[c].full, n);
        for (size_t i = 0; i < t->nexecuted; i++) {
            if (t->profile->regions[t->regions[i]].construct != c) continue;
            ompp_layout_member(t->out, t->profile->regions[t->regions[i]].number, t->places[t->regions[i]]);
        }
        putc('\n', t->out);
    }
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int write_text(const ompp_profile_t *profile, int digits, bool full, const ompp_view_t *view, FILE *out)
{
    const ompp_profile_t *outline = ompp_outline_new(profile, true);
    ompp_text_t t = {.out = out, .profile = outline, .whole = profile, .view = view, .digits = digits < 0 ? 0 : digits > 9 ? 9 : digits};
    const ompp_plain_locale_t locale = ompp_plain_locale_begin();
    int rc = outline ? ompp_text_prepare(&t) : -OMPP_E_NOMEM;

    if (rc == 0 && view) rc = ompp_text_view(&t);
    else if (rc == 0 && !full) rc = ompp_text_fold(&t, false);
    if (rc == 0) {
        ompp_text_general(&t);
        rc = ompp_text_summary(&t, profile);
        ompp_text_coverage(&t);
        ompp_text_overview(&t);
        ompp_text_callgraph(&t);
        ompp_text_flat(&t);
        ompp_text_callgraph_profiles(&t);
        ompp_text_caution_section(&t);
        if (rc == 0) rc = ompp_text_overheads(&t);
        if (rc == 0) rc = ompp_text_properties(&t);
        if (rc == 0) rc = ompp_text_efficiency(&t);
        if (rc == 0) rc = ompp_text_ideal(&t);
        if (rc == 0) rc = ompp_text_outside(&t);
        if (rc == 0) rc = ompp_text_tasks(&t);
        if (rc == 0) rc = ompp_text_loops(&t);
        if (rc == 0) rc = ompp_text_never(&t);
        if (rc == 0) rc = ompp_text_data(&t);
        if (rc == 0) rc = ompp_text_cache(&t);
        if (rc == 0) rc = ompp_text_samples(&t, profile);
        if (rc == 0) rc = ompp_text_whatif(&t);
    }
    if (outline) ompp_text_release(&t);
    ompp_outline_free(outline, profile);
    ompp_plain_locale_end(locale);
    return rc;
}

int ompp_report_text(const ompp_profile_t *profile, int digits, bool full, FILE *out)
{
    return write_text(profile, digits, full, NULL, out);
}

int ompp_report_view(const ompp_profile_t *profile, int digits, const ompp_view_t *view, FILE *out)
{
    return write_text(profile, digits, false, view, out);
}
