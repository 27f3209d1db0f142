#include "analysis/ompp_idle.h"

#include "analysis/ompp_analysis.h"
#include "analysis/ompp_node.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_values.h"

#include <stdlib.h>

double ompp_analysis_rest_threads(const ompp_profile_t *p)
{
    uint64_t kept = 0;

    for (size_t r = 0; r < p->nranks_kept; r++) kept += p->ranks[r].nthreads;
    return p->nrest ? (double)ompp_less(p->nslots, kept) / p->nrest : 0;
}

/* Of the ranks that are not kept: thread time less that of parallel regions and MPI calls outside them. */
static double rest_idle(const ompp_profile_t *p, const ompp_paths_t *paths)
{
    double threads = ompp_analysis_rest_threads(p), alone = (double)p->rest_wall_threads_ns;

    if (threads <= 1) return 0;
    for (uint32_t n = 1; n < p->nnodes; n++) {
        const ompp_node_t *node = &p->nodes[n];
        unsigned construct = p->regions[node->region].construct;
        if (paths->fork[node->parent] != 0) continue;
        /* Threads of a team have the same execT, so that their mean stands for the rank. */
        if (ompp_construct_forks(construct))
            alone -= threads * node->over_threads.mean * (double)node->over_ranks.count;
        if (construct == OMPP_CONSTRUCT_MPI) alone -= threads * (double)node->over_ranks.sum;
    }
    return alone > 0 ? alone * (threads - 1) / threads : 0;
}

/* What threads of the program's own did outside of teams, ns of each rank. own: [nranks_kept]. */
static void add_own_threads(const ompp_profile_t *p, const ompp_paths_t *paths, uint64_t *own)
{
    for (uint32_t n = 1; n < p->nnodes; n++) {
        if (paths->top[n] != n || ompp_node_is_path(p, n)) continue;
        for (uint32_t b = 0; b < p->nodes[n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[n].blocks[b];
            const ompp_location_t *l = &p->locations[block->location];
            const size_t r = ompp_analysis_rank_index(p, l->rank);
            if (block->set == OMPP_SET_PHASES && l->kind == OMPP_THREAD_OTHER && r < p->nranks_kept)
                own[r] += ompp_analysis_value(p, n, block->location, OMPP_COLUMN_EXEC_T);
        }
    }
}

uint64_t ompp_analysis_idle_ns(const ompp_profile_t *p, const ompp_paths_t *paths)
{
    ompp_rank_time_t *times = calloc(p->nranks_kept + 1, sizeof *times);
    uint64_t *own = calloc(p->nranks_kept + 1, sizeof *own), sum = 0;

    if (times && own) {
        ompp_analysis_rank_times(p, paths, times);
        add_own_threads(p, paths, own);
        for (size_t r = 0; r < p->nranks_kept; r++)
            if (p->ranks[r].nthreads > 1) sum += ompp_less(times[r].serial_ns * (p->ranks[r].nthreads - 1), own[r]);
        sum += (uint64_t)(rest_idle(p, paths) + 0.5);
    }
    free(times);
    free(own);
    return sum;
}

/* The ranks that do not say it have waited for less. */
double ompp_analysis_waited(const ompp_profile_t *p)
{
    uint64_t permille = 0;

    for (size_t i = 0; i < p->ncoverage; i++) {
        const ompp_coverage_t *c = &p->coverage[i];
        if (c->kind == OMPP_COVERAGE_CPU_WAIT || c->kind == OMPP_COVERAGE_CPU_WAIT_SOME) permille += c->count;
    }
    return p->nranks ? (double)permille / 1000 / p->nranks : 0;
}
