/**
 * \file
 * Clock vectors of messages, and messages without them, among the files of this folder. How they travel:
 * mpi_piggyback_priv.h.
 */
#ifndef MPI_PIGGYBACK_MESSAGE_PRIV_H
#define MPI_PIGGYBACK_MESSAGE_PRIV_H

#include "mpi-wrap/piggyback/mpi_piggyback_priv.h"

/* ---- Clock vectors of messages (mpi_piggyback_message.c; memory: mpi_piggyback_transport.c) ---------------------- */

/** Room for a header and a clock vector; from a pool. */
ompp_mpi_message_t *ompp_mpi_piggyback_new(void);
void ompp_mpi_piggyback_free(ompp_mpi_message_t *message);

/**
 * A message of ours on its way, above all an acknowledgement: what the receiver of a message says to its sender, who
 * may have to wait for it, its clocks when it began to receive.
 */
typedef struct ompp_mpi_parcel {
    struct ompp_mpi_parcel *next;
    unsigned number; /* of an acknowledgement */
    unsigned size;   /* of the message: it has 2^size bytes or more */
    int64_t
        latest; /* latest moment at which its receiver began if the send waited for it, common clock; 0 = not known */
    uint64_t slack_ns; /* how much later than the send ended that may be */
    MPI_Request request;
    ompp_mpi_message_t *message;
    void *buffers; /* of a collective operation */
} ompp_mpi_parcel_t;

/** \return whether clock vectors travel with messages to or from there that have this tag. */
static inline bool ompp_mpi_travels(const ompp_mpi_shadow_t *shadow, int peer, int tag)
{
    return peer >= 0 && peer < shadow->peers && tag >= 0 && tag <= ompp_mpi_piggyback_state.tag_limit &&
           !__atomic_load_n(&ompp_mpi_piggyback_state.lost, __ATOMIC_RELAXED);
}

/** Not a size: the send waits for its receiver whatever its size is. */
#define OMPP_MPI_SYNCHRONOUS UINT64_MAX

/**
 * \brief Sends the calling thread's clock vector before a message.
 * \param[in] waiting  bytes of the message when the send may have to wait for the receiver, or OMPP_MPI_SYNCHRONOUS; 0
 *            = it waits for nobody. \param[in] flags OMPP_WHATIF_F_*, for the receiver.
 * \param[in] quiet  without progress of MPI.
 * \return the acknowledgement, for ompp_mpi_ack_take(); NULL = none.
 */
ompp_mpi_parcel_t *ompp_mpi_piggyback_send(ompp_mpi_shadow_t *shadow, int dest, int tag, uint64_t waiting,
                                           unsigned flags, bool quiet, ompp_time_t t);

/** \brief Sends a clock vector with a tag of ours: the other side does not take it for that of a user's message. */
void ompp_mpi_piggyback_post(MPI_Comm comm, int dest, int tag, ompp_time_t t);

/** The tags of clock vectors of collective calls: of blocking ones, of the others. */
static inline int ompp_mpi_piggyback_own_tag(void) { return ompp_mpi_piggyback_state.tag_limit + 1; }
static inline int ompp_mpi_nonblocking_tag(void) { return ompp_mpi_piggyback_state.tag_limit + 2; }

/**
 * \brief Sends what message says now, in a collective call on the channel with this number.
 * \param[in] quiet  without progress of MPI.
 */
void ompp_mpi_piggyback_send_sum(ompp_mpi_shadow_t *shadow, int dest, int tag, uint32_t call,
                                 const ompp_mpi_message_t *message, bool quiet);

/**
 * \brief Receives that. Those of calls before, which failed, are passed over.
 * \param[in] limit_ns  0 = only when it is there.
 * \return to be freed with ompp_mpi_piggyback_free(); NULL = it did not come.
 */
ompp_mpi_message_t *ompp_mpi_piggyback_expect(ompp_mpi_shadow_t *shadow, int source, uint32_t call, uint64_t limit_ns);

/** \brief Adds message to a sum of some; the first one is the sum. Owns message. \param[in] message  NULL = nothing. */
void ompp_mpi_piggyback_sum(ompp_mpi_message_t **sum, ompp_mpi_message_t *message);

/** \brief Adds the clock vector in other to that in message. */
void ompp_mpi_piggyback_add(ompp_mpi_message_t *message, ompp_mpi_message_t *other);

/**
 * \brief The clock vector of a message that has been received: adds it to a sum (ompp_mpi_piggyback_sum()), and gives
 *        the acknowledgement.
 * \param[in] begin  when this thread began to wait for it.
 * \param[in] limit_ns  0 = only when it is there.
 * \param[in,out] flags  OMPP_WHATIF_F_*, those of the message are added.
 * \return false when it did not come.
 */
bool ompp_mpi_piggyback_claim(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin, uint64_t limit_ns,
                              ompp_mpi_message_t **sum, unsigned *flags);

/**
 * \brief While clocks are suspended: a message that was received at t has none, and nothing is to be told to its
 *        sender. The short way for most of them; what it does not know, ompp_mpi_piggyback_claim() finds out.
 * \return true = nothing else is to be done about it.
 */
bool ompp_mpi_piggyback_pass_suppressed(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t t);

/** \brief The same of a message that was matched: how long its sender waits until it is received will not be seen. */
void ompp_mpi_piggyback_match(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin,
                              ompp_mpi_message_t **sum, unsigned *flags);

/**
 * \brief The clock vector of a message that is there and stays: the receive will claim the same.
 * \param[in] received  it has been received; otherwise its sender may wait for that, and gets its acknowledgement then.
 */
