/* Programs with POSIX threads whose regions can be made faster (work.h): what they wait for is told by no OpenMP. */
#define _GNU_SOURCE
#include "work.h"

#include "in_threads.h"
#include "threads_requests.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t free_places, filled_places;
static int queue;
static double times[] = {3, 4}; /* to make and to take, of queue */

/* ---- join: COZ's Figure 1, a thread each time ---- */

static void *join_thread(void *number)
{
    if (number) region("b", 19);
    else region("a", 20);
    return NULL;
}

static void join(void)
{
    for (int i = 0; i < run.rounds; i++) {
        in_threads(2, join_thread);
        OMPP_PROGRESS("round");
    }
}

/* The same two for the whole run: nothing is gained by b. */
static void *figure_thread(void *number)
{
    for (int i = 0; i < run.rounds; i++) {
        if (number) region("b", 3);
        else region("a", 6);
        pthread_barrier_wait(&barrier);
        if (!number) OMPP_PROGRESS("round");
    }
    return NULL;
}

static void figure(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    in_threads(2, figure_thread);
    pthread_barrier_destroy(&barrier);
}

/* ---- barrier ---- */

static void *barrier_thread(void *number)
{
    for (int i = 0; i < run.rounds; i++) {
        region("a", 4 + (double)(long)number);
        pthread_barrier_wait(&barrier);
        if (!number) OMPP_PROGRESS("round");
        if (number) region("b", 5);
        else region("c", 3);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void barriers(void)
{
    pthread_barrier_init(&barrier, NULL, 3);
    in_threads(3, barrier_thread);
    pthread_barrier_destroy(&barrier);
}

/* ---- a thread that is always there, and at the same barrier others that are new each time ---- */

static void *new_thread(void *number)
{
    (void)number;
    region("b", 1);
    pthread_barrier_wait(&barrier);
    region("c", 2);
    return NULL;
}

static void renewed(void)
{
    pthread_t threads[2];

    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < run.rounds; i++) {
        for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, new_thread, NULL);
        region("a", 4);
        pthread_barrier_wait(&barrier);
        for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
        OMPP_PROGRESS("round");
    }
    pthread_barrier_destroy(&barrier);
}

/* ---- signals between threads ---- */

static void *signalled_thread(void *set)
{
    int signal;

    for (int i = 0; i < run.rounds; i++) {
        sigwait(set, &signal);
        region("b", 1);
        sem_post(&filled_places);
    }
    return NULL;
}

static void signals(void)
{
    pthread_t thread;
    sigset_t set;

    sem_init(&filled_places, 0, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, signalled_thread, &set);
    for (int i = 0; i < run.rounds; i++) {
        region("a", 4);
        pthread_kill(thread, SIGUSR1);
        sem_wait(&filled_places);
        OMPP_PROGRESS("round");
    }
    pthread_join(thread, NULL);
}

/* ---- mutex ---- */

static void lock_for(double outside, double inside)
{
    for (int i = 0; i < 4 * run.rounds; i++) {
        region("a", outside);
        pthread_mutex_lock(&mutex);
        region("b", inside);
        pthread_mutex_unlock(&mutex);
        OMPP_PROGRESS("item");
    }
}

static void *mutex_thread(void *number)
{
    (void)number;
    lock_for(4.3, 1.9);
    return NULL;
}

/* They come to the mutex when another one leaves it: whether the one that has waited is awake first is decided within microseconds. */
static void *tied_thread(void *number)
{
    (void)number;
    lock_for(4, 2);
    return NULL;
}

static void mutexes(void)
{
    in_threads(4, mutex_thread);
}

static void ties(void)
{
    in_threads(4, tied_thread);
}

/* ---- the same with threads that are not all joined by who has created them ---- */

static int ended;

static void *pass(void *argument)
{
    return argument;
}

/* The last one has a thread of its own at the end. */
static void *spawning_thread(void *number)
{
    pthread_t thread;

    tied_thread(number);
    if ((long)number == 3 && pthread_create(&thread, NULL, pass, NULL) == 0) pthread_join(thread, NULL);
    return NULL;
}

