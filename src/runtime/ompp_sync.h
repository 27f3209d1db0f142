/**
 * \file
 * What event sources tell about waiting for one another, and parts that follow it (virtual clocks: src/causal). There
 * is at most one such part, the subscriber; without one every function here is one relaxed load.
 *
 * Inside a process, threads synchronise over objects (team, mutex, task) by three verbs:
 *
 *   publish  the calling thread's state at t is what those that wait for the object go on with (it forks, arrives,
 *            unlocks, ends)
 *   wait     the calling thread begins to wait for the object at t: what follows is no work
 *   resume   it goes on at t, with what was published
 *
 * A thread that arrives at a barrier publishes and then waits. A thread that waits for nothing the source knows of just
 * does neither: it loses precision, not correctness of the program. Objects need no creation and no deletion.
 *
 * Between processes the state is a clock vector, an opaque block of bytes that the source carries: made by the thread
 * that sends or arrives, combined where many are waited for, adopted by the thread that waited. A clock vector means
 * the same on every rank.
 *
 * Threads: any, also inside events of the runtime; not from signal handlers. Nothing here fails visibly, allocates
 * after the first call on a thread, or changes errno. ompp_sync_wait(), ompp_sync_resume(),
 * ompp_sync_task(), ompp_sync_throttle() and ompp_sync_join_clock() may take long in experiments with delays
 * (OMPP_CAUSAL=delay): call them where the thread may be delayed, holding no lock of the source or of MPI.
 */
#ifndef OMPP_SYNC_H
#define OMPP_SYNC_H

#include "base/ompp_clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

/** In-process objects; the object's number is unique among those of its kind (address, handle). */
typedef enum {
    OMPP_SYNC_FORK, /* object: team, or new thread. publish: who forks. resume: a member begins */
    /* object: team, all of whose members come to it. publish + wait: a thread arrives. resume: it goes on; all have */
    OMPP_SYNC_BARRIER,
    OMPP_SYNC_POSIX_BARRIER, /* object: pthread_barrier_t, which others may come to each time. The same */
    /* object: lock. wait: before locking. resume: it has it. publish: before (if need be: after) unlocking */
    OMPP_SYNC_MUTEX,
    /* object: lock that writers have as MUTEX. The same for readers, who do not wait for one another */
    OMPP_SYNC_READ,
    OMPP_SYNC_ORDERED, /* the same, but the order is fixed by the program: ordered */
    /* object: condition variable, thread that ends. publish: signal. wait, resume: who waits for it */
    OMPP_SYNC_EVENT,
    OMPP_SYNC_SEMAPHORE, /* object: sem_t. publish: post. wait, resume: who takes one */
    /* object: team. wait: this thread begins with a loop of dynamic schedule. resume: it is handed out iterations.
     * publish: it has asked for more, and there are none, or leaves the loop. A source tells what it sees of these */
    OMPP_SYNC_CHUNK,
    /* object: team. publish: this thread comes to a construct that goes to the first one (single), or for a section */
    OMPP_SYNC_FIRST,
    OMPP_SYNC_NUM
} ompp_sync_object_t;

/** What explicit tasks do. task, other: handles of runtime/ompp_event.h, created or running; 0 = none. */
typedef enum {
    OMPP_SYNC_TASK_CREATE,     /* task: created */
    OMPP_SYNC_TASK_DEPEND,     /* task: created; cannot begin before other, created or running, is complete */
    OMPP_SYNC_TASK_BEGIN,      /* task: created; other: the same task, running from now on */
    OMPP_SYNC_TASK_END,        /* task: running; other: created form of it, when the runtime knows it */
    OMPP_SYNC_TASK_SUSPEND,    /* task: running */
    OMPP_SYNC_TASK_CONTINUE,   /* task: running, maybe on another thread */
    OMPP_SYNC_TASK_WAIT,       /* the current task begins to wait for its children: taskwait */
    OMPP_SYNC_TASK_WAITED,     /* it goes on */
    OMPP_SYNC_TASK_GROUP,      /* the current task begins a taskgroup */
    OMPP_SYNC_TASK_GROUP_WAIT, /* it begins to wait for the group; may be missing */
    OMPP_SYNC_TASK_GROUP_END   /* it goes on */
} ompp_sync_task_t;

