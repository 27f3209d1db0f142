/*
 * The threads' work, of the whole run, and the parts of it that shares are: in regions, outside of them, and not tried.
 * All parts are of the same sum, so that those of regions that have nothing in common add up to it at most.
 */
#include "analysis/ompp_paths.h"
#include "analysis/ompp_values.h"
#include "analysis/ompp_whatif_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH_UNTRIED 0.01 /* of the work: a region that was not tried is worth a word */
#define FEW_CALLS 10        /* fewer that were followed do not say what thousands more do */

/* Threads of its own wait for each other inside of regions (locks, joins): the profile takes that for work, the clocks
 * do not. */
static bool has_own_threads(const ompp_profile_t *p)
{
    for (size_t i = 0; i < p->nlocations; i++)
        if (p->locations[i].kind == OMPP_THREAD_OTHER && p->locations[i].rank != OMPP_NONE) return true;
    return false;
}

/* What MPI calls take is waiting, or not known. */
double ompp_whatif_own_work(const ompp_profile_t *p, const ompp_node_t *node)
{
    unsigned construct = p->regions[node->region].construct;
    const ompp_construct_row_t *row = &ompp_constructs[construct];
    double sum = 0;

    if (construct == OMPP_CONSTRUCT_MPI || construct == OMPP_CONSTRUCT_BARRIER || construct == OMPP_CONSTRUCT_TASKWAIT)
        return 0;
    for (uint32_t b = 0; b < node->nblocks; b++) {
        if (node->blocks[b].set != OMPP_SET_PHASES || node->blocks[b].object != 0) continue;
        const uint64_t *v = node->blocks[b].values;
        for (unsigned s = 0; s < row->nphases; s++)
            if (ompp_phase_is_work[row->phases[s]])
                sum += (double)v[ompp_value_index(s, OMPP_SLOT_TIME)] -
                       (double)v[ompp_value_index(s, OMPP_SLOT_CHILD)] - (double)v[ompp_value_index(s, OMPP_SLOT_TASK)];
    }
    return sum;
}

/* Functions of a call path are no regions: those with rows of their own have the time of the regions below. */
static bool is_outermost(const ompp_profile_t *p, const ompp_node_t *node)
{
    if (ompp_construct_is_path(p->regions[node->region].construct)) return false;
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
double ompp_whatif_time_without_delays(const ompp_profile_t *p)
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

    return followed > 0 ? (double)r->work_ns * (ompp_whatif_time_without_delays(p) / followed) : 0;
}

/* What its calls take is waiting, or not known. */
static bool is_mpi(const ompp_profile_t *p, uint32_t region)
{
    return region != OMPP_NONE && p->regions[region].construct == OMPP_CONSTRUCT_MPI;
}

/* \return by region, owned by the caller; NULL = no memory. */
static ompp_whatif_calls_t *count_calls(const ompp_profile_t *p)
{
    ompp_whatif_calls_t *calls = calloc(p->nregions + 1, sizeof *calls);

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
    const double run = ompp_whatif_time_without_delays(p), followed = time_followed(r);

    if (run <= 0 || followed <= 0 || total <= 0 || seen <= 0 || followed >= OMPP_WHATIF_WHOLE_RUN * run) return 1;
    return total / run / (seen / followed);
}

/*
 * What calls of MPI do besides waiting the profile does not know, but how many there were, and that it is not longer
 * than they are. Of experiments clocks know it, of the whole run.
 */
static double correction_by_calls(const ompp_profile_t *p, const ompp_whatif_calls_t *calls,
                                  const ompp_whatif_region_t *r)
{
    const ompp_whatif_calls_t *all = &calls[r->region];
    if (r->total_ns) return correction_by(p, r, (double)r->total_ns, (double)r->work_ns);
    const double visits = fmax((double)r->visits, 1); /* none began: one was under way */
    const double by_number = correction_by(p, r, all->number, visits),
                 most = correction_by(p, r, all->ns, (double)r->work_ns);

    return fmin(visits < FEW_CALLS ? fmin(by_number, 1) : by_number, most);
}

/* Of MPI only the clocks can tell, for calls that were followed. */
static double mpi_work(const ompp_profile_t *p, const ompp_whatif_calls_t *calls, const ompp_whatif_region_t *r)
{
    return r->total_ns ? (double)r->total_ns : whole_work(p, r) * correction_by_calls(p, calls, r);
}

/*
 * Clocks know better what is work, where threads wait unseen by the profile. But of a run that they have followed for a
 * part they know that part alone. Experiments know of the whole run, whatever region they were about.
 */
