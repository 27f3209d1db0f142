/*
 * How much of the run no region tells anything about: the root's exclusive time in the callgraph, and the line of the
 * Coverage section that says how far the rest of the report reaches.
 */
#include "analysis/ompp_analysis.h"
#include "analysis/ompp_node.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART_NS 100000000u /* ends of ranks that lie further apart are worth a word */

/* Ranks wait for one that died or was stopped before them. */
static void say_ended(ompp_profile_t *profile)
{
    uint64_t first = UINT64_MAX, last = 0;
    uint32_t rank = 0;
    char subject[16];

    for (size_t r = 0; r < profile->nranks_kept; r++) {
        const uint64_t end = profile->ranks[r].begin_epoch_ns + profile->ranks[r].duration_ns;
        if (end > last) last = end;
        if (end >= first || profile->ranks[r].end != OMPP_END_INCOMPLETE) continue;
        first = end;
        rank = profile->ranks[r].rank;
    }
    if (first >= last || last - first < APART_NS) return;
    snprintf(subject, sizeof subject, "%u", rank);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_ENDED_EARLY, subject, NULL, (last - first) / 1000000);
    if (profile->ncoverage) profile->coverage[profile->ncoverage - 1].nranks = 0; /* said of the run */
}

/* execT of all threads. */
static uint64_t exec_of(const ompp_profile_t *profile, const ompp_node_t *node)
{
    unsigned construct = profile->regions[node->region].construct;
    uint64_t sum = 0;

    for (uint32_t k = 0; k < node->nblocks; k++) {
        const ompp_block_t *block = &node->blocks[k];
        if (block->set != OMPP_SET_PHASES || block->object != 0) continue;
        for (unsigned slot = 0; slot < ompp_constructs[construct].nphases; slot++)
            sum += block->values[ompp_value_index(slot, OMPP_SLOT_TIME)];
    }
    return sum;
}

uint64_t ompp_analysis_outside_ns(const ompp_profile_t *profile, const ompp_paths_t *paths)
{
    uint64_t inside = 0;

    for (uint32_t n = 1; n < profile->nnodes; n++) {
        /* of its own, a function on the path to a region has no time */
        if (paths->top[n] != n || ompp_node_is_path(profile, n)) continue;
        const uint64_t divisor = ompp_analysis_divisor(profile, paths, n);
        inside += (exec_of(profile, &profile->nodes[n]) + divisor / 2) / divisor;
    }
    return ompp_less(ompp_analysis_duration(profile), inside);
}

/* Time in the node itself, of all threads; a task's own time stands in its own node. */
static double own_of(const ompp_profile_t *profile, const ompp_node_t *node)
{
    const ompp_construct_row_t *construct = &ompp_constructs[profile->regions[node->region].construct];
    double sum = 0;

    for (uint32_t k = 0; k < node->nblocks; k++) {
        const ompp_block_t *block = &node->blocks[k];
        if (block->set != OMPP_SET_PHASES || block->object != 0) continue;
        for (unsigned slot = 0; slot < construct->nphases; slot++)
            sum += (double)block->values[ompp_value_index(slot, OMPP_SLOT_TIME)] -
                   (double)block->values[ompp_value_index(slot, OMPP_SLOT_CHILD)] -
                   (double)block->values[ompp_value_index(slot, OMPP_SLOT_TASK)];
    }
    return sum;
}

/*
 * What the root's exclusive time does not know, as it sees what stands directly below it: threads of teams in teams,
 * which have no time in the outer region. Each moment of a thread is in one node: all of them less the outermost is
 * what these threads add.
 */
static double of_inner_teams(const ompp_profile_t *profile, const ompp_paths_t *paths)
{
    double sum = 0;

    for (uint32_t n = 1; n < profile->nnodes; n++) {
        const uint32_t top = paths->top[n];
        if (!ompp_construct_forks(profile->regions[profile->nodes[top].region].construct)) continue;
        sum += own_of(profile, &profile->nodes[n]);
        if (n == top) sum -= (double)exec_of(profile, &profile->nodes[n]);
    }
    return sum > 0 && profile->nslots ? sum / profile->nslots : 0;
}

void ompp_analysis_outside(ompp_profile_t *profile)
{
    const double all = (double)ompp_analysis_duration(profile);
    ompp_paths_t paths;

    if (all <= 0 || !ompp_paths_init(&paths, profile)) return;
    double outside = (double)ompp_analysis_outside_ns(profile, &paths) - of_inner_teams(profile, &paths);
    ompp_paths_fini(&paths);
    if (outside < 0) outside = 0;
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_OUTSIDE, NULL, NULL, (uint64_t)(1000 * outside / all + 0.5));
    if (profile->ncoverage) profile->coverage[profile->ncoverage - 1].nranks = 0; /* said of the run, not by ranks */
    say_ended(profile);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

/* The threads that the ranks began with: locations, [nranks_kept], owned. */
static uint32_t *first_threads(const ompp_profile_t *p)
{
    uint32_t *first = malloc((p->nranks_kept + 1) * sizeof *first);

    for (size_t r = 0; first && r < p->nranks_kept; r++) first[r] = OMPP_NONE;
    for (uint32_t l = 0; first && l < p->nlocations; l++) {
        size_t r = ompp_analysis_rank_index(p, p->locations[l].rank);
        if (r == p->nranks_kept) continue;
        const ompp_location_t *before = first[r] == OMPP_NONE ? NULL : &p->locations[first[r]], *now = &p->locations[l];
        if (before && before->kind == OMPP_THREAD_INITIAL) continue;
        if (!before || now->kind == OMPP_THREAD_INITIAL || now->tid < before->tid) first[r] = l;
    }
    return first;
}

void ompp_analysis_rank_times(const ompp_profile_t *p, const ompp_paths_t *paths, ompp_rank_time_t *times)
{
    uint32_t *first = first_threads(p);

    memset(times, 0, p->nranks_kept * sizeof *times);
    for (uint32_t n = 1; first && n < p->nnodes; n++) {
        const ompp_node_t *node = &p->nodes[n];
        unsigned construct = p->regions[node->region].construct;
        bool forks = ompp_construct_forks(construct);
        if ((!forks && construct != OMPP_CONSTRUCT_MPI) || paths->fork[node->parent] != 0) continue;
        for (uint32_t b = 0; b < node->nblocks; b++) {
            const ompp_block_t *block = &node->blocks[b];
            const size_t r = ompp_analysis_rank_index(p, p->locations[block->location].rank);
            if (!ompp_block_is_phases(block) || r == p->nranks_kept || first[r] != block->location) continue;
            *(forks ? &times[r].parallel_ns : &times[r].mpi_ns) +=
                ompp_analysis_value(p, n, block->location, OMPP_COLUMN_EXEC_T);
        }
    }
    for (size_t r = 0; r < p->nranks_kept; r++)
        times[r].serial_ns = ompp_less(p->ranks[r].duration_ns, times[r].parallel_ns + times[r].mpi_ns);
    free(first);
}
