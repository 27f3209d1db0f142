/* Untied tasks. OPARI2 makes them tied unless it is told otherwise; both ways the counts are the same. */
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
            for (int i = 0; i < 200; i++) {
                /* @untied */
#pragma omp task untied
                {
#pragma omp atomic
                    sum += 1;
                }
            }
        } /* @end single */
        /* An untied task can leave its thread without an event: the loops that follow are not inside of it. */
        for (int k = 0; k < 10; k++) {
            /* @loop */
#pragma omp for
            for (int i = 0; i < 40; i++) {
                /* @inside */
#pragma omp task untied
                {
#pragma omp atomic
                    sum += 1000;
                }
            }
        }
    } /* @end parallel */
    printf("%ld\n", sum);
    return 0;
}
