/*
 * Meters: who they are, and telling them of changes. A thread has one state per meter, made when the thread comes; they
 * stay with the operating system's thread when it takes another's place.
 */
#include "runtime/ompp_meter.h"

#include "runtime/ompp_meters.h"
#include "runtime/ompp_region_priv.h"

static const ompp_component_t *meters[OMPP_MAX_COMPONENTS];
static _Atomic unsigned nmeters;
_Atomic unsigned ompp_meters_suspended;

void ompp_meter_add(const ompp_component_t *meter)
{
    const unsigned n = atomic_load(&nmeters);

    meters[n] = meter;
    atomic_store(&nmeters, n + 1);
}

/* Phases in which the thread runs the user's code. */
static bool waits(const ompp_a_node_t *node, unsigned slot)
{
    return node->construct < OMPP_CONSTRUCT_NUM && !ompp_phase_is_work[ompp_constructs[node->construct].phases[slot]];
}

/* What is not measured (measurement is off, or a region has no room) counts where the thread was before. */
static const ompp_a_frame_t *frame_of(const ompp_thread_t *thread)
{
    const ompp_a_frame_t *frame = ompp_top(thread);

    /* Frames whose end is known are still there until the next event. */
    while (frame->flags & (OMPP_FRAME_F_ENDED | OMPP_FRAME_F_LEFT) && frame > thread->stack->frames) frame--;
    return frame;
}

ompp_place_now_t ompp_meter_place_of(const ompp_thread_t *thread)
{
    const ompp_a_frame_t *frame = frame_of(thread);

    return (ompp_place_now_t){frame->node, waits(ompp_node(thread, frame->node), frame->slot)};
}

/* The place that was told, or noted, last. */
static ompp_place_now_t place_before(ompp_thread_t *thread)
{
    if (thread->meter_unreported)
        thread->meter_waits = waits(ompp_node(thread, thread->meter_node), thread->meter_unreported - 1u);
    thread->meter_unreported = 0;
    return (ompp_place_now_t){thread->meter_node, thread->meter_waits};
}

static void tell(ompp_thread_t *thread, ompp_place_now_t to)
{
    const ompp_place_now_t from = place_before(thread);

    if (from.node == to.node && from.waits == to.waits) return;
    thread->meter_node = to.node;
    thread->meter_waits = to.waits;
    for (unsigned i = 0; i < thread->nmeters; i++)
        if (thread->meter_states[i]) meters[i]->move(thread->meter_states[i], from, to);
}

void ompp_meters_suspend(bool on) { atomic_fetch_add(&ompp_meters_suspended, on ? 1u : -1u); }

void ompp_meter_move(ompp_thread_t *thread)
{
    if (ompp_meters_are_suspended(thread)) ompp_meter_note(thread, frame_of(thread));
    else tell(thread, ompp_meter_place_of(thread));
}

void ompp_meter_begin(ompp_thread_t *thread)
{
    unsigned n = atomic_load(&nmeters);

    thread->nmeters = 0;
    thread->meter_node = 0;
    thread->meter_unreported = 0;
    thread->meter_waits = false;
    for (unsigned i = 0; i < n; i++) thread->meter_states[i] = meters[i]->thread_begin();
    thread->nmeters = n;
}

void ompp_meter_change(ompp_thread_t *from, ompp_thread_t *to)
{
    unsigned n = from->nmeters;

    if (!n) return;
    tell(from, (ompp_place_now_t){0, false});
    for (unsigned i = 0; i < n; i++) to->meter_states[i] = from->meter_states[i];
    to->nmeters = n;
    to->meter_node = 0;
    to->meter_unreported = 0;
    to->meter_waits = false;
    from->nmeters = 0;
}

void ompp_meter_flush(ompp_thread_t *thread)
{
    if (!thread->nmeters) return;
    const ompp_place_now_t here = place_before(thread);
    for (unsigned i = 0; i < thread->nmeters; i++)
        if (thread->meter_states[i]) meters[i]->move(thread->meter_states[i], here, here);
}

void ompp_meter_end(ompp_thread_t *thread)
{
    unsigned n = thread->nmeters;

    if (!n) return;
    tell(thread, (ompp_place_now_t){0, false});
    thread->nmeters = 0;
    for (unsigned i = 0; i < n; i++)
        if (thread->meter_states[i] && meters[i]->thread_end) meters[i]->thread_end(thread->meter_states[i]);
}

/* ---- Threads that live at the end -------------------------------------------------------------------------------- */

/*
 * As the thread, but with a piece of the arena of its own, so that nothing is taken from under the thread's hands.
 * \return whether all of its meters could be read.
 */
static bool move_for(ompp_thread_t *thread, unsigned n)
{
    static ompp_thread_t stand_in;
    bool all = true;
    const ompp_place_now_t here = place_before(thread);

    stand_in.base = thread->base;
    stand_in.record = thread->record;
    stand_in.guard = 1;
    ompp_thread_self = &stand_in;
    for (unsigned i = 0; i < n; i++) {
        if (!thread->meter_states[i]) continue;
        if (meters[i]->readable) meters[i]->move(thread->meter_states[i], here, here);
        all &= meters[i]->readable;
    }
    return all;
}

unsigned ompp_meter_take_over(const ompp_thread_t *self)
{
    unsigned missed = 0;

    if (atomic_load(&nmeters) == 0) return 0;
    for (ompp_thread_t *thread = atomic_load(&ompp_process.threads); thread; thread = thread->next_all) {
        const unsigned n = thread != self ? __atomic_exchange_n(&thread->nmeters, 0, __ATOMIC_SEQ_CST) : 0;
        missed += n > 0 && !(ompp_thread_is_stopped(thread) && move_for(thread, n));
    }
    return missed;
}

/* ---- For meters -------------------------------------------------------------------------------------------------- */

ompp_time_t ompp_meter_since(void) { return ompp_process.header->begin_ns; }

ompp_time_t ompp_meter_until(void)
{
    const ompp_time_t end = ompp_process.header->end_ns;

    return end ? end : ompp_clock_now();
}

uint64_t *ompp_meter_values(ompp_off_t node, unsigned set, unsigned object, unsigned n)
{
    ompp_thread_t *thread = ompp_thread_self;

    if (!thread || !thread->record || !node) return NULL;
    if (!(atomic_load_explicit(&ompp_process.header->metered, memory_order_relaxed) >> set & 1))
        atomic_fetch_or_explicit(&ompp_process.header->metered, 1ull << set, memory_order_relaxed);
    return ompp_values_at(thread, node, set, object, n);
}

static const ompp_a_node_t *node_at(ompp_off_t node) { return (const ompp_a_node_t *)(ompp_process.arena.base + node); }

ompp_off_t ompp_meter_parent(ompp_off_t node)
{
    ompp_off_t parent = node ? node_at(node)->parent : 0;

    /* functions of a call path have no region, as the root, which has no parent */
    while (parent && !node_at(parent)->region && node_at(parent)->parent) parent = node_at(parent)->parent;
    return parent;
}

ompp_region_ref_t ompp_meter_region(ompp_off_t node) { return node ? node_at(node)->region : 0; }

ompp_off_t ompp_meter_last(void)
{
    const ompp_thread_t *thread = ompp_thread_self;

    return thread ? thread->meter_node : 0;
}
