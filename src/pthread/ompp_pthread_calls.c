/**
 * \file
 * What the program's calls of POSIX threads are replaced by: tell who waits for what, and call the real function. The
 * table stands at the end. Functions of this file are called by the program; results, errno and cancellation are those
 * of the real ones.
 *
 * Events (runtime/ompp_sync.h): a mutex is MUTEX; condition variables, signals and ends of threads are EVENT. A
 * reader-writer lock is a MUTEX for writers, and READ for readers; so is what is done once.
 */
#define _GNU_SOURCE
#include "pthread/ompp_pthread_priv.h"

#include "base/ompp_caller.h"
#include "runtime/ompp_sync.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { WRITES_HELD = 16 }; /* reader-writer locks that a thread may hold for writing at a time and be known for it */

static __thread const void *writes[WRITES_HELD] __attribute__((tls_model("initial-exec")));

/* ---- Mutexes ----------------------------------------------------------------------------------------------------- */

/* Also when its owner has died: then it is ours. */
static bool taken(int error) { return error == 0 || error == EOWNERDEAD; }

#define LOCK(name, kind, parameters, ...)                                             \
    static int name parameters                                                        \
    {                                                                                 \
        const ompp_time_t begin = ompp_pthread_wait(kind, ompp_pthread_number(lock)); \
        const int error = pthread_##name(__VA_ARGS__);                                \
        ompp_pthread_waited(taken(error), kind, ompp_pthread_number(lock), begin);    \
        if (error == ETIMEDOUT) ompp_pthread_flag(true);                              \
        return error;                                                                 \
    }

#define TRY(name, kind, parameters, ...)                                 \
    static int name parameters                                           \
    {                                                                    \
        const int error = pthread_##name(__VA_ARGS__);                   \
        ompp_pthread_got(taken(error), kind, ompp_pthread_number(lock)); \
        ompp_pthread_try_for((const void *)lock, error != EBUSY);        \
        return error;                                                    \
    }

LOCK(mutex_lock, OMPP_SYNC_MUTEX, (pthread_mutex_t * lock), lock)
TRY(mutex_trylock, OMPP_SYNC_MUTEX, (pthread_mutex_t * lock), lock)
LOCK(mutex_timedlock, OMPP_SYNC_MUTEX, (pthread_mutex_t * lock, const struct timespec *until), lock, until)
LOCK(mutex_clocklock, OMPP_SYNC_MUTEX, (pthread_mutex_t * lock, clockid_t clock, const struct timespec *until), lock,
     clock, until)

static int spin_lock(pthread_spinlock_t *lock)
{
    const ompp_time_t begin = ompp_pthread_wait(OMPP_SYNC_MUTEX, ompp_pthread_number((void *)lock));
    const int error = pthread_spin_lock(lock);

    ompp_pthread_waited(taken(error), OMPP_SYNC_MUTEX, ompp_pthread_number((void *)lock), begin);
    return error;
}

static int spin_trylock(pthread_spinlock_t *lock)
{
    const int error = pthread_spin_trylock(lock);

    ompp_pthread_got(taken(error), OMPP_SYNC_MUTEX, ompp_pthread_number((void *)lock));
    ompp_pthread_try_for((const void *)lock, error != EBUSY);
    return error;
}

static int spin_unlock(pthread_spinlock_t *lock)
{
    ompp_pthread_publish(OMPP_SYNC_MUTEX, ompp_pthread_number((void *)lock));
    return pthread_spin_unlock(lock);
}

static int mutex_unlock(pthread_mutex_t *lock)
{
    ompp_pthread_publish(OMPP_SYNC_MUTEX, ompp_pthread_number(lock));
    return pthread_mutex_unlock(lock);
}

/* ---- Reader-writer locks ----------------------------------------------------------------------------------------- */

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
    ompp_pthread_waited(taken(error), OMPP_SYNC_MUTEX, ompp_pthread_number(lock), begin);
    if (taken(error)) note_write(lock);
    if (error == ETIMEDOUT) ompp_pthread_flag(true);
    return error;
}

