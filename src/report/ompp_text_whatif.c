/**
 * \file
 * Section ompp What-if: what the program gains if a region is faster. ompP does not have it.
 */
#include "config.h"

#include "base/ompp_utf8.h"
#include "report/ompp_text_whatif_priv.h"

#include "analysis/ompp_ideal_clocks.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 10      /* regions to fix first */
#define WORTH_IT 0.005 /* gain of a region that is listed there */
#define WIDTH 9
#define UNTRIED 3 /* regions named of those that were not tried */

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static void put_percent(ompp_text_t *t, double part)
{
    char text[32];

    snprintf(text, sizeof text, "%.1f", ompp_text_part(part));
    ompp_layout_cell(t->out, WIDTH, text);
}

static void put_gain(ompp_text_t *t, const ompp_gain_t *gain)
{
    char text[32];

    snprintf(text, sizeof text, "%.1f%s", ompp_text_part(gain->gain), gain->chance ? "?" : "");
    ompp_layout_cell(t->out, WIDTH, text);
}

static const ompp_gain_t *gain_at(const ompp_gain_t gains[OMPP_WHATIF_SPEEDUPS], uint32_t permille)
{
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++)
        if (gains[i].permille == permille) return &gains[i];
    return NULL;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* Speed-ups that have a column, permille, in ascending order. */
typedef struct {
    uint32_t permille[2 * OMPP_WHATIF_SPEEDUPS];
    size_t n;
} columns_t;

static void add_column(columns_t *c, uint32_t permille)
{
    size_t at = c->n;

    for (size_t i = 0; i < c->n; i++)
        if (c->permille[i] == permille) return;
    if (!permille || c->n == sizeof c->permille / sizeof c->permille[0]) return;
    for (c->n++; at > 0 && c->permille[at - 1] > permille; at--) c->permille[at] = c->permille[at - 1];
    c->permille[at] = permille;
}

/* Those of a run that tries one alone (OMPP_CAUSAL_SPEEDUP), or else the usual ones. */
static columns_t columns_of(const ompp_whatif_result_t *results, size_t n)
{
    columns_t tried = {.n = 0};

    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) add_column(&tried, results[i].gains[k].permille);
    if (tried.n == 1) return tried;
    for (uint32_t permille = 250; permille <= 1000; permille += 250) add_column(&tried, permille);
    return tried;
}

static void print_columns(ompp_text_t *t, const columns_t *columns)
{
    char text[32];

    for (size_t i = 0; i < columns->n; i++) {
        snprintf(text, sizeof text, "%" PRIu32 " %%", columns->permille[i] / 10);
        ompp_layout_cell(t->out, WIDTH, text);
    }
}

static void print_titles(ompp_text_t *t, const columns_t *columns)
{
    fprintf(t->out, "%16s %*s", "Type", OMPP_WIDTH_PLACE, "Location");
    ompp_layout_cell(t->out, WIDTH, "share");
    print_columns(t, columns);
    fprintf(t->out, " %17s", "95 % interval");
    ompp_layout_cell(t->out, WIDTH, "slope");
    ompp_layout_cell(t->out, WIDTH, "knee");
    ompp_layout_cell(t->out, WIDTH, "n");
    fputs("  flags\n", t->out);
}

static void print_interval(ompp_text_t *t, const ompp_gain_t *gain)
{
    char text[64] = "not determined";

    if (gain->interval == OMPP_INTERVAL_KNOWN)
        snprintf(text, sizeof text, "%.1f to %.1f", ompp_text_part(gain->low), ompp_text_part(gain->high));
    fprintf(t->out, " %17s", text);
}

static void print_knee(ompp_text_t *t, const ompp_whatif_result_t *r)
{
    char text[32] = "-";

    if (r->knee) snprintf(text, sizeof text, "%.0f", r->knee / 10.0);
    ompp_layout_cell(t->out, WIDTH, text);
}

