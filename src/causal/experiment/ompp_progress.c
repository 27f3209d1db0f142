/**
 * \file
 * The register of progress points. Their counts lie in the arena; coz.h's macros add to them without asking us.
 */
#define _GNU_SOURCE
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_progress_priv.h"

#include "base/ompp_hash.h"
#include "model/ompp_layout.h"
#include "runtime/ompp_meter.h"
#include "runtime/ompp_whatif_record.h"

#define OMPP_IMPLEMENTATION
#include "ompp.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define OMPP_EXPORT __attribute__((visibility("default")))

enum {
    MAX_POINTS = 64, /* that the program names; further ones are not counted */
    NAME_SIZE = 256,
    MAX_CANDIDATES = 64,
    ENOUGH_VISITS = 5,               /* of a point, before blocks end at it: COZ's minimum for an experiment */
    ENOUGH_PERIODS = 8,              /* of a candidate, before its regularity is believed */
    FEW_VISITS = OMPP_WHATIF_BLOCKS, /* of a candidate: with fewer, intervals are wide or there are none */
    MANY_VISITS = 4 * FEW_VISITS     /* that are as good as regular ones */
};

/** Types of coz.h. */
enum { COZ_THROUGHPUT = 1, COZ_BEGIN = 2, COZ_END = 3 };

typedef struct {
    ompp_a_whatif_point_t *record;
    uint64_t hash;
    uint32_t kind;
    /* to the integral of units that are under way, at the last end: one dump may follow another */
    _Atomic uint64_t added;
    uint64_t under_way;       /* units, when coz.h's were looked at last; used by who holds the flag of that */
    _Atomic bool by_function; /* visited by functions, which say when; otherwise coz.h counts, and we have to look */
    char name[NAME_SIZE];
} point_t;

/* Filled one after the other under the lock, published by npoints; never removed. */
static point_t points[MAX_POINTS];
static atomic_uint npoints;
static pthread_mutex_t points_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_flag sampling = ATOMIC_FLAG_INIT;

/* A region that is visited again and again; mean and m2 of its periods as they come (Welford 1962). */
typedef struct ompp_progress_candidate {
    ompp_region_ref_t region;
    bool barrier;
    _Atomic uint64_t visits; /* written by one thread at a time */
    ompp_time_t last;        /* 0 = none */
    uint64_t periods;        /* from one visit to the next */
    double mean, m2;
    ompp_a_whatif_point_t *record; /* once it is regular enough to be one */
} candidate_t;

static candidate_t candidates[MAX_CANDIDATES]; /* used by who holds the flag */
static unsigned ncandidates;
static atomic_flag candidates_busy = ATOMIC_FLAG_INIT;
static candidate_t *_Atomic leader; /* most regular candidate, NULL = none yet */
static _Atomic uint64_t leader_visits, changes;
static _Atomic bool named_leads;

static _Atomic uint64_t reported;                /* largest number of visits told so far */
static _Atomic uint64_t looked;                  /* those that have been acted on */
static _Atomic uint64_t leader_base, named_base; /* what had been told before these took over: visits count on */

/* ---- Named points ------------------------------------------------------------------------------------------------ */

/* Whether a causal profile is made at all; starts the measurement, which reads the environment. */
static bool wanted(void)
{
    static atomic_int known; /* 0 = not yet, 1 = no, 2 = yes */
    int state = atomic_load_explicit(&known, memory_order_relaxed), saved = errno;

    if (__builtin_expect(state != 0, 1)) return state == 2;
    ompp_meter_place(); /* starts the measurement, and with it the parts that the environment asks for */
    state = ompp_sync_follower() ? 2 : 1;
    atomic_store_explicit(&known, state, memory_order_relaxed);
    errno = saved;
    return state == 2;
}

static point_t *look(const char *name, uint64_t hash, uint32_t kind, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (points[i].hash == hash && points[i].kind == kind && strncmp(points[i].name, name, NAME_SIZE - 1) == 0)
            return &points[i];
    return NULL;
}

static point_t *add(const char *name, uint64_t hash, uint32_t kind)
{
    unsigned n;
    int saved = errno;
    point_t *found;

    pthread_mutex_lock(&points_lock);
    n = atomic_load(&npoints);
    found = look(name, hash, kind, n);
    if (!found && n < MAX_POINTS) {
        points[n].record = ompp_whatif_point_new(name, kind, false, 0);
        points[n].hash = hash;
        points[n].kind = kind;
        strncpy(points[n].name, name, NAME_SIZE - 1);
        found = &points[n];
        if (found->record) atomic_store_explicit(&npoints, n + 1, memory_order_release);
        else found = NULL;
    }
    pthread_mutex_unlock(&points_lock);
    errno = saved;
    return found;
}

