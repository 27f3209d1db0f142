/*
 * Arena to profile: the whole of it, threads and their open frames.
 */
#include "model/ompp_collect.h"

#include "model/ompp_collect_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- Open frames ------------------------------------------------------------------------------------------------- */

/* Values of the frame's node on this thread in the profile, with the number of slots; NULL when there are none
 * (root). */
static uint64_t *values_of(ompp_collecting_t *c, const ompp_a_frame_t *frame, uint32_t location)
{
    const ompp_a_node_t *n = ompp_collect_record(c, frame->node, sizeof *n);
    uint32_t node = ompp_collect_mapped(c, frame->node);

    if (!n || node == OMPP_NONE || n->region == 0 || n->construct >= OMPP_CONSTRUCT_NUM ||
        frame->slot >= ompp_constructs[n->construct].nphases)
        return NULL;
    return ompp_profile_block(c->profile, node, location, OMPP_SET_PHASES, 0, ompp_phase_values(n->construct));
}

/* When an open frame has to end at the latest: now, or the join of its team. */
static uint64_t limit_of(const ompp_collecting_t *c, const ompp_a_frame_t *frame, uint64_t limit)
{
    const ompp_a_team_t *team =
        frame->flags & OMPP_FRAME_F_TEAM ? ompp_collect_record(c, frame->team, sizeof *team) : NULL;
    uint64_t join = team ? ompp_collect_load(&team->join) : 0;

    if (frame->flags & OMPP_FRAME_F_ENDED && frame->stamp < limit) limit = frame->stamp;
    return join && join < limit && join >= frame->enter ? join : limit;
}

/* A region that the user has named, and that is open at the end: its end may have been forgotten. */
static void note_open(ompp_collecting_t *c, const ompp_a_frame_t *frame)
{
    const ompp_a_node_t *node = (const ompp_a_node_t *)(c->base + frame->node);
    const ompp_a_region_t *r = ompp_collect_record(c, node->region, sizeof *r);

    if (c->end == OMPP_END_FINAL && r && r->construct == OMPP_CONSTRUCT_USER_REGION &&
        !(r->flags & OMPP_REGION_F_FUNCTION))
        ompp_profile_add_coverage(c->profile, OMPP_COVERAGE_NOTE, "user region open at the end of the program",
                                  ompp_collect_text(c, r->name), 1);
}

/* More than the counters of two processors differ. */
static bool is_behind(uint64_t t, uint64_t before) { return (int64_t)(before - t) > 1000000000; }