/* What is outside of all regions has no number and no type. */
static void print_region(ompp_text_t *t, uint32_t index)
{
    const bool outside = index == OMPP_NONE;
    const char *place = outside ? OMPP_WHATIF_OUTSIDE : t->places[index] ? t->places[index] : "";
    const size_t used = ompp_utf8_width(place);

    if (outside) fprintf(t->out, "%6s", "");
    else ompp_layout_number(t->out, t->profile->regions[index].number);
    fprintf(t->out, "  %8s %*s%s", outside ? "" : ompp_constructs[t->profile->regions[index].construct].brief,
            used < OMPP_WIDTH_PLACE ? OMPP_WIDTH_PLACE - (int)used : 0, "", place);
}

/* While it was followed; a region that was followed all the time and did nothing gains nothing. */
static bool was_observed(const ompp_whatif_result_t *r, const ompp_gain_t *gain)
{
    return gain->observations > 0 || !(r->flags & OMPP_WHATIF_F_PARTLY);
}

/* Observations of the gain that has the fewest. */
static uint64_t fewest(const ompp_whatif_result_t *r)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++)
        if (r->gains[i].permille && r->gains[i].observations < least) least = r->gains[i].observations;
    return least;
}

static void print_row(ompp_text_t *t, const ompp_whatif_result_t *r, const columns_t *columns)
{
    char text[32];

    print_region(t, r->region);
    put_percent(t, r->share);
    for (size_t i = 0; i < columns->n; i++) {
        const ompp_gain_t *gain = gain_at(r->gains, columns->permille[i]);
        if (gain && was_observed(r, gain)) put_gain(t, gain);
        else ompp_layout_cell(t->out, WIDTH, "-");
    }
    print_interval(t, ompp_whatif_most(r));
    snprintf(text, sizeof text, "%.2f", ompp_text_part(r->slope) / 100);
    ompp_layout_cell(t->out, WIDTH, text);
    print_knee(t, r);
    snprintf(text, sizeof text, "%" PRIu64, fewest(r));
    ompp_layout_cell(t->out, WIDTH, text);
    ompp_text_whatif_warnings(t, r);
}

/* Nothing of it would be seen in a row: neither work nor a gain. */
static bool is_nothing(const ompp_whatif_result_t *r)
{
    double most = r->share;

    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++)
        if (r->gains[i].permille) most = fmax(most, fmax(fabs(r->gains[i].gain), r->gains[i].high));
    return ompp_text_part(most) < 0.05;
}

static void print_name(ompp_text_t *t, const char *before, uint32_t region)
{
    fprintf(t->out, "%s ", before);
    if (region == OMPP_NONE) fputs(OMPP_WHATIF_OUTSIDE, t->out);
    else fprintf(t->out, "R%05" PRIu32, t->profile->regions[region].number);
}

/* Of which regions the interval is not known, and why. */
static void print_not_determined(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n, ompp_interval_t which,
                                 const char *why)
{
    const char *between = "Not determined:";

    for (size_t i = 0; i < n; i++) {
        if (ompp_whatif_most(&results[i])->interval != which || is_nothing(&results[i])) continue;
        print_name(t, between, results[i].region);
        between = ",";
    }
    if (*between == ',') fprintf(t->out, ": %s.\n", why);
}

static bool tries_one_speedup(const ompp_text_t *t)
{
    return atoi(ompp_profile_setting(t->profile, "OMPP_CAUSAL_SPEEDUP")) > 0;
}

/* What more blocks, or experiments, need. */
static const char *how_to_see_more(const ompp_text_t *t)
{
    const bool delays = t->profile->whatif.mode == OMPP_WHATIF_DELAY;

    if (ompp_whatif_leader(&t->profile->whatif) == OMPP_NONE)
        return "longer runs, and OMPP_PROGRESS(name) where a unit of work is done";
    if (delays && ompp_whatif_chosen(t->profile))
        return tries_one_speedup(t) ? "longer runs" : "longer runs, or one speed-up alone, OMPP_CAUSAL_SPEEDUP";
    return delays ? "longer runs, or one region alone, OMPP_CAUSAL_REGION" : "longer runs, fewer regions";
}

