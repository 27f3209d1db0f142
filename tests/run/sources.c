/*
 * One small program for all event sources. tests/run/sources.py builds and measures it in the way of each source, and has the table of
 * what must be counted. USE_MPI, USE_API: with calls of MPI, of ompp.h.
 */
#include <stdio.h>
#ifdef USE_MPI
#include <mpi.h>
#endif
#ifdef USE_API
#include <ompp.h>
#endif

enum { N = 100, TIMES = 3, THREADS = 2 };

long grid[N];
static long entries;

__attribute__((noinline)) void step(void)
{
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(dynamic, 10)
        for (int i = 0; i < N; i++) grid[i] += i;
#pragma omp critical
        entries += 1;
#pragma omp barrier
#pragma omp single
        entries += 10;
    }
}

int main(int argc, char **argv)
{
    long total = 0;

#ifdef USE_MPI
    MPI_Init(&argc, &argv);
#else
    (void)argc, (void)argv;
#endif
    for (int k = 0; k < TIMES; k++) {
#ifdef USE_API
        ompp_region_begin("unit");
#endif
        step();
#ifdef USE_API
        ompp_region_end("unit");
        ompp_progress("unit");
#endif
    }
    total = entries;
#ifdef USE_MPI
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < TIMES; k++) MPI_Allreduce(&entries, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank > 0) total = 0;
#endif
    if (total) printf("%ld %ld\n", grid[N - 1], total);
#ifdef USE_MPI
    MPI_Finalize();
#endif
    return 0;
}
