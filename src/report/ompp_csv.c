/**
 * \file
 * The CSV report, in ompP's format: blocks between ##BEG and ##END, commas, times with six digits. Same numbers as the
 * text report.
 */
#include "report/ompp_plain_locale.h"
#include "report/ompp_report.h"
#include "report/ompp_text_path.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_ideal.h"
#include "analysis/ompp_ideal_clocks.h"
#include "analysis/ompp_outline.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_whatif.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 6 /* of times, as printf's %f */

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static void put_text(const ompp_text_t *t, const char *text, bool word) { ompp_text_csv(t->out, text, word); }

static void put_seconds(const ompp_text_t *t, uint64_t ns) { fputs(ompp_text_seconds_digits(ns, DIGITS).text, t->out); }

static void put_number(const ompp_text_t *t, uint32_t region)
{
    ompp_layout_number(t->out, t->profile->regions[region].number);
}

/* A time and its share in percent. */
static void put_share(const ompp_text_t *t, uint64_t ns, double basis_ns)
{
    putc(',', t->out);
    put_seconds(t, ns);
    fprintf(t->out, ",%f", basis_ns > 0 ? 100.0 * (double)ns / basis_ns : 0.0);
}

/* file,begin,end,name: regions without lines have their address there. */
static void put_place(const ompp_text_t *t, uint32_t region)
{
    const ompp_region_t *r = &t->profile->regions[region];
    const ompp_construct_row_t *construct = &ompp_constructs[r->construct];
    bool address = construct->place == OMPP_PLACE_ADDRESS, lines = *ompp_profile_text(t->profile, r->file) && r->begin;

    put_text(t, address ? construct->full : ompp_text_file(t->profile, r), true);
    if (address || (!lines && (r->module != OMPP_NONE || r->addr)))
        fprintf(t->out, ",0x%" PRIx64 ",0x%" PRIx64 ",", r->addr, r->addr_end ? r->addr_end : r->addr);
    else fprintf(t->out, ",%" PRIu32 ",%" PRIu32 ",", r->begin, r->end ? r->end : r->begin);
    put_text(t, ompp_profile_text(t->profile, r->name), true);
}

/* R00001,FULL NAME,file,begin,end,name */
static void put_region(const ompp_text_t *t, uint32_t region)
{
    put_number(t, region);
    fprintf(t->out, ",%s,", ompp_constructs[t->profile->regions[region].construct].full);
    put_place(t, region);
    putc('\n', t->out);
}

/* ---- Header ------------------------------------------------------------------------------------------------------ */

static void put_line(const ompp_text_t *t, const char *key, const char *text)
{
    fprintf(t->out, "%s,", key);
    put_text(t, text, false);
    putc('\n', t->out);
}

/* ompP has the parts of the version in lines of their own. */
static void put_version(const ompp_text_t *t)
{
    static const char *const parts[] = {"Major", "Minor", "Revision"};
    const char *text = ompp_profile_text(t->profile, t->profile->version);

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char *end;
        unsigned long part = strtoul(text, &end, 10);
        fprintf(t->out, "ompP Version %s,%lu\n", parts[i], part);
        text = *end == '.' ? end + 1 : "";
    }
}

static void put_mpi_lines(const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    if (!t->show_ranks && p->nranks_kept) fprintf(t->out, "MPI my rank,%" PRIu32 "\n", p->ranks[0].rank);
    fprintf(t->out, "MPI num procs,%" PRIu32 "\nMPI hostname,", p->nranks);
    ompp_text_hosts(t, " ");
    putc('\n', t->out);
    for (size_t i = 0; i < ompp_text_nmpi_lines; i++) {
        ompp_column_t column = ompp_text_mpi_lines[i].column;
        uint64_t value = t->totals[0].value[column];
        fprintf(t->out, "%s,", ompp_text_mpi_lines[i].name);
        if (ompp_columns[column].unit == OMPP_UNIT_NS) put_seconds(t, value);
        else fprintf(t->out, "%" PRIu64, value);
        putc('\n', t->out);
    }
}

