/**
 * \file
 * Channels: beside every communicator of the user one of ours with the same ranks, made in the calls that make
 * communicators, which are collective anyway. It is made by MPI_Comm_create and not duplicated: the user's attribute
 * callbacks must not notice.
 *
 * Ranks of another MPI_COMM_WORLD (spawned, connected) may not be measured: communicators with such ranks have none,
 * and no call of ours is made on them. Each rank sees that by itself, and all ranks see the same: a rank of another
 * world is in it, or they are all of this one. What is made of a communicator without one of ours has none, either: so
 * those of a session, which is not finalized while there are communicators of it, have none.
 */
#define _GNU_SOURCE
#include "base/ompp_hash.h"
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Communicators of MPI are a bounded resource: beyond these the user's carry no clocks. */
#define MAX_SHADOWS 200
#define MANY_KEPT (MAX_SHADOWS / 4)
#define BUCKET_BITS 6

static struct {
    pthread_mutex_t lock;
    ompp_mpi_shadow_t *buckets[1 << BUCKET_BITS];
    ompp_mpi_shadow_t *gone; /* atomic: of communicators that are gone; some calls still need them */
    unsigned count;
    MPI_Comm kept_hidden[MAX_SHADOWS];
    unsigned kept; /* atomic: shadows of communicators that are gone, which are not freed */
    MPI_Group world;
} shadows = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Table ------------------------------------------------------------------------------------------------------- */

static ompp_mpi_shadow_t **bucket_of(MPI_Comm comm)
{
    return &shadows.buckets[ompp_hash_place((uintptr_t)comm, BUCKET_BITS)];
}

ompp_mpi_shadow_t *ompp_mpi_shadow_find(MPI_Comm comm)
{
    ompp_mpi_shadow_t *c;

    pthread_mutex_lock(&shadows.lock);
    for (c = *bucket_of(comm); c && c->comm != comm;) c = c->next;
    if (c) ompp_mpi_shadow_keep(c);
    pthread_mutex_unlock(&shadows.lock);
    return c;
}

void ompp_mpi_shadow_add(ompp_mpi_shadow_t *shadow)
{
    ompp_mpi_shadow_t **bucket = bucket_of(shadow->comm);

    pthread_mutex_lock(&shadows.lock);
    shadow->next = *bucket;
    *bucket = shadow;
    shadows.count++;
    pthread_mutex_unlock(&shadows.lock);
}

ompp_mpi_shadow_t *ompp_mpi_shadow_forget(MPI_Comm comm)
{
    ompp_mpi_shadow_t **link = bucket_of(comm), *c;

    pthread_mutex_lock(&shadows.lock);
    while (*link && (*link)->comm != comm) link = &(*link)->next;
    c = *link;
    if (c) {
        *link = c->next;
        shadows.count--;
    }
    pthread_mutex_unlock(&shadows.lock);
    return c;
}

