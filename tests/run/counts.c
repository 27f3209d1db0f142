/*
 * MPI calls and bytes, and OpenMP constructs, in numbers that follow from ranks and threads. tests/run/counts.py has the table of
 * what must be counted. Every kind of call stands in a line of its own below its label.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 100, TIMES = 3 };

static int rank, ranks;
static double in[64 * N], out[64 * N];

static void point_to_point(void)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Request request[2];

    for (int i = 0; i < TIMES; i++) {
        /* @irecv */
        MPI_Irecv(in, N, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &request[0]);
        /* @isend */
        MPI_Isend(out, N, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &request[1]);
        /* @waitall */
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    /* @sendrecv */
    MPI_Sendrecv(out, N, MPI_INT, next, 2, in, N, MPI_INT, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0 && ranks > 1) {
        /* @send */
        MPI_Send(out, 7, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    }
    if (rank == 1) {
        /* @recv */
        MPI_Recv(in, 7, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void collective(void)
{
    for (int i = 0; i < TIMES; i++) {
        /* @barrier */
        MPI_Barrier(MPI_COMM_WORLD);
        /* @bcast */
        MPI_Bcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    /* @reduce */
    MPI_Reduce(out, in, N, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    /* @allreduce */
    MPI_Allreduce(out, in, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    /* @scatter */
    MPI_Scatter(out, N, MPI_DOUBLE, in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    /* @gather */
    MPI_Gather(out, N, MPI_DOUBLE, in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    /* @allgather */
    MPI_Allgather(out, N, MPI_DOUBLE, in, N, MPI_DOUBLE, MPI_COMM_WORLD);
    /* @alltoall */
    MPI_Alltoall(out, N, MPI_DOUBLE, in, N, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* Arguments that mean nothing on this rank may be rubbish. */
static void rubbish(void)
{
    void *nowhere = (void *)8;
    MPI_Datatype notype = rank == 0 ? MPI_INT : MPI_DATATYPE_NULL;

    /* @gather0 */
    MPI_Gather(out, 1, MPI_INT, rank == 0 ? (void *)in : nowhere, rank == 0 ? 1 : -5, notype, 0, MPI_COMM_WORLD);
    /* @inplace */
    MPI_Allreduce(MPI_IN_PLACE, in, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    /* @procnull */
    MPI_Send(nowhere, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static long openmp(void)
{
    long sum = 0;

    for (int i = 0; i < TIMES; i++) {
        /* @parallel */
#pragma omp parallel reduction(+ : sum)
        {
            /* @loop */
#pragma omp for
            for (int k = 0; k < N; k++)
                sum += 1;
            for (int k = 0; k < 11; k++) {
                /* @critical */
#pragma omp critical(count)
                {
                    sum += 1;
                }
            }
            /* @ompbarrier */
#pragma omp barrier
            /* @single */
#pragma omp single
            {
                for (int k = 0; k < 13; k++) {
                    /* @task */
#pragma omp task
                    {
                    }
                }
            }
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    int level;
    long sum, total;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    point_to_point();
    collective();
    rubbish();
    sum = openmp();
    /* @last */
    MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld\n", total);
    MPI_Finalize();
    return 0;
}