static void put_header(const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    char start[64], end[64];
    uint64_t first, last;

    ompp_text_period(p, &first, &last);
    ompp_text_date(first, start, sizeof start);
    ompp_text_date(last, end, sizeof end);
    fputs("##BEG header separator=,\n", t->out);
    put_line(t, "Start Date", start);
    put_line(t, "End Date", end);
    fputs("Duration,", t->out);
    put_seconds(t, t->duration_ns);
    fputs(",sec\n", t->out);
    put_line(t, "Application Name", t->app);
    put_line(t, "Type of Report", ompp_text_type(p));
    fprintf(t->out, "Thread Count,%" PRIu32 "\n", ompp_analysis_max_threads(p));
    put_version(t);
    put_line(t, "ompP Build Date", ompp_profile_text(p, p->build_date));
    put_line(t, "PAPI Support", ompp_text_has_counters(t) ? "available" : "not available");
    if (ompp_text_has_counters(t)) ompp_text_counter_lines(t, put_line);
    ompp_text_data_csv_lines(t);
    if (p->mpi) put_mpi_lines(t);
    fputs("##END header\n", t->out);
}

/* ---- Regions and call graph -------------------------------------------------------------------------------------- */

static void put_overview(const ompp_text_t *t)
{
    fputs("##BEG region overview\n", t->out);
    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++) {
        size_t n = 0;
        for (size_t i = 0; i < t->nexecuted; i++) n += t->profile->regions[t->regions[i]].construct == c;
        if (n) fprintf(t->out, "%s,%zu\n", ompp_constructs[c].full, n);
        for (size_t i = 0; n && i < t->nexecuted; i++)
            if (t->profile->regions[t->regions[i]].construct == c) put_region(t, t->regions[i]);
    }
    fputs("##END region overview\n\n", t->out);
}

