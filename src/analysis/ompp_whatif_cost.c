/*
 * What measuring took, clocks and probes, and what that does to gains; regions that had no clock although one around
 * them had.
 */
#include "analysis/ompp_analysis.h"
#include "analysis/ompp_own.h"
#include "analysis/ompp_values.h"
#include "analysis/ompp_whatif_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH 0.01        /* part of the run that measuring took: less changes no gain that is printed */
#define MOST 0.9          /* nor can it have taken nearly all of it */
#define ALL 0.99          /* followed for so much of the run: what clocks took is in what was followed */
#define FREE_NS 1e6       /* per thread, whatever the budget */
#define DISTURBING 0.05   /* part of the threads' time: the run may take so much longer several times */
#define MANY_PROBES 0.01  /* part of the threads' time: worth a line */
#define ENOUGH_CALLS 1000 /* to know how long one takes */

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* Times that a node was begun, and ns that were spent in it and not below it, all locations. */
typedef struct {
    double calls, ns;
} seen_t;

static seen_t seen_at(const ompp_profile_t *p, const ompp_node_t *node)
{
    seen_t seen = {0, ompp_whatif_own_work(p, node)};

    for (uint32_t b = 0; b < node->nblocks; b++)
        if (ompp_block_is_phases(&node->blocks[b]))
            seen.calls += (double)node->blocks[b].values[ompp_value_index(0, OMPP_SLOT_COUNT)];
    return seen;
}

/* ---- Gains without measuring ------------------------------------------------------------------------------------- */

static bool is_lock(const ompp_profile_t *p, uint32_t node)
{
    const unsigned construct = p->regions[p->nodes[node].region].construct;

    return construct == OMPP_CONSTRUCT_CRITICAL || construct == OMPP_CONSTRUCT_LOCK;
}

/* Calls that ask whether something has come: who waits asks again and again, and what these events take is waiting. */
static bool asks(const ompp_profile_t *p, uint32_t node)
{
    static const char *const names[] = {"MPI_Iprobe",   "MPI_Improbe",  "MPI_Test",
                                        "MPI_Testall",  "MPI_Testany",  "MPI_Testsome",
                                        "MPI_Win_test", "MPI_Parrived", "MPI_Request_get_status"};
    const ompp_region_t *region = &p->regions[p->nodes[node].region];
    const char *name = ompp_profile_text(p, region->name);
    bool found = false;

    if (region->construct != OMPP_CONSTRUCT_MPI) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++) found = !strcmp(name, names[i]);
    return found;
}

/* What events of locks took, and what threads waited to get one. */
typedef struct {
    double own, waited; /* ns, all threads */
} locks_t;

static double waited_at(const ompp_profile_t *p, uint32_t node, const ompp_block_t *block)
{
    const ompp_construct_row_t *row = &ompp_constructs[p->regions[p->nodes[node].region].construct];
    double sum = 0;

    for (unsigned s = 0; s < row->nphases; s++)
        if (row->phases[s] == OMPP_PHASE_ENTER) sum += (double)block->values[ompp_value_index(s, OMPP_SLOT_TIME)];
    return sum;
}

/* Of one location; events of locks by themselves. asking: the part that calls have that ask. */
static void add_own(const ompp_profile_t *p, uint32_t node, double *by_location, double *asking, locks_t *locks)
{
    const bool lock = is_lock(p, node), ask = asks(p, node);

    for (uint32_t b = 0; b < p->nodes[node].nblocks; b++) {
        const ompp_block_t *block = &p->nodes[node].blocks[b];
        if (!ompp_block_is_phases(block) || p->locations[block->location].rank == OMPP_NONE) continue;
        const double own = ompp_own_events_ns(p, node, block);
        *(lock ? &locks->own : &by_location[block->location]) += own;
        if (ask) asking[block->location] += own;
        if (lock) locks->waited += waited_at(p, node, block);
    }
}

