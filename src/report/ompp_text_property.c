/**
 * \file
 * Performance Properties Report, in ompP's layout, and what to do about each; and the section on time outside parallel
 * regions.
 */
#include "config.h"

#include "report/ompp_text_priv.h"

#include "analysis/ompp_own.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_serial.h"
#include "base/ompp_error.h"
#include "base/ompp_path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Properties -------------------------------------------------------------------------------------------------- */

char *ompp_text_subject(const ompp_text_t *t, uint32_t region)
{
    const ompp_construct_row_t *construct;
    char *text;
    int n;

    if (region == OMPP_NONE) return asprintf(&text, "PROGRAM %s", t->app) < 0 ? NULL : text;
    construct = &ompp_constructs[t->profile->regions[region].construct];
    if (construct->place == OMPP_PLACE_ADDRESS) n = asprintf(&text, "%s", t->places[region]);
    else n = asprintf(&text, "%s %s", construct->full, t->places[region]);
    return n < 0 ? NULL : text;
}

/* A short time, as "0.05 us" or "12.3 ms". */
static void put_short_time(FILE *out, uint64_t ns)
{
    static const struct {
        double below_ns, unit_ns;
        const char *unit;
    } units[] = {{1e6, 1e3, "us"}, {1e9, 1e6, "ms"}, {1e30, 1e9, "s"}};
    size_t u = 0;

    while ((double)ns >= units[u].below_ns) u++;
    const double value = (double)ns / units[u].unit_ns;
    fprintf(out, "%.*f %s", value < 0.1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0, value, units[u].unit);
}

/*
 * Where the program works outside of parallel regions, by samples: late as of ompp_analysis_serial_place().
 * \return false = not known; nothing is put then.
 */
static bool put_serial_place(const ompp_text_t *t, const ompp_late_t *late, const char *before, FILE *out)
{
    const uint32_t index = t->whole ? ompp_analysis_serial_place(t->whole, late) : OMPP_NONE;

    if (index == OMPP_NONE) return false;
    const ompp_region_t *r = &t->whole->regions[index];
    const bool inlined = r->construct == OMPP_CONSTRUCT_INLINED;
    char *function = ompp_text_printable(ompp_profile_text(t->whole, inlined ? r->name : r->function), false);
    const char *file = ompp_path_last(ompp_profile_text(t->whole, r->file));
    fprintf(out, "%s%s", before, r->construct == OMPP_CONSTRUCT_SOURCE_LOOP ? "a loop of " : "");
    fprintf(out, "%s", function && *function ? function : "a function without a name");
    if (*file && r->begin) fprintf(out, "%s at %s (%" PRIu32 ")", inlined ? ", called" : "", file, r->begin);
    putc('.', out);
    free(function);
    return true;
}

/* By how much a late rank works longer, and where. */
static void put_longer(const ompp_text_t *t, const ompp_finding_t *f, FILE *out)
{
    static const char most[] = " longer than the others, most of it in ";
    const ompp_late_t late = {f->rank, f->more_ns};
    char *where = f->where == OMPP_NONE ? NULL : ompp_text_subject(t, f->where);
    const size_t rank = ompp_analysis_rank_index(t->profile, f->rank);
    const bool several = rank < t->profile->nranks_kept && t->profile->ranks[rank].nthreads > 1;

    fputs(" It works ", out);
    put_short_time(out, f->more_ns);
    if (several) fputs(" of thread time", out);
    if (where) fprintf(out, "%s%s.", most, where);
    else if (!put_serial_place(t, &late, most, out)) fprintf(out, "%swhat is outside of regions.", most);
    free(where);
}

char *ompp_text_advice(const ompp_text_t *t, const ompp_finding_t *f)
{
    const ompp_region_t *region = f->region == OMPP_NONE ? NULL : &t->profile->regions[f->region];
    const bool mpi = region && region->construct == OMPP_CONSTRUCT_MPI;
    const char *c = ompp_property_advice(f->property, mpi ? ompp_profile_text(t->profile, region->name) : NULL);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out) return NULL;
    if (f->waited_permille)
        fprintf(out, "Threads waited %.1f %% of their time for a processor, which may explain this. Else: ",
                (double)f->waited_permille / 10);
    for (; *c; c++) {
        if (*c != '%') putc(*c, out);
        else if (*++c == 'r') fprintf(out, "%" PRIu32, f->rank);
        else if (*c == 'n') fprintf(out, "%" PRIu64, f->count);
        else if (*c == 't') put_short_time(out, f->each_ns);
        else fprintf(out, "%%%c", *c);
    }
    if (f->rank != OMPP_NONE && f->more_ns) put_longer(t, f, out);
    if (f->property == OMPP_PROPERTY_SERIAL_PROGRAM) put_serial_place(t, NULL, " Most of its work is in ", out);
    if (f->own_permille >= 1000 * OMPP_OWN_WORTH || (double)f->own_ns >= OMPP_OWN_WORTH * (double)f->lost_ns)
        fprintf(out,
                OMPP_TEXT_OWN_MARK
                "Measuring took %.1f %% of this region's time. That is subtracted; waits that it causes "
                "are not.",
                (double)f->own_permille / 10);
    return fclose(out) == 0 ? text : (free(text), NULL);
}

