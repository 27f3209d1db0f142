#include "analysis/ompp_whatif.h"

#include "analysis/ompp_idle.h"
#include "analysis/ompp_own.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_whatif_priv.h"
#include "base/ompp_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH_GAIN 0.005 /* below it a region is not worth a word */
#define KNEE_PART 0.95    /* of the largest gain */
#define MUCH_SHARE 0.10
#define MUCH_MEASURING 0.2   /* of the run, by a caution: it is not the program's any more */
#define ENOUGH_TOO_MUCH 0.02 /* of the run: a gain that was so much too large is worth a flag */
#define FEW_OF_SHARE 0.2     /* gains below this part of the share: busy for nothing */
#define MANY_OF_SHARE 2.0
#define CRITICAL_GAIN 0.02
#define ABOVE 0.1  /* a part of the run, as found, may be larger than the whole by so much */
#define WAITED 0.1 /* of the threads' time, for a processor */

/* ---- Gains ------------------------------------------------------------------------------------------------------- */

static void find_gain(const ompp_whatif_clock_t *clock, double correction, ompp_gain_t *gain)
{
    gain->permille = clock->permille;
    gain->observations = clock->observations;
    gain->correction = correction;
    gain->gain = ompp_whatif_gain_of((double)clock->time_ns, (double)clock->saved_ns, (double)clock->paid_ns);
    ompp_whatif_interval(clock, correction, gain);
}

/*
 * What the program takes without the delays is not known from the experiments themselves; the flag stays where it is
 * not known at all. density: work in the region per ns of the run, all threads.
 */
static void compare_with_control(const ompp_whatif_clock_t *control, const ompp_whatif_region_t *from, double density,
                                 ompp_whatif_result_t *r)
{
    bool all = true;

    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++)
        if (r->gains[i].permille) all = ompp_whatif_by_control(&from->clocks[i], control, density, &r->gains[i]) && all;
    if (all) r->flags &= ~(uint32_t)OMPP_WHATIF_F_BASELINE;
}

/* ---- Shape ------------------------------------------------------------------------------------------------------- */

const ompp_gain_t *ompp_whatif_most(const ompp_whatif_result_t *r)
{
    const ompp_gain_t *most = &r->gains[0];

    for (unsigned i = 1; i < OMPP_WHATIF_SPEEDUPS; i++)
        if (r->gains[i].permille > most->permille) most = &r->gains[i];
    return most;
}

/* One that was observed before one that was not, what is no chance before what may be, and then the one nearer to
 * half. */
static bool says_more(const ompp_gain_t *a, const ompp_gain_t *b)
{
    if (!a->permille != !b->permille) return a->permille > 0;
    if (a->chance != b->chance) return b->chance;
    return abs((int)a->permille - 500) < abs((int)b->permille - 500);
}

const ompp_gain_t *ompp_whatif_main(const ompp_whatif_result_t *r)
{
    const ompp_gain_t *best = &r->gains[0];

    for (unsigned i = 1; i < OMPP_WHATIF_SPEEDUPS; i++)
        if (says_more(&r->gains[i], best)) best = &r->gains[i];
    return best;
}

static double find_slope(const ompp_whatif_result_t *r)
{
    double xy = 0, xx = 0;

    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++) {
        const double x = r->gains[i].permille / 1000.0, weight = fmax((double)r->gains[i].observations, 1);
        xy += weight * x * r->gains[i].gain;
        xx += weight * x * x;
    }
    return xx > 0 ? xy / xx : 0;
}

static bool any_chance(const ompp_whatif_result_t *r)
{
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++)
        if (r->gains[i].chance) return true;
    return false;
}

static uint32_t find_knee(const ompp_whatif_result_t *r)
{
    double largest = 0;
    uint32_t knee = 0, last = ompp_whatif_most(r)->permille;

    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++)
        if (r->gains[i].permille) largest = fmax(largest, r->gains[i].gain);
    if (largest < ENOUGH_GAIN || any_chance(r)) return 0;
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++) {
        const ompp_gain_t *g = &r->gains[i];
        if (g->permille && g->gain >= KNEE_PART * largest && (!knee || g->permille < knee)) knee = g->permille;
    }
    return knee == last ? 0 : knee;
}