static double own_ns(const ompp_profile_t *p, uint32_t node)
{
    double sum = 0;

    for (uint32_t b = 0; b < p->nodes[node].nblocks; b++)
        if (ompp_block_is_phases(&p->nodes[node].blocks[b]))
            sum += ompp_own_events_ns(p, node, &p->nodes[node].blocks[b]);
    return sum;
}

ompp_measuring_t ompp_whatif_measuring(const ompp_profile_t *p)
{
    double *by_location = calloc(p->nlocations + 1, sizeof *by_location), most = 0, all = 0, most_at_work = 0;
    double *asking = calloc(p->nlocations + 1, sizeof *asking);
    const double ranks = p->nranks ? p->nranks : 1,
                 run = (double)(p->whatif.time_ns ? p->whatif.time_ns : ompp_analysis_duration(p)) * ranks;
    locks_t locks = {0, 0};
    ompp_measuring_t m = {0};

    for (uint32_t i = 1; by_location && asking && i < p->nnodes; i++) {
        add_own(p, i, by_location, asking, &locks);
        m.events += seen_at(p, &p->nodes[i]).calls;
    }
    for (size_t l = 0; by_location && asking && l < p->nlocations; l++) {
        all += by_location[l];
        most = fmax(most, by_location[l]);
        most_at_work = fmax(most_at_work, by_location[l] - asking[l]);
    }
    free(by_location);
    free(asking);
    if (run <= 0) return m;
    const double threads = p->nslots ? fmax(p->nslots / ranks, 1) : 1, clocks = (double)p->whatif.cost_ns;
    /* threads that wait for locks wait for each other's events */
    const double in_locks = locks.waited > locks.own ? locks.own : locks.own / threads,
                 beside = most * ranks + in_locks, sum = all + locks.own;
    const double part = sum > 0 ? fmin(beside / sum, 1) : 1 / threads;
    m.own_ns = sum;
    m.asking = fmin((most - most_at_work) * ranks / run, MOST);
    m.beside = fmin((beside + clocks * part) / run - m.asking, MOST);
    m.behind = fmin((sum + clocks) / run, MOST);
    m.alone = fmin(beside / run, MOST);
    if (p->whatif.ideal.followed_ns)
        m.followed = fmin(m.alone + clocks * part / ((double)p->whatif.ideal.followed_ns * ranks), MOST);
    return m;
}

bool ompp_whatif_measured_init(const ompp_profile_t *p, ompp_whatif_measured_t *m)
{
    uint32_t *last = calloc(p->nregions + 1, sizeof *last); /* node that was added to a region last */

    *m = (ompp_whatif_measured_t){.run = ompp_whatif_measuring(p), .in = calloc(p->nregions + 1, sizeof *m->in)};
    for (uint32_t i = 1; last && m->in && i < p->nnodes; i++) {
        const double own = own_ns(p, i), calls = seen_at(p, &p->nodes[i]).calls;
        /* work of an MPI call is what clocks have seen of it, without its events */
        const double at_work = p->regions[p->nodes[i].region].construct == OMPP_CONSTRUCT_MPI ? 0 : own;
        const double asking = asks(p, i) ? own : 0;
        m->at_work += at_work;
        for (uint32_t n = i; n != 0; n = p->nodes[n].parent) {
            const uint32_t region = p->nodes[n].region;
            if (region >= p->nregions || last[region] == i) continue;
            last[region] = i;
            m->in[region].own += own;
            m->in[region].asking += asking;
            m->in[region].at_work += at_work;
            m->in[region].events += calls;
        }
    }
    free(last);
    if (last && m->in) return true;
    ompp_whatif_measured_fini(m);
    return false;
}

void ompp_whatif_measured_fini(ompp_whatif_measured_t *m) { free(m->in); }

/* What measuring took in a region; outside of all, nothing that is known. */
static ompp_whatif_in_t taken_in(const ompp_whatif_measured_t *m, uint32_t region)
{
    return region == OMPP_NONE ? (ompp_whatif_in_t){0} : m->in[region];
}

