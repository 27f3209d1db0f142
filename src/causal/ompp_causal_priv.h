/**
 * \file
 * Shared by the files of src/causal: threads, objects they wait for, tasks, regions that are followed, results.
 */
#ifndef OMPP_CAUSAL_PRIV_H
#define OMPP_CAUSAL_PRIV_H

#include "causal/clock/ompp_clocks.h"
#include "causal/experiment/ompp_steady.h"
#include "causal/experiment/ompp_unsynchronised.h"
#include "causal/ompp_causal_ranks.h"
#include "causal/result/ompp_causal_latency.h"
#include "model/ompp_layout.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_meter.h"
#include "runtime/ompp_sync.h"

#include <stdatomic.h>

#define OMPP_CAUSAL_NODES 256u      /* entries of a thread's cache of call tree nodes; power of two */
#define OMPP_CAUSAL_LEVELS 64u      /* tasks inside one another on a thread */
#define OMPP_CAUSAL_PASSED 64u      /* places at which barriers are left, that are kept; power of two */
#define OMPP_CAUSAL_BARRIERS 8u     /* teams inside one another */
#define OMPP_CAUSAL_OBJECTS 1024u   /* threads are known to wait for at a time; power of two */
#define OMPP_CAUSAL_TASKS 4096u     /* explicit tasks that are known at a time */
#define OMPP_CAUSAL_KNOWN 512u      /* regions; further ones are not followed; power of two */
#define OMPP_CAUSAL_DEEPEST 1000u   /* levels of the call tree that are looked through */
#define OMPP_CAUSAL_THREAD_GROUP 1u /* as a team: that of no team, whose address this cannot be */
#define OMPP_CAUSAL_ALL_SLOTS ((1u << OMPP_CLOCKS_SLOTS) - 1)
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

/** What all threads have done in the region of the experiment: ns of work, times that they came into it. */
typedef struct ompp_causal_seen {
    ompp_time_t work;
    uint64_t visits;
} ompp_causal_seen_t;

/** A thread. Written by it alone, but for what is marked. Never freed; used again. First what every event looks at. */
typedef struct ompp_causal_thread {
    ompp_clocks_t clocks;
    _Alignas(64) bool busy; /* inside of causal: what a signal handler does is left out */
    bool main;              /* initial thread of the process */
    bool waits;             /* its place is a phase that waits: what clocks.idle is, but while clocks are suspended */
    bool reported;          /* it is being told where it comes from, which is where it was */
    bool chases;            /* with delays: it is where order is decided as it goes, and keeps up with the others */
    uint32_t timed_in, timed_for; /* events until one is timed; that it stands for */
    unsigned depth;               /* of levels */
    unsigned next_barrier;        /* to be given up next */
    uint64_t moves, syncs;
    uint64_t experiment; /* with delays: number of the one it counts for */
    struct {
        uint64_t team;
        uint32_t generation; /* of its next barrier */
    } barriers[OMPP_CAUSAL_BARRIERS];
    ompp_clock_vector_t own; /* scratch */
    ompp_clock_vector_t other;
    ompp_clock_vector_t before; /* what it received before of which others could have come first */
    ompp_causal_wait_t wait;    /* while clocks.waiting */
    ompp_causal_serves_t serves;
    ompp_clock_vector_t served;
    unsigned left; /* of the semaphore that it takes from: posts that are still there */
    struct {
        ompp_off_t node;
        uint16_t mask;
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
    uint16_t regions;        /* slots of the regions it is in; of clocks.mask only the experiment's, with delays */
    /* with delays: ns of work in each known region and below it, to choose regions by */
    ompp_time_t seen[OMPP_CAUSAL_KNOWN];
    /* number of the look at which it was counted in that region last: what is recursive counts once */
    uint32_t met[OMPP_CAUSAL_KNOWN];
    uint32_t look;
    ompp_time_t seen_until; /* ns of its work by then */
    ompp_fine_t percent;    /* of the experiment */
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
    } proposed;               /* with delays: experiment that it is to go over to when it has paid; number 0 = none */
    ompp_causal_at_t arrival; /* with delays: where it began its last wait for another rank */
    ompp_time_t paused;       /* with delays: ns of all its pauses */
    bool pauses;              /* it does no work, whatever its clocks say */
    /* it is about to go on with all other processes of the run; without delays: of a communicator */
    bool met_all;
    bool met_some;            /* of a communicator that has not all */
    bool made;                /* the program has created it; not one of an OpenMP library's */
    uint64_t lost;            /* waits that are not followed, but for those with a limit */
    ompp_time_t timed_paused; /* paused, when that one began */
    /* ns on events, as those that were timed say, and on carrying clock vectors between ranks */
    ompp_time_t charged;
    _Atomic bool used;
    struct ompp_causal_thread *next;
} ompp_causal_thread_t;

