#include "analysis/ompp_chunks.h"

#include "analysis/ompp_own.h"
#include "analysis/ompp_values.h"
#include "base/ompp_error.h"

#include <stdlib.h>

static bool is_set(const ompp_block_t *block, uint32_t set)
{
    return block->set == set && block->object == 0 && block->nvalues == OMPP_METRIC_CHUNK_NUM;
}

/* own_ns: gets what asking took us. */
static void add_block(const ompp_profile_t *p, const ompp_block_t *block, ompp_chunk_sum_t *sum, double *own_ns)
{
    const uint64_t *v = block->values;
    const double asks = (double)v[OMPP_METRIC_CHUNK_ASKS], timed = (double)v[OMPP_METRIC_CHUNK_TIMED];
    const double clock = ompp_own_cost(p, block->location, OMPP_COST_CLOCK, false);
    const double once = timed > 0 ? (double)v[OMPP_METRIC_CHUNK_TIME] / timed - clock : 0;

    sum->chunks += v[OMPP_METRIC_CHUNKS];
    sum->asks += v[OMPP_METRIC_CHUNK_ASKS];
    sum->timed += v[OMPP_METRIC_CHUNK_TIMED];
    if (once > 0) sum->handing_ns += (uint64_t)(once * asks);
    *own_ns += ompp_own_cost(p, block->location, OMPP_COST_CHUNK, false) * asks;
}

static ompp_chunk_sum_t sum_up(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t region, uint32_t set)
{
    const unsigned slot = ompp_phase_slot(p->regions[region].construct, OMPP_PHASE_BODY);
    ompp_chunk_sum_t sum = {.region = region};
    double own = 0;

    for (const uint32_t *n = ompp_paths_begin(paths, region); n < ompp_paths_end(paths, region); n++)
        for (uint32_t b = 0; b < p->nodes[*n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[*n].blocks[b];
            if (is_set(block, set)) add_block(p, block, &sum, &own);
            if (!ompp_block_is_phases(block)) continue;
            sum.visits += block->values[0];
            if (slot != OMPP_NO_SLOT) sum.body_ns += block->values[ompp_value_index(slot, OMPP_SLOT_TIME)];
        }
    if (sum.handing_ns > sum.body_ns) sum.handing_ns = sum.body_ns;
    if (sum.chunks) sum.each_ns = ompp_less(sum.body_ns, sum.handing_ns + (uint64_t)own) / sum.chunks;
    return sum;
}

int ompp_analysis_chunks(const ompp_profile_t *p, const ompp_paths_t *paths, ompp_chunk_sum_t **sums, size_t *n)
{
    const uint32_t set = ompp_analysis_find_set(p, ompp_chunk_metrics, OMPP_METRIC_CHUNK_NUM);
    ompp_chunk_sum_t *all = calloc(p->nregions + 1, sizeof *all);

    *n = 0;
    *sums = all;
    if (!all) return -OMPP_E_NOMEM;
    for (uint32_t r = 0; set && r < p->nregions; r++) {
        const ompp_chunk_sum_t sum = sum_up(p, paths, r, set);
        if (sum.asks) all[(*n)++] = sum;
    }
    return 0;
}

ompp_chunk_sum_t ompp_analysis_chunks_of(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t region)
{
    const uint32_t set = ompp_analysis_find_set(p, ompp_chunk_metrics, OMPP_METRIC_CHUNK_NUM);

    return set ? sum_up(p, paths, region, set) : (ompp_chunk_sum_t){.region = region};
}

/* The least of a rank, and of a call path: where it is few for these threads, it is so for more. \return 0 where teams
 * are not all of the same threads: in nested regions, or where some come more often than others. */
static uint32_t least_threads(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t region)
{
    uint32_t least = UINT32_MAX;

    for (const uint32_t *n = ompp_paths_begin(paths, region); n < ompp_paths_end(paths, region); n++) {
        const ompp_node_t *node = &p->nodes[*n];
        uint64_t visits = 0;
        for (uint32_t b = 0, of_rank = 0; b < node->nblocks; b++) {
            const ompp_block_t *block = &node->blocks[b];
            const ompp_location_t *location = &p->locations[block->location];
            if (ompp_block_is_phases(block) && block->values[0]) {
                if (location->kind == OMPP_THREAD_NESTED || (of_rank && block->values[0] != visits)) return 0;
                visits = block->values[0];
                of_rank++;
            }
            if (b + 1 < node->nblocks && p->locations[node->blocks[b + 1].location].rank == location->rank) continue;
            if (of_rank && of_rank < least) least = of_rank;
            of_rank = 0;
        }
    }
    return least == UINT32_MAX ? 0 : least;
}

bool ompp_analysis_few_iterations(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t region,
                                  unsigned of_thread)
{
    const uint64_t iterations = p->regions[region].iterations;

    return iterations && iterations <= of_thread * (uint64_t)least_threads(p, paths, region);
}
