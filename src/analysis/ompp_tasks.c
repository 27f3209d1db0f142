#include "analysis/ompp_tasks.h"

#include "analysis/ompp_alone.h"
#include "analysis/ompp_own.h"
#include "analysis/ompp_thinned.h"
#include "analysis/ompp_values.h"
#include "base/ompp_error.h"
#include "base/ompp_table.h"

#include <stdlib.h>
#include <string.h>

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

/* Threads on which tasks of the region ended; of ranks in the rest, the most of one node. seen: [nlocations] the region
 * + 1 that a thread was counted for last. */
static uint32_t count_threads(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t region, uint32_t ends,
                              uint32_t *seen)
{
    uint32_t n = 0;
    uint64_t rest = 0;

    for (const uint32_t *i = ompp_paths_begin(paths, region); i < ompp_paths_end(paths, region); i++) {
        const ompp_node_t *node = &p->nodes[*i];
        if (node->over_threads.count > rest) rest = node->over_threads.count;
        for (uint32_t b = 0; b < node->nblocks; b++) {
            const ompp_block_t *block = &node->blocks[b];
            if (block->set != ends || p->locations[block->location].rank == OMPP_NONE) continue;
            n += seen[block->location] != region + 1;
            seen[block->location] = region + 1;
        }
    }
    return n + (uint32_t)rest;
}

static void add_creations(const ompp_profile_t *p, ompp_task_sum_t *sum, const ompp_node_t *node)
{
    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        if (!ompp_block_is_phases(block)) continue;
        sum->created += block->values[0];
        for (unsigned s = 0; s < ompp_constructs[p->regions[node->region].construct].nphases; s++)
            sum->create_ns += ompp_less(block->values[ompp_value_index(s, OMPP_SLOT_TIME)],
                                        block->values[ompp_value_index(s, OMPP_SLOT_TASK)]);
    }
}

/* The construct that creates what a TASKEXEC runs: same number, other type. */
static uint64_t creator_of(const ompp_region_t *run)
{
    return ompp_hash_pair(run->construct == OMPP_CONSTRUCT_UTASKEXEC ? OMPP_CONSTRUCT_UTASK : OMPP_CONSTRUCT_TASK,
                          run->number);
}

/* Regions + 1 by construct and number. next: [nregions] of those with the same ones, 0 = it is the last. */
static bool find_creators(const ompp_profile_t *p, ompp_table_t *creators, uint32_t *next)
{
    for (uint32_t r = 0; r < p->nregions; r++) {
        const uint64_t key = ompp_hash_pair(p->regions[r].construct, p->regions[r].number);
        if (p->regions[r].construct != OMPP_CONSTRUCT_TASK && p->regions[r].construct != OMPP_CONSTRUCT_UTASK) continue;
        next[r] = (uint32_t)ompp_table_get(creators, key);
        if (p->regions[r].number != OMPP_NONE && !ompp_table_set(creators, key, r + 1)) return false;
    }
    return true;
}

