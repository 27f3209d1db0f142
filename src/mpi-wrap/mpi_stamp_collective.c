/**
 * \file
 * Stamps of collective calls: a small collective call of the same kind on our communicator, just before the user's, so
 * that nobody waits for anybody that the user's call does not wait for. Non-blocking ones are started with the user's,
 * and end with it.
 *
 * All ranks of the communicator make the user's call; one with a wrong root, which MPI refuses, has none of ours.
 *
 * What a rank waits for in a call with a root depends on how MPI does it: receivers wait for those between them and the
 * root, or a sender of large data for its receivers. Ranks in the middle of our reduction see what they wait for; the
 * rest is found out by its time: a call that takes much longer than it can take when nobody is waited for has waited
 * for somebody unknown.
 *
 * While clocks rest, ours are left out, which all ranks have to agree on: in one of ours in which everybody waits for
 * everybody, rank 0 says how many of the next calls on the communicator have none. It knows until when clocks rest, and
 * how often such calls come: it gives away half of that time at most, then half of the rest, and never many calls,
 * which may come less often than before.
 *
 * Blocking calls in which ranks wait for some others only have messages instead (mpi_stamp_neighbor.c), and so have
 * most non-blocking ones (mpi_stamp_apart.c).
 */
#include "mpi-wrap/mpi_stamp_priv.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    ompp_mpi_order_t order;
    int root;
    MPI_Comm comm;
    unsigned char *mine, *others;
    int stamps;  /* in others */
    bool adopts; /* this rank waits for others */
} exchange_t;

/* This rank is the root: of an intercommunicator's own group, too. */
static bool is_root(const ompp_mpi_channel_t *c, int root) { return c->inter ? root == MPI_ROOT : root == c->rank; }

static bool good_root(const ompp_mpi_channel_t *c, int root)
{
    if (c->inter && (root == MPI_ROOT || root == MPI_PROC_NULL)) return true;
    return root >= 0 && root < c->peers;
}

static bool plan(const ompp_mpi_channel_t *c, ompp_mpi_order_t order, int root, exchange_t *x)
{
    const bool rooted = order == OMPP_MPI_ORDER_FROM_ROOT || order == OMPP_MPI_ORDER_TO_ROOT;

    *x = (exchange_t){.order = order, .root = root, .comm = c->shadow, .stamps = 1, .adopts = true};
    if (rooted && !good_root(c, root)) return false;
    if (order == OMPP_MPI_ORDER_CHAIN && c->inter) return false;
    if (order == OMPP_MPI_ORDER_NEIGHBOR) {
        if (!c->topology) return false;
        x->stamps = c->sources;
        x->adopts = c->sources > 0;
    }
    if (order == OMPP_MPI_ORDER_FROM_ROOT) x->adopts = !is_root(c, root) && root != MPI_PROC_NULL;
    if (order == OMPP_MPI_ORDER_TO_ROOT) x->adopts = is_root(c, root);
    return true;
}

/* Room for the own stamp and those of others; zeroed stamps say nothing. */
static bool make_room(exchange_t *x, ompp_time_t t)
{
    const size_t bytes = ompp_mpi_stamping_state.bytes;

    x->mine = calloc((size_t)x->stamps + 1, bytes);
    if (!x->mine) return false;
    x->others = x->mine + bytes;
    ompp_mpi_collective_stamp(x->mine, t);
    return true;
}

/* What this rank's part of a reduction of stamps comes by: inner ranks of its tree wait for those below them. Zeroed at
 * first. */
static __thread struct {
    unsigned char *sum; /* NULL = not noted */
    bool any;
} seen;

