/* Target regions, run on the host: the parallel regions inside them count as any other. */
#include <omp.h>
#include <stdio.h>

enum { N = 32 };

int main(void)
{
    long a[N] = {0}, sum = 0;

#pragma omp target map(tofrom : a)
    {
        /* @inside */
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            a[i] += 1;
    }
    /* @combined */
#pragma omp target parallel for map(tofrom : a)
    for (int i = 0; i < N; i++)
        a[i] += 1;
#pragma omp target data map(tofrom : a)
    {
#pragma omp target update to(a)
        /* @task */
#pragma omp target nowait map(tofrom : a)
        for (int i = 0; i < N; i++)
            a[i] += 1;
        /* @wait */
#pragma omp taskwait
    }
    for (int i = 0; i < N; i++)
        sum += a[i];
    printf("%ld\n", sum);
    return 0;
}