/** The process. */
typedef struct {
    ompp_whatif_mode_t mode;
    ompp_clocks_rule_t rule;
    /* number of the present set of regions, from 1; with delays: of that within which offsets go on */
    _Atomic uint64_t set;
    _Atomic uint64_t experiment;   /* with delays: number of the present one */
    _Atomic ompp_time_t set_begin; /* of the later of both */
    /* without delays: number of the latest set of no regions, while which clocks are suspended; 0 = none */
    _Atomic uint64_t suspension;
    _Atomic ompp_time_t look; /* without delays: before, no turn begins that has not been proposed yet */
    _Atomic ompp_time_t suspension_begin;
    _Atomic(ompp_causal_thread_t *) threads;
    /* times that the order would have changed, since the set */
    _Atomic uint64_t overtaken[OMPP_WHATIF_FLAG_NUM][OMPP_CLOCKS_SLOTS];
    /* ompp_sync_flag(): times, and those that happened */
    _Atomic uint64_t asked[OMPP_WHATIF_FLAG_NUM], is_flagged[OMPP_WHATIF_FLAG_NUM];
    _Atomic uint64_t watched[OMPP_WHATIF_FLAG_NUM]; /* times that it was looked at */
    _Atomic bool flagged;                           /* one was overtaken, here or elsewhere, sometime */
    _Atomic uint32_t flags;                         /* OMPP_WHATIF_F_* of all regions */
    ompp_sync_clock_t clock;
} ompp_causal_t;

extern ompp_causal_t ompp_causal;
extern __thread ompp_causal_thread_t *ompp_causal_self __attribute__((tls_model("initial-exec")));

/* ---- Threads (ompp_causal.c) ------------------------------------------------------------------------------------- */

/** \brief Makes the calling thread known. */
void ompp_causal_come_slow(void);

/** \brief Goes inside for the calling thread. \return NULL when it is not followed, or is inside already. */
static inline ompp_causal_thread_t *ompp_causal_enter(void)
{
    if (__builtin_expect(!ompp_causal_self, 0)) ompp_causal_come_slow();
    ompp_causal_thread_t *self = ompp_causal_self;
    if (__builtin_expect(!self || self->busy, 0)) return NULL;
    self->busy = true;
    __asm__ volatile("" ::: "memory");
    return self;
}

static inline void ompp_causal_leave(ompp_causal_thread_t *self)
{
    __asm__ volatile("" ::: "memory");
    self->busy = false;
}

/** \brief A short lock; others are never held for long, but their thread may be preempted. */
void ompp_causal_lock(_Atomic uint32_t *lock);

/** \brief The calling thread is one that the program has created. */
void ompp_causal_was_made(ompp_causal_thread_t *self);

static inline void ompp_causal_unlock(_Atomic uint32_t *lock) { atomic_store_explicit(lock, 0, memory_order_release); }

/* ---- Regions (ompp_causal_slots.c) ------------------------------------------------------------------------------- */

/** \brief Slots of the regions that a call tree node lies in; regions that come first get free ones. */
uint16_t ompp_causal_mask(ompp_causal_thread_t *self, ompp_off_t node);

/** \brief Region of a slot in the present set; 0 = free, or what is outside of all regions. */
ompp_region_ref_t ompp_causal_region(unsigned slot);

/** \brief At most so many slots are used. */
void ompp_causal_limit_slots(unsigned limit);

/** \brief Key of a slot; 0 = free. */
uint64_t ompp_causal_key(unsigned slot);

/**
 * \brief Slots that are used; regions that are known; the first one of a slot, -1 = none here; key of one, 0 = never
 *        followed.
 */
unsigned ompp_causal_nslots(void);
unsigned ompp_causal_nknown(void);
int ompp_causal_known(unsigned slot);
uint64_t ompp_causal_known_key(unsigned index);

ompp_region_ref_t ompp_causal_known_region(unsigned index);

