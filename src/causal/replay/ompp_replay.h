/**
 * \file
 * Where order is decided as the program runs: threads of a team between two barriers take turns at locks, are handed
 * out the iterations of loops with a dynamic or guided schedule, and run the tasks that are ready when they are free.
 * Offsets alone cannot tell what happens then in the program with the faster region, for other threads come first. So
 * what the threads do is noted in pieces, and when all have come to the barrier it is gone through once more for each
 * clock, in the order in which things happen on that clock: a lock goes to the one that comes first, the next
 * iterations, the next task to the one that is free first. Which of the tasks that are ready a thread takes, its newest
 * one or the oldest, is up to the runtime: it is what gives the measured run. Going through it without any speed-up
 * gives what the model makes of the measured program; the difference is what is saved, so that a region that changes
 * nothing saves exactly nothing.
 *
 * On plain data, as ompp_clocks.h: times are passed in, nothing here waits, allocates, or knows OpenMP.
 */
#ifndef OMPP_REPLAY_H
#define OMPP_REPLAY_H

#include "causal/clock/ompp_clocks.h"

#define OMPP_REPLAY_PIECES 4096u /* of a team between two barriers, with locks alone */
#define OMPP_REPLAY_MIXED 256u   /* with loops and tasks, too */
#define OMPP_REPLAY_MEMBERS 64u
#define OMPP_REPLAY_TASKS 120u
#define OMPP_REPLAY_FLOWS (OMPP_REPLAY_MEMBERS + OMPP_REPLAY_TASKS)
#define OMPP_REPLAY_DEPTH 8u  /* tasks that a thread runs inside of one another */
#define OMPP_REPLAY_LOCKS 32u /* that are taken between two barriers */
/* ns: iterations handed out to a thread are one piece until it has been at them for so long */
#define OMPP_REPLAY_GRAIN 20000u

/** What a thread does at the end of a piece of its work. What a member does by itself is a flow; so is each task. */
typedef enum {
    OMPP_REPLAY_LOOP,     /* it comes to a loop, and asks for iterations */
    OMPP_REPLAY_CHUNK,    /* it asks for more */
    OMPP_REPLAY_LOOP_END, /* it has asked for more, and there were none */
    OMPP_REPLAY_LOCK,     /* it asks for a lock, and gets it */
    OMPP_REPLAY_UNLOCK,
    OMPP_REPLAY_CREATE, /* it has made a task */
    OMPP_REPLAY_WAIT,   /* it waits for the tasks that the flow has made */
    OMPP_REPLAY_END     /* it comes to the barrier; the task is over */
} ompp_replay_op_t;

typedef struct {
    uint16_t flow;  /* a member, or from OMPP_REPLAY_MEMBERS on a task */
    uint16_t op;    /* ompp_replay_op_t */
    uint16_t next;  /* piece of the same flow; 0 = none. Index + 1, as all links */
    uint16_t after; /* LOOP: the member's first piece after the loop; 0 = none */
    /* LOCK, UNLOCK: the lock. LOOP: number of the loop, from 0, as the member counts. CREATE: flow of the task */
    uint64_t object;
    ompp_fine_t real;           /* measured duration, waiting left out */
    ompp_fine_t v[OMPP_CLOCKS]; /* on each clock */
} ompp_piece_t;

/** Where a member is, of one that goes through the pieces. */
typedef struct {
    ompp_fine_t time;
    uint16_t at, after, waits; /* piece, 0 = it is free; first one behind the loop it is in; lock it waits for + 1 */
    int loop;                  /* that it is in; -1 = none */
    unsigned depth;            /* flows that wait for their tasks */
    uint16_t waiting[OMPP_REPLAY_DEPTH]; /* the WAIT pieces of them */
} ompp_replayer_t;

/** Which task a thread takes of those that are ready. */
typedef enum {
    OMPP_REPLAY_OLDEST,
    OMPP_REPLAY_OWN_NEWEST,
    OMPP_REPLAY_AS_MEASURED,
    OMPP_REPLAY_POLICIES
} ompp_replay_policy_t;

