/*
 * Two arrays of a function and a pointer that is one to them in turn, used by the first thread of a region, at two
 * places: 4000 stores to each array.
 */
#include <stdio.h>
typedef volatile double cell_t;
int main(void)
{
    cell_t first[8], second[8], *shared;
#pragma omp parallel
#pragma omp master
    for (int i = 0; i < 1000; i++) {
        shared = i % 2 ? first : second;
        shared[0] = i;
        shared[1] = shared[0];
        first[2] = i;
        second[2] = first[2];
#pragma omp critical
        {
            shared[3] = i;
            first[4] = shared[3];
            second[4] = first[4];
            shared[5] = second[4];
        }
    }
    printf("%g\n", first[4] + second[4]);
    return 0;
}
