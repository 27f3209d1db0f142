/*
 * Messages of a size to a receiver that comes late: whether their sender waits for it, MPI decides by size. Usage: as work.h says; the case is
 * isend-BYTES or send-BYTES: the send is begun, or over, before the work.
 */
#include "in_ranks.h"

static void exchange(int bytes, bool is_over)
{
    static char out[1 << 20], in[1 << 20];
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    MPI_Irecv(in, bytes, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, &r[0]);
    if (is_over) MPI_Send(out, bytes, MPI_BYTE, !rank, 1, MPI_COMM_WORLD);
    else MPI_Isend(out, bytes, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, &r[1]);
    /* The other one does nothing meanwhile: it would matter which of two sends that begin at the same moment ends first. */
    if (rank == 1) region("b", 1);
    if (rank == 1) region("a", 3);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int bytes = 0;

    begin_in_ranks(argc, argv);
    const bool is_over = argc > 1 && sscanf(argv[1], "send-%d", &bytes) == 1;
    if (argc > 1 && !is_over) sscanf(argv[1], "isend-%d", &bytes);
    for (int i = 0; i < run.rounds; i++) {
        OMPP_PROGRESS("round");
        exchange(bytes, is_over);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) end_run();
    MPI_Finalize();
    return 0;
}