/*
 * Nothing comes of it: less than its part of the threads' time would bring if that were all needed, the least one can
 * expect. Much comes of it: more than its share of the work, the most one can expect where threads work side by side.
 */
static ompp_whatif_verdict_t judge(const ompp_whatif_result_t *r)
{
    double gain = ompp_whatif_most(r)->gain;

    if (r->of_threads >= MUCH_SHARE && gain < FEW_OF_SHARE * r->of_threads) return OMPP_WHATIF_BUSY_FOR_NOTHING;
    if (gain >= CRITICAL_GAIN && gain > MANY_OF_SHARE * r->share) return OMPP_WHATIF_SMALL_BUT_CRITICAL;
    return OMPP_WHATIF_AGREES;
}

const char *ompp_whatif_chosen(const ompp_profile_t *p)
{
    const char *region = p->whatif.mode == OMPP_WHATIF_DELAY ? ompp_profile_setting(p, "OMPP_CAUSAL_REGION") : "";

    return *region ? region : NULL;
}

bool ompp_whatif_any(const ompp_profile_t *p)
{
    const ompp_whatif_t *w = &p->whatif;
    const char *chosen = ompp_whatif_chosen(p);
    const bool outside = chosen && strcmp(chosen, OMPP_WHATIF_OUTSIDE) == 0;

    for (size_t i = 0; i < w->nregions; i++)
        if ((w->regions[i].region != OMPP_NONE || outside) && ompp_whatif_is_of_program(&w->regions[i]) &&
            ompp_whatif_is_observed(&w->regions[i]))
            return true;
    return false;
}

/* ---- Parts of the run -------------------------------------------------------------------------------------------- */

/* Work of the region per ns of a run of so many ns, all threads; 0 = not known. */
static double density_in(const ompp_whatif_region_t *r, double run) { return run > 0 ? (double)r->total_ns / run : 0; }

/* Where what delays took is known from units of work at 0 % alone, by these. */
double ompp_whatif_time_alone(const ompp_profile_t *p)
{
    const ompp_whatif_t *w = &p->whatif;
    double time = ompp_whatif_time_without_delays(p);

    for (size_t i = 0; i < w->nregions; i++)
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
            if (ompp_whatif_is_of_program(&w->regions[i]) && w->regions[i].flags & OMPP_WHATIF_F_BASELINE)
                time -= ompp_whatif_excess(&w->regions[i].clocks[k], &w->control);
    return fmax(time, 0);
}

/*
 * What ompp_whatif_correction() is for all of a region, for one speed-up: its experiments may have seen other parts of
 * the run than those of the others (a serial part that comes once is in one of them). of_region: where that is not
 * known. Experiments that ranks began and ended apart may have the work of one group of ranks alone. The run has that
 * of all groups, which are taken for equal; their number is the least with which a group works no more in the run than
 * is possible.
 */
static double correction_of_clock(const ompp_profile_t *p, const ompp_whatif_sums_t *sums,
                                  const ompp_whatif_region_t *r, const ompp_whatif_clock_t *clock, double of_region)
{
    const double more = r->flags & OMPP_WHATIF_F_BASELINE ? ompp_whatif_excess(clock, &p->whatif.control) : 0;
    const double time = (double)clock->time_ns - (double)clock->paid_ns - more, run = sums->alone;

    if (time <= 0 || run <= 0 || !r->total_ns || !clock->work_ns) return of_region;
    const double found = time >= OMPP_WHATIF_WHOLE_RUN * run ? 1 : density_in(r, run) / ((double)clock->work_ns / time);
    return r->flags & OMPP_WHATIF_F_UNSYNCHRONISED ? found / fmax(ceil(found - ABOVE), 1) : found;
}

/*
 * own[i]: part of the work of results[i] in nodes of its own, and in nodes below that belong to no other result.
 * Regions that have no work to tell (MPI calls) are all their own.
 */
