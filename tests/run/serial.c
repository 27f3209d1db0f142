/* Rounds of a serial function, whose loop may be inlined (with an argument: which calls the C library), and of a parallel loop with a third of its work. */
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

static char text[100];

static void renumber(int round)
{
    for (int i = 0; i < 60000; i++) snprintf(text, sizeof text, "%.40f", 1.0 / (i + round + 1));
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
