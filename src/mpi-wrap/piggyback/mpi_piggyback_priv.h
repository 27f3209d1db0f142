/**
 * \file
 * How clock vectors travel (runtime/ompp_sync.h), among the files of this folder. What is done before and
 * after a call of each class is in mpi_wrap_priv.h, by the rows of mpi_rules.def. Messages, requests and collective
 * calls: mpi_piggyback_message_priv.h, mpi_piggyback_request_priv.h, mpi_piggyback_collective_priv.h.
 *
 * A clock vector goes through MPI itself, with a message of its own on a communicator of ours with the same ranks
 * ("channel"), before the user's message and with its destination and tag. Messages with equal source, tag and
 * communicator do not overtake each other, so that the n-th clock vector belongs to the n-th message. It is
 * awaited when the user's receive is complete, by the source and tag that the message had: wildcards, probes and
 * cancelled receives need nothing else, and it is certain that the clock vector has been sent. One that comes earlier
 * may be taken in earlier, to acknowledge it: it is kept (struct ompp_mpi_here) until its message is received. Nothing
 * here waits for another rank without limit but collective calls in the user's own collective calls.
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
#define OMPP_MPI_WAITING_BYTES 200
#else
#define OMPP_MPI_WAITING_BYTES OMPP_MPI_EAGER_BYTES
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
    int64_t moment_ns; /* that the clock vector tells of, by the clock common to all ranks */
    union {
        uint32_t ack;  /* of a message of the user: number + 1 of the acknowledgement that it asks for; 0 = none */
        uint32_t call; /* of a collective call: its number on the channel */
    };
    /* OMPP_WHATIF_F_*: the receiver is to know that the message may come at another time. Or OMPP_MPI_BACK */
    uint32_t flags;
    uint32_t bytes; /* of the clock vector that are sent; the others are 0 */
    /* of the message that it comes with (mpi_piggyback_transport.c); 0 = none: each message has a clock vector */
    uint32_t number;
} ompp_mpi_header_t;

/** A message of ours, or the sum of some: what they say together. */
typedef struct ompp_mpi_message {
    ompp_mpi_header_t header;
    unsigned char vector[]; /* clock vector, [ompp_mpi_piggyback_state.bytes] */
} ompp_mpi_message_t;

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

extern struct ompp_mpi_piggyback_state {
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
    ompp_mpi_message_t *message;
} ompp_mpi_early_t;

/** A communicator of the user and ours beside it. */
typedef struct ompp_mpi_shadow {
    struct ompp_mpi_shadow *next;
    MPI_Comm comm, hidden;
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
void ompp_mpi_piggyback_widen(ompp_mpi_message_t *message);

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
ompp_mpi_message_t *ompp_mpi_piggyback_fetch(MPI_Comm comm, int source, int tag, uint64_t limit_ns);

/** A clock vector that is here, as it came, of a message that has not been received yet. */
struct ompp_mpi_here {
    ompp_mpi_here_t *next;
    int source, tag;
    ompp_mpi_message_t *message; /* NULL: there is none yet, and nobody asks for it */
};

/** What is known of these: nobody asks for it; its acknowledgement is due; that has been given. */
enum { OMPP_MPI_SKIPPED = 1, OMPP_MPI_DUE = 2, OMPP_MPI_GIVEN = 4 };

/** \return whether there is one of these kinds. */
bool ompp_mpi_here_has(ompp_mpi_shadow_t *shadow, int source, int tag, unsigned kinds);
/** \brief Takes the oldest one of these kinds. \return to be freed, or put back; NULL = none. */
ompp_mpi_message_t *ompp_mpi_here_take(ompp_mpi_shadow_t *shadow, int source, int tag, unsigned kinds);
/** \brief Owns message. \param[in] back  it was taken from there, and is the oldest one; else the youngest. */
void ompp_mpi_here_put(ompp_mpi_shadow_t *shadow, int source, int tag, ompp_mpi_message_t *message, bool back);
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
ompp_mpi_message_t *ompp_mpi_here_bring(ompp_mpi_shadow_t *shadow, int source, int tag, bool looks, uint64_t limit_ns);

/* ---- Statuses (mpi_piggyback_request.c) -------------------------------------------------------------------------- */

/**
 * \return the status number i of the call in C's form; MPI_STATUS_IGNORE when there is none.
 * \param[out] room for one.
 */
const MPI_Status *ompp_mpi_status(const ompp_mpi_piggyback_t *piggyback, int i, MPI_Status *room);
/** \brief Gives MPI a status of ours where the user wants none. */
void ompp_mpi_substitute(ompp_mpi_piggyback_t *piggyback, int number);

/* ---- Waits (mpi_piggyback_wait.c) -------------------------------------------------------------------------------- */

/**
 * \brief The thread waited for what sum says, and goes on. Waits in experiments.
 * \param[in] sum  NULL = for something unknown. \param[in] wait  its end is now, whatever stands there.
 */
void ompp_mpi_join_clock(const ompp_mpi_message_t *sum, ompp_sync_wait_t wait);

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

#endif
