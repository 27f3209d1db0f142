#include "model/ompp_collect.h"

#include "base/ompp_error.h"
#include "base/ompp_proc.h"
#include "model/ompp_combine_priv.h"
#include "model/ompp_layout.h"
#include "model/ompp_merge.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_RECORDS 10000000u /* of one list: a damaged file must not keep us for ever */

/* What one call works on. */
typedef struct {
    const char *base;
    uint64_t size, t;
    ompp_end_t end;
    ompp_profile_t *profile;
    uint32_t nregions, nmodules;
    uint32_t *region_of; /* [nregions]: index in the arena -> in the profile */
    uint32_t *module_of; /* [nmodules] */
    /* Union of the threads' trees: (parent, region) of the profile -> node; open addressing, OMPP_NONE = free. */
    struct {
        uint32_t parent, region, node;
    } *tree;
    uint32_t tree_size, tree_used;
    /* Of the thread being copied: arena node -> profile node; open addressing, 0 = free. */
    struct {
        ompp_off_t off;
        uint32_t node;
    } *map;
    uint32_t map_size;
    ompp_metric_list_t metrics;
} collect_t;

/* A record of at least size bytes at off; NULL when it does not lie in the arena. */
static const void *record(const collect_t *c, ompp_off_t off, uint64_t size)
{
    return off && off % 8 == 0 && off <= c->size && size <= c->size - off ? c->base + off : NULL;
}

/* More a list cannot have: one that runs in a circle ends. */
static uint32_t most_records(const collect_t *c)
{
    uint64_t most = c->size / (2 * sizeof(uint64_t));

    return most < MAX_RECORDS ? (uint32_t)most : MAX_RECORDS;
}

static const char *text(const collect_t *c, ompp_off_t off)
{
    const ompp_a_string_t *s = record(c, off, sizeof *s);

    if (!s || !record(c, off, sizeof *s + (uint64_t)s->length + 1) || s->text[s->length] != '\0') return "";
    return s->text;
}

static ompp_str_t string(collect_t *c, ompp_off_t off)
{
    return ompp_profile_string(c->profile, text(c, off));
}

static uint64_t load(const _Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_acquire);
}

static ompp_off_t follow(const ompp_link_t *link)
{
    return atomic_load_explicit(link, memory_order_acquire);
}

/* ---- Definitions ---------------------------------------------------------------------------------------------------- */

static bool copy_modules(collect_t *c, ompp_off_t first)
{
    const ompp_a_module_t *m = record(c, first, sizeof *m);

    c->nmodules = m ? m->index + 1 : 0;
    if (c->nmodules > MAX_RECORDS) return false;
    c->module_of = malloc((c->nmodules + 1) * sizeof *c->module_of);
    if (!c->module_of) return false;
    for (uint32_t i = 0; i < c->nmodules; i++) c->module_of[i] = OMPP_NONE;
    for (uint32_t n = 0; m && n < c->nmodules; n++, m = record(c, m->next, sizeof *m)) {
        ompp_module_t module = {string(c, m->path), string(c, m->id), m->base};
        if (m->index < c->nmodules) c->module_of[m->index] = ompp_profile_add_module(c->profile, &module);
    }
    return true;
}

static void copy_region(collect_t *c, const ompp_a_region_t *r)
{
    const ompp_a_module_t *m = record(c, r->module, sizeof *m);
    ompp_region_t region = {.construct = r->construct,
                            .flags = r->flags,
                            .file = string(c, r->file),
                            .name = string(c, r->name),
                            .begin = r->begin,
                            .end = r->end,
                            .module = m && m->index < c->nmodules ? c->module_of[m->index] : OMPP_NONE,
                            .addr = r->addr,
                            .addr_end = load(&r->addr_end),
                            .key = r->key,
                            .number = OMPP_NONE};

    if (r->index < c->nregions && r->construct < OMPP_CONSTRUCT_NUM)
        c->region_of[r->index] = ompp_profile_add_region(c->profile, &region);
}