int ompp_analysis_tasks(const ompp_profile_t *p, const ompp_paths_t *paths, ompp_task_sum_t **sums, size_t *n)
{
    uint32_t starts = ompp_analysis_find_set(p, ompp_start_metrics, OMPP_METRIC_TASK_START_NUM);
    uint32_t ends = ompp_analysis_find_set(p, ompp_end_metrics, OMPP_METRIC_TASK_END_NUM);
    ompp_task_sum_t *all = calloc(p->nregions + 1, sizeof *all);
    uint32_t *seen = calloc(p->nlocations + 1, sizeof *seen), *next = calloc(p->nregions + 1, sizeof *next);
    ompp_table_t creators = {0};
    const bool memory = all && seen && next && find_creators(p, &creators, next);

    *n = 0;
    for (uint32_t r = 0; memory && starts && ends && r < p->nregions; r++) {
        ompp_task_sum_t sum = {.region = r};
        if (!is_run(p, r)) continue;
        for (const uint32_t *i = ompp_paths_begin(paths, r); i < ompp_paths_end(paths, r); i++)
            for (uint32_t b = 0; b < p->nodes[*i].nblocks; b++) add_block(&sum, &p->nodes[*i].blocks[b], starts, ends);
        for (const uint32_t *i = ompp_paths_begin(paths, r); i < ompp_paths_end(paths, r); i++)
            sum.untimed += ompp_thinned_untimed_all(p, *i);
        for (uint64_t c = ompp_table_get(&creators, creator_of(&p->regions[r])); c; c = next[c - 1])
            for (const uint32_t *i = ompp_paths_begin(paths, c - 1); i < ompp_paths_end(paths, c - 1); i++)
                add_creations(p, &sum, &p->nodes[*i]);
        sum.nthreads = count_threads(p, paths, r, ends, seen);
        if (sum.started || sum.ended) all[(*n)++] = sum;
    }
    ompp_table_fini(&creators);
    free(seen);
    free(next);
    if (!memory) {
        free(all);
        all = NULL;
    }
    *sums = all;
    return memory ? 0 : -OMPP_E_NOMEM;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

#define FINE_NS 2000.0   /* work of a task: making, queueing and fetching one takes as long with many threads */
#define LOST_NS 10000.0  /* for each such task: what is lost is lost with them */
#define MANY 100         /* tasks for each thread of the team, that are enough to spread them evenly */
#define LARGE_NS 10000.0 /* work of a task that can be divided */

bool ompp_analysis_waits_for_tasks(const ompp_profile_t *p, uint32_t n, unsigned phase)
{
    const ompp_node_t *node = &p->nodes[n];
    const unsigned construct = p->regions[node->region].construct, slot = ompp_phase_slot(construct, phase);

    if (construct == OMPP_CONSTRUCT_TASKWAIT) return true;
    if (phase != OMPP_PHASE_EXITBAR && construct != OMPP_CONSTRUCT_BARRIER) return false;
    if (construct == OMPP_CONSTRUCT_TASKGROUP) return true;
    for (uint32_t b = 0; slot != OMPP_NO_SLOT && b < node->nblocks; b++)
        if (ompp_block_is_phases(&node->blocks[b]) && node->blocks[b].values[ompp_value_index(slot, OMPP_SLOT_TASK)])
            return true;
    return false;
}

static bool makes_tasks(unsigned construct)
{
    return construct == OMPP_CONSTRUCT_TASK || construct == OMPP_CONSTRUCT_UTASK;
}

static uint64_t item_sum(unsigned construct, const uint64_t *values, unsigned item)
{
    uint64_t sum = 0;

    for (unsigned s = 0; s < ompp_constructs[construct].nphases; s++) sum += values[ompp_value_index(s, item)];
    return sum;
}

/* What a thread of the team waited at a node, or took to make tasks. */
static uint64_t lost_at(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t n, const ompp_block_t *block)
{
    const unsigned construct = p->regions[p->nodes[n].region].construct;
    const ompp_construct_row_t *c = &ompp_constructs[construct];
    const bool alone = ompp_analysis_alone(p, paths, n, block->location);
    uint64_t lost = 0;

    for (unsigned s = 0; s < c->nphases; s++) {
        const bool waits = ompp_analysis_waits_for_tasks(p, n, c->phases[s]) && !alone;
        if (!waits && !makes_tasks(construct)) continue;
        lost += ompp_less(block->values[ompp_value_index(s, OMPP_SLOT_TIME)],
                          block->values[ompp_value_index(s, OMPP_SLOT_TASK)] + ompp_own_in_phase(p, n, block, s));
    }
    return lost;
}

static void add_to_team(const ompp_profile_t *p, const ompp_paths_t *paths, uint32_t n, uint32_t ends,
                        ompp_task_team_t *teams)
{
    const ompp_node_t *node = &p->nodes[n];
    const unsigned construct = p->regions[node->region].construct;
    ompp_task_team_t *team = &teams[paths->fork[n]];
    uint64_t ended = 0;

    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        if (ends && block->set == ends && block->nvalues == OMPP_METRIC_TASK_END_NUM &&
            block->values[OMPP_METRIC_TASK_RUN_MAX] > team->max_ns)
            team->max_ns = block->values[OMPP_METRIC_TASK_RUN_MAX];
        if (!ompp_block_is_phases(block)) continue;
        const uint64_t lost = lost_at(p, paths, n, block), visits = block->values[0];
        team->lost_ns += lost;
        if (visits && lost / visits > team->wait_ns) team->wait_ns = lost / visits;
        if (paths->fork[n] == n) team->visits += visits;
        if (!(ompp_constructs[construct].flags & OMPP_CONSTRUCT_F_TASK)) continue;
        ended += block->values[0];
        team->own_ns += (uint64_t)ompp_own_ns(p, n, block) - ompp_own_in_phase(p, n, block, 0);
        team->work_ns +=
            ompp_less(item_sum(construct, block->values, OMPP_SLOT_TIME),
                      item_sum(construct, block->values, OMPP_SLOT_CHILD) +
                          item_sum(construct, block->values, OMPP_SLOT_TASK) + ompp_own_in_phase(p, n, block, 0));
    }
    team->ended += ended;
    if (ended <= team->most) return;
    team->most = ended;
    team->region = node->region;
}

/* Fine: so many that what is lost is little for each. Large: one of them takes as long as a thread
 * waits each time. */
static ompp_task_size_t size_of(const ompp_task_team_t *team)
{
    const double ended = (double)team->ended, lost = (double)team->lost_ns;

    if (!team->ended) return OMPP_TASKS_FIT;
    if ((double)team->work_ns < FINE_NS * ended) return lost <= LOST_NS * ended ? OMPP_TASKS_FINE : OMPP_TASKS_FIT;
    if ((double)team->work_ns < LARGE_NS * ended || team->ended > MANY * team->visits) return OMPP_TASKS_FIT;
    return 2 * team->max_ns >= team->wait_ns ? OMPP_TASKS_LARGE : OMPP_TASKS_FIT;
}

ompp_task_team_t *ompp_analysis_task_teams(const ompp_profile_t *p, const ompp_paths_t *paths)
{
    const uint32_t ends = ompp_analysis_find_set(p, ompp_end_metrics, OMPP_METRIC_TASK_END_NUM);
    ompp_task_team_t *teams = calloc(p->nnodes + 1, sizeof *teams);

    for (uint32_t n = 0; teams && n < p->nnodes; n++) teams[n].region = OMPP_NONE;
    for (uint32_t n = 1; teams && n < p->nnodes; n++) add_to_team(p, paths, n, ends, teams);
    for (uint32_t n = 0; teams && n < p->nnodes; n++) {
        /* what beginning and ending tasks took us lies where threads waited meanwhile */
        teams[n].lost_ns = ompp_less(teams[n].lost_ns, teams[n].own_ns);
        teams[n].size = size_of(&teams[n]);
    }
    return teams;
}
