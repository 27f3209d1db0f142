/* A recursive function with a parallel region (serialised inside another one), and a deep one with a user region. */
#include <omp.h>
#include <stdio.h>

static long sum;

static void deep(int level)
{
    if (level == 0)
        return;
    /* @region */
#pragma pomp inst begin(deep)
    sum += 1;
    deep(level - 1);
#pragma pomp inst end(deep)
}

static void wide(int level)
{
    if (level == 0)
        return;
    /* @parallel */
#pragma omp parallel num_threads(level == 3 ? 2 : 1)
    {
        /* @critical */
#pragma omp critical
        {
            sum += 1000;
        } /* @end critical */
        if (omp_get_thread_num() == 0)
            wide(level - 1);
    } /* @end parallel */
}

int main(void)
{
    deep(100);
    wide(3);
    printf("%ld\n", sum);
    return 0;
}
