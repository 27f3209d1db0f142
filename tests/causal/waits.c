/* Programs with threads of POSIX and C11 that wait in ways which few programs do (work.h): followed exactly, or flagged. */
#define _GNU_SOURCE
#include "work.h"

#include "in_threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

enum { ITEMS = 8 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t barrier;
static int made;
static sem_t one, two, three;
static mtx_t c11_mutex;
static cnd_t c11_cond;
static int given;

/* ---- a queue: one makes ITEMS, and is ahead of the one that takes them, then waits for it ---- */

static void *ahead_thread(void *number)
{
    for (int i = 0; i < run.rounds; i++) {
        for (int k = 0; k < ITEMS; k++) {
            if (number) sem_wait(&one);
            region(number ? "b" : "a", number ? 2 : 1.2);
            if (!number) sem_post(&one);
        }
        if (number) sem_post(&two);
        else sem_wait(&two);
        if (!number) OMPP_PROGRESS("round");
    }
    return NULL;
}

static void ahead(void)
{
    sem_init(&one, 0, 0);
    sem_init(&two, 0, 0);
    in_threads(2, ahead_thread);
}

/* ---- two make something, in an order that does not matter to the one that takes both ---- */

static void *gathered_thread(void *number)
{
    for (int i = 0; i < run.rounds; i++) {
        if (number) {
            region((long)number == 1 ? "a" : "b", (long)number == 1 ? 2.9 : 2.1);
            sem_post(&one);
            sem_wait((long)number == 1 ? &two : &three);
            continue;
        }
        sem_wait(&one);
        sem_wait(&one);
        region("c", 1.1);
        sem_post(&two);
        sem_post(&three);
        OMPP_PROGRESS("round");
    }
    return NULL;
}

static void gathered(void)
{
    sem_init(&one, 0, 0);
    sem_init(&two, 0, 0);
    sem_init(&three, 0, 0);
    in_threads(3, gathered_thread);
}

/* ---- more places than anybody needs: whoever makes waits for none ---- */

static void *stored_thread(void *number)
{
    for (int i = 0; i < ITEMS * run.rounds; i++) {
        sem_wait(number ? &two : &one);
        region(number ? "b" : "a", number ? 0.7 : 1.1);
        sem_post(number ? &one : &two);
    }
    return NULL;
}

static void stored(void)
{
    sem_init(&one, 0, 64);
    sem_init(&two, 0, 0);
    in_threads(2, stored_thread);
}

/* ---- tries that succeed, and waits that are ended before the moment has come ---- */

static void *in_time_thread(void *number)
{
    for (int i = 0; i < run.rounds; i++) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 60;
        if (number) region("b", 2.3);
        pthread_mutex_lock(&mutex);
        if (number) made++;
        else
            while (made <= i) pthread_cond_timedwait(&cond, &mutex, &until);
        if (number) pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
        pthread_mutex_trylock(&own[number != NULL]);
        region(number ? "c" : "a", 1.3);
        pthread_mutex_unlock(&own[number != NULL]);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void in_time(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    in_threads(2, in_time_thread);
}

/* ---- a semaphore as a lock: others would come first ---- */

static void *binary_thread(void *number)
{
    for (int i = 0; i < 2 * run.rounds; i++) {
        region(number ? "b" : "a", number ? 2.3 : 2.9);
        sem_wait(&one);
        region("c", 1.3);
        sem_post(&one);
    }
    return NULL;
}

static void binary(void)
{
    sem_init(&one, 0, 1);
    in_threads(2, binary_thread);
}

/* ---- a lock that is tried, and other work done while it is not to be had ---- */

static void *trying_thread(void *number)
{
    for (int i = 0; i < 2 * run.rounds; i++) {
        region(number ? "b" : "a", number ? 1.3 : 1.1);
        while (pthread_mutex_trylock(&mutex) != 0) work(0.2);
        region("c", 1.9);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void trying(void)
{
    in_threads(2, trying_thread);
}

/* ---- a clock that ticks: what is done until then saves nothing ---- */

static void ticking(void)
{
    struct timespec next;

    clock_gettime(CLOCK_REALTIME, &next);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < run.rounds; i++) {
        region("a", 1.5);
        next.tv_nsec += 4000000;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        while (pthread_cond_timedwait(&cond, &mutex, &next) != ETIMEDOUT) continue;
    }
    pthread_mutex_unlock(&mutex);
}

static void *ticking_thread(void *number)
{
    if (!number) ticking();
    return NULL;
}

static void ticks(void)
{
    in_threads(2, ticking_thread);
}

/* ---- a reader that came after the writer had the lock would have come while the other one reads, and passed the writer ---- */

static void *passing_thread(void *number)
{
    static const double before[] = {0, 0.3, 0.5};

    for (int i = 0; i < run.rounds; i++) {
        work(before[(long)number]);
        if ((long)number == 2) region("a", 2.9);
        if ((long)number == 1) pthread_rwlock_wrlock(&rwlock);
        else pthread_rwlock_rdlock(&rwlock);
        if (number) region("c", 1.1);
        else region("b", 3);
        pthread_rwlock_unlock(&rwlock);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void passing(void)
{
    pthread_barrier_init(&barrier, NULL, 3);
    in_threads(3, passing_thread);
}

/* ---- C11: one thread waits for what the other has made ---- */

static int giving_thread(void *number)
{
    for (int i = 0; i < run.rounds; i++) {
        if (!number) region("a", 2.7);
        mtx_lock(&c11_mutex);
        while (given != (number != NULL)) cnd_wait(&c11_cond, &c11_mutex);
        if (number) region("b", 1.9);
        given = !given;
        cnd_signal(&c11_cond);
        while (!number && given) cnd_wait(&c11_cond, &c11_mutex);
        mtx_unlock(&c11_mutex);
        if (!number) OMPP_PROGRESS("round");
    }
    return 0;
}

static void giving(void)
{
    thrd_t threads[2];

    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_cond);
    for (long i = 0; i < 2; i++) thrd_create(&threads[i], giving_thread, (void *)i);
    for (int i = 0; i < 2; i++) thrd_join(threads[i], NULL);
}

/* ---- more semaphores than posts are remembered of: which post was taken of the last one is not known ---- */

static void *crowded_thread(void *number)
{
    static sem_t others[300];

    for (unsigned i = 0; !number && i < sizeof others / sizeof others[0]; i++) {
        sem_init(&others[i], 0, 0);
        sem_post(&others[i]);
        sem_wait(&others[i]);
    }
    pthread_barrier_wait(&barrier);
    return ahead_thread(number);
}

static void crowded(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&one, 0, 0);
    sem_init(&two, 0, 0);
    in_threads(2, crowded_thread);
}

/* ---- a futex: the same by the system's own call, as std::atomic::wait of C++20 has it ---- */

static int turn; /* whose it is: a futex */

static void give(int to)
{
    __atomic_store_n(&turn, to, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_for_turn(int of)
{
    for (int now; (now = __atomic_load_n(&turn, __ATOMIC_SEQ_CST)) != of;) syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
}

static void *word_thread(void *number)
{
    const int self = number != NULL;

    for (int i = 0; i < run.rounds; i++) {
        wait_for_turn(self);
        if (self) region("b", 1.9);
        else region("a", 2.7);
        give(!self);
        if (self) region("c", 2);
        else OMPP_PROGRESS("round");
    }
    return NULL;
}

static void word(void)
{
    if (syscall(SYS_getpid) == getpid()) in_threads(2, word_thread); /* all others go on as they came */
}

static const case_t cases[] = {
    {"ahead", ahead},   {"gathered", gathered}, {"stored", stored},   {"in_time", in_time}, {"binary", binary},
    {"trying", trying}, {"ticks", ticks},       {"passing", passing}, {"giving", giving},   {"crowded", crowded},
    {"word", word},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