static bool copy_regions(collect_t *c, ompp_off_t first)
{
    const ompp_a_region_t *r = record(c, first, sizeof *r);

    c->nregions = r ? r->index + 1 : 0;
    if (c->nregions > MAX_RECORDS) return false;
    c->region_of = malloc((c->nregions + 1) * sizeof *c->region_of);
    if (!c->region_of) return false;
    for (uint32_t i = 0; i < c->nregions; i++) c->region_of[i] = OMPP_NONE;
    for (uint32_t n = 0; r && n < c->nregions; n++, r = record(c, r->next, sizeof *r)) copy_region(c, r);
    return true;
}

/* Lists are newest first, and their records begin with the link. \return [n], oldest first, free(); NULL when there are none. */
static const void **oldest_first(const collect_t *c, ompp_off_t first, size_t size, uint32_t *n)
{
    const ompp_off_t *r;
    const void **sorted;
    uint32_t k;

    for (*n = 0, r = record(c, first, size); r && *n < most_records(c); r = record(c, *r, size)) ++*n;
    sorted = *n ? malloc(*n * sizeof *sorted) : NULL;
    if (!sorted) *n = 0;
    for (k = *n, r = record(c, first, size); k > 0; r = record(c, *r, size)) sorted[--k] = r;
    return sorted;
}

/* The profile has the metrics of a set in the order of their indices. */
static void copy_metrics(collect_t *c, ompp_off_t first)
{
    uint32_t n;
    const void **sorted = oldest_first(c, first, sizeof(ompp_a_metric_t), &n);

    for (uint32_t i = 0; i < n; i++) {
        const ompp_a_metric_t *m = sorted[i];
        ompp_metric_t metric = {string(c, m->name), string(c, m->source), string(c, m->meaning), m->set,          m->index,
                                m->unit,            m->quality,           m->reduce_threads,     m->reduce_ranks, m->use};
        ompp_profile_add_metric(c->profile, &metric);
    }
    free(sorted);
}

static void copy_object(collect_t *c, const ompp_a_object_t *o, uint32_t rank)
{
    ompp_object_t object = {.name = string(c, o->name),
                            .origin = string(c, o->origin),
                            .address = o->address,
                            .size = o->size,
                            .start_offset = load(&o->start_offset),
                            .end_offset = load(&o->end_offset),
                            .nranges = atomic_load_explicit(&o->nranges, memory_order_relaxed),
                            .rank = rank};

    ompp_profile_add_object(c->profile, &object);
}

/* The list is newest first, ids count from 1 in order of registration; one that is missing (a damaged file) ends the table. */
static void copy_objects(collect_t *c, ompp_off_t first, uint32_t rank)
{
    const ompp_a_object_t *newest = record(c, first, sizeof *newest), *o = newest;
    uint32_t n = newest && newest->id < most_records(c) ? newest->id : 0, steps = n;
    const ompp_a_object_t **by_id = n ? calloc(n, sizeof *by_id) : NULL;

    for (; by_id && o && steps-- > 0; o = record(c, o->next, sizeof *o))
        if (o->id - 1 < n) by_id[o->id - 1] = o;
    for (uint32_t i = 0; by_id && i < n && by_id[i]; i++) copy_object(c, by_id[i], rank);
    free(by_id);
}

static void copy_coverage(collect_t *c, ompp_off_t first)
{
    const ompp_a_coverage_t *v = record(c, first, sizeof *v);

    for (uint32_t n = 0; v && n < most_records(c); n++, v = record(c, v->next, sizeof *v))
        if (v->kind < OMPP_COVERAGE_NUM)
            ompp_profile_add_coverage(c->profile, v->kind, text(c, v->subject), text(c, v->reason), v->count);
}

/* The list is newest first. */
static void copy_settings(collect_t *c, ompp_off_t first)
{
    uint32_t n;
    const void **sorted = oldest_first(c, first, sizeof(ompp_a_setting_t), &n);

    for (uint32_t i = 0; i < n; i++) {
        const ompp_a_setting_t *s = sorted[i];
        ompp_profile_add_setting(c->profile, text(c, s->name), text(c, s->value));
    }
    free(sorted);
}

/* ---- Causal profile ------------------------------------------------------------------------------------------------- */

