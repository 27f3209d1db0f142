/*
 * Regions take turns when there are more than slots, without delays: now and then, where a unit of work ends, the slots go to those that
 * have had the least of them for the time that is spent in them. Rank 0 decides; others learn it from stamps.
 *
 * What clocks cost is measured. When it goes beyond a part of the run, they rest: a turn of no regions, in which events do next to
 * nothing, until there is time for another turn. A region is then followed for a part of the run, as when it had to wait for its turn.
 * Fewer regions at a time would not do instead: most of what an event takes does not go by their number, so that all of them can be
 * followed for a quarter of the run for what one of them costs in half of it.
 */
#include "base/ompp_env.h"
#include "causal/ompp_causal_priv.h"

#include "runtime/ompp_whatif_record.h"

#include <string.h>

#define SHORTEST_NS 50000000u /* of a turn */
#define PART 10u              /* a turn lasts for one part in so many of the run so far, at least */
#define LOOK_NS 1000000u      /* after so long it is looked again what clocks cost */
#define MEASURED 0.007        /* of one percent of the threads' time that clocks may take: what is measured of it; not what others wait */
#define NOTHING 0.0001        /* percent */
#define FREE_NS 1000000u      /* that they may take anyway, per thread */
#define PIECE_NS 10000000u    /* between two rests clocks are kept for so long, ... */
#define PIECE_PART 32u        /* or for one part in so many of what they were kept, at least */
#define LONGEST_REST 64u      /* in such pieces: whatever they cost, something is observed */

static _Atomic uint32_t lock;

/* When clocks rest, and when they do again. Under the lock, but for what is looked at first. */
static struct {
    _Atomic ompp_time_t look; /* not before */
    _Atomic int holds;        /* ranks pass each other without stamps */
    ompp_time_t spent;        /* until the present set */
} resting;

/* Regions by the time spent in them, for one choice. */
typedef struct {
    uint64_t ns[OMPP_CAUSAL_KNOWN];
} times_t;

#define CHOSEN UINT64_MAX

static void add_time(ompp_region_ref_t region, uint64_t ns, void *argument)
{
    times_t *times = argument;
    const int index = ompp_causal_find(region);

    if (index >= 0) times->ns[index] += ns;
}

/* Work that was counted, as if it had been all the time. */
static uint64_t whole(ompp_time_t counted, ompp_time_t t)
{
    const ompp_time_t observed = ompp_causal_result_observed(t);

    return observed ? (uint64_t)((double)counted / (double)observed * (double)ompp_causal_result_passed(t)) : counted;
}

/* Those with the largest time per time that they have been followed; a region that was not followed yet comes before. */
static void choose(uint64_t keys[OMPP_CLOCKS_SLOTS], ompp_time_t t)
{
    static times_t times; /* under the lock */
    const unsigned n = ompp_causal_nknown();

    memset(&times, 0, sizeof times);
    memset(keys, 0, OMPP_CLOCKS_SLOTS * sizeof *keys);
    ompp_whatif_region_times(add_time, &times);
    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next)
        add_time(0, whole(p->clocks.worked[OMPP_CLOCKS_OUTSIDE], t), &times);
    for (unsigned s = 0; s < ompp_causal_nslots(); s++) {
        double most = -1;
        unsigned best = n;
        for (unsigned i = 0; i < n; i++) {
            const double need = (double)times.ns[i] / ((double)ompp_causal_result_followed(i) + (double)t / 1000);
            if (!ompp_causal_known_key(i) || times.ns[i] == CHOSEN || need <= most) continue;
            most = need;
            best = i;
        }
        if (best == n) return;
        keys[s] = ompp_causal_known_key(best);
        for (unsigned i = 0; i < n; i++)
            if (ompp_causal_known_key(i) == keys[s]) times.ns[i] = CHOSEN;
    }
}

/* Another set of regions; of none, when the first key is 0. */
static void change(ompp_causal_thread_t *self, uint64_t set, const uint64_t keys[OMPP_CLOCKS_SLOTS], ompp_time_t t)
{
    ompp_causal_result_turn(self, set, t);
    ompp_causal_choose(keys);
    atomic_store(&ompp_causal.set_begin, t);
    if (!keys[0]) {
        atomic_store(&ompp_causal.rest_begin, t);
        atomic_store(&ompp_causal.rest, set);
    }
    atomic_store(&ompp_causal.set, set);
    resting.spent = ompp_causal_spent();
}

/* ---- Rests ------------------------------------------------------------------------------------------------------------ */

static ompp_time_t piece(ompp_time_t t)
{
    const ompp_time_t part = ompp_causal_result_observed(t) / PIECE_PART;

    return part > PIECE_NS ? part : PIECE_NS;
}

