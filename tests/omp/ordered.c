/* Ordered loop: the iterations are static, so each thread's number of ordered regions is known. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long last = -1, good = 0;

    /* @loop */
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 8; i++) {
        /* @ordered */
#pragma omp ordered
        {
            good += i == last + 1;
            last = i;
        }
    }
    printf("%ld\n", good);
    return 0;
}
