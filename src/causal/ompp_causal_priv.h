/**
 * \file
 * What all files of src/causal share: the record of a thread and that of the process. What a folder of src/causal does
 * for the others stands in its own header.
 */
#ifndef OMPP_CAUSAL_PRIV_H
#define OMPP_CAUSAL_PRIV_H

#include "base/ompp_float.h"
#include "causal/clock/ompp_clocks.h"
#include "causal/experiment/ompp_steady.h"
#include "model/ompp_layout.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_sync.h"

#include <stdatomic.h>

#define OMPP_CAUSAL_NODES 256u    /* entries of a thread's cache of call tree nodes; power of two */
#define OMPP_CAUSAL_LEVELS 64u    /* tasks inside one another on a thread */
#define OMPP_CAUSAL_PASSED 64u    /* places at which barriers are left, that are kept; power of two */
#define OMPP_CAUSAL_BARRIERS 8u   /* teams inside one another */
#define OMPP_CAUSAL_KNOWN 512u    /* regions; further ones are not followed; power of two */
#define OMPP_CAUSAL_DEEPEST 1000u /* levels of the call tree that are looked through */
#define OMPP_CAUSAL_ALL_SLOTS ((1u << OMPP_CLOCKS_SLOTS) - 1)
/* not one event in so many is timed, which might always be the same one of a round */
#define OMPP_CAUSAL_STRIDE 16u
#define OMPP_CAUSAL_TOLERANCE 2000u /* ns by which an order has to change before it counts as another one */

/** What a thread waits for. */
typedef struct {
    ompp_sync_object_t kind;
    uint64_t object;
    uint32_t generation; /* of a barrier */
} ompp_causal_wait_t;

/** Where a task belongs to, of an interval that is noted. */
typedef struct {
    uint64_t team; /* 0 = to none */
    uint32_t generation, flow;
} ompp_causal_flow_t;

/** A task that lies on a thread above another one, and what that one was doing. */
typedef struct {
    uint32_t task, group; /* of the interrupted one */
    bool waited;
    ompp_causal_wait_t wait;
    ompp_causal_flow_t flow;
} ompp_causal_level_t;

/** The interval of a team that a thread takes part in; see ompp_replay.h. */
typedef struct {
    uint64_t team; /* 0 = none */
    uint32_t generation;
    bool arrived; /* at the barrier: it runs tasks at most */
    unsigned member;
    struct ompp_replay *interval;
} ompp_causal_part_t;

/** When a thread came for iterations last, and where. */
typedef struct {
    uint64_t team; /* 0 = nowhere */
    uint32_t generation;
    bool kept; /* in an interval that is not noted, to save time */
    ompp_time_t t;
} ompp_causal_unit_t;

/** Where a thread is: what it has saved and paid in all experiments by then, 1/100 ns. */
typedef struct {
    ompp_time_t t;
    ompp_fine_t saved, paid;
} ompp_causal_at_t;

/** Messages of a thread since all ranks met last, as those of a rank that works for another one. */
typedef struct {
    uint64_t peer; /* rank + 1 that they come from; 0 = none yet */
    uint64_t to;   /* rank + 1 that it has sent to before */
    bool refuses;  /* it has messages of others, too */
    bool depends;  /* it has had messages of a rank that hands out work, or of one that depends on such a one */
    bool waits;    /* it waits for other things than messages */
    /* it has had something to do before messages that had come before that, and has told nobody since */
    bool owes;
    bool gave;                /* it was the last to send */
    bool managed;             /* the peer hands out work: the thread's served is its clock vector at since */
    bool yields;              /* at the meeting that it comes to: what comes says all that its clocks have come to */
    ompp_time_t owed;         /* ns of that */
    ompp_time_t worked, last; /* ns between waits for messages; the end of the latest one, 0 = none yet */
    ompp_time_t begin, since; /* they met; the end of the last message. 0 = when the run began */
} ompp_causal_serves_t;

/** What all threads have done in the region of the experiment: ns of work, times that they came into it. */
typedef struct {
    ompp_time_t work;
    uint64_t visits;
} ompp_causal_seen_t;

