/*
 * Explicit tasks. A running task has a stack of frames of its own; it lies on the stack it interrupted. The interrupted frame is
 * given the task's time as task time, so that nobody counts it twice. Suspended tasks keep their stack; when they go on, on this
 * or another thread, their frames move by the time they were suspended.
 *
 * Handles: created (region << 1 | 1), running (offset of the stack, a multiple of 16).
 */
#include "runtime/ompp_frame_priv.h"

ompp_task_t ompp_event_task_create(ompp_region_ref_t exec, ompp_time_t t)
{
    (void)t;
    return exec ? (ompp_task_t)exec << 1 | 1 : 0;
}

static ompp_a_stack_t *stack_of(const ompp_thread_t *thread, ompp_task_t task)
{
    return task && !(task & 1) ? ompp_at(thread, (ompp_off_t)task) : NULL;
}

/* The stack goes on top of the current one, whose top frame is interrupted from t. */
static void push_stack(ompp_thread_t *thread, ompp_a_stack_t *stack, ompp_time_t t)
{
    stack->under = ompp_off(thread, thread->stack);
    stack->begin = t;
    stack->suspended = 0;
    ompp_use_stack(thread, stack);
}

/* Takes the innermost stack away: the interrupted frame gets the time of the run. */
static void pop_stack(ompp_thread_t *thread, ompp_time_t t)
{
    ompp_a_stack_t *stack = thread->stack, *under = ompp_at(thread, stack->under);
    ompp_a_frame_t *interrupted = &under->frames[under->top];

    if (t > stack->begin) ompp_node(thread, interrupted->node)->slot[interrupted->slot].task += t - stack->begin;
    ompp_use_stack(thread, under);
}

void ompp_event_task_begin(ompp_task_t *task, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();
    ompp_region_ref_t region = (ompp_region_ref_t)(*task >> 1);
    bool created = *task & 1;

    *task = 0;
    if (!thread || !created || thread->skipped || !atomic_load_explicit(&ompp_process.on, memory_order_relaxed) ||
        !ompp_guard_enter(thread))
        return;
    ompp_settled_top(thread, t);
    ompp_off_t node = ompp_child(thread, thread->base_node, region, t);
    ompp_off_t off = node ? ompp_stack_new_slow(thread) : 0;
    if (off) {
        ompp_a_stack_t *stack = ompp_at(thread, off);
        stack->top = 0;
        stack->explicit_task = 1;
        stack->frames[0] = (ompp_a_frame_t){.node = node, .flags = OMPP_FRAME_F_BASE, .enter = t, .stamp = t};
        ompp_node(thread, node)->slot[0].count++;
        push_stack(thread, stack, t);
        *task = off;
    } else {
        thread->record->dropped++;
    }
    ompp_guard_leave(thread);
}

/* Tasks begun above this one that never ended are ended now. */
static bool unwind_to(ompp_thread_t *thread, const ompp_a_stack_t *stack, ompp_time_t t)
{
    ompp_a_stack_t *s = thread->stack;

    while (s != stack && s->under) s = ompp_at(thread, s->under);
    if (s != stack) return false;
    while (thread->stack != stack) {
        s = thread->stack;
        thread->record->unclosed++;
        ompp_frames_close(thread, 0, t);
        pop_stack(thread, t);
        s->under = thread->free_stacks;
        thread->free_stacks = ompp_off(thread, s);
    }
    return true;
}

void ompp_event_task_end(ompp_task_t task, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();
    ompp_a_stack_t *stack;

    if (!thread || !task || task & 1 || !ompp_guard_enter(thread)) return;
    stack = stack_of(thread, task);
    if (unwind_to(thread, stack, t)) {
        thread->skipped = 0;
        ompp_frames_close(thread, 0, t);
        pop_stack(thread, t);
        stack->under = thread->free_stacks;
        thread->free_stacks = ompp_off(thread, stack);
    } else {
        thread->record->unopened++;
    }
    ompp_guard_leave(thread);
}

/* Books what the open frames have had so far where it was spent: the task may go on in another thread's tree. */
static void book_all(ompp_thread_t *thread, ompp_a_stack_t *stack, ompp_time_t t)
{
    for (uint32_t i = 0; i <= stack->top; i++) {
        ompp_a_frame_t *frame = &stack->frames[i];
        uint64_t had = frame->enter + frame->credited;
        ompp_frame_book(thread, frame, t);
        if (i == 0 || t <= had) continue;
        ompp_node(thread, frame[-1].node)->slot[frame[-1].slot].child += t - had;
        frame->credited += t - had;
    }
}

void ompp_event_task_suspend(ompp_task_t task, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || !ompp_guard_enter(thread)) return;
    ompp_a_stack_t *stack = stack_of(thread, task);
    if (stack && thread->stack == stack) {
        ompp_settled_top(thread, t);
        book_all(thread, stack, t);
        stack->suspended = t;
        pop_stack(thread, t);
    }
    ompp_guard_leave(thread);
}

/* Nodes of the frames in this thread's tree, for a task that comes from another thread. */
static bool move_here(ompp_thread_t *thread, ompp_a_stack_t *stack, ompp_time_t t)
{
    ompp_off_t parent = thread->base_node;

    for (uint32_t i = 0; i <= stack->top; i++) {
        ompp_off_t node = ompp_child(thread, parent, ompp_node(thread, stack->frames[i].node)->region, t);
        if (!node) return false;
        stack->frames[i].node = parent = node;
    }
    return true;
}

void ompp_event_task_resume(ompp_task_t task, ompp_time_t t)
{
    ompp_thread_t *thread = ompp_thread_get();

    if (!thread || thread->skipped || !ompp_guard_enter(thread)) return;
    ompp_a_stack_t *stack = stack_of(thread, task);
    if (stack && stack->suspended && move_here(thread, stack, t)) {
        uint64_t gap = t > stack->suspended ? t - stack->suspended : 0;
        for (uint32_t i = 0; i <= stack->top; i++) {
            stack->frames[i].enter += gap;
            stack->frames[i].stamp += gap;
        }
        ompp_settled_top(thread, t);
        push_stack(thread, stack, t);
    }
    ompp_guard_leave(thread);
}

ompp_region_ref_t ompp_event_task_region(void)
{
    const ompp_thread_t *thread = ompp_thread_get();

    if (!thread || thread->guard || !thread->stack->explicit_task) return 0;
    const ompp_a_region_t *exec = ompp_at(thread, ompp_node(thread, thread->stack->frames[0].node)->region);
    return atomic_load_explicit(&exec->exec, memory_order_acquire);
}

bool ompp_event_task_below(ompp_task_t task)
{
    const ompp_thread_t *thread = ompp_thread_get();
    const ompp_a_stack_t *stack = thread && !thread->guard ? stack_of(thread, task) : NULL;

    if (!stack) return true;
    for (const ompp_a_stack_t *s = thread->stack; s->under;) {
        s = ompp_at(thread, s->under);
        if (s == stack) return true;
    }
    return false;
}

bool ompp_event_task_suspended(ompp_task_t task)
{
    const ompp_thread_t *thread = ompp_thread_get();
    const ompp_a_stack_t *stack = thread && !thread->guard ? stack_of(thread, task) : NULL;

    return stack && stack->suspended;
}