/* A region's results as they were at one moment, if the thread that writes them lets us. */
static void copy_whatif_region(collect_t *c, const ompp_a_whatif_region_t *w)
{
    const ompp_a_region_t *r = record(c, w->region, sizeof *r);
    ompp_whatif_region_t result;

    for (unsigned tries = 0; tries < 1000; tries++) {
        const uint32_t before = atomic_load_explicit(&w->sequence, memory_order_acquire);
        result = w->result;
        atomic_thread_fence(memory_order_acquire);
        if (!(before & 1) && before == atomic_load_explicit(&w->sequence, memory_order_relaxed)) break;
    }
    result.region = r && r->index < c->nregions ? c->region_of[r->index] : OMPP_NONE;
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
        if (result.clocks[k].nblocks > OMPP_WHATIF_BLOCKS) result.clocks[k].nblocks = OMPP_WHATIF_BLOCKS;
    if (result.region != OMPP_NONE || !w->region) ompp_profile_add_whatif_region(c->profile, &result);
}

static void copy_whatif_point(collect_t *c, const ompp_a_whatif_point_t *w)
{
    const ompp_a_region_t *r = record(c, w->region, sizeof *r);
    ompp_whatif_point_t point = {.name = string(c, w->name),
                                 .kind = w->kind,
                                 .automatic = w->automatic,
                                 .region = r && r->index < c->nregions ? c->region_of[r->index] : OMPP_NONE,
                                 .visits = load(&w->visits),
                                 .begins = load(&w->begins),
                                 .in_flight_ns = load(&w->in_flight_ns)};

    if (point.kind <= OMPP_WHATIF_LATENCY) ompp_profile_add_whatif_point(c->profile, &point);
}

static void copy_whatif(collect_t *c, ompp_off_t off, uint64_t duration_ns)
{
    const ompp_a_whatif_t *w = record(c, off, sizeof *w);
    ompp_whatif_t *to = &c->profile->whatif;

    if (!w || w->mode >= OMPP_WHATIF_MODE_NUM) return;
    to->mode = w->mode;
    to->why = string(c, atomic_load_explicit(&w->why, memory_order_acquire));
    to->time_ns = duration_ns;
    to->paid_ns = load(&w->paid_ns);
    to->events = load(&w->events);
    to->cost_ns = load(&w->cost_ns);
    to->lost = load(&w->lost);
    to->worked_ns = load(&w->worked_ns);
    to->outside_ns = load(&w->outside_ns);
    const ompp_a_whatif_region_t *r = record(c, follow(&w->regions), sizeof *r);
    for (uint32_t n = 0; r && n < most_records(c); n++, r = record(c, r->next, sizeof *r)) copy_whatif_region(c, r);
    const ompp_a_whatif_point_t *p = record(c, follow(&w->points), sizeof *p);
    for (uint32_t n = 0; p && n < most_records(c); n++, p = record(c, p->next, sizeof *p)) copy_whatif_point(c, p);
}

/* ---- Trees ---------------------------------------------------------------------------------------------------------- */

static uint32_t hash(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u >> 32);
}

static bool tree_grow(collect_t *c)
{
    uint32_t size = c->tree_size ? 2 * c->tree_size : 256, old = c->tree_size;
    __typeof__(c->tree) bigger = malloc(size * sizeof *bigger);

    if (!bigger) return false;
    for (uint32_t i = 0; i < size; i++) bigger[i].node = OMPP_NONE;
    for (uint32_t k = 0; k < old; k++) {
        if (c->tree[k].node == OMPP_NONE) continue;
        uint32_t i = hash(c->tree[k].parent, c->tree[k].region);
        while (bigger[i & (size - 1)].node != OMPP_NONE) i++;
        bigger[i & (size - 1)] = c->tree[k];
    }
    free(c->tree);
    c->tree = bigger;
    c->tree_size = size;
    return true;
}

/* The profile's node for (parent, region), made when missing. */
static uint32_t union_node(collect_t *c, uint32_t parent, uint32_t region, uint64_t first_ns, uint32_t rank)
{
    uint32_t i = hash(parent, region);

    if (c->tree_size < 2 * (c->tree_used + 1) && !tree_grow(c)) return OMPP_NONE;
    for (;; i++) {
        uint32_t k = i & (c->tree_size - 1);
        if (c->tree[k].node == OMPP_NONE) {
            c->tree[k].parent = parent;
            c->tree[k].region = region;
            c->tree[k].node = ompp_profile_add_node(c->profile, region, parent, first_ns, rank);
            c->tree_used++;
            return c->tree[k].node;
        }
        if (c->tree[k].parent == parent && c->tree[k].region == region) {
            ompp_node_t *node = &c->profile->nodes[c->tree[k].node];
            if (first_ns < node->first_ns) node->first_ns = first_ns;
            return c->tree[k].node;
        }
    }
}

