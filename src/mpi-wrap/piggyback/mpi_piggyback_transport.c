/**
 * \file
 * What clock vectors travel by: what was settled at the start, their memory, waiting for a request of ours with a
 * limit, receiving one message, and those that are here while their messages are not.
 */
#define _GNU_SOURCE
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

#include "base/ompp_float.h"
#include "model/ompp_profile.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define BLOCKS 32u

struct ompp_mpi_piggyback_on ompp_mpi_piggyback_state = {.acks = MPI_COMM_NULL};

void ompp_mpi_unfollowed(const char *what)
{
    ompp_event_coverage(OMPP_COVERAGE_NOTE, "virtual clocks do not travel with", what);
}

/* ---- Pool -------------------------------------------------------------------------------------------------------- */

typedef union block {
    union block *next;
    long long align;
} block_t;

static struct {
    pthread_mutex_t lock;
    block_t *free;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ompp_mpi_piggyback_free(unsigned char *vector)
{
    block_t *b = (block_t *)(void *)vector;

    if (!b) return;
    pthread_mutex_lock(&pool.lock);
    b->next = pool.free;
    pool.free = b;
    pthread_mutex_unlock(&pool.lock);
}

/* \return one of many new ones, whose pages come at once; the others are in the pool. */
static unsigned char *make_blocks(void)
{
    const size_t bytes = (ompp_mpi_piggyback_state.message + sizeof(block_t) - 1) / sizeof(block_t) * sizeof(block_t);
    unsigned char *blocks =
        mmap(NULL, BLOCKS * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (blocks == MAP_FAILED) return malloc(bytes);
    for (unsigned i = 1; i < BLOCKS; i++) ompp_mpi_piggyback_free(blocks + i * bytes);
    return blocks;
}

unsigned char *ompp_mpi_piggyback_new(void)
{
    pthread_mutex_lock(&pool.lock);
    block_t *b = pool.free;
    if (b) pool.free = b->next;
    pthread_mutex_unlock(&pool.lock);
    return b ? (unsigned char *)b : make_blocks();
}

void ompp_mpi_collective_vector(unsigned char *vector, bool all, ompp_time_t t)
{
    *ompp_mpi_behind(vector) = (ompp_mpi_behind_t){0, 0};
    ompp_sync_clock_vector(vector, t);
    if (all) ompp_sync_propose(vector, t);
}

int64_t ompp_mpi_clock_common(ompp_time_t t)
{
    const ompp_sync_clock_t *clock = &ompp_mpi_piggyback_state.clock;
    const uint64_t floats = ompp_float_take();
    const int64_t common = clock->offset_ns + (int64_t)t + (int64_t)((double)t * clock->drift);

    ompp_float_back(floats);
    return common;
}

/* ---- Waiting with a limit ---------------------------------------------------------------------------------------- */

/* Between two looks at something. \return whether to look again. */
static bool waits_on(ompp_time_t *begin, uint64_t limit_ns)
{
    const struct timespec nap = {0, 100000};

    if (limit_ns == 0) return false;
    if (*begin == 0) *begin = ompp_event_now();
    const uint64_t waited = ompp_event_now() - *begin;
    if (waited >= limit_ns) return false;
    if (waited < 2000000) sched_yield();
    else nanosleep(&nap, NULL);
    return true;
}

bool ompp_mpi_piggyback_complete(MPI_Request *request, uint64_t limit_ns)
{
    ompp_time_t begin = 0;
    int done = 0;

    do {
        if (PMPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    } while (!done && waits_on(&begin, limit_ns));
    return done;
}

/* One that has failed is gone: to cancel it would be an error of nobody's communicator. */
bool ompp_mpi_piggyback_withdraw(MPI_Request *request)
{
    MPI_Status status;
    int cancelled = 0;

    if (*request == MPI_REQUEST_NULL || PMPI_Cancel(request) != MPI_SUCCESS ||
        PMPI_Wait(request, &status) != MPI_SUCCESS)
        return true;
    PMPI_Test_cancelled(&status, &cancelled);
    return cancelled;
}

void ompp_mpi_piggyback_widen(unsigned char *message)
{
    const size_t there = ompp_mpi_header_of(message)->bytes, all = ompp_mpi_piggyback_state.bytes;

    if (there < all) memset(ompp_mpi_piggyback_of(message) + there, 0, all - there);
}

unsigned char *ompp_mpi_piggyback_fetch(MPI_Comm own, int source, int tag, uint64_t limit_ns)
{
    unsigned char *message = NULL;
    ompp_time_t begin = 0;
    MPI_Message matched;
    int there = 0;

    do {
        if (PMPI_Improbe(source, tag, own, &there, &matched, MPI_STATUS_IGNORE) != MPI_SUCCESS) return NULL;
    } while (!there && waits_on(&begin, limit_ns));
    if (there) message = ompp_mpi_piggyback_new();
    /* It is small, and all of it is here. */
    if (message && PMPI_Mrecv(message, (int)ompp_mpi_piggyback_state.message, MPI_BYTE, &matched, MPI_STATUS_IGNORE) ==
                       MPI_SUCCESS) {
        ompp_mpi_piggyback_widen(message);
        return message;
    }
    ompp_mpi_piggyback_free(message);
    return NULL;
}

/* ---- What is here ------------------------------------------------------------------------------------------------ */

/* The place of the first one that is one of these. Under the lock. */
static ompp_mpi_here_t **place_of(ompp_mpi_shadow_t *shadow, int source, int tag, unsigned kinds)
{
    ompp_mpi_here_t **link = &shadow->here;

    for (const ompp_mpi_here_t *h = *link; h; h = *link) {
        const bool given = h->message && ompp_mpi_header_of(h->message)->flags & OMPP_MPI_ACKNOWLEDGED;
        const unsigned kind = !h->message ? OMPP_MPI_SKIPPED : given ? OMPP_MPI_GIVEN : OMPP_MPI_DUE;
        if (h->source == source && h->tag == tag && kinds & kind) break;
        link = &(*link)->next;
    }
    return link;
}

bool ompp_mpi_here_has(ompp_mpi_shadow_t *shadow, int source, int tag, unsigned kinds)
{
    if (!shadow->here) return false;
    pthread_mutex_lock(&shadow->lock);
    const bool found = *place_of(shadow, source, tag, kinds) != NULL;
    pthread_mutex_unlock(&shadow->lock);
    return found;
}

unsigned char *ompp_mpi_here_take(ompp_mpi_shadow_t *shadow, int source, int tag, unsigned kinds)
{
    if (!shadow->here) return NULL;
    pthread_mutex_lock(&shadow->lock);
    ompp_mpi_here_t **link = place_of(shadow, source, tag, kinds), *h = *link;
    unsigned char *message = h ? h->message : NULL;
    if (h) *link = h->next;
    pthread_mutex_unlock(&shadow->lock);
    free(h);
    return message;
}

void ompp_mpi_here_put(ompp_mpi_shadow_t *shadow, int source, int tag, unsigned char *message, bool back)
{
    ompp_mpi_here_t *h = malloc(sizeof *h), **link = &shadow->here;

    if (!h) {
        ompp_mpi_piggyback_free(message);
        return;
    }
    pthread_mutex_lock(&shadow->lock);
    while (*link && !back) link = &(*link)->next;
    *h = (ompp_mpi_here_t){*link, source, tag, message};
    *link = h;
    pthread_mutex_unlock(&shadow->lock);
}

bool ompp_mpi_here_acknowledge(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_mpi_header_t *header)
{
    if (!shadow->here) return false;
    pthread_mutex_lock(&shadow->lock);
    const ompp_mpi_here_t *h = *place_of(shadow, source, tag, OMPP_MPI_DUE);
    if (h) *header = *ompp_mpi_header_of(h->message);
    if (h) ompp_mpi_header_of(h->message)->flags |= OMPP_MPI_ACKNOWLEDGED;
    pthread_mutex_unlock(&shadow->lock);
    return h != NULL;
}

unsigned char *ompp_mpi_here_bring(ompp_mpi_shadow_t *shadow, int source, int tag, bool looks, uint64_t limit_ns)
{
    unsigned char *message = ompp_mpi_here_take(shadow, source, tag, OMPP_MPI_DUE | OMPP_MPI_GIVEN);

    return message || !looks ? message : ompp_mpi_piggyback_fetch(shadow->duplicate, source, tag, limit_ns);
}
