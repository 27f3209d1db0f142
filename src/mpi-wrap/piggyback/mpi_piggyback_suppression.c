/**
 * \file
 * Messages without clock vectors, while clocks are suspended: clock vectors would take more than the messages
 * themselves where there are many.
 *
 * Each sender decides for itself. Messages with one source, destination, tag and communicator do not overtake each
 * other. The first one of a rest has a clock vector still, which says that those that follow may have none, and that
 * this one is number 1; from then on both sides count, and a clock vector has the number of its message. A receiver
 * that has been told so looks for a clock vector, and does not wait for one. What it finds is of this message, or of a
 * later one, so that this one has none; or of an earlier one, which came late and is of no use any more.
 *
 * So neither side has to know when the other rests, and a clock vector that is missed is missed once.
 *
 * A side that has counted one that there was not, or not one that there was, is put right only when it then sees clock
 * vectors of earlier messages; so what MPI refuses is not counted. Most calls of a rest are made the short way
 * (mpi_suppressed_hot.c), which is only to count.
 */
#include "base/ompp_hash.h"
#include "mpi-wrap/piggyback/mpi_suppressed_priv.h"

#include <stdlib.h>

#define BUCKET_BITS 9
#define BUCKETS (1u << BUCKET_BITS)
/* pairs of destination and tag that messages without clock vectors go to; others have them always */
#define MOST 1024u
#define AWAITED_NS 10000000u /* a clock vector that ought to be there */
/* so often in a row nothing but clock vectors of earlier messages: this side has counted one that there was not */
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
    const bool suspensions = ompp_sync_is_suspended();
    bool sends = true;

    *number = 0;
    *suppressed = false;
    if (!suspensions && !__atomic_load_n(&c->suppression, __ATOMIC_RELAXED)) return true;
    pthread_mutex_lock(&c->lock);
    const bool makes = suspensions && !(c->suppression && c->suppression->sent >= MOST);
    ompp_mpi_direction_t *d = ompp_mpi_direction(c, OMPP_MPI_SENT, dest, tag, makes);
    if (d && d->refused) { /* it has been counted, and has a clock vector */
        d->refused--;
        sends = false;
    } else if (d) {
        sends = !suspensions || !d->suppressed;
        d->count = ompp_mpi_number_after(d->count);
        d->suppressed = suspensions;
        *number = d->count;
        *suppressed = suspensions;
    }
    pthread_mutex_unlock(&c->lock);
    return sends;
}

bool ompp_mpi_suppression_skip(ompp_mpi_shadow_t *c, int source, int tag)
{
    pthread_mutex_lock(&c->lock);
    ompp_mpi_direction_t *d = ompp_mpi_direction(c, OMPP_MPI_RECEIVED, source, tag, false);
    if (d) d->count = ompp_mpi_number_after(d->count);
    pthread_mutex_unlock(&c->lock);
    return d != NULL;
}

/* What there is to look at, if it is worth it. Another thread may receive on the same channel at the same time. */
static unsigned char *look(ompp_mpi_shadow_t *c, ompp_mpi_direction_t *d, uint64_t limit_ns)
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
static whose_t judge(ompp_mpi_shadow_t *c, ompp_mpi_direction_t *d, unsigned char *message, bool gone)
{
    const ompp_mpi_header_t *header = (const ompp_mpi_header_t *)(const void *)message;

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
                               unsigned char **message)
{
    uint32_t earlier = 0;

    *message = NULL;
    if (!__atomic_load_n(&c->suppression, __ATOMIC_RELAXED)) return false;
    pthread_mutex_lock(&c->lock);
    ompp_mpi_direction_t *d = ompp_mpi_direction(c, OMPP_MPI_RECEIVED, source, tag, false);
    pthread_mutex_unlock(&c->lock);
    if (!d) return false;
    for (;;) {
        unsigned char *next = look(c, d, earlier ? 0 : limit_ns);
        if (!next && (gone || limit_ns > 0)) pass(c, d, earlier, gone);
        if (!next) return true;
        const uint32_t number = ((const ompp_mpi_header_t *)(const void *)next)->number;
        const whose_t whose = judge(c, d, next, gone);
        if (whose == ITS_OWN) *message = next;
        if (whose != EARLIER) return true;
        earlier = number;
    }
}

bool ompp_mpi_suppression_take(ompp_mpi_shadow_t *c, int source, int tag, bool gone, unsigned char **message)
{
    const ompp_mpi_header_t *header = (const ompp_mpi_header_t *)(const void *)*message;

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
