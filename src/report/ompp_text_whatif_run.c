/*
 * Section ompp What-if: the lines above the table, of the run as a whole.
 */
#include "config.h"

#include "report/ompp_text_whatif_priv.h"

#include "analysis/ompp_own.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SHORT_NS 1000000000u /* the time of a shorter run has at least so many digits behind the point: */
#define SHORT_DIGITS 4
#define WORTH_A_LINE 0.005
#define LEAST_SUSPENSION 0.0005 /* of the run: what is printed as 100.0 % is all of it */

static void print_point(ompp_text_t *t, const ompp_whatif_point_t *point, bool leads)
{
    char *name = point->region < t->profile->nregions && t->places[point->region]
                     ? ompp_text_subject(t, point->region)
                     : ompp_text_printable(ompp_profile_text(t->profile, point->name), false);
    double latency, seconds = 1e-9 * (double)t->profile->whatif.time_ns;

    if (point->kind == OMPP_WHATIF_LATENCY) {
        fprintf(t->out, "Latency        : %s, %" PRIu64 " begun, %" PRIu64 " ended", name ? name : "", point->begins,
                point->visits);
        if (ompp_whatif_latency(point, &latency))
            fprintf(t->out, ", %.2f under way on average, each for %.6f sec%s; %.2f per sec",
                    seconds > 0 ? 1e-9 * (double)point->in_flight_ns / seconds : 0, 1e-9 * latency,
                    t->profile->whatif.paid_ns ? " with what it was delayed" : "",
                    seconds > 0 ? (double)point->visits / seconds : 0);
        else if (point->visits > point->begins)
            fputs("; more have ended than begun: how long each takes is not known (OMPP_BEGIN comes before OMPP_END)",
                  t->out);
    } else {
        fprintf(t->out, "Progress Point : %s%s, %" PRIu64 " visits", name ? name : "",
                point->automatic ? " (found)" : "", point->visits);
        if (t->profile->nranks > 1) fputs(" of all ranks", t->out);
        if (seconds > 0) fprintf(t->out, ", %.2f per sec", (double)point->visits / seconds);
        if (leads)
            fputs(t->profile->whatif.mode == OMPP_WHATIF_DELAY ? "; experiments end at it" : "; blocks end at it",
                  t->out);
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

const char *ompp_text_whatif_try(const ompp_text_t *t)
{
    return t->profile->whatif.mode == OMPP_WHATIF_DELAY
               ? "longer runs, or one region by its name or file:line, OMPP_CAUSAL_REGION"
               : "longer runs, fewer regions, or one of them with OMPP_CAUSAL=delay and OMPP_CAUSAL_REGION";
}

#define NAMED 5 /* regions in a line */

/* What is known of the region around them says nothing of them. */
static void print_hidden(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n)
{
    ompp_whatif_untried_t hidden[NAMED];
    size_t count;
    const size_t shown = ompp_whatif_hidden(t->profile, results, n, hidden, NAMED, &count);

    if (!shown || t->profile->whatif.mode != OMPP_WHATIF_VIRTUAL) return; /* a line below the table says it */
    fputs("Not in Table   :", t->out);
    for (size_t i = 0; i < shown; i++) {
        char *name = ompp_text_subject(t, hidden[i].region);
        fprintf(t->out, "%s %s (%.1f %% of the work)", i ? "," : "", name ? name : "", ompp_text_part(hidden[i].share));
        free(name);
    }
    if (count > shown) fprintf(t->out, " and %zu more", count - shown);
    fprintf(t->out, ": had no clock, though what they lie in had (%s)\n", ompp_text_whatif_try(t));
}

static void print_work(ompp_text_t *t, bool any)
{
    const ompp_whatif_work_t work = ompp_whatif_work(t->profile);

    if (work.of_threads > 0)
        fprintf(t->out,
                "Work           : %.1f %% of the threads' time%s; the rest is waiting and the runtime's management\n",
                ompp_text_part(work.of_threads),
                t->profile->mpi ? ", calls of MPI without their waiting included" : "");
    if (!any) return; /* there is no table */
    if (work.outside >= OMPP_TEXT_MUCH_OUTSIDE)
        fprintf(t->out, "Not in Table   : %.1f %% of the work is in code outside of all regions (%s)\n",
                ompp_text_part(work.outside),
                ompp_whatif_chosen(t->profile) ? "OMPP_CAUSAL_REGION has chosen one" : "OMPP_REGION makes it one");
    if (work.left_out >= OMPP_TEXT_MUCH_OUTSIDE)
        fprintf(t->out, "Not in Table   : %.1f %% of the work is in regions that had no %s (%s)\n",
                ompp_text_part(work.left_out), t->profile->whatif.mode == OMPP_WHATIF_DELAY ? "experiment" : "clock",
                ompp_whatif_chosen(t->profile) ? "OMPP_CAUSAL_REGION has chosen one" : ompp_text_whatif_try(t));
}

static bool waits_actively(const ompp_text_t *t)
{
    return strcasecmp(ompp_profile_setting(t->profile, "OMP_WAIT_POLICY"), "active") == 0;
}

static void print_unused(ompp_text_t *t)
{
    const char *mode, *name;

    for (size_t next = 0; (name = ompp_whatif_unused(t->profile, &next, &mode));)
        fprintf(t->out, "Caution        : %s is not used: it is for OMPP_CAUSAL=%s\n", name, mode);
}

double ompp_text_whatif_cpu_wait(const ompp_text_t *t)
{
    for (size_t i = 0; i < t->profile->ncoverage; i++) {
        const ompp_coverage_t *c = &t->profile->coverage[i];
        if (c->kind == OMPP_COVERAGE_CPU_WAIT)
            return ompp_text_part((double)ompp_text_mean(c->count, c->nranks ? c->nranks : 1) / 1000);
    }
    return 0;
}

/* Threads wait there for each other, and nobody sees it. */
static void print_unseen(ompp_text_t *t)
{
    for (size_t i = 0; i < t->profile->ncoverage; i++) {
        const ompp_coverage_t *c = &t->profile->coverage[i];
        if (c->kind != OMPP_COVERAGE_UNINSTRUMENTED && c->kind != OMPP_COVERAGE_MPI_UNWRAPPED) continue;
        fputs("Caution        : the program waits where it is not measured (ompp Coverage): that is taken for work\n",
              t->out);
        return;
    }
}

/* Loops, tasks and locks whose order is as it was measured, because going through them again would have taken too
 * long. */
static void print_kept(ompp_text_t *t)
{
    const ompp_whatif_t *w = &t->profile->whatif;

    const uint64_t all = w->replayed + w->kept;

    if (!w->kept) return;
    fprintf(t->out,
            "Order          : %.1f %% of %" PRIu64
            " stretches with loops, tasks or locks gone through again, to save time\n",
            100.0 * (double)w->replayed / (double)all, all);
}

static void print_lost(ompp_text_t *t)
{
    const ompp_whatif_t *w = &t->profile->whatif;

    if (!w->lost) return;
    fprintf(t->out, "Not Followed   : %" PRIu64 " %s for other threads or ranks", w->lost,
            w->lost == 1 ? "wait" : "waits");
    if (w->lost_ns)
        fprintf(t->out, "; calls that wait for those that come late took %.1f ms too long, all threads together",
                (double)w->lost_ns / 1e6);
    putc('\n', t->out);
}

/* Whether locks still do that with a faster region is not known: gains are told as if they did not. */
static void print_passed(ompp_text_t *t)
{
    const ompp_whatif_t *w = &t->profile->whatif;
    const double passed = ompp_whatif_passed(w);
    bool any = false;

    for (size_t i = 0; i < w->nregions; i++) any = any || w->regions[i].flags & OMPP_WHATIF_F_LOCK;
    if (!any || passed < WORTH_A_LINE) return;
    fprintf(t->out, "Locks          : let threads pass that came later, about %.1f %% of the run: ", 100 * passed);
    fputs("if they still do, gains with the flag lock are so much smaller\n", t->out);
}

/* So that they do not take more than their part; where even that is not enough, Overhead says it. */
static void print_suspensions(ompp_text_t *t)
{
    const ompp_whatif_t *w = &t->profile->whatif;

    const double suspended = w->suspended_ns < w->time_ns ? (double)w->suspended_ns / (double)w->time_ns : 0;

    if (suspended < LEAST_SUSPENSION) return;
    fprintf(t->out,
            "Clocks         : for %.1f %% of the run, in pieces, because of what they take (OMPP_CAUSAL_BUDGET)\n",
            100.0 * (1 - suspended));
}

static void print_budget(ompp_text_t *t)
{
    double percent, budget;

    if (!ompp_whatif_over_budget(t->profile, &percent, &budget)) return;
    fprintf(
        t->out,
        "Budget         : clocks took %.1f %% of the threads' time, more than OMPP_CAUSAL_BUDGET=%.0f, and the run may "
        "take longer by several times that: run longer, or with fewer events (OMPP_FUNCTIONS, OMPP_DISABLE_...)\n",
        percent, budget);
}

/* A pattern that fits the function: of a name with arguments all that may follow. */
static void print_pattern(ompp_text_t *t, uint32_t region)
{
    const char *name = ompp_profile_text(t->profile, t->profile->regions[region].name);
    const size_t length = strcspn(name, "(<[*?',");

    fprintf(t->out, "-%.*s%s", (int)length, name, name[length] ? "*" : "");
}

static void print_probes(ompp_text_t *t)
{
    uint32_t regions[NAMED];
    double share;
    const size_t n = ompp_whatif_probes(t->profile, regions, NAMED, &share);

    if (!n) return;
    fprintf(t->out,
            "Probes         : %.1f %% of the threads' time or more went into measuring functions that take no longer: "
            "OMPP_FUNCTIONS='",
            ompp_text_part(share));
    for (size_t i = 0; i < n; i++) {
        if (i) putc(',', t->out);
        print_pattern(t, regions[i]);
    }
    fputs("' leaves them out\n", t->out);
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
        fprintf(t->out,
                "a unit of work takes %+.1f %% of its time there in the others, delays subtracted "
                "(95 %% interval %+.1f to %+.1f)%s\n",
                ompp_text_part(c.inflation), ompp_text_part(c.low), ompp_text_part(c.high),
                c.disturbed ? ", which should be nothing" : "");
}

/* What gains are percent of. */
static void print_time(ompp_text_t *t, bool any)
{
    const ompp_whatif_t *w = &t->profile->whatif;
    const uint64_t alone = (uint64_t)ompp_whatif_time_alone(t->profile);

    const int digits = w->time_ns < SHORT_NS && t->digits < SHORT_DIGITS ? SHORT_DIGITS : t->digits;

    fprintf(t->out, "Run Time       : %s sec", ompp_text_seconds_digits(w->time_ns, digits).text);
    if (alone && alone < w->time_ns)
        fprintf(t->out, ", %s without delays", ompp_text_seconds_digits(alone, digits).text);
    if (any)
        fputs(
            t->profile->mpi
                ? "; gains are percent of it: from start to MPI_Finalize, with what is outside of regions and MPI_Init"
                : "; gains are percent of it: from start to end, with what is outside of regions",
            t->out);
    putc('\n', t->out);
}

void ompp_text_whatif_run(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n)
{
    const char *no_interval = ompp_whatif_no_interval(t->profile, results, n);
    const ompp_whatif_t *w = &t->profile->whatif;

    if (w->mode == OMPP_WHATIF_DELAY)
        fputs("Mode           : delay; experiments with one region and speed-up at a time, other threads and ranks are "
              "delayed\n",
              t->out);
    else fputs("Mode           : virtual; a clock for each region and speed-up, no delays\n", t->out);
    print_time(t, n > 0);
    print_points(t);
    print_work(t, n > 0);
    print_hidden(t, results, n);
    if (no_interval) fprintf(t->out, "No Interval    : %s\n", no_interval);
    const double alone = ompp_whatif_time_alone(t->profile);
    if (alone > 0 && (double)w->time_ns > alone)
        fprintf(t->out, "Inflation      : the program took %.1f %% longer because of delays\n",
                100 * ((double)w->time_ns / alone - 1));
    print_control(t);
    if (w->cost_ns && t->profile->nslots)
        fprintf(t->out, "Overhead       : about %.2f %% of the threads' time, for %" PRIu64 " events\n",
                100.0 * (double)w->cost_ns / ((double)w->time_ns * (double)t->profile->nslots), w->events);
    print_suspensions(t);
    print_budget(t);
    print_probes(t);
    print_kept(t);
    print_passed(t);
    if (waits_actively(t))
        fputs("Caution        : OMP_WAIT_POLICY=active: waiting threads keep processors busy that others may need\n",
              t->out);
    print_unused(t);
    if (ompp_text_whatif_cpu_wait(t) > 0)
        fprintf(t->out,
                "Caution        : threads waited %.1f %% of their time for a processor: gains are not to be trusted\n",
                ompp_text_whatif_cpu_wait(t));
    if (ompp_own_much_permille(t->profile))
        fprintf(t->out,
                "Caution        : measuring took %.1f %% (ompp Coverage): the run is not as it would be without\n",
                (double)ompp_own_much_permille(t->profile) / 10);
    print_unseen(t);
    print_lost(t);
    putc('\n', t->out);
}
