/**
 * \file
 * What the program's calls of POSIX threads are replaced by: tell who waits for what, and call the real function. The table stands at
 * the end. Functions of this file are called by the program; results, errno and cancellation are those of the real ones.
 *
 * Events (runtime/ompp_sync.h): a mutex is MUTEX; condition variables, signals and ends of threads are EVENT. A reader-writer lock is a
 * MUTEX for writers, and READ for readers; so is what is done once.
 */
#define _GNU_SOURCE
#include "causal/ompp_causal_priv.h"
#include "causal/ompp_progress_priv.h"
#include "causal/ompp_pthread_priv.h"

#include "runtime/ompp_meter.h"
#include "runtime/ompp_sync.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

enum { WRITES_HELD = 16 }; /* reader-writer locks that a thread may hold for writing at a time and be known for it */

static __thread bool inside __attribute__((tls_model("initial-exec"))); /* an allocator of the program may lock in what we call */
static __thread bool waits __attribute__((tls_model("initial-exec")));
static __thread const void *writes[WRITES_HELD] __attribute__((tls_model("initial-exec")));

/* ---- Events --------------------------------------------------------------------------------------------------------- */

static uint64_t number(const void *object)
{
    return (uint64_t)(uintptr_t)object;
}

/* Threads only have a part in it while somebody follows. */
static bool enter(void)
{
    if (inside || !ompp_sync_follower()) return false;
    inside = true;
    return true;
}

static void leave(void)
{
    inside = false;
}

/* Before anything else: what comes now belongs to the next unit of work. */
static void look(ompp_sync_object_t kind)
{
    if (kind != OMPP_SYNC_MUTEX && kind != OMPP_SYNC_READ) ompp_progress_look(ompp_clock_now());
}

/* What a thread that is cancelled goes on with; no object has that address. */
static uint64_t cancellation_of(pthread_t thread)
{
    return (uint64_t)thread + 1;
}

/* It was waiting, and is at something else now: the wait was cancelled. */
static void end_cancelled(void)
{
    if (!waits) return;
    waits = false;
    ompp_sync_resume(OMPP_SYNC_EVENT, cancellation_of(pthread_self()), ompp_clock_now());
}

static void publish(ompp_sync_object_t kind, uint64_t object)
{
    if (!enter()) return;
    /* A signal handler may post to a semaphore while its thread waits. */
    if (kind != OMPP_SYNC_EVENT && kind != OMPP_SYNC_SEMAPHORE) end_cancelled();
    look(kind);
    ompp_sync_publish(kind, object, ompp_clock_now());
    leave();
}

static ompp_time_t wait(ompp_sync_object_t kind, uint64_t object)
{
    ompp_time_t t;

    if (!enter()) return 0;
    end_cancelled();
    look(kind);
    t = ompp_clock_now();
    ompp_sync_wait(kind, object, t);
    waits = true;
    leave();
    return t;
}

static void resume(ompp_sync_object_t kind, uint64_t object)
{
    if (!enter()) return;
    waits = false;
    ompp_sync_resume(kind, object, ompp_clock_now());
    leave();
}

/* The wait is over, and nobody ended it: a limit of time, a signal. */
static void in_vain(ompp_time_t begin)
{
    const ompp_sync_wait_t over = {.begin = begin, .end = ompp_clock_now()};

    if (!begin || !enter()) return;
    waits = false;
    ompp_sync_pay(ompp_sync_adopt(NULL, &over));
    leave();
}

static void waited(bool well, ompp_sync_object_t kind, uint64_t object, ompp_time_t begin)
{
    if (well) resume(kind, object);
    else in_vain(begin);
}

/* It was tried, and what became of it would be another thing at another moment: it could not be had, or a moment has come. */
static void doubt(bool in_vain)
{
    if (!in_vain || !enter()) return;
    ompp_sync_doubt(OMPP_WHATIF_F_POLLING);
    leave();
}

/* ---- Mutexes -------------------------------------------------------------------------------------------------------- */

/* Also when its owner has died: then it is ours. */
static bool taken(int error)
{
    return error == 0 || error == EOWNERDEAD;
}

