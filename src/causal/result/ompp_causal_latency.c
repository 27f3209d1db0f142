/*
 * Units of latency points on the clocks: what would pass from begin to end in the program with a faster region.
 *
 * A unit begins on one thread and ends on another one, or the same: it takes t - o at its end less t - o at its begin,
 * by the offsets of these threads then. Both have to be offsets of the same set of regions, or experiment: a unit that
 * ends in another one than it began in belongs to none. An end is that of the oldest unit that the thread has begun, or
 * else of the oldest one.
 */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/experiment/ompp_progress_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

#include "runtime/ompp_whatif_record.h"

/* latency points that are followed; of others, and of those that coz.h counts, the mean latency is known */
#define POINTS 2u
#define REGIONS 64u /* known regions that have records for them */
/* under way at a time that are known one by one; what more of them show is known when they have all ended */
#define UNITS 256u
#define SPEEDUPS OMPP_WHATIF_SPEEDUPS

/* Numbers of a set of regions and of an experiment. */
typedef struct {
    uint64_t set, experiment;
} part_t;

/* A unit that is under way, as it was at its begin. */
typedef struct {
    const ompp_causal_thread_t *thread;
    part_t part;
    ompp_fine_t time, o[OMPP_CLOCKS];
    uint16_t next; /* younger one, or free one; 0 = none */
} unit_t;

/* Ends less begins of units that have ended; fine as offsets are. */
typedef struct {
    int64_t ended;
    int64_t unknown; /* begun, not ended, and not known one by one: their begins are in the sums */
    ompp_fine_t time, o[OMPP_CLOCKS];
} sums_t;

typedef struct {
    _Atomic(ompp_a_whatif_point_t *) point;
    _Atomic uint32_t lock;
    _Atomic bool lost;                     /* a begin or an end that is not followed: what comes then says nothing */
    part_t part;                           /* the present one */
    sums_t now;                            /* of it */
    unit_t *units;                         /* [1 + UNITS], from 1 */
    uint16_t oldest, youngest, free, used; /* index of a unit; 0 = none; used: of the last that ever was */
    _Atomic(ompp_a_whatif_region_t *) records[REGIONS]; /* by known region */
    _Atomic unsigned looked;                            /* so many of these were looked at */
} latency_t;

static unit_t units[POINTS][1 + UNITS];
static latency_t latencies[POINTS] = {{.part = {.set = 1}, .units = units[0]}, {.part = {.set = 1}, .units = units[1]}};

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* Of regions that are known by now. Takes the process's lock. */
static void make_records(latency_t *l, ompp_a_whatif_point_t *point)
{
    for (unsigned k = atomic_load(&l->looked); k < ompp_causal_nknown() && k < REGIONS; k = atomic_load(&l->looked)) {
        const ompp_region_ref_t region = ompp_causal_known_region(k);
        if (!atomic_compare_exchange_strong(&l->looked, &k, k + 1)) continue;
        if (ompp_causal_known_key(k) && region != OMPP_WHATIF_IDEAL)
            atomic_store(&l->records[k], ompp_whatif_unit_new(region, point));
    }
}

/* NULL: there is no room for it. */
static latency_t *latency_of(ompp_a_whatif_point_t *point)
{
    latency_t *l = NULL;

    for (unsigned i = 0; i < POINTS && !l; i++) {
        ompp_a_whatif_point_t *there = NULL;
        if (atomic_compare_exchange_strong(&latencies[i].point, &there, point) || there == point) l = &latencies[i];
    }
    if (l) make_records(l, point);
    return l;
}

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static ompp_fine_t fine(ompp_time_t t) { return (ompp_fine_t)(int64_t)t * OMPP_FINE; }

static bool is_same(part_t a, part_t b) { return a.set == b.set && a.experiment == b.experiment; }

static void add(sums_t *sums, const ompp_causal_thread_t *self, ompp_fine_t times, ompp_time_t t)
{
    sums->time += times * fine(t);
    for (unsigned i = 0; i < OMPP_CLOCKS; i++)
        sums->o[i] += times * ompp_clocks_offset(&ompp_causal.rule, &self->clocks, i);
}

/* NULL: too many are under way. */
static unit_t *new_unit(latency_t *l)
{
    const uint16_t i = l->free ? l->free : l->used < UNITS ? ++l->used : 0;

    if (!i) return NULL;
    if (l->free) l->free = l->units[i].next;
    l->units[i].next = 0;
    if (l->oldest) l->units[l->youngest].next = i;
    else l->oldest = i;
    l->youngest = i;
    return &l->units[i];
}

/* The unit that ends on the thread, out of the list, good until the next one begins. NULL: none is known. */
static const unit_t *take_unit(latency_t *l, const ompp_causal_thread_t *self)
{
    uint16_t before = 0, i = l->oldest;

    for (; i && l->units[i].thread != self; i = l->units[i].next) before = i;
    if (!i) {
        before = 0;
        i = l->oldest;
    }
    if (!i) return NULL;
    if (before) l->units[before].next = l->units[i].next;
    else l->oldest = l->units[i].next;
    if (l->youngest == i) l->youngest = before;
    l->units[i].next = l->free;
    l->free = i;
    return &l->units[i];
}

static void begin_unit(latency_t *l, const ompp_causal_thread_t *self, part_t part, ompp_time_t t)
{
    unit_t *u = new_unit(l);

    if (!u) {
        add(&l->now, self, -1, t);
        l->now.unknown++;
        if (!is_same(part, l->part)) atomic_store(&l->lost, true);
        return;
    }
    u->thread = self;
    u->part = part;
    u->time = fine(t);
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) u->o[i] = ompp_clocks_offset(&ompp_causal.rule, &self->clocks, i);
}

