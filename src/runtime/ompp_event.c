/*
 * Events that come rarely, and what sources and meters ask of the calling thread.
 */
#include "runtime/ompp_event.h"

#include "model/ompp_profile.h"
#include "runtime/ompp_frame_priv.h"
#include "runtime/ompp_meters.h"

void ompp_event_caught(const void *stack, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_self; /* a thread without events has nothing open */

    if (!thread || thread->skipped || !ompp_guard_enter(thread)) return;
    ompp_unwound_slow(thread, (uint64_t)(uintptr_t)stack, t);
    ompp_guard_leave(thread);
}

void ompp_event_unwind(ompp_region_ref_t region, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_region_is_kept(region) || thread->skipped || !ompp_guard_enter(thread)) return;
    ompp_settled_top(thread, t);
    uint32_t index = ompp_frame_find(thread, region);
    if (index && index < thread->stack->top) ompp_frames_close(thread, index + 1, t);
    ompp_guard_leave(thread);
}

ompp_region_ref_t ompp_event_innermost(ompp_construct_t construct)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || ompp_is_inside(thread)) return 0;
    /* The begin of a disabled construct was no event, and so is its end. */
    if (thread->skipped) return ompp_process.disabled[construct] ? 0 : OMPP_REGION_SKIPPED;
    for (const ompp_a_frame_t *frame = ompp_top(thread); frame > thread->stack->frames; frame--) {
        const ompp_a_node_t *node = ompp_node(thread, frame->node);
        if (node->construct == construct && !(frame->flags & OMPP_FRAME_F_PENDING)) return node->region;
        if (frame->flags & OMPP_FRAME_F_TEAM) return 0;
    }
    return 0;
}

void ompp_event_exit_or_barrier(ompp_region_ref_t region, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !region || !ompp_guard_enter(thread)) return;
    if (thread->skipped) {
        thread->skipped--;
    } else {
        ompp_a_frame_t *frame = ompp_settled_top(thread, t);
        if (thread->stack->top == 0 || ompp_node(thread, frame->node)->region != region || frame->flags) {
            ompp_exit_slow(thread, region, t);
        } else {
            ompp_frame_book(thread, frame, t);
            frame->flags |= OMPP_FRAME_F_ENDED;
            ompp_moved(thread);
        }
    }
    ompp_guard_leave(thread);
}

void ompp_event_barrier_phase(bool begin, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || thread->skipped || !ompp_guard_enter(thread)) return;
    ompp_a_frame_t *frame = ompp_top(thread);
    ompp_a_node_t *node = ompp_node(thread, frame->node);
    unsigned slot = thread->stack->top && node->construct < OMPP_CONSTRUCT_NUM
                        ? ompp_phase_slot(node->construct, OMPP_PHASE_EXITBAR)
                        : OMPP_NO_SLOT;
    if (slot != OMPP_NO_SLOT && begin && frame->flags & OMPP_FRAME_F_ENDED) {
        /* The wait counts from the end of the user's code, which was stamped then. */
        frame->flags = (uint16_t)((frame->flags & ~OMPP_FRAME_F_ENDED) | OMPP_FRAME_F_BARRIER);
        ompp_frame_to(thread, frame, slot);
    } else if (slot != OMPP_NO_SLOT && !begin && frame->flags & OMPP_FRAME_F_BARRIER) {
        ompp_frame_book(thread, frame, t);
        frame->flags = (uint16_t)((frame->flags & ~OMPP_FRAME_F_BARRIER) | OMPP_FRAME_F_ENDED);
        ompp_moved(thread);
    }
    ompp_guard_leave(thread);
}

ompp_barrier_state_t ompp_event_barrier_state(void)
{
    const ompp_thread_t *thread = ompp_thread_get();

    if (!thread || ompp_is_inside(thread) || thread->skipped || thread->stack->top == 0) return OMPP_BARRIER_NONE;
    const ompp_a_frame_t *frame = ompp_top(thread);
    if (frame->flags & OMPP_FRAME_F_BARRIER) return OMPP_BARRIER_BEGUN;
    if (!(frame->flags & OMPP_FRAME_F_ENDED)) return OMPP_BARRIER_NONE;
    /* Ended in its barrier: it has had it. */
    return frame->slot == ompp_phase_slot(ompp_node(thread, frame->node)->construct, OMPP_PHASE_EXITBAR)
               ? OMPP_BARRIER_NONE
               : OMPP_BARRIER_AWAITED;
}

/*
 * Takes a frame out of the middle: the frames above stay open and belong to the frame below from now on. The frame
 * directly above has its time so far credited here, and the rest, later, there.
 */
static void take_out(ompp_thread_t *thread, uint32_t index, ompp_time_t t)
{
    ompp_a_frame_t *frame = &thread->stack->frames[index], *above = frame + 1, *below = frame - 1;
    ompp_a_node_t *node = ompp_node(thread, frame->node);
    uint64_t shared = t > above->enter + above->credited ? t - above->enter - above->credited : 0;

    ompp_frame_book(thread, frame, t);
    node->visits++;
    node->slot[frame->slot].child += shared;
    above->credited += shared;
    ompp_node(thread, below->node)->slot[below->slot].child += frame->stamp - frame->enter - frame->credited;
    for (uint32_t i = index; i < thread->stack->top; i++) thread->stack->frames[i] = thread->stack->frames[i + 1];
    ompp_move_top(thread, -1);
}

void ompp_event_release(ompp_region_ref_t region, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !region || !ompp_guard_enter(thread)) return;
    ompp_a_frame_t *top = ompp_settled_top(thread, t);
    if (!thread->skipped && !top->flags && ompp_node(thread, top->node)->region == region) {
        ompp_pop(thread, top, t);
        ompp_guard_leave(thread);
        return;
    }
    const uint32_t index = ompp_frame_find(thread, region); /* also below a region that is skipped */
    if (!index || (index == thread->stack->top && !thread->skipped)) ompp_exit_slow(thread, region, t);
    else if (thread->stack->frames[index].flags & OMPP_FRAME_F_RECURSIVE)
        ompp_frame_leave_again(thread, &thread->stack->frames[index]);
    else if (index < thread->stack->top) take_out(thread, index, t);
    else ompp_frames_close(thread, index, t);
    ompp_guard_leave(thread);
}

ompp_place_now_t ompp_meter_place(void)
{
    ompp_thread_t *thread = ompp_thread_get();

    return thread && thread->record ? ompp_meter_place_of(thread) : (ompp_place_now_t){0, false};
}

void ompp_event_switch(bool on, const char *who)
{
    if (!ompp_runtime_start()) return;
    if (!on && atomic_fetch_and(&ompp_process.on, ~OMPP_ON_ENTER) & OMPP_ON_ENTER)
        ompp_event_coverage(OMPP_COVERAGE_PAUSED, who, NULL);
    if (on) atomic_fetch_or(&ompp_process.on, OMPP_ON_ENTER);
}
