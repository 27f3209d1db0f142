/*
 * Tasks that come so often that some are only counted, the rare side: where their time goes. A task that is timed
 * stands for those counted before it on its thread in the same place; when the place changes before, their usual time
 * does. The place that they interrupted has that much less of its own, never less than nothing.
 */
#include "base/ompp_caller.h"
#include "runtime/ompp_brief.h"
#include "runtime/ompp_metric.h"
#include "runtime/ompp_task_priv.h"

#define LONG_NS 5000u /* tasks that take longer: timing them costs next to nothing */
#define LONGS 3u      /* so many one after another are no accident */

_Atomic unsigned ompp_task_sets[2];

static pthread_once_t sets_once = PTHREAD_ONCE_INIT;

static void register_sets(void)
{
    atomic_store(&ompp_task_sets[0], ompp_metric_register(ompp_start_metrics, OMPP_METRIC_TASK_START_NUM));
    atomic_store(&ompp_task_sets[1], ompp_metric_register(ompp_end_metrics, OMPP_METRIC_TASK_END_NUM));
}

static void register_once(void *once) { pthread_once(once, register_sets); }

void ompp_task_sets_slow(void) { ompp_caller_run(register_once, &sets_once); }

void ompp_tasks_new_slow(ompp_thread_t *thread, ompp_off_t off)
{
    ompp_a_node_t *node = ompp_node(thread, off);
    const unsigned set = ompp_brief_set_slow();
    uint64_t *values = set ? ompp_values_of(thread, off, set, OMPP_METRIC_THINNED_NUM) : NULL,
             *starts = ompp_task_starts(thread, off), *ends = ompp_task_ends(thread, off);
    const ompp_off_t tasks = values && starts && ends ? ompp_thread_take(thread, sizeof(ompp_a_tasks_t)) : 0;

    if (!tasks) return;
    *(ompp_a_tasks_t *)ompp_at(thread, tasks) = (ompp_a_tasks_t){
        .inside_ns = ompp_process.header ? ompp_process.header->inside_ps[OMPP_COST_TASK] / 1000 : 0,
        .values = ompp_off(thread, values),
        .starts = ompp_off(thread, starts),
        .ends = ompp_off(thread, ends),
    };
    node->brief = tasks;
}

/* What the phase of an open frame that is timed has had, and is not in the node yet. */
static uint64_t open_time(const ompp_thread_t *thread, const ompp_a_tasks_t *tasks, ompp_time_t t)
{
    const ompp_a_stack_t *stack = thread->stack;

    while (stack->explicit_task && stack->under) stack = ompp_at(thread, stack->under);
    for (const ompp_a_frame_t *f = stack->frames; f <= &stack->frames[stack->top]; f++)
        if (f->node == tasks->at && f->slot == tasks->slot) return t > f->stamp ? t - f->stamp : 0;
    return 0;
}

/* The counted ones took so long each, no longer than there is room. */
static void give(ompp_thread_t *thread, ompp_a_node_t *node, uint64_t each, ompp_time_t t)
{
    ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);
    ompp_a_slot_t *around = &ompp_node(thread, tasks->at)->slot[tasks->slot];
    const int64_t room = (int64_t)(around->time + open_time(thread, tasks, t) - around->child - around->task);
    uint64_t more = each * tasks->counted;

    if (room < (int64_t)more) more = room > 0 ? (uint64_t)room : 0;
    node->slot[0].time += more;
    around->task += more;
    ((uint64_t *)ompp_at(thread, tasks->ends))[OMPP_METRIC_TASK_RUN] += more;
    tasks->counted = 0;
}

/* A timed task took so long, and stands for them. */
static void stand_for(ompp_thread_t *thread, ompp_a_node_t *node, uint64_t each, ompp_time_t t)
{
    const ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);

    ompp_brief_note(ompp_at(thread, tasks->values), tasks->counted + 1, each);
    give(thread, node, each, t);
}

void ompp_tasks_created_slow(ompp_thread_t *thread, ompp_a_brief_t *creation, ompp_time_t t)
{
    ompp_a_node_t *node = ompp_node(thread, creation->inner);
    const ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);

    creation->inner = 0;
    if (tasks->counted) stand_for(thread, node, tasks->each_ns, t);
}

/* No task that is timed will stand for those that were counted: they are as usual. */
static void settle(ompp_thread_t *thread, ompp_a_node_t *node, ompp_time_t t)
{
    ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);
    uint64_t *starts = ompp_at(thread, tasks->starts), *values = ompp_at(thread, tasks->values);
    const uint64_t timed = starts[OMPP_METRIC_TASK_STARTS] - tasks->unwaited;

    if (timed) starts[OMPP_METRIC_TASK_WAIT] += starts[OMPP_METRIC_TASK_WAIT] / timed * tasks->unwaited;
    tasks->unwaited = 0;
    values[OMPP_METRIC_THINNED] += tasks->counted;
    give(thread, node, tasks->usual_ns, t);
}

