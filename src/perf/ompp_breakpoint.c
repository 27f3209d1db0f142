/*
 * Back end "breakpoints": the processor's debug registers in counting mode. Exact counts of the instructions that touch
 * a scalar of 1, 2, 4 or 8 bytes, in a program that nobody rebuilt; each of them costs microseconds. There are four
 * registers: two structures with accesses and writes, or four with accesses alone.
 */
#define _GNU_SOURCE
#include "base/ompp_pages.h"
#include "perf/ompp_backends_priv.h"
#include "perf/ompp_perf_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_float.h"
#include "base/ompp_log.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_meter.h"
#include "runtime/ompp_metric.h"

#include <linux/hw_breakpoint.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define REGISTERS 4
#define MUCH_NS 1000000000u /* in traps: worth a line while the program runs */
#define SOURCE "breakpoints"
#define ROW(name, meaning)                                                                            \
    {                                                                                                 \
        name, OMPP_UNIT_COUNT, OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, SOURCE, meaning, \
            OMPP_USE_SELECTED                                                                         \
    }

enum { ACCESSES, WRITES, VALUES };

/* Where writes are not told apart, their row is left out. What the traps have cost comes last, of all data alone. */
static const ompp_metric_row_t rows[] = {
    [ACCESSES] = ROW("accesses", "instructions that read or write it; one that does both is one"),
    [WRITES] = ROW("writes", "instructions that write it"),
    [VALUES] = {"trapped", OMPP_UNIT_NS, OMPP_QUALITY_SAMPLED, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, SOURCE,
                "time that these accesses took more, about", OMPP_USE_LOSS},
};

typedef struct {
    uint32_t object;
    uintptr_t begin;
    unsigned size;
} watch_t;

/** Of one thread. */
typedef struct {
    pid_t tid;
    unsigned generation; /* of what it watches */
    watch_t watch[REGISTERS];
    bool noted[REGISTERS]; /* the report knows that it is watched, whatever is counted */
    ompp_perf_t event[REGISTERS][VALUES];
    uint64_t last[REGISTERS][VALUES];
} state_t;

static const unsigned event_kind[VALUES] = {[ACCESSES] = HW_BREAKPOINT_RW, [WRITES] = HW_BREAKPOINT_W};

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static watch_t watches[REGISTERS]; /* object 0: free */
static _Atomic unsigned generation;
static unsigned nvalues = VALUES, refused, metrics;
static bool started;
static uint64_t trap_ns;            /* that an access takes more, about */
static _Atomic uint64_t trapped_ns; /* of all threads */

/* ---- Structures -------------------------------------------------------------------------------------------------- */

static bool fits_register(uintptr_t begin, uintptr_t end)
{
    const uintptr_t size = end - begin;

    return size && size <= 8 && (size & (size - 1)) == 0 && begin % size == 0;
}

static bool add_watch(uint32_t object, uintptr_t begin, uintptr_t end)
{
    const unsigned room = started ? REGISTERS / nvalues : REGISTERS;

    for (unsigned i = 0; fits_register(begin, end) && i < room; i++) {
        if (watches[i].object) continue;
        watches[i] = (watch_t){object, begin, (unsigned)(end - begin)};
        return true;
    }
    return false;
}

static void put(uint32_t object, uintptr_t begin, uintptr_t end)
{
    bool full = false;

    pthread_mutex_lock(&watch_lock);
    for (unsigned i = 0; i < REGISTERS; i++)
        if (watches[i].begin < end && watches[i].begin + watches[i].size > begin) watches[i].object = 0;
    if (object && !add_watch(object, begin, end)) full = true;
    refused += full;
    generation++;
    pthread_mutex_unlock(&watch_lock);
    if (full && started)
        ompp_event_coverage(
            OMPP_COVERAGE_NOTE, "structures that breakpoints cannot watch",
            "they watch 1, 2, 4 or 8 aligned bytes, and four structures; two where writes are told apart");
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static int open_event(ompp_perf_t *event, const volatile void *address, unsigned size, unsigned kind)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
                                   .bp_type = kind,
                                   .bp_addr = (uintptr_t)address,
                                   .bp_len = size,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};

    return ompp_perf_open(event, &attr, -1, 0);
}

static void close_all(state_t *state)
{
    for (unsigned i = 0; i < REGISTERS; i++) {
        for (unsigned k = 0; k < VALUES; k++) ompp_perf_close(&state->event[i][k]);
        state->watch[i].object = 0;
    }
}

static void open_all(state_t *state)
{
    char why[200];
    int error = 0;

    memcpy(state->watch, watches, sizeof state->watch);
    state->generation = generation;
    memset(state->last, 0, sizeof state->last);
    memset(state->noted, 0, sizeof state->noted);
    for (unsigned i = 0; i < REGISTERS && !error; i++) {
        const watch_t *w = &state->watch[i];
        for (unsigned k = 0; w->object && k < nvalues && !error; k++)
            error = open_event(&state->event[i][k], (void *)w->begin, w->size, event_kind[k]);
    }
    if (!error) return;
    close_all(state);
    ompp_perf_why(error, SOURCE, why, sizeof why);
    ompp_event_coverage(OMPP_COVERAGE_REFUSED, "breakpoints of a thread", why);
}

/* Structures have come or gone: only the thread itself can watch anew, and only when nobody changes them right now. */
static void renew(state_t *state)
{
    if (state->tid != gettid() || pthread_mutex_trylock(&watch_lock) != 0) return;
    close_all(state);
    open_all(state);
    pthread_mutex_unlock(&watch_lock);
}

