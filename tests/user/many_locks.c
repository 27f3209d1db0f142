/* A lock per cell, in an array, on the heap, and a few in another array. */
#include <omp.h>
#include <stdlib.h>

#define MANY 500
#define SOME 64

static omp_lock_t many[MANY], some[SOME];

static void use(omp_lock_t *locks, int n)
{
    for (int i = 0; i < n; i++) omp_init_lock(&locks[i]);
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        omp_set_lock(&locks[i]);
        omp_unset_lock(&locks[i]);
    }
}

int main(void)
{
    omp_lock_t *heap = malloc(MANY * sizeof *heap);

    use(many, MANY);
    use(some, SOME);
    use(heap, MANY);
    free(heap);
    return 0;
}