static void put_callgraph(const ompp_text_t *t)
{
    fputs("##BEG ompp callgraph\nInclusive,(%),Exclusive,(%)\n", t->out);
    put_seconds(t, t->duration_ns);
    fputs(",100.0", t->out);
    put_share(t, ompp_text_exclusive(t, 0), (double)t->duration_ns);
    fputs(",0,[", t->out);
    put_text(t, t->app, false);
    fprintf(t->out, ": %" PRIu64 " threads]\n", t->nslots);
    for (size_t i = 0; i < t->nordered; i++) {
        uint64_t inclusive = ompp_text_inclusive(t, t->nodes[i]);
        put_seconds(t, inclusive);
        fprintf(t->out, ",%f", ompp_text_percent(inclusive, t->duration_ns));
        put_share(t, ompp_text_exclusive(t, t->nodes[i]), (double)t->duration_ns);
        fprintf(t->out, ",%" PRIu32 ",", t->depth[t->nodes[i]]);
        put_region(t, t->profile->nodes[t->nodes[i]].region);
    }
    fputs("##END ompp callgraph\n\n", t->out);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void put_row(const ompp_text_t *t, ompp_row_kind_t kind, uint32_t rank, uint32_t tid,
                    const ompp_text_column_t *columns, size_t n, const ompp_row_t *row)
{
    if (kind == OMPP_ROW_THREAD) {
        if (t->show_ranks) fprintf(t->out, "%" PRIu32 ",", rank);
        fprintf(t->out, "%" PRIu32, tid);
    } else if (kind == OMPP_ROW_OTHERS) {
        fputs(t->show_ranks ? "oth,-" : "oth", t->out);
    } else {
        fputs(t->show_ranks ? "SUM," : "SUM", t->out);
    }
    for (size_t c = 0; c < n; c++) {
        if (columns[c].kind != OMPP_TEXT_COLUMN) {
            ompp_text_counter_csv(t, &columns[c], row);
            continue;
        }
        uint64_t value = ompp_text_value(&columns[c], row);
        putc(',', t->out);
        if (ompp_columns[columns[c].id].unit == OMPP_UNIT_NS) put_seconds(t, value);
        else fprintf(t->out, "%" PRIu64, value);
    }
    putc('\n', t->out);
}

static void put_table(ompp_text_t *t, unsigned construct, bool split)
{
    const ompp_text_column_t *columns = t->columns;
    size_t n = ompp_text_columns(t, construct, split);

    fputs(t->show_ranks ? "RANK,TID" : "TID", t->out);
    for (size_t c = 0; c < n; c++)
        if (columns[c].kind != OMPP_TEXT_COLUMN) ompp_text_counter_csv_title(t, &columns[c]);
        else fprintf(t->out, ",%s%s", ompp_columns[columns[c].id].title, columns[c].suffix);
    putc('\n', t->out);
    ompp_text_rows(t, construct, split, put_row);
}

static void put_bracket(const ompp_text_t *t, const char *side, uint32_t region, const char *what)
{
    fprintf(t->out, "##%s ", side);
    put_number(t, region);
    fprintf(t->out, " %s\n", what);
}

static void put_flat(ompp_text_t *t)
{
    fputs("##BEG flat region profiles\n", t->out);
    for (size_t i = 0; i < t->nexecuted; i++) {
        uint32_t region = t->regions[i];
        put_bracket(t, "BEG", region, "flat profile");
        put_region(t, region);
        ompp_text_gather_region(t, region);
        put_table(t, t->profile->regions[region].construct, false);
        put_bracket(t, "END", region, "flat profile\n");
    }
    fputs("##END flat region profiles\n\n", t->out);
}

static void put_path(ompp_text_t *t, uint32_t node)
{
    uint32_t depth = ompp_text_path(t, node);

    fputs("[*00],", t->out);
    put_text(t, t->app, false);
    putc('\n', t->out);
    for (uint32_t d = 0; d < depth; d++) {
        fprintf(t->out, "[%c%02" PRIu32 "],", t->has_child[t->path[d]] ? '+' : '=', d + 1);
        put_region(t, t->profile->nodes[t->path[d]].region);
    }
}

static void put_callgraph_profiles(ompp_text_t *t)
{
    fputs("##BEG callgraph region profiles\n", t->out);
    for (size_t i = 0; i < t->nordered; i++) {
        uint32_t node = t->nodes[i], region = t->profile->nodes[node].region;
        put_bracket(t, "BEG", region, "callgraph profile");
        put_path(t, node);
        ompp_text_gather_node(t, node);
        put_table(t, t->profile->regions[region].construct, true);
        put_bracket(t, "END", region, "callgraph profile\n");
    }
    fputs("##END callgraph region profiles\n\n", t->out);
}

/* ---- Overheads --------------------------------------------------------------------------------------------------- */

static void put_wallclock(const ompp_text_t *t, const ompp_text_overheads_t *o)
{
    fputs("##BEG parallel regions sorted by wallclock time\n,Type,Wallclock,(%)", t->out);
    ompp_text_counter_titles(t, ompp_text_counter_csv_title);
    putc('\n', t->out);
    for (size_t i = 0; i < o->n; i++) {
        uint32_t region = o->lines[i].values.region;
        put_number(t, region);
        fprintf(t->out, ",%s", ompp_constructs[t->profile->regions[region].construct].brief);
        put_share(t, o->lines[i].values.wall_ns, (double)t->duration_ns);
        ompp_text_counter_sums(t, region, ompp_text_counter_csv);
        putc('\n', t->out);
    }
    /* ompP's columns: the wallclock of the sum stands under Type. */
    fputs("SUM,", t->out);
    put_seconds(t, o->coverage_ns);
    fprintf(t->out, ",,%f", ompp_text_percent(o->coverage_ns, t->duration_ns));
    ompp_text_counter_sums(t, OMPP_NONE, ompp_text_counter_csv);
    putc('\n', t->out);
    fputs("##END parallel regions sorted by wallclock time\n\n", t->out);
}

static void put_titles(const ompp_text_t *t, const char *what)
{
    fprintf(t->out, "##BEG overheads for %s\n,Total,Ovhds,(%%)", what);
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++)
        if (ompp_text_has_class(t, c)) fprintf(t->out, ",%s,(%%)", ompp_classes[c].title);
    putc('\n', t->out);
}

/* What follows the number of a region, or SUM. */
static void put_classes(const ompp_text_t *t, const ompp_text_overhead_t *line, double basis_ns)
{
    putc(',', t->out);
    put_seconds(t, line->values.total_ns);
    put_share(t, line->sum_ns, basis_ns);
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++)
        if (ompp_text_has_class(t, c)) put_share(t, line->values.class_ns[c], basis_ns);
    putc('\n', t->out);
}

static void put_each(const ompp_text_t *t, const ompp_text_overheads_t *o)
{
    put_titles(t, "parallel region");
    for (size_t i = 0; i < o->n; i++) {
        put_number(t, o->lines[i].values.region);
        put_classes(t, &o->lines[i], (double)o->lines[i].values.total_ns);
    }
    fputs("##END overheads for parallel region\n\n", t->out);
}

static void put_whole(const ompp_text_t *t, const ompp_text_overheads_t *o)
{
    double basis = (double)t->duration_ns * (double)t->nslots;

    put_titles(t, "whole program");
    for (size_t i = 0; i < o->n; i++) {
        put_number(t, o->lines[i].values.region);
        put_classes(t, &o->lines[i], basis);
    }
    fputs("SUM", t->out);
    put_classes(t, &o->sum, basis);
    fputs("##END overheads for whole program\n\n", t->out);
}

