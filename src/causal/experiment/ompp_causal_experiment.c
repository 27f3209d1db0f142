/*
 * Experiments: which region is made faster, by how much, from when to when. Rank 0 chooses the n-th experiment, and the
 * others follow it. The choice is a hash of (seed, n, key of the region), not a generator with a state: runs with the
 * same seed and the same regions try the same.
 *
 * Experiments follow each other without a gap. In one process each has a set number of its own, and all offsets begin
 * at 0 with it. With several ranks the set stays, once they know each other, and offsets go on from experiment to
 * experiment (run.origin): their differences are used.
 *
 * When one ends: where a unit of work does, at a progress point or at the first place behind it where threads meet. A
 * program without progress points has its units end when the initial thread leaves an outermost parallel region or a
 * barrier. An experiment begins and ends at the same place of a unit: between two places the number of units is not
 * known. Who decides it, and where:
 *
 *   one process         ompp_causal_may_end(), where all threads meet, or wait for this one
 *   one process, locks  ompp_causal_may_end(). Threads do not meet, but pass each other at locks: when an experiment
 *                       begins and ends, each is at another place and has saved another time. So the thread waits for
 *                       some passes of its progress point, until all have reached the steady state (WARM). It measures
 *                       from there to one of its later passes: at both the others are where they always are then.
 *                       Each has to do as much for a unit of work as in the run (ompp_steady.h). Else threads use up
 *                       what is stored between them, and the thread measures again, for longer
 *   ranks that meet     ompp_causal_propose() on rank 0, ompp_causal_follow() on all. It ends in a collective call in
 *                       which all wait for all, the first one after a visit of the progress point. Rank 0 says in its
 *                       clock vector what is next, and all go over to it as they leave the call
 *   other ranks         unsynchronised: ompp_causal_may_end() on rank 0, ompp_causal_follow() on the others. No such
 *                       call has come for long, nor is about to, and all ranks have come to the experiment. It ends
 *                       anywhere on rank 0, and others go over with the first message that says so: by then all have
 *                       sent each other the same messages. Since offsets go on, what is under way between these
 *                       moments counts. What a rank has saved, and the others do not know yet, is the same at both ends
 *                       in the steady state. So a short part comes first that is not measured (settles)
 *
 * Some experiments make nothing faster (control). A unit of work has to take as long in them as it takes in the others
 * once their delays are subtracted. Where the order of events is decided as the program runs, delays change the order.
 * Then units at 0 % are what the others are compared with, and more of them are needed.
 *
 * What an experiment has brought is found from all ranks where they share memory (ompp_causal_shared.c). Otherwise each
 * finds it for itself.
 */
#include "base/ompp_env.h"
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/experiment/ompp_progress_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

#include "runtime/ompp_whatif_record.h"

#include <string.h>

#define SHORTEST_NS 20000000u /* of an experiment */
#define OVERDUE 4u            /* times the shortest one, without a place where a unit of work ends */
#define SETTLED 2u            /* a part that lets ranks get into step */
#define FIRST_OVERDUE 2u      /* the first one, for which nothing has to end */
#define WARM 5u               /* passes of a thread until the experiment is in its stride, when threads do not meet */
#define PASSES 6u             /* passes from then on, at least */
#define SOON_NS 1000000000u   /* until ranks meet again, or one part in so many of the run: that is waited for */
#define SOON_PART 20u
#define SOON_MOST_NS 2000000000u
#define PATIENCE 8u /* times the shortest one, or one part in so many of the run, until threads are in step */
#define FOREVER_NS 2000000000u /* without so many passes of one thread */
#define CONTROL 8u             /* one experiment in so many makes nothing faster, where that is a check only */
#define UNCONTROLLED 4u        /* the first ones do */
#define BUDGET 0.3             /* part of the run that delays may take */

