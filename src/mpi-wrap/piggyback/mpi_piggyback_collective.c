/**
 * \file
 * Clock vectors of collective calls: a small collective call of the same kind on our communicator, just before the
 * user's, so that nobody waits for anybody that the user's call does not wait for. Non-blocking ones are started with
 * the user's, and end with it.
 *
 * All ranks of the communicator make the user's call; one with a wrong root, count, type or operation, which MPI
 * refuses, has none of ours: the others need not come to it.
 *
 * What a rank waits for in a call with a root depends on how MPI does it: receivers wait for those between them and the
 * root, or a sender of large data for its receivers. Ranks in the middle of our reduction see what they wait for; the
 * rest is found out by its time: a call that takes much longer than it can take when nobody is waited for has waited
 * for somebody unknown.
 *
 * While clocks are suspended, ours are left out, which all ranks have to agree on: in one of ours in which everybody
 * waits for everybody, rank 0 says how many of the next calls on the communicator have none. It knows until when clocks
 * are suspended, and how often such calls come: it gives away half of that time at most, then half of the rest, and
 * never many calls, which may come less often than before.
 *
 * Blocking calls in which ranks wait for some others only have messages instead, and so have most non-blocking ones
 * (mpi_piggyback_nonblocking.c).
 */
#include "mpi-wrap/piggyback/mpi_piggyback_collective_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_request_priv.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    ompp_mpi_order_t order;
    int root;
    MPI_Comm comm;
    unsigned char *mine, *others;
    int vectors; /* in others */
    bool joins;  /* this rank waits for others */
} exchange_t;

/* This rank is the root: of an intercommunicator's own group, too. */
static bool is_root(const ompp_mpi_shadow_t *c, int root) { return c->inter ? root == MPI_ROOT : root == c->rank; }

static bool plan(const ompp_mpi_piggyback_t *s, exchange_t *x)
{
    const ompp_mpi_shadow_t *c = s->shadow;
    const ompp_mpi_order_t order = s->order;
    const int root = s->root;
    const bool rooted = order == OMPP_MPI_ORDER_FROM_ROOT || order == OMPP_MPI_ORDER_TO_ROOT;

    *x = (exchange_t){.order = order, .root = root, .comm = c->hidden, .vectors = 1, .joins = true};
    const bool special = c->inter && (root == MPI_ROOT || root == MPI_PROC_NULL);
    if (rooted && !special && (root < 0 || root >= c->peers)) return false;
    if (s->refused && !(rooted && c->inter)) return false;
    if (order == OMPP_MPI_ORDER_CHAIN && c->inter) return false;
    if (order == OMPP_MPI_ORDER_NEIGHBOR) {
        if (!c->topology) return false;
        x->vectors = c->sources;
        x->joins = c->sources > 0;
    }
    if (order == OMPP_MPI_ORDER_FROM_ROOT) x->joins = !is_root(c, root) && root != MPI_PROC_NULL;
    if (order == OMPP_MPI_ORDER_TO_ROOT) x->joins = is_root(c, root);
    return true;
}

/* Room for the own clock vector and those of others; zeroed clock vectors say nothing. */
static bool make_room(exchange_t *x, bool all, ompp_time_t t)
{
    const size_t bytes = ompp_mpi_piggyback_state.bytes;

    x->mine = calloc((size_t)x->vectors + 1, bytes);
    if (!x->mine) return false;
    x->others = x->mine + bytes;
    ompp_mpi_collective_vector(x->mine, all, t);
    return true;
}

/* What this rank's part of a reduction of clock vectors comes by: inner ranks of its tree wait for those below them.
 * Zeroed at first. */
static __thread struct {
    unsigned char *sum; /* NULL = not noted */
    bool any;
} seen;

