/*
 * What following events costs: some of them are timed, and stand for the others.
 */
#include "base/ompp_hash.h"
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/replay/ompp_causal_replay_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

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
    self->timed_in = OMPP_CAUSAL_STRIDE / 2 + (uint32_t)ompp_hash_place(self->moves + self->syncs, 4);
    if (ompp_causal_is_suspended(self)) self->timed_in *= SELDOM;
    self->timed_for = self->timed_in + 1;
    if (ompp_causal.mode->may_turn) ompp_causal.mode->may_turn(self, ompp_event_now());
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

/* A call of MPI in which the thread was delayed, or just before, tells nothing. */
void ompp_causal_charge(ompp_time_t ns)
{
    ompp_causal_thread_t *self = ompp_causal_self;

    if (!self) return;
    if (self->paused == self->charged_paused) self->charged += ns;
    self->charged_paused = self->paused;
}
