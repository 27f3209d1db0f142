/*
 * A program that knows the answer of its own run: it notes when each thread arrives where it waits for the others, and how long it was in
 * each region before. "saved NAME PERMILLE NS" is what the run would have been shorter by, of whatever the machine did meanwhile.
 * Built with -fopenmp: teams and barriers; otherwise POSIX threads. Three threads; region s is serial, a stands before a barrier, b
 * before the end of the threads.
 */
#include "work.h"

#ifdef _OPENMP
#include <omp.h>
#else
#include <pthread.h>
static pthread_barrier_t middle;
#endif

enum { THREADS = 3, ROUNDS = 1000 };

static struct {
    int64_t arrived, region; /* ns */
} before_barrier[ROUNDS][THREADS], before_end[ROUNDS][THREADS];
static int64_t serial_ns;
static int current;

static int64_t timed_region(const char *name, double ms)
{
    const int64_t begin = now_ns();

    region(name, ms);
    return now_ns() - begin;
}

static void wait_in_the_middle(void)
{
#ifdef _OPENMP
#pragma omp barrier
#else
    pthread_barrier_wait(&middle);
#endif
}

/* Thread 0 has the longest a, and the shortest b. */
static void part(int thread)
{
    work(thread * 0.5);
    before_barrier[current][thread].region = timed_region("a", 3 - thread);
    before_barrier[current][thread].arrived = now_ns();
    wait_in_the_middle();
    work(2 - thread * 0.5);
    before_end[current][thread].region = timed_region("b", 1 + 0.75 * thread);
    before_end[current][thread].arrived = now_ns();
}

#ifdef _OPENMP
static void together(void)
{
#pragma omp parallel num_threads(THREADS)
    part(omp_get_thread_num());
}
#else
static void *thread(void *number)
{
    part((int)(long)number);
    return NULL;
}

static void together(void)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, thread, (void *)i);
    /* From the one that ends last, as long as b takes its time: what the initial thread does between two joins would be left otherwise
     * when b is faster, and saved_at() does not know it. */
    for (int i = THREADS; i-- > 0;) pthread_join(threads[i], NULL);
}
#endif

/* The last to arrive without, and with the region's time less by x: all wait for it. */
static int64_t saved_at(const int64_t (*row)[2], double x)
{
    int64_t last = 0, last_then = 0;

    for (int i = 0; i < THREADS; i++) {
        const int64_t then = row[i][0] - (int64_t)(x * (double)row[i][1]);
        if (row[i][0] > last) last = row[i][0];
        if (then > last_then) last_then = then;
    }
    return last - last_then;
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
#ifdef _OPENMP
    omp_set_dynamic(0);
#else
    pthread_barrier_init(&middle, NULL, THREADS);
#endif
    region("first", 0); /* starts the measurement, which takes its time */
    begin_run();
    for (current = 0; current < run.rounds && current < ROUNDS; current++) {
        serial_ns += timed_region("s", 1.5);
        together();
        OMPP_PROGRESS("round");
    }
    end_run();
    for (int permille = 250; permille <= 1000; permille += 250) {
        int64_t a = 0, b = 0;
        for (int r = 0; r < current; r++) {
            a += saved_at((const int64_t(*)[2])before_barrier[r], permille / 1000.0);
            b += saved_at((const int64_t(*)[2])before_end[r], permille / 1000.0);
        }
        printf("saved s %d %lld\nsaved a %d %lld\nsaved b %d %lld\n", permille, (long long)(serial_ns * permille / 1000), permille, (long long)a,
               permille, (long long)b);
    }
    return 0;
}
