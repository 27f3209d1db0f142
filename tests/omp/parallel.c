/* Parallel regions: one, one in a loop, one that follows serial code; never executed ones do not count. */
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    long sum = 0;

    (void)argv;
    /* @one */
#pragma omp parallel reduction(+ : sum)
    {
        sum += 1;
    } /* @end one */
    for (int i = 0; i < 7; i++) {
        /* @loop */
#pragma omp parallel reduction(+ : sum)
        {
            sum += 10;
        } /* @end loop */
    }
    if (argc > 100) {
        /* @never */
#pragma omp parallel reduction(+ : sum)
        {
            sum += 1000;
        }
    }
    printf("%ld\n", sum);
    return 0;
}
