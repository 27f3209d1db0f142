#include "analysis/ompp_whatif.h"

#include "analysis/ompp_paths.h"
#include "analysis/ompp_whatif_priv.h"
#include "base/ompp_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH_GAIN 0.005 /* below it a region is not worth a word */
#define KNEE_PART 0.95    /* of the largest gain */
#define MUCH_SHARE 0.10
#define FEW_OF_SHARE 0.2 /* gains below this part of the share: busy for nothing */
#define MANY_OF_SHARE 2.0
#define CRITICAL_GAIN 0.02
#define ENOUGH_UNTRIED 0.01 /* of the work: a region that was not tried is worth a word */
#define WHOLE_RUN 0.99      /* followed for so much of it: no correction */
#define FEW_CALLS 10        /* fewer that were followed do not say what thousands more do */

/* ---- Gains ------------------------------------------------------------------------------------------------------- */

/* Experiments with the region in which it did nothing say nothing of it. */
static bool is_seen(const ompp_whatif_region_t *r, const ompp_whatif_clock_t *clock)
{
    return clock->permille && (clock->observations > 0 || !r->total_ns);
}

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

/* ---- Work -------------------------------------------------------------------------------------------------------- */

/* All calls of a region of MPI. */
typedef struct {
    double number, ns;
} calls_t;

/* Work of a profile, ns, all locations: of each node and all below it, and of all threads. */
typedef struct {
    double *below;  /* [nnodes] */
    calls_t *calls; /* [nregions] */
    ompp_paths_t paths;
    double alone; /* ompp_whatif_time_alone() */
    double all;
    double of_threads; /* 0 to 1: part of their time */
} work_t;

/* What MPI calls take is waiting, or not known. */
static bool waits_all_the_time(unsigned construct) { return construct == OMPP_CONSTRUCT_MPI; }

/* Threads of its own wait for each other inside of regions (locks, joins): the profile takes that for work, the clocks
 * do not. */
static bool has_own_threads(const ompp_profile_t *p)
{
    for (size_t i = 0; i < p->nlocations; i++)
        if (p->locations[i].kind == OMPP_THREAD_OTHER && p->locations[i].rank != OMPP_NONE) return true;
    return false;
}

/* Functions of a call path are no regions. */
static bool is_outermost(const ompp_profile_t *p, const ompp_node_t *node)
{
    while (node->parent != 0 && ompp_construct_is_path(p->regions[p->nodes[node->parent].region].construct))
        node = &p->nodes[node->parent];
    return node->parent == 0;
}

/*
 * Time of the initial thread outside all regions: that is work, too. In programs with threads of their own it may as
 * well wait for them there (pthread_join), and counts for nothing.
 */
static double outside_work(const ompp_profile_t *p)
{
    double sum = 0;

    if (has_own_threads(p)) return 0;
    for (size_t i = 0; i < p->nlocations; i++) {
        const ompp_location_t *l = &p->locations[i];
        if (l->rank == OMPP_NONE || l->kind != OMPP_THREAD_INITIAL) continue;
        sum += (double)l->end_ns - (double)l->begin_ns;
    }
    for (size_t i = 1; i < p->nnodes; i++) {
        const ompp_node_t *node = &p->nodes[i];
        if (!is_outermost(p, node)) continue;
        for (uint32_t b = 0; b < node->nblocks; b++) {
            const ompp_location_t *l = &p->locations[node->blocks[b].location];
            if (node->blocks[b].set != OMPP_SET_PHASES || node->blocks[b].object != 0) continue;
            if (l->rank == OMPP_NONE || l->kind != OMPP_THREAD_INITIAL) continue;
            for (unsigned s = 0; ompp_value_index(s, OMPP_SLOT_TIME) < node->blocks[b].nvalues; s++)
                sum -= (double)node->blocks[b].values[ompp_value_index(s, OMPP_SLOT_TIME)];
        }
    }
    return fmax(sum, 0);
}

/* Without delays, ns: the run, and the part for which a region was followed. */
static double time_of_run(const ompp_profile_t *p)
{
    return fmax((double)p->whatif.time_ns - (double)p->whatif.paid_ns, 0);
}