static int put_overheads(const ompp_text_t *t)
{
    ompp_text_overheads_t o;
    int rc = ompp_text_overhead_lines(t, &o);

    if (rc) return rc;
    fputs("##BEG overhead analysis report\nTotal runtime (wallclock) [secs],", t->out);
    put_seconds(t, t->duration_ns);
    fprintf(t->out, "\nNumber of threads,%" PRIu64 "\nNumber of parallel regions,%zu\nParallel coverage [secs],",
            t->nslots, o.nregions);
    put_seconds(t, o.coverage_ns);
    fprintf(t->out, "\nParallel coverage [percent],%f\n\n", ompp_text_percent(o.coverage_ns, t->duration_ns));
    put_wallclock(t, &o);
    put_each(t, &o);
    ompp_text_overhead_by_sum(&o);
    put_whole(t, &o);
    fputs("##END overhead analysis report\n\n", t->out);
    free(o.lines);
    return 0;
}

/* ---- What ompP does not have ------------------------------------------------------------------------------------- */

/* ompP's block: the severity is a fraction here. */
static int put_properties(const ompp_text_t *t)
{
    ompp_finding_t *findings;
    size_t n;
    double basis = ompp_analysis_basis(t->profile);
    int rc = ompp_analysis_properties(t->profile, t->paths, &findings, &n);

    if (rc) return rc;
    fputs("##BEG ompp performance properties report\n", t->out);
    for (size_t i = 0; i < n; i++) {
        const char *place = findings[i].region == OMPP_NONE ? t->app : t->places[findings[i].region];
        fprintf(t->out, "%s,", ompp_properties[findings[i].property].name);
        put_text(t, place, false);
        fprintf(t->out, ",%f\n", basis > 0 ? (double)findings[i].lost_ns / basis : 0.0);
    }
    fputs("##END ompp performance properties report\n\n", t->out);
    free(findings);
    return 0;
}

static void put_pop(const ompp_text_t *t, const ompp_pop_t *pop)
{
    fprintf(t->out, ",%f,%f,%f", pop->parallel, pop->balance, pop->communication);
}

/* Not known: empty. */
static void put_division(const ompp_text_t *t, const ompp_pop_t *pop)
{
    const double values[] = {pop->serialisation, pop->transfer, pop->low, pop->high};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (values[i] > 0) fprintf(t->out, ",%f", values[i]);
        else putc(',', t->out);
}

/* Times in whole ns, which add up: Thread ns = Useful ns + all losses. The run has no region. */
static void put_efficiencies(const ompp_text_t *t, const ompp_efficiency_t *all, size_t n)
{
    static const char *const levels[] = {"", "MPI ", "OpenMP "};

    fputs("##BEG ompp efficiency\nThread ns,Threads,Ranks,Useful ns,Parallel,Balance,Communication,MPI,MPI balance,"
          "MPI communication,OpenMP,OpenMP balance,OpenMP communication",
          t->out);
    for (unsigned lost = 0; lost < OMPP_LOST_NUM; lost++) fprintf(t->out, ",%s ns", ompp_lost_rows[lost].name);
    for (unsigned level = 0; level < 3; level++)
        fprintf(t->out, ",%1$sserialisation,%1$stransfer,%1$stransfer low,%1$stransfer high", levels[level]);
    fputs(",Region,Type,File,Begin,End,Name\n", t->out);
    for (size_t i = 0; i < n; i++) {
        const ompp_efficiency_t *e = &all[i];
        fprintf(t->out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, e->thread_ns, e->nthreads, e->nranks,
                e->useful_ns);
        put_pop(t, &e->all);
        put_pop(t, &e->mpi);
        put_pop(t, &e->openmp);
        for (unsigned lost = 0; lost < OMPP_LOST_NUM; lost++) fprintf(t->out, ",%" PRIu64, e->lost_ns[lost]);
        put_division(t, &e->all);
        put_division(t, &e->mpi);
        put_division(t, &e->openmp);
        putc(',', t->out);
        if (e->region != OMPP_NONE) put_region(t, e->region);
        else fputs(",,,,,\n", t->out);
    }
    fputs("##END ompp efficiency\n\n", t->out);
}

