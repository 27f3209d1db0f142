/* As advice.c, of ranks: advice_mpi.c NAME. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int rank, size;

/* A rank that is late sleeps, so that ranks that share a processor change nothing. */
static void rest(double ms)
{
    const struct timespec t = {0, (long)(ms * 1e6)};

    nanosleep(&t, NULL);
}

static void sum_up(MPI_Comm comm)
{
    double a = 1, b;

    MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, comm);
}

/* Each rank is late as often as the others. */
static void do_in_turn(void)
{
    for (int i = 0; i < 60; i++) {
        if (i % size == rank) rest(10);
        sum_up(MPI_COMM_WORLD);
    }
}

/* The same on another communicator, and in a barrier. */
static void do_in_turn_other(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 60; i++) {
        if (i % size == rank) rest(10);
        MPI_Barrier(comm);
    }
    MPI_Comm_free(&comm);
}

/* More calls than are kept. */
static void do_in_turn_many(void)
{
    for (int i = 0; i < 20000; i++) {
        if (i % 50 == 25 * rank) rest(1);
        sum_up(MPI_COMM_WORLD);
    }
}

static void do_late(void)
{
    for (int i = 0; i < 60; i++) {
        rest(rank == 1 ? 10 : 1);
        sum_up(MPI_COMM_WORLD);
    }
}

static void do_small(void)
{
    for (int i = 0; i < 200000; i++) sum_up(MPI_COMM_WORLD);
}

static void do_even(void)
{
    for (int i = 0; i < 4; i++) {
        rest(100);
        sum_up(MPI_COMM_WORLD);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {{"in_turn", do_in_turn},
                {"in_turn_other", do_in_turn_other},
                {"in_turn_many", do_in_turn_many},
                {"late", do_late},
                {"small", do_small},
                {"even", do_even}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (argc > 1 && strcmp(argv[1], programs[i].name) == 0) programs[i].run();
    MPI_Finalize();
    return 0;
}
