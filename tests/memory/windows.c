/*
 * Memory that MPI gives: alone, behind a function that gives it on, of windows, and given back.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void *get(long n)
{
    void *p;

    MPI_Alloc_mem(n * (long)sizeof(double), MPI_INFO_NULL, &p);
    return p;
}

double *field;

int main(int argc, char **argv)
{
    double *mine, *window, *shared, *later, sum = 0;
    MPI_Win of_window, of_shared;

    MPI_Init(&argc, &argv);
    field = get(1000);
    MPI_Alloc_mem(800 * sizeof *mine, MPI_INFO_NULL, &mine);
    MPI_Win_allocate(600 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &of_window);
    MPI_Win_allocate_shared(400 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &of_shared);
    for (int r = 0; r < 10; r++) {
        for (int i = 0; i < 1000; i++) field[i] = i;
        for (int i = 0; i < 800; i++) mine[i] = i;
        for (int i = 0; i < 600; i++) window[i] = i;
        for (int i = 0; i < 400; i++) shared[i] = i;
    }
    for (int i = 0; i < 400; i++) sum += shared[i] + mine[i] + window[i] + field[i];
    MPI_Win_free(&of_window);
    MPI_Win_free(&of_shared);
    MPI_Free_mem(mine);
    MPI_Free_mem(field);
    later = malloc(800 * sizeof *later); /* where one of them was, most likely */
    for (int i = 0; i < 800; i++) later[i] = i;
    sum += later[799];
    free(later);
    printf("%g\n", sum);
    MPI_Finalize();
    return 0;
}
