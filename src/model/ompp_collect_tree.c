/*
 * Call trees of an arena to the profile.
 */
#include "model/ompp_collect_priv.h"

#include "base/ompp_vector.h"

#include <stdlib.h>
#include <string.h>

/* The profile's node for (parent, region), made when missing. */
static uint32_t union_node(ompp_collecting_t *c, uint32_t parent, uint32_t region, uint64_t first_ns, uint32_t rank)
{
    const uint64_t key = ompp_collect_key(c, ompp_hash_pair(parent, region)), found = ompp_table_get(&c->tree, key);

    if (found) {
        ompp_node_t *node = &c->profile->nodes[found - 1];
        if (first_ns < node->first_ns) node->first_ns = first_ns;
        return (uint32_t)found - 1;
    }
    const uint32_t node = ompp_profile_add_node(c->profile, region, parent, first_ns, rank);
    if (!ompp_table_set(&c->tree, key, node + 1u)) c->profile->failed = true;
    return node;
}

/* A function of a call path; of a sample, its line below it. */
static uint32_t path_node(ompp_collecting_t *c, uint32_t parent, const ompp_a_node_t *a, uint32_t rank)
{
    const uint32_t function =
        union_node(c, parent, ompp_collect_code(c, OMPP_CONSTRUCT_FUNCTION, a->code), a->first_ns, rank);

    if (!(a->code & OMPP_CODE_EXACT)) return function;
    return union_node(c, function, ompp_collect_code(c, OMPP_CONSTRUCT_SOURCE_LINE, a->code), a->first_ns, rank);
}

/* A chain is newest first; the first ones first are already nearly in the order that the profile has them in. */
static void copy_blocks(ompp_collecting_t *c, const ompp_a_block_t *newest, uint32_t node, uint32_t location)
{
    const ompp_a_block_t *b = newest, **blocks;
    uint32_t n = 0, most = ompp_collect_most(c);

    while (
        b && n < most &&
        ompp_collect_record(c, (ompp_off_t)((const char *)b - c->base), sizeof *b + b->nvalues * sizeof b->values[0])) {
        n++;
        b = ompp_collect_record(c, b->next, sizeof *b);
    }
    blocks = n ? malloc(n * sizeof *blocks) : NULL;
    uint32_t first = n; /* of those that could be read again */
    for (b = newest; blocks && b && first > 0; b = ompp_collect_record(c, b->next, sizeof *b)) blocks[--first] = b;
    for (uint32_t i = first; blocks && i < n; i++)
        if (blocks[i]->object <= c->profile->nobjects)
            ompp_collect_put(c, node, location, blocks[i]->set, blocks[i]->object, ompp_collect_redone(c, blocks[i]),
                             blocks[i]->nvalues);
    free(blocks);
}

static void copy_values(ompp_collecting_t *c, const ompp_a_node_t *n, uint32_t node, uint32_t location)
{
    const ompp_a_block_t *b = ompp_collect_record(c, ompp_collect_follow(&n->sets), sizeof *b);

    if (n->region && n->construct < OMPP_CONSTRUCT_NUM && n->nphases == ompp_constructs[n->construct].nphases) {
        uint32_t nvalues = ompp_phase_values(n->construct);
        bool any = false;
        const uint64_t *from = &n->visits;
        for (uint32_t i = 0; i < nvalues; i++) any |= from[i] != 0;
        if (any) ompp_collect_put(c, node, location, OMPP_SET_PHASES, 0, from, nvalues);
    }
    copy_blocks(c, b, node, location);
}

/* Set of the metrics of samples; OMPP_NONE: there are none. */
static uint32_t samples_set(const ompp_collecting_t *c)
{
    const ompp_profile_t *p = c->profile;

    for (size_t i = 0; i < p->nmetrics; i++)
        if (strcmp(ompp_profile_text(p, p->metrics[i].name), ompp_sample_metrics[0].name) == 0)
            return p->metrics[i].set;
    return OMPP_NONE;
}

/* Samples that interrupted our own work: one function of that name. */
static void copy_own(ompp_collecting_t *c, const ompp_a_thread_t *thread, uint32_t location, uint32_t rank)
{
    const uint64_t values[OMPP_METRIC_SAMPLES_NUM] = {thread->own_samples, thread->own_ns};
    const uint32_t set = thread->own_samples ? samples_set(c) : OMPP_NONE;

    if (set == OMPP_NONE) return;
    const uint32_t region = ompp_collect_code(c, OMPP_CONSTRUCT_FUNCTION, OMPP_CODE_OWN),
                   node = union_node(c, 0, region, thread->begin_ns, rank);
    ompp_collect_put(c, node, location, set, 0, values, OMPP_METRIC_SAMPLES_NUM);
}

/* Copies the thread's nodes, parents first: the list is newest first, and a node is newer than its parent. */
bool ompp_collect_tree(ompp_collecting_t *c, const ompp_a_thread_t *thread, uint32_t location, uint32_t rank)
{
    ompp_off_t *nodes = NULL, *last;
    size_t n = 0, allocated = 0;
    bool ok = true;

    for (ompp_off_t off = ompp_collect_follow(&thread->nodes); off && n < ompp_collect_most(c);) {
        const ompp_a_node_t *node = ompp_collect_record(c, off, sizeof *node);
        if (!node || !ompp_collect_record(c, off, sizeof *node + node->nphases * sizeof node->slot[0])) break;
        last = ompp_vector_push(&nodes, &n, &allocated, sizeof *nodes);
        ok = last != NULL;
        if (ok) *last = off;
        off = ok ? node->next : 0;
    }
    ompp_table_fini(&c->map);
    ok = ok && ompp_table_reserve(&c->map, n);
    while (ok && n > 0) {
        const ompp_a_node_t *a = (const ompp_a_node_t *)(c->base + nodes[--n]);
        const ompp_a_region_t *r = ompp_collect_record(c, a->region, sizeof *r);
        uint32_t parent = ompp_collect_mapped(c, a->parent), node = OMPP_NONE;
        if (ompp_collect_mapped(c, nodes[n]) != OMPP_NONE) continue; /* a damaged list that runs in a circle */
        if (a->parent == 0) node = 0;
        else if (a->region == 0 && parent != OMPP_NONE) node = path_node(c, parent, a, rank);
        else if (r && r->index < c->nregions && c->region_of[r->index] != OMPP_NONE && parent != OMPP_NONE)
            node = union_node(c, parent, c->region_of[r->index], a->first_ns, rank);
        if (node == OMPP_NONE) continue;
        ompp_table_set(&c->map, ompp_collect_key(c, nodes[n]), node + 1u);
        copy_values(c, a, node, location);
    }
    if (ok) copy_own(c, thread, location, rank);
    free(nodes);
    return ok;
}
