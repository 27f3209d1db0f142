/*
 * Events that happen often: region enter, phase, exit, values. Called by every event source. No lock, no allocation, no
 * system call; what is rare is in the files without _hot.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize") /* two sums that lie side by side are quicker one after the other */
#endif

#include "runtime/ompp_callpath_priv.h"
#include "runtime/ompp_own_call.h"
#include "runtime/ompp_region_priv.h"

/* The entry of the place, or one of the two that it may be in. */
static inline ompp_site_t *site_of(ompp_thread_t *thread, const void *code, const void *key)
{
    const uint32_t set = (uint32_t)((uintptr_t)code + (uintptr_t)key) * 0x9e3779b1u >> (32 - OMPP_SITES_SHIFT);
    ompp_site_t *site = &thread->sites[2 * set];

    return __builtin_expect(site->code == code && site->name == key, 1) ? site : site + 1;
}

/* Region by address, or by lock, through the thread's cache. */
static inline ompp_region_ref_t region_at(ompp_thread_t *thread, ompp_construct_t construct, const void *code,
                                          const char *name)
{
    const void *key = name ? (const void *)name : ompp_site_key(construct);
    ompp_site_t *site = site_of(thread, code, key);

    if (__builtin_expect(site->code == code && site->name == key, 1)) return site->region;
    return ompp_region_at_slow(thread, site, construct, code, name);
}

static inline void add_values(uint64_t sums[OMPP_METRIC_MPI_NUM], const uint64_t values[OMPP_METRIC_MPI_NUM])
{
#pragma GCC unroll 8
    for (unsigned i = 0; i < OMPP_METRIC_MPI_NUM; i++) sums[i] += values[i];
}

static inline void add_mpi(ompp_thread_t *thread, const uint64_t values[OMPP_METRIC_MPI_NUM])
{
    uint64_t *sums = ompp_values_of(thread, ompp_top(thread)->node, OMPP_SET_MPI, OMPP_METRIC_MPI_NUM);

    if (sums) add_values(sums, values);
}

/* Apart from the usual case, which has no call. */
static __attribute__((noinline)) void enter_outermost(ompp_thread_t *thread, ompp_region_ref_t region, ompp_time_t t)
{
    ompp_push_region(thread, region, t);
}

void ompp_event_enter(ompp_region_ref_t region, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !region || !ompp_guard_enter(thread)) return;
    const ompp_a_frame_t *top = ompp_settled_top(thread, t);
    if (__builtin_expect(ompp_follows_to(thread, top), 0)) enter_outermost(thread, region, t);
    else ompp_push_below(thread, top->node, region, t);
    ompp_guard_leave(thread);
}

void ompp_event_enter_function(ompp_region_ref_t region, const void *stack, const void *hook, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();
    uint64_t here = (uint64_t)(uintptr_t)stack;

    if (!thread || !region || !ompp_guard_enter(thread)) return;
    if (__builtin_expect(ompp_top(thread)->stack - 1 < here - 1, 0)) ompp_unwound_slow(thread, here, t);
    ompp_a_frame_t *frame = ompp_push(thread, region, t);
    const uint32_t call = (uint32_t)(uintptr_t)hook;
    if (frame && __builtin_expect(!frame->stack, 1)) frame->stack = here, frame->call = call;
    else if (frame && frame->stack == here && frame->call != call) frame->inlined++;
    ompp_guard_leave(thread);
}

void ompp_event_phase(ompp_region_ref_t region, ompp_phase_t phase, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !region || thread->skipped || !ompp_guard_enter(thread)) return;
    ompp_a_frame_t *frame = ompp_settled_top(thread, t);
    ompp_a_node_t *node = ompp_node(thread, frame->node);
    unsigned slot = ompp_phase_slot(node->construct, phase);
    if (node->region == region && slot != OMPP_NO_SLOT && !(frame->flags & OMPP_FRAME_F_RECURSIVE)) {
        ompp_frame_book(thread, frame, t);
        ompp_frame_to(thread, frame, slot);
    }
    ompp_guard_leave(thread);
}

