#define _GNU_SOURCE /* strcasestr */
/**
 * \file
 * A report as somebody wants to see it: sorted, without what carries little, or only some regions of it.
 */
#include "report/ompp_text_priv.h"

#include "base/ompp_error.h"

#include <stdlib.h>
#include <string.h>

/* What orders and selects a region, or a node. */
typedef struct {
    uint64_t key, ns; /* key: most first; ns: inclusive, of the duration */
    size_t position;  /* in the file: decides between equal ones */
    uint32_t index;
} item_t;

typedef struct {
    item_t *of_region;       /* [nregions] */
    item_t *regions, *nodes; /* [nexecuted], [nordered] */
    bool *wanted, *inside;   /* [nregions] by its name; [nnodes] of such a region, or below it */
} items_t;

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static uint64_t key_of(const ompp_text_t *t, uint32_t node)
{
    switch (t->view->sort) {
    case OMPP_SORT_OWN: return ompp_text_exclusive(t, node);
    case OMPP_SORT_CALLS: return t->totals[node].value[OMPP_COLUMN_EXEC_C];
    case OMPP_SORT_PLACE: return UINT32_MAX - t->profile->regions[t->profile->nodes[node].region].number;
    case OMPP_SORT_FILE: return 0;
    default: return ompp_text_inclusive(t, node);
    }
}

/* Whether a node of the same region stands above it, whose time has this one's. */
static bool is_again(const ompp_profile_t *p, uint32_t node)
{
    uint32_t n = p->nodes[node].parent;

    while (n != 0 && p->nodes[n].region != p->nodes[node].region) n = p->nodes[n].parent;
    return n != 0;
}

static void fill(const ompp_text_t *t, items_t *items)
{
    const ompp_profile_t *p = t->profile;

    for (size_t i = 0; i < t->nordered; i++) {
        const uint32_t node = t->nodes[i];
        const uint64_t key = key_of(t, node), ns = ompp_text_inclusive(t, node), outer = is_again(p, node) ? 0 : ns;
        item_t *region = &items->of_region[p->nodes[node].region];
        items->nodes[i] = (item_t){key, ns, i, node};
        region->ns += outer;
        if (t->view->sort == OMPP_SORT_PLACE) region->key = key;
        else region->key += t->view->sort == OMPP_SORT_TIME ? outer : key;
    }
    for (size_t i = 0; i < t->nexecuted; i++) {
        const item_t *region = &items->of_region[t->regions[i]];
        items->regions[i] = (item_t){region->key, region->ns, i, t->regions[i]};
    }
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static int most_first(const void *a, const void *b)
{
    const item_t *x = a, *y = b;

    if (x->key != y->key) return x->key > y->key ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Depth first again, with the children of each node in the order of the items. */
static bool order_nodes(ompp_text_t *t, const item_t *nodes)
{
    const ompp_profile_t *p = t->profile;
    uint32_t *first = calloc(2 * p->nnodes, sizeof *first), *next = first + p->nnodes, node = 0;

    for (size_t i = t->nordered; first && i-- > 0;) {
        const uint32_t parent = p->nodes[nodes[i].index].parent;
        next[nodes[i].index] = first[parent];
        first[parent] = nodes[i].index;
    }
    for (size_t i = 0; first && i < t->nordered; i++) {
        if (!first[node]) {
            while (!next[node]) node = p->nodes[node].parent;
            node = next[node];
        } else {
            node = first[node];
        }
        t->nodes[i] = node;
    }
    free(first);
    return first != NULL;
}

static bool order(ompp_text_t *t, const items_t *items)
{
    if (t->nexecuted) qsort(items->regions, t->nexecuted, sizeof *items->regions, most_first);
    if (t->nordered) qsort(items->nodes, t->nordered, sizeof *items->nodes, most_first);
    for (size_t i = 0; i < t->nexecuted; i++) t->regions[i] = items->regions[i].index;
    if (!order_nodes(t, items->nodes)) return false;
    ompp_text_link(t);
    return true;
}

/* ---- Selection --------------------------------------------------------------------------------------------------- */

/* "R00012", "r12" or a part of "CRITICAL heat.c (121-125) ('merge')", in small or large letters. */
static bool is_called(const ompp_text_t *t, uint32_t region, const char *name)
{
    char *subject = ompp_text_subject(t, region), *end;
    bool is = subject && strcasestr(subject, name);

    if (*name == 'R' || *name == 'r') {
        const unsigned long number = strtoul(name + 1, &end, 10);
        if (name[1] && !*end) is = number == t->profile->regions[region].number;
    }
    free(subject);
    return is;
}

/* By name. \return whether there is one. */
static bool want(const ompp_text_t *t, const items_t *items)
{
    const ompp_profile_t *p = t->profile;
    const char *name = t->view->region;
    bool any = !name;

    for (size_t i = 0; i < t->nexecuted; i++) {
        const uint32_t region = t->regions[i];
        items->wanted[region] = !name || is_called(t, region, name);
        any |= items->wanted[region];
    }
    for (uint32_t n = 1; n < p->nnodes; n++)
        items->inside[n] = items->wanted[p->nodes[n].region] || items->inside[p->nodes[n].parent];
    return any;
}

static bool is_enough(const ompp_text_t *t, uint64_t ns)
{
    return 100 * (double)ns >= t->view->min * (double)t->duration_ns;
}

/* A region that is chosen has a call path at least: the first one in the order of the view. */
static void choose(ompp_text_t *t, const items_t *items, ompp_text_kept_t *kept)
{
    const ompp_profile_t *p = t->profile;
    unsigned n = 0;

    for (size_t i = 0; i < t->nexecuted; i++) {
        const item_t *item = &items->regions[i];
        items->of_region[item->index].position = SIZE_MAX;
        if (!items->wanted[item->index] || !is_enough(t, item->ns) || (t->view->top && n == t->view->top)) continue;
        items->of_region[item->index].position = 0;
        n++;
    }
    for (size_t i = 0; i < t->nordered; i++) {
        const item_t *item = &items->nodes[i];
        size_t *count = &items->of_region[p->nodes[item->index].region].position;
        const bool chosen = *count != SIZE_MAX, below = t->view->region && items->inside[item->index];
        if ((chosen || below) && (is_enough(t, item->ns) || *count == 0)) ompp_text_keep(p, item->index, kept);
        if (chosen) (*count)++;
    }
}

static int select_items(ompp_text_t *t, const items_t *items)
{
    ompp_text_kept_t kept;
    int rc = ompp_text_kept_init(&kept, t->profile) ? 0 : -OMPP_E_NOMEM;

    if (rc == 0 && !want(t, items)) rc = -OMPP_E_NOTFOUND;
    if (rc == 0) {
        choose(t, items, &kept);
        ompp_text_drop(t, &kept);
    }
    ompp_text_kept_fini(&kept);
    return rc;
}

int ompp_text_view(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    items_t items = {calloc(p->nregions + 1, sizeof *items.of_region), calloc(t->nexecuted + 1, sizeof *items.regions),
                     calloc(t->nordered + 1, sizeof *items.nodes), calloc(p->nregions + 1, sizeof *items.wanted),
                     calloc(p->nnodes, sizeof *items.inside)};
    int rc = -OMPP_E_NOMEM;

    if (items.of_region && items.regions && items.nodes && items.wanted && items.inside) {
        fill(t, &items);
        if (order(t, &items)) rc = select_items(t, &items);
    }
    free(items.of_region);
    free(items.regions);
    free(items.nodes);
    free(items.wanted);
    free(items.inside);
    return rc;
}