/* Adds to the copied values what the frames of one stack have not booked yet. */
static void close_stack(ompp_collecting_t *c, const ompp_a_stack_t *stack, uint32_t top, uint32_t location,
                        uint64_t limit)
{
    uint64_t *below = NULL;
    unsigned below_slot = 0;

    for (uint32_t i = 0; i <= top; i++) {
        const ompp_a_frame_t *frame = &stack->frames[i];
        uint64_t *values = values_of(c, frame, location);
        limit = limit_of(c, frame, limit);
        c->back = c->back || is_behind(c->t, frame->stamp);
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

static void close_frames(ompp_collecting_t *c, const ompp_a_thread_t *thread, uint32_t location)
{
    uint64_t limit = thread->end_ns && thread->end_ns < c->t ? thread->end_ns : c->t;
    ompp_off_t off = ompp_collect_follow(&thread->stack);
    uint64_t task_begin = 0, task_end = limit;

    for (uint32_t n = 0; off && n < ompp_collect_most(c); n++) {
        const ompp_a_stack_t *stack = ompp_collect_record(c, off, sizeof *stack);
        uint32_t top = stack ? __atomic_load_n(&stack->top, __ATOMIC_ACQUIRE) : 0;
        if (!stack || top >= stack->capacity || !ompp_collect_has_frames(c, off, top + 1)) return;
        /* The top frame of this stack was interrupted by the task above since task_begin. */
        bool suspended = task_begin && stack->explicit_task; /* such a task has no time since then */
        uint64_t *interrupted = task_begin && !suspended ? values_of(c, &stack->frames[top], location) : NULL;
        if (interrupted && task_end > task_begin)
            interrupted[ompp_value_index(stack->frames[top].slot, OMPP_SLOT_TASK)] += task_end - task_begin;
        uint64_t over = ompp_collect_load(&stack->over); /* it ended then, and its thread does not know yet */
        task_end = over > 1 && over < limit ? over : limit;
        close_stack(c, stack, top, location, suspended && task_begin < task_end ? task_begin : task_end);
        task_begin = stack->explicit_task ? stack->begin : 0;
        off = stack->under;
    }
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* Order in which threads get their numbers: initial, members of outermost teams by number, nested ones, others. */
static int by_role(const void *a, const void *b)
{
    const ompp_a_thread_t *x = *(const ompp_a_thread_t *const *)a, *y = *(const ompp_a_thread_t *const *)b;

    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->kind == OMPP_THREAD_TEAM && x->index != y->index) return x->index < y->index ? -1 : 1;
    if (x->kind == OMPP_THREAD_NESTED && x->path != y->path) return x->path < y->path ? -1 : 1;
    return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

static const struct {
    unsigned kind;
    const char *subject, *reason;
} losses[OMPP_LOSS_NUM] = {
#define OMPP_LOSS(id, kind, subject, reason) [OMPP_LOSS_##id] = {OMPP_COVERAGE_##kind, subject, reason},
#include "model/ompp_loss.def"
#undef OMPP_LOSS
};

static void note_losses(ompp_collecting_t *c, const ompp_a_thread_t *t)
{
    for (unsigned i = OMPP_LOSS_NONE + 1; i < OMPP_LOSS_NUM; i++)
        if (t->lost[i])
            ompp_profile_add_coverage(c->profile, losses[i].kind, losses[i].subject, losses[i].reason, t->lost[i]);
    if (t->unclosed)
        ompp_profile_add_coverage(c->profile, OMPP_COVERAGE_MISMATCH, "regions ended by the end of an outer one",
                                  ompp_collect_name(c, t->first_unclosed), t->unclosed);
    if (t->unopened)
        ompp_profile_add_coverage(c->profile, OMPP_COVERAGE_MISMATCH, "ends of regions that were not open",
                                  ompp_collect_name(c, t->first_unopened), t->unopened);
    if (t->left) ompp_profile_add_coverage(c->profile, OMPP_COVERAGE_LEFT, NULL, NULL, t->left);
}

static bool same_place(const ompp_a_thread_t *x, const ompp_a_thread_t *y)
{
    if (x->kind != y->kind) return false;
    return x->kind == OMPP_THREAD_TEAM
               ? x->index == y->index
               : x->kind == OMPP_THREAD_NESTED && x->path == y->path && x->path != OMPP_A_PATH_UNKNOWN;
}

/*
 * The next place's first record. A place has several where a dismissed thread had not ended when its successor came,
 * and where a runtime gives nested teams whatever threads are free: one row.
 */
static uint32_t next_place(const ompp_a_thread_t *const *threads, uint32_t n, uint32_t i)
{
    uint32_t end = i + 1;
    bool beside = ompp_collect_load(&threads[i]->beside) != 0;

    for (; end < n && same_place(threads[end], threads[i]); end++)
        beside |= ompp_collect_load(&threads[end]->beside) != 0;
    return beside ? i + 1 : end;
}

static bool copy_place(ompp_collecting_t *c, const ompp_a_thread_t *const *records, uint32_t n, uint32_t rank,
                       uint32_t tid)
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
        ok = ompp_collect_tree(c, records[i], index, rank);
        if (ok) close_frames(c, records[i], index);
        if (ok) ompp_collect_pending(c, index);
        note_losses(c, records[i]);
    }
    return ok;
}

static bool copy_threads(ompp_collecting_t *c, ompp_off_t first, uint32_t rank, uint32_t *nthreads)
{
    const ompp_a_thread_t *t = ompp_collect_record(c, first, sizeof *t);
    uint32_t n = 0, allocated = t ? t->ordinal + 1 : 0;
    bool ok = true;

    *nthreads = 0;
    if (allocated > OMPP_COLLECT_MAX) return false;
    const ompp_a_thread_t **threads = malloc((allocated + 1) * sizeof *threads);
    if (!threads) return false;
    for (; t && allocated-- > 0; t = ompp_collect_record(c, t->next, sizeof *t))
        if (t->kind <= OMPP_THREAD_OTHER) threads[n++] = t;
    qsort(threads, n, sizeof *threads, by_role);
    for (uint32_t i = 0, next; i < n && ok; i = next) {
        next = next_place(threads, n, i);
        ok = copy_place(c, &threads[i], next - i, rank, (*nthreads)++);
    }
    free(threads);
    return ok;
}

/* ---- A clock that went back -------------------------------------------------------------------------------------- */

static void drop_times_of(const ompp_profile_t *p, ompp_block_t *block)
{
    for (uint32_t i = 1; block->set == OMPP_SET_PHASES && i < block->nvalues; i++)
        if ((i - 1) % OMPP_SLOT_NUM != OMPP_SLOT_COUNT) block->values[i] = 0;
    for (size_t m = 0; m < p->nmetrics; m++)
        if (p->metrics[m].set == block->set && p->metrics[m].index < block->nvalues &&
            p->metrics[m].unit == OMPP_UNIT_NS)
            block->values[p->metrics[m].index] = 0;
}

static bool has_negative(const ompp_block_t *block)
{
    for (uint32_t i = 0; block->set == OMPP_SET_PHASES && i < block->nvalues; i++)
        if (block->values[i] > INT64_MAX) return true;
    return false;
}

/*
 * A process that was restored from a checkpoint may find another clock: nothing says then how long anything took.
 * Counts are right.
 */
static void drop_times(ompp_collecting_t *c, ompp_rank_t *rank, const ompp_a_header_t *header)
{
    ompp_profile_t *p = c->profile;

    c->back = c->back || is_behind(c->t, header->begin_ns);
    for (size_t n = 0; n < p->nnodes; n++)
        for (uint32_t b = 0; b < p->nodes[n].nblocks && !c->back; b++) c->back = has_negative(&p->nodes[n].blocks[b]);
    if (!c->back) return;
    for (size_t n = 0; n < p->nnodes; n++) {
        p->nodes[n].first_ns = 0;
        for (uint32_t b = 0; b < p->nodes[n].nblocks; b++) drop_times_of(p, &p->nodes[n].blocks[b]);
    }
    for (size_t l = 0; l < p->nlocations; l++) p->locations[l].begin_ns = p->locations[l].end_ns = 0;
    rank->duration_ns = 0;
    ompp_profile_add_coverage(p, OMPP_COVERAGE_CLOCK, "the clock went back, and all times are left out",
                              "restored from a checkpoint, on another machine or after its restart?", 1);
}

static bool copy_all(ompp_collecting_t *c, const ompp_a_header_t *header, ompp_end_t end)
{
    ompp_profile_t *p = c->profile;
    uint32_t rank = header->rank < 0 ? 0 : (uint32_t)header->rank;
    ompp_rank_t r = {.rank = rank,
                     .pid = header->pid,
                     .end = end,
                     .host = ompp_collect_string(c, header->host),
                     .clock = ompp_profile_string(p, header->tsc ? "tsc" : "clock_gettime"),
                     .job = ompp_collect_string(c, ompp_collect_follow(&header->job)),
                     .launch = ompp_collect_string(c, header->launch),
                     .launcher_rank = header->launcher_rank < 0 ? OMPP_NONE : (uint32_t)header->launcher_rank,
                     .start_ticks = header->start_ticks,
                     .pid_space = header->pid_space,
                     .begin_epoch_ns = header->origin_epoch + header->begin_ns,
                     .duration_ns = c->t > header->begin_ns ? c->t - header->begin_ns : 0};

    memcpy(r.cost_ps, header->cost_ps, sizeof r.cost_ps);
    memcpy(r.inside_ps, header->inside_ps, sizeof r.inside_ps);
    p->app = ompp_collect_string(c, header->app);
    p->source = ompp_collect_string(c, header->source);
    p->version = ompp_collect_string(c, header->version);
    p->build_date = ompp_collect_string(c, header->built);
    const char *source = ompp_collect_text(c, header->source);
    if (*source) ompp_profile_add_coverage(p, OMPP_COVERAGE_SOURCE, source, NULL, 1);
    p->mpi = header->rank >= 0;
    p->nranks = header->size;
    c->pending = ompp_collect_first_pending(header);
    if (!ompp_collect_find_redone(c) || !ompp_collect_definitions(c, header, rank)) return false;
    if (!copy_threads(c, ompp_collect_follow(&header->threads), rank, &r.nthreads)) return false;
    drop_times(c, &r, header);
    ompp_collect_notes(c, header, r.duration_ns);
    p->nslots = r.nthreads;
    ompp_profile_add_rank(p, &r);
    return !p->failed && *c->work > 0;
}

ompp_profile_t *ompp_collect_within(const char *base, uint64_t size, uint64_t *work, uint64_t t, ompp_end_t end)
{
    ompp_collecting_t c = {.base = base, .size = size, .work = work, .t = t, .end = end};

    if (getrandom(&c.seed, sizeof c.seed, GRND_NONBLOCK) < 0) c.seed = (uintptr_t)&c;
    const ompp_a_header_t *header = ompp_collect_record(&c, OMPP_LAYOUT_HEADER, sizeof *header);

    if (!header || memcmp(header->magic, OMPP_LAYOUT_MAGIC, sizeof header->magic) != 0 ||
        header->layout != OMPP_LAYOUT_VERSION || header->endian != OMPP_LAYOUT_ENDIAN)
        return NULL;
    c.profile = ompp_profile_new();
    bool ok = c.profile && copy_all(&c, header, end);
    free(c.module_of);
    free(c.region_of);
    ompp_table_fini(&c.locks);
    ompp_table_fini(&c.codes);
    ompp_table_fini(&c.tree);
    ompp_table_fini(&c.map);
    free(c.redone);
    ompp_metric_list_fini(&c.metrics);
    if (ok) return c.profile;
    ompp_profile_free(c.profile);
    return NULL;
}

ompp_profile_t *ompp_collect(const char *base, uint64_t size, uint64_t t, ompp_end_t end)
{
    uint64_t work = UINT64_MAX;

    return ompp_collect_within(base, size, &work, t, end);
}
