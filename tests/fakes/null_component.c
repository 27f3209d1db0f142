/**
 * \file
 * A component to copy (src/runtime/ompp_component.h): it measures nothing, but counts the ticks that null_tick() is
 * given. CONTRIBUTING.md, "Add a metric", walks through it; tests/run/meter.py checks that every tick stands where it
 * was made.
 */
#include "null_component.h"

#include "model/ompp_tables.h"
#include "runtime/ompp_metric.h"

#include <stdio.h>

/* RATIONALE: one row per value. The writers, the analysis and the reader take names, units and reductions from here. */
static const ompp_metric_row_t rows[] = {
    {"ticks", OMPP_UNIT_COUNT, OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "test", "in the user's code"},
    {"waits", OMPP_UNIT_COUNT, OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "test", "while waiting"}};

enum { NVALUES = sizeof rows / sizeof rows[0] };

/* RATIONALE: a state per thread, so that counting needs neither lock nor atomic. */
typedef struct {
    uint64_t ticks, told;
} count_t;

static __thread count_t count;
static unsigned set; /* of the metrics */

void null_tick(int n) { count.ticks += (uint64_t)n; }

/* RATIONALE: asks, tries and registers here, where a failure costs nothing. Whoever cannot work says why, returns
 * false, and is never called again; the caller says it once and puts it into Coverage. */
static bool start(char *why, size_t n)
{
    set = ompp_metric_register(rows, NVALUES);
    if (!set) snprintf(why, n, "there is no room for its metrics");
    return set != 0;
}

/* RATIONALE: runs inside the first event of a thread. NULL here would leave this thread out. */
static void *thread_begin(void)
{
    count.told = count.ticks;
    return &count;
}

/* RATIONALE: the hot one. What was counted belongs to the place that is left, which may have no room: then it is lost
 * there, and not given to another place. */
static void move(void *state, ompp_place_now_t from, ompp_place_now_t to)
{
    count_t *c = state;
    uint64_t *values = ompp_meter_values(from.node, set, 0, NVALUES);

    (void)to;
    if (values) values[from.waits] += c->ticks - c->told;
    c->told = c->ticks;
}

/* RATIONALE: the place to close files of this thread; its last counts have been moved. */
static void thread_end(void *state) { (void)state; }

/* RATIONALE: what only all of the run shows ("the buffer was full 3 times") goes to ompp_event_coverage() here. */
static void quiesce(void) {}

/* put, visited and waits: it counts for no data structure, ends nothing at progress points and follows no waits. */
const ompp_component_t null_component = {
    .name = "ticks",
    .start = start,
    .thread_begin = thread_begin,
    .move = move,
    .thread_end = thread_end,
    .readable = true, /* its state is plain memory */
    .quiesce = quiesce,
};
