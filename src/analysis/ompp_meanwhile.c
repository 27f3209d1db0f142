#include "analysis/ompp_meanwhile.h"

#include "analysis/ompp_values.h"

#include <stdlib.h>

#define EXPLAINS 1.3 /* waits are that many times as long at most as the calls, for each thread that waits */
#define FEW 0.1      /* of these calls: others do not matter */

static bool is_of_one(unsigned construct)
{
    return construct == OMPP_CONSTRUCT_MASTER || construct == OMPP_CONSTRUCT_SINGLE;
}

static uint64_t time_in(const ompp_profile_t *p, uint32_t n, unsigned phase, bool initial)
{
    const unsigned slot = ompp_phase_slot(p->regions[p->nodes[n].region].construct, phase);
    uint64_t sum = 0;

    for (uint32_t b = 0; slot != OMPP_NO_SLOT && b < p->nodes[n].nblocks; b++) {
        const ompp_block_t *block = &p->nodes[n].blocks[b];
        if (!ompp_block_is_phases(block)) continue;
        if (!initial || p->locations[block->location].kind == OMPP_THREAD_INITIAL)
            sum += block->values[ompp_value_index(slot, OMPP_SLOT_TIME)];
    }
    return sum;
}

static bool ends_here(unsigned construct)
{
    return ompp_constructs[construct].flags & (OMPP_CONSTRUCT_F_FORK | OMPP_CONSTRUCT_F_TASK);
}

/* Whether one thread of the team comes to a node. */
static bool comes_alone(const ompp_profile_t *p, uint32_t n)
{
    for (n = p->nodes[n].parent; n && n != OMPP_NONE; n = p->nodes[n].parent) {
        const unsigned construct = p->regions[p->nodes[n].region].construct;
        if (is_of_one(construct)) return true;
        if (ends_here(construct)) return false;
    }
    return false;
}

/* What a node has by itself. */
static ompp_meanwhile_t own_of(const ompp_profile_t *p, uint32_t n)
{
    const unsigned construct = p->regions[p->nodes[n].region].construct;
    const uint64_t exec = time_in(p, n, OMPP_PHASE_EXEC, false);

    switch (construct) {
    case OMPP_CONSTRUCT_TASKWAIT: return (ompp_meanwhile_t){.tasks = exec};
    case OMPP_CONSTRUCT_TASKGROUP: return (ompp_meanwhile_t){.tasks = time_in(p, n, OMPP_PHASE_EXITBAR, false)};
    case OMPP_CONSTRUCT_BARRIER: return (ompp_meanwhile_t){.barriers = exec};
    case OMPP_CONSTRUCT_MPI: {
        const uint64_t called = comes_alone(p, n) ? exec : time_in(p, n, OMPP_PHASE_EXEC, true);
        return (ompp_meanwhile_t){.called = called, .others = exec - called};
    }
    default: return (ompp_meanwhile_t){.barriers = time_in(p, n, OMPP_PHASE_EXITBAR, false)};
    }
}

static void add(ompp_meanwhile_t *to, const ompp_meanwhile_t *more)
{
    to->tasks += more->tasks;
    to->called += more->called;
    to->others += more->others;
    to->barriers += more->barriers;
}

ompp_meanwhile_t *ompp_analysis_meanwhile(const ompp_profile_t *p)
{
    ompp_meanwhile_t *all = calloc(p->nnodes + 1, sizeof *all);

    for (uint32_t n = 1; all && n < p->nnodes; n++) all[n] = own_of(p, n);
    for (uint32_t n = (uint32_t)p->nnodes; all && n-- > 1;) { /* children before parents */
        if (!ends_here(p->regions[p->nodes[n].region].construct)) add(&all[p->nodes[n].parent], &all[n]);
    }
    return all;
}

bool ompp_analysis_waits_for_calls(const ompp_profile_t *p, const ompp_paths_t *paths,
                                   const ompp_meanwhile_t *meanwhile, uint32_t region)
{
    const uint32_t threads = ompp_analysis_max_threads(p);
    ompp_meanwhile_t sum = {0};

    for (const uint32_t *n = ompp_paths_begin(paths, region); n < ompp_paths_end(paths, region); n++)
        add(&sum, &meanwhile[p->regions[region].construct == OMPP_CONSTRUCT_SINGLE ? *n : paths->fork[*n]]);
    return sum.called && threads > 1 && (double)sum.others < FEW * (double)sum.called &&
           (double)sum.barriers < EXPLAINS * (double)sum.called * (threads - 1);
}