static double time_followed(const ompp_whatif_region_t *r)
{
    double followed = (double)r->followed_ns;

    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) followed -= (double)r->clocks[k].paid_ns;
    return fmax(followed, 0);
}

/* Work of a region in the whole run, by that of the part for which it was followed. */
static double whole_work(const ompp_profile_t *p, const ompp_whatif_region_t *r)
{
    const double followed = time_followed(r);

    return followed > 0 ? (double)r->work_ns * (time_of_run(p) / followed) : 0;
}

static bool is_mpi(const ompp_profile_t *p, uint32_t region)
{
    return region != OMPP_NONE && waits_all_the_time(p->regions[region].construct);
}

/* Not of the units of a latency point. */
static bool is_of_program(const ompp_whatif_region_t *r) { return r->point == OMPP_NONE; }

/* \return by region, owned by the caller; NULL = no memory. */
static calls_t *count_calls(const ompp_profile_t *p)
{
    calls_t *calls = calloc(p->nregions + 1, sizeof *calls);

    for (size_t i = 1; calls && i < p->nnodes; i++) {
        const ompp_node_t *node = &p->nodes[i];
        for (uint32_t b = 0; is_mpi(p, node->region) && b < node->nblocks; b++) {
            if (node->blocks[b].set != OMPP_SET_PHASES || node->blocks[b].object != 0) continue;
            calls[node->region].number += (double)node->blocks[b].values[ompp_value_index(0, OMPP_SLOT_COUNT)];
            calls[node->region].ns += (double)node->blocks[b].values[ompp_value_index(0, OMPP_SLOT_TIME)];
        }
    }
    return calls;
}

/*
 * COZ's equation 8: what was seen while the region ran more, or less, than on average of the run is brought to that
 * average. total, seen: what it did in the run, and while it was followed. A region that was followed all the time
 * needs none.
 */
static double correction_by(const ompp_profile_t *p, const ompp_whatif_region_t *r, double total, double seen)
{
    const double run = time_of_run(p), followed = time_followed(r);

    if (run <= 0 || followed <= 0 || total <= 0 || seen <= 0 || followed >= WHOLE_RUN * run) return 1;
    return total / run / (seen / followed);
}

/*
 * What calls of MPI do besides waiting the profile does not know, but how many there were, and that it is not longer
 * than they are. Of experiments clocks know it, of the whole run.
 */
static double correction_by_calls(const ompp_profile_t *p, const calls_t *calls, const ompp_whatif_region_t *r)
{
    const calls_t *all = &calls[r->region];
    if (r->total_ns) return correction_by(p, r, (double)r->total_ns, (double)r->work_ns);
    const double visits = fmax((double)r->visits, 1); /* none began: one was under way */
    const double by_number = correction_by(p, r, all->number, visits),
                 most = correction_by(p, r, all->ns, (double)r->work_ns);

    return fmin(visits < FEW_CALLS ? fmin(by_number, 1) : by_number, most);
}

/* Only the clocks can tell, for those that were followed. */
static double mpi_work(const ompp_profile_t *p, const calls_t *calls)
{
    double sum = 0;

    for (size_t i = 0; i < p->whatif.nregions; i++) {
        const ompp_whatif_region_t *r = &p->whatif.regions[i];
        if (!is_of_program(r) || !is_mpi(p, r->region)) continue;
        sum += r->total_ns ? (double)r->total_ns : whole_work(p, r) * correction_by_calls(p, calls, r);
    }
    return sum;
}

/* As the clocks have seen it, without what was waited for; by phases, in which threads may wait unseen, when that is
 * not known. */
static double all_work(const ompp_profile_t *p, const calls_t *calls)
{
    double sum = mpi_work(p, calls);

    if (p->whatif.worked_ns) return sum + (double)p->whatif.worked_ns;
    for (size_t i = 1; i < p->nnodes; i++) sum += ompp_whatif_own_work(p, &p->nodes[i]);
    return sum + outside_work(p);
}

/* \return 0 also without memory. */
static double find_all_work(const ompp_profile_t *p)
{
    calls_t *calls = count_calls(p);
    const double all = calls ? all_work(p, calls) : 0;

    free(calls);
    return all;
}

