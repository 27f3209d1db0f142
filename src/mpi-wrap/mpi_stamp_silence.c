/**
 * \file
 * Messages without stamps, while clocks rest: stamps would take more than the messages themselves where there are many.
 *
 * Each sender decides for itself. Messages with one source, destination, tag and communicator do not overtake each other. The first one of
 * a rest has a stamp still, which says that those that follow may have none, and that this one is number 1; from then on both sides count,
 * and a stamp has the number of its message. A receiver that has been told so looks for a stamp, and does not wait for one. What it finds
 * is of this message, or of a later one, so that this one has none; or of an earlier one, which came late and is of no use any more.
 *
 * So neither side has to know when the other rests, and a stamp that is missed is missed once. Sides that have not counted the same, since
 * one of them has not seen a call, agree again when stamps come.
 *
 * Most calls of a rest are made the short way, at the end of this file, in which nothing is done but to count.
 */
#include "mpi-wrap/mpi_stamp_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS   512u
#define MOST      1024u   /* pairs of destination and tag that messages without stamps go to; others have them always */
#define LOOK_NS   200000u /* while clocks rest here, too, it is looked for what ends the other side's rest so often */
#define AWAITED_S 0.01    /* a stamp that ought to be there */
#define WRONG     3u      /* so often in a row nothing but stamps of earlier messages: this side has counted one that there was not */

typedef struct ompp_mpi_direction {
    struct ompp_mpi_direction *next;
    ompp_mpi_channel_t *channel;
    int peer, tag;
    uint32_t count;       /* number of the latest message */
    bool silent;          /* the next one may have no stamp */
    unsigned wrong;       /* receiver: so often in a row */
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

    return &s->buckets[which][key * 0x9e3779b97f4a7c15u >> 55];
}

static direction_t *find(const ompp_mpi_channel_t *c, int which, int peer, int tag)
{
    struct ompp_mpi_silence *s = __atomic_load_n(&c->silence, __ATOMIC_ACQUIRE);
    direction_t *d = s ? *bucket_of(s, which, peer, tag) : NULL;

    while (d && (d->peer != peer || d->tag != tag)) d = d->next;
    return d;
}

/* Those that are not needed any more: a thread that calls MPI when it must not may still look at them. */
static struct {
    pthread_mutex_t lock;
    direction_t *first;
} unused = {.lock = PTHREAD_MUTEX_INITIALIZER};

static direction_t *new_direction(void)
{
    direction_t *d;

    pthread_mutex_lock(&unused.lock);
    d = unused.first;
    if (d) unused.first = d->next;
    pthread_mutex_unlock(&unused.lock);
    return d ? d : malloc(sizeof *d);
}

static void delete_direction(direction_t *d)
{
    ompp_mpi_stamp_free(d->ahead);
    pthread_mutex_lock(&unused.lock);
    d->next = unused.first;
    unused.first = d;
    pthread_mutex_unlock(&unused.lock);
}

