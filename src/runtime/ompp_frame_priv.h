/**
 * \file
 * Opening and closing frames: the arithmetic that every event shares. Private to src/runtime.
 *
 * A frame's current phase has run since frame->stamp. Closing books the phase, counts the visit, and credits the whole
 * duration to the phase that the frame below is in. Frames that the source has already ended (OMPP_FRAME_F_ENDED,
 * OMPP_FRAME_F_LEFT) are closed at the next event of the thread, at the time they ended.
 */
#ifndef OMPP_FRAME_PRIV_H
#define OMPP_FRAME_PRIV_H

#include "runtime/ompp_thread.h"

#define OMPP_FRAME_F_PENDING (OMPP_FRAME_F_ENDED | OMPP_FRAME_F_LEFT)
#define OMPP_FRAME_F_UNSETTLED (OMPP_FRAME_F_PENDING | OMPP_FRAME_F_UNTIMED)

/** \brief Closes the frames from the top down to and including index, at t (or when they ended). */
void ompp_frames_close(ompp_thread_t *thread, uint32_t index, ompp_time_t t);

/** \return index of the innermost open frame of region, not looking past the frame of a team; 0 = none. */
uint32_t ompp_frame_find(const ompp_thread_t *thread, ompp_region_ref_t region);

/** \brief Ends the inner execution of a region that was entered while it was the innermost one. */
void ompp_frame_leave_again(ompp_thread_t *thread, ompp_a_frame_t *frame);

/** \brief The open frames of an explicit task did not run for so long, ns. */
void ompp_stack_leave_out(ompp_a_stack_t *stack, uint64_t gap);

/** \brief Closes the top frame if its end is known already. One that is not timed is from t on: something is in it. */
void ompp_settle_slow(ompp_thread_t *thread, ompp_time_t t);

/** \brief Exit of a region that is not plainly the top frame. */
void ompp_exit_slow(ompp_thread_t *thread, ompp_region_ref_t region, ompp_time_t t);

/** \brief The same of a function that works on a part of the stack below this address. */
void ompp_exit_function_slow(ompp_thread_t *thread, ompp_region_ref_t region, uint64_t stack, ompp_time_t t);

/** \brief Notes that the frames above number index are closed by an end that is not theirs. */
void ompp_note_unclosed_slow(ompp_thread_t *thread, uint32_t index);

/**
 * \brief Closes frames of functions that were left without an event (exception, longjmp), and what was entered below
 *        them.
 * \param[in] stack  those functions worked on a part of the stack below this address, which is in use no more.
 */
void ompp_unwound_slow(ompp_thread_t *thread, uint64_t stack, ompp_time_t t);

/**
 * \brief While regions are skipped: one more execution is. Counted where thread->lost says, or, where that is
 *        OMPP_LOSS_DEEP, in the call tree without a time of its own.
 */
void ompp_lose_slow(ompp_thread_t *thread, ompp_region_ref_t region);

/**
 * \brief The region is skipped, and all in it, until its exit.
 * \param[in] why  unless it lies in one that is skipped already.
 */
void ompp_skip_slow(ompp_thread_t *thread, ompp_region_ref_t region, ompp_loss_t why);

/** \brief Entry of a region when not all is as usual. \return false when it was counted as skipped instead. */
bool ompp_may_push_slow(ompp_thread_t *thread, ompp_region_ref_t region);

/**
 * \brief Opens a frame when the region is not the child entered last, is the current one itself, or the stack is full.
 */
void ompp_push_slow(ompp_thread_t *thread, ompp_off_t parent, ompp_region_ref_t region, ompp_time_t t);

/** \brief Books the time of the current phase up to t. */
static inline void ompp_frame_book(const ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_time_t t)
{
    ompp_a_node_t *node = ompp_node(thread, frame->node);

    if (t > frame->stamp) {
        node->slot[frame->slot].time += t - frame->stamp;
        frame->stamp = t;
    }
}

/** \brief The top frame goes to another phase, whose time starts at its stamp. */
static inline void ompp_frame_to(ompp_thread_t *thread, ompp_a_frame_t *frame, unsigned slot)
{
    frame->slot = (uint16_t)slot;
    ompp_node(thread, frame->node)->slot[slot].count++;
    ompp_moved(thread);
}

/** \brief The top frame, after frames whose end is known have been closed. It is timed. */
static inline ompp_a_frame_t *ompp_settled_top(ompp_thread_t *thread, ompp_time_t t)
{
    if (__builtin_expect(ompp_top(thread)->flags & OMPP_FRAME_F_UNSETTLED, 0)) ompp_settle_slow(thread, t);
    return ompp_top(thread);
}

/** \brief Makes what is above the top a frame for node, not yet pushed. */
static inline ompp_a_frame_t *ompp_frame_fill(ompp_thread_t *thread, ompp_off_t node, unsigned flags, ompp_time_t t)
{
    ompp_a_frame_t *frame = ompp_top(thread) + 1;

    frame->node = node;
    frame->slot = 0;
    frame->flags = (uint16_t)flags;
    frame->enter = frame->stamp = t;
    frame->credited = 0;
    frame->again = frame->inlined = 0;
    frame->stack = frame->caller = 0;
    return frame;
}

