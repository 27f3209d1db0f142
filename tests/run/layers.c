/* A program whose MPI functions may be its own (layers_own.c): says what they did. Called directly, through a table and by address. */
#include <mpi.h>
#include <stdio.h>

typedef int barrier_t(MPI_Comm comm);

static barrier_t *const table[] = {MPI_Barrier};

int main(int argc, char **argv)
{
    barrier_t *volatile by_address = MPI_Barrier;
    int rank, one = 1, sum = 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        all += sum;
    }
    for (int i = 0; i < 3; i++) table[0](MPI_COMM_WORLD);
    by_address(MPI_COMM_WORLD);
    by_address(MPI_COMM_WORLD);
    MPI_Pcontrol(0);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    for (int i = 0; i < 4; i++) PMPI_Barrier(MPI_COMM_SELF); /* nobody's layer is asked */
    printf("rank %d: %d\n", rank, all);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