/** \return index of a region among those known; -1 = not known. */
int ompp_causal_find(ompp_region_ref_t region);

/** \brief The slots belong to these keys from now on, 0 = free. The caller changes the number of the set. */
void ompp_causal_choose(const uint64_t keys[OMPP_CLOCKS_SLOTS]);

#define OMPP_CAUSAL_ANYWHERE UINT32_MAX

/**
 * \brief Without delays, where a unit of work ends: other regions may have their turn.
 * \param[in] teams  the thread is in so many teams at most: one inside of others does not meet all of these.
 */
void ompp_causal_may_turn(ompp_causal_thread_t *self, unsigned teams, ompp_time_t t);

/** \brief Where clocks of the thread stand for the process: what there is by now is written, if it is time. */
void ompp_causal_may_write(ompp_causal_thread_t *self, ompp_time_t t);

/** \return until when clocks are suspended, at least; 0 = they do not, or another rank decides it. */
ompp_time_t ompp_causal_suspended_until(void);

/** \brief Rests are to go on while, for a while, as often on as off; ranks have agreed to tell each other nothing. */
void ompp_causal_hold(bool on);

/** \brief Rank 0, before ranks meet. \return whether another set begins there: its number, and its keys. */
bool ompp_causal_propose_turn(ompp_causal_thread_t *self, uint64_t *number, uint64_t keys[OMPP_CLOCKS_SLOTS],
                              ompp_time_t t);

/**
 * \brief Another set has begun, or begins now on all ranks.
 * \param[in] t  until then the thread knows what it has saved.
 */
void ompp_causal_follow_turn(ompp_causal_thread_t *self, uint64_t number, const uint64_t keys[OMPP_CLOCKS_SLOTS],
                             ompp_time_t t);

/** \brief All ranks have met. */
void ompp_causal_collective(ompp_time_t t);
/** \return whether they can be expected to do so again, not later than soon (ns) after the last time. */
bool ompp_causal_meets_by(ompp_time_t t, ompp_time_t soon);

/** \brief Slot of a key, given to it when it is unknown and one is free. \return -1 when there is none. */
int ompp_causal_slot_of(uint64_t key);

/** \return whether a call tree node is that of a team. */
static inline bool ompp_causal_forks(ompp_off_t node)
{
    const ompp_construct_t construct = ompp_region_construct(ompp_meter_region(node));

    return construct != OMPP_CONSTRUCT_NUM && ompp_construct_forks(construct);
}

/** \return where work at a call tree node is done. */
ompp_clocks_where_t ompp_causal_where(ompp_off_t node);

/**
 * \brief With delays, where no thread is in an experiment with the region of the slot: it belongs to this key from now
 *        on.
 */
void ompp_causal_replace(unsigned slot, uint64_t key);

/** \return slot of a key; -1 = it has none. */
int ompp_causal_slot_with(uint64_t key);

/** \return index of the first known region with the key; -1 = none here. */
int ompp_causal_known_with(uint64_t key);

void ompp_causal_settle_slow(ompp_causal_thread_t *self, uint64_t set);

/**
 * \brief The thread goes on with the present set of regions, if it was with an older one. What it has done since the
 *        new one began, unseen by us, is counted in it.
 */
static inline void ompp_causal_settle(ompp_causal_thread_t *self)
{
    const uint64_t set = atomic_load_explicit(&ompp_causal.set, memory_order_acquire);
    const uint64_t experiment = atomic_load_explicit(&ompp_causal.experiment, memory_order_acquire);

    if (__builtin_expect(self->clocks.set != set || self->experiment != experiment, 0))
        ompp_causal_settle_slow(self, set);
}

/**
 * \brief Whether clocks are suspended, for a thread that is settled: it has none. What others can wait for later, and
 *        where the thread is, is still kept; nothing else.
 */
static inline bool ompp_causal_is_suspended(const ompp_causal_thread_t *self)
{
    return self->clocks.set == atomic_load_explicit(&ompp_causal.suspension, memory_order_relaxed);
}

/** \brief The same of any thread: true only when it is settled. */
static inline bool ompp_causal_stays_suspended(const ompp_causal_thread_t *self)
{
    return ompp_causal_is_suspended(self) &&
           self->clocks.set == atomic_load_explicit(&ompp_causal.set, memory_order_relaxed);
}

