/**
 * \file
 * What tasks that are timed (ompp_task.c) and those that are only counted (ompp_task_hot.c) share. Private to
 * src/runtime.
 */
#ifndef OMPP_TASK_PRIV_H
#define OMPP_TASK_PRIV_H

#include "runtime/ompp_frame_priv.h"
#include "runtime/ompp_region_priv.h"

#define OMPP_TASK_REGION_BITS 28u
#define OMPP_TASK_TIME_SHIFT (OMPP_TASK_REGION_BITS + 1)

#define OMPP_TASK_COUNTED ((UINT64_C(1) << (64 - OMPP_TASK_TIME_SHIFT)) - 1) /* in the place of the time of creation */

/** \return a task that is created at t, as ompp_event_task_create() makes it of a region that is kept. */
ompp_task_t ompp_task_created(ompp_region_ref_t exec, ompp_time_t t);

/** \brief ompp_event_task_creating() where the TASKEXEC region is known. */
ompp_task_t ompp_task_creating(ompp_region_ref_t region, ompp_region_ref_t exec);

/** \return whether it was created, has not begun, and is to be counted only. */
static inline bool ompp_task_is_counted(ompp_task_t task)
{
    return task & 1 && task >> OMPP_TASK_TIME_SHIFT == OMPP_TASK_COUNTED;
}

/** \return a task of this TASKEXEC region that is to be counted only. */
static inline ompp_task_t ompp_task_counted(ompp_region_ref_t exec)
{
    return OMPP_TASK_COUNTED << OMPP_TASK_TIME_SHIFT | (ompp_task_t)(exec >> 4) << 1 | 1;
}

/** \return TASKEXEC region of a task that has not begun. */
static inline ompp_region_ref_t ompp_task_region_of(ompp_task_t created)
{
    return (ompp_region_ref_t)(created >> 1 & ((1u << OMPP_TASK_REGION_BITS) - 1)) << 4;
}

/** \return stack of a task that runs or is suspended; NULL when it is not measured. */
static inline ompp_a_stack_t *ompp_task_stack(const ompp_thread_t *thread, ompp_task_t task)
{
    return task && !(task & 1) ? ompp_at(thread, (ompp_off_t)task) : NULL;
}

/** \return a stack for a task; 0 when memory is full. */
static inline ompp_off_t ompp_task_new_stack(ompp_thread_t *thread)
{
    const ompp_off_t off = thread->free_stacks;

    if (__builtin_expect(!off, 0)) return ompp_stack_new_slow(thread);
    thread->free_stacks = ((const ompp_a_stack_t *)ompp_at(thread, off))->under;
    return off;
}

static inline void ompp_task_free_stack(ompp_thread_t *thread, ompp_a_stack_t *stack)
{
    stack->under = thread->free_stacks;
    thread->free_stacks = ompp_off(thread, stack);
}

/** \brief A new task is on the stack: its only frame is that of node. */
static inline void ompp_task_fill(ompp_a_stack_t *stack, ompp_off_t node, unsigned flags, ompp_time_t t)
{
    stack->top = 0;
    stack->explicit_task = 1;
    stack->ran = stack->lent = 0;
    atomic_store_explicit(&stack->over, 0, memory_order_relaxed);
    stack->frames[0] =
        (ompp_a_frame_t){.node = node, .flags = (uint16_t)(OMPP_FRAME_F_BASE | flags), .enter = t, .stamp = t};
}

/** \brief The stack goes on top of the current one, whose top frame is interrupted from t. */
static inline void ompp_task_push_stack(ompp_thread_t *thread, ompp_a_stack_t *stack, ompp_time_t t)
{
    stack->under = ompp_off(thread, thread->stack);
    stack->depth = thread->stack->depth + 1;
    stack->begin = t;
    atomic_store_explicit(&stack->suspended, 0, memory_order_relaxed);
    ompp_use_stack(thread, stack);
}

/** \return whether the frame is a creation that is only counted: a task may run in it. */
static inline bool ompp_task_is_creation(const ompp_thread_t *thread, const ompp_a_frame_t *frame)
{
    return frame->flags == OMPP_FRAME_F_UNTIMED && ompp_node(thread, frame->node)->construct == OMPP_CONSTRUCT_TASK;
}

/**
 * \brief Begins a task that is to be counted only.
 * \param[in,out] task  as in ompp_event_task_begin().
 * \return false: it has to be timed.
 */
bool ompp_task_begin_counted(ompp_thread_t *thread, ompp_task_t *task);

/** \brief Ends the task of this stack. \return false: it is timed, or not the innermost one. */
bool ompp_task_end_counted(ompp_thread_t *thread, ompp_a_stack_t *stack);

/** Metric sets of starts and of ends of tasks; 0 = not registered yet. */
extern _Atomic unsigned ompp_task_sets[2] __attribute__((visibility("hidden")));

/** \brief Registers them. */
void ompp_task_sets_slow(void);

/** \return values of starts of tasks of a node, shape [OMPP_METRIC_TASK_START_NUM]; NULL = no room. */
static inline uint64_t *ompp_task_starts(ompp_thread_t *thread, ompp_off_t node)
{
    const unsigned set = atomic_load_explicit(&ompp_task_sets[0], memory_order_relaxed);

    return set ? ompp_values_of(thread, node, set, OMPP_METRIC_TASK_START_NUM) : NULL;
}

/** \return the same of ends, shape [OMPP_METRIC_TASK_END_NUM]. */
static inline uint64_t *ompp_task_ends(ompp_thread_t *thread, ompp_off_t node)
{
    const unsigned set = atomic_load_explicit(&ompp_task_sets[1], memory_order_relaxed);

    return set ? ompp_values_of(thread, node, set, OMPP_METRIC_TASK_END_NUM) : NULL;
}

/** \brief Tasks of the node are counted from now on, if there is room. */
void ompp_tasks_new_slow(ompp_thread_t *thread, ompp_off_t node);

/** \brief The tasks that were counted in one place get their time there: the next one is in another. */
void ompp_tasks_place_slow(ompp_thread_t *thread, ompp_a_node_t *node);

/** \brief A task of the node that was timed has run for so long, and ends at t: it stands for those counted before. */
void ompp_tasks_timed_slow(ompp_thread_t *thread, ompp_a_node_t *node, uint64_t run, ompp_time_t t);

/**
 * \brief The task that runs, which was to be counted only, has something in it: it is timed from t on, and so is the
 *        creation that it may run in. Each task of its region is timed from now on, on other threads, too.
 */
void ompp_tasks_time_slow(ompp_thread_t *thread, ompp_time_t t);

/** \brief A task that is timed begins in a creation that was to be counted only: that is timed from t on. */
void ompp_tasks_time_creation_slow(ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_time_t t);

#endif