static int run(const exchange_t *x)
{
    const struct ompp_mpi_stamping *s = &ompp_mpi_stamping_state;

    switch (x->order) {
    case OMPP_MPI_ORDER_CHAIN: return PMPI_Scan(x->mine, x->others, 1, s->type, s->op, x->comm);
    case OMPP_MPI_ORDER_FROM_ROOT: return PMPI_Bcast(x->adopts ? x->others : x->mine, 1, s->type, x->root, x->comm);
    case OMPP_MPI_ORDER_TO_ROOT: return PMPI_Reduce(x->mine, x->others, 1, s->type, s->op, x->root, x->comm);
    default: return PMPI_Allreduce(x->mine, x->others, 1, s->type, s->op, x->comm);
    }
}

static int start(const exchange_t *x, MPI_Request *request)
{
    const struct ompp_mpi_stamping *s = &ompp_mpi_stamping_state;

    switch (x->order) {
    case OMPP_MPI_ORDER_CHAIN: return PMPI_Iscan(x->mine, x->others, 1, s->type, s->op_apart, x->comm, request);
    case OMPP_MPI_ORDER_FROM_ROOT:
        return PMPI_Ibcast(x->adopts ? x->others : x->mine, 1, s->type, x->root, x->comm, request);
    case OMPP_MPI_ORDER_TO_ROOT:
        return PMPI_Ireduce(x->mine, x->others, 1, s->type, s->op_apart, x->root, x->comm, request);
    case OMPP_MPI_ORDER_NEIGHBOR:
        return PMPI_Ineighbor_allgather(x->mine, 1, s->type, x->others, 1, s->type, x->comm, request);
    default: return PMPI_Iallreduce(x->mine, x->others, 1, s->type, s->op_apart, x->comm, request);
    }
}

static void add_all(const unsigned char *stamps, int number, unsigned char *sum)
{
    for (int i = 0; i < number; i++) ompp_sync_combine(sum, stamps + (size_t)i * ompp_mpi_stamping_state.bytes);
}

ompp_sync_remote_t ompp_mpi_collective_kind(const ompp_mpi_channel_t *channel, ompp_mpi_order_t order)
{
    if (order != OMPP_MPI_ORDER_ALL) return OMPP_SYNC_ROOTED;
    return channel->inter || channel->size < ompp_mpi_stamping_state.ranks ? OMPP_SYNC_GROUP : OMPP_SYNC_ALL;
}

/* ---- Calls without an exchange ----------------------------------------------------------------------------------- */

#define FEW_PASSES 4u /* at first in a rest; then twice as many each time: calls may come less often than before */
#define MOST_PASSES 256u
#define LATELY 8 /* calls */

static ompp_mpi_behind_t *behind(unsigned char *stamp)
{
    return (ompp_mpi_behind_t *)(void *)(stamp + ompp_mpi_stamping_state.bytes - sizeof(ompp_mpi_behind_t));
}

static ompp_mpi_behind_t told_behind(const unsigned char *stamp)
{
    return *(const ompp_mpi_behind_t *)(const void *)(stamp + ompp_mpi_stamping_state.bytes -
                                                      sizeof(ompp_mpi_behind_t));
}

void ompp_mpi_collective_stamp(unsigned char *stamp, ompp_time_t t)
{
    *behind(stamp) = (ompp_mpi_behind_t){0, 0};
    ompp_sync_stamp(stamp, t);
}

