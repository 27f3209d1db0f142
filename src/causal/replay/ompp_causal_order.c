/*
 * What going through order again costs, and what is made of intervals that there is no time for (ompp_replay_budget.h).
 */
#include "base/ompp_hash.h"
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

/* Not one event in so many, which might always be the same one of a round. */
#define STRIDE 16u
#define SELDOM 8u           /* while clocks are suspended, they take little */
#define LONGEST_EVENT 4000u /* ns: an event is hundreds */

#define READS 64u

static ompp_time_t reading; /* ns between two looks at the clock with nothing between them */

void ompp_causal_calibrate(void)
{
    ompp_time_t least = LONGEST_EVENT, t = ompp_event_now();

    for (unsigned i = 0; i < READS; i++) {
        const ompp_time_t now = ompp_event_now();
        if (now - t < least) least = now - t;
        t = now;
    }
    reading = least;
}

ompp_time_t ompp_causal_time_event_slow(ompp_causal_thread_t *self)
{
    self->timed_paused = self->paused;
    return ompp_event_now();
}

void ompp_causal_timed_slow(ompp_causal_thread_t *self, ompp_time_t begin)
{
    const ompp_time_t all = ompp_event_now() - begin - (self->paused - self->timed_paused),
                      taken = all > reading ? all - reading : 0;

    self->charged +=
        (taken < LONGEST_EVENT ? taken : LONGEST_EVENT) * (self->timed_for ? self->timed_for : 1) + 2 * reading;
    self->timed_in = STRIDE / 2 + (uint32_t)ompp_hash_place(self->moves + self->syncs, 4);
    if (ompp_causal_is_suspended(self)) self->timed_in *= SELDOM;
    self->timed_for = self->timed_in + 1;
    if (ompp_causal.rule.delays) return;
    ompp_causal_may_turn_anywhere(self, ompp_event_now());
    if (self->main) ompp_causal_may_write(self, ompp_event_now());
}

void ompp_causal_time_often(ompp_causal_thread_t *self)
{
    if (self->timed_in < STRIDE) return;
    self->timed_in %= STRIDE;
    self->timed_for = self->timed_in + 1;
}

ompp_time_t ompp_causal_charged(void)
{
    ompp_time_t sum = 0;

    for (const ompp_causal_thread_t *t = atomic_load(&ompp_causal.threads); t; t = t->next) sum += t->charged;
    return sum;
}

void ompp_causal_flag(unsigned flags, bool happened)
{
    ompp_causal_thread_t *self =
        ompp_causal_self && ompp_causal_stays_suspended(ompp_causal_self) ? NULL : ompp_causal_enter();

    if (!self) return;
    const ompp_time_t begin = ompp_causal_time_event(self);
    ompp_causal_settle(self);
    if (!ompp_causal_is_suspended(self))
        for (; flags; flags &= flags - 1) ompp_causal_asked((unsigned)__builtin_ctz(flags), happened);
    ompp_causal_timed(self, begin);
    ompp_causal_leave(self);
}

void ompp_causal_charge(ompp_time_t ns)
{
    if (ompp_causal_self) ompp_causal_self->charged += ns;
}

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
