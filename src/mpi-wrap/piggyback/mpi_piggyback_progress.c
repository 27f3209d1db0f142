/**
 * \file
 * A thread comes to a call in which MPI makes progress: what was started before goes on, and other ranks may have
 * waited for that. They are told: senders of receives under way by acknowledgements, ranks of non-blocking collective
 * calls by clock vectors.
 */
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_request_priv.h"

#include <sched.h>

#define AWAY_NS 20000u /* since the last call of MPI: other ranks may have waited meanwhile, ... */
/* if it is more than one part in so many of the time since the start; so few clock vectors do for any operation */
#define AWAY_PART 8u
#define REPORTED_AT_ONCE 8 /* operations that one call tells of */

/* ---- Who waits for whom in a collective call --------------------------------------------------------------------- */

int ompp_mpi_whom_peer(const ompp_mpi_shadow_t *c, ompp_mpi_whom_t whom, bool from, int i)
{
    const bool root = c->rank == whom.root, to_root = (whom.order == OMPP_MPI_ORDER_FROM_ROOT) == from;

    switch (whom.order) {
    case OMPP_MPI_ORDER_CHAIN: return i >= (from ? c->rank : c->size - 1 - c->rank) ? -1 : from ? i : c->rank + 1 + i;
    case OMPP_MPI_ORDER_FROM_ROOT:
    case OMPP_MPI_ORDER_TO_ROOT:
        if (to_root) return i == 0 && !root ? whom.root : -1;
        return root && i < c->size ? i : -1;
    case OMPP_MPI_ORDER_NEIGHBOR:
        if (!c->neighbors || i >= (from ? c->sources : c->destinations)) return -1;
        return c->neighbors[from ? i : c->sources + i];
    default: return i < c->size ? i : -1;
    }
}

void ompp_mpi_whom_tell(ompp_mpi_shadow_t *c, ompp_mpi_whom_t whom, uint32_t call, const ompp_mpi_message_t *message)
{
    for (int i = 0, to; (to = ompp_mpi_whom_peer(c, whom, false, i)) >= 0; i++)
        if (to != c->rank || whom.order == OMPP_MPI_ORDER_NEIGHBOR)
            ompp_mpi_piggyback_send_sum(c, to, ompp_mpi_nonblocking_tag(), call, message, true);
}

/* ---- Back in MPI ------------------------------------------------------------------------------------------------- */

/* Those that other ranks may wait for to come back to MPI. */
static struct {
    pthread_mutex_t lock;      /* nothing of MPI is called under it */
    ompp_mpi_request_t *first; /* read without the lock only to see whether there is any */
    unsigned unreported;       /* atomic: those that nothing is told of yet */
    ompp_time_t until;         /* atomic: this rank was in MPI then */
} under_way = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ompp_mpi_under_way_add(ompp_mpi_request_t *r)
{
    pthread_mutex_lock(&under_way.lock);
    r->next_under_way = under_way.first;
    __atomic_store_n(&under_way.first, r, __ATOMIC_RELAXED);
    under_way.unreported++;
    pthread_mutex_unlock(&under_way.lock);
}

void ompp_mpi_under_way_forget(ompp_mpi_request_t *r)
{
    ompp_mpi_request_t **link = &under_way.first;

    pthread_mutex_lock(&under_way.lock);
    while (*link && *link != r) link = &(*link)->next_under_way;
    if (*link && !r->reported_again) under_way.unreported--;
    if (*link) __atomic_store_n(link, r->next_under_way, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&under_way.lock);
}

typedef struct {
    ompp_mpi_shadow_t *shadow;
    uint32_t call;
    ompp_mpi_whom_t whom;
} operation_t;

/* Others may be completed, on other threads, while these are told of. */
static int find_back(operation_t *operations, ompp_time_t t)
{
    const ompp_time_t until = __atomic_load_n(&under_way.until, __ATOMIC_RELAXED), away = t > until ? t - until : 0;
    int n = 0;

    if (!__atomic_load_n(&under_way.first, __ATOMIC_RELAXED)) return 0;
    if (__atomic_load_n(&under_way.unreported, __ATOMIC_RELAXED) == 0 && away <= AWAY_NS) return 0;
    pthread_mutex_lock(&under_way.lock);
    for (ompp_mpi_request_t *r = under_way.first; r && n < REPORTED_AT_ONCE; r = r->next_under_way) {
        if (r->reported_again && (away <= AWAY_NS || away <= (t - r->begin) / AWAY_PART)) continue;
        under_way.unreported -= !r->reported_again;
        r->reported_again = true;
        operations[n++] = (operation_t){ompp_mpi_shadow_keep(r->shadow), r->call, r->whom};
    }
    pthread_mutex_unlock(&under_way.lock);
    return n;
}

void ompp_mpi_under_way_progress(ompp_time_t t)
{
    operation_t operations[REPORTED_AT_ONCE];
    const int n = find_back(operations, t);
    ompp_mpi_message_t *message = n > 0 ? ompp_mpi_piggyback_moment(t) : NULL;

    if (message) message->header.flags = OMPP_MPI_BACK;
    for (int i = 0; i < n; i++) {
        if (message) ompp_mpi_whom_tell(operations[i].shadow, operations[i].whom, operations[i].call, message);
        ompp_mpi_shadow_release(operations[i].shadow);
    }
    ompp_mpi_piggyback_free(message);
}

bool ompp_mpi_under_way_any(void) { return __atomic_load_n(&under_way.first, __ATOMIC_RELAXED) != NULL; }

void ompp_mpi_under_way_left(ompp_time_t t)
{
    if (ompp_mpi_under_way_any()) __atomic_store_n(&under_way.until, t, __ATOMIC_RELAXED);
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

/* ---- Both -------------------------------------------------------------------------------------------------------- */

void ompp_mpi_progress_before(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin)
{
    const unsigned length = __atomic_load_n(&posted.length, __ATOMIC_RELAXED);
    const bool due = shadow && ompp_mpi_acks_are_due(shadow);
    int there;

    ompp_mpi_under_way_progress(begin);
    if (ompp_sync_is_suspended()) return; /* nobody asks for acknowledgements */
    /* A probe that finds nothing makes progress afterwards: what has been sent is seen. */
    if (length || due) PMPI_Iprobe(MPI_ANY_SOURCE, 0, ompp_mpi_piggyback_state.acks, &there, MPI_STATUS_IGNORE);
    for (unsigned i = 0; i < length && i < MAX_LOOKS && acknowledge_next(begin); i++) {
    }
    if (due) ompp_mpi_piggyback_acknowledge(shadow, source, tag, begin);
}
