/**
 * \file
 * Calls of MPI, before and after MPI's function, for the clocks of their thread: what all do, those that send and
 * receive, and those that make and free communicators. The class of a call names its functions (mpi_rules.def).
 */
#include "mpi-wrap/mpi_bytes_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_request_priv.h"

#include <errno.h>

/* ---- Waits ------------------------------------------------------------------------------------------------------- */

/* What the receiver of what this call has sent said of its clocks is added to sum, if the call waited for it. */
static void take_ack(ompp_mpi_piggyback_t *s, ompp_time_t end, bool ok, ompp_mpi_message_t **sum)
{
    if (ok) ompp_mpi_ack_take_blocking(s->shadow, s->peer, s->ack, s->begin, end, sum);
    else ompp_mpi_ack_drop(s->ack);
    s->ack = NULL;
}

/*
 * Adds up what one call has waited for, and adopts it: in calls that do both, the message and the receiver of what it
 * has sent. The acknowledgement that the other side may wait for is given first.
 */
static void join_claim(ompp_mpi_piggyback_t *s, int source, int tag, bool ok, unsigned flags)
{
    const ompp_time_t end = ompp_event_now();
    ompp_mpi_message_t *sum = NULL;

    if (ok && !s->ack && ompp_mpi_piggyback_pass_suppressed(s->shadow, source, tag, end)) {
        ompp_mpi_join_clock(NULL, (ompp_sync_wait_t){.begin = s->begin, .flags = flags});
        return;
    }
    if (ompp_mpi_has_received(s->result))
        ompp_mpi_piggyback_claim(s->shadow, source, tag, s->begin, ok ? OMPP_MPI_PIGGYBACK_LIMIT_NS : 0, &sum, &flags);
    take_ack(s, end, ok, &sum);
    if (ok) ompp_mpi_join_clock(sum, (ompp_sync_wait_t){.begin = s->begin, .flags = flags});
    ompp_mpi_piggyback_free(sum);
}

/* ---- Sends ------------------------------------------------------------------------------------------------------- */

/* \param[in] bytes  of the message. \return what ompp_mpi_piggyback_send() is to know. */
static uint64_t waiting_size(const ompp_mpi_piggyback_t *s, uint64_t bytes)
{
    if (s->buffered) return 0;
    return s->synchronous ? OMPP_MPI_SYNCHRONOUS : bytes > OMPP_MPI_WAITING_BYTES ? bytes : 0;
}

static bool can_send(const ompp_mpi_piggyback_t *s)
{
    return s->shadow && s->count >= 0 && s->type != MPI_DATATYPE_NULL && ompp_mpi_travels(s->shadow, s->peer, s->tag);
}

/* The own clock vector first: it may be what the other side waits for. */
void ompp_mpi_send_before(ompp_mpi_piggyback_t *s)
{
    const bool can = can_send(s);
    /* MPI has not seen the type yet */
    const uint64_t waiting =
        can && !ompp_sync_is_suspended() ? waiting_size(s, ompp_mpi_bytes_guess(s->count, s->type)) : 0;
    const bool blocks = s->number == 0; /* it starts no request */

    if (can && ompp_sync_throttle()) s->begin = ompp_event_now();
    if (can) s->ack = ompp_mpi_piggyback_send(s->shadow, s->peer, s->tag, waiting, 0, false, s->begin);
    if (waiting && blocks) ompp_mpi_progress_before(NULL, 0, 0, s->begin);
}

/*
 * The size of the type is known for the next time. A buffered send: MPI may have taken over a small message only; the
 * rest of a large one goes when the sender next calls MPI.
 */
static void note_sent(const ompp_mpi_piggyback_t *s, bool ok)
{
    if (!can_send(s)) return;
    if (!ok && ompp_mpi_is_refusal(s->result)) ompp_mpi_suppression_refused(s->shadow, s->peer, s->tag);
    if (ok && ompp_mpi_bytes_of(s->count, s->type) > OMPP_MPI_EAGER_BYTES && s->buffered)
        ompp_sync_flag(OMPP_WHATIF_F_OVERLAP, true);
}

/* A blocking send is over. */
void ompp_mpi_send_after(ompp_mpi_piggyback_t *s, bool ok)
{
    const ompp_time_t end = ompp_event_now();
    ompp_mpi_message_t *sum = NULL;

    note_sent(s, ok);
    if (s->ack) ompp_mpi_ack_allow_slack(s->ack, s->begin, end);
    take_ack(s, end, ok, &sum);
    if (sum) ompp_mpi_join_clock(sum, (ompp_sync_wait_t){.begin = s->begin, .kind = OMPP_SYNC_ACKNOWLEDGEMENT});
    ompp_mpi_piggyback_free(sum);
}

/* ---- Receives and probes ----------------------------------------------------------------------------------------- */

static bool is_any(const ompp_mpi_piggyback_t *s) { return s->source == MPI_ANY_SOURCE || s->recvtag == MPI_ANY_TAG; }

