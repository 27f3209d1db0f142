/**
 * \file
 * Clock vectors of messages: sent before the message, received after it; and acknowledgements, by which a sender that
 * had to wait for its receiver (rendezvous, MPI_Ssend) learns the receiver's clocks.
 *
 * Whether a send waited is told by time alone: the receiver began to receive after the send had begun and before it
 * ended. The acknowledgement has the receiver's clocks at that time. It is sent when the receive is complete, that is,
 * at about the time when the send is; or as the receive begins, where the clock vector of the message is already here.
 * A sender that has waited gives it a little time to come; one that has not takes it back into the pool whenever it
 * comes.
 */
#define OMPP_LOG_DOMAIN "mpi"
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"

#include "base/ompp_log.h"

#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_ACKS 1024u       /* waited for at once; further sends ask for none */
#define ACK_TAGS 0x7fffu     /* numbers of acknowledgements; every MPI has tags up to here */
#define SHORT_SEND_NS 10000u /* has not waited for anybody */
/* what we look for brings messages on: a receiver may be ready so much later than its sender goes on */
#define CLOSE_NS 20000u
/* ... or so large a part of a call that waits for this send alone: MPI may take a message over in the receiver's call
 * before. But not later than the sender waits for the acknowledgement. */
#define CLOSE_PART 8u
/* how long to wait for an acknowledgement, and besides for one part in so many of the time that the send took */
#define ACK_SHORT_NS 50000u
#define ACK_PART 50u
#define ACK_LONG_NS 2000000u
#define SLICE_NS 1000000u
/* waiting for acknowledgements that do not come may take one part in so many of the time since the first */
#define VAIN_PART 200u
#define VAIN_NS 1000000u /* and this */
#define SUCCESS_PART 2u  /* of waiting for those that do come, this part counts, too */

/* ---- Messages of ours on their way ------------------------------------------------------------------------------- */

/*
 * Open MPI has done with what is small when it is sent; with what is larger when the program has been in MPI a few
 * times, and nobody has to ask before. With MPICH messages of a rank to itself do not arrive unless somebody asks.
 */
#if defined(OPEN_MPI)
#define AT_ONCE 256 /* bytes */
#define KEPT 16u
#else
#define AT_ONCE INT_MAX
#define KEPT 0u
#endif

typedef struct {
    pthread_mutex_t lock;
    ompp_mpi_parcel_t *first, *last; /* oldest first */
    unsigned length;                 /* atomic */
} list_t;

static void put(list_t *list, ompp_mpi_parcel_t *p)
{
    p->next = NULL;
    pthread_mutex_lock(&list->lock);
    if (list->first) list->last->next = p;
    else list->first = p;
    list->last = p;
    __atomic_add_fetch(&list->length, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&list->lock);
}

