/* Single, with nowait, with copyprivate. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0, once = 0;

    /* @parallel */
#pragma omp parallel reduction(+ : sum)
    {
        long mine = 0;

        for (int k = 0; k < 5; k++) {
            /* @single */
#pragma omp single
            {
                once += 1;
            } /* @end single */
        }
        /* @nowait */
#pragma omp single nowait
        {
            sum += 10;
        } /* @end nowait */
        /* @copyprivate */
#pragma omp single copyprivate(mine)
        {
            mine = 100;
        } /* @end copyprivate */
        sum += mine;
    } /* @end parallel */
    printf("%ld %ld\n", sum, once);
    return 0;
}
