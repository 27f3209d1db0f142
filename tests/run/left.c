/* Hybrid program of which rank 1 ends in the middle, in the way that its argument says. Each step: a parallel region, a reduction. */
#include <mpi.h>
#include <ompp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP 10

static void end(const char *way)
{
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "_exit") == 0)
        _exit(3);
    if (strcmp(way, "exit") == 0)
        exit(3);
    if (strcmp(way, "mpi_abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

/* As the launchers of Open MPI and MPICH say it. */
static int launchers_rank(void)
{
    const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");

    return atoi(open_mpi ? open_mpi : mpich ? mpich : "0");
}

static void work(int *sum)
{
    ompp_region_begin("step");
#pragma omp parallel
#pragma omp critical
    *sum += 1;
    MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ompp_region_end("step");
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "good";
    int rank, sum = 0;

    if (strcmp(way, "early") == 0) {
#pragma omp parallel
        sum += launchers_rank() < 0;
        if (launchers_rank() == 1) {
            usleep(500000);
            raise(SIGKILL);
        }
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * STEP; i++) {
        /* Nobody waits for another when it goes: the others have done as much. */
        if (i == STEP && strcmp(way, "good") != 0)
            MPI_Barrier(MPI_COMM_WORLD);
        if (i == STEP && rank == 1)
            end(way);
        if (strcmp(way, "vanish") == 0 && i == STEP) {
            usleep(900000); /* time for a copy */
            raise(SIGKILL);
        }
        work(&sum);
    }
    MPI_Finalize();
    return 0;
}
