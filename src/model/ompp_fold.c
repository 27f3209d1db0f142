#include "model/ompp_merge.h"

#include "base/ompp_error.h"
#include "model/ompp_combine_priv.h"

#include <stdlib.h>
#include <string.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* execT of a thread in a node: the times of all phases. */
static uint64_t exec_ns(const ompp_block_t *block)
{
    uint64_t sum = 0;

    for (unsigned slot = 0; ompp_value_index(slot, OMPP_SLOT_TIME) < block->nvalues; slot++)
        sum += block->values[ompp_value_index(slot, OMPP_SLOT_TIME)];
    return sum;
}

/* Adds the threads of one rank, blocks [n], to the node's spreads. */
static void spread_rank(const ompp_profile_t *p, ompp_node_t *node, const ompp_block_t *blocks, uint32_t n)
{
    uint64_t sum = 0;
    uint32_t rank = p->locations[blocks[0].location].rank, threads = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (blocks[i].set != OMPP_SET_PHASES || blocks[i].object != 0) continue;
        ompp_spread_add(&node->over_threads, exec_ns(&blocks[i]), rank, p->locations[blocks[i].location].tid);
        sum += exec_ns(&blocks[i]);
        threads++;
    }
    if (threads) ompp_spread_add(&node->over_ranks, sum, rank, 0);
}

static int compare_set(const void *a, const void *b)
{
    const ompp_block_t *x = a, *y = b;

    if (x->set != y->set) return x->set < y->set ? -1 : 1;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return ompp_block_compare(x, y);
}

static bool same_set(const ompp_block_t *a, const ompp_block_t *b)
{
    return a->set == b->set && a->object == b->object && a->nvalues == b->nvalues;
}

/* Takes one block into the rest, rest[0..*n) ascending by (set, object); there is room for one more. */
static void into_rest(const ompp_metric_list_t *metrics, ompp_block_t *rest, uint32_t *n, const ompp_block_t *block)
{
    uint32_t i = 0;

    for (uint32_t high = *n; i < high;) { /* behind all that do not come after it */
        const uint32_t middle = i + (high - i) / 2;
        if (compare_set(&rest[middle], block) <= 0) i = middle + 1;
        else high = middle;
    }
    if (i > 0 && same_set(&rest[i - 1], block)) {
        ompp_combine(metrics, block->set, OMPP_OVER_RANKS, rest[i - 1].values, block->values, block->nvalues);
        free(block->values);
        return;
    }
    memmove(&rest[i + 1], &rest[i], (*n - i) * sizeof *rest);
    rest[i] = *block;
    rest[i].location = 0;
    ++*n;
}

/*
 * The blocks are ascending by location, locations by rank: each run of one rank is combined over its threads, and the
 * results go to the front of the same array, which never overtakes what is still to be read.
 */
static void fold_node(ompp_profile_t *p, const ompp_metric_list_t *metrics, ompp_node_t *node)
{
    uint32_t kept = 0;

    for (uint32_t begin = 0, end; begin < node->nblocks; begin = end) {
        uint32_t rank = p->locations[node->blocks[begin].location].rank;
        for (end = begin + 1; end < node->nblocks && p->locations[node->blocks[end].location].rank == rank;) end++;
        if (rank != OMPP_NONE) spread_rank(p, node, &node->blocks[begin], end - begin);
        qsort(&node->blocks[begin], end - begin, sizeof *node->blocks, compare_set);
        for (uint32_t i = begin, next; i < end; i = next) {
            ompp_block_t sum = node->blocks[i];
            for (next = i + 1; next < end && same_set(&node->blocks[next], &sum); next++) {
                ompp_combine(metrics, sum.set, OMPP_OVER_THREADS, sum.values, node->blocks[next].values, sum.nvalues);
                free(node->blocks[next].values);
            }
            into_rest(metrics, node->blocks, &kept, &sum);
        }
    }
    node->nblocks = kept;
}

static void fold_ranks(ompp_profile_t *p)
{
    for (size_t i = 0; i < p->nranks_kept; i++) {
        const ompp_rank_t *rank = &p->ranks[i];
        p->rest_duration_max_ns = MAX(p->rest_duration_max_ns, rank->duration_ns);
        p->rest_wall_threads_ns += rank->duration_ns * rank->nthreads;
        p->rest_user_ns += rank->user_ns;
        p->rest_system_ns += rank->system_ns;
        p->rest_first_rank = MIN(p->rest_first_rank, rank->rank);
    }
    p->nrest += p->nranks_kept;
    p->nranks_kept = 0;
}

static void fold_locations(ompp_profile_t *p)
{
    ompp_location_t rest = {.rank = OMPP_NONE, .kind = OMPP_THREAD_OTHER, .begin_ns = UINT64_MAX};

    for (size_t i = 0; i < p->nlocations; i++) {
        rest.begin_ns = MIN(rest.begin_ns, p->locations[i].begin_ns);
        rest.end_ns = MAX(rest.end_ns, p->locations[i].end_ns);
    }
    if (p->nlocations == 0) return;
    p->locations[0] = rest;
    p->nlocations = 1;
}

int ompp_profile_fold_rest(ompp_profile_t *profile)
{
    ompp_metric_list_t metrics;

    if (ompp_profile_sort_locations(profile) != 0) return -OMPP_E_NOMEM;
    if (ompp_metric_list_init(&metrics, profile) != 0) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < profile->nnodes; i++) fold_node(profile, &metrics, &profile->nodes[i]);
    fold_ranks(profile);
    fold_locations(profile);
    ompp_metric_list_fini(&metrics);
    return 0;
}
