/*
 * Locations and blocks in order: those of two profiles become one ascending list, and blocks follow.
 */
#include "base/ompp_error.h"
#include "model/ompp_combine_priv.h"
#include "model/ompp_merge.h"

#include <stdlib.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* The rest has no threads: whatever its tid says, it is one location, behind all others. */
static int compare_locations(const ompp_location_t *a, const ompp_location_t *b)
{
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->rank == OMPP_NONE || a->tid == b->tid) return 0;
    return a->tid < b->tid ? -1 : 1;
}

typedef struct {
    ompp_location_t location;
    uint32_t index;
} place_t;

static int compare_places(const void *a, const void *b)
{
    const place_t *x = a, *y = b;
    int order = compare_locations(&x->location, &y->location);

    return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

static bool locations_in_order(const ompp_profile_t *p)
{
    for (size_t i = 1; i < p->nlocations; i++)
        if (compare_locations(&p->locations[i - 1], &p->locations[i]) > 0) return false;
    return true;
}

static place_t *sorted_places(const ompp_profile_t *p)
{
    place_t *places = calloc(p->nlocations + 1, sizeof *places);

    if (!places) return NULL;
    for (size_t i = 0; i < p->nlocations; i++) places[i] = (place_t){p->locations[i], i};
    if (!locations_in_order(p)) qsort(places, p->nlocations, sizeof *places, compare_places);
    return places;
}

static int compare_blocks(const void *a, const void *b) { return ompp_block_compare(a, b); }

void ompp_blocks_sort(ompp_block_t *blocks, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (ompp_block_compare(&blocks[i - 1], &blocks[i]) <= 0) continue;
        qsort(blocks, n, sizeof *blocks, compare_blocks);
        return;
    }
}

/* Gives the locations in all blocks their new indices. */
static void renumber_locations(ompp_profile_t *p, const uint32_t *map)
{
    for (size_t i = 0; i < p->nnodes; i++) {
        ompp_node_t *node = &p->nodes[i];
        for (size_t k = 0; k < node->nblocks; k++) node->blocks[k].location = map[node->blocks[k].location];
        ompp_blocks_sort(node->blocks, node->nblocks);
    }
}

int ompp_profile_sort_locations(ompp_profile_t *p)
{
    if (locations_in_order(p)) return 0;
    place_t *places = sorted_places(p);
    uint32_t *map = calloc(p->nlocations + 1, sizeof *map);

    if (!places || !map) {
        free(places);
        free(map);
        return -OMPP_E_NOMEM;
    }
    for (size_t i = 0; i < p->nlocations; i++) {
        p->locations[i] = places[i].location;
        map[places[i].index] = i;
    }
    renumber_locations(p, map);
    free(places);
    free(map);
    return 0;
}

static void join_location(ompp_location_t *into, const ompp_location_t *from)
{
    into->kind = MIN(into->kind, from->kind);
    into->begin_ns = MIN(into->begin_ns, from->begin_ns);
    into->end_ns = MAX(into->end_ns, from->end_ns);
}

/* Merges two ascending lists into a new one, and notes where each came to stand. */
static size_t interleave(const place_t *a, size_t na, const place_t *b, size_t nb, ompp_location_t *out,
                         uint32_t *map_a, uint32_t *map_b)
{
    size_t n = 0, i = 0, k = 0;

    while (i < na || k < nb) {
        bool take_a = i < na && (k >= nb || compare_locations(&a[i].location, &b[k].location) <= 0);
        const place_t *place = take_a ? &a[i++] : &b[k++];
        if (n > 0 && compare_locations(&out[n - 1], &place->location) == 0)
            join_location(&out[n - 1], &place->location);
        else out[n++] = place->location;
        (take_a ? map_a : map_b)[place->index] = n - 1;
    }
    return n;
}

int ompp_merge_locations(ompp_profile_t *into, const ompp_profile_t *from, uint32_t *map)
{
    const size_t na = into->nlocations, nb = from->nlocations;
    place_t *a = sorted_places(into), *b = sorted_places(from);
    ompp_location_t *out = calloc(na + nb + 1, sizeof *out);
    uint32_t *own = calloc(na + 1, sizeof *own);
    const bool room = a && b && out && own;

    if (room) {
        const size_t n = interleave(a, na, b, nb, out, own, map);
        free(into->locations);
        into->locations = out;
        into->nlocations = n;
        into->alocations = na + nb + 1;
        renumber_locations(into, own);
    } else {
        free(out);
    }
    free(a);
    free(b);
    free(own);
    return room ? 0 : -OMPP_E_NOMEM;
}
