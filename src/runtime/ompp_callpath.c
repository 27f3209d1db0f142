/*
 * Call paths, the rare side: the start, threads that come, nodes that are new, the end when they cost too much.
 */
#define _GNU_SOURCE
#include "runtime/ompp_callpath.h"

#include "base/ompp_env.h"
#include "base/ompp_error.h"
#include "base/ompp_pages.h"
#include "runtime/ompp_callpath_priv.h"
#include "runtime/ompp_metric.h"
#include "runtime/ompp_module_priv.h"
#include "runtime/ompp_tree_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_CHILDREN 256u     /* slots of the (parent, code) table at first */
#define BUDGET 50u              /* call paths may take one part in so many of a thread's time */
#define LEAST_COST_NS 20000000u /* before that is looked at */

unsigned ompp_samples_set;
bool ompp_callpath_keeps;

static struct {
    bool of_events; /* paths of regions and calls are looked for */
    bool is_on;     /* walks can be made */
} wanted;

/* ---- The start --------------------------------------------------------------------------------------------------- */

static void start_walks(void)
{
    if (wanted.is_on || !ompp_process.header) return;
    const int rc = ompp_unwind_start();
    if (rc == -OMPP_E_OPEN)
        ompp_event_coverage(OMPP_COVERAGE_REFUSED, "call paths through code without unwind information",
                            ompp_unwind_why_simple());
    else if (rc != 0) ompp_event_coverage(OMPP_COVERAGE_REFUSED, "call paths", ompp_error_message(rc));
    wanted.is_on = rc == 0 || rc == -OMPP_E_OPEN;
    if (wanted.is_on) ompp_modules_add();
}

void ompp_callpath_start(void)
{
    wanted.of_events = strcmp(ompp_env.callpath, "site") != 0;
    if (wanted.of_events) start_walks();
}

bool ompp_callpath_start_samples(void)
{
    start_walks();
    if (wanted.is_on) ompp_samples_set = ompp_metric_register(ompp_sample_metrics, OMPP_METRIC_SAMPLES_NUM);
    return ompp_samples_set != 0;
}

bool ompp_callpath_start_early(void)
{
    const int rc = ompp_unwind_open();

    return ompp_callpath_keeps = rc == 0 || rc == -OMPP_E_OPEN;
}

void ompp_callpath_refresh(void)
{
    if (wanted.is_on || ompp_callpath_keeps) ompp_unwind_refresh();
    if (wanted.is_on) ompp_modules_add();
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static ompp_callpath_child_t *new_table(uint32_t slots)
{
    void *table = ompp_mmap(NULL, slots * sizeof(ompp_callpath_child_t), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return table == MAP_FAILED ? NULL : table;
}

static ompp_callpaths_t *new_callpaths(void)
{
    void *memory =
        ompp_mmap(NULL, sizeof(ompp_callpaths_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

void ompp_callpath_thread_begins(ompp_thread_t *thread)
{
    if (!wanted.is_on) return;
    if (!thread->callpaths) thread->callpaths = new_callpaths();
    if (!thread->callpaths) return;
    ompp_unwind_thread_begin(&thread->callpaths->unwind);
    thread->follows = wanted.of_events;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static void put(ompp_callpath_child_t *table, uint32_t mask, const ompp_callpath_child_t *child)
{
    uint32_t i = ompp_callpath_hash(child->parent, child->code);

    while (table[i & mask].node) i++;
    table[i & mask] = *child;
}

/* A half of the table is free at least. */
static bool has_room(ompp_callpaths_t *paths)
{
    const uint32_t slots = paths->children ? 2 * (paths->mask + 1) : FIRST_CHILDREN;

    if (paths->children && paths->mask + 1 >= 2 * (paths->used + 1)) return true;
    ompp_callpath_child_t *bigger = new_table(slots);
    if (!bigger) return false;
    for (uint32_t i = 0; paths->children && i <= paths->mask; i++)
        if (paths->children[i].node) put(bigger, slots - 1, &paths->children[i]);
    if (paths->children) ompp_munmap(paths->children, (paths->mask + 1) * sizeof *bigger);
    paths->children = bigger;
    paths->mask = slots - 1;
    return true;
}

ompp_off_t ompp_callpath_child_slow(ompp_thread_t *thread, ompp_off_t parent, uint64_t code, ompp_time_t t)
{
    const int saved_errno = errno;
    ompp_callpaths_t *paths = thread->callpaths;
    const ompp_off_t node = paths && has_room(paths) ? ompp_node_new(thread, parent, 0, t) : 0;

    if (node) {
        ompp_node(thread, node)->code = code;
        put(paths->children, paths->mask, &(ompp_callpath_child_t){parent, node, code});
        paths->used++;
    } else {
        thread->record->lost[OMPP_LOSS_PATHS]++;
    }
    errno = saved_errno;
    return node ? node : parent;
}

/* ---- Cost -------------------------------------------------------------------------------------------------------- */

void ompp_callpath_spent_slow(ompp_thread_t *thread, uint64_t ns)
{
    ompp_callpaths_t *paths = thread->callpaths;
    const ompp_time_t now = ompp_clock_now(), begin = thread->record->begin_ns;

    paths->cost_ns += ns;
    if (paths->cost_ns < LEAST_COST_NS || strcmp(ompp_env.callpath, "auto") != 0) return;
    if (now > begin && paths->cost_ns < (now - begin) / BUDGET) return;
    thread->follows = false;
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "call paths of regions and MPI calls were given up during the run",
                        "they took 2 % of a thread's time; OMPP_CALLPATH=full keeps them");
}