/* Under the lock. \return NULL = no memory, or too many. */
static direction_t *add(ompp_mpi_channel_t *c, int which, int peer, int tag)
{
    if (!c->silence) __atomic_store_n(&c->silence, calloc(1, sizeof *c->silence), __ATOMIC_RELEASE);
    if (!c->silence || (which == SENT && c->silence->sent >= MOST)) return NULL;
    direction_t *d = new_direction(), **bucket = bucket_of(c->silence, which, peer, tag);
    if (!d) return NULL;
    *d = (direction_t){.next = *bucket, .channel = c, .peer = peer, .tag = tag};
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

bool ompp_mpi_silence_pass(ompp_mpi_channel_t *c, int source, int tag, ompp_time_t t)
{
    direction_t *d;

    if (!ompp_mpi_silence_is(c)) return false;
    pthread_mutex_lock(&c->lock);
    d = find(c, RECEIVED, source, tag);
    const bool passes = d && d->silent && !d->ahead && t - d->looked <= LOOK_NS;
    if (passes) d->count = after(d->count);
    pthread_mutex_unlock(&c->lock);
    return passes;
}

typedef enum { NONE, ITS_OWN, LATER, EARLIER } whose_t;

/* Under the lock. */
static whose_t compare(const direction_t *d, const ompp_mpi_header_t *header, uint32_t number)
{
    const int32_t later = (int32_t)(header->number - number);

    if (!header->number || later == 0) return ITS_OWN;
    return later < 0 ? EARLIER : d->ahead ? NONE : LATER;
}

/* Whose stamp it is, for the next message; of another one, it is taken care of. \param[in] gone  the message has been received. */
static whose_t judge(ompp_mpi_channel_t *c, direction_t *d, unsigned char *message, bool gone)
{
    const ompp_mpi_header_t *header = (const ompp_mpi_header_t *)(const void *)message;
    whose_t whose;

    pthread_mutex_lock(&c->lock);
    const uint32_t number = after(d->count);
    whose = compare(d, header, number);
    d->silent = whose == NONE || whose == LATER || (header->flags & OMPP_MPI_SILENT);
    if (whose == LATER) d->ahead = message;
    if (whose != EARLIER) d->wrong = 0;
    if (whose == ITS_OWN || (gone && whose != EARLIER)) d->count = number;
    pthread_mutex_unlock(&c->lock);
    if (whose == EARLIER || whose == NONE) ompp_mpi_stamp_free(message);
    return whose;
}

/* There is no stamp for the next message. \param[in] earlier  number of the last one that there was, of an earlier message; 0 = none. */
static void pass(ompp_mpi_channel_t *c, direction_t *d, uint32_t earlier, bool gone)
{
    pthread_mutex_lock(&c->lock);
    d->silent = true;
    if (gone) d->count = after(d->count);
    if (gone && earlier && ++d->wrong >= WRONG) {
        d->count = earlier;
        d->wrong = 0;
    }
    pthread_mutex_unlock(&c->lock);
}

static direction_t *find_locked(ompp_mpi_channel_t *c, int source, int tag)
{
    direction_t *d;

    if (!ompp_mpi_silence_is(c)) return NULL;
    pthread_mutex_lock(&c->lock);
    d = find(c, RECEIVED, source, tag);
    pthread_mutex_unlock(&c->lock);
    return d;
}

bool ompp_mpi_silence_next(ompp_mpi_channel_t *c, int source, int tag, double limit_seconds, bool gone, unsigned char **message)
{
    direction_t *d = find_locked(c, source, tag);
    uint32_t earlier = 0;

    *message = NULL;
    if (!d) return false;
    for (;;) {
        unsigned char *next = look(c, d, earlier ? 0 : limit_seconds);
        if (!next && (gone || limit_seconds > 0)) pass(c, d, earlier, gone);
        if (!next) return true;
        const uint32_t number = ((const ompp_mpi_header_t *)(const void *)next)->number;
        const whose_t whose = judge(c, d, next, gone);
        if (whose == ITS_OWN) *message = next;
        if (whose != EARLIER) return true;
        earlier = number;
    }
}

bool ompp_mpi_silence_take(ompp_mpi_channel_t *c, int source, int tag, bool gone, unsigned char **message)
{
    const ompp_mpi_header_t *header = (const ompp_mpi_header_t *)(const void *)*message;
    direction_t *d;
    bool begins = false;

    pthread_mutex_lock(&c->lock);
    d = find(c, RECEIVED, source, tag);
    if (!d) {
        d = add(c, RECEIVED, source, tag);
        begins = true;
    }
    if (d && begins) {
        d->count = header->number;
        d->silent = (header->flags & OMPP_MPI_SILENT) != 0;
    }
    pthread_mutex_unlock(&c->lock);
    if (!d) return false;
    if (begins) return true;
    const whose_t whose = judge(c, d, *message, gone);
    if (whose != ITS_OWN) *message = NULL;
    return true;
}

void ompp_mpi_silence_end(ompp_mpi_channel_t *c)
{
    for (unsigned i = 0; c->silence && i < 2 * BUCKETS; i++) {
        direction_t **bucket = &c->silence->buckets[i / BUCKETS][i % BUCKETS];
        while (*bucket) {
            direction_t *d = *bucket;
            *bucket = d->next;
            delete_direction(d);
        }
    }
    free(c->silence);
    c->silence = NULL;
}

/* ---- The short way -------------------------------------------------------------------------------------------------- */

/*
 * Where one thread at a time may call MPI (all levels but MPI_THREAD_MULTIPLE), messages are counted without a lock. A program that does
 * otherwise miscounts, which is as above.
 */
#define NEAR    128u
#define STARTED 1024u
#define CHANNELS 16u
#define SAMPLE  64u /* of one call in so many it is measured what counting takes */

/* What a direction was found by, for the next time. */
typedef struct {
    MPI_Comm comm;
    int peer, tag;
    direction_t *d; /* NULL = nothing */
} near_t;

/* A receive under way. */
typedef struct {
    MPI_Request handle;
    direction_t *d; /* NULL = none */
    ompp_time_t begin;
} started_t;

static struct {
    near_t near[2][NEAR];
    struct {
        MPI_Comm comm;
        ompp_mpi_channel_t *channel; /* NULL = nothing */
    } channels[CHANNELS];
    started_t started[STARTED];
    unsigned nstarted, calls;
} quick;

static bool is_possible(void)
{
    return ompp_sync_rests() && __atomic_load_n(&ompp_mpi_stamping_state.alone, __ATOMIC_RELAXED);
}

/* \return when it began; 0 = it is not measured. */
static ompp_time_t measured_since(void)
{
    return ++quick.calls % SAMPLE ? 0 : ompp_event_now();
}

static void measured(ompp_time_t begin)
{
    if (begin) ompp_sync_spend((ompp_event_now() - begin) * SAMPLE);
}

static __attribute__((noinline)) direction_t *find_near(near_t *near, int which, MPI_Comm comm, int peer, int tag)
{
    ompp_mpi_channel_t *c = peer >= 0 && tag >= 0 ? ompp_mpi_channel_find(comm) : NULL;
    direction_t *d = NULL;

    if (c) {
        pthread_mutex_lock(&c->lock);
        d = find(c, which, peer, tag);
        pthread_mutex_unlock(&c->lock);
    }
    if (d) *near = (near_t){comm, peer, tag, d};
    ompp_mpi_channel_release(c);
    return d;
}

static direction_t *direction_of(int which, MPI_Comm comm, int peer, int tag)
{
    const uint32_t hash = ((uint32_t)peer * 0x9e3779b1u) ^ ((uint32_t)tag * 0x85ebca77u) ^ (uint32_t)((uintptr_t)comm >> 4);
    near_t *near = &quick.near[which][(hash ^ hash >> 16) % NEAR];

    if (__builtin_expect(near->d && near->comm == comm && near->peer == peer && near->tag == tag, 1)) return near->d;
    return find_near(near, which, comm, peer, tag);
}

/* While the user's call goes on, the communicator is not freed. */
static ompp_mpi_channel_t *channel_of(MPI_Comm comm)
{
    const uintptr_t i = ((uintptr_t)comm >> 4 ^ (uintptr_t)comm) % CHANNELS;

    if (!quick.channels[i].channel || quick.channels[i].comm != comm) {
        ompp_mpi_channel_t *c = ompp_mpi_channel_find(comm);
        quick.channels[i].comm = comm;
        quick.channels[i].channel = c;
        ompp_mpi_channel_release(c);
    }
    return quick.channels[i].channel;
}

static bool counts_sent(MPI_Comm comm, int dest, int tag)
{
    direction_t *d;

    if (dest == MPI_PROC_NULL) return true;
    d = direction_of(SENT, comm, dest, tag);
    if (!d || !d->silent || d->count == UINT32_MAX) return false;
    d->count++;
    return true;
}

bool ompp_mpi_silent_send(MPI_Comm comm, int dest, int tag)
{
    if (!is_possible()) return false;
    const ompp_time_t begin = measured_since();
    const bool counted = counts_sent(comm, dest, tag);
    measured(begin);
    return counted;
}

/* No stamp is known to be there, or wanted. */
static bool is_silent(const direction_t *d)
{
    return d->silent && !d->ahead && !d->channel->held;
}

bool ompp_mpi_silent_receive(ompp_mpi_silent_t *s, MPI_Comm comm, int source, int tag)
{
    s->number = 0;
    s->rest = ompp_sync_rest();
    if (!is_possible() || ompp_mpi_apart_any()) return false;
    if (source == MPI_PROC_NULL) return true;
    s->direction[0] = direction_of(RECEIVED, comm, source, tag);
    s->number = 1;
    return s->direction[0] && is_silent(s->direction[0]);
}

static started_t *started_of(MPI_Request handle)
{
    return &quick.started[(uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u >> 54];
}

/* The long way. */
static void keep_request(const started_t *one)
{
    ompp_mpi_request_t *r = ompp_mpi_request_new(OMPP_MPI_PENDING_RECEIVE, one->d->channel);

    if (!r) return;
    r->peer = one->d->peer;
    r->tag = one->d->tag;
    r->begin = one->begin;
    ompp_mpi_request_put(r, one->handle);
}

void ompp_mpi_silent_started(const ompp_mpi_silent_t *s, bool good, MPI_Request handle, ompp_time_t t)
{
    _Static_assert(STARTED == 1u << (64 - 54), "the hash is as long as the table");
    started_t *place = started_of(handle);
    const started_t one = {handle, s->direction[0], t};

    if (!good || s->number == 0 || handle == MPI_REQUEST_NULL) return;
    if (place->d) {
        keep_request(&one);
        return;
    }
    *place = one;
    quick.nstarted++;
}

static bool take_started(MPI_Request handle, started_t *one)
{
    started_t *place = started_of(handle);

    if (!place->d || place->handle != handle) return false;
    *one = *place;
    place->d = NULL;
    quick.nstarted--;
    return true;
}

void ompp_mpi_silent_give(MPI_Request handle)
{
    started_t one;

    if (quick.nstarted > 0 && take_started(handle, &one)) keep_request(&one);
}

void ompp_mpi_silent_forget(MPI_Comm comm)
{
    memset(quick.near, 0, sizeof quick.near);
    memset(quick.channels, 0, sizeof quick.channels);
    for (unsigned i = 0; i < STARTED && quick.nstarted > 0; i++)
        if (quick.started[i].d && quick.started[i].d->channel->comm == comm) ompp_mpi_silent_give(quick.started[i].handle);
}

static MPI_Request handle_of(const void *requests, int i, bool fortran)
{
    return fortran ? PMPI_Request_f2c(((const MPI_Fint *)requests)[i]) : ((const MPI_Request *)requests)[i];
}

bool ompp_mpi_silent_wait(ompp_mpi_silent_t *s, int number, const void *requests, bool fortran)
{
    started_t one;

    s->number = 0;
    s->rest = ompp_sync_rest();
    if (!is_possible() || ompp_mpi_apart_any() || ompp_mpi_request_any() || number > OMPP_MPI_SILENT_MOST) return false;
    const ompp_time_t begin = measured_since();
    for (int i = 0; requests && i < number && quick.nstarted > 0; i++)
        if (take_started(handle_of(requests, i, fortran), &one)) s->direction[s->number++] = one.d;
    measured(begin);
    return true;
}

static bool passes(direction_t *d, ompp_time_t t)
{
    if (!is_silent(d) || t - d->looked > LOOK_NS) return false;
    d->count = after(d->count);
    return true;
}

bool ompp_mpi_silent_collective(ompp_mpi_silent_t *s, MPI_Comm comm)
{
    if (!is_possible() || ompp_mpi_apart_any()) return false;
    s->channel = channel_of(comm);
    if (!s->channel || s->channel->inter) return false;
    const ompp_time_t begin = measured_since();
    const bool passes = ompp_mpi_collective_passes(s->channel);
    measured(begin);
    return passes;
}

ompp_time_t ompp_mpi_silent_met(ompp_mpi_silent_t *s, bool good, ompp_time_t t)
{
    if (good) ompp_mpi_adopt(NULL, ompp_event_called(), ompp_mpi_collective_kind(s->channel, OMPP_MPI_ORDER_ALL), 0);
    return t;
}

/* Some of them may have stamps. */
static __attribute__((noinline)) ompp_time_t end_slowly(ompp_mpi_silent_t *s, unsigned i, bool good)
{
    const int saved = errno;
    const ompp_time_t begin = ompp_event_called();
    unsigned char *message = ompp_mpi_stamp_new();
    unsigned flags = 0;
    bool any = false;

    ompp_mpi_stamp_reclaim();
    if (message) memset(ompp_mpi_stamp_of(message), 0, ompp_mpi_stamping_state.bytes);
    for (; message && i < s->number; i++)
        any |= ompp_mpi_stamp_claim(s->direction[i]->channel, s->direction[i]->peer, s->direction[i]->tag, begin,
                                    good ? OMPP_MPI_STAMP_LIMIT_S : 0, NULL, ompp_mpi_stamp_of(message), &flags);
    if (good) ompp_mpi_adopt(any ? ompp_mpi_stamp_of(message) : NULL, begin, OMPP_SYNC_MESSAGE, flags);
    ompp_mpi_stamp_free(message);
    errno = saved;
    return ompp_event_now();
}

ompp_time_t ompp_mpi_silent_end(ompp_mpi_silent_t *s, bool good, ompp_time_t t)
{
    unsigned i = 0;

    if (s->number == 0) return t;
    if (ompp_sync_rest() == s->rest)
        while (i < s->number && passes(s->direction[i], t)) i++;
    return i == s->number ? t : end_slowly(s, i, good);
}