/* One that nobody has seen begin is none. */
static void end_unit(latency_t *l, const ompp_causal_thread_t *self, part_t part, ompp_time_t t)
{
    const unit_t *u = take_unit(l, self);

    if (u ? !is_same(u->part, part) || !is_same(part, l->part) : !l->now.unknown) return;
    add(&l->now, self, 1, t);
    l->now.ended++;
    if (!u) {
        l->now.unknown--;
        if (!is_same(part, l->part)) atomic_store(&l->lost, true);
        return;
    }
    l->now.time -= u->time;
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) l->now.o[i] -= u->o[i];
}

void ompp_causal_unit(ompp_a_whatif_point_t *point, bool begins, ompp_time_t t)
{
    ompp_causal_thread_t *self = ompp_causal_enter();
    latency_t *l = latency_of(point);

    if (self && l) {
        ompp_causal_settle(self);
        ompp_clocks_count(&self->clocks, t);
        const part_t part = {self->clocks.set, self->experiment};
        ompp_causal_lock(&l->lock);
        if (begins) begin_unit(l, self, part, t);
        else end_unit(l, self, part, t);
        ompp_causal_unlock(&l->lock);
    } else if (l) {
        atomic_store(&l->lost, true);
    }
    if (self) ompp_causal_leave(self);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* A clock's own place for a speed-up; the first free one otherwise. */
ompp_whatif_clock_t *ompp_causal_clock_of(ompp_a_whatif_region_t *record, unsigned percent)
{
    for (unsigned k = 0; k < SPEEDUPS; k++) {
        ompp_whatif_clock_t *clock = &record->result.clocks[k];
        const unsigned usual = (unsigned)(25 * (k + 1));
        if (clock->permille == percent * 10) return clock;
        if (!clock->permille && (percent == usual || percent % 25)) {
            clock->permille = percent * 10;
            return clock;
        }
    }
    return NULL;
}

/* What the sums say of clock i goes to the place of its speed-up. */
static void put(ompp_whatif_clock_t *clock, uint32_t permille, const sums_t *sums, unsigned i)
{
    /* in a part of the run it may be less than nothing */
    const ompp_fine_t saved = (ompp_fine_t)clock->saved_ns * OMPP_FINE + sums->o[i];

    clock->time_ns += ompp_clocks_ns(sums->time);
    clock->saved_ns = ompp_clocks_ns(saved) < clock->time_ns ? ompp_clocks_ns(saved) : clock->time_ns;
    clock->observations += (uint64_t)sums->ended;
    clock->permille = permille;
}

static void put_experiment(latency_t *l, const sums_t *sums)
{
    const ompp_causal_experiment_t *e = &ompp_causal_experiment;
    const int known = e->known;
    ompp_a_whatif_region_t *record = known >= 0 && known < (int)REGIONS ? atomic_load(&l->records[known]) : NULL;
    ompp_whatif_clock_t *clock = record && e->percent ? ompp_causal_clock_of(record, e->percent) : NULL;

    if (!clock) return;
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
    put(clock, e->percent * 10, sums, OMPP_CLOCKS_EXPERIMENT);
    clock->paid_ns += ompp_clocks_ns(sums->o[OMPP_CLOCKS_BASELINE]);
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
}

static void put_clocks(latency_t *l, const sums_t *sums)
{
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        const int known = ompp_causal_known(s);
        ompp_a_whatif_region_t *record = known >= 0 && known < (int)REGIONS ? atomic_load(&l->records[known]) : NULL;
        if (!record) continue;
        atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
        for (unsigned k = 0; k < SPEEDUPS; k++)
            put(&record->result.clocks[k], (uint32_t)(ompp_causal.rule.percent[k] * 10), sums, s * SPEEDUPS + k);
        atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
    }
}

/* What the present part shows by now is kept, of units that have ended in it. Under the lock. */
static void keep(latency_t *l)
{
    static const sums_t none;
    const sums_t *sums = l->now.unknown || l->now.time < 0 || atomic_load(&l->lost) ? &none : &l->now;

    if (ompp_causal_experiment.number) put_experiment(l, sums);
    else put_clocks(l, sums);
}

static void turn(latency_t *l, bool keeps, part_t next)
{
    ompp_causal_lock(&l->lock);
    if (keeps) keep(l);
    if (l->now.unknown) atomic_store(&l->lost, true);
    l->now = (sums_t){0};
    l->part = next;
    ompp_causal_unlock(&l->lock);
}

void ompp_causal_latency_turn(bool keeps, uint64_t set, uint64_t experiment)
{
    for (unsigned i = 0; i < POINTS; i++) {
        ompp_a_whatif_point_t *point = atomic_load(&latencies[i].point);
        if (point) make_records(&latencies[i], point); /* units may last longer than it */
        turn(&latencies[i], keeps && point, (part_t){set, experiment});
    }
}

void ompp_causal_latency_write(void)
{
    for (unsigned i = 0; i < POINTS; i++) {
        latency_t *l = &latencies[i];
        if (!atomic_load_explicit(&l->point, memory_order_acquire)) continue;
        ompp_causal_lock(&l->lock);
        keep(l);
        if (!l->now.unknown) l->now = (sums_t){0};
        ompp_causal_unlock(&l->lock);
    }
}
