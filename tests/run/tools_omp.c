/* Five parallel regions of two threads, for the tools of tools.py. */
#include <stdio.h>

int main(void)
{
    int sum = 0;

    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        sum++;
    }
    printf("sum %d\n", sum);
    return 0;
}