/*
 * Part of a region's work that measuring took, 0 to 1; asking: calls that ask included. What clocks took in a region
 * that was followed in pieces is not in its gains. Of what the program has waited for, the part of the region's events:
 * where threads wait for locks, more than these took.
 */
static double part_of(const ompp_profile_t *p, const ompp_whatif_measured_t *m, const ompp_whatif_result_t *r,
                      double all, bool asking)
{
    const double work = r->share * all;
    const ompp_whatif_in_t in = taken_in(m, r->region);
    const double own = asking ? in.own : in.own - in.asking;
    double ns = own;

    if (r->followed >= ALL && m->run.events > 0) ns += in.events / m->run.events * (double)p->whatif.cost_ns;
    const double waited = m->run.own_ns > 0 && r->share > 0 ? m->run.beside * (own / m->run.own_ns) / r->share : 0;
    return work > 0 ? fmin(fmax(ns / work, waited), MOST) : 0;
}

ompp_whatif_factor_t ompp_whatif_without_measuring(const ompp_profile_t *p, const ompp_whatif_measured_t *m,
                                                   const ompp_whatif_result_t *r, double all)
{
    if (p->whatif.mode != OMPP_WHATIF_VIRTUAL || m->run.beside + m->run.asking < WORTH)
        return (ompp_whatif_factor_t){1, 1};
    return (ompp_whatif_factor_t){(1 - part_of(p, m, r, all, false)) / (1 - m->run.beside),
                                  (1 - part_of(p, m, r, all, true)) / (1 - m->run.behind)};
}

double ompp_whatif_net_share(const ompp_profile_t *p, const ompp_whatif_measured_t *m, const ompp_whatif_result_t *r,
                             double all)
{
    const double work = r->share * all, in = taken_in(m, r->region).at_work, own = fmin(m->at_work, MOST * all);

    if (p->whatif.mode != OMPP_WHATIF_VIRTUAL) return r->share;
    return all > 0 ? fmin(fmax(work - in, (1 - MOST) * work) / (all - own), 1) : 0;
}

void ompp_whatif_reach(ompp_whatif_factor_t factor, ompp_gain_t *gain)
{
    const double behind = fmin(gain->gain / factor.beside * factor.behind, fmax(gain->gain, gain->permille / 1000.0));

    if (gain->interval != OMPP_INTERVAL_KNOWN) return;
    gain->low = fmin(gain->low, behind);
    gain->high = fmax(gain->high, behind);
}

/* ns that the threads had, all of them. */
static double time_of_threads(const ompp_profile_t *p) { return (double)p->whatif.time_ns * (double)p->nslots; }

bool ompp_whatif_over_budget(const ompp_profile_t *p, double *percent, double *budget)
{
    const ompp_whatif_t *w = &p->whatif;
    const char *setting = ompp_profile_setting(p, "OMPP_CAUSAL_BUDGET");
    const double threads = time_of_threads(p);

    *budget = *setting ? atof(setting) : 2;
    *percent = threads > 0 ? 100 * (double)w->cost_ns / threads : 0;
    return w->mode == OMPP_WHATIF_VIRTUAL && *budget < 100 &&
           (double)w->cost_ns > *budget / 100 * threads + FREE_NS * (double)p->nslots;
}

bool ompp_whatif_clocks_disturb(const ompp_profile_t *p)
{
    const double threads = time_of_threads(p);

    return threads > 0 && (double)p->whatif.cost_ns >= DISTURBING * threads;
}

/* ---- Regions within others --------------------------------------------------------------------------------------- */

static int compare_untried(const void *a, const void *b)
{
    const ompp_whatif_untried_t *x = a, *y = b;

    if (x->share != y->share) return x->share < y->share ? 1 : -1;
    return x->region < y->region ? -1 : x->region > y->region;
}

