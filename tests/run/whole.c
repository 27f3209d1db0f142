/* Waits before its first parallel region, in it, and after it: 300, 100 and 200 ms. With MPI the first wait is before MPI_Init. */
#include <stdio.h>
#include <time.h>
#ifdef USE_MPI
#include <mpi.h>
#endif

static void wait_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    wait_ms(300);
#ifdef USE_MPI
    MPI_Init(&argc, &argv);
#endif
    /* @parallel */
#pragma omp parallel
    {
        wait_ms(100);
    }
    wait_ms(200);
#ifdef USE_MPI
    MPI_Finalize();
#endif
    if (argc > 1) {
        puts("waits");
        fflush(stdout);
#pragma omp parallel
        {
            wait_ms(600000);
        }
    }
    return 0;
}
