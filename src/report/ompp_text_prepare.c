/**
 * \file
 * What the text writer needs once per report: names, orders of regions, nodes and locations, sums of nodes.
 */
#define _GNU_SOURCE
#include "report/ompp_text_priv.h"

#include "base/ompp_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thing to be ordered: by three keys, then by index. */
typedef struct {
    uint64_t key[3];
    uint32_t index;
} sort_t;

static int compare(const void *a, const void *b)
{
    const sort_t *x = a, *y = b;

    for (int k = 0; k < 3; k++)
        if (x->key[k] != y->key[k]) return x->key[k] < y->key[k] ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Sorts n things and writes their indices to order. */
static void sort_into(sort_t *things, size_t n, uint32_t *order)
{
    if (n) qsort(things, n, sizeof *things, compare);
    for (size_t i = 0; i < n; i++) order[i] = things[i].index;
}

/* By first execution: on the lowest rank that entered it, then by number. Never executed ones are left out. */
static void order_regions(ompp_text_t *t, sort_t *things)
{
    const ompp_profile_t *p = t->profile;
    size_t n = 0;

    for (uint32_t r = 0; r < p->nregions; r++) things[r] = (sort_t){{UINT64_MAX, UINT64_MAX, p->regions[r].number}, r};
    for (size_t i = 1; i < p->nnodes; i++) {
        sort_t *thing = &things[p->nodes[i].region];
        uint64_t rank = p->nodes[i].first_rank, ns = p->nodes[i].first_ns;
        if (rank > thing->key[0] || (rank == thing->key[0] && ns >= thing->key[1])) continue;
        thing->key[0] = rank;
        thing->key[1] = ns;
    }
    for (uint32_t r = 0; r < p->nregions; r++)
        if (things[r].key[0] != UINT64_MAX) things[n++] = things[r];
    t->nexecuted = n;
    sort_into(things, n, t->regions);
}

static void order_locations(ompp_text_t *t, sort_t *things)
{
    const ompp_profile_t *p = t->profile;

    for (uint32_t l = 0; l < p->nlocations; l++)
        things[l] = (sort_t){{p->locations[l].rank, p->locations[l].tid, 0}, l};
    sort_into(things, p->nlocations, t->order);
}

/* Depth first; children in the order of the profile. first and next: [nnodes], lists of children, 0 = end. */
static void order_nodes(ompp_text_t *t, uint32_t *first, uint32_t *next)
{
    const ompp_profile_t *p = t->profile;
    uint32_t node = 0;

    for (size_t i = p->nnodes; i-- > 1;) {
        uint32_t parent = p->nodes[i].parent;
        next[i] = first[parent];
        first[parent] = i;
        t->has_sibling[i] = next[i] != 0;
        t->has_child[parent] = true;
    }
    for (size_t i = 1; i < p->nnodes; i++) t->depth[i] = t->depth[p->nodes[i].parent] + 1;
    for (;;) {
        if (first[node]) {
            node = first[node];
        } else {
            while (node != 0 && !next[node]) node = p->nodes[node].parent;
            if (node == 0) break;
            node = next[node];
        }
        t->nodes[t->nordered++] = node;
    }
}

static bool collapses_locks(const ompp_profile_t *p)
{
    const char *value = ompp_profile_setting(p, "OMPP_COLLAPSE_LOCKS");

    return *value && strcmp(value, "0") != 0;
}

/* ompP's remark behind the place of a lock whose threads share a row. Readers expect nothing behind a name, so it goes
 * into that. */
static char *mark_collapsed(char *place)
{
    size_t length = place ? strlen(place) : 0;
    bool named = length > 2 && strcmp(place + length - 2, "')") == 0;
    char *marked = NULL;

    if (place &&
        asprintf(&marked, "%.*s (collapsed stats)%s", (int)(length - (named ? 2 : 0)), place, named ? "')" : "") < 0)
        marked = NULL;
    free(place);
    return marked;
}

static int name_regions(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    t->app = ompp_text_printable(ompp_profile_text(p, p->app), false);
    if (!t->app) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < t->nexecuted; i++) {
        char *place = ompp_text_place(p, t->regions[i]);
        bool lock = ompp_constructs[p->regions[t->regions[i]].construct].place == OMPP_PLACE_ADDRESS;
        t->places[t->regions[i]] = t->collapse && lock ? mark_collapsed(place) : place;
        if (!t->places[t->regions[i]]) return -OMPP_E_NOMEM;
    }
    return 0;
}