/* Work of each region that has no result, where one above it has. */
static void add_hidden(const ompp_profile_t *p, const bool *in_table, const double *below, double *work)
{
    for (uint32_t i = 1; i < p->nnodes; i++) {
        const uint32_t region = p->nodes[i].region;
        bool covered = false;
        for (uint32_t n = p->nodes[i].parent; n != 0; n = p->nodes[n].parent)
            covered = covered || in_table[p->nodes[n].region];
        if (covered && !in_table[region] && !ompp_construct_is_path(p->regions[region].construct) &&
            !ompp_whatif_lies_in(p, i, region)) /* which counts it already */
            work[region] += below[i];
    }
}

size_t ompp_whatif_hidden(const ompp_profile_t *p, const ompp_whatif_result_t *results, size_t nresults,
                          ompp_whatif_untried_t *hidden, size_t n, size_t *count)
{
    bool *in_table = calloc(p->nregions + 1, sizeof *in_table);
    double *below = calloc(p->nnodes + 1, sizeof *below), *work = calloc(p->nregions + 1, sizeof *work);
    const double all = ompp_whatif_all_work(p);
    ompp_whatif_untried_t *found = calloc(p->nregions + 1, sizeof *found);

    *count = 0;
    for (size_t i = 0; in_table && i < nresults; i++)
        if (results[i].region != OMPP_NONE) in_table[results[i].region] = true;
    for (size_t i = p->nnodes; below && i-- > 1;) {
        below[i] += ompp_whatif_own_work(p, &p->nodes[i]);
        below[p->nodes[i].parent] += below[i];
    }
    if (in_table && below && work && found && nresults) add_hidden(p, in_table, below, work);
    for (uint32_t r = 0; r < p->nregions && work && found && all > 0; r++)
        if (work[r] >= OMPP_WHATIF_HIDDEN * all) found[(*count)++] = (ompp_whatif_untried_t){r, fmin(work[r] / all, 1)};
    if (found && *count) qsort(found, *count, sizeof *found, compare_untried);
    for (size_t i = 0; i < *count && i < n; i++) hidden[i] = found[i];
    free(in_table);
    free(below);
    free(work);
    free(found);
    return *count < n ? *count : n;
}

/* ---- Probes ------------------------------------------------------------------------------------------------------ */

size_t ompp_whatif_probes(const ompp_profile_t *p, uint32_t *regions, size_t n, double *share)
{
    const ompp_whatif_t *w = &p->whatif;
    const double clocks = w->events ? 2 * (double)w->cost_ns / (double)w->events : 0;
    const double probes = p->nlocations ? ompp_own_cost(p, 0, OMPP_COST_FUNCTION, false) : 0, call = probes + clocks;
    const double inside = p->nlocations ? ompp_own_cost(p, 0, OMPP_COST_FUNCTION, true) : 0;
    const double threads = (double)w->time_ns * (double)p->nslots;
    seen_t *seen = calloc(p->nregions + 1, sizeof *seen);
    size_t found = 0;

    *share = 0;
    for (size_t i = 1; seen && i < p->nnodes; i++) {
        const seen_t here = seen_at(p, &p->nodes[i]);
        seen[p->nodes[i].region].calls += here.calls;
        seen[p->nodes[i].region].ns += here.ns;
    }
    for (uint32_t r = 0; seen && r < p->nregions && w->mode != OMPP_WHATIF_OFF; r++) {
        /* clocks run for a part of the calls */
        const double took = probes * seen[r].calls + fmin(clocks * seen[r].calls, (double)w->cost_ns);
        if (!(p->regions[r].flags & OMPP_REGION_F_FUNCTION) || seen[r].calls < ENOUGH_CALLS) continue;
        if (seen[r].ns > (call + inside) * seen[r].calls || took < MANY_PROBES * threads) continue;
        *share += took / threads;
        if (found < n) regions[found++] = r;
    }
    free(seen);
    *share = fmin(*share, 1);
    return found;
}