static unsigned nthreads(void)
{
    unsigned n = 0;

    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next) n += atomic_load(&p->used);
    return n ? n : 1;
}

/* Part of the time of all threads. */
static double budget(void)
{
    return MEASURED * (ompp_env.causal_budget > 0 ? (double)ompp_env.causal_budget : NOTHING);
}

/* ns until clocks have cost no more than they may, if they cost nothing meanwhile. */
static double debt(ompp_time_t t)
{
    const double n = nthreads(), run = (double)ompp_causal_result_passed(t);
    const double allowed = ompp_env.causal_budget > 0 ? n * (FREE_NS + budget() * run) : 0;

    return ((double)ompp_causal_spent() - allowed) / (n * budget());
}

/* At the end of the piece after it they are to have cost what they may. */
static ompp_time_t length_of_rest(ompp_time_t t, ompp_time_t kept)
{
    const double cost = (double)(ompp_causal_spent() - resting.spent) / (double)(kept ? kept : 1), next = (double)piece(t);
    const double length = debt(t) + next * (cost / (nthreads() * budget()) - 1), most = LONGEST_REST * next;

    return (ompp_time_t)(length < next ? next : length > most ? most : length);
}

/* \return when it is looked again. */
static ompp_time_t may_rest(ompp_causal_thread_t *self, ompp_time_t t)
{
    static const uint64_t none[OMPP_CLOCKS_SLOTS];
    const ompp_time_t kept = t - atomic_load(&ompp_causal.set_begin), least = piece(t);

    if (kept < least) return t + least - kept;
    if (ompp_env.causal_budget == 100 || debt(t) <= 0) return t + LOOK_NS;
    const ompp_time_t length = length_of_rest(t, kept);
    change(self, atomic_load(&ompp_causal.set) + 1, none, t);
    return t + length;
}

static bool is_due(ompp_time_t t)
{
    const ompp_time_t begin = atomic_load_explicit(&ompp_causal.set_begin, memory_order_relaxed);

    return ompp_causal_nknown() > ompp_causal_nslots() && t >= begin + SHORTEST_NS && (t - begin) * PART >= t;
}

/* Ranks cannot go on together before they meet with stamps again; when that does not come, apart. */
static bool is_held(ompp_time_t t)
{
    const ompp_time_t begin = atomic_load_explicit(&ompp_causal.rest_begin, memory_order_relaxed);
    const ompp_time_t end = atomic_load_explicit(&resting.look, memory_order_relaxed);

    return atomic_load_explicit(&resting.holds, memory_order_relaxed) > 0 && t < end + (end - begin);
}

void ompp_causal_hold(bool on)
{
    atomic_fetch_add_explicit(&resting.holds, on ? 1 : -1, memory_order_relaxed);
}

ompp_time_t ompp_causal_rests_until(void)
{
    const bool here = ompp_causal_resting() && ompp_whatif_rank() <= 0;

    return here ? atomic_load_explicit(&resting.look, memory_order_relaxed) : 0;
}

void ompp_causal_may_turn(ompp_causal_thread_t *self, ompp_time_t t)
{
    uint64_t keys[OMPP_CLOCKS_SLOTS];
    uint32_t free_lock = 0;
    const bool rests = ompp_causal_rests(self), look = t >= atomic_load_explicit(&resting.look, memory_order_relaxed);

    if (rests ? !look || is_held(t) : !look && !is_due(t)) return;
    if (ompp_whatif_rank() > 0 || !atomic_compare_exchange_strong(&lock, &free_lock, 1)) return;
    const ompp_time_t begin = ompp_event_now();
    if (look && !rests) {
        atomic_store_explicit(&resting.look, may_rest(self, t), memory_order_relaxed);
    } else {
        choose(keys, t);
        if (keys[0]) change(self, atomic_load(&ompp_causal.set) + 1, keys, t);
        if (rests) atomic_store_explicit(&resting.look, t + piece(t), memory_order_relaxed);
    }
    self->spent += ompp_event_now() - begin; /* the profile of all threads is gone through */
    ompp_causal_unlock(&lock);
    ompp_causal_settle(self);
}

void ompp_causal_follow_set(ompp_causal_thread_t *self, uint64_t set, const uint64_t keys[OMPP_CLOCKS_SLOTS], ompp_time_t t)
{
    uint32_t free_lock = 0;

    if (!atomic_compare_exchange_strong(&lock, &free_lock, 1)) return;
    if (set > atomic_load(&ompp_causal.set)) change(self, set, keys, t);
    ompp_causal_unlock(&lock);
    ompp_causal_settle(self);
}