/** \return the call tree node that the calling thread is at; while clocks are suspended, it is not told of it. */
static inline ompp_off_t ompp_causal_place(const ompp_causal_thread_t *self)
{
    return ompp_causal_is_suspended(self) ? ompp_meter_place().node : self->node;
}

/** \brief While clocks are suspended, the thread has waited until t. */
static inline void ompp_causal_pass(ompp_causal_thread_t *self, ompp_time_t t)
{
    self->clocks.waiting = 0;
    if (t > self->clocks.since) self->clocks.since = t;
    ompp_causal_settle(self);
}

/* ---- What it costs (ompp_causal_order.c) ------------------------------------------------------------------------- */

ompp_time_t ompp_causal_time_event_slow(ompp_causal_thread_t *self);

/** \return when the thread began with an event; 0 = this one is not timed. */
static inline ompp_time_t ompp_causal_time_event(ompp_causal_thread_t *self)
{
    return __builtin_expect(self->timed_in-- == 0, 0) ? ompp_causal_time_event_slow(self) : 0;
}

void ompp_causal_timed_slow(ompp_causal_thread_t *self, ompp_time_t begin);

/** \brief That event is over. */
static inline void ompp_causal_timed(ompp_causal_thread_t *self, ompp_time_t begin)
{
    if (__builtin_expect(begin != 0, 0)) ompp_causal_timed_slow(self, begin);
}

/**
 * \brief Clocks go on after a rest, in which events take little and are seldom timed: one that is timed does not stand
 *        for those.
 */
void ompp_causal_time_often(ompp_causal_thread_t *self);

/** \brief Learns what measuring itself takes. */
void ompp_causal_calibrate(void);

/** \return ns that events, and carrying clock vectors between ranks, have taken all threads so far. */
ompp_time_t ompp_causal_charged(void);
void ompp_causal_charge(ompp_time_t ns);

/** \brief ompp_sync_flag(): of all slots. */
void ompp_causal_flag(unsigned flags, bool happened);

/* ---- Objects (ompp_causal_objects.c) ----------------------------------------------------------------------------- */

void ompp_causal_publish(ompp_sync_object_t kind, uint64_t object, ompp_time_t t);
void ompp_causal_wait(ompp_sync_object_t kind, uint64_t object, ompp_time_t t);
void ompp_causal_resume(ompp_sync_object_t kind, uint64_t object, ompp_time_t t);

/** \brief The thread, which waits at a barrier, has been working there until t: the barrier waits for that, too. */
void ompp_causal_arrive_again(ompp_causal_thread_t *self, ompp_time_t t);

/** \brief Without delays: what the thread's team does before its next barrier cannot be gone through again. */
void ompp_causal_spoil_order(ompp_causal_thread_t *self);

/* Without delays, what tasks do, for going through it again; the time is that of self->own. */

/** \brief The thread has made a task. \return where that belongs to. */
ompp_causal_flow_t ompp_causal_note_create(ompp_causal_thread_t *self);
/** \brief The thread is about to turn to a task, from the barrier to which it came then. */
void ompp_causal_note_arrived(ompp_causal_thread_t *self, const ompp_causal_flow_t *task);
/** \return number of what the thread runs in its interval. */
int ompp_causal_flow_of(const ompp_causal_thread_t *self);
/**
 * \brief The thread has turned to the task self->flow.
 * \param[in] waiting  what waits on it for tasks, by its number; -1 = it comes from the barrier.
 * \param[in] slots    in the program with these faster it would have begun before another one that has begun.
 */
void ompp_causal_note_begin(ompp_causal_thread_t *self, int waiting, uint16_t slots);
/** \brief The task that the thread runs is over. */
void ompp_causal_note_end(ompp_causal_thread_t *self);
/** \brief It begins to wait for tasks; it goes on, at clocks.since. */
void ompp_causal_note_wait(ompp_causal_thread_t *self);
void ompp_causal_note_waited(ompp_causal_thread_t *self);

/* ---- What going through order again costs (ompp_causal_order.c) -------------------------------------------------- */

/**
 * \return with which probability an interval that begins now, 1/100 ns, was drawn to be gone through again; 0 = it is
 *         estimated.
 */
double ompp_causal_afford(ompp_fine_t now);

/** \brief The thread has followed an event at t, until now: what that takes is measured now and then. */
void ompp_causal_measure(const ompp_causal_thread_t *self, ompp_time_t t);