#define WRITE(name, parameters, ...)                                                             \
    static int name parameters                                                                   \
    {                                                                                            \
        const ompp_time_t begin = ompp_pthread_wait(OMPP_SYNC_MUTEX, ompp_pthread_number(lock)); \
        return written(lock, pthread_##name(__VA_ARGS__), begin);                                \
    }

LOCK(rwlock_rdlock, OMPP_SYNC_READ, (pthread_rwlock_t * lock), lock)
TRY(rwlock_tryrdlock, OMPP_SYNC_READ, (pthread_rwlock_t * lock), lock)
LOCK(rwlock_timedrdlock, OMPP_SYNC_READ, (pthread_rwlock_t * lock, const struct timespec *until), lock, until)
LOCK(rwlock_clockrdlock, OMPP_SYNC_READ, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until), lock,
     clock, until)
WRITE(rwlock_wrlock, (pthread_rwlock_t * lock), lock)
WRITE(rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until), lock, until)
WRITE(rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until), lock, clock, until)

static int rwlock_trywrlock(pthread_rwlock_t *lock)
{
    const int error = pthread_rwlock_trywrlock(lock);

    ompp_pthread_try_for(lock, error != EBUSY);
    return taken(error) ? written(lock, error, ompp_pthread_wait(OMPP_SYNC_MUTEX, ompp_pthread_number(lock))) : error;
}

static int rwlock_unlock(pthread_rwlock_t *lock)
{
    ompp_pthread_publish(end_write(lock) ? OMPP_SYNC_MUTEX : OMPP_SYNC_READ, ompp_pthread_number(lock));
    return pthread_rwlock_unlock(lock);
}

/* ---- What is done once ------------------------------------------------------------------------------------------- */

/* Who comes first does it, and has it alone as long; the others wait for that, as readers do. One that has waited need
 * not again. */
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
    ompp_pthread_resume(OMPP_SYNC_MUTEX, ompp_pthread_number(control));
    now->function();
    ompp_pthread_publish(OMPP_SYNC_MUTEX, ompp_pthread_number(control));
}

int ompp_pthread_once_by(int (*real)(pthread_once_t *, void (*)(void)), pthread_once_t *control, void (*function)(void))
{
    once_t call = {function, control, false};
    const void **const known = &is_done[ompp_pthread_number(control) / sizeof *control % ONCE_KNOWN];
    ompp_time_t begin;
    int error;

    if (*known == control || !(begin = ompp_pthread_wait(OMPP_SYNC_READ, ompp_pthread_number(control))))
        return real(control, function);
    present = &call;
    error = real(control, do_once);
    if (!call.ours) ompp_pthread_waited(error == 0, OMPP_SYNC_READ, ompp_pthread_number(control), begin);
    *known = control;
    return error;
}

static int once(pthread_once_t *control, void (*function)(void))
{
    return ompp_pthread_once_by(pthread_once, control, function);
}

/* ---- Condition variables ----------------------------------------------------------------------------------------- */

int ompp_pthread_woken(const void *cond, const void *lock, int error, ompp_time_t begin)
{
    ompp_pthread_waited(error == 0, OMPP_SYNC_EVENT, ompp_pthread_number(cond), begin);
    ompp_pthread_wait(OMPP_SYNC_MUTEX, ompp_pthread_number(lock));
    ompp_pthread_resume(OMPP_SYNC_MUTEX, ompp_pthread_number(lock));
    return error;
}

ompp_time_t ompp_pthread_give_up(const void *cond, const void *lock)
{
    ompp_pthread_publish(OMPP_SYNC_MUTEX, ompp_pthread_number(lock));
    return ompp_pthread_wait(OMPP_SYNC_EVENT, ompp_pthread_number(cond));
}

static int cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
    const ompp_time_t begin = ompp_pthread_give_up(cond, lock);

    return ompp_pthread_woken(cond, lock, pthread_cond_wait(cond, lock), begin);
}

