/*
 * A PAPI for a processor with data address ranges, as the Itanium was one: built by fakepapi.py as libpapi.so.7.0. Its loads are page
 * faults, which the kernel tells of with their addresses, so that programs know how many they make; a load takes 1000 instructions,
 * cycles are nanoseconds, and FAKE_n counts n per load.
 *
 * OMPP_TEST_PAPI: right; coarse (ranges are larger by a page at both ends); wrong (twice the counts in ranges); nothing (says PAPI_OK and does not
 * restrict); refuse. In all of them, a range for a set without a component ends the program, as a real one does.
 * off (the component of the kernel's events); conflict (two registers); forbidden (by perf_event_paranoid); skewed (each reading counts 100,000 instructions of its own).
 * turns: event i of a multiplexed set is counted on the processor i mod 2 of those that the program may use, by a perf event that
 * the kernel binds to it; so a program that changes processors knows for which share of its time each was counted.
 */
#define _GNU_SOURCE
#include "perf/ompp_perf_priv.h"

#include <papi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SETS 512
#define EVENTS 512
#define REGISTERS 2 /* in mode conflict */
#define COARSE 4096ul

enum { LOADS = 0x40000001, CYCLES, L3_MISSES, INSTRUCTIONS, FAKE = 0x41000000 };

static const struct {
    const char *name;
    int code;
} events[] = {{"PAPI_LD_INS", LOADS}, {"PAPI_TOT_CYC", CYCLES}, {"PAPI_L3_TCM", L3_MISSES}, {"PAPI_TOT_INS", INSTRUCTIONS}};
#define NAMED (sizeof events / sizeof events[0])

typedef struct {
    bool used, running, ranged, turns;
    int component, n, codes[EVENTS], files[EVENTS]; /* files: of sets that are multiplexed */
    unsigned long begin, end;
    ompp_perf_t faults;
    long long loads, started_ns, readings;
} set_t;

static set_t sets[SETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PAPI_component_info_t cpu = {.name = "perf_event", .num_cntrs = 8};
static int processors[2];

static const char *mode(void)
{
    const char *text = getenv("OMPP_TEST_PAPI");

    return text ? text : "right";
}

static long long now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void see(void *data, ompp_perf_record_t *record)
{
    set_t *s = data;

    if (record->kind != OMPP_PERF_SAMPLE) return;
    if (s->ranged && strcmp(mode(), "nothing") != 0 && (record->addr < s->begin || record->addr >= s->end)) return;
    s->loads += s->ranged && strcmp(mode(), "wrong") == 0 ? 2 : 1;
}

static bool is_mode(const char *name)
{
    return strcmp(mode(), name) == 0;
}

int PAPI_library_init(int version)
{
    cpu_set_t allowed;
    int n = 0;

    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, &allowed)) processors[n++] = i;
    return version;
}

int PAPI_thread_init(unsigned long (*id)(void))
{
    (void)id;
    return PAPI_OK;
}

int PAPI_multiplex_init(void)
{
    return PAPI_OK;
}

int PAPI_register_thread(void)
{
    return PAPI_OK;
}

int PAPI_unregister_thread(void)
{
    return PAPI_OK;
}

char *PAPI_strerror(int error)
{
    static char text[40];

    snprintf(text, sizeof text, error == PAPI_ENOSUPP ? "Not supported" : "error %d of the fake", error);
    return text;
}

int PAPI_num_components(void)
{
    return 1;
}

const PAPI_component_info_t *PAPI_get_component_info(int component)
{
    cpu.disabled = is_mode("off") ? PAPI_ENOSUPP : 0;
    snprintf(cpu.disabled_reason, sizeof cpu.disabled_reason, "a processor that the fake does not know");
    return component == 0 ? &cpu : NULL;
}

int PAPI_set_cmp_domain(int domain, int component)
{
    (void)domain, (void)component;
    return PAPI_OK;
}

int PAPI_set_multiplex(int set)
{
    if (!is_mode("turns")) return PAPI_ENOSUPP;
    sets[set].turns = true;
    return PAPI_OK;
}

int PAPI_event_name_to_code(const char *name, int *code)
{
    int number;

    for (size_t i = 0; i < NAMED; i++)
        if (strcmp(events[i].name, name) == 0) return *code = events[i].code, PAPI_OK;
    if (sscanf(name, "FAKE_%d", &number) == 1) return *code = FAKE + number, PAPI_OK;
    return PAPI_ENOEVNT;
}

int PAPI_get_event_component(int code)
{
    (void)code;
    return 0;
}

int PAPI_enum_event(int *code, int modifier)
{
    *code = modifier == PAPI_ENUM_FIRST ? events[0].code : *code + 1;
    return *code < events[0].code + (int)NAMED ? PAPI_OK : PAPI_ENOEVNT;
}

