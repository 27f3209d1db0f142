/*
 * usage: pop CASE: ranks or threads that wait for each other, or move data, for a known part of the run. Sleeping is work. At the end each
 * rank and thread prints: RANK THREAD work SECONDS moved SECONDS of SECONDS.
 */
#ifdef USE_MPI
#include <mpi.h>
#endif

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 8, SHORT = 20000, THREADS = 8, LOOPS = 30000, BYTES = 4 << 20 };

static int rank, ranks = 1;
static double worked[THREADS], moved;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(unsigned us)
{
    const double begin = now();

    usleep(us);
    worked[omp_get_thread_num()] += now() - begin;
}

#ifdef USE_MPI
/* One rank works at a time: it hands on a token. */
static void ring(void)
{
    int token = 0;

    for (int i = 0; i < ROUNDS; i++) {
        if (ranks > 1 && (i || rank))
            MPI_Recv(&token, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(SHORT);
        if (ranks > 1 && (i < ROUNDS - 1 || rank < ranks - 1))
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % ranks, 1, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All wait for what rank 0 sends late, and it waits for them then. */
static void late(void)
{
    int data = 0;

    for (int i = 0; i < ROUNDS; i++) {
        if (rank) MPI_Recv(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(SHORT);
        for (int to = 1; !rank && to < ranks; to++) MPI_Send(&data, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Each works, and moves data for about as long: nobody waits. */
static void moving(void)
{
    char *from = calloc(1, BYTES), *to = calloc(1, BYTES);

    for (int i = 0; i < ROUNDS && from && to; i++) {
        work(SHORT);
        const double begin = now();
        while (now() - begin < 1e-6 * SHORT)
            MPI_Sendrecv(from, BYTES, MPI_CHAR, 0, 3, to, BYTES, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        moved += now() - begin;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(from);
    free(to);
}
/* Each rank works longer than the one before, and ends when it is done. */
static void leave(void) { work(ROUNDS * SHORT * (1 + (unsigned)rank)); }
#endif

/* One thread works at a time. */
static void turns(void)
{
#pragma omp parallel
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp critical(turns)
        work(SHORT);
#pragma omp barrier
    }
}

/* Some work, and many loops with next to none: what they take is the runtime's. */
static void tiny(void)
{
    volatile int sum[THREADS][64];

    work(ROUNDS * SHORT);
    const double begin = now();
    for (int i = 0; i < LOOPS && now() - begin < 1e-6 * ROUNDS * SHORT; i++) {
#pragma omp parallel
        sum[omp_get_thread_num()][0] = i;
    }
    moved = now() - begin;
    (void)sum;
}

/* Each thread works longer than the one before: the balance is bad, and nothing else. */
static void ramp(void)
{
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel
        work(SHORT * (1 + (unsigned)omp_get_thread_num()));
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#ifdef USE_MPI
    {"ring", ring},   {"late", late}, {"moving", moving}, {"leave", leave},
#endif
    {"turns", turns}, {"tiny", tiny}, {"ramp", ramp},
};

int main(int argc, char **argv)
{
    double begin;

#ifdef USE_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    /* threads that there are before the clock runs */
#pragma omp parallel
    worked[omp_get_thread_num()] = 0;
    begin = now();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) cases[i].run();
    const double length = now() - begin;
    for (int t = 0; t < THREADS; t++)
        if (worked[t] > 0) printf("%d %d work %.6f moved %.6f of %.6f\n", rank, t, worked[t], moved, length);
    fflush(stdout);
#ifdef USE_MPI
    MPI_Finalize();
#endif
    return 0;
}