static void *counted_thread(void *number)
{
    tied_thread(number);
    __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void spawning(void)
{
    in_threads(4, spawning_thread);
}

static void start(bool detached)
{
    pthread_t thread;

    for (long i = 0; i < 4; i++)
        if (pthread_create(&thread, NULL, counted_thread, (void *)i) == 0 && detached) pthread_detach(thread);
}

static void wait_for(int n)
{
    while (__atomic_load_n(&ended, __ATOMIC_SEQ_CST) < n) work(1);
    work(5); /* they end */
}

static void detached(void)
{
    start(true);
    wait_for(4);
}

/* Then others that are joined, and need no lock. */
static void forgotten(void)
{
    start(false);
    wait_for(4);
    in_threads(2, join_thread);
}

/* The program ends while they work. */
static void left(void)
{
    start(false);
    work(4 * run.rounds * 4);
}

/* ---- pair: two that hold a lock for most of the time ---- */

static void *pair_thread(void *number)
{
    (void)number;
    for (int i = 0; i < run.rounds; i++) {
        ompp_region_begin("around");
        pthread_mutex_lock(&mutex);
        region("in", 10);
        pthread_mutex_unlock(&mutex);
        ompp_region_end("around");
        region("out", 5);
        OMPP_PROGRESS("item");
    }
    return NULL;
}

static void pair(void)
{
    in_threads(2, pair_thread);
}

/* ---- overtaken: when a is faster, its thread has the lock first, and the other one comes later to what takes longest: a loss ---- */

static void *overtaken_thread(void *number)
{
    for (int i = 0; i < run.rounds; i++) {
        if (number) region("a", 3);
        else region("c", 2);
        pthread_mutex_lock(&mutex);
        region("b", 2);
        pthread_mutex_unlock(&mutex);
        if (!number) region("d", 3.5);
        pthread_barrier_wait(&barrier);
        if (!number) OMPP_PROGRESS("round");
    }
    return NULL;
}

static void overtaken(void)
{
    pthread_t thread;

    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, overtaken_thread, (void *)1);
    overtaken_thread(NULL);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
}

/* ---- queue: one makes, one takes; a queue of at most four ---- */