static double threads_time(const ompp_profile_t *p)
{
    double sum = 0;

    for (size_t i = 0; i < p->nlocations; i++)
        if (p->locations[i].rank != OMPP_NONE && p->locations[i].end_ns > p->locations[i].begin_ns)
            sum += (double)(p->locations[i].end_ns - p->locations[i].begin_ns);
    return sum > 0 ? sum : (double)p->whatif.time_ns * (double)p->nslots;
}

/* As the clocks have seen it; by phases when that is not known. */
static double all_outside(const ompp_profile_t *p)
{
    return p->whatif.worked_ns ? (double)p->whatif.outside_ns : outside_work(p);
}

/* Of a region that no experiment was made with nothing is known but its share. */
static bool is_observed(const ompp_whatif_region_t *r)
{
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
        if (is_seen(r, &r->clocks[k])) return true;
    return false;
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
        if ((w->regions[i].region != OMPP_NONE || outside) && is_of_program(&w->regions[i]) &&
            is_observed(&w->regions[i]))
            return true;
    return false;
}

/* Whether what is outside of regions is in the table. in_table: NULL, or [nregions] that gets the regions which are. */
static bool find_in_table(const ompp_profile_t *p, bool *in_table)
{
    bool outside = false;

    for (size_t i = p->whatif.nregions; i-- > 0;) { /* the first one of a region counts */
        const ompp_whatif_region_t *r = &p->whatif.regions[i];
        if (!is_of_program(r)) continue;
        if (r->region == OMPP_NONE) outside = is_observed(r);
        else if (in_table && r->region < p->nregions) in_table[r->region] = is_observed(r);
    }
    return outside;
}

/*
 * In nodes that no region of the table is above of. Where threads wait unseen by the profile it cannot be told.
 * by_region: NULL, or [nregions], of each.
 */
static double left_out_work(const ompp_profile_t *p, double *by_region)
{
    bool *covered = has_own_threads(p) ? NULL : calloc(p->nnodes + 1, sizeof *covered);
    bool *in_table = covered ? calloc(p->nregions + 1, sizeof *in_table) : NULL;
    double sum = 0;

    if (in_table) find_in_table(p, in_table);
    for (size_t i = 1; in_table && i < p->nnodes; i++) {
        const ompp_node_t *node = &p->nodes[i];
        covered[i] = covered[node->parent] || in_table[node->region];
        if (covered[i]) continue;
        const double work = ompp_whatif_own_work(p, node);
        sum += work;
        if (by_region) by_region[node->region] += work;
    }
    free(covered);
    free(in_table);
    return sum;
}

ompp_whatif_work_t ompp_whatif_work(const ompp_profile_t *p)
{
    const double all = find_all_work(p), threads = threads_time(p);
    ompp_whatif_work_t work = {0, 0, 0};

    if (p->whatif.mode == OMPP_WHATIF_OFF || all <= 0 || threads <= 0) return work;
    work.of_threads = fmin(all / threads, 1);
    if (!find_in_table(p, NULL)) work.outside = fmin(all_outside(p) / all, 1);
    work.left_out = fmin(left_out_work(p, NULL) / all, 1 - work.outside); /* which is known in another way */
    return work;
}

static int compare_untried(const void *a, const void *b)
{
    const ompp_whatif_untried_t *x = a, *y = b;

    if (x->share != y->share) return x->share < y->share ? 1 : -1;
    return x->region < y->region ? -1 : x->region > y->region;
}

static size_t untried_of_own_threads(const ompp_profile_t *p, ompp_whatif_untried_t *all)
{
    size_t found = 0;

    for (size_t i = 0; i < p->whatif.nregions; i++) {
        const ompp_whatif_region_t *r = &p->whatif.regions[i];
        const bool tried = is_observed(r) || r->region == OMPP_NONE || r->region >= p->nregions || is_mpi(p, r->region);
        if (is_of_program(r) && !tried) all[found++] = (ompp_whatif_untried_t){r->region, 0};
    }
    return found;
}

static size_t untried_by_work(const ompp_profile_t *p, double *work, ompp_whatif_untried_t *all)
{
    const double whole = find_all_work(p);
    size_t found = 0;

    left_out_work(p, work);
    for (uint32_t r = 0; r < p->nregions && whole > 0; r++)
        if (work[r] >= ENOUGH_UNTRIED * whole) all[found++] = (ompp_whatif_untried_t){r, fmin(work[r] / whole, 1)};
    return found;
}

