/* The C part of mixed.f90. */
#include <omp.h>

static omp_lock_t lock;

void c_part_(int *n)
{
    int local = 0;

    omp_init_lock(&lock);
#pragma omp parallel
    {
        omp_set_lock(&lock);
        local++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    *n += local;
}

/* Called in the Fortran part's team. */
void c_orphan_(int *n)
{
#pragma omp critical
    *n += 1;
}