static struct {
    _Atomic uint32_t lock;
    ompp_time_t first; /* begin of all, and of the present one */
    ompp_time_t begin;
    ompp_time_t begun;           /* that of the one before */
    ompp_time_t paid;            /* of those that are over */
    uint64_t visits, changes;    /* at the begin of the present one, as what follows; changes: of the progress point */
    _Atomic uint64_t met_visits; /* visits when all ranks, or threads, met last */
    ompp_causal_seen_t seen;
    ompp_fine_t saved, baseline;
    ompp_fine_t counted;     /* of the clock of delays, what is in paid; not of experiments alone: at the end, too */
    _Atomic uint64_t origin; /* number of the one that offsets began with; 0 = ranks do not know each other yet */
    _Atomic bool message;    /* sent or received, in the present one */
    _Atomic unsigned come; /* ranks that had come to an experiment when rank 0 waited no longer; 0 = it always waits */
    _Atomic ompp_time_t gave_up; /* then */
    bool unsynchronised;         /* ranks have begun the present one at different moments */
    bool at_point;               /* it has begun at the progress point, not where all met behind it */
    _Atomic bool spoilt;
} run;

void ompp_causal_spoil(void)
{
    atomic_store_explicit(&run.spoilt, true, memory_order_relaxed);
    ompp_causal_shared_spoil(ompp_causal_experiment.number);
}

ompp_time_t ompp_causal_budget(ompp_time_t t)
{
    return run.first && t > run.first ? (ompp_time_t)(BUDGET * (double)(t - run.first)) : 0;
}

/* \return one in so many is at 0 %, when there are n others to compare with: the difference is best known with sqrt(n)
 * as many. */
static uint64_t one_in(unsigned n)
{
    uint64_t root = 1;

    while (root * root < n) root++;
    return ompp_causal_any_reordered() ? 1 + root : CONTROL;
}

static ompp_causal_experiment_t choose(uint64_t n, ompp_time_t t)
{
    static const unsigned percents[] = {25, 50, 75, 100};
    unsigned nregions = 0;
    ompp_causal_experiment_t chosen = {.number = n, .slot = ompp_causal_choice(n, t, &nregions), .known = -1};

    if (chosen.slot >= 0) chosen.known = ompp_causal_known((unsigned)chosen.slot);
    chosen.percent = ompp_env.causal_speedup ? (unsigned)ompp_env.causal_speedup : percents[ompp_causal_draw(n, 1) % 4];
    if (n > UNCONTROLLED && ompp_causal_draw(n, 2) % one_in(nregions * (ompp_env.causal_speedup ? 1 : 4)) == 0)
        chosen.percent = 0;
    return chosen;
}

/* Ranks take over from each other what they have saved in all experiments; in one process each begins at 0. */
static bool goes_on(void) { return ompp_whatif_ranks() > 1 && atomic_load_explicit(&run.origin, memory_order_relaxed); }

static bool is_worth_it(void)
{
    return ompp_causal_experiment.slot >= 0 && !ompp_causal_experiment.settles && !atomic_load(&run.spoilt);
}

/*
 * Where this rank is, for the cut between two experiments. A rank that hears of the cut by a message tells where it
 * began to wait for that message, provided that this was after the previous experiment began.
 */
static void tell_place(const ompp_causal_thread_t *self, uint64_t number, uint64_t visits, ompp_time_t t,
                       bool unsynchronised)
{
    const bool on = goes_on(), heard = unsynchronised && on && ompp_whatif_rank() > 0 && self->arrival.t > run.begun;
    const ompp_causal_at_t now = on ? ompp_causal_here(self, t) : (ompp_causal_at_t){.t = t};

    ompp_causal_shared_went_over(number, visits, &now, heard ? &self->arrival : &now);
}

