/* Rounds of a serial function, whose loop may be inlined (with an argument: which sorts), and of a parallel loop with a third of its work. */
#include <stdio.h>
#include <stdlib.h>

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

static unsigned keys[200000];

static int order(const void *a, const void *b)
{
    return *(const unsigned *)a < *(const unsigned *)b ? -1 : *(const unsigned *)a > *(const unsigned *)b;
}

static void renumber(int round)
{
    for (unsigned i = 0; i < 200000; i++) keys[i] = (i + (unsigned)round) * 2654435761u;
    qsort(keys, 200000, sizeof *keys, order);
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int round = 0; round < 20; round++) {
        if (argc > 1) renumber(round);
        else sort_cells(300000);
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < 10; i++) cells[i] += work(argc > 1 ? 30000 : 300000);
    }
    printf("%d\n", cells[5] > 0);
    return 0;
}
