/* Cross-iteration dependences (doacross): ordered(1) with depend(sink) and depend(source). */
#include <omp.h>
#include <stdio.h>

enum { N = 40 };

int main(void)
{
    static long a[N + 1];

    /* @parallel */
#pragma omp parallel
    {
        /* @loop */
#pragma omp for ordered(1) schedule(static, 1)
        for (int i = 1; i <= N; i++) {
#pragma omp ordered depend(sink : i - 1)
            a[i] = a[i - 1] + i;
#pragma omp ordered depend(source)
        }
    } /* @end parallel */
    printf("%ld\n", a[N]);
    return 0;
}