/* Clock vectors that nobody has asked for, or another communicator would get them. */
static void drain(MPI_Comm hidden)
{
    ompp_mpi_message_t *message = NULL;

    do {
        ompp_mpi_piggyback_free(message);
        message = ompp_mpi_piggyback_fetch(hidden, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    } while (message);
}

static void keep(MPI_Comm hidden)
{
    const unsigned i = __atomic_fetch_add(&shadows.kept, 1, __ATOMIC_RELAXED);

    if (i < MAX_SHADOWS) shadows.kept_hidden[i] = hidden;
}

/* Clock vectors that nobody will ask for. */
static void forget_vectors(ompp_mpi_shadow_t *c)
{
    while (c->here) {
        ompp_mpi_here_t *here = c->here;
        c->here = here->next;
        ompp_mpi_piggyback_free(here->message);
        free(here);
    }
    while (c->early) {
        ompp_mpi_early_t *early = c->early;
        c->early = early->next;
        ompp_mpi_piggyback_free(early->message);
        free(early);
    }
}

static void destroy(ompp_mpi_shadow_t *shadow)
{
    drain(shadow->hidden);
    if (ompp_mpi_suppression_end(shadow) || shadow->unread) keep(shadow->hidden);
    else PMPI_Comm_free(&shadow->hidden);
    forget_vectors(shadow);
    free(shadow->quiet);
    pthread_mutex_destroy(&shadow->lock);
    free(shadow->neighbors);
    free(shadow->world);
    free(shadow);
}

/* One that nobody needs any more, out of the list; it cannot be found again. NULL = there is none. */
static ompp_mpi_shadow_t *take_unneeded(void)
{
    ompp_mpi_shadow_t **link = &shadows.gone, *c;

    pthread_mutex_lock(&shadows.lock);
    while (*link && __atomic_load_n(&(*link)->references, __ATOMIC_ACQUIRE) > 0) link = &(*link)->next;
    c = *link;
    if (c) __atomic_store_n(link, c->next, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&shadows.lock);
    return c;
}

void ompp_mpi_shadow_sweep(void)
{
    if (!__atomic_load_n(&shadows.gone, __ATOMIC_RELAXED)) return;
    for (ompp_mpi_shadow_t *c = take_unneeded(); c; c = take_unneeded()) destroy(c);
}

void ompp_mpi_shadow_free(ompp_mpi_shadow_t *shadow)
{
    if (!shadow) return;
    if (shadow->passing.left && ompp_mpi_leads(shadow, shadow->rank))
        ompp_sync_hold(false); /* nobody will pass on it */
    pthread_mutex_lock(&shadows.lock);
    shadow->next = shadows.gone;
    __atomic_store_n(&shadows.gone, shadow, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&shadows.lock);
    ompp_mpi_shadow_release(shadow);
    ompp_mpi_shadow_sweep();
}

void ompp_mpi_shadow_drain(void)
{
    const unsigned kept = __atomic_load_n(&shadows.kept, __ATOMIC_RELAXED);

    ompp_mpi_shadow_sweep();
    for (size_t i = 0; i < sizeof shadows.buckets / sizeof *shadows.buckets; i++)
        for (const ompp_mpi_shadow_t *c = shadows.buckets[i]; c; c = c->next) drain(c->hidden);
    for (unsigned i = 0; i < kept && i < MAX_SHADOWS; i++) drain(shadows.kept_hidden[i]);
}

/* ---- Making one -------------------------------------------------------------------------------------------------- */

bool ompp_mpi_shadow_start(void) { return PMPI_Comm_group(MPI_COMM_WORLD, &shadows.world) == MPI_SUCCESS; }

/*
 * Ranks of the group in the world.
 * \param[out] ranks  [size]; NULL = nobody wants them.
 * \return false when one of them is not of this world.
 */
static bool is_of_world(MPI_Group group, int size, int *ranks)
{
    int numbers[64], found[64];
    bool all = true;

    for (int first = 0, n; all && first < size; first += n) {
        for (n = 0; n < 64 && first + n < size; n++) numbers[n] = first + n;
        all = PMPI_Group_translate_ranks(group, n, numbers, shadows.world, found) == MPI_SUCCESS;
        for (int i = 0; all && i < n; i++) all = found[i] != MPI_UNDEFINED;
        if (all && ranks) memcpy(ranks + first, found, (size_t)n * sizeof *ranks);
    }
    return all;
}

/*
 * \param[out] size   of the group, the remote one of an intercommunicator, or that of this rank.
 * \param[out] ranks  [size] in the world, owned; NULL = no memory, or nobody wants them.
 * \return false when one of them is not of this world.
 */
static bool has_world_ranks(MPI_Comm comm, bool remote, int *size, int **ranks)
{
    MPI_Group group;
    bool all;

    if ((remote ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS) return false;
    PMPI_Group_size(group, size);
    if (ranks) *ranks = malloc(((size_t)*size + 1) * sizeof **ranks);
    all = is_of_world(group, *size, ranks ? *ranks : NULL);
    PMPI_Group_free(&group);
    return all;
}

typedef struct {
    int nin, nout;
    int *in, *out;
} neighbors_t;

static void add_cart(MPI_Comm comm, neighbors_t *n)
{
    int dimensions = 0, low, high;

    PMPI_Cartdim_get(comm, &dimensions);
    n->in = malloc((size_t)(2 * dimensions + 1) * sizeof *n->in);
    for (int d = 0; n->in && d < dimensions; d++) {
        PMPI_Cart_shift(comm, d, 1, &low, &high);
        if (low != MPI_PROC_NULL) n->in[n->nin++] = low;
        if (high != MPI_PROC_NULL) n->in[n->nin++] = high;
    }
    n->out = n->in;
    n->nout = n->nin;
}

static void add_graph(MPI_Comm comm, neighbors_t *n)
{
    int rank;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &n->nin);
    n->in = malloc((size_t)(n->nin + 1) * sizeof *n->in);
    if (n->in) PMPI_Graph_neighbors(comm, rank, n->nin, n->in);
    n->out = n->in;
    n->nout = n->nin;
}

static void add_dist_graph(MPI_Comm comm, neighbors_t *n)
{
    int weighted, *weights;

    PMPI_Dist_graph_neighbors_count(comm, &n->nin, &n->nout, &weighted);
    n->in = malloc((size_t)(n->nin + 1) * sizeof *n->in);
    n->out = malloc((size_t)(n->nout + 1) * sizeof *n->out);
    weights = malloc((size_t)(n->nin + n->nout + 1) * sizeof *weights);
    if (n->in && n->out && weights)
        PMPI_Dist_graph_neighbors(comm, n->nin, n->in, weights, n->nout, n->out, weights + n->nin);
    free(weights);
}

static int copy_group(MPI_Comm comm, MPI_Comm *copy)
{
    MPI_Group group;
    int error = PMPI_Comm_group(comm, &group);

    if (error != MPI_SUCCESS) return error;
    error = PMPI_Comm_create(comm, group, copy);
    PMPI_Group_free(&group);
    return error;
}

/*
 * The same neighbours, without attributes. Open MPI 5 takes a graph that is made of a communicator with dimensions for
 * one that has them, too: it is made of one without.
 */
static int copy_topology(MPI_Comm comm, int kind, ompp_mpi_shadow_t *shadow)
{
    neighbors_t n = {0};
    MPI_Comm plain = MPI_COMM_NULL;
    int error = MPI_ERR_OTHER;

    if (kind == MPI_CART) add_cart(comm, &n);
    else if (kind == MPI_GRAPH) add_graph(comm, &n);
    else add_dist_graph(comm, &n);
    if (copy_group(comm, &plain) == MPI_SUCCESS && n.in && n.out) /* Weights are of no use here; any numbers do. */
        error = PMPI_Dist_graph_create_adjacent(plain, n.nin, n.in, n.in, n.nout, n.out, n.out, MPI_INFO_NULL, 0,
                                                &shadow->hidden);
    if (plain != MPI_COMM_NULL) PMPI_Comm_free(&plain);
    shadow->sources = n.nin;
    shadow->destinations = n.nout;
    shadow->neighbors = malloc(((size_t)n.nin + (size_t)n.nout + 1) * sizeof *shadow->neighbors);
    for (int i = 0; shadow->neighbors && n.in && n.out && i < n.nin + n.nout; i++)
        shadow->neighbors[i] = i < n.nin ? n.in[i] : n.out[i - n.nin];
    shadow->topology = true;
    if (n.out != n.in) free(n.out);
    free(n.in);
    return error;
}

/* In an intercommunicator each group gets what the other one wants at least: so the second time that of both. */
int ompp_mpi_shadow_least(MPI_Comm comm, int wanted, bool inter)
{
    int mine = wanted, least = wanted;

    for (int i = 0; i < (inter ? 2 : 1); i++) {
        if (PMPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS) return 0;
        if (least < mine) mine = least;
    }
    return mine;
}

enum { FOLLOWED = 1, KEPT }; /* ours beside a communicator is freed with it, if need be; it may have to be kept */

static ompp_mpi_shadow_t *new_shadow(MPI_Comm comm, bool inter)
{
    ompp_mpi_shadow_t *c = calloc(1, sizeof *c);

    if (!c) return NULL;
    *c = (ompp_mpi_shadow_t){.comm = comm, .hidden = MPI_COMM_NULL, .inter = inter, .references = 1};
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static ompp_mpi_shadow_t *not_made(ompp_mpi_shadow_t *c)
{
    if (!c) return NULL;
    if (c->hidden != MPI_COMM_NULL) PMPI_Comm_free(&c->hidden);
    pthread_mutex_destroy(&c->lock);
    free(c->neighbors);
    free(c->world);
    free(c);
    return NULL;
}

/* Errors come back to us while this runs. */
static ompp_mpi_shadow_t *make(MPI_Comm comm, bool follows)
{
    int inter = 0, kind = MPI_UNDEFINED, local, error;

    PMPI_Comm_test_inter(comm, &inter);
    ompp_mpi_shadow_t *c = new_shadow(comm, inter);
    int *ranks = NULL, peers = 0;
    const bool ours = has_world_ranks(comm, inter, &peers, c ? &ranks : NULL) &&
                      (!inter || has_world_ranks(comm, false, &local, NULL));
    if (c) c->world = ranks;
    if (!ours) return not_made(c); /* as all ranks know */
    const unsigned kept = __atomic_load_n(&shadows.kept, __ATOMIC_RELAXED);
    const bool can = follows && c && c->world && shadows.count + (inter ? 0 : kept) < MAX_SHADOWS;
    const int wanted = ompp_mpi_shadow_least(comm, can ? kept < MANY_KEPT ? KEPT : FOLLOWED : 0, inter);
    if (!can || !wanted) return not_made(c);
    c->peers = peers;
    c->keeps = wanted == KEPT;
    PMPI_Comm_rank(comm, &c->rank);
    PMPI_Comm_size(comm, &c->size);
    if (!inter) PMPI_Topo_test(comm, &kind);
    error = kind == MPI_UNDEFINED ? copy_group(comm, &c->hidden) : copy_topology(comm, kind, c);
    if (error != MPI_SUCCESS || c->hidden == MPI_COMM_NULL) return not_made(c);
    PMPI_Comm_set_errhandler(c->hidden, MPI_ERRORS_RETURN);
    return c;
}

void ompp_mpi_shadow_made(MPI_Comm comm, bool follows)
{
    MPI_Errhandler users;
    ompp_mpi_shadow_t *c;

    if (comm == MPI_COMM_NULL || PMPI_Comm_get_errhandler(comm, &users) != MPI_SUCCESS) return;
    ompp_mpi_shadow_sweep();
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    c = make(comm, follows);
    PMPI_Comm_set_errhandler(comm, users);
    PMPI_Errhandler_free(&users);
    if (c) ompp_mpi_shadow_add(c);
    else ompp_mpi_unfollowed("communicators with ranks of another job, too many at once, or made of such ones");
}

/* A communicator of ours of this rank alone. */
static MPI_Comm alone(MPI_Comm own)
{
    MPI_Group all = MPI_GROUP_NULL, me = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;

    PMPI_Comm_rank(own, &rank);
    if (PMPI_Comm_group(own, &all) != MPI_SUCCESS) return MPI_COMM_NULL;
    if (PMPI_Group_incl(all, 1, &rank, &me) != MPI_SUCCESS || PMPI_Comm_create_group(own, me, 0, &comm) != MPI_SUCCESS)
        comm = MPI_COMM_NULL;
    if (me != MPI_GROUP_NULL) PMPI_Group_free(&me);
    PMPI_Group_free(&all);
    if (comm != MPI_COMM_NULL) PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

/*
 * MPI_COMM_SELF's own error handler is not touched, not even to put it back: MPICH from 4.1 on sends errors that belong
 * to no communicator there once somebody has set one, and to that of MPI_COMM_WORLD before.
 */
void ompp_mpi_shadow_of_self(MPI_Comm own)
{
    ompp_mpi_shadow_t *c = new_shadow(MPI_COMM_SELF, false);

    if (c) c->hidden = alone(own);
    if (c && has_world_ranks(MPI_COMM_SELF, false, &c->peers, &c->world) && c->world && c->hidden != MPI_COMM_NULL) {
        c->size = 1;
        ompp_mpi_shadow_add(c);
        return;
    }
    not_made(c);
    ompp_mpi_unfollowed("MPI_COMM_SELF, for which MPI refused a communicator");
}

MPI_Comm ompp_mpi_shadow_copy(MPI_Comm own)
{
    MPI_Comm copy = MPI_COMM_NULL;

    if (PMPI_Comm_dup(own, &copy) != MPI_SUCCESS) return MPI_COMM_NULL;
    PMPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    return copy;
}
