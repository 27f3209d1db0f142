/* Nested parallel regions: every outer thread forks two of its own, often enough for teams to be freed and taken by others. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long sum = 0;

    omp_set_max_active_levels(3);
    for (int k = 0; k < 300; k++) {
        /* @outer */
#pragma omp parallel
        {
            /* @inner */
#pragma omp parallel num_threads(2)
            {
                /* @critical */
#pragma omp critical
                {
                    sum += 1;
                } /* @end critical */
            } /* @end inner */
        } /* @end outer */
    }
    printf("%ld\n", sum);
    return 0;
}
