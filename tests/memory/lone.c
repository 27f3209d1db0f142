/* Touches ten pages and counts, before anything that is measured: without -fopenmp, nothing at all. */
#include <stdio.h>

static char pages[10 * 4096] __attribute__((aligned(4096)));
static volatile int flag;

int main(void)
{
    for (int i = 0; i < 10; i++) {
        ((volatile char *)pages)[i * 4096] = 1;
        flag = i;
    }
#pragma omp parallel
#pragma omp critical
    flag = 1;
    puts("done");
    return 3;
}
