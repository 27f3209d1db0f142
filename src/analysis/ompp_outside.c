/*
 * How much of the threads' time no region tells anything about: the line of the Coverage section that says how far the rest of the
 * report reaches.
 */
#include "analysis/ompp_analysis.h"

#include "base/ompp_error.h"

#include <stdlib.h>

/* Time a thread spent in regions, each moment once: sum of exclusive times; a task's own time stands in its own node. */
static void add_inside(const ompp_profile_t *profile, const ompp_node_t *node, uint64_t *inside)
{
    unsigned construct = profile->regions[node->region].construct;

    for (uint32_t k = 0; k < node->nblocks; k++) {
        const ompp_block_t *block = &node->blocks[k];
        if (block->set != OMPP_SET_PHASES || block->object != 0) continue;
        for (unsigned slot = 0; slot < ompp_constructs[construct].nphases; slot++)
            inside[block->location] += block->values[ompp_value_index(slot, OMPP_SLOT_TIME)] -
                                       block->values[ompp_value_index(slot, OMPP_SLOT_CHILD)] -
                                       block->values[ompp_value_index(slot, OMPP_SLOT_TASK)];
    }
}

int ompp_analysis_outside(ompp_profile_t *profile)
{
    uint64_t *inside = calloc(profile->nlocations + 1, sizeof *inside);
    double in = 0, all = 0;

    if (!inside) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < profile->nnodes; i++)
        if (profile->nodes[i].region != OMPP_NONE) add_inside(profile, &profile->nodes[i], inside);
    for (size_t i = 0; i < profile->nlocations; i++) in += (double)inside[i];
    for (size_t i = 0; i < profile->nranks_kept; i++)
        all += (double)profile->ranks[i].duration_ns * profile->ranks[i].nthreads;
    all += (double)profile->rest_wall_threads_ns;
    free(inside);
    if (all <= 0) return 0;
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_OUTSIDE, NULL, NULL, in < all ? (uint64_t)(1000 * (all - in) / all + 0.5) : 0);
    if (profile->ncoverage) profile->coverage[profile->ncoverage - 1].nranks = 0; /* said of the run, not by ranks */
    return 0;
}
