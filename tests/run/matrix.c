/*
 * Messages whose numbers and bytes follow from the ranks: prints "FROM TO MESSAGES BYTES" for each pair, by hand. With an argument: so many
 * rounds of all of it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

static int rank, size;
static char out[1 << 12], in[MOST][1 << 12];
static long messages[MOST], bytes[MOST];

/* What is sent to a rank of the run. */
static void count(int to, long n)
{
    messages[to]++;
    bytes[to] += n;
}

static int length(int from, int to) { return 8 * (1 + from) + to; }

/* Each to each, itself too: non-blocking on both sides. */
static void all(void)
{
    MPI_Request requests[2 * MOST];

    for (int r = 0; r < size; r++) MPI_Irecv(in[r], length(r, rank), MPI_CHAR, r, 1, MPI_COMM_WORLD, &requests[r]);
    for (int r = 0; r < size; r++) {
        MPI_Isend(out, length(rank, r), MPI_CHAR, r, 1, MPI_COMM_WORLD, &requests[size + r]);
        count(r, length(rank, r));
    }
    MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
}

/* Around, on a communicator in which the ranks stand the other way round. */
static void around(MPI_Comm reversed)
{
    const int place = size - 1 - rank, next = (place + 1) % size;

    MPI_Sendrecv(out, 100, MPI_INT, next, 2, in[0], 100, MPI_INT, (place + size - 1) % size, 2, reversed, MPI_STATUS_IGNORE);
    count(size - 1 - next, 100 * (long)sizeof(int));
    MPI_Send(out, 1, MPI_CHAR, MPI_PROC_NULL, 3, reversed); /* to nobody */
}

/* Rank 0 to the last one, three times: a persistent request. */
static void again(void)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (rank == 0) MPI_Send_init(out, 10, MPI_DOUBLE, size - 1, 4, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3; i++) {
        if (rank == size - 1) MPI_Irecv(in[0], 10, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, &request);
        if (rank == 0) {
            MPI_Start(&request);
            count(size - 1, 10 * (long)sizeof(double));
        }
        if (rank == 0 || rank == size - 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 0) MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    MPI_Comm reversed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - 1 - rank, &reversed);
    for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
        all();
        around(reversed);
        if (size > 1) again();
    }
    MPI_Comm_free(&reversed);
    for (int r = 0; r < size; r++)
        if (messages[r]) printf("%d %d %ld %ld\n", rank, r, messages[r], bytes[r]);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
