/**
 * \file
 * What all wrappers share: the guard that counts nested calls once, the switches, start and end. Private to mpi-wrap.
 * What calls count: mpi_bytes_priv.h.
 */
#ifndef OMPP_MPI_WRAP_PRIV_H
#define OMPP_MPI_WRAP_PRIV_H

#include "image/ompp_dso.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_message.h"

#include <mpi.h>

#define OMPP_MPI_API __attribute__((visibility("default")))

/** What a wrapper does when not all is as usual: apart, so that it costs the usual case nothing. */
#define OMPP_MPI_SLOW __attribute__((noinline))

/* ---- Switches, settled before the first call is measured --------------------------------------------------------- */

/** What is not as usual; 0 = calls are measured, and carry no clocks. */
enum {
    OMPP_MPI_ASK = 1,      /* environment not read yet */
    OMPP_MPI_OFF = 2,      /* OMPP_DISABLE_MPI */
    OMPP_MPI_PIGGYBACK = 4 /* clocks are carried: somebody follows them, on all ranks alike */
};

extern unsigned ompp_mpi_unusual __attribute__((visibility("hidden"))); /* OMPP_MPI_ASK, ... */

/** What is measured. */
enum {
    OMPP_MPI_BYTES = 1,  /* OMPP_MPI_BYTES */
    OMPP_MPI_INQUIRY = 2 /* OMPP_MPI_INQUIRY: time local calls, too */
};

extern unsigned ompp_mpi_mode __attribute__((visibility("hidden"))); /* OMPP_MPI_BYTES, ... */

/** \brief Starts measurement, reads the switches. \return true when MPI calls are measured. */
bool ompp_mpi_ask_slow(void);

static inline bool ompp_mpi_counts_bytes(void) { return ompp_mpi_mode & OMPP_MPI_BYTES; }

/* ---- The guard --------------------------------------------------------------------------------------------------- */

/**
 * The outermost MPI call of a thread. Calls that MPI makes in it (user's operators, error handlers, attribute
 * callbacks, Fortran bindings on top of C) are part of it.
 */
typedef struct {
    uintptr_t frame;  /* stack address of the wrapper; 0 = outside MPI */
    const void *code; /* its return address */
} ompp_mpi_guard_t;

extern __thread ompp_mpi_guard_t ompp_mpi_guard __attribute__((tls_model("initial-exec"), visibility("hidden")));

/**
 * \brief The guard is held: is the call with this return address and frame made in the call that holds it?
 * \return false when that one was left by a jump (an error handler's longjmp, an exception): its region is closed, the
 *         guard free.
 */
bool ompp_mpi_nested_slow(const void *code, uintptr_t frame);

static inline bool ompp_mpi_outermost(const void *code, uintptr_t frame)
{
    return __builtin_expect(ompp_mpi_guard.frame == 0, 1) || !ompp_mpi_nested_slow(code, frame);
}

/*
 * Some libraries' Fortran calls the C functions under their MPI_ names (MPICH): what we see of that is part of the
 * Fortran call, also where the call itself has no frame. Open MPI's calls the PMPI_ names.
 */
#if defined(OPEN_MPI)
enum { OMPP_MPI_FORTRAN_CALLS_C = false };
#else
enum { OMPP_MPI_FORTRAN_CALLS_C = true };
#endif

/* ---- A measured call --------------------------------------------------------------------------------------------- */

typedef struct {
    ompp_region_ref_t region;
    unsigned unusual; /* when it began */
} ompp_mpi_call_t;

/**
 * Return address and frame of the wrapper that stands in a function of its own. The frame is what is just below its
 * caller's: the compiler knows that without a register for it.
 */
#define OMPP_MPI_HERE __builtin_return_address(0), (uintptr_t)__builtin_dwarf_cfa() - 1

/** An argument or a result lies in memory while others are called: one instruction to keep it and one to have it
 * again. */
#define OMPP_MPI_KEEP(variable) __asm__("" : "+m"(variable))

/** \brief MPI calls are measured in this process. \param[in] unusual  ompp_mpi_unusual. */
static inline bool ompp_mpi_measures(unsigned unusual)
{
    return __builtin_expect(!(unusual & (OMPP_MPI_ASK | OMPP_MPI_OFF)), 1) || ompp_mpi_ask_slow();
}

/**
 * \brief Counts a call, without time.
 * \return false when it is not measured: nested in another MPI call, or switched off.
 */
