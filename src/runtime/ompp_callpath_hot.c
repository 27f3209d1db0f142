/*
 * Call paths: found by walks along the stack, kept as nodes of the thread's tree. Called from events and from the
 * handler of samples.
 */
#include "runtime/ompp_callpath.h"

#include "runtime/ompp_callpath_priv.h"
#include "runtime/ompp_region_priv.h"

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

ompp_off_t ompp_callpath_child(ompp_thread_t *thread, ompp_off_t parent, uint64_t code, ompp_time_t t)
{
    const ompp_callpaths_t *paths = thread->callpaths;

    for (uint32_t i = ompp_callpath_hash(parent, code); paths && paths->children; i++) {
        const ompp_callpath_child_t *c = &paths->children[i & paths->mask];
        if (c->parent == parent && c->code == code) return c->node;
        if (!c->node) break;
    }
    return ompp_callpath_child_slow(thread, parent, code, t);
}

/* ---- From a walk to nodes ---------------------------------------------------------------------------------------- */

/*
 * Stack pointer of the code that entered the innermost open region of which it is known: of the frames of a walk, those
 * whose own lies above it led to that region, and are in its path. 0 = none is.
 */
static uint64_t limit_of(const ompp_thread_t *thread)
{
    for (const ompp_a_frame_t *f = thread->top; f >= thread->stack->frames; f--) {
        if (f->caller) return f->caller;
        if (f->stack) return f->stack;
        if (f->flags & OMPP_FRAME_F_TEAM) return 0;
    }
    return 0;
}

/* A part of a walk: frames[first .. end). */
typedef struct {
    const ompp_unwind_frame_t *frames;
    size_t first, end;
    bool is_whole; /* nothing is missing beyond its end */
} part_t;

/*
 * Cut off are functions of OpenMP's library that called back the program's code: what led to these is the parallel
 * region, or the task, whose node is in the tree. And what led to the innermost open region. And the start of threads
 * that OpenMP's library has made: outside the code of the region there is no more of it on the stack.
 */
static part_t cut(const ompp_thread_t *thread, size_t first, size_t n)
{
    const ompp_callpaths_t *paths = thread->callpaths;
    const uint64_t limit = limit_of(thread);
    part_t part = {paths->frames, first, first, true};
    bool in_program = false, in_openmp = false;

    for (; part.end < n; part.end++) {
        const ompp_unwind_frame_t *frame = &paths->frames[part.end];
        const ompp_owner_t owner = ompp_unwind_owner(frame->address);
        if (owner == OMPP_OWNER_OPENMP && in_program) return part;
        if (owner == OMPP_OWNER_SYSTEM && in_openmp) return part;
        in_openmp = owner == OMPP_OWNER_OPENMP;
        if (limit && (part.end + 1 < n ? frame[1].cfa > limit : paths->unwind.end == OMPP_UNWIND_ROOT)) return part;
        in_program |= owner == OMPP_OWNER_PROGRAM;
    }
    part.is_whole = paths->unwind.end == OMPP_UNWIND_ROOT;
    return part;
}

static inline uint64_t code_of(const ompp_unwind_frame_t *frame)
{
    return frame->is_exact ? frame->address | OMPP_CODE_EXACT : frame->address - 1;
}

