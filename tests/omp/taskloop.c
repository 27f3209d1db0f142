/* Taskloop: grainsize, num_tasks, nogroup, collapse, simd, nested in a task, and combined with a masked parallel region. */
#include <omp.h>
#include <stdio.h>

static long sum;

static void add(long n)
{
#pragma omp atomic
    sum += n;
}

int main(void)
{
    /* @parallel */
#pragma omp parallel
    {
        /* @single */
#pragma omp single
        {
            /* @grain */
#pragma omp taskloop grainsize(10)
            for (int i = 0; i < 60; i++)
                add(1);
            /* @num */
#pragma omp taskloop num_tasks(5)
            for (int i = 0; i < 55; i++)
                add(10);
            /* @nogroup */
#pragma omp taskloop nogroup num_tasks(3)
            for (int i = 0; i < 9; i++)
                add(100);
            /* @wait */
#pragma omp taskwait
            /* @collapse */
#pragma omp taskloop collapse(2) num_tasks(4)
            for (int i = 0; i < 4; i++)
                for (int k = 0; k < 6; k++)
                    add(1000);
            /* @outer */
#pragma omp task
            {
                /* @inner */
#pragma omp taskloop num_tasks(2)
                for (int i = 0; i < 8; i++)
                    add(10000);
            }
        } /* @end single */
    } /* @end parallel */
    printf("%ld\n", sum);
    return 0;
}
