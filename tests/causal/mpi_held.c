/* Once in the run, ranks wait in a call with a root for another one than the root: nobody knows for whom. Four ranks, as work.h says. */
#include "in_ranks.h"

static void once(void)
{
    double x = rank;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        region("b", 5);
        if (i == 3 && (rank == 1 || rank == 2)) region("a", 1.5);
        if (i == 3) MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static const rank_case_t cases[] = {{"once", once}};

    return run_in_ranks(argc, argv, cases, sizeof cases / sizeof *cases);
}
