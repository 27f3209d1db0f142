/* A rank that is late because a function works longer there: a part of what is outside of all regions. "called": the function is not inlined. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 20000

static double u[N];

static inline __attribute__((always_inline)) double relax(int sweeps)
{
    double sum = 0;

    for (int s = 0; s < sweeps; s++)
        for (int i = 1; i < N - 1; i++) {
            const double d = 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1]);
            u[i] += d;
            sum += d * d;
        }
    return sum;
}

static double interior(void) { return relax(20); }
static double boundary(int rank) { return relax(rank == 1 ? 25 : 3) / 2; }
__attribute__((noinline)) static double border(int rank) { return relax(rank == 1 ? 25 : 3) / 2; } /* no tail call */

int main(int argc, char **argv)
{
    const int called = argc > 1 && strcmp(argv[1], "called") == 0, even = argc > 1 && strcmp(argv[1], "even") == 0;
    double sum, all = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++) u[i] = i % 17;
    for (int step = 0; step < 400; step++) {
        sum = interior();
        sum += called ? border(rank) : boundary(even ? 2 : rank);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("%g\n", all);
    MPI_Finalize();
    return 0;
}
