/**
 * \file
 * Channels: beside every communicator of the user one of ours with the same ranks, made in the calls that make
 * communicators, which are collective anyway. It is made by MPI_Comm_create and not duplicated: the user's attribute
 * callbacks must not notice.
 *
 * Ranks of another MPI_COMM_WORLD (spawned, connected) may not be measured: communicators with such ranks have no
 * channel. Whether clocks travel at all is agreed on once, among all ranks of MPI_COMM_WORLD.
 */
#define _GNU_SOURCE
#include "base/ompp_hash.h"
#include "base/ompp_prefault.h"
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

#include "model/ompp_profile.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Communicators of MPI are a bounded resource: beyond these the user's carry no clocks. */
#define MAX_SHADOWS 200
#define MANY_KEPT (MAX_SHADOWS / 4)
#define BUCKET_BITS 6
enum { VERSION = 5 };

struct ompp_mpi_piggyback_on ompp_mpi_piggyback_state = {.acks = MPI_COMM_NULL};

static struct {
    pthread_mutex_t lock;
    ompp_mpi_shadow_t *buckets[1 << BUCKET_BITS];
    unsigned count;
    MPI_Comm kept_duplicates[MAX_SHADOWS];
    unsigned kept; /* atomic: shadows of communicators that are gone, which are not freed */
    MPI_Group world;
    MPI_Comm own; /* the world's ranks: for what all ranks settle together */
} shadows = {.lock = PTHREAD_MUTEX_INITIALIZER, .own = MPI_COMM_NULL};

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

    /* one with this handle may be gone unseen: in a call that is nested in another one */
    ompp_mpi_suppressed_forget(shadow->comm);
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
    if (c) ompp_mpi_suppressed_forget(comm);
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

/* What nobody has asked for, of all, when ranks send no more: some MPI libraries complain of it. */
static void drain_all(void)
{
    const unsigned kept = __atomic_load_n(&shadows.kept, __ATOMIC_RELAXED);

    for (size_t i = 0; i < sizeof shadows.buckets / sizeof *shadows.buckets; i++)
        for (const ompp_mpi_shadow_t *c = shadows.buckets[i]; c; c = c->next) drain(c->duplicate);
    for (unsigned i = 0; i < kept && i < MAX_SHADOWS; i++) drain(shadows.kept_duplicates[i]);
}

void ompp_mpi_shadow_release(ompp_mpi_shadow_t *shadow)
{
    if (!shadow || __atomic_sub_fetch(&shadow->references, 1, __ATOMIC_ACQ_REL) > 0) return;
    ompp_mpi_collective_forget(shadow);
    if (shadow->drains || ompp_mpi_suppression_is(shadow)) drain(shadow->duplicate);
    if (shadow->unread) keep(shadow->duplicate);
    else PMPI_Comm_free(&shadow->duplicate);
    pthread_mutex_destroy(&shadow->lock);
    ompp_mpi_nonblocking_end(shadow);
    ompp_mpi_suppression_end(shadow);
    free(shadow->neighbors);
    free(shadow->world);
    free(shadow);
}

/* ---- Making one -------------------------------------------------------------------------------------------------- */

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