static int until_then(int error)
{
    ompp_pthread_flag(error == ETIMEDOUT);
    return error;
}

static int cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until)
{
    const ompp_time_t begin = ompp_pthread_give_up(cond, lock);

    return until_then(ompp_pthread_woken(cond, lock, pthread_cond_timedwait(cond, lock, until), begin));
}

static int cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *lock, clockid_t clock, const struct timespec *until)
{
    const ompp_time_t begin = ompp_pthread_give_up(cond, lock);

    return until_then(ompp_pthread_woken(cond, lock, pthread_cond_clockwait(cond, lock, clock, until), begin));
}

static int cond_signal(pthread_cond_t *cond)
{
    ompp_pthread_publish(OMPP_SYNC_EVENT, ompp_pthread_number(cond));
    return pthread_cond_signal(cond);
}

static int cond_broadcast(pthread_cond_t *cond)
{
    ompp_pthread_publish(OMPP_SYNC_EVENT, ompp_pthread_number(cond));
    return pthread_cond_broadcast(cond);
}

/* ---- Barriers, semaphores, signals ------------------------------------------------------------------------------- */

static int barrier_wait(pthread_barrier_t *barrier)
{
    int result;

    ompp_pthread_publish(OMPP_SYNC_POSIX_BARRIER, ompp_pthread_number(barrier));
    ompp_pthread_wait(OMPP_SYNC_POSIX_BARRIER, ompp_pthread_number(barrier));
    result = pthread_barrier_wait(barrier);
    ompp_pthread_resume(OMPP_SYNC_POSIX_BARRIER, ompp_pthread_number(barrier));
    return result;
}

/* How many posts are still there tells which one it was that this thread has taken. */
static void took(bool well, sem_t *sem, ompp_time_t begin)
{
    const int saved = errno;
    int left = 0;

    if (!well) ompp_pthread_in_vain(begin);
    if (!well && saved == ETIMEDOUT) ompp_pthread_flag(true);
    if (well && begin && sem_getvalue(sem, &left) == 0) ompp_sync_posts_left(left > 0 ? (unsigned)left : 0);
    if (well && begin) ompp_pthread_resume(OMPP_SYNC_SEMAPHORE, ompp_pthread_number(sem));
    errno = saved;
}

#define SEMAPHORE(name, parameters, ...)                                                            \
    static int semaphore_##name parameters                                                          \
    {                                                                                               \
        const ompp_time_t begin = ompp_pthread_wait(OMPP_SYNC_SEMAPHORE, ompp_pthread_number(sem)); \
        const int result = sem_##name(__VA_ARGS__);                                                 \
        took(result == 0, sem, begin);                                                              \
        return result;                                                                              \
    }

SEMAPHORE(wait, (sem_t * sem), sem)
SEMAPHORE(timedwait, (sem_t * sem, const struct timespec *until), sem, until)
SEMAPHORE(clockwait, (sem_t * sem, clockid_t clock, const struct timespec *until), sem, clock, until)

static int semaphore_trywait(sem_t *sem)
{
    const int result = sem_trywait(sem), error = errno;

    if (result == 0) took(true, sem, ompp_pthread_wait(OMPP_SYNC_SEMAPHORE, ompp_pthread_number(sem)));
    ompp_pthread_flag(result != 0 && error == EAGAIN);
    errno = error;
    return result;
}

static int semaphore_post(sem_t *sem)
{
    ompp_pthread_publish(OMPP_SYNC_SEMAPHORE, ompp_pthread_number(sem));
    return sem_post(sem);
}

/* Signals by their number: no object has an address that small. ANY_SIGNAL: which one is waited for is not known
 * yet. */
#define ANY_SIGNAL 4095u

static int kill_thread(pthread_t thread, int signal)
{
    if (signal > 0) ompp_pthread_publish(OMPP_SYNC_EVENT, (uint64_t)signal);
    return pthread_kill(thread, signal);
}

