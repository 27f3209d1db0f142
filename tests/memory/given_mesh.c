/* What given.c does not know of its mesh. */
#include "given.h"

#include <stdlib.h>

struct mesh {
    int n;
    volatile double *density, *energy;
};

struct mesh *make_mesh(int n)
{
    struct mesh *mesh = malloc(sizeof *mesh);

    if (!mesh) abort();
    mesh->n = n;
    mesh->density = malloc((size_t)n * sizeof *mesh->density);
    mesh->energy = malloc((size_t)n / 2 * sizeof *mesh->energy);
    if (!mesh->density || !mesh->energy) abort();
    for (int i = 0; i < n; i++) mesh->density[i] = i;
    for (int i = 0; i < n / 2; i++) mesh->energy[i] = i;
    return mesh;
}

double sum_of_mesh(const struct mesh *mesh) { return mesh->density[mesh->n - 1] + mesh->energy[0]; }
