/**
 * \file
 * Clock vectors of non-blocking collective calls: each rank sends its own to those that wait for it when it starts the
 * call, and receives those of the ranks that it waits for when the user's operation is complete.
 *
 * A collective operation of ours would not do. It is more than the user's where MPI sends up to some size at once:
 * ranks would wait for each other's next call of MPI where the user's operation does not (Open MPI in shared memory,
 * from 257 bytes on). Messages are on their way once they are sent, and nobody completes the sends.
 *
 * Data beyond some size wait for all ranks once more: for their next call in which MPI makes progress. Ranks tell when
 * they come to that, and again when they come back to MPI after having been away. Whether an operation waits for it is
 * MPI's secret: that is told by when it ended, as with large messages.
 *
 * While clocks are suspended, calls have no clock vectors but the first one, which says so; until rank 0 ends that, or
 * the sender's clocks go on. Ranks whose clocks are suspended, too, look for that alone.
 *
 * Calls on a channel have numbers, the same on all its ranks, and may be completed in any order: what comes for another
 * one is put by. A call that MPI refused is none: the next one has its number again, and what was sent for it is the
 * next one's.
 */
#include "mpi-wrap/piggyback/mpi_piggyback_collective_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_request_priv.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * Clock vectors of those that were waited for are there, or nearly so. Ranks that have no data for this one need not
 * have been waited for. Either way there are some moments for it, and none any more on a channel on which they were in
 * vain.
 */
#define SURE_NS 10000000u
#define UNSURE_NS 300000u
#define SLICE_NS 1000000u /* another thread may have received it meanwhile */
#define MOST 32           /* ranks that all send to all; a communicator's size is known to all of them */

#define SMALL_BYTES 256u /* of a rank: more ranks than two may wait for anybody's next call, ... */
#define LONG_NS 10000u   /* a wait, and not what the operation takes */
/* while clocks are suspended here, too, it is looked so often for other ranks' end of that */
#define LOOK_NS 200000u
#define AGAIN_NS 300000u /* what an operation has waited for has been sent before it was complete */
#define MOST_VOTES 8     /* so many errors change what is known of a kind and size */

bool ompp_mpi_nonblocking(const ompp_mpi_piggyback_t *s)
{
    const ompp_mpi_shadow_t *c = s->shadow;

    if (c->inter) return false;
    return s->order == OMPP_MPI_ORDER_NEIGHBOR ? c->topology : c->size <= MOST;
}

/* Where a clock vector of the call comes from. */
static int source(const ompp_mpi_request_t *r, int i) { return ompp_mpi_whom_peer(r->shadow, r->whom, true, i); }

/* No clock vector comes from the rank itself, unless it is its own neighbour. */
static bool is_self(const ompp_mpi_request_t *r, int i)
{
    return r->whom.order != OMPP_MPI_ORDER_NEIGHBOR && source(r, i) == r->shadow->rank;
}

static bool is_all(const ompp_mpi_request_t *r) { return r->whom.order == OMPP_MPI_ORDER_ALL; }

/* Whether the rank's own clock vector is among those of the ranks that it waits for. */
static bool takes_own(const ompp_mpi_request_t *r)
{
    const bool root = r->shadow->rank == r->whom.root;

    return is_all(r) || r->whom.order == OMPP_MPI_ORDER_CHAIN || (r->whom.order == OMPP_MPI_ORDER_TO_ROOT && root);
}

/* ---- What comes -------------------------------------------------------------------------------------------------- */

/* A rank is back in MPI: of a neighbour that is one twice, both. What came after the operation's end, nobody has waited
 * for. */
static void deliver_again(ompp_mpi_request_t *r, int from, ompp_mpi_message_t *message)
{
    const int64_t t = message->header.moment_ns;

    if (!r->later || (r->end && t > r->end)) return;
    for (int i = 0; i < r->vectors; i++)
        if (source(r, i) == from) r->later[ompp_mpi_piggyback_state.bytes + (size_t)i] = true;
    if (t > r->later_ns) r->later_ns = t;
    ompp_sync_combine(r->later, message->vector);
}

static void deliver_first(ompp_mpi_request_t *r, int from, ompp_mpi_message_t *message)
{
    for (int i = 0; i < r->vectors; i++) {
        if (r->come[i] || source(r, i) != from) continue;
        r->come[i] = true; /* of a neighbour that is one twice, the next */
        r->unsure |= (message->header.flags & OMPP_MPI_SUPPRESSED) != 0;
        ompp_sync_combine(r->sent, message->vector);
        return;
    }
}

