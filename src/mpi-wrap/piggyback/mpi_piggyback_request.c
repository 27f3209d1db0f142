/**
 * \file
 * Requests that clocks travel with: their table, and those of one call, with its statuses. Receives of the short way
 * come into the table when another call needs them.
 *
 * MPI may give a handle to another request, on another thread, as soon as the call that completes one has freed it. So
 * requests are taken out of the table before such a call; those that are still active are put back after it.
 */
#include "base/ompp_hash.h"
#include "base/ompp_vector.h"
#include "mpi-wrap/piggyback/mpi_piggyback_collective_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_request_priv.h"
#include "mpi-wrap/piggyback/mpi_suppressed_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- Requests and statuses of a call ----------------------------------------------------------------------------- */

MPI_Request ompp_mpi_handle(const ompp_mpi_piggyback_t *piggyback, int i)
{
    return piggyback->fortran ? PMPI_Request_f2c(((MPI_Fint *)piggyback->requests)[i])
                              : ((MPI_Request *)piggyback->requests)[i];
}

#if !defined(OPEN_MPI) /* there both are one */
/* MPICH 4.2 has these in the library of its Fortran bindings, which programs in C do not load. */
#pragma weak MPI_F08_STATUS_IGNORE
#pragma weak MPI_F08_STATUSES_IGNORE
#endif

static bool is_ignored(const ompp_mpi_piggyback_t *piggyback)
{
    const void *s = piggyback->status;

    if (!s) return true;
    if (!piggyback->fortran) return s == (const void *)MPI_STATUS_IGNORE || s == (const void *)MPI_STATUSES_IGNORE;
#if !defined(OPEN_MPI)
    if (&MPI_F08_STATUS_IGNORE && s == (const void *)MPI_F08_STATUS_IGNORE) return true;
    if (&MPI_F08_STATUSES_IGNORE && s == (const void *)MPI_F08_STATUSES_IGNORE) return true;
#endif
    return s == (const void *)MPI_F_STATUS_IGNORE || s == (const void *)MPI_F_STATUSES_IGNORE;
}

void ompp_mpi_substitute(ompp_mpi_piggyback_t *piggyback, int number)
{
    static __thread MPI_Status *own;
    static __thread size_t allocated;

    if (!is_ignored(piggyback) || (piggyback->fortran && !ompp_mpi_piggyback_state.statuses_are_alike) ||
        !ompp_vector_reserve(&own, &allocated, (size_t)number, sizeof *own))
        return;
    piggyback->status = own;
    piggyback->substituted = true;
}

const MPI_Status *ompp_mpi_status(const ompp_mpi_piggyback_t *piggyback, int i, MPI_Status *room)
{
    if (is_ignored(piggyback)) return NULL;
    if (!piggyback->fortran || ompp_mpi_piggyback_state.statuses_are_alike) {
        memcpy(room, (const char *)piggyback->status + (size_t)i * sizeof *room, sizeof *room);
        return room;
    }
    return i == 0 && PMPI_Status_f2c(piggyback->status, room) == MPI_SUCCESS ? room : NULL;
}

bool ompp_mpi_request_is_wild(const ompp_mpi_request_t *r)
{
    return r->kind == OMPP_MPI_PENDING_RECEIVE && (r->peer == MPI_ANY_SOURCE || r->tag == MPI_ANY_TAG);
}

void ompp_mpi_wait_before(ompp_mpi_piggyback_t *piggyback)
{
    static __thread ompp_mpi_request_t **taken; /* the thread's; calls do not nest */
    static __thread size_t room;
    const size_t number = piggyback->requests && piggyback->number > 0 ? (size_t)piggyback->number : 0;
    bool any = false, needs_status = false;

    ompp_mpi_progress_before(NULL, 0, 0, piggyback->begin);
    piggyback->pending = number && ompp_vector_reserve(&taken, &room, number, sizeof *taken) ? taken : NULL;
    for (int i = 0; piggyback->pending && i < piggyback->number; i++) {
        ompp_mpi_request_t *r = ompp_mpi_request_take(ompp_mpi_handle(piggyback, i));
        piggyback->pending[i] = r;
        any |= r != NULL;
        needs_status |= r && (ompp_mpi_request_is_wild(r) || r->cancelled);
    }
    if (!any) piggyback->pending = NULL;
    if (needs_status) ompp_mpi_substitute(piggyback, piggyback->index ? 1 : piggyback->number); /* index: of one */
}
