/**
 * \file
 * How clock vectors travel (runtime/ompp_sync.h), among the files of this folder. What is done before and
 * after a call of each class is in mpi_wrap_priv.h, by the rows of mpi_rules.def.
 *
 * A clock vector goes through MPI itself, with a message of its own on a communicator of ours with the same ranks
 * ("channel"), before the user's message and with its destination and tag. Messages with equal source, tag and
 * communicator do not overtake each other, so that the n-th clock vector belongs to the n-th message. It is received
 * when the user's receive is complete, by the source and tag that the message had: wildcards, probes and cancelled
 * receives then need no further thought, and it is certain that the clock vector has been sent. Nothing here waits for
 * another rank without limit but collective calls in the user's own collective calls.
 *
 * Ranks of a node use the same way: MPI's own transport between them is shared memory already, and order and matching
 * come for free.
 */
#ifndef MPI_PIGGYBACK_PRIV_H
#define MPI_PIGGYBACK_PRIV_H

#include "mpi-wrap/mpi_wrap_priv.h"

#include "model/ompp_whatif_profile.h"

#include <pthread.h>

/** How long a clock vector may be waited for whose message is there; it was sent before. */
#define OMPP_MPI_PIGGYBACK_LIMIT_NS 2000000000u

/** What is sent by MPI_Bsend, and larger, may go on later only; every MPI takes smaller messages over at once. */
#define OMPP_MPI_EAGER_BYTES 4000

/**
 * Larger sends may have to wait for the receiver: for a rendezvous; with Open MPI, in shared memory, already for what
 * holds the message, which comes back when the receiver has taken it.
 */
#if defined(OPEN_MPI)
#define OMPP_MPI_ALONE_BYTES 200
#else
#define OMPP_MPI_ALONE_BYTES OMPP_MPI_EAGER_BYTES
#endif

/**
 * Open MPI is done with a persistent send, however small, when the receiver has next called MPI and made progress
 * there, which starting requests does not.
 */
#if defined(OPEN_MPI)
#define OMPP_MPI_STARTED_WAIT true
#else
#define OMPP_MPI_STARTED_WAIT false
#endif

/** Open MPI's scans of small data are chains: each rank waits for the one before it alone, and is done when it has sent
 * to the next one. */
#if defined(OPEN_MPI)
#define OMPP_MPI_SCAN_IS_CHAIN true
#else
#define OMPP_MPI_SCAN_IS_CHAIN false
#endif

/** What stands before a clock vector in a message. */
typedef struct {
    int64_t time_ns; /* when it was made, by the clock common to all ranks */
    /* number + 1 of the acknowledgement that the sender waits for; 0 = none. Or number of a collective call */
    uint32_t ack;
    /* OMPP_WHATIF_F_*: the receiver is to know that the message may come at another time. Or OMPP_MPI_BACK */
    uint32_t flags;
    uint32_t bytes;  /* of the clock vector that are sent; the others are 0 */
    uint32_t number; /* of the message that it comes with (mpi_piggyback_transport.c); 0 = each of them has one */
} ompp_mpi_header_t;

/** Of a collective call that is under way: its rank is back in MPI. No flag of the above. */
#define OMPP_MPI_BACK (1u << 31)

/** Those that follow may have no clock vector: of messages, or of non-blocking collective calls; those of neighbours.
 * No flags of the above. */
#define OMPP_MPI_SUPPRESSED (1u << 30)
#define OMPP_MPI_NEIGHBORS (1u << 29)
#define OMPP_MPI_ROOTED (1u << 28) /* or those of ranks that are not the same in each call */

/** Of a message that is here: its acknowledgement has been given. No flag of the above. */
#define OMPP_MPI_ACKNOWLEDGED (1u << 27)

/* ---- Settled at the start (mpi_piggyback_start.c) ---------------------------------------------------------------- */

