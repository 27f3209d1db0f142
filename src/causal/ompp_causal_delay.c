/*
 * Delays: what a thread owes after a synchronisation, it waits for on the spot, by an absolute sleep and a short spin, and what it has
 * really waited is what counts.
 */
#define _GNU_SOURCE
#include "causal/ompp_causal_priv.h"

#include <errno.h>
#include <time.h>

#define SPIN_NS 60000u /* the end of a pause is spun: a sleep ends that late */

static void sleep_for(ompp_time_t ns)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    const uint64_t end = (uint64_t)until.tv_nsec + ns;
    until.tv_sec += (time_t)(end / 1000000000u);
    until.tv_nsec = (long)(end % 1000000000u);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) continue;
}

static void wait_until(ompp_time_t until)
{
    const int saved_errno = errno;
    ompp_time_t t = ompp_event_now();

    if (until > t + SPIN_NS) sleep_for(until - t - SPIN_NS);
    while (ompp_event_now() < until) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    errno = saved_errno;
}

static void pay(ompp_causal_thread_t *self, ompp_time_t until)
{
    wait_until(until);
    ompp_clocks_paid(&self->clocks, ompp_event_now());
}

void ompp_causal_go_on(ompp_causal_thread_t *self, const ompp_stamp_t *stamp, ompp_time_t cost, ompp_time_t t)
{
    const ompp_time_t pause = ompp_clocks_adopt(&ompp_causal.rule, &self->clocks, stamp, cost, t);

    if (pause) pay(self, t + pause);
}

void ompp_causal_pay(ompp_time_t until)
{
    ompp_causal_thread_t *self = until ? ompp_causal_enter() : NULL;

    if (!self) return;
    if (self->clocks.debt > 0) pay(self, until);
    ompp_causal_leave(self);
}