static bool find_own(const ompp_profile_t *p, const ompp_whatif_sums_t *sums, ompp_whatif_result_t *results, size_t n)
{
    uint32_t *of_region = malloc((p->nregions + 1) * sizeof *of_region), *of_node = malloc(p->nnodes * sizeof *of_node);
    double *sum = calloc(n + 1, sizeof *sum);
    const bool memory = of_region && of_node && sum;

    for (size_t r = 0; memory && r < p->nregions; r++) of_region[r] = OMPP_NONE;
    for (uint32_t i = 0; memory && i < n; i++)
        if (results[i].region != OMPP_NONE) of_region[results[i].region] = i;
    if (memory) of_node[0] = OMPP_NONE;
    for (size_t i = 1; memory && i < p->nnodes; i++) {
        const ompp_node_t *node = &p->nodes[i];
        of_node[i] = of_region[node->region] != OMPP_NONE ? of_region[node->region] : of_node[node->parent];
        if (of_node[i] != OMPP_NONE) sum[of_node[i]] += sums->own[i];
    }
    for (size_t i = 0; memory && i < n; i++) {
        const double total = ompp_whatif_region_work(p, sums, results[i].region);
        results[i].own = results[i].region == OMPP_NONE ? 1 : total > 0 ? fmin(fmax(sum[i] / total, 0), 1) : 1;
    }
    free(of_region);
    free(of_node);
    free(sum);
    return memory;
}

/* ---- Regions in others ------------------------------------------------------------------------------------------- */

static bool always_in(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t inner, uint32_t outer)
{
    for (const uint32_t *i = ompp_paths_begin(paths, inner); i < ompp_paths_end(paths, inner); i++)
        if (!ompp_whatif_lies_in(p, *i, outer)) return false;
    return ompp_paths_begin(paths, inner) < ompp_paths_end(paths, inner);
}