static int run(const exchange_t *x)
{
    const struct ompp_mpi_piggyback_state *s = &ompp_mpi_piggyback_state;

    switch (x->order) {
    case OMPP_MPI_ORDER_CHAIN: return PMPI_Scan(x->mine, x->others, 1, s->type, s->op, x->comm);
    case OMPP_MPI_ORDER_FROM_ROOT: return PMPI_Bcast(x->joins ? x->others : x->mine, 1, s->type, x->root, x->comm);
    case OMPP_MPI_ORDER_TO_ROOT: return PMPI_Reduce(x->mine, x->others, 1, s->type, s->op, x->root, x->comm);
    default: return PMPI_Allreduce(x->mine, x->others, 1, s->type, s->op, x->comm);
    }
}

static int start(const exchange_t *x, MPI_Request *request)
{
    const struct ompp_mpi_piggyback_state *s = &ompp_mpi_piggyback_state;

    switch (x->order) {
    case OMPP_MPI_ORDER_CHAIN: return PMPI_Iscan(x->mine, x->others, 1, s->type, s->op_nonblocking, x->comm, request);
    case OMPP_MPI_ORDER_FROM_ROOT:
        return PMPI_Ibcast(x->joins ? x->others : x->mine, 1, s->type, x->root, x->comm, request);
    case OMPP_MPI_ORDER_TO_ROOT:
        return PMPI_Ireduce(x->mine, x->others, 1, s->type, s->op_nonblocking, x->root, x->comm, request);
    case OMPP_MPI_ORDER_NEIGHBOR:
        return PMPI_Ineighbor_allgather(x->mine, 1, s->type, x->others, 1, s->type, x->comm, request);
    default: return PMPI_Iallreduce(x->mine, x->others, 1, s->type, s->op_nonblocking, x->comm, request);
    }
}

static void add_all(const unsigned char *vectors, int number, unsigned char *sum)
{
    for (int i = 0; i < number; i++) ompp_sync_combine(sum, vectors + (size_t)i * ompp_mpi_piggyback_state.bytes);
}

ompp_sync_remote_t ompp_mpi_collective_kind(const ompp_mpi_shadow_t *shadow, ompp_mpi_order_t order)
{
    if (order != OMPP_MPI_ORDER_ALL) return OMPP_SYNC_ROOTED;
    return shadow->inter || shadow->size < ompp_mpi_piggyback_state.ranks ? OMPP_SYNC_GROUP : OMPP_SYNC_ALL;
}

/* ---- Calls without an exchange ----------------------------------------------------------------------------------- */

/* at first during a suspension; then twice as many each time: calls may come less often than before */
#define FEW_PASSES 4u
#define MOST_PASSES 256u
#define LATELY 8 /* calls */

void ompp_mpi_collective_combine(unsigned char *into, unsigned char *other, bool known)
{
    const ompp_mpi_behind_t from = *ompp_mpi_behind(other);
    ompp_mpi_behind_t *to = ompp_mpi_behind(into);

    ompp_sync_combine(into, other);
    if (known && seen.sum) {
        ompp_sync_combine(seen.sum, into);
        seen.any = true;
    }
    if (from.passes > to->passes) to->passes = from.passes;
    if (from.again > to->again) to->again = from.again;
}

#define MOST_EXCHANGES 3u

/* Whether there is another one is what all have got with the one before. */
bool ompp_mpi_collective_settle(unsigned char *mine, unsigned char *all, bool (*combine)(void *), void *how)
{
    bool combined;

    ompp_mpi_behind(mine)->again = ompp_sync_contribute(mine);
    combined = combine(how);
    for (unsigned i = 1; combined && ompp_mpi_behind(all)->again && i < MOST_EXCHANGES; i++) {
        ompp_mpi_behind(mine)->again = ompp_sync_revise(mine, all);
        combined = combine(how);
    }
    return combined;
}

static void set_passes(ompp_mpi_shadow_t *c, uint64_t n)
{
    if (ompp_mpi_leads(c, c->rank) && !n != !c->passing.left) ompp_sync_hold(n > 0);
    c->passing.left = n;
}