#define LOCK(name, kind, parameters, ...)                                                                              \
    static int name parameters                                                                                         \
    {                                                                                                                  \
        const ompp_time_t begin = wait(kind, number(lock));                                                            \
        const int error = pthread_##name(__VA_ARGS__);                                                                 \
        waited(taken(error), kind, number(lock), begin);                                                               \
        doubt(error == ETIMEDOUT);                                                                                     \
        return error;                                                                                                  \
    }

/* One that is not to be had is not waited for. */
static void got(bool well, ompp_sync_object_t kind, uint64_t object)
{
    if (!well) return;
    wait(kind, object);
    resume(kind, object);
}

#define TRY(name, kind, parameters, ...)                                                                               \
    static int name parameters                                                                                         \
    {                                                                                                                  \
        const int error = pthread_##name(__VA_ARGS__);                                                                 \
        got(taken(error), kind, number(lock));                                                                         \
        doubt(error == EBUSY);                                                                                         \
        return error;                                                                                                  \
    }

LOCK(mutex_lock, OMPP_SYNC_MUTEX, (pthread_mutex_t * lock), lock)
TRY(mutex_trylock, OMPP_SYNC_MUTEX, (pthread_mutex_t * lock), lock)
LOCK(mutex_timedlock, OMPP_SYNC_MUTEX, (pthread_mutex_t * lock, const struct timespec *until), lock, until)
LOCK(mutex_clocklock, OMPP_SYNC_MUTEX, (pthread_mutex_t * lock, clockid_t clock, const struct timespec *until), lock, clock, until)

static int spin_lock(pthread_spinlock_t *lock)
{
    const ompp_time_t begin = wait(OMPP_SYNC_MUTEX, number((void *)lock));
    const int error = pthread_spin_lock(lock);

    waited(taken(error), OMPP_SYNC_MUTEX, number((void *)lock), begin);
    return error;
}

static int spin_trylock(pthread_spinlock_t *lock)
{
    const int error = pthread_spin_trylock(lock);

    got(taken(error), OMPP_SYNC_MUTEX, number((void *)lock));
    doubt(error == EBUSY);
    return error;
}

static int spin_unlock(pthread_spinlock_t *lock)
{
    publish(OMPP_SYNC_MUTEX, number((void *)lock));
    return pthread_spin_unlock(lock);
}

static int mutex_unlock(pthread_mutex_t *lock)
{
    publish(OMPP_SYNC_MUTEX, number(lock));
    return pthread_mutex_unlock(lock);
}

/* ---- Reader-writer locks -------------------------------------------------------------------------------------------- */

static void note_write(const void *lock)
{
    for (unsigned i = 0; i < WRITES_HELD; i++)
        if (!writes[i]) {
            writes[i] = lock;
            return;
        }
}

static bool end_write(const void *lock)
{
    for (unsigned i = 0; i < WRITES_HELD; i++)
        if (writes[i] == lock) {
            writes[i] = NULL;
            return true;
        }
    return false;
}

static int written(const void *lock, int error, ompp_time_t begin)
{
    waited(taken(error), OMPP_SYNC_MUTEX, number(lock), begin);
    if (taken(error)) note_write(lock);
    doubt(error == ETIMEDOUT);
    return error;
}

#define WRITE(name, parameters, ...)                                                                                   \
    static int name parameters                                                                                         \
    {                                                                                                                  \
        const ompp_time_t begin = wait(OMPP_SYNC_MUTEX, number(lock));                                                 \
        return written(lock, pthread_##name(__VA_ARGS__), begin);                                                      \
    }

LOCK(rwlock_rdlock, OMPP_SYNC_READ, (pthread_rwlock_t * lock), lock)
TRY(rwlock_tryrdlock, OMPP_SYNC_READ, (pthread_rwlock_t * lock), lock)
LOCK(rwlock_timedrdlock, OMPP_SYNC_READ, (pthread_rwlock_t * lock, const struct timespec *until), lock, until)
LOCK(rwlock_clockrdlock, OMPP_SYNC_READ, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until), lock, clock, until)
WRITE(rwlock_wrlock, (pthread_rwlock_t * lock), lock)
WRITE(rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until), lock, until)
WRITE(rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until), lock, clock, until)

static int rwlock_trywrlock(pthread_rwlock_t *lock)
{
    const int error = pthread_rwlock_trywrlock(lock);

    doubt(error == EBUSY);
    return taken(error) ? written(lock, error, wait(OMPP_SYNC_MUTEX, number(lock))) : error;
}

