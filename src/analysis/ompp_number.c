/* Numbers of regions, and the order of nodes. Both n log n. */
#include "analysis/ompp_analysis.h"

#include "base/ompp_error.h"
#include "base/ompp_path.h"

#include <stdlib.h>
#include <string.h>

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

/* A task's execution has the number of the task. */
static const uint8_t task_of[OMPP_CONSTRUCT_NUM] = {
    [OMPP_CONSTRUCT_TASKEXEC] = OMPP_CONSTRUCT_TASK,
    [OMPP_CONSTRUCT_UTASKEXEC] = OMPP_CONSTRUCT_UTASK,
};

static bool is_execution(uint32_t construct)
{
    return construct == OMPP_CONSTRUCT_TASKEXEC || construct == OMPP_CONSTRUCT_UTASKEXEC;
}

typedef struct {
    const ompp_profile_t *profile;
    uint32_t region;
} numbered_t;

/* Order by place, without the construct. */
static int compare_places(const ompp_profile_t *profile, const ompp_region_t *x, const ompp_region_t *y)
{
    const char *a = ompp_profile_text(profile, x->file), *b = ompp_profile_text(profile, y->file);
    int order = x->file == y->file ? 0 : strcmp(ompp_path_last(a), ompp_path_last(b));

    if (order == 0 && x->file != y->file) order = strcmp(a, b);
    if (order == 0) order = compare_numbers(x->begin, y->begin);
    return order ? order : compare_numbers(x->end, y->end);
}

/* Order of what is left to tell regions of one construct and place apart. */
static int compare_rest(const ompp_profile_t *profile, const ompp_region_t *x, const ompp_region_t *y)
{
    int order = strcmp(ompp_profile_text(profile, x->name), ompp_profile_text(profile, y->name));

    if (order == 0) order = compare_numbers(x->key, y->key);
    if (order == 0) order = compare_numbers(x->module, y->module);
    return order ? order : compare_numbers(x->addr, y->addr);
}

/* A task's execution stands right behind the task. */
static int compare_regions(const void *a, const void *b)
{
    const numbered_t *x = a, *y = b;
    const ompp_profile_t *profile = x->profile;
    const ompp_region_t *p = &profile->regions[x->region], *q = &profile->regions[y->region];
    uint32_t pc = is_execution(p->construct) ? task_of[p->construct] : p->construct;
    uint32_t qc = is_execution(q->construct) ? task_of[q->construct] : q->construct;
    /* What is on call paths has the last numbers: those of regions are as without call paths. */
    int order = ompp_construct_is_path(pc) - ompp_construct_is_path(qc);

    if (order == 0) order = compare_places(profile, p, q);
    if (order == 0) order = compare_numbers(pc, qc);
    if (order == 0) order = compare_rest(profile, p, q);
    if (order == 0) order = compare_numbers(p->construct, q->construct);
    return order ? order : compare_numbers(x->region, y->region);
}

/* Whether an execution belongs to the task before it: the same lines, or the same address where these are not known. */
static bool belongs(const ompp_region_t *task, const ompp_region_t *execution)
{
    if (task->construct != task_of[execution->construct] || task->file != execution->file) return false;
    if (task->begin != execution->begin || task->end != execution->end) return false;
    return task->file != 0 || (task->module == execution->module && task->addr == execution->addr);
}

static int number_regions(ompp_profile_t *profile)
{
    numbered_t *order = malloc((profile->nregions + 1) * sizeof *order);
    const ompp_region_t *task = NULL;
    uint32_t number = 0;

    if (!order) return -OMPP_E_NOMEM;
    for (uint32_t i = 0; i < profile->nregions; i++) order[i] = (numbered_t){profile, i};
    qsort(order, profile->nregions, sizeof *order, compare_regions);
    for (size_t i = 0; i < profile->nregions; i++) {
        ompp_region_t *region = &profile->regions[order[i].region];
        bool shared = is_execution(region->construct) && task && belongs(task, region);
        region->number = shared ? task->number : ++number;
        if (!is_execution(region->construct)) task = region;
    }
    free(order);
    return 0;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t first_ns;
    uint32_t parent, first_rank, number, node;
} sibling_t;

static int compare_siblings(const void *a, const void *b)
{
    const sibling_t *x = a, *y = b;

    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    if (x->first_rank != y->first_rank) return x->first_rank < y->first_rank ? -1 : 1;
    if (x->first_ns != y->first_ns) return x->first_ns < y->first_ns ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Fills place[old] = new, depth first. siblings: all nodes but the root, sorted. stack, place: shape [nnodes]. */
static void place_nodes(const ompp_profile_t *profile, const sibling_t *siblings, uint32_t *first, uint32_t *stack,
                        uint32_t *place)
{
    size_t n = profile->nnodes, depth = 0;
    uint32_t next = 0;

    for (size_t i = 0; i <= n; i++) first[i] = 0; /* first[p] .. first[p + 1]: children of p among the siblings */
    for (size_t i = 0; i + 1 < n; i++) first[siblings[i].parent + 1]++;
    for (size_t i = 0; i < n; i++) first[i + 1] += first[i];
    stack[depth++] = 0;
    while (depth > 0) {
        uint32_t node = stack[--depth];
        place[node] = next++;
        for (uint32_t i = first[node + 1]; i-- > first[node];) stack[depth++] = siblings[i].node;
    }
}

static void move_nodes(ompp_profile_t *profile, ompp_node_t *moved, const uint32_t *place)
{
    for (size_t i = 0; i < profile->nnodes; i++) {
        ompp_node_t node = profile->nodes[i];
        if (i > 0) node.parent = place[node.parent];
        moved[place[i]] = node;
    }
    memcpy(profile->nodes, moved, profile->nnodes * sizeof *moved);
}

static int order_nodes(ompp_profile_t *profile)
{
    size_t n = profile->nnodes;
    sibling_t *siblings = malloc((n + 1) * sizeof *siblings);
    ompp_node_t *moved = malloc((n + 1) * sizeof *moved);
    uint32_t *first = malloc((n + 1) * sizeof *first), *stack = malloc((n + 1) * sizeof *stack);
    uint32_t *place = malloc((n + 1) * sizeof *place);
    bool memory = siblings && moved && first && stack && place;

    for (uint32_t i = 1; memory && i < n; i++) {
        const ompp_node_t *node = &profile->nodes[i];
        uint32_t number = node->region < profile->nregions ? profile->regions[node->region].number : 0;
        siblings[i - 1] = (sibling_t){node->first_ns, node->parent, node->first_rank, number, i};
    }
    if (memory) {
        qsort(siblings, n - 1, sizeof *siblings, compare_siblings);
        place_nodes(profile, siblings, first, stack, place);
        move_nodes(profile, moved, place);
    }
    free(siblings);
    free(moved);
    free(first);
    free(stack);
    free(place);
    return memory ? 0 : -OMPP_E_NOMEM;
}

int ompp_analysis_number(ompp_profile_t *profile)
{
    int rc = number_regions(profile);

    return rc == 0 && profile->nnodes > 1 ? order_nodes(profile) : rc;
}