/* A call on the channel begins. \return whether it is one without an exchange. */
static bool passes(ompp_mpi_shadow_t *c, ompp_time_t t)
{
    ompp_mpi_passing_t *p = &c->passing;

    if (ompp_mpi_leads(c, c->rank)) {
        const int64_t interval = p->last && t > p->last ? (int64_t)(t - p->last) : 0;
        p->interval += (interval - p->interval) / (p->interval > 0 ? LATELY : 1);
        p->last = t;
    }
    if (!p->left) return false;
    set_passes(c, c->passing.left - 1);
    return true;
}

bool ompp_mpi_collective_passes(ompp_mpi_shadow_t *c)
{
    return c->passing.left > 0 && passes(c, ompp_mpi_leads(c, c->rank) ? ompp_event_called() : 0);
}

/* How many of the next ones are to have none; 0 on all ranks but one. */
static uint64_t choose_passes(ompp_mpi_shadow_t *c, ompp_time_t t)
{
    const ompp_time_t until = ompp_mpi_leads(c, c->rank) ? ompp_sync_suspended_until() : 0;
    ompp_mpi_passing_t *p = &c->passing;

    p->most = until && p->most ? 2 * p->most : FEW_PASSES / 2;
    if (until <= t || p->interval <= 0) return 0;
    if (p->most > MOST_PASSES) p->most = MOST_PASSES;
    const uint64_t n = (until - t) / 2 / (uint64_t)p->interval;
    return n < p->most ? n : p->most;
}

/* ---- Calls in which ranks wait for some others only -------------------------------------------------------------- */

/*
 * Clock vectors of blocking calls in which ranks wait for some others only go as messages, which nobody waits for but
 * those who have waited for their sender in the user's call.
 *
 * In a neighbourhood each rank sends before the user's call, to those that the user's data go to, and receives after
 * it. In a scan it has waited for the rank before it, which has waited for others: after the call it receives the
 * clocks of all of them, adds its own, and sends that to the next one.
 *
 * All calls on a channel have a number, the same on all its ranks. A call that MPI refused is none: the next one has
 * its number again, and what was sent for it is the next one's.
 */
static bool goes_as_messages(const ompp_mpi_piggyback_t *s)
{
    return s->order == OMPP_MPI_ORDER_NEIGHBOR || (s->order == OMPP_MPI_ORDER_CHAIN && OMPP_MPI_SCAN_IS_CHAIN);
}

/* Without data MPI need not have waited for the others: what they have sent is awaited for a moment only. */
#define UNSURE_NS 300000u

static void neighbors_before(ompp_mpi_piggyback_t *s)
{
    ompp_mpi_shadow_t *c = s->shadow;

    c->calls++;
    if (c->parted || (s->order == OMPP_MPI_ORDER_NEIGHBOR && !c->neighbors)) return;
    s->vector = ompp_mpi_piggyback_moment(s->begin);
    if (!s->vector || s->order != OMPP_MPI_ORDER_NEIGHBOR || c->reported == c->calls) return;
    c->reported = c->calls;
    for (int i = 0; i < c->destinations; i++)
        ompp_mpi_piggyback_send_sum(c, c->neighbors[c->sources + i], ompp_mpi_piggyback_own_tag(), c->calls, s->vector,
                                    false);
}

/* Adds to sum what comes from others. \param[in] data they have sent some, so clock vectors as well. \return false =
 * not all has come. */
static bool receive(ompp_mpi_shadow_t *c, const int *sources, int number, bool data, ompp_mpi_message_t *sum)
{
    bool all = true;

    for (int i = 0; i < number && !c->parted; i++) {
        const uint64_t limit = data ? OMPP_MPI_PIGGYBACK_LIMIT_NS : all ? UNSURE_NS : 0;
        ompp_mpi_message_t *other = ompp_mpi_piggyback_expect(c, sources[i], c->calls, limit);
        if (other) ompp_mpi_piggyback_add(sum, other);
        all &= other != NULL;
        c->parted |= !other && data;
        ompp_mpi_piggyback_free(other);
    }
    c->unread |= !all;
    return all;
}

/* What the call has not waited for is not to be adopted. */
static void forget_vector(ompp_mpi_piggyback_t *s, bool waited)
{
    ompp_mpi_piggyback_free(s->vector);
    s->vector = NULL;
    s->passes = waited;
}

