/*
 * Equal regions become one, equal call paths become one, and a worksharing construct on the line of the parallel region
 * around it becomes one combined construct with it.
 *
 * Folding, per location, of a PARALLEL P and its child C with phases q into F (t = time of all phases of C together):
 *     F[q]    += C[q]                         time, child, task, count of every phase of C
 *     F[p]    += P[p]                         of every phase of P but its body
 *     F[work] += P[body], time - t, child - t  work: the first phase of C; count is that of P alone
 * P's body had t in its time and in its child time, so the sum of time - child - task over all nodes stays what it was.
 * C's other values are added to P's, its children become P's.
 */
#define _GNU_SOURCE
#include "analysis/ompp_analysis.h"
#include "analysis/ompp_locks.h"
#include "analysis/ompp_node.h"
#include "analysis/ompp_owner.h"

#include "base/ompp_error.h"
#include "base/ompp_path.h"
#include "base/ompp_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Combined constructs. */
static const struct {
    uint8_t inner, combined;
} folds[] = {
    {OMPP_CONSTRUCT_LOOP, OMPP_CONSTRUCT_PARLOOP},
    {OMPP_CONSTRUCT_SECTIONS, OMPP_CONSTRUCT_PARSECTS},
    {OMPP_CONSTRUCT_WORKSHARE, OMPP_CONSTRUCT_PARWRKSH},
};

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const ompp_region_t *region;
    uint32_t index;
} region_order_t;

#define COMPARE(a, b) \
    if ((a) != (b)) return (a) < (b) ? -1 : 1

/* 0 when two regions are the same thing: by lines where these are known, else by address. */
static int compare_identity(const ompp_region_t *x, const ompp_region_t *y)
{
    COMPARE(x->construct, y->construct);
    COMPARE(x->file, y->file);
    COMPARE(x->begin, y->begin);
    COMPARE(x->end, y->end);
    COMPARE(x->name, y->name);
    COMPARE(x->key, y->key);
    if (x->key || (x->file != 0 && x->begin != 0)) return 0;
    COMPARE(x->module, y->module);
    COMPARE(x->addr, y->addr);
    return 0;
}

static int compare_regions(const void *a, const void *b)
{
    const region_order_t *x = a, *y = b;
    int order = compare_identity(x->region, y->region);

    if (order) return order;
    COMPARE(x->index, y->index);
    return 0;
}

static void join_region(ompp_region_t *into, const ompp_region_t *from)
{
    if (into->function == 0) into->function = from->function;
    if (into->lock == 0) into->lock = from->lock;
    if (into->addr_end == 0 && into->addr == from->addr) into->addr_end = from->addr_end;
    if (into->iterations < from->iterations) into->iterations = from->iterations;
}

/* Records of regions that have become one are joined. One that has gone into another goes with it. */
static bool renumber_whatif(ompp_whatif_t *whatif, size_t nregions, const uint32_t *map)
{
    size_t used = 0;
    ompp_table_t table = {0}; /* by region and point: index + 1 */
    bool ok = true;

    for (size_t i = 0; i < whatif->nregions; i++) {
        ompp_whatif_region_t *region = &whatif->regions[i];
        if (region->region != OMPP_NONE && (region->region >= nregions || map[region->region] == OMPP_NONE)) continue;
        if (region->region != OMPP_NONE) region->region = map[region->region];
        const uint64_t key = ompp_hash_pair(region->region, region->point), same = ompp_table_get(&table, key);
        if (same) {
            ompp_whatif_join_parts(&whatif->regions[same - 1], region);
            continue;
        }
        whatif->regions[used++] = *region;
        ok = ompp_table_set(&table, key, used) && ok;
    }
    ompp_table_fini(&table);
    whatif->nregions = used;
    for (size_t i = 0; i < whatif->npoints; i++)
        if (whatif->points[i].region < nregions) whatif->points[i].region = map[whatif->points[i].region];
    return ok;
}

