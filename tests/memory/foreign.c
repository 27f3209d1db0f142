/*
 * Who touched it first: "serial" by the first thread alone, "own" by the thread that reads it later, "crossed" by its neighbour,
 * "again" by nobody else after it was mapped anew. 4 threads, whole pages each.
 */
#define _GNU_SOURCE
#include <ompp.h>

#include <omp.h>
#include <stdio.h>
#include <sys/mman.h>

#define PART 1024 /* doubles: two pages */
#define THREADS 4

static volatile double serial[THREADS * PART] __attribute__((aligned(4096)));
static volatile double own[THREADS * PART] __attribute__((aligned(4096)));
static volatile double crossed[THREADS * PART] __attribute__((aligned(4096)));

static volatile double *map(void)
{
    return mmap(NULL, PART * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
    double sum = 0;

#pragma pomp inst data(serial, sizeof(serial), "serial")
#pragma pomp inst data(own, sizeof(own), "own")
#pragma pomp inst data(crossed, sizeof(crossed), "crossed")
    for (int i = 0; i < THREADS * PART; i++) serial[i] = i;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    {
        int me = omp_get_thread_num(), next = (me + 1) % THREADS;
        for (int i = 0; i < PART; i++) own[me * PART + i] = crossed[next * PART + i] = i;
#pragma omp barrier
        for (int i = 0; i < PART; i++) sum += serial[me * PART + i] + own[me * PART + i] + crossed[me * PART + i];
        if (me == 1) {
            volatile double *again = map();
            for (int i = 0; i < PART; i++) again[i] = i;
            munmap((void *)again, PART * sizeof(double));
        }
#pragma omp barrier
        if (me == 2) {
            volatile double *again = map();
            ompp_papi_set_drange((void *)again, PART * sizeof(double), "again");
            for (int i = 0; i < PART; i++) again[i] = i;
            munmap((void *)again, PART * sizeof(double));
        }
    }
    printf("%g\n", sum);
    return 0;
}