static uint32_t mapped(const collect_t *c, ompp_off_t off)
{
    for (uint32_t i = hash(off, 0); c->map_size; i++) {
        uint32_t k = i & (c->map_size - 1);
        if (c->map[k].off == off) return c->map[k].node;
        if (c->map[k].off == 0) break;
    }
    return OMPP_NONE;
}

static void set_mapped(collect_t *c, ompp_off_t off, uint32_t node)
{
    uint32_t i = hash(off, 0);

    while (c->map[i & (c->map_size - 1)].off) i++;
    c->map[i & (c->map_size - 1)].off = off;
    c->map[i & (c->map_size - 1)].node = node;
}

static bool make_map(collect_t *c, uint32_t nnodes)
{
    c->map_size = 64;
    while (c->map_size < 2 * (size_t)nnodes) c->map_size *= 2;
    free(c->map);
    c->map = calloc(c->map_size, sizeof *c->map);
    return c->map != NULL;
}

/* Records of one place become one (copy_threads), each metric by its reduction: the shortest task of both is no sum. */
static void put_block(collect_t *c, uint32_t node, uint32_t location, uint32_t set, uint32_t object, const uint64_t *from, uint32_t n)
{
    const bool another = ompp_profile_find_block(c->profile, node, location, set, object) != NULL;
    uint64_t *to = ompp_profile_block(c->profile, node, location, set, object, n);

    if (to && another) ompp_combine(&c->metrics, set, OMPP_OVER_THREADS, to, from, n);
    else if (to) memcpy(to, from, n * sizeof *to);
}

/* A chain is newest first; the first ones first are already nearly in the order that the profile has them in. */
static void copy_blocks(collect_t *c, const ompp_a_block_t *newest, uint32_t node, uint32_t location)
{
    const ompp_a_block_t *b = newest, **blocks;
    uint32_t n = 0, most = most_records(c);

    while (b && n < most &&
           record(c, (ompp_off_t)((const char *)b - c->base), sizeof *b + b->nvalues * sizeof b->values[0])) {
        n++;
        b = record(c, b->next, sizeof *b);
    }
    blocks = n ? malloc(n * sizeof *blocks) : NULL;
    b = newest;
    for (uint32_t i = n; blocks && i-- > 0; b = record(c, b->next, sizeof *b)) blocks[i] = b;
    for (uint32_t i = 0; blocks && i < n; i++)
        if (blocks[i]->object <= c->profile->nobjects)
            put_block(c, node, location, blocks[i]->set, blocks[i]->object, blocks[i]->values, blocks[i]->nvalues);
    free(blocks);
}

static void copy_values(collect_t *c, const ompp_a_node_t *n, uint32_t node, uint32_t location)
{
    const ompp_a_block_t *b = record(c, follow(&n->sets), sizeof *b);

    if (n->region && n->construct < OMPP_CONSTRUCT_NUM && n->nphases == ompp_constructs[n->construct].nphases) {
        uint32_t nvalues = ompp_phase_values(n->construct);
        bool any = false;
        const uint64_t *from = &n->visits;
        for (uint32_t i = 0; i < nvalues; i++) any |= from[i] != 0;
        if (any) put_block(c, node, location, OMPP_SET_PHASES, 0, from, nvalues);
    }
    copy_blocks(c, b, node, location);
}

