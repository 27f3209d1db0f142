/**
 * \file
 * Overhead classes of regions and wallclocks of parallel regions, from the phases of the profile, by the tables of
 * model/ompp_tables.h alone.
 */
#include "analysis/ompp_values_priv.h"

#include "analysis/ompp_analysis.h"
#include "base/ompp_error.h"

#include <stdlib.h>
#include <string.h>

/* Fewer pieces of work than threads that came for them: the construct's own count against its visits. */
static bool is_few(const ompp_profile_t *profile, uint32_t node, unsigned construct)
{
    const ompp_node_t *n = &profile->nodes[node];
    const ompp_construct_row_t *c = &ompp_constructs[construct];
    uint64_t pieces = 0, visits = 0;

    for (uint32_t b = 0; b < n->nblocks; b++) {
        if (n->blocks[b].set != OMPP_SET_PHASES || n->blocks[b].object != 0) continue;
        visits += n->blocks[b].values[0];
        for (unsigned i = 0; i < c->ncolumns; i++) {
            const ompp_column_row_t *column = &ompp_columns[c->columns[i] & ~OMPP_COLUMN_SPLIT];
            if (column->source == OMPP_SOURCE_COUNT)
                pieces += ompp_values_of_column(construct, n->blocks[b].values, column);
        }
    }
    return pieces < visits;
}

uint64_t ompp_analysis_phase(const ompp_profile_t *profile, uint32_t node, unsigned phase)
{
    const ompp_node_t *n = &profile->nodes[node];
    unsigned construct = ompp_values_construct(profile, node);
    uint64_t sum = 0;

    for (uint32_t b = 0; b < n->nblocks; b++)
        if (n->blocks[b].set == OMPP_SET_PHASES && n->blocks[b].object == 0)
            sum += ompp_less(ompp_values_of_phase(construct, n->blocks[b].values, phase, OMPP_SLOT_TIME),
                             ompp_values_of_phase(construct, n->blocks[b].values, phase, OMPP_SLOT_TASK));
    return sum;
}

void ompp_analysis_classes(const ompp_profile_t *profile, uint32_t node, uint64_t classes[OMPP_CLASS_NUM])
{
    unsigned construct = ompp_values_construct(profile, node);

    for (size_t i = 0; i < ompp_nrules; i++) {
        const ompp_rule_t *rule = &ompp_rules[i];
        if (rule->construct != construct) continue;
        bool few = rule->class != rule->class_few && is_few(profile, node, construct);
        unsigned class = few ? rule->class_few : rule->class;
        if (class < OMPP_CLASS_NUM) classes[class] += ompp_analysis_phase(profile, node, rule->phase);
    }
}

/* Wallclock of a region in ranks that are not kept one by one: threads of a team have the same execT, so that the mean
 * over the threads that ran it stands for the rank. */
static double rest_wall(const ompp_node_t *node)
{
    if (!node->over_threads.count) return 0;
    return node->over_threads.mean * (double)node->over_ranks.count;
}

static double rest_threads_per_rank(const ompp_profile_t *profile)
{
    uint64_t kept = 0;

    for (size_t r = 0; r < profile->nranks_kept; r++) kept += profile->ranks[r].nthreads;
    return profile->nrest ? (double)ompp_less(profile->nslots, kept) / profile->nrest : 0;
}

/* Longest execT of a thread per rank. walls: [nranks_kept]; exec: [nlocations]. */
static void walls_of_ranks(const ompp_profile_t *profile, const uint64_t *exec, uint64_t *walls)
{
    memset(walls, 0, profile->nranks_kept * sizeof *walls);
    for (size_t l = 0; l < profile->nlocations; l++) {
        const size_t r = ompp_analysis_rank_index(profile, profile->locations[l].rank);
        if (r < profile->nranks_kept && exec[l] > walls[r]) walls[r] = exec[l];
    }
}

