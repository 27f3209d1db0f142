/**
 * \file
 * Section ompp What-if: what the program gains if a region is faster. ompP does not have it.
 */
#include "config.h"

#include "report/ompp_text_priv.h"
#include "report/ompp_utf8.h"

#include "analysis/ompp_whatif.h"
#include "base/ompp_env.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LISTED 10       /* regions to fix first */
#define WORTH_IT 0.005  /* gain of a region that is listed there */
#define WIDTH 9
#define UNTRIED 3         /* regions named of those that were not tried */
#define MUCH_OUTSIDE 0.05 /* of the work: the thing to fix may not be in the table */

/* ---- Numbers -------------------------------------------------------------------------------------------------------- */

/* No "-0.0". */
static double percent(double part)
{
    double value = round(1000 * part) / 10;

    return value == 0 ? 0 : value;
}

static void put_percent(ompp_text_t *t, double part)
{
    char text[32];

    snprintf(text, sizeof text, "%.1f", percent(part));
    ompp_layout_cell(t->out, WIDTH, text);
}

static const ompp_gain_t *gain_at(const ompp_gain_t gains[OMPP_WHATIF_SPEEDUPS], uint32_t permille)
{
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++)
        if (gains[i].permille == permille) return &gains[i];
    return NULL;
}

/* ---- The run -------------------------------------------------------------------------------------------------------- */

static void print_point(ompp_text_t *t, const ompp_whatif_point_t *point, bool leads)
{
    char *name = point->region < t->profile->nregions && t->places[point->region]
                     ? ompp_text_subject(t, point->region)
                     : ompp_text_printable(ompp_profile_text(t->profile, point->name), false);
    double latency, seconds = 1e-9 * (double)t->profile->whatif.time_ns;

    if (point->kind == OMPP_WHATIF_LATENCY) {
        fprintf(t->out, "Latency        : %s, %" PRIu64 " begun, %" PRIu64 " ended", name ? name : "", point->begins, point->visits);
        if (ompp_whatif_latency(point, &latency))
            fprintf(t->out, ", %.2f under way on average, each for %.6f sec; %.2f per sec",
                    seconds > 0 ? 1e-9 * (double)point->in_flight_ns / seconds : 0, 1e-9 * latency,
                    seconds > 0 ? (double)point->visits / seconds : 0);
    } else {
        fprintf(t->out, "Progress Point : %s%s, %" PRIu64 " visits", name ? name : "", point->automatic ? " (found)" : "", point->visits);
        if (seconds > 0) fprintf(t->out, ", %.2f per sec", (double)point->visits / seconds);
        if (leads) fputs(t->profile->whatif.mode == OMPP_WHATIF_DELAY ? "; experiments end at it" : "; blocks end at it", t->out);
    }
    putc('\n', t->out);
    free(name);
}

/* Of those that were found, only the one that counts; all when that is not known. */
static void print_points(ompp_text_t *t)
{
    const ompp_whatif_t *w = &t->profile->whatif;
    const uint32_t leader = ompp_whatif_leader(w);

    for (uint32_t i = 0; i < w->npoints; i++)
        if (!w->points[i].automatic || leader == OMPP_NONE || leader == i) print_point(t, &w->points[i], leader == i);
}

static const char *how_to_try_more(const ompp_text_t *t)
{
    return t->profile->whatif.mode == OMPP_WHATIF_DELAY
               ? "longer runs, or one region by its name or file:line, OMPP_CAUSAL_REGION"
               : "longer runs, fewer regions, or one of them with OMPP_CAUSAL=delay and OMPP_CAUSAL_REGION";
}

static void print_work(ompp_text_t *t)
{
    const ompp_whatif_work_t work = ompp_whatif_work(t->profile);

    if (work.of_threads > 0)
        fprintf(t->out, "Work           : %.1f %% of the threads' time; the rest is waiting and the runtime's management\n",
                percent(work.of_threads));
    if (work.outside >= MUCH_OUTSIDE)
        fprintf(t->out, "Not in Table   : %.1f %% of the work is in code outside of all regions (OMPP_REGION makes it one)\n",
                percent(work.outside));
    if (work.left_out >= MUCH_OUTSIDE)
        fprintf(t->out, "Not in Table   : %.1f %% of the work is in regions that had no %s (%s)\n", percent(work.left_out),
                t->profile->whatif.mode == OMPP_WHATIF_DELAY ? "experiment" : "clock", how_to_try_more(t));
}