/* Threads go over to it at their next event. */
static void begin(const ompp_causal_thread_t *self, ompp_causal_experiment_t next, uint64_t visits, ompp_time_t t,
                  bool unsynchronised)
{
    const bool on = goes_on();

    run.begun = run.begin;
    ompp_causal_latency_turn(is_worth_it(), on ? atomic_load(&ompp_causal.set) : next.number + 1, next.number);
    ompp_causal_average_begin(visits);
    if (!run.first) run.first = t;
    run.begin = t;
    run.visits = visits;
    run.changes = ompp_progress_changes();
    run.seen = ompp_causal_result_seen(&next, t);
    if (!on) run.seen.visits = 0;
    run.saved = on ? ompp_clocks_offset(&ompp_causal.rule, &self->clocks, OMPP_CLOCKS_EXPERIMENT) : 0;
    run.baseline = on ? ompp_clocks_later(run.baseline, self->clocks.o[OMPP_CLOCKS_BASELINE]) : 0;
    if (!on) run.counted = 0;
    tell_place(self, next.number, visits, t, unsynchronised);
    ompp_causal_shared_take(false);
    ompp_causal_result_until(t);
    run.unsynchronised = unsynchronised;
    atomic_store(&run.message, false);
    atomic_store(&run.spoilt, false);
    if (!on && ompp_whatif_ranks() > 1) atomic_store(&run.origin, next.number);
    ompp_causal_experiment = next;
    ompp_causal.rule.percent[0] = next.slot >= 0 ? next.percent : 0;
    ompp_causal.first_counted = next.slot >= 0 ? (unsigned)next.slot : 0;
    ompp_causal.counted = next.slot >= 0;
    atomic_store(&ompp_causal.set_begin, t);
    atomic_store(&ompp_causal.experiment, next.number);
    if (!on) atomic_store(&ompp_causal.set, next.number + 1);
}

static ompp_causal_experiment_t next_one(ompp_time_t t, bool unsynchronised)
{
    const ompp_causal_experiment_t now = ompp_causal_experiment;
    const bool over_budget = run.first && run.paid > ompp_causal_budget(t);
    ompp_causal_experiment_t next = {.number = now.number + 1, .slot = -1, .known = -1};

    if (now.settles) {
        next.slot = now.slot;
        next.known = now.known;
        next.percent = now.percent;
    } else if (!over_budget) {
        next = choose(next.number, t);
        next.settles = unsynchronised && next.slot >= 0 &&
                       (next.slot != now.slot || next.percent != now.percent || !run.unsynchronised);
    }
    return next;
}

/* What was done in the present experiment until t, since what was seen before. */
static ompp_causal_seen_t seen_since(const ompp_causal_seen_t *before, ompp_time_t t)
{
    ompp_causal_seen_t seen = ompp_causal_result_seen(&ompp_causal_experiment, t);

    seen.work = seen.work > before->work ? seen.work - before->work : 0;
    if (seen.visits >= before->visits) seen.visits -= before->visits; /* less: it was begun anew */
    return seen;
}

/* How it ends. */
typedef struct {
    bool warm;           /* counted since its threads had reached the steady state (self->warm) */
    bool at_point;       /* at the progress point, not where all meet */
    bool unsynchronised; /* at different moments on the ranks */
} end_t;

/*
 * The present experiment is over: so much was saved and paid between what was noted at its begin, or when it was warm,
 * and t. One that begins where ranks meet and ends unsynchronised, or the other way round, is better than nothing.
 */
static void finish(const ompp_causal_thread_t *self, end_t end, uint64_t visits, ompp_time_t t)
{
    const bool warm = end.warm, unsynchronised = end.unsynchronised;
    const ompp_causal_at_t begin = {run.begin, run.saved, run.baseline}, from = warm ? self->warm.at : begin;
    const ompp_causal_at_t to = ompp_causal_here(self, t);
    const ompp_causal_seen_t seen = seen_since(warm ? &self->warm.seen : &run.seen, t);
    const uint64_t visits_before = warm ? self->warm.visits : run.visits;
    /* Before the first visit, when another point has taken over, and from one place of a unit to another, the units in
     * it are not known. */
    const bool same_place = warm || end.at_point == run.at_point;
    const bool units = visits_before && run.changes == ompp_progress_changes() && same_place;
    const ompp_whatif_block_t block = {.number = (uint32_t)ompp_causal_experiment.number,
                                       .visits = units ? (uint32_t)(visits - visits_before) : 0,
                                       .time_ns = t > from.t ? t - from.t : 0,
                                       .saved_ns = (int64_t)ompp_clocks_ns(to.saved - from.saved),
                                       .paid_ns = ompp_clocks_ns(to.paid - from.paid),
                                       .work_ns = seen.work};

    if ((run.unsynchronised || unsynchronised) && ompp_causal_experiment.percent)
        ompp_causal_watch(OMPP_WHATIF_BIT_UNSYNCHRONISED, 1u << ompp_causal_experiment.slot);
    if (ompp_causal_experiment.settles ||
        (run.unsynchronised != unsynchronised && ompp_causal_result_has(&ompp_causal_experiment)))
        return;
    if (atomic_load(&run.spoilt) || block.paid_ns >= block.time_ns || block.saved_ns > (int64_t)block.time_ns) return;
    if (warm) ompp_causal_step_add(ompp_causal_experiment.known, &self->warm.flows, visits, t);
    ompp_causal_result_add(&ompp_causal_experiment, &block, &seen);
}

