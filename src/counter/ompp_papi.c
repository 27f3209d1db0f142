/**
 * \file
 * Counters through PAPI: the events of OMPP_CTR1, OMPP_CTR2, ... as a meter. A library of its own (libompp-papi.so), opened only when
 * counters are asked for; the only file that sees papi.h.
 *
 * PAPI's queries promise events that cannot be counted. An event is used only after adding it and starting it have worked, together
 * with those before it. One event set per thread and component: a second running set of a component is refused.
 */
#define _GNU_SOURCE
#include "counter/ompp_papi_priv.h"

#include "base/ompp_clock.h"
#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_meter.h"
#include "runtime/ompp_metric.h"
#include "runtime/ompp_plugin.h"

#include <papi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_COMPONENTS 8u
#define READS 200 /* to measure what reading costs */

/** Of one thread. */
typedef struct {
    pid_t tid;
    unsigned generation; /* of the data range */
    uint32_t object;     /* whose range it is; 0 = all data */
    int sets[MAX_COMPONENTS]; /* PAPI event sets; PAPI_NULL = could not be started on this thread */
    long long last[OMPP_ENV_LIST_MAX];
} counters_t;

static ompp_papi_part_t parts[MAX_COMPONENTS];
static unsigned nparts, ncolumns;
/*
 * Counters that count everything are columns; those that the processor restricts to a data structure are values of the structure.
 * A counter's place is the index in its set.
 */
static bool restricted[OMPP_ENV_LIST_MAX];
static unsigned place[OMPP_ENV_LIST_MAX], nplain, nranged, plain_set, range_set;

/* ---- Event sets ------------------------------------------------------------------------------------------------------ */

void ompp_papi_set_drop(int *set)
{
    if (*set == PAPI_NULL) return;
    PAPI_cleanup_eventset(*set);
    PAPI_destroy_eventset(set);
    *set = PAPI_NULL;
}

int ompp_papi_set_new(const ompp_papi_part_t *part, int *set)
{
    int error;

    *set = PAPI_NULL;
    error = PAPI_create_eventset(set);
    if (error == PAPI_OK) error = PAPI_assign_eventset_component(*set, part->component);
    if (error == PAPI_OK && ompp_env.multiplex) {
        /* Components that cannot take turns count what fits. */
        PAPI_set_multiplex(*set);
    }
    for (unsigned i = 0; i < part->n && error == PAPI_OK; i++) error = PAPI_add_named_event(*set, part->names[i]);
    if (error != PAPI_OK) ompp_papi_set_drop(set);
    return error;
}

/* Adds and starts, for a moment. */
static int try_part(const ompp_papi_part_t *part)
{
    long long values[OMPP_ENV_LIST_MAX];
    int set, error = ompp_papi_set_new(part, &set);

    if (error != PAPI_OK) return error;
    error = PAPI_start(set);
    if (error == PAPI_OK) error = PAPI_stop(set, values);
    ompp_papi_set_drop(&set);
    return error;
}

/* The widest domain that is permitted: with the kernel's share where the system lets us. */
static void choose_domain(const ompp_papi_part_t *part)
{
    PAPI_set_cmp_domain(PAPI_DOM_ALL, part->component);
    if (try_part(part) == PAPI_OK) return;
    PAPI_set_cmp_domain(PAPI_DOM_USER, part->component);
}

bool ompp_papi_works(const char *name)
{
    ompp_papi_part_t alone = {.n = 1, .names = {name}};
    int code;

    if (PAPI_event_name_to_code(name, &code) != PAPI_OK) return false;
    alone.component = PAPI_get_event_component(code);
    return alone.component >= 0 && try_part(&alone) == PAPI_OK;
}

/* ---- The events of the environment ----------------------------------------------------------------------------------- */

static ompp_papi_part_t *part_of(int component)
{
    for (unsigned p = 0; p < nparts; p++)
        if (parts[p].component == component) return &parts[p];
    if (nparts == MAX_COMPONENTS) return NULL;
    parts[nparts] = (ompp_papi_part_t){.component = component};
    return &parts[nparts++];
}

static void refuse(unsigned number, const char *name, const char *reason)
{
    char subject[160];

    ompp_warn_common("OMPP_CTR%u=%s is not counted: %s", number, name, reason);
    snprintf(subject, sizeof subject, "counter %s", name);
    ompp_event_coverage(OMPP_COVERAGE_REFUSED, subject, reason);
}

/* \return true when the event is counted from now on. */
static bool add_counter(unsigned number, const char *name)
{
    char reason[512];
    int code = 0, error = PAPI_event_name_to_code(name, &code);
    ompp_papi_part_t *part = error == PAPI_OK ? part_of(PAPI_get_event_component(code)) : NULL;

    if (error == PAPI_OK && !part) error = PAPI_ECMP;
    if (error == PAPI_OK) {
        part->names[part->n] = name;
        part->column[part->n] = ncolumns;
        part->n++;
        if (part->n == 1) choose_domain(part);
        error = try_part(part);
        if (error == PAPI_OK) return true;
        part->n--;
    }
    ompp_papi_why(name, error, part && part->n > 0, reason, sizeof reason);
    refuse(number, name, reason);
    return false;
}

