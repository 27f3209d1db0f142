/*
 * Calls whose cost inside our libraries bench_calls.sh counts: "bench_calls CASE N". Built with MPI and, where there is
 * clang, with OpenMP on LLVM libomp.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void probe(int n)
{
    int flag;

    for (int i = 0; i < n; i++) MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void send(int n)
{
    double x = 0;

    for (int i = 0; i < n; i++) MPI_Send(&x, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_SELF);
}

static void allreduce(int n)
{
    double x = 0, sum;

    for (int i = 0; i < n; i++) MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void rank(int n)
{
    int r;

    for (int i = 0; i < n; i++) MPI_Comm_rank(MPI_COMM_SELF, &r);
}

#ifdef _OPENMP
static volatile int sink;

static void parallel(int n)
{
    for (int i = 0; i < n; i++) {
#pragma omp parallel num_threads(1)
        sink = i;
    }
}

static void in_team(int n, int what)
{
#pragma omp parallel num_threads(1)
    for (int i = 0; i < n; i++) {
        if (what == 0) {
#pragma omp critical
            sink = i;
        } else if (what == 1) {
#pragma omp for schedule(static)
            for (int k = 0; k < 1; k++) sink = k;
        } else if (what == 2) {
#pragma omp barrier
        } else if (what == 3) {
#pragma omp task
            sink = i;
        } else if (what == 4) {
#pragma omp single
            sink = i;
        } else {
#pragma omp master
            sink = i;
        }
    }
}
#endif

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 0;

    MPI_Init(&argc, &argv);
    if (!strcmp(name, "MPI_Iprobe")) probe(n);
    if (!strcmp(name, "MPI_Send")) send(n);
    if (!strcmp(name, "MPI_Allreduce")) allreduce(n);
    if (!strcmp(name, "MPI_Comm_rank")) rank(n);
#ifdef _OPENMP
    static const char *const in[] = {"critical", "for", "barrier", "task", "single", "master"};
    if (!strcmp(name, "parallel")) parallel(n);
    for (int k = 0; k < 6; k++)
        if (!strcmp(name, in[k])) in_team(n, k);
#endif
    MPI_Finalize();
    return 0;
}