size_t ompp_whatif_untried(const ompp_profile_t *p, ompp_whatif_untried_t *untried, size_t n, size_t *count)
{
    double *work = calloc(p->nregions + 1, sizeof *work);
    ompp_whatif_untried_t *all = calloc(p->nregions + p->whatif.nregions + 1, sizeof *all);

    *count = 0;
    if (work && all) *count = has_own_threads(p) ? untried_of_own_threads(p, all) : untried_by_work(p, work, all);
    if (all) qsort(all, *count, sizeof *all, compare_untried);
    for (size_t i = 0; i < *count && i < n; i++) untried[i] = all[i];
    free(work);
    free(all);
    return *count < n ? *count : n;
}

static void free_work(work_t *work)
{
    free(work->below);
    free(work->calls);
    ompp_paths_fini(&work->paths);
}

static bool find_work(const ompp_profile_t *p, work_t *work)
{
    const double threads = threads_time(p);

    work->below = calloc(p->nnodes, sizeof *work->below);
    work->calls = count_calls(p);
    work->alone = ompp_whatif_time_alone(p);
    if (!ompp_paths_init(&work->paths, p) || !work->below || !work->calls) {
        free_work(work);
        return false;
    }
    work->all = all_work(p, work->calls);
    work->of_threads = threads > 0 ? fmin(work->all / threads, 1) : 0;
    for (size_t i = 1; i < p->nnodes; i++) work->below[i] = ompp_whatif_own_work(p, &p->nodes[i]);
    for (size_t i = p->nnodes; i-- > 1;) work->below[p->nodes[i].parent] += work->below[i];
    return true;
}

/* Whether a node has a node of this region above it. */
static bool lies_in(const ompp_profile_t *p, uint32_t node, uint32_t region)
{
    while (node != 0) {
        node = p->nodes[node].parent;
        if (p->nodes[node].region == region) return true;
    }
    return false;
}

/* All work in a region during the run; what is recursive counts once. */
static double region_work(const ompp_profile_t *p, const work_t *work, uint32_t region)
{
    double sum = 0;

    /* by the profile, where it knows that: pieces with clocks may have more, or less */
    if (region == OMPP_NONE) return outside_work(p) > 0 ? outside_work(p) : all_outside(p);
    for (const uint32_t *i = ompp_paths_begin(&work->paths, region); i < ompp_paths_end(&work->paths, region); i++)
        if (!lies_in(p, *i, region)) sum += work->below[*i];
    return sum;
}

/*
 * Work of the run in the region, ns: as the clocks know it of experiments, which do not take delays for work; else as
 * the profile has it, but no more than what was seen, and all threads all the time that it was not followed.
 */
static double work_of_run(const ompp_profile_t *p, const work_t *work, const ompp_whatif_region_t *r)
{
    const double unseen = fmax(time_of_run(p) - time_followed(r), 0) * (double)p->nslots;

    if (r->total_ns) return (double)r->total_ns;
    return fmin(region_work(p, work, r->region), (double)r->work_ns + unseen);
}

/* Where the profile does not know what was work there can be none. */
static double find_correction(const ompp_profile_t *p, const work_t *work, const ompp_whatif_region_t *r)
{
    if (is_mpi(p, r->region)) return correction_by_calls(p, work->calls, r);
    return has_own_threads(p) && !r->total_ns ? 1 : correction_by(p, r, work_of_run(p, work, r), (double)r->work_ns);
}

/* Work of the region per ns of a run of so many ns, all threads; 0 = not known. */
static double density_in(const ompp_whatif_region_t *r, double run) { return run > 0 ? (double)r->total_ns / run : 0; }

/* Where what delays took is known from units of work at 0 % alone, by these. */
double ompp_whatif_time_alone(const ompp_profile_t *p)
{
    const ompp_whatif_t *w = &p->whatif;
    double time = time_of_run(p);

    for (size_t i = 0; i < w->nregions; i++)
        for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
            if (is_of_program(&w->regions[i]) && w->regions[i].flags & OMPP_WHATIF_F_BASELINE)
                time -= ompp_whatif_excess(&w->regions[i].clocks[k], &w->control);
    return fmax(time, 0);
}

