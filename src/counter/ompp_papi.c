/**
 * \file
 * Counters through PAPI: the events of OMPP_CTR1, OMPP_CTR2, ... as a meter. A library of its own (libompp-papi.so),
 * opened only when counters are asked for; only this folder sees papi.h.
 *
 * PAPI's queries promise events that cannot be counted. An event is used only after adding it and starting it have
 * worked, together with those before it. One event set per thread and component: a second running set of a component is
 * refused.
 */
#define _GNU_SOURCE
#include "counter/ompp_papi_priv.h"

#include "base/ompp_clock.h"
#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "model/ompp_profile.h"
#include "process/ompp_plugin.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_meter.h"
#include "runtime/ompp_metric.h"

#include <papi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define SOURCE "PAPI"
#define READS 200 /* to measure what reading costs */

/* Metrics of reading, at the root of each thread; behind them, per counter that takes turns, those of its share. */
enum { COST, READINGS, FIRST_SHARE };
enum { WANTED, COUNTED, ERROR, OF_SHARE };

/** Of one event set of a thread. */
typedef struct {
    int set;                     /* PAPI's; PAPI_NULL = could not be started on this thread */
    ompp_papi_turns_t *turns;    /* NULL = its events do not take turns, or nothing is known of that */
    ompp_papi_share_t *reported; /* [number of its events] what is in the profile already */
} running_t;

/** Of one thread; the arrays stand behind it. */
typedef struct {
    pid_t tid;
    unsigned generation; /* of the data range */
    uint32_t object;     /* whose range it is; 0 = all data */
    uint64_t *reading;   /* values of the thread's root; NULL = not known yet */
    running_t *parts;    /* [nparts] */
    long long *last;     /* [ncolumns] */
    long long *values;   /* [ncolumns] as PAPI gives them, of one event set */
    uint64_t *counted;   /* [ncolumns] since they were read last */
} counters_t;

static ompp_papi_part_t *parts;
static unsigned nparts, ncolumns;
/*
 * Counters that count everything are columns; those that the processor restricts to a data structure are values of the
 * structure. A counter's place is the index in its set.
 */
static bool *restricted;
static unsigned *place, nplain, nranged, plain_set, range_set, reading_set;
static unsigned *share_at; /* [ncolumns] of the counter's share in the metrics of reading; 0 = it does not take turns */
static unsigned nreading = FIRST_SHARE; /* number of those metrics */
static uint64_t cost_ns;                /* of reading all counters once */

/* ---- The events of the environment ------------------------------------------------------------------------------- */

/* Components whose events cannot take turns count what fits. */
static bool takes_turns(int component)
{
    const ompp_papi_part_t none = {.component = component};
    const PAPI_component_info_t *info = PAPI_get_component_info(component);
    char subject[200];
    int set, error = ompp_papi_set_new(&none, &set);

    if (error == PAPI_OK) error = PAPI_set_multiplex(set);
    ompp_papi_set_drop(&set);
    if (error == PAPI_OK) return true;
    snprintf(subject, sizeof subject, "OMPP_MULTIPLEX for counters of PAPI's component %s", info ? info->name : "");
    const char *why =
        ompp_papi_has_pmu() ? PAPI_strerror(error) : "PAPI needs a performance monitoring unit for it; there is none";
    ompp_event_coverage(OMPP_COVERAGE_REFUSED, subject, why);
    ompp_warn_common("%s has no effect: %s", subject, why);
    return false;
}

static ompp_papi_part_t *part_of(int component)
{
    for (unsigned p = 0; p < nparts; p++)
        if (parts[p].component == component) return &parts[p];
    ompp_papi_part_t *part = &parts[nparts];
    *part = (ompp_papi_part_t){component, ompp_env.multiplex && takes_turns(component), 0,
                               calloc(ompp_env.counters.n, sizeof *part->names),
                               calloc(ompp_env.counters.n, sizeof *part->column)};
    return part->names && part->column ? &parts[nparts++] : NULL;
}