/** \brief ompp_replay_run(), at the expense of what there is time for. */
bool ompp_causal_run_again(struct ompp_replay *replay, ompp_clock_vector_t *vector);

/** \brief It makes no sense: only the noting was paid for. */
void ompp_causal_give_up(const struct ompp_replay *replay);

/**
 * \brief What an interval would have saved that there was no time for.
 * \param[in] began  1/100 ns. \return whether enough others were gone through to tell.
 */
bool ompp_causal_estimate(ompp_clock_vector_t *vector, ompp_fine_t began);

/**
 * \brief Intervals that were gone through again; that were not, to save time; ns by which they were longer than with
 *        locks handed over.
 */
void ompp_causal_orders(uint64_t *replayed, uint64_t *kept, uint64_t *passed_ns);

/* ---- Threads outside of teams, from their creation until all are joined (ompp_causal_thread_group.c) ------------- */

/** \brief The thread creates another one. */
void ompp_causal_thread_group_create(ompp_causal_thread_t *self);
/** \brief It has not. */
void ompp_causal_thread_group_not_created(ompp_causal_thread_t *self);
/** \brief It, which was created so, begins. */
void ompp_causal_thread_group_begin(ompp_causal_thread_t *self);
/** \brief It ends, at self->own. */
void ompp_causal_thread_group_end(ompp_causal_thread_t *self);
/** \brief It asks for a lock, or gives it back, at self->own. \return false when that is not noted. */
bool ompp_causal_thread_group_note(ompp_causal_thread_t *self, unsigned op, uint64_t lock, uint16_t slots);
/**
 * \brief It has waited for an event, and is about to go on at t: it may have joined a thread. Other events open the
 *        order again.
 * \return whether this was the last one: what it goes on with is in self->other, and its own clocks have yielded.
 */
bool ompp_causal_thread_group_join(ompp_causal_thread_t *self, uint64_t object, ompp_time_t t);
/** \brief What the thread does next is not gone through again. */
void ompp_causal_thread_group_spoil(ompp_causal_thread_t *self);
/** \brief Slots for which it would be another order, of what is noted and not gone through yet. Without a lock. */
uint16_t ompp_causal_thread_group_overtaken(void);
/** \brief A set of regions ends: its slots have been told. */
void ompp_causal_thread_group_turn(void);

/* ---- Tasks (ompp_causal_tasks.c) --------------------------------------------------------------------------------- */

void ompp_causal_task(ompp_sync_task_t what, uint64_t task, uint64_t other, ompp_time_t t);

/* ---- Other processes (ompp_causal_remote.c) ---------------------------------------------------------------------- */

size_t ompp_causal_clock_vector_size(void);
size_t ompp_causal_clock_vector(void *vector, ompp_time_t t);
bool ompp_causal_contribute(void *vector);
bool ompp_causal_revise(void *mine, const void *all);
bool ompp_causal_suspension(void);
void ompp_causal_combine(void *into, const void *other);
ompp_time_t ompp_causal_join_clock(const void *vector, const ompp_sync_wait_t *wait);
void ompp_causal_clock(const ompp_sync_clock_t *clock);
/** \return t in the time common to all ranks, ns. */
int64_t ompp_causal_common(ompp_time_t t);

/** \brief The thread goes on at t after it has met other processes, with nothing left to pay. */
void ompp_causal_met(ompp_causal_thread_t *self, ompp_time_t t);

/* ---- Delays (ompp_causal_delay.c) -------------------------------------------------------------------------------- */

/** \brief The thread goes on with what it has waited for, and is delayed by what it owes, on the spot. */
void ompp_causal_go_on(ompp_causal_thread_t *self, const ompp_clock_vector_t *vector, ompp_time_t cost, ompp_time_t t);

void ompp_causal_pay(ompp_time_t until);

/**
 * \brief With delays: waits until the thread has had as much delay as the one with the most, where order is decided by
 *        who comes first.
 */
void ompp_causal_chase(ompp_causal_thread_t *self);
/** \brief The same with the other ranks of the node, where messages race. \return whether it was delayed. */
bool ompp_causal_throttle(void);
/** \return whether the thread is at work in the region of the experiment. */
bool ompp_causal_works_faster(const ompp_causal_thread_t *thread);

/**
 * \brief With delays, where the thread comes first, or not, by the clocks as they are: whether the faster program would
 *        have this order (the flag), and whether the program without delays would (what it takes is then not known from
 *        the experiment).
 * \param[in] before    clock vectors of those that came before, combined.
 * \param[in] flag_bit  OMPP_WHATIF_BIT_*: what decides.
 */
