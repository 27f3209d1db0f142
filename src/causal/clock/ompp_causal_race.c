/*
 * With delays: how much ranks of a node have saved. A receive from any source takes the message that comes first. That
 * has to be the one that would come first in the program with the faster region. So a rank is delayed, before it sends,
 * by what other ranks of the node have saved until then, the piece that they are at included. What the program would
 * take without these delays is known from units of work at 0 % alone. Without a progress point there are none: then
 * ranks are not delayed before they send, and the order is the measured one.
 */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"

#include "runtime/ompp_whatif_record.h"

#define LONGEST_NS 200000000 /* in a region: a rank may have died there */
#define TRIES 4u

void ompp_causal_race_begin(void)
{
    ompp_causal_race_t *r = ompp_causal_shared_race();

    const uint64_t now = ompp_causal_experiment.number;

    if (!r || ompp_whatif_ranks() > OMPP_CAUSAL_LANES || atomic_load_explicit(&r->raced, memory_order_relaxed) >= now)
        return;
    if (ompp_causal_shared_has_units()) atomic_store(&r->raced, now);
}

bool ompp_causal_races(void)
{
    const ompp_causal_race_t *r = ompp_causal_shared_race();

    if (!r) return false;
    const uint64_t raced = atomic_load_explicit(&r->raced, memory_order_relaxed);
    return raced && raced + 1 >= ompp_causal_experiment.number;
}

void ompp_causal_race_tell(const ompp_causal_thread_t *self)
{
    const ompp_clocks_t *c = &self->clocks;

    const int rank = ompp_whatif_rank();

    if (!self->main || rank < 0 || !ompp_causal_races()) return;
    ompp_causal_lane_t *lane = &ompp_causal_shared_race()->lanes[rank];
    /* Calls of MPI may wait for who waits for this rank. */
    const bool works = ompp_causal_works_faster(self) && c->where != OMPP_CLOCKS_UNKNOWN;
    atomic_fetch_add(&lane->changes, 1);
    atomic_store_explicit(&lane->experiment, self->experiment, memory_order_relaxed);
    atomic_store_explicit(&lane->offset, (int64_t)ompp_clocks_offset(&ompp_causal.rule, c, OMPP_CLOCKS_EXPERIMENT),
                          memory_order_relaxed);
    atomic_store_explicit(&lane->since, works ? ompp_causal_common(c->since) : 0, memory_order_relaxed);
    atomic_fetch_add(&lane->changes, 1);
}

/* \return false: another experiment, or it is being changed. */
static bool look(const ompp_causal_lane_t *lane, uint64_t experiment, int64_t now, ompp_fine_t *offset, bool *works)
{
    for (unsigned i = 0; i < TRIES; i++) {
        const uint64_t before = atomic_load(&lane->changes);
        const int64_t o = atomic_load(&lane->offset), since = atomic_load(&lane->since),
                      passed = since && now > since ? now - since : 0;
        const bool same = atomic_load(&lane->experiment) == experiment;
        if (before & 1 || atomic_load(&lane->changes) != before) continue;
        *works = since && passed < LONGEST_NS;
        *offset =
            (ompp_fine_t)o + ompp_causal.rule.percent[0] * (ompp_fine_t)(passed < LONGEST_NS ? passed : LONGEST_NS);
        return same;
    }
    return false;
}

ompp_fine_t ompp_causal_race_most(const ompp_causal_thread_t *self, ompp_time_t t, bool *grows)
{
    const ompp_causal_race_t *r = ompp_causal_shared_race();
    const unsigned ranks = ompp_whatif_ranks(), rank = (unsigned)ompp_whatif_rank();
    const int64_t now = ompp_causal_common(t);
    ompp_fine_t most = 0, offset;
    bool works;

    *grows = false;
    for (unsigned i = 0; i < ranks; i++) {
        if (i == rank || !look(&r->lanes[i], self->experiment, now, &offset, &works) || offset <= most) continue;
        most = offset;
        *grows = works;
    }
    return most;
}
