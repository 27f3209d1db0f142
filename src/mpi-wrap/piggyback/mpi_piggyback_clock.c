/**
 * \file
 * How the clocks of the ranks relate: exactly on a node, whose processes read the same counter; by messages to and fro
 * between nodes.
 *
 * The clock of rank 0 is common to all. On every node one rank asks it what time it is, several times, and believes the
 * answer that came back fastest; half of the time that took is the error. Offsets are measured when MPI starts; the
 * drift that is seen at the end comes too late for the clocks and is told in the report when it may have changed an
 * order.
 */
#define OMPP_LOG_DOMAIN "mpi"
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

#include "base/ompp_log.h"
#include "model/ompp_profile.h"

#include <stdio.h>

enum { QUESTIONS = 20, TAG_CLOCK = 3 };
#define DRIFT_REPORTED_NS 50000 /* of messages' order; less is lost in the cost of a message */

/* Rank 0 answers; the asking rank gets what to add to its clock, and the error. */
static void answer(MPI_Comm own, int rank)
{
    for (int i = 0; i < QUESTIONS; i++) {
        char question;
        PMPI_Recv(&question, 1, MPI_CHAR, rank, TAG_CLOCK, own, MPI_STATUS_IGNORE);
        long long t = (long long)ompp_event_now();
        PMPI_Send(&t, 1, MPI_LONG_LONG, rank, TAG_CLOCK, own);
    }
}

static void ask(MPI_Comm own, int64_t *offset, uint64_t *error)
{
    uint64_t best = UINT64_MAX;

    *offset = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        const ompp_time_t sent = ompp_event_now();
        long long t = 0;
        PMPI_Send("", 1, MPI_CHAR, 0, TAG_CLOCK, own);
        PMPI_Recv(&t, 1, MPI_LONG_LONG, 0, TAG_CLOCK, own, MPI_STATUS_IGNORE);
        const ompp_time_t got = ompp_event_now();
        if (got - sent >= best) continue;
        best = got - sent;
        *offset = (int64_t)t - (int64_t)(sent + best / 2);
    }
    *error = best / 2;
}

/* The first rank of every node but that of rank 0 asks; one after the other. */
static void ask_by_turns(MPI_Comm own, bool asks, int64_t *offset, uint64_t *error)
{
    int rank = 0, size = 0, mine;

    PMPI_Comm_rank(own, &rank);
    PMPI_Comm_size(own, &size);
    if (rank == 0) {
        for (;;) {
            int next = size, first = size;
            PMPI_Allreduce(&first, &next, 1, MPI_INT, MPI_MIN, own);
            if (next == size) return;
            answer(own, next);
        }
    }
    for (bool asked = !asks;;) {
        int next = size;
        mine = asked ? size : rank;
        PMPI_Allreduce(&mine, &next, 1, MPI_INT, MPI_MIN, own);
        if (next == size) return;
        if (next != rank) continue;
        ask(own, offset, error);
        asked = true;
    }
}

/* In terms of the clock of the first rank of the node. */
static ompp_sync_clock_t relation_on_node(MPI_Comm node)
{
    ompp_clock_t reference = ompp_clock;
    ompp_sync_clock_t clock = {0};

    PMPI_Bcast(&reference, (int)sizeof reference, MPI_BYTE, 0, node);
    /* Not the same source: both started at a known time of day, which is the same on a node. */
    if (!ompp_sync_clock_on_node(&reference, &clock)) {
        clock.offset_ns = (int64_t)(ompp_clock.origin_epoch - reference.origin_epoch);
        clock.drift = 0;
        clock.error_ns = 100000;
    }
    return clock;
}

/* \return the communicator of the node; MPI_COMM_NULL = it could not be made. */
static MPI_Comm relate(MPI_Comm own)
{
    MPI_Comm node = MPI_COMM_NULL;
    int rank = 0, first = 0, local = 0;
    long long between[2] = {0, 0};

    PMPI_Comm_rank(own, &rank);
    if (PMPI_Comm_split_type(own, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS) return MPI_COMM_NULL;
    PMPI_Comm_rank(node, &local);
    first = rank;
    PMPI_Bcast(&first, 1, MPI_INT, 0, node); /* rank 0 is the first of its node: ranks are in the order of own */
    ompp_mpi_piggyback_state.clock = relation_on_node(node);
    int64_t offset = 0;
    uint64_t error = 0;
    ask_by_turns(own, local == 0 && first != 0, &offset, &error);
    between[0] = (long long)offset;
    between[1] = (long long)error;
    PMPI_Bcast(between, 2, MPI_LONG_LONG, 0, node);
    ompp_mpi_piggyback_state.clock.offset_ns += between[0];
    ompp_mpi_piggyback_state.clock.error_ns += (uint64_t)between[1];
    return node;
}

void ompp_mpi_clock_relate(MPI_Comm own)
{
    MPI_Comm node = relate(own);

    if (node != MPI_COMM_NULL) PMPI_Comm_free(&node);
}

void ompp_mpi_clock_start(MPI_Comm own)
{
    MPI_Comm node = relate(own);

    if (node == MPI_COMM_NULL) return;
    ompp_sync_clock(&ompp_mpi_piggyback_state.clock);
    ompp_mpi_share_start(own, node);
    PMPI_Comm_free(&node);
}

/* Ranks on other nodes than rank 0's ask once more; what they find is said, where it matters. */
void ompp_mpi_clock_finish(MPI_Comm own)
{
    int64_t offset = 0;
    uint64_t error = 0;
    const bool asks = ompp_mpi_piggyback_state.clock.error_ns > 0;
    char text[96];

    int any = asks, all = 0;
    if (PMPI_Allreduce(&any, &all, 1, MPI_INT, MPI_MAX, own) != MPI_SUCCESS || !all) return;
    ask_by_turns(own, asks, &offset, &error);
    const int64_t drift = offset - ompp_mpi_piggyback_state.clock.offset_ns;
    if (!asks || (uint64_t)(drift < 0 ? -drift : drift) < DRIFT_REPORTED_NS + error) return;
    snprintf(text, sizeof text, "it drifted by %.3f ms from that of rank 0", (double)drift / 1e6);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "clock of another node", text);
}