/** What threads outside of teams do. */
typedef enum {
    OMPP_SYNC_THREAD_CREATE,      /* the calling thread is about to create another one */
    OMPP_SYNC_THREAD_NOT_CREATED, /* it has not */
    OMPP_SYNC_THREAD_BEGIN,       /* the calling thread was created so, and begins */
    OMPP_SYNC_THREAD_END,         /* it ends, and has published that */
    OMPP_SYNC_THREAD_NUM
} ompp_sync_thread_t;

/** What a clock vector that came from another process was. */
typedef enum {
    OMPP_SYNC_MESSAGE,         /* point-to-point */
    OMPP_SYNC_ACKNOWLEDGEMENT, /* the receiver of a message that this thread has sent */
    OMPP_SYNC_ALL,      /* a collective operation of all ranks of the run, in which everybody waits for everybody */
    OMPP_SYNC_GROUP,    /* the same among some of the ranks */
    OMPP_SYNC_ROOTED,   /* one that all wait for the root, or the root for all */
    OMPP_SYNC_ONE_SIDED /* end of an epoch */
} ompp_sync_remote_t;

/** A wait for another process that is over. */
typedef struct {
    ompp_time_t begin; /* began to wait: entered the call */
    ompp_time_t end;   /* went on: now, or a little earlier */
    /* ns after the moment in the clock vector that can be work: a longer time is a wait that it says nothing of; 0 =
     * any time */
    ompp_time_t limit;
    ompp_sync_remote_t kind;
    /* OMPP_WHATIF_F_*: why the order may be another one next time (wildcard, polling, one-sided) */
    unsigned flags;
} ompp_sync_wait_t;

/**
 * Clock of this process in terms of one that is common to all: common = offset_ns + t * (1 + drift), t as
 * ompp_event_now(). Equal reference clocks of processes on the same node: see ompp_sync_clock_on_node().
 */
typedef struct {
    int64_t offset_ns;
    double drift;
    uint64_t error_ns; /* half width of what is not known; 0 on the same node */
} ompp_sync_clock_t;

/* ---- Subscriber -------------------------------------------------------------------------------------------------- */

/** Who follows. Times are ns of ompp_event_now(). Functions without "or NULL" must be there. */
typedef struct {
    size_t vector_size;
    size_t shared_size;
    size_t (*vector)(void *vector, ompp_time_t t);
    ompp_time_t (*suspended_until)(void);
    void (*hold)(bool on);
    void (*combine)(void *into, const void *other);
    bool (*throttle)(void);                       /* or NULL */
    void (*note_sent)(unsigned rank);             /* or NULL */
    void (*propose)(void *vector, ompp_time_t t); /* or NULL */
    bool (*contribute)(void *vector);             /* or NULL */
    bool (*revise)(void *mine, const void *all);
    void (*join_clock)(const void *vector, const ompp_sync_wait_t *wait);
    void (*clock)(const ompp_sync_clock_t *clock);
    void (*alone)(const char *why);
    void (*share)(void *memory);
    void (*publish)(ompp_sync_object_t kind, uint64_t object, ompp_time_t t);
    void (*wait)(ompp_sync_object_t kind, uint64_t object, ompp_time_t t);
    void (*resume)(ompp_sync_object_t kind, uint64_t object, ompp_time_t t);
    void (*task)(ompp_sync_task_t what, uint64_t task, uint64_t other, ompp_time_t t);
    void (*thread)(ompp_sync_thread_t what);
    void (*look)(ompp_time_t t);
    void (*posts_left)(unsigned posts);
    void (*charge)(ompp_time_t ns);
    void (*flag)(unsigned flags, bool happened);
} ompp_sync_subscriber_t;

