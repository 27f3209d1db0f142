/*
 * Back end "samples": precise memory samples of the processor (Intel's PEBS, AMD's IBS). Nothing is believed before a
 * loop of known loads and stores has given about as many samples as it should, with addresses in its own memory.
 */
#include "base/ompp_pages.h"
#include "perf/ompp_backends_priv.h"
#include "perf/ompp_sampled_priv.h"
#include "perf/ompp_samples_priv.h"

#include "base/ompp_env.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"

#include <stdio.h>
#include <sys/mman.h>

#define DEVICES "/sys/bus/event_source/devices"
#define RING (256u << 10)
#define SOURCE "memory samples"
#define ROW(name, use, meaning)                                                                                        \
    {                                                                                                                  \
        name, OMPP_UNIT_COUNT, OMPP_QUALITY_SAMPLED, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, SOURCE, meaning, OMPP_USE_##use \
    }

enum { LOADS, STORES, L1_MISSES, FROM_MEMORY, LATENCY, SAMPLES, LOSSES, VALUES = LOSSES + OMPP_LOSS_NUM };

static const ompp_metric_row_t rows[] = {
    [LOADS] = ROW("loads~", OBJECTS, "reads, estimated: samples times the accesses that each stands for"),
    [STORES] = ROW("stores~", OBJECTS, "writes, estimated"),
    [L1_MISSES] = ROW("L1-misses~", VALUE, "of the reads, those that the first cache did not have, estimated"),
    [FROM_MEMORY] = ROW("memory~", VALUE, "of the reads, those that no cache had, estimated"),
    [LATENCY] = ROW("cycles~", VALUE, "cycles the reads took until they had their data, added up, estimated"),
    [SAMPLES] =
        ROW("samples", VALUE, "samples that the estimates are made of: of n, one of about 1/sqrt(n) is by chance"),
    OMPP_SAMPLED_LOSSES,
};
_Static_assert(sizeof rows / sizeof rows[0] == VALUES, "a row per value");
_Static_assert(VALUES <= OMPP_SAMPLED_VALUES, "room for them");

/* Samples of other operations, and of accesses whose address the processor did not see, are none of ours. */
static void count(const ompp_perf_record_t *record, uint64_t weight, uint64_t *values)
{
    if (!record->addr || (!record->load && !record->store)) return;
    values[SAMPLES]++;
    if (record->store) values[STORES] += weight;
    if (!record->load) return;
    values[LOADS] += weight;
    values[LATENCY] += record->weight * weight;
    if (record->level != OMPP_LEVEL_UNKNOWN && record->level != OMPP_LEVEL_L1) values[L1_MISSES] += weight;
    if (record->level == OMPP_LEVEL_MEMORY) values[FROM_MEMORY] += weight;
}

static ompp_sampled_t backend = {.what = SOURCE, .rows = rows, .nvalues = VALUES, .count = count, .ring = RING};

static void *begin(void) { return ompp_sampled_begin(&backend); }

/* ---- Self-check -------------------------------------------------------------------------------------------------- */

#define WORDS (1u << 16) /* of the loop's memory */
#define ROUNDS 16u       /* of the loop */

typedef struct {
    ompp_samples_trial_t trial;
    uintptr_t begin, end;
} check_t;

static void see(void *data, ompp_perf_record_t *record)
{
    check_t *check = data;

    if (record->kind != OMPP_PERF_SAMPLE || (!record->load && !record->store)) return;
    if (!record->addr) check->trial.without_address++;
    else if (record->addr < check->begin || record->addr >= check->end) check->trial.elsewhere++;
    else if (record->store) check->trial.store_samples++;
    else check->trial.load_samples++;
}

static void read_and_write(volatile uint64_t *words, check_t *check)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < WORDS; i++) (void)words[i];
        for (unsigned i = 0; i < WORDS; i++) words[i] = i;
    }
    check->trial.loads = check->trial.stores = (unsigned long)ROUNDS * WORDS;
}

static bool check_itself(char *why, size_t n)
{
    ompp_perf_t events[OMPP_SAMPLED_EVENTS], leader;
    check_t check = {.trial.period = backend.attr[0].sample_period};
    uint64_t *words = ompp_mmap(NULL, WORDS * sizeof *words, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (words == MAP_FAILED) {
        snprintf(why, n, "no memory for its self-check");
        return false;
    }
    check.begin = (uintptr_t)words;
    check.end = (uintptr_t)(words + WORDS);
    int error = ompp_sampled_open(&backend, events, &leader);
    if (!error) {
        read_and_write(words, &check);
        for (unsigned i = 0; i < backend.nevents; i++) {
            ompp_perf_drain(&events[i], see, &check);
            ompp_perf_close(&events[i]);
        }
        ompp_perf_close(&leader);
    }
    ompp_munmap(words, WORDS * sizeof *words);
    if (error) ompp_perf_why(error, SOURCE, why, n);
    return !error && ompp_samples_judge(&check.trial, why, n);
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

/* The loop is short: it needs more samples than the program does. */
#define CHECK_PERIOD 1009u

static void use(const ompp_samples_events_t *events, unsigned long period)
{
    backend.nevents = events->nevents;
    backend.has_leader = events->has_leader;
    backend.leader = events->leader;
    for (unsigned i = 0; i < events->nevents; i++) {
        backend.attr[i] = events->attr[i];
        backend.attr[i].sample_period = backend.attr[i].sample_type & PERF_SAMPLE_RAW ? period & ~15ul : period;
    }
}

static bool start(char *why, size_t n)
{
    ompp_samples_events_t events;
    char note[120];

    if (!ompp_samples_find(DEVICES, CHECK_PERIOD, &events)) {
        snprintf(why, n,
                 "this processor has no events that sample memory accesses here (a virtual machine mostly has none)");
        return false;
    }
    use(&events, CHECK_PERIOD);
    if (!check_itself(why, n)) return false;
    use(&events, (unsigned long)ompp_env.data_period);
    snprintf(why, n, "no addresses for the map of structures (ulimit -v, vm.overcommit_memory), or too many meters");
    if (!ompp_sampled_map() || !ompp_sampled_start(&backend)) return false;
    snprintf(note, sizeof note, "%s, one of %llu accesses", events.kind,
             (unsigned long long)backend.attr[0].sample_period);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "data structures: estimates by memory samples", note);
    return true;
}

const ompp_component_t ompp_backend_samples = {
    .name = "samples",
    .start = start,
    .thread_begin = begin,
    OMPP_SAMPLED_FUNCTIONS,
};
