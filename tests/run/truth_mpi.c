/* MPI calls of known length on every rank, outside and inside parallel regions. */
#define _GNU_SOURCE
#include <mpi.h>

#include "truth.h"
#include <omp.h>

enum { STEP = 20 };

static int rank, ranks, threads;

/* Rank r comes r steps late; the others wait for the last one. */
static double late(double at)
{
    until(at + STEP * rank);
    /* @barrier */
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        expect("barrier", "MPI", r, 0, "execT", 1. * STEP * (ranks - 1 - r), NULL);
    return at + STEP * ranks;
}

/* Rank 0 sends 30 ms after the others began to wait. */
static double late_sender(double at)
{
    int token = 1;

    until(at + (rank == 0 ? 30 : 0));
    if (rank == 0) {
        for (int r = 1; r < ranks; r++)
            MPI_Send(&token, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
    } else {
        /* @receive */
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int r = 1; r < ranks; r++)
        expect("receive", "MPI", r, 0, "execT", 30., NULL);
    return at + 30;
}

/* A parallel region on every rank; thread 0 calls MPI in it, and the last rank is late by 40 ms. */
static double hybrid(double at)
{
    int in, out = rank, waits;

    until(at);
    /* @hybrid */
#pragma omp parallel
    {
        /* @master */
#pragma omp master
        {
            until(at + (rank == ranks - 1 ? 40 : 0));
            /* @allreduce */
            MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        } /* @end master */
        until(at + 60 + STEP * omp_get_thread_num());
    } /* @end hybrid */
    for (int r = 0; r < ranks; r++) {
        waits = ranks > 1 && r != ranks - 1 ? 40 : 0;
        expect("allreduce", "MPI", r, 0, "execT", 1. * waits, NULL);
        expect("master", "MASTER", r, 0, "execT", 40., "mpiT", 1. * waits, NULL);
        for (int t = 0; t < threads; t++)
            expect("hybrid", "PARALLEL", r, t, "bodyT", 60. + STEP * t, "exitBarT", 1. * STEP * (threads - 1 - t), "execT",
                   60. + STEP * (threads - 1), "mpiT", t == 0 ? 1. * waits : 0., NULL);
    }
    return at + 60 + STEP * threads;
}

/* Starting the threads takes time that belongs to no part: done beforehand. */
static void warm_up(void)
{
#pragma omp parallel
    {
        volatile int here = omp_get_thread_num();

        (void)here;
    }
}

int main(int argc, char **argv)
{
    int level;
    double at = 40;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    truth_rank = rank;
    threads = omp_get_max_threads();
    warm_up();
    truth_base = truth_now();
    MPI_Bcast(&truth_base, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    at = late(at) + 10;
    at = late_sender(at) + 10;
    hybrid(at);
    MPI_Finalize();
    return 0;
}
