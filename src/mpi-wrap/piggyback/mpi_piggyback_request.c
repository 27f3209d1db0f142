/**
 * \file
 * Requests that clocks travel with: their table. Receives of the short way come into it when another call needs them.
 */
#include "base/ompp_hash.h"
#include "mpi-wrap/piggyback/mpi_piggyback_collective_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_request_priv.h"
#include "mpi-wrap/piggyback/mpi_suppressed_priv.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKET_BITS 10

struct ompp_mpi_quick ompp_mpi_quick;

static struct {
    pthread_mutex_t lock;
    ompp_mpi_request_t *buckets[1 << BUCKET_BITS], *free;
    unsigned number; /* in buckets; atomic */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static ompp_mpi_request_t **bucket_of(MPI_Request handle)
{
    return &table.buckets[ompp_hash_place((uintptr_t)handle, BUCKET_BITS)];
}

ompp_mpi_request_t *ompp_mpi_request_new(ompp_mpi_pending_t kind, ompp_mpi_shadow_t *shadow)
{
    ompp_mpi_request_t *r;

    pthread_mutex_lock(&table.lock);
    r = table.free;
    if (r) table.free = r->next;
    pthread_mutex_unlock(&table.lock);
    if (!r) r = malloc(sizeof *r);
    if (!r) return NULL;
    *r = (ompp_mpi_request_t){.kind = kind, .active = true, .shadow = shadow, .exchange = MPI_REQUEST_NULL};
    ompp_mpi_shadow_keep(shadow);
    return r;
}

void ompp_mpi_request_delete(ompp_mpi_request_t *request)
{
    if (!request) return;
    ompp_mpi_request_over(request);
    if (request->call) ompp_mpi_nonblocking_forget(request);
    ompp_mpi_shadow_release(request->shadow);
    ompp_mpi_ack_drop(request->ack);
    pthread_mutex_lock(&table.lock);
    request->next = table.free;
    table.free = request;
    pthread_mutex_unlock(&table.lock);
}

void ompp_mpi_request_put(ompp_mpi_request_t *request, MPI_Request handle)
{
    ompp_mpi_request_t **bucket = bucket_of(handle);

    request->handle = handle;
    pthread_mutex_lock(&table.lock);
    request->next = *bucket;
    *bucket = request;
    __atomic_add_fetch(&table.number, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&table.lock);
}

void ompp_mpi_started_keep_slow(const ompp_mpi_started_t *one)
{
    const int saved = errno;
    ompp_mpi_request_t *r = ompp_mpi_request_new(OMPP_MPI_PENDING_RECEIVE, one->direction->shadow);

    if (r) {
        r->peer = one->direction->peer;
        r->tag = one->direction->tag;
        r->begin = one->begin;
        ompp_mpi_request_put(r, one->handle);
    } else {
        ompp_mpi_piggyback_skip(one->direction->shadow, one->direction->peer, one->direction->tag);
    }
    errno = saved;
}

/* Takes the lock. Finds those of the short way, too. \return the link to it, which is NULL where there is none. */
static ompp_mpi_request_t **find_locked(MPI_Request handle)
{
    ompp_mpi_started_t *started = ompp_mpi_started_of(handle);
    const ompp_mpi_started_t one = *started;
    ompp_mpi_request_t **link = bucket_of(handle);

    if (one.direction && one.handle == handle) {
        started->direction = NULL;
        ompp_mpi_quick.nstarted--;
        ompp_mpi_started_keep_slow(&one);
    }
    pthread_mutex_lock(&table.lock);
    while (*link && (*link)->handle != handle) link = &(*link)->next;
    return link;
}

ompp_mpi_request_t *ompp_mpi_request_take(MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL) return NULL;
    ompp_mpi_request_t **link = find_locked(handle), *r = *link;

    if (r) {
        *link = r->next;
        __atomic_sub_fetch(&table.number, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&table.lock);
    return r;
}

ompp_mpi_request_t *ompp_mpi_request_peek(MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL) return NULL;
    ompp_mpi_request_t *r = *find_locked(handle);

    pthread_mutex_unlock(&table.lock);
    return r;
}

bool ompp_mpi_request_any(void) { return __atomic_load_n(&table.number, __ATOMIC_RELAXED) > 0; }

MPI_Request ompp_mpi_handle(const ompp_mpi_piggyback_t *piggyback, int i)
{
    return piggyback->fortran ? PMPI_Request_f2c(((MPI_Fint *)piggyback->requests)[i])
                              : ((MPI_Request *)piggyback->requests)[i];
}