extern struct ompp_mpi_piggyback_on {
    size_t bytes, message; /* of a clock vector, with what is behind it; of a message of ours, at most */
    MPI_Datatype type;     /* one clock vector */
    MPI_Op op;             /* ompp_sync_combine */
    MPI_Op op_nonblocking; /* the same, for operations that go on by themselves */
    MPI_Comm acks;         /* the world's ranks */
    bool alone;            /* atomic: one thread at a time may call MPI, and no clock vector is lost */
    /* of the user's messages that clock vectors travel with; the next two, the largest of MPI's, are ours */
    int tag_limit;
    int ranks;               /* of the run */
    bool statuses_are_alike; /* a status of Fortran lies in memory as one of C */
    ompp_time_t exchange;    /* ns that a collective call of ours takes when nobody comes late */
    ompp_sync_clock_t clock; /* of this rank, in terms of that of rank 0 */
    unsigned lost;           /* atomic: a clock vector did not come: none are sent with messages any more */
} ompp_mpi_piggyback_state;

/* ---- Channels (mpi_piggyback_comm.c) ----------------------------------------------------------------------------- */

typedef struct ompp_mpi_here ompp_mpi_here_t;

/** Who waits for whom in a collective call. */
typedef struct {
    ompp_mpi_order_t order;
    int root; /* 0 without one */
} ompp_mpi_whom_t;

/** Collective calls that exchange no clock vectors, while clocks are suspended. Of a communicator of all ranks; these
 * come to them in the same order. */
typedef struct {
    uint64_t left;    /* so many of the next ones */
    uint64_t most;    /* that may be left out at once now */
    ompp_time_t last; /* when the latest call began, of all; 0 = none yet */
    int64_t interval; /* ns from one to the next, as of late */
} ompp_mpi_passing_t;

/** A clock vector of a call that this rank has not come to yet. */
typedef struct ompp_mpi_early {
    struct ompp_mpi_early *next;
    int source;
    unsigned char *message;
} ompp_mpi_early_t;

/** A communicator of the user and ours beside it. */
typedef struct ompp_mpi_shadow {
    struct ompp_mpi_shadow *next;
    MPI_Comm comm, duplicate;
    int rank, size;            /* in the local group */
    int peers;                 /* size of the group that messages go to */
    int *world;                /* [peers] ranks in the world; NULL = the same */
    int sources, destinations; /* topologies: neighbours that send to this rank, that it sends to */
    int *neighbors;            /* [sources], and [destinations] behind them; NULL = none */
    uint32_t calls;            /* collective calls whose clock vectors went as messages */
    /* neighbourhoods: number of the call that the neighbours have our clock vector for; MPI may have refused it */
    uint32_t reported;
    bool parted; /* one of these did not come: none are sent or awaited on this channel */
    /* non-blocking ones whose clock vectors are messages, and are awaited; under its lock */
    struct ompp_mpi_request *going;
    /* number of the latest of these, and of that whose clock vectors are sent; MPI may have refused it */
    uint32_t started, sent_for;
    ompp_mpi_whom_t sent_whom;                /* these were for them */
    struct ompp_mpi_suppression *suppression; /* messages without clock vectors; NULL = none yet */
    /* this rank's latest clock vector has told that those that follow have none: of neighbours' calls, of all ranks' */
    bool suppressed[2];
    struct ompp_mpi_quiet *quiet; /* whose there are none of; NULL = all have some. Under its lock */
    ompp_time_t looked;           /* atomic: when that was tried */
    ompp_mpi_early_t *early;      /* clock vectors of later ones, oldest first; under its lock */
    bool receiving;               /* atomic: a thread receives them */
    /* clock vectors may be left on the shadow: it is not freed, or they would come to another communicator */
    bool unread;
    bool keeps; /* it may be left so: as all its ranks have agreed */
    bool inter, topology;
    bool asks; /* atomic: a message has come whose sender may have to wait for its receiver */
    /* atomic: non-blocking ones whose clock vectors were not there soon after the user's operation was complete */
    unsigned misses;
    ompp_mpi_passing_t passing;
    int references; /* atomic: table, requests */
    /* atomic: under way. One thread is not to wait for the clock vector that another has in its hands. */
    int claims, acknowledgements;
    /* clock vectors that are here, of messages that have not been received yet, oldest first; under its lock */
    ompp_mpi_here_t *here;
    pthread_mutex_t lock;
} ompp_mpi_shadow_t;

/**
 * \return the channel of a communicator, with a reference taken; NULL when there is none: unknown handle, or not
 *         followed.
 */
ompp_mpi_shadow_t *ompp_mpi_shadow_find(MPI_Comm comm);

