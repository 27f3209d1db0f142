/*
 * Work in known parts: heavy() does three times what light() does, each is called by first() twice as often as by
 * second(). Arguments: seconds; threads. With a third one the work is in the parallel region itself, at several lines.
 * In the environment: POSIX=1 POSIX threads, BEFORE=1 work before the region, too, SERIAL=1 no region at all.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BARRIER __asm__ volatile("" ::: "memory")

static volatile double sink;
static _Thread_local int length; /* of the round: see work() */

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((noinline)) static void spin(int n)
{
    double x = 1;

    for (int i = 0; i < n; i++) x = x * 1.0000001 + 1e-9; /* @hot */
    sink = x;
}

__attribute__((noinline)) static void heavy(void)
{
    for (int i = 0; i < 3; i++) spin(length);
    BARRIER;
}

__attribute__((noinline)) static void light(void)
{
    spin(length);
    BARRIER;
}

__attribute__((noinline)) static void both(void)
{
    heavy();
    light();
    BARRIER;
}

__attribute__((noinline)) static void first(void)
{
    both();
    both();
    BARRIER;
}

__attribute__((noinline)) static void second(void)
{
    both();
    BARRIER;
}

__attribute__((noinline)) static void work(double seconds)
{
    unsigned random = 1;

    for (double end = cpu() + seconds; cpu() < end;) {
        random = random * 1103515245u + 12345u;
        length = 10000 + (int)(random >> 16) % 20000; /* rounds of one length could keep step with the timer */
        first();
        second();
    }
}

static void direct(double seconds, int n)
{
#pragma omp parallel num_threads(n)
    {
        double x = 1, y = 1;
        for (double end = cpu() + seconds; cpu() < end;) {
            for (int i = 0; i < 20000; i++) x = x * 1.0000001 + 1e-9;
            BARRIER;
            for (int i = 0; i < 20000; i++) y = y * 1.0000002 + 1e-9;
            BARRIER;
        }
        if (x == y) printf("equal\n");
    }
}

static void *begins(void *seconds)
{
    work(*(double *)seconds);
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    int n = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t threads[16];

    if (getenv("SERIAL") || getenv("BEFORE")) work(seconds);
    if (getenv("SERIAL")) {
        n = 0;
    } else if (argc > 3) {
        direct(seconds, n);
    } else if (getenv("POSIX")) {
        for (int i = 0; i < n; i++) pthread_create(&threads[i], NULL, begins, &seconds);
        for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    } else {
#pragma omp parallel num_threads(n)
        work(seconds);
    }
    printf("done\n");
    return 0;
}
