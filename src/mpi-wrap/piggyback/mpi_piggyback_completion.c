/**
 * \file
 * Calls that start, ask for and complete requests that clocks travel with.
 */
#include "mpi-wrap/piggyback/mpi_piggyback_collective_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_request_priv.h"

#include <string.h>

/* ---- Completion -------------------------------------------------------------------------------------------------- */

static bool takes_any(const ompp_mpi_piggyback_t *s) { return s->index || s->outcount; }

/* What the requests taken by one call have waited for. */
typedef struct {
    int sends;                   /* 0: now all but sends; 1: now sends */
    ompp_mpi_message_t *message; /* with the sum; NULL = nothing was added yet */
    bool alone;                  /* the call waits for one request */
    bool any;                    /* something was added to sum */
    bool unknown;                /* something was waited for that is not known */
    unsigned flags;
    ompp_sync_remote_t kind, unknown_kind; /* of what there is a clock vector of, and of what there is none of */
    ompp_time_t begin, end;
    ompp_time_t waits; /* since when the thread does nothing else; 0 = not known */
} done_t;

/* \return NULL = no memory. */
static unsigned char *sum_of(done_t *done)
{
    if (!done->message) {
        done->message = ompp_mpi_piggyback_new();
        if (!done->message) return NULL;
        memset(done->message->vector, 0, ompp_mpi_piggyback_state.bytes);
    }
    return done->message->vector;
}

static void receive_done(ompp_mpi_request_t *r, const MPI_Status *status, bool ok, done_t *done)
{
    int source = r->peer, tag = r->tag, cancelled = 0;

    if (r->cancelled && status) PMPI_Test_cancelled(status, &cancelled);
    if (cancelled) return;
    if (status) {
        source = status->MPI_SOURCE;
        tag = status->MPI_TAG;
    }
    if (r->peer == MPI_ANY_SOURCE && r->shadow->peers > 1) done->flags |= OMPP_WHATIF_F_WILDCARD;
    const bool suppressed = ok && ompp_mpi_piggyback_pass_suppressed(r->shadow, source, tag, done->end);
    if (!suppressed && ompp_mpi_piggyback_claim(r->shadow, source, tag, done->begin,
                                                ok ? OMPP_MPI_PIGGYBACK_LIMIT_NS : 0, &done->message, &done->flags)) {
        done->any = true;
        if (done->kind == OMPP_SYNC_ACKNOWLEDGEMENT) done->kind = OMPP_SYNC_MESSAGE;
    } else {
        done->unknown = true;
    }
}

/* Work while an operation is under way that needs the other ranks: it may only have gone on in calls of MPI. */
#define OVERLAP_NS 20000u

static bool overlaps_work(const ompp_mpi_request_t *r, const done_t *done)
{
    const bool needs_others = r->kind == OMPP_MPI_PENDING_COLLECTIVE || r->ack;

    return needs_others && r->begin && done->begin > r->begin + OVERLAP_NS;
}

static void request_done(ompp_mpi_request_t *r, const MPI_Status *status, bool ok, done_t *done)
{
    if (overlaps_work(r, done)) done->flags |= OMPP_WHATIF_F_OVERLAP;
    if (r->open) done->flags |= OMPP_WHATIF_F_WILDCARD;
    if (r->kind == OMPP_MPI_PENDING_RECEIVE) {
        ompp_mpi_request_over(r);
        receive_done(r, status, ok, done);
    }
    if (r->kind == OMPP_MPI_PENDING_SEND && r->ack) {
        if (done->alone) ompp_mpi_ack_allow_slack(r->ack, done->begin, done->end);
        done->any |=
            ompp_mpi_ack_take(r->ack, done->begin, done->end, OMPP_MPI_STARTED_WAIT && r->persistent, &done->message);
        r->ack = NULL;
    }
    if (r->kind == OMPP_MPI_PENDING_COLLECTIVE) {
        unsigned char *sum = r->call || r->sent ? sum_of(done) : NULL;
        const bool joins = r->joins, any = sum && ompp_mpi_collective_done(r, done->waits, done->end, sum);
        if (any) done->kind = r->meets;
        else done->unknown_kind = r->meets;
        if (any) done->any = true;
        else done->unknown |= joins;
    }
    if (!r->persistent) {
        ompp_mpi_request_delete(r);
        return;
    }
    r->active = r->open = false;
    ompp_mpi_request_put(r, r->handle);
}