/* From the outermost one on. Functions that call themselves are one node; of a long path the inner part is kept. */
static ompp_off_t insert(ompp_thread_t *thread, ompp_off_t node, part_t part, ompp_time_t t)
{
    if (part.end - part.first > OMPP_CALLPATH_NODES) {
        part.end = part.first + OMPP_CALLPATH_NODES;
        part.is_whole = false;
    }
    if (!part.is_whole) node = ompp_callpath_child(thread, node, OMPP_CODE_UNKNOWN, t);
    for (size_t i = part.end; i-- > part.first;) {
        const uint64_t code = code_of(&part.frames[i]);
        if (i > part.first && ompp_unwind_owner(part.frames[i].address) == OMPP_OWNER_OURS) continue;
        if (ompp_node(thread, node)->code != code) node = ompp_callpath_child(thread, node, code, t);
    }
    return node;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static ompp_off_t answer(ompp_callpaths_t *paths, const ompp_callpath_memo_t *memo)
{
    paths->caller = memo->caller;
    return memo->node;
}

static __attribute__((noinline)) ompp_off_t walk_slow(ompp_thread_t *thread, ompp_callpath_memo_t *memo,
                                                      const void *key, ompp_time_t *t)
{
    ompp_callpaths_t *paths = thread->callpaths;
    const ompp_time_t before = ompp_clock_now();
    const size_t n = ompp_unwind_here(&paths->unwind, &memo->walk, paths->frames, OMPP_CALLPATH_FRAMES);
    size_t first = 0;

    while (first < n && ompp_unwind_owner(paths->frames[first].address) == OMPP_OWNER_OPENMP) first++;
    memo->key = key;
    memo->place = ompp_top(thread)->place;
    memo->node = insert(thread, ompp_top(thread)->node, cut(thread, first, n), before);
    memo->caller = first < n ? paths->frames[first].cfa : 0;
    const uint64_t took = ompp_clock_now() - before;
    ompp_callpath_spent_slow(thread, took);
    /* As in ompp_push_slow(): the stamp may be older than the thread's time in this row. */
    if (t) *t = (*t < thread->since ? thread->since : *t) + took;
    return answer(paths, memo);
}

#define CALLS 4096u /* of which one is timed */

static __attribute__((noinline)) ompp_off_t timed_slow(ompp_thread_t *thread, ompp_callpath_memo_t *memo)
{
    const ompp_time_t before = ompp_clock_now();

    if (ompp_unwind_same_words(&memo->walk)) ompp_callpath_spent_slow(thread, CALLS * (ompp_clock_now() - before));
    return answer(thread->callpaths, memo);
}

ompp_off_t ompp_callpath_here(ompp_thread_t *thread, const void *key, ompp_time_t *t)
{
    ompp_callpaths_t *paths = thread->callpaths;
    ompp_callpath_memo_t *memo = &paths->memos[(uint32_t)(uintptr_t)key * 0x9e3779b1u >> 29];

    if (__builtin_expect(!ompp_unwind_same(&memo->walk) || memo->key != key || memo->place != ompp_top(thread)->place,
                         0))
        return walk_slow(thread, memo, key, t);
    if (__builtin_expect(++paths->calls % CALLS == 0, 0)) return timed_slow(thread, memo);
    return answer(paths, memo);
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

/* What is open: of a region that is over already, as will be told at the next event, that around it. */
static const ompp_a_frame_t *open_frame(const ompp_thread_t *thread)
{
    const ompp_a_frame_t *frame = thread->top;

    if (frame->flags & OMPP_FRAME_F_BASE) return frame;
    if (frame->flags & OMPP_FRAME_F_PENDING) return frame - 1;
    if (!(frame->flags & OMPP_FRAME_F_TEAM) || !frame->team) return frame;
    const ompp_a_team_t *team = ompp_at(thread, frame->team);
    const bool forked = team->fork_thread == ompp_off(thread, thread->record);
    return !forked && atomic_load_explicit(&team->join, memory_order_acquire) ? frame - 1 : frame;
}

static void add_sample(ompp_thread_t *thread, const void *context, uint64_t ns)
{
    ompp_callpaths_t *paths = thread->callpaths;
    const size_t n = ompp_unwind_context(&paths->unwind, context, paths->frames, OMPP_CALLPATH_FRAMES);
    const ompp_off_t node = insert(thread, open_frame(thread)->node, cut(thread, 0, n), ompp_clock_now());
    uint64_t *values = ompp_values_of(thread, node, ompp_samples_set, OMPP_METRIC_SAMPLES_NUM);

    if (!values) {
        thread->record->lost[OMPP_LOSS_SAMPLES]++;
        return;
    }
    values[OMPP_METRIC_SAMPLES]++;
    values[OMPP_METRIC_SAMPLED_NS] += ns;
}

void ompp_callpath_sample(const void *context, uint64_t ns)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (!thread || !thread->record || !thread->callpaths || !ompp_samples_set) return;
    if (ompp_guard_enter(thread)) {
        add_sample(thread, context, ns);
        ompp_guard_leave(thread);
    } else {
        thread->record->own_samples++;
        thread->record->own_ns += ns;
    }
}