/* NULL: no causal profile is made, or there is no room. */
static point_t *find(const char *name, uint32_t kind)
{
    point_t *found;

    if (!name || !wanted()) return NULL;
    const uint64_t hash = ompp_hash_text(OMPP_HASH_START ^ kind, name);
    found = look(name, hash, kind, atomic_load_explicit(&npoints, memory_order_acquire));
    return found ? found : add(name, hash, kind);
}

static void visit(ompp_a_whatif_point_t *record, ompp_time_t t)
{
    atomic_fetch_add_explicit(&record->visits, 1, memory_order_relaxed);
    ompp_component_visited(t);
    /* It is not to be found by who looks at counters, as if it were another one. */
    atomic_store_explicit(&looked, atomic_load_explicit(&reported, memory_order_relaxed), memory_order_relaxed);
}

/* ---- What programs call ------------------------------------------------------------------------------------------ */

OMPP_EXPORT void ompp_progress(const char *name)
{
    point_t *point = find(name, OMPP_WHATIF_THROUGHPUT);

    if (point) visit(point->record, ompp_event_now());
}

/* Each begin takes its time from the integral, each end adds its own: what is left is the sum of the times between, and
 * for units that are still under way, the time until measurement ends is added then. */
OMPP_EXPORT void ompp_progress_begin(const char *name)
{
    point_t *point = find(name, OMPP_WHATIF_LATENCY);

    if (!point) return;
    atomic_store_explicit(&point->by_function, true, memory_order_relaxed);
    const ompp_time_t t = ompp_event_now();
    atomic_fetch_add_explicit(&point->record->begins, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&point->record->in_flight_ns, t, memory_order_relaxed);
    ompp_causal_unit(point->record, true, t);
}

OMPP_EXPORT void ompp_progress_end(const char *name)
{
    point_t *point = find(name, OMPP_WHATIF_LATENCY);

    if (!point) return;
    const ompp_time_t t = ompp_event_now();
    atomic_fetch_add_explicit(&point->record->in_flight_ns, t, memory_order_relaxed);
    atomic_fetch_add_explicit(&point->record->visits, 1, memory_order_relaxed);
    ompp_causal_unit(point->record, false, t);
}

/** The counter that coz.h's macros add to; its second word is theirs, too, and no version uses it. */
typedef struct {
    size_t count, backoff;
} coz_counter_t;

OMPP_EXPORT coz_counter_t *_coz_get_counter(int type, const char *name);
OMPP_EXPORT coz_counter_t *_coz_get_counter(int type, const char *name)
{
    bool throughput = type == COZ_THROUGHPUT;
    point_t *point;

    if (!throughput && type != COZ_BEGIN && type != COZ_END) return NULL;
    point = find(name, throughput ? OMPP_WHATIF_THROUGHPUT : OMPP_WHATIF_LATENCY);
    if (!point) return NULL;
    return (coz_counter_t *)(void *)(type == COZ_BEGIN ? &point->record->begins : &point->record->visits);
}

/* ---- Looking at them --------------------------------------------------------------------------------------------- */

/*
 * How many units of a latency point of coz.h were under way since the last look, by the number there was then: programs
 * wait, where we look, right after a unit has begun or ended.
 */
static void sample(point_t *point, ompp_time_t t)
{
    ompp_a_whatif_point_t *record = point->record;
    uint64_t since = atomic_load_explicit(&record->since_ns, memory_order_relaxed);
    uint64_t ends = atomic_load_explicit(&record->visits, memory_order_relaxed);
    uint64_t begins = atomic_load_explicit(&record->begins, memory_order_relaxed);

    if (t <= since) return;
    if (since) atomic_fetch_add_explicit(&record->in_flight_ns, point->under_way * (t - since), memory_order_relaxed);
    point->under_way = begins > ends ? begins - ends : 0;
    atomic_store_explicit(&record->since_ns, t, memory_order_relaxed);
}

static void sample_all(ompp_time_t t)
{
    unsigned n = atomic_load_explicit(&npoints, memory_order_acquire);

    if (atomic_flag_test_and_set_explicit(&sampling, memory_order_acquire)) return;
    for (unsigned i = 0; i < n; i++)
        if (points[i].kind == OMPP_WHATIF_LATENCY &&
            !atomic_load_explicit(&points[i].by_function, memory_order_relaxed))
            sample(&points[i], t);
    atomic_flag_clear_explicit(&sampling, memory_order_release);
}