static void sum_nodes(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    for (uint32_t n = 0; n < p->nnodes; n++) ompp_values_sum(t->values, n, &t->totals[n]);
}

static bool allocate(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    t->values = ompp_values_new(p);
    t->places = calloc(p->nregions + 1, sizeof *t->places);
    t->regions = calloc(p->nregions + 1, sizeof *t->regions);
    t->order = calloc(p->nlocations + 1, sizeof *t->order);
    t->nodes = calloc(p->nnodes, sizeof *t->nodes);
    t->depth = calloc(p->nnodes, sizeof *t->depth);
    t->has_sibling = calloc(p->nnodes, sizeof *t->has_sibling);
    t->has_child = calloc(p->nnodes, sizeof *t->has_child);
    t->rows = t->values ? ompp_rows_new(t->values, p->nlocations) : NULL;
    t->totals = t->values ? ompp_rows_new(t->values, p->nnodes) : NULL;
    t->sums = t->values ? ompp_rows_new(t->values, 2) : NULL;
    t->path = calloc(p->nnodes, sizeof *t->path);
    t->rank_exec = calloc(p->nranks_kept + 1, sizeof *t->rank_exec);
    t->rank_sort = calloc(p->nranks_kept + 1, sizeof *t->rank_sort);
    t->rank_shown = calloc(p->nranks_kept + 1, sizeof *t->rank_shown);
    return t->values && t->places && t->regions && t->order && t->nodes && t->depth && t->has_sibling && t->has_child &&
           t->rows && t->totals && t->sums && t->path && t->rank_exec && t->rank_sort && t->rank_shown;
}

int ompp_text_prepare(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    size_t most = p->nregions > p->nlocations ? p->nregions : p->nlocations;
    sort_t *things = calloc(most + 1, sizeof *things);
    uint32_t *lists = calloc(2 * p->nnodes, sizeof *lists);
    int rc = -OMPP_E_NOMEM;

    t->nranks = ompp_analysis_nranks(p);
    t->nslots = p->nslots;
    t->duration_ns = ompp_analysis_duration(p);
    t->extra = ompp_layout_extra(t->digits);
    /* The report of one rank of several has ompP's own layout. */
    t->collapse = collapses_locks(p);
    t->show_ranks = p->mpi && (t->nranks > 1 || p->nranks == 1);
    if (allocate(t) && things && lists) {
        t->paths = ompp_values_paths(t->values);
        order_regions(t, things);
        order_locations(t, things);
        order_nodes(t, lists, lists + p->nnodes);
        sum_nodes(t);
        rc = ompp_text_counters_prepare(t) ? name_regions(t) : -OMPP_E_NOMEM;
    }
    free(things);
    free(lists);
    return rc;
}

void ompp_text_release(ompp_text_t *t)
{
    for (size_t r = 0; t->places && r < t->profile->nregions; r++) free(t->places[r]);
    ompp_text_counters_release(t);
    ompp_values_free(t->values);
    free(t->app);
    free(t->places);
    free(t->regions);
    free(t->order);
    free(t->nodes);
    free(t->depth);
    free(t->has_sibling);
    free(t->has_child);
    free(t->rows);
    free(t->totals);
    free(t->sums);
    free(t->path);
    free(t->rank_exec);
    free(t->rank_sort);
    free(t->rank_shown);
    free(t->folded.kept);
}