static void chain_after(ompp_mpi_piggyback_t *s)
{
    ompp_mpi_shadow_t *c = s->shadow;
    const int before = c->rank - 1;
    bool all = true;

    if (!s->bytes && c->size > 1) { /* nobody has waited */
        forget_vector(s, false);
        return;
    }
    if (s->vector && c->rank > 0) all = receive(c, &before, 1, true, s->vector);
    if (s->vector && c->rank < c->size - 1)
        ompp_mpi_piggyback_send_sum(c, c->rank + 1, ompp_mpi_piggyback_own_tag(), c->calls, s->vector, false);
    if (!all || !s->vector) forget_vector(s, c->rank > 0);
}

static void neighbors_after(ompp_mpi_piggyback_t *s, bool ok)
{
    ompp_mpi_shadow_t *c = s->shadow;

    if (s->passes || s->refused || (s->order == OMPP_MPI_ORDER_NEIGHBOR && !c->topology)) return;
    if (!ok) {
        c->calls--;
        c->unread = true;
        forget_vector(s, false);
        return;
    }
    if (s->order == OMPP_MPI_ORDER_CHAIN) {
        chain_after(s);
        return;
    }
    /* the own one was for the others */
    if (s->vector) memset(s->vector->vector, 0, ompp_mpi_piggyback_state.bytes);
    if (c->sources == 0) forget_vector(s, false);
    else if (!s->vector || !receive(s->shadow, c->neighbors, c->sources, s->bytes > 0, s->vector))
        forget_vector(s, true);
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

/* One that goes on by itself, with an exchange or without. */
static ompp_mpi_request_t *new_request(const ompp_mpi_piggyback_t *piggyback, const exchange_t *x)
{
    ompp_mpi_request_t *r = ompp_mpi_request_new(OMPP_MPI_PENDING_COLLECTIVE, piggyback->shadow);

    if (!r) return NULL;
    r->joins = x->joins;
    r->meets = ompp_mpi_collective_kind(piggyback->shadow, piggyback->order);
    r->begin = piggyback->begin;
    return r;
}

/* Runs the exchange. \return whether there is something to adopt in x->others. */
static bool exchange(void *of)
{
    const exchange_t *x = of;
    const bool sees = x->order == OMPP_MPI_ORDER_TO_ROOT && !x->joins;
    int status;

    if (sees) seen.sum = x->others;
    seen.any = false;
    status = run(x);
    seen.sum = NULL;
    return status == MPI_SUCCESS && (x->joins || seen.any);
}

/* A call with a root takes so long at most when nobody comes late; a rank that waits for all has no limit. */
#define EXCHANGES 4u /* ours and the user's, each with room */

static ompp_time_t limit_of(const ompp_mpi_piggyback_t *s)
{
    const ompp_mpi_shadow_t *c = s->shadow;
    /* may be waited for */
    const bool receivers = !OMPP_MPI_SCAN_IS_CHAIN || c->rank == 0 || s->bytes > OMPP_MPI_WAITING_BYTES;
    const bool chain = s->order == OMPP_MPI_ORDER_CHAIN && receivers;
    const bool from = s->order == OMPP_MPI_ORDER_FROM_ROOT || chain, to = s->order == OMPP_MPI_ORDER_TO_ROOT;
    const bool root = !chain && is_root(c, s->root);

    if (c->inter || c->peers < 2 || !(from || (to && !root))) return 0;
    /* At 1 GB/s, all of it: a rank knows its part. */
    return OMPP_MPI_ALONE_NS + EXCHANGES * ompp_mpi_piggyback_state.exchange +
           s->bytes * (uint64_t)(root ? 1 : c->peers);
}

/* Without data nobody waits for anybody but in our exchange. Ranks have the same count. */
static bool is_empty(const ompp_mpi_piggyback_t *s) { return s->even && s->shadow->peers > 1 && s->bytes == 0; }

static void join_clock(const ompp_mpi_piggyback_t *s)
{
    ompp_sync_wait_t wait = {
        .begin = s->begin, .limit = limit_of(s), .kind = ompp_mpi_collective_kind(s->shadow, s->order)};
    const bool took_long = wait.limit && ompp_event_now() - s->begin > wait.limit;

    if (s->shadow->inter || is_empty(s)) ompp_sync_flag(OMPP_WHATIF_F_LOST, true);
    if (s->passes && !s->vector) wait.limit = 0;
    if (s->vector || s->passes || took_long) ompp_mpi_join_clock(s->vector, wait);
}

/* What all collective calls begin with. \return false = the call has no exchange. */
static bool begins(ompp_mpi_piggyback_t *s, exchange_t *x)
{
    if (!s->shadow || !plan(s, x)) return false;
    if (!passes(s->shadow, s->begin)) return true;
    s->passes = x->joins;
    return false;
}

void ompp_mpi_collective_before(ompp_mpi_piggyback_t *s)
{
    exchange_t x;

    s->longest = ompp_mpi_piggyback_state.exchange;
    ompp_mpi_progress_before(NULL, 0, 0, s->begin);
    if (!begins(s, &x)) return;
    if (goes_as_messages(s)) {
        neighbors_before(s);
        return;
    }
    const bool all = ompp_mpi_collective_kind(s->shadow, s->order) == OMPP_SYNC_ALL;
    if (!make_room(&x, all, s->begin)) return;
    if (all) ompp_mpi_behind(x.mine)->passes = choose_passes(s->shadow, s->begin);
    if (all ? ompp_mpi_collective_settle(x.mine, x.others, exchange, &x) : exchange(&x)) {
        if (all) set_passes(s->shadow, ompp_mpi_behind(x.others)->passes);
        s->vector = ompp_mpi_piggyback_new();
        if (s->vector) memcpy(s->vector->vector, x.others, ompp_mpi_piggyback_state.bytes);
    }
    free(x.mine);
}

void ompp_mpi_collective_after(ompp_mpi_piggyback_t *s, bool ok)
{
    ompp_mpi_piggyback_reclaim();
    if (s->shadow && goes_as_messages(s)) neighbors_after(s, ok);
    if (ok && s->shadow) join_clock(s);
    ompp_mpi_piggyback_free(s->vector);
}

static bool start_exchange(ompp_mpi_request_t *r, exchange_t *x)
{
    if (!make_room(x, r->meets == OMPP_SYNC_ALL, r->begin)) return false;
    if (start(x, &r->exchange) != MPI_SUCCESS) {
        free(x->mine);
        return false;
    }
    r->sent = x->mine;
    r->vector = x->others;
    r->vectors = x->vectors;
    return true;
}

void ompp_mpi_icollective_before(ompp_mpi_piggyback_t *s)
{
    exchange_t x;

    ompp_mpi_under_way_progress(s->begin); /* those before it go on */
    const bool exchanges = begins(s, &x);
    /* without an exchange: it may end after the suspension */
    ompp_mpi_request_t *r = exchanges || s->passes ? new_request(s, &x) : NULL;
    s->started = r;
    if (!r || !exchanges) return;
    if (ompp_mpi_nonblocking(s)) {
        ompp_mpi_nonblocking_before(s, r);
    } else if (!start_exchange(r, &x)) {
        s->started = NULL;
        ompp_mpi_request_delete(r);
    }
}

/* The user's call did not begin, or is over before the exchange is, which goes on by itself. */
static void leave(ompp_mpi_request_t *r)
{
    if (r->exchange != MPI_REQUEST_NULL) ompp_mpi_piggyback_leave(r->exchange, r->sent);
    r->exchange = MPI_REQUEST_NULL;
    r->sent = r->vector = NULL;
}

void ompp_mpi_icollective_after(ompp_mpi_piggyback_t *s, bool ok)
{
    ompp_mpi_request_t *r = s->started;

    /* Groups of an inter-communicator wait for each other, and not for their own ranks as in our exchange. */
    if (ok && s->shadow && (s->shadow->inter || is_empty(s))) ompp_sync_flag(OMPP_WHATIF_F_LOST, true);
    if (!r) return;
    if (ok && ompp_mpi_handle(s, 0) != MPI_REQUEST_NULL) {
        if (r->call) ompp_mpi_nonblocking_begun(s, r);
        ompp_mpi_request_put(r, ompp_mpi_handle(s, 0));
        return;
    }
    if (r->call) ompp_mpi_nonblocking_refused(r);
    else leave(r);
    ompp_mpi_request_delete(r);
}

/* ---- Calls that make or free something --------------------------------------------------------------------------- */

typedef struct {
    unsigned char *mine, *all;
    MPI_Comm own;
} agree_t;

static bool combine_agreed(void *gathering)
{
    const agree_t *g = gathering;

    return PMPI_Allreduce(g->mine, g->all, 1, ompp_mpi_piggyback_state.type, ompp_mpi_piggyback_state.op, g->own) ==
           MPI_SUCCESS;
}

/* All ranks of the run are in it, and not only some. */
static bool has_all(MPI_Comm own)
{
    int size = 0;

    PMPI_Comm_size(own, &size);
    return size >= ompp_mpi_piggyback_state.ranks;
}

void ompp_mpi_agree_before(ompp_mpi_piggyback_t *s, MPI_Comm own)
{
    ompp_mpi_message_t *mine = ompp_mpi_piggyback_new(), *all = ompp_mpi_piggyback_new();

    if (mine && all) {
        agree_t g = {mine->vector, all->vector, own};
        ompp_mpi_collective_vector(g.mine, has_all(own), s->begin);
        if (has_all(own) ? ompp_mpi_collective_settle(g.mine, g.all, combine_agreed, &g) : combine_agreed(&g)) {
            s->vector = all;
            all = NULL;
        }
    }
    ompp_mpi_piggyback_free(mine);
    ompp_mpi_piggyback_free(all);
}

void ompp_mpi_agree_after(ompp_mpi_piggyback_t *s, MPI_Comm own, bool ok)
{
    if (!s->vector) return;
    const ompp_sync_wait_t wait = {.begin = s->begin, .kind = has_all(own) ? OMPP_SYNC_ALL : OMPP_SYNC_GROUP};
    if (ok) ompp_mpi_join_clock(s->vector, wait);
    ompp_mpi_piggyback_free(s->vector);
    s->vector = NULL;
}

void ompp_mpi_agreeing_before(ompp_mpi_piggyback_t *s)
{
    if (s->shadow && !s->shadow->inter) ompp_mpi_agree_before(s, s->shadow->hidden);
}

void ompp_mpi_agreeing_after(ompp_mpi_piggyback_t *s, bool ok)
{
    if (s->shadow) ompp_mpi_agree_after(s, s->shadow->hidden, ok);
}

/* Ours may need more calls of MPI than the user's, which is complete: there is a moment for it, and no more after some
 * in vain. */
#define OUR_END_NS 1000000u

bool ompp_mpi_collective_done(ompp_mpi_request_t *r, ompp_time_t waits_since, ompp_time_t end, unsigned char *sum)
{
    if (r->call) return ompp_mpi_nonblocking_done(r, waits_since, end, sum);
    if (!r->sent) return false; /* without an exchange */
    /* A rank that nobody keeps waiting has only to have sent. */
    const bool awaited = r->joins && __atomic_load_n(&r->shadow->misses, __ATOMIC_RELAXED) < OMPP_MPI_MOST_MISSES;
    const bool complete = ompp_mpi_piggyback_complete(&r->exchange, awaited ? OUR_END_NS : 0);

    if (!complete) {
        if (awaited) __atomic_add_fetch(&r->shadow->misses, 1, __ATOMIC_RELAXED);
        leave(r);
        return false;
    }
    if (r->joins) add_all(r->vector, r->vectors, sum);
    free(r->sent);
    r->sent = r->vector = NULL;
    return r->joins;
}
