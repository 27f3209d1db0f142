/* Reductions of a loop, of sections, of a parallel region; with nowait. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long a = 0, b = 0, c = 0, d = 0;

    /* @parallel */
#pragma omp parallel reduction(+ : a)
    {
        a += 1;
        /* @loop */
#pragma omp for reduction(+ : b)
        for (int i = 0; i < 100; i++)
            b += i;
        /* @sections */
#pragma omp sections reduction(+ : c)
        {
#pragma omp section
            {
                c += 1;
            }
#pragma omp section
            {
                c += 2;
            }
        }
        /* @nowait */
#pragma omp for reduction(max : d) nowait
        for (int i = 0; i < 100; i++)
            d = i > d ? i : d;
        /* @barrier */
#pragma omp barrier
    } /* @end parallel */
    printf("%ld %ld %ld %ld\n", a, b, c, d);
    return 0;
}