/** \brief Gives a reference back, if shadow is not NULL. */
static inline void ompp_mpi_shadow_release(ompp_mpi_shadow_t *shadow)
{
    if (shadow) __atomic_sub_fetch(&shadow->references, 1, __ATOMIC_RELEASE);
}
static inline ompp_mpi_shadow_t *ompp_mpi_shadow_keep(ompp_mpi_shadow_t *shadow)
{
    __atomic_add_fetch(&shadow->references, 1, __ATOMIC_RELAXED);
    return shadow;
}

/** \return the number in the world of a rank that messages go to. */
static inline int ompp_mpi_world_rank(const ompp_mpi_shadow_t *shadow, int rank)
{
    return shadow->world ? shadow->world[rank] : rank;
}

/** \return whether a rank of it is rank 0 of the run, which decides when clocks are suspended. */
static inline bool ompp_mpi_leads(const ompp_mpi_shadow_t *shadow, int rank)
{
    return !shadow->inter && ompp_mpi_world_rank(shadow, rank) == 0;
}

/** \return whether senders may wait for this rank on it. */
static inline bool ompp_mpi_acks_are_due(const ompp_mpi_shadow_t *shadow)
{
    return __atomic_load_n(&shadow->asks, __ATOMIC_RELAXED) && !ompp_sync_is_suspended();
}

/** \brief Before there are any. \return false when MPI refuses. */
bool ompp_mpi_shadow_start(void);

/**
 * \brief A communicator was made; collective over it, unless it has ranks of another world.
 * \param[in] follows  that which it was made of has a channel.
 */
void ompp_mpi_shadow_made(MPI_Comm comm, bool follows);

/** \brief Before a communicator is freed: forgets it. \return its channel, to be freed afterwards; NULL = none. */
ompp_mpi_shadow_t *ompp_mpi_shadow_forget(MPI_Comm comm);
/** \brief Into the table; again, when MPI has refused to free the communicator. */
void ompp_mpi_shadow_add(ompp_mpi_shadow_t *shadow);
/**
 * \brief Its communicator is gone. While calls still need it, it stays. \param[in] shadow  NULL = none.
 */
void ompp_mpi_shadow_free(ompp_mpi_shadow_t *shadow);

/** \brief Channels whose communicators are gone, and that no call needs any more, are freed. */
void ompp_mpi_shadow_sweep(void);

/** \brief That of MPI_COMM_SELF. \param[in] own  ours with this rank. */
void ompp_mpi_shadow_of_self(MPI_Comm own);

/**
 * \brief What nobody has asked for, of all channels, when ranks send no more: some MPI libraries complain of it.
 */
void ompp_mpi_shadow_drain(void);

/**
 * \brief What all ranks of a communicator want at least; of a new one: nobody else knows it yet, so that it can be used
 *        for that. Collective.
 */
int ompp_mpi_shadow_least(MPI_Comm comm, int wanted, bool inter);

/** \brief A communicator of ours with the ranks of one of ours; MPI_COMM_NULL when that fails. Collective. */
MPI_Comm ompp_mpi_shadow_copy(MPI_Comm own);

/** \brief Says once in the report that calls like this one carry no clocks. */
void ompp_mpi_unfollowed(const char *what);

/* ---- Clocks of ranks (mpi_piggyback_clock.c) --------------------------------------------------------------------- */

/** \brief Learns how this rank's clock relates to that of rank 0. Collective. */
void ompp_mpi_clock_start(MPI_Comm own);

/** \brief The relation of clocks alone, for ompp_mpi_clock_common(). Collective over own. */
void ompp_mpi_clock_relate(MPI_Comm own);

/** \brief Measures it again, and says in the report when clocks drifted apart. Collective. */
void ompp_mpi_clock_finish(MPI_Comm own);

/* ---- Memory of all ranks (mpi_piggyback_share.c) ----------------------------------------------------------------- */

/** \brief When all ranks are on one node and somebody wants it: memory that they share. Collective over both. */
void ompp_mpi_share_start(MPI_Comm own, MPI_Comm node);

/* ---- What they travel by (mpi_piggyback_transport.c) ------------------------------------------------------------- */

/** \return t in the time common to all ranks, ns. */
int64_t ompp_mpi_clock_common(ompp_time_t t);