/* Ranks of a node take part in it by what each has done, also one that has met nobody. */
static void tell_node(ompp_time_t t)
{
    const ompp_causal_seen_t seen = seen_since(&run.seen, t);

    ompp_causal_shared_did(ompp_causal_experiment.number, &seen);
}

/* No other thread is on its way: all are done, or wait at a barrier. */
static bool is_alone(const ompp_causal_thread_t *self)
{
    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next) {
        if (p == self || !atomic_load_explicit(&p->used, memory_order_relaxed)) continue;
        if (!p->clocks.waiting || (p->wait.kind != OMPP_SYNC_BARRIER && p->wait.kind != OMPP_SYNC_POSIX_BARRIER))
            return false;
    }
    return true;
}

static void begin_warm(ompp_causal_thread_t *self, uint64_t visits, ompp_time_t t)
{
    self->warm.passes = WARM;
    self->warm.at = ompp_causal_here(self, t);
    self->warm.visits = visits;
    self->warm.seen = ompp_causal_result_seen(&ompp_causal_experiment, t);
    ompp_causal_flows(visits, t, &self->warm.flows);
}

static bool is_patient(ompp_time_t t)
{
    return t < run.begin + PATIENCE * SHORTEST_NS || (t - run.begin) * PATIENCE < t - run.first;
}

/* The thread passes its progress point. \return whether it has been there often enough for an experiment. */
static bool passes_enough(ompp_causal_thread_t *self, uint64_t visits, ompp_time_t t)
{
    if (self->warm.set != self->clocks.set) {
        memset(&self->warm, 0, sizeof self->warm);
        self->warm.set = self->clocks.set;
    }
    if (++self->warm.passes == WARM) begin_warm(self, visits, t);
    if (self->warm.passes < WARM + (PASSES << self->warm.tries) || t < self->warm.at.t + SHORTEST_NS) return false;
    if (ompp_causal_in_step(&self->warm.flows, visits, t) || !is_patient(t)) return true;
    self->warm.tries++;
    begin_warm(self, visits, t);
    return false;
}

static bool is_in_it(const ompp_causal_thread_t *self)
{
    return ompp_causal_experiment.slot >= 0 && self->clocks.set == atomic_load(&ompp_causal.set) &&
           self->experiment == atomic_load(&ompp_causal.experiment);
}

/* A rank that has sent and received nothing knows how fast it is itself, not how fast the program is. */
static bool has_met_others(void) { return ompp_whatif_ranks() <= 1 || atomic_load(&run.message); }

void ompp_causal_note_message(void)
{
    if (!atomic_load_explicit(&run.message, memory_order_relaxed))
        atomic_store_explicit(&run.message, true, memory_order_relaxed);
}

uint64_t ompp_causal_origin(void) { return atomic_load_explicit(&run.origin, memory_order_relaxed); }

void ompp_causal_take_origin(ompp_causal_thread_t *self, uint64_t origin)
{
    if (!origin) return;
    if (!ompp_causal_origin()) {
        ompp_causal_lock(&run.lock);
        if (!ompp_causal_origin()) {
            atomic_store(&ompp_causal.set, origin + 1);
            atomic_store(&run.origin, origin);
        }
        ompp_causal_unlock(&run.lock);
    }
    ompp_causal_settle(self);
}

/* What it has saved by itself is nothing that others are to wait for. */
static void forget_alone(ompp_causal_thread_t *self)
{
    if (!goes_on() || has_met_others()) return;
    ompp_clocks_book(&ompp_causal.rule, &self->clocks);
    self->clocks.o[OMPP_CLOCKS_EXPERIMENT] = run.saved;
}