int PAPI_enum_cmp_event(int *code, int modifier, int component)
{
    (void)code, (void)modifier, (void)component;
    return PAPI_ENOEVNT;
}

int PAPI_get_event_info(int code, PAPI_event_info_t *info)
{
    for (size_t i = 0; i < NAMED; i++)
        if (events[i].code == code) return snprintf(info->symbol, sizeof info->symbol, "%s", events[i].name), PAPI_OK;
    return PAPI_ENOEVNT;
}

int PAPI_create_eventset(int *set)
{
    pthread_mutex_lock(&lock);
    for (*set = 0; *set < SETS && sets[*set].used; (*set)++) continue;
    if (*set < SETS) sets[*set] = (set_t){.used = true, .component = -1, .faults.fd = -1};
    pthread_mutex_unlock(&lock);
    return *set < SETS ? PAPI_OK : PAPI_ENOMEM;
}

int PAPI_assign_eventset_component(int set, int component)
{
    if (component != 0) return PAPI_ECMP;
    sets[set].component = component;
    return PAPI_OK;
}

int PAPI_add_named_event(int set, const char *name)
{
    int code;

    if (PAPI_event_name_to_code(name, &code) != PAPI_OK || sets[set].n == EVENTS) return PAPI_ENOEVNT;
    if (is_mode("conflict") && sets[set].n == REGISTERS) return PAPI_ECNFLCT;
    sets[set].codes[sets[set].n++] = code;
    return PAPI_OK;
}

static void close_files(set_t *s)
{
    ompp_perf_close(&s->faults);
    for (int i = 0; i < s->n; i++) {
        if (s->files[i]) close(s->files[i]);
        s->files[i] = 0;
    }
}

int PAPI_cleanup_eventset(int set)
{
    close_files(&sets[set]);
    return PAPI_OK;
}

int PAPI_destroy_eventset(int *set)
{
    sets[*set].used = false;
    *set = PAPI_NULL;
    return PAPI_OK;
}

int PAPI_set_opt(int option, PAPI_option_t *value)
{
    set_t *s = &sets[value->addr.eventset];

    if (option != PAPI_DATA_ADDRESS) return PAPI_EINVAL;
    if (!s->used || s->component < 0) abort();
    if (s->running) return PAPI_EISRUN;
    if (strcmp(mode(), "refuse") == 0) return PAPI_ENOSUPP;
    s->ranged = true;
    s->begin = (unsigned long)value->addr.start;
    s->end = (unsigned long)value->addr.end;
    if (strcmp(mode(), "coarse") == 0) {
        s->begin -= COARSE;
        s->end += COARSE;
    }
    value->addr.start_off = (int)((unsigned long)value->addr.start - s->begin);
    value->addr.end_off = (int)(s->end - (unsigned long)value->addr.end);
    return PAPI_OK;
}

/* Cycles are nanoseconds on the processor here, too. */
static int open_turn(int code, int processor)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = code == CYCLES ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_PAGE_FAULTS,
                                   .exclude_kernel = 1,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};

    return (int)syscall(SYS_perf_event_open, &attr, 0, processor, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
}

static long long read_turn(int file)
{
    unsigned long long value[3] = {0};

    if (read(file, value, sizeof value) != (ssize_t)sizeof value || value[2] == 0) return 0;
    return (long long)((double)value[0] * (double)value[1] / (double)value[2]);
}

int PAPI_start(int set)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_PAGE_FAULTS,
                                   .sample_period = 1,
                                   .sample_type = PERF_SAMPLE_ADDR};
    set_t *s = &sets[set];

    if (is_mode("forbidden")) return PAPI_EPERM;
    s->loads = s->readings = 0;
    s->started_ns = now_ns();
    s->running = true;
    for (int i = 0; i < s->n && s->turns; i++)
        if ((s->files[i] = open_turn(s->codes[i], processors[i % 2])) < 0) return PAPI_ESYS;
    if (s->turns) return PAPI_OK;
    return ompp_perf_open(&s->faults, &attr, -1, 256u << 10) == 0 ? PAPI_OK : PAPI_ESYS;
}

static long long value_of(const set_t *s, int code)
{
    if (code == CYCLES) return now_ns() - s->started_ns;
    if (code == INSTRUCTIONS) return 1000 * s->loads + (is_mode("skewed") ? 100000 * s->readings : 0);
    return code > FAKE ? (code - FAKE) * s->loads : s->loads;
}

int PAPI_read(int set, long long *values)
{
    set_t *s = &sets[set];

    s->readings++;
    ompp_perf_drain(&s->faults, see, s);
    for (int i = 0; i < s->n; i++) values[i] = s->turns ? read_turn(s->files[i]) : value_of(s, s->codes[i]);
    return PAPI_OK;
}

int PAPI_stop(int set, long long *values)
{
    PAPI_read(set, values);
    close_files(&sets[set]);
    sets[set].running = false;
    return PAPI_OK;
}
