/**
 * \file
 * What a call of MPI does for the clocks of its thread, before and after MPI's function. Every row of mpi_calls.def
 * comes here, by its class; the transport is in the other files (mpi_piggyback_priv.h).
 */
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

#include <errno.h>
#include <string.h>

/* ---- Waits ------------------------------------------------------------------------------------------------------- */

/*
 * Adds up what one call has waited for, and adopts it: in calls that do both, the message and the receiver of what it
 * has sent. The acknowledgement that the other side may wait for is given first.
 */
static void join_claim(ompp_mpi_piggyback_t *s, int source, int tag, bool ok, unsigned flags)
{
    const ompp_time_t end = ompp_event_now();
    unsigned char *message;
    bool claimed;

    if (ok && !s->ack && ompp_mpi_piggyback_pass_suppressed(s->shadow, source, tag, end)) {
        ompp_mpi_join_clock(NULL, s->begin, OMPP_SYNC_MESSAGE, flags);
        return;
    }
    message = s->received ? ompp_mpi_piggyback_new() : NULL;
    if (!message) {
        ompp_mpi_ack_drop(s->ack);
        s->ack = NULL;
        return;
    }
    memset(ompp_mpi_piggyback_of(message), 0, ompp_mpi_piggyback_state.bytes);
    claimed = ompp_mpi_piggyback_claim(s->shadow, source, tag, s->begin, ok ? OMPP_MPI_PIGGYBACK_LIMIT_NS : 0, NULL,
                                       ompp_mpi_piggyback_of(message), &flags);
    if (s->ack && ok)
        claimed |=
            ompp_mpi_ack_take_blocking(s->shadow, s->peer, s->ack, s->begin, end, ompp_mpi_piggyback_of(message));
    else ompp_mpi_ack_drop(s->ack);
    s->ack = NULL;
    if (ok) ompp_mpi_join_clock(claimed ? ompp_mpi_piggyback_of(message) : NULL, s->begin, OMPP_SYNC_MESSAGE, flags);
    ompp_mpi_piggyback_free(message);
}

/* ---- Sends ------------------------------------------------------------------------------------------------------- */

/* \param[in] bytes  of the message. \return what ompp_mpi_piggyback_send() is to know. */
static uint64_t waits_for_receiver(const ompp_mpi_piggyback_t *s, uint64_t bytes)
{
    if (s->op == OMPP_MPI_PIGGYBACK_BSEND || s->op == OMPP_MPI_PIGGYBACK_IBSEND) return 0;
    if (s->op == OMPP_MPI_PIGGYBACK_SSEND || s->op == OMPP_MPI_PIGGYBACK_ISSEND ||
        s->op == OMPP_MPI_PIGGYBACK_SSEND_INIT)
        return OMPP_MPI_SYNCHRONOUS;
    return bytes > OMPP_MPI_ALONE_BYTES ? bytes : 0;
}

static bool can_send(const ompp_mpi_piggyback_t *s)
{
    return s->shadow && s->count >= 0 && s->type != MPI_DATATYPE_NULL && ompp_mpi_sends_to(s->shadow, s->peer, s->tag);
}

static bool sends(const ompp_mpi_piggyback_t *s)
{
    return s->op <= OMPP_MPI_PIGGYBACK_ISSEND || s->op == OMPP_MPI_PIGGYBACK_SENDRECV ||
           s->op == OMPP_MPI_PIGGYBACK_ISENDRECV;
}

static bool is_blocking(const ompp_mpi_piggyback_t *s)
{
    return s->op == OMPP_MPI_PIGGYBACK_SEND || s->op == OMPP_MPI_PIGGYBACK_SSEND ||
           s->op == OMPP_MPI_PIGGYBACK_SENDRECV;
}

