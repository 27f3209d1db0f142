/*
 * Frames, the rare side: ends that come late, exits out of order, recursion, full stacks.
 */
#include "runtime/ompp_task_priv.h"

#include "base/ompp_env.h"

#include <string.h>
#include <strings.h>

uint32_t ompp_frame_find(const ompp_thread_t *thread, ompp_region_ref_t region)
{
    for (uint32_t i = thread->stack->top; i > 0; i--) {
        const ompp_a_frame_t *frame = &thread->stack->frames[i];
        if (ompp_node(thread, frame->node)->region == region) return i;
        if (frame->flags & OMPP_FRAME_F_TEAM) return 0;
    }
    return 0;
}

void ompp_frame_leave_again(ompp_thread_t *thread, ompp_a_frame_t *frame)
{
    ompp_node(thread, frame->node)->visits++;
    if (--frame->again == 0) frame->flags &= (uint16_t)~OMPP_FRAME_F_RECURSIVE;
}

/* When the frame ended or has to end, seen at t: LEFT frames of a team end with the team's join. */
static ompp_time_t end_of(const ompp_thread_t *thread, const ompp_a_frame_t *frame, ompp_time_t t)
{
    if (frame->flags & OMPP_FRAME_F_ENDED) return frame->stamp;
    if (frame->flags & OMPP_FRAME_F_TEAM && frame->team) {
        const ompp_a_team_t *team = ompp_at(thread, frame->team);
        ompp_time_t join = atomic_load_explicit(&team->join, memory_order_acquire);
        if (join && join < t) return join;
    }
    return t;
}

/* The source has not told that a worker left the barrier at the team's end: it did when the forking thread did. */
static void leave_barrier(ompp_thread_t *thread, ompp_a_frame_t *frame)
{
    const unsigned construct = ompp_node(thread, frame->node)->construct;
    const ompp_a_team_t *team = ompp_at(thread, frame->team);
    const ompp_time_t release = atomic_load_explicit(&team->release, memory_order_acquire);

    if (!release || team->fork_thread == ompp_off(thread, thread->record) ||
        frame->slot != ompp_phase_slot(construct, OMPP_PHASE_EXITBAR))
        return;
    ompp_frame_book(thread, frame, release);
    ompp_frame_to(thread, frame, ompp_phase_slot(construct, OMPP_PHASE_SHUTDWN));
}

static void close_top(ompp_thread_t *thread, ompp_time_t t)
{
    ompp_a_frame_t *frame = ompp_top(thread);
    ompp_time_t end = end_of(thread, frame, t);

    if (frame->flags & OMPP_FRAME_F_TEAM && frame->team) leave_barrier(thread, frame);
    if (end < frame->stamp) end = frame->stamp;
    if (frame->flags & OMPP_FRAME_F_TEAM) ompp_frame_leave_team(thread, frame, end);
    if (frame->flags & OMPP_FRAME_F_RECURSIVE) ompp_node(thread, frame->node)->visits += frame->again;
    if (thread->stack->top == 0) {
        ompp_frame_book(thread, frame, end); /* base of a task: the caller takes the stack away */
        ompp_node(thread, frame->node)->visits++;
    } else {
        ompp_pop(thread, frame, end);
    }
}

void ompp_frames_close(ompp_thread_t *thread, uint32_t index, ompp_time_t t)
{
    const ompp_a_frame_t *last = &thread->stack->frames[index];

    /* What is open in a team's part does not end after it. */
    if (thread->stack->top > index && last->flags & OMPP_FRAME_F_TEAM) t = end_of(thread, last, t);
    while (thread->stack->top > index) close_top(thread, t);
    if (thread->stack->top == index) close_top(thread, t);
}

