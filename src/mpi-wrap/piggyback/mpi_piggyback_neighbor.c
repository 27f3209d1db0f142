/**
 * \file
 * Clock vectors of blocking collective calls in which ranks wait for some others only: they go as messages, which
 * nobody waits for but those who have waited for their sender in the user's call.
 *
 * In a neighbourhood each rank sends before the user's call, to those that the user's data go to, and receives after
 * it. In a scan it has waited for the rank before it, which has waited for others: after the call it receives the
 * clocks of all of them, adds its own, and sends that to the next one.
 *
 * All calls on a channel have a number, the same on all its ranks. A call that MPI refused is none: the next one has
 * its number again, and what was sent for it is the next one's.
 */
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

#include <string.h>

/* Without data MPI need not have waited for the others: what they have sent is awaited for a moment only. */
#define UNSURE_NS 300000u

void ompp_mpi_neighbors_before(ompp_mpi_piggyback_t *s)
{
    ompp_mpi_shadow_t *c = s->shadow;

    c->calls++;
    if (c->parted || (s->order == OMPP_MPI_ORDER_NEIGHBOR && !c->neighbors)) return;
    s->vector = ompp_mpi_piggyback_moment(s->begin);
    if (!s->vector || s->order != OMPP_MPI_ORDER_NEIGHBOR || c->reported == c->calls) return;
    c->reported = c->calls;
    for (int i = 0; i < c->destinations; i++)
        ompp_mpi_piggyback_pass(c, c->neighbors[c->sources + i], ompp_mpi_piggyback_own_tag(), c->calls, s->vector,
                                false);
}

/* Adds to sum what comes from others. \param[in] data they have sent some, so clock vectors as well. \return false =
 * not all has come. */
static bool receive(ompp_mpi_shadow_t *c, const int *sources, int number, bool data, unsigned char *sum)
{
    bool all = true;

    for (int i = 0; i < number && !c->parted; i++) {
        const uint64_t limit = data ? OMPP_MPI_PIGGYBACK_LIMIT_NS : all ? UNSURE_NS : 0;
        unsigned char *other = ompp_mpi_piggyback_expect(c, sources[i], c->calls, limit);
        if (other) ompp_mpi_piggyback_add(sum, other);
        all &= other != NULL;
        c->parted |= !other && data;
        ompp_mpi_piggyback_free(other);
    }
    c->unread |= !all;
    return all;
}

/* What the call has not waited for is not to be adopted. */
static void forget(ompp_mpi_piggyback_t *s, bool waited)
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
        forget(s, false);
        return;
    }
    if (s->vector && c->rank > 0) all = receive(c, &before, 1, true, s->vector);
    if (s->vector && c->rank < c->size - 1)
        ompp_mpi_piggyback_pass(c, c->rank + 1, ompp_mpi_piggyback_own_tag(), c->calls, s->vector, false);
    if (!all || !s->vector) forget(s, c->rank > 0);
}

void ompp_mpi_neighbors_after(ompp_mpi_piggyback_t *s, bool ok)
{
    ompp_mpi_shadow_t *c = s->shadow;

    if (s->passes || s->refused || (s->order == OMPP_MPI_ORDER_NEIGHBOR && !c->topology)) return;
    if (!ok) {
        c->calls--;
        c->unread = true;
        forget(s, false);
        return;
    }
    if (s->order == OMPP_MPI_ORDER_CHAIN) {
        chain_after(s);
        return;
    }
    /* the own one was for the others */
    if (s->vector) memset(ompp_mpi_piggyback_of(s->vector), 0, ompp_mpi_piggyback_state.bytes);
    if (c->sources == 0) forget(s, false);
    else if (!s->vector || !receive(s->shadow, c->neighbors, c->sources, s->bytes > 0, s->vector)) forget(s, true);
}