/* Takes request i as complete; k is the number of its status. */
static void take(ompp_mpi_piggyback_t *piggyback, int i, int k, bool ok, done_t *done)
{
    ompp_mpi_request_t *r = i >= 0 && i < piggyback->number ? piggyback->pending[i] : NULL;
    MPI_Status room;

    if (!r || (r->persistent && !r->active) || (r->kind == OMPP_MPI_PENDING_SEND) != done->sends) return;
    piggyback->pending[i] = NULL;
    request_done(r, ompp_mpi_status(piggyback, k, &room), ok, done);
}

/* The call failed: those whose handles are gone are complete, one of them with an error. */
static void take_after_error(ompp_mpi_piggyback_t *piggyback, done_t *done)
{
    for (int i = 0; i < piggyback->number; i++) {
        ompp_mpi_request_t *r = piggyback->pending[i];
        if (r && !r->persistent && ompp_mpi_handle(piggyback, i) == MPI_REQUEST_NULL)
            take(piggyback, i, takes_any(piggyback) ? 0 : i, false, done);
    }
}

static void take_done(ompp_mpi_piggyback_t *piggyback, done_t *done)
{
    const int base = piggyback->fortran ? 1 : 0;

    if (piggyback->flag && !*piggyback->flag) return;
    if (piggyback->outcount) {
        for (int k = 0; *piggyback->outcount != MPI_UNDEFINED && k < *piggyback->outcount; k++)
            take(piggyback, piggyback->indices[k] - base, k, true, done);
    } else if (piggyback->index) {
        if (*piggyback->index != MPI_UNDEFINED) take(piggyback, *piggyback->index - base, 0, true, done);
    } else {
        for (int i = 0; i < piggyback->number; i++) take(piggyback, i, i, true, done);
    }
}

/* What others wait for is told before waiting for them: receives give acknowledgements, sends take them. */
static void take_in_order(ompp_mpi_piggyback_t *piggyback, bool ok, done_t *done)
{
    for (done->sends = 0; done->sends < 2; done->sends++) {
        if (ok) take_done(piggyback, done);
        else take_after_error(piggyback, done);
    }
}

static int pending_of(const ompp_mpi_piggyback_t *piggyback)
{
    int n = 0;

    for (int i = 0; i < piggyback->number; i++) n += piggyback->pending[i] != NULL;
    return n;
}

