/**
 * \file
 * Whether, and when, the program's threads are followed: with OMPP_CAUSAL, from the first one on that it creates by
 * POSIX's function or C11's. Before it there is nobody to wait for; without OMPP_CAUSAL only their begin is seen, where
 * samples are taken, and nothing is touched else.
 */
#define _GNU_SOURCE
#include "pthread/ompp_pthread_priv.h"

#include "base/ompp_env.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_meter.h"
#include "sample/ompp_sample.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static void follow(void);
static void follow_creation(bool c11);

static bool causal; /* asked for */

/* ---- Creating threads -------------------------------------------------------------------------------------------- */

/** What a new thread does: one of the two, as it was made by POSIX's or C11's function. */
typedef struct {
    void *(*function)(void *);
    thrd_start_t c11;
    void *argument;
    bool is_followed; /* else: only sampled */
} start_t;

static void tell(ompp_sync_thread_t what)
{
    if (!ompp_pthread_enter()) return;
    ompp_sync_thread(what);
    ompp_pthread_leave();
}

/* Also by pthread_exit() and cancellation. */
static void ends(void *nothing)
{
    (void)nothing;
    if (ompp_pthread_enter()) {
        ompp_pthread_end_cancelled();
        ompp_pthread_leave();
    }
    ompp_pthread_settle_tried(0);
    ompp_pthread_publish(OMPP_SYNC_EVENT, (uint64_t)pthread_self());
    tell(OMPP_SYNC_THREAD_END);
}

/* The stack of a new thread is all zeros, also where we have used it: programs that read what they have not written
 * find that as without us. */
__attribute__((noinline)) static void clean_stack(void)
{
    char used[4000];

    memset(used, 0, sizeof used);
    __asm__ volatile("" : : "r"(used) : "memory");
}

/* data: what the thread was given; freed. */
static start_t begin(void *data)
{
    const start_t start = *(start_t *)data;

    if (start.is_followed) {
        ompp_pthread_resume(OMPP_SYNC_FORK, ompp_pthread_number(data));
        tell(OMPP_SYNC_THREAD_BEGIN);
    }
    free(data);
    if (ompp_sample_is_on()) ompp_meter_place(); /* it may have no other event */
    return start;
}

static void *begins(void *data)
{
    const start_t start = begin(data);
    void *result;

    clean_stack();
    if (!start.is_followed) return start.function(start.argument);
    pthread_cleanup_push(ends, NULL);
    result = start.function(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

static int begins_c11(void *data)
{
    const start_t start = begin(data);
    int result;

    clean_stack();
    if (!start.is_followed) return start.c11(start.argument);
    pthread_cleanup_push(ends, NULL);
    result = start.c11(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

/* A thread is about to be created. \return what it is given; NULL = nobody follows it. */
static start_t *prepare(start_t what)
{
    start_t *start;
    int saved = errno;

    if (causal) {
        follow();                /* libraries that have been loaded since */
        (void)ompp_event_team(); /* measurement runs from here on */
    } else {
        follow_creation(ompp_c11_is_known());
    }
    what.is_followed = causal && ompp_sync_follower();
    start = what.is_followed || ompp_sample_is_on() ? malloc(sizeof *start) : NULL;
    errno = saved;
    if (!start) return NULL;
    *start = what;
    if (!start->is_followed) return start;
    tell(OMPP_SYNC_THREAD_CREATE);
    ompp_pthread_publish(OMPP_SYNC_FORK, ompp_pthread_number(start));
    return start;
}

static void not_created(start_t *start)
{
    if (start->is_followed) tell(OMPP_SYNC_THREAD_NOT_CREATED);
    free(start);
}

static int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
    start_t *start = prepare((start_t){.function = function, .argument = argument});
    int error;

    if (!start) return pthread_create(thread, attributes, function, argument);
    error = pthread_create(thread, attributes, begins, start);
    if (error) not_created(start);
    return error;
}

static int create_c11(thrd_t *thread, thrd_start_t function, void *argument)
{
    start_t *start = prepare((start_t){.c11 = function, .argument = argument});
    int error;

    if (!start) return thrd_create(thread, function, argument);
    error = thrd_create(thread, begins_c11, start);
    if (error != thrd_success) not_created(start);
    return error;
}

/* ---- Which functions --------------------------------------------------------------------------------------------- */

static bool wanted(void)
{
    for (size_t i = 0; i < ompp_env_nrows; i++) {
        if (ompp_env_rows[i].offset != offsetof(ompp_env_t, causal)) continue;
        const char *value = ompp_env_text(&ompp_env_rows[i]);
        return *value && strcmp(value, "off") != 0;
    }
    return false;
}

static const ompp_intercept_t creates[] = {{"pthread_create", create, NULL}, {"thrd_create", create_c11, NULL}};

static void follow_creation(bool c11) { ompp_intercept(creates, c11 ? 2 : 1); }

/* In modules that are loaded now. */
static void follow(void)
{
    ompp_intercept(ompp_pthread_functions, ompp_npthread_functions);
    ompp_intercept(ompp_futex_functions, ompp_nfutex_functions);
    follow_creation(ompp_c11_follow());
    ompp_intercept(ompp_libgomp_functions, ompp_nlibgomp_functions);
}

/* All at once, so that a thread that runs on finds lock and unlock replaced together. */
__attribute__((constructor)) static void at_load(void)
{
    ompp_intercept(ompp_loop_functions, ompp_nloop_functions);
    causal = wanted();
    if (causal) follow();
    else if (ompp_sample_is_wanted()) follow_creation(ompp_c11_is_known());
}
