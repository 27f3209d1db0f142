/* Tasks with dependences: a chain, many readers after one writer, an undeferred task that waits, taskwait depend, priorities. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long x = 0, sum = 0;

    /* @parallel */
#pragma omp parallel
    {
        /* @single */
#pragma omp single
        {
            for (int i = 0; i < 10; i++) {
                /* @chain */
#pragma omp task depend(inout : x) priority(i)
                {
                    x = 2 * x + 1;
                }
            }
            for (int i = 0; i < 7; i++) {
                /* @reader */
#pragma omp task depend(in : x)
                {
#pragma omp atomic
                    sum += x;
                }
            }
            /* @undeferred */
#pragma omp task if (0) depend(inout : x)
            {
                x += 1;
            }
            /* @last */
#pragma omp task depend(out : x)
            {
                x += 1;
            }
            /* @wait */
#pragma omp taskwait depend(in : x)
            sum += x;
        } /* @end single */
    } /* @end parallel */
    printf("%ld\n", sum);
    return 0;
}
