/*
 * OMPT's events of explicit tasks. What the translation rests on: ompp_ompt.c.
 */
#include "ompt/ompp_ompt_events.h"

#include "ompt/ompp_ompt_code.h"
#include "ompt/ompp_ompt_self.h"

static ompp_task_t handle_of(const ompt_data_t *task)
{
    return task && task->value != OMPP_OMPT_UNMEASURED ? task->value : 0;
}

static ompp_region_ref_t task_region(int flags, const void *code)
{
    /* libomp's tasks of target constructs are untied */
    bool untied = flags & ompt_task_untied && flags & ompt_task_explicit;
    if (untied) __atomic_store_n(&ompp_ompt_has_untied, true, __ATOMIC_RELAXED);
    ompp_construct_t construct = untied ? OMPP_CONSTRUCT_UTASK : OMPP_CONSTRUCT_TASK;

    if (!ompp_code_is_runtime(code)) return ompp_ompt_region_at(construct, code);
    if (ompp_event_innermost(OMPP_CONSTRUCT_TASKLOOP))
        return ompp_region_at(construct, ompp_ompt_self.taskloop_code, NULL);
    /* libomp splits long taskloops by tasks of its own, which make the others, on any thread. */
    ompp_region_ref_t same = ompp_event_task_region();
    return same ? same : ompp_ompt_region_at(construct, code);
}

void ompp_ompt_on_task_dependence(ompt_data_t *before, ompt_data_t *after)
{
    if (handle_of(before) && handle_of(after))
        ompp_sync_task(OMPP_SYNC_TASK_DEPEND, after->value, before->value, ompp_event_now());
}

void ompp_ompt_on_task_create(ompt_data_t *encountering, const ompt_frame_t *frame, ompt_data_t *task, int flags,
                              int dependences, const void *code)
{
    (void)frame, (void)dependences;
    if (ompp_ompt_some_untied()) ompp_ompt_runs_now(encountering, ompp_event_now());
    if (flags & ompt_task_taskwait) {
        /* A wait for dependences: taskwait depend, or an undeferred task before it begins. Its end is told by
         * ompp_ompt_on_task_schedule(). */
        ompp_region_ref_t wait = ompp_ompt_region_at(OMPP_CONSTRUCT_TASKWAIT, code);
        ompp_event_enter(wait, ompp_event_now());
        return;
    }
    if (!task || !(flags & (ompt_task_explicit | ompt_task_target))) return;
    task->value = ompp_event_task_made(task_region(flags, code));
    if (!task->value) task->value = OMPP_OMPT_UNMEASURED;
}

static bool is_over(ompt_task_status_t status)
{
    return status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
}

/*
 * prior stops, next goes on. Implicit tasks carry no handle, so a next without one is the task that lies below; a next
 * that was only created begins on top; a running one either lies below (then prior is suspended) or was suspended.
 */
void ompp_ompt_on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
    ompp_task_t before = handle_of(prior), after = handle_of(next);

    if (status == ompt_taskwait_complete) ompp_event_exit_innermost(OMPP_CONSTRUCT_TASKWAIT, ompp_event_now());
    if (status == ompt_task_early_fulfill || status == ompt_task_late_fulfill || status == ompt_taskwait_complete)
        return;
    if (ompp_ompt_some_untied()) ompp_ompt_runs_now(prior, ompp_event_now());
    if (is_over(status)) {
        ompp_event_task_end_brief(before);
        if (prior && before) prior->value = 0;
        if (!after) return;
    }
    if (next && next->value == OMPP_OMPT_UNMEASURED) return;
    if (after & 1) {
        ompp_event_task_begin_brief(&after);
        next->value = after ? after : OMPP_OMPT_UNMEASURED;
    } else if (!is_over(status) || ompp_event_task_suspended(after)) {
        if (ompp_event_task_suspended(after)) ompp_event_task_resume(after, ompp_event_now());
        else if (ompp_event_task_below(after)) ompp_event_task_suspend(before, ompp_event_now());
    }
}