static int compare_indices(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* The results whose regions stand above the first node of a region, ascending. \return how many; most: no more. */
static size_t above(const ompp_profile_t *p, uint32_t node, const uint32_t *of_region, uint32_t *found, size_t most)
{
    size_t n = 0;

    for (node = p->nodes[node].parent; node != 0 && n < most; node = p->nodes[node].parent)
        if (of_region[p->nodes[node].region] != OMPP_NONE) found[n++] = of_region[p->nodes[node].region];
    if (n) qsort(found, n, sizeof *found, compare_indices);
    return n;
}

static bool find_inside(const ompp_profile_t *p, const ompp_paths_t *paths, ompp_whatif_result_t *results, size_t n)
{
    uint32_t *of_region = malloc((p->nregions + 1) * sizeof *of_region), *found = malloc(p->nnodes * sizeof *found);
    const bool memory = of_region && found;

    for (size_t r = 0; memory && r < p->nregions; r++) of_region[r] = OMPP_NONE;
    for (size_t i = n; memory && i-- > 0;)
        if (results[i].region != OMPP_NONE) of_region[results[i].region] = (uint32_t)i;
    for (size_t i = 0; memory && i < n; i++) {
        const uint32_t region = results[i].region;
        results[i].inside = OMPP_NONE;
        if (region == OMPP_NONE || ompp_paths_begin(paths, region) == ompp_paths_end(paths, region)) continue;
        const size_t nfound = above(p, *ompp_paths_begin(paths, region), of_region, found, p->nnodes);
        for (size_t f = 0; f < nfound; f++) {
            const uint32_t outer = results[found[f]].region;
            if (found[f] == i || !always_in(p, paths, region, outer)) continue;
            const bool closer = results[i].inside == OMPP_NONE || always_in(p, paths, outer, results[i].inside);
            if (closer) results[i].inside = outer;
        }
    }
    free(of_region);
    free(found);
    return memory;
}

static void note_chance(ompp_whatif_result_t *r, ompp_gain_t *gain)
{
    if (!gain->permille) return;
    gain->chance = gain->interval != OMPP_INTERVAL_KNOWN;
    if (gain->observations < OMPP_WHATIF_ENOUGH) r->flags |= OMPP_WHATIF_F_FEW;
}

double ompp_whatif_passed(const ompp_whatif_t *w)
{
    const double observed = (double)w->time_ns - (double)w->suspended_ns;

    return observed > 0 ? fmin((double)w->passed_ns / observed, 1) : 0;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/*
 * Flags of work that whoever is free takes next: messages, and on virtual clocks iterations and tasks. With delays,
 * threads really take them in the order of the faster program.
 */
static unsigned shared_anew(const ompp_whatif_t *w)
{
    return OMPP_WHATIF_F_WILDCARD | (w->mode == OMPP_WHATIF_VIRTUAL ? OMPP_WHATIF_F_DYNAMIC | OMPP_WHATIF_F_TASK : 0);
}

/*
 * Nothing gains more than the time in which it is executed. Clocks that ran for a part of the run, and waits that the
 * profile does not know, may say so. What events took is in that time, and not in the run that gains are of. (Delays
 * are in the time of all regions.)
 */
static void limit_gains(const ompp_profile_t *p, const ompp_whatif_sums_t *sums, ompp_whatif_result_t *r)
{
    if (p->whatif.mode != OMPP_WHATIF_VIRTUAL) return;
    const double measuring = sums->measured.run.behind,
                 most = fmin(ompp_whatif_elapsed(p, sums, r->region) / (1 - measuring), 1);

    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++) {
        ompp_gain_t *g = &r->gains[i];
        const double limit = most * g->permille / 1000;
        if (!g->permille || g->gain <= limit + ENOUGH_TOO_MUCH) continue;
        r->flags |= OMPP_WHATIF_F_INFLATED;
        g->gain = limit;
        g->high = fmin(g->high, limit);
        g->low = fmin(g->low, limit);
    }
}

static void find_result(const ompp_profile_t *p, const ompp_whatif_sums_t *sums, const ompp_whatif_region_t *from,
                        ompp_whatif_result_t *r)
{
    const ompp_gain_t *most;

    *r = (ompp_whatif_result_t){.region = from->region, .flags = from->flags, .inside = OMPP_NONE};
    r->correction = ompp_whatif_correction(p, sums, from);
    r->share = ompp_whatif_share(p, sums, from);
    r->followed = p->whatif.time_ns ? fmin((double)from->followed_ns / (double)p->whatif.time_ns, 1) : 0;
    const ompp_whatif_factor_t factor = ompp_whatif_without_measuring(p, &sums->measured, r, sums->all);
    r->correction *= factor.beside;
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++) {
        const ompp_whatif_clock_t *clock = &from->clocks[i];
        if (!ompp_whatif_is_seen(from, clock)) continue;
        find_gain(clock, correction_of_clock(p, sums, from, clock, r->correction), &r->gains[i]);
        ompp_whatif_reach(factor, &r->gains[i]);
    }
    if (from->flags & OMPP_WHATIF_F_BASELINE)
        compare_with_control(&p->whatif.control, from, density_in(from, ompp_whatif_time_alone(p)), r);
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS && r->flags & shared_anew(&p->whatif); i++)
        ompp_whatif_spread_anew(r->share, &r->gains[i]);
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS && r->flags & OMPP_WHATIF_F_LOCK; i++)
        ompp_whatif_still_passed(ompp_whatif_passed(&p->whatif), &r->gains[i]);
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS && p->whatif.mode == OMPP_WHATIF_DELAY; i++)
        note_chance(r, &r->gains[i]);
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS && r->flags & OMPP_WHATIF_F_UNSYNCHRONISED; i++)
        ompp_whatif_ends_unsynchronised(&from->clocks[i], &r->gains[i]);
    limit_gains(p, sums, r);
    r->share = ompp_whatif_net_share(p, &sums->measured, r, sums->all);
    r->of_threads = r->share * sums->of_threads;
    r->slope = find_slope(r);
    r->knee = find_knee(r);
    most = ompp_whatif_most(r);
    if (most->chance) return; /* to judge by */
    r->contention = most->interval == OMPP_INTERVAL_KNOWN && most->high < 0 && most->gain <= -ENOUGH_GAIN;
    r->verdict = judge(r);
}

