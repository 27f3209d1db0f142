/**
 * \file
 * Stamps of non-blocking collective calls in which ranks wait for all others, or for neighbours: each rank sends its own when it starts
 * the call, and receives those of the others when the user's operation is complete.
 *
 * A collective operation of ours would not do. It is more than the user's where MPI sends up to some size at once: ranks would wait for
 * each other's next call of MPI where the user's operation does not (Open MPI in shared memory, from 257 bytes on). Messages are on their
 * way once they are sent, and nobody completes the sends.
 *
 * Calls on a channel have numbers, the same on all its ranks, and may be completed in any order: what comes for another one is put by. A
 * call that MPI refused is none: the next one has its number again, and what was sent for it is the next one's.
 */
#include "mpi-wrap/mpi_stamp_priv.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/*
 * Stamps of those that were waited for are there, or nearly so. Ranks that have no data for this one need not have been waited for. Either
 * way there are some moments for it, and none any more on a channel on which they were in vain.
 */
#define SURE_S 0.01
#define UNSURE_S 0.0003
#define SLICE_S 0.001 /* another thread may have received it meanwhile */
#define MOST 32       /* ranks that all send to all; a communicator's size is known to all of them */

bool ompp_mpi_apart(const ompp_mpi_stamp_t *s)
{
    const ompp_mpi_channel_t *c = s->channel;

    if (s->op != OMPP_MPI_STAMP_ICOLL || c->inter) return false;
    return s->order == OMPP_MPI_ORDER_ALL ? c->size <= MOST : s->order == OMPP_MPI_ORDER_NEIGHBOR && c->topology;
}

/* Who sends to this rank, or whom this rank sends to, by number; itself among all, but not as a neighbour. */
static int number_of(const ompp_mpi_channel_t *c, bool all, bool from)
{
    return all ? c->size : from ? c->sources : c->destinations;
}

static int peer(const ompp_mpi_channel_t *c, bool all, bool from, int i)
{
    return all ? i : c->neighbors[from ? i : c->sources + i];
}

static bool is_self(const ompp_mpi_channel_t *c, bool all, int i)
{
    return all && i == c->rank;
}

static int tag_of_ours(void)
{
    return ompp_mpi_stamping_state.tag_limit + 2;
}

/* ---- Start ------------------------------------------------------------------------------------------------------------ */

static void tell(ompp_mpi_channel_t *c, bool all, const unsigned char *message)
{
    for (int i = 0; i < number_of(c, all, false); i++)
        if (!is_self(c, all, i)) ompp_mpi_stamp_pass(c, peer(c, all, false, i), tag_of_ours(), c->started, message, true);
}

/* All of a stamp, as meetings have it: in a rest it says what comes after that. */
static unsigned char *whole_stamp(ompp_time_t t)
{
    unsigned char *message = ompp_mpi_stamp_new();

    if (!message) return NULL;
    memset(message, 0, sizeof(ompp_mpi_header_t));
    ompp_mpi_collective_stamp(ompp_mpi_stamp_of(message), t);
    ompp_mpi_header_t *header = (ompp_mpi_header_t *)(void *)message;
    header->time_ns = ompp_mpi_clock_common(t);
    header->bytes = ompp_mpi_stamping_state.bytes;
    return message;
}

/* Those of a call with the same number that MPI refused will do, if it was with the same ranks. */
static bool is_sent(const ompp_mpi_channel_t *c, bool all)
{
    return c->sent_for == c->started && c->sent_all == all;
}

void ompp_mpi_apart_before(ompp_mpi_stamp_t *s, ompp_mpi_request_t *r)
{
    ompp_mpi_channel_t *c = s->channel;
    const bool all = s->order == OMPP_MPI_ORDER_ALL;
    unsigned char *message = all || c->neighbors ? whole_stamp(s->begin) : NULL;
    const int sources = number_of(c, all, true);

    if (++c->started == 0) c->started = 1;
    if (message && !is_sent(c, all)) tell(c, all, message);
    c->sent_for = c->started;
    c->sent_all = all;
    r->call = c->started;
    r->all = all;
    r->stamps = sources;
    r->sent = message ? calloc(1, ompp_mpi_stamping_state.bytes + (size_t)sources) : NULL;
    if (r->sent && all) memcpy(r->sent, ompp_mpi_stamp_of(message), ompp_mpi_stamping_state.bytes);
    r->come = r->sent ? r->sent + ompp_mpi_stamping_state.bytes : NULL;
    ompp_mpi_stamp_free(message);
    if (!r->sent) return;
    pthread_mutex_lock(&c->lock);
    r->next_going = c->going;
    c->going = r;
    pthread_mutex_unlock(&c->lock);
}