void ompp_mpi_wait_after(ompp_mpi_piggyback_t *piggyback, bool ok)
{
    done_t done = {.begin = piggyback->begin,
                   .end = ompp_event_now(),
                   .kind = OMPP_SYNC_ACKNOWLEDGEMENT,
                   .unknown_kind = OMPP_SYNC_MESSAGE};
    int left = 0;

    done.waits = piggyback->polls ? ompp_mpi_polls_since() : done.begin;
    ompp_mpi_piggyback_reclaim();
    if (!piggyback->pending) return;
    done.alone = !piggyback->polls && pending_of(piggyback) == 1;
    take_in_order(piggyback, ok, &done);
    const bool chooses = takes_any(piggyback) && (done.any || done.unknown);
    for (int i = 0; i < piggyback->number; i++) {
        ompp_mpi_request_t *r = piggyback->pending[i];
        if (!r) continue;
        left += r->active;
        r->open |= chooses && r->active;
        ompp_mpi_request_put(r, r->handle);
    }
    if (piggyback->polls) {
        done.begin = ompp_mpi_polled(done.begin, done.any);
        done.flags |= OMPP_WHATIF_F_POLLING;
    }
    /* Which of several comes first may decide what the program does. */
    if (chooses && left > 0) done.flags |= OMPP_WHATIF_F_WILDCARD;
    const ompp_sync_wait_t wait = {
        .begin = done.begin, .kind = done.any ? done.kind : done.unknown_kind, .flags = done.flags};
    if (done.any || done.unknown) ompp_mpi_join_clock(done.any ? done.message : NULL, wait);
    ompp_mpi_piggyback_free(done.message);
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static ompp_mpi_request_t *asked_for(const ompp_mpi_piggyback_t *piggyback)
{
    ompp_mpi_request_t *r = ompp_mpi_request_peek(piggyback->asked);

    return r && r->active ? r : NULL;
}

void ompp_mpi_ask_before(ompp_mpi_piggyback_t *piggyback)
{
    const ompp_mpi_request_t *r = asked_for(piggyback);

    ompp_mpi_progress_before(NULL, 0, 0, piggyback->begin);
    if (r && ompp_mpi_request_is_wild(r)) ompp_mpi_substitute(piggyback, 1);
}

/* The request stays, and the call that completes it will claim the same clock vector. Of others than receives it is not
 * known yet. */
static void peek_at(const ompp_mpi_request_t *r, const MPI_Status *status, ompp_time_t begin, ompp_mpi_message_t **sum,
                    unsigned *flags)
{
    if (r->kind != OMPP_MPI_PENDING_RECEIVE || r->cancelled) return;
    if (ompp_mpi_request_is_wild(r) && !status) return;
    if (r->peer == MPI_ANY_SOURCE && r->shadow->peers > 1) *flags |= OMPP_WHATIF_F_WILDCARD;
    ompp_mpi_piggyback_peek(r->shadow, ompp_mpi_request_is_wild(r) ? status->MPI_SOURCE : r->peer,
                            ompp_mpi_request_is_wild(r) ? status->MPI_TAG : r->tag, true, begin, sum, flags);
}

void ompp_mpi_ask_after(ompp_mpi_piggyback_t *piggyback, bool ok)
{
    const ompp_mpi_request_t *r = ok ? asked_for(piggyback) : NULL;
    const bool done = r && piggyback->flag && *piggyback->flag;
    unsigned flags = OMPP_WHATIF_F_POLLING;
    ompp_time_t begin;
    ompp_mpi_message_t *sum = NULL;
    MPI_Status room;

    ompp_mpi_piggyback_reclaim();
    if (!r) return;
    begin = ompp_mpi_polled(piggyback->begin, done);
    if (!done) return;
    peek_at(r, ompp_mpi_status(piggyback, 0, &room), piggyback->begin, &sum, &flags);
    if (sum || r->kind == OMPP_MPI_PENDING_RECEIVE) /* of a collective call, its wait will tell */
        ompp_mpi_join_clock(sum, (ompp_sync_wait_t){.begin = begin, .flags = flags});
    ompp_mpi_piggyback_free(sum);
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

void ompp_mpi_start_before(ompp_mpi_piggyback_t *piggyback)
{
    for (int i = 0; piggyback->requests && i < piggyback->number; i++) {
        ompp_mpi_request_t *r = ompp_mpi_request_peek(ompp_mpi_handle(piggyback, i));
        if (!r || !r->persistent || r->active) continue;
        r->active = true;
        r->begin = piggyback->begin;
        r->cancelled = false;
        const bool suspended = ompp_sync_is_suspended();
        if (r->kind == OMPP_MPI_PENDING_RECEIVE && ompp_mpi_acks_are_due(r->shadow)) ompp_mpi_request_posted(r);
        if (r->kind == OMPP_MPI_PENDING_SEND && ompp_sync_throttle()) r->begin = piggyback->begin = ompp_event_now();
        if (r->kind == OMPP_MPI_PENDING_SEND)
            r->ack = ompp_mpi_piggyback_send(r->shadow, r->peer, r->tag, suspended ? 0 : r->waiting,
                                             OMPP_WHATIF_F_OVERLAP, OMPP_MPI_STARTED_WAIT, piggyback->begin);
    }
}