/* Copies the thread's nodes, parents first: the list is newest first, and a node is newer than its parent. */
static bool copy_tree(collect_t *c, const ompp_a_thread_t *thread, uint32_t location, uint32_t rank)
{
    ompp_off_t *nodes = NULL;
    uint32_t n = 0, allocated = 0;

    for (ompp_off_t off = follow(&thread->nodes); off && n < most_records(c);) {
        const ompp_a_node_t *node = record(c, off, sizeof *node);
        if (!node || !record(c, off, sizeof *node + node->nphases * sizeof node->slot[0])) break;
        if (n == allocated) {
            allocated = allocated ? 2 * allocated : 256;
            ompp_off_t *bigger = realloc(nodes, allocated * sizeof *nodes);
            if (!bigger) {
                free(nodes);
                return false;
            }
            nodes = bigger;
        }
        nodes[n++] = off;
        off = node->next;
    }
    if (!make_map(c, n)) {
        free(nodes);
        return false;
    }
    while (n > 0) {
        const ompp_a_node_t *a = (const ompp_a_node_t *)(c->base + nodes[--n]);
        const ompp_a_region_t *r = record(c, a->region, sizeof *r);
        uint32_t parent = mapped(c, a->parent), node = OMPP_NONE;
        if (mapped(c, nodes[n]) != OMPP_NONE) continue; /* a damaged list that runs in a circle */
        if (a->region == 0)
            node = 0;
        else if (r && r->index < c->nregions && c->region_of[r->index] != OMPP_NONE && parent != OMPP_NONE)
            node = union_node(c, parent, c->region_of[r->index], a->first_ns, rank);
        if (node == OMPP_NONE) continue;
        set_mapped(c, nodes[n], node);
        copy_values(c, a, node, location);
    }
    free(nodes);
    return true;
}

/* ---- Open frames ---------------------------------------------------------------------------------------------------- */

/* Values of the frame's node on this thread in the profile, with the number of slots; NULL when there are none (root). */
static uint64_t *values_of(collect_t *c, const ompp_a_frame_t *frame, uint32_t location)
{
    const ompp_a_node_t *n = record(c, frame->node, sizeof *n);
    uint32_t node = mapped(c, frame->node);

    if (!n || node == OMPP_NONE || n->region == 0 || n->construct >= OMPP_CONSTRUCT_NUM ||
        frame->slot >= ompp_constructs[n->construct].nphases)
        return NULL;
    return ompp_profile_block(c->profile, node, location, OMPP_SET_PHASES, 0, ompp_phase_values(n->construct));
}

/* When an open frame has to end at the latest: now, or the join of its team. */
static uint64_t limit_of(const collect_t *c, const ompp_a_frame_t *frame, uint64_t limit)
{
    const ompp_a_team_t *team = frame->flags & OMPP_FRAME_F_TEAM ? record(c, frame->team, sizeof *team) : NULL;
    uint64_t join = team ? load(&team->join) : 0;

    if (frame->flags & OMPP_FRAME_F_ENDED && frame->stamp < limit) limit = frame->stamp;
    return join && join < limit && join >= frame->enter ? join : limit;
}

/* A region that the user has named, and that is open at the end: its end may have been forgotten. */
static void note_open(collect_t *c, const ompp_a_frame_t *frame)
{
    const ompp_a_node_t *node = (const ompp_a_node_t *)(c->base + frame->node);
    const ompp_a_region_t *r = record(c, node->region, sizeof *r);

    if (c->end == OMPP_END_FINAL && r && r->construct == OMPP_CONSTRUCT_USER_REGION && !(r->flags & OMPP_REGION_F_FUNCTION))
        ompp_profile_add_coverage(c->profile, OMPP_COVERAGE_NOTE, "user region open at the end of the program", text(c, r->name), 1);
}

/* Adds to the copied values what the frames of one stack have not booked yet. */
static void close_stack(collect_t *c, const ompp_a_stack_t *stack, uint32_t top, uint32_t location, uint64_t limit)
{
    uint64_t *below = NULL;
    unsigned below_slot = 0;

    for (uint32_t i = 0; i <= top; i++) {
        const ompp_a_frame_t *frame = &stack->frames[i];
        uint64_t *values = values_of(c, frame, location);
        limit = limit_of(c, frame, limit);
        if (values) note_open(c, frame);
        if (values) {
            values[0] += 1 + (frame->flags & OMPP_FRAME_F_RECURSIVE ? frame->again : 0);
            if (limit > frame->stamp) values[ompp_value_index(frame->slot, OMPP_SLOT_TIME)] += limit - frame->stamp;
            if (below && limit > frame->enter + frame->credited)
                below[ompp_value_index(below_slot, OMPP_SLOT_CHILD)] += limit - frame->enter - frame->credited;
        }
        below = values;
        below_slot = frame->slot;
    }
}

