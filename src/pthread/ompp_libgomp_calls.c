/**
 * \file
 * Functions of libgomp that programs call whose sources were instrumented: OPARI2 does not see what they decide.
 * Programs that are measured as they are have them followed in src/gomp. Called by the program; results are those of
 * the real ones.
 */
#define _GNU_SOURCE
#include "pthread/ompp_pthread_priv.h"

#include "model/ompp_whatif_profile.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_sync.h"

#include <dlfcn.h>
#include <string.h>

bool ompp_libgomp_is_reported(const void *real)
{
    static _Atomic int reported; /* 0 = not known yet, 1 = no, 2 = yes */
    Dl_info info;

    if (!reported) reported = dladdr(real, &info) && info.dli_fname && strstr(info.dli_fname, "libompp") ? 2 : 1;
    return reported == 2;
}

static uint64_t team(void) { return (uint64_t)(uintptr_t)ompp_event_team(); }

/* ---- Loops, beside ompp_loop_calls.c ----------------------------------------------------------------------------- */

/* Iterations that wait for others of the same loop (doacross). */
#define POST(name, type)                          \
    static void (*real_##name)(type *);           \
    static void name(type *counts)                \
    {                                             \
        ompp_sync_flag(OMPP_WHATIF_F_LOST, true); \
        real_##name(counts);                      \
    }

POST(doacross_post, long)
POST(doacross_ull_post, unsigned long long)

/* Who has done how much when a construct is cancelled would be another thing. */
static bool (*real_cancel)(int, bool);
static bool cancel(int which, bool really)
{
    const bool cancelled = real_cancel(which, really); /* never without OMP_CANCELLATION */

    ompp_sync_flag(OMPP_WHATIF_F_DYNAMIC, really && cancelled);
    return cancelled;
}

/* ---- What one thread gives to all (single copyprivate) ----------------------------------------------------------- */

/*
 * One thread executes it, and is told so by NULL. The others wait until it gives its copy, and it waits until all have
 * come. Numbers of no team: records of teams are aligned.
 */
#define COPY_GIVEN 1u
#define COPY_AWAITED 2u

static void wait_for(uint64_t object) { ompp_sync_wait(OMPP_SYNC_EVENT, object, ompp_event_now()); }

static void go_on(uint64_t object) { ompp_sync_resume(OMPP_SYNC_EVENT, object, ompp_event_now()); }

static void *(*real_single_copy_start)(void);

static void *single_copy_start(void)
{
    const bool follows = team() && !ompp_libgomp_is_reported((void *)real_single_copy_start);
    void *copy;

    if (!follows) return real_single_copy_start();
    ompp_sync_publish(OMPP_SYNC_EVENT, team() + COPY_AWAITED, ompp_event_now());
    const ompp_time_t begin = ompp_event_now();
    copy = real_single_copy_start();
    if (!copy) return NULL;
    /* That it waits is known when it has. */
    ompp_sync_wait(OMPP_SYNC_EVENT, team() + COPY_GIVEN, begin);
    go_on(team() + COPY_GIVEN);
    wait_for(team() + COPY_AWAITED);
    go_on(team() + COPY_AWAITED);
    return copy;
}

static void (*real_single_copy_end)(void *);

static void single_copy_end(void *copy)
{
    const bool follows = team() && !ompp_libgomp_is_reported((void *)real_single_copy_end);

    if (follows) {
        ompp_sync_publish(OMPP_SYNC_EVENT, team() + COPY_GIVEN, ompp_event_now());
        wait_for(team() + COPY_AWAITED);
    }
    real_single_copy_end(copy);
    if (follows) go_on(team() + COPY_AWAITED);
}

/* ---- Tasks that are made in libgomp ------------------------------------------------------------------------------ */

#define DEPEND 8u /* flag of a task that waits for others: for which ones, is not looked at */

typedef void task_t(void (*)(void *), void *, void (*)(void *, void *), long, long, bool, unsigned, void **, int,
                    void *);
static task_t *real_task;

static void task(void (*body)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool deferred,
                 unsigned flags, void **depend, int priority, void *detach)
{
    if ((flags & DEPEND) && !ompp_libgomp_is_reported((void *)real_task))
        ompp_sync_flag(OMPP_WHATIF_F_TASK | OMPP_WHATIF_F_LOST, true);
    real_task(body, data, copy, size, align, deferred, flags, depend, priority, detach);
}

#define TASKLOOP(name, type)                                                                                \
    static void (*real_##name)(void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned,    \
                               unsigned long, int, type, type, type);                                       \
    static void name(void (*body)(void *), void *data, void (*copy)(void *, void *), long size, long align, \
                     unsigned flags, unsigned long tasks, int priority, type start, type end, type step)    \
    {                                                                                                       \
        if (!ompp_libgomp_is_reported((void *)real_##name)) ompp_sync_flag(OMPP_WHATIF_F_TASK, true);       \
        real_##name(body, data, copy, size, align, flags, tasks, priority, start, end, step);               \
    }

TASKLOOP(taskloop, long)
TASKLOOP(taskloop_ull, unsigned long long)

/* ---- The table --------------------------------------------------------------------------------------------------- */

#define ROW(name)                                          \
    {                                                      \
        "GOMP_" #name, (void *)name, (void **)&real_##name \
    }

const ompp_intercept_t ompp_libgomp_functions[] = {
    ROW(cancel), ROW(doacross_post), ROW(doacross_ull_post), ROW(single_copy_end), ROW(single_copy_start),
    ROW(task),   ROW(taskloop),      ROW(taskloop_ull),
    /* End of functions; ascending */
};
const size_t ompp_nlibgomp_functions = sizeof ompp_libgomp_functions / sizeof ompp_libgomp_functions[0];
