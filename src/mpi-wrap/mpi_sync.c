/**
 * \file
 * Synchronisation events of messages and collective calls. Runs only when somebody subscribed (ompp_event.h).
 */
#include "mpi-wrap/mpi_wrap_priv.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* ---- Communicators that MPI has accepted ---------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    MPI_Comm *comms; /* [count], in room for size */
    size_t count, size;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t find(MPI_Comm comm)
{
    size_t i = 0;

    while (i < known.count && known.comms[i] != comm) i++;
    return i;
}

static bool is_known(MPI_Comm comm)
{
    bool found;

    pthread_mutex_lock(&known.lock);
    found = find(comm) < known.count;
    pthread_mutex_unlock(&known.lock);
    return found || comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
}

static void remember(MPI_Comm comm)
{
    pthread_mutex_lock(&known.lock);
    if (find(comm) == known.count) {
        if (known.count == known.size) {
            const size_t size = known.size ? 2 * known.size : 16;
            MPI_Comm *comms = realloc(known.comms, size * sizeof *comms);
            if (comms) {
                known.comms = comms;
                known.size = size;
            }
        }
        if (known.count < known.size) known.comms[known.count++] = comm;
    }
    pthread_mutex_unlock(&known.lock);
}

void ompp_mpi_sync_forget(const MPI_Comm *comm)
{
    size_t i;

    if (!comm) return;
    pthread_mutex_lock(&known.lock);
    i = find(*comm);
    if (i < known.count) known.comms[i] = known.comms[--known.count];
    pthread_mutex_unlock(&known.lock);
}

/* Rank in MPI_COMM_WORLD of a rank in an accepted communicator (in the remote group of an intercommunicator), or -1. */
static int world_rank(MPI_Comm comm, int rank)
{
    MPI_Group group, world;
    int inter = 0, size = 0, result = MPI_UNDEFINED;

    if (rank < 0 || comm == MPI_COMM_WORLD) return rank < 0 ? -1 : rank;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter) PMPI_Comm_remote_group(comm, &group);
    else PMPI_Comm_group(comm, &group);
    PMPI_Group_size(group, &size);
    if (rank < size) {
        PMPI_Comm_group(MPI_COMM_WORLD, &world);
        PMPI_Group_translate_ranks(group, 1, &rank, world, &result);
        PMPI_Group_free(&world);
    }
    PMPI_Group_free(&group);
    return result == MPI_UNDEFINED ? -1 : result;
}

/* ---- Events --------------------------------------------------------------------------------------------------------- */

static ompp_sync_t sync_of(ompp_sync_kind_t kind, MPI_Comm comm, int peer, int tag, uint64_t bytes)
{
    return (ompp_sync_t){.kind = kind,
                         .object = (uint64_t)(uintptr_t)comm,
                         .peer = is_known(comm) ? world_rank(comm, peer) : -1,
                         .tag = tag == MPI_ANY_TAG ? -1 : tag,
                         .bytes = bytes};
}

static void hold_until(ompp_time_t t)
{
    while (ompp_event_now() < t) sched_yield();
}

static void begin(ompp_sync_kind_t kind, MPI_Comm comm, int peer, int tag)
{
    ompp_sync_t sync;

    if (kind != OMPP_SYNC_COLLECTIVE && peer == MPI_PROC_NULL) return;
    sync = sync_of(kind, comm, peer, tag, 0);
    hold_until(ompp_event_sync_begin(&sync, ompp_event_now()));
}

static void end(ompp_sync_kind_t kind, MPI_Comm comm, int peer, int tag, uint64_t bytes)
{
    ompp_sync_t sync;

    if (kind != OMPP_SYNC_COLLECTIVE && peer == MPI_PROC_NULL) return;
    remember(comm);
    sync = sync_of(kind, comm, peer, tag, bytes);
    hold_until(ompp_event_sync_end(&sync, ompp_event_now()));
}

void ompp_mpi_sync_begin_one(ompp_sync_kind_t kind, MPI_Comm comm, int peer, int tag)
{
    const int saved = errno;

    begin(kind, comm, peer, tag);
    errno = saved;
}

void ompp_mpi_sync_end_one(ompp_sync_kind_t kind, MPI_Comm comm, int peer, int tag, const ompp_mpi_values_t values)
{
    const int saved = errno;
    const uint64_t in = values[OMPP_METRIC_BYTES_IN], out = values[OMPP_METRIC_BYTES_OUT];

    end(kind, comm, peer, tag, kind == OMPP_SYNC_RECEIVE ? in : kind == OMPP_SYNC_SEND ? out : in + out);
    errno = saved;
}

void ompp_mpi_sync_begin_both(MPI_Comm comm, int dest, int tag, int source, int recvtag)
{
    ompp_mpi_sync_begin_one(OMPP_SYNC_SEND, comm, dest, tag);
    ompp_mpi_sync_begin_one(OMPP_SYNC_RECEIVE, comm, source, recvtag);
}

void ompp_mpi_sync_end_both(MPI_Comm comm, int dest, int tag, int source, int recvtag, const ompp_mpi_values_t values)
{
    ompp_mpi_sync_end_one(OMPP_SYNC_SEND, comm, dest, tag, values);
    ompp_mpi_sync_end_one(OMPP_SYNC_RECEIVE, comm, source, recvtag, values);
}
