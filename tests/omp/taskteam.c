/* Parallel regions inside tasks, and tasks inside these: tasks belong to the team that makes them. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;

    omp_set_max_active_levels(3);
    for (int k = 0; k < 5; k++) {
        /* @outer */
#pragma omp parallel
        {
            /* @single */
#pragma omp single
            {
                for (int i = 0; i < 6; i++) {
                    /* @task */
#pragma omp task
                    {
                        /* @team */
#pragma omp parallel num_threads(2)
                        {
                            /* @inner */
#pragma omp task
                            {
#pragma omp atomic
                                sum += 1;
                            }
                            /* @barrier */
#pragma omp barrier
                            /* @critical */
#pragma omp critical
                            {
                                sum += 1000;
                            }
                        } /* @end team */
                    }
                }
            } /* @end single */
        } /* @end outer */
    }
    printf("%ld\n", sum);
    return 0;
}
