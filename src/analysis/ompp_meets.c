#include "analysis/ompp_meets.h"

#include "analysis/ompp_properties.h"
#include "analysis/ompp_values.h"

#include <stdlib.h>

bool ompp_analysis_meets(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t region, ompp_meet_sum_t *sum)
{
    const uint32_t set = ompp_analysis_find_set(p, ompp_meet_metrics, OMPP_METRIC_MEET_NUM);
    uint64_t *late = calloc(2 * (p->nranks_kept + 1), sizeof *late), *last = late + p->nranks_kept + 1;
    double wait = 0, rest = 0, all_late = 0;
    size_t most = 0;

    *sum = (ompp_meet_sum_t){.rank = OMPP_NONE};
    for (const uint32_t *n = ompp_paths_begin(paths, region); set && late && n < ompp_paths_end(paths, region); n++)
        for (uint32_t b = 0; b < p->nodes[*n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[*n].blocks[b];
            const size_t r = ompp_analysis_rank_index(p, p->locations[block->location].rank);
            if (block->set != set || block->object || block->nvalues != OMPP_METRIC_MEET_NUM) continue;
            sum->calls += block->values[OMPP_METRIC_MEET_LAST];
            wait += (double)block->values[OMPP_METRIC_MEET_WAIT];
            rest += (double)block->values[OMPP_METRIC_MEET_REST];
            all_late += (double)block->values[OMPP_METRIC_MEET_LATE];
            late[r] += block->values[OMPP_METRIC_MEET_LATE];
            last[r] += block->values[OMPP_METRIC_MEET_LAST];
        }
    for (size_t r = 0; late && r < p->nranks_kept; r++)
        if (late[r] > late[most]) most = r;
    const bool known = late && p->nranks_kept && sum->calls && wait + rest > 0;
    if (known) {
        sum->waiting = wait / (wait + rest);
        sum->rank = p->ranks[most].rank;
        sum->share = all_late > 0 ? (double)late[most] / all_late : 0;
        sum->last = last[most];
        sum->late_ns = (uint64_t)(all_late / (double)sum->calls);
    }
    free(late);
    return known;
}

bool ompp_analysis_pairs(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t region, ompp_pair_sum_t *sum)
{
    const uint32_t set = ompp_analysis_find_set(p, ompp_pair_metrics, OMPP_METRIC_PAIR_NUM);
    double ns[3] = {0};

    *sum = (ompp_pair_sum_t){0};
    for (const uint32_t *n = ompp_paths_begin(paths, region); set && n < ompp_paths_end(paths, region); n++)
        for (uint32_t b = 0; b < p->nodes[*n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[*n].blocks[b];
            if (block->set != set || block->object || block->nvalues != OMPP_METRIC_PAIR_NUM) continue;
            sum->calls += block->values[OMPP_METRIC_PAIRS];
            for (unsigned i = 0; i < 3; i++) ns[i] += (double)block->values[OMPP_METRIC_PAIR_SENDER + i];
        }
    const double all = ns[0] + ns[1] + ns[2];
    if (!sum->calls || all <= 0) return false;
    for (unsigned i = 0; i < 3; i++) sum->part[i] = ns[i] / all;
    for (unsigned i = 0; i < 2; i++) sum->wait_ns[i] = (uint64_t)(ns[i] / (double)sum->calls);
    return true;
}

/* ---- Where a rank works longer ----------------------------------------------------------------------------------- */

/* Work of a block in the region itself. */
static double work_of(const ompp_profile_t *p, uint32_t n, const ompp_block_t *block)
{
    const ompp_construct_row_t *c = &ompp_constructs[p->regions[p->nodes[n].region].construct];
    double work = 0;

    for (unsigned s = 0; s < c->nphases; s++)
        if (ompp_phase_is_work[c->phases[s]])
            work += (double)block->values[ompp_value_index(s, OMPP_SLOT_TIME)] -
                    (double)block->values[ompp_value_index(s, OMPP_SLOT_CHILD)] -
                    (double)block->values[ompp_value_index(s, OMPP_SLOT_TASK)];
    return work;
}

/* By which the rank has more in a region than the others do on average. */
static double more_in(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t region, uint32_t rank)
{
    double its = 0, others = 0;

    for (const uint32_t *n = ompp_paths_begin(paths, region); n < ompp_paths_end(paths, region); n++)
        for (uint32_t b = 0; b < p->nodes[*n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[*n].blocks[b];
            if (!ompp_block_is_phases(block)) continue;
            *(p->locations[block->location].rank == rank ? &its : &others) += work_of(p, *n, block);
        }
    return its - others / (double)(p->nranks > 1 ? p->nranks - 1 : 1);
}

/* The same outside of regions: of the first thread of each rank, without what user regions there have. */
static double more_outside(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t rank)
{
    ompp_rank_time_t *times = calloc(p->nranks_kept + 1, sizeof *times);
    double its = 0, others = 0;

    if (!times || p->nranks_kept < 2) {
        free(times);
        return 0;
    }
    ompp_analysis_rank_times(p, paths, times);
    for (size_t r = 0; r < p->nranks_kept; r++)
        *(p->ranks[r].rank == rank ? &its : &others) += (double)times[r].serial_ns;
    free(times);
    double more = its - others / (double)(p->nranks_kept - 1);
    for (uint32_t r = 0; r < p->nregions; r++)
        if (p->regions[r].construct == OMPP_CONSTRUCT_USER_REGION) more -= more_in(p, paths, r, rank);
    return more;
}

uint32_t ompp_analysis_longer(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t rank, uint64_t *more_ns)
{
    double most = more_outside(p, paths, rank);
    uint32_t where = OMPP_NONE;

    for (uint32_t r = 0; r < p->nregions; r++) {
        if (p->regions[r].construct == OMPP_CONSTRUCT_MPI) continue;
        const double more = more_in(p, paths, r, rank);
        if (more > most) most = more, where = r;
    }
    *more_ns = most > 0 ? (uint64_t)most : 0;
    return where;
}