static bool waits_actively(const ompp_text_t *t)
{
    return strcasecmp(ompp_profile_setting(t->profile, "OMP_WAIT_POLICY"), "active") == 0;
}

/* Settings that only one mode knows. */
static const struct {
    const char *name, *mode;
    ompp_whatif_mode_t kind;
} of_mode[] = {
    {"OMPP_CAUSAL_REGION", "delay", OMPP_WHATIF_DELAY},
    {"OMPP_CAUSAL_SPEEDUP", "delay", OMPP_WHATIF_DELAY},
    {"OMPP_CAUSAL_SEED", "delay", OMPP_WHATIF_DELAY},
    {"OMPP_CAUSAL_BUDGET", "virtual", OMPP_WHATIF_VIRTUAL},
};

/* What it is when nobody sets it. */
static const char *unset(const char *name)
{
    for (size_t i = 0; i < ompp_env_nrows; i++)
        if (strcmp(ompp_env_rows[i].name, name) == 0) return ompp_env_rows[i].def;
    return "";
}

static void print_unused(ompp_text_t *t)
{
    for (size_t i = 0; i < sizeof of_mode / sizeof of_mode[0]; i++) {
        const char *value = ompp_profile_setting(t->profile, of_mode[i].name);
        if (t->profile->whatif.mode == of_mode[i].kind || !*value || strcmp(value, unset(of_mode[i].name)) == 0) continue;
        fprintf(t->out, "Caution        : %s is not used: it is for OMPP_CAUSAL=%s\n", of_mode[i].name, of_mode[i].mode);
    }
}

/* What threads worked, and what they waited for each other, cannot be told from what they waited for a processor. */
static void print_starved(ompp_text_t *t)
{
    for (size_t i = 0; i < t->profile->ncoverage; i++) {
        const ompp_coverage_t *c = &t->profile->coverage[i];
        if (c->kind == OMPP_COVERAGE_STARVED)
            fprintf(t->out, "Caution        : threads waited %.1f %% of the time for a processor: gains are not to be trusted\n",
                    percent((double)ompp_text_mean(c->count, c->nranks ? c->nranks : 1) / 1000));
    }
}

/* Threads wait there for each other, and nobody sees it. */
static void print_unseen(ompp_text_t *t)
{
    for (size_t i = 0; i < t->profile->ncoverage; i++) {
        const ompp_coverage_t *c = &t->profile->coverage[i];
        if (c->kind != OMPP_COVERAGE_UNINSTRUMENTED && c->kind != OMPP_COVERAGE_MPI_UNWRAPPED) continue;
        fputs("Caution        : the program waits where it is not measured (ompp Coverage): that is taken for work\n", t->out);
        return;
    }
}

/* Loops, tasks and locks whose order is as it was measured, because going through them again would have taken too long. */
static void print_kept(ompp_text_t *t)
{
    const ompp_whatif_t *w = &t->profile->whatif;

    const uint64_t all = w->replayed + w->kept;

    if (!w->kept) return;
    fprintf(t->out, "Order          : %.1f %% of %" PRIu64 " stretches with loops, tasks or locks gone through again, to save time\n",
            100.0 * (double)w->replayed / (double)all, all);
}

/* So that they do not take more than their part; where even that is not enough, Overhead says it. */
static void print_rests(ompp_text_t *t)
{
    const ompp_whatif_t *w = &t->profile->whatif;

    if (!w->rested_ns || w->rested_ns >= w->time_ns) return;
    fprintf(t->out, "Clocks         : for %.1f %% of the run, in pieces, because of what they take (OMPP_CAUSAL_BUDGET)\n",
            100.0 * (1 - (double)w->rested_ns / (double)w->time_ns));
}

static void print_control(ompp_text_t *t)
{
    ompp_whatif_control_t c;

    if (!ompp_whatif_control(&t->profile->whatif, &c)) return;
    fprintf(t->out, "Control        : %" PRIu64 " experiments at 0 %%; ", c.experiments);
    if (c.compared) fputs("gains are of units of work in the others, against those there", t->out);
    if (c.compared) fputs(c.others ? "; without delays, " : "\n", t->out);
    if (c.compared && !c.others) return;
    if (!c.units) fputs("nothing to compare: no progress point was visited in them\n", t->out);
    else if (c.interval == OMPP_INTERVAL_FEW) fputs("not determined: too few of them\n", t->out);
    else if (c.interval == OMPP_INTERVAL_WIDE) fputs("not determined: experiments differ too much\n", t->out);
    else
        fprintf(t->out, "a unit of work takes %+.1f %% of its time there in the others, delays subtracted "
                "(95 %% interval %+.1f to %+.1f)%s\n",
                percent(c.inflation), percent(c.low), percent(c.high), c.disturbed ? ", which should be nothing" : "");
}

