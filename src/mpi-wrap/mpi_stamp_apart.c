/**
 * \file
 * Stamps of non-blocking collective calls in which ranks wait for all others, or for neighbours: each rank sends its
 * own when it starts the call, and receives those of the others when the user's operation is complete.
 *
 * A collective operation of ours would not do. It is more than the user's where MPI sends up to some size at once:
 * ranks would wait for each other's next call of MPI where the user's operation does not (Open MPI in shared memory,
 * from 257 bytes on). Messages are on their way once they are sent, and nobody completes the sends.
 *
 * Calls on a channel have numbers, the same on all its ranks, and may be completed in any order: what comes for another
 * one is put by. A call that MPI refused is none: the next one has its number again, and what was sent for it is the
 * next one's.
 */
#include "mpi-wrap/mpi_stamp_priv.h"

#include <stdlib.h>
#include <string.h>

/* Ranks that have no data for this one need not have been waited for: what they have sent is awaited for a moment only.
 */
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

/* ---- Start
 * ------------------------------------------------------------------------------------------------------------ */

static void tell(ompp_mpi_channel_t *c, bool all, const unsigned char *message)
{
    for (int i = 0; i < number_of(c, all, false); i++)
        if (!is_self(c, all, i))
            ompp_mpi_stamp_pass(c, peer(c, all, false, i), tag_of_ours(), c->started, message, true);
}

void ompp_mpi_apart_before(ompp_mpi_stamp_t *s, ompp_mpi_request_t *r)
{
    ompp_mpi_channel_t *c = s->channel;
    const bool all = s->order == OMPP_MPI_ORDER_ALL, there = all || c->neighbors;
    unsigned char *message = there && !c->left ? ompp_mpi_stamp_moment(s->begin) : NULL;
    const int sources = number_of(c, all, true);

    c->started++;
    if (message && c->sent_for != c->started) tell(c, all, message);
    c->sent_for = c->started;
    r->call = c->started;
    r->all = all;
    r->sure = s->bare || (s->even && s->bytes > 0);
    r->stamps = sources;
    r->sent = message ? calloc(1, ompp_mpi_stamping_state.bytes + (size_t)sources) : NULL;
    if (r->sent && all) ompp_mpi_stamp_put(message, r->sent);
    r->come = r->sent ? r->sent + ompp_mpi_stamping_state.bytes : NULL;
    ompp_mpi_stamp_free(message);
    if (!r->sent) return;
    pthread_mutex_lock(&c->lock);
    r->next_going = c->going;
    c->going = r;
    pthread_mutex_unlock(&c->lock);
}

void ompp_mpi_apart_refused(ompp_mpi_request_t *r)
{
    r->channel->started--;
    r->channel->unread = true;
}

/* ---- End
 * -------------------------------------------------------------------------------------------------------------- */

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

/* Receives what there is from the source until it has come, or for so long. */
static bool await(ompp_mpi_request_t *r, int i, double limit, unsigned char *message)
{
    const int source = peer(r->channel, r->all, true, i);
    const double slice = limit < SLICE_S ? limit : SLICE_S;

    while (!has_come(r, i)) {
        if (ompp_mpi_stamp_fetch(r->channel->shadow, source, tag_of_ours(), slice, message))
            deliver(r->channel, source, message);
        else if ((limit -= SLICE_S) <= 0)
            return has_come(r, i);
    }
    return true;
}

void ompp_mpi_apart_forget(ompp_mpi_request_t *r)
{
    ompp_mpi_request_t **link = &r->channel->going;

    pthread_mutex_lock(&r->channel->lock);
    while (*link && *link != r) link = &(*link)->next_going;
    if (*link) {
        *link = r->next_going;
        r->channel->unread = true; /* it was not complete */
    }
    pthread_mutex_unlock(&r->channel->lock);
    free(r->sent);
    r->sent = NULL;
}

static void end(ompp_mpi_request_t *r, bool complete)
{
    const bool unread = r->channel->unread;

    ompp_mpi_apart_forget(r);
    if (complete) r->channel->unread = unread;
}

bool ompp_mpi_apart_done(ompp_mpi_request_t *r, unsigned char *sum)
{
    unsigned char *message = r->sent ? ompp_mpi_stamp_new() : NULL;
    bool all = message != NULL, any = r->all;

    for (int i = 0; i < r->stamps && message && !r->channel->left; i++) {
        const bool come = await(r, i, r->sure ? OMPP_MPI_STAMP_LIMIT_S : all ? UNSURE_S : 0, message);
        all &= come;
        any |= come;
        r->channel->left |= !come && r->sure;
    }
    all &= !r->channel->left;
    if (all && any) ompp_sync_combine(sum, r->sent);
    ompp_mpi_stamp_free(message);
    if (r->sent) end(r, all);
    return all && any;
}