static inline void leave(ompp_thread_t *thread, ompp_region_ref_t region, ompp_time_t t)
{
    ompp_a_frame_t *frame = ompp_top(thread);

    if (__builtin_expect(thread->skipped || frame->flags || ompp_node(thread, frame->node)->region != region, 0))
        ompp_exit_slow(thread, region, t);
    else ompp_pop(thread, frame, t);
}

void ompp_event_exit(ompp_region_ref_t region, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !region || !ompp_guard_enter(thread)) return;
    leave(thread, region, t);
    ompp_guard_leave(thread);
}

static __attribute__((noinline)) ompp_region_ref_t exit_innermost_slow(ompp_construct_t construct, ompp_time_t t)
{
    const ompp_region_ref_t region = ompp_event_innermost(construct);

    ompp_event_exit(region, t);
    return region;
}

ompp_region_ref_t ompp_event_exit_innermost(ompp_construct_t construct, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_guard_enter(thread)) return 0;
    ompp_a_frame_t *frame = ompp_top(thread);
    const ompp_a_node_t *node = ompp_node(thread, frame->node);
    if (__builtin_expect(thread->skipped || frame->flags || node->construct != construct, 0)) {
        ompp_guard_drop(thread);
        return exit_innermost_slow(construct, t);
    }
    const ompp_region_ref_t region = node->region;
    ompp_pop(thread, frame, t);
    ompp_guard_leave(thread);
    return region;
}

static __attribute__((noinline)) void innermost_ended_slow(ompp_construct_t construct, ompp_time_t t)
{
    ompp_event_exit_or_barrier(ompp_event_innermost(construct), t);
}

void ompp_event_innermost_ended(ompp_construct_t construct, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_guard_enter(thread)) return;
    ompp_a_frame_t *frame = ompp_top(thread);
    if (__builtin_expect(thread->skipped || frame->flags || ompp_node(thread, frame->node)->construct != construct,
                         0)) {
        ompp_guard_drop(thread);
        innermost_ended_slow(construct, t);
        return;
    }
    ompp_frame_book(thread, frame, t);
    frame->flags = OMPP_FRAME_F_ENDED;
    ompp_moved(thread);
    ompp_guard_leave(thread);
}

void ompp_event_exit_function(ompp_region_ref_t region, const void *stack, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !region || !ompp_guard_enter(thread)) return;
    ompp_a_frame_t *frame = ompp_top(thread);
    if (__builtin_expect(thread->skipped || frame->flags || ompp_node(thread, frame->node)->region != region, 0))
        ompp_exit_function_slow(thread, region, (uint64_t)(uintptr_t)stack, t);
    else ompp_pop(thread, frame, t);
    ompp_guard_leave(thread);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/*
 * Calls are often short, and their cost is most of what measuring them costs. So each of these functions does the usual
 * case by itself, without calling anything, and leaves all others to its slow twin: the first time at a place, a thread
 * that is not measured now, one that a report or a meter is waiting for, a clock that is not the counter.
 */

/* The usual state of a thread that is in no event: nothing skipped, no meters. */
static inline bool is_usual(const ompp_thread_t *thread) { return thread && !thread->unusual; }

/* The same but for meters, which all rest: it is noted for them where the thread is. */
static inline bool is_noted(const ompp_thread_t *thread)
{
    return thread && !thread->skipped && ompp_meters_are_suspended(thread);
}

/* Measurement is on, and no copy wanted. */
static inline bool is_on(void)
{
    /* as a relaxed load, which compilers do not make part of a comparison */
    return *(const unsigned *)&ompp_process.on == OMPP_ON_ENTER;
}

