/*
 * Atomic updates in a loop, outside of regions, and with a call in between, whose update comes back to the same place.
 */
#include <omp.h>
#include <stdio.h>

#define N 1000

long tally[8], alone, around[N];

static __attribute__((noinline)) void add(long *to)
{
#pragma omp atomic
    *to += 1;
}

int main(void)
{
    long all = 0;

#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; i++) {
        around[i] = i;
#pragma omp atomic
        tally[i % 8] += 1;
        add(&tally[(i + 1) % 8]);
    }
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        alone += 1;
    }
    for (int i = 0; i < 8; i++) all += tally[i];
    printf("%ld %ld %ld\n", all, alone, around[N - 1]);
    return 0;
}
