/*
 * Tasks that come so often that some are only counted, the rare side: where their time goes. A task that is timed
 * stands for those counted before it on its thread in the same place; when the place changes before, their usual time
 * does. The place that they interrupted has that much less of its own, never less than nothing.
 */
#include "base/ompp_caller.h"
#include "runtime/ompp_brief.h"
#include "runtime/ompp_metric.h"
#include "runtime/ompp_task_priv.h"

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
    for (const ompp_a_frame_t *f = thread->stack->frames; f <= ompp_top(thread); f++)
        if (f->node == tasks->at && f->slot == tasks->slot) return t > f->stamp ? t - f->stamp : 0;
    return 0;
}

/* The counted ones took so long each. In a creation, that is timed with its task: its own time comes later. */
static void give(ompp_thread_t *thread, ompp_a_node_t *node, uint64_t each, ompp_time_t t)
{
    ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);
    ompp_a_node_t *at = ompp_node(thread, tasks->at);
    ompp_a_slot_t *around = &at->slot[tasks->slot];
    const int64_t room = (int64_t)(around->time + open_time(thread, tasks, t) - around->child - around->task);
    uint64_t more = each * tasks->counted;

    if (at->construct != OMPP_CONSTRUCT_TASK && room < (int64_t)more) more = room > 0 ? (uint64_t)room : 0;
    node->slot[0].time += more;
    around->task += more;
    ((uint64_t *)ompp_at(thread, tasks->ends))[OMPP_METRIC_TASK_RUN] += more;
    tasks->counted = 0;
}

void ompp_tasks_place_slow(ompp_thread_t *thread, ompp_a_node_t *node)
{
    ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);
    uint64_t *starts = ompp_at(thread, tasks->starts), *values = ompp_at(thread, tasks->values);
    const uint64_t timed = starts[OMPP_METRIC_TASK_STARTS] - tasks->counted;

    if (tasks->counted) {
        if (timed) starts[OMPP_METRIC_TASK_WAIT] += starts[OMPP_METRIC_TASK_WAIT] / timed * tasks->counted;
        values[OMPP_METRIC_THINNED] += tasks->counted;
        give(thread, node, tasks->usual_ns, ompp_event_now());
    }
    tasks->at = ompp_top(thread)->node;
    tasks->slot = ompp_top(thread)->slot;
}

/* A creation in which no task is timed takes less. */
static void note_inner(ompp_thread_t *thread, ompp_a_node_t *creation)
{
    const uint32_t *ps = ompp_process.header ? ompp_process.header->cost_ps : NULL;

    if (ps && creation->brief && ps[OMPP_COST_TASK] > ps[OMPP_COST_TASK_COUNTED])
        ompp_brief_of(thread, creation)->inner_ns = (ps[OMPP_COST_TASK] - ps[OMPP_COST_TASK_COUNTED]) / 1000;
}

void ompp_tasks_timed_slow(ompp_thread_t *thread, ompp_a_node_t *node, uint64_t run, ompp_time_t t)
{
    ompp_a_tasks_t *tasks = ompp_at(thread, node->brief);
    const uint64_t own = run > tasks->inside_ns ? run - tasks->inside_ns : 0,
                   each = own < OMPP_BRIEF_LONGEST_NS ? own : OMPP_BRIEF_LONGEST_NS;

    if (tasks->never) return;
    if (node->slot[0].child | node->slot[0].task) ompp_tasks_filled_slow(thread, node);
    tasks->usual_ns = (uint32_t)(tasks->usual_ns ? (7 * tasks->usual_ns + each) / 8 : each);
    if (tasks->counted) {
        ompp_brief_note(ompp_at(thread, tasks->values), tasks->counted + 1, run);
        give(thread, node, each, t);
    }
    if (ompp_top(thread)->state == 0 && ompp_node(thread, ompp_top(thread)->node)->construct == OMPP_CONSTRUCT_TASK)
        note_inner(thread, ompp_node(thread, ompp_top(thread)->node));
}

void ompp_tasks_filled_slow(ompp_thread_t *thread, const ompp_a_node_t *node)
{
    if (node->brief) ((ompp_a_tasks_t *)ompp_at(thread, node->brief))->never = true;
    atomic_store_explicit(&((ompp_a_region_t *)ompp_at(thread, node->region))->filled, 1, memory_order_relaxed);
}
