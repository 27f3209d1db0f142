/*
 * Tasks that come so often that some are only counted. Which ones is drawn as they are created: those have no time of
 * creation. Their own time lies in the place that they interrupted, until one that is timed ends there.
 */
#include "runtime/ompp_brief.h"
#include "runtime/ompp_task_priv.h"

/* \return the node of the task, if it can be counted: the thread is in no other task, and its place is timed. */
static inline ompp_a_node_t *counted_node(ompp_thread_t *thread, ompp_task_t created, ompp_off_t *off)
{
    const ompp_a_frame_t *top = ompp_top(thread);

    if (thread->stack->explicit_task) return NULL;
    if (top->flags & OMPP_FRAME_F_UNSETTLED && !ompp_task_is_creation(thread, top)) return NULL;
    *off = ompp_child(thread, thread->base_node, ompp_task_region_of(created), 0);
    if (!*off) return NULL;
    ompp_a_node_t *node = ompp_node(thread, *off);
    if (__builtin_expect(!node->brief, 0)) {
        ompp_tasks_new_slow(thread, *off);
        return NULL;
    }
    return ((const ompp_a_tasks_t *)ompp_at(thread, node->brief))->never ? NULL : node;
}

bool ompp_task_begin_counted(ompp_thread_t *thread, ompp_task_t *task)
{
    ompp_off_t off;

    if (!ompp_brief_may(thread) || !ompp_guard_enter(thread)) return false;
    ompp_a_node_t *node = counted_node(thread, *task, &off);
    const ompp_off_t stack = node ? ompp_task_new_stack(thread) : 0;
    if (stack) {
        const ompp_a_frame_t *top = ompp_top(thread);
        ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);
        if (tasks->at != top->node || tasks->slot != top->slot) ompp_tasks_place_slow(thread, node);
        tasks->counted++;
        tasks->unwaited++;
        node->slot[0].count++;
        ((uint64_t *)ompp_at(thread, tasks->starts))[OMPP_METRIC_TASK_STARTS]++;
        ompp_task_fill(ompp_at(thread, stack), off, OMPP_FRAME_F_UNTIMED, UINT64_MAX);
        ompp_task_push_stack(thread, ompp_at(thread, stack), UINT64_MAX);
        *task = stack;
    }
    ompp_guard_leave(thread);
    return stack != 0;
}

bool ompp_task_end_counted(ompp_thread_t *thread, ompp_a_stack_t *stack)
{
    if (thread->stack != stack || thread->unusual || stack->top != 0 ||
        stack->frames[0].flags != (OMPP_FRAME_F_BASE | OMPP_FRAME_F_UNTIMED) || !ompp_guard_enter(thread))
        return false;
    ompp_a_node_t *node = ompp_node(thread, stack->frames[0].node);
    const ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);
    node->visits++;
    ((uint64_t *)ompp_at(thread, tasks->ends))[OMPP_METRIC_TASK_ENDS]++;
    ompp_use_stack(thread, ompp_at(thread, stack->under));
    ompp_task_free_stack(thread, stack);
    ompp_guard_leave(thread);
    return true;
}