static int rwlock_unlock(pthread_rwlock_t *lock)
{
    publish(end_write(lock) ? OMPP_SYNC_MUTEX : OMPP_SYNC_READ, number(lock));
    return pthread_rwlock_unlock(lock);
}

/* ---- What is done once ----------------------------------------------------------------------------------------------- */

/* Who comes first does it, and has it alone as long; the others wait for that, as readers do. One that has waited need not again. */
typedef struct {
    void (*function)(void);
    const void *control;
    bool ours;
} once_t;

enum { ONCE_KNOWN = 32 };

static __thread once_t *present __attribute__((tls_model("initial-exec")));
static __thread const void *is_done[ONCE_KNOWN] __attribute__((tls_model("initial-exec")));

/* It may call anything, and may not come back: exceptions, cancellation. Then the next one that comes does it. */
static void do_once(void)
{
    once_t *const now = present;
    const void *const control = now->control;

    now->ours = true;
    resume(OMPP_SYNC_MUTEX, number(control));
    now->function();
    publish(OMPP_SYNC_MUTEX, number(control));
}

static int once_by(int (*real)(pthread_once_t *, void (*)(void)), pthread_once_t *control, void (*function)(void))
{
    once_t call = {function, control, false};
    const void **const known = &is_done[number(control) / sizeof *control % ONCE_KNOWN];
    ompp_time_t begin;
    int error;

    if (*known == control || !(begin = wait(OMPP_SYNC_READ, number(control)))) return real(control, function);
    present = &call;
    error = real(control, do_once);
    if (!call.ours) waited(error == 0, OMPP_SYNC_READ, number(control), begin);
    *known = control;
    return error;
}

static int once(pthread_once_t *control, void (*function)(void))
{
    return once_by(pthread_once, control, function);
}

/* ---- Condition variables -------------------------------------------------------------------------------------------- */

/* The mutex is given up before, and is there again after. A wait that was cancelled ends in the program's clean-up, with the mutex. */
static int woken(const void *cond, const void *lock, int error, ompp_time_t begin)
{
    waited(error == 0, OMPP_SYNC_EVENT, number(cond), begin);
    wait(OMPP_SYNC_MUTEX, number(lock));
    resume(OMPP_SYNC_MUTEX, number(lock));
    doubt(error == ETIMEDOUT);
    return error;
}

static ompp_time_t give_up(const void *cond, const void *lock)
{
    publish(OMPP_SYNC_MUTEX, number(lock));
    return wait(OMPP_SYNC_EVENT, number(cond));
}

static int cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
    const ompp_time_t begin = give_up(cond, lock);

    return woken(cond, lock, pthread_cond_wait(cond, lock), begin);
}

static int cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until)
{
    const ompp_time_t begin = give_up(cond, lock);

    return woken(cond, lock, pthread_cond_timedwait(cond, lock, until), begin);
}

static int cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *lock, clockid_t clock, const struct timespec *until)
{
    const ompp_time_t begin = give_up(cond, lock);

    return woken(cond, lock, pthread_cond_clockwait(cond, lock, clock, until), begin);
}

static int cond_signal(pthread_cond_t *cond)
{
    publish(OMPP_SYNC_EVENT, number(cond));
    return pthread_cond_signal(cond);
}

static int cond_broadcast(pthread_cond_t *cond)
{
    publish(OMPP_SYNC_EVENT, number(cond));
    return pthread_cond_broadcast(cond);
}

/* ---- Barriers, semaphores, signals ---------------------------------------------------------------------------------- */

static int barrier_wait(pthread_barrier_t *barrier)
{
    int result;

    publish(OMPP_SYNC_MEETING, number(barrier));
    wait(OMPP_SYNC_MEETING, number(barrier));
    result = pthread_barrier_wait(barrier);
    resume(OMPP_SYNC_MEETING, number(barrier));
    return result;
}

/* How many posts are still there tells which one it was that this thread has taken. */
static void took(bool well, sem_t *sem, ompp_time_t begin)
{
    const int saved = errno;
    int left = 0;

    if (!well) in_vain(begin);
    doubt(!well && saved == ETIMEDOUT);
    if (well && begin && sem_getvalue(sem, &left) == 0 && ompp_causal_self) ompp_causal_self->left = left > 0 ? (unsigned)left : 0;
    if (well && begin) resume(OMPP_SYNC_SEMAPHORE, number(sem));
    errno = saved;
}

