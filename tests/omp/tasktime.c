/* Times of tasks: how long they wait for their begin, and how long they run without the tasks that run meanwhile. */
#include <omp.h>
#include <stdio.h>
#include <time.h>

static void sleep_ms(long ms)
{
    struct timespec left = {0, ms * 1000000};

    while (nanosleep(&left, &left) != 0)
        continue;
}

int main(void)
{
    long x = 0;

    /* @parallel */
#pragma omp parallel
    {
        /* @single */
#pragma omp single
        {
            /* @first */
#pragma omp task depend(out : x)
            {
                sleep_ms(30);
                x = 1;
            }
            for (int i = 0; i < 2; i++) {
                /* @waits */
#pragma omp task depend(inout : x)
                {
                    x += 1;
                }
            }
            /* @group */
#pragma omp taskwait
            /* @outer */
#pragma omp task
            {
                for (int i = 0; i < 4; i++) {
                    /* @inner */
#pragma omp task
                    {
                        sleep_ms(50);
                    }
                }
                /* @innerwait */
#pragma omp taskwait
            }
        } /* @end single */
    } /* @end parallel */
    printf("%ld\n", x);
    return 0;
}
