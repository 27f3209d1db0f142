/* Loops that may have nothing to do. With optimisation, gcc makes a path past them, with a barrier of its own at its end. */
#include <stdio.h>

static double a[1000], b[1000];

static __attribute__((noinline)) void sweep(int n, double low, double high)
{
    /* @parallel */
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] += low;
        /* @waits */
#pragma omp for
        for (int i = 0; i < n; i++) b[i] += 1 / (high + i);
        if (low != 0) {
#pragma omp for nowait
            for (int i = 0; i < n; i++)
                if (a[i] < low) a[i] = low;
        }
        /* @last */
#pragma omp for nowait
        for (int i = 0; i < n; i++) b[i] -= 1 / (high + i);
    } /* @end parallel */
}

/* Which of two barriers is at the end of that path, nothing tells. */
static __attribute__((noinline)) void twice(int n, double low, double high)
{
    /* @two */
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += low;
#pragma omp for
        for (int i = 0; i < n; i++) b[i] += 1 / (high + i);
        /* @third */
#pragma omp for nowait
        for (int i = 0; i < n; i++) b[i] -= 1 / (high + i);
    } /* @end two */
}

int main(void)
{
    for (int k = 0; k < 4; k++) sweep(k % 2 ? 1000 : 0, k, 1);
    for (int k = 0; k < 4; k++) twice(k % 2 ? 1000 : 0, k, 1);
    printf("%d\n", a[0] > 3 && b[0] == 0);
    return 0;
}