/* Calls that a rank had no clock vectors for: after one, before another one. Of the two kinds, and of each rank; of the
 * latest suspension. */
struct ompp_mpi_quiet {
    uint32_t from, to; /* 0 = none; it goes on */
};

static bool is_after(uint32_t call, uint32_t other) { return (int32_t)(call - other) > 0; }

static struct ompp_mpi_quiet *quiet_of(const ompp_mpi_shadow_t *c, bool all, int from)
{
    return c->quiet ? &c->quiet[(all ? 0 : c->size) + from] : NULL;
}

/* A clock vector has come, and says whether those after it do. Under the lock. */
static void note_quiet(ompp_mpi_shadow_t *c, int from, ompp_mpi_message_t *message)
{
    const ompp_mpi_header_t *header = &message->header;
    const bool suppressed = (header->flags & OMPP_MPI_SUPPRESSED) != 0;

    if (!c->quiet && suppressed) c->quiet = calloc(2 * (size_t)c->size, sizeof *c->quiet);
    struct ompp_mpi_quiet *q = quiet_of(c, !(header->flags & OMPP_MPI_NEIGHBORS), from);
    if (!q || (header->flags & OMPP_MPI_ROOTED)) return;
    if (q->from && !q->to && is_after(header->call, q->from)) q->to = header->call;
    if (suppressed) *q = (struct ompp_mpi_quiet){header->call, 0};
}

/* As far as is known. */
static bool is_quiet(ompp_mpi_request_t *r, int i)
{
    pthread_mutex_lock(&r->shadow->lock);
    const struct ompp_mpi_quiet *q = quiet_of(r->shadow, is_all(r), source(r, i));
    const bool always = is_all(r) || r->whom.order == OMPP_MPI_ORDER_NEIGHBOR;
    const bool quiet = always && q && q->from && is_after(r->call, q->from) && (!q->to || is_after(q->to, r->call));
    pthread_mutex_unlock(&r->shadow->lock);
    return quiet;
}

static bool is_back_vector(ompp_mpi_message_t *message) { return message->header.flags == OMPP_MPI_BACK; }

static void deliver_to(ompp_mpi_request_t *r, int from, ompp_mpi_message_t *message)
{
    if (is_back_vector(message)) deliver_again(r, from, message);
    else deliver_first(r, from, message);
}

/* This rank has not come to the call yet. Owns message. Under the lock. */
static void keep_early(ompp_mpi_shadow_t *c, int from, ompp_mpi_message_t *message)
{
    ompp_mpi_early_t *early = malloc(sizeof *early), **link = &c->early;

    if (!early) {
        ompp_mpi_piggyback_free(message);
        return;
    }
    *early = (ompp_mpi_early_t){NULL, from, message};
    while (*link) link = &(*link)->next;
    *link = early;
}

/* What came before this rank came to the call. */
static void deliver_early(ompp_mpi_request_t *r)
{
    ompp_mpi_early_t **link = &r->shadow->early;

    pthread_mutex_lock(&r->shadow->lock);
    r->begun = true;
    while (r->sent && *link) {
        ompp_mpi_early_t *early = *link;
        if (early->message->header.call != r->call) {
            link = &early->next;
            continue;
        }
        deliver_to(r, early->source, early->message);
        *link = early->next;
        ompp_mpi_piggyback_free(early->message);
        free(early);
    }
    pthread_mutex_unlock(&r->shadow->lock);
}

/* Gives a message to the call that it is of; one of a call that is over is of no use. Owns message. */
static void deliver(ompp_mpi_shadow_t *c, int from, ompp_mpi_message_t *message)
{
    const uint32_t call = message->header.call;
    ompp_mpi_request_t *r;

    pthread_mutex_lock(&c->lock);
    if (!is_back_vector(message)) note_quiet(c, from, message);
    for (r = c->going; r && r->call != call;) r = r->next_going;
    if (r ? is_back_vector(message) && !r->begun : is_after(call, c->started)) {
        keep_early(c, from, message);
    } else {
        if (r) deliver_to(r, from, message);
        ompp_mpi_piggyback_free(message);
    }
    pthread_mutex_unlock(&c->lock);
}

