/**
 * \file
 * Requests that clocks travel with, and the calls that complete them.
 *
 * MPI may give a handle to another request, on another thread, as soon as the call that completes one has freed it. So
 * requests are taken out of the table before such a call, and those that are still active put back after it.
 */
#include "base/ompp_hash.h"
#include "base/ompp_vector.h"
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

#include <stdlib.h>
#include <string.h>

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

static void note_started(ompp_mpi_request_t *r)
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

static void release_moment(ompp_mpi_moment_t *moment)
{
    if (!moment || __atomic_sub_fetch(&moment->references, 1, __ATOMIC_ACQ_REL)) return;
    ompp_mpi_piggyback_free(moment->message);
    free(moment);
}

/* The receive is over. \return its moment, to be released; NULL = none. */
static ompp_mpi_moment_t *forget_started(ompp_mpi_request_t *r)
{
    ompp_mpi_moment_t *moment;

    if (!r->starter) return NULL;
    pthread_mutex_lock(&started.lock);
    take_started(NULL, r);
    moment = r->moment;
    r->moment = NULL;
    pthread_mutex_unlock(&started.lock);
    r->starter = NULL;
    return moment;
}

/* Gives the moment to the next receive that this thread has started, and its acknowledgement when its message is
 * there. */
static bool go_on(ompp_time_t begin, ompp_mpi_moment_t *moment)
{
    ompp_mpi_shadow_t *shadow = NULL;
    ompp_mpi_request_t *r;
    int peer = 0, tag = 0;

    pthread_mutex_lock(&started.lock);
    r = take_started(&this_thread, NULL);
    if (r) {
        r->moment = moment;
        __atomic_add_fetch(&moment->references, 1, __ATOMIC_RELAXED);
        shadow = ompp_mpi_shadow_keep(r->shadow);
        peer = r->peer;
        tag = r->tag;
    }
    pthread_mutex_unlock(&started.lock);
    /* Another thread may complete and delete r from now on. */
    if (shadow && !ompp_mpi_piggyback_is_probed(shadow, peer, tag))
        ompp_mpi_piggyback_acknowledge(shadow, peer, tag, begin, moment->message);
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
    if (ompp_mpi_piggyback_acknowledge(shadow, peer, tag, begin, NULL)) forget_posted(r, place);
    ompp_mpi_shadow_release(shadow);
    return true;
}

static void acknowledge_posted(ompp_time_t begin)
{
    const unsigned length = __atomic_load_n(&posted.length, __ATOMIC_RELAXED);

    if (length) ompp_mpi_piggyback_bring_on();
    for (unsigned i = 0; i < length && i < MAX_LOOKS && acknowledge_next(begin); i++) {
    }
}

void ompp_mpi_progress_before(ompp_time_t begin)
{
    ompp_mpi_moment_t *moment;

    ompp_mpi_nonblocking_progress(begin);
    if (ompp_sync_is_suspended()) return; /* nobody asks for acknowledgements */
    acknowledge_posted(begin);
    if (!__atomic_load_n(&started.first, __ATOMIC_RELAXED)) return;
    moment = malloc(sizeof *moment);
    if (!moment) return;
    *moment = (ompp_mpi_moment_t){1, ompp_mpi_piggyback_moment(begin)};
    while (moment->message && go_on(begin, moment)) {
    }
    release_moment(moment);
}

/* ---- Table, again ------------------------------------------------------------------------------------------------ */