static void print_advice(const ompp_text_t *t, const ompp_finding_t *f)
{
    char *advice = ompp_text_advice(t, f);

    fprintf(t->out, "     %s\n\n", advice ? advice : "");
    free(advice);
}

int ompp_text_properties(ompp_text_t *t)
{
    ompp_finding_t *findings;
    size_t n, listed = 0;
    double basis = ompp_analysis_basis(t->profile);
    int rc = ompp_analysis_properties(t->profile, t->paths, &findings, &n);

    if (rc) return rc;
    ompp_layout_title(t->out, "ompP Performance Properties Report");
    ompp_text_cautions(t);
    putc('\n', t->out);
    for (; listed < n && ompp_text_is_listed(t, &findings[listed]); listed++) {
        const ompp_finding_t *f = &findings[listed];
        char *subject = ompp_text_subject(t, f->region), percent[32];
        const char *name = ompp_properties[f->property].name;
        snprintf(percent, sizeof percent, "%f", 100.0 * (double)f->lost_ns / basis);
        ompp_layout_property(t->out, listed + 1, name, strlen(name), "", subject ? subject : "",
                             subject ? strlen(subject) : 0, percent);
        print_advice(t, f);
        free(subject);
    }
    if (n > listed) fprintf(t->out, "Below %.1f percent, and not listed: %zu\n\n", OMPP_TEXT_LEAST_PERCENT, n - listed);
    if (n == 0) fputs("None.\n\n", t->out);
    free(findings);
    return 0;
}

/* ---- Outside parallel regions ------------------------------------------------------------------------------------ */

static void print_cell(ompp_text_t *t, uint64_t ns)
{
    ompp_layout_cell(t->out, OMPP_WIDTH_VALUE + t->extra, ompp_text_short_seconds(t, ns).text);
}

static void print_titles(ompp_text_t *t)
{
    static const char *const titles[] = {"Wallclock", "Parallel", "MPI", "Serial"};

    fputs(" RANK  Threads", t->out);
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        ompp_layout_cell(t->out, OMPP_WIDTH_VALUE + t->extra, titles[i]);
    fputs("  Host\n", t->out);
}

static void print_rank(ompp_text_t *t, const ompp_rank_t *rank, const ompp_rank_time_t *time)
{
    char *host = ompp_text_printable(ompp_profile_text(t->profile, rank->host), true);

    fprintf(t->out, " %4" PRIu32 " %8" PRIu32, rank->rank, rank->nthreads);
    print_cell(t, rank->duration_ns);
    print_cell(t, time->parallel_ns);
    print_cell(t, time->mpi_ns);
    print_cell(t, time->serial_ns);
    fprintf(t->out, "  %s\n", host ? host : "");
    free(host);
}

/* Ranks that stand out: with the most and the least time alone. */
static void choose(ompp_text_t *t, const ompp_rank_time_t *times)
{
    for (size_t r = 0; r < t->profile->nranks_kept; r++) t->rank_exec[r] = times[r].serial_ns;
    ompp_text_choose_ranks(t);
}

int ompp_text_outside(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    ompp_rank_time_t *times;
    size_t omitted = p->nrest;

    if (!p->mpi || !p->nranks_kept) return 0;
    times = calloc(p->nranks_kept, sizeof *times);
    if (!times) return -OMPP_E_NOMEM;
    ompp_analysis_rank_times(p, t->paths, times);
    choose(t, times);
    ompp_layout_title(t->out, "ompp Outside Parallel Regions");
    fputs(
        "Of the wallclock of each rank, as its first thread sees it: in parallel regions, in MPI calls outside them, "
        "and the rest, in\n"
        "which the rank works alone. Only MPI calls inside parallel regions stand in the Overhead Analysis Report.\n\n",
        t->out);
    print_titles(t);
    for (size_t r = 0; r < p->nranks_kept; r++) {
        if (t->rank_shown[r]) print_rank(t, &p->ranks[r], &times[r]);
        else omitted++;
    }
    if (omitted) fprintf(t->out, "Not shown: %zu ranks\n", omitted);
    putc('\n', t->out);
    free(times);
    return 0;
}
