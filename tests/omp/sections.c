/* Sections: fewer and more than threads, without a barrier. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;

    /* @parallel */
#pragma omp parallel reduction(+ : sum)
    {
        for (int k = 0; k < 2; k++) {
            /* @three */
#pragma omp sections
            {
#pragma omp section
                {
                    sum += 1;
                }
#pragma omp section
                {
                    sum += 10;
                }
#pragma omp section
                {
                    sum += 100;
                }
            }
        }
        /* @nowait */
#pragma omp sections nowait
        {
#pragma omp section
            {
                sum += 1000;
            }
        }
    } /* @end parallel */
    printf("%ld\n", sum);
    return 0;
}