static void close_frames(collect_t *c, const ompp_a_thread_t *thread, uint32_t location)
{
    uint64_t limit = thread->end_ns && thread->end_ns < c->t ? thread->end_ns : c->t;
    ompp_off_t off = follow(&thread->stack);
    uint64_t task_begin = 0, task_end = limit;

    for (uint32_t n = 0; off && n < most_records(c); n++) {
        const ompp_a_stack_t *stack = record(c, off, sizeof *stack);
        uint32_t top = stack ? __atomic_load_n(&stack->top, __ATOMIC_ACQUIRE) : 0;
        if (!stack || top >= stack->capacity || !record(c, off, sizeof *stack + (top + 1ull) * sizeof stack->frames[0])) return;
        /* The top frame of this stack was interrupted by the task above since task_begin. */
        bool suspended = task_begin && stack->explicit_task; /* such a task has no time since then */
        uint64_t *interrupted = task_begin && !suspended ? values_of(c, &stack->frames[top], location) : NULL;
        if (interrupted && task_end > task_begin)
            interrupted[ompp_value_index(stack->frames[top].slot, OMPP_SLOT_TASK)] += task_end - task_begin;
        uint64_t over = load(&stack->over); /* it ended then, and its thread does not know yet */
        task_end = over > 1 && over < limit ? over : limit;
        close_stack(c, stack, top, location, suspended && task_begin < task_end ? task_begin : task_end);
        task_begin = stack->explicit_task ? stack->begin : 0;
        off = stack->under;
    }
}

/* ---- Threads -------------------------------------------------------------------------------------------------------- */

/* Order in which threads get their numbers: initial, members of outermost teams by number, nested ones, others. */
static int by_role(const void *a, const void *b)
{
    const ompp_a_thread_t *x = *(const ompp_a_thread_t *const *)a, *y = *(const ompp_a_thread_t *const *)b;

    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->kind == OMPP_THREAD_TEAM && x->index != y->index) return x->index < y->index ? -1 : 1;
    return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

/* Name of a region, or of its type; NULL = there is none. */
static const char *name_of(const collect_t *c, ompp_off_t off)
{
    const ompp_a_region_t *r = record(c, off, sizeof *r);

    if (!r || r->construct >= OMPP_CONSTRUCT_NUM) return NULL;
    return *text(c, r->name) ? text(c, r->name) : ompp_constructs[r->construct].full;
}

static void note_losses(collect_t *c, const ompp_a_thread_t *t)
{
    if (t->dropped)
        ompp_profile_add_coverage(c->profile, OMPP_COVERAGE_DROPPED, "region entries", "memory for the profile is full: OMPP_MEMORY",
                                  t->dropped);
    if (t->deep)
        ompp_profile_add_coverage(c->profile, OMPP_COVERAGE_DROPPED, "region entries", "nested too deeply", t->deep);
    if (t->unclosed)
        ompp_profile_add_coverage(c->profile, OMPP_COVERAGE_MISMATCH, "regions ended by the end of an outer one",
                                  name_of(c, t->first_unclosed), t->unclosed);
    if (t->unopened)
        ompp_profile_add_coverage(c->profile, OMPP_COVERAGE_MISMATCH, "ends of regions that were not open",
                                  name_of(c, t->first_unopened), t->unopened);
    if (t->left) ompp_profile_add_coverage(c->profile, OMPP_COVERAGE_LEFT, NULL, NULL, t->left);
}

/* The next place's first record. A place has several where a dismissed thread had not ended when its successor came: one row. */
static uint32_t next_place(const ompp_a_thread_t *const *threads, uint32_t n, uint32_t i)
{
    uint32_t end = i + 1;
    bool beside = load(&threads[i]->beside) != 0;

    if (threads[i]->kind != OMPP_THREAD_TEAM) return end;
    for (; end < n && threads[end]->kind == OMPP_THREAD_TEAM && threads[end]->index == threads[i]->index; end++)
        beside |= load(&threads[end]->beside) != 0;
    return beside ? i + 1 : end;
}