/* The own clock vector first: it may be what the other side waits for. */
static void send_before(ompp_mpi_piggyback_t *s)
{
    const bool can = can_send(s);
    /* MPI has not seen the type yet */
    const uint64_t waits =
        can && !ompp_sync_is_suspended() ? waits_for_receiver(s, ompp_mpi_bytes_guess(s->count, s->type)) : 0;

    if (can && ompp_sync_throttle()) s->begin = ompp_event_now();
    if (can) s->ack = ompp_mpi_piggyback_send(s->shadow, s->peer, s->tag, waits, 0, false, s->begin);
    if (waits && is_blocking(s)) ompp_mpi_progress_before(s->begin);
}

/*
 * The size of the type is known for the next time. A buffered send: MPI may have taken over a small message only; the
 * rest of a large one goes when the sender next calls MPI.
 */
static void note_size(const ompp_mpi_piggyback_t *s)
{
    const bool buffered = s->op == OMPP_MPI_PIGGYBACK_BSEND || s->op == OMPP_MPI_PIGGYBACK_IBSEND ||
                          s->op == OMPP_MPI_PIGGYBACK_BSEND_INIT;

    if (can_send(s) && ompp_mpi_bytes_of(s->count, s->type) > OMPP_MPI_EAGER_BYTES && buffered)
        ompp_sync_flag(OMPP_WHATIF_F_OVERLAP, true);
}

/* A blocking send is over. */
static void send_after(ompp_mpi_piggyback_t *s, bool ok)
{
    const ompp_time_t end = ompp_event_now();
    unsigned char *message = s->ack && ok ? ompp_mpi_piggyback_new() : NULL;

    if (ok) note_size(s);
    if (!message) {
        ompp_mpi_ack_drop(s->ack);
        return;
    }
    memset(ompp_mpi_piggyback_of(message), 0, ompp_mpi_piggyback_state.bytes);
    if (ompp_mpi_ack_take_blocking(s->shadow, s->peer, s->ack, s->begin, end, ompp_mpi_piggyback_of(message)))
        ompp_mpi_join_clock(ompp_mpi_piggyback_of(message), s->begin, OMPP_SYNC_ACKNOWLEDGEMENT, 0);
    ompp_mpi_piggyback_free(message);
}

/* ---- Receives and probes ----------------------------------------------------------------------------------------- */

static bool receives(const ompp_mpi_piggyback_t *s)
{
    return s->op == OMPP_MPI_PIGGYBACK_RECV || s->op == OMPP_MPI_PIGGYBACK_SENDRECV;
}

static int source_of(const ompp_mpi_piggyback_t *s)
{
    return s->op == OMPP_MPI_PIGGYBACK_SENDRECV || s->op == OMPP_MPI_PIGGYBACK_ISENDRECV ? s->source : s->peer;
}

static int tag_of(const ompp_mpi_piggyback_t *s)
{
    return s->op == OMPP_MPI_PIGGYBACK_SENDRECV || s->op == OMPP_MPI_PIGGYBACK_ISENDRECV ? s->recvtag : s->tag;
}

/* Senders may wait for this rank. */
static bool acks_are_due(const ompp_mpi_shadow_t *shadow) { return ompp_mpi_asks(shadow) && !ompp_sync_is_suspended(); }

static void receive_before(ompp_mpi_piggyback_t *s)
{
    const bool any = source_of(s) == MPI_ANY_SOURCE || tag_of(s) == MPI_ANY_TAG;

    ompp_mpi_progress_before(s->begin);
    if (!s->shadow) return;
    if (any) ompp_mpi_substitute(s, 1);
    if (any || !acks_are_due(s->shadow) || !receives(s)) return;
    ompp_mpi_piggyback_bring_on();
    ompp_mpi_piggyback_acknowledge(s->shadow, source_of(s), tag_of(s), s->begin, NULL);
}