void ompp_mpi_collective_combine(unsigned char *into, const unsigned char *other, bool known)
{
    const ompp_mpi_behind_t from = told_behind(other);
    ompp_mpi_behind_t *to = behind(into);

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
bool ompp_mpi_collective_settle(unsigned char *mine, const unsigned char *all, bool (*combine)(void *), void *how)
{
    bool combined;

    behind(mine)->again = ompp_sync_close(mine);
    combined = combine(how);
    for (unsigned i = 1; combined && told_behind(all).again && i < MOST_EXCHANGES; i++) {
        behind(mine)->again = ompp_sync_amend(mine, all);
        combined = combine(how);
    }
    return combined;
}

static void note_call(ompp_mpi_passing_t *p, ompp_time_t t)
{
    const double interval = p->last && t > p->last ? (double)(t - p->last) : 0;

    p->interval += (interval - p->interval) / (p->interval > 0 ? LATELY : 1);
    p->last = t;
}

static void set_passes(ompp_mpi_channel_t *c, uint64_t n)
{
    if (ompp_mpi_leads(c, c->rank) && !n != !c->passing.left) ompp_sync_hold(n > 0);
    c->passing.left = n;
}

void ompp_mpi_collective_forget(ompp_mpi_channel_t *channel)
{
    if (channel->passing.left) set_passes(channel, 0);
}

/* A call on the channel begins. \return whether it is one without an exchange. */
static bool passes(ompp_mpi_channel_t *c, ompp_time_t t)
{
    if (ompp_mpi_leads(c, c->rank)) note_call(&c->passing, t);
    if (!c->passing.left) return false;
    set_passes(c, c->passing.left - 1);
    return true;
}

bool ompp_mpi_collective_passes(ompp_mpi_channel_t *c)
{
    return c->passing.left > 0 && passes(c, ompp_mpi_leads(c, c->rank) ? ompp_event_called() : 0);
}

/* How many of the next ones are to have none; 0 on all ranks but one. */
static uint64_t choose_passes(ompp_mpi_channel_t *c, ompp_time_t t)
{
    const ompp_time_t until = ompp_mpi_leads(c, c->rank) ? ompp_sync_rests_until() : 0;
    ompp_mpi_passing_t *p = &c->passing;

    p->most = until && p->most ? 2 * p->most : FEW_PASSES / 2;
    if (until <= t || p->interval <= 0) return 0;
    if (p->most > MOST_PASSES) p->most = MOST_PASSES;
    const double n = (double)(until - t) / 2 / p->interval;
    return n < (double)p->most ? (uint64_t)n : p->most;
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

/* One that goes on by itself, with an exchange or without. */
static ompp_mpi_request_t *new_request(const ompp_mpi_stamp_t *stamp, const exchange_t *x)
{
    ompp_mpi_request_t *r = ompp_mpi_request_new(OMPP_MPI_PENDING_COLLECTIVE, stamp->channel);

    if (!r) return NULL;
    r->adopts = x->adopts;
    r->meets = ompp_mpi_collective_kind(stamp->channel, stamp->order);
    r->begin = stamp->begin;
    return r;
}

/* Runs the exchange. \return whether there is something to adopt in x->others. */
static bool exchange(void *of)
{
    const exchange_t *x = of;
    const bool sees = x->order == OMPP_MPI_ORDER_TO_ROOT && !x->adopts;
    int status;

    if (sees) seen.sum = x->others;
    seen.any = false;
    status = run(x);
    seen.sum = NULL;
    return status == MPI_SUCCESS && (x->adopts || seen.any);
}

/* A call with a root takes so long at most when nobody comes late; a rank that waits for all has no limit. */
#define EXCHANGES 4u /* ours and the user's, each with room */

static ompp_time_t limit_of(const ompp_mpi_stamp_t *s)
{
    const ompp_mpi_channel_t *c = s->channel;
    /* may be waited for */
    const bool receivers = !OMPP_MPI_SCAN_IS_CHAIN || c->rank == 0 || s->bytes > OMPP_MPI_ALONE_BYTES;
    const bool chain = s->order == OMPP_MPI_ORDER_CHAIN && receivers;
    const bool from = s->order == OMPP_MPI_ORDER_FROM_ROOT || chain, to = s->order == OMPP_MPI_ORDER_TO_ROOT;
    const bool root = !chain && is_root(c, s->root);

    if (c->inter || c->peers < 2 || !(from || (to && !root))) return 0;
    /* At 1 GB/s, all of it: a rank knows its part. */
    return OMPP_MPI_ALONE_NS + EXCHANGES * ompp_mpi_stamping_state.exchange +
           s->bytes * (uint64_t)(root ? 1 : c->peers);
}

/* Without data nobody waits for anybody but in our exchange. Ranks have the same count. */
static bool is_empty(const ompp_mpi_stamp_t *s) { return s->even && s->channel->peers > 1 && s->bytes == 0; }

static void adopt(const ompp_mpi_stamp_t *s)
{
    const ompp_sync_remote_t kind = ompp_mpi_collective_kind(s->channel, s->order);
    const ompp_time_t limit = limit_of(s);

    if (s->channel->inter || is_empty(s)) ompp_sync_doubt(OMPP_WHATIF_F_LOST, true);
    if (s->stamp) ompp_mpi_adopt_within(ompp_mpi_stamp_of(s->stamp), s->begin, kind, limit);
    else if (s->passes) ompp_mpi_adopt(NULL, s->begin, kind, 0);
    else if (limit && ompp_event_now() - s->begin > limit) ompp_mpi_adopt_within(NULL, s->begin, kind, limit);
}

void ompp_mpi_collective_before(ompp_mpi_stamp_t *stamp)
{
    exchange_t x;
    ompp_mpi_request_t *r;

    if (stamp->op == OMPP_MPI_STAMP_COLL) ompp_mpi_progress_before(stamp->begin);
    else ompp_mpi_apart_progress(stamp->begin); /* those before it go on */
    if (!stamp->channel || !plan(stamp->channel, stamp->order, stamp->root, &x)) return;
    if (passes(stamp->channel, stamp->begin)) {
        stamp->passes = x.adopts;
        /* it may end after the rest */
        if (stamp->op == OMPP_MPI_STAMP_ICOLL && x.adopts) stamp->started = new_request(stamp, &x);
        return;
    }
    if (ompp_mpi_neighbors(stamp)) {
        ompp_mpi_neighbors_before(stamp);
        return;
    }
    if (ompp_mpi_apart(stamp)) {
        stamp->started = new_request(stamp, &x);
        if (stamp->started) ompp_mpi_apart_before(stamp, stamp->started);
        return;
    }
    if (!make_room(&x, stamp->begin)) return;
    if (stamp->op == OMPP_MPI_STAMP_COLL) {
        const bool all = ompp_mpi_collective_kind(stamp->channel, stamp->order) == OMPP_SYNC_ALL;
        if (all) behind(x.mine)->passes = choose_passes(stamp->channel, stamp->begin);
        if (all ? ompp_mpi_collective_settle(x.mine, x.others, exchange, &x) : exchange(&x)) {
            if (all) set_passes(stamp->channel, behind(x.others)->passes);
            stamp->stamp = ompp_mpi_stamp_new();
            if (stamp->stamp) memcpy(ompp_mpi_stamp_of(stamp->stamp), x.others, ompp_mpi_stamping_state.bytes);
        }
        free(x.mine);
        return;
    }
    r = new_request(stamp, &x);
    if (!r || start(&x, &r->exchange) != MPI_SUCCESS) {
        ompp_mpi_request_delete(r);
        free(x.mine);
        return;
    }
    r->sent = x.mine;
    r->stamp = x.others;
    r->stamps = x.stamps;
    stamp->started = r;
}

/* The user's call did not begin, or is over before the exchange is, which goes on by itself. */
static void leave(ompp_mpi_request_t *r)
{
    if (r->exchange != MPI_REQUEST_NULL) ompp_mpi_stamp_leave(r->exchange, r->sent);
    r->exchange = MPI_REQUEST_NULL;
    r->sent = r->stamp = NULL;
}

void ompp_mpi_collective_after(ompp_mpi_stamp_t *stamp, bool good)
{
    ompp_mpi_request_t *r = stamp->started;

    if (stamp->op == OMPP_MPI_STAMP_COLL) {
        ompp_mpi_stamp_reclaim();
        if (stamp->channel && ompp_mpi_neighbors(stamp)) ompp_mpi_neighbors_after(stamp, good);
        if (good && stamp->channel) adopt(stamp);
        ompp_mpi_stamp_free(stamp->stamp);
        return;
    }
    /* Groups of an inter-communicator wait for each other, and not for their own ranks as in our exchange. */
    if (good && stamp->channel && (stamp->channel->inter || is_empty(stamp))) ompp_sync_doubt(OMPP_WHATIF_F_LOST, true);
    if (!r) return;
    if (good && ompp_mpi_handle(stamp, 0) != MPI_REQUEST_NULL) {
        if (r->call) ompp_mpi_apart_begun(stamp, r);
        ompp_mpi_request_put(r, ompp_mpi_handle(stamp, 0));
        return;
    }
    if (r->call) ompp_mpi_apart_refused(r);
    else leave(r);
    ompp_mpi_request_delete(r);
}

/* ---- Calls that make or free something --------------------------------------------------------------------------- */

typedef struct {
    unsigned char *mine, *all;
    MPI_Comm own;
} gathering_t;

static bool combine_gathered(void *gathering)
{
    const gathering_t *g = gathering;

    return PMPI_Allreduce(g->mine, g->all, 1, ompp_mpi_stamping_state.type, ompp_mpi_stamping_state.op, g->own) ==
           MPI_SUCCESS;
}

/* All ranks of the run are in it, and not only some. */
static bool has_all(MPI_Comm own)
{
    int size = 0;

    PMPI_Comm_size(own, &size);
    return size >= ompp_mpi_stamping_state.ranks;
}

void ompp_mpi_gathering_before(ompp_mpi_stamp_t *s, MPI_Comm own)
{
    unsigned char *mine = ompp_mpi_stamp_new(), *all = ompp_mpi_stamp_new();

    if (mine && all) {
        gathering_t g = {ompp_mpi_stamp_of(mine), ompp_mpi_stamp_of(all), own};
        ompp_mpi_collective_stamp(g.mine, s->begin);
        if (has_all(own) ? ompp_mpi_collective_settle(g.mine, g.all, combine_gathered, &g) : combine_gathered(&g)) {
            s->stamp = all;
            all = NULL;
        }
    }
    ompp_mpi_stamp_free(mine);
    ompp_mpi_stamp_free(all);
}

void ompp_mpi_gathering_after(ompp_mpi_stamp_t *s, MPI_Comm own, bool good)
{
    if (!s->stamp) return;
    if (good) ompp_mpi_adopt(ompp_mpi_stamp_of(s->stamp), s->begin, has_all(own) ? OMPP_SYNC_ALL : OMPP_SYNC_GROUP, 0);
    ompp_mpi_stamp_free(s->stamp);
    s->stamp = NULL;
}

/* Ours may need more calls of MPI than the user's, which is complete: there is a moment for it, and no more after some
 * in vain. */
#define OUR_END_S 0.001

bool ompp_mpi_collective_done(ompp_mpi_request_t *r, ompp_time_t begin, ompp_time_t end, unsigned char *sum)
{
    if (r->call) return ompp_mpi_apart_done(r, begin, end, sum);
    if (!r->sent) return false; /* without an exchange */
    /* A rank that nobody keeps waiting has only to have sent. */
    const bool awaited = r->adopts && __atomic_load_n(&r->channel->misses, __ATOMIC_RELAXED) < OMPP_MPI_MOST_MISSES;
    const bool complete = ompp_mpi_stamp_complete(&r->exchange, awaited ? OUR_END_S : 0);

    if (!complete) {
        if (awaited) __atomic_add_fetch(&r->channel->misses, 1, __ATOMIC_RELAXED);
        leave(r);
        return false;
    }
    if (r->adopts) add_all(r->stamp, r->stamps, sum);
    free(r->sent);
    r->sent = r->stamp = NULL;
    return r->adopts;
}