static inline bool ompp_mpi_count(const void *code, uintptr_t frame, const char *name)
{
    return ompp_mpi_measures(ompp_mpi_unusual) && ompp_mpi_outermost(code, frame) &&
           ompp_event_count_call(OMPP_CONSTRUCT_MPI, code, name);
}

/** \brief Begins a call. \return false when it is not to be measured; then there is no end. */
static inline __attribute__((always_inline)) bool ompp_mpi_begin(ompp_mpi_call_t *call, const void *code,
                                                                 uintptr_t frame, const char *name)
{
    call->unusual = __atomic_load_n(&ompp_mpi_unusual, __ATOMIC_RELAXED);
    if (!ompp_mpi_measures(call->unusual) || !ompp_mpi_outermost(code, frame)) return false;
    ompp_mpi_guard = (ompp_mpi_guard_t){frame, code};
    call->region = ompp_event_call(code, name);
    if (__builtin_expect(call->region != 0, 1)) return true;
    ompp_mpi_guard.frame = 0;
    return false;
}

/**
 * \brief The same, or else false, when all is as usual: no call of MPI is open on this thread, and none carries clocks.
 */
static inline __attribute__((always_inline)) bool ompp_mpi_begin_usual(ompp_mpi_call_t *call, const void *code,
                                                                       uintptr_t frame, const char *name)
{
    if (__builtin_expect(ompp_mpi_unusual || ompp_mpi_guard.frame, 0)) return false;
    ompp_mpi_guard = (ompp_mpi_guard_t){frame, code};
    call->region = ompp_event_call(code, name);
    if (__builtin_expect(call->region == 0, 0)) {
        ompp_mpi_guard.frame = 0;
        return false;
    }
    OMPP_MPI_KEEP(call->region);
    return true;
}

/** \brief The same for local calls: counts them; begins one only when they are to be timed. */
static inline __attribute__((always_inline)) bool ompp_mpi_begin_inquiry(ompp_mpi_call_t *call, const void *code,
                                                                         uintptr_t frame, const char *name)
{
    if (__builtin_expect(ompp_mpi_mode & OMPP_MPI_INQUIRY, 0)) return ompp_mpi_begin(call, code, frame, name);
    ompp_mpi_count(code, frame, name);
    return false;
}

/** \brief Ends a call at t. \param[in] values  what it counts, [OMPP_METRIC_MPI_NUM]; NULL = nothing. */
static inline void ompp_mpi_return(ompp_mpi_call_t *call, const uint64_t *values, ompp_time_t t)
{
    ompp_event_return(call->region, values, t);
    ompp_mpi_guard.frame = 0;
}

static inline void ompp_mpi_end(ompp_mpi_call_t *call, ompp_time_t t) { ompp_mpi_return(call, NULL, t); }

/** \brief Ends a call now. */
static inline void ompp_mpi_end_now(ompp_mpi_call_t *call)
{
    ompp_event_return_timed(call->region);
    ompp_mpi_guard.frame = 0;
}

/**
 * \brief Ends a call that succeeded at t.
 * \param[in] counter  which of the values is 1, the others being 0; _NUM = they are anything.
 */
static inline __attribute__((always_inline)) void ompp_mpi_return_counted(ompp_mpi_call_t *call, unsigned counter,
                                                                          const uint64_t *values, ompp_time_t t)
{
    if (counter < OMPP_METRIC_MPI_NUM)
        ompp_event_return_counted(call->region, counter, values[OMPP_METRIC_BYTES_IN], values[OMPP_METRIC_BYTES_OUT],
                                  t);
    else ompp_event_return(call->region, values, t);
    ompp_mpi_guard.frame = 0;
}

/* ---- Calls that clock vectors travel with ------------------------------------------------------------------------ */

/** Who waits for whom in a collective call. */
typedef enum {
    OMPP_MPI_ORDER_ALL,
    OMPP_MPI_ORDER_CHAIN, /* a rank for those before it */
    OMPP_MPI_ORDER_FROM_ROOT,
    OMPP_MPI_ORDER_TO_ROOT,
    OMPP_MPI_ORDER_NEIGHBOR,
    OMPP_MPI_ORDER_NUM
} ompp_mpi_order_t;

typedef struct ompp_mpi_piggyback ompp_mpi_piggyback_t;
typedef void ompp_mpi_before_fn(ompp_mpi_piggyback_t *piggyback);
typedef void ompp_mpi_after_fn(ompp_mpi_piggyback_t *piggyback, bool ok);

