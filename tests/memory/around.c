/* A variable of main's that all threads of a region read, the first thread before the others, and a variable of each thread. */
#include <stdio.h>

#define N 1000

__attribute__((noinline)) static void other(const volatile long *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

int main(void)
{
    volatile long shared = 5;
    long sum = 0;

    other(&shared); /* so that the variable itself is captured */
#pragma omp parallel reduction(+ : sum)
    {
        volatile long own[4] = {0};
#pragma omp master
        sum += shared;
#pragma omp barrier
        for (int i = 0; i < N; i++) {
            sum += shared;
            other(&shared);
            own[i % 4] = i;
        }
        sum += own[1];
    }
    printf("%ld\n", sum);
    return 0;
}