/* \return whether a counter before it has the same name; that is said. */
static bool is_again(unsigned index)
{
    const ompp_env_list_t *list = &ompp_env.counters;
    char reason[40];

    for (unsigned i = 0; i < index; i++) {
        if (strcasecmp(list->text[i], list->text[index]) != 0) continue;
        snprintf(reason, sizeof reason, "it is already OMPP_CTR%u", list->number[i]);
        refuse(list->number[index], list->text[index], reason);
        return true;
    }
    return false;
}

static unsigned unit_of(const char *name)
{
    return strstr(name, "-CLOCK") ? OMPP_UNIT_NS : OMPP_UNIT_COUNT;
}

static void register_plain(const char *const names[])
{
    ompp_metric_row_t rows[2 * OMPP_ENV_LIST_MAX];
    const ompp_quality_t quality = ompp_env.multiplex ? OMPP_QUALITY_SAMPLED : OMPP_QUALITY_HARDWARE;

    for (unsigned i = 0; i < ncolumns; i++) {
        if (restricted[i]) continue;
        ompp_metric_row_t *row = &rows[place[i]];
        *row = (ompp_metric_row_t){names[i], unit_of(names[i]), quality, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "PAPI",
                                   ompp_env.multiplex ? "estimated: events take turns" : "counted in the user's code",
                                   OMPP_USE_COLUMN};
        row[nplain] = *row;
        row[nplain].meaning = "counted while waiting and managing";
        row[nplain].use = OMPP_USE_WAITS;
    }
    if (nplain) plain_set = ompp_metric_register(rows, 2 * nplain);
}

static void register_ranged(const char *const names[])
{
    ompp_metric_row_t rows[OMPP_ENV_LIST_MAX];

    for (unsigned i = 0; i < ncolumns; i++)
        if (restricted[i])
            rows[place[i]] = (ompp_metric_row_t){names[i], OMPP_UNIT_COUNT, OMPP_QUALITY_HARDWARE, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM,
                                                 "PAPI data address range", "counted for addresses of the structure alone",
                                                 OMPP_USE_SELECTED};
    if (nranged) range_set = ompp_metric_register(rows, nranged);
}

static void register_columns(const char *const names[])
{
    for (unsigned i = 0; i < ncolumns; i++) place[i] = restricted[i] ? nranged++ : nplain++;
    register_plain(names);
    register_ranged(names);
}

/* ---- The meter ------------------------------------------------------------------------------------------------------- */

static void read_all(const counters_t *c, long long now[])
{
    long long values[OMPP_ENV_LIST_MAX];

    for (unsigned p = 0; p < nparts; p++) {
        if (c->sets[p] == PAPI_NULL || PAPI_read(c->sets[p], values) != PAPI_OK) continue;
        for (unsigned i = 0; i < parts[p].n; i++) now[parts[p].column[i]] = values[i];
    }
}

static void stop_part(counters_t *c, unsigned p)
{
    long long values[OMPP_ENV_LIST_MAX];

    if (c->sets[p] != PAPI_NULL) PAPI_stop(c->sets[p], values);
    ompp_papi_set_drop(&c->sets[p]);
}

/* \return whether the events of the part are counted on this thread, from 0 on. */
static bool start_part(counters_t *c, unsigned p)
{
    int error = ompp_papi_set_new(&parts[p], &c->sets[p]);

    if (error == PAPI_OK && ompp_papi_range_of(parts[p].component)) c->object = ompp_papi_range_apply(c->sets[p]);
    if (error == PAPI_OK) error = PAPI_start(c->sets[p]);
    for (unsigned i = 0; i < parts[p].n; i++) c->last[parts[p].column[i]] = 0;
    if (error == PAPI_OK) return true;
    ompp_papi_set_drop(&c->sets[p]);
    ompp_event_coverage(OMPP_COVERAGE_REFUSED, "counters of a thread", PAPI_strerror(error));
    return false;
}

static void end_thread(void *state)
{
    counters_t *c = state;

    for (unsigned p = 0; p < nparts; p++) stop_part(c, p);
    PAPI_unregister_thread();
    free(c);
}

static void *begin_thread(void)
{
    counters_t *c = calloc(1, sizeof *c);
    bool any = false;

    if (!c) return NULL;
    PAPI_register_thread();
    c->tid = gettid();
    c->generation = ompp_papi_range_generation();
    for (unsigned p = 0; p < nparts; p++) {
        c->sets[p] = PAPI_NULL;
        if (parts[p].n > 0) any |= start_part(c, p);
    }
    if (any) return c;
    free(c);
    return NULL;
}

