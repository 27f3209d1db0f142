#include "analysis/ompp_outline.h"

#include "analysis/ompp_node.h"
#include "analysis/ompp_paths.h"
#include "analysis/ompp_values.h"
#include "base/ompp_table.h"

#include <stdlib.h>
#include <string.h>

/* ---- Which functions stay ---------------------------------------------------------------------------------------- */

/* A region's node below a function, and the node of the region around it. */
typedef struct {
    uint32_t above, region, node;
} place_t;

static int compare_places(const void *a, const void *b)
{
    const place_t *x = a, *y = b;

    if (x->above != y->above) return x->above < y->above ? -1 : 1;
    if (x->region != y->region) return x->region < y->region ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static bool is_same(const place_t *x, const place_t *y) { return x->above == y->above && x->region == y->region; }

/* One region below one other: places[0 .. n). below: of each function, those that it leads to; 0 before and after. */
static void keep_branches(const ompp_profile_t *p, const place_t *places, size_t n, uint32_t *below, bool *stays)
{
    const uint32_t above = places->above;

    for (size_t i = 0; i < n; i++)
        for (uint32_t f = p->nodes[places[i].node].parent; f != above; f = p->nodes[f].parent) below[f]++;
    for (size_t i = 0; i < n; i++)
        for (uint32_t f = p->nodes[places[i].node].parent; f != above; f = p->nodes[f].parent) {
            const uint32_t caller = p->nodes[f].parent;
            if (below[f] < (caller == above ? n : below[caller])) stays[f] = true;
        }
    for (size_t i = 0; i < n; i++)
        for (uint32_t f = p->nodes[places[i].node].parent; f != above; f = p->nodes[f].parent) below[f] = 0;
}

/* above: [nnodes] the nearest node of a region above each. */
static bool choose(const ompp_profile_t *p, const uint32_t *above, bool *stays)
{
    const bool all = strcmp(ompp_profile_setting(p, "OMPP_CALLPATH"), "full") == 0;
    place_t *places = malloc(p->nnodes * sizeof *places);
    uint32_t *below = calloc(p->nnodes, sizeof *below);
    size_t n = 0;

    for (uint32_t i = 1; places && below && i < p->nnodes; i++)
        if (!ompp_node_is_path(p, i)) places[n++] = (place_t){above[i], p->nodes[i].region, i};
    if (n) qsort(places, n, sizeof *places, compare_places);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && is_same(&places[i], &places[next]);) next++;
        if (next - i > 1) keep_branches(p, places + i, next - i, below, stays);
        for (uint32_t f = p->nodes[places[i].node].parent; all && f != above[places[i].node]; f = p->nodes[f].parent)
            stays[f] = true;
    }
    const bool memory = places && below;
    free(places);
    free(below);
    return memory;
}

/* ---- The nodes --------------------------------------------------------------------------------------------------- */

/* Loops and inlined calls tell no places apart: what lies in them hangs below their function. */
static bool is_part(const ompp_profile_t *p, uint32_t node)
{
    const uint32_t region = p->nodes[node].region;

    return region < p->nregions && ompp_construct_is_part(p->regions[region].construct);
}

/* stays: nodes that are left. \return false when out of memory. */
static bool copy_nodes(ompp_profile_t *o, const ompp_profile_t *p, const bool *stays)
{
    uint32_t *map = calloc(p->nnodes, sizeof *map);
    ompp_table_t table = {0}; /* by parent and region: node + 1 */
    bool ok = map && ompp_table_reserve(&table, p->nnodes);

    for (uint32_t i = 0; ok && i < p->nnodes; i++) {
        const ompp_node_t *node = &p->nodes[i];
        const uint32_t parent = i ? map[node->parent] : OMPP_NONE;
        map[i] = parent;
        if (!stays[i]) continue;
        const uint64_t key = ompp_hash_pair(parent, node->region), same = ompp_table_get(&table, key);
        map[i] = same ? (uint32_t)same - 1
                      : ompp_profile_add_node(o, node->region, parent, node->first_ns, node->first_rank);
        if (ompp_node_is_path(p, i)) o->nodes[map[i]].first_ns = node->first_ns;
        else ompp_node_join(o, map[i], node);
        ok = !o->failed && (same || ompp_table_set(&table, key, map[i] + 1u));
    }
    ompp_table_fini(&table);
    free(map);
    return ok;
}

static uint64_t time_of(const ompp_block_t *block, unsigned construct)
{
    uint64_t time = 0;

    for (unsigned s = 0; s < ompp_constructs[construct].nphases; s++)
        time += block->values[ompp_value_index(s, OMPP_SLOT_TIME)];
    return time;
}