static uint64_t most_visited(void)
{
    unsigned n = atomic_load_explicit(&npoints, memory_order_acquire);
    uint64_t most = 0;

    for (unsigned i = 0; i < n; i++) {
        uint64_t visits = atomic_load_explicit(&points[i].record->visits, memory_order_relaxed);
        if (points[i].kind == OMPP_WHATIF_THROUGHPUT && visits > most) most = visits;
    }
    return most;
}

uint64_t ompp_progress_visits(ompp_time_t t)
{
    uint64_t visits = most_visited(), before = atomic_load_explicit(&reported, memory_order_relaxed);

    sample_all(t);
    if (visits < ENOUGH_VISITS && atomic_load_explicit(&leader, memory_order_relaxed))
        visits = atomic_load_explicit(&leader_base, memory_order_relaxed) +
                 atomic_load_explicit(&leader_visits, memory_order_relaxed);
    else if (visits >= ENOUGH_VISITS && atomic_load_explicit(&leader, memory_order_relaxed) &&
             !atomic_exchange_explicit(&named_leads, true, memory_order_relaxed)) {
        atomic_store_explicit(&named_base, before - visits, memory_order_relaxed);
        atomic_fetch_add_explicit(&changes, 1, memory_order_relaxed);
        return before;
    }
    if (atomic_load_explicit(&named_leads, memory_order_relaxed))
        visits += atomic_load_explicit(&named_base, memory_order_relaxed);
    while (visits > before && !atomic_compare_exchange_weak_explicit(&reported, &before, visits, memory_order_relaxed,
                                                                     memory_order_relaxed))
        continue;
    return visits > before ? visits : before;
}

void ompp_progress_look(ompp_time_t t)
{
    const uint64_t visits = ompp_progress_visits(t);

    if (atomic_exchange_explicit(&looked, visits, memory_order_relaxed) != visits) ompp_component_visited(t);
}

void ompp_progress_finish(ompp_time_t t)
{
    unsigned n = atomic_load_explicit(&npoints, memory_order_acquire);

    for (unsigned i = 0; i < n; i++) {
        ompp_a_whatif_point_t *record = points[i].record;
        uint64_t under_way = atomic_load(&record->begins) - atomic_load(&record->visits);
        if (points[i].kind != OMPP_WHATIF_LATENCY) continue;
        if (!atomic_load(&points[i].by_function)) {
            sample(&points[i], t);
            continue;
        }
        atomic_fetch_add(&record->in_flight_ns, under_way * t - atomic_exchange(&points[i].added, under_way * t));
    }
}

/* ---- Automatic ones ---------------------------------------------------------------------------------------------- */

static bool is_candidate(const candidate_t *c, ompp_region_ref_t region, bool barrier)
{
    return c->region == region && c->barrier == barrier;
}

static candidate_t *candidate_of(ompp_region_ref_t region, bool barrier)
{
    static uint8_t places[2][128]; /* where one of this hash was found last */
    uint8_t *place = &places[barrier][ompp_hash_place32(region, 7)];

    if (is_candidate(&candidates[*place], region, barrier)) return &candidates[*place];
    for (*place = 0; *place < ncandidates; ++*place)
        if (is_candidate(&candidates[*place], region, barrier)) return &candidates[*place];
    if (ncandidates == MAX_CANDIDATES) {
        *place = 0;
        return NULL;
    }
    candidates[ncandidates] = (candidate_t){.region = region, .barrier = barrier};
    return &candidates[ncandidates++];
}

/* Squared coefficient of variation of the period. */
static double irregularity(const candidate_t *c)
{
    return c->mean > 0 ? c->m2 / (double)c->periods / (c->mean * c->mean) : 1e9;
}

/* It has few visits, and the other one has many, and was visited since. Visits that come in bursts count less: n of
 * them say as much of their mean as n / (1 + irregularity) in a row. */
static bool is_too_seldom(const candidate_t *c, const candidate_t *other)
{
    return c->visits < FEW_VISITS && (double)other->visits > MANY_VISITS * (1 + irregularity(other)) &&
           (double)other->last > (double)c->last - c->mean;
}

/* More regular, and of equals the more frequent: it ends more blocks. A small difference is chance. Any other goes
 * before a barrier. */
static bool better(const candidate_t *a, const candidate_t *b)
{
    double x = irregularity(a), y = b ? irregularity(b) : 1e18;

    if (a == b) return false;
    if (b && (is_too_seldom(a, b) || is_too_seldom(b, a))) return is_too_seldom(b, a);
    if (b && a->barrier != b->barrier) return b->barrier;
    if (!b || x < 0.8 * y) return true;
    return x < 1.25 * y && a->visits > 2 * b->visits;
}