/* Zeros, too, so that the report knows that it was counted. */
static void add_ranged(const counters_t *c, ompp_off_t node, const uint64_t counted[])
{
    uint64_t *all = ompp_meter_values(node, range_set, 0, nranged);
    uint64_t *own = c->object ? ompp_meter_values(node, range_set, c->object, nranged) : NULL;

    for (unsigned i = 0; i < ncolumns; i++) {
        if (!restricted[i]) continue;
        if (all) all[place[i]] += counted[i];
        if (own) own[place[i]] += counted[i];
    }
}

static void add_plain(ompp_place_now_t from, const uint64_t counted[])
{
    uint64_t *values = ompp_meter_values(from.node, plain_set, 0, 2 * nplain);

    for (unsigned i = 0; values && i < ncolumns; i++)
        if (!restricted[i]) values[(from.waits ? nplain : 0) + place[i]] += counted[i];
}

/* The range has changed: counting begins anew with the new one. Only on the thread itself. */
static void renew(counters_t *c)
{
    c->generation = ompp_papi_range_generation();
    for (unsigned p = 0; p < nparts; p++) {
        if (!ompp_papi_range_of(parts[p].component)) continue;
        stop_part(c, p);
        c->object = 0;
        start_part(c, p);
    }
}

static void move(void *state, ompp_place_now_t from, ompp_place_now_t to)
{
    counters_t *c = state;
    long long now[OMPP_ENV_LIST_MAX];
    uint64_t counted[OMPP_ENV_LIST_MAX];

    (void)to;
    memcpy(now, c->last, sizeof now);
    read_all(c, now);
    for (unsigned i = 0; i < ncolumns; i++) counted[i] = now[i] > c->last[i] ? (uint64_t)(now[i] - c->last[i]) : 0;
    memcpy(c->last, now, sizeof now);
    if (plain_set) add_plain(from, counted);
    if (range_set) add_ranged(c, from.node, counted);
    if (c->generation != ompp_papi_range_generation() && c->tid == gettid()) renew(c);
}

/*
 * Threads that live at the end are read by the thread that ends measurement, through the kernel. Not where PAPI reads the processor's
 * counter directly: that would be the counter of the processor that we are on.
 */
static bool readable_by_others(void)
{
    for (unsigned p = 0; p < nparts; p++) {
        const PAPI_component_info_t *info = PAPI_get_component_info(parts[p].component);
        if (parts[p].n > 0 && (!info || info->fast_counter_read)) return false;
    }
    return true;
}

static ompp_meter_t meter = {.begin = begin_thread, .move = move, .end = end_thread};

/* ---- Start ----------------------------------------------------------------------------------------------------------- */

/* Cost of reading all counters once, ns. */
static double read_cost(void)
{
    long long now[OMPP_ENV_LIST_MAX] = {0};
    counters_t *c = begin_thread();
    ompp_time_t t = ompp_clock_now();

    if (!c) return 0;
    for (int i = 0; i < READS; i++) read_all(c, now);
    t = ompp_clock_now() - t;
    end_thread(c);
    return (double)t / READS;
}

static unsigned long thread_id(void)
{
    return (unsigned long)pthread_self();
}

static bool start_library(void)
{
    int version = PAPI_library_init(PAPI_VER_CURRENT);
    const char *why = version == PAPI_VER_CURRENT ? NULL : version > 0 ? "another version of PAPI is in use" : PAPI_strerror(version);

    if (!why && PAPI_thread_init(thread_id) != PAPI_OK) why = "PAPI does not work with threads here";
    if (!why && ompp_env.multiplex && PAPI_multiplex_init() != PAPI_OK) why = "PAPI cannot multiplex here";
    if (!why) return true;
    ompp_warn_common("no counters: %s", why);
    ompp_event_coverage(OMPP_COVERAGE_REFUSED, "counters", why);
    return false;
}

__attribute__((visibility("default"))) void ompp_papi_start(void);

void ompp_papi_start(void)
{
    const char *names[OMPP_ENV_LIST_MAX];
    char cost[80];

    if (!start_library()) return;
    for (unsigned i = 0; i < ompp_env.counters.n; i++)
        if (!is_again(i) && add_counter(ompp_env.counters.number[i], ompp_env.counters.text[i]))
            names[ncolumns++] = ompp_env.counters.text[i];
    if (!ncolumns) return;
    ompp_papi_range_start(parts, nparts, restricted);
    register_columns(names);
    snprintf(cost, sizeof cost, "%.1f us, twice per region execution and at each of its phases", 1e-3 * read_cost());
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "one reading of the counters costs", cost);
    meter.readable = readable_by_others();
    if (plain_set || range_set) ompp_meter_add(&meter);
}
