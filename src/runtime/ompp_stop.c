/*
 * Threads that live when measurement ends: what they have written is read next, and must be whole.
 *
 * A thread's guard, which it alone writes else, is set as if it were inside an event, for good. The thread writes it by
 * a load and a store, between which it may lose its processor; what it stores then differs from what was set here. So a
 * thread counts as stopped when it has had the processor since, or sleeps, which it does not do between the two, and
 * the guard is still as it was set.
 */
#define _GNU_SOURCE
#include "runtime/ompp_thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 100000
#define PAUSES 200
#define ENOUGH_NS 10000    /* of processor: it has come further than an instruction */
#define UNLIKE 0x40000001u /* what is added to a guard: odd, and more than a thread adds */

char ompp_task_state(uint32_t task)
{
    char path[64], text[512];
    const char *state;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/self/task/%u/stat", task);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    state = strrchr(text, ')'); /* the name before it may hold anything */
    return state && state[1] == ' ' ? state[2] : 0;
}

/* ns of processor that a thread of this process has had until now; 0 = it is gone. The number of a thread's clock is
 * Linux's. */
static uint64_t processor_of(uint32_t task)
{
    const clockid_t clock = (clockid_t)(~task << 3 | 6);
    struct timespec t = {0, 0};

    return clock_gettime(clock, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
}

static bool is_past(const ompp_thread_t *thread)
{
    const uint64_t now = processor_of(thread->record->os_tid);
    const char state = now > 0 && now <= thread->stopped_at + ENOUGH_NS ? ompp_task_state(thread->record->os_tid) : 'Z';

    return state && strchr("SDZX", state);
}

/* \return whether the thread is stopped. */
static bool stop(ompp_thread_t *thread)
{
    unsigned guard = __atomic_load_n(&thread->guard, __ATOMIC_ACQUIRE);

    if (ompp_thread_is_stopped(thread)) return true;
    thread->is_stopped = thread->stopped && guard == thread->stopped && is_past(thread) &&
                         __atomic_load_n(&thread->guard, __ATOMIC_ACQUIRE) == thread->stopped;
    if (thread->is_stopped || guard & 1) return thread->is_stopped;
    thread->stopped = guard + UNLIKE;
    if (__atomic_compare_exchange_n(&thread->guard, &guard, thread->stopped, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        thread->stopped_at = processor_of(thread->record->os_tid);
    return false;
}

static bool lives(const ompp_thread_t *thread)
{
    return thread->record->kind != OMPP_A_THREAD_UNUSED &&
           __atomic_load_n(&thread->record->end_ns, __ATOMIC_ACQUIRE) == 0;
}

static bool stop_all(const ompp_thread_t *self)
{
    bool all = true;

    for (ompp_thread_t *thread = atomic_load(&ompp_process.threads); thread; thread = thread->next_all)
        if (thread != self && lives(thread)) all &= stop(thread);
    return all;
}

ompp_time_t ompp_threads_stop(const ompp_thread_t *self)
{
    const struct timespec pause = {0, PAUSE_NS};

    stop_all(self); /* those that sleep are stopped at the second look */
    const ompp_time_t t = ompp_clock_now();
    if (stop_all(self)) return t;
    for (int i = 1; i < PAUSES && !stop_all(self); i++) nanosleep(&pause, NULL);
    return ompp_clock_now();
}