static void print_run(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n)
{
    const char *no_interval = ompp_whatif_no_interval(t->profile, results, n);
    const ompp_whatif_t *w = &t->profile->whatif;

    if (w->mode == OMPP_WHATIF_DELAY)
        fputs("Mode           : delay; experiments with one region and speed-up at a time, other threads and ranks are delayed\n", t->out);
    else
        fputs("Mode           : virtual; a clock for each region and speed-up, no delays\n", t->out);
    print_points(t);
    print_work(t);
    if (no_interval) fprintf(t->out, "No Interval    : %s\n", no_interval);
    if (w->paid_ns && w->time_ns > w->paid_ns)
        fprintf(t->out, "Inflation      : the program took %.1f %% longer because of delays\n",
                100.0 * (double)w->paid_ns / (double)(w->time_ns - w->paid_ns));
    print_control(t);
    if (w->cost_ns && t->profile->nslots)
        fprintf(t->out, "Overhead       : about %.2f %% of the threads' time, for %" PRIu64 " events\n",
                100.0 * (double)w->cost_ns / ((double)w->time_ns * (double)t->profile->nslots), w->events);
    print_rests(t);
    print_kept(t);
    if (waits_actively(t))
        fputs("Caution        : OMP_WAIT_POLICY=active: waiting threads keep processors busy that others may need\n", t->out);
    print_unused(t);
    print_starved(t);
    print_unseen(t);
    if (w->lost) fprintf(t->out, "Not Followed   : %" PRIu64 " waits for other threads or ranks\n", w->lost);
    putc('\n', t->out);
}

/* ---- The table ------------------------------------------------------------------------------------------------------ */

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

    if (gain->interval == OMPP_INTERVAL_KNOWN) snprintf(text, sizeof text, "%.1f to %.1f", percent(gain->low), percent(gain->high));
    fprintf(t->out, " %17s", text);
}

static void print_knee(ompp_text_t *t, const ompp_whatif_result_t *r)
{
    char text[32] = "-";

    if (r->knee) snprintf(text, sizeof text, "%.0f", r->knee / 10.0);
    ompp_layout_cell(t->out, WIDTH, text);
}

