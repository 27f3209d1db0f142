/**
 * \file
 * Requests that clocks travel with: their table, and receives whose senders may wait until this rank is in MPI.
 */
#include "base/ompp_hash.h"
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

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

/* ---- Persistent receives that were started since their thread was in a call in which MPI makes progress ---------- */

static struct {
    pthread_mutex_t lock;      /* of their moments, too; nothing of MPI is called under it */
    ompp_mpi_request_t *first; /* read without the lock only to see whether there is any */
} started = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Its address is the thread's. */
static __thread char this_thread;

void ompp_mpi_request_started(ompp_mpi_request_t *r)
{
    r->starter = &this_thread;
    pthread_mutex_lock(&started.lock);
    r->next_started = started.first;
    __atomic_store_n(&started.first, r, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&started.lock);
}

/* \return the first one of a thread, or this one, taken from the list; under the lock. */
static ompp_mpi_request_t *take_started(const char *starter, const ompp_mpi_request_t *one)
{
    ompp_mpi_request_t **link = &started.first, *r;

    while (*link && (one ? *link != one : (*link)->starter != starter)) link = &(*link)->next_started;
    r = *link;
    if (r) __atomic_store_n(link, r->next_started, __ATOMIC_RELAXED);
    return r;
}

/* The receive is over. \return its moment, to be freed; NULL = none. */
static unsigned char *forget_started(ompp_mpi_request_t *r)
{
    unsigned char *moment;

    if (!r->starter) return NULL;
    pthread_mutex_lock(&started.lock);
    take_started(NULL, r);
    moment = r->moment;
    r->moment = NULL;
    pthread_mutex_unlock(&started.lock);
    r->starter = NULL;
    return moment;
}

/* The next receive that this thread has started gets the moment that begins, and its acknowledgement when its message
 * is there. */
static bool go_on(ompp_time_t begin)
{
    unsigned char *moment = ompp_mpi_piggyback_moment(begin);
    ompp_mpi_shadow_t *shadow = NULL;
    ompp_mpi_request_t *r;
    int peer = 0, tag = 0;

    if (!moment) return false;
    pthread_mutex_lock(&started.lock);
    r = take_started(&this_thread, NULL);
    if (r) {
        r->moment = moment;
        shadow = ompp_mpi_shadow_keep(r->shadow);
        peer = r->peer;
        tag = r->tag;
    }
    pthread_mutex_unlock(&started.lock);
    /* Another thread may complete and delete r from now on. */
    if (!shadow) ompp_mpi_piggyback_free(moment);
    else if (!ompp_mpi_piggyback_is_probed(shadow, peer, tag)) ompp_mpi_piggyback_acknowledge(shadow, peer, tag, begin);
    ompp_mpi_shadow_release(shadow);
    return shadow != NULL;
}

/* ---- Receives under way whose acknowledgements have not been given ----------------------------------------------- */

/*
 * Their senders wait until this rank is in a call in which MPI makes progress, which need not be the one that completes
 * the receive: where both sides send before they wait, each is done with its send when the other begins its own.
 */
static struct {
    pthread_mutex_t lock;             /* nothing of MPI is called under it */
    ompp_mpi_request_t *first, *last; /* those first that have not been looked at for longest */
    uint64_t places;
    unsigned length; /* read without the lock only to see whether there is any */
} posted = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* One call looks at so many at most; the next one goes on behind them. */
#define MAX_LOOKS 16u

static void add_posted(ompp_mpi_request_t *r)
{
    r->posted = ++posted.places;
    r->next_posted = NULL;
    r->previous_posted = posted.last;
    if (posted.last) posted.last->next_posted = r;
    else posted.first = r;
    posted.last = r;
    __atomic_store_n(&posted.length, posted.length + 1, __ATOMIC_RELAXED);
}

static void remove_posted(ompp_mpi_request_t *r)
{
    if (r->next_posted) r->next_posted->previous_posted = r->previous_posted;
    else posted.last = r->previous_posted;
    if (r->previous_posted) r->previous_posted->next_posted = r->next_posted;
    else posted.first = r->next_posted;
    r->posted = 0;
    __atomic_store_n(&posted.length, posted.length - 1, __ATOMIC_RELAXED);
}

void ompp_mpi_request_posted(ompp_mpi_request_t *r)
{
    /* One that is here may have had its acknowledgement; which of several messages this one receives is not known. */
    if (r->peer < 0 || r->tag < 0 || ompp_mpi_piggyback_is_probed(r->shadow, r->peer, r->tag)) return;
    pthread_mutex_lock(&posted.lock);
    add_posted(r);
    pthread_mutex_unlock(&posted.lock);
}

/* At place 0: at whatever place it is. */
static void forget_posted(ompp_mpi_request_t *r, uint64_t place)
{
    if (!__atomic_load_n(&r->posted, __ATOMIC_RELAXED)) return;
    pthread_mutex_lock(&posted.lock);
    if (r->posted && (!place || r->posted == place)) remove_posted(r);
    pthread_mutex_unlock(&posted.lock);
}

/* Requests are used again, but not given back to the system: what is at another place has been completed meanwhile. */
static bool acknowledge_next(ompp_time_t begin)
{
    ompp_mpi_shadow_t *shadow = NULL;
    ompp_mpi_request_t *r;
    uint64_t place = 0;
    int peer = 0, tag = 0;

    pthread_mutex_lock(&posted.lock);
    r = posted.first;
    if (r) {
        remove_posted(r);
        add_posted(r);
        place = r->posted;
        shadow = ompp_mpi_shadow_keep(r->shadow);
        peer = r->peer;
        tag = r->tag;
    }
    pthread_mutex_unlock(&posted.lock);
    if (!shadow) return false;
    if (ompp_mpi_piggyback_acknowledge(shadow, peer, tag, begin)) forget_posted(r, place);
    ompp_mpi_shadow_release(shadow);
    return true;
}

void ompp_mpi_progress_before(ompp_time_t begin)
{
    const unsigned length = __atomic_load_n(&posted.length, __ATOMIC_RELAXED);

    ompp_mpi_nonblocking_progress(begin);
    if (ompp_sync_is_suspended()) return; /* nobody asks for acknowledgements */
    if (length) ompp_mpi_piggyback_bring_on();
    for (unsigned i = 0; i < length && i < MAX_LOOKS && acknowledge_next(begin); i++) {
    }
    while (__atomic_load_n(&started.first, __ATOMIC_RELAXED) && go_on(begin)) {
    }
}

/* ---- Table, again ------------------------------------------------------------------------------------------------ */

unsigned char *ompp_mpi_request_over(ompp_mpi_request_t *r)
{
    forget_posted(r, 0);
    return forget_started(r);
}

void ompp_mpi_request_delete(ompp_mpi_request_t *request)
{
    if (!request) return;
    ompp_mpi_piggyback_free(ompp_mpi_request_over(request));
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