/* Under the lock. What was counted before is not counted again. */
static void count_paid(const ompp_causal_thread_t *self)
{
    const ompp_fine_t by_now = self->clocks.o[OMPP_CLOCKS_BASELINE];
    const uint64_t paid = ompp_clocks_ns(by_now - run.counted);

    if (self->clocks.set != atomic_load(&ompp_causal.set)) return;
    run.paid += paid;
    run.counted = ompp_clocks_later(run.counted, by_now);
    ompp_causal_result_paid(paid);
}

/* Under the lock: the thread finds that the present experiment is over. */
static void end(ompp_causal_thread_t *self, end_t how, uint64_t visits, ompp_time_t t)
{
    ompp_clocks_count(&self->clocks, t);
    count_paid(self);
    if (ompp_causal_shared_is_there()) tell_node(t);
    else if (is_in_it(self) && has_met_others()) finish(self, how, visits, t);
}

/* What the initial thread has not waited for has not delayed it. */
void ompp_causal_experiment_finish(const ompp_causal_thread_t *self)
{
    uint32_t free_lock = 0;

    if (!run.first || !self->main) return;
    /* perhaps for ever: the program ends in a signal handler */
    if (!atomic_compare_exchange_strong(&run.lock, &free_lock, 1)) return;
    count_paid(self);
    ompp_causal_unlock(&run.lock);
}

/* As they have done: an experiment ends best where all ranks meet. */
static bool meets_soon(ompp_time_t t)
{
    const ompp_time_t passed = run.first && t > run.first ? t - run.first : 0, soon = passed / SOON_PART;

    return ompp_causal_meets_by(t, soon < SOON_NS ? SOON_NS : soon < SOON_MOST_NS ? soon : SOON_MOST_NS);
}

bool ompp_causal_is_overdue(ompp_time_t t)
{
    const unsigned times = !ompp_causal_experiment.number   ? FIRST_OVERDUE
                           : ompp_causal_experiment.settles ? SETTLED
                                                            : OVERDUE;

    if (!run.begin) run.begin = t; /* before the first one: from when on it is waited for ranks to meet */
    return t > run.begin + times * SHORTEST_NS && !meets_soon(t);
}

/*
 * An experiment that some have not come to yet says nothing, nor does the one before. Ranks that did not come in time
 * are not waited for again, until more come, or the run is twice as long.
 */
static bool all_are_in_it(ompp_time_t t)
{
    const unsigned come = ompp_causal_shared_count(ompp_causal_experiment.number), few = atomic_load(&run.come);
    const ompp_time_t gave_up = atomic_load(&run.gave_up);

    if (!ompp_causal_shared_is_there() || !ompp_causal_experiment.number || come >= ompp_whatif_ranks()) return true;
    const bool again = few && (come > few || t - run.first > 2 * (gave_up - run.first));
    if (few && !again && come >= few) return true;
    if (is_patient(t)) return false;
    atomic_store(&run.come, come);
    atomic_store(&run.gave_up, t);
    return true;
}

/*
 * Its region has done something: where regions have their turns, one to each unit of work, an experiment of one unit
 * would be with one that is over, or to come. Those at 0 % wait for theirs, too: they are compared with the others. Of
 * a region that other ranks are in alone nothing is known here.
 */
static bool has_seen_region(ompp_time_t t)
{
    const ompp_causal_experiment_t *e = &ompp_causal_experiment;

    if (e->slot < 0 || !run.seen.work) return true;
    return ompp_causal_result_seen(e, t).work > run.seen.work + (t - run.begin) / OMPP_CAUSAL_SEEN || !is_patient(t);
}

/* So long, and with so much done, that it may end. */
static bool is_due(uint64_t visits, ompp_time_t t)
{
    if (t < run.begin + SHORTEST_NS || visits < run.visits) return false;
    if (ompp_causal_experiment.settles) return true;
    return (visits > run.visits || !run.visits) && has_seen_region(t);
}

bool ompp_causal_visited_since_met(uint64_t visits)
{
    uint64_t met = atomic_load(&run.met_visits);

    while (visits > met && !atomic_compare_exchange_weak(&run.met_visits, &met, visits)) continue;
    return visits > met || !visits;
}