static void judge(candidate_t *c)
{
    candidate_t *best = atomic_load_explicit(&leader, memory_order_relaxed);

    if (c->periods < ENOUGH_PERIODS) return;
    if (!c->record && better(c, best)) c->record = ompp_whatif_point_new(NULL, OMPP_WHATIF_THROUGHPUT, true, c->region);
    if (!c->record) return;
    if (!better(c, best)) return;
    if (best) best->record->automatic = 1;
    c->record->automatic = 2;
    const uint64_t visits = atomic_load_explicit(&c->visits, memory_order_relaxed);
    atomic_store_explicit(&c->record->visits, visits, memory_order_relaxed);
    atomic_store_explicit(&leader_visits, visits, memory_order_relaxed);
    atomic_store_explicit(&leader_base, atomic_load_explicit(&reported, memory_order_relaxed) - visits,
                          memory_order_relaxed);
    atomic_fetch_add_explicit(&changes, 1, memory_order_relaxed);
    atomic_store_explicit(&leader, c, memory_order_release);
}

uint64_t ompp_progress_changes(void) { return atomic_load_explicit(&changes, memory_order_relaxed); }

static void note_period(candidate_t *c, ompp_time_t t)
{
    if (c->last && t > c->last) {
        const double period = (double)(t - c->last), delta = period - c->mean;
        c->mean += delta / (double)++c->periods;
        c->m2 += delta * (period - c->mean);
    }
    c->last = t;
}

/* \return whether it is the leading one. */
static bool count_visit(candidate_t *c)
{
    const uint64_t visits = atomic_load_explicit(&c->visits, memory_order_relaxed) + 1;
    const bool leads = atomic_load_explicit(&leader, memory_order_relaxed) == c;

    atomic_store_explicit(&c->visits, visits, memory_order_relaxed);
    if (c->record) atomic_store_explicit(&c->record->visits, visits, memory_order_relaxed);
    if (leads) atomic_store_explicit(&leader_visits, visits, memory_order_relaxed);
    return leads;
}

/* While clocks are suspended, it is only looked how regular a region is that is visited so seldom that pieces
 * between suspensions do not show it. */
static void learn(candidate_t *c, ompp_time_t t)
{
    if (c->periods < ENOUGH_PERIODS) note_period(c, t);
    else c->last = t;
}

void ompp_progress_candidate(ompp_region_ref_t region, bool barrier, ompp_time_t t)
{
    candidate_t *c;
    bool leads = false;

    if (!region || atomic_flag_test_and_set_explicit(&candidates_busy, memory_order_acquire)) return;
    c = candidate_of(region, barrier);
    if (c && !ompp_causal_set_is_empty()) {
        note_period(c, t);
        leads = count_visit(c);
        judge(c);
        leads |= atomic_load_explicit(&leader, memory_order_relaxed) == c;
    } else if (c) {
        learn(c, t);
        leads = count_visit(c);
    }
    atomic_flag_clear_explicit(&candidates_busy, memory_order_release);
    if (leads && atomic_load_explicit(&npoints, memory_order_relaxed) == 0) ompp_component_visited(t);
}

candidate_t *ompp_progress_find(ompp_region_ref_t region, bool barrier)
{
    static candidate_t nobody; /* for whom there is no room */

    if (!region || atomic_flag_test_and_set_explicit(&candidates_busy, memory_order_acquire)) return NULL;
    candidate_t *c = candidate_of(region, barrier);
    atomic_flag_clear_explicit(&candidates_busy, memory_order_release);
    return c ? c : &nobody;
}

void ompp_progress_pass(candidate_t *candidate, ompp_time_t t)
{
    learn(candidate, t);
    count_visit(candidate);
}

/* ---- coz.h's hints about blocking -------------------------------------------------------------------------------- */

/* A program's own lock or queue: what it waits for is not known to us, only that it waits. */
static __thread ompp_time_t block_begin __attribute__((tls_model("initial-exec")));

OMPP_EXPORT void _coz_pre_block(void);
OMPP_EXPORT void _coz_pre_block(void) { block_begin = ompp_sync_follower() ? ompp_event_now() : 0; }

OMPP_EXPORT void _coz_post_block(int skip_delays);
OMPP_EXPORT void _coz_post_block(int skip_delays)
{
    const ompp_sync_wait_t wait = {.begin = block_begin, .end = block_begin ? ompp_event_now() : 0};

    (void)skip_delays;
    if (wait.begin) ompp_sync_join_clock(NULL, &wait);
    block_begin = 0;
}

/* Delays are paid where threads synchronise; there is nothing to catch up with. */
OMPP_EXPORT void _coz_add_delays(void);
OMPP_EXPORT void _coz_add_delays(void) {}
