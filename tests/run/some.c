/*
 * A program of which only some ranks may be measured: calls that are collective over MPI_COMM_WORLD at once after MPI_Init, and receives
 * of anything, so that what others say among themselves would be seen. Prints one line per rank.
 */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 10 };

int main(int argc, char **argv)
{
    int rank, size, sum, seen = 0, messages = 0;
    MPI_Comm copy, half, *slow;
    MPI_Request request;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROUNDS; i++) {
        slow = i % 2 ? &copy : (MPI_Comm[]){MPI_COMM_WORLD};
        sum = rank + 1;
        MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, *slow, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 10 * i + rank, MPI_COMM_WORLD, &request);
        MPI_Recv(&seen, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        messages += seen == status.MPI_SOURCE && status.MPI_TAG == 10 * i + seen && seen == (rank + size - 1) % size;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(MPI_IN_PLACE, &seen, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Barrier(half);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &seen, &status);
    printf("some: rank %d of %d: %d, %d messages, %d left\n", rank, size, sum, messages, seen);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
