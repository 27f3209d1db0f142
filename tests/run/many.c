/*
 * Programs with many regions and call paths: many KIND N. Prints what it has used of the processor before its end; on rank 0 of an MPI
 * program, also what MPI_Finalize has used.
 *   names  N regions, each with its own name, and that of the rank
 *   paths  N call paths of some N / 20 regions
 *   calls  N call paths of MPI calls, each in a region of its own
 *   work   N regions, one of which does something
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "ompp.h"
#ifdef WITH_MPI
#include <mpi.h>
#endif

static double seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec;
}

static void work(double s)
{
    struct timespec begin, now;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < s);
}

static void call(void)
{
#ifdef WITH_MPI
    int in = 1, out;

    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
#endif
}

static void visit(const char *kind, int i, int n, int rank)
{
    char name[64], inner[64];
    const int others = strcmp(kind, "paths") == 0 ? 19 : 0;

    if (others && i % (others + 1)) return;
    snprintf(name, sizeof name, "%s_%d_of_rank_%d", kind, i, rank);
    ompp_region_begin(name);
    for (int k = 0; k < others; k++) {
        snprintf(inner, sizeof inner, "inner_%d", k);
        ompp_region_begin(inner);
        ompp_region_end(inner);
    }
    if (strcmp(kind, "calls") == 0) call();
    if (strcmp(kind, "work") == 0 && i == n / 2) work(0.2);
    ompp_region_end(name);
}

int main(int argc, char **argv)
{
    const int n = argc > 2 ? atoi(argv[2]) : 0;
    int rank = 0;

#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    for (int i = 0; i < n; i++) visit(argv[1], i, n, rank);
#ifdef WITH_MPI
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = seconds();
    MPI_Finalize();
    if (rank == 0) printf("end %.3f\n", seconds() - before);
#else
    printf("before %.3f\n", seconds());
#endif
    return 0;
}
