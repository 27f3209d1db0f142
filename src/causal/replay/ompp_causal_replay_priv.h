/**
 * \file
 * What src/causal/replay does for the other folders: objects that threads wait for, tasks, and order that is decided as
 * the program runs, which is gone through again.
 */
#ifndef OMPP_CAUSAL_REPLAY_PRIV_H
#define OMPP_CAUSAL_REPLAY_PRIV_H

#include "causal/ompp_causal_priv.h"

#define OMPP_CAUSAL_OBJECTS 1024u   /* threads are known to wait for at a time; power of two */
#define OMPP_CAUSAL_TASKS 4096u     /* explicit tasks that are known at a time */
#define OMPP_CAUSAL_THREAD_GROUP 1u /* as a team: that of no team, whose address this cannot be */

/* ---- What it costs (ompp_causal_cost.c, ompp_causal_state.c) ---------------------------------------------------- */

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
 * \brief Clocks go on after a suspension. Events took little then and were seldom timed: one that is timed from now on
 *        does not stand for those.
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

/* ompp_causal_mode_t */
void ompp_causal_loop(ompp_causal_thread_t *self, unsigned op, ompp_time_t t);
void ompp_causal_delay_loop(ompp_causal_thread_t *self, unsigned op, ompp_time_t t);

/** \brief The thread, which waits at a barrier, has been working there until t: the barrier waits for that, too. */
void ompp_causal_arrive_again(ompp_causal_thread_t *self, ompp_time_t t);

/* ---- Intervals of teams (ompp_causal_interval.c) ----------------------------------------------------------------- */

/** \brief Without delays: what the thread's team does before its next barrier cannot be gone through again. */
void ompp_causal_spoil_order(ompp_causal_thread_t *self);
/** \brief Without delays: see locked and unlocked of ompp_causal_mode_t. */
void ompp_causal_note_lock(ompp_causal_thread_t *self, ompp_sync_object_t kind, uint64_t mutex, bool foreign,
                           uint32_t slots);
void ompp_causal_note_unlock(ompp_causal_thread_t *self, uint64_t mutex);

/* Without delays, what tasks do, for going through it again; the time is that of self->own. */

/** \brief The thread has made a task. \return where that belongs to. */
ompp_causal_flow_t ompp_causal_note_create(ompp_causal_thread_t *self);
/** \brief The thread is about to turn to a task, from the barrier to which it came then. */
void ompp_causal_note_arrived(ompp_causal_thread_t *self, const ompp_causal_flow_t *task);
/** \return number of what the thread runs in its interval. */
unsigned ompp_causal_flow_of(const ompp_causal_thread_t *self);
/**
 * \brief The thread has turned to the task self->flow.
 * \param[in] waiting  what waits on it for tasks, by its number; -1 = it comes from the barrier.
 * \param[in] slots    in the program with these faster it would have begun before another one that has begun.
 */
void ompp_causal_note_begin(ompp_causal_thread_t *self, int waiting, uint32_t slots);
/** \brief The task that the thread runs is over. */
void ompp_causal_note_end(ompp_causal_thread_t *self);
/** \brief It begins to wait for tasks; it goes on, at clocks.since. */
void ompp_causal_note_wait(ompp_causal_thread_t *self);
void ompp_causal_note_waited(ompp_causal_thread_t *self);

/* ---- What going through order again costs (ompp_causal_replay_cost.c) -------------------------------------------- */

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

void ompp_causal_thread(ompp_sync_thread_t what);

/** \brief The thread asks for a lock, or gives it back, at self->own. \return false when that is not noted. */
bool ompp_causal_thread_group_note(ompp_causal_thread_t *self, unsigned op, uint64_t lock, uint32_t slots);
/**
 * \brief It has waited for an event, and is about to go on at t: it may have joined a thread. Other events open the
 *        order again.
 * \return whether this was the last one: what it goes on with is in self->other, and its own clocks have yielded.
 */
bool ompp_causal_thread_group_join(ompp_causal_thread_t *self, uint64_t object, ompp_time_t t);
/** \brief What the thread does next is not gone through again. */
void ompp_causal_thread_group_spoil(ompp_causal_thread_t *self);
/** \brief Slots for which it would be another order, of what is noted and not gone through yet. Without a lock. */
uint32_t ompp_causal_thread_group_overtaken(void);
/** \brief A set of regions ends: its slots have been told. */
void ompp_causal_thread_group_turn(void);

/* ---- Tasks (ompp_causal_tasks.c) --------------------------------------------------------------------------------- */

void ompp_causal_task(ompp_sync_task_t what, uint64_t task, uint64_t other, ompp_time_t t);
extern ompp_causal_action_t *const ompp_causal_tasks[], *const ompp_causal_delay_tasks[]; /* by ompp_sync_task_t */

#endif
