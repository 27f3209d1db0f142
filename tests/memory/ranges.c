/*
 * Structures side by side, exact to the byte; registered and released while other threads run; tasks; all at known numbers.
 * Prints what has to be counted: name, loads, stores.
 */
#include <ompp.h>

#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define THREADS 4
#define BLOCKS 64

/* Neighbours of odd sizes: bytes 0..6, 7..19, 20..4119 (beyond a page), 4120..4126, the rest belongs to none. */
static char row[8192] __attribute__((aligned(4096)));

static void touch(volatile char *from, size_t n)
{
    for (size_t i = 0; i < n; i++) from[i]++;
}

static void edges(void)
{
    ompp_papi_set_drange(row, 7, "first");
    ompp_papi_set_drange(row + 7, 13, "second");
    ompp_papi_set_drange(row + 20, 4100, "third");
    ompp_papi_set_drange(row + 4120, 7, "fourth");
    touch(row, sizeof row);
    printf("first 7 7\nsecond 13 13\nthird 4100 4100\nfourth 7 7\n");
    /* The middle of the third becomes the fifth's, and goes back to it. */
    ompp_papi_set_drange(row + 100, 50, "fifth");
    touch(row + 90, 70);
    ompp_release_drange(row + 100);
    touch(row + 90, 70);
    printf("+third 90 90\nfifth 50 50\n");
    memcpy(row + 4100, row, 30); /* 7 + 13 + 10 bytes read; 20 + 7 written, 3 to nobody */
    printf("+first 1 0\n+second 1 0\n+third 1 1\n+fourth 0 1\n");
}

/* Each thread's own blocks of heap, under one name, registered and given back while the others do the same. */
static void churn(void)
{
#pragma omp parallel num_threads(THREADS)
    {
        for (int i = 0; i < BLOCKS; i++) {
            size_t n = 100 + 37 * (size_t)i;
            char *block = malloc(n);
            ompp_papi_set_drange(block, n, "blocks");
            touch(block, n);
            ompp_release_drange(block);
            touch(block, n);
            free(block);
        }
    }
    long n = 0;
    for (int i = 0; i < BLOCKS; i++) n += THREADS * (100 + 37 * i);
    printf("blocks %ld %ld\n", n, n);
}

/* Others read one structure all the time while another one comes and goes beside it. */
static int steady[1024], coming[1024];

static void beside(void)
{
    ompp_papi_set_drange(steady, sizeof steady, "steady");
#pragma omp parallel num_threads(THREADS)
    {
        if (omp_get_thread_num() == 0) {
            for (int i = 0; i < 200; i++) {
                ompp_papi_set_drange(coming, sizeof coming, "coming");
                touch((char *)coming, 10);
                ompp_release_drange(coming);
            }
        } else {
            for (int k = 0; k < 50; k++)
                for (int i = 0; i < 1024; i++) ((volatile int *)steady)[i]++;
        }
    }
    printf("steady %d %d\ncoming 2000 2000\n", (THREADS - 1) * 50 * 1024, (THREADS - 1) * 50 * 1024);
}

static double tasked[1000];

static void tasks(void)
{
    ompp_papi_set_drange(tasked, sizeof tasked, "tasked");
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int k = 0; k < 100; k++) {
#pragma omp task firstprivate(k)
        {
            for (int i = 0; i < 10; i++) ((volatile double *)tasked)[10 * k + i] += 1;
        }
    }
    printf("tasked 1000 1000\n");
}

/* A thread that OpenMP does not know. */
static long by_pthread[100];

static void *run(void *unused)
{
    touch((char *)by_pthread, sizeof by_pthread);
    return unused;
}

static void threads(void)
{
    pthread_t thread;

    ompp_papi_set_drange(by_pthread, sizeof by_pthread, "by_pthread");
    for (int i = 0; i < 3 && pthread_create(&thread, NULL, run, NULL) == 0; i++) pthread_join(thread, NULL);
    printf("by_pthread %zu %zu\n", 3 * sizeof by_pthread, 3 * sizeof by_pthread);
}

/* A buffer that is registered at each change of its size: that takes no memory, and one release is for all of them. */
static bool resized(void)
{
    static char buffer[400];
    struct rusage before, after;

    ompp_papi_set_drange(buffer, 400, "buffer");
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < 300000; i++) ompp_papi_set_drange(buffer, i % 2 ? 400 : 300, "buffer");
    getrusage(RUSAGE_SELF, &after);
    touch(buffer, sizeof buffer);
    ompp_release_drange(buffer);
    touch(buffer, sizeof buffer);
    printf("buffer 400 400\n");
    return after.ru_maxrss - before.ru_maxrss < 4000; /* KiB; a range is 24 bytes */
}

int main(void)
{
    edges();
    churn();
    beside();
    tasks();
    threads();
    ompp_papi_set_drange(row, 0, "nothing");
    ompp_release_drange(NULL);
    return resized() ? 0 : 1;
}