/* Notes the node below a frame, for the next time. Without the counter no time is usual. */
static void keep_node(ompp_thread_t *thread, const void *code, const char *name, const ompp_a_frame_t *parent,
                      ompp_off_t node)
{
    ompp_site_t *site = site_of(thread, code, name);

    if (site->code != code || site->name != name) return;
    if (parent->flags & OMPP_FRAME_F_PENDING || !ompp_clock.use_tsc) return;
    site->place = parent->place;
    site->node = node;
}

static __attribute__((noinline)) ompp_region_ref_t call_slow(const void *code, const char *name)
{
    ompp_thread_t *thread = ompp_thread_get();
    ompp_region_ref_t region = thread ? region_at(thread, OMPP_CONSTRUCT_MPI, code, name) : 0;

    if (!region || !ompp_guard_enter(thread)) return 0;
    ompp_off_t parent = ompp_settled_top(thread, ompp_clock_now())->node;
    if (thread->follows && !thread->skipped) parent = ompp_callpath_here(thread, code, NULL);
    ompp_a_frame_t *frame = ompp_push_below(thread, parent, region, ompp_clock_now());
    if (frame && !(frame->flags & OMPP_FRAME_F_RECURSIVE)) {
        if (thread->follows) frame->caller = thread->callpaths->caller;
        keep_node(thread, code, name, frame - 1, frame->node);
    }
    ompp_guard_leave(thread);
    return region;
}

/*
 * What is to be done when nothing else is.
 * \param[in] parent  of the call's node: the top frame's, or a function below it.  \param[in] notes  for meters.
 * \return 0 = something else is.
 */
static inline __attribute__((always_inline)) ompp_region_ref_t
call_plain(ompp_thread_t *thread, const void *code, const char *name, ompp_off_t parent, bool notes)
{
    const ompp_site_t *site = site_of(thread, code, name);
    const ompp_a_frame_t *top = ompp_top(thread);

    if (__builtin_expect(site->code != code || site->name != name || site->place != top->place ||
                             ompp_node(thread, site->node)->parent != parent || top == thread->last,
                         0)) {
        ompp_guard_drop(thread);
        return 0;
    }
    ompp_frame_fill(thread, site->node, 0, ompp_clock_tsc());
    ompp_step_top(thread, 1);
    ompp_node(thread, site->node)->slot[0].count++;
    if (notes) ompp_meter_note(thread, top + 1);
    ompp_guard_leave(thread);
    return site->region;
}

/* Whether what this event takes is measured: of one in 256, however they follow one another. */
static inline bool is_sampled(const ompp_thread_t *thread)
{
    return __builtin_expect((thread->guard >> 1) * 0x9e3779b1u >> 24 == 0, 0);
}

/* With its call path, and with meters that rest. */
static __attribute__((noinline)) ompp_region_ref_t call_noted(const void *code, const char *name)
{
    ompp_thread_t *thread = ompp_thread_self;
    ompp_region_ref_t region = 0;
    const ompp_time_t begin = thread && is_sampled(thread) ? ompp_clock_now() : 0;

    if (is_noted(thread) && is_on() && ompp_guard_enter(thread)) {
        const ompp_off_t parent = thread->follows ? ompp_callpath_here(thread, code, NULL) : ompp_top(thread)->node;
        region = call_plain(thread, code, name, parent, true);
        if (region && thread->follows) ompp_top(thread)->caller = thread->callpaths->caller;
        if (region && begin) ompp_own_call_slow(thread, OMPP_OWN_BEFORE, ompp_top(thread)->enter - begin);
    }
    return region ? region : call_slow(code, name);
}

ompp_region_ref_t ompp_event_call(const void *code, const char *name)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (__builtin_expect(!is_usual(thread) || thread->follows || !is_on() || !ompp_guard_enter(thread), 0))
        return call_noted(code, name);
    const ompp_region_ref_t region = call_plain(thread, code, name, ompp_top(thread)->node, false);
    return __builtin_expect(region != 0, 1) ? region : call_slow(code, name);
}

