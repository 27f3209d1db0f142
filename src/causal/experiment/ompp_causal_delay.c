/*
 * Delays: what a thread owes after a synchronisation, it waits for on the spot, by an absolute sleep and a short spin,
 * and what it has really waited is what counts.
 */
#define _GNU_SOURCE
#include "base/ompp_caller.h"
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPIN_NS 15000u    /* the end of a pause is spun: a sleep ends that late, even if asked for without slack */
#define PIECE_NS 1000000u /* of a pause that is slept: signals of the program are that late at most */

/*
 * A thread that is cancelled is not so here, where the program does not expect it: it may hold a lock by now. Signals
 * wait until it has its own timer slack again: a handler may leave by longjmp().
 */
static void sleep_without_slack(const struct timespec *until)
{
    const uint64_t held = ompp_signals_hold();
    const int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);

    if (slack > 1) prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, until, NULL);
    if (slack > 1) prctl(PR_SET_TIMERSLACK, slack, 0, 0, 0);
    ompp_signals_release(held);
}

/* In pieces: between them signals are handled. */
static void sleep_until(ompp_time_t end)
{
    struct timespec until;

    for (ompp_time_t t; (t = ompp_event_now()) < end;) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)(end - t < PIECE_NS ? end - t : PIECE_NS);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        sleep_without_slack(&until);
    }
}

static void wait_until(ompp_time_t until)
{
    const int saved_errno = errno;
    ompp_time_t t = ompp_event_now();

    if (until > t + SPIN_NS) sleep_until(until - SPIN_NS);
    while (ompp_event_now() < until) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    errno = saved_errno;
}

/* A pause that is longer than this says that something is wrong, not that the region matters; so do all pauses of a
 * thread that take it so far beyond the part of the run that they may have. */
#define LONGEST_NS 1000000000u

static ompp_time_t longest(const ompp_causal_thread_t *self, ompp_time_t t)
{
    const ompp_time_t allowed = ompp_causal_budget(t) + LONGEST_NS;
    const ompp_time_t left = allowed > self->paused ? allowed - self->paused : 0;

    return left < LONGEST_NS ? left : LONGEST_NS;
}

void ompp_causal_pay(ompp_causal_thread_t *self, ompp_time_t until)
{
    const ompp_time_t t = ompp_event_now(), limit = longest(self, t);

    if (until > t + limit) {
        /* The rest is let off, not asked for again with the next message. */
        self->clocks.o[OMPP_CLOCKS_EXPERIMENT] += (ompp_fine_t)(until - t - limit) * OMPP_FINE;
        until = t + limit;
        ompp_causal_spoil();
    }
    self->pauses = true;
    wait_until(until);
    self->pauses = false;
    const ompp_time_t end = ompp_event_now();
    self->paused += end - t;
    ompp_clocks_paid(&self->clocks, end);
    ompp_causal_race_tell(self);
}

void ompp_causal_go_on(ompp_causal_thread_t *self, const ompp_clock_vector_t *vector, ompp_time_t t)
{
    /* Who is waited for may have saved something in a set of regions that has begun meanwhile: this thread goes on with
     * it. */
    if (vector && vector->set > self->clocks.set) ompp_causal_settle(self);
    const ompp_time_t pause = ompp_clocks_join(&ompp_causal.rule, &self->clocks, vector, 0, t);

    if (pause) ompp_causal_pay(self, t + pause);
}

/* ---- Where order is decided as it goes --------------------------------------------------------------------------- */

#define CLOSE_NS 20000u /* threads are kept within that of each other */
/* of a pause while another thread is still in the region: what is too much others wait for, too */
#define STEP_NS 150000u
#define ROUNDS 10000u /* the others go on while one waits; what pauses may take in all ends it, too */

/* Offset of a thread on the experiment's clock at t, with the work that it is doing; another thread reads it as it
 * is. */
