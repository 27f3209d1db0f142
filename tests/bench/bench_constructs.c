/*
 * Constructs of OpenMP with next to nothing in them, for threads.py. usage: bench_constructs CONSTRUCT TIMES
 */
#include <stdlib.h>
#include <string.h>

static volatile int sink;

static void in_team(const char *construct, int times)
{
    for (int i = 0; i < times; i++) {
        if (strcmp(construct, "for") == 0) {
#pragma omp for
            for (int j = 0; j < 8; j++) sink = j;
        } else if (strcmp(construct, "barrier") == 0) {
#pragma omp barrier
        } else if (strcmp(construct, "single") == 0) {
#pragma omp single
            sink = i;
        } else if (strcmp(construct, "critical") == 0) {
#pragma omp critical
            sink = i;
        }
    }
}

int main(int argc, char **argv)
{
    const char *construct = argc > 1 ? argv[1] : "";
    const int times = argc > 2 ? atoi(argv[2]) : 0;

    if (strcmp(construct, "parallel") == 0) {
        for (int i = 0; i < times; i++) {
#pragma omp parallel
            sink = i;
        }
    } else if (strcmp(construct, "parallel-for") == 0) {
        for (int i = 0; i < times; i++) {
#pragma omp parallel for
            for (int j = 0; j < 8; j++) sink = j;
        }
    } else if (strcmp(construct, "task") == 0) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < times; i++) {
#pragma omp task
            sink = i;
        }
    } else {
#pragma omp parallel
        in_team(construct, times);
    }
    return 0;
}