/* NULL = nobody; set once, before the first thread is measured */
extern const ompp_sync_subscriber_t *ompp_sync_subscriber;

extern uint64_t ompp_sync_suspension_number; /* ompp_sync_suspension(); atomic, set by the subscriber */

static inline const ompp_sync_subscriber_t *ompp_sync_follower(void)
{
    return __atomic_load_n(&ompp_sync_subscriber, __ATOMIC_RELAXED);
}

/**
 * \brief Whether there is, or will be, somebody who follows; for sources that can save themselves calls. Reads the
 *        environment.
 */
bool ompp_sync_wanted(void);

/* ---- Inside the process ------------------------------------------------------------------------------------------ */

static inline void ompp_sync_publish(ompp_sync_object_t kind, uint64_t object, ompp_time_t t)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->publish(kind, object, t);
}

static inline void ompp_sync_wait(ompp_sync_object_t kind, uint64_t object, ompp_time_t t)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->wait(kind, object, t);
}

static inline void ompp_sync_resume(ompp_sync_object_t kind, uint64_t object, ompp_time_t t)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->resume(kind, object, t);
}

static inline void ompp_sync_task(ompp_sync_task_t what, uint64_t task, uint64_t other, ompp_time_t t)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->task(what, task, other, t);
}

static inline void ompp_sync_thread(ompp_sync_thread_t what)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->thread(what);
}

/** \brief Before the calling thread waits or publishes: units of work that the program only counts end here. */
static inline void ompp_sync_look(ompp_time_t t)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->look(t);
}

/** \brief Before it resumes from a semaphore: posts that are still there tell which one the thread has taken. */
static inline void ompp_sync_posts_left(unsigned posts)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->posts_left(posts);
}

/** \brief A thread arrives at a barrier: publishes, and waits. */
static inline void ompp_sync_arrive(uint64_t object, ompp_time_t t)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) {
        s->publish(OMPP_SYNC_BARRIER, object, t);
        s->wait(OMPP_SYNC_BARRIER, object, t);
    }
}

/* ---- Between processes ------------------------------------------------------------------------------------------- */

/**
 * \return bytes of a clock vector, a multiple of 8, the same on all ranks of a run; 0 = nobody follows: none of the
 *         calls below is needed.
 */
static inline size_t ompp_sync_clock_vector_size(void)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    return __builtin_expect(s != 0, 0) ? s->vector_size : 0;
}

/**
 * \brief The calling thread's state at t, before it sends or arrives.
 * \param[out] vector  aligned to 8, [ompp_sync_clock_vector_size()].
 * \return bytes of it that say something, a multiple of 8: who gets those and zero bytes behind them has got it all.
 */
static inline size_t ompp_sync_clock_vector(void *vector, ompp_time_t t)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    return __builtin_expect(s != 0, 0) ? s->vector(vector, t) : 0;
}

/**
 * \return number of the suspension in which, to save time, the subscriber follows nothing at present; 0 = it follows,
 *         or there is none.
 */
static inline uint64_t ompp_sync_suspension(void)
{
    return __atomic_load_n(&ompp_sync_suspension_number, __ATOMIC_RELAXED);
}

/** \brief Whether it follows nothing: clock vectors still have to travel, for when it goes on, and say little. */
static inline bool ompp_sync_is_suspended(void) { return __builtin_expect(ompp_sync_suspension() != 0, 0); }

/** \return until when, at least; known by rank 0 alone. 0 = not known here, or the subscriber follows. */
static inline ompp_time_t ompp_sync_suspended_until(void)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    return __builtin_expect(s != 0, 0) ? s->suspended_until() : 0;
}

/**
 * \brief Some waits are without clock vectors from now on, until this is called with false: clocks had better stay
 *        suspended so long. Calls may nest.
 */
static inline void ompp_sync_hold(bool on)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->hold(on);
}

/**
 * \brief into becomes what one has to wait for who waits for both. Associative and commutative: usable in an MPI_Op.
 * A clock vector of zero bytes is neutral.
 */
