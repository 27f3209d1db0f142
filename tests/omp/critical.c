/* Critical sections: named, unnamed, two places with one name. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0, other = 0;

    /* @parallel */
#pragma omp parallel
    {
        for (int k = 0; k < 25; k++) {
            /* @unnamed */
#pragma omp critical
            {
                sum += 1;
            } /* @end unnamed */
        }
        for (int k = 0; k < 10; k++) {
            /* @first */
#pragma omp critical(pair)
            {
                other += 1;
            } /* @end first */
        }
        /* @second */
#pragma omp critical(pair)
        {
            other += 1;
        } /* @end second */
    } /* @end parallel */
    printf("%ld %ld\n", sum, other);
    return 0;
}
