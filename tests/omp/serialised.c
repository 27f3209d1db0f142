/* Parallel regions that are serialised: by if, by one thread. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;
    volatile int yes = 0;

    for (int k = 0; k < 4; k++) {
        /* @if */
#pragma omp parallel if (yes) reduction(+ : sum)
        {
            sum += omp_get_num_threads();
            /* @loop */
#pragma omp for
            for (int i = 0; i < 4; i++)
                sum += 10;
        } /* @end if */
        /* @one */
#pragma omp parallel num_threads(1) reduction(+ : sum)
        {
            sum += 100;
        } /* @end one */
    }
    printf("%ld\n", sum);
    return 0;
}
