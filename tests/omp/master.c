/* Master: only thread 0, no barrier. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;

    /* @parallel */
#pragma omp parallel
    {
        for (int k = 0; k < 6; k++) {
            /* @master */
#pragma omp master
            {
                sum += 1;
            } /* @end master */
        }
    } /* @end parallel */
    printf("%ld\n", sum);
    return 0;
}
