/**
 * \file
 * Virtual clocks: the arithmetic of causal profiling, on plain data. Time is passed in; nothing here reads a clock,
 * waits, or knows OpenMP or MPI. Theory: docs/causal-method.md.
 *
 * A clock belongs to a region (its slot) and a speed-up. A context (a thread) has an offset o per clock: the time that
 * the program with the faster region would have saved until here, so that v = t - o is what its clock would show then.
 * Work in the region adds speed-up x work to o. One rule serves every synchronisation, for all clocks at once. Of those
 * that are waited for, and of the waiting context itself at the moment it began to wait:
 *
 *     T = the latest t, V = the latest v, and the waiting context goes on with o' = T - V.
 *
 * It is exact as long as the order stays what it is: who really came last decides the measured program, who comes last
 * on virtual clocks decides the optimised one; what the synchronisation itself costs passes in both.
 *
 * With delays (experiments) there is one region and one speed-up; o also counts the delays the context has had, and
 * everybody has to leave a synchronisation with the largest o of those that took part: what is missing after the rule
 * above is the debt, paid by waiting. A second clock counts delays alone, by the same rule: the baseline.
 *
 * Ideal clocks: on those of the first slot no region is faster, but one thing takes no time on each, wherever it
 * happens (ompp_whatif_ideal_t). What is waited for is waited for there, too, but for locks on the clock without these.
 *
 * Numbers of slots and clocks: clock OMPP_WHATIF_SPEEDUPS * s + k is that of slot s and speed-up k. A slot belongs to a
 * region, but for slot 0 in two cases. With ideal clocks (rule.ideal) these are those of slot 0. With delays slot 0 is
 * the only one in use: its clock 0 is the experiment's, whatever region that is with, its clock 1 is the baseline. No
 * work is saved on the baseline: percent[1] is 0.
 *
 * Numbers are doubles that hold integers of 1/100 ns: exact for 25 hours, and processors compare two or four at a time.
 */
#ifndef OMPP_CLOCKS_H
#define OMPP_CLOCKS_H

#include "base/ompp_clock.h"
#include "model/ompp_whatif_profile.h"

#include <stdbool.h>
#include <stdint.h>

#define OMPP_CLOCKS_SLOTS 17u /* that of ideal clocks, and those of regions */
#define OMPP_CLOCKS (OMPP_CLOCKS_SLOTS * OMPP_WHATIF_SPEEDUPS)
#define OMPP_FINE 100.0 /* units in a nanosecond */

#define OMPP_CLOCKS_IDEAL 0u /* rule.ideal: slot of ideal clocks */

#define OMPP_CLOCKS_EXPERIMENT 0u /* with delays: clock of the experiment's region and speed-up: percent[0] */
#define OMPP_CLOCKS_BASELINE 1u   /* with delays: clock of the delays alone; percent[1] stays 0 */

/** Time, 1/100 ns; an integer. */
typedef double ompp_fine_t;

static inline ompp_fine_t ompp_clocks_later(ompp_fine_t a, ompp_fine_t b) { return a > b ? a : b; }

/** \return the nearest ns; 0 for less than none. */
static inline uint64_t ompp_clocks_ns(ompp_fine_t o) { return o > 0 ? (uint64_t)(o / OMPP_FINE + 0.5) : 0; }

/** What all contexts obey; one per process. */
typedef struct {
    ompp_fine_t percent[OMPP_WHATIF_SPEEDUPS]; /* of a ns of work that the clocks of a slot save: 0-100 */
    bool delays;
    bool ideal; /* the first slot has ideal clocks */
} ompp_clocks_rule_t;

/** What others can wait for. All zero bytes: nothing yet. */
typedef struct {
    ompp_fine_t t;    /* latest real time; 0 = nothing was published */
    ompp_fine_t debt; /* with delays: largest offset of the experiment's clock */
    uint64_t set;     /* number of the set of regions the clocks belong to; information of another set is none */
    uint64_t used;    /* clocks that are there, a multiple of those of a slot; the others stand at t, whatever v says */
    _Alignas(64) ompp_fine_t v[OMPP_CLOCKS];
} ompp_clock_vector_t;