/* The parts are of ranks that visit the progress point. */
static const char *how_to_see_parts(const ompp_text_t *t)
{
    const bool ranks = t->profile->nranks > 1 && t->profile->whatif.mode == OMPP_WHATIF_VIRTUAL;

    return ranks && ompp_whatif_leader(&t->profile->whatif) != OMPP_NONE
               ? ", and the progress point on the ranks that run them, too"
               : "";
}

static void print_table(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n, const columns_t *columns)
{
    const bool delays = t->profile->whatif.mode == OMPP_WHATIF_DELAY;
    const char *parts = delays ? "experiments" : "parts of the run between progress points";
    char few[280], wide[280];

    fputs("What the program gains, in percent of its run time, when a region is faster by so many percent (100 %: it "
          "takes no time).\n"
          "share: of the time in which threads worked (Work above), spent in the region and in what it calls",
          t->out);
    fputs(delays ? ".\n" : "; without what measuring took.\n", t->out);
    fputs("- for a gain: not tried, or not seen. 95 % interval: of a region's last gain, by parts of the run "
          "(experiments).\n",
          t->out);
    fputs(delays ? "? for a gain: maybe chance: fewer than 4 experiments, or they differ too much. n: the fewest "
                   "experiments of a gain.\n"
                 : "n: stretches of work in the region, between meetings of threads or ranks, that were seen.\n",
          t->out);
    fputs("slope: what 1 % of speed-up brings the program, in percent. knee: more speed-up than that brings (almost) "
          "nothing.\n\n",
          t->out);
    print_titles(t, columns);
    size_t nothing = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_nothing(&results[i])) nothing++;
        else print_row(t, &results[i], columns);
    }
    if (nothing) fprintf(t->out, "Regions whose share and gains are below 0.05 %%: %zu; the XML has them.\n", nothing);
    snprintf(few, sizeof few, "fewer than 4 %s; %s%s", parts, how_to_see_more(t), how_to_see_parts(t));
    snprintf(wide, sizeof wide, "%s differ by more than the gain, and by more than 30 points; %s", parts,
             how_to_see_more(t));
    print_not_determined(t, results, n, OMPP_INTERVAL_FEW, few);
    print_not_determined(t, results, n, OMPP_INTERVAL_WIDE, wide);
    print_not_determined(
        t, results, n, OMPP_INTERVAL_UNSYNCHRONISED,
        "ranks end experiments at different moments, where a unit of work more or less is too much (flag apart)");
    putc('\n', t->out);
}

/* ---- Latency ----------------------------------------------------------------------------------------------------- */

static void print_unit_row(ompp_text_t *t, const ompp_whatif_unit_t *u, const columns_t *columns)
{
    print_region(t, u->region);
    for (size_t i = 0; i < columns->n; i++) {
        const ompp_gain_t *gain = gain_at(u->gains, columns->permille[i]);
        if (gain) put_percent(t, gain->gain);
        else ompp_layout_cell(t->out, WIDTH, "-");
    }
    putc('\n', t->out);
}

/* Regions of which no unit tells anything: of a latency point. */
static void print_units_not_determined(ompp_text_t *t, const ompp_whatif_unit_t *units, size_t n)
{
    const char *between = "Not determined:";

    for (size_t i = 0; i < n; i++) {
        if (units[i].known) continue;
        print_name(t, between, units[i].region);
        between = ",";
    }
    if (*between == ',')
        fputs(": no unit began and ended while the same regions were followed (within one experiment).\n", t->out);
}