/** \brief Pushes it. What meters do comes last: it takes long enough for a process to be killed in it. */
static inline void ompp_push_filled(ompp_thread_t *thread, const ompp_a_frame_t *frame)
{
    ompp_step_top(thread, 1);
    ompp_node(thread, frame->node)->slot[0].count++;
    ompp_moved(thread);
}

/** \brief Pushes a frame for node; the caller has settled the top and knows that there is room. */
static inline ompp_a_frame_t *ompp_push_node(ompp_thread_t *thread, ompp_off_t node, unsigned flags, ompp_time_t t)
{
    ompp_a_frame_t *frame = ompp_frame_fill(thread, node, flags, t);

    ompp_push_filled(thread, frame);
    return frame;
}

/**
 * \brief Enters region below the top frame, which is settled.
 * \param[in] parent  the top frame's node, or one of a call path below it.
 * \return the frame, or NULL when it was counted as skipped instead.
 */
static inline ompp_a_frame_t *ompp_push_below(ompp_thread_t *thread, ompp_off_t parent, ompp_region_ref_t region,
                                              ompp_time_t t)
{
    if (__builtin_expect(
            thread->skipped || atomic_load_explicit(&ompp_process.on, memory_order_relaxed) != OMPP_ON_ENTER, 0) &&
        !ompp_may_push_slow(thread, region))
        return NULL;
    /* The child entered last is the most likely one; a region is never its own child, but for parallel regions. */
    const ompp_off_t node = ompp_node(thread, parent)->last;
    if (__builtin_expect(ompp_node(thread, node)->region != region || ompp_top(thread) == thread->last, 0)) {
        ompp_push_slow(thread, parent, region, t);
        return thread->skipped ? NULL : ompp_top(thread);
    }
    return ompp_push_node(thread, node, 0, t);
}

/** \brief Enters region below the top frame. \return as ompp_push_below(). */
static inline ompp_a_frame_t *ompp_push(ompp_thread_t *thread, ompp_region_ref_t region, ompp_time_t t)
{
    const ompp_a_frame_t *top = ompp_settled_top(thread, t);

    return ompp_push_below(thread, top->node, region, t);
}

static inline bool ompp_team_is_forked_by(const ompp_a_team_t *team, const ompp_thread_t *thread)
{
    return team->fork_thread == ompp_off(thread, thread->record);
}

/** \return the team whose frame lies below this one; NULL = none. */
static inline ompp_team_t *ompp_team_below(const ompp_thread_t *thread, const ompp_a_frame_t *frame)
{
    for (const ompp_a_frame_t *f = frame - 1; f > thread->stack->frames; f--)
        if (f->flags & OMPP_FRAME_F_TEAM) return f->team ? ompp_at(thread, f->team) : NULL;
    return NULL;
}

/** \brief Gives up the hold that a team's frame, the top one, has on its team, and restores what was before it. */
static inline void ompp_frame_leave_team(ompp_thread_t *thread, const ompp_a_frame_t *frame, ompp_time_t end)
{
    ompp_a_team_t *team = frame->team ? ompp_at(thread, frame->team) : NULL;

    thread->busy_until = end;
    thread->base_node = frame->outer_base;
    thread->team = team && team->level == 1 ? NULL : ompp_team_below(thread, frame);
    if (!team) return;
    if (ompp_team_is_forked_by(team, thread)) atomic_store_explicit(&team->join, end, memory_order_release);
    else if (atomic_load_explicit(&thread->held, memory_order_relaxed) == frame->team)
        atomic_store_explicit(&thread->held, 0, memory_order_release);
    else atomic_fetch_sub_explicit(&team->refs, 1, memory_order_release);
}

/** \brief The frame below gets the time of this one, which is closed. */
static inline void ompp_frame_credit(const ompp_thread_t *thread, const ompp_a_frame_t *frame)
{
    const ompp_a_frame_t *below = frame - 1;

    ompp_node(thread, below->node)->slot[below->slot].child += frame->stamp - frame->enter - frame->credited;
}

/** \brief ompp_pop() of a thread without meters. */
static inline void ompp_pop_unmetered(ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_time_t t)
{
    ompp_a_node_t *node = ompp_node(thread, frame->node);

    ompp_frame_book(thread, frame, t);
    node->visits++;
    ompp_step_top(thread, -1);
    ompp_frame_credit(thread, frame);
}

/** \brief Closes the top frame, which is an ordinary one, at t. */
static inline void ompp_pop(ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_time_t t)
{
    ompp_pop_unmetered(thread, frame, t);
    ompp_moved(thread); /* last, as above */
}

/**
 * \brief The innermost explicit task does not run any more: takes its stack away. A frame of the implicit task that was
 *        interrupted gets the time of the run as task time. An explicit task does not get it at all: in a recursion of
 *        tasks each would count the others' time again.
 */
static inline void ompp_stack_pop(ompp_thread_t *thread, ompp_time_t t)
{
    ompp_a_stack_t *stack = thread->stack, *under = ompp_at(thread, stack->under);
    ompp_a_frame_t *interrupted = &under->frames[under->top];
    uint64_t run = t > stack->begin ? t - stack->begin : 0;

    stack->ran += run;
    under->lent += run;
    if (under->explicit_task) ompp_stack_leave_out(under, run);
    else ompp_node(thread, interrupted->node)->slot[interrupted->slot].task += run;
    ompp_use_stack(thread, under);
}

#endif