static void print_flags(ompp_text_t *t, const ompp_whatif_result_t *r)
{
    const char *between = "  ";

    for (unsigned i = 0; i < OMPP_WHATIF_FLAG_NUM; i++) {
        if (!(r->flags & 1u << i)) continue;
        fprintf(t->out, "%s%s", between, ompp_whatif_flags[i].name);
        between = ",";
    }
    if (r->contention) fprintf(t->out, "%scontention", between);
    putc('\n', t->out);
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

static void print_row(ompp_text_t *t, const ompp_whatif_result_t *r, const columns_t *columns)
{
    char text[32];

    print_region(t, r->region);
    put_percent(t, r->share);
    for (size_t i = 0; i < columns->n; i++) {
        const ompp_gain_t *gain = gain_at(r->gains, columns->permille[i]);
        if (gain && was_observed(r, gain)) put_percent(t, gain->gain);
        else ompp_layout_cell(t->out, WIDTH, "-");
    }
    print_interval(t, ompp_whatif_most(r));
    snprintf(text, sizeof text, "%.2f", percent(r->slope) / 100);
    ompp_layout_cell(t->out, WIDTH, text);
    print_knee(t, r);
    snprintf(text, sizeof text, "%" PRIu64, ompp_whatif_most(r)->observations);
    ompp_layout_cell(t->out, WIDTH, text);
    print_flags(t, r);
}

static void print_name(ompp_text_t *t, const char *before, uint32_t region)
{
    fprintf(t->out, "%s ", before);
    if (region == OMPP_NONE) fputs(OMPP_WHATIF_OUTSIDE, t->out);
    else fprintf(t->out, "R%05" PRIu32, t->profile->regions[region].number);
}

/* Of which regions the interval is not known, and why. */
static void print_not_determined(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n, ompp_interval_t which, const char *why)
{
    const char *between = "Not determined:";

    for (size_t i = 0; i < n; i++) {
        if (ompp_whatif_most(&results[i])->interval != which) continue;
        print_name(t, between, results[i].region);
        between = ",";
    }
    if (*between == ',') fprintf(t->out, ": %s.\n", why);
}

static void print_table(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n, const columns_t *columns)
{
    fputs("What the program gains, in percent of its run time, when a region is faster by so many percent (100 %: it takes no time).\n"
          "share: of the time in which threads worked (Work above), spent in the region and in what it calls.\n"
          "- for a gain: not tried, or not seen. 95 % interval, by blocks (experiments), and n, observations: of a region's last gain.\n"
          "slope: what 1 % of speed-up brings the program, in percent. knee: more speed-up than that brings (almost) nothing.\n\n",
          t->out);
    print_titles(t, columns);
    for (size_t i = 0; i < n; i++) print_row(t, &results[i], columns);
    print_not_determined(t, results, n, OMPP_INTERVAL_FEW, "fewer than 4 blocks (experiments); longer runs, fewer regions");
    print_not_determined(t, results, n, OMPP_INTERVAL_WIDE,
                         "blocks (experiments) differ by more than the gain, and by more than 30 points; longer runs, one region alone");
    putc('\n', t->out);
}

/* ---- Latency -------------------------------------------------------------------------------------------------------- */

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
            fprintf(t->out,
                    "Latency of %s: what a unit gains, in percent of its time from begin to end, when a region is faster.\n"
                    "What units per second gain is the gain of the program, g: there are 1 / (1 - g) times as many.\n\n%16s %*s",
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

/* ---- In words ------------------------------------------------------------------------------------------------------- */

static char *subject_of(ompp_text_t *t, const ompp_whatif_result_t *r)
{
    return r->region == OMPP_NONE ? strdup(OMPP_WHATIF_OUTSIDE) : ompp_text_subject(t, r->region);
}

/* A line of a list; number 0: without one. */
static void print_item(ompp_text_t *t, size_t number, const ompp_whatif_result_t *r)
{
    const ompp_gain_t *some = ompp_whatif_main(r), *most = ompp_whatif_most(r);
    char *subject = subject_of(t, r);

    if (number) fprintf(t->out, "%3zu.", number);
    else fputs("    ", t->out);
    fprintf(t->out, " %5.1f %% (%u),", percent(some->gain), (unsigned)(some->permille / 10));
    if (most != some) fprintf(t->out, " %5.1f %% (%u),", percent(most->gain), (unsigned)(most->permille / 10));
    fprintf(t->out, " share %5.1f %%  %s", percent(r->share), subject ? subject : "");
    if (number && r->inside != OMPP_NONE) fprintf(t->out, " (in R%05" PRIu32 ")", t->profile->regions[r->inside].number);
    putc('\n', t->out);
    free(subject);
}

static bool is_sum(const ompp_whatif_result_t *r)
{
    return r->own < OMPP_WHATIF_OWN;
}

/* Regions that are worth it: those of their own by number, or those that consist of others. \return how many. */
static size_t print_items(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n, bool sums)
{
    size_t listed = 0;

    for (size_t i = 0; i < n && listed < LISTED; i++) {
        if (is_sum(&results[i]) != sums || ompp_whatif_main(&results[i])->gain < WORTH_IT) continue;
        listed++;
        print_item(t, sums ? 0 : listed, &results[i]);
    }
    return listed;
}

static bool has_sums(const ompp_whatif_result_t *results, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_sum(&results[i]) && ompp_whatif_main(&results[i])->gain >= WORTH_IT) return true;
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
    if (share > 0) fprintf(t->out, " (%.1f %% of the work)", percent(share));
}

/* What is said holds of what was tried: said where that is not about all of the work. \return whether it is. */
static bool print_tried(ompp_text_t *t, size_t n)
{
    const ompp_whatif_work_t work = ompp_whatif_work(t->profile);
    ompp_whatif_untried_t untried[UNTRIED];
    size_t count;
    const size_t shown = ompp_whatif_untried(t->profile, untried, UNTRIED, &count);
    const char *between = "Not tried:";
    const bool outside = work.outside >= MUCH_OUTSIDE;

    if (not_tried(t) < MUCH_OUTSIDE && !shown) return true;
    fprintf(t->out, "This is about the %zu region%s tried", n, n == 1 ? " that was" : "s that were");
    if (not_tried(t) >= MUCH_OUTSIDE) fprintf(t->out, ", %.1f %% of the work; nothing is known of the rest", percent(1 - not_tried(t)));
    fputs(".\n", t->out);
    if (outside) print_one_not_tried(t, between, OMPP_NONE, work.outside);
    if (outside) between = ",";
    for (size_t i = 0; i < shown; i++, between = ",") print_one_not_tried(t, between, untried[i].region, untried[i].share);
    if (count > shown) fprintf(t->out, " and %zu more", count - shown);
    if (!outside && !shown) fputs("Not tried: regions with less than 1 % of the work each", t->out);
    fprintf(t->out, "; to try more: %s.\n", outside && !shown ? "OMPP_REGION makes regions of the rest" : how_to_try_more(t));
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

    fprintf(t->out, "     None%s: the program gains less than 0.5 %% from any one of them", all ? "" : " of those that were tried");
    if (unsure) fprintf(t->out, ", as far as is known (%zu of %zu without an interval)", unsure, n);
    if (not_tried(t) >= MUCH_OUTSIDE)
        fprintf(t->out, ". What was not tried, %.1f %% of the work, may be worth more", percent(not_tried(t)));
    else if (!all) fputs(". What was not tried may be worth more", t->out);
    fputs(".\n", t->out);
}

static void print_first(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n)
{
    fputs("Fix these first: gain of the program if a region is faster by 50 %, and by as much as was tried (percent in brackets).\n"
          "Gains do not add up.\n", t->out);
    const bool all = print_tried(t, n);
    if (!print_items(t, results, n, false)) print_none(t, results, n, all);
    if (has_sums(results, n)) {
        fputs("Regions that are little more than others together, if all in them is faster:\n", t->out);
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
        fprintf(t->out, "     %s: the faster it is, the slower the program becomes: it gets in the way of others (contention).\n", name);
    else if (r->verdict == OMPP_WHATIF_BUSY_FOR_NOTHING)
        fprintf(t->out,
                "     %s: has %.1f %% of the work (%.1f %% of the threads' time), and the program would gain %.1f %% if it were "
                "%u %% faster: something else is waited for.\n",
                name, percent(r->share), percent(r->of_threads), percent(fmax(all, 0)), (unsigned)(ompp_whatif_most(r)->permille / 10));
    else if (r->verdict == OMPP_WHATIF_SMALL_BUT_CRITICAL)
        fprintf(t->out, "     %s: has %.1f %% of the work only, and the program would gain up to %.1f %%: others wait for it.\n", name,
                percent(r->share), percent(all));
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

static void print_meanings(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n)
{
    unsigned flags = 0;
    bool corrected = false;

    for (size_t i = 0; i < n; i++) {
        flags |= results[i].flags;
        corrected = corrected || fabs(results[i].correction - 1) > 0.01;
    }
    if (flags) fputs("Flags: why a gain may be off.\n", t->out);
    for (unsigned i = 0; i < OMPP_WHATIF_FLAG_NUM; i++)
        if (flags & 1u << i) fprintf(t->out, "     %-15s%s\n", ompp_whatif_flags[i].name, ompp_whatif_flags[i].sentence);
    if (corrected)
        fputs("Gains of regions that were followed for a part of the run are corrected for how much they ran in the rest of it.\n", t->out);
    if (flags || corrected) putc('\n', t->out);
}

static void print_why(ompp_text_t *t, const char *why)
{
    const char *named = strstr(why, "OMPP_CAUSAL_REGION") ? ompp_profile_setting(t->profile, "OMPP_CAUSAL_REGION") : "";
    char *region = *named ? ompp_text_printable(named, false) : NULL;

    fprintf(t->out, "No result: %s.\n", why);
    if (region) fprintf(t->out, "OMPP_CAUSAL_REGION was %s.\n", region);
    putc('\n', t->out);
    free(region);
}

int ompp_text_whatif(ompp_text_t *t)
{
    const char *why = ompp_whatif_why(t->profile);
    ompp_whatif_result_t *results;
    size_t n;
    int rc = 0;

    if (t->profile->whatif.mode == OMPP_WHATIF_OFF) return 0;
    rc = ompp_analysis_whatif(t->profile, &results, &n);
    if (rc) return rc;
    ompp_layout_title(t->out, "ompp What-if");
    print_run(t, results, n);
    if (why) print_why(t, why);
    if (n) {
        const columns_t columns = columns_of(results, n);
        print_table(t, results, n, &columns);
        rc = print_units(t, &columns);
        print_first(t, results, n);
        print_verdicts(t, results, n);
        print_meanings(t, results, n);
    }
    free(results);
    return rc;
}