/** A thread. Written by it alone, but for what is marked. Never freed; used again. First what every event looks at. */
typedef struct ompp_causal_thread {
    ompp_clocks_t clocks;
    _Alignas(64) bool busy; /* inside of causal: what a signal handler does is left out */
    bool main;              /* initial thread of the process */
    bool waits;             /* its place is a phase that waits: what clocks.idle is, but while clocks are suspended */
    bool knows_place;       /* node is where it comes from, as its move reports: it is not looked up */
    bool chases;            /* with delays: it is where order is decided as it goes, and keeps up with the others */
    uint64_t floats;        /* while busy: the floating-point environment of the program */
    uint32_t timed_in, timed_for; /* events until one is timed; that it stands for */
    unsigned depth;               /* of levels */
    uint64_t forked;              /* the team that it forked last */
    unsigned next_barrier;        /* to be given up next */
    uint64_t moves, syncs;
    uint64_t experiment; /* with delays: number of the one it counts for */
    struct {
        uint64_t team;
        uint32_t generation; /* of its next barrier */
    } barriers[OMPP_CAUSAL_BARRIERS];
    ompp_clock_vector_t own;    /* what it has published last */
    ompp_clock_vector_t other;  /* what it goes on with, while it does */
    ompp_clock_vector_t before; /* what it received before of which others could have come first */
    ompp_causal_wait_t wait;    /* while clocks.waiting */
    ompp_causal_serves_t serves;
    ompp_clock_vector_t served;
    unsigned left; /* of the semaphore that it takes from: posts that are still there */
    struct {
        ompp_off_t node;
        uint32_t mask;
    } nodes[OMPP_CAUSAL_NODES];
    uint64_t nodes_set; /* number of the set of regions, and of replacements in it, that the cache is about */
    struct {
        ompp_off_t node;                           /* of the call tree */
        struct ompp_progress_candidate *candidate; /* it may serve as progress point; NULL = it does not */
    } passed[OMPP_CAUSAL_PASSED]; /* while clocks are suspended, on the initial thread: where it has left barriers */
    ompp_causal_part_t part;
    ompp_causal_unit_t unit;
    uint32_t thread_group; /* that it was created in; 0 = none */
    ompp_causal_level_t levels[OMPP_CAUSAL_LEVELS];
    uint32_t task;           /* index of the task it runs; 0 = its implicit one */
    uint32_t implicit;       /* index of the record of its implicit task; 0 = none yet */
    uint32_t group;          /* index of the innermost taskgroup; 0 = none */
    ompp_causal_flow_t flow; /* of the task it runs */
    ompp_off_t node;         /* place, again when another set of regions is followed */
    uint32_t regions;        /* slots of the regions it is in; of clocks.mask only the experiment's, with delays */
    /* with delays: ns of work in each known region and below it, to choose regions by */
    ompp_time_t region_work[OMPP_CAUSAL_KNOWN];
    /* number of the look at which work was counted there last: a recursive region counts once */
    uint32_t last_look[OMPP_CAUSAL_KNOWN];
    uint32_t look;                 /* number of the latest one */
    ompp_time_t region_work_until; /* ns of its work by then */
    ompp_fine_t percent;           /* of the experiment */
    /* without delays: saved in turns that have ended since threads met, by regions that had them */
    struct {
        ompp_fine_t sum;
        float squares; /* of what it was apart in a turn from the mean of all threads that work, ns */
    } carried[OMPP_CAUSAL_KNOWN][OMPP_WHATIF_SPEEDUPS];
    struct {
        uint64_t set;
        unsigned passes; /* progress points it came to in this experiment */
        ompp_causal_at_t at;
        ompp_causal_seen_t seen;
        uint64_t visits; /* of the progress point */
        unsigned tries;  /* times that it was measured anew, since the others were not in step */
        ompp_steady_t flows;
    } warm; /* with delays: its clocks when it and the others had got into step, in the experiment */
    struct {
        uint64_t number, key, percent, visits; /* when all have met, of the progress point, as rank 0 came to it */
        bool settles, unsynchronised;          /* rank 0 is in it already */
    } proposed;                 /* with delays: experiment that it is to go over to when it has paid; number 0 = none */
    ompp_causal_at_t arrival;   /* with delays: where it began its last wait for another rank */
    ompp_time_t paused;         /* with delays: ns of all its pauses */
    bool pauses;                /* it does no work, whatever its clocks say */
    bool made;                  /* the program has created it; not one of an OpenMP library's */
    uint64_t lost;              /* waits that are not followed, but for those with a limit */
    ompp_time_t timed_paused;   /* paused, when that one began */
    ompp_time_t charged_paused; /* paused, when a call of MPI was charged last */
    /* ns on events, as those that were timed say, and on carrying clock vectors between ranks */
    ompp_time_t charged;
    _Atomic bool used;
    struct ompp_causal_thread *next;
} ompp_causal_thread_t;

/** What a task does: see ompp_sync_task_t. */
typedef void ompp_causal_action_t(ompp_causal_thread_t *self, uint64_t task, uint64_t other, ompp_time_t t);

