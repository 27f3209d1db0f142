#include "locks.h"

omp_lock_t in_library[2]; /* @in_library[1] */

omp_lock_t *library_lock(void)
{
    return &in_library[1];
}