static bool is_followed_partly(const ompp_profile_t *p)
{
    const double run = ompp_whatif_time_without_delays(p);
    bool partly = false;

    for (size_t i = 0; i < p->whatif.nregions; i++) {
        const ompp_whatif_region_t *r = &p->whatif.regions[i];
        partly = partly || (ompp_whatif_is_of_program(r) && ompp_whatif_is_observed(r) && !r->total_ns &&
                            time_followed(r) < OMPP_WHATIF_WHOLE_RUN * run);
    }
    return partly && p->whatif.mode == OMPP_WHATIF_VIRTUAL;
}

static double threads_time(const ompp_profile_t *p)
{
    double sum = 0;

    for (size_t i = 0; i < p->nlocations; i++)
        if (p->locations[i].rank != OMPP_NONE && p->locations[i].end_ns > p->locations[i].begin_ns)
            sum += (double)(p->locations[i].end_ns - p->locations[i].begin_ns);
    return sum > 0 ? sum : (double)p->whatif.time_ns * (double)p->nslots;
}

/* Experiments with the region in which it did nothing say nothing of it. */
bool ompp_whatif_is_seen(const ompp_whatif_region_t *r, const ompp_whatif_clock_t *clock)
{
    return clock->permille && (clock->observations > 0 || !r->total_ns);
}

/* Of a region that no experiment was made with nothing is known but its share. */
bool ompp_whatif_is_observed(const ompp_whatif_region_t *r)
{
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
        if (ompp_whatif_is_seen(r, &r->clocks[k])) return true;
    return false;
}

/* Whether a node has a node of this region above it. */
bool ompp_whatif_lies_in(const ompp_profile_t *p, uint32_t node, uint32_t region)
{
    while (node != 0) {
        node = p->nodes[node].parent;
        if (p->nodes[node].region == region) return true;
    }
    return false;
}

/* What is recursive counts once. */
double ompp_whatif_region_work(const ompp_profile_t *p, const ompp_whatif_sums_t *sums, uint32_t region)
{
    double sum = 0;

    /* by the profile, where it knows that: pieces with clocks may have more, or less */
    if (region == OMPP_NONE) return outside_work(p) > 0 ? outside_work(p) : (double)p->whatif.outside_ns;
    for (const uint32_t *i = ompp_paths_begin(&sums->paths, region); i < ompp_paths_end(&sums->paths, region); i++)
        if (!ompp_whatif_lies_in(p, *i, region)) sum += sums->below[*i];
    return sum;
}

/*
 * Work of the run in the region, ns: as the clocks know it of experiments, which do not take delays for work; else as
 * the profile has it, but no more than what was seen, and all threads all the time that it was not followed.
 */
static double work_of_run(const ompp_profile_t *p, const ompp_whatif_sums_t *sums, const ompp_whatif_region_t *r)
{
    const double unseen = fmax(ompp_whatif_time_without_delays(p) - time_followed(r), 0) * (double)p->nslots;

    if (r->total_ns) return (double)r->total_ns;
    return fmin(ompp_whatif_region_work(p, sums, r->region), (double)r->work_ns + unseen);
}

/* Where the profile does not know what was work there can be none. */
double ompp_whatif_correction(const ompp_profile_t *p, const ompp_whatif_sums_t *sums, const ompp_whatif_region_t *r)
{
    if (is_mpi(p, r->region)) return correction_by_calls(p, sums->calls, r);
    return has_own_threads(p) && !r->total_ns ? 1 : correction_by(p, r, work_of_run(p, sums, r), (double)r->work_ns);
}

/* Work of the run in a region that was tried, ns, from where all of it is from. */
static double work_in(const ompp_profile_t *p, const ompp_whatif_sums_t *sums, const ompp_whatif_region_t *r)
{
    if (is_mpi(p, r->region)) return mpi_work(p, sums->calls, r);
    if (r->total_ns) return (double)r->total_ns;
    return sums->partly ? ompp_whatif_region_work(p, sums, r->region)
                        : whole_work(p, r) * ompp_whatif_correction(p, sums, r);
}

double ompp_whatif_share(const ompp_profile_t *p, const ompp_whatif_sums_t *sums, const ompp_whatif_region_t *r)
{
    return sums->all > 0 ? fmin(work_in(p, sums, r) / sums->all, 1) : 0;
}

/* Of a node, on one location: from its begin to its end. */
static double whole_time(const ompp_block_t *block, unsigned nphases)
{
    double sum = 0;

    for (unsigned s = 0; s < nphases; s++) sum += (double)block->values[ompp_value_index(s, OMPP_SLOT_TIME)];
    return sum;
}