/* One message from a rank, by a thread that may receive. \return whether there was one. */
static bool receive_one(ompp_mpi_shadow_t *c, int from, uint64_t limit)
{
    ompp_mpi_message_t *message = ompp_mpi_piggyback_fetch(c->hidden, from, ompp_mpi_nonblocking_tag(), limit);

    if (message) deliver(c, from, message);
    return message != NULL;
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

/* All of a clock vector, as meetings have it: during a suspension it says what comes after that. */
static ompp_mpi_message_t *whole_vector(bool all, ompp_time_t t)
{
    ompp_mpi_message_t *message = ompp_mpi_piggyback_new();

    if (!message) return NULL;
    memset(message, 0, sizeof(ompp_mpi_header_t));
    ompp_mpi_collective_vector(message->vector, all, t);
    message->header.moment_ns = ompp_mpi_clock_common(t);
    message->header.bytes = (uint32_t)ompp_mpi_piggyback_state.bytes;
    return message;
}

/* Those of a call with the same number that MPI refused will do, if it was with the same ranks. */
static bool is_sent(const ompp_mpi_shadow_t *c, uint32_t call, ompp_mpi_whom_t whom)
{
    return c->sent_for == call && c->sent_whom.order == whom.order && c->sent_whom.root == whom.root;
}

/* Whether a call needs no clock vector: rank 0 ends suspensions. */
static bool needs_none(const ompp_mpi_shadow_t *c, ompp_time_t t)
{
    return ompp_sync_is_suspended() && !(ompp_mpi_leads(c, c->rank) && ompp_sync_suspended_until() <= t);
}

static void tell_start(ompp_mpi_shadow_t *c, ompp_mpi_request_t *r, bool suppressed, ompp_mpi_message_t *message)
{
    const ompp_mpi_order_t order = r->whom.order;
    const unsigned kind = is_all(r) ? 0 : order == OMPP_MPI_ORDER_NEIGHBOR ? OMPP_MPI_NEIGHBORS : OMPP_MPI_ROOTED;

    message->header.flags = (suppressed ? OMPP_MPI_SUPPRESSED : 0) | kind;
    if (!is_sent(c, r->call, r->whom)) ompp_mpi_whom_tell(c, r->whom, r->call, message);
    c->sent_for = r->call;
    c->sent_whom = r->whom;
    if (takes_own(r)) memcpy(r->sent, message->vector, ompp_mpi_piggyback_state.bytes);
}

/* A sum of clock vectors, and which of them have come. */
static unsigned char *make_room(const ompp_mpi_request_t *r)
{
    return calloc(1, ompp_mpi_piggyback_state.bytes + (size_t)r->vectors);
}

void ompp_mpi_nonblocking_before(ompp_mpi_piggyback_t *s, ompp_mpi_request_t *r)
{
    ompp_mpi_shadow_t *c = s->shadow;
    const bool rooted = s->order == OMPP_MPI_ORDER_FROM_ROOT || s->order == OMPP_MPI_ORDER_TO_ROOT;

    r->whom = (ompp_mpi_whom_t){s->order, rooted ? s->root : 0};
    r->call = c->started + 1 ? c->started + 1 : 1;
    while (source(r, r->vectors) >= 0) r->vectors++;
    r->joins &= r->vectors > 0 || takes_own(r);
    r->sent = s->order != OMPP_MPI_ORDER_NEIGHBOR || c->neighbors ? make_room(r) : NULL;
    r->come = r->sent ? r->sent + ompp_mpi_piggyback_state.bytes : NULL;
    const bool always = is_all(r) || s->order == OMPP_MPI_ORDER_NEIGHBOR; /* each time to the same ranks */
    const bool suppressed = always && needs_none(c, s->begin);
    ompp_mpi_message_t *message =
        r->sent && !(suppressed && c->suppressed[is_all(r)]) ? whole_vector(r->meets == OMPP_SYNC_ALL, s->begin) : NULL;
    if (message) tell_start(c, r, suppressed, message);
    if (message && always) c->suppressed[is_all(r)] = suppressed;
    ompp_mpi_piggyback_free(message);
    pthread_mutex_lock(&c->lock);
    c->started = r->call;
    if (r->sent) {
        r->next_going = c->going;
        c->going = r;
    }
    pthread_mutex_unlock(&c->lock);
}

/*
 * The same on all ranks, but where clocks of some are suspended. What a rank sends may depend on what it has received,
 * when it is back in MPI: with two ranks, too, where one of them adds up for both. What is left of that on our
 * communicator keeps it from being freed; so, when many have been kept, two ranks do not ask for it for what is small.
 */
static bool may_wait_again(const ompp_mpi_piggyback_t *s)
{
    const bool small = s->bare || (s->even && s->bytes <= SMALL_BYTES);
    const bool many = s->shadow->size > 2, asked = many || !small || s->shadow->keeps;

    return s->shadow->size > 1 && asked && !ompp_sync_is_suspended();
}

void ompp_mpi_nonblocking_begun(const ompp_mpi_piggyback_t *s, ompp_mpi_request_t *r)
{
    r->sure = s->bare || (s->even && s->bytes > 0);
    r->bytes = s->bytes;
    unsigned char *later = r->sent && may_wait_again(s) ? make_room(r) : NULL;
    if (later) {
        pthread_mutex_lock(&r->shadow->lock);
        r->later = later;
        pthread_mutex_unlock(&r->shadow->lock);
        ompp_mpi_under_way_add(r);
    }
    deliver_early(r);
}

void ompp_mpi_nonblocking_refused(ompp_mpi_request_t *r)
{
    r->shadow->started--;
    r->shadow->unread = true;
}

/* ---- End --------------------------------------------------------------------------------------------------------- */

static bool has_come(ompp_mpi_request_t *r, int i)
{
    if (is_self(r, i)) return true;
    pthread_mutex_lock(&r->shadow->lock);
    const bool come = r->come[i];
    pthread_mutex_unlock(&r->shadow->lock);
    return come;
}

/* One thread of a channel receives at a time, so that what comes is not overtaken. \return whether something was
 * received. */
static bool receive(ompp_mpi_request_t *r, int i, uint64_t limit)
{
    ompp_mpi_shadow_t *c = r->shadow;
    bool received = false;

    if (__atomic_exchange_n(&c->receiving, true, __ATOMIC_ACQUIRE)) {
        sched_yield();
        return false;
    }
    if (!has_come(r, i)) received = receive_one(c, source(r, i), limit);
    __atomic_store_n(&c->receiving, false, __ATOMIC_RELEASE);
    return received;
}

/* As much as is there. */
static void receive_all(ompp_mpi_request_t *r, int i)
{
    ompp_mpi_shadow_t *c = r->shadow;

    if (__atomic_exchange_n(&c->receiving, true, __ATOMIC_ACQUIRE)) return;
    while (receive_one(c, source(r, i), 0)) {
    }
    __atomic_store_n(&c->receiving, false, __ATOMIC_RELEASE);
}

typedef enum { COME, QUIET, MISSING } await_t;

/* Whether what ranks without clock vectors may have sent since is worth a look; that of rank 0 always is. */
static bool looks(ompp_mpi_shadow_t *c)
{
    if (!c->quiet || !ompp_sync_is_suspended()) return true;
    const ompp_time_t t = ompp_event_now();
    if (t - __atomic_load_n(&c->looked, __ATOMIC_RELAXED) < LOOK_NS) return false;
    __atomic_store_n(&c->looked, t, __ATOMIC_RELAXED);
    return true;
}

/* Until it has come, or until then: 0 = as far as it is there. */
static await_t await(ompp_mpi_request_t *r, int i, ompp_time_t until, bool look)
{
    while (!has_come(r, i)) {
        if (is_quiet(r, i)) {
            if (!look && !ompp_mpi_leads(r->shadow, source(r, i))) return QUIET;
            if (!receive(r, i, 0) && !has_come(r, i)) return QUIET;
            continue;
        }
        const ompp_time_t t = until ? ompp_event_now() : 0;
        const uint64_t left = until > t ? until - t : 0;
        if (!receive(r, i, left < SLICE_NS ? left : SLICE_NS) && left == 0) return has_come(r, i) ? COME : MISSING;
    }
    return COME;
}

/* \param[in] complete  nothing of it is left to come that was sent for certain. */
static void take_out(ompp_mpi_request_t *r, bool complete)
{
    ompp_mpi_request_t **link = &r->shadow->going;

    if (r->later) ompp_mpi_under_way_forget(r);
    pthread_mutex_lock(&r->shadow->lock);
    while (*link && *link != r) link = &(*link)->next_going;
    if (*link) *link = r->next_going;
    if (!complete || r->later) r->shadow->unread = true; /* ranks may tell any time that they are back */
    pthread_mutex_unlock(&r->shadow->lock);
    free(r->sent);
    free(r->later);
    r->sent = r->later = NULL;
}

void ompp_mpi_nonblocking_forget(ompp_mpi_request_t *r)
{
    if (r->sent) take_out(r, false);
}

/* The clock vectors of the start. \return whether all have come, or, while clocks are suspended, all that there are. */
static bool take_first(ompp_mpi_request_t *r, bool *missed)
{
    const bool awaited = __atomic_load_n(&r->shadow->misses, __ATOMIC_RELAXED) < OMPP_MPI_MOST_MISSES;
    const ompp_time_t until = awaited ? ompp_event_now() + (r->sure ? SURE_NS : UNSURE_NS) : 0;
    const bool look = looks(r->shadow);
    bool missing = false, quiet = false, any = takes_own(r);

    for (int i = 0; i < r->vectors; i++) {
        const await_t come = await(r, i, missing ? 0 : until, look);
        missing |= come == MISSING;
        quiet |= come == QUIET;
        any |= come == COME;
    }
    if (missing && awaited) __atomic_add_fetch(&r->shadow->misses, 1, __ATOMIC_RELAXED);
    *missed = missing;
    return !missing && any && (!quiet || ompp_sync_is_suspended());
}

/*
 * Whether operations of a kind and a size, up to twice as large, wait for the other ranks to come back: told by how
 * often one ended after that, and not before, when the last of them was back later than this rank.
 */
static _Atomic int waited[OMPP_MPI_ORDER_NUM][64];

static void vote(_Atomic int *votes, int more)
{
    const int now = atomic_load_explicit(votes, memory_order_relaxed) + more;

    if (now >= -MOST_VOTES && now <= MOST_VOTES) atomic_store_explicit(votes, now, memory_order_relaxed);
}

/* Who is not back yet. \return -1 = nobody. */
static int first_away(ompp_mpi_request_t *r)
{
    int i = 0;

    pthread_mutex_lock(&r->shadow->lock);
    while (i < r->vectors && (is_self(r, i) || r->later[ompp_mpi_piggyback_state.bytes + (size_t)i])) i++;
    pthread_mutex_unlock(&r->shadow->lock);
    return i < r->vectors ? i : -1;
}

/* \return whether all were back when the operation was over, as far as that is known after a moment at most. */
static bool all_were_back(ompp_mpi_request_t *r, uint64_t ns)
{
    const ompp_time_t until = ompp_event_now() + ns;
    int away;

    for (int i = 0; i < r->vectors; i++)
        if (!is_self(r, i)) receive_all(r, i);
    while ((away = first_away(r)) >= 0 && ompp_event_now() < until) {
        sched_yield();
        receive_all(r, away);
    }
    return away < 0;
}

/* Other threads may receive more of them. */
static void add(ompp_mpi_request_t *r, const unsigned char *vector, unsigned char *sum)
{
    pthread_mutex_lock(&r->shadow->lock);
    ompp_sync_combine(sum, vector);
    pthread_mutex_unlock(&r->shadow->lock);
}

/*
 * Adds the clock vectors of those that have come back, when the operation has waited for that.
 * \param[in] waits_since  this thread has done nothing but wait; 0 = not known. \return false = that is not known.
 */
static bool take_later(ompp_mpi_request_t *r, ompp_time_t waits_since, ompp_time_t end, unsigned char *sum)
{
    _Atomic int *votes = &waited[r->whom.order][63 - __builtin_clzll(r->bytes | 1)];
    const int64_t since = ompp_mpi_clock_common(waits_since);
    const bool waits = atomic_load_explicit(votes, memory_order_relaxed) > 0;

    pthread_mutex_lock(&r->shadow->lock);
    r->end = ompp_mpi_clock_common(end);
    pthread_mutex_unlock(&r->shadow->lock);
    if (r->unsure) return !waits;
    const bool back = all_were_back(r, waits ? AGAIN_NS : 0);
    if (waits_since && !back) vote(votes, -1);
    else if (waits_since && r->later_ns > since + (int64_t)LONG_NS) vote(votes, 1);
    if (back && atomic_load_explicit(votes, memory_order_relaxed) > 0) add(r, r->later, sum);
    return true;
}

bool ompp_mpi_nonblocking_done(ompp_mpi_request_t *r, ompp_time_t waits_since, ompp_time_t end, unsigned char *sum)
{
    bool missed = false, known = r->sent && take_first(r, &missed);

    if (known) add(r, r->sent, sum);
    if (known && r->later && !ompp_sync_is_suspended()) known = take_later(r, waits_since, end, sum);
    if (r->sent) take_out(r, !missed);
    return known;
}
