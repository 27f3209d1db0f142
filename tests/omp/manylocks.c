/* More locks on the heap than a thread remembers: every execution is counted. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOCKS = 1200 };

int main(void)
{
    omp_lock_t *lock = malloc(LOCKS * sizeof *lock);
    long sum = 0;

    if (!lock)
        return 1;
    for (int i = 0; i < LOCKS; i++)
        omp_init_lock(&lock[i]);
    /* @parallel */
#pragma omp parallel reduction(+ : sum)
    {
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < LOCKS; i++) {
                omp_set_lock(&lock[i]);
                sum += 1;
                omp_unset_lock(&lock[i]);
            }
    } /* @end parallel */
    for (int i = 0; i < LOCKS; i++)
        omp_destroy_lock(&lock[i]);
    free(lock);
    printf("%ld\n", sum);
    return 0;
}