/* Whose message it was; false = nobody's. */
static bool matched(const ompp_mpi_piggyback_t *s, int *source, int *tag, unsigned *flags)
{
    MPI_Status room;
    const MPI_Status *status = NULL;

    *source = source_of(s);
    *tag = tag_of(s);
    *flags = *source == MPI_ANY_SOURCE && s->shadow->peers > 1 ? OMPP_WHATIF_F_WILDCARD : 0;
    if (*source == MPI_ANY_SOURCE || *tag == MPI_ANY_TAG) {
        status = ompp_mpi_status(s, 0, &room);
        if (!status) return false;
        *source = status->MPI_SOURCE;
        *tag = status->MPI_TAG;
    }
    return *source != MPI_PROC_NULL;
}

static void receive_after(ompp_mpi_piggyback_t *s, bool ok)
{
    unsigned flags;
    int source, tag;

    ompp_mpi_piggyback_reclaim();
    if (s->shadow && matched(s, &source, &tag, &flags)) join_claim(s, source, tag, ok, flags);
}

static void probe_after(ompp_mpi_piggyback_t *s, bool ok)
{
    const bool asks = s->flag != NULL,
               matches = s->op == OMPP_MPI_PIGGYBACK_MPROBE || s->op == OMPP_MPI_PIGGYBACK_IMPROBE;
    const bool success = ok && (!asks || *s->flag);
    const ompp_time_t begin = asks ? ompp_mpi_polled(s->begin, success) : s->begin;
    unsigned char *message;
    unsigned flags;
    int source, tag;
    bool got;

    if (!success || !s->shadow || !matched(s, &source, &tag, &flags)) return;
    message = ompp_mpi_piggyback_new();
    if (!message) return;
    memset(ompp_mpi_piggyback_of(message), 0, ompp_mpi_piggyback_state.bytes);
    got = matches ? ompp_mpi_piggyback_match(s->shadow, source, tag, s->begin, ompp_mpi_piggyback_of(message), &flags)
                  : ompp_mpi_piggyback_peek(s->shadow, source, tag, false, s->begin, ompp_mpi_piggyback_of(message),
                                            &flags);
    ompp_mpi_join_clock(got ? ompp_mpi_piggyback_of(message) : NULL, begin, OMPP_SYNC_MESSAGE,
                        flags | (asks ? OMPP_WHATIF_F_POLLING : 0));
    ompp_mpi_piggyback_free(message);
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static void keep(ompp_mpi_piggyback_t *s, ompp_mpi_pending_t kind, int peer, int tag)
{
    const MPI_Request handle = ompp_mpi_handle(s, 0);
    ompp_mpi_request_t *r = handle == MPI_REQUEST_NULL ? NULL : ompp_mpi_request_new(kind, s->shadow);

    if (!r) {
        ompp_mpi_ack_drop(s->ack);
        return;
    }
    r->peer = peer;
    r->tag = tag;
    r->begin = s->begin;
    r->ack = s->ack;
    r->persistent = s->op == OMPP_MPI_PIGGYBACK_SEND_INIT || s->op == OMPP_MPI_PIGGYBACK_SSEND_INIT ||
                    s->op == OMPP_MPI_PIGGYBACK_BSEND_INIT || s->op == OMPP_MPI_PIGGYBACK_RECV_INIT;
    r->active = !r->persistent;
    if (kind == OMPP_MPI_PENDING_SEND && s->typed && s->op != OMPP_MPI_PIGGYBACK_BSEND_INIT)
        r->waiting =
            OMPP_MPI_STARTED_WAIT ? OMPP_MPI_SYNCHRONOUS : waits_for_receiver(s, ompp_mpi_bytes_of(s->count, s->type));
    if (s->op == OMPP_MPI_PIGGYBACK_IRECV && acks_are_due(s->shadow) &&
        !ompp_mpi_piggyback_acknowledge(s->shadow, peer, tag, s->begin, NULL))
        ompp_mpi_request_posted(r);
    ompp_mpi_request_put(r, handle);
}

static void isend_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (ok) note_size(s);
    if (ok && s->ack) keep(s, OMPP_MPI_PENDING_SEND, s->peer, s->tag);
    else ompp_mpi_ack_drop(s->ack);
}

static void irecv_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (ok && s->shadow && source_of(s) != MPI_PROC_NULL) keep(s, OMPP_MPI_PENDING_RECEIVE, source_of(s), tag_of(s));
}

