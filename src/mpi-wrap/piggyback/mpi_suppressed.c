/**
 * \file
 * The short way of calls while clocks are suspended (mpi_suppressed_hot.c): what is rare.
 */
#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"
#include "mpi-wrap/piggyback/mpi_piggyback_request_priv.h"
#include "mpi-wrap/piggyback/mpi_suppressed_priv.h"

#include <errno.h>
#include <string.h>

ompp_mpi_direction_t *ompp_mpi_near_slow(ompp_mpi_near_t *near, int which, MPI_Comm comm, int peer, int tag)
{
    ompp_mpi_shadow_t *c = peer >= 0 && tag >= 0 ? ompp_mpi_shadow_find(comm) : NULL;
    ompp_mpi_direction_t *d = NULL;

    if (c) {
        pthread_mutex_lock(&c->lock);
        d = ompp_mpi_direction(c, which, peer, tag, false);
        pthread_mutex_unlock(&c->lock);
    }
    if (d) *near = (ompp_mpi_near_t){comm, peer, tag, d};
    ompp_mpi_shadow_release(c);
    return d;
}

ompp_mpi_shadow_t *ompp_mpi_shadow_slow(unsigned i, MPI_Comm comm)
{
    ompp_mpi_shadow_t *c = ompp_mpi_shadow_find(comm);

    ompp_mpi_quick.shadows[i].comm = comm;
    ompp_mpi_quick.shadows[i].shadow = c;
    ompp_mpi_shadow_release(c);
    return c;
}

void ompp_mpi_suppressed_forget(MPI_Comm comm)
{
    memset(ompp_mpi_quick.near, 0, sizeof ompp_mpi_quick.near);
    memset(ompp_mpi_quick.shadows, 0, sizeof ompp_mpi_quick.shadows);
    for (unsigned i = 0; i < OMPP_MPI_STARTED; i++) {
        const ompp_mpi_direction_t *d = ompp_mpi_quick.started[i].direction;
        if (d && d->shadow->comm == comm)
            (void)ompp_mpi_request_peek(ompp_mpi_quick.started[i].handle); /* into the table */
    }
}

ompp_time_t ompp_mpi_suppressed_end_slow(ompp_mpi_suppressed_t *s, unsigned i, bool ok)
{
    const int saved = errno;
    const ompp_time_t began = ompp_event_now(), begin = ompp_event_called();
    ompp_mpi_message_t *sum = NULL;
    unsigned flags = 0;

    ompp_mpi_piggyback_reclaim();
    for (; i < s->number; i++) {
        const ompp_mpi_direction_t *d = s->receives[i].direction;
        ompp_mpi_piggyback_claim(d->shadow, d->peer, d->tag, begin, ok ? OMPP_MPI_PIGGYBACK_LIMIT_NS : 0, &sum, &flags);
    }
    if (ok) ompp_mpi_join_clock(sum, (ompp_sync_wait_t){.begin = begin, .flags = flags});
    ompp_mpi_piggyback_free(sum);
    const ompp_time_t end = ompp_event_now();
    ompp_sync_charge(end - began < OMPP_MPI_LONGEST_NS ? end - began : OMPP_MPI_LONGEST_NS);
    errno = saved;
    return end;
}
