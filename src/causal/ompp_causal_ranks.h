/**
 * \file
 * Ranks among which order is decided as the program runs, by which message comes first: in the virtual mode a manager
 * goes through what it has handed out (ompp_causal_farm.c), with delays ranks of a node keep up with each other
 * (ompp_causal_race.c).
 */
#ifndef OMPP_CAUSAL_RANKS_H
#define OMPP_CAUSAL_RANKS_H

#include "causal/clock/ompp_clocks.h"

#include "runtime/ompp_sync.h"

#include <stdatomic.h>

struct ompp_causal_thread;
struct ompp_causal_experiment;
struct ompp_causal_seen;

/* ---- Waits with a limit that are not followed (ompp_causal_remote.c) --------------------------------------------- */

/**
 * \brief How many there were until t, and by how much they were longer than their limits, ns, of all threads: gains may
 *        be wrong by as much. What ompp_causal_stalled_much() says is of then.
 * \return whether that is too much of what was observed to trust gains.
 */
bool ompp_causal_stalled(ompp_time_t t, uint64_t *times, uint64_t *ns);

/** \return whether it was when it was looked at last, and not just once: other ranks are told. */
bool ompp_causal_stalled_much(void);

/* ---- Ranks that hand out work (ompp_causal_farm.c) --------------------------------------------------------------- */

/**
 * \brief There are other ranks: messages to and from them are not to be held up by memory that is touched for the first
 *        time.
 */
void ompp_causal_farm_prefault(void);

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

#define OMPP_CAUSAL_MANAGES 1u /* it hands out work, and has had results */
#define OMPP_CAUSAL_DEPENDS 2u /* it has had messages of a rank that does, or of one that depends on such a one */

/** \brief A record of a thread is used anew. */
void ompp_causal_farm_forget(struct ompp_causal_thread *self);
/** \brief The thread has sent a message to a rank of the run; its clock vector for that is in self->own. */
void ompp_causal_note_sent(unsigned to);
/**
 * \brief It has received from any source, and the regions in these slots may have decided what.
 * \return whether that is put by, until it is known whether it was gone through again.
 */
bool ompp_causal_farm_puts_by(struct ompp_causal_thread *self, unsigned slots);
/** \return how often that was put by for a slot; OMPP_CLOCKS_SLOTS = in all. */
uint64_t ompp_causal_farm_open(unsigned slot);
/** \brief Nobody goes through it again. */
void ompp_causal_farm_watch(void);
/** \brief It has waited for what is in self->other, of one rank, from = rank + 1; otherwise 0 or more than there are.
 *        It waits still. \param[in] role  of that rank. */
void ompp_causal_farm_wait(struct ompp_causal_thread *self, uint64_t from, uint64_t role, const ompp_sync_wait_t *wait);
/**
 * \brief It goes on after that.
 * \param[in] astray  at a meeting: a rank that had work of another one keeps the measured order.
 */
void ompp_causal_farm_go_on(struct ompp_causal_thread *self, const ompp_sync_wait_t *wait, bool astray);
/**
 * \brief It comes to a meeting of all, at self->own.
 * \return its rank + 1 when it has handed out work and can tell more than its clocks; else 0.
 */
uint64_t ompp_causal_farm_contribute(struct ompp_causal_thread *self);
/**
 * \return whether what it tells is a hint only: it nearly fits, or tasks take as long as the rank that does them makes
 *         them.
 */
bool ompp_causal_farm_hints(const struct ompp_causal_thread *self);
/** \return what that is; NULL = it cannot. */
const ompp_clock_vector_t *ompp_causal_farm_reported(const struct ompp_causal_thread *self);
/**
 * \return whether the thread, at self->own, has done work of its peer alone, which has handed it out.
 * \param[out] late  and something of its own after that, from self->served on.
 */
bool ompp_causal_farm_serves(const struct ompp_causal_thread *self, bool *late);
/** \return whether a thread of the rank depends on one that hands out work, since ranks met last. */
bool ompp_causal_farm_depends(void);
/** \return whether the thread, at self->own, has done next to nothing but wait for messages, whoever they were of. */
bool ompp_causal_farm_only_waits(const struct ompp_causal_thread *self);
/**
 * \return whether the manager, which came to the meeting before the thread did by ns, cannot have had its last result.
 */
