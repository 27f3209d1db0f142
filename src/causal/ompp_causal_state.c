/*
 * What all files of src/causal share: the record of the process, the calling thread, the present experiment, and what
 * is read from these alone. It needs none of the other files.
 */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/result/ompp_causal_result_priv.h"
#include "runtime/ompp_meter.h"

#include <errno.h>
#include <sched.h>

ompp_causal_t ompp_causal;
__thread ompp_causal_thread_t *ompp_causal_self __attribute__((tls_model("initial-exec")));
ompp_causal_experiment_t ompp_causal_experiment = {.slot = -1, .known = -1};

#define SPINS 200u

void ompp_causal_lock(_Atomic uint32_t *lock)
{
    unsigned spins = 0;
    int saved_errno = errno;

    while (atomic_exchange_explicit(lock, 1, memory_order_acquire)) {
        while (atomic_load_explicit(lock, memory_order_relaxed))
            if (++spins % SPINS == 0) sched_yield();
    }
    errno = saved_errno;
}

void ompp_causal_come_slow(void) { ompp_meter_place(); }

/* ---- Times ------------------------------------------------------------------------------------------------------- */

int64_t ompp_causal_common(ompp_time_t t)
{
    return (int64_t)t + (int64_t)(ompp_causal_shift((ompp_fine_t)t * OMPP_FINE) / OMPP_FINE);
}

bool ompp_causal_set_is_empty(void)
{
    const uint64_t suspension = atomic_load_explicit(&ompp_causal.suspension, memory_order_relaxed);

    return suspension && suspension == atomic_load_explicit(&ompp_causal.set, memory_order_relaxed);
}

ompp_time_t ompp_causal_set_begin(void)
{
    return atomic_load(&ompp_causal.set) == 1 ? ompp_causal.begin : atomic_load(&ompp_causal.set_begin);
}

ompp_time_t ompp_causal_result_passed(ompp_time_t t) { return t > ompp_causal.begin ? t - ompp_causal.begin : 0; }

ompp_time_t ompp_causal_result_observed(ompp_time_t t)
{
    const ompp_time_t passed = ompp_causal_result_passed(t),
                      suspension =
                          ompp_causal_set_is_empty() && t > ompp_causal_set_begin() ? t - ompp_causal_set_begin() : 0;

    return passed > ompp_causal.suspended + suspension ? passed - ompp_causal.suspended - suspension : 0;
}

/* ---- What events cost -------------------------------------------------------------------------------------------- */

void ompp_causal_time_often(ompp_causal_thread_t *self)
{
    if (self->timed_in < OMPP_CAUSAL_STRIDE) return;
    self->timed_in %= OMPP_CAUSAL_STRIDE;
    self->timed_for = self->timed_in + 1;
}

ompp_time_t ompp_causal_charged(void)
{
    ompp_time_t sum = 0;

    for (const ompp_causal_thread_t *t = atomic_load(&ompp_causal.threads); t; t = t->next) sum += t->charged;
    return sum;
}

/* ---- Waits that are not followed --------------------------------------------------------------------------------- */

#define STALLED_PART 100u /* one part in so many of the time is too much */
#define STALLED_OFTEN 3u  /* so many times, before others are told, ... */
/* and so much: what others have heard stays, and the first calls of a run take longer than others */
#define STALLED_NS 2000000u

static struct {
    _Atomic uint64_t times, ns;
    _Atomic bool much;
} stalled;

bool ompp_causal_stalled(ompp_time_t t, uint64_t *times, uint64_t *ns)
{
    *times = atomic_load_explicit(&stalled.times, memory_order_relaxed);
    *ns = atomic_load_explicit(&stalled.ns, memory_order_relaxed);
    const bool much = *ns * STALLED_PART > ompp_causal_result_observed(t);
    atomic_store_explicit(&stalled.much, much && *times >= STALLED_OFTEN && *ns >= STALLED_NS, memory_order_relaxed);
    return much;
}

bool ompp_causal_stalled_much(void) { return atomic_load_explicit(&stalled.much, memory_order_relaxed); }

void ompp_causal_stall(ompp_time_t begin, ompp_time_t end)
{
    uint64_t times, ns;

    atomic_fetch_add_explicit(&stalled.times, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&stalled.ns, end - begin, memory_order_relaxed);
    ompp_causal_stalled(end, &times, &ns);
    if (ompp_causal_stalled_much()) atomic_store_explicit(&ompp_causal.flagged, true, memory_order_relaxed);
}

/* ---- Experiments ------------------------------------------------------------------------------------------------- */

/* At work in the region of the experiment. */
bool ompp_causal_works_faster(const ompp_causal_thread_t *thread)
{
    const ompp_clocks_t *c = &thread->clocks;

    return c->mask & 1 && !c->idle && !c->waiting && !thread->pauses;
}

bool ompp_causal_any_reordered(void)
{
    static const unsigned racy[] = {OMPP_WHATIF_BIT_LOCK, OMPP_WHATIF_BIT_DYNAMIC, OMPP_WHATIF_BIT_TASK,
                                    OMPP_WHATIF_BIT_WILDCARD};

    for (unsigned i = 0; i < sizeof racy / sizeof racy[0]; i++)
        if (atomic_load_explicit(&ompp_causal.watched[racy[i]], memory_order_relaxed)) return true;
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++)
        if (atomic_load_explicit(&ompp_causal.overtaken[OMPP_WHATIF_BIT_BASELINE][s], memory_order_relaxed))
            return true;
    return false;
}
