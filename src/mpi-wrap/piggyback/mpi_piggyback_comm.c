/**
 * \file
 * Channels: beside every communicator of the user one of ours with the same ranks, made in the calls that make
 * communicators, which are collective anyway. It is made by MPI_Comm_create and not duplicated: the user's attribute
 * callbacks must not notice.
 *
 * Ranks of another MPI_COMM_WORLD (spawned, connected) may not be measured: communicators with such ranks have none.
 */
#define _GNU_SOURCE
#include "base/ompp_hash.h"
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

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
    unsigned count;
    MPI_Comm kept_duplicates[MAX_SHADOWS];
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

static void add(ompp_mpi_shadow_t *shadow)
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
static void drain(MPI_Comm duplicate)
{
    unsigned char *message = ompp_mpi_piggyback_new();
    MPI_Status status;
    int there = 1;

    while (message && PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, duplicate, &there, &status) == MPI_SUCCESS && there)
        if (!ompp_mpi_piggyback_fetch(duplicate, status.MPI_SOURCE, status.MPI_TAG, 0, message)) break;
    ompp_mpi_piggyback_free(message);
}

static void keep(MPI_Comm duplicate)
{
    const unsigned i = __atomic_fetch_add(&shadows.kept, 1, __ATOMIC_RELAXED);

    if (i < MAX_SHADOWS) shadows.kept_duplicates[i] = duplicate;
}

void ompp_mpi_shadow_drain(void)
{
    const unsigned kept = __atomic_load_n(&shadows.kept, __ATOMIC_RELAXED);

    for (size_t i = 0; i < sizeof shadows.buckets / sizeof *shadows.buckets; i++)
        for (const ompp_mpi_shadow_t *c = shadows.buckets[i]; c; c = c->next) drain(c->duplicate);
    for (unsigned i = 0; i < kept && i < MAX_SHADOWS; i++) drain(shadows.kept_duplicates[i]);
}

static void forget_early(ompp_mpi_shadow_t *c)
{
    while (c->early) {
        ompp_mpi_early_t *early = c->early;
        c->early = early->next;
        ompp_mpi_piggyback_free(early->message);
        free(early);
    }
}

void ompp_mpi_shadow_release(ompp_mpi_shadow_t *shadow)
{
    if (!shadow || __atomic_sub_fetch(&shadow->references, 1, __ATOMIC_ACQ_REL) > 0) return;
    if (shadow->passing.left && ompp_mpi_leads(shadow, shadow->rank))
        ompp_sync_hold(false); /* nobody will pass on it */
    if (shadow->drains || ompp_mpi_suppression_is(shadow)) drain(shadow->duplicate);
    if (shadow->unread) keep(shadow->duplicate);
    else PMPI_Comm_free(&shadow->duplicate);
    pthread_mutex_destroy(&shadow->lock);
    forget_early(shadow);
    free(shadow->quiet);
    ompp_mpi_suppression_end(shadow);
    free(shadow->neighbors);
    free(shadow->world);
    free(shadow);
}

/* ---- Making one -------------------------------------------------------------------------------------------------- */

bool ompp_mpi_shadow_start(void) { return PMPI_Comm_group(MPI_COMM_WORLD, &shadows.world) == MPI_SUCCESS; }

