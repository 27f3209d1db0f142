/**
 * \file
 * What calls of threads tell (runtime/ompp_sync.h), whoever they belong to: POSIX, C11.
 */
#define _GNU_SOURCE
#include "pthread/ompp_pthread_priv.h"

#include "model/ompp_whatif_profile.h"

#define AT_ONCE_NS 20000u /* from trying a lock to waiting for it: the thread does nothing else */

/* an allocator of the program may lock in what we call */
static __thread bool inside __attribute__((tls_model("initial-exec")));
static __thread uint64_t tried __attribute__((tls_model("initial-exec"))); /* the last lock, in vain; 0 = none */
static __thread ompp_time_t tried_at __attribute__((tls_model("initial-exec")));
static __thread bool waits __attribute__((tls_model("initial-exec")));

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* Threads only have a part in it while somebody follows. */
bool ompp_pthread_enter(void)
{
    if (inside || !ompp_sync_follower()) return false;
    inside = true;
    return true;
}

void ompp_pthread_leave(void) { inside = false; }

/* Before anything else: what comes now belongs to the next unit of work. */
static void look(ompp_sync_object_t kind)
{
    if (kind != OMPP_SYNC_MUTEX && kind != OMPP_SYNC_READ) ompp_sync_look(ompp_clock_now());
}

/* What a thread that is cancelled goes on with; no object has that address. */
uint64_t ompp_pthread_cancellation(pthread_t thread) { return (uint64_t)thread + 1; }

/* It was waiting, and is at something else now: the wait was cancelled. */
void ompp_pthread_end_cancelled(void)
{
    if (!waits) return;
    waits = false;
    ompp_sync_resume(OMPP_SYNC_EVENT, ompp_pthread_cancellation(pthread_self()), ompp_clock_now());
}

void ompp_pthread_publish(ompp_sync_object_t kind, uint64_t object)
{
    if (!ompp_pthread_enter()) return;
    /* A signal handler may post to a semaphore while its thread waits. */
    if (kind != OMPP_SYNC_EVENT && kind != OMPP_SYNC_SEMAPHORE) ompp_pthread_end_cancelled();
    look(kind);
    ompp_sync_publish(kind, object, ompp_clock_now());
    ompp_pthread_leave();
}

/* How often it is tried, or whether a moment comes first up to which it waits, would be another thing in the faster
 * program. */
void ompp_pthread_flag(bool in_vain)
{
    if (!ompp_pthread_enter()) return;
    ompp_sync_flag(OMPP_WHATIF_F_POLLING, in_vain);
    ompp_pthread_leave();
}

/* A lock that was tried in vain, and is waited for at once, is just waited for: allocators do so. */
void ompp_pthread_settle_tried(uint64_t waits_for)
{
    const uint64_t lock = tried;

    tried = 0;
    if (lock && (lock != waits_for || ompp_clock_now() > tried_at + AT_ONCE_NS)) ompp_pthread_flag(true);
}

ompp_time_t ompp_pthread_wait(ompp_sync_object_t kind, uint64_t object)
{
    ompp_time_t t;

    if (tried) ompp_pthread_settle_tried(object);
    if (!ompp_pthread_enter()) return 0;
    ompp_pthread_end_cancelled();
    look(kind);
    t = ompp_clock_now();
    ompp_sync_wait(kind, object, t);
    waits = true;
    ompp_pthread_leave();
    return t;
}

void ompp_pthread_resume(ompp_sync_object_t kind, uint64_t object)
{
    if (!ompp_pthread_enter()) return;
    waits = false;
    ompp_sync_resume(kind, object, ompp_clock_now());
    ompp_pthread_leave();
}

/* The wait is over, and nobody ended it: a limit of time, a signal. */
void ompp_pthread_in_vain(ompp_time_t begin)
{
    const ompp_sync_wait_t over = {.begin = begin, .end = ompp_clock_now()};

    if (!begin || !ompp_pthread_enter()) return;
    waits = false;
    ompp_sync_join_clock(NULL, &over);
    ompp_pthread_leave();
}

void ompp_pthread_waited(bool well, ompp_sync_object_t kind, uint64_t object, ompp_time_t begin)
{
    if (well) ompp_pthread_resume(kind, object);
    else ompp_pthread_in_vain(begin);
}

/* One that is not to be had is not waited for. */
void ompp_pthread_got(bool well, ompp_sync_object_t kind, uint64_t object)
{
    if (!well) return;
    ompp_pthread_settle_tried(0);
    ompp_pthread_wait(kind, object);
    ompp_pthread_resume(kind, object);
}

/* ---- What is tried ----------------------------------------------------------------------------------------------- */

void ompp_pthread_try_for(const void *lock, bool success)
{
    ompp_pthread_settle_tried(0);
    if (success) {
        ompp_pthread_flag(false);
    } else if (ompp_sync_follower()) {
        tried = ompp_pthread_number(lock);
        tried_at = ompp_clock_now();
    }
}
