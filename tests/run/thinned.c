/* Brief constructs that come often: thinned.c KIND. Prints something that depends on all of it. */
#include "ompp.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define N 2000000

static double v[1 << 16];
static volatile long sink;
static long sum;

static void pause_ms(double ms)
{
    const struct timespec t = {0, (long)(ms * 1e6)};

    nanosleep(&t, NULL);
}

static void do_atomic(void)
{
#pragma omp parallel
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        v[(i * 7) & 65535] += 1;
    }
    for (int i = 0; i < 65536; i++) sum += (long)v[i];
}

static void do_critical(void)
{
#pragma omp parallel
    for (int i = 0; i < N / 2; i++) {
#pragma omp critical(brief)
        sum++;
    }
}

static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Each thread has a lock of its own, and works in it. Says how long that takes. */
static void do_lock(void)
{
    double seconds = 0;

#pragma omp parallel reduction(+ : sum, seconds)
    {
        omp_lock_t own;
        omp_init_lock(&own);
        seconds -= processor_seconds();
        for (int i = 0; i < N / 8; i++) {
            omp_set_lock(&own);
            for (int k = 0; k < 500; k++) sink = k;
            sum++;
            omp_unset_lock(&own);
        }
        seconds += processor_seconds();
        omp_destroy_lock(&own);
    }
    fprintf(stderr, "%.6f\n", seconds);
}

/* No lock alone comes as often as all of them. */
static void do_locks(void)
{
    enum { LOCKS = 50 };
    static omp_lock_t locks[LOCKS];

    for (int k = 0; k < LOCKS; k++) omp_init_lock(&locks[k]);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++) {
        omp_set_lock(&locks[i % LOCKS]);
        sum++;
        omp_unset_lock(&locks[i % LOCKS]);
    }
}

/* One that takes long comes seldom, among many others. */
static void do_seldom(void)
{
#pragma omp parallel
    for (int i = 0; i < N / 4; i++) {
#pragma omp critical(brief)
        sum++;
        if (i % (N / 40) == 0) {
#pragma omp critical(longer)
            pause_ms(5);
        }
    }
}

/* Now and then there is something in it. */
static void do_filled(void)
{
#pragma omp parallel
    for (int i = 0; i < N / 4; i++) {
#pragma omp critical(brief)
        {
            sum++;
            if (i % (N / 40) == N / 80) {
#pragma omp atomic
                v[0] += 1;
                ompp_region_begin("inner");
                pause_ms(2);
                ompp_region_end("inner");
            }
        }
    }
    sum += (long)v[0];
}

/* First brief ones, then long ones at the same place. */
static void do_slower(void)
{
#pragma omp parallel
    for (int i = 0; i < N / 4 + 1000; i++) {
#pragma omp critical(brief)
        {
            sum++;
            if (i >= N / 4) pause_ms(0.2);
        }
    }
}

/* Set twice, unset twice: one execution. */
static void do_nest(void)
{
#pragma omp parallel reduction(+ : sum)
    {
        omp_nest_lock_t own;
        omp_init_nest_lock(&own);
        for (int i = 0; i < N / 8; i++) {
            omp_set_nest_lock(&own);
            omp_set_nest_lock(&own);
            sum++;
            omp_unset_nest_lock(&own);
            omp_unset_nest_lock(&own);
        }
        omp_destroy_nest_lock(&own);
    }
}

static void do_ordered(void)
{
#pragma omp parallel num_threads(1)
#pragma omp for ordered schedule(static)
    for (int i = 0; i < N; i++) {
#pragma omp ordered
        sum++;
    }
}

static char done[N / 8 + 1][2];

static void leaf(long i, int which)
{
    for (int k = 0; k < 1000; k++) sink = k;
    done[i][which] = 1;
}

/* Says how long the bodies take, while so many threads work. */
static void time_of_leaves(int threads)
{
    double seconds = 0;

#pragma omp parallel num_threads(threads) reduction(+ : seconds)
    {
        seconds -= processor_seconds();
        for (long i = omp_get_thread_num(); i < N / 8; i += omp_get_num_threads()) leaf(i, 0);
        seconds += processor_seconds();
    }
    memset(done, 0, sizeof done);
    fprintf(stderr, "%.6f\n", seconds);
}

static void sum_up(void)
{
    for (long i = 0; i < N / 8; i++) sum += done[i][0] + 2 * done[i][1];
}

static void do_task(void)
{
    time_of_leaves(2);
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < N / 8; i++) {
#pragma omp task
        leaf(i, 0);
    }
    sum_up();
}

/* One thread: libgomp runs each as it is created. */
static void do_alone(void)
{
    time_of_leaves(1);
#pragma omp parallel num_threads(1)
    for (long i = 0; i < N / 8; i++) {
#pragma omp task
        leaf(i, 0);
    }
    sum_up();
}

/* Two constructs in turn, and waits between: the place that tasks interrupt changes. */
static void do_turns(void)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < N / 8; i++) {
#pragma omp task
        leaf(i, 0);
#pragma omp task
        leaf(i, 1);
        if (i % 50 == 0) {
#pragma omp taskwait
        }
    }
    sum_up();
}

/* Now and then there is something in a task. */
static void do_holds(void)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < N / 8; i++) {
#pragma omp task
        {
            leaf(i, 0);
            if (i % (N / 80) == N / 160) {
                ompp_region_begin("inner");
                pause_ms(1);
                ompp_region_end("inner");
            }
        }
    }
    sum_up();
}

/* Run as they are created, with something in one of them; then others that are not. */
static void do_undeferred(void)
{
#pragma omp parallel
#pragma omp single
    {
        for (long i = 0; i < N / 8; i++) {
#pragma omp task if (i >= N / 8 - 200)
            {
                done[i][0] = 1;
                if (i == N / 16) {
                    ompp_region_begin("inner");
                    pause_ms(50);
                    ompp_region_end("inner");
                }
            }
        }
    }
    sum_up();
}

/* The place changes from creations to a barrier. */
static void do_places(void)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < N / 40; i++) {
#pragma omp task if (i >= N / 40 - 200)
        leaf(i, 0);
    }
    sum_up();
}

/* Tasks in tasks: each is timed. */
static void do_inner(void)
{
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < N / 80; i++) {
#pragma omp task
        {
#pragma omp task
            leaf(i, 0);
            leaf(i, 1);
#pragma omp taskwait
        }
    }
    sum_up();
}

/* To be killed. */
static void do_endless(void)
{
#pragma omp parallel
    for (;;) {
#pragma omp critical(brief)
        sum++;
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {{"atomic", do_atomic},   {"critical", do_critical}, {"lock", do_lock},     {"locks", do_locks},
                {"seldom", do_seldom},   {"filled", do_filled},     {"slower", do_slower}, {"nest", do_nest},
                {"ordered", do_ordered}, {"task", do_task},         {"alone", do_alone},
                {"turns", do_turns},     {"holds", do_holds},       {"undeferred", do_undeferred}, {"places", do_places},       {"inner", do_inner},     {"endless", do_endless}};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (argc > 1 && strcmp(argv[1], programs[i].name) == 0) programs[i].run();
    printf("%ld\n", sum);
    return 0;
}