/**
 * A call that carries clocks: its arguments, as far as it has them, and what is kept between its begin and its end.
 * Arguments are the user's and not checked by MPI yet: handles are compared with known ones before MPI sees them. Those
 * given by address are C's or Fortran's.
 */
struct ompp_mpi_piggyback {
    ompp_mpi_before_fn *before; /* of its class (mpi_rules.def); NULL = nothing is to be done */
    ompp_mpi_after_fn *after;
    ompp_mpi_order_t order;
    bool fortran;     /* what is given by address is Fortran's */
    bool synchronous; /* a send that is over when it is received */
    bool buffered;    /* a send that is over when MPI has taken the message over */
    bool polls;       /* it asks whether requests are complete */
    bool even;        /* collective call with data, of which all ranks have the same count */
    bool bare;        /* collective call without data: a barrier */
    bool refused;     /* collective call that MPI will refuse, by arguments that matter on all ranks */
    MPI_Comm comm;    /* MPI_COMM_NULL = it has none */
    MPI_Win win;
    MPI_Group group;
    MPI_Datatype type; /* of a send, and count */
    MPI_Count count;
    int peer, tag;       /* of a send */
    int source, recvtag; /* of a receive */
    int root, number;    /* number: of requests */
    MPI_Request asked;
    void *requests; /* [number] */
    void *status;   /* [number]; in: the user's; out: what MPI gets */
    int *flag, *index, *indices, *outcount;
    void *made; /* communicator or window that the call makes or frees */
    /* Own. */
    int result; /* MPI's */
    struct ompp_mpi_shadow *shadow;
    struct ompp_mpi_request **pending; /* [number] taken out of the table; NULL = none of them is followed */
    struct ompp_mpi_request *started;  /* non-blocking collective call */
    struct ompp_mpi_window *window;
    struct ompp_mpi_parcel *ack;
    struct ompp_mpi_message *vector;
    ompp_time_t begin;
    ompp_time_t took;    /* ns of our part before the call */
    ompp_time_t longest; /* who takes longer for that has had no processor, or waits for other ranks */
    bool guarded;        /* the guard, by us */
    unsigned measured;   /* this call stands for so many in what our own messages take; 0 = it is not measured */
    bool substituted;    /* status is ours */
    bool passes;         /* collective call: without an exchange of clock vectors */
    uint64_t bytes;      /* collective call: sent and received, when it is over */
};

/* Before and after the calls of a class; see there. */
ompp_mpi_before_fn ompp_mpi_send_before, ompp_mpi_receive_before, ompp_mpi_sendrecv_before, ompp_mpi_probe_before;
ompp_mpi_before_fn ompp_mpi_start_before, ompp_mpi_wait_before, ompp_mpi_ask_before, ompp_mpi_cancel_before;
ompp_mpi_before_fn ompp_mpi_forget_before, ompp_mpi_collective_before, ompp_mpi_icollective_before;
ompp_mpi_before_fn ompp_mpi_agreeing_before, ompp_mpi_freed_before, ompp_mpi_win_freed_before, ompp_mpi_fence_before;
ompp_mpi_before_fn ompp_mpi_epoch_before, ompp_mpi_complete_before;
ompp_mpi_after_fn ompp_mpi_send_after, ompp_mpi_isend_after, ompp_mpi_receive_after, ompp_mpi_irecv_after;
ompp_mpi_after_fn ompp_mpi_sendrecv_after, ompp_mpi_isendrecv_after, ompp_mpi_probe_after, ompp_mpi_mprobe_after;
ompp_mpi_after_fn ompp_mpi_send_init_after, ompp_mpi_receive_init_after, ompp_mpi_wait_after, ompp_mpi_ask_after;
ompp_mpi_after_fn ompp_mpi_collective_after, ompp_mpi_icollective_after, ompp_mpi_agreeing_after;
ompp_mpi_after_fn ompp_mpi_created_after, ompp_mpi_derived_after, ompp_mpi_freed_after, ompp_mpi_unfollowed_after;
ompp_mpi_after_fn ompp_mpi_win_created_after, ompp_mpi_win_freed_after, ompp_mpi_fence_after, ompp_mpi_post_after;
ompp_mpi_after_fn ompp_mpi_win_start_after, ompp_mpi_complete_after, ompp_mpi_win_wait_after, ompp_mpi_win_test_after;
ompp_mpi_after_fn ompp_mpi_passive_after, ompp_mpi_unreported_after;

/**
 * \brief Clocks travel with this call: it is not made inside another one.
 * \param[in] measured  result of ompp_mpi_begin().
 */
