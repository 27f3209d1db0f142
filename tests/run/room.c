/*
 * Programs that need more room than there is. "many N": N times all constructs, in a user region of another name each
 * time. Else regions of one kind, N inside one another.
 */
#include "ompp.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef MPI
#include <mpi.h>
#endif

static long sum;
static omp_lock_t *locks;

static int odd(int d);
static int even(int d) { return d ? odd(d - 1) : 1; }
static int odd(int d) { return d ? even(d - 1) : 0; }

static void deep_functions(int d) { sum += even(d - 1); }

static void deep_regions(int d)
{
    if (!d) return;
    ompp_region_begin(d % 2 ? "odd" : "even");
    deep_regions(d - 1);
    ompp_region_end(d % 2 ? "odd" : "even");
}

static void deep_teams(int d)
{
    if (!d) return;
#pragma omp parallel num_threads(1)
    deep_teams(d - 1);
}

static void deep_groups(int d)
{
    if (!d) return;
#pragma omp taskgroup
    {
#pragma omp critical
        sum++;
        deep_groups(d - 1);
    }
}

static void deep_tasks(int d)
{
    if (!d) return;
#pragma omp task
    deep_tasks(d - 1);
#pragma omp taskwait
}

static void tree(int d)
{
    if (!d) return;
#pragma omp task
    tree(d - 1);
#pragma omp task
    sum += even(2) < 0;
#pragma omp taskwait
}

static void all_constructs(int k)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 10; i++) {
            omp_set_lock(&locks[k]);
            sum++;
            omp_unset_lock(&locks[k]);
        }
#pragma omp single
        tree(4);
#pragma omp sections
        {
#pragma omp section
            sum += even(3) < 0;
#pragma omp section
            sum += even(4) < 0;
        }
#pragma omp critical(one)
        sum++;
#pragma omp taskgroup
        {
#pragma omp task
            sum += even(1) < 0;
        }
#pragma omp master
        sum += even(5) < 0;
#pragma omp barrier
    }
}

static void many(int n)
{
    char name[64];

    locks = malloc((size_t)n * sizeof *locks);
    for (int k = 0; k < n; k++) {
        omp_init_lock(&locks[k]);
        snprintf(name, sizeof name, "region_with_a_name_of_some_length_%d", k);
        ompp_region_begin(name);
        all_constructs(k);
#ifdef MPI
        int rank, size, to = k, from = 0;
        MPI_Request requests[2];
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Irecv(&from, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&to, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#endif
        ompp_region_end(name);
    }
}

static const struct {
    const char *name;
    void (*function)(int);
} kinds[] = {
    {"many", many},        {"functions", deep_functions}, {"regions", deep_regions},
    {"teams", deep_teams}, {"groups", deep_groups},       {"tasks", deep_tasks},
};

int main(int argc, char **argv)
{
    const int n = argc > 2 ? atoi(argv[2]) : 10;

#ifdef MPI
    MPI_Init(&argc, &argv);
#endif
    for (size_t i = 1; argc > 1 && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0) continue;
#pragma omp parallel num_threads(2)
#pragma omp single
        kinds[i].function(n);
    }
    if (argc > 1 && strcmp(argv[1], "many") == 0) many(n);
    puts("done");
#ifdef MPI
    return MPI_Finalize();
#else
    return 3;
#endif
}