static int print_units(ompp_text_t *t, const columns_t *columns)
{
    const ompp_whatif_t *w = &t->profile->whatif;
    ompp_whatif_unit_t *units;
    size_t n, first = 0;
    int rc = ompp_analysis_units(t->profile, &units, &n);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        const ompp_whatif_point_t *point = &w->points[units[i].point];
        if (i == 0 || units[i].point != units[i - 1].point) {
            first = i;
            char *name = ompp_text_printable(ompp_profile_text(t->profile, point->name), false);
            fprintf(
                t->out,
                "Latency of %s: what a unit gains, in percent of its time from begin to end, when a region is faster.\n"
                "What units per second gain is the gain of the program, g: there are 1 / (1 - g) times as "
                "many.\n\n%16s %*s",
                name ? name : "", "Type", OMPP_WIDTH_PLACE, "Location");
            print_columns(t, columns);
            putc('\n', t->out);
            free(name);
        }
        print_unit_row(t, &units[i], columns);
        if (i + 1 < n && units[i + 1].point == units[i].point) continue;
        print_units_not_determined(t, units + first, i + 1 - first);
        putc('\n', t->out);
    }
    free(units);
    return rc;
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

static char *subject_of(ompp_text_t *t, const ompp_whatif_result_t *r)
{
    return r->region == OMPP_NONE ? strdup(OMPP_WHATIF_OUTSIDE) : ompp_text_subject(t, r->region);
}

static void print_gain(ompp_text_t *t, const ompp_gain_t *gain)
{
    fprintf(t->out, " %5.1f %%%s (%u),", ompp_text_part(gain->gain), gain->chance ? "?" : "",
            (unsigned)(gain->permille / 10));
}

/* A line of a list; number 0: without one. */
static void print_item(ompp_text_t *t, size_t number, const ompp_whatif_result_t *r)
{
    const ompp_gain_t *some = ompp_whatif_main(r), *most = ompp_whatif_most(r);
    char *subject = subject_of(t, r);

    if (number) fprintf(t->out, "%3zu.", number);
    else fputs("    ", t->out);
    print_gain(t, some);
    if (most != some) print_gain(t, most);
    fprintf(t->out, " share %5.1f %%  %s", ompp_text_part(r->share), subject ? subject : "");
    if (number && r->inside != OMPP_NONE)
        fprintf(t->out, " (in R%05" PRIu32 ")", t->profile->regions[r->inside].number);
    putc('\n', t->out);
    free(subject);
}

/* One of its gains at least. */
static bool is_worth_it(const ompp_whatif_result_t *r)
{
    return ompp_whatif_main(r)->gain >= WORTH_IT || ompp_whatif_most(r)->gain >= WORTH_IT;
}

static bool is_sum(const ompp_whatif_result_t *r) { return r->own < OMPP_WHATIF_OWN; }

/* Regions that are worth it: those of their own by number, or those that consist of others. \return how many. */
static size_t print_items(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n, bool sums)
{
    size_t listed = 0;

    for (size_t i = 0; i < n && listed < LISTED; i++) {
        if (is_sum(&results[i]) != sums || !is_worth_it(&results[i])) continue;
        listed++;
        print_item(t, sums ? 0 : listed, &results[i]);
    }
    return listed;
}

static bool has_sums(const ompp_whatif_result_t *results, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_sum(&results[i]) && is_worth_it(&results[i])) return true;
    return false;
}

static double not_tried(const ompp_text_t *t)
{
    const ompp_whatif_work_t work = ompp_whatif_work(t->profile);

    return fmin(work.outside + work.left_out, 1);
}

/* A region of which nothing is known. share: of the work, where that can be told. */
static void print_one_not_tried(ompp_text_t *t, const char *before, uint32_t region, double share)
{
    print_name(t, before, region);
    if (share > 0) fprintf(t->out, " (%.1f %% of the work)", ompp_text_part(share));
}

/* The user wants to know of nothing else. */
static bool print_chosen(ompp_text_t *t)
{
    char *region = ompp_text_printable(ompp_whatif_chosen(t->profile), false);

    fprintf(t->out, "This is about what OMPP_CAUSAL_REGION names, %s; nothing is known of the rest.\n",
            region ? region : "");
    free(region);
    return false;
}