static inline bool ompp_mpi_piggyback_on(const ompp_mpi_call_t *call, bool measured)
{
    return __builtin_expect(call->unusual & OMPP_MPI_PIGGYBACK, 0) && (measured || ompp_mpi_guard.frame == 0);
}

/**
 * \brief Before MPI's function: sends the clocks of this thread where others wait for it. May replace
 *        piggyback->status.
 */
void ompp_mpi_piggyback_before(ompp_mpi_piggyback_t *piggyback, const void *code, uintptr_t frame);

/**
 * \brief After it: this thread goes on with the clocks of those that it has waited for. In experiments with delays it
 *        waits.
 * \param[in] result  MPI's.
 * \return the end of the call.
 */
ompp_time_t ompp_mpi_piggyback_after(ompp_mpi_piggyback_t *piggyback, int result);

/*
 * Of calls that send or receive, whose results are MPI's own: others may return what callbacks of the program have
 * returned, and MPI is not asked about that.
 */
/** \return whether it has taken a message: one that was too long is gone, too. */
bool ompp_mpi_has_received(int result);
/** \return whether MPI has refused the arguments, and done nothing. */
bool ompp_mpi_is_refusal(int result);

/* ---- Calls without clock vectors: the short way (mpi_suppressed_hot.c) ------------------------------------------- */

#define OMPP_MPI_SUPPRESSED_MOST 64

/** A message that a call receives. */
typedef struct {
    struct ompp_mpi_direction *direction;
    /* Of a request, its place among those of the call, and when it was started. */
    MPI_Request handle;
    int index;
    ompp_time_t begin;
} ompp_mpi_suppressed_receive_t;

/** A call while clocks are suspended whose messages have no clock vectors, as far as is known: they are counted, and
 * that is all. */
typedef struct {
    unsigned number;                /* of receives */
    uint64_t suspension;            /* in which it began */
    struct ompp_mpi_shadow *shadow; /* collective call */
    const void *requests;           /* C's or Fortran's; only read of a call that succeeded */
    bool fortran;
    ompp_mpi_suppressed_receive_t receives[OMPP_MPI_SUPPRESSED_MOST];
} ompp_mpi_suppressed_t;

/*
 * Before a call, instead of ompp_mpi_piggyback_before(). Arguments: the rows "suppressed" of mpi_rules.def. False: this
 * is no such call, and nothing was done. sendable, accepted: MPI will not refuse it.
 */
bool ompp_mpi_suppressed_send(ompp_mpi_suppressed_t *suppressed, MPI_Comm comm, int dest, int tag, bool sendable);
bool ompp_mpi_suppressed_receive(ompp_mpi_suppressed_t *suppressed, MPI_Comm comm, int source, int tag);
bool ompp_mpi_suppressed_irecv(ompp_mpi_suppressed_t *suppressed, MPI_Comm comm, int source, int tag,
                               const void *requests, bool fortran);
bool ompp_mpi_suppressed_sendrecv(ompp_mpi_suppressed_t *suppressed, MPI_Comm comm, int source, int recvtag, int dest,
                                  int tag, bool sendable);
bool ompp_mpi_suppressed_wait(ompp_mpi_suppressed_t *suppressed, int number, const void *requests, bool fortran);
bool ompp_mpi_suppressed_collective(ompp_mpi_suppressed_t *suppressed, MPI_Comm comm, bool accepted);

/*
 * After it. result: MPI's; t: now, 0 = not known. Clocks may have begun to go on meanwhile. They return the end of the
 * call.
 */
static inline ompp_time_t ompp_mpi_suppressed_send_end(const ompp_mpi_suppressed_t *suppressed, int result,
                                                       ompp_time_t t)
{
    (void)suppressed;
    (void)result;
    return t;
}
ompp_time_t ompp_mpi_suppressed_receive_end(ompp_mpi_suppressed_t *suppressed, int result, ompp_time_t t);
ompp_time_t ompp_mpi_suppressed_irecv_end(ompp_mpi_suppressed_t *suppressed, int result, ompp_time_t t);
static inline ompp_time_t ompp_mpi_suppressed_sendrecv_end(ompp_mpi_suppressed_t *suppressed, int result, ompp_time_t t)
{
    return ompp_mpi_suppressed_receive_end(suppressed, result, t);
}
ompp_time_t ompp_mpi_suppressed_wait_end(ompp_mpi_suppressed_t *suppressed, int result, ompp_time_t t);
ompp_time_t ompp_mpi_suppressed_collective_end(ompp_mpi_suppressed_t *suppressed, int result, ompp_time_t t);

