/*
 * What going through order again costs, and what is made of intervals that there is no time for (ompp_replay_budget.h).
 */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/replay/ompp_causal_replay_priv.h"
#include "causal/replay/ompp_replay.h"
#include "causal/replay/ompp_replay_budget.h"
#include "causal/result/ompp_causal_result_priv.h"

#define TIMED 8u       /* of so many events, the time that one takes is measured */
#define LONGEST 10000u /* ns: whoever takes longer has had no processor */

static struct {
    _Atomic uint32_t lock;
    ompp_replay_budget_t budget;
    /* 1/100 ns by which intervals were longer than with locks handed over; one that was drawn stands for the others */
    double passed;
} costs;

double ompp_causal_afford(ompp_fine_t now)
{
    ompp_causal_lock(&costs.lock);
    const double allowed =
        ompp_replay_budget_allows(&costs.budget, ompp_causal_result_passed((ompp_time_t)(now / OMPP_FINE)));
    ompp_causal_unlock(&costs.lock);
    return allowed;
}

void ompp_causal_measure(const ompp_causal_thread_t *self, ompp_time_t t)
{
    ompp_time_t taken;

    if (self->syncs % TIMED || !self->part.team) return;
    taken = ompp_event_now() - t;
    __atomic_fetch_add(&self->part.interval->noting, TIMED * (taken < LONGEST ? taken : LONGEST), __ATOMIC_RELAXED);
}

/* Members note at the same time. */
static ompp_time_t noting_of(const ompp_replay_t *replay)
{
    return __atomic_load_n(&replay->noting, __ATOMIC_RELAXED) / (replay->nmembers ? replay->nmembers : 1);
}

bool ompp_causal_run_again(ompp_replay_t *replay, ompp_clock_vector_t *vector)
{
    const ompp_clock_vector_t before = *vector;
    const ompp_time_t begin = ompp_event_now();
    const bool right = ompp_replay_run(replay, vector);

    ompp_causal_lock(&costs.lock);
    if (right && replay->drawn > 0) costs.passed += (double)replay->passed / replay->drawn;
    if (right)
        ompp_replay_budget_learn(&costs.budget, &before, vector, ompp_replay_length(replay, vector->t), replay->drawn);
    else ompp_replay_budget_give_up(&costs.budget);
    ompp_replay_budget_charge(&costs.budget, ompp_event_now() - begin + noting_of(replay));
    ompp_causal_unlock(&costs.lock);
    return right;
}

void ompp_causal_give_up(const ompp_replay_t *replay)
{
    ompp_causal_lock(&costs.lock);
    ompp_replay_budget_give_up(&costs.budget);
    ompp_replay_budget_charge(&costs.budget, noting_of(replay));
    ompp_causal_unlock(&costs.lock);
}

bool ompp_causal_estimate(ompp_clock_vector_t *vector, ompp_fine_t began)
{
    ompp_causal_lock(&costs.lock);
    const bool enough = ompp_replay_budget_estimate(&costs.budget, vector, vector->t - began);
    ompp_causal_unlock(&costs.lock);
    return enough;
}

void ompp_causal_orders(uint64_t *replayed, uint64_t *kept, uint64_t *passed_ns)
{
    ompp_causal_lock(&costs.lock);
    *replayed = costs.budget.replayed;
    *kept = costs.budget.kept;
    *passed_ns = (uint64_t)(costs.passed / OMPP_FINE);
    ompp_causal_unlock(&costs.lock);
}
