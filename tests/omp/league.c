/* A league as GCC compiles it: distribute is no call, and libgomp runs the teams one after the other;
   LLVM's library at the same time. */
#include <stdio.h>

int main(void)
{
    long sum = 0;

    for (int k = 0; k < 3; k++) {
        /* @teams */
#pragma omp teams num_teams(2) reduction(+ : sum)
        {
#pragma omp distribute
            for (int i = 0; i < 10; i++) {
                /* @parallel */
#pragma omp parallel num_threads(1) reduction(+ : sum)
                {
                    sum += i;
                } /* @end parallel */
            }
        }
    }
    printf("%ld\n", sum);
    return 0;
}