double ompp_whatif_elapsed(const ompp_profile_t *p, const ompp_whatif_sums_t *sums, uint32_t region)
{
    const double run = (double)ompp_analysis_duration(p);
    double sum = 0;

    for (size_t rank = 0; region != OMPP_NONE && rank < p->nranks_kept; rank++) {
        for (const uint32_t *i = ompp_paths_begin(&sums->paths, region); i < ompp_paths_end(&sums->paths, region);
             i++) {
            const ompp_node_t *node = &p->nodes[*i];
            const unsigned construct = p->regions[node->region].construct;
            double all = 0, longest = 0;
            for (uint32_t b = 0; b < node->nblocks; b++) {
                if (!ompp_block_is_phases(&node->blocks[b]) ||
                    p->locations[node->blocks[b].location].rank != p->ranks[rank].rank)
                    continue;
                const double time = whole_time(&node->blocks[b], ompp_constructs[construct].nphases);
                all += time;
                longest = fmax(longest, time);
            }
            sum += ompp_construct_forks(construct) ? longest : all;
        }
    }
    return run <= 0 || sum <= 0 || p->nranks_kept < p->nranks ? 1 : fmin(sum / run, 1);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool is_tried(const ompp_profile_t *p, const ompp_whatif_region_t *r)
{
    return ompp_whatif_is_of_program(r) && (r->region == OMPP_NONE || r->region < p->nregions) &&
           ompp_whatif_is_observed(r);
}

static double time_at(const ompp_node_t *node)
{
    double sum = 0;

    for (uint32_t b = 0; b < node->nblocks; b++)
        if (ompp_block_is_phases(&node->blocks[b]))
            sum += (double)node->blocks[b].values[ompp_value_index(0, OMPP_SLOT_TIME)];
    return sum;
}

/* What the calls of a region of MPI have worked is shared out among its nodes by their time. */
static void add_mpi(const ompp_profile_t *p, const ompp_whatif_region_t *r, ompp_whatif_sums_t *sums)
{
    const double work = mpi_work(p, sums->calls, r), all = sums->calls[r->region].ns;

    sums->all += work;
    for (const uint32_t *i = ompp_paths_begin(&sums->paths, r->region);
         all > 0 && i < ompp_paths_end(&sums->paths, r->region); i++)
        sums->own[*i] += work * time_at(&p->nodes[*i]) / all;
}

/* As the clocks have seen it, without what was waited for; by phases, in which threads may wait unseen, when that is
 * not known of the whole run. */
static void add_all(const ompp_profile_t *p, ompp_whatif_sums_t *sums)
{
    const bool by_profile = sums->partly || !p->whatif.worked_ns;

    sums->outside = by_profile ? outside_work(p) : (double)p->whatif.outside_ns;
    for (size_t i = 1; i < p->nnodes; i++) {
        sums->own[i] = ompp_whatif_own_work(p, &p->nodes[i]);
        sums->all += by_profile ? sums->own[i] : 0;
    }
    sums->all += by_profile ? sums->outside : (double)p->whatif.worked_ns;
    for (size_t i = 0; i < p->whatif.nregions; i++) {
        const ompp_whatif_region_t *r = &p->whatif.regions[i];
        if (ompp_whatif_is_of_program(r) && is_mpi(p, r->region)) add_mpi(p, r, sums);
    }
    for (size_t i = 1; i < p->nnodes; i++) sums->below[i] = sums->own[i];
    for (size_t i = p->nnodes; i-- > 1;) sums->below[p->nodes[i].parent] += sums->below[i];
}

/*
 * What was tried, each part of it once: of each region what has no other one above it. All is not less than that, which
 * may be from other clocks. What was not tried is the rest, at most.
 */
static bool add_tried(const ompp_profile_t *p, ompp_whatif_sums_t *sums)
{
    const ompp_whatif_t *w = &p->whatif;
    const ompp_whatif_region_t **of_region = calloc(p->nregions + 1, sizeof *of_region);
    double *at_top = calloc(p->nregions + 1, sizeof *at_top), tried = sums->outside, untried = 0;

    for (size_t i = w->nregions; of_region && at_top && i-- > 0;) { /* the first one of a region counts */
        if (!is_tried(p, &w->regions[i])) continue;
        if (w->regions[i].region == OMPP_NONE) sums->tries_outside = true, tried = work_in(p, sums, &w->regions[i]);
        else of_region[w->regions[i].region] = &w->regions[i];
    }
    for (size_t i = 1; of_region && at_top && i < p->nnodes; i++) {
        const uint32_t region = p->nodes[i].region, above = sums->top[p->nodes[i].parent];
        sums->top[i] = above != OMPP_NONE ? above : of_region[region] ? region : OMPP_NONE;
        if (sums->top[i] != OMPP_NONE) at_top[sums->top[i]] += sums->own[i];
        else untried += sums->own[i];
    }
    for (uint32_t r = 0; of_region && at_top && r < p->nregions; r++) {
        const double all = of_region[r] ? ompp_whatif_region_work(p, sums, r) : 0;
        if (of_region[r]) tried += work_in(p, sums, of_region[r]) * (all > 0 ? at_top[r] / all : 1);
    }
    sums->all = fmax(sums->all, tried);
    sums->left = untried > 0 ? fmin((sums->all - tried) / untried, 1) : 0;
    const bool memory = of_region && at_top;
    free(of_region);
    free(at_top);
    return memory;
}

void ompp_whatif_sums_fini(ompp_whatif_sums_t *sums)
{
    free(sums->own);
    free(sums->below);
    free(sums->calls);
    free(sums->top);
    ompp_paths_fini(&sums->paths);
}

bool ompp_whatif_sums_init(const ompp_profile_t *p, ompp_whatif_sums_t *sums)
{
    const double threads = threads_time(p);

    *sums = (ompp_whatif_sums_t){.own = calloc(p->nnodes + 1, sizeof *sums->own),
                                 .below = calloc(p->nnodes + 1, sizeof *sums->below),
                                 .top = malloc((p->nnodes + 1) * sizeof *sums->top),
                                 .calls = count_calls(p),
                                 .partly = is_followed_partly(p) && !has_own_threads(p)};
    bool memory = ompp_paths_init(&sums->paths, p) && sums->own && sums->below && sums->top && sums->calls;
    if (memory) {
        sums->top[0] = OMPP_NONE;
        add_all(p, sums);
        memory = add_tried(p, sums);
    }
    if (!memory) ompp_whatif_sums_fini(sums);
    sums->of_threads = threads > 0 ? fmin(sums->all / threads, 1) : 0;
    return memory;
}

double ompp_whatif_all_work(const ompp_profile_t *p)
{
    ompp_whatif_sums_t sums;

    if (!ompp_whatif_sums_init(p, &sums)) return 0;
    ompp_whatif_sums_fini(&sums);
    return sums.all;
}

/* ---- What was not tried ------------------------------------------------------------------------------------------ */

/*
 * In nodes that no region of the table is above of. Where threads wait unseen by the profile it cannot be told.
 * by_region: [nregions], of each.
 */
static double left_out_work(const ompp_profile_t *p, const ompp_whatif_sums_t *sums, double *by_region)
{
    double sum = 0;

    for (size_t i = 1; i < p->nnodes && !has_own_threads(p); i++) {
        if (sums->top[i] != OMPP_NONE) continue;
        const double work = sums->own[i] * sums->left;
        sum += work;
        if (by_region) by_region[p->nodes[i].region] += work;
    }
    return sum;
}

ompp_whatif_work_t ompp_whatif_work(const ompp_profile_t *p)
{
    ompp_whatif_work_t work = {0, 0, 0};
    ompp_whatif_sums_t sums;

    if (p->whatif.mode == OMPP_WHATIF_OFF || !ompp_whatif_sums_init(p, &sums)) return work;
    if (sums.of_threads > 0) {
        work.of_threads = sums.of_threads;
        work.outside = sums.tries_outside ? 0 : fmin(sums.outside / sums.all, 1);
        work.left_out = left_out_work(p, &sums, NULL) / sums.all;
    }
    ompp_whatif_sums_fini(&sums);
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
        const bool tried =
            ompp_whatif_is_observed(r) || r->region == OMPP_NONE || r->region >= p->nregions || is_mpi(p, r->region);
        if (ompp_whatif_is_of_program(r) && !tried) all[found++] = (ompp_whatif_untried_t){r->region, 0};
    }
    return found;
}

static size_t untried_by_work(const ompp_profile_t *p, double *work, ompp_whatif_untried_t *all)
{
    ompp_whatif_sums_t sums;
    size_t found = 0;

    if (!ompp_whatif_sums_init(p, &sums)) return 0;
    left_out_work(p, &sums, work);
    for (uint32_t r = 0; r < p->nregions && sums.all > 0; r++)
        if (work[r] >= ENOUGH_UNTRIED * sums.all) all[found++] = (ompp_whatif_untried_t){r, work[r] / sums.all};
    ompp_whatif_sums_fini(&sums);
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