/** \brief What was not sent of a clock vector is 0. */
void ompp_mpi_piggyback_widen(unsigned char *message);

/** What is behind a clock vector in an exchange; all ranks get the most of each. */
typedef struct {
    uint64_t passes; /* how many of the next calls have none */
    uint64_t again;  /* some rank can say more: clock vectors are combined once more */
} ompp_mpi_behind_t;

static inline ompp_mpi_behind_t *ompp_mpi_behind(unsigned char *vector)
{
    return (ompp_mpi_behind_t *)(void *)(vector + ompp_mpi_piggyback_state.bytes - sizeof(ompp_mpi_behind_t));
}

/**
 * \brief The thread's clock vector at t, for an exchange.
 * \param[out] vector  [ompp_mpi_piggyback_state.bytes]. \param[in] all  among all ranks of the run, which adopt it.
 */
void ompp_mpi_collective_vector(unsigned char *vector, bool all, ompp_time_t t);

/** \brief One message of ours, all of it, within a limit. \return to be freed; NULL = it did not come. */
unsigned char *ompp_mpi_piggyback_fetch(MPI_Comm own, int source, int tag, uint64_t limit_ns);

/** A clock vector that is here, as it came, of a message that has not been received yet. */
struct ompp_mpi_here {
    ompp_mpi_here_t *next;
    int source, tag;
    unsigned char *message; /* NULL: there is none yet, and nobody asks for it */
};

/** What is known of these: nobody asks for it; its acknowledgement is due; that has been given. */
enum { OMPP_MPI_SKIPPED = 1, OMPP_MPI_DUE = 2, OMPP_MPI_GIVEN = 4 };

/** \return whether there is one of these kinds. */
bool ompp_mpi_here_has(ompp_mpi_shadow_t *shadow, int source, int tag, unsigned kinds);
/** \brief Takes the oldest one of these kinds. \return to be freed, or put back; NULL = none. */
unsigned char *ompp_mpi_here_take(ompp_mpi_shadow_t *shadow, int source, int tag, unsigned kinds);
/** \brief Owns message. \param[in] back  it was taken from there, and is the oldest one; else the youngest. */
void ompp_mpi_here_put(ompp_mpi_shadow_t *shadow, int source, int tag, unsigned char *message, bool back);
/**
 * \brief The oldest one whose acknowledgement is due: that is given by the caller now. Not one of a later message than
 *        that which is received next, which has none.
 * \param[out] header  what is to be acknowledged. \return false = there is none.
 */
bool ompp_mpi_here_acknowledge(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_mpi_header_t *header);
/**
 * \brief Takes the oldest one, or the next one that comes, within a limit.
 * \param[in] looks  false = only what is here already. \return as above.
 */
unsigned char *ompp_mpi_here_bring(ompp_mpi_shadow_t *shadow, int source, int tag, bool looks, uint64_t limit_ns);

/* ---- Clock vectors of messages (mpi_piggyback_message.c; memory: mpi_piggyback_transport.c) ---------------------- */

static inline ompp_mpi_header_t *ompp_mpi_header_of(unsigned char *message)
{
    return (ompp_mpi_header_t *)(void *)message;
}

/** Room for a header and a clock vector; from a pool. */
unsigned char *ompp_mpi_piggyback_new(void);
void ompp_mpi_piggyback_free(unsigned char *vector);
static inline unsigned char *ompp_mpi_piggyback_of(unsigned char *message)
{
    return message + sizeof(ompp_mpi_header_t);
}

/**
 * A message of ours on its way, above all an acknowledgement: what the receiver of a message says to its sender, who
 * may have to wait for it, its clocks when it began to receive.
 */
typedef struct ompp_mpi_ack {
    struct ompp_mpi_ack *next;
    unsigned number; /* of an acknowledgement */
    unsigned size;   /* of the message: it has 2^size bytes or more */
    int64_t latest;  /* when its receiver began if the send waited for it, by the common clock; 0 = not known */
    MPI_Request request;
    unsigned char *message;
    void *buffers; /* of a collective operation */
} ompp_mpi_ack_t;

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
ompp_mpi_ack_t *ompp_mpi_piggyback_send(ompp_mpi_shadow_t *shadow, int dest, int tag, uint64_t waiting, unsigned flags,
                                        bool quiet, ompp_time_t t);

