/**
 * \file
 * Requests of the user that clocks travel with, and what goes on whenever MPI makes progress, among the files of this
 * folder.
 */
#ifndef MPI_PIGGYBACK_REQUEST_PRIV_H
#define MPI_PIGGYBACK_REQUEST_PRIV_H

#include "mpi-wrap/piggyback/mpi_piggyback_message_priv.h"

/* ---- Requests (mpi_piggyback_request.c) -------------------------------------------------------------------------- */

typedef enum { OMPP_MPI_PENDING_SEND, OMPP_MPI_PENDING_RECEIVE, OMPP_MPI_PENDING_COLLECTIVE } ompp_mpi_pending_t;

/** A request of the user that clocks travel with. */
typedef struct ompp_mpi_request {
    struct ompp_mpi_request *next;
    MPI_Request handle;
    ompp_mpi_pending_t kind;
    bool persistent, active;
    uint64_t waiting;          /* persistent send: ompp_mpi_piggyback_send() */
    bool cancelled;            /* it was tried */
    bool open;                 /* a call that completes any was over without it: another one was there before */
    bool joins;                /* collective: this rank waits for others */
    ompp_sync_remote_t meets;  /* collective: who waits for whom */
    ompp_mpi_shadow_t *shadow; /* a reference of its own */
    int peer, tag;
    ompp_time_t begin; /* started */
    ompp_mpi_parcel_t *ack;
    const char *starter; /* persistent receive: the thread that has started it: others do not receive for it */
    bool posted;         /* receive: it is among those whose acknowledgements have not been given */
    bool looked_for;     /* a thread looks for its message */
    struct ompp_mpi_request *next_posted, *previous_posted;
    MPI_Request exchange;         /* collective: of the clock vectors */
    unsigned char *sent, *vector; /* collective: [size of a clock vector] each, neighbourhood: [sources] */
    int vectors;
    uint32_t call;        /* collective, clock vectors are messages: its number on the channel; 0 = they are not */
    ompp_mpi_whom_t whom; /* ... who waits for whom */
    bool sure;            /* ... this rank has waited for all that it gets clock vectors from */
    unsigned char *come;  /* [clock vectors], behind sent, where they come together; under the channel's lock */
    struct ompp_mpi_request *next_going;
    /* [size of a clock vector + clock vectors] those of ranks that are back in MPI; NULL = nobody waits for that. As
     * come */
    unsigned char *later;
    int64_t later_ns;    /* when the last of them was back, by the common clock */
    int64_t end;         /* of the operation, by the common clock; 0 = under way */
    bool reported_again; /* this rank was back once */
    bool begun;          /* MPI has begun it; under the channel's lock */
    bool unsure;         /* a rank's clocks are suspended, and it may not tell when it is back. As come */
    struct ompp_mpi_request *next_under_way;
    uint64_t bytes; /* collective: sent and received */
} ompp_mpi_request_t;

ompp_mpi_request_t *ompp_mpi_request_new(ompp_mpi_pending_t kind, ompp_mpi_shadow_t *shadow);
void ompp_mpi_request_delete(ompp_mpi_request_t *request);

/** \brief Keeps it under its handle. */
void ompp_mpi_request_put(ompp_mpi_request_t *request, MPI_Request handle);
/**
 * \brief Takes it out of the table. A receive that was started the short way goes on as any other from now on.
 * \return NULL = none.
 */
ompp_mpi_request_t *ompp_mpi_request_take(MPI_Request handle);
/** \brief The same, and it stays in the table. */
ompp_mpi_request_t *ompp_mpi_request_peek(MPI_Request handle);

/** \return whether there are any. */
bool ompp_mpi_request_any(void);

/** \return handle number i of the call, whatever language it is in. */
MPI_Request ompp_mpi_handle(const ompp_mpi_piggyback_t *piggyback, int i);

/** \return whether the message of a receive may be any of several. */
bool ompp_mpi_request_is_wild(const ompp_mpi_request_t *request);

/* ---- Progress (mpi_piggyback_progress.c) ------------------------------------------------------------------------- */

/**
 * \brief The thread comes to a call, at begin, in which MPI makes progress: what was started before goes on.
 * \param[in] shadow, source, tag  what the call receives; NULL = nothing that is known.
 */
void ompp_mpi_progress_before(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin);

/** \brief A receive was begun whose sender may have to wait until this rank makes progress. */
void ompp_mpi_request_posted(ompp_mpi_request_t *request);
/** \brief It is over, or goes. */
void ompp_mpi_request_over(ompp_mpi_request_t *request);

/**
 * \brief Number i of the ranks that this one waits for, or that wait for it; it may be among them.
 * \param[in] from  those that it waits for. \return -1 = there are fewer.
 */
int ompp_mpi_whom_peer(const ompp_mpi_shadow_t *shadow, ompp_mpi_whom_t whom, bool from, int i);
/** \brief Sends message, of the non-blocking call with this number, to the ranks that wait for this one. */
void ompp_mpi_whom_tell(ompp_mpi_shadow_t *shadow, ompp_mpi_whom_t whom, uint32_t call,
                        const ompp_mpi_message_t *message);

/** \brief A non-blocking collective operation is under way: others may wait until this rank is back in MPI. */
void ompp_mpi_under_way_add(ompp_mpi_request_t *request);
void ompp_mpi_under_way_forget(ompp_mpi_request_t *request);
/** \brief The thread comes to a call, at t, in which MPI makes progress: ranks of such operations are told. */
void ompp_mpi_under_way_progress(ompp_time_t t);
/** \return whether there are any. */
bool ompp_mpi_under_way_any(void);
/** \brief A call of MPI ends at t. */
void ompp_mpi_under_way_left(ompp_time_t t);

#endif
