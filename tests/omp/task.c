/* Tasks: tied, untied, undeferred, nested, with taskwait. */
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
            for (int i = 0; i < 12; i++) {
                /* @tied */
#pragma omp task
                {
#pragma omp atomic
                    sum += 1;
                }
            }
            /* @wait */
#pragma omp taskwait
            for (int i = 0; i < 5; i++) {
                /* @outer */
#pragma omp task
                {
                    for (int k = 0; k < 3; k++) {
                        /* @inner */
#pragma omp task
                        {
#pragma omp atomic
                            sum += 100;
                        }
                    }
                    /* @innerwait */
#pragma omp taskwait
                }
            }
            /* @undeferred */
#pragma omp task if (0)
            {
#pragma omp atomic
                sum += 10000;
            }
        } /* @end single */
    } /* @end parallel */
    printf("%ld\n", sum);
    return 0;
}
