/**
 * \file
 * What clock vectors travel by: what was settled at the start, their memory, waiting for a request of ours with a
 * limit, receiving one message, those that are here while their messages are not, and messages that have none.
 */
#define _GNU_SOURCE
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"
#include "mpi-wrap/piggyback/mpi_suppressed_priv.h"

#include "base/ompp_float.h"
#include "base/ompp_hash.h"
#include "model/ompp_profile.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define BLOCKS 32u

struct ompp_mpi_piggyback_state ompp_mpi_piggyback_state = {.acks = MPI_COMM_NULL};

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

void ompp_mpi_piggyback_free(ompp_mpi_message_t *message)
{
    block_t *b = (block_t *)(void *)message;

    if (!b) return;
    pthread_mutex_lock(&pool.lock);
    b->next = pool.free;
    pool.free = b;
    pthread_mutex_unlock(&pool.lock);
}

/* \return one of many new ones, whose pages come at once; the others are in the pool. */
static void *make_blocks(void)
{
    const size_t bytes = (ompp_mpi_piggyback_state.message + sizeof(block_t) - 1) / sizeof(block_t) * sizeof(block_t);
    char *blocks =
        mmap(NULL, BLOCKS * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (blocks == MAP_FAILED) return malloc(bytes);
    for (unsigned i = 1; i < BLOCKS; i++) ompp_mpi_piggyback_free((void *)(blocks + i * bytes));
    return blocks;
}

ompp_mpi_message_t *ompp_mpi_piggyback_new(void)
{
    pthread_mutex_lock(&pool.lock);
    block_t *b = pool.free;
    if (b) pool.free = b->next;
    pthread_mutex_unlock(&pool.lock);
    return b ? (void *)b : make_blocks();
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

void ompp_mpi_piggyback_widen(ompp_mpi_message_t *message)
{
    const size_t there = message->header.bytes, all = ompp_mpi_piggyback_state.bytes;

    if (there < all) memset(message->vector + there, 0, all - there);
}

ompp_mpi_message_t *ompp_mpi_piggyback_fetch(MPI_Comm comm, int source, int tag, uint64_t limit_ns)
{
    ompp_mpi_message_t *message = NULL;
    ompp_time_t begin = 0;
    MPI_Message matched;
    int there = 0;

    do {
        if (PMPI_Improbe(source, tag, comm, &there, &matched, MPI_STATUS_IGNORE) != MPI_SUCCESS) return NULL;
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

static unsigned kind_of(const ompp_mpi_here_t *h)
{
    if (!h->message) return OMPP_MPI_SKIPPED;
    return h->message->header.flags & OMPP_MPI_ACKNOWLEDGED ? OMPP_MPI_GIVEN : OMPP_MPI_DUE;
}

/* The place of the first one that is one of these. Under the lock. */
static ompp_mpi_here_t **place_of(ompp_mpi_shadow_t *shadow, int source, int tag, unsigned kinds)
{
    ompp_mpi_here_t **link = &shadow->here;

    for (const ompp_mpi_here_t *h = *link; h; h = *link) {
        if (h->source == source && h->tag == tag && kinds & kind_of(h)) break;
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

ompp_mpi_message_t *ompp_mpi_here_take(ompp_mpi_shadow_t *shadow, int source, int tag, unsigned kinds)
{
    if (!shadow->here) return NULL;
    pthread_mutex_lock(&shadow->lock);
    ompp_mpi_here_t **link = place_of(shadow, source, tag, kinds), *h = *link;
    ompp_mpi_message_t *message = h ? h->message : NULL;
    if (h) *link = h->next;
    pthread_mutex_unlock(&shadow->lock);
    free(h);
    return message;
}

void ompp_mpi_here_put(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_mpi_message_t *message, bool back)
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

/* Whether a clock vector is of a later message than the first one that has not been acknowledged. Under the lock. */
static bool is_later(ompp_mpi_shadow_t *shadow, int source, int tag, const ompp_mpi_message_t *message)
{
    const uint32_t number = message->header.number;
    const ompp_mpi_direction_t *d = number ? ompp_mpi_direction(shadow, OMPP_MPI_RECEIVED, source, tag, false) : NULL;

    if (!d || !d->count) return false;
    uint32_t next = ompp_mpi_number_after(d->count);
    for (const ompp_mpi_here_t *h = shadow->here; h; h = h->next)
        if (h->source == source && h->tag == tag && kind_of(h) == OMPP_MPI_GIVEN) next = ompp_mpi_number_after(next);
    return (int32_t)(number - next) > 0;
}

bool ompp_mpi_here_acknowledge(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_mpi_header_t *header)
{
    if (!shadow->here) return false;
    pthread_mutex_lock(&shadow->lock);
    const ompp_mpi_here_t *h = *place_of(shadow, source, tag, OMPP_MPI_DUE);
    if (h && is_later(shadow, source, tag, h->message)) h = NULL;
    if (h) *header = h->message->header;
    if (h) h->message->header.flags |= OMPP_MPI_ACKNOWLEDGED;
    pthread_mutex_unlock(&shadow->lock);
    return h != NULL;
}

ompp_mpi_message_t *ompp_mpi_here_bring(ompp_mpi_shadow_t *shadow, int source, int tag, bool looks, uint64_t limit_ns)
{
    ompp_mpi_message_t *message = ompp_mpi_here_take(shadow, source, tag, OMPP_MPI_DUE | OMPP_MPI_GIVEN);

    return message || !looks ? message : ompp_mpi_piggyback_fetch(shadow->hidden, source, tag, limit_ns);
}

/* ---- Messages without clock vectors ------------------------------------------------------------------------------ */

/*
 * While clocks are suspended: clock vectors would take more than the messages themselves where there are many.
 *
 * Each sender decides for itself. Messages with one source, destination, tag and communicator do not overtake each
 * other. The first one of a suspension has a clock vector still, which says that those that follow may have none, and
 * that this one is number 1; from then on both sides count, and a clock vector has the number of its message. A
 * receiver that has been told so looks for a clock vector, and does not wait for one. What it finds is of this message,
 * or of a later one, so that this one has none; or of an earlier one, which came late and is of no use any more.
 *
 * So neither side has to know when the other's clocks are suspended, and a clock vector that is missed is missed once.
 *
 * One side may have counted a message that the other has not. That shows only later, when clock vectors that it finds
 * are all of earlier messages (WRONG). So what MPI refuses is not counted. Most calls of a suspension are made the
 * short way (mpi_suppressed_hot.c), which is only to count.
 */
#define BUCKET_BITS 9
#define BUCKETS (1u << BUCKET_BITS)
/* pairs of destination and tag that messages without clock vectors go to; others have them always */
#define MOST 1024u
#define AWAITED_NS 10000000u /* a clock vector that ought to be there */
/* so many clock vectors of earlier messages in a row: this side has counted a message that there was not */
#define WRONG 3u

struct ompp_mpi_suppression {
    ompp_mpi_direction_t *buckets[2][BUCKETS]; /* of what is sent, of what is received; under the channel's lock */
    unsigned sent;
};

/* Those that are not needed any more: a thread that calls MPI when it must not may still look at them. */
static struct {
    pthread_mutex_t lock;
    ompp_mpi_direction_t *first;
} unused = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void delete_direction(ompp_mpi_direction_t *d)
{
    pthread_mutex_lock(&unused.lock);
    d->next = unused.first;
    unused.first = d;
    pthread_mutex_unlock(&unused.lock);
}

ompp_mpi_direction_t *ompp_mpi_direction(ompp_mpi_shadow_t *c, int which, int peer, int tag, bool make)
{
    const size_t place = ompp_hash_place(ompp_hash_pair((uint32_t)peer, (uint32_t)tag), BUCKET_BITS);
    struct ompp_mpi_suppression *s = c->suppression;
    ompp_mpi_direction_t *d = s ? s->buckets[which][place] : NULL;

    while (d && (d->peer != peer || d->tag != tag)) d = d->next;
    if (d || !make) return d;
    if (!s && (s = calloc(1, sizeof *s)) != NULL) __atomic_store_n(&c->suppression, s, __ATOMIC_RELEASE);
    pthread_mutex_lock(&unused.lock);
    if (s) d = unused.first;
    if (d) unused.first = d->next;
    pthread_mutex_unlock(&unused.lock);
    if (!s || (!d && !(d = malloc(sizeof *d)))) return NULL;
    *d = (ompp_mpi_direction_t){.next = s->buckets[which][place], .shadow = c, .peer = peer, .tag = tag};
    s->sent += which == OMPP_MPI_SENT;
    s->buckets[which][place] = d;
    return d;
}

void ompp_mpi_suppression_refused(ompp_mpi_shadow_t *c, int dest, int tag)
{
    pthread_mutex_lock(&c->lock);
    ompp_mpi_direction_t *d = ompp_mpi_direction(c, OMPP_MPI_SENT, dest, tag, true);
    if (d) d->refused++;
    if (d) d->suppressed = false; /* the next one goes the long way */
    pthread_mutex_unlock(&c->lock);
}

bool ompp_mpi_suppression_send(ompp_mpi_shadow_t *c, int dest, int tag, uint32_t *number, bool *suppressed)
{
    const bool suspended = ompp_sync_is_suspended();
    bool sends = true;

    *number = 0;
    *suppressed = false;
    if (!suspended && !__atomic_load_n(&c->suppression, __ATOMIC_RELAXED)) return true;
    pthread_mutex_lock(&c->lock);
    const bool makes = suspended && !(c->suppression && c->suppression->sent >= MOST);
    ompp_mpi_direction_t *d = ompp_mpi_direction(c, OMPP_MPI_SENT, dest, tag, makes);
    if (d && d->refused) { /* it has been counted, and has a clock vector */
        d->refused--;
        sends = false;
    } else if (d) {
        sends = !suspended || !d->suppressed;
        d->count = ompp_mpi_number_after(d->count);
        d->suppressed = suspended;
        *number = d->count;
        *suppressed = suspended;
    }
    pthread_mutex_unlock(&c->lock);
    return sends;
}

bool ompp_mpi_suppression_skip(ompp_mpi_shadow_t *c, int source, int tag)
{
    pthread_mutex_lock(&c->lock);
    ompp_mpi_direction_t *d = ompp_mpi_direction(c, OMPP_MPI_RECEIVED, source, tag, false);
    if (d) d->count = ompp_mpi_number_after(d->count);
    ompp_mpi_here_t **link = place_of(c, source, tag, OMPP_MPI_DUE | OMPP_MPI_GIVEN), *h = *link;
    const bool is_its = d && h && h->message->header.number == d->count;
    if (is_its) *link = h->next;
    pthread_mutex_unlock(&c->lock);
    if (is_its) ompp_mpi_piggyback_free(h->message);
    if (is_its) free(h);
    return d != NULL;
}

/* What there is to look at, if it is worth it. Another thread may receive on the same channel at the same time. */
static ompp_mpi_message_t *look(ompp_mpi_shadow_t *c, ompp_mpi_direction_t *d, uint64_t limit_ns)
{
    uint64_t limit = limit_ns < AWAITED_NS ? limit_ns : AWAITED_NS;
    bool looks = true;

    pthread_mutex_lock(&c->lock);
    if (d->suppressed) {
        limit = 0;
        if (ompp_sync_is_suspended()) {
            const ompp_time_t t = ompp_event_now();
            looks = t - d->looked > OMPP_MPI_LOOK_NS;
            if (looks) d->looked = t;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return ompp_mpi_here_bring(c, d->peer, d->tag, looks, limit);
}

bool ompp_mpi_suppression_pass(ompp_mpi_shadow_t *c, int source, int tag, ompp_time_t t)
{
    if (!__atomic_load_n(&c->suppression, __ATOMIC_RELAXED)) return false;
    pthread_mutex_lock(&c->lock);
    ompp_mpi_direction_t *d = ompp_mpi_direction(c, OMPP_MPI_RECEIVED, source, tag, false);
    const bool passes = d && d->suppressed && t - d->looked <= OMPP_MPI_LOOK_NS;
    if (passes) d->count = ompp_mpi_number_after(d->count);
    pthread_mutex_unlock(&c->lock);
    return passes;
}

typedef enum { ITS_OWN, LATER, EARLIER } whose_t;

/* Whose clock vector it is, for the next message; of another one, it is taken care of. \param[in] gone the message has
 * been received. */
static whose_t judge(ompp_mpi_shadow_t *c, ompp_mpi_direction_t *d, ompp_mpi_message_t *message, bool gone)
{
    const ompp_mpi_header_t *header = &message->header;

    pthread_mutex_lock(&c->lock);
    const uint32_t number = ompp_mpi_number_after(d->count);
    const int32_t later = header->number ? (int32_t)(header->number - number) : 0;
    const whose_t whose = later == 0 ? ITS_OWN : later < 0 ? EARLIER : LATER;
    d->suppressed = whose == LATER || (header->flags & OMPP_MPI_SUPPRESSED);
    if (whose != EARLIER) d->wrong = 0;
    if (gone && whose != EARLIER) d->count = number;
    pthread_mutex_unlock(&c->lock);
    if (whose == LATER) ompp_mpi_here_put(c, d->peer, d->tag, message, true);
    if (whose == EARLIER) ompp_mpi_piggyback_free(message);
    return whose;
}

/* There is no clock vector for the next message. \param[in] earlier number of the last one that there was, of an
 * earlier message; 0 = none. */
static void pass(ompp_mpi_shadow_t *c, ompp_mpi_direction_t *d, uint32_t earlier, bool gone)
{
    pthread_mutex_lock(&c->lock);
    d->suppressed = true;
    if (gone) d->count = ompp_mpi_number_after(d->count);
    if (gone && earlier && ++d->wrong >= WRONG) {
        d->count = earlier;
        d->wrong = 0;
    }
    pthread_mutex_unlock(&c->lock);
}

bool ompp_mpi_suppression_next(ompp_mpi_shadow_t *c, int source, int tag, uint64_t limit_ns, bool gone,
                               ompp_mpi_message_t **message)
{
    uint32_t earlier = 0;

    *message = NULL;
    if (!__atomic_load_n(&c->suppression, __ATOMIC_RELAXED)) return false;
    pthread_mutex_lock(&c->lock);
    ompp_mpi_direction_t *d = ompp_mpi_direction(c, OMPP_MPI_RECEIVED, source, tag, false);
    pthread_mutex_unlock(&c->lock);
    if (!d) return false;
    for (;;) {
        ompp_mpi_message_t *next = look(c, d, earlier ? 0 : limit_ns);
        if (!next && (gone || limit_ns > 0)) pass(c, d, earlier, gone);
        if (!next) return true;
        const uint32_t number = next->header.number;
        const whose_t whose = judge(c, d, next, gone);
        if (whose == ITS_OWN) *message = next;
        if (whose != EARLIER) return true;
        earlier = number;
    }
}

bool ompp_mpi_suppression_take(ompp_mpi_shadow_t *c, int source, int tag, bool gone, ompp_mpi_message_t **message)
{
    const ompp_mpi_header_t *header = &(*message)->header;

    pthread_mutex_lock(&c->lock);
    ompp_mpi_direction_t *d = ompp_mpi_direction(c, OMPP_MPI_RECEIVED, source, tag, true);
    if (d && !d->count) d->count = header->number - 1; /* it begins with this one */
    pthread_mutex_unlock(&c->lock);
    if (!d) return false;
    const whose_t whose = judge(c, d, *message, gone);
    if (whose != ITS_OWN) *message = NULL;
    return true;
}

bool ompp_mpi_suppression_end(ompp_mpi_shadow_t *c)
{
    bool refused = false;

    for (unsigned i = 0; c->suppression && i < 2 * BUCKETS; i++) {
        ompp_mpi_direction_t **bucket = &c->suppression->buckets[i / BUCKETS][i % BUCKETS];
        while (*bucket) {
            ompp_mpi_direction_t *d = *bucket;
            *bucket = d->next;
            refused |= d->refused > 0;
            delete_direction(d);
        }
    }
    free(c->suppression);
    c->suppression = NULL;
    return refused;
}