/* What is said holds of what was tried: said where that is not about all of the work. \return whether it is. */
static bool print_tried(ompp_text_t *t, size_t n)
{
    const ompp_whatif_work_t work = ompp_whatif_work(t->profile);
    ompp_whatif_untried_t untried[UNTRIED];
    size_t count;
    const size_t shown = ompp_whatif_untried(t->profile, untried, UNTRIED, &count);
    const char *between = "Not tried:";
    const bool outside = work.outside >= OMPP_TEXT_MUCH_OUTSIDE;

    if (not_tried(t) < OMPP_TEXT_MUCH_OUTSIDE && !shown) return true;
    if (ompp_whatif_chosen(t->profile)) return print_chosen(t);
    fprintf(t->out, "This is about the %zu region%s tried", n, n == 1 ? " that was" : "s that were");
    if (not_tried(t) >= OMPP_TEXT_MUCH_OUTSIDE)
        fprintf(t->out, ", %.1f %% of the work; nothing is known of the rest", ompp_text_part(1 - not_tried(t)));
    fputs(".\n", t->out);
    if (outside) print_one_not_tried(t, between, OMPP_NONE, work.outside);
    if (outside) between = ",";
    for (size_t i = 0; i < shown; i++, between = ",")
        print_one_not_tried(t, between, untried[i].region, untried[i].share);
    if (count > shown) fprintf(t->out, " and %zu more", count - shown);
    if (!outside && !shown) fputs("Not tried: regions with less than 1 % of the work each", t->out);
    fprintf(t->out, "; to try more: %s.\n",
            outside && !shown ? "OMPP_REGION makes regions of the rest" : ompp_text_whatif_try(t));
    return false;
}

/* Those of which it is not known how much the gain changed during the run. */
static size_t not_determined(const ompp_whatif_result_t *results, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) count += ompp_whatif_most(&results[i])->interval != OMPP_INTERVAL_KNOWN;
    return count;
}

static void print_none(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n, bool all)
{
    const size_t unsure = not_determined(results, n);

    fprintf(t->out, "     None%s: the program gains less than 0.5 %% from any one of them",
            all ? "" : " of those that were tried");
    if (unsure) fprintf(t->out, ", as far as is known (%zu of %zu without an interval)", unsure, n);
    if (not_tried(t) >= OMPP_TEXT_MUCH_OUTSIDE)
        fprintf(t->out, ". What was not tried, %.1f %% of the work, may be worth more", ompp_text_part(not_tried(t)));
    else if (!all) fputs(". What was not tried may be worth more", t->out);
    fputs(".\n", t->out);
}

static bool any_chance(const ompp_whatif_result_t *results, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_worth_it(&results[i]) &&
            (ompp_whatif_main(&results[i])->chance || ompp_whatif_most(&results[i])->chance))
            return true;
    return false;
}

/* What comes first in the list is first of what was tried: said where more of the work is in one thing that was not. */
static void print_larger(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n)
{
    ompp_whatif_untried_t largest;
    size_t count, first = 0;

    if (!ompp_whatif_untried(t->profile, &largest, 1, &count)) largest.share = 0;
    const double outside = ompp_whatif_work(t->profile).outside;
    while (first < n && (is_sum(&results[first]) || !is_worth_it(&results[first]))) first++;
    if (first == n || ompp_whatif_chosen(t->profile) || fmax(outside, largest.share) <= results[first].share) return;
    print_name(t, "The share of", outside >= largest.share ? OMPP_NONE : largest.region);
    fputs(", not tried, is larger than that of what is first here: it may be worth more.\n", t->out);
}