static bool copy_place(collect_t *c, const ompp_a_thread_t *const *records, uint32_t n, uint32_t rank, uint32_t tid)
{
    ompp_location_t location = {rank, tid, records[0]->kind, UINT64_MAX, 0};
    bool ok = true;

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t end = records[i]->end_ns ? records[i]->end_ns : c->t;
        if (records[i]->begin_ns < location.begin_ns) location.begin_ns = records[i]->begin_ns;
        if (end > location.end_ns) location.end_ns = end;
    }
    const uint32_t index = ompp_profile_add_location(c->profile, &location);
    for (uint32_t i = 0; i < n && ok; i++) {
        ok = copy_tree(c, records[i], index, rank);
        if (ok) close_frames(c, records[i], index);
        note_losses(c, records[i]);
    }
    return ok;
}

static bool copy_threads(collect_t *c, ompp_off_t first, uint32_t rank, uint32_t *nthreads)
{
    const ompp_a_thread_t *t = record(c, first, sizeof *t);
    uint32_t n = 0, allocated = t ? t->ordinal + 1 : 0;
    bool ok = true;

    *nthreads = 0;
    if (allocated > MAX_RECORDS) return false;
    const ompp_a_thread_t **threads = malloc((allocated + 1) * sizeof *threads);
    if (!threads) return false;
    for (; t && allocated-- > 0; t = record(c, t->next, sizeof *t))
        if (t->kind <= OMPP_THREAD_OTHER) threads[n++] = t;
    qsort(threads, n, sizeof *threads, by_role);
    for (uint32_t i = 0, next; i < n && ok; i = next) {
        next = next_place(threads, n, i);
        ok = copy_place(c, &threads[i], next - i, rank, (*nthreads)++);
    }
    free(threads);
    return ok;
}

static bool copy_all(collect_t *c, const ompp_a_header_t *header, ompp_end_t end)
{
    ompp_profile_t *p = c->profile;
    uint32_t rank = header->rank < 0 ? 0 : (uint32_t)header->rank;
    ompp_rank_t r = {.rank = rank,
                     .pid = header->pid,
                     .end = end,
                     .host = string(c, header->host),
                     .clock = ompp_profile_string(p, header->tsc ? "tsc" : "clock_gettime"),
                     .job = string(c, follow(&header->job)),
                     .launch = string(c, header->launch),
                     .launcher_rank = header->launcher_rank < 0 ? OMPP_NONE : (uint32_t)header->launcher_rank,
                     .begin_epoch_ns = header->origin_epoch + header->begin_ns,
                     .duration_ns = c->t > header->begin_ns ? c->t - header->begin_ns : 0};

    p->app = string(c, header->app);
    p->source = string(c, header->source);
    p->version = string(c, header->version);
    p->build_date = string(c, header->built);
    if (*text(c, header->source)) ompp_profile_add_coverage(p, OMPP_COVERAGE_SOURCE, text(c, header->source), NULL, 1);
    p->mpi = header->rank >= 0;
    p->nranks = header->size;
    if (!copy_modules(c, follow(&header->modules)) || !copy_regions(c, follow(&header->regions))) return false;
    copy_settings(c, follow(&header->settings));
    copy_metrics(c, follow(&header->metrics));
    if (ompp_metric_list_init(&c->metrics, p) != 0) return false;
    copy_objects(c, follow(&header->objects), rank);
    if (!copy_threads(c, follow(&header->threads), rank, &r.nthreads)) return false;
    copy_coverage(c, follow(&header->coverage));
    copy_whatif(c, follow(&header->whatif), r.duration_ns);
    p->nslots = r.nthreads;
    ompp_profile_add_rank(p, &r);
    return !p->failed;
}

ompp_profile_t *ompp_collect(const char *base, uint64_t size, uint64_t t, ompp_end_t end)
{
    collect_t c = {.base = base, .size = size, .t = t, .end = end};
    const ompp_a_header_t *header = record(&c, OMPP_LAYOUT_HEADER, sizeof *header);

    if (!header || memcmp(header->magic, OMPP_LAYOUT_MAGIC, sizeof header->magic) != 0 ||
        header->layout != OMPP_LAYOUT_VERSION || header->endian != OMPP_LAYOUT_ENDIAN)
        return NULL;
    c.profile = ompp_profile_new();
    bool ok = c.profile && copy_all(&c, header, end);
    free(c.module_of);
    free(c.region_of);
    free(c.tree);
    free(c.map);
    ompp_metric_list_fini(&c.metrics);
    if (ok) return c.profile;
    ompp_profile_free(c.profile);
    return NULL;
}

