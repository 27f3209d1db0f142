/*
 * Back end "page-faults": which thread touches which structure first, where in the program. Every page fault is a sample of its own
 * with the address, so the counts are exact; they are counts of pages, not of accesses.
 */
#include "memory/ompp_backends_priv.h"
#include "memory/ompp_sampled_priv.h"

#include "model/ompp_profile.h"

#include <errno.h>
#include <stdio.h>

#define RING (1u << 20) /* bytes per thread, where the system gives them: 40,000 faults */
#define SOURCE "page faults"
#define ROW(name, use, meaning)                                                                                        \
    {name, OMPP_UNIT_COUNT, OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, SOURCE, meaning, OMPP_USE_##use}

enum { FAULTS, LOSSES, VALUES = LOSSES + OMPP_LOSS_NUM };

static const ompp_metric_row_t rows[] = {
    ROW("touches", OBJECTS, "page faults: pages that this thread touched first, or first again after they were taken away"),
    OMPP_SAMPLED_LOSSES,
};
_Static_assert(sizeof rows / sizeof rows[0] == VALUES, "a row per value");

static void count(const ompp_perf_record_t *record, uint64_t weight, uint64_t *values)
{
    (void)record;
    values[FAULTS] += weight;
}

static ompp_sampled_t backend = {
    .what = SOURCE,
    .rows = rows,
    .nvalues = VALUES,
    .count = count,
    .attr = {{.type = PERF_TYPE_SOFTWARE,
              .config = PERF_COUNT_SW_PAGE_FAULTS,
              .sample_period = 1,
              .sample_type = PERF_SAMPLE_ADDR}},
    .nevents = 1,
    .ring = RING,
};

static void *begin(void)
{
    return ompp_sampled_begin(&backend);
}

static const ompp_meter_t meter = {.begin = begin, .move = ompp_sampled_move, .end = ompp_sampled_end, .readable = true};

static int try_open(void)
{
    ompp_perf_t events[OMPP_SAMPLED_EVENTS], leader;
    int error = ompp_sampled_open(&backend, events, &leader);

    if (!error) ompp_perf_close(&events[0]);
    return error;
}

static bool start(char *why, size_t n)
{
    int error = try_open();

    if (error == EACCES || error == EPERM) {
        backend.attr[0].exclude_kernel = 1;
        error = try_open();
        if (!error)
            ompp_event_coverage(OMPP_COVERAGE_INVISIBLE, SOURCE,
                                "pages that a system call touches first (a read into fresh memory): perf_event_paranoid is above 1");
    }
    if (error) {
        ompp_perf_why(error, SOURCE, why, n);
        return false;
    }
    snprintf(why, n, "no addresses for the map of structures (ulimit -v, vm.overcommit_memory), or too many meters");
    return ompp_sampled_map() && ompp_sampled_start(&backend, &meter);
}

const ompp_data_backend_t ompp_backend_page_faults = {.put = ompp_sampled_put, .name = "page-faults", .start = start};
