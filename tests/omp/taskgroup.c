/* Taskgroup and taskloop: OPARI2 does not know them, kinst-ompp instruments them; the tasks of a taskloop it cannot. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;

    /* @parallel */
#pragma omp parallel
    {
        /* @single */
#pragma omp single
        {
            /* @group */
#pragma omp taskgroup
            {
                for (int i = 0; i < 6; i++) {
                    /* @task */
#pragma omp task
                    {
#pragma omp atomic
                        sum += 1;
                    }
                }
            }
            /* @taskloop */
#pragma omp taskloop num_tasks(4)
            for (int i = 0; i < 40; i++) {
#pragma omp atomic
                sum += 10;
            }
        } /* @end single */
    } /* @end parallel */
    printf("%ld\n", sum);
    return 0;
}