/* One line for each call path and what it loses to; Depth: regions above it. They add up to what the run loses. */
static void put_losses(const ompp_text_t *t, const ompp_loss_t *losses, size_t n)
{
    fputs("##BEG ompp loss budget\nLoss,Level,Lost ns,Rank,Of that rank ns,Node,Region,Type,File,Begin,End,Name\n",
          t->out);
    for (size_t i = 0; i < n; i++) {
        fprintf(t->out, "%s,%s,%" PRIu64 ",", ompp_lost_rows[losses[i].lost].name,
                ompp_lost_rows[losses[i].lost].level == OMPP_LEVEL_MPI ? "MPI" : "OpenMP", losses[i].lost_ns);
        if (losses[i].rank != OMPP_NONE) fprintf(t->out, "%" PRIu32 ",%" PRIu64 ",", losses[i].rank, losses[i].rank_ns);
        else fputs(",,", t->out);
        if (losses[i].node != OMPP_NONE) fprintf(t->out, "%" PRIu32, losses[i].node);
        putc(',', t->out);
        if (losses[i].region != OMPP_NONE) put_region(t, losses[i].region);
        else fputs(",,,,,\n", t->out);
    }
    fputs("##END ompp loss budget\n\n", t->out);
}

static int put_efficiency(const ompp_text_t *t)
{
    ompp_efficiency_t *all;
    ompp_loss_t *losses;
    size_t n, nlosses;
    const int rc = ompp_analysis_efficiency(t->profile, t->paths, &all, &n, &losses, &nlosses);

    if (rc == 0 && n) {
        put_efficiencies(t, all, n);
        put_losses(t, losses, nlosses);
    }
    free(all);
    free(losses);
    return rc;
}

/* Gains in percent of the run time; those that are not determined are empty. */
static int put_ideal(const ompp_text_t *t)
{
    ompp_gain_range_t gains[OMPP_IDEAL_NUM];
    ompp_lock_gain_t locks[OMPP_IDEAL_NLOCKS];
    ompp_tiny_t *tiny;
    size_t n;
    const int rc = ompp_analysis_ideal(t->profile, t->paths, gains, &tiny, &n);

    if (rc == 0) fputs("##BEG ompp ideal\nScenario,Low,High,Region\n", t->out);
    for (unsigned i = 0; rc == 0 && i < OMPP_IDEAL_NUM; i++) {
        fprintf(t->out, "%s,", ompp_ideal_rows[i].name);
        if (gains[i].known) fprintf(t->out, "%f,%f,\n", 100 * gains[i].low, 100 * gains[i].high);
        else fputs(",,\n", t->out);
    }
    const size_t nlocks = rc == 0 ? ompp_analysis_ideal_locks(t->profile, &gains[OMPP_IDEAL_LOCKS], locks) : 0;
    for (size_t i = 0; i < nlocks; i++)
        fprintf(t->out, "%s,%f,%f,R%05" PRIu32 "\n", OMPP_IDEAL_ONE_LOCK, 100 * locks[i].gain.low,
                100 * locks[i].gain.high, t->profile->regions[locks[i].region].number);
    if (rc == 0) fputs("##END ompp ideal\n\n", t->out);
    free(tiny);
    return rc;
}

/* Of the run; To, From empty: of several ranks together. */
static void put_messages(const ompp_text_t *t)
{
    if (!t->profile->nmessages) return;
    fputs("##BEG ompp messages\nFrom,To,Messages,Bytes\n", t->out);
    for (size_t i = 0; i < t->profile->nmessages; i++) {
        const ompp_message_t *m = &t->profile->messages[i];
        if (m->from != OMPP_NONE) fprintf(t->out, "%" PRIu32, m->from);
        putc(',', t->out);
        if (m->to != OMPP_NONE) fprintf(t->out, "%" PRIu32, m->to);
        fprintf(t->out, ",%" PRIu64 ",%" PRIu64 "\n", m->messages, m->bytes);
    }
    fputs("##END ompp messages\n\n", t->out);
}

/* "a b" of the bits. */
static void put_flags(const ompp_text_t *t, const ompp_whatif_result_t *r)
{
    const char *between = "";

    for (unsigned i = 0; i < OMPP_WHATIF_FLAG_NUM; i++) {
        if (!(r->flags & 1u << i)) continue;
        fprintf(t->out, "%s%s", between, ompp_whatif_flags[i].name);
        between = " ";
    }
    fprintf(t->out, "%s", r->contention ? *between ? " contention" : "contention" : "");
}

