/**
 * \file
 * What a call of MPI does for the clocks of its thread, before and after MPI's function. Every row of mpi_calls.def
 * comes here, by its class; the transport is in the other files (mpi_stamp_priv.h).
 */
#define _GNU_SOURCE
#include "mpi-wrap/mpi_stamp_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* A program that only asks, again and again, is waiting; one that is away for longer, and for more than a part of the
 * time, works. */
#define ASKING_GAP_NS 20000u
#define ASKING_PART 16
#define ASKING_MOST_NS 5000000

/* ---- Waits ------------------------------------------------------------------------------------------------------- */

void ompp_mpi_adopt_within(const unsigned char *sum, ompp_time_t begin, ompp_sync_remote_t kind, ompp_time_t limit)
{
    const ompp_sync_wait_t wait = {.begin = begin, .end = ompp_event_now(), .kind = kind, .limit = limit};

    ompp_sync_pay(ompp_sync_adopt(sum, &wait));
}

void ompp_mpi_adopt(const unsigned char *sum, ompp_time_t begin, ompp_sync_remote_t kind, unsigned flags)
{
    const ompp_sync_wait_t wait = {.begin = begin, .end = ompp_event_now(), .kind = kind, .flags = flags};

    ompp_sync_pay(ompp_sync_adopt(sum, &wait));
}

void ompp_mpi_lose(const ompp_mpi_stamp_t *s)
{
    const ompp_time_t limit = OMPP_MPI_ALONE_NS + ompp_mpi_stamping_state.exchange;

    if (ompp_event_now() - s->begin > limit) ompp_mpi_adopt_within(NULL, s->begin, OMPP_SYNC_ONE_SIDED, limit);
}

/* What a thread has had of the processor until t, and how often it has given it back by itself. */
typedef struct {
    ompp_time_t t;
    int64_t busy_ns;
    long sleeps;
} usage_t;

static usage_t usage_at(ompp_time_t t)
{
    struct timespec busy = {0, 0};
    struct rusage usage = {.ru_nvcsw = 0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &busy);
    getrusage(RUSAGE_THREAD, &usage);
    return (usage_t){t, busy.tv_sec * 1000000000LL + busy.tv_nsec, usage.ru_nvcsw};
}

static __thread struct {
    ompp_time_t since, end;
    usage_t usage;   /* at some moment since then; no call and no gap was long from there to end */
    int64_t away_ns; /* in long gaps */
} asking;

static void begin_to_ask(ompp_time_t t)
{
    asking.since = t;
    asking.away_ns = 0;
}

/* Between two calls that ask somebody else had the processor, or the machine was busy for a moment. A thread that
 * sleeps in between may work so. */
static bool was_only_held_up(ompp_time_t begin)
{
    const usage_t before = asking.usage, now = usage_at(begin);
    const int64_t asked = (int64_t)(asking.end - before.t), away = now.busy_ns - before.busy_ns - asked;

    asking.usage = now;
    if (now.sleeps != before.sleeps) return false;
    if (away < (int64_t)ASKING_GAP_NS) return true;
    if (away > ASKING_MOST_NS) return false;
    asking.away_ns += away;
    return asking.away_ns < (int64_t)(asking.end - asking.since) / ASKING_PART;
}

ompp_time_t ompp_mpi_polls_since(void) { return asking.since; }

ompp_time_t ompp_mpi_polled(ompp_time_t begin, bool success)
{
    ompp_time_t since;

    if (ompp_sync_rests()) {
        asking.since = 0;
        return begin;
    }
    if (!asking.since) {
        begin_to_ask(begin);
        asking.usage = usage_at(begin);
    } else if (begin - asking.end > ASKING_GAP_NS && !was_only_held_up(begin)) {
        begin_to_ask(begin);
    }
    since = asking.since;
    asking.end = ompp_event_now();
    if (asking.end - begin > ASKING_GAP_NS) asking.usage = usage_at(asking.end);
    if (success) asking.since = 0;
    return since;
}