/* Removes the regions with map[i] != i and renumbers the others in nodes; map[i] is at most i. */
static void compact_regions(ompp_profile_t *profile, uint32_t *map)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < profile->nregions; i++) {
        if (map[i] == i) {
            profile->regions[used] = profile->regions[i];
            map[i] = used++;
        } else if (map[i] != OMPP_NONE) {
            map[i] = map[map[i]];
        }
    }
    for (size_t i = 0; i < profile->nnodes; i++)
        if (profile->nodes[i].region < profile->nregions) profile->nodes[i].region = map[profile->nodes[i].region];
    if (!renumber_whatif(&profile->whatif, profile->nregions, map)) profile->failed = true;
    profile->nregions = used;
}

static int unify_regions(ompp_profile_t *profile)
{
    size_t n = profile->nregions;
    region_order_t *order = malloc((n + 1) * sizeof *order);
    uint32_t *map = malloc((n + 1) * sizeof *map);

    for (uint32_t i = 0; order && i < n; i++) order[i] = (region_order_t){&profile->regions[i], i};
    if (order && map) {
        qsort(order, n, sizeof *order, compare_regions);
        for (size_t i = 0, first = 0; i < n; i++) {
            if (i > 0 && compare_identity(order[first].region, order[i].region) != 0) first = i;
            map[order[i].index] = order[first].index;
            if (i != first) join_region(&profile->regions[order[first].index], order[i].region);
        }
        compact_regions(profile, map);
    }
    int rc = order && map ? 0 : -OMPP_E_NOMEM;
    free(order);
    free(map);
    return rc;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static void join_node(ompp_profile_t *profile, uint32_t into, ompp_node_t *from)
{
    ompp_node_join(profile, into, from);
    ompp_node_clear(from);
}

/*
 * One node of all that have the same parent and region. skip[i]: node i is gone, its children belong to its parent;
 * NULL = none. Parents stand before children, so one pass is enough.
 */
static int unify_nodes(ompp_profile_t *profile, const bool *skip)
{
    size_t n = profile->nnodes;
    uint32_t *map = malloc(n * sizeof *map), used = 1;
    ompp_table_t table = {0}; /* by parent and region: node + 1 */

    if (!map || !ompp_table_reserve(&table, n)) {
        free(map);
        return -OMPP_E_NOMEM;
    }
    map[0] = 0;
    for (uint32_t i = 1; i < n; i++) {
        ompp_node_t node = profile->nodes[i];
        node.parent = map[node.parent];
        if (skip && skip[i]) {
            map[i] = node.parent;
            ompp_node_clear(&node);
            continue;
        }
        const uint64_t key = ompp_hash_pair(node.parent, node.region), same = ompp_table_get(&table, key);
        if (same) {
            map[i] = (uint32_t)same - 1;
            join_node(profile, map[i], &node);
            continue;
        }
        profile->nodes[used] = node;
        map[i] = used++;
        ompp_table_set(&table, key, used);
    }
    profile->nnodes = used;
    ompp_table_fini(&table);
    free(map);
    return profile->failed ? -OMPP_E_NOMEM : 0;
}

/* ---- Folding ----------------------------------------------------------------------------------------------------- */

static const uint64_t *phases_of(const ompp_profile_t *profile, uint32_t node, uint32_t location)
{
    const ompp_block_t *block = ompp_profile_find_block(profile, node, location, OMPP_SET_PHASES, 0);

    return block ? block->values : NULL;
}

static uint64_t total_time(const uint64_t *values, uint32_t construct)
{
    uint64_t total = 0;

    for (unsigned s = 0; s < ompp_constructs[construct].nphases; s++)
        total += values[ompp_value_index(s, OMPP_SLOT_TIME)];
    return total;
}

static int fold_of(const ompp_profile_t *profile, uint32_t outer, uint32_t inner)
{
    const ompp_region_t *p = &profile->regions[outer], *c = &profile->regions[inner];

    if (p->construct != OMPP_CONSTRUCT_PARALLEL || p->file == 0 || p->begin == 0) return -1;
    if (p->file != c->file || p->begin != c->begin) return -1;
    for (size_t i = 0; i < sizeof folds / sizeof folds[0]; i++)
        if (folds[i].inner == c->construct) return (int)i;
    return -1;
}

/* Executed at most once per execution of the parallel region, on every location, and inside its body. */
static bool can_fold(const ompp_profile_t *profile, uint32_t parent, uint32_t child)
{
    unsigned body = ompp_value_index(ompp_phase_slot(OMPP_CONSTRUCT_PARALLEL, OMPP_PHASE_BODY), 0);
    const ompp_node_t *node = &profile->nodes[child];
    uint32_t construct = profile->regions[node->region].construct;

    for (uint32_t i = 0; i < node->nblocks; i++) {
        const ompp_block_t *block = &node->blocks[i];
        if (block->set != OMPP_SET_PHASES || block->object != 0) continue;
        const uint64_t *p = phases_of(profile, parent, block->location);
        uint64_t total = total_time(block->values, construct);
        if (!p || block->values[0] > p[0]) return false;
        if (total > p[body + OMPP_SLOT_TIME] || total > p[body + OMPP_SLOT_CHILD]) return false;
    }
    return true;
}

/*
 * inner[r]: the one region that region r is folded with; OMPP_NONE when there is none. A region that is met with two
 * candidates, or on one path in a way that cannot be folded, is left as it is on all paths.
 */
static void choose_folds(const ompp_profile_t *profile, uint32_t *inner, bool *refused)
{
    for (uint32_t i = 1; i < profile->nnodes; i++) {
        const ompp_node_t *node = &profile->nodes[i];
        uint32_t outer = profile->nodes[node->parent].region;
        if (outer >= profile->nregions || node->region >= profile->nregions) continue;
        if (fold_of(profile, outer, node->region) < 0) continue;
        if (inner[outer] != OMPP_NONE && inner[outer] != node->region) refused[outer] = true;
        if (!can_fold(profile, node->parent, i)) refused[outer] = true;
        inner[outer] = node->region;
    }
    for (size_t r = 0; r < profile->nregions; r++)
        if (refused[r]) inner[r] = OMPP_NONE;
}

static void add_phase(uint64_t *to, unsigned slot, const uint64_t *from, unsigned from_slot, uint64_t less,
                      bool with_count)
{
    const uint64_t *phase = from + ompp_value_index(from_slot, 0);
    uint64_t *sum = to + ompp_value_index(slot, 0);

    sum[OMPP_SLOT_TIME] += phase[OMPP_SLOT_TIME] - less;
    sum[OMPP_SLOT_CHILD] += phase[OMPP_SLOT_CHILD] - less;
    sum[OMPP_SLOT_TASK] += phase[OMPP_SLOT_TASK];
    if (with_count) sum[OMPP_SLOT_COUNT] += phase[OMPP_SLOT_COUNT];
}

/* P's values of one location in the shape of the combined construct, with C's (NULL = none) added. Owned. */
static uint64_t *folded_values(const uint64_t *p, const uint64_t *c, uint32_t inner, uint32_t combined)
{
    const ompp_construct_row_t *outer_row = &ompp_constructs[OMPP_CONSTRUCT_PARALLEL],
                               *inner_row = &ompp_constructs[inner];
    unsigned work = ompp_phase_slot(combined, inner_row->phases[0]);
    uint64_t *f = calloc(ompp_phase_values(combined), sizeof *f), less = c ? total_time(c, inner) : 0;

    if (!f) return NULL;
    f[0] = p[0];
    for (unsigned s = 0; s < outer_row->nphases; s++) {
        bool body = outer_row->phases[s] == OMPP_PHASE_BODY;
        add_phase(f, body ? work : ompp_phase_slot(combined, outer_row->phases[s]), p, s, body ? less : 0, true);
    }
    for (unsigned s = 0; c && s < inner_row->nphases; s++)
        add_phase(f, ompp_phase_slot(combined, inner_row->phases[s]), c, s, 0, s > 0);
    return f;
}

/* Turns a PARALLEL node into the combined construct; child: the node of the inner one, OMPP_NONE = not executed
 * here. */
static void fold_node(ompp_profile_t *profile, uint32_t parent, uint32_t child, uint32_t inner, uint32_t combined)
{
    ompp_node_t *node = &profile->nodes[parent];

    for (uint32_t i = 0; i < node->nblocks; i++) {
        ompp_block_t *block = &node->blocks[i];
        if (block->set != OMPP_SET_PHASES || block->object != 0) continue;
        const uint64_t *c = child == OMPP_NONE ? NULL : phases_of(profile, child, block->location);
        uint64_t *values = folded_values(block->values, c, inner, combined);
        if (!values) {
            profile->failed = true;
            return;
        }
        free(block->values);
        block->values = values;
        block->nvalues = ompp_phase_values(combined);
    }
    if (child == OMPP_NONE) return;
    for (uint32_t i = 0; i < profile->nodes[child].nblocks; i++)
        if (profile->nodes[child].blocks[i].set != OMPP_SET_PHASES || profile->nodes[child].blocks[i].object != 0)
            ompp_node_add(profile, parent, &profile->nodes[child].blocks[i]);
}

/* Folds every node of the chosen regions; skip[i]: node i has gone into its parent. */
static void fold_nodes(ompp_profile_t *profile, const uint32_t *inner, uint32_t *child_of, bool *skip)
{
    for (uint32_t i = 1; i < profile->nnodes; i++) {
        uint32_t parent = profile->nodes[i].parent, outer = profile->nodes[parent].region;
        child_of[i] = OMPP_NONE;
        if (outer >= profile->nregions || profile->nodes[i].region != inner[outer]) continue;
        child_of[parent] = i;
        skip[i] = true;
    }
    for (uint32_t i = 1; i < profile->nnodes; i++) {
        uint32_t region = profile->nodes[i].region;
        if (region >= profile->nregions || inner[region] == OMPP_NONE) continue;
        int fold = fold_of(profile, region, inner[region]);
        fold_node(profile, i, child_of[i], folds[fold].inner, folds[fold].combined);
    }
}

/* Gives folded regions their construct and drops inner ones that no node is left of. */
static void fold_regions(ompp_profile_t *profile, const uint32_t *inner, uint32_t *map)
{
    for (uint32_t i = 0; i < profile->nregions; i++) map[i] = i;
    for (uint32_t i = 0; i < profile->nregions; i++) {
        if (inner[i] == OMPP_NONE) continue;
        map[inner[i]] = OMPP_NONE;
        profile->regions[i].construct = folds[fold_of(profile, i, inner[i])].combined;
        profile->regions[i].iterations = profile->regions[inner[i]].iterations;
    }
    for (size_t i = 0; i < profile->nnodes; i++)
        if (profile->nodes[i].region < profile->nregions) map[profile->nodes[i].region] = profile->nodes[i].region;
    compact_regions(profile, map);
}

static int fold(ompp_profile_t *profile)
{
    size_t nregions = profile->nregions + 1, nnodes = profile->nnodes;
    uint32_t *inner = malloc(nregions * sizeof *inner), *map = malloc(nregions * sizeof *map);
    bool *refused = calloc(nregions, sizeof *refused), *skip = calloc(nnodes, sizeof *skip);
    uint32_t *child_of = malloc(nnodes * sizeof *child_of);
    int rc = inner && map && refused && skip && child_of ? 0 : -OMPP_E_NOMEM;

    if (rc == 0) {
        for (size_t i = 0; i < nregions; i++) inner[i] = OMPP_NONE;
        choose_folds(profile, inner, refused);
        fold_nodes(profile, inner, child_of, skip);
        rc = profile->failed ? -OMPP_E_NOMEM : unify_nodes(profile, skip);
        if (rc == 0) fold_regions(profile, inner, map);
    }
    free(inner);
    free(map);
    free(refused);
    free(skip);
    free(child_of);
    return rc;
}

/* ---- What is no region of its own -------------------------------------------------------------------------------- */

#define UNWANTED (OMPP_REGION_F_OUTLINED | OMPP_REGION_F_QUIET)

/* Whether two paths may be the same file: one is the end of the other. */
static bool same_file(const char *a, size_t na, const char *b)
{
    size_t nb = strlen(b), n = na < nb ? na : nb;

    if (n == 0 || memcmp(a + na - n, b + nb - n, n) != 0) return false;
    return na == nb || (na > nb ? a[na - n - 1] : b[nb - n - 1]) == '/' || (na > nb ? b[0] : a[0]) == '/';
}

/* Constructs between noinstrument and instrument: all but parallel regions, tasks, and what is not OpenMP's. */
static bool can_be_quiet(uint32_t construct)
{
    static const uint8_t always[] = {OMPP_CONSTRUCT_USER_REGION, OMPP_CONSTRUCT_MPI,   OMPP_CONSTRUCT_LOCK,
                                     OMPP_CONSTRUCT_TASK,        OMPP_CONSTRUCT_UTASK, OMPP_CONSTRUCT_TASKEXEC,
                                     OMPP_CONSTRUCT_UTASKEXEC};

    return !memchr(always, (int)construct, sizeof always) && !ompp_construct_forks((ompp_construct_t)construct);
}

/* "path:first:last". OPARI2 has left these constructs alone; OMPT sees them. */
static void mark_quiet(ompp_profile_t *profile, const char *part)
{
    const char *last = strrchr(part, ':'), *first = last ? memrchr(part, ':', (size_t)(last - part)) : NULL;

    if (!first) return;
    const unsigned long begin = strtoul(first + 1, NULL, 10), end = strtoul(last + 1, NULL, 10);
    for (size_t i = 0; i < profile->nregions; i++) {
        ompp_region_t *region = &profile->regions[i];
        if (region->begin < begin || region->begin > end) continue;
        if (can_be_quiet(region->construct) &&
            same_file(part, (size_t)(first - part), ompp_profile_text(profile, region->file)))
            region->flags |= OMPP_REGION_F_QUIET;
    }
}

static bool is_unwanted(const ompp_profile_t *profile, uint32_t node)
{
    uint32_t region = profile->nodes[node].region;

    return region < profile->nregions && profile->regions[region].flags & UNWANTED;
}

/* What is below a node. */
typedef enum { NOTHING, SOMETHING, C_LIBRARY } below_t;

/*
 * What calls main(), or a thread's first function: every path begins with it. Not where it calls nothing that is known,
 * nor where samples have met it. The entry of a stripped program has no name, but calls the C library, as no other
 * function does that begins a path.
 */
static bool is_start(const ompp_profile_t *profile, uint32_t node, const bool *skip, below_t below)
{
    const uint32_t parent = profile->nodes[node].parent;
    const ompp_region_t *region = &profile->regions[profile->nodes[node].region];

    return (parent == 0 || skip[parent]) && below != NOTHING && region->construct == OMPP_CONSTRUCT_FUNCTION &&
           (ompp_code_is_start(profile, region) ||
            (parent == 0 && below == C_LIBRARY && !region->name && region->module < profile->nmodules));
}

/* Slot of a node's phase that the time of a child was spent in: that of its work, if it has had so much for its
 * children. */
static unsigned slot_with_child(const uint64_t *values, uint32_t construct, uint64_t time)
{
    unsigned body = ompp_phase_slot(construct, OMPP_PHASE_BODY), best = body == OMPP_NO_SLOT ? 0 : body;

    for (unsigned s = 0;
         s < ompp_constructs[construct].nphases && values[ompp_value_index(best, OMPP_SLOT_CHILD)] < time; s++)
        best = s;
    return best;
}

/* What a node had of its own, and its tasks, becomes its parent's; what its children had stays theirs. */
static void give_to_parent(ompp_profile_t *profile, uint32_t parent, const ompp_node_t *node)
{
    uint32_t region = profile->nodes[parent].region;

    if (region >= profile->nregions) return;
    uint32_t construct = profile->regions[region].construct;
    for (uint32_t i = 0; i < node->nblocks; i++) {
        const ompp_block_t *block = &node->blocks[i];
        bool phases = block->set == OMPP_SET_PHASES && block->object == 0;
        ompp_block_t *to =
            (ompp_block_t *)ompp_profile_find_block(profile, parent, block->location, block->set, block->object);
        if (!phases) {
            ompp_node_add(profile, parent, block);
        } else if (to) {
            uint64_t own[OMPP_SLOT_NUM] = {0};
            for (uint32_t v = ompp_value_index(0, 0); v < block->nvalues; v++)
                own[(v - 1) % OMPP_SLOT_NUM] += block->values[v];
            unsigned slot = slot_with_child(to->values, construct, own[OMPP_SLOT_TIME]);
            to->values[ompp_value_index(slot, OMPP_SLOT_CHILD)] -= own[OMPP_SLOT_TIME] - own[OMPP_SLOT_CHILD];
            to->values[ompp_value_index(slot, OMPP_SLOT_TASK)] += own[OMPP_SLOT_TASK];
        }
    }
}

/*
 * With -finstrument-functions clang instruments the functions it makes of the bodies of constructs, too. They are no
 * functions of the program: their children become children of the construct. So do those of constructs that are not to
 * be measured.
 */
static int dissolve_unwanted(ompp_profile_t *profile)
{
    uint32_t *map = malloc((profile->nregions + 1) * sizeof *map), *parent = malloc(profile->nnodes * sizeof *parent);
    bool *skip = calloc(profile->nnodes, sizeof *skip);
    below_t *below = calloc(profile->nnodes, sizeof *below);
    bool any = false;
    int rc = map && parent && skip && below ? 0 : -OMPP_E_NOMEM;

    for (uint32_t i = 1; rc == 0 && i < profile->nnodes; i++) {
        const ompp_region_t *region = &profile->regions[profile->nodes[i].region];
        if (ompp_construct_is_part(region->construct)) continue;
        const bool is_c = ompp_code_owner(profile, region) == OMPP_CODE_C_LIBRARY;
        below_t *b = &below[profile->nodes[i].parent];
        *b = is_c && *b != SOMETHING ? C_LIBRARY : SOMETHING;
    }

    for (uint32_t i = 1; rc == 0 && i < profile->nnodes; i++) {
        parent[i] = profile->nodes[i].parent;
        if (skip[parent[i]]) parent[i] = parent[parent[i]];
        skip[i] = is_unwanted(profile, i) || is_start(profile, i, skip, below[i]);
        any = any || skip[i];
        if (skip[i]) give_to_parent(profile, parent[i], &profile->nodes[i]);
    }
    if (any) rc = unify_nodes(profile, skip);
    for (uint32_t i = 0; any && i < profile->nregions; i++)
        map[i] = profile->regions[i].flags & UNWANTED ? OMPP_NONE : i;
    if (any) compact_regions(profile, map);
    free(map);
    free(parent);
    free(skip);
    free(below);
    return rc;
}

/* A function without a name, as in a stripped library, is told by its place in the file. */
static void name_nameless(ompp_profile_t *profile)
{
    char text[400];

    for (size_t i = 0; i < profile->nregions; i++) {
        ompp_region_t *region = &profile->regions[i];
        if (region->construct != OMPP_CONSTRUCT_FUNCTION || region->name || region->module >= profile->nmodules)
            continue;
        snprintf(text, sizeof text, "%.300s (function at 0x%" PRIx64 ")",
                 ompp_path_last(ompp_profile_text(profile, profile->modules[region->module].path)), region->addr);
        region->name = region->function = ompp_profile_string(profile, text);
    }
}

/* Sources that know lines alone: the call path has the function. A loop's function is the one around it. */
static void name_functions(ompp_profile_t *profile)
{
    name_nameless(profile);
    for (size_t i = 1; i < profile->nnodes; i++) {
        const uint32_t parent = profile->nodes[i].parent;
        ompp_region_t *region = &profile->regions[profile->nodes[i].region];
        const bool loop = region->construct == OMPP_CONSTRUCT_SOURCE_LOOP;
        if (region->function || !parent || (ompp_construct_is_path(region->construct) && !loop)) continue;
        const ompp_region_t *above = &profile->regions[profile->nodes[parent].region];
        if (above->construct == OMPP_CONSTRUCT_FUNCTION || above->construct == OMPP_CONSTRUCT_INLINED)
            region->function = above->name;
        else if (above->construct == OMPP_CONSTRUCT_SOURCE_LOOP) region->function = above->function;
    }
}

int ompp_analysis_unify(ompp_profile_t *profile)
{
    int rc = ompp_analysis_gather_locks(profile);

    if (rc == 0) rc = unify_regions(profile);
    if (rc == 0) rc = unify_nodes(profile, NULL);
    for (size_t i = 0; rc == 0 && i < profile->ncoverage; i++)
        if (profile->coverage[i].kind == OMPP_COVERAGE_QUIET)
            mark_quiet(profile, ompp_profile_text(profile, profile->coverage[i].subject));
    if (rc == 0) rc = dissolve_unwanted(profile);
    if (rc == 0) name_functions(profile);
    return rc == 0 ? fold(profile) : rc;
}
