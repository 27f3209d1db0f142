/* MPI programs that are really changed: see scenario.c. */
#include "in_ranks.h"

static double rise(int t, int n)
{
    return n > 1 ? (double)t / (n - 1) : 0;
}

static void meet(void)
{
    double x = rank, sum;

    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Later ranks have more to do. */
static void rising(void)
{
    for (int i = 0; i < run.rounds; i++) {
        work(run.changed ? 3 : 2 + 2 * rise(rank, size));
        meet();
    }
}

/* Each rank is late in turn. */
static void in_turn(void)
{
    for (int i = 0; i < run.rounds; i++) {
        work(run.changed ? 2 + 3.0 / size : rank == i % size ? 5 : 2);
        meet();
    }
}

/* Two steps, of which one waits for one rank. */
static void steps_of_ranks(void)
{
    for (int i = 0; i < run.rounds; i++) {
        work(run.changed ? 1 + 3.0 / size : rank == 0 ? 4 : 1);
        meet();
        work(2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Data that are moved to the next rank, or not. */
static void moved(void)
{
    enum { BYTES = 4 << 20 };
    char *from = calloc(1, BYTES), *to = calloc(1, BYTES);

    for (int i = 0; i < run.rounds && from && to; i++) {
        work(2);
        for (int j = 0; j < 3 && !run.changed; j++)
            MPI_Sendrecv(from, BYTES, MPI_CHAR, rank ^ 1, 3, to, BYTES, MPI_CHAR, rank ^ 1, 3, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    }
    free(from);
    free(to);
}

/* A few bytes to and fro, very often. */
static void pinged(void)
{
    char byte = 0;

    for (int i = 0; i < run.rounds; i++) {
        work(0.5);
        for (int j = 0; j < 1000 && !run.changed; j++) {
            if (rank % 2 == 0) MPI_Send(&byte, 1, MPI_CHAR, rank ^ 1, 4, MPI_COMM_WORLD);
            MPI_Recv(&byte, 1, MPI_CHAR, rank ^ 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank % 2 == 1) MPI_Send(&byte, 1, MPI_CHAR, rank ^ 1, 4, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv)
{
    static const rank_case_t cases[] = {
        {"rising", rising}, {"turns", in_turn}, {"steps", steps_of_ranks}, {"moved", moved}, {"pinged", pinged}};

    return run_in_ranks(argc, argv, cases, sizeof cases / sizeof *cases);
}