void ompp_mpi_probe_before(ompp_mpi_piggyback_t *s)
{
    ompp_mpi_progress_before(NULL, 0, 0, s->begin);
    if (s->shadow && is_any(s)) ompp_mpi_substitute(s, 1);
}

void ompp_mpi_receive_before(ompp_mpi_piggyback_t *s)
{
    const bool any = is_any(s);

    ompp_mpi_progress_before(any ? NULL : s->shadow, s->source, s->recvtag, s->begin);
    if (s->shadow && any) ompp_mpi_substitute(s, 1);
}

void ompp_mpi_sendrecv_before(ompp_mpi_piggyback_t *s)
{
    ompp_mpi_send_before(s);
    ompp_mpi_receive_before(s);
}

/* Whose message it was; false = nobody's. */
static bool matched(const ompp_mpi_piggyback_t *s, int *source, int *tag, unsigned *flags)
{
    MPI_Status room;
    const MPI_Status *status = NULL;

    *source = s->source;
    *tag = s->recvtag;
    *flags = *source == MPI_ANY_SOURCE && s->shadow->peers > 1 ? OMPP_WHATIF_F_WILDCARD : 0;
    if (is_any(s)) {
        status = ompp_mpi_status(s, 0, &room);
        if (!status) return false;
        *source = status->MPI_SOURCE;
        *tag = status->MPI_TAG;
    }
    return *source != MPI_PROC_NULL;
}

void ompp_mpi_receive_after(ompp_mpi_piggyback_t *s, bool ok)
{
    unsigned flags;
    int source, tag;

    ompp_mpi_piggyback_reclaim();
    if (s->shadow && matched(s, &source, &tag, &flags)) join_claim(s, source, tag, ok, flags);
}

void ompp_mpi_sendrecv_after(ompp_mpi_piggyback_t *s, bool ok)
{
    ompp_mpi_receive_after(s, ok);
    ompp_mpi_send_after(s, ok); /* what sends only: MPI_PROC_NULL is received from */
}

static void probed(ompp_mpi_piggyback_t *s, bool ok, bool matches)
{
    const bool asks = s->flag != NULL;
    const bool success = ok && (!asks || *s->flag);
    const ompp_time_t begin = asks ? ompp_mpi_polled(s->begin, success) : s->begin;
    ompp_mpi_message_t *sum = NULL;
    unsigned flags;
    int source, tag;

    if (!success || !s->shadow || !matched(s, &source, &tag, &flags)) return;
    if (matches) ompp_mpi_piggyback_match(s->shadow, source, tag, s->begin, &sum, &flags);
    else ompp_mpi_piggyback_peek(s->shadow, source, tag, false, s->begin, &sum, &flags);
    ompp_mpi_join_clock(sum, (ompp_sync_wait_t){.begin = begin, .flags = flags | (asks ? OMPP_WHATIF_F_POLLING : 0)});
    ompp_mpi_piggyback_free(sum);
}

void ompp_mpi_probe_after(ompp_mpi_piggyback_t *s, bool ok) { probed(s, ok, false); }
void ompp_mpi_mprobe_after(ompp_mpi_piggyback_t *s, bool ok) { probed(s, ok, true); }

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/* \return NULL = MPI has none, or it cannot be kept. */
static ompp_mpi_request_t *new_request(ompp_mpi_piggyback_t *s, ompp_mpi_pending_t kind, int peer, int tag)
{
    ompp_mpi_request_t *r = ompp_mpi_handle(s, 0) == MPI_REQUEST_NULL ? NULL : ompp_mpi_request_new(kind, s->shadow);

    if (!r) {
        ompp_mpi_ack_drop(s->ack);
        return NULL;
    }
    r->peer = peer;
    r->tag = tag;
    r->begin = s->begin;
    r->ack = s->ack;
    r->active = true;
    return r;
}

static ompp_mpi_request_t *new_receive(ompp_mpi_piggyback_t *s)
{
    if (!s->shadow || s->source == MPI_PROC_NULL) return NULL;
    return new_request(s, OMPP_MPI_PENDING_RECEIVE, s->source, s->recvtag);
}

static void keep(const ompp_mpi_piggyback_t *s, ompp_mpi_request_t *r)
{
    if (r) ompp_mpi_request_put(r, ompp_mpi_handle(s, 0));
}

static void keep_persistent(const ompp_mpi_piggyback_t *s, ompp_mpi_request_t *r)
{
    if (!r) return;
    r->persistent = true;
    r->active = false;
    keep(s, r);
}

void ompp_mpi_isend_after(ompp_mpi_piggyback_t *s, bool ok)
{
    note_sent(s, ok);
    if (ok && s->ack) keep(s, new_request(s, OMPP_MPI_PENDING_SEND, s->peer, s->tag));
    else ompp_mpi_ack_drop(s->ack);
}

