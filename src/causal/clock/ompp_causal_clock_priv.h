/**
 * \file
 * What src/causal/clock does for the other folders: regions that are followed and their turns, clocks of other
 * processes, ranks among which order is decided as the program runs, by which message comes first. In the virtual mode
 * a manager goes through what it has handed out; with delays ranks of a node keep up with each other.
 */
#ifndef OMPP_CAUSAL_CLOCK_PRIV_H
#define OMPP_CAUSAL_CLOCK_PRIV_H

#include "causal/ompp_causal_priv.h"

#include "runtime/ompp_meter.h"

/* ---- Regions (ompp_causal_slots.c) ------------------------------------------------------------------------------- */

/** \brief Slots of the regions that a call tree node lies in; regions that come first get free ones. */
uint32_t ompp_causal_mask(ompp_causal_thread_t *self, ompp_off_t node);

/** \brief At most so many slots are those of regions. */
void ompp_causal_limit_slots(unsigned limit);

/** \brief Without delays, before any region is met: the first slot has ideal clocks. */
void ompp_causal_follow_ideal(void);

/** \return key of their slot; 0 = there are none. */
uint64_t ompp_causal_ideal_key(void);

/** \brief Key of a slot; 0 = free. */
uint64_t ompp_causal_key(unsigned slot);

/**
 * \brief Slots that are used; regions that are known; the first one of a slot, -1 = none here; key of one, 0 = never
 *        followed; its record, NULL = none, or not yet.
 */
unsigned ompp_causal_nslots(void);
unsigned ompp_causal_nknown(void);
int ompp_causal_known(unsigned slot);
uint64_t ompp_causal_known_key(unsigned index);
ompp_a_whatif_region_t *ompp_causal_known_record(unsigned index);

ompp_region_ref_t ompp_causal_known_region(unsigned index);

/** \return index of a region among those known; -1 = not known. */
int ompp_causal_find(ompp_region_ref_t region);

/** \brief Makes a region known that is met first. \return its index; -1 when there are too many. */
int ompp_causal_add(ompp_region_ref_t region);

/** \brief The slots belong to these keys from now on, 0 = free. The caller changes the number of the set. */
void ompp_causal_choose(const uint64_t keys[OMPP_CLOCKS_SLOTS]);

#define OMPP_CAUSAL_ANYWHERE UINT32_MAX

/**
 * \brief Without delays, where a unit of work ends: other regions may have their turn.
 * \param[in] teams  the thread is in so many teams at most: one inside of others does not meet all of these.
 */
void ompp_causal_may_turn(ompp_causal_thread_t *self, unsigned teams, ompp_time_t t);

/** \brief The initial thread has come to where a turn may begin. */
static inline void ompp_causal_opportunity(ompp_time_t t)
{
    const ompp_time_t before = atomic_load_explicit(&ompp_causal.opportunity, memory_order_relaxed);

    atomic_store_explicit(&ompp_causal.opportunity_gap, t > before ? t - before : 0, memory_order_relaxed);
    atomic_store_explicit(&ompp_causal.opportunity, t, memory_order_relaxed);
}

/**
 * \brief Without delays, at any event: when threads have not come for long to where a turn may begin, one begins all
 *        the same. What was saved until then is what the thread that saved least has.
 */
void ompp_causal_may_turn_anywhere(ompp_causal_thread_t *self, ompp_time_t t);

/** \brief Threads have met in a suspension that began where they had not: moves are not reported any more. */
void ompp_causal_stop_moves(void);

/** \return whether another thread works, or is to go on without others. */
bool ompp_causal_works(const ompp_causal_thread_t *thread);

/**
 * \return what it has saved on a clock by t, 1/100 ns. One that has had no event in the present set has been where it
 *         is since its begin.
 */
ompp_fine_t ompp_causal_saved(const ompp_causal_thread_t *thread, unsigned clock, ompp_time_t t);

/** \brief Where clocks of the thread stand for the process: what there is by now is written, if it is time. */
void ompp_causal_may_write(ompp_causal_thread_t *self, ompp_time_t t);

/** \return until when clocks are suspended, at least; 0 = they are not, or another rank decides it. */
ompp_time_t ompp_causal_suspended_until(void);