/* What differs by less than what is printed is equal, and the number of the region decides. */
static int compare_gains(double a, double b)
{
    double x = round(a * 1000), y = round(b * 1000);

    return (x < y) - (x > y);
}

/* Where that of half the time is not known, as if a part of the speed-up brought that part of the gain. */
static double gain_of_half(const ompp_whatif_result_t *r)
{
    const ompp_gain_t *g = ompp_whatif_main(r);

    return g->permille ? g->gain * 500 / g->permille : 0;
}

static int compare_results(const void *a, const void *b)
{
    const ompp_whatif_result_t *x = a, *y = b;
    int order = (x->own < OMPP_WHATIF_OWN) - (y->own < OMPP_WHATIF_OWN);

    if (order == 0) order = compare_gains(gain_of_half(x), gain_of_half(y));
    if (order == 0) order = compare_gains(ompp_whatif_most(x)->gain, ompp_whatif_most(y)->gain);
    return order ? order : x->region < y->region ? -1 : x->region > y->region;
}

/*
 * There are processors for all threads that work, and still these waited much for one: other programs had them. What is
 * taken as work is in part such waiting. Where more threads of a process work than there are processors, the runtime
 * knows in which regions; of ranks that share processors Coverage knows.
 */
static bool had_others_beside(const ompp_profile_t *p)
{
    for (size_t i = 0; i < p->whatif.nregions; i++)
        if (p->whatif.regions[i].flags & OMPP_WHATIF_F_OVERSUBSCRIBED) return false;
    for (size_t i = 0; i < p->ncoverage && p->nranks > 1; i++)
        if (p->coverage[i].kind == OMPP_COVERAGE_SHARED) return false;
    return ompp_analysis_waited(p) >= WAITED;
}

int ompp_analysis_whatif(const ompp_profile_t *p, ompp_whatif_result_t **results, size_t *n)
{
    ompp_whatif_control_t control;
    ompp_whatif_sums_t sums;

    *results = NULL;
    *n = 0;
    if (!ompp_whatif_any(p) || p->whatif.why) return 0;
    *results = calloc(p->whatif.nregions, sizeof **results);
    if (!*results || !ompp_whatif_sums_init(p, &sums)) {
        free(*results);
        *results = NULL;
        return -OMPP_E_NOMEM;
    }
    if (!ompp_whatif_measured_init(p, &sums.measured)) {
        ompp_whatif_sums_fini(&sums);
        free(*results);
        *results = NULL;
        return -OMPP_E_NOMEM;
    }
    sums.alone = ompp_whatif_time_alone(p);
    ompp_whatif_control(&p->whatif, &control);
    for (size_t i = 0; i < p->whatif.nregions; i++) {
        const ompp_whatif_region_t *r = &p->whatif.regions[i];
        if (ompp_whatif_is_of_program(r) && (r->region == OMPP_NONE || r->region < p->nregions) &&
            ompp_whatif_is_observed(r))
            find_result(p, &sums, r, &(*results)[(*n)++]);
    }
    const bool inflated = control.disturbed || ompp_whatif_clocks_disturb(p) ||
                          (double)ompp_own_much_permille(p) >= 1000 * MUCH_MEASURING;
    const uint32_t flags =
        (inflated ? OMPP_WHATIF_F_INFLATED : 0u) | (had_others_beside(p) ? OMPP_WHATIF_F_OVERSUBSCRIBED : 0u);
    for (size_t i = 0; i < *n; i++) (*results)[i].flags |= flags;
    bool memory = find_own(p, &sums, *results, *n) && find_inside(p, &sums.paths, *results, *n);
    ompp_whatif_measured_fini(&sums.measured);
    ompp_whatif_sums_fini(&sums);
    qsort(*results, *n, sizeof **results, compare_results);
    return memory ? 0 : -OMPP_E_NOMEM;
}
