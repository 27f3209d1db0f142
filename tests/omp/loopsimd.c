/* The loop construct, and simd in all its combinations. */
#include <omp.h>
#include <stdio.h>

enum { N = 64 };

int main(void)
{
    long a[N] = {0}, total = 0;

    /* @parallel */
#pragma omp parallel
    {
        /* @forsimd */
#pragma omp for simd
        for (int i = 0; i < N; i++)
            a[i] += 1;
        /* @loop */
#pragma omp loop
        for (int i = 0; i < N; i++)
            a[i] += 1;
    } /* @end parallel */
    /* @parforsimd */
#pragma omp parallel for simd reduction(+ : total)
    for (int i = 0; i < N; i++)
        total += a[i];
    /* @parloop */
#pragma omp parallel loop
    for (int i = 0; i < N; i++)
        a[i] += 1;
#pragma omp simd
    for (int i = 0; i < N; i++)
        a[i] += 1;
    printf("%ld %ld\n", total, a[N - 1]);
    return 0;
}