static void refuse(unsigned number, const char *name, const char *reason)
{
    char subject[160];

    ompp_warn_common("OMPP_CTR%u=%s is not counted: %s", number, name, reason);
    snprintf(subject, sizeof subject, "counter %s", name);
    ompp_event_coverage(OMPP_COVERAGE_REFUSED, subject, reason);
}

/* The widest domain that is permitted: with the kernel's share where the system lets us. */
static void choose_domain(const ompp_papi_part_t *part)
{
    PAPI_set_cmp_domain(PAPI_DOM_ALL, part->component);
    if (ompp_papi_try(part) == PAPI_OK) return;
    PAPI_set_cmp_domain(PAPI_DOM_USER, part->component);
}

/* \return true when the event is counted from now on. */
static bool add_counter(unsigned number, const char *name)
{
    char reason[512];
    int code = 0, error = PAPI_event_name_to_code(name, &code);
    ompp_papi_part_t *part = error == PAPI_OK ? part_of(PAPI_get_event_component(code)) : NULL;

    if (error == PAPI_OK && !part) error = PAPI_ENOMEM;
    if (error == PAPI_OK) {
        part->names[part->n] = name;
        part->column[part->n] = ncolumns;
        part->n++;
        if (part->n == 1) choose_domain(part);
        error = ompp_papi_try(part);
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

static unsigned unit_of(const char *name) { return strstr(name, "-CLOCK") ? OMPP_UNIT_NS : OMPP_UNIT_COUNT; }

static void register_plain(const char *const names[], ompp_metric_row_t *rows)
{
    for (unsigned i = 0; i < ncolumns; i++) {
        if (restricted[i]) continue;
        const bool estimated = share_at[i];
        ompp_metric_row_t *row = &rows[place[i]];
        *row = (ompp_metric_row_t){names[i],
                                   unit_of(names[i]),
                                   estimated ? OMPP_QUALITY_SAMPLED : OMPP_QUALITY_HARDWARE,
                                   OMPP_REDUCE_SUM,
                                   OMPP_REDUCE_SUM,
                                   SOURCE,
                                   estimated ? "estimated: events take turns" : "counted in the user's code",
                                   OMPP_USE_COLUMN};
        row[nplain] = *row;
        row[nplain].meaning = "counted while waiting and managing";
        row[nplain].use = OMPP_USE_WAITS;
    }
    if (nplain) plain_set = ompp_metric_register(rows, 2 * nplain);
}

static void register_ranged(const char *const names[], ompp_metric_row_t *rows)
{
    for (unsigned i = 0; i < ncolumns; i++)
        if (restricted[i])
            rows[place[i]] = (ompp_metric_row_t){names[i],
                                                 OMPP_UNIT_COUNT,
                                                 OMPP_QUALITY_HARDWARE,
                                                 OMPP_REDUCE_SUM,
                                                 OMPP_REDUCE_SUM,
                                                 "PAPI data address range",
                                                 "counted for addresses of the structure alone",
                                                 OMPP_USE_SELECTED};
    if (nranged) range_set = ompp_metric_register(rows, nranged);
}

static void register_share(const char *name, ompp_metric_row_t *rows)
{
    const ompp_metric_row_t row = {
        name, OMPP_UNIT_NS, OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, SOURCE, NULL, 0};

    for (unsigned i = 0; i < OF_SHARE; i++) rows[i] = row;
    rows[WANTED].meaning = "time that it was to be counted in, of all threads";
    rows[WANTED].use = OMPP_USE_WANTED;
    rows[COUNTED].meaning = "time that it was counted in: events take turns";
    rows[COUNTED].use = OMPP_USE_COUNTED;
    rows[ERROR].unit = unit_of(name);
    rows[ERROR].quality = OMPP_QUALITY_SAMPLED;
    rows[ERROR].meaning = "standard error of its value in the whole run; those of threads are added";
    rows[ERROR].use = OMPP_USE_ERROR;
}

static void register_reading(const char *const names[], ompp_metric_row_t *rows)
{
    rows[COST] = (ompp_metric_row_t){"cost per read",
                                     OMPP_UNIT_NS,
                                     OMPP_QUALITY_SAMPLED,
                                     OMPP_REDUCE_MAX,
                                     OMPP_REDUCE_MAX,
                                     SOURCE,
                                     "measured at the start: the mean of one reading of all counters",
                                     OMPP_USE_COST};
    rows[READINGS] = (ompp_metric_row_t){"readings",
                                         OMPP_UNIT_COUNT,
                                         OMPP_QUALITY_EXACT,
                                         OMPP_REDUCE_SUM,
                                         OMPP_REDUCE_SUM,
                                         SOURCE,
                                         "times all counters were read",
                                         OMPP_USE_READINGS};
    for (unsigned i = 0; i < ncolumns; i++)
        if (share_at[i]) register_share(names[i], rows + share_at[i]);
    reading_set = ompp_metric_register(rows, nreading);
}

static bool register_columns(const char *const names[])
{
    ompp_metric_row_t *rows = calloc(2 * ncolumns + nreading, sizeof *rows);

    for (unsigned i = 0; rows && i < ncolumns; i++) place[i] = restricted[i] ? nranged++ : nplain++;
    if (rows) {
        register_plain(names, rows);
        register_ranged(names, rows);
        register_reading(names, rows);
    }
    free(rows);
    return plain_set || range_set;
}

/* ---- The meter --------------------------------------------------------------------------------------------------- */

/* A value that goes back, as estimates do, is caught up with: so the sum of all counts is the last value. */
static void read_part(counters_t *c, unsigned p)
{
    const ompp_papi_part_t *part = &parts[p];
    const bool ok = c->parts[p].set != PAPI_NULL && PAPI_read(c->parts[p].set, c->values) == PAPI_OK;

    for (unsigned i = 0; i < part->n; i++) {
        const unsigned k = part->column[i];
        const long long last = c->last[k];
        if (ok && c->values[i] > last) c->last[k] = c->values[i];
        c->counted[k] = (uint64_t)(c->last[k] - last);
    }
}

static void read_all(counters_t *c)
{
    for (unsigned p = 0; p < nparts; p++) read_part(c, p);
}

static void stop_part(counters_t *c, unsigned p)
{
    running_t *running = &c->parts[p];

    ompp_papi_turns_free(running->turns);
    running->turns = NULL;
    if (running->reported) memset(running->reported, 0, parts[p].n * sizeof *running->reported);
    if (running->set != PAPI_NULL) PAPI_stop(running->set, c->values);
    ompp_papi_set_drop(&running->set);
}

static int start_set(counters_t *c, unsigned p)
{
    int *set = &c->parts[p].set, error = ompp_papi_set_new(&parts[p], set);

    if (error == PAPI_OK && ompp_papi_range_of(parts[p].component)) c->object = ompp_papi_range_apply(*set);
    if (error == PAPI_OK) error = PAPI_start(*set);
    if (error != PAPI_OK) ompp_papi_set_drop(set);
    return error;
}

/* \return whether the events of the part are counted on this thread, from 0 on. */
static bool start_part(counters_t *c, unsigned p)
{
    int error;

    if (parts[p].turns) ompp_papi_turns_before();
    error = start_set(c, p);
    if (parts[p].turns) c->parts[p].turns = ompp_papi_turns_after(parts[p].n);
    for (unsigned i = 0; i < parts[p].n; i++) c->last[parts[p].column[i]] = 0;
    if (error == PAPI_OK) return true;
    ompp_event_coverage(OMPP_COVERAGE_REFUSED, "counters of a thread", PAPI_strerror(error));
    return false;
}

static void end_thread(void *state)
{
    counters_t *c = state;

    for (unsigned p = 0; p < nparts; p++) {
        stop_part(c, p);
        free(c->parts[p].reported);
    }
    PAPI_unregister_thread();
    free(c);
}

static counters_t *new_counters(void)
{
    counters_t *c = calloc(1, sizeof *c + 3 * ncolumns * sizeof(uint64_t) + nparts * sizeof(running_t));

    if (!c) return NULL;
    c->last = (long long *)(c + 1);
    c->values = c->last + ncolumns;
    c->counted = (uint64_t *)(c->values + ncolumns);
    c->parts = (running_t *)(c->counted + ncolumns);
    for (unsigned p = 0; p < nparts; p++) {
        c->parts[p].set = PAPI_NULL;
        if (parts[p].turns) c->parts[p].reported = calloc(parts[p].n, sizeof *c->parts[p].reported);
    }
    return c;
}

static void *begin_thread(void)
{
    counters_t *c = new_counters();
    bool any = false;

    if (!c) return NULL;
    PAPI_register_thread();
    c->tid = gettid();
    c->generation = ompp_papi_range_generation();
    for (unsigned p = 0; p < nparts; p++)
        if (parts[p].n > 0) any |= start_part(c, p);
    if (any) return c;
    end_thread(c);
    return NULL;
}

/* ---- Values of the root: what reading costs, and whose turn it was ----------------------------------------------- */

static void find_reading(counters_t *c, ompp_off_t node)
{
    ompp_off_t root = node;

    for (ompp_off_t parent = root; parent; parent = ompp_meter_parent(root)) root = parent;
    c->reading = ompp_meter_values(root, reading_set, 0, nreading);
    if (c->reading) c->reading[COST] = cost_ns;
}

/* Adds what the share has become since it was told last; errors may become smaller. */
static void tell_shares(counters_t *c)
{
    for (unsigned p = 0; p < nparts; p++) {
        running_t *running = &c->parts[p];
        for (unsigned i = 0; running->turns && running->reported && i < parts[p].n; i++) {
            const unsigned k = parts[p].column[i];
            const ompp_papi_share_t now = ompp_papi_turns_share(running->turns, i, (uint64_t)c->last[k]);
            uint64_t *share = c->reading + share_at[k];
            share[WANTED] += now.wanted_ns - running->reported[i].wanted_ns;
            share[COUNTED] += now.counted_ns - running->reported[i].counted_ns;
            share[ERROR] += now.error - running->reported[i].error;
            running->reported[i] = now;
        }
    }
}

static void see_turns(counters_t *c)
{
    for (unsigned p = 0; p < nparts; p++)
        if (c->parts[p].turns) ompp_papi_turns_see(c->parts[p].turns);
}

/* The thread's place in the profile ends with its place in the program: the next one has values of its own. */
static void count_reading(counters_t *c, ompp_off_t from, ompp_off_t to)
{
    if (!c->reading && from && reading_set) find_reading(c, from);
    if (!c->reading) return;
    c->reading[READINGS]++;
    if (nreading > FIRST_SHARE) see_turns(c);
    if (nreading > FIRST_SHARE && (to == 0 || to == from)) tell_shares(c);
    if (to == 0) c->reading = NULL;
}

/* ---- The meter's movements --------------------------------------------------------------------------------------- */

/* Zeros, too, so that the report knows that it was counted. */
static void add_ranged(const counters_t *c, ompp_off_t node)
{
    uint64_t *all = ompp_meter_values(node, range_set, 0, nranged);
    uint64_t *own = c->object ? ompp_meter_values(node, range_set, c->object, nranged) : NULL;

    for (unsigned i = 0; i < ncolumns; i++) {
        if (!restricted[i]) continue;
        if (all) all[place[i]] += c->counted[i];
        if (own) own[place[i]] += c->counted[i];
    }
}

static void add_plain(const counters_t *c, ompp_place_now_t from)
{
    uint64_t *values = ompp_meter_values(from.node, plain_set, 0, 2 * nplain);

    for (unsigned i = 0; values && i < ncolumns; i++)
        if (!restricted[i]) values[(from.waits ? nplain : 0) + place[i]] += c->counted[i];
}

/* The range has changed: counting begins anew with the new one. Only on the thread itself. */
static void renew(counters_t *c)
{
    c->generation = ompp_papi_range_generation();
    for (unsigned p = 0; p < nparts; p++) {
        if (!ompp_papi_range_of(parts[p].component)) continue;
        if (c->reading && nreading > FIRST_SHARE) tell_shares(c);
        stop_part(c, p);
        c->object = 0;
        start_part(c, p);
    }
}

static void move(void *state, ompp_place_now_t from, ompp_place_now_t to)
{
    counters_t *c = state;

    read_all(c);
    if (plain_set) add_plain(c, from);
    if (range_set) add_ranged(c, from.node);
    count_reading(c, from.node, to.node);
    if (c->generation != ompp_papi_range_generation() && c->tid == gettid()) renew(c);
}

/*
 * Threads that live at the end are read by the thread that ends measurement, through the kernel. Not where PAPI reads
 * the processor's counter directly: that would be the counter of the processor that we are on.
 */
static bool readable_by_others(void)
{
    for (unsigned p = 0; p < nparts; p++) {
        const PAPI_component_info_t *info = PAPI_get_component_info(parts[p].component);
        if (parts[p].n > 0 && (!info || info->fast_counter_read)) return false;
    }
    return true;
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

/* Cost of reading all counters once, ns. */
static uint64_t read_cost(void)
{
    counters_t *c = begin_thread();
    ompp_time_t t = ompp_clock_now();

    if (!c) return 0;
    for (int i = 0; i < READS; i++) read_all(c);
    t = ompp_clock_now() - t;
    end_thread(c);
    return (t + READS / 2) / READS;
}

static unsigned long thread_id(void) { return (unsigned long)pthread_self(); }

static bool start_library(char *refusal, size_t n)
{
    int version = PAPI_library_init(PAPI_VER_CURRENT);
    const char *why = version == PAPI_VER_CURRENT ? NULL
                      : version > 0               ? "another version of PAPI is in use"
                                                  : PAPI_strerror(version);

    if (!why && PAPI_thread_init(thread_id) != PAPI_OK) why = "PAPI does not work with threads here";
    if (!why && ompp_env.multiplex && PAPI_multiplex_init() != PAPI_OK) why = "PAPI cannot multiplex here";
    if (why) snprintf(refusal, n, "%s", why);
    return !why;
}

/* Room for as many counters as were asked for, in as many components as there are. */
static const char **make_room(void)
{
    const unsigned most = ompp_env.counters.n;
    const char **names = calloc(most, sizeof *names);

    parts = calloc((size_t)PAPI_num_components() + 1, sizeof *parts);
    restricted = calloc(most, sizeof *restricted);
    place = calloc(most, sizeof *place);
    share_at = calloc(most, sizeof *share_at);
    return parts && restricted && place && share_at ? names : NULL;
}

static void find_shares(void)
{
    for (unsigned p = 0; p < nparts; p++)
        for (unsigned i = 0; parts[p].turns && i < parts[p].n; i++, nreading += OF_SHARE)
            share_at[parts[p].column[i]] = nreading;
}

static ompp_component_t counters;

static bool start(char *why, size_t n)
{
    const char **names = start_library(why, n) ? make_room() : NULL;

    for (unsigned i = 0; names && i < ompp_env.counters.n; i++)
        if (!is_again(i) && add_counter(ompp_env.counters.number[i], ompp_env.counters.text[i]))
            names[ncolumns++] = ompp_env.counters.text[i];
    if (ncolumns) {
        find_shares();
        ompp_papi_range_start(parts, nparts, restricted);
        cost_ns = read_cost();
        counters.readable = readable_by_others();
    }
    const bool any = ncolumns && register_columns(names);
    free(names);
    return any;
}

static ompp_component_t counters = {
    .name = "counters", .start = start, .thread_begin = begin_thread, .move = move, .thread_end = end_thread};

const ompp_component_t *const ompp_components[] = {&counters, NULL};
