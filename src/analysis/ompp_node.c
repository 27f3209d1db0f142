#include "analysis/ompp_node.h"

#include <stdlib.h>

static ompp_reduction_t reduction_of(const ompp_profile_t *profile, uint32_t set, uint32_t index)
{
    for (size_t i = 0; set >= OMPP_SET_FIRST_FREE && i < profile->nmetrics; i++)
        if (profile->metrics[i].set == set && profile->metrics[i].index == index)
            return profile->metrics[i].reduce_threads;
    return OMPP_REDUCE_SUM;
}

void ompp_node_add(ompp_profile_t *profile, uint32_t node, const ompp_block_t *from)
{
    bool is_new = !ompp_profile_find_block(profile, node, from->location, from->set, from->object);
    uint64_t *to = ompp_profile_block(profile, node, from->location, from->set, from->object, from->nvalues);

    for (uint32_t i = 0; to && i < from->nvalues; i++) {
        ompp_reduction_t reduction = is_new ? OMPP_REDUCE_SUM : reduction_of(profile, from->set, i);
        if (reduction == OMPP_REDUCE_SUM) to[i] += from->values[i];
        else if ((reduction == OMPP_REDUCE_MIN) == (from->values[i] < to[i])) to[i] = from->values[i];
    }
}

static void earlier(ompp_node_t *into, const ompp_node_t *from)
{
    if (from->first_rank > into->first_rank) return;
    if (from->first_rank < into->first_rank || from->first_ns < into->first_ns) into->first_ns = from->first_ns;
    into->first_rank = from->first_rank;
}

void ompp_node_join(ompp_profile_t *profile, uint32_t into, const ompp_node_t *from)
{
    for (uint32_t i = 0; i < from->nblocks; i++) ompp_node_add(profile, into, &from->blocks[i]);
    earlier(&profile->nodes[into], from);
    ompp_spread_merge(&profile->nodes[into].over_threads, &from->over_threads);
    ompp_spread_merge(&profile->nodes[into].over_ranks, &from->over_ranks);
}

void ompp_node_clear(ompp_node_t *node)
{
    for (uint32_t i = 0; i < node->nblocks; i++) free(node->blocks[i].values);
    free(node->blocks);
    node->blocks = NULL;
    node->nblocks = node->ablocks = 0;
}