void ompp_mpi_request_delete(ompp_mpi_request_t *request)
{
    if (!request) return;
    forget_posted(request, 0);
    release_moment(forget_started(request));
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

    ompp_mpi_suppressed_give(handle);
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

    ompp_mpi_suppressed_give(handle);
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

/* ---- Statuses ---------------------------------------------------------------------------------------------------- */

#if !defined(OPEN_MPI) /* there both are one */
/* MPICH 4.2 has these in the library of its Fortran bindings, which programs in C do not load. */
#pragma weak MPI_F08_STATUS_IGNORE
#pragma weak MPI_F08_STATUSES_IGNORE

static bool is_ignored_f08(const void *s)
{
    return (&MPI_F08_STATUS_IGNORE && s == (const void *)MPI_F08_STATUS_IGNORE) ||
           (&MPI_F08_STATUSES_IGNORE && s == (const void *)MPI_F08_STATUSES_IGNORE);
}
#endif

static bool is_ignored(const ompp_mpi_piggyback_t *piggyback)
{
    const void *s = piggyback->status;

    if (!s) return true;
    if (!piggyback->fortran) return s == (const void *)MPI_STATUS_IGNORE || s == (const void *)MPI_STATUSES_IGNORE;
#if !defined(OPEN_MPI)
    if (is_ignored_f08(s)) return true;
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

/* ---- Completion -------------------------------------------------------------------------------------------------- */

static bool is_polling(ompp_mpi_piggyback_op_t op)
{
    return op == OMPP_MPI_PIGGYBACK_TEST || op == OMPP_MPI_PIGGYBACK_TESTALL || op == OMPP_MPI_PIGGYBACK_TESTANY ||
           op == OMPP_MPI_PIGGYBACK_TESTSOME;
}

static bool takes_any(ompp_mpi_piggyback_op_t op)
{
    return op == OMPP_MPI_PIGGYBACK_WAITANY || op == OMPP_MPI_PIGGYBACK_WAITSOME || op == OMPP_MPI_PIGGYBACK_TESTANY ||
           op == OMPP_MPI_PIGGYBACK_TESTSOME;
}

static bool has_statuses(ompp_mpi_piggyback_op_t op)
{
    return op == OMPP_MPI_PIGGYBACK_WAITALL || op == OMPP_MPI_PIGGYBACK_WAITSOME || op == OMPP_MPI_PIGGYBACK_TESTALL ||
           op == OMPP_MPI_PIGGYBACK_TESTSOME;
}

static bool is_wild(const ompp_mpi_request_t *r)
{
    return r->kind == OMPP_MPI_PENDING_RECEIVE && (r->peer == MPI_ANY_SOURCE || r->tag == MPI_ANY_TAG);
}

/* The thread's room for requests taken out of the table; calls do not nest. */
static ompp_mpi_request_t **room_for(int number)
{
    static __thread ompp_mpi_request_t **own;
    static __thread size_t allocated;

    return ompp_vector_reserve(&own, &allocated, (size_t)number, sizeof(*own)) ? own : NULL;
}

void ompp_mpi_wait_before(ompp_mpi_piggyback_t *piggyback)
{
    bool any = false, needs_status = false;

    ompp_mpi_progress_before(piggyback->begin);
    piggyback->pending = piggyback->requests && piggyback->number > 0 ? room_for(piggyback->number) : NULL;
    for (int i = 0; piggyback->pending && i < piggyback->number; i++) {
        const MPI_Request handle = ompp_mpi_handle(piggyback, i);
        ompp_mpi_request_t *r = handle == MPI_REQUEST_NULL ? NULL : ompp_mpi_request_take(handle);
        piggyback->pending[i] = r;
        any |= r != NULL;
        needs_status |= r && (is_wild(r) || r->cancelled);
    }
    if (!any) piggyback->pending = NULL;
    if (needs_status) ompp_mpi_substitute(piggyback, has_statuses(piggyback->op) ? piggyback->number : 1);
}

/* What the requests taken by one call have waited for. */
typedef struct {
    int sends;              /* 0: now all but sends; 1: now sends */
    unsigned char *message; /* with the sum; NULL = nothing was added yet */
    bool any;               /* something was added to sum */
    bool unknown;           /* something was waited for that is not known */
    unsigned flags;
    ompp_sync_remote_t kind, unknown_kind; /* of what there is a clock vector of, and of what there is none of */
    ompp_time_t begin, end;
    ompp_time_t waits; /* since when the thread does nothing else; 0 = not known */
} done_t;

/* \return NULL = no memory. */
static unsigned char *sum_of(done_t *done)
{
    if (!done->message) {
        done->message = ompp_mpi_piggyback_new();
        if (!done->message) return NULL;
        memset(ompp_mpi_piggyback_of(done->message), 0, ompp_mpi_piggyback_state.bytes);
    }
    return ompp_mpi_piggyback_of(done->message);
}

static void receive_done(ompp_mpi_request_t *r, const ompp_mpi_moment_t *moment, const MPI_Status *status, bool ok,
                         done_t *done)
{
    int source = r->peer, tag = r->tag, cancelled = 0;

    if (r->cancelled && status) PMPI_Test_cancelled(status, &cancelled);
    if (cancelled) return;
    if (status) {
        source = status->MPI_SOURCE;
        tag = status->MPI_TAG;
    }
    if (r->peer == MPI_ANY_SOURCE && r->shadow->peers > 1) done->flags |= OMPP_WHATIF_F_WILDCARD;
    const bool suppressed = ok && ompp_mpi_piggyback_pass_suppressed(r->shadow, source, tag, done->end);
    unsigned char *sum = suppressed ? NULL : sum_of(done);
    if (sum && ompp_mpi_piggyback_claim(r->shadow, source, tag, done->begin, ok ? OMPP_MPI_PIGGYBACK_LIMIT_NS : 0,
                                        moment ? moment->message : NULL, sum, &done->flags)) {
        done->any = true;
        if (done->kind == OMPP_SYNC_ACKNOWLEDGEMENT) done->kind = OMPP_SYNC_MESSAGE;
    } else {
        done->unknown = true;
    }
}

/* Work while an operation is under way that needs the other ranks: it may only have gone on in calls of MPI. */
#define OVERLAP_NS 20000u

static bool overlaps_work(const ompp_mpi_request_t *r, const done_t *done)
{
    const bool needs_others = r->kind == OMPP_MPI_PENDING_COLLECTIVE || r->ack;

    return needs_others && r->begin && done->begin > r->begin + OVERLAP_NS;
}

static void request_done(ompp_mpi_request_t *r, const MPI_Status *status, bool ok, done_t *done)
{
    if (overlaps_work(r, done)) done->flags |= OMPP_WHATIF_F_OVERLAP;
    if (r->open) done->flags |= OMPP_WHATIF_F_WILDCARD;
    if (r->kind == OMPP_MPI_PENDING_RECEIVE) {
        ompp_mpi_moment_t *moment = forget_started(r);
        forget_posted(r, 0);
        receive_done(r, moment, status, ok, done);
        release_moment(moment);
    }
    if (r->kind == OMPP_MPI_PENDING_SEND && r->ack) {
        unsigned char *sum = sum_of(done);
        if (sum)
            done->any |= ompp_mpi_ack_take(r->ack, done->begin, done->end, OMPP_MPI_STARTED_WAIT && r->persistent, sum);
        else ompp_mpi_ack_drop(r->ack);
        r->ack = NULL;
    }
    if (r->kind == OMPP_MPI_PENDING_COLLECTIVE) {
        unsigned char *sum = r->call || r->sent ? sum_of(done) : NULL;
        const bool joins = r->joins, any = sum && ompp_mpi_collective_done(r, done->waits, done->end, sum);
        if (any) done->kind = r->meets;
        else done->unknown_kind = r->meets;
        if (any) done->any = true;
        else done->unknown |= joins;
    }
    if (!r->persistent) {
        ompp_mpi_request_delete(r);
        return;
    }
    r->active = r->open = false;
    ompp_mpi_request_put(r, r->handle);
}

/* Takes request i as complete; k is the number of its status. */
static void take(ompp_mpi_piggyback_t *piggyback, int i, int k, bool ok, done_t *done)
{
    ompp_mpi_request_t *r = i >= 0 && i < piggyback->number ? piggyback->pending[i] : NULL;
    MPI_Status room;

    if (!r || (r->persistent && !r->active) || (r->kind == OMPP_MPI_PENDING_SEND) != done->sends) return;
    piggyback->pending[i] = NULL;
    request_done(r, ompp_mpi_status(piggyback, k, &room), ok, done);
}

/* The call failed: those whose handles are gone are complete, one of them with an error. */
static void take_after_error(ompp_mpi_piggyback_t *piggyback, done_t *done)
{
    for (int i = 0; i < piggyback->number; i++) {
        ompp_mpi_request_t *r = piggyback->pending[i];
        if (r && !r->persistent && ompp_mpi_handle(piggyback, i) == MPI_REQUEST_NULL)
            take(piggyback, i, has_statuses(piggyback->op) ? (takes_any(piggyback->op) ? 0 : i) : 0, false, done);
    }
}

static void take_done(ompp_mpi_piggyback_t *piggyback, done_t *done)
{
    const int base = piggyback->fortran ? 1 : 0;

    if (piggyback->flag && !*piggyback->flag) return;
    if (piggyback->outcount) {
        for (int k = 0; *piggyback->outcount != MPI_UNDEFINED && k < *piggyback->outcount; k++)
            take(piggyback, piggyback->indices[k] - base, k, true, done);
    } else if (piggyback->index) {
        if (*piggyback->index != MPI_UNDEFINED) take(piggyback, *piggyback->index - base, 0, true, done);
    } else {
        for (int i = 0; i < piggyback->number; i++) take(piggyback, i, i, true, done);
    }
}

/* What others wait for is told before waiting for them: receives give acknowledgements, sends take them. */
static void take_in_order(ompp_mpi_piggyback_t *piggyback, bool ok, done_t *done)
{
    for (done->sends = 0; done->sends < 2; done->sends++) {
        if (ok) take_done(piggyback, done);
        else take_after_error(piggyback, done);
    }
}

void ompp_mpi_wait_after(ompp_mpi_piggyback_t *piggyback, bool ok)
{
    done_t done = {.begin = piggyback->begin,
                   .end = ompp_event_now(),
                   .kind = OMPP_SYNC_ACKNOWLEDGEMENT,
                   .unknown_kind = OMPP_SYNC_MESSAGE};
    int left = 0;

    done.waits = is_polling(piggyback->op) ? ompp_mpi_polls_since() : done.begin;
    ompp_mpi_piggyback_reclaim();
    if (!piggyback->pending) return;
    take_in_order(piggyback, ok, &done);
    const bool chooses = takes_any(piggyback->op) && (done.any || done.unknown);
    for (int i = 0; i < piggyback->number; i++) {
        ompp_mpi_request_t *r = piggyback->pending[i];
        if (!r) continue;
        left += r->active;
        r->open |= chooses && r->active;
        ompp_mpi_request_put(r, r->handle);
    }
    if (is_polling(piggyback->op)) {
        done.begin = ompp_mpi_polled(done.begin, done.any);
        done.flags |= OMPP_WHATIF_F_POLLING;
    }
    /* Which of several comes first may decide what the program does. */
    if (chooses && left > 0) done.flags |= OMPP_WHATIF_F_WILDCARD;
    if (done.any) ompp_mpi_join_clock(ompp_mpi_piggyback_of(done.message), done.begin, done.kind, done.flags);
    else if (done.unknown) ompp_mpi_join_clock(NULL, done.begin, done.unknown_kind, done.flags);
    ompp_mpi_piggyback_free(done.message);
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static ompp_mpi_request_t *asked_for(const ompp_mpi_piggyback_t *piggyback)
{
    ompp_mpi_request_t *r = piggyback->asked == MPI_REQUEST_NULL ? NULL : ompp_mpi_request_peek(piggyback->asked);

    return r && r->active ? r : NULL;
}

void ompp_mpi_ask_before(ompp_mpi_piggyback_t *piggyback)
{
    const ompp_mpi_request_t *r = asked_for(piggyback);

    ompp_mpi_progress_before(piggyback->begin);
    if (r && is_wild(r)) ompp_mpi_substitute(piggyback, 1);
}

/* The request stays, and the call that completes it will claim the same clock vector. Of others than receives it is not
 * known yet. */
static bool peek_at(const ompp_mpi_request_t *r, const MPI_Status *status, ompp_time_t begin, unsigned char *sum,
                    unsigned *flags)
{
    if (r->kind != OMPP_MPI_PENDING_RECEIVE || r->cancelled) return false;
    if (is_wild(r) && !status) return false;
    if (r->peer == MPI_ANY_SOURCE && r->shadow->peers > 1) *flags |= OMPP_WHATIF_F_WILDCARD;
    return ompp_mpi_piggyback_peek(r->shadow, is_wild(r) ? status->MPI_SOURCE : r->peer,
                                   is_wild(r) ? status->MPI_TAG : r->tag, true, begin, sum, flags);
}

void ompp_mpi_ask_after(ompp_mpi_piggyback_t *piggyback, bool ok)
{
    const ompp_mpi_request_t *r = ok ? asked_for(piggyback) : NULL;
    const bool done = r && piggyback->flag && *piggyback->flag;
    unsigned flags = OMPP_WHATIF_F_POLLING;
    ompp_time_t begin;
    unsigned char *message;
    MPI_Status room;

    ompp_mpi_piggyback_reclaim();
    if (!r) return;
    begin = ompp_mpi_polled(piggyback->begin, done);
    message = done ? ompp_mpi_piggyback_new() : NULL;
    if (!message) return;
    memset(ompp_mpi_piggyback_of(message), 0, ompp_mpi_piggyback_state.bytes);
    if (peek_at(r, ompp_mpi_status(piggyback, 0, &room), piggyback->begin, ompp_mpi_piggyback_of(message), &flags))
        ompp_mpi_join_clock(ompp_mpi_piggyback_of(message), begin, OMPP_SYNC_MESSAGE, flags);
    else if (r->kind == OMPP_MPI_PENDING_RECEIVE) /* of a collective call, its wait will tell */
        ompp_mpi_join_clock(NULL, begin, OMPP_SYNC_MESSAGE, flags);
    ompp_mpi_piggyback_free(message);
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

void ompp_mpi_start_before(ompp_mpi_piggyback_t *piggyback)
{
    for (int i = 0; piggyback->requests && i < piggyback->number; i++) {
        const MPI_Request handle = ompp_mpi_handle(piggyback, i);
        ompp_mpi_request_t *r = handle == MPI_REQUEST_NULL ? NULL : ompp_mpi_request_peek(handle);
        if (!r || !r->persistent || r->active) continue;
        r->active = true;
        r->begin = piggyback->begin;
        r->cancelled = false;
        const bool suspensions = ompp_sync_is_suspended();
        if (r->kind == OMPP_MPI_PENDING_RECEIVE && OMPP_MPI_STARTED_WAIT && !suspensions) note_started(r);
        if (r->kind == OMPP_MPI_PENDING_SEND && ompp_sync_throttle()) r->begin = piggyback->begin = ompp_event_now();
        if (r->kind == OMPP_MPI_PENDING_SEND)
            r->ack = ompp_mpi_piggyback_send(r->shadow, r->peer, r->tag, suspensions ? 0 : r->waiting,
                                             OMPP_WHATIF_F_OVERLAP, OMPP_MPI_STARTED_WAIT, piggyback->begin);
    }
}
