/*
 * Regions take turns when there are more than slots, without delays: now and then, where a unit of work ends, the slots go to those that
 * have had the least of them for the time that is spent in them. Rank 0 decides; others learn it from stamps.
 */
#include "causal/ompp_causal_priv.h"

#include "runtime/ompp_whatif_record.h"

#include <string.h>

#define SHORTEST_NS 50000000u /* of a turn */
#define PART 10u              /* a turn lasts for one part in so many of the run so far, at least */

static _Atomic uint32_t lock;

/* Regions by the time spent in them, for one choice. */
typedef struct {
    uint64_t ns[OMPP_CAUSAL_KNOWN];
} times_t;

static void add_time(ompp_region_ref_t region, uint64_t ns, void *argument)
{
    times_t *times = argument;
    const int index = ompp_causal_find(region);

    if (index >= 0) times->ns[index] += ns;
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
        add_time(0, p->clocks.worked[OMPP_CLOCKS_OUTSIDE], &times);
    for (unsigned s = 0; s < ompp_causal_nslots(); s++) {
        double most = 0;
        unsigned best = n;
        for (unsigned i = 0; i < n; i++) {
            const double need = (double)times.ns[i] / ((double)ompp_causal_result_followed(i) + (double)t / 1000);
            if (!ompp_causal_known_key(i) || need <= most) continue;
            most = need;
            best = i;
        }
        if (best == n) return;
        keys[s] = ompp_causal_known_key(best);
        times.ns[best] = 0;
    }
}

static void change(ompp_causal_thread_t *self, uint64_t set, const uint64_t keys[OMPP_CLOCKS_SLOTS], ompp_time_t t)
{
    ompp_causal_result_turn(self, set, t);
    ompp_causal_choose(keys);
    atomic_store(&ompp_causal.set_begin, t);
    atomic_store(&ompp_causal.set, set);
}

void ompp_causal_may_turn(ompp_causal_thread_t *self, ompp_time_t t)
{
    const ompp_time_t begin = atomic_load_explicit(&ompp_causal.set_begin, memory_order_relaxed);
    uint64_t keys[OMPP_CLOCKS_SLOTS];
    uint32_t free_lock = 0;

    if (ompp_causal_nknown() <= ompp_causal_nslots() || t < begin + SHORTEST_NS || (t - begin) * PART < t) return;
    if (ompp_whatif_rank() > 0 || !atomic_compare_exchange_strong(&lock, &free_lock, 1)) return;
    choose(keys, t);
    if (keys[0]) change(self, atomic_load(&ompp_causal.set) + 1, keys, t);
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