void ompp_mpi_apart_begun(const ompp_mpi_stamp_t *s, ompp_mpi_request_t *r)
{
    r->sure = s->bare || (s->even && s->bytes > 0);
}

void ompp_mpi_apart_refused(ompp_mpi_request_t *r)
{
    r->channel->started--;
    r->channel->unread = true;
}

/* ---- End -------------------------------------------------------------------------------------------------------------- */

/* Gives a message to the call that it is of; one of a call that is over is of no use. */
static void deliver(ompp_mpi_channel_t *c, int source, unsigned char *message)
{
    const uint32_t call = ((const ompp_mpi_header_t *)(const void *)message)->receipt;
    ompp_mpi_request_t *r;

    pthread_mutex_lock(&c->lock);
    for (r = c->going; r && r->call != call;) r = r->next_going;
    for (int i = 0; r && i < r->stamps; i++) {
        if (r->come[i] || peer(c, r->all, true, i) != source) continue;
        r->come[i] = true; /* of a neighbour that is one twice, the next */
        ompp_sync_combine(r->sent, ompp_mpi_stamp_of(message));
        break;
    }
    pthread_mutex_unlock(&c->lock);
}

static bool has_come(ompp_mpi_request_t *r, int i)
{
    if (is_self(r->channel, r->all, i)) return true;
    pthread_mutex_lock(&r->channel->lock);
    const bool come = r->come[i];
    pthread_mutex_unlock(&r->channel->lock);
    return come;
}

/* One thread of a channel receives at a time, so that what comes is not overtaken. \return whether something was received. */
static bool receive(ompp_mpi_request_t *r, int i, double limit, unsigned char *message)
{
    ompp_mpi_channel_t *c = r->channel;
    const int source = peer(c, r->all, true, i);
    bool received = false;

    if (__atomic_exchange_n(&c->receiving, true, __ATOMIC_ACQUIRE)) {
        sched_yield();
        return false;
    }
    if (!has_come(r, i)) received = ompp_mpi_stamp_fetch(c->shadow, source, tag_of_ours(), limit, message);
    if (received) deliver(c, source, message);
    __atomic_store_n(&c->receiving, false, __ATOMIC_RELEASE);
    return received;
}

/* Until it has come, or until then: 0 = as far as it is there. */
static bool await(ompp_mpi_request_t *r, int i, ompp_time_t until, unsigned char *message)
{
    while (!has_come(r, i)) {
        const ompp_time_t t = until ? ompp_event_now() : 0;
        const double left = until > t ? 1e-9 * (double)(until - t) : 0;
        if (!receive(r, i, left < SLICE_S ? left : SLICE_S, message) && left <= 0) return has_come(r, i);
    }
    return true;
}

/* \param[in] complete  all of its stamps have come. */
static void take_out(ompp_mpi_request_t *r, bool complete)
{
    ompp_mpi_request_t **link = &r->channel->going;

    pthread_mutex_lock(&r->channel->lock);
    while (*link && *link != r) link = &(*link)->next_going;
    if (*link) *link = r->next_going;
    if (!complete) r->channel->unread = true;
    pthread_mutex_unlock(&r->channel->lock);
    free(r->sent);
    r->sent = NULL;
}

void ompp_mpi_apart_forget(ompp_mpi_request_t *r)
{
    if (r->sent) take_out(r, false);
}

bool ompp_mpi_apart_done(ompp_mpi_request_t *r, unsigned char *sum)
{
    unsigned char *message = r->sent ? ompp_mpi_stamp_new() : NULL;
    const bool awaited = __atomic_load_n(&r->channel->misses, __ATOMIC_RELAXED) < OMPP_MPI_MOST_MISSES;
    const ompp_time_t until = awaited ? ompp_event_now() + (ompp_time_t)(1e9 * (r->sure ? SURE_S : UNSURE_S)) : 0;
    bool all = message != NULL, any = r->all;

    for (int i = 0; i < r->stamps && message; i++) {
        const bool come = await(r, i, all ? until : 0, message);
        all &= come;
        any |= come;
    }
    if (!all && message && awaited) __atomic_add_fetch(&r->channel->misses, 1, __ATOMIC_RELAXED);
    if (all && any) ompp_sync_combine(sum, r->sent);
    ompp_mpi_stamp_free(message);
    if (r->sent) take_out(r, all);
    return all && any;
}