/** \return what one of its clocks shows. */
static inline ompp_fine_t ompp_clock_vector_at(const ompp_clock_vector_t *vector, unsigned clock)
{
    return clock < vector->used ? vector->v[clock] : vector->t;
}

/** \brief An assignment, without the clocks that are not there. */
static inline void ompp_clock_vector_copy(ompp_clock_vector_t *to, const ompp_clock_vector_t *from)
{
    to->t = from->t;
    to->debt = from->debt;
    to->set = from->set;
    to->used = from->used;
    __builtin_memcpy(to->v, from->v, from->used * sizeof to->v[0]);
}

/** \brief It has so many clocks at least. */
static inline void ompp_clock_vector_widen(ompp_clock_vector_t *vector, uint64_t used)
{
    for (uint64_t i = vector->used; i < used; i++) vector->v[i] = vector->t;
    if (used > vector->used) vector->used = used;
}

/** Where work is done: outside of all regions, in one that can be told from waiting, in one that cannot (calls of
 * MPI), in one that makes tasks. */
typedef enum {
    OMPP_CLOCKS_OUTSIDE,
    OMPP_CLOCKS_INSIDE,
    OMPP_CLOCKS_UNKNOWN,
    OMPP_CLOCKS_MAKES_TASKS,
    OMPP_CLOCKS_WHERE_NUM
} ompp_clocks_where_t;

/** What a context waits for: what passes from the end of that until it goes on is no time on some ideal clocks. */
typedef enum { OMPP_CLOCKS_FOR_THREADS, OMPP_CLOCKS_FOR_LOCK, OMPP_CLOCKS_FOR_RANKS } ompp_clocks_for_t;

/** A context. One thread uses it at a time. First what every event looks at. */
typedef struct {
    _Alignas(64) uint64_t set;
    ompp_time_t since;   /* work is counted until then */
    ompp_time_t waiting; /* it waits since then; 0 = it works */
    ompp_fine_t debt;    /* with delays: to be waited, set by ompp_clocks_join() */
    unsigned used;       /* clocks it has had to do with in this set, a multiple of those of a slot; the others are 0 */
    uint32_t mask;       /* slots whose region it is in */
    uint8_t where;       /* ompp_clocks_where_t */
    uint8_t waits_for;   /* ompp_clocks_for_t; of its next ompp_clocks_join() */
    bool idle;           /* it does no work although it is in them (phases that wait) */
    ompp_time_t worked[OMPP_CLOCKS_WHERE_NUM]; /* ns, in whatever region, over all sets */
    ompp_time_t in_mpi, in_runtime;            /* ns, not yet on ideal clocks: besides waiting */
    _Alignas(64) ompp_fine_t o[OMPP_CLOCKS];
    ompp_time_t work[OMPP_CLOCKS_SLOTS];  /* ns, not yet in o */
    ompp_time_t total[OMPP_CLOCKS_SLOTS]; /* ns booked since the set was chosen */
    uint64_t spans[OMPP_CLOCKS_SLOTS];    /* times that work was booked */
    uint64_t visits[OMPP_CLOCKS_SLOTS];   /* times that the context came into the region */
} ompp_clocks_t;

/** \brief The offset of a clock at the moment work was counted last, with what has not been booked yet. */
ompp_fine_t ompp_clocks_offset(const ompp_clocks_rule_t *rule, const ompp_clocks_t *c, unsigned clock);

/** \brief Counts work until t in the regions the context is in. Earlier times change nothing. */
static inline void ompp_clocks_count(ompp_clocks_t *c, ompp_time_t t)
{
    if (t <= c->since) return;
    const ompp_time_t passed = t - c->since;
    c->since = t;
    if (c->waiting) return;
    if (c->idle || c->where == OMPP_CLOCKS_MAKES_TASKS) c->in_runtime += passed;
    if (c->idle) return;
    if (c->where == OMPP_CLOCKS_UNKNOWN) c->in_mpi += passed;
    c->worked[c->where] += passed;
    for (unsigned m = c->mask; m; m &= m - 1) c->work[__builtin_ctz(m)] += passed;
}

/** \brief It has to do with the slots of mask from now on. */
static inline void ompp_clocks_use(ompp_clocks_t *c, uint32_t mask)
{
    const unsigned used = mask ? (32 - (unsigned)__builtin_clz(mask)) * OMPP_WHATIF_SPEEDUPS : 0;

    if (used > c->used) c->used = used;
}

