/*
 * User regions whose efficiencies follow from how long threads and ranks sleep: sleeping is work. How long each of them really slept, on
 * a machine that may be busy, is printed: REGION RANK wall|meet|THREAD SECONDS.
 */
#ifdef USE_MPI
#include <mpi.h>
#endif
#include "ompp.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { UNIT = 100000 }; /* us */

enum { THREADS = 8 };

static int rank, ranks = 1;
static double worked[THREADS], met;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(int units)
{
    const double begin = now();

    usleep((useconds_t)units * UNIT);
    worked[omp_get_thread_num()] += now() - begin;
}

static void meet(void)
{
    const double begin = now();

#ifdef USE_MPI
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    met = now() - begin;
}

static void clear(void)
{
    memset(worked, 0, sizeof worked);
    met = 0;
}

/* In one piece: ranks share a file. */
static void tell(const char *name, double wall)
{
    char text[1000];
    int n = snprintf(text, sizeof text, "%s %d wall %.6f\n%s %d meet %.6f\n", name, rank, wall, name, rank, met);

    for (int t = 0; t < THREADS; t++)
        if (worked[t] > 0) n += snprintf(text + n, sizeof text - (size_t)n, "%s %d %d %.6f\n", name, rank, t, worked[t]);
    fputs(text, stdout);
    fflush(stdout);
}

/* Each thread works one unit longer than the one before. */
static void ramp(void)
{
#pragma omp parallel
    work(1 + omp_get_thread_num());
}

static void serial(void) { work(2); }

static void even(void)
{
#pragma omp parallel
    work(2);
}

/* One after the other: all but the last wait in a barrier, all but the first to enter. */
static void critical(void)
{
#pragma omp parallel
#pragma omp critical(one)
    work(1);
}

/* One thread makes tasks and waits for them: it takes the last and shortest one, others take the first. */
static void group(void)
{
    const int threads = omp_get_max_threads();

#pragma omp parallel
#pragma omp master
#pragma omp taskgroup
    for (int t = 0; t < threads; t++) {
#pragma omp task firstprivate(t)
        work(threads - t);
    }
}

/* A team of one leaves the other threads out. */
static void alone(void)
{
#pragma omp parallel num_threads(1)
    work(2);
}

/* Each rank works one unit longer than the one before, on its first thread. */
static void late(void)
{
    work(1 + rank);
    meet();
}

/* The same with all threads, each of them longer than the one before. */
static void hybrid(void)
{
#pragma omp parallel
    work((1 + omp_get_thread_num()) * (1 + rank));
    meet();
}

/* Ranks leave the region when they are done. */
static void leave(void) { work(1 + rank); }

#define CASE(name)                \
    do {                          \
        meet();                   \
        clear();                  \
        double begin = now();     \
        ompp_region_begin(#name); \
        name();                   \
        ompp_region_end(#name);   \
        tell(#name, now() - begin); \
    } while (0)

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
#ifdef USE_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
    /* threads that there are before the clock of a case runs */
#pragma omp parallel
    work(0);
    CASE(ramp);
    CASE(serial);
    CASE(even);
    CASE(critical);
    CASE(alone);
    CASE(group);
    CASE(late);
    CASE(hybrid);
    CASE(leave);
    meet();
    clear();
    /* threads that enter a region by themselves */
#pragma omp parallel
    {
        ompp_region_begin("each");
        work(1 + omp_get_thread_num());
        ompp_region_end("each");
    }
    tell("each", 0);
#ifdef USE_MPI
    MPI_Finalize();
#endif
    return 0;
}