void ompp_tasks_place_slow(ompp_thread_t *thread, ompp_a_node_t *node)
{
    ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);

    if (tasks->counted) settle(thread, node, ompp_event_now());
    tasks->at = ompp_top(thread)->node;
    tasks->slot = ompp_top(thread)->slot;
}

/* On other threads, too. */
static void time_each(ompp_thread_t *thread, const ompp_a_node_t *node)
{
    ((ompp_a_tasks_t *)ompp_at(thread, node->brief))->never = true;
    atomic_store_explicit(&((ompp_a_region_t *)ompp_at(thread, node->region))->timed_each, 1, memory_order_relaxed);
}

/* The task runs in this creation, which is timed with it. */
static bool is_in_creation(const ompp_thread_t *thread)
{
    const ompp_a_frame_t *top = ompp_top(thread);

    return top->state == 0 && ompp_node(thread, top->node)->construct == OMPP_CONSTRUCT_TASK;
}

/* A creation in which no task is timed takes less. */
static void note_inner(ompp_thread_t *thread, ompp_a_node_t *creation)
{
    const uint32_t *ps = ompp_process.header ? ompp_process.header->cost_ps : NULL;

    if (ps && creation->brief && ps[OMPP_COST_TASK] > ps[OMPP_COST_TASK_COUNTED])
        ompp_brief_of(thread, creation)->inner_ns = (ps[OMPP_COST_TASK] - ps[OMPP_COST_TASK_COUNTED]) / 1000;
}

/* What one that is timed says of others: not more than eight times what they usually take, which may be because its
 * thread had lost its processor. */
static uint64_t each_of(const ompp_a_tasks_t *tasks, uint64_t run)
{
    const uint64_t own = run > tasks->inside_ns ? run - tasks->inside_ns : 0, usual = 8 * (uint64_t)tasks->usual_ns,
                   most = usual > OMPP_BRIEF_LONGEST_NS ? usual : OMPP_BRIEF_LONGEST_NS;

    return own < most || !tasks->usual_ns ? own : most;
}

void ompp_tasks_timed_slow(ompp_thread_t *thread, ompp_a_node_t *node, uint64_t run, ompp_time_t t)
{
    ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);
    const uint64_t each = each_of(tasks, run),
                   usual = tasks->usual_ns ? (7 * (uint64_t)tasks->usual_ns + each) / 8 : each;
    const bool in_creation = is_in_creation(thread);

    if (in_creation) note_inner(thread, ompp_node(thread, ompp_top(thread)->node));
    if (tasks->never) return;
    tasks->usual_ns = usual < UINT32_MAX ? (uint32_t)usual : UINT32_MAX;
    tasks->longs = each > LONG_NS ? tasks->longs + 1 : 0;
    tasks->each_ns = each < UINT32_MAX ? (uint32_t)each : UINT32_MAX;
    if (in_creation && tasks->at == ompp_top(thread)->node && ompp_node(thread, tasks->at)->brief)
        ompp_brief_of(thread, ompp_node(thread, tasks->at))->inner = ompp_off(thread, node);
    else if (tasks->counted) stand_for(thread, node, each, t);
    if (node->slot[0].child | node->slot[0].task || tasks->longs >= LONGS) time_each(thread, node);
}

void ompp_tasks_time_slow(ompp_thread_t *thread, ompp_time_t t)
{
    ompp_a_stack_t *under = ompp_at(thread, thread->stack->under);
    ompp_a_node_t *node = ompp_node(thread, thread->stack->frames[0].node);
    ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);

    thread->stack->begin = t;
    if (tasks->counted) tasks->counted--; /* this one */
    if (tasks->counted) settle(thread, node, t);
    time_each(thread, node);
    if (ompp_task_is_creation(thread, &under->frames[under->top]))
        ompp_tasks_time_creation_slow(thread, &under->frames[under->top], t);
}

/* It is as one that is timed before its turn. */
void ompp_tasks_time_creation_slow(ompp_thread_t *thread, ompp_a_frame_t *frame, ompp_time_t t)
{
    ompp_a_brief_t *brief = ompp_brief_of(thread, ompp_node(thread, frame->node));

    frame->flags = 0;
    frame->enter = frame->stamp = t;
    if (ompp_node(thread, frame->node)->brief) brief->left++;
}
