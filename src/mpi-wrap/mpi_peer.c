/**
 * \file
 * The message matrix: to whom this rank sends how much. A record for each rank of the run that gets something; of more
 * than OMPP_MESSAGE_PEERS ranks, those that come later are one. A communicator keeps the records of its ranks.
 */
#include "mpi-wrap/mpi_wrap_priv.h"

#include "base/ompp_caller.h"
#include "model/ompp_profile.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* Records of the ranks of a communicator. */
typedef struct {
    int n;
    _Atomic(ompp_a_message_t *) of[]; /* [n]; NULL = none yet */
} peers_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, but for what is read without it */
static _Atomic(peers_t *) world;
static ompp_a_message_t *others;
static unsigned npeers;
static int key = MPI_KEYVAL_INVALID;
static _Atomic bool off;

static int forget(MPI_Comm comm, int keyval, void *peers, void *state)
{
    (void)comm, (void)keyval, (void)state;
    free(peers);
    return MPI_SUCCESS;
}

static peers_t *peers_of(MPI_Comm comm)
{
    peers_t *peers = NULL;
    int found = 0;

    if (comm == MPI_COMM_WORLD) return atomic_load_explicit(&world, memory_order_acquire);
    if (key == MPI_KEYVAL_INVALID || PMPI_Comm_get_attr(comm, key, &peers, &found) != MPI_SUCCESS) return NULL;
    return found ? peers : NULL;
}

/* ---- What comes first -------------------------------------------------------------------------------------------- */

static peers_t *make_peers(MPI_Comm comm)
{
    int between = 0, size = 0;

    if (PMPI_Comm_test_inter(comm, &between) != MPI_SUCCESS) return NULL;
    if ((between ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size)) != MPI_SUCCESS) return NULL;
    peers_t *peers = calloc(1, sizeof *peers + (size_t)size * sizeof peers->of[0]);
    if (!peers) return NULL;
    peers->n = size;
    if (comm == MPI_COMM_WORLD) {
        atomic_store_explicit(&world, peers, memory_order_release);
        return peers;
    }
    if ((key == MPI_KEYVAL_INVALID &&
         PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL) != MPI_SUCCESS) ||
        PMPI_Comm_set_attr(comm, key, peers) != MPI_SUCCESS) {
        free(peers);
        return NULL;
    }
    return peers;
}

/* Of MPI_COMM_WORLD; -1 = of none, as of a process that was spawned. */
static int rank_of(MPI_Comm comm, int peer)
{
    MPI_Group group = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
    int rank = MPI_UNDEFINED, between = 0;

    PMPI_Comm_test_inter(comm, &between);
    if ((between ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) == MPI_SUCCESS &&
        PMPI_Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS)
        PMPI_Group_translate_ranks(group, 1, &peer, all, &rank);
    if (group != MPI_GROUP_NULL) PMPI_Group_free(&group);
    if (all != MPI_GROUP_NULL) PMPI_Group_free(&all);
    return rank == MPI_UNDEFINED ? -1 : rank;
}

static ompp_a_message_t *record_of(int rank)
{
    if (rank >= 0 && npeers < OMPP_MESSAGE_PEERS) {
        npeers++;
        return ompp_message_new((uint32_t)rank);
    }
    if (!others) others = ompp_message_new(OMPP_MESSAGE_OTHERS);
    return others;
}

typedef struct {
    MPI_Comm comm;
    int peer;
    ompp_a_message_t *record;
} search_t;

/* A rank has one record, whichever communicator it is found by: that of MPI_COMM_WORLD. */
static void find_slow(void *argument)
{
    search_t *s = argument;

    pthread_mutex_lock(&lock);
    peers_t *all = peers_of(MPI_COMM_WORLD), *peers = peers_of(s->comm);
    if (!all) all = make_peers(MPI_COMM_WORLD);
    if (all && !peers) peers = s->comm == MPI_COMM_WORLD ? all : make_peers(s->comm);
    if (peers && s->peer < peers->n) {
        const int rank = rank_of(s->comm, s->peer);
        _Atomic(ompp_a_message_t *) *place = rank >= 0 && rank < all->n ? &all->of[rank] : NULL;
        s->record = place ? atomic_load(place) : NULL;
        if (!s->record) s->record = record_of(place ? rank : -1);
        if (place) atomic_store_explicit(place, s->record, memory_order_release);
        atomic_store_explicit(&peers->of[s->peer], s->record, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    if (!s->record) atomic_store(&off, true); /* there is no room */
}

ompp_a_message_t *ompp_mpi_peer(MPI_Comm comm, int peer)
{
    if (peer < 0 || atomic_load_explicit(&off, memory_order_relaxed)) return NULL;
    const peers_t *peers = peers_of(comm);
    ompp_a_message_t *record =
        peers && peer < peers->n ? atomic_load_explicit(&peers->of[peer], memory_order_acquire) : NULL;
    if (__builtin_expect(record != NULL, 1)) return record;
    search_t search = {comm, peer, NULL};
    const int saved = errno;
    ompp_caller_run(find_slow, &search);
    errno = saved;
    return search.record;
}

void ompp_mpi_sent(MPI_Comm comm, int peer, uint64_t bytes)
{
    ompp_a_message_t *record = ompp_mpi_peer(comm, peer);

    if (record) ompp_message_count(record, bytes);
}