static void init_after(ompp_mpi_piggyback_t *s, bool ok)
{
    const bool receives = s->op == OMPP_MPI_PIGGYBACK_RECV_INIT;

    if (ok) note_size(s);
    if (ok && (receives ? s->shadow && s->peer != MPI_PROC_NULL : can_send(s)))
        keep(s, receives ? OMPP_MPI_PENDING_RECEIVE : OMPP_MPI_PENDING_SEND, s->peer, s->tag);
}

static void cancel_before(ompp_mpi_piggyback_t *s)
{
    ompp_mpi_suppressed_give(ompp_mpi_handle(s, 0));
    ompp_mpi_request_t *r = ompp_mpi_request_peek(ompp_mpi_handle(s, 0));

    if (r) r->cancelled = true;
}

/* The program will not learn when it is complete. */
static void forget_before(ompp_mpi_piggyback_t *s)
{
    ompp_mpi_suppressed_give(ompp_mpi_handle(s, 0));
    ompp_mpi_request_t *r = ompp_mpi_request_take(ompp_mpi_handle(s, 0));

    if (!r) return;
    if (r->kind == OMPP_MPI_PENDING_RECEIVE && r->active && !r->cancelled) { /* else nothing will come, most likely */
        if (r->peer >= 0 && r->tag >= 0) ompp_mpi_piggyback_skip(r->shadow, r->peer, r->tag);
        else ompp_mpi_unfollowed("receives from any source whose requests are freed while they are active");
    }
    ompp_mpi_request_delete(r);
}

/* ---- Communicators ----------------------------------------------------------------------------------------------- */

static MPI_Comm made_of(const ompp_mpi_piggyback_t *s)
{
    return s->fortran ? PMPI_Comm_f2c(*(MPI_Fint *)s->made) : *(MPI_Comm *)s->made;
}

/* One with this handle may be gone unseen: in a call that is nested in another one. */
static void forget_other(MPI_Comm made)
{
    ompp_mpi_shadow_t *other = made == MPI_COMM_NULL ? NULL : ompp_mpi_shadow_forget(made);

    ompp_mpi_suppressed_forget(made);
    ompp_mpi_shadow_release(other);
}

static void created_after(ompp_mpi_piggyback_t *s, bool ok)
{
    const bool follows = s->shadow != NULL;

    if (!ok) return;
    forget_other(made_of(s));
    ompp_mpi_shadow_made(made_of(s), follows);
}

static void freed_before(ompp_mpi_piggyback_t *s, MPI_Comm freed)
{
    s->shadow = ompp_mpi_shadow_forget(freed);
    if (s->shadow) ompp_mpi_suppressed_forget(freed);
}

/* MPI may have refused it: then the communicator is there as before. */
static void freed_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (ok || !s->shadow) return;
    ompp_mpi_shadow_add(s->shadow);
    s->shadow = NULL;
}