/* A line per region and speed-up; gains are in percent, as in the text. Fields of what is not known are empty. */
static void put_gain(const ompp_text_t *t, const ompp_whatif_result_t *r, const ompp_gain_t *g)
{
    fprintf(t->out, "%f,%f,%f,", g->permille / 10.0, 100 * r->share, 100 * g->gain);
    if (g->interval == OMPP_INTERVAL_KNOWN) fprintf(t->out, "%f,%f", 100 * g->low, 100 * g->high);
    else putc(',', t->out);
    fprintf(t->out, ",%f,", r->slope);
    if (r->knee) fprintf(t->out, "%f", r->knee / 10.0);
    fprintf(t->out, ",%" PRIu64 ",", g->observations);
    put_flags(t, r);
    putc(',', t->out);
    if (r->region != OMPP_NONE) put_region(t, r->region);
    else fputs("," OMPP_WHATIF_OUTSIDE ",,,,\n", t->out);
}

static int put_whatif(const ompp_text_t *t)
{
    const char *why = ompp_whatif_why(t->profile);
    ompp_whatif_result_t *results;
    size_t n;
    int rc;

    if (t->profile->whatif.mode == OMPP_WHATIF_OFF || ompp_whatif_is_unasked(t->profile)) return 0;
    rc = ompp_analysis_whatif(t->profile, &results, &n);
    if (rc) return rc;
    fprintf(t->out, "##BEG ompp what-if\nMode,%s\n", ompp_whatif_modes[t->profile->whatif.mode]);
    if (why) put_line(t, "No result", why);
    fputs("Speed-up,Share,Gain,Low,High,Slope,Knee,Observations,Flags,Region,Type,File,Begin,End,Name\n", t->out);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
            if (results[i].gains[k].permille) put_gain(t, &results[i], &results[i].gains[k]);
    fputs("##END ompp what-if\n\n", t->out);
    free(results);
    return 0;
}

static void put_coverage(const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    char folded[300];

    fputs("##BEG ompp coverage\nKind,Subject,Reason,Count,Ranks\n", t->out);
    for (uint32_t kind = 0; kind < OMPP_COVERAGE_NUM; kind++)
        for (size_t i = 0; i < p->ncoverage; i++) {
            const ompp_coverage_t *c = &p->coverage[i];
            if (c->kind != kind) continue;
            fprintf(t->out, "%s,", ompp_coverage_rows[kind].name);
            put_text(t, ompp_profile_text(p, c->subject), false);
            putc(',', t->out);
            put_text(t, ompp_profile_text(p, c->reason), false);
            fprintf(t->out, ",%" PRIu64 ",%" PRIu32 "\n", c->count, c->nranks);
        }
    if (ompp_text_folded(t, folded, sizeof folded)) {
        fprintf(t->out, "%s,", ompp_coverage_rows[OMPP_COVERAGE_NOTE].name);
        put_text(t, folded, false);
        fputs(",,1,0\n", t->out);
    }
    fputs("##END ompp coverage\n\n", t->out);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

int ompp_report_csv(const ompp_profile_t *profile, bool full, FILE *out)
{
    const ompp_profile_t *outline = ompp_outline_new(profile, true);
    ompp_text_t t = {.out = out, .profile = outline, .digits = DIGITS};
    const ompp_plain_locale_t locale = ompp_plain_locale_begin();
    int rc = outline ? ompp_text_prepare(&t) : -OMPP_E_NOMEM;

    if (rc == 0 && !full) rc = ompp_text_fold(&t, true);
    if (rc == 0) {
        put_header(&t);
        put_overview(&t);
        put_callgraph(&t);
        put_flat(&t);
        put_callgraph_profiles(&t);
        rc = put_overheads(&t);
        if (rc == 0) rc = put_properties(&t);
        if (rc == 0) rc = put_efficiency(&t);
        if (rc == 0) rc = put_ideal(&t);
        if (rc == 0) put_messages(&t);
        if (rc == 0) rc = ompp_text_data_csv(&t);
        if (rc == 0) rc = ompp_text_cache_csv(&t);
        if (rc == 0) rc = ompp_text_samples_csv(&t, profile);
        if (rc == 0) ompp_path_counters_csv(&t, profile);
        if (rc == 0) rc = put_whatif(&t);
        if (rc == 0) put_coverage(&t);
    }
    if (outline) ompp_text_release(&t);
    ompp_outline_free(outline, profile);
    ompp_plain_locale_end(locale);
    return rc;
}
