/* Persistent requests with stamps of clocks: what they need does not grow, and receipts come from who waits. */
#include "stamps.h"

enum { MANY = 16, ROUNDS = 1200, SETTLED = 300, GROWTH_KB = 600 };

static long resident_kb(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f && fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* A rank that only sends: rank 0 to rank 1. */
static void only_sends(void)
{
    static double data[MANY];
    MPI_Request r[MANY];
    long before = 0, after;
    char token = 0, got;
    adopted_t a;

    if (rank > 1 || size < 2) return;
    for (int i = 0; i < MANY; i++) {
        if (rank == 0) MPI_Send_init(&data[i], 1, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, &r[i]);
        else MPI_Recv_init(&data[i], 1, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, &r[i]);
    }
    for (int k = 0; k < ROUNDS; k++) {
        MPI_Startall(MANY, r);
        MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
        /* MPI's own room for messages that come early is not what is looked at. */
        if (k % 10 == 0) PMPI_Sendrecv(&token, 1, MPI_CHAR, 1 - rank, 77, &got, 1, MPI_CHAR, 1 - rank, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (k == SETTLED) before = resident_kb();
    }
    after = resident_kb();
    CHECK(after - before < GROWTH_KB);
    if (after - before >= GROWTH_KB) printf("rank %d: %ld kB, %ld kB after %d rounds\n", rank, before, after, ROUNDS - SETTLED);
    for (int i = 0; i < MANY; i++) MPI_Request_free(&r[i]);
    /* There are receipts still. */
    take(&a);
    come_after(1 - rank, rank == 1);
    mark(1000 + rank);
    if (rank == 0) MPI_Ssend(data, 1, MPI_DOUBLE, 1, MANY, MPI_COMM_WORLD), ADOPTED(1001, BIT(1));
    else MPI_Recv(data, 1, MPI_DOUBLE, 0, MANY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take(&a);
}

int main(int argc, char **argv)
{
    int provided = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    only_sends();
    return finish();
}
