/*
 * What POSIX says of the functions that are replaced must hold with and without: return values, errno, time-outs, cancellation,
 * pthread_exit(), handlers. Prints a line per check; the same lines are wanted whatever is measured.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ompp.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static volatile sig_atomic_t handled;
static int cleaned, serials;
static bool waiting; /* under the mutex */
static _Atomic bool interrupted;

static void say(const char *what, long value)
{
    printf("%s %ld\n", what, value);
}

static struct timespec soon(clockid_t clock, long ms)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void clean(void *lock)
{
    cleaned++;
    pthread_mutex_unlock(lock);
}

static void *waits_for_ever(void *nothing)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(clean, &mutex);
    waiting = true;
    for (;;) pthread_cond_wait(&cond, &mutex);
    pthread_cleanup_pop(0);
    return nothing;
}

/* The mutex is free again when it waits. */
static void until_it_waits(void)
{
    for (bool now = false; !now; usleep(1000)) {
        pthread_mutex_lock(&mutex);
        now = waiting;
        pthread_mutex_unlock(&mutex);
    }
}

static void *exits(void *value)
{
    ompp_region_begin("exits");
    pthread_exit(value);
}

static void *holds(void *nothing)
{
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&rwlock);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    pthread_rwlock_unlock(&rwlock);
    pthread_mutex_unlock(&mutex);
    return nothing;
}

static void *meets(void *nothing)
{
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) __atomic_fetch_add(&serials, 1, __ATOMIC_RELAXED);
    return nothing;
}

static void *takes_signal(void *result)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwait(&set, result);
    return NULL;
}

static void *is_interrupted(void *result)
{
    errno = 0;
    *(long *)result = sem_wait(&sem) == -1 ? errno : 0;
    interrupted = true;
    return NULL;
}

static void on_signal(int signal)
{
    (void)signal;
    handled++;
}

static void threads(void)
{
    pthread_t thread;
    void *result = NULL;
    int value = 7;

    pthread_create(&thread, NULL, waits_for_ever, NULL);
    until_it_waits();
    say("cancel", pthread_cancel(thread));
    say("join", pthread_join(thread, &result));
    say("cancelled", result == PTHREAD_CANCELED);
    say("cleaned", cleaned);
    say("mutex is free", pthread_mutex_trylock(&mutex));
    say("unlock", pthread_mutex_unlock(&mutex));
    pthread_create(&thread, NULL, exits, &value);
    pthread_join(thread, &result);
    say("exit value", *(int *)result);
    say("join oneself", pthread_join(pthread_self(), NULL) == EDEADLK);
}

static void locks(void)
{
    pthread_t thread;
    pthread_mutexattr_t attributes;
    struct timespec until;

    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, holds, NULL);
    pthread_barrier_wait(&barrier);
    until = soon(CLOCK_REALTIME, 20);
    say("trylock", pthread_mutex_trylock(&mutex) == EBUSY);
    say("timedlock", pthread_mutex_timedlock(&mutex, &until) == ETIMEDOUT);
    say("tryrdlock", pthread_rwlock_tryrdlock(&rwlock) == EBUSY);
    say("timedrdlock", pthread_rwlock_timedrdlock(&rwlock, &until) == ETIMEDOUT);
    say("tryjoin", pthread_tryjoin_np(thread, NULL) == EBUSY);
    pthread_barrier_wait(&barrier);
    say("join", pthread_join(thread, NULL));
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attributes);
    say("twice", pthread_mutex_lock(&recursive) + pthread_mutex_lock(&recursive));
    say("twice back", pthread_mutex_unlock(&recursive) + pthread_mutex_unlock(&recursive));
    say("not ours", pthread_mutex_unlock(&recursive) == EPERM);
    say("read twice", pthread_rwlock_rdlock(&rwlock) + pthread_rwlock_rdlock(&rwlock));
    say("trywrlock", pthread_rwlock_trywrlock(&rwlock) == EBUSY);
    say("back twice", pthread_rwlock_unlock(&rwlock) + pthread_rwlock_unlock(&rwlock));
    say("write", pthread_rwlock_wrlock(&rwlock) + pthread_rwlock_unlock(&rwlock));
}

static void waits(void)
{
    struct timespec until = soon(CLOCK_REALTIME, 10), limit = {0, 10000000};
    pthread_t thread[3], other;
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t set, before;
    int signal = 0;
    long error = -1;

    pthread_mutex_lock(&mutex);
    say("timedwait", pthread_cond_timedwait(&cond, &mutex, &until) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    sem_init(&sem, 0, 1);
    say("sem", sem_wait(&sem));
    errno = 0;
    say("sem trywait", sem_trywait(&sem) == -1 && errno == EAGAIN);
    until = soon(CLOCK_REALTIME, 10);
    say("sem timedwait", sem_timedwait(&sem, &until) == -1 && errno == ETIMEDOUT);
    sigaction(SIGUSR2, &action, NULL);
    pthread_create(&other, NULL, is_interrupted, &error);
    while (!interrupted) { /* it may come before the thread waits */
        pthread_kill(other, SIGUSR2);
        usleep(1000);
    }
    pthread_join(other, NULL);
    say("interrupted", error == EINTR);
    say("handled", handled > 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    pthread_create(&other, NULL, takes_signal, &signal);
    say("kill", pthread_kill(other, SIGUSR1));
    pthread_join(other, NULL);
    say("sigwait", signal == SIGUSR1);
    say("sigtimedwait", sigtimedwait(&set, NULL, &limit) == -1 && errno == EAGAIN);
    pthread_barrier_destroy(&barrier);
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, meets, NULL);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    say("serial thread", serials);
    errno = 4711;
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex);
    OMPP_PROGRESS("end");
    say("errno", errno);
}

int main(void)
{
    threads();
    locks();
    waits();
    return 3;
}