/* ---- A process that died -------------------------------------------------------------------------------------------- */

static uint64_t latest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/*
 * Time of the last event of a thread: of its nodes, and of the phases that its open frames are in. The frame above the top one is
 * what was closed last, and still has the time of that.
 */
static uint64_t last_of(const collect_t *c, const ompp_a_thread_t *thread)
{
    uint64_t last = latest(thread->begin_ns, thread->end_ns);
    const ompp_a_node_t *node = record(c, follow(&thread->nodes), sizeof *node);
    ompp_off_t off = follow(&thread->stack);

    for (uint32_t n = 0; node && n < most_records(c); n++, node = record(c, node->next, sizeof *node)) last = latest(last, node->first_ns);
    for (uint32_t n = 0; off && n < most_records(c); n++) {
        const ompp_a_stack_t *stack = record(c, off, sizeof *stack);
        if (!stack || stack->top >= stack->capacity || !record(c, off, sizeof *stack + (stack->top + 1ull) * sizeof stack->frames[0]))
            break;
        uint32_t end = stack->top + 1;
        if (end < stack->capacity && record(c, off, sizeof *stack + (end + 1ull) * sizeof stack->frames[0])) end++;
        for (uint32_t i = 0; i < end; i++) last = latest(last, stack->frames[i].stamp);
        off = stack->under;
    }
    return last;
}

static uint64_t last_event(const collect_t *c, const ompp_a_header_t *header)
{
    uint64_t last = latest(header->begin_ns, header->end_ns);
    const ompp_a_thread_t *t = record(c, follow(&header->threads), sizeof *t);

    for (uint32_t n = 0; t && n < most_records(c); n++, t = record(c, t->next, sizeof *t)) last = latest(last, last_of(c, t));
    return last;
}

/* What is known of how it ended: said by itself, or nothing. */
static void note_end(const collect_t *c, const ompp_a_header_t *header, ompp_profile_t *profile)
{
    const char *said = text(c, follow(&header->why));
    char rank[16], why[300];

    snprintf(rank, sizeof rank, "%u", profile->ranks[0].rank);
    snprintf(why, sizeof why, "%.200s; its last event was %.3f s after its first",
             *said ? said : header->end_ns ? "the process ended while its report was made" : "the process died",
             1e-9 * (double)profile->ranks[0].duration_ns);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_INCOMPLETE, rank, why, 1);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_NOTE, "CPU time is not known of processes that died", NULL, 1);
}

static ompp_profile_t *collect_dead(const char *base, uint64_t size, bool *lives)
{
    collect_t c = {.base = base, .size = size};
    const ompp_a_header_t *header = record(&c, OMPP_LAYOUT_HEADER, sizeof *header);
    char host[256] = "", why[100];

    if (!header || memcmp(header->magic, OMPP_LAYOUT_MAGIC, sizeof header->magic) != 0 || header->layout != OMPP_LAYOUT_VERSION)
        return NULL;
    ompp_profile_t *profile = ompp_collect(base, size, last_event(&c, header), OMPP_END_INCOMPLETE);
    if (profile && ompp_profile_check(profile, why, sizeof why)) { /* of another library, or damaged */
        ompp_profile_free(profile);
        return NULL;
    }
    if (!profile) return NULL;
    note_end(&c, header, profile);
    gethostname(host, sizeof host - 1);
    *lives = !header->end_ns && header->start_ticks && strcmp(host, text(&c, header->host)) == 0 &&
             ompp_proc_start((pid_t)header->pid) == header->start_ticks;
    return profile;
}

int ompp_collect_file(const char *path, ompp_profile_t **profile, bool *lives)
{
    struct stat st;
    bool living = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *profile = NULL;
    if (fd < 0) return -OMPP_E_OPEN;
    void *base = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 ? mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                                                                               : MAP_FAILED;
    close(fd);
    if (base == MAP_FAILED) return -OMPP_E_FORMAT;
    *profile = collect_dead(base, (uint64_t)st.st_size, &living);
    munmap(base, st.st_size);
    if (lives) *lives = living;
    return *profile ? 0 : -OMPP_E_FORMAT;
}