void ompp_mpi_piggyback_peek(ompp_mpi_shadow_t *shadow, int source, int tag, bool received, ompp_time_t begin,
                             ompp_mpi_message_t **sum, unsigned *flags);

/** \return the calling thread's state at t, to be freed with ompp_mpi_piggyback_free(). */
ompp_mpi_message_t *ompp_mpi_piggyback_moment(ompp_time_t t);

/**
 * \brief When the clock vector of a message that will be received is there already, its acknowledgement is given now:
 *        its sender goes on while this rank is still in the call that it begins.
 * \return true = it was there.
 */
bool ompp_mpi_piggyback_acknowledge(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin);

/** \brief In a call in which MPI makes progress: looks after what is on its way. */
void ompp_mpi_piggyback_reclaim(void);

/** \brief A receive was freed while active: its clock vector is not to be taken for that of a later message. */
void ompp_mpi_piggyback_skip(ompp_mpi_shadow_t *shadow, int source, int tag);

/**
 * \brief The send ended at end: adds the receiver's clock vector to sum when it waits for it. Frees the
 *        acknowledgement.
 * \param[in] always  such a send is never over before; how the two came to it in the measured program does not matter.
 *            So are synchronous ones, and those of a size that has been seen to wait.
 * \return true = added.
 */
bool ompp_mpi_ack_take(ompp_mpi_parcel_t *ack, ompp_time_t begin, ompp_time_t end, bool always,
                       ompp_mpi_message_t **sum);

/**
 * \brief The same of a blocking send to dest. When both send to each other, and the other came first, the clock vector
 *        of its message, which is here and not received yet, tells when it was ready; its acknowledgement comes late.
 */
bool ompp_mpi_ack_take_blocking(ompp_mpi_shadow_t *shadow, int dest, ompp_mpi_parcel_t *ack, ompp_time_t begin,
                                ompp_time_t end, ompp_mpi_message_t **sum);

/**
 * \brief Before it is taken: the call from begin to end waits for this send alone. So that it took long says that it
 *        waited for its receiver, even if that seems to have begun a little later.
 */
void ompp_mpi_ack_allow_slack(ompp_mpi_parcel_t *ack, ompp_time_t begin, ompp_time_t end);

/** \brief Nobody waits for it. */
void ompp_mpi_ack_drop(ompp_mpi_parcel_t *ack);

/** \brief Takes back a receive of ours that is not complete. \return false = it has become complete meanwhile. */
bool ompp_mpi_piggyback_withdraw(MPI_Request *request);

/** \brief Waits for a request of ours. \return false when the limit was reached: the request is still active. */
bool ompp_mpi_piggyback_complete(MPI_Request *request, uint64_t limit_ns);

/**
 * \brief A non-blocking collective operation of ours goes on, and is completed when it is done: MPI forbids to free its
 *        request before.
 * \param[in] buffers  of malloc(); owned by it from now on.
 */
void ompp_mpi_piggyback_leave(MPI_Request request, void *buffers);

/** \brief Takes back what was sent and nobody received. */
void ompp_mpi_piggyback_clean(void);

/* ---- Messages without clock vectors (mpi_piggyback_transport.c) -------------------------------------------------- */

/**
 * \brief Before a message is sent.
 * \param[out] number, suppressed  of its clock vector's header: its number; those that follow may have none.
 * \return whether it has one.
 */
bool ompp_mpi_suppression_send(ompp_mpi_shadow_t *shadow, int dest, int tag, uint32_t *number, bool *suppressed);

/**
 * \brief MPI has refused a message that was counted before, and whose clock vector may have been sent: all that is the
 *        next one's with the same destination and tag.
 */
void ompp_mpi_suppression_refused(ompp_mpi_shadow_t *shadow, int dest, int tag);

/**
 * \brief A clock vector with a number has come for the next message, as far as was known: those that follow may have
 *        none, or another thread has learned of that meanwhile.
 * \param[in,out] message  NULL = it was not of this message.
 * \return false = no memory.
 */
bool ompp_mpi_suppression_take(ompp_mpi_shadow_t *shadow, int source, int tag, bool gone, ompp_mpi_message_t **message);

/**
 * \brief The clock vector of the next message.
 * \param[in] gone  that has been received, or will be by what calls this: whether it has a clock vector or not, the
 *                  next one is another one.
 * \param[out] message  NULL = it has none, or it is not there.
 * \return false = each message from there has a clock vector, as far as is known.
 */
bool ompp_mpi_suppression_next(ompp_mpi_shadow_t *shadow, int source, int tag, uint64_t limit_ns, bool gone,
                               ompp_mpi_message_t **message);

/**
 * \brief The message that was received at t has no clock vector, as far as is known, and it is not the time to look for
 *        one.
 * \return true = it is counted; false = ompp_mpi_suppression_next() has to look.
 */
bool ompp_mpi_suppression_pass(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t t);

/** \brief Nobody will ask for the clock vector of one message. \return false = as above. */
bool ompp_mpi_suppression_skip(ompp_mpi_shadow_t *shadow, int source, int tag);

/** \brief The channel goes. \return whether clock vectors may be left on it of messages that MPI has refused. */
bool ompp_mpi_suppression_end(ompp_mpi_shadow_t *shadow);

/**
 * \brief A communicator goes, or may have gone: receives on it that were started the short way (mpi_wrap_priv.h) go on
 *        as any others. What was noted of other communicators is looked up anew.
 */
void ompp_mpi_suppressed_forget(MPI_Comm comm);

#endif
