/* Parallel regions inside tasks, and tasks inside these: tasks belong to the team that makes them. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long ntasks = 0, passed = 0; /* apart: an atomic update and a critical section do not exclude each other */

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
                                ntasks += 1;
                            }
                            /* @barrier */
#pragma omp barrier
                            /* @critical */
#pragma omp critical
                            {
                                passed += 1000;
                            }
                        } /* @end team */
                    }
                }
            } /* @end single */
        } /* @end outer */
    }
    printf("%ld\n", ntasks + passed);
    return 0;
}
