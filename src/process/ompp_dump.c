/*
 * Reports and copies of the profile by the clock, every OMPP_DUMP_INTERVAL or OMPP_CHECKPOINT seconds, by a thread of
 * ours. Not collective: each process writes its own.
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "dump"
#include "process/ompp_dump_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "process/ompp_helper.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define STACK_BYTES (2u << 20) /* of our thread */

static struct {
    void (*dump)(void), (*checkpoint)(void);
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic bool running;
    bool stop;
} timer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add_ns(struct timespec *t, uint64_t ns)
{
    ns += (uint64_t)t->tv_nsec;
    t->tv_sec += (time_t)(ns / 1000000000u);
    t->tv_nsec = (long)(ns % 1000000000u);
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Waits until then, or until the clock has gone back. \return false when it is time to end. */
static bool sleep_until(const struct timespec *then)
{
    const uint64_t look_ns = OMPP_HELPER_LOOK_MS * 1000000u; /* for others */
    struct timespec now = {0, 0};
    bool go_on = true;

    pthread_mutex_lock(&timer.lock);
    for (;;) {
        struct timespec before = now, next;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (is_before(&now, &before)) break;
        next = now;
        add_ns(&next, look_ns);
        go_on = !timer.stop && !ompp_helper_is_alone();
        if (!go_on || !is_before(&now, then)) break;
        pthread_cond_timedwait(&timer.wake, &timer.lock, is_before(then, &next) ? then : &next);
    }
    pthread_mutex_unlock(&timer.lock);
    return go_on;
}

/* What is done by the clock. */
typedef struct {
    void (*run)(void);
    uint64_t interval_ns; /* 0 = never */
    struct timespec next;
} duty_t;

static void do_duties(duty_t *duty, const duty_t *end)
{
    for (struct timespec now, latest; duty < end; duty++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        latest = now;
        add_ns(&latest, duty->interval_ns);
        if (is_before(&latest, &duty->next)) duty->next = latest; /* the clock has gone back: a restored process */
        if (!duty->interval_ns || is_before(&now, &duty->next)) continue;
        ompp_helper_borrow_stderr();
        duty->run();
        ompp_helper_return_stderr();
        clock_gettime(CLOCK_MONOTONIC, &now);
        /* What takes longer than the interval leaves some out. */
        while (!is_before(&now, &duty->next)) add_ns(&duty->next, duty->interval_ns);
    }
}

static void do_by_the_clock(void *unused)
{
    duty_t duties[] = {{.run = timer.dump, .interval_ns = (uint64_t)(1e9 * ompp_env.dump_interval)},
                       {.run = timer.checkpoint, .interval_ns = (uint64_t)(1e9 * ompp_env.checkpoint)}};
    enum { N = sizeof duties / sizeof duties[0] };
    const struct timespec *first;

    (void)unused;
    ompp_helper_leave_descriptors();
    for (unsigned i = 0; i < N; i++) {
        clock_gettime(CLOCK_MONOTONIC, &duties[i].next);
        add_ns(&duties[i].next, duties[i].interval_ns);
    }
    do {
        do_duties(duties, duties + N);
        first = NULL;
        for (unsigned i = 0; i < N; i++)
            if (duties[i].interval_ns && (!first || is_before(&duties[i].next, first))) first = &duties[i].next;
    } while (first && sleep_until(first));
}

void ompp_dump_start(void (*dump)(void), void (*checkpoint)(void))
{
    pthread_condattr_t attributes;
    int saved_errno = errno, error;

    if (ompp_env.dump_interval <= 0 && ompp_env.checkpoint <= 0) return;
    timer.dump = dump;
    timer.checkpoint = checkpoint;
    tzset(); /* reads TZ once, here: our thread must not read the environment while the program changes it */
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&timer.wake, &attributes);
    pthread_condattr_destroy(&attributes);
    error = ompp_helper_start(&timer.thread, "ompp-dump", STACK_BYTES, do_by_the_clock, NULL);
    timer.running = !error;
    if (error) ompp_warn_common("no incremental reports nor copies: no thread for them (%s)", strerror(error));
    errno = saved_errno;
}

void ompp_dump_stop(void)
{
    struct timespec limit;

    if (!atomic_exchange(&timer.running, false)) return;
    pthread_mutex_lock(&timer.lock);
    timer.stop = true;
    pthread_cond_signal(&timer.wake);
    pthread_mutex_unlock(&timer.lock);
    /* it was the last thread of the process, which ends with it */
    if (pthread_equal(pthread_self(), timer.thread)) return;
    clock_gettime(CLOCK_REALTIME, &limit);
    add_ns(&limit, (uint64_t)(1e9 * (ompp_env.report_seconds + 10)));
    pthread_timedjoin_np(timer.thread, NULL, &limit);
}
