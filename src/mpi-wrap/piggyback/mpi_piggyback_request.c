/**
 * \file
 * Requests that clocks travel with: their table, and receives whose senders may wait until this rank is in MPI.
 */
#include "base/ompp_hash.h"
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

#include <sched.h>
#include <stdlib.h>

#define BUCKET_BITS 10

static struct {
    pthread_mutex_t lock;
    ompp_mpi_request_t *buckets[1 << BUCKET_BITS], *free;
    unsigned number; /* in buckets; atomic */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Table ------------------------------------------------------------------------------------------------------- */

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

/* ---- Receives under way whose acknowledgements have not been given ----------------------------------------------- */

/*
 * Their senders wait until this rank is in a call in which MPI makes progress, which need not be the one that completes
 * the receive: where both sides send before they wait, each is done with its send when the other begins its own.
 */
static struct {
    pthread_mutex_t lock;             /* nothing of MPI is called under it */
    ompp_mpi_request_t *first, *last; /* those first that have not been looked at for longest */
    unsigned length;                  /* read without the lock only to see whether there is any */
} posted = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Its address is the thread's. */
static __thread char this_thread;

/* One call looks at so many at most; the next one goes on behind them. */
#define MAX_LOOKS 16u

/* Takes it out of the list, if it is in there; goes_on: to the end of it. Under the lock. */
static void move(ompp_mpi_request_t *r, bool goes_on)
{
    if (r->posted) {
        *(r->next_posted ? &r->next_posted->previous_posted : &posted.last) = r->previous_posted;
        *(r->previous_posted ? &r->previous_posted->next_posted : &posted.first) = r->next_posted;
    }
    __atomic_store_n(&posted.length, posted.length - r->posted + goes_on, __ATOMIC_RELAXED);
    __atomic_store_n(&r->posted, goes_on, __ATOMIC_RELAXED);
    if (!goes_on) return;
    r->next_posted = NULL;
    r->previous_posted = posted.last;
    *(posted.last ? &posted.last->next_posted : &posted.first) = r;
    posted.last = r;
}

void ompp_mpi_request_posted(ompp_mpi_request_t *r)
{
    /* One that is here may have had its acknowledgement; which of several messages this one receives is not known. */
    if (r->peer < 0 || r->tag < 0 || ompp_mpi_here_has(r->shadow, r->peer, r->tag, OMPP_MPI_GIVEN)) return;
    pthread_mutex_lock(&posted.lock);
    r->starter = r->persistent ? &this_thread : NULL;
    move(r, true);
    pthread_mutex_unlock(&posted.lock);
}

/* Two threads that look for one receive's message would acknowledge the next one, too. */
static bool acknowledge_next(ompp_time_t begin)
{
    pthread_mutex_lock(&posted.lock);
    ompp_mpi_request_t *r = posted.first;
    if (r) move(r, true);
    const bool mine = r && !r->looked_for && (!r->starter || r->starter == &this_thread);
    if (mine) r->looked_for = true;
    pthread_mutex_unlock(&posted.lock);
    if (!mine) return r != NULL;
    const bool given = ompp_mpi_piggyback_acknowledge(r->shadow, r->peer, r->tag, begin);
    pthread_mutex_lock(&posted.lock);
    r->looked_for = false;
    if (given) move(r, false);
    pthread_mutex_unlock(&posted.lock);
    return true;
}

void ompp_mpi_progress_before(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin)
{
    const unsigned length = __atomic_load_n(&posted.length, __ATOMIC_RELAXED);
    const bool due = shadow && ompp_mpi_acks_are_due(shadow);
    int there;

    ompp_mpi_nonblocking_progress(begin);
    if (ompp_sync_is_suspended()) return; /* nobody asks for acknowledgements */
    /* A probe that finds nothing makes progress afterwards: what has been sent is seen. */
    if (length || due) PMPI_Iprobe(MPI_ANY_SOURCE, 0, ompp_mpi_piggyback_state.acks, &there, MPI_STATUS_IGNORE);
    for (unsigned i = 0; i < length && i < MAX_LOOKS && acknowledge_next(begin); i++) {
    }
    if (due) ompp_mpi_piggyback_acknowledge(shadow, source, tag, begin);
}

/* ---- Table, again ------------------------------------------------------------------------------------------------ */

/* Who looks for its message does not wait for anybody, and may not find the next one instead. */
void ompp_mpi_request_over(ompp_mpi_request_t *r)
{
    if (!__atomic_load_n(&r->posted, __ATOMIC_RELAXED)) return;
    pthread_mutex_lock(&posted.lock);
    while (r->looked_for) {
        pthread_mutex_unlock(&posted.lock);
        sched_yield();
        pthread_mutex_lock(&posted.lock);
    }
    if (r->posted) move(r, false);
    pthread_mutex_unlock(&posted.lock);
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

ompp_mpi_request_t *ompp_mpi_request_take(MPI_Request handle)
{
    ompp_mpi_request_t **link = bucket_of(handle), *r;

    pthread_mutex_lock(&table.lock);
    while (*link && (*link)->handle != handle) link = &(*link)->next;
    r = *link;
    if (r) {
        *link = r->next;
        __atomic_sub_fetch(&table.number, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&table.lock);
    return r;
}

ompp_mpi_request_t *ompp_mpi_request_peek(MPI_Request handle)
{
    ompp_mpi_request_t *r;

    pthread_mutex_lock(&table.lock);
    for (r = *bucket_of(handle); r && r->handle != handle;) r = r->next;
    pthread_mutex_unlock(&table.lock);
    return r;
}

bool ompp_mpi_request_any(void) { return __atomic_load_n(&table.number, __ATOMIC_RELAXED) > 0; }

MPI_Request ompp_mpi_handle(const ompp_mpi_piggyback_t *piggyback, int i)
{
    return piggyback->fortran ? PMPI_Request_f2c(((MPI_Fint *)piggyback->requests)[i])
                              : ((MPI_Request *)piggyback->requests)[i];
}