/*
 * Adds up what one call has waited for, and adopts it: in calls that do both, the message and the receiver of what it
 * has sent. The receipt that the other side may wait for is given first.
 */
static void adopt_claim(ompp_mpi_stamp_t *s, int source, int tag, bool good, unsigned flags)
{
    const ompp_time_t end = ompp_event_now();
    unsigned char *message;
    bool claimed;

    if (good && !s->receipt && ompp_mpi_stamp_pass_silently(s->channel, source, tag, end)) {
        ompp_mpi_adopt(NULL, s->begin, OMPP_SYNC_MESSAGE, flags);
        return;
    }
    message = s->received ? ompp_mpi_stamp_new() : NULL;
    if (!message) {
        ompp_mpi_receipt_drop(s->receipt);
        s->receipt = NULL;
        return;
    }
    memset(ompp_mpi_stamp_of(message), 0, ompp_mpi_stamping_state.bytes);
    claimed = ompp_mpi_stamp_claim(s->channel, source, tag, s->begin, good ? OMPP_MPI_STAMP_LIMIT_S : 0, NULL,
                                   ompp_mpi_stamp_of(message), &flags);
    if (s->receipt && good)
        claimed |=
            ompp_mpi_receipt_take_blocking(s->channel, s->peer, s->receipt, s->begin, end, ompp_mpi_stamp_of(message));
    else ompp_mpi_receipt_drop(s->receipt);
    s->receipt = NULL;
    if (good) ompp_mpi_adopt(claimed ? ompp_mpi_stamp_of(message) : NULL, s->begin, OMPP_SYNC_MESSAGE, flags);
    ompp_mpi_stamp_free(message);
}

/* ---- Sends ------------------------------------------------------------------------------------------------------- */

/* \return what ompp_mpi_stamp_send() is to know. */
static uint64_t waits_for_receiver(const ompp_mpi_stamp_t *s)
{
    if (s->op == OMPP_MPI_STAMP_BSEND || s->op == OMPP_MPI_STAMP_IBSEND) return 0;
    if (s->op == OMPP_MPI_STAMP_SSEND || s->op == OMPP_MPI_STAMP_ISSEND || s->op == OMPP_MPI_STAMP_SSEND_INIT)
        return OMPP_MPI_SYNCHRONOUS;
    const uint64_t bytes = ompp_mpi_bytes_of(s->count, s->type);
    return bytes > OMPP_MPI_ALONE_BYTES ? bytes : 0;
}

static bool can_send(const ompp_mpi_stamp_t *s)
{
    return s->channel && s->count >= 0 && s->type != MPI_DATATYPE_NULL &&
           ompp_mpi_sends_to(s->channel, s->peer, s->tag);
}

static bool is_blocking(const ompp_mpi_stamp_t *s)
{
    return s->op == OMPP_MPI_STAMP_SEND || s->op == OMPP_MPI_STAMP_SSEND || s->op == OMPP_MPI_STAMP_SENDRECV;
}

/* The own stamp first: it may be what the other side waits for. */
static void send_before(ompp_mpi_stamp_t *s)
{
    const bool can = can_send(s);
    const uint64_t waits = can && !ompp_sync_rests() ? waits_for_receiver(s) : 0;

    if (can && ompp_sync_keep_up()) s->begin = ompp_event_now();
    if (can) s->receipt = ompp_mpi_stamp_send(s->channel, s->peer, s->tag, waits, 0, false, s->begin);
    if (waits && is_blocking(s)) ompp_mpi_progress_before(s->begin);
}

/* MPI may have taken over a small message only; the rest of a large one goes when the sender next calls MPI. */
static void doubt_buffered(const ompp_mpi_stamp_t *s)
{
    const bool buffered =
        s->op == OMPP_MPI_STAMP_BSEND || s->op == OMPP_MPI_STAMP_IBSEND || s->op == OMPP_MPI_STAMP_BSEND_INIT;

    if (buffered && can_send(s) && ompp_mpi_bytes_of(s->count, s->type) > OMPP_MPI_EAGER_BYTES)
        ompp_sync_doubt(OMPP_WHATIF_F_OVERLAP, true);
}

