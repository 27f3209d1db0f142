#include "runtime/ompp_own_call.h"

#define LONGEST_NS 2000u /* a thread that took longer had lost its processor, or met the call for the first time */

static struct {
    _Atomic uint64_t ns, n;
} sums[OMPP_OWN_NUM];
static _Atomic uint32_t calibrated; /* ps of a call's two events; 0 = not looked yet */

static uint64_t mean_ps(ompp_own_part_t part)
{
    const uint64_t n = atomic_load_explicit(&sums[part].n, memory_order_relaxed);

    return n ? atomic_load_explicit(&sums[part].ns, memory_order_relaxed) * 1000 / n : 0;
}

void ompp_own_call_slow(const ompp_thread_t *thread, ompp_own_part_t part, ompp_time_t ns)
{
    ompp_a_header_t *header = ompp_process.header;

    if (!header || thread->base != ompp_process.arena.base || ns > LONGEST_NS)
        return; /* of calibration, or another's */
    if (!atomic_load_explicit(&calibrated, memory_order_relaxed))
        atomic_store_explicit(&calibrated, header->cost_ps[OMPP_COST_CALL], memory_order_relaxed);
    atomic_fetch_add_explicit(&sums[part].ns, ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&sums[part].n, 1, memory_order_relaxed);
    const uint64_t half = atomic_load_explicit(&calibrated, memory_order_relaxed) / 2,
                   before = mean_ps(OMPP_OWN_BEFORE), after = mean_ps(OMPP_OWN_AFTER);
    __atomic_store_n(&header->cost_ps[OMPP_COST_CALL], (uint32_t)((before ? before : half) + (after ? after : half)),
                     __ATOMIC_RELAXED);
}
