/*
 * Serial work before the first event and behind the last one, and units of work between: ends MS ROUNDS MS. With MPI when built with
 * -DWITH_MPI: all of it is one rank's. Says how much of each it has done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#define ROUND_MS 25

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* \return seconds that it took. */
static double work(double ms)
{
    const struct timespec t = {(time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000};
    const double begin = now();

    nanosleep(&t, NULL);
    return now() - begin;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 3 ? atoi(argv[2]) : 0;
    double outside = argc > 3 ? work(atof(argv[1])) : 0;
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
#endif
    const double begin = now();
    for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(2)
        work(ROUND_MS);
    }
    const double inside = now() - begin;
    if (argc > 3) outside += work(atof(argv[3]));
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    printf("outside %f inside %f\n", outside, inside);
    return 0;
}
