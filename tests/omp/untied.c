/* Untied tasks. OPARI2 makes them tied unless it is told otherwise; both ways the counts are the same. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;

    /* @parallel */
#pragma omp parallel
    {
        /* @single */
#pragma omp single
        {
            for (int i = 0; i < 8; i++) {
                /* @untied */
#pragma omp task untied
                {
#pragma omp atomic
                    sum += 1;
                }
            }
        } /* @end single */
    } /* @end parallel */
    printf("%ld\n", sum);
    return 0;
}
