/* One of each construct that a variable switches off, in and around others. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    static omp_lock_t lock;
    long sum = 0;

    omp_init_lock(&lock);
    /* @parallel */
#pragma omp parallel
    {
        /* @loop */
#pragma omp for
        for (int i = 0; i < 10; i++) {
            /* @critical */
#pragma omp critical
            {
                sum += 1;
            }
        }
        /* @sections */
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp atomic
                sum += 10;
            }
        }
        /* @master */
#pragma omp master
        {
#pragma omp atomic
            sum += 100;
        }
        /* @single */
#pragma omp single
        {
            /* @untied */
#pragma omp task untied
            {
                /* @tied */
#pragma omp task
                {
#pragma omp atomic
                    sum += 1000;
                }
            }
        }
#pragma omp flush
        omp_set_lock(&lock);
        sum += 10000;
        omp_unset_lock(&lock);
        /* @barrier */
#pragma omp barrier
    } /* @end parallel */
    omp_destroy_lock(&lock);
    printf("%ld\n", sum);
    return 0;
}
