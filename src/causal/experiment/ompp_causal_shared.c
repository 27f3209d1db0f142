/*
 * What the ranks of a run on one node tell each other besides messages, in memory that they share
 * (runtime/ompp_sync.h): which regions there are, for the rank that chooses and may never receive anything; and where
 * each was on its clocks when it went over to an experiment. What an experiment has brought is told by the rank that
 * was last at its begin and at its end, whichever that is: what others are ahead by saves nothing.
 *
 * Nothing here waits for another rank without limit. Without the memory all is as ranks see it themselves.
 */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/experiment/ompp_progress_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

#include "runtime/ompp_whatif_record.h"

#include <sched.h>
#include <stdlib.h>

#define REGIONS 64u
/* rank 0, which says where experiments end, has no progress point: at another place than when it has */
#define LEADS_BLIND (1ull << 32)
#define CUTS 256u /* changes of experiments that are remembered; power of two */
#define DRIFT 12  /* less than one part in so many of the time of experiments is chance */
/* times as long as those that some ranks did not come to, at least: experiments of all, for these to say something */
#define FEW 3
#define PATIENCE_NS 5000000u

/* What is known of a region. */
typedef struct {
    _Atomic uint64_t key;  /* 0 = free */
    _Atomic uint64_t work; /* ns, of the rank with the most */
} region_t;

/* Where ranks are, ns of common time: of the rank that is last, and of the one that is first. */
typedef struct {
    _Atomic int64_t t, faster, alone; /* real; in the program with the faster region; without delays */
    _Atomic int64_t first_faster, first_alone;
} line_t;

/* Ranks go over to an experiment. */
typedef struct {
    _Atomic uint64_t number; /* 0 = free */
    _Atomic uint64_t key;    /* of the region; 0 = a pause between experiments, or not to be counted */
    _Atomic uint32_t percent, unsynchronised, ranks, spoilt;
    line_t now, arrival;      /* as they do; when they came to where they heard of it */
    _Atomic int64_t visits;   /* of the progress point, the most of a rank */
    _Atomic uint64_t changes; /* how often another point took over, on all ranks; LEADS_BLIND on top */
    _Atomic uint64_t work;    /* ns, of all ranks in the region, from here to the next one */
} cut_t;

typedef struct ompp_causal_shared {
    region_t regions[REGIONS];
    cut_t cuts[CUTS];
    ompp_causal_race_t race;
} shared_t;

static struct {
    _Atomic uint32_t lock;
    uint64_t done[CUTS]; /* number of the experiment whose result is taken; under the lock */
    struct {
        uint64_t number;
        ompp_causal_seen_t seen;
    } did[CUTS]; /* by this rank */
    _Atomic uint64_t last;
    _Atomic unsigned ranks; /* of the run; when it ends that is not known any more */
    uint64_t forgotten;     /* number of the last experiment that left the cuts; under the lock */
    /* ns of experiments that all ranks came to, and to their end; that some did not. Under the lock */
    int64_t with_all, with_few;
    struct {
        int64_t moved, time;
    } drift[OMPP_CAUSAL_KNOWN]; /* ns, of all experiments with a region */
} own;

size_t ompp_causal_shared_size(void) { return sizeof(shared_t); }

void ompp_causal_shared_open(void *memory) { atomic_store(&ompp_causal.shared, (shared_t *)memory); }

