/**
 * \file
 * What src/causal/experiment does for the other folders: delays, and experiments with them.
 */
#ifndef OMPP_CAUSAL_EXPERIMENT_PRIV_H
#define OMPP_CAUSAL_EXPERIMENT_PRIV_H

#include "causal/ompp_causal_priv.h"

/* ---- Delays (ompp_causal_delay.c) -------------------------------------------------------------------------------- */

/** \brief The thread goes on with what it has waited for, and is delayed by what it owes, on the spot. */
void ompp_causal_go_on(ompp_causal_thread_t *self, const ompp_clock_vector_t *vector, ompp_time_t t);

/** \brief The thread waits until then, and is credited with the time that it has really waited. */
void ompp_causal_pay(ompp_causal_thread_t *self, ompp_time_t until);

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
uint32_t ompp_causal_overtakes(const ompp_causal_thread_t *self, const ompp_clock_vector_t *before);

/** \return whether the order of any experiment was not that of the program without delays. */
bool ompp_causal_any_reordered(void);

/* ---- Experiments (ompp_causal_experiment.c) ---------------------------------------------------------------------- */

/** With delays, where others look at what a thread does: at the root it is at work outside, as an idle one of OpenMP's
 * is not. */
static inline bool ompp_causal_is_outside(const ompp_causal_thread_t *thread) { return thread->main || thread->made; }

/* an experiment in which less than one part in so many of its time was done in the region has not seen it */
#define OMPP_CAUSAL_SEEN 200u

/** What is being tried. */
typedef struct {
    uint64_t number; /* the same on all ranks */
    int slot;        /* -1 = nothing: a pause between experiments */
    int known;       /* index of the region; -1 = of none here */
    unsigned percent;
    bool unsynchronised; /* a result: ranks have begun or ended it at different moments, ... */
    bool drifts;         /* and more, or less, was queued between them at the end */
    bool settles;        /* begun unsynchronised: until all ranks have reached the steady state nothing is measured */
} ompp_causal_experiment_t;

extern ompp_causal_experiment_t ompp_causal_experiment; /* of the present set; changed by one thread at a time */

/**
 * \brief The slots of mask in which work counts, as a thread's clocks.mask has them. With delays that is the
 *        experiment's slot alone, and it becomes bit 0, whatever its number is: its clocks are those of slot 0.
 */
static inline uint32_t ompp_causal_counted(uint32_t mask)
{
    return mask >> ompp_causal.first_counted & ompp_causal.counted;
}

/**
 * \brief A moment at which an experiment may end, and the next one begin: a progress point, a join or a barrier, and
 *        with messages alone any of them. Only rank 0 decides that; others return at once, and follow
 *        (ompp_causal_follow()).
 * \param[in] visits  of progress points until now; 0 = the program has none so far. \param[in] t  now.
 * \param[in] teams  not OMPP_CAUSAL_ANYWHERE: all others have the same offset, or wait for this one to go on.
 */
void ompp_causal_may_end(ompp_causal_thread_t *self, uint64_t visits, unsigned teams, ompp_time_t t);

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
int ompp_causal_replace_slot(uint64_t key, uint64_t n, ompp_time_t t);

/**
 * \brief ns of work in the region of a slot, of the rank that has most of it, as far as it is known here; 0 = not
 *        wanted.
 */
uint64_t ompp_causal_work(unsigned slot);

/** \brief Another rank has, or knows of one that has, so much work in the region with the key. */
void ompp_causal_heard_of(uint64_t key, uint64_t work);

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

/**
 * \brief A moment that may end a block or an experiment: the initial thread has left a barrier, a team; any has left a
 *        collective call.
 * \param[in] region  the parallel region or call, which may serve as progress point; 0 = a barrier.
 */
void ompp_causal_may_end_unit(ompp_causal_thread_t *self, ompp_region_ref_t region, ompp_time_t t);

/** \brief Without delays, the same with progress points visited. \param[in] teams  as ompp_causal_may_turn() has it. */
void ompp_causal_moment(ompp_causal_thread_t *self, uint64_t visits, unsigned teams, ompp_time_t t);

/** \brief The initial thread has left a barrier of its team, or of other threads: at t. */
void ompp_causal_left_barrier(ompp_causal_thread_t *self, ompp_time_t t);

/**
 * \brief With delays, several ranks: no collective call of all has come for long, nor is about to (a program with
 *        messages alone), so that a moment between two messages will do. Before the first experiment, time counts from
 *        the first call of this on.
 */
bool ompp_causal_is_overdue(ompp_time_t t);

/** \brief Goes over to the experiment that another rank has begun, or that all begin now: self->proposed. */
void ompp_causal_follow(ompp_causal_thread_t *self, ompp_time_t t);

/**
 * \brief On rank 0, for a clock vector that goes to a collective call of all ranks: what begins there. The present
 *        experiment has lasted long enough, and the progress point was visited since all met last.
 * \param[in] visits  of it by now; 0 = there is none yet.
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

/* ---- Experiments of several ranks (ompp_causal_shared.c) --------------------------------------------------------- */

/**
 * \brief All ranks have met. \param[in] visits  of the progress point when rank 0 came to it;
 *        what is visited while others are waited for is not in that.
 * \return whether it was visited since all met last, or there is none: of the places of a unit where they do, this one.
 */
bool ompp_causal_visited_since_met(uint64_t visits);

size_t ompp_causal_shared_size(void);
/** \brief All ranks of the run share this memory, zero at first; NULL = no longer. */
void ompp_causal_shared_open(void *memory);
static inline bool ompp_causal_shared_is_there(void)
{
    return atomic_load_explicit(&ompp_causal.shared, memory_order_relaxed) != NULL;
}

/** \brief This rank has so much work in the region with the key. */
void ompp_causal_shared_tell(uint64_t key, uint64_t work);
/** \brief Calls that for the work that others have told. */
void ompp_causal_shared_listen(void (*heard)(uint64_t key, uint64_t work));

/** \brief On rank 0, before anybody can know of it: this experiment is to begin. */
void ompp_causal_shared_announce(const ompp_causal_experiment_t *experiment, bool unsynchronised);
/**
 * \brief This rank goes over to the experiment now.
 * \param[in] arrival  where it began to wait for what told it so; now, when it did not.
 */
void ompp_causal_shared_went_over(uint64_t number, uint64_t visits, const ompp_causal_at_t *now,
                                  const ompp_causal_at_t *arrival);
/** \return how many ranks have gone over to the experiment. */
unsigned ompp_causal_shared_count(uint64_t number);
/** \brief Whether a progress point was visited by the latest change that this rank has come to. */
bool ompp_causal_shared_has_units(void);
/** \brief This rank has done so much in the experiment that is over, before it goes over to the next. */
void ompp_causal_shared_did(uint64_t number, const ompp_causal_seen_t *seen);
/** \brief The experiment is worth nothing. */
void ompp_causal_shared_spoil(uint64_t number);
/** \brief Takes over the results of experiments that are over on all ranks; finally, of all that are. */
void ompp_causal_shared_take(bool final);

#endif