bool ompp_causal_propose(uint64_t visits, ompp_time_t t, ompp_causal_experiment_t *next)
{
    if (ompp_whatif_rank() != 0 || ompp_whatif_ranks() <= 1 || t < run.begin + SHORTEST_NS) return false;
    if ((visits && visits <= atomic_load(&run.met_visits)) || !is_due(visits, t)) return false;
    *next = next_one(t, false);
    ompp_causal_shared_announce(next, false);
    return true;
}

/* Several ranks, and no collective call of all: they go over to the next experiment at different moments. */
static bool may_end_unsynchronised(ompp_time_t t) { return ompp_causal_is_overdue(t) && all_are_in_it(t); }

/* The thread passes its progress point while others work: the experiment ends at one of its passes. */
static bool may_end_in_passing(ompp_causal_thread_t *self, uint64_t visits, ompp_time_t t)
{
    return !is_in_it(self) || passes_enough(self, visits, t) || t >= run.begin + FOREVER_NS;
}

/* Whether this is a place for the end; is_due() says whether it is the time. */
static bool is_place_of_end(ompp_causal_thread_t *self, bool passing, uint64_t visits, ompp_time_t t)
{
    if (ompp_whatif_ranks() > 1) return may_end_unsynchronised(t);
    return passing ? may_end_in_passing(self, visits, t) : ompp_causal_visited_since_met(visits);
}

void ompp_causal_may_end(ompp_causal_thread_t *self, uint64_t visits, unsigned teams, ompp_time_t t)
{
    uint32_t free_lock = 0;

    if (ompp_whatif_rank() > 0) return; /* rank 0 leads */
    const bool unsynchronised = ompp_whatif_ranks() > 1, at_point = teams == OMPP_CAUSAL_ANYWHERE && !unsynchronised,
               passing = at_point && !is_alone(self);
    if (!is_place_of_end(self, passing, visits, t) || !is_due(visits, t)) return;
    if (!atomic_compare_exchange_strong(&run.lock, &free_lock, 1)) return; /* another thread is ending it */
    if (!is_due(visits, t)) {                                              /* another thread has ended it */
        ompp_causal_unlock(&run.lock);
        return;
    }
    end(self, (end_t){passing && self->warm.passes > WARM, at_point, unsynchronised}, visits, t);
    forget_alone(self);
    run.at_point = at_point;
    const ompp_causal_experiment_t next = next_one(t, unsynchronised);
    ompp_causal_shared_announce(&next, unsynchronised);
    begin(self, next, visits, t, unsynchronised);
    ompp_causal_unlock(&run.lock);
    ompp_causal_settle(self);
}

void ompp_causal_follow(ompp_causal_thread_t *self, ompp_time_t t)
{
    const uint64_t number = self->proposed.number, key = self->proposed.key, visits = ompp_progress_visits(t);
    ompp_causal_experiment_t next = {.number = number,
                                     .slot = -1,
                                     .known = -1,
                                     .percent = (unsigned)self->proposed.percent,
                                     .settles = self->proposed.settles};
    const bool unsynchronised = self->proposed.unsynchronised;
    uint32_t free_lock = 0;

    self->proposed.number = 0;
    if (number <= ompp_causal_experiment.number || next.percent > 100) return;
    /* the first one begins where all meet, or is told with its origin */
    if (number > 1 && !ompp_causal_origin()) return;
    if (!atomic_compare_exchange_strong(&run.lock, &free_lock, 1)) return;
    if (number <= ompp_causal_experiment.number) { /* another thread has begun it */
        ompp_causal_unlock(&run.lock);
        return;
    }
    if (key) next.slot = ompp_causal_replace_slot(key, number, t);
    if (next.slot >= 0) next.known = ompp_causal_known((unsigned)next.slot);
    end(self, (end_t){.unsynchronised = unsynchronised}, visits > run.visits ? visits : run.visits, t);
    begin(self, next, visits, t, unsynchronised);
    ompp_causal_unlock(&run.lock);
    ompp_causal_settle(self);
}