static ompp_fine_t offset_at(const ompp_causal_thread_t *thread, ompp_time_t t)
{
    const ompp_time_t since = thread->clocks.since;

    return ompp_clocks_offset(&ompp_causal.rule, &thread->clocks, OMPP_CLOCKS_EXPERIMENT) +
           (ompp_causal_works_faster(thread) && t > since ? ompp_causal.rule.percent[0] * (ompp_fine_t)(t - since) : 0);
}

/* The most of all threads that are in the same experiment. \param[out] grows  it is about to become more. */
static ompp_fine_t most(uint64_t set, ompp_time_t t, bool *grows)
{
    ompp_fine_t most = 0;

    *grows = false;
    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next) {
        if (!atomic_load_explicit(&p->used, memory_order_relaxed) || p->clocks.set != set) continue;
        const ompp_fine_t o = offset_at(p, t);
        if (o <= most) continue;
        most = o;
        *grows = ompp_causal_works_faster(p);
    }
    return most;
}

uint32_t ompp_causal_overtakes(const ompp_causal_thread_t *self, const ompp_clock_vector_t *before)
{
    const int slot = ompp_causal_experiment.slot;

    if (slot < 0 || self->percent <= 0) return 0;
    const bool overtakes =
        ompp_clocks_overtaken_on(&ompp_causal.rule, &self->clocks, before, OMPP_CLOCKS_EXPERIMENT, 2 * CLOSE_NS);
    return overtakes ? 1u << slot : 0;
}

/*
 * Without delays: a lock that lets threads pass others that have waited for long, as those do that are not handed over.
 * Experiments do not tell by themselves what the program takes, and how often it happens is chance.
 */
static void watch_passing(bool passed)
{
    ompp_causal_watch(OMPP_WHATIF_BIT_BASELINE, passed ? OMPP_CAUSAL_ALL_SLOTS : 0);
    ompp_causal_asked(OMPP_WHATIF_BIT_LOCK, passed);
}

void ompp_causal_watch_order(const ompp_causal_thread_t *self, const ompp_clock_vector_t *before, unsigned flag_bit)
{
    const ompp_clocks_rule_t *rule = &ompp_causal.rule;
    const int slot = ompp_causal_experiment.slot;
    const bool other = ompp_clocks_overtaken_on(rule, &self->clocks, before, OMPP_CLOCKS_EXPERIMENT, 2 * CLOSE_NS);
    const bool base = ompp_clocks_overtaken_on(rule, &self->clocks, before, OMPP_CLOCKS_BASELINE, CLOSE_NS);

    if (slot < 0) return;
    if (self->percent <= 0) {
        if (flag_bit == OMPP_WHATIF_BIT_LOCK) watch_passing(other);
        return;
    }
    ompp_causal_watch(flag_bit, other ? 1u << slot : 0);
    ompp_causal_watch(OMPP_WHATIF_BIT_BASELINE, base ? 1u << slot : 0);
}

/* \return whether it was delayed. */
static bool chase(ompp_causal_thread_t *self, bool ranks)
{
    unsigned i;

    for (i = 0; i < ROUNDS && ompp_causal_experiment.slot >= 0; i++) {
        if (atomic_load_explicit(&ompp_causal.set, memory_order_relaxed) != self->clocks.set) break;
        const ompp_time_t t = ompp_event_now();
        ompp_clocks_count(&self->clocks, t);
        bool grows;
        const ompp_fine_t all = ranks ? ompp_causal_race_most(self, t, &grows) : most(self->clocks.set, t, &grows);
        const ompp_fine_t owes = all - offset_at(self, t);
        if (owes < CLOSE_NS * OMPP_FINE) break;
        const ompp_time_t pause = (ompp_time_t)(owes / OMPP_FINE);
        ompp_causal_pay(self, t + (grows && pause < STEP_NS ? STEP_NS : pause));
    }
    return i > 0;
}

void ompp_causal_chase(ompp_causal_thread_t *self) { chase(self, false); }

bool ompp_causal_throttle(void)
{
    ompp_causal_thread_t *self = ompp_causal_races() ? ompp_causal_enter() : NULL;
    bool delayed;

    if (!self) return false;
    ompp_causal_settle(self);
    delayed = chase(self, true);
    ompp_causal_leave(self);
    return delayed;
}