/**
 * \brief After MPI_Init, when all ranks of the world communicator are here: settles whether clocks are carried.
 * \param[in] own  our communicator with the ranks of the world.
 */
void ompp_mpi_piggyback_start(MPI_Comm own);

/**
 * \brief On entering MPI_Finalize: the ranks agree on the end of the run; no clocks travel any more. Waits so long at
 *        most.
 */
void ompp_mpi_piggyback_finish(double limit_seconds);

/* ---- Start and end ----------------------------------------------------------------------------------------------- */

typedef const char *const *ompp_mpi_names_t; /* a list of names, NULL behind the last */

/** All functions that this library wraps: of C, and of Fortran's bindings. */
extern const char *const ompp_mpi_wrapped_c[];
extern const ompp_mpi_names_t ompp_mpi_wrapped[2];

/**
 * \brief Puts our functions below those of the program that have MPI's names (mpi_layer.c).
 * \param[in] wrapped  ompp_mpi_wrapped.
 * \note At load, before there are other threads.
 */
void ompp_mpi_layer_start(const ompp_mpi_names_t wrapped[2]);

/** \brief The same for modules that were loaded since. \note By one thread at a time. */
void ompp_mpi_layer_follow(void);

/** \return whether a module is one of MPI's own libraries, or a part of one. */
bool ompp_mpi_is_library(const ompp_dso_t *module);

/** \return address of the function in MPI's own libraries; NULL = none of them has it. Takes the loader's lock. */
void *ompp_mpi_library_find(const char *name);

/** \brief Tells the report which MPI functions the program imports that are not wrapped. */
void ompp_mpi_coverage(const ompp_mpi_names_t wrapped[2]);

/** \brief Measurement was started, be MPI calls measured or not. */
bool ompp_mpi_runs(void);

/** \brief MPI is initialised, and not finalized. */
bool ompp_mpi_is_alive(void);

/** This process in MPI_COMM_WORLD. */
typedef struct {
    bool known;
    int rank, size;
} ompp_mpi_world_t;

extern ompp_mpi_world_t ompp_mpi_world __attribute__((visibility("hidden")));

/** \brief Asks MPI for it, and tells the runtime; not collective. */
void ompp_mpi_learn_rank(void);

/** Our own communicator, and who is in it. */
typedef struct {
    /* MPI_COMM_NULL: MPI was there before us, this rank is the only one that is measured, or MPI refused */
    MPI_Comm comm;
    int rank, size;   /* in it; size 0 = not made yet */
    const int *world; /* [size] ranks in MPI_COMM_WORLD; NULL = one */
    bool all;         /* all ranks of MPI_COMM_WORLD */
} ompp_mpi_own_t;

/** \brief Makes it: finds out which ranks are measured. Collective over those; bounded. In MPI_Init. */
void ompp_mpi_own_make(ompp_mpi_own_t *own);

/**
 * As MPI_Allreduce on our own communicator, with a limit: false when a rank did not come. Then MPI may still read and
 * write the arrays.
 */
typedef bool ompp_mpi_reduce_all_fn(const void *mine, void *all, int n, MPI_Datatype type, MPI_Op op);

/**
 * To each rank its bytes of mine, in the order of ranks. to, from: [size of our own communicator] bytes. With a limit,
 * as above.
 * \return what the others have for this rank, owned; NULL when one did not come.
 */
typedef void *ompp_mpi_exchange_fn(const void *mine, const int *to, int *from);

/** \brief Whether a call of this number is one of those that are kept, when bits are 0 at the begin of their hashes. */
bool ompp_mpi_is_sampled(uint32_t number, unsigned bits);

/**
 * \brief The program has got memory from MPI, at `code`; gives it back, by its address or with a window. Memory that is
 *        not known to be MPI's is none.
 * \param[in] word  that MPI has stored the address to.
 */
void ompp_mpi_memory_got(const void *word, MPI_Aint size, const void *code);

/** \brief The program has made a window, at `code`: of one that ranks share, the others' parts are there, too. */
void ompp_mpi_memory_got_window(MPI_Win win, const void *code);

/** \brief The program has asked where a rank's part of a window is. */
void ompp_mpi_memory_asked(MPI_Win win, const void *word, const void *code);
void ompp_mpi_memory_gone(const void *base);
void ompp_mpi_memory_gone_window(MPI_Win win);

/** \brief A communicator of all of its ranks has been made. */
void ompp_mpi_meet_created(MPI_Comm comm);