/** \brief Sends a clock vector with a tag of ours: the other side does not take it for that of a user's message. */
void ompp_mpi_piggyback_post(MPI_Comm own, int dest, int tag, ompp_time_t t);

/** The tags of clock vectors of collective calls: of blocking ones, of the others. */
static inline int ompp_mpi_piggyback_own_tag(void) { return ompp_mpi_piggyback_state.tag_limit + 1; }
static inline int ompp_mpi_nonblocking_tag(void) { return ompp_mpi_piggyback_state.tag_limit + 2; }

/**
 * \brief Sends what message says now, in a collective call on the channel with this number.
 * \param[in] quiet  without progress of MPI.
 */
void ompp_mpi_piggyback_pass(ompp_mpi_shadow_t *shadow, int dest, int tag, uint32_t call, const unsigned char *message,
                             bool quiet);

/**
 * \brief Receives that. Those of calls before, which failed, are passed over.
 * \param[in] limit_ns  0 = only when it is there.
 * \return to be freed with ompp_mpi_piggyback_free(); NULL = it did not come.
 */
unsigned char *ompp_mpi_piggyback_expect(ompp_mpi_shadow_t *shadow, int source, uint32_t call, uint64_t limit_ns);

/** \brief Adds message to a sum of some; the first one is the sum. Owns message. \param[in] message  NULL = nothing. */
void ompp_mpi_piggyback_sum(unsigned char **sum, unsigned char *message);

/** \brief Adds the clock vector in other to that in message. */
void ompp_mpi_piggyback_add(unsigned char *message, unsigned char *other);

/**
 * \brief The clock vector of a message that has been received: adds it to a sum (ompp_mpi_piggyback_sum()), and gives
 *        the acknowledgement.
 * \param[in] begin  when this thread began to wait for it.
 * \param[in] limit_ns  0 = only when it is there.
 * \param[in,out] flags  OMPP_WHATIF_F_*, those of the message are added.
 * \return false when it did not come.
 */
bool ompp_mpi_piggyback_claim(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin, uint64_t limit_ns,
                              unsigned char **sum, unsigned *flags);

/**
 * \brief While clocks are suspended: a message that was received at t has none, and nothing is to be told to its
 *        sender. The short way for most of them; what it does not know, ompp_mpi_piggyback_claim() finds out.
 * \return true = nothing else is to be done about it.
 */
bool ompp_mpi_piggyback_pass_suppressed(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t t);

/** \brief The same of a message that was matched: how long its sender waits until it is received will not be seen. */
void ompp_mpi_piggyback_match(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_time_t begin, unsigned char **sum,
                              unsigned *flags);

/**
 * \brief The clock vector of a message that is there and stays: the receive will claim the same.
 * \param[in] received  it has been received; otherwise its sender may wait for that, and gets its acknowledgement then.
 */
void ompp_mpi_piggyback_peek(ompp_mpi_shadow_t *shadow, int source, int tag, bool received, ompp_time_t begin,
                             unsigned char **sum, unsigned *flags);

/** \return the calling thread's state at t, to be freed with ompp_mpi_piggyback_free(). */
unsigned char *ompp_mpi_piggyback_moment(ompp_time_t t);

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
bool ompp_mpi_ack_take(ompp_mpi_ack_t *ack, ompp_time_t begin, ompp_time_t end, bool always, unsigned char **sum);

/**
 * \brief The same of a blocking send to dest. When both send to each other, and the other came first, the clock vector
 *        of its message, which is here and not received yet, tells when it was ready; its acknowledgement comes late.
 */
bool ompp_mpi_ack_take_blocking(ompp_mpi_shadow_t *shadow, int dest, ompp_mpi_ack_t *ack, ompp_time_t begin,
                                ompp_time_t end, unsigned char **sum);

/** \brief Nobody waits for it. */
void ompp_mpi_ack_drop(ompp_mpi_ack_t *ack);

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
bool ompp_mpi_suppression_take(ompp_mpi_shadow_t *shadow, int source, int tag, bool gone, unsigned char **message);