static int signal_wait(const sigset_t *set, int *signal)
{
    const ompp_time_t begin = ompp_pthread_wait(OMPP_SYNC_EVENT, ANY_SIGNAL);
    const int error = sigwait(set, signal);

    ompp_pthread_waited(error == 0, OMPP_SYNC_EVENT, error ? 0 : (uint64_t)*signal, begin);
    return error;
}

static int signal_waitinfo(const sigset_t *set, siginfo_t *info)
{
    const ompp_time_t begin = ompp_pthread_wait(OMPP_SYNC_EVENT, ANY_SIGNAL);
    const int signal = sigwaitinfo(set, info);

    ompp_pthread_waited(signal > 0, OMPP_SYNC_EVENT, (uint64_t)signal, begin);
    return signal;
}

static int signal_timedwait(const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
    const ompp_time_t begin = ompp_pthread_wait(OMPP_SYNC_EVENT, ANY_SIGNAL);
    const int signal = sigtimedwait(set, info, limit), error = errno;

    ompp_pthread_waited(signal > 0, OMPP_SYNC_EVENT, (uint64_t)signal, begin);
    ompp_pthread_flag(signal < 0 && error == EAGAIN);
    errno = error;
    return signal;
}

static int signal_suspend(const sigset_t *set)
{
    const ompp_time_t begin = ompp_pthread_wait(OMPP_SYNC_EVENT, ANY_SIGNAL);
    const int result = sigsuspend(set);

    ompp_pthread_in_vain(begin);
    return result;
}

/* ---- Ends of threads --------------------------------------------------------------------------------------------- */

/* It may be called where a thread can be cancelled at any moment: not while we hold a lock. A handler may jump. */
static int cancel(pthread_t thread)
{
    const ompp_stay_t stay = ompp_stay();

    ompp_pthread_publish(OMPP_SYNC_EVENT, ompp_pthread_cancellation(thread));
    ompp_stay_end(stay);
    return pthread_cancel(thread);
}

#define JOIN(name, parameters, ...)                                                     \
    static int name parameters                                                          \
    {                                                                                   \
        const ompp_time_t begin = ompp_pthread_wait(OMPP_SYNC_EVENT, (uint64_t)thread); \
        const int error = pthread_##name(__VA_ARGS__);                                  \
        ompp_pthread_waited(error == 0, OMPP_SYNC_EVENT, (uint64_t)thread, begin);      \
        if (error == ETIMEDOUT) ompp_pthread_flag(true);                                \
        return error;                                                                   \
    }

JOIN(join, (pthread_t thread, void **result), thread, result)
JOIN(timedjoin_np, (pthread_t thread, void **result, const struct timespec *until), thread, result, until)
JOIN(clockjoin_np, (pthread_t thread, void **result, clockid_t clock, const struct timespec *until), thread, result,
     clock, until)

static int tryjoin_np(pthread_t thread, void **result)
{
    const int error = pthread_tryjoin_np(thread, result);

    ompp_pthread_got(error == 0, OMPP_SYNC_EVENT, (uint64_t)thread);
    ompp_pthread_flag(error == EBUSY);
    return error;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

const ompp_intercept_t ompp_pthread_functions[] = {
    {"pthread_barrier_wait", barrier_wait, NULL},
    {"pthread_cancel", cancel, NULL},
    {"pthread_clockjoin_np", clockjoin_np, NULL},
    {"pthread_cond_broadcast", cond_broadcast, NULL},
    {"pthread_cond_clockwait", cond_clockwait, NULL},
    {"pthread_cond_signal", cond_signal, NULL},
    {"pthread_cond_timedwait", cond_timedwait, NULL},
    {"pthread_cond_wait", cond_wait, NULL},
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
    /* End of functions; ascending */
};
const size_t ompp_npthread_functions = sizeof ompp_pthread_functions / sizeof ompp_pthread_functions[0];
