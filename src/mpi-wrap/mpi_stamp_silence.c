/**
 * \file
 * Messages without stamps, while clocks rest: stamps would take more than the messages themselves where there are many.
 *
 * Each sender decides for itself. Messages with one source, destination, tag and communicator do not overtake each other. The first one of
 * a rest has a stamp still, which says that those that follow may have none, and that this one is number 1; from then on both sides count,
 * and a stamp has the number of its message. A receiver that has been told so looks for a stamp, and does not wait for one. What it finds
 * is of this message, or of a later one, so that this one has none; or of an earlier one, which came late and is of no use any more.
 *
 * So neither side has to know when the other rests, and a stamp that is missed is missed once.
 */
#include "mpi-wrap/mpi_stamp_priv.h"

#include <stdlib.h>

#define BUCKETS   64u
#define MOST      1024u   /* pairs of destination and tag that messages without stamps go to; others have them always */
#define LOOK_NS   200000u /* while clocks rest here, too, it is looked for what ends the other side's rest so often */
#define AWAITED_S 0.01    /* a stamp that ought to be there */

typedef struct direction {
    struct direction *next;
    int peer, tag;
    uint32_t count;       /* number of the latest message */
    bool silent;          /* the next one may have no stamp */
    ompp_time_t looked;   /* receiver */
    unsigned char *ahead; /* receiver: stamp of a later message */
} direction_t;

struct ompp_mpi_silence {
    direction_t *buckets[2][BUCKETS]; /* of what is sent, of what is received; under the channel's lock */
    unsigned sent;
};

enum { SENT, RECEIVED };

static direction_t **bucket_of(struct ompp_mpi_silence *s, int which, int peer, int tag)
{
    const uint64_t key = (uint64_t)(uint32_t)peer << 32 | (uint32_t)tag;

    return &s->buckets[which][key * 0x9e3779b97f4a7c15u >> 58];
}

static direction_t *find(const ompp_mpi_channel_t *c, int which, int peer, int tag)
{
    struct ompp_mpi_silence *s = __atomic_load_n(&c->silence, __ATOMIC_ACQUIRE);
    direction_t *d = s ? *bucket_of(s, which, peer, tag) : NULL;

    while (d && (d->peer != peer || d->tag != tag)) d = d->next;
    return d;
}

/* Under the lock. \return NULL = no memory, or too many. */
static direction_t *add(ompp_mpi_channel_t *c, int which, int peer, int tag)
{
    if (!c->silence) __atomic_store_n(&c->silence, calloc(1, sizeof *c->silence), __ATOMIC_RELEASE);
    if (!c->silence || (which == SENT && c->silence->sent >= MOST)) return NULL;
    direction_t *d = calloc(1, sizeof *d), **bucket = bucket_of(c->silence, which, peer, tag);
    if (!d) return NULL;
    *d = (direction_t){.next = *bucket, .peer = peer, .tag = tag};
    if (which == SENT) c->silence->sent++;
    *bucket = d;
    return d;
}

static uint32_t after(uint32_t number)
{
    return number + 1 ? number + 1 : 1;
}

bool ompp_mpi_silence_send(ompp_mpi_channel_t *c, int dest, int tag, uint32_t *number, bool *silent)
{
    direction_t *d;
    bool sends = true;

    *number = 0;
    *silent = false;
    const bool rests = ompp_sync_rests();
    if (!rests && !__atomic_load_n(&c->silence, __ATOMIC_RELAXED)) return true;
    pthread_mutex_lock(&c->lock);
    d = find(c, SENT, dest, tag);
    if (!d && rests) d = add(c, SENT, dest, tag);
    if (d) {
        sends = !rests || !d->silent;
        d->count = after(d->count);
        d->silent = rests;
        *number = d->count;
        *silent = rests;
    }
    pthread_mutex_unlock(&c->lock);
    return sends;
}

bool ompp_mpi_silence_is(const ompp_mpi_channel_t *c)
{
    return __atomic_load_n(&c->silence, __ATOMIC_RELAXED) != NULL;
}