/** What virtual clocks and delays do in their own way (ompp_causal.c); all else is the same. NULL = nothing. */
typedef struct {
    ompp_clocks_rule_t rule; /* at first, as counted */
    unsigned counted;
    ompp_sync_subscriber_t subscriber; /* to waits and clock vectors */
    ompp_causal_action_t *const *tasks;
    /* a unit of work may end at t, after so many visits of progress points; the thread is in so many teams at most */
    void (*moment)(ompp_causal_thread_t *self, uint64_t visits, unsigned teams, ompp_time_t t);
    void (*seen)(ompp_causal_thread_t *self, ompp_time_t t);     /* it has worked until t where it is */
    void (*may_turn)(ompp_causal_thread_t *self, ompp_time_t t); /* now and then, at any event: a turn may begin */
    /* it comes to a loop, for iterations, or has found that there are none: an ompp_replay_op_t */
    void (*loop)(ompp_causal_thread_t *self, unsigned op, ompp_time_t t);
    /* it has a lock, which another team had before (foreign), and would have come first for these slots; NULL = that is
     * watched. It gives it up */
    void (*locked)(ompp_causal_thread_t *self, ompp_sync_object_t kind, uint64_t mutex, bool foreign, uint32_t slots);
    void (*unlocked)(ompp_causal_thread_t *self, uint64_t mutex);
    /* slots for which it would come before one that was here already */
    uint32_t (*overtakes)(const ompp_causal_thread_t *self, const ompp_clock_vector_t *before);
    /* it comes where others have been before: does that decide something? OMPP_WHATIF_BIT_* */
    void (*watch)(const ompp_causal_thread_t *self, const ompp_clock_vector_t *before, unsigned flag_bit);
    ompp_time_t (*work_of)(const ompp_causal_thread_t *thread, unsigned slot); /* ns: what it has done there by now */
    void (*write)(ompp_causal_thread_t *self, bool goes_on,
                  ompp_time_t t); /* what is known by t; goes_on: the thread does */
} ompp_causal_mode_t;

/** The process. */
typedef struct {
    const ompp_causal_mode_t *mode;
    ompp_clocks_rule_t rule;
    unsigned first_counted, counted; /* slots that count: with delays that of the experiment, or none; else all */
    /* Number of the present set of regions that have clocks, from 1. With delays it changes where offsets begin at 0
     * again: 1 + the experiment that they began with */
    _Atomic uint64_t set;
    _Atomic uint64_t experiment;   /* with delays: number of the present one */
    _Atomic ompp_time_t set_begin; /* of the later of both */
    ompp_time_t begin, suspended;  /* of the run; ns while clocks were suspended, in suspensions that are over */
    /* without delays: number of the latest set that is empty: clocks are suspended during it; 0 = none so far */
    _Atomic uint64_t suspension;
    _Atomic ompp_time_t look; /* without delays: before, no turn begins that has not been proposed yet */
    _Atomic ompp_time_t suspension_begin;
    /* without delays: when the initial thread came last to where a turn may begin, and ns since the time before */
    _Atomic ompp_time_t opportunity, opportunity_gap;
    _Atomic bool moves_reported; /* although clocks are suspended, until threads come to such a place */
    _Atomic(ompp_causal_thread_t *) threads;
    /* times that the order would have changed, since the set */
    _Atomic uint64_t overtaken[OMPP_WHATIF_FLAG_NUM][OMPP_CLOCKS_SLOTS];
    /* ompp_sync_flag(): times, and those that happened */
    _Atomic uint64_t asked[OMPP_WHATIF_FLAG_NUM], is_flagged[OMPP_WHATIF_FLAG_NUM];
    _Atomic uint64_t watched[OMPP_WHATIF_FLAG_NUM]; /* times that it was looked at */
    _Atomic bool flagged;                           /* one was overtaken, here or elsewhere, sometime */
    _Atomic uint32_t flags;                         /* OMPP_WHATIF_F_* of all regions */
    ompp_sync_clock_t clock;
    _Atomic(struct ompp_causal_shared *) shared; /* memory that all ranks of the run share; NULL = none */
    /* some ranks did not come to experiments that took a quarter of the time of all or more, as far as results were
     * taken */
    _Atomic bool lacks_ranks;
} ompp_causal_t;

extern ompp_causal_t ompp_causal;
extern __thread ompp_causal_thread_t *ompp_causal_self __attribute__((tls_model("initial-exec")));

/* ---- Threads (ompp_causal_state.c, ompp_causal.c) ---------------------------------------------------------------- */

/** \brief Makes the calling thread known. */
void ompp_causal_come_slow(void);

/** \brief Goes inside for the calling thread. \return NULL when it is not followed, or is inside already. */
static inline ompp_causal_thread_t *ompp_causal_enter(void)
{
    if (__builtin_expect(!ompp_causal_self, 0)) ompp_causal_come_slow();
    ompp_causal_thread_t *self = ompp_causal_self;
    if (__builtin_expect(!self || self->busy, 0)) return NULL;
    self->busy = true;
    self->floats = ompp_float_take();
    return self;
}

static inline void ompp_causal_leave(ompp_causal_thread_t *self)
{
    ompp_float_back(self->floats);
    self->busy = false;
}

/** \brief A short lock; others are never held for long, but their thread may be preempted. */
void ompp_causal_lock(_Atomic uint32_t *lock);

static inline uint32_t ompp_causal_overtakes_clocks(const ompp_causal_thread_t *self, const ompp_clock_vector_t *before)
{
    return ompp_clocks_overtaken(&ompp_causal.rule, &self->clocks, before, OMPP_CAUSAL_TOLERANCE);
}

/** \brief The calling thread is one that the program has created. */
void ompp_causal_was_made(ompp_causal_thread_t *self);

static inline void ompp_causal_unlock(_Atomic uint32_t *lock) { atomic_store_explicit(lock, 0, memory_order_release); }

#endif
