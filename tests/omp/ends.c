/*
 * Threads that end critical sections all the while others begin every other construct: what one does must not lend its place in the
 * program to another. (libomp notes the end of a critical section in the state of its first thread.)
 */
#include <omp.h>
#include <stdio.h>

enum { TIMES = 1200, MORE = 8 };

int main(void)
{
    long sum = 0, loops = 0, singles = 0, masters = 0, tasks = 0;

    /* @parallel */
#pragma omp parallel reduction(+ : loops, singles, masters, tasks)
    {
        for (int k = 0; k < TIMES; k++) {
            for (int i = 0; i < MORE; i++) {
                /* @critical */
#pragma omp critical
                {
                    sum += 1;
                } /* @end critical */
            }
            /* @loop */
#pragma omp for nowait
            for (int i = 0; i < 8; i++) loops++;
            /* @single */
#pragma omp single nowait
            {
                singles++;
            } /* @end single */
            /* @master */
#pragma omp master
            {
                masters++;
            } /* @end master */
            /* @task */
#pragma omp task
            {
#pragma omp atomic
                sum += 0;
            }
            /* @taskwait */
#pragma omp taskwait
            tasks++;
            if (k % 8) continue;
            /* @barrier */
#pragma omp barrier
        }
    } /* @end parallel */
    printf("%ld %ld %ld %ld %ld\n", sum, loops, singles, masters, tasks);
    return 0;
}
