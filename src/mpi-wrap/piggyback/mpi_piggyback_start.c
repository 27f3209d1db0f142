/**
 * \file
 * Start and end: whether clocks travel at all is agreed on once, among all ranks of MPI_COMM_WORLD; the end of the run
 * is a last wait of all for all.
 */
#define _GNU_SOURCE
#include "base/ompp_prefault.h"
#include "mpi-wrap/piggyback/mpi_piggyback_collective_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"

#include "model/ompp_profile.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 5 };

static MPI_Comm world; /* ours with the world's ranks: for what all ranks settle together */

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
    struct ompp_mpi_piggyback_state *s = &ompp_mpi_piggyback_state;
    int *limit = NULL, found = 0;

    s->bytes = bytes + sizeof(ompp_mpi_behind_t);
    s->message = sizeof(ompp_mpi_header_t) + s->bytes;
    PMPI_Comm_size(own, &s->ranks);
    s->statuses_are_alike = statuses_are_alike();
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
    s->tag_limit = (found ? *limit : 32767) - 2;
    world = own;
    s->acks = ompp_mpi_shadow_copy(own);
    return s->acks != MPI_COMM_NULL && ompp_mpi_shadow_start() &&
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
    struct ompp_mpi_piggyback_state *s = &ompp_mpi_piggyback_state;
    ompp_mpi_message_t *mine = ompp_mpi_piggyback_new(), *all = ompp_mpi_piggyback_new();
    ompp_time_t took[EXCHANGES];

    if (ompp_mpi_shadow_least(own, mine && all, false)) {
        for (unsigned i = 0; i < EXCHANGES; i++) {
            const ompp_time_t begin = ompp_event_now();
            ompp_mpi_collective_vector(mine->vector, false, begin);
            PMPI_Allreduce(mine->vector, all->vector, 1, s->type, s->op, own);
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

static uint64_t left_until(ompp_time_t end)
{
    const ompp_time_t now = ompp_event_now();

    return end > now ? end - now : 0;
}

/*
 * MPI takes memory for requests as there are more of them: here, and not where ranks wait for a message that comes
 * after ours. A message that is not through stays MPI's.
 */
static void prefault_requests(MPI_Comm own)
{
    const int all = (int)ompp_mpi_piggyback_state.message, bytes = all < SMALL_BYTES ? all : SMALL_BYTES;
    MPI_Request receives[UNDER_WAY], sends[UNDER_WAY];
    ompp_mpi_message_t *in[UNDER_WAY], *out[UNDER_WAY];
    int self = 0, got = 0, gave = 0;
    const ompp_time_t end = ompp_event_now() + SELF_NS;

    PMPI_Comm_rank(own, &self);
    for (; got < UNDER_WAY && (in[got] = ompp_mpi_piggyback_new()) != NULL; got++)
        if (PMPI_Irecv(in[got], bytes, MPI_BYTE, self, 0, own, &receives[got]) != MPI_SUCCESS) break;
    for (; gave < got && (out[gave] = ompp_mpi_piggyback_new()) != NULL; gave++) {
        memset(out[gave], 0, (size_t)bytes);
        if (PMPI_Isend(out[gave], bytes, MPI_BYTE, self, 0, own, &sends[gave]) != MPI_SUCCESS) break;
    }
    for (int i = 0; i < gave; i++)
        if (ompp_mpi_piggyback_complete(&sends[i], left_until(end))) ompp_mpi_piggyback_free(out[i]);
    for (int i = ompp_event_now() < end ? gave : 0; i < got; i++) PMPI_Cancel(&receives[i]);
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
    if (!ompp_mpi_shadow_least(own, prepare(own, bytes), false)) {
        ompp_sync_alone("MPI refused what the clocks of ranks need to travel");
        return;
    }
    ompp_mpi_clock_start(own);
    measure_exchange(own);
    ompp_mpi_shadow_made(MPI_COMM_WORLD, true);
    ompp_mpi_shadow_of_self(own);
    if (size > 1) prefault_requests(own);
    ompp_prefault_library((const void *)ompp_mpi_piggyback_start);
    __atomic_fetch_or(&ompp_mpi_unusual, OMPP_MPI_PIGGYBACK, __ATOMIC_ACQ_REL);
}

typedef struct {
    unsigned char *mine, *all;
    ompp_time_t end;
    bool goes_on; /* its buffers are left to it */
} at_end_t;

static bool combine_at_end(void *at_end)
{
    at_end_t *x = at_end;
    const struct ompp_mpi_piggyback_state *s = &ompp_mpi_piggyback_state;
    MPI_Request request;

    if (PMPI_Iallreduce(x->mine, x->all, 1, s->type, s->op_nonblocking, world, &request) != MPI_SUCCESS) return false;
    x->goes_on = !ompp_mpi_piggyback_complete(&request, left_until(x->end));
    return !x->goes_on;
}

/* A last wait of all for all, whose end is the end of the run. */
void ompp_mpi_piggyback_finish(double limit_seconds)
{
    struct ompp_mpi_piggyback_state *s = &ompp_mpi_piggyback_state;
    const ompp_time_t begin = ompp_event_now();
    ompp_mpi_message_t *mine, *all;

    if (!(__atomic_fetch_and(&ompp_mpi_unusual, ~(unsigned)OMPP_MPI_PIGGYBACK, __ATOMIC_ACQ_REL) & OMPP_MPI_PIGGYBACK))
        return;
    mine = ompp_mpi_piggyback_new();
    all = ompp_mpi_piggyback_new();
    if (mine && all) {
        at_end_t x = {mine->vector, all->vector, ompp_event_now() + (uint64_t)(1e9 * limit_seconds), false};
        ompp_mpi_collective_vector(x.mine, true, begin);
        const bool combined = ompp_mpi_collective_settle(x.mine, x.all, combine_at_end, &x);
        if (x.goes_on) return;
        if (combined) {
            ompp_mpi_join_clock(all, (ompp_sync_wait_t){.begin = begin, .kind = OMPP_SYNC_ALL});
            ompp_mpi_clock_finish(world);
        }
    }
    ompp_mpi_piggyback_free(mine);
    ompp_mpi_piggyback_free(all);
    ompp_mpi_shadow_drain();
    ompp_mpi_piggyback_clean();
    PMPI_Op_free(&s->op);
    PMPI_Op_free(&s->op_nonblocking);
    PMPI_Type_free(&s->type);
}
