/* The master initialises what all threads read then; nothing in here knows of measurement. */
#include <stdio.h>

#define PAGES 2048
#define PAGE 4096

static char table[PAGES * PAGE] __attribute__((aligned(4096)));
static int counter;

int main(void)
{
    long sum = 0;

    for (int i = 0; i < PAGES; i++) ((volatile char *)table)[i * PAGE] = 1;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < PAGES * PAGE; i++) sum += table[i];
#pragma omp parallel for
    for (int i = 0; i < 1000; i++)
#pragma omp critical
        ++*(volatile int *)&counter;
    printf("%ld %d\n", sum, counter);
    return 0;
}