/* The rank's first thread; the location itself, when it is the sum of several ranks. */
static uint32_t first_thread(const ompp_profile_t *o, uint32_t location)
{
    const ompp_location_t *l = &o->locations[location];

    for (uint32_t i = 0; l->rank != OMPP_NONE && i < o->nlocations; i++)
        if (o->locations[i].rank == l->rank && o->locations[i].tid == 0) return i;
    return location;
}

/* What a node has goes to the function above it. */
static void add_to_function(ompp_profile_t *o, uint32_t node, uint32_t function, double scale)
{
    const uint32_t construct = o->regions[o->nodes[node].region].construct,
                   n = ompp_phase_values(o->regions[o->nodes[function].region].construct);

    for (uint32_t b = 0; b < o->nodes[node].nblocks; b++) {
        const ompp_block_t *block = &o->nodes[node].blocks[b];
        if (!ompp_block_is_phases(block)) continue;
        const uint32_t location = scale == 1 ? block->location : first_thread(o, block->location);
        uint64_t *values = ompp_profile_block(o, function, location, OMPP_SET_PHASES, 0, n);
        if (!values) return;
        if (location == block->location) values[0] += block->values[0];
        values[ompp_value_index(0, OMPP_SLOT_TIME)] += (uint64_t)((double)time_of(block, construct) * scale + 0.5);
        values[ompp_value_index(0, OMPP_SLOT_CHILD)] = values[ompp_value_index(0, OMPP_SLOT_TIME)];
    }
}

/*
 * A function's time is that of what is below it, inner ones first; its visits are executions of that. In the callgraph
 * both are to be the same: what is divided by the number of threads there counts as much less on the first one.
 */
static bool add_times(ompp_profile_t *o)
{
    ompp_paths_t paths;

    if (!ompp_paths_init(&paths, o)) return false;
    for (uint32_t i = (uint32_t)o->nnodes; i-- > 1;) {
        const uint32_t parent = o->nodes[i].parent;
        if (ompp_node_is_path(o, parent))
            add_to_function(o, i, parent,
                            (double)ompp_analysis_divisor(o, &paths, parent) /
                                (double)ompp_analysis_divisor(o, &paths, i));
    }
    ompp_paths_fini(&paths);
    return !o->failed;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static ompp_profile_t *outline_of(const ompp_profile_t *p, const bool *stays, bool times)
{
    ompp_profile_t *o = malloc(sizeof *o);

    if (!o) return NULL;
    *o = *p;
    o->nodes = NULL;
    o->nnodes = o->anodes = 0;
    if (copy_nodes(o, p, stays) && (!times || add_times(o))) return o;
    ompp_outline_free(o, p);
    return NULL;
}

static const ompp_profile_t *new_outline(const ompp_profile_t *p, bool functions)
{
    uint32_t *above = calloc(p->nnodes, sizeof *above);
    bool *stays = calloc(p->nnodes, sizeof *stays), any = false;
    const ompp_profile_t *o = NULL;

    for (uint32_t i = 1; above && stays && i < p->nnodes; i++) {
        const uint32_t parent = p->nodes[i].parent;
        above[i] = ompp_node_is_path(p, parent) ? above[parent] : parent;
        any = any || ompp_node_is_path(p, i);
    }
    if (above && stays && !any) {
        o = p;
    } else if (above && stays && (!functions || choose(p, above, stays))) {
        for (uint32_t i = 0; i < p->nnodes; i++) stays[i] = stays[i] || i == 0 || !ompp_node_is_path(p, i);
        o = outline_of(p, stays, true);
    }
    free(above);
    free(stays);
    return o;
}

const ompp_profile_t *ompp_outline_new(const ompp_profile_t *p, bool functions)
{
    bool *stays = malloc(p->nnodes * sizeof *stays), any = false;

    for (uint32_t i = 0; stays && i < p->nnodes; i++) {
        stays[i] = !is_part(p, i);
        any = any || !stays[i];
    }
    const ompp_profile_t *whole = stays && any ? outline_of(p, stays, false)
                                  : stays      ? p
                                               : NULL,
                         *o = whole ? new_outline(whole, functions) : NULL;
    free(stays);
    if (o != whole) ompp_outline_free(whole, p);
    return o;
}

void ompp_outline_free(const ompp_profile_t *outline, const ompp_profile_t *profile)
{
    if (!outline || outline == profile) return;
    for (size_t i = 0; i < outline->nnodes; i++) ompp_node_clear(&outline->nodes[i]);
    free(outline->nodes);
    free((ompp_profile_t *)(uintptr_t)outline);
}
