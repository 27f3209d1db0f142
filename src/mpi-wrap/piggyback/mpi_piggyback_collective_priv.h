/**
 * \file
 * Clock vectors of collective calls, blocking and non-blocking ones, among the files of this folder.
 */
#ifndef MPI_PIGGYBACK_COLLECTIVE_PRIV_H
#define MPI_PIGGYBACK_COLLECTIVE_PRIV_H

#include "mpi-wrap/piggyback/mpi_piggyback_request_priv.h"

/* ---- Collective calls (mpi_piggyback_collective.c) --------------------------------------------------------------- */

/** \return who waits for whom in a collective operation on the channel. */
ompp_sync_remote_t ompp_mpi_collective_kind(const ompp_mpi_shadow_t *shadow, ompp_mpi_order_t order);

/** \brief A blocking call of all for all, entered just now. \return whether it is one without an exchange. */
bool ompp_mpi_collective_passes(ompp_mpi_shadow_t *shadow);

/**
 * \brief All ranks of the run combine their clock vectors, until nobody can say more.
 * \param[in,out] mine  this rank's, of ompp_mpi_collective_vector(). \param[out] all what combine() makes of all of
 *                      them.
 * \return false when that has failed.
 */
bool ompp_mpi_collective_settle(unsigned char *mine, unsigned char *all, bool (*combine)(void *), void *how);

/**
 * \brief Before a call that makes or frees something, which all ranks of a communicator come to and wait for each other
 *        in.
 * \param[in] own  ours with these ranks.
 */
void ompp_mpi_agree_before(ompp_mpi_piggyback_t *piggyback, MPI_Comm own);
/** \brief After it, when it was successful. */
void ompp_mpi_agree_after(ompp_mpi_piggyback_t *piggyback, MPI_Comm own, bool ok);

/**
 * \brief What MPI combines clock vectors with: into becomes both.
 * \param[in] known  in a blocking operation: this rank waits for both.
 */
void ompp_mpi_collective_combine(unsigned char *into, unsigned char *other, bool known);

/** So often what is awaited for a moment after a user's non-blocking operation may not be there; then no more
 * moments. */
#define OMPP_MPI_MOST_MISSES 4u

/**
 * \brief A non-blocking one was complete at end: adds what it waited for to sum.
 * \param[in] waits_since  the thread has done nothing but wait; 0 = not known.
 */
bool ompp_mpi_collective_done(ompp_mpi_request_t *request, ompp_time_t waits_since, ompp_time_t end,
                              unsigned char *sum);

/* ---- Non-blocking collective calls whose clock vectors go as messages (mpi_piggyback_nonblocking.c) -------------- */

/** \return whether those of a non-blocking call do; the same on all ranks. */
bool ompp_mpi_nonblocking(const ompp_mpi_piggyback_t *s);

/** \brief Before the call. \param[in,out] request  of it. */
void ompp_mpi_nonblocking_before(ompp_mpi_piggyback_t *piggyback, ompp_mpi_request_t *request);
/** \brief MPI has begun it. */
void ompp_mpi_nonblocking_begun(const ompp_mpi_piggyback_t *piggyback, ompp_mpi_request_t *request);
/** \brief MPI has not. */
void ompp_mpi_nonblocking_refused(ompp_mpi_request_t *request);
/**
 * \brief It was complete at end: adds what it waited for to sum.
 * \param[in] waits_since  the thread has done nothing but wait; 0 = not known.
 * \return false = that is not known.
 */
bool ompp_mpi_nonblocking_done(ompp_mpi_request_t *request, ompp_time_t waits_since, ompp_time_t end,
                               unsigned char *sum);
/** \brief The request goes, complete or not. */
void ompp_mpi_nonblocking_forget(ompp_mpi_request_t *request);

#endif
