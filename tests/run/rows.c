/*
 * Two threads fork teams of two and of three, five times; the argument says how many microseconds the second one waits before: the inner
 * teams run at the same time or one after the other.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const int wait_us = argc > 1 ? atoi(argv[1]) : 0;
    int n = 0;

    omp_set_max_active_levels(3);
    for (int r = 0; r < 5; r++) {
#pragma omp parallel num_threads(2)
        {
            const int number = omp_get_thread_num();

            if (number)
                usleep(wait_us);
#pragma omp parallel num_threads(2 + number)
            {
                usleep(3000);
#pragma omp critical
                n++;
            }
        }
    }
    printf("%d\n", n);
    return 0;
}