static void unfollowed_after(ompp_mpi_piggyback_t *s)
{
    ompp_mpi_unfollowed("partitioned and persistent collective operations, MPI_Comm_idup, sessions, and other jobs");
    if (s->made) forget_other(made_of(s));
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void before(ompp_mpi_piggyback_t *s)
{
    switch (s->op) {
    case OMPP_MPI_PIGGYBACK_SEND:
    case OMPP_MPI_PIGGYBACK_SSEND:
    case OMPP_MPI_PIGGYBACK_BSEND:
    case OMPP_MPI_PIGGYBACK_ISEND:
    case OMPP_MPI_PIGGYBACK_IBSEND:
    case OMPP_MPI_PIGGYBACK_ISSEND: send_before(s); break;
    case OMPP_MPI_PIGGYBACK_SENDRECV:
    case OMPP_MPI_PIGGYBACK_ISENDRECV: send_before(s); /* fall through */
    case OMPP_MPI_PIGGYBACK_RECV:
    case OMPP_MPI_PIGGYBACK_PROBE:
    case OMPP_MPI_PIGGYBACK_IPROBE:
    case OMPP_MPI_PIGGYBACK_MPROBE:
    case OMPP_MPI_PIGGYBACK_IMPROBE:
        if (s->op != OMPP_MPI_PIGGYBACK_ISENDRECV) receive_before(s);
        break;
    case OMPP_MPI_PIGGYBACK_COLL:
    case OMPP_MPI_PIGGYBACK_ICOLL: ompp_mpi_collective_before(s); break;
    case OMPP_MPI_PIGGYBACK_START: ompp_mpi_start_before(s); break;
    case OMPP_MPI_PIGGYBACK_WAIT:
    case OMPP_MPI_PIGGYBACK_WAITALL:
    case OMPP_MPI_PIGGYBACK_WAITANY:
    case OMPP_MPI_PIGGYBACK_WAITSOME:
    case OMPP_MPI_PIGGYBACK_TEST:
    case OMPP_MPI_PIGGYBACK_TESTALL:
    case OMPP_MPI_PIGGYBACK_TESTANY:
    case OMPP_MPI_PIGGYBACK_TESTSOME: ompp_mpi_wait_before(s); break;
    case OMPP_MPI_PIGGYBACK_ASK: ompp_mpi_ask_before(s); break;
    case OMPP_MPI_PIGGYBACK_CANCEL: cancel_before(s); break;
    case OMPP_MPI_PIGGYBACK_FORGET: forget_before(s); break;
    case OMPP_MPI_PIGGYBACK_CREATED:
    case OMPP_MPI_PIGGYBACK_GATHER:
        if (s->shadow && !s->shadow->inter) ompp_mpi_gathering_before(s, s->shadow->duplicate);
        break;
    case OMPP_MPI_PIGGYBACK_FREED:
        if (s->made) freed_before(s, made_of(s));
        break;
    default: ompp_mpi_window_before(s); break;
    }
}

static void after(ompp_mpi_piggyback_t *s, bool ok)
{
    switch (s->op) {
    case OMPP_MPI_PIGGYBACK_SEND:
    case OMPP_MPI_PIGGYBACK_SSEND:
    case OMPP_MPI_PIGGYBACK_BSEND: send_after(s, ok); break;
    case OMPP_MPI_PIGGYBACK_ISEND:
    case OMPP_MPI_PIGGYBACK_IBSEND:
    case OMPP_MPI_PIGGYBACK_ISSEND: isend_after(s, ok); break;
    case OMPP_MPI_PIGGYBACK_RECV: receive_after(s, ok); break;
    case OMPP_MPI_PIGGYBACK_SENDRECV:
        receive_after(s, ok);
        send_after(s, ok); /* what sends only: MPI_PROC_NULL is received from */
        break;
    case OMPP_MPI_PIGGYBACK_ISENDRECV:
    case OMPP_MPI_PIGGYBACK_IRECV: irecv_after(s, ok); break;
    case OMPP_MPI_PIGGYBACK_PROBE:
    case OMPP_MPI_PIGGYBACK_IPROBE:
    case OMPP_MPI_PIGGYBACK_MPROBE:
    case OMPP_MPI_PIGGYBACK_IMPROBE: probe_after(s, ok); break;
    case OMPP_MPI_PIGGYBACK_COLL:
    case OMPP_MPI_PIGGYBACK_ICOLL: ompp_mpi_collective_after(s, ok); break;
    case OMPP_MPI_PIGGYBACK_SEND_INIT:
    case OMPP_MPI_PIGGYBACK_SSEND_INIT:
    case OMPP_MPI_PIGGYBACK_BSEND_INIT:
    case OMPP_MPI_PIGGYBACK_RECV_INIT: init_after(s, ok); break;
    case OMPP_MPI_PIGGYBACK_WAIT:
    case OMPP_MPI_PIGGYBACK_WAITALL:
    case OMPP_MPI_PIGGYBACK_WAITANY:
    case OMPP_MPI_PIGGYBACK_WAITSOME:
    case OMPP_MPI_PIGGYBACK_TEST:
    case OMPP_MPI_PIGGYBACK_TESTALL:
    case OMPP_MPI_PIGGYBACK_TESTANY:
    case OMPP_MPI_PIGGYBACK_TESTSOME: ompp_mpi_wait_after(s, ok); break;
    case OMPP_MPI_PIGGYBACK_ASK: ompp_mpi_ask_after(s, ok); break;
    case OMPP_MPI_PIGGYBACK_UNREPORTED:
        if (ok) ompp_mpi_lose(s);
        break;
    case OMPP_MPI_PIGGYBACK_GATHER:
        if (s->shadow) ompp_mpi_gathering_after(s, s->shadow->duplicate, ok);
        break;
    case OMPP_MPI_PIGGYBACK_DERIVED: created_after(s, ok); break;
    case OMPP_MPI_PIGGYBACK_FREED: freed_after(s, ok); break;
    case OMPP_MPI_PIGGYBACK_CREATED:
        created_after(s, ok);
        if (s->shadow) ompp_mpi_gathering_after(s, s->shadow->duplicate, ok);
        break;
    case OMPP_MPI_PIGGYBACK_UNFOLLOWED:
        if (ok) unfollowed_after(s);
        break;
    default: ompp_mpi_window_after(s, ok); break;
    }
}

/* while clocks are suspended, a call takes little more than looking at the clock does: one of so many is measured */
#define SELDOM 8u

/* Whether it is measured what our own messages take a call; of how many. */
static unsigned measured_of(void)
{
    static __thread uint32_t chance; /* not each one of a round, which might always be the same */

    if (!ompp_sync_is_suspended()) return 1;
    chance = chance * 1664525u + 1013904223u;
    return chance >> 16 & (SELDOM - 1) ? 0 : SELDOM;
}

/* For the report; not what ranks wait for each other in our collective calls. */
static void charge(ompp_time_t ns, ompp_time_t limit, unsigned calls)
{
    ompp_sync_charge((ns < limit ? ns : limit) * calls);
}

void ompp_mpi_piggyback_before(ompp_mpi_piggyback_t *piggyback, const void *code, uintptr_t frame)
{
    const int saved = errno;

    if (ompp_mpi_guard.frame == 0) {
        ompp_mpi_guard = (ompp_mpi_guard_t){frame, code};
        piggyback->guarded = true;
    }
    piggyback->begin = ompp_event_now();
    piggyback->measured = measured_of();
    if (piggyback->commed) piggyback->shadow = ompp_mpi_shadow_find(piggyback->comm);
    before(piggyback);
    if (piggyback->measured)
        charge(ompp_event_now() - piggyback->begin,
               piggyback->op == OMPP_MPI_PIGGYBACK_COLL ? ompp_mpi_piggyback_state.exchange : OMPP_MPI_LONGEST_NS,
               piggyback->measured);
    errno = saved;
}

ompp_time_t ompp_mpi_piggyback_after(ompp_mpi_piggyback_t *piggyback, int result)
{
    const int saved = errno;
    const bool ok = result == MPI_SUCCESS;
    const ompp_time_t begin = piggyback->measured ? ompp_event_now() : 0;

    if (!ok && sends(piggyback) && ompp_mpi_is_refusal(result) && can_send(piggyback))
        ompp_mpi_suppression_refused(piggyback->shadow, piggyback->peer, piggyback->tag);
    piggyback->received = ok || (receives(piggyback) && ompp_mpi_has_received(result));
    after(piggyback, ok);
    ompp_mpi_shadow_release(piggyback->shadow);
    if (piggyback->guarded) ompp_mpi_guard.frame = 0;
    const ompp_time_t end = ompp_event_now();
    ompp_mpi_nonblocking_left(end);
    if (piggyback->measured) charge(end - begin, OMPP_MPI_LONGEST_NS, piggyback->measured);
    errno = saved;
    return end;
}
