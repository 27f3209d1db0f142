/* Rounds of a serial function, whose loop may be inlined, and of a parallel loop with a third of its work. */
#include <stdio.h>

static double cells[64];

static double work(long n)
{
    double s = 0;

    for (long i = 0; i < n; i++) s = 0.999 * s + (double)i;
    return s;
}

static void sort_cells(long n)
{
    for (int i = 0; i < 30; i++) /* here */
        cells[i] += work(n);
}

int main(void)
{
    for (int round = 0; round < 20; round++) {
        sort_cells(300000);
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < 10; i++) cells[i] += work(300000);
    }
    printf("%d\n", cells[5] > 0);
    return 0;
}
