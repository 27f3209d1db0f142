#include "analysis/ompp_meanwhile.h"

#include "analysis/ompp_values.h"

#include <math.h>
#include <stdlib.h>

#define NEAR 1.3    /* the others wait so many times as long as the calls take at most, and as short at least */
#define LITTLE 0.2  /* of what the others wait: the thread that calls waits for less */
#define MOSTLY 0.75 /* of the waits of all ranks are explained so */

static bool ends_here(unsigned construct)
{
    return ompp_constructs[construct].flags & (OMPP_CONSTRUCT_F_FORK | OMPP_CONSTRUCT_F_TASK);
}

static uint64_t time_in(const ompp_profile_t *p, uint32_t n, const ompp_block_t *block, unsigned phase)
{
    const unsigned slot = ompp_phase_slot(p->regions[p->nodes[n].region].construct, phase);

    if (slot == OMPP_NO_SLOT || !ompp_block_is_phases(block)) return 0;
    return ompp_less(block->values[ompp_value_index(slot, OMPP_SLOT_TIME)],
                     block->values[ompp_value_index(slot, OMPP_SLOT_TASK)]);
}

static uint64_t time_of_all(const ompp_profile_t *p, uint32_t n, unsigned phase)
{
    uint64_t sum = 0;

    for (uint32_t b = 0; b < p->nodes[n].nblocks; b++) {
        const ompp_block_t *block = &p->nodes[n].blocks[b];
        const unsigned slot = ompp_phase_slot(p->regions[p->nodes[n].region].construct, phase);
        if (slot != OMPP_NO_SLOT && ompp_block_is_phases(block))
            sum += block->values[ompp_value_index(slot, OMPP_SLOT_TIME)];
    }
    return sum;
}

/* What a node has by itself. */
static ompp_meanwhile_t own_of(const ompp_profile_t *p, uint32_t n)
{
    switch (p->regions[p->nodes[n].region].construct) {
    case OMPP_CONSTRUCT_TASKWAIT: return (ompp_meanwhile_t){.tasks = time_of_all(p, n, OMPP_PHASE_EXEC)};
    case OMPP_CONSTRUCT_TASKGROUP: return (ompp_meanwhile_t){.tasks = time_of_all(p, n, OMPP_PHASE_EXITBAR)};
    case OMPP_CONSTRUCT_MPI: return (ompp_meanwhile_t){.called = time_of_all(p, n, OMPP_PHASE_EXEC)};
    default: return (ompp_meanwhile_t){0};
    }
}

ompp_meanwhile_t *ompp_analysis_meanwhile(const ompp_profile_t *p)
{
    ompp_meanwhile_t *all = calloc(p->nnodes + 1, sizeof *all);

    for (uint32_t n = 1; all && n < p->nnodes; n++) all[n] = own_of(p, n);
    for (uint32_t n = (uint32_t)p->nnodes; all && n-- > 1;) { /* children before parents */
        if (ends_here(p->regions[p->nodes[n].region].construct)) continue;
        all[p->nodes[n].parent].tasks += all[n].tasks;
        all[p->nodes[n].parent].called += all[n].called;
    }
    return all;
}

/* ---- Who waits for whom ------------------------------------------------------------------------------------------ */

/* Of each location, ns in a team: waiting at barriers, calling MPI. */
typedef struct {
    double waits, calls;
    bool member;
} thread_t;

/* in: nodes whose teams, or which themselves (SINGLE), are looked at; what lies below the latter is added to it. */
static void add_teams(const ompp_profile_t *p, const ompp_paths_t *paths, bool *in, bool single, thread_t *threads)
{
    for (uint32_t n = 1; n < p->nnodes; n++) { /* parents before children */
        const unsigned construct = p->regions[p->nodes[n].region].construct;
        if (single && !ends_here(construct)) in[n] |= in[p->nodes[n].parent];
        if (!in[single ? n : paths->fork[n]]) continue;
        for (uint32_t b = 0; b < p->nodes[n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[n].blocks[b];
            const unsigned phase = construct == OMPP_CONSTRUCT_MPI || construct == OMPP_CONSTRUCT_BARRIER
                                       ? OMPP_PHASE_EXEC
                                       : OMPP_PHASE_EXITBAR;
            thread_t *t = &threads[block->location];
            *(construct == OMPP_CONSTRUCT_MPI ? &t->calls : &t->waits) += (double)time_in(p, n, block, phase);
            t->member |= ompp_block_is_phases(block);
        }
    }
}

/* \return what threads of a rank wait. \param[out] explained  is added what of that is for the one that calls MPI. In
 * SINGLE each thread may be the one, time after time, so that sums of all tell. */
static double of_rank(const ompp_profile_t *p, const thread_t *threads, uint32_t rank, bool any, double *explained)
{
    double waits = 0, calls = 0, most = 0, own = 0;
    uint32_t members = 0;

    for (uint32_t l = 0; l < p->nlocations; l++) {
        if (p->locations[l].rank != rank || !threads[l].member) continue;
        members++;
        waits += threads[l].waits;
        calls += threads[l].calls;
        if (threads[l].calls > most) most = threads[l].calls, own = threads[l].waits;
    }
    if (members < 2 || waits <= 0 || calls <= 0) return waits;
    const double others = (any ? waits : waits - own) / (members - 1), called = any ? calls : most;
    const bool alone = any || (calls - most < LITTLE * most && own < LITTLE * others);
    if (alone && others < NEAR * called && others * NEAR > called) *explained += any ? waits : waits - own;
    return waits;
}

bool ompp_analysis_waits_for_calls(const ompp_profile_t *p, const ompp_paths_t *paths,
                                   const ompp_meanwhile_t *meanwhile, uint32_t region)
{
    const bool single = p->regions[region].construct == OMPP_CONSTRUCT_SINGLE;
    thread_t *threads = calloc(p->nlocations + 1, sizeof *threads);
    bool *in = calloc(p->nnodes + 1, sizeof *in), any = false;
    double waits = 0, explained = 0;

    for (const uint32_t *n = ompp_paths_begin(paths, region); threads && in && n < ompp_paths_end(paths, region); n++) {
        const uint32_t around = single ? *n : paths->fork[*n];
        if (around && meanwhile[around].called) any = in[around] = true;
    }
    if (any) add_teams(p, paths, in, single, threads);
    for (uint32_t r = 0; any && r < p->nranks_kept; r++)
        waits += of_rank(p, threads, p->ranks[r].rank, single, &explained);
    free(threads);
    free(in);
    return any && waits > 0 && explained >= MOSTLY * waits;
}
