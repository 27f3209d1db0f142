/*
 * Messages of a size to a receiver that comes late: whether their sender waits for it, MPI decides by size. Usage: as work.h says; the case is
 * isend-BYTES, send-BYTES or wait-BYTES: the send is begun, over, or begun and waited for before the work.
 */
#include "in_ranks.h"

enum { ISEND, SEND, WAIT };

static void exchange(int bytes, int how)
{
    static char out[1 << 20], in[1 << 20];
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    MPI_Irecv(in, bytes, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, &r[0]);
    if (how == SEND) MPI_Send(out, bytes, MPI_BYTE, !rank, 1, MPI_COMM_WORLD);
    else MPI_Isend(out, bytes, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, &r[1]);
    if (how == WAIT) MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    /* The other one does nothing meanwhile: it would matter which of two sends that begin at the same moment ends first. */
    if (rank == 1) region("b", 1);
    if (rank == 1) region("a", 3);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int bytes = 0;

    begin_in_ranks(argc, argv);
    const char *names[] = {"isend-%d", "send-%d", "wait-%d"};
    int how = ISEND;
    for (int i = 0; i < 3 && argc > 1; i++)
        if (sscanf(argv[1], names[i], &bytes) == 1) how = i;
    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        exchange(bytes, how);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) end_run();
    MPI_Finalize();
    return 0;
}
