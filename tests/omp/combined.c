/* Combined constructs, and a LOOP that begins on its own line directly inside a parallel region (not combined). */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;

    for (int k = 0; k < 4; k++) {
        /* @static */
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += 1;
        /* @dynamic */
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 10)
        for (int i = 0; i < 100; i++)
            sum += 1;
    }
    /* @sections */
#pragma omp parallel sections reduction(+ : sum)
    {
#pragma omp section
        sum += 1;
#pragma omp section
        sum += 2;
#pragma omp section
        sum += 4;
    }
    /* @parallel */
#pragma omp parallel reduction(+ : sum)
    {
        /* @inner */
#pragma omp for
        for (int i = 0; i < 10; i++)
            sum += 100;
    } /* @end parallel */
    printf("%ld\n", sum);
    return 0;
}
