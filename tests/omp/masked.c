/* Masked and master: with a filter, with tasks, inside a combined construct. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0, who = 0;

    /* @parallel */
#pragma omp parallel
    {
        for (int i = 0; i < 3; i++) {
            /* @masked */
#pragma omp masked
            {
                sum += 1;
            } /* @end masked */
        }
        /* @filter */
#pragma omp masked filter(omp_get_num_threads() - 1)
        {
            who = omp_get_thread_num();
        } /* @end filter */
    } /* @end parallel */
    /* @combined */
#pragma omp parallel masked
    {
        sum += 10;
    } /* @end combined */
    /* Not parallel masked taskloop: clang 19 leaves its loop out. */
    /* @taskloop */
#pragma omp parallel master taskloop num_tasks(4) shared(sum)
    for (int i = 0; i < 8; i++) {
#pragma omp atomic
        sum += 100;
    }
    printf("%ld %ld\n", sum, who);
    return 0;
}