/** An interval of a team. All zero bytes: nothing noted. */
typedef struct ompp_replay {
    bool spoiled; /* what happened cannot be gone through again */
    bool fits;    /* the last one that was gone through: without any speed-up it took as long as measured, within 2 % */
    /* by which it took longer than that, where it does not fit and locks let threads pass that are in step with them */
    ompp_fine_t passed;
    unsigned nlocked, npassed; /* LOCK pieces; whose thread had asked before the one that got the lock last */
    unsigned nasked;
    struct {
        uint64_t object;
        ompp_fine_t since;
    } asked[OMPP_REPLAY_LOCKS]; /* since when the latest one to get a lock had waited for it */
    uint64_t set;
    unsigned used;      /* clocks that clock vectors had, at most */
    double drawn;       /* the probability with which it was chosen to be gone through (ompp_replay_budget.h) */
    ompp_time_t noting; /* ns, of all members, for noting it; written by other threads */
    bool ideal;         /* the first slot has ideal clocks; set after ompp_replay_reset() */
    bool any_loop;
    bool any_task; /* threads that wait for tasks run others than those they wait for */
    unsigned npieces, nmembers, ntasks, nbegun, nopen; /* nopen: tasks that are not over */
    ompp_time_t grain;
    struct {
        ompp_clock_vector_t begin; /* when the first piece began */
        unsigned loops;
        bool in_loop;
        ompp_time_t unit; /* when the present iterations were handed out */
    } members[OMPP_REPLAY_MEMBERS];
    struct {
        ompp_clock_vector_t since; /* when the present piece began */
        uint16_t first, last;
        uint16_t parent; /* of a task: the flow that made it */
        uint16_t begun;  /* of a task: the how-maniest to begin; 0 = it did not */
        bool ended;
    } flows[OMPP_REPLAY_FLOWS];
    ompp_piece_t pieces[OMPP_REPLAY_PIECES];
    /* Scratch of going through it: */
    ompp_replayer_t replayers[OMPP_REPLAY_MEMBERS];
    struct {
        uint64_t object;
        int holder; /* -1 = none */
        unsigned nqueue;
        uint16_t queue[OMPP_REPLAY_MEMBERS];
    } locks[OMPP_REPLAY_LOCKS];
    uint16_t nlocks;
    ompp_fine_t waited; /* for locks, by all members */
    /* first pieces of iterations handed out, loop after loop, in the order of the program */
    uint16_t units[OMPP_REPLAY_PIECES];
    uint16_t loop_begin[OMPP_REPLAY_PIECES + 1], loop_next[OMPP_REPLAY_PIECES];
    unsigned nloops;
    ompp_replay_policy_t policy;
    struct {
        uint16_t children; /* that are not over */
        uint16_t maker;    /* of a task: the member that made it */
    } states[OMPP_REPLAY_FLOWS];
    uint16_t ready[OMPP_REPLAY_TASKS]; /* tasks, the oldest first */
    unsigned nready, nstarted, nswaps; /* nswaps: tasks that begin in another place than measured */
} ompp_replay_t;

/** \brief Nothing noted, for clocks of this set. */
void ompp_replay_reset(ompp_replay_t *r, uint64_t set);

/**
 * \brief A member takes part from now on.
 * \param[in] now  its clocks.
 * \return its number; -1 = too many, and the interval is spoiled.
 */
int ompp_replay_join(ompp_replay_t *r, const ompp_clock_vector_t *now);

/**
 * \brief A flow has come to the end of a piece. For a LOCK or WAIT, now is when it began to wait; until when,
 *        ompp_replay_go_on() tells.
 * \param[in] flow    the member, or the task.
 * \param[in] object  the lock; otherwise 0.
 */
void ompp_replay_note(ompp_replay_t *r, unsigned flow, ompp_replay_op_t op, uint64_t object,
                      const ompp_clock_vector_t *now);

/** \brief The flow has waited for a lock or its tasks, and goes on with these clocks. */
void ompp_replay_go_on(ompp_replay_t *r, unsigned flow, const ompp_clock_vector_t *now);

/** \brief The flow makes a task. \return the task's flow; -1 = too many, and the interval is spoiled. */
int ompp_replay_create(ompp_replay_t *r, unsigned flow, const ompp_clock_vector_t *now);

/**
 * \brief A task begins, on a thread that is free.
 * \param[in] waiting  the flow of the thread that waits for its tasks; -1 = the thread is at the barrier.
 */
void ompp_replay_begin(ompp_replay_t *r, unsigned task, int waiting, const ompp_clock_vector_t *now);

/** \return from the first one's begin until the end, 1/100 ns. */
ompp_fine_t ompp_replay_length(const ompp_replay_t *r, ompp_fine_t end);

/**
 * \brief All members have come to the barrier: what they leave it with.
 * \param[in,out] vector  all of them, combined; v is replaced.
 * \return false when it cannot be told; clock vector is as it was.
 */
bool ompp_replay_run(ompp_replay_t *r, ompp_clock_vector_t *vector);

#endif
