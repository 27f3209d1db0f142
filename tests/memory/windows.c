/*
 * Memory that MPI gives: alone, behind a function that gives it on, of windows, and given back.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *get(long n)
{
    void *p;

    MPI_Alloc_mem(n * (long)sizeof(double), MPI_INFO_NULL, &p);
    return p;
}

double *field;

/* Blocks that live at the end, whose owner is a variable of main. */
typedef struct {
    double *x, *v;
    int n;
} atoms_t;

static double *more(double *old, int n, int n_old)
{
    double *new_one = malloc((size_t)n * sizeof *new_one);

    if (new_one && n_old) memcpy(new_one, old, (size_t)n_old * sizeof *old);
    free(old);
    return new_one;
}

__attribute__((noinline)) static void grow(atoms_t *atoms)
{
    const int old = atoms->n;

    atoms->n += 500;
    atoms->x = more(atoms->x, atoms->n, old);
    atoms->v = more(atoms->v, atoms->n, old);
}

int main(int argc, char **argv)
{
    atoms_t atoms = {NULL, NULL, 0};
    double *mine, *window, *shared, *others, *later, sum = 0;
    MPI_Win of_window, of_shared, of_mine;
    int ranks, rank, unit;
    MPI_Aint bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    field = get(1000);
    MPI_Alloc_mem(800 * sizeof *mine, MPI_INFO_NULL, &mine);
    if (ranks > 1) { /* Open MPI makes none for one rank */
        MPI_Win_create(mine, 800 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &of_mine);
        MPI_Win_free(&of_mine); /* the memory stays the program's */
    }
    MPI_Win_allocate(600 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &of_window);
    MPI_Win_allocate_shared(399 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &of_shared);
    for (int r = 0; r < 10; r++) {
        for (int i = 0; i < 1000; i++) field[i] = i;
        for (int i = 0; i < 800; i++) mine[i] = i;
        for (int i = 0; i < 600; i++) window[i] = i;
        for (int i = 0; i < 399; i++) shared[i] = i;
    }
    if (ranks > 1) { /* of a part without a gap behind it; who holds its address alone is this variable */
        MPI_Win_shared_query(of_shared, (rank + 1) % ranks, &bytes, &unit, &others);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 399; i++) others[i] = i;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 399; i++) sum += shared[i] + mine[i] + window[i] + field[i];
    MPI_Win_free(&of_window);
    MPI_Win_free(&of_shared);
    MPI_Free_mem(mine);
    MPI_Free_mem(field);
    field = mine = NULL;
    later = malloc(800 * sizeof *later); /* where one of them was, most likely */
    for (int i = 0; i < 800; i++) later[i] = i;
    sum += later[799];
    free(later);
    for (int i = 0; i < 3; i++) grow(&atoms);
    for (int i = 0; i < 1500; i++) atoms.x[i] = i;
    for (int i = 0; i < 1400; i++) atoms.v[i] = i;
    sum += atoms.x[3] + atoms.v[4];
    printf("%g\n", sum);
    MPI_Finalize();
    return 0;
}