/* All ranks of a new communicator have the same to say: nobody else knows it yet, so that it can be used for that. */
static int least_wanted(MPI_Comm comm, int wanted, bool inter)
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
    const int wanted = least_wanted(comm, can ? kept < MANY_KEPT ? KEPT : FOLLOWED : 0, inter);
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
static MPI_Comm alone(void)
{
    MPI_Group all = MPI_GROUP_NULL, me = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;

    PMPI_Comm_rank(shadows.own, &rank);
    if (PMPI_Comm_group(shadows.own, &all) != MPI_SUCCESS) return MPI_COMM_NULL;
    if (PMPI_Group_incl(all, 1, &rank, &me) != MPI_SUCCESS ||
        PMPI_Comm_create_group(shadows.own, me, 0, &comm) != MPI_SUCCESS)
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
static void shadow_of_self(void)
{
    static const char what[] = "MPI_COMM_SELF, for which MPI refused a communicator";
    ompp_mpi_shadow_t *c = calloc(1, sizeof *c);

    if (!c) {
        ompp_mpi_unfollowed(what);
        return;
    }
    *c = (ompp_mpi_shadow_t){.comm = MPI_COMM_SELF, .duplicate = alone(), .size = 1, .references = 1};
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

void ompp_mpi_unfollowed(const char *what)
{
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "virtual clocks do not travel with", what);
}

/* ---- Start and end ----------------------------------------------------------------------------------------------- */

static void combine_all(unsigned char *from, unsigned char *into, int length, bool known)
{
    const size_t bytes = ompp_mpi_piggyback_state.bytes;

    for (int i = 0; i < length; i++)
        ompp_mpi_collective_combine(into + (size_t)i * bytes, from + (size_t)i * bytes, known);
}

static void combine(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    combine_all(in, inout, *length, true);
}

/* MPI may go on with an operation that does not block while it is in one that does. */
static void combine_apart(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    combine_all(in, inout, *length, false);
}

/* Whether a status of Fortran may be read as one of C. */
static bool statuses_are_alike(void)
{
    MPI_Fint fortran[2 * sizeof(MPI_Status) / sizeof(MPI_Fint)];
    MPI_Status status;
    const size_t words = sizeof status / sizeof *fortran;

    memset(&status, 0, sizeof status);
    memset(fortran, 0x5a, sizeof fortran);
    status.MPI_SOURCE = 3;
    status.MPI_TAG = 77;
    status.MPI_ERROR = MPI_SUCCESS;
    if (PMPI_Status_c2f(&status, fortran) != MPI_SUCCESS || memcmp(fortran, &status, sizeof status)) return false;
    return fortran[words] == (MPI_Fint)0x5a5a5a5a;
}

/* All ranks follow clocks, in the same way. */
static bool agreed(MPI_Comm own, size_t bytes)
{
    const long long version = bytes ? VERSION : 0;
    long long mine[4] = {(long long)bytes, -(long long)bytes, version, -version}, least[4] = {0};

    if (PMPI_Allreduce(mine, least, 4, MPI_LONG_LONG, MPI_MIN, own) != MPI_SUCCESS) return false;
    if (least[0] == -least[1] && least[2] == -least[3]) return bytes > 0;
    if (bytes) {
        ompp_event_coverage(OMPP_COVERAGE_REFUSED, "causal profile across ranks",
                            "not all ranks were started with the same OMPP_CAUSAL");
        ompp_sync_alone("not all ranks were started with the same OMPP_CAUSAL");
    }
    return false;
}

static bool prepare(MPI_Comm own, size_t bytes)
{
    struct ompp_mpi_piggyback_on *s = &ompp_mpi_piggyback_state;
    int *limit = NULL, found = 0;

    s->bytes = bytes + sizeof(ompp_mpi_behind_t);
    PMPI_Comm_size(own, &s->ranks);
    s->statuses_are_alike = statuses_are_alike();
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
    s->tag_limit = (found ? *limit : 32767) - 2;
    shadows.own = own;
    s->acks = ompp_mpi_shadow_copy(own);
    return s->acks != MPI_COMM_NULL && PMPI_Comm_group(MPI_COMM_WORLD, &shadows.world) == MPI_SUCCESS &&
           PMPI_Type_contiguous((int)s->bytes, MPI_BYTE, &s->type) == MPI_SUCCESS &&
           PMPI_Type_commit(&s->type) == MPI_SUCCESS && PMPI_Op_create(combine, 1, &s->op) == MPI_SUCCESS &&
           PMPI_Op_create(combine_apart, 1, &s->op_nonblocking) == MPI_SUCCESS;
}

#define EXCHANGES 9

static int compare(const void *a, const void *b)
{
    const ompp_time_t x = *(const ompp_time_t *)a, y = *(const ompp_time_t *)b;

    return (x > y) - (x < y);
}

/* All are here: this is what an exchange costs, and not what ranks wait for each other. Collective. */
static void measure_exchange(MPI_Comm own)
{
    struct ompp_mpi_piggyback_on *s = &ompp_mpi_piggyback_state;
    unsigned char *mine = ompp_mpi_piggyback_new(), *all = ompp_mpi_piggyback_new();
    ompp_time_t took[EXCHANGES];

    if (least_wanted(own, mine && all, false)) {
        for (unsigned i = 0; i < EXCHANGES; i++) {
            const ompp_time_t begin = ompp_event_now();
            ompp_mpi_collective_vector(ompp_mpi_piggyback_of(mine), begin);
            PMPI_Allreduce(ompp_mpi_piggyback_of(mine), ompp_mpi_piggyback_of(all), 1, s->type, s->op, own);
            took[i] = ompp_event_now() - begin;
        }
        qsort(took, EXCHANGES, sizeof took[0], compare);
        s->exchange = took[EXCHANGES / 2];
    }
    ompp_mpi_piggyback_free(mine);
    ompp_mpi_piggyback_free(all);
}

#define UNDER_WAY 24        /* clock vectors that a rank usually has under way, at most */
#define SMALL_BYTES 512     /* sent at once by all MPI libraries; much less may need no request (Open MPI) */
#define SELF_NS 1000000000u /* these messages to oneself take so long at most, all together */

static uint64_t left_until(uint64_t end)
{
    const uint64_t now = ompp_mpi_monotonic_ns();

    return end > now ? end - now : 0;
}

/*
 * MPI takes memory for requests as there are more of them: here, and not where ranks wait for a message that comes
 * after ours. A message that is not through stays MPI's.
 */
static void prefault_requests(MPI_Comm own)
{
    const int all = (int)ompp_mpi_piggyback_message_bytes(), bytes = all < SMALL_BYTES ? all : SMALL_BYTES;
    MPI_Request receives[UNDER_WAY], sends[UNDER_WAY];
    unsigned char *in[UNDER_WAY], *out[UNDER_WAY];
    int self = 0, got = 0, gave = 0;
    const uint64_t end = ompp_mpi_monotonic_ns() + SELF_NS;

    PMPI_Comm_rank(own, &self);
    for (; got < UNDER_WAY && (in[got] = ompp_mpi_piggyback_new()) != NULL; got++)
        if (PMPI_Irecv(in[got], bytes, MPI_BYTE, self, 0, own, &receives[got]) != MPI_SUCCESS) break;
    for (; gave < got && (out[gave] = ompp_mpi_piggyback_new()) != NULL; gave++) {
        memset(out[gave], 0, (size_t)bytes);
        if (PMPI_Isend(out[gave], bytes, MPI_BYTE, self, 0, own, &sends[gave]) != MPI_SUCCESS) break;
    }
    for (int i = 0; i < gave; i++)
        if (ompp_mpi_piggyback_complete(&sends[i], left_until(end))) ompp_mpi_piggyback_free(out[i]);
    for (int i = ompp_mpi_monotonic_ns() < end ? gave : 0; i < got; i++) PMPI_Cancel(&receives[i]);
    for (int i = 0; i < got; i++)
        if (ompp_mpi_piggyback_complete(&receives[i], left_until(end))) ompp_mpi_piggyback_free(in[i]);
}

void ompp_mpi_piggyback_start(MPI_Comm own)
{
    const size_t bytes = ompp_mpi_unusual & (OMPP_MPI_ASK | OMPP_MPI_OFF) ? 0 : ompp_sync_clock_vector_size();

    int size = 1, level = MPI_THREAD_MULTIPLE;

    PMPI_Comm_size(own, &size);
    PMPI_Query_thread(&level);
    ompp_mpi_piggyback_state.alone = level < MPI_THREAD_MULTIPLE;
    if (!bytes && size > 1)
        ompp_sync_alone("MPI is not measured, so that ranks cannot tell each other of their clocks");
    if (!agreed(own, bytes)) return;
    if (!least_wanted(own, prepare(own, bytes), false)) {
        ompp_sync_alone("MPI refused what the clocks of ranks need to travel");
        return;
    }
    ompp_mpi_clock_start(own);
    measure_exchange(own);
    ompp_mpi_shadow_made(MPI_COMM_WORLD);
    shadow_of_self();
    if (size > 1) prefault_requests(own);
    ompp_prefault_library((const void *)ompp_mpi_piggyback_start);
    __atomic_fetch_or(&ompp_mpi_unusual, OMPP_MPI_PIGGYBACK, __ATOMIC_ACQ_REL);
}

typedef struct {
    unsigned char *mine, *all;
    uint64_t end; /* on ompp_mpi_monotonic_ns() */
    bool goes_on; /* its buffers are left to it */
} at_end_t;

static bool combine_at_end(void *at_end)
{
    at_end_t *x = at_end;
    const struct ompp_mpi_piggyback_on *s = &ompp_mpi_piggyback_state;
    MPI_Request request;

    if (PMPI_Iallreduce(x->mine, x->all, 1, s->type, s->op_nonblocking, shadows.own, &request) != MPI_SUCCESS)
        return false;
    x->goes_on = !ompp_mpi_piggyback_complete(&request, left_until(x->end));
    return !x->goes_on;
}

/* A last wait of all for all, whose end is the end of the run. */
void ompp_mpi_piggyback_finish(double limit_seconds)
{
    struct ompp_mpi_piggyback_on *s = &ompp_mpi_piggyback_state;
    const ompp_time_t begin = ompp_event_now();
    unsigned char *mine, *all;

    if (!(__atomic_fetch_and(&ompp_mpi_unusual, ~(unsigned)OMPP_MPI_PIGGYBACK, __ATOMIC_ACQ_REL) & OMPP_MPI_PIGGYBACK))
        return;
    mine = ompp_mpi_piggyback_new();
    all = ompp_mpi_piggyback_new();
    if (mine && all) {
        at_end_t x = {ompp_mpi_piggyback_of(mine), ompp_mpi_piggyback_of(all),
                      ompp_mpi_monotonic_ns() + (uint64_t)(1e9 * limit_seconds), false};
        ompp_mpi_collective_vector(x.mine, begin);
        const bool combined = ompp_mpi_collective_settle(x.mine, x.all, combine_at_end, &x);
        if (x.goes_on) return;
        if (combined) {
            ompp_mpi_join_clock(ompp_mpi_piggyback_of(all), begin, OMPP_SYNC_ALL, 0);
            ompp_mpi_clock_finish(shadows.own);
        }
    }
    ompp_mpi_piggyback_free(mine);
    ompp_mpi_piggyback_free(all);
    drain_all();
    ompp_mpi_piggyback_clean();
    PMPI_Op_free(&s->op);
    PMPI_Op_free(&s->op_nonblocking);
    PMPI_Type_free(&s->type);
}
