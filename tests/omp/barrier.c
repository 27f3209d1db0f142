/* Explicit barriers, atomic, flush. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;

    /* @parallel */
#pragma omp parallel
    {
        for (int k = 0; k < 9; k++) {
            /* @atomic */
#pragma omp atomic
            sum += 1;
            /* @barrier */
#pragma omp barrier
        }
        /* @flush */
#pragma omp flush
        /* @last */
#pragma omp barrier
    } /* @end parallel */
    printf("%ld\n", sum);
    return 0;
}
