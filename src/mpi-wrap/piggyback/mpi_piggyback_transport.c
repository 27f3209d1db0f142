/**
 * \file
 * What clock vectors travel by: what was settled at the start, their memory, waiting for a request of ours with a
 * limit, and receiving one message.
 */
#define _GNU_SOURCE
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

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

void ompp_mpi_collective_vector(unsigned char *vector, ompp_time_t t)
{
    *ompp_mpi_behind(vector) = (ompp_mpi_behind_t){0, 0};
    ompp_sync_clock_vector(vector, t);
}

/* ---- Waiting with a limit ---------------------------------------------------------------------------------------- */

uint64_t ompp_mpi_monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool ompp_mpi_piggyback_complete(MPI_Request *request, uint64_t limit_ns)
{
    const struct timespec nap = {0, 100000};
    uint64_t start = 0, waited = 0;
    int done = 0;

    for (;;) {
        if (PMPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
        if (done) return true;
        if (start == 0) start = ompp_mpi_monotonic_ns();
        waited = ompp_mpi_monotonic_ns() - start;
        if (waited >= limit_ns) return false;
        if (waited < 2000000) sched_yield();
        else nanosleep(&nap, NULL);
    }
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
    const int bytes = (int)ompp_mpi_piggyback_state.message;
    unsigned char *message = ompp_mpi_piggyback_new();
    MPI_Message matched;
    MPI_Request request;
    int there = 0;

    if (message && limit_ns > 0) {
        if (PMPI_Irecv(message, bytes, MPI_BYTE, source, tag, own, &request) == MPI_SUCCESS)
            there = ompp_mpi_piggyback_complete(&request, limit_ns) || !ompp_mpi_piggyback_withdraw(&request);
    } else if (message && PMPI_Improbe(source, tag, own, &there, &matched, MPI_STATUS_IGNORE) == MPI_SUCCESS && there) {
        /* Another thread may look for the same one. It is small, and all of it is here. */
        there = PMPI_Mrecv(message, bytes, MPI_BYTE, &matched, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    }
    if (there) {
        ompp_mpi_piggyback_widen(message);
        return message;
    }
    ompp_mpi_piggyback_free(message);
    return NULL;
}
