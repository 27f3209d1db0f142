/* Worksharing loops by schedule, with and without barrier. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0, other = 0;

    /* @parallel */
#pragma omp parallel reduction(+ : other)
    {
        for (int k = 0; k < 3; k++) {
            /* @static */
#pragma omp for schedule(static)
            for (int i = 0; i < 100; i++)
                other += 1;
        }
        /* @dynamic */
#pragma omp for schedule(dynamic, 5)
        for (int i = 0; i < 100; i++)
            other += 1;
        /* @guided */
#pragma omp for schedule(guided)
        for (int i = 0; i < 100; i++)
            other += 1;
        /* @runtime */
#pragma omp for schedule(runtime)
        for (int i = 0; i < 100; i++)
            other += 1;
        /* @nowait */
#pragma omp for schedule(static) nowait
        for (int i = 0; i < 100; i++)
            other += 1;
        /* @nowait2 */
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 100; i++)
            other += 1;
        /* @reduction */
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += i;
        /* @collapse */
#pragma omp for collapse(2)
        for (int i = 0; i < 10; i++)
            for (int j = 0; j < 10; j++)
                other += 1;
    } /* @end parallel */
    printf("%ld %ld\n", sum, other);
    return 0;
}