void ompp_causal_watch_order(const ompp_causal_thread_t *self, const ompp_clock_vector_t *before, unsigned flag_bit);
/** \return with delays: the present slot, in a set, if the thread would come before that in the faster program. */
uint16_t ompp_causal_overtakes(const ompp_causal_thread_t *self, const ompp_clock_vector_t *before);

/** \return whether the order of any experiment was not that of the program without delays. */
bool ompp_causal_any_reordered(void);

/* ---- Experiments (ompp_causal_experiment.c) ---------------------------------------------------------------------- */

/** With delays, where others look at what a thread does: at the root it is at work outside, as an idle one of OpenMP's
 * is not. */
static inline bool ompp_causal_is_outside(const ompp_causal_thread_t *thread) { return thread->main || thread->made; }

/* an experiment in which less than one part in so many of its time was done in the region has not seen it */
#define OMPP_CAUSAL_SEEN 200u

/** What is being tried. */
typedef struct ompp_causal_experiment {
    uint64_t number; /* the same on all ranks */
    int slot;        /* -1 = nothing: a rest between experiments */
    int known;       /* index of the region; -1 = of none here */
    unsigned percent;
    bool unsynchronised; /* a result: ranks have begun or ended it at different moments, ... */
    bool drifts;         /* and more, or less, was queued between them at the end */
    bool settles;        /* begun apart: until all ranks have got into step nothing is measured */
} ompp_causal_experiment_t;

extern ompp_causal_experiment_t ompp_causal_experiment; /* of the present set; changed by one thread at a time */

/** \brief The slots that count for a thread in the regions of mask. */
static inline uint16_t ompp_causal_counted(uint16_t mask)
{
    if (!ompp_causal.rule.delays) return mask;
    return ompp_causal_experiment.slot >= 0 ? mask >> ompp_causal_experiment.slot & 1 : 0;
}

/**
 * \brief A moment at which an experiment may end, on a thread that leads.
 * \param[in] visits  of progress points until now; 0 = the program has none so far. \param[in] t  now.
 * \param[in] together  all others have the same offset: they have just met, or wait for this one to go on.
 */
void ompp_causal_may_end(ompp_causal_thread_t *self, uint64_t visits, bool together, ompp_time_t t);

/** \return where the thread is, at t, until when its work is counted. */
static inline ompp_causal_at_t ompp_causal_here(const ompp_causal_thread_t *self, ompp_time_t t)
{
    const ompp_fine_t saved = ompp_clocks_offset(&ompp_causal.rule, &self->clocks, OMPP_CLOCKS_EXPERIMENT);

    return (ompp_causal_at_t){t, saved, self->clocks.o[OMPP_CLOCKS_BASELINE]};
}

/** \brief At the end: what has been paid in the experiment that does not come to its end is known, too. */
void ompp_causal_experiment_finish(const ompp_causal_thread_t *self);

/* ---- Whether threads are in step (ompp_causal_steady.c) ---------------------------------------------------------- */

/** \return ns of work of the thread, wherever; of what was counted. */
static inline ompp_time_t ompp_causal_worked(const ompp_causal_thread_t *thread)
{
    ompp_time_t sum = 0;

    for (unsigned i = 0; i < OMPP_CLOCKS_WHERE_NUM; i++) sum += thread->clocks.worked[i];
    return sum;
}

/** \brief What was done until t, after so many visits: by all threads, with what they are doing. */
void ompp_causal_flows(uint64_t visits, ompp_time_t t, ompp_steady_t *flows);

/** \brief An experiment begins: the first one, or one with another progress point, begins the average of the run. */
void ompp_causal_average_begin(uint64_t visits);

/** \return with delays: ns of work of all threads in the known region, with what they are doing at t. */
ompp_time_t ompp_causal_done(unsigned known, ompp_time_t t);
/** \return the same of all known regions with this key (the same lines in two modules). */
ompp_time_t ompp_causal_done_by_key(uint64_t key, ompp_time_t t);

/** \return whether threads have done as much for a unit of work since then as on average. */
bool ompp_causal_in_step(const ompp_steady_t *from, uint64_t visits, ompp_time_t t);