ompp_time_t ompp_event_called(void)
{
    const ompp_thread_t *thread = ompp_thread_self;

    return thread && thread->record && !thread->skipped ? ompp_top(thread)->enter : ompp_event_now();
}

static __attribute__((noinline)) void return_slow(ompp_region_ref_t region, const uint64_t *values, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !region || !ompp_guard_enter(thread)) return;
    if (values && !thread->skipped) add_mpi(thread, values);
    leave(thread, region, t);
    if (values && is_sampled(thread)) ompp_own_call_slow(thread, OMPP_OWN_AFTER, ompp_clock_now() - t);
    ompp_guard_leave(thread);
}

/* The innermost frame is one of region as ompp_event_call() made it, in its first phase and without flags. */
static inline bool is_plain(const ompp_thread_t *thread, const ompp_a_frame_t *frame, ompp_region_ref_t region)
{
    return frame->state == 0 && ompp_node(thread, frame->node)->region == region;
}

/* Where the MPI metrics of a node are summed up; NULL while it has none. Offset 0, no block, is zero bytes: of no
 * set. */
static inline uint64_t *mpi_sums(const ompp_thread_t *thread, const ompp_a_node_t *node)
{
    ompp_a_block_t *block = ompp_at(thread, atomic_load_explicit(&node->sets, memory_order_relaxed));

    return block->set == OMPP_SET_MPI && block->object == 0 ? block->values : NULL;
}

/* Closes a frame that is_plain(), from inside. */
static inline __attribute__((always_inline)) void pop_plain(ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_time_t t,
                                                            bool notes)
{
    const ompp_a_frame_t *below = frame - 1;
    ompp_a_node_t *node = ompp_node(thread, frame->node);

    if (__builtin_expect(t < frame->stamp, 0)) t = frame->stamp;
    ompp_step_top(thread, -1);
    node->visits++;
    node->slot[0].time += t - frame->stamp;
    ompp_node(thread, below->node)->slot[below->slot].child += t - frame->enter - frame->credited;
    if (notes) ompp_meter_note(thread, below);
}

/* \return false = something else is to be done. */
static inline __attribute__((always_inline)) bool return_plain(ompp_thread_t *thread, ompp_region_ref_t region,
                                                               bool notes)
{
    if (__builtin_expect(!is_plain(thread, ompp_top(thread), region), 0)) {
        ompp_guard_drop(thread);
        return false;
    }
    const ompp_time_t t = ompp_clock_tsc();
    pop_plain(thread, ompp_top(thread), t, notes);
    if (is_sampled(thread)) ompp_own_call_slow(thread, OMPP_OWN_AFTER, ompp_clock_now() - t);
    ompp_guard_leave(thread);
    return true;
}

static __attribute__((noinline)) void return_now_noted(ompp_region_ref_t region)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (is_noted(thread) && ompp_clock.use_tsc && ompp_guard_enter(thread) && return_plain(thread, region, true))
        return;
    return_slow(region, NULL, ompp_clock_now());
}

void ompp_event_return_timed(ompp_region_ref_t region)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (__builtin_expect(!is_usual(thread) || !ompp_clock.use_tsc || !ompp_guard_enter(thread), 0)) {
        return_now_noted(region);
        return;
    }
    if (__builtin_expect(!return_plain(thread, region, false), 0)) return_slow(region, NULL, ompp_clock_now());
}

static __attribute__((noinline)) void return_counted_slow(ompp_region_ref_t region, unsigned counter, uint64_t in,
                                                          uint64_t out, ompp_time_t t)
{
    uint64_t values[OMPP_METRIC_MPI_NUM] = {[OMPP_METRIC_BYTES_IN] = in, [OMPP_METRIC_BYTES_OUT] = out};

    values[counter] = 1;
    return_slow(region, values, t);
}