static void print_first(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n)
{
    fputs("Fix these first: gain of the program if a region is faster by 50 %, and by as much as was tried (percent in "
          "brackets).\n"
          "Gains do not add up.\n",
          t->out);
    if (ompp_text_whatif_cpu_wait(t) > 0)
        fprintf(t->out, "Threads waited %.1f %% of their time for a processor: this order is not to be trusted.\n",
                ompp_text_whatif_cpu_wait(t));
    if (any_chance(results, n)) fprintf(t->out, "What has a ? may be chance: %s.\n", how_to_see_more(t));
    const bool all = print_tried(t, n);
    print_larger(t, results, n);
    if (!print_items(t, results, n, false)) print_none(t, results, n, all);
    if (has_sums(results, n)) {
        fputs("Regions with little time outside of the regions in them, if all in them is faster:\n", t->out);
        print_items(t, results, n, true);
    }
    putc('\n', t->out);
}

static void print_verdict(ompp_text_t *t, const ompp_whatif_result_t *r)
{
    char *subject = subject_of(t, r);
    const char *name = subject ? subject : "";
    double all = ompp_whatif_most(r)->gain;

    if (r->contention)
        fprintf(
            t->out,
            "     %s: the faster it is, the slower the program becomes: it gets in the way of others (contention).\n",
            name);
    else if (r->verdict == OMPP_WHATIF_BUSY_FOR_NOTHING)
        fprintf(t->out,
                "     %s: has %.1f %% of the work (%.1f %% of the threads' time), and the program would gain %.1f %% "
                "if it were "
                "%u %% faster: something else is waited for.\n",
                name, ompp_text_part(r->share), ompp_text_part(r->of_threads), ompp_text_part(fmax(all, 0)),
                (unsigned)(ompp_whatif_most(r)->permille / 10));
    else if (r->verdict == OMPP_WHATIF_SMALL_BUT_CRITICAL)
        fprintf(
            t->out,
            "     %s: has %.1f %% of the work only, and the program would gain up to %.1f %%: others wait for it.\n",
            name, ompp_text_part(r->share), ompp_text_part(all));
    free(subject);
}

static void print_verdicts(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n)
{
    bool any = false;

    for (size_t i = 0; i < n; i++) any = any || results[i].contention || results[i].verdict != OMPP_WHATIF_AGREES;
    if (!any) return;
    fputs("Where the share of the time misleads:\n", t->out);
    for (size_t i = 0; i < n; i++) print_verdict(t, &results[i]);
    putc('\n', t->out);
}

static void print_why(ompp_text_t *t, const char *why)
{
    const char *chosen = strstr(why, "OMPP_CAUSAL_REGION") ? ompp_whatif_chosen(t->profile) : NULL;
    char *region = chosen ? ompp_text_printable(chosen, false) : NULL;
    char write[600];
    uint32_t meant;

    fprintf(t->out, "No result: %s.\n", why);
    if (region) {
        const bool near = ompp_whatif_meant(t->profile, write, sizeof write, &meant);
        char *subject = near && meant != OMPP_NONE ? ompp_text_subject(t, meant) : NULL;
        fprintf(t->out, "OMPP_CAUSAL_REGION was %s. ", region);
        if (near) fprintf(t->out, "Nearest: %s%s%s.\n", write, subject ? " for " : "", subject ? subject : "");
        else fputs("It takes " OMPP_WHATIF_REGION_FORMS ".\n", t->out);
        free(subject);
    }
    putc('\n', t->out);
    free(region);
}

int ompp_text_whatif(ompp_text_t *t)
{
    const char *why = ompp_whatif_why(t->profile);
    ompp_whatif_result_t *results;
    size_t n;
    int rc = 0;

    if (t->profile->whatif.mode == OMPP_WHATIF_OFF || ompp_whatif_is_unasked(t->profile)) return 0;
    rc = ompp_analysis_whatif(t->profile, &results, &n);
    if (rc) return rc;
    ompp_layout_title(t->out, "ompp What-if");
    ompp_text_whatif_run(t, results, n);
    if (why) print_why(t, why);
    if (n) {
        const columns_t columns = columns_of(results, n);
        print_table(t, results, n, &columns);
        rc = print_units(t, &columns);
        print_first(t, results, n);
        print_verdicts(t, results, n);
        ompp_text_whatif_meanings(t, results, n);
    }
    free(results);
    return rc;
}