/** \brief This is what an experiment with the known region is measured by. */
void ompp_causal_step_add(int known, const ompp_steady_t *from, uint64_t visits, ompp_time_t t);

/** \return whether in experiments with the region threads have done less for a unit of work than in the run until t. */
bool ompp_causal_is_transient(unsigned known, ompp_time_t t);

/* ---- Which region (ompp_causal_choice.c) ------------------------------------------------------------------------- */

/**
 * \return slot of the region of the n-th experiment; -1 = there is none.
 * \param[out] nregions  that it could have been.
 */
int ompp_causal_choice(uint64_t n, ompp_time_t t, unsigned *nregions);

/** \brief A number that n and the key decide, and OMPP_CAUSAL_SEED; as good as a draw. */
uint64_t ompp_causal_draw(uint64_t n, uint64_t key);

/**
 * \brief On a rank that follows to experiment n: the key's slot, if need be instead of the region that did least
 *        lately.
 */
int ompp_causal_slot_for(uint64_t key, uint64_t n, ompp_time_t t);

/**
 * \brief ns of work in the region of a slot, of the rank that has most of it, as far as it is known here; 0 = not
 *        wanted.
 */
uint64_t ompp_causal_work(unsigned slot);

/** \brief Another rank has, or knows of one that has, so much work in the region of a slot. */
void ompp_causal_heard_of(unsigned slot, uint64_t work);

/** \brief The slot is about to belong to another region: what is known of its work as that of a slot is forgotten. */
void ompp_causal_forget(unsigned slot);

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

/**
 * \brief A moment that may end a block or an experiment: the initial thread has left a barrier, a team; any has left a
 *        collective call.
 * \param[in] region  the parallel region or call, which may serve as progress point; 0 = a barrier.
 */
void ompp_causal_at_join(ompp_causal_thread_t *self, ompp_region_ref_t region, ompp_time_t t);

/** \brief The initial thread has left a barrier of its team, or of other threads: at t. */
void ompp_causal_left_barrier(ompp_causal_thread_t *self, ompp_time_t t);

/**
 * \brief With delays: no better moment has come for long (a program with messages alone), so that one between two
 *        messages will do.
 */
bool ompp_causal_is_overdue(ompp_time_t t);

/** \brief Goes over to the experiment that another rank has begun, or that all begin now: self->proposed. */
void ompp_causal_follow(ompp_causal_thread_t *self, ompp_time_t t);

/**
 * \brief On rank 0: what begins when this thread has met all, if the present experiment has lasted long enough by then,
 *        and the progress point was visited since all met last. \param[in] visits of it by now; 0 = there is none yet.
 * \return false when nothing is to begin.
 */
bool ompp_causal_propose(uint64_t visits, ompp_time_t t, ompp_causal_experiment_t *next);

/** \brief A message has been sent or received: what this rank sees is of use to others. */
void ompp_causal_note_message(void);

/**
 * \brief Number of the experiment with which the offsets of all ranks began; those of another beginning say nothing to
 *        each other.
 */
uint64_t ompp_causal_origin(void);
/**
 * \brief Another rank's offsets began with that one; those of this rank do, too, if it has none yet: it owes what it
 *        has not waited.
 */
void ompp_causal_take_origin(ompp_causal_thread_t *self, uint64_t origin);

/** \return ns that delays may have taken by t. */
ompp_time_t ompp_causal_budget(ompp_time_t t);

/** \brief A pause would be too long: the experiment is worth nothing. */
void ompp_causal_spoil(void);

/* ---- Results (ompp_causal_result.c) ------------------------------------------------------------------------------ */

/** \brief Makes the records. \return false when there is no room. */
bool ompp_causal_result_open(void);

/** \brief The first thread is measured: clocks begin with the run, as far as it was not our own start. */
void ompp_causal_result_begin(void);

/** \return ns of the run until t; of these, those that clocks were kept. */
ompp_time_t ompp_causal_result_passed(ompp_time_t t);
ompp_time_t ompp_causal_result_observed(ompp_time_t t);

/** \return work of all threads until t, ns; where clocks rested, as between the rests. */
uint64_t ompp_causal_result_work(ompp_clocks_where_t where, ompp_time_t t);

/** \brief Makes the record of a known region. */
void ompp_causal_result_new(unsigned known, ompp_region_ref_t region);

/** \return the place of a speed-up in a record with delays; NULL = there is none. */
ompp_whatif_clock_t *ompp_causal_clock_of(ompp_a_whatif_region_t *record, unsigned percent);

