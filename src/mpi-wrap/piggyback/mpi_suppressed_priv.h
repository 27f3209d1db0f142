/**
 * \file
 * Messages without clock vectors: what is known of them, for mpi_piggyback_transport.c, and for the short way of
 * calls while clocks are suspended, mpi_suppressed_hot.c and mpi_suppressed.c. Receives of the short way that are under
 * way are with the other requests, mpi_piggyback_request.c.
 */
#ifndef MPI_SUPPRESSED_PRIV_H
#define MPI_SUPPRESSED_PRIV_H

#include "base/ompp_hash.h"
#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

/** ns: while clocks are suspended here, too, it is looked so often for what ends the other side's suspension. */
#define OMPP_MPI_LOOK_NS 200000u

/** Messages with one communicator, peer and tag, sent or received. Under the channel's lock, but for the short way. */
typedef struct ompp_mpi_direction {
    struct ompp_mpi_direction *next;
    ompp_mpi_shadow_t *shadow; /* borrowed: it owns this */
    int peer, tag;
    uint32_t count;     /* number of the latest message; 0 = none yet */
    bool suppressed;    /* the next one may have no clock vector */
    unsigned refused;   /* sender: messages that MPI has refused, and that are counted */
    unsigned wrong;     /* receiver: so often in a row */
    ompp_time_t looked; /* receiver */
} ompp_mpi_direction_t;

enum { OMPP_MPI_SENT, OMPP_MPI_RECEIVED };

/** \brief Under the channel's lock. \return NULL = there is none, or, with make, no memory for it. */
ompp_mpi_direction_t *ompp_mpi_direction(ompp_mpi_shadow_t *shadow, int which, int peer, int tag, bool make);

/** 0 is no number. */
static inline uint32_t ompp_mpi_number_after(uint32_t number) { return number + 1 ? number + 1 : 1; }

/* ---- The short way ----------------------------------------------------------------------------------------------- */

#define OMPP_MPI_NEAR_BITS 7
#define OMPP_MPI_NEAR_SHADOWS 16u
#define OMPP_MPI_STARTED 1024u /* a power of two */

/** What a direction was found by, for the next time. */
typedef struct {
    MPI_Comm comm;
    int peer, tag;
    ompp_mpi_direction_t *direction; /* NULL = nothing; borrowed until ompp_mpi_suppressed_forget() */
} ompp_mpi_near_t;

/** A receive under way. */
typedef struct {
    MPI_Request handle;
    ompp_mpi_direction_t *direction; /* NULL = none; borrowed, as above */
    ompp_time_t begin;
} ompp_mpi_started_t;

/**
 * Where one thread at a time may call MPI (all levels but MPI_THREAD_MULTIPLE), messages are counted without a lock,
 * and this has none. A program in which several do all the same has wrong clock vectors.
 */
extern struct ompp_mpi_quick {
    ompp_mpi_near_t near[2][1 << OMPP_MPI_NEAR_BITS];
    struct {
        MPI_Comm comm;
        ompp_mpi_shadow_t *shadow; /* NULL = nothing; borrowed, as above */
    } shadows[OMPP_MPI_NEAR_SHADOWS];
    ompp_mpi_started_t started[OMPP_MPI_STARTED]; /* by handle */
    unsigned nstarted;
    uint32_t chance;
} ompp_mpi_quick __attribute__((visibility("hidden")));

static inline ompp_mpi_started_t *ompp_mpi_started_of(MPI_Request handle)
{
    return &ompp_mpi_quick.started[ompp_hash_place((uintptr_t)handle, 32) % OMPP_MPI_STARTED];
}

/** \brief Looks it up, and notes it in near. \return NULL = there is none. Takes locks. */
ompp_mpi_direction_t *ompp_mpi_near_slow(ompp_mpi_near_t *near, int which, MPI_Comm comm, int peer, int tag);

/** \brief The same of a channel, noted in place number i. */
ompp_mpi_shadow_t *ompp_mpi_shadow_slow(unsigned i, MPI_Comm comm);

/** \brief A receive goes on as any other request. Allocates. */
void ompp_mpi_started_keep_slow(const ompp_mpi_started_t *started);

/**
 * \brief Receives, from number i on, that may have clock vectors, or have failed.
 * \return the end of the call. May wait, as any other receive.
 */
ompp_time_t ompp_mpi_suppressed_end_slow(ompp_mpi_suppressed_t *suppressed, unsigned i, bool ok);

#endif