/* What was counted without a time has something in it: it is timed from now on, each time. */
static void time_top(ompp_thread_t *thread, ompp_time_t t)
{
    ompp_a_frame_t *frame = ompp_top(thread);
    const ompp_off_t brief = ompp_node(thread, frame->node)->brief;

    frame->flags &= (uint16_t)~OMPP_FRAME_F_UNTIMED;
    frame->enter = frame->stamp = t;
    if (frame->flags & OMPP_FRAME_F_BASE) ompp_tasks_time_slow(thread, t);
    else if (brief) *(ompp_a_brief_t *)ompp_at(thread, brief) = (ompp_a_brief_t){.never = true};
}

void ompp_settle_slow(ompp_thread_t *thread, ompp_time_t t)
{
    if (ompp_top(thread)->flags == OMPP_FRAME_F_ENDED) ompp_pop(thread, ompp_top(thread), ompp_top(thread)->stamp);
    while (thread->stack->top > 0 && ompp_top(thread)->flags & OMPP_FRAME_F_PENDING) close_top(thread, t);
    if (ompp_top(thread)->flags & OMPP_FRAME_F_UNTIMED) time_top(thread, t);
}

/* Below the deepest frame that there is room for: in the tables, with the time of that frame. */
static bool count_untimed(ompp_thread_t *thread, ompp_region_ref_t region)
{
    ompp_off_t node = ompp_top(thread)->node;

    if (ompp_node(thread, node)->region != region) node = ompp_child(thread, node, region, 0);
    if (!node) return false;
    ompp_node(thread, node)->visits++;
    ompp_node(thread, node)->slot[0].count++;
    return true;
}

void ompp_lose_slow(ompp_thread_t *thread, ompp_region_ref_t region)
{
    ompp_loss_t why = region ? thread->lost : OMPP_LOSS_NONE;

    if (why == OMPP_LOSS_DEEP && !count_untimed(thread, region)) why = OMPP_LOSS_ENTRIES;
    if (why) thread->record->lost[why]++;
}

void ompp_skip_slow(ompp_thread_t *thread, ompp_region_ref_t region, ompp_loss_t why)
{
    if (!thread->skipped) thread->lost = why;
    thread->skipped++;
    ompp_lose_slow(thread, region);
}

bool ompp_may_push_slow(ompp_thread_t *thread, ompp_region_ref_t region)
{
    unsigned on = atomic_load_explicit(&ompp_process.on, memory_order_acquire);

    if (on & OMPP_ON_COPY) ompp_runtime_hooks.copy(thread);
    if (!thread->skipped && on & OMPP_ON_ENTER) return true;
    ompp_skip_slow(thread, region, OMPP_LOSS_NONE);
    return false;
}

void ompp_push_slow(ompp_thread_t *thread, ompp_off_t parent, ompp_region_ref_t region, ompp_time_t t)
{
    const ompp_a_node_t *top = ompp_node(thread, ompp_top(thread)->node);
    bool recursive = top->region == region && !ompp_construct_forks(top->construct);
    ompp_off_t node;

    /* The stamp of the process's first event is older than our own start, which is nobody's time. */
    if (t < thread->since) t = thread->since;
    if (recursive) {
        ompp_top(thread)->again++;
        ompp_top(thread)->flags |= OMPP_FRAME_F_RECURSIVE;
        return;
    }
    if (thread->top == thread->last && !ompp_stack_grow_slow(thread)) {
        const bool deep = thread->stack->explicit_task || thread->stack->capacity >= OMPP_MAX_DEPTH;
        ompp_skip_slow(thread, region, deep ? OMPP_LOSS_DEEP : OMPP_LOSS_ENTRIES);
        return;
    }
    node = ompp_child(thread, parent, region, t);
    if (node) ompp_push_node(thread, node, 0, t);
    else ompp_skip_slow(thread, region, OMPP_LOSS_ENTRIES);
}

/* Only below a function that works above the address: else it lies on another stack (of a signal handler, of a
 * coroutine). */
void ompp_unwound_slow(ompp_thread_t *thread, uint64_t stack, ompp_time_t t)
{
    uint32_t dead = 0;

    for (uint32_t i = thread->stack->top; i > 0; i--) {
        const ompp_a_frame_t *frame = &thread->stack->frames[i];
        if (frame->flags & OMPP_FRAME_F_TEAM) return;
        if (frame->stack >= stack) break;
        if (frame->stack) dead = i;
        if (i == 1) return;
    }
    while (dead && thread->stack->top >= dead) close_top(thread, t);
}