void ompp_mpi_irecv_after(ompp_mpi_piggyback_t *s, bool ok)
{
    ompp_mpi_request_t *r = ok ? new_receive(s) : NULL;

    if (r && ompp_mpi_acks_are_due(s->shadow) && !ompp_mpi_piggyback_acknowledge(s->shadow, r->peer, r->tag, s->begin))
        ompp_mpi_request_posted(r);
    keep(s, r);
}

void ompp_mpi_isendrecv_after(ompp_mpi_piggyback_t *s, bool ok)
{
    note_sent(s, ok);
    if (ok) keep(s, new_receive(s));
}

void ompp_mpi_send_init_after(ompp_mpi_piggyback_t *s, bool ok)
{
    ompp_mpi_request_t *r;

    if (!ok || !can_send(s)) return;
    note_sent(s, ok);
    r = new_request(s, OMPP_MPI_PENDING_SEND, s->peer, s->tag);
    if (r && !s->buffered)
        r->waiting =
            OMPP_MPI_STARTED_WAIT ? OMPP_MPI_SYNCHRONOUS : waiting_size(s, ompp_mpi_bytes_of(s->count, s->type));
    keep_persistent(s, r);
}

void ompp_mpi_receive_init_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (ok) keep_persistent(s, new_receive(s));
}

void ompp_mpi_cancel_before(ompp_mpi_piggyback_t *s)
{
    ompp_mpi_request_t *r = ompp_mpi_request_peek(ompp_mpi_handle(s, 0));

    if (r) r->cancelled = true;
}

/* The program will not learn when it is complete. */
void ompp_mpi_forget_before(ompp_mpi_piggyback_t *s)
{
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
    ompp_mpi_shadow_free(other);
}

void ompp_mpi_derived_after(ompp_mpi_piggyback_t *s, bool ok)
{
    const bool follows = s->shadow != NULL;

    if (!ok) return;
    forget_other(made_of(s));
    ompp_mpi_shadow_made(made_of(s), follows);
}

void ompp_mpi_created_after(ompp_mpi_piggyback_t *s, bool ok)
{
    ompp_mpi_derived_after(s, ok);
    ompp_mpi_agreeing_after(s, ok);
}

void ompp_mpi_freed_before(ompp_mpi_piggyback_t *s)
{
    if (s->made) s->shadow = ompp_mpi_shadow_forget(made_of(s));
    if (s->shadow) ompp_mpi_suppressed_forget(made_of(s));
}

/* MPI may have refused it: then the communicator is there as before. */
void ompp_mpi_freed_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (ok) ompp_mpi_shadow_free(s->shadow);
    else if (s->shadow) ompp_mpi_shadow_add(s->shadow);
    s->shadow = NULL;
}

void ompp_mpi_unfollowed_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (!ok) return;
    ompp_mpi_unfollowed("partitioned and persistent collective operations, MPI_Comm_idup, sessions, and other jobs");
    if (s->made) forget_other(made_of(s));
}

void ompp_mpi_unreported_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (ok) ompp_mpi_lose(s);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

/* while clocks are suspended, a call takes little more than looking at the clock does: one of so many is measured */
#define SELDOM 8u

void ompp_mpi_piggyback_before(ompp_mpi_piggyback_t *s, const void *code, uintptr_t frame)
{
    static __thread uint32_t chance; /* not each one of a round, which might always be the same */
    const int saved = errno;

    if (ompp_mpi_guard.frame == 0) {
        ompp_mpi_guard = (ompp_mpi_guard_t){frame, code};
        s->guarded = true;
    }
    s->begin = ompp_event_now();
    s->longest = OMPP_MPI_LONGEST_NS;
    if (ompp_sync_is_suspended()) chance = chance * 1664525u + 1013904223u;
    s->measured = !ompp_sync_is_suspended() ? 1 : chance >> 16 & (SELDOM - 1) ? 0 : SELDOM;
    if (s->comm != MPI_COMM_NULL) s->shadow = ompp_mpi_shadow_find(s->comm);
    if (s->before) s->before(s);
    if (s->measured) s->took = ompp_event_now() - s->begin;
    errno = saved;
}

ompp_time_t ompp_mpi_piggyback_after(ompp_mpi_piggyback_t *s, int result)
{
    const int saved = errno;
    const ompp_time_t begin = s->measured ? ompp_event_now() : 0;

    s->result = result;
    if (s->after) s->after(s, result == MPI_SUCCESS);
    ompp_mpi_shadow_release(s->shadow);
    ompp_mpi_shadow_sweep();
    if (s->guarded) ompp_mpi_guard.frame = 0;
    const ompp_time_t end = ompp_event_now();
    ompp_mpi_under_way_left(end);
    if (s->measured) {
        /* For the report; not what ranks wait for each other in our collective calls. */
        const ompp_time_t before = s->took < s->longest ? s->took : s->longest, after = end - begin;
        ompp_sync_charge((before + (after < OMPP_MPI_LONGEST_NS ? after : OMPP_MPI_LONGEST_NS)) * s->measured);
    }
    errno = saved;
    return end;
}