/* \return false = something else is to be done. */
static inline __attribute__((always_inline)) bool counted_plain(ompp_thread_t *thread, ompp_region_ref_t region,
                                                                unsigned counter, uint64_t in, uint64_t out,
                                                                ompp_time_t t, bool notes)
{
    ompp_a_frame_t *frame = ompp_top(thread);
    uint64_t *sums = is_plain(thread, frame, region) ? mpi_sums(thread, ompp_node(thread, frame->node)) : NULL;

    if (__builtin_expect(!sums, 0)) {
        ompp_guard_drop(thread);
        return false;
    }
    sums[counter]++;
    sums[OMPP_METRIC_BYTES_IN] += in;
    sums[OMPP_METRIC_BYTES_OUT] += out;
    pop_plain(thread, frame, t, notes);
    if (is_sampled(thread)) ompp_own_call_slow(thread, OMPP_OWN_AFTER, ompp_clock_now() - t);
    ompp_guard_leave(thread);
    return true;
}

static __attribute__((noinline)) void return_counted_noted(ompp_region_ref_t region, unsigned counter, uint64_t in,
                                                           uint64_t out, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (is_noted(thread) && ompp_guard_enter(thread) && counted_plain(thread, region, counter, in, out, t, true))
        return;
    return_counted_slow(region, counter, in, out, t);
}

void ompp_event_return_counted(ompp_region_ref_t region, unsigned counter, uint64_t in, uint64_t out, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (__builtin_expect(!is_usual(thread) || !ompp_guard_enter(thread), 0)) {
        return_counted_noted(region, counter, in, out, t);
        return;
    }
    if (__builtin_expect(!counted_plain(thread, region, counter, in, out, t, false), 0))
        return_counted_slow(region, counter, in, out, t);
}

void ompp_event_return(ompp_region_ref_t region, const uint64_t *values, ompp_time_t t)
{
    return_slow(region, values, t);
}

void ompp_event_count(ompp_region_ref_t region)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !region || !(atomic_load_explicit(&ompp_process.on, memory_order_relaxed) & OMPP_ON_ENTER) ||
        !ompp_guard_enter(thread))
        return;
    if (thread->skipped) {
        ompp_lose_slow(thread, region);
        ompp_guard_leave(thread);
        return;
    }
    /* A frame that has ended is left for the next timed event: this call has no time stamp. */
    ompp_a_frame_t *frame = ompp_top(thread);
    ompp_off_t parent = frame->flags & OMPP_FRAME_F_PENDING && thread->stack->top ? frame[-1].node : frame->node;
    ompp_off_t node = ompp_child(thread, parent, region, 0);
    if (node) ompp_node(thread, node)->visits++;
    else thread->record->lost[OMPP_LOSS_ENTRIES]++;
    ompp_guard_leave(thread);
}

static __attribute__((noinline)) ompp_region_ref_t count_call_slow(ompp_construct_t construct, const void *code,
                                                                   const char *name)
{
    ompp_thread_t *thread = ompp_thread_get();
    ompp_region_ref_t region = thread ? region_at(thread, construct, code, name) : 0;

    ompp_event_count(region);
    if (region && thread != &ompp_thread_none && ompp_guard_enter(thread)) {
        const ompp_a_frame_t *parent = ompp_top(thread);
        const ompp_off_t last = ompp_node(thread, parent->node)->last;
        if (ompp_node(thread, last)->region == region && ompp_node(thread, last)->parent == parent->node)
            keep_node(thread, code, name, parent, last);
        ompp_guard_leave(thread);
    }
    return region;
}

ompp_region_ref_t ompp_event_count_call(ompp_construct_t construct, const void *code, const char *name)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (__builtin_expect(!is_usual(thread) || !is_on() || !ompp_guard_enter(thread), 0))
        return count_call_slow(construct, code, name);
    const ompp_site_t *site = site_of(thread, code, name);
    if (__builtin_expect(site->code != code || site->name != name || site->place != ompp_top(thread)->place, 0)) {
        ompp_guard_drop(thread);
        return count_call_slow(construct, code, name);
    }
    ompp_node(thread, site->node)->visits++;
    ompp_guard_leave(thread);
    return site->region;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

