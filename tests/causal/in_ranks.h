/* What MPI programs of this folder share: how they begin; a case by its name, between a barrier and another one. See work.h. */
#ifndef IN_RANKS_H
#define IN_RANKS_H

#include <mpi.h>

#include "work.h"

#include <stdbool.h>

static int rank, size;

typedef struct {
    const char *name;
    void (*run)(void);
} rank_case_t;

static bool straight; /* a case sets it: there is no barrier behind it */
static int threads = MPI_THREAD_SINGLE; /* main() sets it: how threads call MPI */

static inline void begin_in_ranks(int argc, char **argv)
{
    if (threads == MPI_THREAD_SINGLE) MPI_Init(&argc, &argv);
    else MPI_Init_thread(&argc, &argv, threads, &threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_options(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD);
    begin_run();
}

static inline int run_in_ranks(int argc, char **argv, const rank_case_t *cases, size_t n)
{
    begin_in_ranks(argc, argv);
    for (size_t i = 0; argc > 1 && i < n; i++)
        if (!strcmp(cases[i].name, argv[1])) cases[i].run();
    if (!straight) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) end_run();
    MPI_Finalize();
    return 0;
}

#endif