static void *make_thread(void *nothing)
{
    (void)nothing;
    for (int i = 0; i < 4 * run.rounds; i++) {
        region("make", times[0]);
        pthread_mutex_lock(&mutex);
        while (queue == 4) pthread_cond_wait(&cond, &mutex);
        queue++;
        pthread_cond_broadcast(&cond);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *take_thread(void *nothing)
{
    (void)nothing;
    for (int i = 0; i < 4 * run.rounds; i++) {
        pthread_mutex_lock(&mutex);
        while (queue == 0) pthread_cond_wait(&cond, &mutex);
        queue--;
        pthread_cond_broadcast(&cond);
        pthread_mutex_unlock(&mutex);
        region("take", times[1]);
        OMPP_PROGRESS("item");
    }
    return NULL;
}

static void *queue_thread(void *number)
{
    return number ? take_thread(NULL) : make_thread(NULL);
}

static void queues(void)
{
    in_threads(2, queue_thread);
}

/* One takes so long that the other waits for a place. */
static void feeder(void)
{
    times[0] = 10;
    times[1] = 25;
    in_threads(2, queue_thread);
}

/* ---- semaphores: the same with places ---- */

static void *semaphore_thread(void *number)
{
    for (int i = 0; i < 4 * run.rounds; i++) {
        if (!number) {
            region("make", 4);
            sem_wait(&free_places);
            sem_post(&filled_places);
        } else {
            sem_wait(&filled_places);
            region("take", 3);
            sem_post(&free_places);
            OMPP_PROGRESS("item");
        }
    }
    return NULL;
}

static void semaphores(void)
{
    sem_init(&free_places, 0, 2);
    sem_init(&filled_places, 0, 0);
    in_threads(2, semaphore_thread);
}

/* ---- for programs that are killed: a round takes some microseconds; and the initial thread comes to nothing any more ---- */

static void *often_thread(void *number)
{
    for (int i = 0; i < run.rounds; i++) {
        ompp_region_begin("a");
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        ompp_region_end("a");
        ompp_region_begin("b");
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        ompp_region_end("b");
        if (!number) OMPP_PROGRESS("round");
    }
    return NULL;
}

static void often(void)
{
    in_threads(2, often_thread);
}

static void *waited_for_thread(void *number)
{
    for (int i = 0; i < (number ? 100 : run.rounds); i++) {
        region("a", 1.9);
        region("b", 0.7);
    }
    return NULL;
}

static void waited_for(void)
{
    in_threads(2, pass); /* what these do not do any more counts for nothing */
    for (int i = 0; i < 60; i++) region("a", 1.9);
    in_threads(2, waited_for_thread);
}

/* ---- readers and a writer ---- */

static void *rwlock_thread(void *number)
{
    for (int i = 0; i < 2 * run.rounds; i++) {
        if (!number) pthread_rwlock_wrlock(&rwlock);
        else pthread_rwlock_rdlock(&rwlock);
        if (!number) region("write", 2.1);
        else region("read", 2.9);
        pthread_rwlock_unlock(&rwlock);
        work(0.8 + 0.3 * (double)(long)number);
        OMPP_PROGRESS("turn");
    }
    return NULL;
}

static void readers(void)
{
    in_threads(3, rwlock_thread);
}

/* Readers alone wait for nobody. */
static void *reading_thread(void *number)
{
    for (int i = 0; i < run.rounds; i++) {
        region(number ? "b" : "a", number ? 4.1 : 6.3);
        pthread_rwlock_rdlock(&rwlock);
        region(number ? "d" : "c", number ? 0.7 : 0.5);
        pthread_rwlock_unlock(&rwlock);
        pthread_barrier_wait(&barrier);
        if (!number) OMPP_PROGRESS("round");
    }
    return NULL;
}

static void reading(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    in_threads(2, reading_thread);
    pthread_barrier_destroy(&barrier);
}

/* ---- what is done once: whoever comes later waits for it ---- */

enum { MOST_ROUNDS = 2000 };

static pthread_once_t controls[MOST_ROUNDS]; /* PTHREAD_ONCE_INIT is 0 */

static void prepare(void)
{
    region("b", 3.7);
}

static void *preparing_thread(void *number)
{
    for (int i = 0; i < run.rounds && i < MOST_ROUNDS; i++) {
        region(number ? "c" : "a", number ? 2.9 : 1.3);
        pthread_once(&controls[i], prepare);
        region(number ? "d" : "e", number ? 1.7 : 0.9);
        pthread_barrier_wait(&barrier);
        if (!number) OMPP_PROGRESS("round");
    }
    return NULL;
}

static void once(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    in_threads(2, preparing_thread);
    pthread_barrier_destroy(&barrier);
}

/* ---- threads of C11 ---- */

static int c11_thread(void *number)
{
    if (number) region("b", 4.3);
    else region("a", 2.6);
    return 0;
}

static void c11(void)
{
    thrd_t threads[2];

    for (int i = 0; i < run.rounds; i++) {
        for (long k = 0; k < 2; k++) thrd_create(&threads[k], c11_thread, (void *)k);
        for (int k = 0; k < 2; k++) thrd_join(threads[k], NULL);
        region("c", 1.3);
        OMPP_PROGRESS("round");
    }
}

/* ---- a thread that waits until it is cancelled ---- */

static void *cancelled_thread(void *number)
{
    if (!number) {
        region("a", 2.7);
        pthread_exit(NULL);
    }
    region("b", 1.1);
    for (;;) sem_wait(&free_places);
    return NULL;
}

static void cancels(void)
{
    pthread_t threads[2];

    sem_init(&free_places, 0, 0);
    for (int i = 0; i < run.rounds; i++) {
        for (long k = 0; k < 2; k++) pthread_create(&threads[k], NULL, cancelled_thread, (void *)k);
        pthread_join(threads[0], NULL);
        region("c", 1.3);
        pthread_cancel(threads[1]);
        pthread_join(threads[1], NULL);
        OMPP_PROGRESS("round");
    }
}

/* ---- regions that come and go ---- */

/* Many regions that are not come to again, then a few that matter; the code outside of them does, too. */
static void startup(void)
{
    char name[8];

    for (int i = 0; i < 24; i++) {
        snprintf(name, sizeof name, "s%d", i);
        region(name, 5);
    }
    for (int i = 0; i < run.rounds; i++) {
        region("main", 6);
        work(scaled("(outside regions)", 4));
        OMPP_PROGRESS("step");
    }
}

static const case_t cases[] = {
    {"join", join}, {"barrier", barriers}, {"renewed", renewed}, {"signals", signals}, {"mutex", mutexes}, {"ties", ties},
    {"queue", queues}, {"semaphore", semaphores}, {"rwlock", readers}, {"often", often}, {"waited_for", waited_for},
    {"reading", reading}, {"cancels", cancels}, {"once", once}, {"c11", c11},
    {"pair", pair}, {"feeder", feeder}, {"spawning", spawning}, {"detached", detached}, {"forgotten", forgotten}, {"left", left},
    {"requests", requests}, {"unfinished", unfinished}, {"crowded", crowded}, {"session", session},
    {"asked", asked}, {"startup", startup}, {"figure", figure}, {"overtaken", overtaken},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