/*
 * What find_correction() is for all of a region, for one speed-up: its experiments may have seen other parts of the run
 * than those of the others (a serial part that comes once is in one of them). of_region: where that is not known.
 */
static double correction_of_clock(const ompp_profile_t *p, const work_t *work, const ompp_whatif_region_t *r,
                                  const ompp_whatif_clock_t *clock, double of_region)
{
    const double more = r->flags & OMPP_WHATIF_F_BASELINE ? ompp_whatif_excess(clock, &p->whatif.control) : 0;
    const double time = (double)clock->time_ns - (double)clock->paid_ns - more, run = work->alone;

    if (time <= 0 || run <= 0 || !r->total_ns || !clock->work_ns) return of_region;
    return time >= WHOLE_RUN * run ? 1 : density_in(r, run) / ((double)clock->work_ns / time);
}

static double find_share(const ompp_profile_t *p, const work_t *work, const ompp_whatif_region_t *r, double correction)
{
    const double done = r->total_ns ? (double)r->total_ns : whole_work(p, r) * correction;

    return work->all > 0 ? fmin(done / work->all, 1) : 0;
}

/*
 * own[i]: part of the work of results[i] in nodes of its own, and in nodes below that belong to no other result.
 * Regions that have no work to tell (MPI calls) are all their own.
 */
static bool find_own(const ompp_profile_t *p, const work_t *work, ompp_whatif_result_t *results, size_t n)
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
        if (of_node[i] != OMPP_NONE) sum[of_node[i]] += ompp_whatif_own_work(p, node);
    }
    for (size_t i = 0; memory && i < n; i++) {
        const double total = region_work(p, work, results[i].region);
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
        if (!lies_in(p, *i, outer)) return false;
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

static void find_result(const ompp_profile_t *p, const work_t *work, const ompp_whatif_region_t *from,
                        ompp_whatif_result_t *r)
{
    const ompp_gain_t *most;

    *r = (ompp_whatif_result_t){.region = from->region, .flags = from->flags, .inside = OMPP_NONE};
    r->correction = find_correction(p, work, from);
    r->share = find_share(p, work, from, r->correction);
    r->of_threads = r->share * work->of_threads;
    r->followed = p->whatif.time_ns ? fmin((double)from->followed_ns / (double)p->whatif.time_ns, 1) : 0;
    const ompp_whatif_factor_t factor = ompp_whatif_without_measuring(p, r);
    r->correction *= factor.beside;
    for (unsigned i = 0; i < OMPP_WHATIF_SPEEDUPS; i++) {
        const ompp_whatif_clock_t *clock = &from->clocks[i];
        if (!is_seen(from, clock)) continue;
        find_gain(clock, correction_of_clock(p, work, from, clock, r->correction), &r->gains[i]);
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

int ompp_analysis_whatif(const ompp_profile_t *p, ompp_whatif_result_t **results, size_t *n)
{
    ompp_whatif_control_t control;
    work_t work;

    *results = NULL;
    *n = 0;
    if (!ompp_whatif_any(p) || p->whatif.why) return 0;
    *results = calloc(p->whatif.nregions, sizeof **results);
    if (!*results || !find_work(p, &work)) {
        free(*results);
        *results = NULL;
        return -OMPP_E_NOMEM;
    }
    ompp_whatif_control(&p->whatif, &control);
    for (size_t i = 0; i < p->whatif.nregions; i++) {
        const ompp_whatif_region_t *r = &p->whatif.regions[i];
        if (is_of_program(r) && (r->region == OMPP_NONE || r->region < p->nregions) && is_observed(r))
            find_result(p, &work, r, &(*results)[(*n)++]);
    }
    for (size_t i = 0; i < *n && control.disturbed; i++) (*results)[i].flags |= OMPP_WHATIF_F_INFLATED;
    bool memory = find_own(p, &work, *results, *n) && find_inside(p, &work.paths, *results, *n);
    free_work(&work);
    qsort(*results, *n, sizeof **results, compare_results);
    return memory ? 0 : -OMPP_E_NOMEM;
}