/* Sums of the rest went through floating point. */
static uint64_t to_ns(double ns) { return ns > 0 && ns < 1.8e19 ? (uint64_t)(ns + 0.5) : 0; }

/* Wallclock (mean over ranks) and total of the execT that stand in exec, and of the rest. */
static void add_wall(const ompp_profile_t *profile, const uint64_t *exec, double rest, uint64_t *walls,
                     uint64_t *wall_ns, uint64_t *total_ns)
{
    uint64_t sum = to_ns(rest), nranks = ompp_analysis_nranks(profile);

    walls_of_ranks(profile, exec, walls);
    *total_ns = to_ns(rest * rest_threads_per_rank(profile));
    for (size_t r = 0; r < profile->nranks_kept; r++) {
        sum += walls[r];
        *total_ns += walls[r] * profile->ranks[r].nthreads;
    }
    *wall_ns = sum / nranks + (sum % nranks >= nranks - nranks / 2);
}

/* Sum of execT per location over the nodes of a region; outer: only of nodes that are not inside another parallel
 * region. */
static double region_exec(const ompp_profile_t *profile, const ompp_paths_t *paths, uint32_t region, bool outer,
                          uint64_t *exec)
{
    double rest = 0;

    memset(exec, 0, profile->nlocations * sizeof *exec);
    for (const uint32_t *n = ompp_paths_begin(paths, region); n < ompp_paths_end(paths, region); n++) {
        const ompp_node_t *node = &profile->nodes[*n];
        if (outer && paths->fork[node->parent] != 0) continue;
        rest += rest_wall(node);
        for (uint32_t b = 0; b < node->nblocks; b++)
            if (node->blocks[b].set == OMPP_SET_PHASES && node->blocks[b].object == 0)
                exec[node->blocks[b].location] +=
                    ompp_values_over_phases(profile->regions[region].construct, node->blocks[b].values, OMPP_SLOT_TIME);
    }
    return rest;
}

/* All executed regions that fork, without values yet. place: [nregions], where each of them stands. */
static size_t find_parallel(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_overhead_t *overheads,
                            uint32_t *place)
{
    size_t n = 0;

    for (uint32_t r = 0; r < profile->nregions; r++) {
        if (!ompp_construct_forks(profile->regions[r].construct)) continue;
        if (ompp_paths_begin(paths, r) == ompp_paths_end(paths, r)) continue;
        place[r] = (uint32_t)n;
        overheads[n++].region = r;
    }
    return n;
}

int ompp_analysis_overheads(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_overhead_t **overheads,
                            size_t *n)
{
    ompp_overhead_t *all = calloc(profile->nregions + 1, sizeof *all);
    uint64_t *exec = calloc(profile->nlocations + 1, sizeof *exec);
    uint64_t *walls = calloc(profile->nranks_kept + 1, sizeof *walls);
    uint32_t *place = calloc(profile->nregions + 1, sizeof *place);
    const bool memory = all && exec && walls && place;

    *n = memory ? find_parallel(profile, paths, all, place) : 0;
    for (size_t i = 0; i < *n; i++) {
        double rest = region_exec(profile, paths, all[i].region, false, exec);
        add_wall(profile, exec, rest, walls, &all[i].wall_ns, &all[i].total_ns);
        rest = region_exec(profile, paths, all[i].region, true, exec);
        add_wall(profile, exec, rest, walls, &all[i].outer_wall_ns, &all[i].outer_total_ns);
    }
    for (uint32_t node = 1; memory && node < profile->nnodes; node++) {
        const uint32_t fork = paths->fork[node];
        if (fork != 0) ompp_analysis_classes(profile, node, all[place[profile->nodes[fork].region]].class_ns);
    }
    free(exec);
    free(walls);
    free(place);
    if (!memory) {
        free(all);
        all = NULL;
    }
    *overheads = all;
    return memory ? 0 : -OMPP_E_NOMEM;
}
