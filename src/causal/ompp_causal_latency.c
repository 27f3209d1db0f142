/*
 * Units of latency points on the clocks: what would pass from begin to end in the program with a faster region.
 *
 * A unit begins on one thread and ends on another one, or the same: it takes t - o at its end less t - o at its begin, by the offsets of
 * these threads then. So sums are enough: of all ends less all begins, of times and of each clock's offsets. Units that are under way
 * when offsets begin anew end there, and begin again; for them the thread that tells stands for all.
 */
#include "causal/ompp_causal_priv.h"
#include "causal/ompp_progress_priv.h"

#include "runtime/ompp_whatif_record.h"

#include <string.h>

#define POINTS 2u  /* latency points that are followed; of others, and of those that coz.h counts, the mean latency is known */
#define REGIONS 64u /* known regions that have records for them */
#define SPEEDUPS OMPP_WHATIF_SPEEDUPS

/* Ends less begins; fine as offsets are. */
typedef struct {
    int64_t under_way, ended;
    ompp_fine_t time, o[OMPP_CLOCKS];
} sums_t;

typedef struct {
    _Atomic(ompp_a_whatif_point_t *) point;
    _Atomic uint32_t lock;
    _Atomic bool lost; /* a begin or an end on a thread that is not followed */
    sums_t now;        /* since offsets began */
    _Atomic(ompp_a_whatif_region_t *) records[REGIONS]; /* by known region */
} latency_t;

static latency_t latencies[POINTS];

/* ---- Records ---------------------------------------------------------------------------------------------------------- */

static void make_record(latency_t *l, unsigned known, ompp_region_ref_t region)
{
    ompp_a_whatif_point_t *point = atomic_load(&l->point);
    ompp_a_whatif_region_t *record = point && !atomic_load(&l->records[known]) ? ompp_whatif_unit_new(region, point) : NULL;

    if (record) atomic_store(&l->records[known], record);
}

void ompp_causal_latency_region(unsigned known, ompp_region_ref_t region)
{
    for (unsigned i = 0; i < POINTS && known < REGIONS; i++) make_record(&latencies[i], known, region);
}

static latency_t *latency_of(ompp_a_whatif_point_t *point)
{
    for (unsigned i = 0; i < POINTS; i++) {
        ompp_a_whatif_point_t *there = NULL;
        if (atomic_load_explicit(&latencies[i].point, memory_order_acquire) == point) return &latencies[i];
        if (!atomic_compare_exchange_strong(&latencies[i].point, &there, point)) continue;
        for (unsigned k = 0; k < ompp_causal_nknown() && k < REGIONS; k++)
            if (ompp_causal_known_key(k)) make_record(&latencies[i], k, ompp_causal_known_region(k));
        return &latencies[i];
    }
    return NULL;
}

/* ---- Units ------------------------------------------------------------------------------------------------------------ */

static ompp_fine_t fine(ompp_time_t t)
{
    return (ompp_fine_t)(int64_t)t * OMPP_FINE;
}

static void add(sums_t *sums, const ompp_causal_thread_t *self, ompp_fine_t times, ompp_time_t t)
{
    sums->time += times * fine(t);
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) sums->o[i] += times * ompp_clocks_offset(&ompp_causal.rule, &self->clocks, i);
}

void ompp_causal_unit(ompp_a_whatif_point_t *point, bool begins, ompp_time_t t)
{
    ompp_causal_thread_t *self = ompp_causal_enter();
    latency_t *l = latency_of(point);

    if (self && l) {
        ompp_causal_settle(self);
        ompp_clocks_count(&self->clocks, t);
        ompp_causal_lock(&l->lock);
        add(&l->now, self, begins ? -1 : 1, t);
        l->now.under_way += begins ? 1 : -1;
        l->now.ended += !begins;
        ompp_causal_unlock(&l->lock);
    } else if (l) {
        atomic_store(&l->lost, true);
    }
    if (self) ompp_causal_leave(self);
}

/* ---- Results ---------------------------------------------------------------------------------------------------------- */

static uint64_t whole_ns(ompp_fine_t o)
{
    return o > 0 ? (uint64_t)(o / OMPP_FINE + 0.5) : 0;
}

/* What the sums say of clock i goes to the place of its speed-up. */
static void put(ompp_whatif_clock_t *clock, uint32_t permille, const sums_t *sums, unsigned i)
{
    const ompp_fine_t saved = (ompp_fine_t)clock->saved_ns * OMPP_FINE + sums->o[i]; /* in a part of the run it may be less than nothing */

    clock->time_ns += whole_ns(sums->time);
    clock->saved_ns = whole_ns(saved) < clock->time_ns ? whole_ns(saved) : clock->time_ns;
    if (ompp_causal.rule.delays) clock->paid_ns += whole_ns(sums->o[OMPP_CLOCKS_BASELINE]);
    clock->observations += (uint64_t)sums->ended;
    clock->permille = permille;
}

static void put_experiment(latency_t *l, const sums_t *sums)
{
    const ompp_causal_experiment_t *e = &ompp_causal_experiment;
    const int known = e->slot >= 0 ? ompp_causal_known((unsigned)e->slot) : -1;
    ompp_a_whatif_region_t *record = known >= 0 && known < (int)REGIONS ? atomic_load(&l->records[known]) : NULL;
    ompp_whatif_clock_t *clock = record && e->percent ? ompp_causal_clock_of(record, e->percent) : NULL;

    if (!clock) return;
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
    put(clock, e->percent * 10, sums, OMPP_CLOCKS_EXPERIMENT);
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

/* Those that are under way end here and begin again, with the offsets that follow. Under the lock. */
static sums_t cut(latency_t *l, const ompp_causal_thread_t *self, bool on, ompp_time_t t)
{
    const ompp_fine_t under_way = (ompp_fine_t)l->now.under_way;
    sums_t past = l->now;

    add(&past, self, under_way, t);
    l->now = (sums_t){.under_way = l->now.under_way};
    if (on) add(&l->now, self, -under_way, t);
    else l->now.time = -under_way * fine(t);
    return past;
}

static void turn(latency_t *l, const ompp_causal_thread_t *self, bool keep, bool on, ompp_time_t t)
{
    ompp_causal_lock(&l->lock);
    const sums_t past = cut(l, self, on, t);
    if (keep && past.time > 0 && !atomic_load(&l->lost)) {
        if (ompp_causal.rule.delays) put_experiment(l, &past);
        else put_clocks(l, &past);
    }
    ompp_causal_unlock(&l->lock);
}

void ompp_causal_latency_turn(const ompp_causal_thread_t *self, bool keep, bool on, ompp_time_t t)
{
    for (unsigned i = 0; i < POINTS; i++)
        if (atomic_load_explicit(&latencies[i].point, memory_order_acquire)) turn(&latencies[i], self, keep, on, t);
}

void ompp_causal_latency_write(const ompp_causal_thread_t *self, ompp_time_t t)
{
    if (!ompp_causal.rule.delays) ompp_causal_latency_turn(self, true, true, t);
}
