/*
 * MPI with OpenMP: two ranks of two threads whose regions can be made faster (work.h).
 *
 *   hybrid [hybrid|steps|overlapped] [rounds=N] ...
 */
#include "in_ranks.h"

#include <omp.h>

/* Threads wait for each other in the rank, the ranks in the sum: a holds up rank 0, b rank 1. */
static void hybrid(void)
{
    double x = rank, sum;

    for (int i = 0; i < run.rounds; i++) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0) work(1);
            else region(rank == 0 ? "a" : "b", rank == 0 ? 5 : 4);
        }
        work(rank == 0 ? 0.5 : 1);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Ranks meet twice in a unit of 15 ms: where it is over, and in its middle. */
static void two_steps(void)
{
    double x = 1, sum;

    for (int i = 0; i < run.rounds; i++) {
        region("a", 8);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        region("b", 7);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
}

/* All meet while they work, and the unit is over before they know. */
static void overlapped(void)
{
    double x = 1, sum;
    MPI_Request request;

    for (int i = 0; i < run.rounds; i++) {
        MPI_Iallreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        region("a", 15);
        OMPP_PROGRESS("step");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    static const rank_case_t cases[] = {{"hybrid", hybrid}, {"steps", two_steps}, {"overlapped", overlapped}};

    threads = MPI_THREAD_FUNNELED;
    return run_in_ranks(argc, argv, cases, sizeof cases / sizeof *cases);
}