/**
 * \brief The clock vector of the next message.
 * \param[in] gone  that has been received, or will be by what calls this: whether it has a clock vector or not, the
 *                  next one is another one.
 * \param[out] message  NULL = it has none, or it is not there.
 * \return false = each message from there has a clock vector, as far as is known.
 */
bool ompp_mpi_suppression_next(ompp_mpi_shadow_t *shadow, int source, int tag, uint64_t limit_ns, bool gone,
                               unsigned char **message);

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
 * \brief A receive that was started the short way (mpi_wrap_priv.h) goes on as any other, if there is one with this
 *        handle.
 */
void ompp_mpi_suppressed_give(MPI_Request handle);
/** \brief So do all on a communicator, which goes, or may have gone. What was noted of others is looked up anew. */
void ompp_mpi_suppressed_forget(MPI_Comm comm);

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
    ompp_mpi_ack_t *ack;
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
/** \brief Takes it out of the table. \return NULL = none. */
ompp_mpi_request_t *ompp_mpi_request_take(MPI_Request handle);
ompp_mpi_request_t *ompp_mpi_request_peek(MPI_Request handle);

/** \return whether there are any. */
bool ompp_mpi_request_any(void);

/** \return handle number i of the call, whatever language it is in. */
MPI_Request ompp_mpi_handle(const ompp_mpi_piggyback_t *piggyback, int i);

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
void ompp_mpi_whom_tell(ompp_mpi_shadow_t *shadow, ompp_mpi_whom_t whom, uint32_t call, const unsigned char *message);

/** \brief A non-blocking collective operation is under way: others may wait until this rank is back in MPI. */
void ompp_mpi_under_way_add(ompp_mpi_request_t *request);
void ompp_mpi_under_way_forget(ompp_mpi_request_t *request);
/** \brief The thread comes to a call, at t, in which MPI makes progress: ranks of such operations are told. */
void ompp_mpi_under_way_progress(ompp_time_t t);
/** \return whether there are any. */
bool ompp_mpi_under_way_any(void);
/** \brief A call of MPI ends at t. */
void ompp_mpi_under_way_left(ompp_time_t t);

/* ---- Statuses (mpi_piggyback.c) ---------------------------------------------------------------------------------- */

/**
 * \return the status number i of the call in C's form; MPI_STATUS_IGNORE when there is none.
 * \param[out] room for one.
 */
const MPI_Status *ompp_mpi_status(const ompp_mpi_piggyback_t *piggyback, int i, MPI_Status *room);
/** \brief Gives MPI a status of ours where the user wants none. */
void ompp_mpi_substitute(ompp_mpi_piggyback_t *piggyback, int number);

/* ---- Waits (mpi_piggyback_wait.c) -------------------------------------------------------------------------------- */

/** \brief The thread waited since begin for what sum says; NULL = for something unknown. Waits in experiments. */
void ompp_mpi_join_clock(const unsigned char *sum, ompp_time_t begin, ompp_sync_remote_t kind, unsigned flags);

/**
 * \brief The same of a call that may have waited for others than sum says.
 * \param[in] limit  ns that the rest of it takes at most when it has not; 0 = any.
 */
void ompp_mpi_join_clock_within(const unsigned char *sum, ompp_time_t begin, ompp_sync_remote_t kind,
                                ompp_time_t limit);

/** ns: a call without data takes less when it waits for nobody. */
#define OMPP_MPI_ALONE_NS 50000u

/** Who takes longer than this for our part of one call has had no processor. */
#define OMPP_MPI_LONGEST_NS 100000u

/** \brief A call that began at s->begin has waited for somebody unknown, if it took long. */
void ompp_mpi_lose(const ompp_mpi_piggyback_t *s);

/**
 * \brief A call that asks whether something has happened was made from begin until now.
 * \return since when the thread does nothing else than ask.
 */
ompp_time_t ompp_mpi_polled(ompp_time_t begin, bool success);
/** \return the same before such a call; 0 = it would be the first one. */
ompp_time_t ompp_mpi_polls_since(void);

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
void ompp_mpi_gather_before(ompp_mpi_piggyback_t *piggyback, MPI_Comm own);
/** \brief After it, when it was successful. */
void ompp_mpi_gather_after(ompp_mpi_piggyback_t *piggyback, MPI_Comm own, bool ok);

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