#define SEMAPHORE(name, parameters, ...)                                                                               \
    static int semaphore_##name parameters                                                                             \
    {                                                                                                                  \
        const ompp_time_t begin = wait(OMPP_SYNC_SEMAPHORE, number(sem));                                              \
        const int result = sem_##name(__VA_ARGS__);                                                                    \
        took(result == 0, sem, begin);                                                                                 \
        return result;                                                                                                 \
    }

SEMAPHORE(wait, (sem_t * sem), sem)
SEMAPHORE(timedwait, (sem_t * sem, const struct timespec *until), sem, until)
SEMAPHORE(clockwait, (sem_t * sem, clockid_t clock, const struct timespec *until), sem, clock, until)

static int semaphore_trywait(sem_t *sem)
{
    const int result = sem_trywait(sem), error = errno;

    if (result == 0) took(true, sem, wait(OMPP_SYNC_SEMAPHORE, number(sem)));
    else doubt(error == EAGAIN);
    errno = error;
    return result;
}

static int semaphore_post(sem_t *sem)
{
    publish(OMPP_SYNC_SEMAPHORE, number(sem));
    return sem_post(sem);
}

/* Signals by their number: no object has an address that small. ANY_SIGNAL: which one is waited for is not known yet. */
#define ANY_SIGNAL 4095u

static int kill_thread(pthread_t thread, int signal)
{
    if (signal > 0) publish(OMPP_SYNC_EVENT, (uint64_t)signal);
    return pthread_kill(thread, signal);
}

static int signal_wait(const sigset_t *set, int *signal)
{
    const ompp_time_t begin = wait(OMPP_SYNC_EVENT, ANY_SIGNAL);
    const int error = sigwait(set, signal);

    waited(error == 0, OMPP_SYNC_EVENT, error ? 0 : (uint64_t)*signal, begin);
    return error;
}

static int signal_waitinfo(const sigset_t *set, siginfo_t *info)
{
    const ompp_time_t begin = wait(OMPP_SYNC_EVENT, ANY_SIGNAL);
    const int signal = sigwaitinfo(set, info);

    waited(signal > 0, OMPP_SYNC_EVENT, (uint64_t)signal, begin);
    return signal;
}

static int signal_timedwait(const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
    const ompp_time_t begin = wait(OMPP_SYNC_EVENT, ANY_SIGNAL);
    const int signal = sigtimedwait(set, info, limit), error = errno;

    waited(signal > 0, OMPP_SYNC_EVENT, (uint64_t)signal, begin);
    doubt(signal < 0 && error == EAGAIN);
    errno = error;
    return signal;
}

static int signal_suspend(const sigset_t *set)
{
    const ompp_time_t begin = wait(OMPP_SYNC_EVENT, ANY_SIGNAL);
    const int result = sigsuspend(set);

    in_vain(begin);
    return result;
}

/* ---- Threads -------------------------------------------------------------------------------------------------------- */

static void in_crowd(void (*event)(ompp_causal_thread_t *self))
{
    ompp_causal_thread_t *self;

    if (!enter()) return;
    self = ompp_causal_enter();
    if (self) {
        event(self);
        ompp_causal_leave(self);
    }
    leave();
}

/* What a new thread does: one of the two, as it was made by POSIX's or C11's function. */
typedef struct {
    void *(*function)(void *);
    thrd_start_t c11;
    void *argument;
} start_t;

/* Also by pthread_exit() and cancellation. */
static void ends(void *nothing)
{
    (void)nothing;
    if (enter()) {
        end_cancelled();
        leave();
    }
    publish(OMPP_SYNC_EVENT, (uint64_t)pthread_self());
    in_crowd(ompp_causal_crowd_end);
}

static start_t begin(void *data)
{
    const start_t start = *(start_t *)data;

    resume(OMPP_SYNC_FORK, number(data));
    in_crowd(ompp_causal_crowd_begin);
    free(data);
    return start;
}

