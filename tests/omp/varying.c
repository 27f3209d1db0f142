/* Teams of different size: small first, then the largest, larger than OMP_NUM_THREADS. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;
    static const int sizes[] = {1, 2, 5, 3, 6, 1};

    omp_set_dynamic(0);
    for (int k = 0; k < 6; k++) {
        /* @parallel */
#pragma omp parallel num_threads(sizes[k]) reduction(+ : sum)
        {
            sum += 1;
            /* @barrier */
#pragma omp barrier
        } /* @end parallel */
    }
    printf("%ld\n", sum);
    return 0;
}