bool ompp_mpi_silence_begin(ompp_mpi_channel_t *c, int source, int tag, const ompp_mpi_header_t *header)
{
    direction_t *d;

    pthread_mutex_lock(&c->lock);
    d = find(c, RECEIVED, source, tag);
    if (!d) d = add(c, RECEIVED, source, tag);
    if (d) {
        d->count = header->number;
        d->silent = (header->flags & OMPP_MPI_SILENT) != 0;
    }
    pthread_mutex_unlock(&c->lock);
    return d != NULL;
}

bool ompp_mpi_silence_skip(ompp_mpi_channel_t *c, int source, int tag)
{
    direction_t *d;

    pthread_mutex_lock(&c->lock);
    d = find(c, RECEIVED, source, tag);
    if (d) d->count = after(d->count);
    pthread_mutex_unlock(&c->lock);
    return d != NULL;
}

/* What there is to look at, if it is worth it. Another thread may receive on the same channel at the same time. */
static unsigned char *look(ompp_mpi_channel_t *c, direction_t *d, double limit_seconds)
{
    unsigned char *message = NULL;
    double limit = limit_seconds < AWAITED_S ? limit_seconds : AWAITED_S;
    bool looks = true;

    pthread_mutex_lock(&c->lock);
    if (d->ahead) {
        message = d->ahead;
        d->ahead = NULL;
    } else if (d->silent) {
        limit = 0;
        if (ompp_sync_rests()) {
            const ompp_time_t t = ompp_event_now();
            looks = t - d->looked > LOOK_NS;
            if (looks) d->looked = t;
        }
    }
    pthread_mutex_unlock(&c->lock);
    if (message || !looks) return message;
    message = ompp_mpi_stamp_new();
    if (message && ompp_mpi_stamp_fetch(c->shadow, d->peer, d->tag, limit, message)) return message;
    ompp_mpi_stamp_free(message);
    return NULL;
}

typedef enum { NONE, ITS_OWN, LATER, EARLIER } whose_t;

/* Whose stamp it is, for the next message. \param[in] gone  that has been received. */
static whose_t judge(ompp_mpi_channel_t *c, direction_t *d, unsigned char *message, bool gone)
{
    const ompp_mpi_header_t *header = (const ompp_mpi_header_t *)(const void *)message;
    whose_t whose = NONE;

    pthread_mutex_lock(&c->lock);
    const uint32_t number = after(d->count);
    const int32_t later = header ? (int32_t)(header->number - number) : 0;
    if (header) whose = later < 0 && header->number ? EARLIER : later > 0 ? LATER : ITS_OWN;
    if (whose == LATER && d->ahead) whose = NONE;
    if (whose == LATER) d->ahead = message;
    d->silent = whose == NONE || whose == LATER || (header->flags & OMPP_MPI_SILENT);
    if (whose == ITS_OWN || (gone && whose != EARLIER)) d->count = number;
    pthread_mutex_unlock(&c->lock);
    return whose;
}

bool ompp_mpi_silence_next(ompp_mpi_channel_t *c, int source, int tag, double limit_seconds, bool gone, unsigned char **message)
{
    direction_t *d;

    *message = NULL;
    if (!ompp_mpi_silence_is(c)) return false;
    pthread_mutex_lock(&c->lock);
    d = find(c, RECEIVED, source, tag);
    pthread_mutex_unlock(&c->lock);
    if (!d) return false;
    for (;;) {
        unsigned char *next = look(c, d, limit_seconds);
        const whose_t whose = next || gone || limit_seconds > 0 ? judge(c, d, next, gone) : NONE;
        if (whose == ITS_OWN) *message = next;
        else if (whose != LATER) ompp_mpi_stamp_free(next);
        if (whose != EARLIER) return true;
    }
}

void ompp_mpi_silence_end(ompp_mpi_channel_t *c)
{
    for (unsigned i = 0; c->silence && i < 2 * BUCKETS; i++) {
        direction_t **bucket = &c->silence->buckets[i / BUCKETS][i % BUCKETS];
        while (*bucket) {
            direction_t *d = *bucket;
            *bucket = d->next;
            ompp_mpi_stamp_free(d->ahead);
            free(d);
        }
    }
    free(c->silence);
    c->silence = NULL;
}
