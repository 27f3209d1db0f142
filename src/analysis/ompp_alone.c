#include "analysis/ompp_alone.h"

#include "analysis/ompp_values.h"

/* The fork around a team's fork; 0 = there is none. */
static uint32_t outer_fork(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t fork)
{
    return paths->fork[p->nodes[fork].parent];
}

static bool has_visited(const ompp_profile_t *p, uint32_t node, uint32_t location)
{
    const ompp_block_t *block = ompp_profile_find_block(p, node, location, OMPP_SET_PHASES, 0);
    uint64_t any = 0;

    for (uint32_t i = 0; block && i < block->nvalues; i++) any |= block->values[i];
    return any != 0;
}

/* A worker of a team in another team is none of that one's members. One of an outermost team is known by its kind. */
static bool is_worker(const ompp_profile_t *p, uint32_t outer, uint32_t location)
{
    if (outer) return !has_visited(p, outer, location);
    return p->locations[location].kind == OMPP_THREAD_TEAM || p->locations[location].kind == OMPP_THREAD_NESTED;
}

/* A rank's teams at a fork have one member each. */
static bool is_of_one(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t fork, uint32_t location)
{
    const uint32_t rank = p->locations[location].rank, outer = outer_fork(p, paths, fork);
    const ompp_node_t *node = &p->nodes[fork];

    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        if (!ompp_block_is_phases(block) || p->locations[block->location].rank != rank) continue;
        if (is_worker(p, outer, block->location) && has_visited(p, fork, block->location)) return false;
    }
    return true;
}

/* The threads of a rank, or of each that is not kept in the mean, are one. */
static bool has_one_thread(const ompp_profile_t *p, uint32_t rank)
{
    const size_t r = rank == OMPP_NONE ? p->nranks_kept : ompp_analysis_rank_index(p, rank);
    uint64_t kept = 0;

    if (r < p->nranks_kept) return p->ranks[r].nthreads <= 1;
    for (size_t i = 0; i < p->nranks_kept; i++) kept += p->ranks[i].nthreads;
    return p->nslots <= kept + p->nrest;
}

bool ompp_analysis_alone(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t node, uint32_t location)
{
    const uint32_t fork = paths->fork[node], rank = p->locations[location].rank;

    if (has_one_thread(p, rank) || !fork) return true;
    return rank != OMPP_NONE && is_of_one(p, paths, fork, location);
}

static bool has_own_threads(const ompp_profile_t *p, uint32_t rank)
{
    for (uint32_t l = 0; l < p->nlocations; l++)
        if (p->locations[l].rank == rank && p->locations[l].kind == OMPP_THREAD_OTHER) return true;
    return false;
}

bool ompp_analysis_unrivalled(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t node, uint32_t location)
{
    const uint32_t rank = p->locations[location].rank;

    if (has_one_thread(p, rank)) return true;
    if (rank == OMPP_NONE || has_own_threads(p, rank)) return false;
    for (uint32_t fork = paths->fork[node]; fork; fork = outer_fork(p, paths, fork))
        if (!is_of_one(p, paths, fork, location)) return false;
    return true;
}