/** \brief From a call with true to the one with false clocks stay suspended: ranks send no clock vectors meanwhile. */
void ompp_causal_hold(bool on);

/** \brief Rank 0, before all ranks meet: its number and its keys when another set begins there. */
void ompp_causal_propose_turn(ompp_causal_thread_t *self, uint64_t *number, uint64_t keys[OMPP_CLOCKS_SLOTS],
                              ompp_time_t t);

/**
 * \brief Another set has begun, or begins now on all ranks.
 * \param[in] t  until then the thread knows what it has saved.
 */
void ompp_causal_follow_turn(ompp_causal_thread_t *self, uint64_t number, const uint64_t keys[OMPP_CLOCKS_SLOTS],
                             ompp_time_t t);

/** \brief All ranks have met. */
void ompp_causal_note_meeting(ompp_time_t t);
/** \return whether they can be expected to do so again, not later than soon (ns) after the last time. */
bool ompp_causal_meets_by(ompp_time_t t, ompp_time_t soon);

/** \brief Slot of a key, given to it when it is unknown and one is free. \return -1 when there is none. */
int ompp_causal_give_slot(uint64_t key);

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
int ompp_causal_find_slot(uint64_t key);

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

/* ---- Other processes (ompp_causal_remote.c; what MPI combines: ompp_causal_combine.c) ---------------------------- */

/* The subscriber's functions (runtime/ompp_sync.h), without delays; with them, where they do something else. */
size_t ompp_causal_remote_vector_size(void);
size_t ompp_causal_remote_vector(void *vector, ompp_time_t t);
void ompp_causal_propose_set(void *vector, ompp_time_t t);
bool ompp_causal_contribute(void *vector);
bool ompp_causal_revise(void *mine, const void *all);
void ompp_causal_combine(void *into, const void *other);
void ompp_causal_join_clock(const void *vector, const ompp_sync_wait_t *wait);
size_t ompp_causal_delay_vector_size(void);
size_t ompp_causal_delay_vector(void *vector, ompp_time_t t);
void ompp_causal_delay_propose(void *vector, ompp_time_t t);
void ompp_causal_delay_combine(void *into, const void *other);
void ompp_causal_delay_join(const void *vector, const ompp_sync_wait_t *wait);
void ompp_causal_clock(const ompp_sync_clock_t *clock);
/** \return whether the present set is one in which clocks are suspended. */
bool ompp_causal_set_is_empty(void);

/** \return common time less the own at t, 1/100 ns. */
static inline ompp_fine_t ompp_causal_shift(ompp_fine_t t)
{
    const double shift = (double)ompp_causal.clock.offset_ns * OMPP_FINE + t * ompp_causal.clock.drift;

    return (ompp_fine_t)(int64_t)shift;
}

/** \return t in the time common to all ranks, ns. */
int64_t ompp_causal_common(ompp_time_t t);

/* ---- Waits with a limit that are not followed (ompp_causal_state.c) ---------------------------------------------- */

/**
 * \brief How many there were until t, and by how much they were longer than their limits, ns, of all threads: gains may
 *        be wrong by as much. What ompp_causal_stalled_much() says is of then.
 * \return whether that is too much of what was observed to trust gains.
 */
bool ompp_causal_stalled(ompp_time_t t, uint64_t *times, uint64_t *ns);

/** \brief One that was longer by the time from begin to end. */
void ompp_causal_stall(ompp_time_t begin, ompp_time_t end);

/** \return whether it was when it was looked at last, and not just once: other ranks are told. */
bool ompp_causal_stalled_much(void);

/* ---- Ranks that hand out work (ompp_causal_farm.c) --------------------------------------------------------------- */

/**
 * \brief There are other ranks: messages to and from them are not to be held up by memory that is touched for the first
 *        time.
 */
void ompp_causal_farm_prefault(void);

#define OMPP_CAUSAL_MANAGES 1u /* it hands out work, and has had results */
#define OMPP_CAUSAL_DEPENDS 2u /* it has had messages of a rank that does, or of one that depends on such a one */

/** \brief A record of a thread is used anew. */
void ompp_causal_farm_forget(ompp_causal_thread_t *self);
/** \brief The thread has sent a message to a rank of the run; its clock vector for that is in self->own. */
void ompp_causal_note_sent(unsigned to);
/**
 * \brief It has received from any source, and the regions in these slots may have decided what.
 * \return whether that is put by, until it is known whether it was gone through again.
 */