/* A blocking send is over. */
static void send_after(ompp_mpi_stamp_t *s, bool good)
{
    const ompp_time_t end = ompp_event_now();
    unsigned char *message = s->receipt && good ? ompp_mpi_stamp_new() : NULL;

    if (good) doubt_buffered(s);
    if (!message) {
        ompp_mpi_receipt_drop(s->receipt);
        return;
    }
    memset(ompp_mpi_stamp_of(message), 0, ompp_mpi_stamping_state.bytes);
    if (ompp_mpi_receipt_take_blocking(s->channel, s->peer, s->receipt, s->begin, end, ompp_mpi_stamp_of(message)))
        ompp_mpi_adopt(ompp_mpi_stamp_of(message), s->begin, OMPP_SYNC_RECEIPT, 0);
    ompp_mpi_stamp_free(message);
}

/* ---- Receives and probes ----------------------------------------------------------------------------------------- */

static int source_of(const ompp_mpi_stamp_t *s)
{
    return s->op == OMPP_MPI_STAMP_SENDRECV || s->op == OMPP_MPI_STAMP_ISENDRECV ? s->source : s->peer;
}

static int tag_of(const ompp_mpi_stamp_t *s)
{
    return s->op == OMPP_MPI_STAMP_SENDRECV || s->op == OMPP_MPI_STAMP_ISENDRECV ? s->recvtag : s->tag;
}

/* Senders may wait for this rank. */
static bool receipts_are_due(const ompp_mpi_channel_t *channel) { return ompp_mpi_asks(channel) && !ompp_sync_rests(); }

static void receive_before(ompp_mpi_stamp_t *s)
{
    const bool any = source_of(s) == MPI_ANY_SOURCE || tag_of(s) == MPI_ANY_TAG;

    ompp_mpi_progress_before(s->begin);
    if (!s->channel) return;
    if (any) ompp_mpi_substitute(s, 1);
    if (any || !receipts_are_due(s->channel) || (s->op != OMPP_MPI_STAMP_RECV && s->op != OMPP_MPI_STAMP_SENDRECV))
        return;
    ompp_mpi_stamp_bring_on();
    ompp_mpi_stamp_acknowledge(s->channel, source_of(s), tag_of(s), s->begin, NULL);
}

/* Whose message it was; false = nobody's. */
static bool matched(const ompp_mpi_stamp_t *s, int *source, int *tag, unsigned *flags)
{
    MPI_Status room;
    const MPI_Status *status = NULL;

    *source = source_of(s);
    *tag = tag_of(s);
    *flags = *source == MPI_ANY_SOURCE && s->channel->peers > 1 ? OMPP_WHATIF_F_WILDCARD : 0;
    if (*source == MPI_ANY_SOURCE || *tag == MPI_ANY_TAG) {
        status = ompp_mpi_status(s, 0, &room);
        if (!status) return false;
        *source = status->MPI_SOURCE;
        *tag = status->MPI_TAG;
    }
    return *source != MPI_PROC_NULL;
}

static void receive_after(ompp_mpi_stamp_t *s, bool good)
{
    unsigned flags;
    int source, tag;

    ompp_mpi_stamp_reclaim();
    if (s->channel && matched(s, &source, &tag, &flags)) adopt_claim(s, source, tag, good, flags);
}