ompp_causal_race_t *ompp_causal_shared_race(void)
{
    shared_t *n = atomic_load_explicit(&ompp_causal.shared, memory_order_acquire);

    return n ? &n->race : NULL;
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

/* NULL: there is no memory, or no room in it. */
static region_t *region_of(uint64_t key)
{
    shared_t *n = atomic_load_explicit(&ompp_causal.shared, memory_order_acquire);

    for (unsigned i = 0; n && i < REGIONS; i++) {
        uint64_t there = atomic_load_explicit(&n->regions[i].key, memory_order_relaxed);
        if (!there && atomic_compare_exchange_strong(&n->regions[i].key, &there, key)) there = key;
        if (there == key) return &n->regions[i];
    }
    return NULL;
}

void ompp_causal_shared_tell(uint64_t key, uint64_t work)
{
    region_t *region = region_of(key);

    if (region && work > atomic_load_explicit(&region->work, memory_order_relaxed)) atomic_store(&region->work, work);
}

void ompp_causal_shared_listen(void (*heard)(uint64_t key, uint64_t work))
{
    const shared_t *n = atomic_load_explicit(&ompp_causal.shared, memory_order_acquire);

    for (unsigned i = 0; n && i < REGIONS; i++) {
        const uint64_t key = atomic_load(&n->regions[i].key);
        if (!key) return;
        heard(key, atomic_load(&n->regions[i].work));
    }
}

/* ---- Experiments ------------------------------------------------------------------------------------------------- */

static cut_t *cut_of(shared_t *n, uint64_t number) { return &n->cuts[number % CUTS]; }

static void begin_line(line_t *line)
{
    atomic_store(&line->t, 0);
    atomic_store(&line->faster, 0);
    atomic_store(&line->alone, 0);
    atomic_store(&line->first_faster, INT64_MAX);
    atomic_store(&line->first_alone, INT64_MAX);
}

void ompp_causal_shared_announce(const ompp_causal_experiment_t *experiment, bool unsynchronised)
{
    shared_t *n = atomic_load_explicit(&ompp_causal.shared, memory_order_acquire);
    cut_t *cut = n ? cut_of(n, experiment->number) : NULL;

    if (!cut) return;
    if (atomic_load(&cut->number) != experiment->number) {
        atomic_store(&cut->number, 0);
        atomic_store(&cut->ranks, 0);
        atomic_store(&cut->spoilt, 0);
        begin_line(&cut->now);
        begin_line(&cut->arrival);
        atomic_store(&cut->visits, 0);
        atomic_store(&cut->changes, 0);
        atomic_store(&cut->work, 0);
    }
    atomic_store(&cut->unsynchronised, unsynchronised);
    atomic_store(&cut->percent, experiment->percent);
    atomic_store(&cut->key,
                 experiment->slot >= 0 && !experiment->settles ? ompp_causal_key((unsigned)experiment->slot) : 0);
    atomic_store(&cut->number, experiment->number);
}

static void lift(_Atomic int64_t *value, int64_t to)
{
    int64_t is = atomic_load(value);

    while (is < to && !atomic_compare_exchange_weak(value, &is, to)) continue;
}

static void lower(_Atomic int64_t *value, int64_t to)
{
    int64_t is = atomic_load(value);

    while (is > to && !atomic_compare_exchange_weak(value, &is, to)) continue;
}

static void put_on_line(line_t *line, const ompp_causal_at_t *at)
{
    const int64_t t = ompp_causal_common(at->t), faster = t - (int64_t)(at->saved / OMPP_FINE),
                  alone = t - (int64_t)(at->paid / OMPP_FINE);

    lift(&line->t, t);
    lift(&line->faster, faster);
    lift(&line->alone, alone);
    lower(&line->first_faster, faster);
    lower(&line->first_alone, alone);
}

void ompp_causal_shared_went_over(uint64_t number, uint64_t visits, const ompp_causal_at_t *now,
                                  const ompp_causal_at_t *arrival)
{
    shared_t *n = atomic_load_explicit(&ompp_causal.shared, memory_order_acquire);
    cut_t *cut = n ? cut_of(n, number) : NULL;

    own.last = number;
    if (ompp_whatif_ranks() > own.ranks) own.ranks = ompp_whatif_ranks();
    if (!cut || atomic_load(&cut->number) != number) return;
    lift(&cut->visits, (int64_t)visits);
    atomic_fetch_add(&cut->changes, ompp_progress_changes() + (ompp_whatif_rank() == 0 && !visits ? LEADS_BLIND : 0));
    put_on_line(&cut->now, now);
    put_on_line(&cut->arrival, arrival);
    atomic_fetch_add(&cut->ranks, 1);
}

unsigned ompp_causal_shared_count(uint64_t number)
{
    shared_t *n = atomic_load_explicit(&ompp_causal.shared, memory_order_acquire);
    const cut_t *cut = n ? cut_of(n, number) : NULL;

    return cut && atomic_load(&cut->number) == number ? atomic_load(&cut->ranks) : 0;
}

bool ompp_causal_shared_has_units(void)
{
    shared_t *n = atomic_load_explicit(&ompp_causal.shared, memory_order_acquire);

    return n && own.last && atomic_load(&cut_of(n, own.last)->visits) > 0;
}

void ompp_causal_shared_did(uint64_t number, const ompp_causal_seen_t *seen)
{
    shared_t *n = atomic_load_explicit(&ompp_causal.shared, memory_order_acquire);
    cut_t *cut = n ? cut_of(n, number) : NULL;

    own.did[number % CUTS].seen = *seen;
    own.did[number % CUTS].number = number;
    if (cut && atomic_load(&cut->number) == number) atomic_fetch_add(&cut->work, seen->work);
}

void ompp_causal_shared_spoil(uint64_t number)
{
    shared_t *n = atomic_load_explicit(&ompp_causal.shared, memory_order_acquire);
    cut_t *cut = n ? cut_of(n, number) : NULL;

    if (cut && atomic_load(&cut->number) == number) atomic_store(&cut->spoilt, 1);
}

/*
 * By how much the first rank has got away from the last one, or the last one has caught up. What is queued between them
 * is used up, or grows: what the experiment says holds while that lasts, not for the run.
 */
static bool drifts(const line_t *from, const line_t *to, unsigned known)
{
    const int64_t faster = to->faster - to->first_faster - (from->faster - from->first_faster);
    const int64_t alone = to->alone - to->first_alone - (from->alone - from->first_alone);

    own.drift[known].moved += llabs(faster) > llabs(alone) ? llabs(faster) : llabs(alone);
    own.drift[known].time += to->alone - from->alone;
    return own.drift[known].moved * DRIFT > own.drift[known].time;
}

/* Units of work from one to the other: not known before the first, nor where they are those of one point before and of
 * another, or none, after. */
static uint32_t units_between(const cut_t *from, const cut_t *to)
{
    if (!from->visits || to->visits <= from->visits || from->changes != to->changes) return 0;
    return (uint32_t)(to->visits - from->visits);
}

/* Under the lock: those that do not come may be later than these. */
static bool lacks_ranks(void) { return own.with_all <= FEW * own.with_few && own.with_few > 0; }

/*
 * The line at which an experiment is measured, at one of its two cuts; other is the other one.
 *
 *   both cuts unsynchronised  arrival: ranks heard of both by messages, and count as where they began to wait for them.
 *                             The sender went over to the next experiment before it sent that message: its work in
 *                             between belongs to the next one
 *   ranks met at one of them  now: where ranks went on, at both cuts
 */
static const line_t *line_of(const cut_t *cut, const cut_t *other)
{
    return cut->unsynchronised && other->unsynchronised ? &cut->arrival : &cut->now;
}

static void take(const cut_t *from, const cut_t *to)
{
    const line_t *begin = line_of(from, to), *end = line_of(to, from);
    const int64_t time = end->t - begin->t, faster = end->faster - begin->faster, alone = end->alone - begin->alone;
    const uint64_t key = atomic_load(&from->key);
    ompp_causal_experiment_t experiment = {.number = from->number,
                                           .slot = ompp_causal_find_slot(key),
                                           .known = ompp_causal_known_with(key),
                                           .percent = from->percent};

    const ompp_causal_seen_t none = {0, 0}, *seen = &own.did[from->number % CUTS].seen;

    if (atomic_load(&from->spoilt) || time <= 0 || alone <= 0 || faster < 0) return;
    if (own.did[from->number % CUTS].number != from->number) seen = &none; /* it was not in it */
    const ompp_whatif_block_t block = {.number = (uint32_t)experiment.number,
                                       .visits = units_between(from, to),
                                       .time_ns = (uint64_t)time,
                                       .saved_ns = faster < time ? time - faster : 0,
                                       .paid_ns = alone < time ? (uint64_t)(time - alone) : 0,
                                       .work_ns = atomic_load(&from->work)};
    const bool unsynchronised =
        from->unsynchronised || to->unsynchronised || ompp_causal_shared_count(from->number) < own.ranks;
    const bool watched = unsynchronised && experiment.percent && experiment.known >= 0;
    const bool few = lacks_ranks();
    if (few && !experiment.percent) return; /* nothing to compare with */
    experiment.unsynchronised = unsynchronised || few;
    experiment.drifts = (watched && drifts(begin, end, (unsigned)experiment.known)) || few;
    ompp_causal_result_add(&experiment, &block, seen);
}

/* All that go over to an experiment have done so with the next. */
static bool is_over(const cut_t *from, const cut_t *to, uint64_t number, bool final)
{
    const uint32_t ranks = atomic_load(&from->ranks);

    if (atomic_load(&from->number) != number || atomic_load(&to->number) != number + 1) return false;
    return atomic_load(&to->ranks) == ranks && (final ? ranks > 1 : ranks == ompp_whatif_ranks());
}

static void weigh(shared_t *n, uint64_t number)
{
    const int64_t time = cut_of(n, number + 1)->now.t - cut_of(n, number)->now.t;

    if (time <= 0 || !cut_of(n, number)->now.t) return;
    if (ompp_causal_shared_count(number) >= own.ranks && ompp_causal_shared_count(number + 1) >= own.ranks)
        own.with_all += time;
    else own.with_few += time;
}

/* Whoever came to it and to its end. */
static bool is_known(shared_t *n, uint64_t number)
{
    return own.done[number % CUTS] != number && cut_of(n, number)->number == number &&
           cut_of(n, number + 1)->number == number + 1;
}

/* What is over and was not taken until now, some ranks did not come to. */
static void forget(shared_t *n, uint64_t until)
{
    for (uint64_t i = own.forgotten + 1 + CUTS > until ? own.forgotten + 1 : until - CUTS; i <= until; i++)
        if (is_known(n, i)) weigh(n, i);
    if (until > own.forgotten) own.forgotten = until;
}

void ompp_causal_shared_take(bool final)
{
    shared_t *n = atomic_load_explicit(&ompp_causal.shared, memory_order_acquire);
    const uint64_t last = own.last, first = last > CUTS ? last - CUTS + 1 : 1;
    const ompp_time_t begin = ompp_event_now();
    bool news[CUTS];

    if (!n || !last) return;
    /* Others may be about to tell. */
    while (final && cut_of(n, last)->ranks < cut_of(n, last - 1)->ranks && ompp_event_now() < begin + PATIENCE_NS)
        sched_yield();
    ompp_causal_lock(&own.lock);
    if (!final && last >= CUTS) forget(n, first);
    for (uint64_t i = first; i < last; i++) {
        news[i % CUTS] = own.done[i % CUTS] != i && is_over(cut_of(n, i), cut_of(n, i + 1), i, final);
        if (i > own.forgotten && (news[i % CUTS] || (final && is_known(n, i)))) weigh(n, i);
    }
    for (uint64_t i = first; i < last; i++) {
        if (!news[i % CUTS]) continue;
        own.done[i % CUTS] = i;
        if (atomic_load(&cut_of(n, i)->key)) take(cut_of(n, i), cut_of(n, i + 1));
    }
    atomic_store(&ompp_causal.lacks_ranks, lacks_ranks());
    ompp_causal_unlock(&own.lock);
}