bool ompp_causal_farm_puts_by(ompp_causal_thread_t *self, unsigned slots);
/** \return how often that was put by for a slot; OMPP_CLOCKS_SLOTS = in all. */
uint64_t ompp_causal_farm_open(unsigned slot);
/** \brief Nobody goes through it again. */
void ompp_causal_farm_watch(void);
/** \brief It has waited for what is in self->other, of one rank, from = rank + 1; otherwise 0 or more than there are.
 *        It waits still. \param[in] role  of that rank. */
void ompp_causal_farm_wait(ompp_causal_thread_t *self, uint64_t from, uint64_t role, const ompp_sync_wait_t *wait);
/**
 * \brief It goes on after that.
 * \param[in] astray  at a meeting: a rank that had work of another one keeps the measured order.
 */
void ompp_causal_farm_go_on(ompp_causal_thread_t *self, const ompp_sync_wait_t *wait, bool astray);
/**
 * \brief It comes to a meeting of all, at self->own.
 * \return its rank + 1 when it has handed out work and can tell more than its clocks; else 0.
 */
uint64_t ompp_causal_farm_contribute(ompp_causal_thread_t *self);
/**
 * \return whether what it tells is a hint only: it nearly fits, or tasks take as long as the rank that does them makes
 *         them.
 */
bool ompp_causal_farm_hints(const ompp_causal_thread_t *self);
/** \return what that is; NULL = it cannot. */
const ompp_clock_vector_t *ompp_causal_farm_reported(const ompp_causal_thread_t *self);
/**
 * \return whether the thread, at self->own, has done work of its peer alone, which has handed it out.
 * \param[out] late  and something of its own after that, from self->served on.
 */
bool ompp_causal_farm_serves(const ompp_causal_thread_t *self, bool *late);
/** \return whether a thread of the rank depends on one that hands out work, since ranks met last. */
bool ompp_causal_farm_depends(void);
/** \return whether the thread, at self->own, has done next to nothing but wait for messages, whoever they were of. */
bool ompp_causal_farm_only_waits(const ompp_causal_thread_t *self);
/**
 * \return whether the manager, which came to the meeting before the thread did by ns, cannot have had its last result.
 */
bool ompp_causal_farm_misses(const ompp_causal_thread_t *self, ompp_fine_t ns);
/** \return OMPP_CAUSAL_MANAGES, OMPP_CAUSAL_DEPENDS: what the thread is, since ranks met last. */
uint64_t ompp_causal_farm_role(const ompp_causal_thread_t *self);

/* ---- Ranks that keep up with each other (ompp_causal_race.c) ----------------------------------------------------- */

#define OMPP_CAUSAL_LANES 128u /* ranks of a node */

/** Where a rank's initial thread is on the clock of the experiment. In memory that all share. */
typedef struct {
    _Atomic uint64_t changes;    /* odd: it is being written */
    _Atomic uint64_t experiment; /* number; 0 = nothing is told */
    _Atomic int64_t offset;      /* 1/100 ns, at since */
    _Atomic int64_t since;       /* ns of common time: at work in the region from then on; 0 = it is not */
    uint64_t padding[4];         /* each lane has cache lines of its own */
} ompp_causal_lane_t;

typedef struct {
    /* number of the latest experiment in which a message was received of which others could have come first */
    _Atomic uint64_t raced;
    ompp_causal_lane_t lanes[OMPP_CAUSAL_LANES];
} ompp_causal_race_t;

/** \return that memory (ompp_causal_shared.c); NULL = there is none. */
ompp_causal_race_t *ompp_causal_shared_race(void);
/** \brief Which message came first was open. */
void ompp_causal_race_begin(void);
/** \return whether it has been, in this experiment or the one before. */
bool ompp_causal_races(void);
/** \brief The thread's clocks have changed: others are told. */
void ompp_causal_race_tell(const ompp_causal_thread_t *self);
/**
 * \return the largest offset of another rank that is in the thread's experiment, at t.
 * \param[out] grows  it is about to become larger.
 */
ompp_fine_t ompp_causal_race_most(const ompp_causal_thread_t *self, ompp_time_t t, bool *grows);

#endif
