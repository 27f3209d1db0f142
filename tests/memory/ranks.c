/* The same structures in another order on every rank; a derived type and a one-sided window. Prints rank, sum, what came by MPI_Put. */
#include <mpi.h>
#include <ompp.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = 1000;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *v = malloc(n * sizeof *v), *other = malloc(100 * sizeof *other), *window, sum = 0;
    if (rank == 0) ompp_papi_set_drange(other, 800, "other");
    ompp_papi_set_drange(v, n * sizeof *v, "v");
    if (rank != 0) ompp_papi_set_drange(other, 800, "other");
    if (rank == 1) ompp_papi_set_drange(&sum, sizeof sum, "only here");

    MPI_Datatype type;
    MPI_Win win;
    MPI_Type_vector(10, 1, 10, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < n; i++) v[i] = rank + 1;
    for (int i = 0; i < 100; i++) other[i] = i;
    MPI_Win_allocate(800, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    MPI_Win_fence(0, win);
    MPI_Put(v, 1, type, (rank + 1) % size, 0, 1, type, win);
    MPI_Win_fence(0, win);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += v[i];
    printf("%d %g %g\n", rank, sum, window[90]);
    MPI_Win_free(&win);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
