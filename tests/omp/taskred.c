/* Reductions over tasks: taskgroup with task_reduction, in_reduction, reduction(task, ...) of a parallel region, taskloop. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long a = 0, b = 0, c = 0;

    /* @parallel */
#pragma omp parallel
    {
        /* @single */
#pragma omp single
        {
            /* @group */
#pragma omp taskgroup task_reduction(+ : a)
            {
                for (int i = 0; i < 9; i++) {
                    /* @in */
#pragma omp task in_reduction(+ : a)
                    {
                        a += i;
                    }
                }
            }
            /* @taskloop */
#pragma omp taskloop reduction(+ : b) num_tasks(3)
            for (int i = 0; i < 12; i++)
                b += i;
        } /* @end single */
    } /* @end parallel */
    /* @over */
#pragma omp parallel reduction(task, + : c)
    {
        /* @once */
#pragma omp single
        {
            for (int i = 0; i < 6; i++) {
                /* @task */
#pragma omp task in_reduction(+ : c)
                {
                    c += i;
                }
            }
        } /* @end once */
    } /* @end over */
    printf("%ld %ld %ld\n", a, b, c);
    return 0;
}