static void *begins(void *data)
{
    const start_t start = begin(data);
    void *result;

    pthread_cleanup_push(ends, NULL);
    result = start.function(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

static int begins_c11(void *data)
{
    const start_t start = begin(data);
    int result;

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

    ompp_pthread_follow(); /* libraries that have been loaded since */
    ompp_meter_place();    /* measurement runs from here on */
    start = ompp_sync_follower() ? malloc(sizeof *start) : NULL;
    errno = saved;
    if (!start) return NULL;
    *start = what;
    in_crowd(ompp_causal_crowd_create);
    publish(OMPP_SYNC_FORK, number(start));
    return start;
}

static void not_created(start_t *start)
{
    in_crowd(ompp_causal_crowd_not_created);
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

/* It may be called where a thread can be cancelled at any moment: not while we hold a lock. */
static int cancel(pthread_t thread)
{
    int state;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    publish(OMPP_SYNC_EVENT, cancellation_of(thread));
    pthread_setcancelstate(state, &state);
    return pthread_cancel(thread);
}

#define JOIN(name, parameters, ...)                                                                                    \
    static int name parameters                                                                                         \
    {                                                                                                                  \
        const ompp_time_t begin = wait(OMPP_SYNC_EVENT, (uint64_t)thread);                                             \
        const int error = pthread_##name(__VA_ARGS__);                                                                 \
        waited(error == 0, OMPP_SYNC_EVENT, (uint64_t)thread, begin);                                                  \
        doubt(error == ETIMEDOUT);                                                                                     \
        return error;                                                                                                  \
    }

JOIN(join, (pthread_t thread, void **result), thread, result)
JOIN(timedjoin_np, (pthread_t thread, void **result, const struct timespec *until), thread, result, until)
JOIN(clockjoin_np, (pthread_t thread, void **result, clockid_t clock, const struct timespec *until), thread, result, clock, until)

static int tryjoin_np(pthread_t thread, void **result)
{
    const int error = pthread_tryjoin_np(thread, result);

    got(error == 0, OMPP_SYNC_EVENT, (uint64_t)thread);
    doubt(error == EBUSY);
    return error;
}

/* ---- C11 ---------------------------------------------------------------------------------------------- */

static int create_c11(thrd_t *thread, thrd_start_t function, void *argument)
{
    start_t *start = prepare((start_t){.c11 = function, .argument = argument});
    int error;

    if (!start) return thrd_create(thread, function, argument);
    error = thrd_create(thread, begins_c11, start);
    if (error != thrd_success) not_created(start);
    return error;
}

static int join_c11(thrd_t thread, int *result)
{
    const ompp_time_t begin = wait(OMPP_SYNC_EVENT, (uint64_t)thread);
    const int error = thrd_join(thread, result);

    waited(error == thrd_success, OMPP_SYNC_EVENT, (uint64_t)thread, begin);
    return error;
}

#define C11(name, object, kind, good, parameters, ...)                                                                 \
    static int name##_c11 parameters                                                                                   \
    {                                                                                                                  \
        const ompp_time_t begin = wait(kind, number(object));                                                          \
        const int result = good(__VA_ARGS__);                                                                          \
        waited(result == thrd_success, kind, number(object), begin);                                                   \
        doubt(result == thrd_timedout);                                                                                \
        return result;                                                                                                 \
    }

C11(mutex_lock, lock, OMPP_SYNC_MUTEX, mtx_lock, (mtx_t * lock), lock)
C11(mutex_timedlock, lock, OMPP_SYNC_MUTEX, mtx_timedlock, (mtx_t * lock, const struct timespec *until), lock, until)

static int mutex_trylock_c11(mtx_t *lock)
{
    const int result = mtx_trylock(lock);

    got(result == thrd_success, OMPP_SYNC_MUTEX, number(lock));
    doubt(result == thrd_busy);
    return result;
}

static int mutex_unlock_c11(mtx_t *lock)
{
    publish(OMPP_SYNC_MUTEX, number(lock));
    return mtx_unlock(lock);
}

static int woken_c11(cnd_t *cond, mtx_t *lock, int result, ompp_time_t begin)
{
    (void)woken(cond, lock, result == thrd_success ? 0 : result == thrd_timedout ? ETIMEDOUT : -1, begin);
    return result;
}

static int cond_wait_c11(cnd_t *cond, mtx_t *lock)
{
    const ompp_time_t begin = give_up(cond, lock);

    return woken_c11(cond, lock, cnd_wait(cond, lock), begin);
}

static int cond_timedwait_c11(cnd_t *cond, mtx_t *lock, const struct timespec *until)
{
    const ompp_time_t begin = give_up(cond, lock);

    return woken_c11(cond, lock, cnd_timedwait(cond, lock, until), begin);
}

static int cond_signal_c11(cnd_t *cond)
{
    publish(OMPP_SYNC_EVENT, number(cond));
    return cnd_signal(cond);
}

static int cond_broadcast_c11(cnd_t *cond)
{
    publish(OMPP_SYNC_EVENT, number(cond));
    return cnd_broadcast(cond);
}

static int call_once_really(pthread_once_t *control, void (*function)(void))
{
    call_once((once_flag *)control, function);
    return 0;
}

static void call_once_c11(once_flag *flag, void (*function)(void))
{
    once_by(call_once_really, (pthread_once_t *)flag, function);
}

/* ---- The table ------------------------------------------------------------------------------------------------------ */

const ompp_intercept_t ompp_pthread_functions[] = {
    {"call_once", call_once_c11, NULL},
    {"cnd_broadcast", cond_broadcast_c11, NULL},
    {"cnd_signal", cond_signal_c11, NULL},
    {"cnd_timedwait", cond_timedwait_c11, NULL},
    {"cnd_wait", cond_wait_c11, NULL},
    {"mtx_lock", mutex_lock_c11, NULL},
    {"mtx_timedlock", mutex_timedlock_c11, NULL},
    {"mtx_trylock", mutex_trylock_c11, NULL},
    {"mtx_unlock", mutex_unlock_c11, NULL},
    {"pthread_barrier_wait", barrier_wait, NULL},
    {"pthread_cancel", cancel, NULL},
    {"pthread_clockjoin_np", clockjoin_np, NULL},
    {"pthread_cond_broadcast", cond_broadcast, NULL},
    {"pthread_cond_clockwait", cond_clockwait, NULL},
    {"pthread_cond_signal", cond_signal, NULL},
    {"pthread_cond_timedwait", cond_timedwait, NULL},
    {"pthread_cond_wait", cond_wait, NULL},
    {"pthread_create", create, NULL},
    {"pthread_join", join, NULL},
    {"pthread_kill", kill_thread, NULL},
    {"pthread_mutex_clocklock", mutex_clocklock, NULL},
    {"pthread_mutex_lock", mutex_lock, NULL},
    {"pthread_mutex_timedlock", mutex_timedlock, NULL},
    {"pthread_mutex_trylock", mutex_trylock, NULL},
    {"pthread_mutex_unlock", mutex_unlock, NULL},
    {"pthread_once", once, NULL},
    {"pthread_rwlock_clockrdlock", rwlock_clockrdlock, NULL},
    {"pthread_rwlock_clockwrlock", rwlock_clockwrlock, NULL},
    {"pthread_rwlock_rdlock", rwlock_rdlock, NULL},
    {"pthread_rwlock_timedrdlock", rwlock_timedrdlock, NULL},
    {"pthread_rwlock_timedwrlock", rwlock_timedwrlock, NULL},
    {"pthread_rwlock_tryrdlock", rwlock_tryrdlock, NULL},
    {"pthread_rwlock_trywrlock", rwlock_trywrlock, NULL},
    {"pthread_rwlock_unlock", rwlock_unlock, NULL},
    {"pthread_rwlock_wrlock", rwlock_wrlock, NULL},
    {"pthread_spin_lock", spin_lock, NULL},
    {"pthread_spin_trylock", spin_trylock, NULL},
    {"pthread_spin_unlock", spin_unlock, NULL},
    {"pthread_timedjoin_np", timedjoin_np, NULL},
    {"pthread_tryjoin_np", tryjoin_np, NULL},
    {"sem_clockwait", semaphore_clockwait, NULL},
    {"sem_post", semaphore_post, NULL},
    {"sem_timedwait", semaphore_timedwait, NULL},
    {"sem_trywait", semaphore_trywait, NULL},
    {"sem_wait", semaphore_wait, NULL},
    {"sigsuspend", signal_suspend, NULL},
    {"sigtimedwait", signal_timedwait, NULL},
    {"sigwait", signal_wait, NULL},
    {"sigwaitinfo", signal_waitinfo, NULL},
    {"thrd_create", create_c11, NULL},
    {"thrd_join", join_c11, NULL},
    /* End of functions; ascending */
};
const size_t ompp_npthread_functions = sizeof ompp_pthread_functions / sizeof ompp_pthread_functions[0];
