/* MPI programs with non-blocking collective calls whose regions can be made faster (work.h). Four ranks. */
#include "in_ranks.h"

/* Two ranks that are neighbours, to be freed. */
static MPI_Comm make_pair(void)
{
    MPI_Comm pair;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    return pair;
}

/* Something else is done while a reduction is on its way. */
static void overlap(void)
{
    double x = rank, sum;
    MPI_Request r;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        region("a", 1 + rank);
        MPI_Iallreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
        region("b", 2);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

/*
 * Pairs of ranks: one has its part of two operations, and waits; the other comes later to them, and has more to do before it completes them,
 * in the other order. The first is not to wait for that: a round takes 17 ms, 20 if it does.
 */
static void under_way(void)
{
    const int first = rank % 2 == 0;
    MPI_Request r[2];
    double x = rank, sum;
    MPI_Comm pair = make_pair();

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        region("a", first ? 3 : 6);
        MPI_Iallreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, pair, &r[0]);
        MPI_Ibarrier(pair, &r[1]);
        region("b", first ? 2 : 6);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        region("c", first ? 8 : 5);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&pair);
}

static void in_rounds(void)
{
    MPI_Request r;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        region(rank == 1 ? "a" : "b", rank == 1 ? 4 : 2);
        MPI_Ibarrier(MPI_COMM_WORLD, &r);
        region("c", 1);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

/* One rank waits for the others, or they for it: these come 3 ms later than it begins to wait, and it has 2 ms more to do afterwards. */
static void one_waits(void)
{
    MPI_Request r;
    double x = rank, y = 0;

    for (int i = 0; i < run.rounds; i++)
        for (int k = 0; k < 3; k++) {
            const int waits = k == 1 ? rank == 0 : rank != 0;
            OMPP_PROGRESS("part");
            region("a", waits ? 2 : 6);
            if (k == 0) MPI_Ibcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &r);
            if (k == 1) MPI_Ireduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &r);
            if (k == 2) MPI_Iscan(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
            region("b", waits ? 1 : 0);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            region("c", waits ? 6 : 4);
            MPI_Barrier(MPI_COMM_WORLD);
        }
}

static void come_back(void)
{
    enum { LARGE = 1 << 16 }; /* doubles for each rank: no MPI sends so much at once */
    static double sent[2 * LARGE], received[2 * LARGE];
    const int first = rank % 2 == 0;
    MPI_Request r;
    MPI_Comm pair = make_pair();

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        region("a", first ? 2 : 3);
        MPI_Ialltoall(sent, LARGE, MPI_DOUBLE, received, LARGE, MPI_DOUBLE, pair, &r);
        region("b", first ? 6 : 10);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        region("c", first ? 6 : 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&pair);
}

/*
 * Pairs of ranks: a sum is known to both when the later one has come to it, or, where one of them adds up for both, when that one is back in
 * MPI, however small it is. Which it is, is MPI's secret.
 */
static void added(void)
{
    const int late = rank % 2 == 0;
    MPI_Request r;
    double x = rank, sum;
    MPI_Comm pair = make_pair();

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        region("a", late ? 6 : 3);
        MPI_Iallreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, pair, &r);
        region("b", late ? 2 : 3);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        region("c", 1);
    }
    MPI_Comm_free(&pair);
}

int main(int argc, char **argv)
{
    static const rank_case_t cases[] = {{"overlap", overlap}, {"under_way", under_way}, {"come_back", come_back}, {"one_waits", one_waits},
                                        {"in_rounds", in_rounds}, {"added", added}};

    return run_in_ranks(argc, argv, cases, sizeof cases / sizeof *cases);
}