/* Ranks in the world of those that messages go to; fails when one of them is not of this world. */
static int *world_ranks(MPI_Comm comm, bool inter, int *size)
{
    MPI_Group group;
    int *numbers = NULL, *ranks = NULL;

    if ((inter ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS) return NULL;
    PMPI_Group_size(group, size);
    numbers = malloc((size_t)(*size + 1) * sizeof *numbers);
    ranks = malloc((size_t)(*size + 1) * sizeof *ranks);
    for (int i = 0; numbers && i < *size; i++) numbers[i] = i;
    if (numbers && ranks) PMPI_Group_translate_ranks(group, *size, numbers, shadows.world, ranks);
    for (int i = 0; numbers && ranks && i < *size; i++) {
        if (ranks[i] != MPI_UNDEFINED) continue;
        free(ranks);
        ranks = NULL;
    }
    free(numbers);
    PMPI_Group_free(&group);
    return ranks;
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
                                                &shadow->duplicate);
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

int ompp_mpi_shadow_least(MPI_Comm comm, int wanted, bool inter)
{
    int least = wanted;

    return inter || PMPI_Allreduce(&wanted, &least, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS ? least : 0;
}

enum { FOLLOWED = 1, KEPT }; /* ours beside a communicator is freed with it, if need be; it may have to be kept */

/* Errors come back to us while this runs. */
static ompp_mpi_shadow_t *make(MPI_Comm comm)
{
    ompp_mpi_shadow_t *c = calloc(1, sizeof *c);
    int inter = 0, kind = MPI_UNDEFINED, error = MPI_ERR_OTHER;

    PMPI_Comm_test_inter(comm, &inter);
    if (c) {
        *c = (ompp_mpi_shadow_t){.comm = comm, .duplicate = MPI_COMM_NULL, .inter = inter, .references = 1};
        pthread_mutex_init(&c->lock, NULL);
        c->world = world_ranks(comm, inter, &c->peers);
    }
    const unsigned kept = __atomic_load_n(&shadows.kept, __ATOMIC_RELAXED);
    const bool can = c && c->world && shadows.count + (inter ? 0 : kept) < MAX_SHADOWS;
    const int wanted = ompp_mpi_shadow_least(comm, can ? kept < MANY_KEPT ? KEPT : FOLLOWED : 0, inter);
    if (!can || !wanted) goto fail;
    c->keeps = wanted == KEPT;
    PMPI_Comm_rank(comm, &c->rank);
    PMPI_Comm_size(comm, &c->size);
    if (!inter) PMPI_Topo_test(comm, &kind);
    error = kind == MPI_UNDEFINED ? copy_group(comm, &c->duplicate) : copy_topology(comm, kind, c);
    if (error == MPI_SUCCESS && c->duplicate != MPI_COMM_NULL) {
        PMPI_Comm_set_errhandler(c->duplicate, MPI_ERRORS_RETURN);
        return c;
    }
fail:
    if (c) free(c->neighbors);
    if (c) free(c->world);
    free(c);
    return NULL;
}

void ompp_mpi_shadow_made(MPI_Comm comm)
{
    MPI_Errhandler users;
    ompp_mpi_shadow_t *c;

    if (comm == MPI_COMM_NULL || PMPI_Comm_get_errhandler(comm, &users) != MPI_SUCCESS) return;
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    c = make(comm);
    PMPI_Comm_set_errhandler(comm, users);
    PMPI_Errhandler_free(&users);
    if (c) add(c);
    else ompp_mpi_unfollowed("communicators with ranks of another job, or too many at once");
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
    static const char what[] = "MPI_COMM_SELF, for which MPI refused a communicator";
    ompp_mpi_shadow_t *c = calloc(1, sizeof *c);

    if (!c) {
        ompp_mpi_unfollowed(what);
        return;
    }
    *c = (ompp_mpi_shadow_t){.comm = MPI_COMM_SELF, .duplicate = alone(own), .size = 1, .references = 1};
    c->world = world_ranks(MPI_COMM_SELF, false, &c->peers);
    if (c->world && c->duplicate != MPI_COMM_NULL) {
        pthread_mutex_init(&c->lock, NULL);
        add(c);
        return;
    }
    ompp_mpi_unfollowed(what);
    if (c->duplicate != MPI_COMM_NULL) PMPI_Comm_free(&c->duplicate);
    free(c->world);
    free(c);
}

MPI_Comm ompp_mpi_shadow_copy(MPI_Comm own)
{
    MPI_Comm copy = MPI_COMM_NULL;

    if (PMPI_Comm_dup(own, &copy) != MPI_SUCCESS) return MPI_COMM_NULL;
    PMPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    return copy;
}
