/* Small hybrid program that ends in an unusual way: its argument says how. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "nothing";
    int rank, sum = 0, total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
    {
#pragma omp critical
        sum += 1;
    }
    MPI_Reduce(&sum, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s %d\n", what, total);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "exit") == 0 && rank == 1)
        exit(3);
    if (strcmp(what, "abort") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 4);
    if (strcmp(what, "kill") == 0 && rank == 1)
        abort();
    if (strcmp(what, "chdir") == 0 && chdir("/") != 0)
        return 1;
    MPI_Finalize();
    return 0;
}
