/* The MPI part of the matrix, in C; without USE_MPI, of one process. */
#include <stdio.h>
#ifdef USE_MPI
#include <mpi.h>
#endif

long kernel(const int *n);

int main(int argc, char **argv)
{
    long total = 0, sum, next;
    int rank = 0, size = 1;

#ifdef USE_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#else
    (void)argc, (void)argv;
#endif
    for (int k = 0; k < 3; k++) {
        int n = 100 + rank;
        sum = next = kernel(&n);
#ifdef USE_MPI
        long mine = sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Sendrecv(&mine, 1, MPI_LONG, (rank + 1) % size, k, &next, 1, MPI_LONG, (rank + size - 1) % size, k, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
#endif
        total += sum + next;
    }
#ifdef USE_MPI
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    if (rank == 0) printf("%d %ld\n", size, total);
#ifdef USE_MPI
    MPI_Finalize();
#endif
    return 0;
}
