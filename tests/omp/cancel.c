/* Cancellation of every construct that can be cancelled (with OMP_CANCELLATION=true): what is open closes, what follows counts.
 * Two threads or more: libomp 19 never forgets a cancelled loop of a team of one, and aborts at the next cancellation. */
#include <omp.h>
#include <stdio.h>

static long nmissed;

static void missed(void)
{
#pragma omp atomic
    nmissed += 1;
}

int main(void)
{
    long ran = 0, done = 0;

    for (int r = 0; r < 3; r++) {
        /* @parallel */
#pragma omp parallel
        {
#pragma omp atomic
            ran += 1;
            /* @critical */
#pragma omp critical
            {
                done += 0;
            } /* @end critical */
#pragma omp cancel parallel
#pragma omp cancellation point parallel
            missed();
        } /* @end parallel */
    }
    /* @second */
#pragma omp parallel
    {
        /* @loop */
#pragma omp for
        for (int i = 0; i < 100; i++) {
#pragma omp cancel for
            missed();
        }
        /* @dynamic */
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; i++) {
#pragma omp cancellation point for
#pragma omp cancel for
            missed();
        }
        /* @sections */
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections
            }
#pragma omp section
            {
#pragma omp cancellation point sections
            }
        }
        /* @single */
#pragma omp single
        {
            /* @group */
#pragma omp taskgroup
            {
                /* @task */
#pragma omp task
                {
#pragma omp cancel taskgroup
                   
                        missed();
                }
            }
        } /* @end single */
        /* @barrier */
#pragma omp barrier
#pragma omp atomic
        done += 1;
    } /* @end second */
    printf("%ld %ld %ld\n", ran, done, nmissed);
    return 0;
}