static void *begin(void)
{
    state_t *state = ompp_mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (state == MAP_FAILED) return NULL;
    state->tid = gettid();
    for (unsigned i = 0; i < REGISTERS; i++)
        for (unsigned k = 0; k < VALUES; k++) state->event[i][k].fd = -1;
    pthread_mutex_lock(&watch_lock);
    open_all(state);
    pthread_mutex_unlock(&watch_lock);
    return state;
}

static void add(ompp_off_t node, uint32_t object, const uint64_t counted[VALUES])
{
    uint64_t *values = ompp_meter_values(node, metrics, object, nvalues + (object == 0));

    for (unsigned k = 0; values && k < nvalues; k++) values[k] += counted[k];
    if (values && object == 0) values[nvalues] += counted[ACCESSES] * trap_ns;
}

/* The user has asked for the counts: it goes on. */
static void warn_of_cost(uint64_t accesses)
{
    const uint64_t before = atomic_fetch_add(&trapped_ns, accesses * trap_ns), now = before + accesses * trap_ns;
    ompp_float_t program;

    if (before >= MUCH_NS || now < MUCH_NS) return;
    ompp_float_begin(&program);
    ompp_warn("counting with breakpoints has taken about %.1f s until now, some %.0f us for each access, and goes "
              "on: times of this "
              "run are not those of the program; kinst-ompp --memory counts at far less cost",
              1e-9 * (double)now, 1e-3 * (double)trap_ns);
    ompp_float_end(&program);
}

static void move(void *data, ompp_place_now_t from, ompp_place_now_t to)
{
    state_t *state = data;

    (void)to;
    for (unsigned i = 0; i < REGISTERS; i++) {
        uint64_t counted[VALUES] = {0};
        if (!state->watch[i].object) continue;
        for (unsigned k = 0; k < nvalues; k++) {
            const uint64_t now = ompp_perf_count(&state->event[i][k]);
            counted[k] = now > state->last[i][k] ? now - state->last[i][k] : 0;
            if (counted[k]) state->last[i][k] = now;
        }
        if (state->noted[i] && !counted[ACCESSES]) continue;
        state->noted[i] = from.node != 0;
        add(from.node, state->watch[i].object, counted);
        add(from.node, 0, counted);
        warn_of_cost(counted[ACCESSES]);
    }
    if (state->generation != generation) renew(state);
}

static void end(void *data)
{
    close_all(data);
    ompp_munmap(data, sizeof(state_t));
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

#define CHECKED 50 /* reads and writes of the self-check */
#define BATCH 10u  /* of them: the fastest batch tells what one costs, as nothing else ran meanwhile */

static uint64_t now_ns(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Reads and writes a variable that is watched. */
static void touch(volatile uint64_t *variable)
{
    uint64_t least = UINT64_MAX, begin = now_ns();

    for (unsigned i = 1; i <= CHECKED; i++) {
        (void)*variable;
        *variable = i;
        if (i % BATCH) continue;
        const uint64_t end = now_ns();
        if (end - begin < least) least = end - begin;
        begin = end;
    }
    trap_ns = least / (2 * BATCH);
}

static bool check_itself(char *why, size_t n)
{
    static volatile uint64_t variable;
    ompp_perf_t event[VALUES];
    uint64_t counted[VALUES] = {0};
    int error = open_event(&event[ACCESSES], &variable, sizeof variable, HW_BREAKPOINT_RW);

    if (!error) {
        error = open_event(&event[WRITES], &variable, sizeof variable, HW_BREAKPOINT_W);
        if (!error) touch(&variable);
        for (unsigned k = 0; k < VALUES && !error; k++) counted[k] = ompp_perf_count(&event[k]);
        ompp_perf_close(&event[ACCESSES]);
        if (!error) ompp_perf_close(&event[WRITES]);
    }
    if (error) ompp_perf_why(error, SOURCE, why, n);
    else
        snprintf(why, n, "breakpoints do not count here: %llu of %u accesses, %llu of %u writes",
                 (unsigned long long)counted[ACCESSES], 2u * CHECKED, (unsigned long long)counted[WRITES],
                 (unsigned)CHECKED);
    return !error && counted[ACCESSES] == 2 * CHECKED && counted[WRITES] == CHECKED;
}

static unsigned register_metrics(void)
{
    ompp_metric_row_t chosen[VALUES + 1];

    memcpy(chosen, rows, sizeof chosen);
    chosen[nvalues] = rows[VALUES];
    return ompp_metric_register(chosen, nvalues + 1);
}

static unsigned nwatches(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < REGISTERS; i++) n += watches[i].object != 0;
    return n;
}

static bool start(char *why, size_t n)
{
    const bool chosen = strstr(ompp_env.data_backend, SOURCE) != NULL; /* by the user */

    if (refused && (!chosen || !nwatches())) {
        snprintf(why, n, "breakpoints watch 1, 2, 4 or 8 aligned bytes, at most four structures");
        return false;
    }
    if (!check_itself(why, n)) return false;
    if (nwatches() > REGISTERS / VALUES) nvalues = 1;
    started = true;
    snprintf(why, n, "too many metrics");
    metrics = register_metrics();
    if (!metrics) return false;
    if (nvalues == 1)
        ompp_event_coverage(OMPP_COVERAGE_NOTE, "breakpoints: writes are not told apart",
                            "there are more than two structures");
    if (refused)
        ompp_event_coverage(
            OMPP_COVERAGE_NOTE, "structures that breakpoints cannot watch",
            "they watch 1, 2, 4 or 8 aligned bytes, and four structures; two where writes are told apart");
    return true;
}

const ompp_component_t ompp_backend_breakpoints = {
    .name = SOURCE,
    .start = start,
    .thread_begin = begin,
    .move = move,
    .thread_end = end,
    .readable = true,
    .put = put,
};
