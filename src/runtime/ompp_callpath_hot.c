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
static part_t cut(part_t walk, uint64_t limit)
{
    part_t part = {walk.frames, walk.first, walk.first, true};
    bool in_program = false, in_openmp = false;

    for (; part.end < walk.end; part.end++) {
        const ompp_unwind_frame_t *frame = &walk.frames[part.end];
        const ompp_owner_t owner = ompp_unwind_owner(frame->address);
        if (owner == OMPP_OWNER_OPENMP && in_program) return part;
        if (owner == OMPP_OWNER_SYSTEM && in_openmp) return part;
        in_openmp = owner == OMPP_OWNER_OPENMP;
        if (limit && (part.end + 1 < walk.end ? frame[1].cfa > limit : walk.is_whole)) return part;
        in_program |= owner == OMPP_OWNER_PROGRAM;
    }
    part.is_whole = walk.is_whole;
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
    const part_t found = {paths->frames, first, n, paths->unwind.end == OMPP_UNWIND_ROOT};
    memo->key = key;
    memo->place = ompp_top(thread)->place;
    memo->node = insert(thread, ompp_top(thread)->node, cut(found, limit_of(thread)), before);
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

    __asm__("" : "+r"(memo)); /* kept, not computed again at each use */
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

static void add(ompp_thread_t *thread, ompp_off_t below, part_t part, uint64_t ns, ompp_time_t t)
{
    const ompp_off_t node = insert(thread, below, part, t);
    uint64_t *values = ompp_values_of(thread, node, ompp_samples_set, OMPP_METRIC_SAMPLES_NUM);

    if (!values) {
        thread->record->lost[OMPP_LOSS_SAMPLES]++;
        return;
    }
    values[OMPP_METRIC_SAMPLES]++;
    values[OMPP_METRIC_SAMPLED_NS] += ns;
}

static part_t walk(ompp_unwind_thread_t *unwind, const void *context, ompp_unwind_frame_t *frames)
{
    const size_t n = ompp_unwind_context(unwind, context, frames, OMPP_CALLPATH_FRAMES);

    return (part_t){frames, 0, n, unwind->end == OMPP_UNWIND_ROOT};
}

/* ---- Samples before the first event ------------------------------------------------------------------------------ */

#define EARLY_SLOTS 32768u /* half a minute at 100 Hz with 10 frames */

/* A sample, followed by its frames. */
typedef union {
    struct {
        uint64_t ns;
        uint32_t frames;
        bool is_whole;
    } sample;
    ompp_unwind_frame_t frame;
} slot_t;

/* Of the initial thread. When the slots are full, every second sample goes, and those to come stand for twice the time.
 */
static struct {
    atomic_flag busy;
    ompp_unwind_thread_t unwind;
    ompp_unwind_frame_t frames[OMPP_CALLPATH_FRAMES];
    slot_t slots[EARLY_SLOTS];
    uint32_t used;
    uint32_t passes, passed; /* so many between two that are kept; since the last one */
    uint64_t ns, ungiven;    /* of samples since then; samples for which others stand */
    bool is_lost;            /* they may name code of a library that is closed */
} early;

/* The thread that has `busy` may have been left by a jump, or be in another process: some 10 ms. */
#define EARLY_TRIES 1000000u

static void halve(void)
{
    uint32_t to = 0;
    uint64_t ns = 0;
    bool stays = false;

    for (uint32_t from = 0, n; from < early.used; from += n, stays = !stays) {
        n = 1 + early.slots[from].sample.frames;
        ns += early.slots[from].sample.ns;
        early.ungiven += !stays;
        if (!stays) continue;
        early.slots[from].sample.ns = ns;
        ns = 0;
        for (uint32_t i = 0; i < n; i++) early.slots[to++] = early.slots[from + i];
    }
    early.used = to;
    early.ns += ns;
    early.passes = 2 * early.passes + 1;
}

/* Our own code, or what it has called: the start of measurement, which is no part of the program's time. */
static bool is_own(part_t part)
{
    ompp_owner_t owner = OMPP_OWNER_SYSTEM;

    for (size_t i = part.first; i < part.end && owner == OMPP_OWNER_SYSTEM; i++)
        owner = ompp_unwind_owner(part.frames[i].address);
    return owner == OMPP_OWNER_OURS;
}

static void put(part_t part)
{
    if (part.end > OMPP_CALLPATH_NODES) part = (part_t){part.frames, 0, OMPP_CALLPATH_NODES, false};
    while (early.used + 1 + part.end > EARLY_SLOTS) halve();
    slot_t *slot = &early.slots[early.used];
    slot->sample.ns = early.ns;
    slot->sample.frames = (uint32_t)part.end;
    slot->sample.is_whole = part.is_whole;
    for (size_t i = 0; i < part.end; i++) (++slot)->frame = part.frames[i];
    early.used += 1 + (uint32_t)part.end;
    early.ns = 0;
}

/* Another thread may be closing a library: then the next sample stands for this one, too. */
static void keep_early(const void *context, uint64_t ns)
{
    early.ns += ns;
    if (early.passed < early.passes) {
        early.passed++;
        early.ungiven++;
    } else if (!atomic_flag_test_and_set_explicit(&early.busy, memory_order_acquire)) {
        const part_t part = cut(walk(&early.unwind, context, early.frames), 0);
        early.passed = 0;
        if (is_own(part)) early.ns -= ns;
        else put(part);
        atomic_flag_clear_explicit(&early.busy, memory_order_release);
    }
}

void ompp_callpath_early_forget(void)
{
    ompp_callpath_keeps = false;
    early.used = early.passes = early.passed = 0;
    early.ns = early.ungiven = 0;
    early.is_lost = false;
    atomic_flag_clear(&early.busy); /* in a child the thread that had it is not there */
}

bool ompp_callpath_early_is_on(void) { return ompp_callpath_keeps; }

void ompp_callpath_early_unloaded(uintptr_t low, uintptr_t high)
{
    if (!ompp_callpath_keeps) return;
    for (unsigned tries = 0; atomic_flag_test_and_set_explicit(&early.busy, memory_order_acquire); tries++) {
        if (tries < EARLY_TRIES) continue; /* of a handler: some us */
        ompp_callpath_keeps = false;
        early.is_lost = true;
        return;
    }
    for (uint32_t i = 0, end = 0; i < early.used; i++) {
        ompp_unwind_frame_t *frame = &early.slots[i].frame;
        if (i == end) end += 1 + early.slots[i].sample.frames;
        else if (frame->address >= low && frame->address < high)
            *frame = (ompp_unwind_frame_t){.address = OMPP_CODE_UNKNOWN + 1};
    }
    atomic_flag_clear_explicit(&early.busy, memory_order_release);
}

void ompp_callpath_early_add(ompp_thread_t *thread)
{
    const ompp_time_t t = thread->record->begin_ns;

    for (uint32_t i = 0, n; ompp_samples_set && thread->callpaths && !early.is_lost && i < early.used; i += n) {
        n = 1 + early.slots[i].sample.frames;
        const part_t part = {&early.slots[i + 1].frame, 0, n - 1, early.slots[i].sample.is_whole};
        const bool is_last = i + n == early.used;
        add(thread, thread->record->root, part, early.slots[i].sample.ns + (is_last ? early.ns : 0), t);
    }
    if (ompp_samples_set)
        ompp_event_coverage_count(OMPP_COVERAGE_LOSS, "samples before the first event, for which others stand",
                                  "no room", early.ungiven);
    ompp_callpath_early_forget();
}

void ompp_callpath_sample(const void *context, uint64_t ns)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (!thread && ompp_callpath_keeps) keep_early(context, ns);
    if (!thread || !thread->record || !thread->callpaths || !ompp_samples_set) return;
    if (ompp_guard_enter(thread)) {
        const part_t part = cut(walk(&thread->callpaths->unwind, context, thread->callpaths->frames), limit_of(thread));
        add(thread, open_frame(thread)->node, part, ns, ompp_clock_now());
        ompp_guard_leave(thread);
    } else {
        thread->record->own_samples++;
        thread->record->own_ns += ns;
    }
}