void ompp_event_add_mpi(const uint64_t values[OMPP_METRIC_MPI_NUM])
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || thread->skipped || !ompp_guard_enter(thread)) return;
    add_mpi(thread, values);
    ompp_guard_leave(thread);
}

void ompp_event_add(unsigned set, unsigned index, uint64_t value)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || thread->skipped || set == OMPP_SET_PHASES || !ompp_guard_enter(thread)) return;
    unsigned n = ompp_set_size(set);
    uint64_t *sums = index < n ? ompp_values_of(thread, ompp_top(thread)->node, set, n) : NULL;
    if (sums) sums[index] += value;
    ompp_guard_leave(thread);
}

ompp_region_ref_t ompp_region_at(ompp_construct_t construct, const void *code, const char *name)
{
    ompp_thread_t *thread = ompp_thread_get();

    return thread ? region_at(thread, construct, code, name) : 0;
}

ompp_region_ref_t ompp_region_met_at(ompp_construct_t construct, const void *code)
{
    ompp_thread_t *thread = ompp_thread_self;
    const void *key = ompp_site_key(construct);

    if (!thread || !code) return 0; /* a place that is gone has the address 0 */
    const ompp_site_t *site = site_of(thread, code, key);
    return site->code == code && site->name == key ? site->region : 0;
}

void ompp_region_iterates(ompp_region_ref_t region, uint64_t iterations)
{
    ompp_a_region_t *r = (ompp_a_region_t *)(ompp_process.arena.base + region);
    uint64_t most =
        ompp_region_is_kept(region) ? atomic_load_explicit(&r->iterations, memory_order_relaxed) : iterations;

    while (most < iterations && !atomic_compare_exchange_weak(&r->iterations, &most, iterations)) continue;
}

ompp_region_ref_t ompp_region_met_loop(ompp_construct_t construct, const void *code, uint64_t iterations)
{
    ompp_thread_t *thread = ompp_thread_self;
    const void *key = ompp_site_key(construct);

    if (!thread || !code) return 0;
    ompp_site_t *site = site_of(thread, code, key);
    if (site->code != code || site->name != key) return 0;
    if (__builtin_expect(iterations > site->iterations, 0)) {
        site->iterations = iterations;
        ompp_region_iterates(site->region, iterations);
    }
    return site->region;
}

ompp_region_ref_t ompp_region_lock(const void *lock) { return ompp_region_at(OMPP_CONSTRUCT_LOCK, lock, NULL); }

ompp_construct_t ompp_region_construct(ompp_region_ref_t region)
{
    const ompp_a_region_t *r = (const ompp_a_region_t *)(ompp_process.arena.base + region);

    return ompp_region_is_kept(region) && ompp_process.arena.base ? r->construct : OMPP_CONSTRUCT_NUM;
}

bool ompp_region_has_end(ompp_region_ref_t region)
{
    const ompp_thread_t *thread = ompp_thread_self;

    if (!ompp_region_is_kept(region) || !thread || !thread->base) return true;
    const ompp_a_region_t *r = ompp_at(thread, region);
    return !r->module || atomic_load_explicit(&r->addr_end, memory_order_relaxed);
}

void ompp_region_locked_by(ompp_region_ref_t region, const void *lock)
{
    if (!ompp_region_has_end(region))
        atomic_store_explicit(&((ompp_a_region_t *)(ompp_process.arena.base + region))->lock, (uintptr_t)lock,
                              memory_order_relaxed);
}

void ompp_region_ends_at(ompp_region_ref_t region, const void *code)
{
    if (!code || ompp_region_has_end(region)) return;
    ompp_region_ends_at_slow((ompp_a_region_t *)(ompp_process.arena.base + region), code);
}