/* With OMP_CANCELLATION=true threads leave OpenMP's constructs without an event when one of them cancels. */
static bool may_be_cancelled(const ompp_a_region_t *region)
{
    const char *text = ompp_env.omp_cancellation;

    return text && (strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0) &&
           region->construct != OMPP_CONSTRUCT_USER_REGION && region->construct != OMPP_CONSTRUCT_MPI;
}

void ompp_note_unclosed_slow(ompp_thread_t *thread, uint32_t index)
{
    ompp_a_thread_t *record = thread->record;

    for (uint32_t i = index + 1; i <= thread->stack->top; i++) {
        const ompp_a_frame_t *frame = &thread->stack->frames[i];
        ompp_off_t region = ompp_node(thread, frame->node)->region;
        const ompp_a_region_t *r = ompp_at(thread, region);
        if (r->flags & OMPP_REGION_F_FUNCTION) {
            record->left += 1 + frame->again;
        } else if (!may_be_cancelled(r)) {
            record->unclosed += 1 + frame->again;
            if (!record->first_unclosed) record->first_unclosed = region;
        }
    }
}

/*
 * The inner executions of a function that calls itself have no frames of their own. When it is the outermost one that
 * ends, by its place on the stack, those that are still open have been left (longjmp to it). Of those that the compiler
 * has merged with the outermost one, which have the same place, the inner end first.
 */
static void leave_inner(ompp_thread_t *thread, ompp_a_frame_t *frame)
{
    ompp_node(thread, frame->node)->visits += frame->again;
    thread->record->left += frame->again;
    frame->again = frame->inlined = 0;
    frame->flags &= (uint16_t)~OMPP_FRAME_F_RECURSIVE;
}

void ompp_exit_function_slow(ompp_thread_t *thread, ompp_region_ref_t region, uint64_t stack, ompp_time_t t)
{
    if (!thread->skipped && ompp_settled_top(thread, t)->flags & OMPP_FRAME_F_RECURSIVE &&
        ompp_top(thread)->stack - 1 < stack && ompp_node(thread, ompp_top(thread)->node)->region == region) {
        if (ompp_top(thread)->inlined && ompp_top(thread)->stack == stack) ompp_top(thread)->inlined--;
        else leave_inner(thread, ompp_top(thread));
    }
    ompp_exit_slow(thread, region, t);
}

void ompp_exit_slow(ompp_thread_t *thread, ompp_region_ref_t region, ompp_time_t t)
{
    if (thread->skipped) {
        thread->skipped--;
        return;
    }
    ompp_a_frame_t *top = ompp_settled_top(thread, t);
    if (thread->stack->top > 0 && ompp_node(thread, top->node)->region == region) {
        if (top->flags & OMPP_FRAME_F_RECURSIVE) ompp_frame_leave_again(thread, top);
        else close_top(thread, t);
        return;
    }
    if (region == OMPP_REGION_LOST) return;
    uint32_t index = ompp_frame_find(thread, region);
    if (!index) {
        thread->record->unopened++;
        if (!thread->record->first_unopened && ompp_region_is_kept(region)) thread->record->first_unopened = region;
        return;
    }
    ompp_note_unclosed_slow(thread, index);
    while (thread->stack->top > index) close_top(thread, t);
    top = ompp_top(thread);
    if (top->flags & OMPP_FRAME_F_RECURSIVE) ompp_frame_leave_again(thread, top);
    else close_top(thread, t);
}

/* ---- Stacks of explicit tasks ------------------------------------------------------------------------------------ */

/* The task did not run for so long: its open frames did not either. */
void ompp_stack_leave_out(ompp_a_stack_t *stack, uint64_t gap)
{
    for (uint32_t i = 0; i <= stack->top; i++) {
        stack->frames[i].enter += gap;
        stack->frames[i].stamp += gap;
    }
}