bool ompp_causal_farm_misses(const struct ompp_causal_thread *self, ompp_fine_t ns);
/** \return OMPP_CAUSAL_MANAGES, OMPP_CAUSAL_DEPENDS: what the thread is, since ranks met last. */
uint64_t ompp_causal_farm_role(const struct ompp_causal_thread *self);

/* ---- Ranks that keep up with each other (ompp_causal_race.c) ----------------------------------------------------- */

#define OMPP_CAUSAL_LANES 128u /* ranks of a node */

/** Where a rank's initial thread is on the clock of the experiment. In memory that all share. */
typedef struct {
    _Atomic uint64_t changes;    /* odd: it is being written */
    _Atomic uint64_t experiment; /* number; 0 = nothing is told */
    _Atomic int64_t offset;      /* 1/100 ns, at since */
    _Atomic int64_t since;       /* ns of common time: at work in the region from then on; 0 = it is not */
    uint64_t unsynchronised[4];  /* lanes are not in one cache line */
} ompp_causal_lane_t;

typedef struct {
    /* number of the latest experiment in which a message was received of which others could have come first */
    _Atomic uint64_t raced;
    ompp_causal_lane_t lanes[OMPP_CAUSAL_LANES];
} ompp_causal_race_t;

/** \return that memory (ompp_causal_node.c); NULL = there is none. */
ompp_causal_race_t *ompp_causal_node_race(void);
/** \brief Which message came first was open. */
void ompp_causal_race_begin(void);
/** \return whether it has been, in this experiment or the one before. */
bool ompp_causal_races(void);
/** \brief The thread's clocks have changed: others are told. */
void ompp_causal_race_tell(const struct ompp_causal_thread *self);
/**
 * \return the largest offset of another rank that is in the thread's experiment, at t.
 * \param[out] grows  it is about to become larger.
 */
ompp_fine_t ompp_causal_race_most(const struct ompp_causal_thread *self, ompp_time_t t, bool *grows);

/* ---- Experiments of several ranks (ompp_causal_node.c) ----------------------------------------------------------- */

/**
 * \brief All ranks have met (ompp_causal_experiment.c). \param[in] visits of the progress point when rank 0 came to it;
 *        what is visited while others are waited for is not in that.
 */
void ompp_causal_all_met(uint64_t visits);

/** Where a thread is: what it has saved and paid in all experiments by then, 1/100 ns. */
typedef struct {
    ompp_time_t t;
    ompp_fine_t saved, paid;
} ompp_causal_at_t;

size_t ompp_causal_node_size(void);
/** \brief All ranks of the run share this memory, zero at first; NULL = no longer. */
void ompp_causal_node_open(void *memory);
bool ompp_causal_node_is_there(void);

/** \brief This rank has so much work in the region with the key. */
void ompp_causal_node_tell(uint64_t key, uint64_t work);
/** \brief Hears of the work that others have told. */
void ompp_causal_node_listen(void);

/** \brief On rank 0, before anybody can know of it: this experiment is to begin. */
void ompp_causal_node_announce(const struct ompp_causal_experiment *experiment, bool unsynchronised);
/**
 * \brief This rank goes over to the experiment now.
 * \param[in] came  where it began to wait for what told it so; now, when it did not.
 */
void ompp_causal_node_pass(uint64_t number, uint64_t visits, const ompp_causal_at_t *now,
                           const ompp_causal_at_t *arrival);
/** \return how many ranks have gone over to the experiment. */
unsigned ompp_causal_node_come(uint64_t number);
/** \brief Whether a progress point was visited by the latest change that this rank has come to. */
bool ompp_causal_node_has_units(void);
/** \brief This rank has done so much in the experiment that is over, before it goes over to the next. */
void ompp_causal_node_did(uint64_t number, const struct ompp_causal_seen *seen);
/** \brief The experiment is worth nothing. */
void ompp_causal_node_spoil(uint64_t number);
/** \brief Takes over the results of experiments that are over on all ranks; finally, of all that are. */
void ompp_causal_node_take(bool final);

/**
 * \brief Whether some ranks did not come to experiments that took a quarter of the time of all or more, as far as
 *        results were taken.
 */
bool ompp_causal_node_lacks_ranks(void);

#endif
