/* MPI programs of mpi.c whose ranks meet in collective calls. */
#include "in_ranks.h"

/* All wait for the slowest, twice a round. */
static void bulk(void)
{
    double x = rank, sum;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        region("a", 2 + 1.5 * rank);
        region("c", 2);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) region("b", 5);
        else region("d", 4);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The region stands at the end of the longest rank: the ranks that came before it must not be counted as savings. */
static void early(void)
{
    double x = rank, sum;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        if (rank == 0) {
            work(2);
            region("a", 8);
        } else {
            work(4 + 1.5 * rank);
        }
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* One after the other, on all ranks: a communicator of theirs is used, too. */
static void collectives(void)
{
    enum { MANY = 10000 };
    double x = rank, sum;
    MPI_Comm all;

    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    for (int i = 0; i < MANY * run.rounds; i++) {
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, i % 3 ? MPI_COMM_WORLD : all);
        if (i % 7 == 0) MPI_Bcast(&x, 1, MPI_DOUBLE, 0, all);
    }
    MPI_Comm_free(&all);
}

/* Ranks that wait for nobody are through with their part before the others begin theirs. */
static void ahead(void)
{
    enum { MANY = 1000 };
    MPI_Request r[2];
    int x = rank, sum;

    for (int i = 0; i < MANY * run.rounds; i++) {
        MPI_Ibcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Ireduce(&x, &sum, 1, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
}

/* Experiments with b find that it has not run. */
static void seldom(void)
{
    double x = rank, sum;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        region("a", 2);
        if (i % 12 == 0) region("b", 4);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Rows and columns of 2 x 2 ranks; all together now and then. */
static void subcomm(void)
{
    double x = rank, sum;
    MPI_Comm row, column;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        region("a", rank == 0 ? 4 : 2);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, row);
        region("b", rank == 3 ? 4 : 1);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, column);
        if (i % 5 == 4) MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
}

/* Two groups know nothing of each other until the end; with b in half its time, the second one is the slower one. */
static void strangers(void)
{
    double x = rank, sum;
    MPI_Comm group;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &group);
    for (int i = 0; i < run.rounds; i++) {
        if (rank == 0) OMPP_PROGRESS("round");
        if (rank < 2) region("b", 6);
        region("c", rank < 2 ? 4 : 8);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, group);
    }
    MPI_Comm_free(&group);
}

/* The root works ahead of the others, and collects what they have done a while ago: none of these calls makes all wait for all. */
static void rooted(void)
{
    double x = rank, sum;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        if (rank == 0) region("a", 3);
        MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank > 0) region("b", 4 - 0.5 * rank);
        MPI_Reduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

/* Ranks in the middle of MPI's tree come late; the one below them, if it is, has long work afterwards. */
static void above(void)
{
    double x = rank;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        if (rank == 1 || rank == 2) region("a", 4.3);
        else work(rank ? 1.9 : 0.7);
        MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank == 3) region("b", 5.1);
        else work(0.9);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The one below them comes late; they have long work afterwards. */
static void below(void)
{
    double x = rank, sum;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        if (rank == 3) region("a", 4.3);
        else work(0.7);
        MPI_Reduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 1 || rank == 2) region("b", 5.1);
        else work(0.9);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* All wait for the slowest where a communicator or a window is made or freed, and nowhere else. */
static void made(void)
{
    for (int i = 0; i < run.rounds; i++) {
        MPI_Comm copy;
        MPI_Win window;
        double *memory;

        OMPP_PROGRESS("round");
        if (rank == 1) region("a", 4.3);
        else work(2.7);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        if (rank == 2) region("b", 3.1);
        else work(0.6);
        MPI_Comm_free(&copy);
        MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
        if (rank == 3) region("c", 2.3);
        else work(0.9);
        MPI_Win_free(&window);
    }
}

/* Ranks meet in nothing but non-blocking calls, so often that clocks have to be suspended. */
static void meetings(void)
{
    MPI_Request r;

    for (int i = 0; i < 1000 * run.rounds; i++) {
        ompp_region_begin("a");
        work_until(now_ns() + 5000);
        ompp_region_end("a");
        MPI_Ibarrier(MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

/* Ranks wait for their neighbours on a ring, and these for theirs in the next round. Rank 1 is slower than all others. */
static void neighbors(void)
{
    const int periodic = 1;
    double x = rank, ghost[2];
    MPI_Comm ring;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        if (rank == 1) region("a", 6.1);
        else region("b", 1.9 + 0.7 * ((i + rank) % 3));
        MPI_Neighbor_allgather(&x, 1, MPI_DOUBLE, ghost, 1, MPI_DOUBLE, ring);
    }
    MPI_Comm_free(&ring);
}

/* Ranks wait for those before them, which are ahead as far as they like. */
static void scans(void)
{
    double x = rank, sum;

    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        region(rank == 1 ? "a" : "b", rank == 1 ? 4.3 : 0.7 + 0.9 * rank);
        MPI_Scan(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        region("c", rank == 0 ? 5.9 : 1.9);
        MPI_Exscan(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Nobody waits where there are no data. */
static void empty(void)
{
    double x = rank, sum = 0;

    for (int i = 0; i < run.rounds; i++) {
        region("a", 1 + rank);
        MPI_Allreduce(&x, &sum, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void empty_scan(void)
{
    double x = rank, sum = 0;

    for (int i = 0; i < run.rounds; i++) {
        region("a", 1 + rank);
        MPI_Scan(&x, &sum, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Ranks wait for those of the other group. */
static void groups(void)
{
    double x = rank, sum;
    MPI_Comm own, both;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both);
    for (int i = 0; i < run.rounds; i++) {
        region("a", 1 + rank);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, both);
    }
    MPI_Comm_free(&both);
    MPI_Comm_free(&own);
}