/**
 * \brief With delays: the slot is about to belong to another region: what was seen of the order of this one is kept.
 */
void ompp_causal_result_leave(unsigned slot);

/** \brief The slot is that of a known region; -1 = of none here. */
void ompp_causal_result_slot(unsigned slot, int known);

/**
 * \brief A turn ends at t: what the clocks of this thread say is kept.
 * \param[in] next  number of the set that follows.
 */
void ompp_causal_result_turn(ompp_causal_thread_t *self, uint64_t next, bool suspension, ompp_time_t t);

/** \return ns that a known region has been followed in turns that are over. */
ompp_time_t ompp_causal_result_followed(unsigned known);

/**
 * \brief Until t: work of the whole run in the region of an experiment, as far as it has a slot here, visits since
 *        offsets began.
 */
ompp_causal_seen_t ompp_causal_result_seen(const ompp_causal_experiment_t *experiment, ompp_time_t t);

/**
 * \brief Takes over an experiment that is over.
 * \param[in] seen  during the block, by this rank's threads.
 */
void ompp_causal_result_add(const ompp_causal_experiment_t *experiment, const ompp_whatif_block_t *block,
                            const ompp_causal_seen_t *seen);

/**
 * \brief With delays, where an experiment ends: writes what was done in all of the run until t, for one that may not
 *        come to its end.
 */
void ompp_causal_result_until(ompp_time_t t);

/** \return whether there is a result of this region and speed-up. */
bool ompp_causal_result_has(const ompp_causal_experiment_t *experiment);

/**
 * \brief Flags of a slot that are to be told to other ranks. Who sees that order is open (the receiver of messages from
 *        any source) may never be in the regions that move it; the report takes flags from ranks that are.
 */
uint32_t ompp_causal_result_flags(unsigned slot);
uint32_t ompp_causal_result_open_flags(unsigned slot); /* with what is put by */

/** \brief Whether there can be any. */
static inline bool ompp_causal_any_flags(void)
{
    return atomic_load_explicit(&ompp_causal.flagged, memory_order_relaxed);
}

/** \brief Another rank has seen these. */
void ompp_causal_result_heard(unsigned slot, uint32_t flags);

/** \brief An experiment has taken so many ns of pauses, whether it was worth anything or not. */
void ompp_causal_result_paid(ompp_time_t paid);

/**
 * \brief Without delays: a block ends at t, as the clocks of this thread say.
 * \param[in] visits  of progress points until now.
 */
void ompp_causal_result_block(ompp_causal_thread_t *self, uint64_t visits, ompp_time_t t);

/** \brief Writes what the clocks of this thread say now, at the end or as if it were. */
void ompp_causal_result(ompp_causal_thread_t *self, ompp_time_t t);

/** \brief The measurement is over: what has been written stays as it is. */
void ompp_causal_result_close(void);

/** \brief Whether it is time to write what there is by now, for a program that does not come to its end. */
bool ompp_causal_result_due(ompp_time_t t);

/**
 * \brief Without delays, and while no turn can begin: writes what the clocks of this thread, which have their turn, say
 *        by now.
 */
void ompp_causal_result_so_far(ompp_causal_thread_t *self, ompp_time_t t);

/** \brief Notes an observation of order; see ompp_clocks_overtaken(). */
static inline void ompp_causal_watch(unsigned flag_bit, unsigned slots)
{
    atomic_fetch_add_explicit(&ompp_causal.watched[flag_bit], 1, memory_order_relaxed);
    if (slots) atomic_store_explicit(&ompp_causal.flagged, true, memory_order_relaxed);
    for (; slots; slots &= slots - 1)
        atomic_fetch_add_explicit(&ompp_causal.overtaken[flag_bit][__builtin_ctz(slots)], 1, memory_order_relaxed);
}

/** \brief What may be wrong with all regions, if it happened often: asked once more. */
static inline void ompp_causal_asked(unsigned flag_bit, bool happened)
{
    atomic_fetch_add_explicit(&ompp_causal.asked[flag_bit], 1, memory_order_relaxed);
    if (!happened) return;
    atomic_fetch_add_explicit(&ompp_causal.is_flagged[flag_bit], 1, memory_order_relaxed);
    atomic_store_explicit(&ompp_causal.flagged, true, memory_order_relaxed);
}

#endif