/** \brief The context is in the regions of mask from t; idle: it does no work there. */
static inline void ompp_clocks_move(ompp_clocks_t *c, uint32_t mask, bool idle, ompp_time_t t)
{
    ompp_clocks_count(c, t);
    for (unsigned m = mask & ~c->mask; m; m &= m - 1) c->visits[__builtin_ctz(m)]++;
    c->mask = mask;
    c->idle = idle;
    ompp_clocks_use(c, mask);
}

/** \brief Work that was counted becomes offsets, by this rule. */
void ompp_clocks_book(const ompp_clocks_rule_t *rule, ompp_clocks_t *c);

/**
 * \brief Another set of regions from t on, which may be in the past: all offsets are 0, work since t is still to be
 *        counted.
 */
void ompp_clocks_reset(ompp_clocks_t *c, uint64_t set, ompp_time_t t);

/** \brief The clock vector becomes what the context publishes at t; work until then is counted and booked. */
void ompp_clocks_publish(const ompp_clocks_rule_t *rule, ompp_clocks_t *c, ompp_clock_vector_t *vector, ompp_time_t t);

/**
 * \brief into is waited for together with other. Associative, commutative; clock vectors of an older set than the
 *        other's say only t.
 */
void ompp_clocks_combine(ompp_clock_vector_t *into, const ompp_clock_vector_t *other);

/** \brief The context begins to wait at t; when it does already, since then. */
static inline void ompp_clocks_wait(ompp_clocks_t *c, ompp_time_t t)
{
    ompp_clocks_count(c, t);
    if (!c->waiting) c->waiting = t ? t : 1;
}

/**
 * \brief The context has waited for what the clock vector says, and goes on at t.
 * \param[in] vector  NULL or nothing published: it goes on with the offsets it has.
 * \param[in] cost   ns from the time of the clock vector until one can go on; see ompp_sync_wait_t.
 * \return with delays: ns that it has to wait from t on, at once, and to tell ompp_clocks_paid(); 0 otherwise.
 */
ompp_time_t ompp_clocks_join(const ompp_clocks_rule_t *rule, ompp_clocks_t *c, const ompp_clock_vector_t *vector,
                             ompp_time_t cost, ompp_time_t t);

/**
 * \brief What passed until the context goes on, ns, after it waited for that, is no time on ideal clocks that have none
 *        of it. ompp_clocks_join() does so itself, but for locks: who takes long to get one may have had no processor.
 */
void ompp_clocks_hand_over(const ompp_clocks_rule_t *rule, ompp_clocks_t *c, ompp_clocks_for_t waits_for,
                           ompp_time_t ns);

/**
 * \brief Before ompp_clocks_join() with this clock vector: it says all that the context itself has come to, and better
 *        (ompp_replay.h). The context's own clocks are not compared with it.
 */
void ompp_clocks_yield(ompp_clocks_t *c, const ompp_clock_vector_t *vector);

/** \brief The context has been delayed until t since it was last counted. */
void ompp_clocks_paid(ompp_clocks_t *c, ompp_time_t t);

/**
 * \brief The context begins at t with what the clock vector says, whatever it was before (member of a team, new
 *        thread).
 */
void ompp_clocks_start(const ompp_clocks_rule_t *rule, ompp_clocks_t *c, const ompp_clock_vector_t *vector,
                       ompp_time_t t);

/**
 * \brief Slots for which the context, as it began to wait, is earlier on virtual clocks than one that really came
 *        before it: in the optimised program the two would come in the other order.
 * \param[in] before  clock vectors of those that came before, combined. \param[in] tolerance  ns.
 */
uint32_t ompp_clocks_overtaken(const ompp_clocks_rule_t *rule, const ompp_clocks_t *c,
                               const ompp_clock_vector_t *before, ompp_time_t tolerance);

/** \brief The same of one clock. */
bool ompp_clocks_overtaken_on(const ompp_clocks_rule_t *rule, const ompp_clocks_t *c, const ompp_clock_vector_t *before,
                              unsigned clock, ompp_time_t tolerance);

#endif
