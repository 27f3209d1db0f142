/*
 * A PAPI for a processor with data address ranges, as the Itanium was one: built by ranges.py as libpapi.so.7.0. Its loads are page
 * faults, which the kernel tells of with their addresses, so that programs know how many they make; cycles are nanoseconds.
 *
 * OMPP_TEST_PAPI: right; coarse (ranges are larger by a page at both ends); wrong (twice the counts in ranges); nothing (says PAPI_OK and does not
 * restrict); refuse. In all of them, a range for a set without a component ends the program, as a real one does.
 */
#define _GNU_SOURCE
#include "memory/ompp_perf_priv.h"

#include <papi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SETS 512
#define EVENTS 8
#define COARSE 4096ul

enum { LOADS = 0x40000001, CYCLES, L3_MISSES };

static const struct {
    const char *name;
    int code;
} events[] = {{"PAPI_LD_INS", LOADS}, {"PAPI_TOT_CYC", CYCLES}, {"PAPI_L3_TCM", L3_MISSES}};

typedef struct {
    bool used, running, ranged;
    int component, n, codes[EVENTS];
    unsigned long begin, end;
    ompp_perf_t faults;
    long long loads, started_ns;
} set_t;

static set_t sets[SETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PAPI_component_info_t cpu = {.name = "perf_event", .num_cntrs = 8};

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

static void see(void *data, const ompp_perf_record_t *record)
{
    set_t *s = data;

    if (record->kind != OMPP_PERF_SAMPLE) return;
    if (s->ranged && strcmp(mode(), "nothing") != 0 && (record->addr < s->begin || record->addr >= s->end)) return;
    s->loads += s->ranged && strcmp(mode(), "wrong") == 0 ? 2 : 1;
}

int PAPI_library_init(int version)
{
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
    return component == 0 ? &cpu : NULL;
}

int PAPI_set_cmp_domain(int domain, int component)
{
    (void)domain, (void)component;
    return PAPI_OK;
}

int PAPI_set_multiplex(int set)
{
    (void)set;
    return PAPI_OK;
}

int PAPI_event_name_to_code(const char *name, int *code)
{
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (strcmp(events[i].name, name) == 0) return *code = events[i].code, PAPI_OK;
    return PAPI_ENOEVNT;
}

int PAPI_get_event_component(int code)
{
    (void)code;
    return 0;
}

int PAPI_enum_event(int *code, int modifier)
{
    (void)code, (void)modifier;
    return PAPI_ENOEVNT;
}

int PAPI_enum_cmp_event(int *code, int modifier, int component)
{
    (void)code, (void)modifier, (void)component;
    return PAPI_ENOEVNT;
}

int PAPI_get_event_info(int code, PAPI_event_info_t *info)
{
    (void)code, (void)info;
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
    sets[set].codes[sets[set].n++] = code;
    return PAPI_OK;
}

int PAPI_cleanup_eventset(int set)
{
    ompp_perf_close(&sets[set].faults);
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

int PAPI_start(int set)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_PAGE_FAULTS,
                                   .sample_period = 1,
                                   .sample_type = PERF_SAMPLE_ADDR};
    set_t *s = &sets[set];

    s->loads = 0;
    s->started_ns = now_ns();
    if (ompp_perf_open(&s->faults, &attr, -1, 256u << 10) != 0) return PAPI_ESYS;
    s->running = true;
    return PAPI_OK;
}

int PAPI_read(int set, long long *values)
{
    set_t *s = &sets[set];

    ompp_perf_drain(&s->faults, see, s);
    for (int i = 0; i < s->n; i++) values[i] = s->codes[i] == CYCLES ? now_ns() - s->started_ns : s->loads;
    return PAPI_OK;
}

int PAPI_stop(int set, long long *values)
{
    PAPI_read(set, values);
    ompp_perf_close(&sets[set].faults);
    sets[set].running = false;
    return PAPI_OK;
}