static inline void ompp_sync_combine(void *into, const void *other)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->combine(into, other);
}

/**
 * \brief Before a message is sent, where some messages are received from any source: which comes first is to be decided
 *        in the right order. May take long.
 * \return whether it has.
 */
static inline bool ompp_sync_throttle(void)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    return __builtin_expect(s != 0, 0) && s->throttle && s->throttle();
}

/** \brief The clock vector that the calling thread has just made goes with a message to this rank of the run. */
static inline void ompp_sync_note_sent(unsigned rank)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s && s->note_sent, 0)) s->note_sent(rank);
}

/**
 * \brief A clock vector that the calling thread has just made, at t, is for all ranks of the run, which will adopt what
 *        all of theirs are together: what begins there is put into it.
 */
static inline void ompp_sync_propose(void *vector, ompp_time_t t)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s && s->propose, 0)) s->propose(vector, t);
}

/**
 * \brief A clock vector that the calling thread has just made is for all ranks of the run, which will combine theirs
 *        and adopt that.
 * \return whether this rank can say more than its clocks do. When one of all can, then all ranks call
 *         ompp_sync_revise() and combine theirs once more.
 */
static inline bool ompp_sync_contribute(void *vector)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    return __builtin_expect(s != 0, 0) && s->contribute && s->contribute(vector);
}

/**
 * \brief After that.
 * \param[in,out] mine  the clock vector that ompp_sync_contribute() or ompp_sync_revise() has seen before.
 * \param[in] all       what all ranks' are together.
 * \return whether this rank can say still more when it has seen the next. Then once more, but never a third time.
 */
static inline bool ompp_sync_revise(void *mine, const void *all)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    return __builtin_expect(s != 0, 0) && s->revise(mine, all);
}

/**
 * \brief The calling thread has waited, and goes on.
 * \param[in] vector  of what it waited for; NULL = it waited and nothing is known: the wait is only not counted as
 *                   work. A call of MPI without this is work from begin to end.
 */
static inline void ompp_sync_join_clock(const void *vector, const ompp_sync_wait_t *wait)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->join_clock(vector, wait);
}

/**
 * \brief Says how this process's clock relates to the common one; without it clock vectors are in terms of its own. May
 *        come again.
 */
static inline void ompp_sync_clock(const ompp_sync_clock_t *clock)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->clock(clock);
}

/** \brief What carrying clock vectors has taken the calling thread, besides the calls here. */
static inline void ompp_sync_charge(ompp_time_t ns)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->charge(ns);
}

/**
 * \brief The calling thread has come to something that clocks do not follow as it is.
 * \param[in] flags     OMPP_WHATIF_F_*: why results may be off, of all regions.
 * \param[in] happened  false: it could have happened, and has not. What is rare among these raises no flag.
 */
static inline void ompp_sync_flag(unsigned flags, bool happened)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->flag(flags, happened);
}

/**
 * \brief No clocks travel between the ranks of this run: what one knows by itself is no result.
 * \param[in] why  for the report; copied.
 */
static inline void ompp_sync_alone(const char *why)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0)) s->alone(why);
}

/** \return bytes of memory that the follower wants to share with all processes of a run on one node; 0 = none. */
static inline size_t ompp_sync_shared_size(void)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    return __builtin_expect(s != 0, 0) ? s->shared_size : 0;
}

/** \brief That memory, zero at first; it stays until the process ends. Without this call there is none. */
static inline void ompp_sync_share(void *memory)
{
    const ompp_sync_subscriber_t *s = ompp_sync_follower();

    if (__builtin_expect(s != 0, 0) && s->shared_size) s->share(memory);
}

/**
 * \brief The clock of this process in terms of that of another process on the same node, exactly (they read the same
 *        counter).
 * \param[in] reference  ompp_clock of that process (base/ompp_clock.h), as it is there.
 * \return false when the two do not use the same source.
 */
bool ompp_sync_clock_on_node(const ompp_clock_t *reference, ompp_sync_clock_t *clock);

#pragma GCC visibility pop

#endif