static void probe_after(ompp_mpi_stamp_t *s, bool good)
{
    const bool asks = s->flag != NULL, matches = s->op == OMPP_MPI_STAMP_MPROBE || s->op == OMPP_MPI_STAMP_IMPROBE;
    const bool success = good && (!asks || *s->flag);
    const ompp_time_t begin = asks ? ompp_mpi_polled(s->begin, success) : s->begin;
    unsigned char *message;
    unsigned flags;
    int source, tag;
    bool got;

    if (!success || !s->channel || !matched(s, &source, &tag, &flags)) return;
    message = ompp_mpi_stamp_new();
    if (!message) return;
    memset(ompp_mpi_stamp_of(message), 0, ompp_mpi_stamping_state.bytes);
    got = matches ? ompp_mpi_stamp_match(s->channel, source, tag, s->begin, ompp_mpi_stamp_of(message), &flags)
                  : ompp_mpi_stamp_peek(s->channel, source, tag, false, s->begin, ompp_mpi_stamp_of(message), &flags);
    ompp_mpi_adopt(got ? ompp_mpi_stamp_of(message) : NULL, begin, OMPP_SYNC_MESSAGE,
                   flags | (asks ? OMPP_WHATIF_F_POLLING : 0));
    ompp_mpi_stamp_free(message);
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static void keep(ompp_mpi_stamp_t *s, ompp_mpi_pending_t kind, int peer, int tag)
{
    const MPI_Request handle = ompp_mpi_handle(s, 0);
    ompp_mpi_request_t *r = handle == MPI_REQUEST_NULL ? NULL : ompp_mpi_request_new(kind, s->channel);

    if (!r) {
        ompp_mpi_receipt_drop(s->receipt);
        return;
    }
    r->peer = peer;
    r->tag = tag;
    r->begin = s->begin;
    r->receipt = s->receipt;
    r->persistent = s->op == OMPP_MPI_STAMP_SEND_INIT || s->op == OMPP_MPI_STAMP_SSEND_INIT ||
                    s->op == OMPP_MPI_STAMP_BSEND_INIT || s->op == OMPP_MPI_STAMP_RECV_INIT;
    r->active = !r->persistent;
    if (kind == OMPP_MPI_PENDING_SEND && s->typed && s->op != OMPP_MPI_STAMP_BSEND_INIT)
        r->waiting = OMPP_MPI_STARTED_WAIT ? OMPP_MPI_SYNCHRONOUS : waits_for_receiver(s);
    if (s->op == OMPP_MPI_STAMP_IRECV && receipts_are_due(s->channel) &&
        !ompp_mpi_stamp_acknowledge(s->channel, peer, tag, s->begin, NULL))
        ompp_mpi_request_posted(r);
    ompp_mpi_request_put(r, handle);
}

static void isend_after(ompp_mpi_stamp_t *s, bool good)
{
    if (good) doubt_buffered(s);
    if (good && s->receipt) keep(s, OMPP_MPI_PENDING_SEND, s->peer, s->tag);
    else ompp_mpi_receipt_drop(s->receipt);
}

static void irecv_after(ompp_mpi_stamp_t *s, bool good)
{
    if (good && s->channel && source_of(s) != MPI_PROC_NULL) keep(s, OMPP_MPI_PENDING_RECEIVE, source_of(s), tag_of(s));
}

static void init_after(ompp_mpi_stamp_t *s, bool good)
{
    const bool receives = s->op == OMPP_MPI_STAMP_RECV_INIT;

    if (good) doubt_buffered(s);
    if (good && (receives ? s->channel && s->peer != MPI_PROC_NULL : can_send(s)))
        keep(s, receives ? OMPP_MPI_PENDING_RECEIVE : OMPP_MPI_PENDING_SEND, s->peer, s->tag);
}

static void cancel_before(ompp_mpi_stamp_t *s)
{
    ompp_mpi_request_t *r = ompp_mpi_request_peek(ompp_mpi_handle(s, 0));

    if (r) r->cancelled = true;
}

/* The program will not learn when it is complete. */
static void forget_before(ompp_mpi_stamp_t *s)
{
    ompp_mpi_request_t *r = ompp_mpi_request_take(ompp_mpi_handle(s, 0));

    if (!r) return;
    if (r->kind == OMPP_MPI_PENDING_RECEIVE && r->active && !r->cancelled) { /* else nothing will come, most likely */
        if (r->peer >= 0 && r->tag >= 0) ompp_mpi_stamp_skip(r->channel, r->peer, r->tag);
        else ompp_mpi_unfollowed("receives from any source whose requests are freed while they are active");
    }
    ompp_mpi_request_delete(r);
}

/* ---- Communicators ----------------------------------------------------------------------------------------------- */

static MPI_Comm made_of(const ompp_mpi_stamp_t *s)
{
    return s->fortran ? PMPI_Comm_f2c(*(MPI_Fint *)s->made) : *(MPI_Comm *)s->made;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void before(ompp_mpi_stamp_t *s)
{
    switch (s->op) {
    case OMPP_MPI_STAMP_SEND:
    case OMPP_MPI_STAMP_SSEND:
    case OMPP_MPI_STAMP_BSEND:
    case OMPP_MPI_STAMP_ISEND:
    case OMPP_MPI_STAMP_IBSEND:
    case OMPP_MPI_STAMP_ISSEND: send_before(s); break;
    case OMPP_MPI_STAMP_SENDRECV:
    case OMPP_MPI_STAMP_ISENDRECV: send_before(s); /* fall through */
    case OMPP_MPI_STAMP_RECV:
    case OMPP_MPI_STAMP_PROBE:
    case OMPP_MPI_STAMP_IPROBE:
    case OMPP_MPI_STAMP_MPROBE:
    case OMPP_MPI_STAMP_IMPROBE:
        if (s->op != OMPP_MPI_STAMP_ISENDRECV) receive_before(s);
        break;
    case OMPP_MPI_STAMP_COLL:
    case OMPP_MPI_STAMP_ICOLL: ompp_mpi_collective_before(s); break;
    case OMPP_MPI_STAMP_START: ompp_mpi_start_before(s); break;
    case OMPP_MPI_STAMP_WAIT:
    case OMPP_MPI_STAMP_WAITALL:
    case OMPP_MPI_STAMP_WAITANY:
    case OMPP_MPI_STAMP_WAITSOME:
    case OMPP_MPI_STAMP_TEST:
    case OMPP_MPI_STAMP_TESTALL:
    case OMPP_MPI_STAMP_TESTANY:
    case OMPP_MPI_STAMP_TESTSOME: ompp_mpi_wait_before(s); break;
    case OMPP_MPI_STAMP_ASK: ompp_mpi_ask_before(s); break;
    case OMPP_MPI_STAMP_CANCEL: cancel_before(s); break;
    case OMPP_MPI_STAMP_FORGET: forget_before(s); break;
    case OMPP_MPI_STAMP_CREATED:
    case OMPP_MPI_STAMP_GATHER:
        if (s->channel && !s->channel->inter) ompp_mpi_gathering_before(s, s->channel->shadow);
        break;
    case OMPP_MPI_STAMP_FREED:
        if (s->made) s->channel = ompp_mpi_channel_forget(made_of(s));
        break;
    default: ompp_mpi_window_before(s); break;
    }
}

static void after(ompp_mpi_stamp_t *s, bool good)
{
    switch (s->op) {
    case OMPP_MPI_STAMP_SEND:
    case OMPP_MPI_STAMP_SSEND:
    case OMPP_MPI_STAMP_BSEND: send_after(s, good); break;
    case OMPP_MPI_STAMP_ISEND:
    case OMPP_MPI_STAMP_IBSEND:
    case OMPP_MPI_STAMP_ISSEND: isend_after(s, good); break;
    case OMPP_MPI_STAMP_RECV: receive_after(s, good); break;
    case OMPP_MPI_STAMP_SENDRECV:
        receive_after(s, good);
        send_after(s, good); /* what sends only: MPI_PROC_NULL is received from */
        break;
    case OMPP_MPI_STAMP_ISENDRECV:
    case OMPP_MPI_STAMP_IRECV: irecv_after(s, good); break;
    case OMPP_MPI_STAMP_PROBE:
    case OMPP_MPI_STAMP_IPROBE:
    case OMPP_MPI_STAMP_MPROBE:
    case OMPP_MPI_STAMP_IMPROBE: probe_after(s, good); break;
    case OMPP_MPI_STAMP_COLL:
    case OMPP_MPI_STAMP_ICOLL: ompp_mpi_collective_after(s, good); break;
    case OMPP_MPI_STAMP_SEND_INIT:
    case OMPP_MPI_STAMP_SSEND_INIT:
    case OMPP_MPI_STAMP_BSEND_INIT:
    case OMPP_MPI_STAMP_RECV_INIT: init_after(s, good); break;
    case OMPP_MPI_STAMP_WAIT:
    case OMPP_MPI_STAMP_WAITALL:
    case OMPP_MPI_STAMP_WAITANY:
    case OMPP_MPI_STAMP_WAITSOME:
    case OMPP_MPI_STAMP_TEST:
    case OMPP_MPI_STAMP_TESTALL:
    case OMPP_MPI_STAMP_TESTANY:
    case OMPP_MPI_STAMP_TESTSOME: ompp_mpi_wait_after(s, good); break;
    case OMPP_MPI_STAMP_ASK: ompp_mpi_ask_after(s, good); break;
    case OMPP_MPI_STAMP_UNTOLD:
        if (good) ompp_mpi_lose(s);
        break;
    case OMPP_MPI_STAMP_GATHER:
        if (s->channel) ompp_mpi_gathering_after(s, s->channel->shadow, good);
        break;
    case OMPP_MPI_STAMP_CREATED:
        if (good) ompp_mpi_channel_made(made_of(s));
        if (s->channel) ompp_mpi_gathering_after(s, s->channel->shadow, good);
        break;
    case OMPP_MPI_STAMP_UNFOLLOWED:
        if (good)
            ompp_mpi_unfollowed("partitioned and persistent collective operations, MPI_Comm_idup, and other jobs");
        break;
    default: ompp_mpi_window_after(s, good); break;
    }
}

/* while clocks rest, a call takes little more than looking at the clock does: one of so many is measured */
#define SELDOM 8u

/* Whether it is measured what our own messages take a call; of how many. */
static unsigned measured_of(void)
{
    static __thread uint32_t chance; /* not each one of a round, which might always be the same */

    if (!ompp_sync_rests()) return 1;
    chance = chance * 1664525u + 1013904223u;
    return chance >> 16 & (SELDOM - 1) ? 0 : SELDOM;
}

/* For the report; not what ranks wait for each other in our collective calls. */
static void spend(ompp_time_t ns, ompp_time_t limit, unsigned calls)
{
    ompp_sync_spend((ns < limit ? ns : limit) * calls);
}

void ompp_mpi_stamp_before(ompp_mpi_stamp_t *stamp, const void *code, uintptr_t frame)
{
    const int saved = errno;

    if (ompp_mpi_guard.frame == 0) {
        ompp_mpi_guard = (ompp_mpi_guard_t){frame, code};
        stamp->held = true;
    }
    stamp->begin = ompp_event_now();
    stamp->measured = measured_of();
    if (stamp->commed) stamp->channel = ompp_mpi_channel_find(stamp->comm);
    before(stamp);
    if (stamp->measured)
        spend(ompp_event_now() - stamp->begin,
              stamp->op == OMPP_MPI_STAMP_COLL ? ompp_mpi_stamping_state.exchange : OMPP_MPI_LONGEST_NS,
              stamp->measured);
    errno = saved;
}

bool ompp_mpi_has_received(int result)
{
    int class = MPI_SUCCESS;

    return result == MPI_SUCCESS || (PMPI_Error_class(result, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE);
}

ompp_time_t ompp_mpi_stamp_after(ompp_mpi_stamp_t *stamp, int result)
{
    const int saved = errno;
    const bool good = result == MPI_SUCCESS;
    const ompp_time_t begin = stamp->measured ? ompp_event_now() : 0;

    stamp->received = ompp_mpi_has_received(result);
    after(stamp, good);
    ompp_mpi_channel_release(stamp->channel);
    if (stamp->held) ompp_mpi_guard.frame = 0;
    const ompp_time_t end = ompp_event_now();
    ompp_mpi_apart_left(end);
    if (stamp->measured) spend(end - begin, OMPP_MPI_LONGEST_NS, stamp->measured);
    errno = saved;
    return end;
}