/** \return its number, the same on all ranks; -1 = it has other ranks than MPI_COMM_WORLD. */
int ompp_mpi_meet_number(MPI_Comm comm);
/** \return how many communicators have numbers. */
int ompp_mpi_meet_comms(void);

/** \brief A blocking collective call of this thread has succeeded, whose region is still open. */
void ompp_mpi_meet(MPI_Comm comm, ompp_time_t leave);

/**
 * \brief Compares when ranks came to their calls. Collective over all ranks of MPI_COMM_WORLD, which are known to be
 *        there.
 */
void ompp_mpi_meet_finish(MPI_Comm own, ompp_mpi_reduce_all_fn *all);

/* ---- Messages, compared at the end (mpi_pair.c). The call has succeeded, its region is open ---------------------- */

void ompp_mpi_pair_sent(MPI_Comm comm, int peer, int tag, ompp_time_t leave);
/** \param status  of the call, in the form of its language. */
void ompp_mpi_pair_received(MPI_Comm comm, int peer, int tag, const void *status, bool fortran, ompp_time_t leave);
/** \brief Both at once. to, from: peer and tag. */
void ompp_mpi_pair_exchanged(MPI_Comm comm, const int to[2], const int from[2], const void *status, bool fortran,
                             ompp_time_t leave);
/** \brief One was begun. request: of the call, in the form of its language. */
void ompp_mpi_pair_begun(MPI_Comm comm, int peer, int tag, bool sends, const void *request, bool fortran);
/** \brief Before a call that may end some of them: they are not followed any more. */
void ompp_mpi_pair_forget(int number, const void *requests, bool fortran);
/** \brief Before a call that ends all of them. \return messages that are followed, for ompp_mpi_pair_waited(). */
uint32_t ompp_mpi_pair_waits(int number, const void *requests, bool fortran);
void ompp_mpi_pair_waited(uint32_t n, bool ok);
/** \brief Messages that nobody numbers: this rank has no numbers any more. */
void ompp_mpi_pair_lost(void);

/* ---- The message matrix (mpi_peer.c) ----------------------------------------------------------------------------- */

/** \brief A message was sent to a rank of a communicator, or is on its way. */
void ompp_mpi_sent(MPI_Comm comm, int peer, uint64_t bytes);
/** \return where messages to that rank are counted; NULL = nowhere. */
ompp_a_message_t *ompp_mpi_peer(MPI_Comm comm, int peer);

/** \brief Compares when both sides of messages came. As ompp_mpi_meet_finish(). size: of our own communicator. */
void ompp_mpi_pair_finish(int size, ompp_mpi_reduce_all_fn *all, ompp_mpi_exchange_fn *exchange);

/** \brief Before MPI's own MPI_Init: this rank says that it is measured. */
void ompp_mpi_starting(void);

/** \brief After a successful MPI_Init: own communicator, rank and size known. Collective. */
void ompp_mpi_started(void);

/** \brief Around MPI's own MPI_Init: starting and, when it was successful, started. */
void ompp_mpi_begin_init(void);
void ompp_mpi_end_init(bool ok);

/**
 * \brief Another thread is in MPI_Init, MPI's own or what follows of ours. A thread that asks MPI_Initialized is told
 * so when that is over: whoever calls MPI before would do so while the error handler of MPI_COMM_WORLD is put aside.
 */
bool ompp_mpi_starts_elsewhere(void);

/**
 * \brief On entering MPI_Finalize: reduction and report, over the own communicator when there is one. Collective.
 * \param[in] code, frame  of the wrapper: OMPP_MPI_HERE.
 * \param[in] wrapped      ompp_mpi_wrapped.
 */
void ompp_mpi_finish(const void *code, uintptr_t frame, const ompp_mpi_names_t wrapped[2]);

/*
 * What the wrappers of MPI_Finalize, MPI_Abort and MPI_Pcontrol do before they call MPI, in C and Fortran; code and
 * frame of the wrapper: OMPP_MPI_HERE. Nothing, inside another call of MPI.
 */
/** \param[in] wrapped  ompp_mpi_wrapped. */
void ompp_mpi_before_finalize(const void *code, uintptr_t frame, const ompp_mpi_names_t wrapped[2]);
/** \brief MPI is finalized: what was kept until then goes. */
void ompp_mpi_after_finalize(void);
void ompp_mpi_before_abort(const void *code, uintptr_t frame);
void ompp_mpi_control(int level, const void *code, uintptr_t frame);

#endif
