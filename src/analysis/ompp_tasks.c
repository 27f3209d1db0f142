#include "analysis/ompp_tasks.h"

#include "analysis/ompp_values.h"
#include "base/ompp_error.h"

#include <stdlib.h>
#include <string.h>

/* The set whose metrics have the names of rows; 0 = the profile has none. */
static uint32_t find_set(const ompp_profile_t *p, const ompp_metric_row_t *rows, unsigned n)
{
    for (size_t first = 0; first < p->nmetrics; first++) {
        unsigned same = 0;
        for (size_t i = 0; i < p->nmetrics; i++) {
            const ompp_metric_t *m = &p->metrics[i];
            if (m->set == p->metrics[first].set && m->index < n &&
                strcmp(ompp_profile_text(p, m->name), rows[m->index].name) == 0)
                same++;
        }
        if (same == n) return p->metrics[first].set;
    }
    return 0;
}

static bool is_run(const ompp_profile_t *p, uint32_t region)
{
    return ompp_constructs[p->regions[region].construct].flags & OMPP_CONSTRUCT_F_TASK;
}

static void add_block(ompp_task_sum_t *sum, const ompp_block_t *b, uint32_t starts, uint32_t ends)
{
    const uint64_t *v = b->values;

    if (starts && b->set == starts && b->nvalues == OMPP_METRIC_TASK_START_NUM) {
        sum->started += v[OMPP_METRIC_TASK_STARTS];
        sum->wait_ns += v[OMPP_METRIC_TASK_WAIT];
        if (v[OMPP_METRIC_TASK_WAIT_MAX] > sum->wait_max_ns) sum->wait_max_ns = v[OMPP_METRIC_TASK_WAIT_MAX];
    } else if (ends && b->set == ends && b->nvalues == OMPP_METRIC_TASK_END_NUM && v[OMPP_METRIC_TASK_ENDS]) {
        if (!sum->ended || v[OMPP_METRIC_TASK_RUN_MIN] < sum->run_min_ns) sum->run_min_ns = v[OMPP_METRIC_TASK_RUN_MIN];
        if (v[OMPP_METRIC_TASK_RUN_MAX] > sum->run_max_ns) sum->run_max_ns = v[OMPP_METRIC_TASK_RUN_MAX];
        sum->ended += v[OMPP_METRIC_TASK_ENDS];
        sum->run_ns += v[OMPP_METRIC_TASK_RUN];
    }
}

/* Threads on which tasks of the region ended; of ranks in the rest, the most of one node. seen: [nlocations]
 * scratch. */
static uint32_t count_threads(const ompp_profile_t *p, uint32_t region, uint32_t ends, bool *seen)
{
    uint32_t n = 0;
    uint64_t rest = 0;

    memset(seen, 0, p->nlocations * sizeof *seen);
    for (size_t i = 1; i < p->nnodes; i++) {
        const ompp_node_t *node = &p->nodes[i];
        if (node->region == region && node->over_threads.count > rest) rest = node->over_threads.count;
        for (uint32_t b = 0; node->region == region && b < node->nblocks; b++) {
            const ompp_block_t *block = &node->blocks[b];
            if (block->set != ends || p->locations[block->location].rank == OMPP_NONE || seen[block->location])
                continue;
            seen[block->location] = true;
            n++;
        }
    }
    return n + (uint32_t)rest;
}

/* The construct that creates what a TASKEXEC runs: same place, other type. */
static bool creates(const ompp_region_t *task, const ompp_region_t *exec)
{
    unsigned wanted = exec->construct == OMPP_CONSTRUCT_UTASKEXEC ? OMPP_CONSTRUCT_UTASK : OMPP_CONSTRUCT_TASK;

    return task->construct == wanted && task->number == exec->number && task->number != OMPP_NONE;
}

static void add_creations(const ompp_profile_t *p, ompp_task_sum_t *sum, const ompp_node_t *node)
{
    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        if (block->set != OMPP_SET_PHASES || block->object != 0) continue;
        sum->created += block->values[0];
        for (unsigned s = 0; s < ompp_constructs[p->regions[node->region].construct].nphases; s++)
            sum->create_ns += ompp_less(block->values[ompp_value_index(s, OMPP_SLOT_TIME)],
                                        block->values[ompp_value_index(s, OMPP_SLOT_TASK)]);
    }
}

int ompp_analysis_tasks(const ompp_profile_t *p, ompp_task_sum_t **sums, size_t *n)
{
    uint32_t starts = find_set(p, ompp_start_metrics, OMPP_METRIC_TASK_START_NUM);
    uint32_t ends = find_set(p, ompp_end_metrics, OMPP_METRIC_TASK_END_NUM);
    ompp_task_sum_t *all = calloc(p->nregions + 1, sizeof *all);
    bool *seen = calloc(p->nlocations + 1, sizeof *seen);

    *n = 0;
    *sums = all;
    for (uint32_t r = 0; all && seen && starts && ends && r < p->nregions; r++) {
        ompp_task_sum_t sum = {.region = r};
        if (!is_run(p, r)) continue;
        for (size_t i = 1; i < p->nnodes; i++) {
            const ompp_node_t *node = &p->nodes[i];
            if (node->region == OMPP_NONE) continue;
            for (uint32_t b = 0; node->region == r && b < node->nblocks; b++)
                add_block(&sum, &node->blocks[b], starts, ends);
            if (creates(&p->regions[node->region], &p->regions[r])) add_creations(p, &sum, node);
        }
        sum.nthreads = count_threads(p, r, ends, seen);
        if (sum.started || sum.ended) all[(*n)++] = sum;
    }
    free(seen);
    if (all && seen) return 0;
    free(all);
    *sums = NULL;
    return -OMPP_E_NOMEM;
}