static ompp_mpi_parcel_t *take_oldest(list_t *list)
{
    ompp_mpi_parcel_t *p;

    pthread_mutex_lock(&list->lock);
    p = list->first;
    if (p) {
        list->first = p->next;
        __atomic_sub_fetch(&list->length, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&list->lock);
    return p;
}

/* Sent; acknowledgements that nobody waits for, and that may still come; those that have come, to be used again. */
static list_t sent = {.lock = PTHREAD_MUTEX_INITIALIZER}, late = {.lock = PTHREAD_MUTEX_INITIALIZER},
              come = {.lock = PTHREAD_MUTEX_INITIALIZER};

/*
 * From what size on a send waits for its receiver is MPI's secret. Of each size, up to twice as large, it is told by
 * how often a send ended after its receiver was ready, when that was ready later than the send began; and how often
 * before.
 */
#define SYNCHRONOUS 63u /* not a size of any message: the send always waits */

static _Atomic int waited_of_size[SYNCHRONOUS + 1];

/* If the receiver came after the end of the send, sends of this size do not always wait. */
static void note_if_not_awaited(const ompp_mpi_parcel_t *ack)
{
    if (ack->message->header.moment_ns > ack->latest)
        atomic_fetch_sub_explicit(&waited_of_size[ack->size], 1, memory_order_relaxed);
}

/*
 * Takes those that are done from a list, the oldest first, as long as there are more than so many. To ask for a request
 * that is not done may cost the processor: where there are more ranks than processors, MPI gives it away then. So a
 * call ends its look at a list with the first one that is not done, which is the youngest from then on.
 */
static void reclaim(list_t *list, unsigned kept)
{
    for (unsigned n = __atomic_load_n(&list->length, __ATOMIC_RELAXED); n > kept; n--) {
        ompp_mpi_parcel_t *p = take_oldest(list);
        const bool done = p && ompp_mpi_piggyback_complete(&p->request, 0);

        if (!p) return;
        if (done && p->latest) note_if_not_awaited(p);
        if (!done || list == &late) put(done ? &come : list, p);
        if (!done) return;
        if (list == &late) continue;
        ompp_mpi_piggyback_free(p->message);
        free(p->buffers);
        free(p);
    }
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

void ompp_mpi_piggyback_leave(MPI_Request request, void *buffers)
{
    ompp_mpi_parcel_t *p = malloc(sizeof *p);

    if (!p) return; /* nobody completes it */
    *p = (ompp_mpi_parcel_t){.request = request, .buffers = buffers};
    put(&sent, p);
}

/*
 * Owns message. quiet: MPI is not to make progress, as it makes none in the call that this is for: what other ranks
 * wait for would be done earlier than without us.
 */
static void send_message(MPI_Comm comm, int dest, int tag, ompp_mpi_message_t *message, bool quiet)
{
    MPI_Request request;
    ompp_mpi_parcel_t *p;

    if (!quiet) reclaim(&sent, KEPT);
    const int bytes = (int)(sizeof(ompp_mpi_header_t) + message->header.bytes);
    if (PMPI_Isend(message, bytes, MPI_BYTE, dest, tag, comm, &request) != MPI_SUCCESS ||
        (!quiet && bytes <= AT_ONCE && ompp_mpi_piggyback_complete(&request, 0))) {
        ompp_mpi_piggyback_free(message);
        return;
    }
    p = malloc(sizeof *p);
    if (!p) return; /* the message must stay; so it is lost to us */
    *p = (ompp_mpi_parcel_t){.request = request, .message = message};
    put(&sent, p);
}

ompp_mpi_message_t *ompp_mpi_piggyback_moment(ompp_time_t t)
{
    ompp_mpi_message_t *message = ompp_mpi_piggyback_new();

    if (!message) return NULL;
    message->header = (ompp_mpi_header_t){.moment_ns = ompp_mpi_clock_common(t)};
    message->header.bytes = (uint32_t)ompp_sync_clock_vector(message->vector, t);
    return message;
}

void ompp_mpi_piggyback_post(MPI_Comm comm, int dest, int tag, ompp_time_t t)
{
    ompp_mpi_message_t *message = ompp_mpi_piggyback_moment(t);

    if (message) send_message(comm, dest, tag, message, false);
}

/* NULL = no memory. */
static ompp_mpi_message_t *copy_of(const ompp_mpi_message_t *message)
{
    ompp_mpi_message_t *copy = ompp_mpi_piggyback_new();

    if (copy) memcpy(copy, message, sizeof(ompp_mpi_header_t) + message->header.bytes);
    if (copy) ompp_mpi_piggyback_widen(copy);
    return copy;
}

void ompp_mpi_piggyback_sum(ompp_mpi_message_t **sum, ompp_mpi_message_t *message)
{
    if (!*sum) {
        *sum = message;
        return;
    }
    if (message) ompp_sync_combine((*sum)->vector, message->vector);
    ompp_mpi_piggyback_free(message);
}

/* ---- Collective calls -------------------------------------------------------------------------------------------- */

void ompp_mpi_piggyback_send_sum(ompp_mpi_shadow_t *shadow, int dest, int tag, uint32_t call,
                                 const ompp_mpi_message_t *message, bool quiet)
{
    const ompp_mpi_header_t *header = &message->header;
    ompp_mpi_message_t *copy = ompp_mpi_piggyback_new();

    if (!copy) return;
    memcpy(copy, message, sizeof *header + header->bytes);
    copy->header.call = call;
    send_message(shadow->hidden, dest, tag, copy, quiet);
}

ompp_mpi_message_t *ompp_mpi_piggyback_expect(ompp_mpi_shadow_t *shadow, int source, uint32_t call, uint64_t limit_ns)
{
    for (;;) {
        ompp_mpi_message_t *message =
            ompp_mpi_piggyback_fetch(shadow->hidden, source, ompp_mpi_piggyback_own_tag(), limit_ns);
        const int32_t late = message ? (int32_t)(call - message->header.call) : 0;
        if (late == 0) return message;
        ompp_mpi_piggyback_free(message);
        if (late < 0) return NULL;
    }
}

void ompp_mpi_piggyback_add(ompp_mpi_message_t *message, ompp_mpi_message_t *other)
{
    uint64_t *words = (uint64_t *)(void *)message->vector, used = ompp_mpi_piggyback_state.bytes / sizeof *words;

    ompp_mpi_piggyback_widen(message);
    ompp_sync_combine(words, other->vector);
    while (used > 0 && !words[used - 1]) used--;
    message->header.bytes = (uint32_t)(used * sizeof *words);
}

/* ---- Acknowledgements -------------------------------------------------------------------------------------------- */

static struct {
    unsigned count, number; /* atomic */
} acks;

void ompp_mpi_ack_drop(ompp_mpi_parcel_t *ack)
{
    if (ack) put(ack->request == MPI_REQUEST_NULL ? &come : &late, ack);
}

static bool always_waits(const ompp_mpi_parcel_t *ack)
{
    return ack->size == SYNCHRONOUS || atomic_load_explicit(&waited_of_size[ack->size], memory_order_relaxed) > 0;
}

/* One that has come is used again. quiet: only one that is known to have come. */
static ompp_mpi_parcel_t *new_ack(const ompp_mpi_shadow_t *shadow, int dest, uint64_t bytes, bool quiet)
{
    if (!quiet && !__atomic_load_n(&come.length, __ATOMIC_RELAXED)) reclaim(&late, 0);
    ompp_mpi_parcel_t *r = take_oldest(&come);
    if (!r) {
        r = __atomic_load_n(&acks.count, __ATOMIC_RELAXED) < MAX_ACKS ? calloc(1, sizeof *r) : NULL;
        if (!r) return NULL;
        __atomic_add_fetch(&acks.count, 1, __ATOMIC_RELAXED);
    }
    r->size = bytes == OMPP_MPI_SYNCHRONOUS ? SYNCHRONOUS : 63u - (unsigned)__builtin_clzll(bytes | 1);
    r->latest = 0;
    r->slack_ns = CLOSE_NS;
    if (!r->message) r->message = ompp_mpi_piggyback_new();
    r->number = __atomic_fetch_add(&acks.number, 1, __ATOMIC_RELAXED) % ACK_TAGS;
    if (r->message &&
        PMPI_Irecv(r->message, (int)ompp_mpi_piggyback_state.message, MPI_BYTE, ompp_mpi_world_rank(shadow, dest),
                   (int)r->number, ompp_mpi_piggyback_state.acks, &r->request) == MPI_SUCCESS)
        return r;
    __atomic_sub_fetch(&acks.count, 1, __ATOMIC_RELAXED);
    ompp_mpi_piggyback_free(r->message);
    free(r);
    return NULL;
}

/*
 * Where both sides send before they complete what they receive, no acknowledgement comes while one waits for it: each
 * has the other's only later. Programs do that thousands of times per second.
 */
static struct {
    _Atomic uint64_t first, vain; /* when one was waited for first; waiting, above all without success, ns */
} waits;

static bool can_afford_to_wait(ompp_time_t t)
{
    uint64_t first = 0;

    atomic_compare_exchange_strong_explicit(&waits.first, &first, t, memory_order_relaxed, memory_order_relaxed);
    if (!first) first = t;
    const uint64_t passed = t > first ? t - first : 0;
    return atomic_load_explicit(&waits.vain, memory_order_relaxed) < VAIN_NS + passed / VAIN_PART;
}

/* MPI may see what has come only after one more look. */
static bool has_come(ompp_mpi_parcel_t *ack)
{
    return ompp_mpi_piggyback_complete(&ack->request, 0) || ompp_mpi_piggyback_complete(&ack->request, 0);
}

/* \return whether the acknowledgement is there, after that many nanoseconds at most. */
static bool wait_for_ack(ompp_mpi_parcel_t *ack, uint64_t ns)
{
    const ompp_time_t begin = ompp_event_now();

    if (ns == 0 || !can_afford_to_wait(begin)) return has_come(ack);
    const bool there = ompp_mpi_piggyback_complete(&ack->request, ns);
    atomic_fetch_add_explicit(&waits.vain, (ompp_event_now() - begin) / (there ? SUCCESS_PART : 1),
                              memory_order_relaxed);
    return there;
}

/* How long the sender waits for an acknowledgement, ns. */
static uint64_t patience(ompp_time_t begin, ompp_time_t end)
{
    const uint64_t limit = ACK_SHORT_NS + (end > begin ? (end - begin) / ACK_PART : 0);

    return limit < ACK_LONG_NS ? limit : ACK_LONG_NS;
}

void ompp_mpi_ack_allow_slack(ompp_mpi_parcel_t *ack, ompp_time_t begin, ompp_time_t end)
{
    const uint64_t part = end > begin ? (end - begin) / CLOSE_PART : 0, limit = patience(begin, end),
                   close = part < limit ? part : limit;

    if (close > CLOSE_NS) ack->slack_ns = close;
}

bool ompp_mpi_ack_take(ompp_mpi_parcel_t *ack, ompp_time_t begin, ompp_time_t end, bool always,
                       ompp_mpi_message_t **sum)
{
    const bool is_short = end - begin < SHORT_SEND_NS;
    bool waited = false;

    if (!ack) return false;
    always |= always_waits(ack);
    ack->latest = ompp_mpi_clock_common(end) + (int64_t)ack->slack_ns;
    if ((always || !is_short) && wait_for_ack(ack, is_short && !always ? 0 : patience(begin, end))) {
        const int64_t t = ack->message->header.moment_ns, since = ompp_mpi_clock_common(begin);
        const bool before = t <= ack->latest;
        waited = (always || t > since) && before;
        if (before && t > since + SHORT_SEND_NS)
            atomic_fetch_add_explicit(&waited_of_size[ack->size], 1, memory_order_relaxed);
        note_if_not_awaited(ack);
        ompp_mpi_piggyback_widen(ack->message);
        if (waited) ompp_mpi_piggyback_sum(sum, ack->message);
        if (waited) ack->message = NULL;
    }
    ompp_mpi_ack_drop(ack);
    return waited;
}

/* The last clock vector of a message from there that waits for this rank and is not received yet. \return whether there
 * is one. */
static bool add_here(ompp_mpi_shadow_t *shadow, int source, ompp_mpi_message_t **sum)
{
    const ompp_mpi_here_t *last = NULL;

    if (!shadow->here) return false;
    pthread_mutex_lock(&shadow->lock);
    for (const ompp_mpi_here_t *h = shadow->here; h; h = h->next)
        if (h->message && h->source == source && h->message->header.ack) last = h;
    if (last && sum) ompp_mpi_piggyback_sum(sum, copy_of(last->message));
    pthread_mutex_unlock(&shadow->lock);
    return last != NULL;
}

bool ompp_mpi_ack_take_blocking(ompp_mpi_shadow_t *shadow, int dest, ompp_mpi_parcel_t *ack, ompp_time_t begin,
                                ompp_time_t end, ompp_mpi_message_t **sum)
{
    const bool always = ack && always_waits(ack);

    if (!ack || has_come(ack) || !add_here(shadow, dest, always ? sum : NULL))
        return ompp_mpi_ack_take(ack, begin, end, false, sum);
    ompp_mpi_ack_drop(ack); /* what it says is when the other goes on to receive */
    return always;
}

/* Once: the state at begin. */
static void give_ack(ompp_mpi_shadow_t *shadow, int source, ompp_mpi_header_t *header, ompp_time_t begin)
{
    const bool due = header->ack && !(header->flags & OMPP_MPI_ACKNOWLEDGED);
    ompp_mpi_message_t *reply = due ? ompp_mpi_piggyback_moment(begin) : NULL;

    header->flags |= OMPP_MPI_ACKNOWLEDGED;
    if (header->ack) __atomic_store_n(&shadow->asks, true, __ATOMIC_RELAXED);
    if (reply)
        send_message(ompp_mpi_piggyback_state.acks, ompp_mpi_world_rank(shadow, source), (int)header->ack - 1, reply,
                     false);
}

/* ---- Messages of the user ---------------------------------------------------------------------------------------- */

ompp_mpi_parcel_t *ompp_mpi_piggyback_send(ompp_mpi_shadow_t *shadow, int dest, int tag, uint64_t waiting,
                                           unsigned flags, bool quiet, ompp_time_t t)
{
    ompp_mpi_parcel_t *ack;
    ompp_mpi_message_t *message;
    uint32_t number;
    bool suppressed;

    if (!ompp_mpi_travels(shadow, dest, tag) || !ompp_mpi_suppression_send(shadow, dest, tag, &number, &suppressed))
        return NULL;
    ack = waiting ? new_ack(shadow, dest, waiting, quiet) : NULL;
    message = ompp_mpi_piggyback_moment(t);
    if (!message) return ack;
    message->header.ack = ack ? ack->number + 1 : 0;
    message->header.flags = flags | (suppressed ? OMPP_MPI_SUPPRESSED : 0);
    message->header.number = number;
    ompp_sync_note_sent((unsigned)ompp_mpi_world_rank(shadow, dest));
    send_message(shadow->hidden, dest, tag, message, quiet);
    return ack;
}

void ompp_mpi_piggyback_skip(ompp_mpi_shadow_t *shadow, int source, int tag)
{
    if (ompp_mpi_suppression_skip(shadow, source, tag)) return;
    ompp_mpi_message_t *message = ompp_mpi_here_take(shadow, source, tag, OMPP_MPI_DUE | OMPP_MPI_GIVEN);

    if (message) ompp_mpi_piggyback_free(message);
    else ompp_mpi_here_put(shadow, source, tag, NULL, false);
}

/* A message without a clock vector: its sender does not take part as we do. Nothing is sent or awaited from now on. */
static void stop_exchanging(void)
{
    if (__atomic_exchange_n(&ompp_mpi_piggyback_state.lost, 1, __ATOMIC_RELAXED)) return;
    __atomic_store_n(&ompp_mpi_piggyback_state.alone, false, __ATOMIC_RELAXED);
    ompp_mpi_unfollowed("messages after one that came without them");
}

/* The next one, of whatever message. If the program has freed the receive of that one, the one after it is taken. */
static ompp_mpi_message_t *next_of_all(ompp_mpi_shadow_t *shadow, int source, int tag, uint64_t limit_ns)
{
    ompp_mpi_message_t *message = ompp_mpi_here_bring(shadow, source, tag, true, limit_ns);
    const bool skips = message && ompp_mpi_here_has(shadow, source, tag, OMPP_MPI_SKIPPED);
    ompp_mpi_message_t *next = skips ? ompp_mpi_here_bring(shadow, source, tag, true, 0) : NULL;

    if (!next) return message;
    ompp_mpi_piggyback_free(message);
    ompp_mpi_here_take(shadow, source, tag, OMPP_MPI_SKIPPED);
    return next;
}

/* The next one: the oldest that is here, or what comes. \param[in] gone  the message has been received. */
static ompp_mpi_message_t *next_message(ompp_mpi_shadow_t *shadow, int source, int tag, uint64_t limit_ns, bool gone)
{
    ompp_mpi_message_t *message = NULL;

    /* In slices: another thread may learn that there is none. */
    for (uint64_t waited = SLICE_NS;
         !message && !ompp_mpi_suppression_next(shadow, source, tag, limit_ns, gone, &message); waited += SLICE_NS) {
        message = next_of_all(shadow, source, tag, limit_ns < SLICE_NS ? limit_ns : SLICE_NS);
        const bool numbered = message && message->header.number;
        if (numbered && !ompp_mpi_suppression_take(shadow, source, tag, gone, &message)) stop_exchanging();
        if (numbered) break;
        if (message || waited < limit_ns) continue;
        if (limit_ns > 0) stop_exchanging();
        break;
    }
    return message;
}

/* Adds what message says. Owns it. */
static void read_message(ompp_mpi_message_t *message, ompp_mpi_message_t **sum, unsigned *flags)
{
    if (message) *flags |= message->header.flags & ~(OMPP_MPI_SUPPRESSED | OMPP_MPI_ACKNOWLEDGED);
    ompp_mpi_piggyback_sum(sum, message);
}

/* The receive has got the message; NULL: it did not come. Its acknowledgement has been given. */
static ompp_mpi_message_t *claim(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin, uint64_t limit_ns)
{
    if (!ompp_mpi_travels(shadow, source, tag)) return NULL;
    __atomic_add_fetch(&shadow->claims, 1, __ATOMIC_SEQ_CST);
    /* What another thread acknowledges is here soon: it waits for nobody. */
    while (__atomic_load_n(&shadow->acknowledgements, __ATOMIC_SEQ_CST)) sched_yield();
    ompp_mpi_message_t *message = next_message(shadow, source, tag, limit_ns, true);
    __atomic_sub_fetch(&shadow->claims, 1, __ATOMIC_SEQ_CST);
    if (message) give_ack(shadow, source, &message->header, begin);
    return message;
}

bool ompp_mpi_piggyback_pass_suppressed(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t t)
{
    return ompp_sync_is_suspended() && !shadow->here && !__atomic_load_n(&shadow->acknowledgements, __ATOMIC_RELAXED) &&
           ompp_mpi_travels(shadow, source, tag) && ompp_mpi_suppression_pass(shadow, source, tag, t);
}

bool ompp_mpi_piggyback_claim(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin, uint64_t limit_ns,
                              ompp_mpi_message_t **sum, unsigned *flags)
{
    ompp_mpi_message_t *message = claim(shadow, source, tag, begin, limit_ns);

    read_message(message, sum, flags);
    return message != NULL;
}

void ompp_mpi_piggyback_match(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin,
                              ompp_mpi_message_t **sum, unsigned *flags)
{
    ompp_mpi_message_t *message = claim(shadow, source, tag, begin, OMPP_MPI_PIGGYBACK_LIMIT_NS);

    if (message && message->header.ack) ompp_sync_flag(OMPP_WHATIF_F_OVERLAP, true);
    read_message(message, sum, flags);
}

void ompp_mpi_piggyback_peek(ompp_mpi_shadow_t *shadow, int source, int tag, bool received, ompp_time_t begin,
                             ompp_mpi_message_t **sum, unsigned *flags)
{
    if (!ompp_mpi_travels(shadow, source, tag)) return;
    /* A probed message may not have all of its companions here yet. */
    ompp_mpi_message_t *message = next_message(shadow, source, tag, OMPP_MPI_PIGGYBACK_LIMIT_NS, false);
    if (!message) return;
    if (received) give_ack(shadow, source, &message->header, begin);
    read_message(copy_of(message), sum, flags);
    ompp_mpi_here_put(shadow, source, tag, message, true);
}

bool ompp_mpi_piggyback_acknowledge(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin)
{
    ompp_mpi_message_t *message = NULL;
    ompp_mpi_header_t header;

    if (!ompp_mpi_travels(shadow, source, tag)) return false;
    bool given = ompp_mpi_here_acknowledge(shadow, source, tag, &header);
    if (!given) {
        __atomic_add_fetch(&shadow->acknowledgements, 1, __ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&shadow->claims, __ATOMIC_SEQ_CST))
            message = ompp_mpi_piggyback_fetch(shadow->hidden, source, tag, 0);
        if (message) ompp_mpi_here_put(shadow, source, tag, message, false);
        given = message && ompp_mpi_here_acknowledge(shadow, source, tag, &header);
        __atomic_sub_fetch(&shadow->acknowledgements, 1, __ATOMIC_SEQ_CST);
    }
    if (given) give_ack(shadow, source, &header, begin);
    return given;
}

void ompp_mpi_piggyback_reclaim(void)
{
    reclaim(&sent, KEPT);
    reclaim(&late, 0);
}

void ompp_mpi_piggyback_clean(void)
{
    for (ompp_mpi_parcel_t *p = take_oldest(&sent); p; p = take_oldest(&sent))
        if (!ompp_mpi_piggyback_complete(&p->request, 0) && !p->buffers && p->request != MPI_REQUEST_NULL)
            PMPI_Request_free(&p->request);
    for (ompp_mpi_parcel_t *p = take_oldest(&late); p; p = take_oldest(&late))
        if (!ompp_mpi_piggyback_complete(&p->request, 0)) ompp_mpi_piggyback_withdraw(&p->request);
}
