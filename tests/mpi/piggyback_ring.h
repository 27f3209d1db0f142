/* Messages that all cases of piggyback.c share: everybody sends numbers to the next rank. */
#ifndef PIGGYBACK_RING_H
#define PIGGYBACK_RING_H

#include "piggyback.h"

static MPI_Comm world;
static int next_rank, last_rank;

#define ALL (BIT(size) - 1)

static int number_of(int from, int i)
{
    return 1000 * (from + 1) + i;
}

static MPI_Request isend(const int *number, int to, int tag)
{
    MPI_Request r;

    mark(*number);
    MPI_Isend(number, 1, MPI_INT, to, tag, world, &r);
    return r;
}

/* Everybody sends to the next, and has received from the last; the sends are completed at the end of the part. */
static struct {
    MPI_Request requests[64];
    int numbers[64], count;
} ring;

static void send_ring(int i, int tag)
{
    int *number = &ring.numbers[ring.count];

    *number = number_of(rank, i);
    ring.requests[ring.count++] = isend(number, next_rank, tag);
}

static void settle(void)
{
    MPI_Waitall(ring.count, ring.requests, MPI_STATUSES_IGNORE);
    ring.count = 0;
}

#endif
