/*
 * Results of experiments with delays, in the arena: what blocks with a faster region have taken, and blocks without.
 */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/experiment/ompp_unsynchronised.h"
#include "causal/result/ompp_causal_result_shared_priv.h"

#include "runtime/ompp_whatif_record.h"

#define SPEEDUPS OMPP_WHATIF_SPEEDUPS

static ompp_unsynchronised_t unsynchronised_of[OMPP_CAUSAL_KNOWN]; /* known regions */

/* Of the region that is being tried: it may have no slot any longer. NULL = it is of none here. */
static ompp_a_whatif_region_t *record_of(const ompp_causal_experiment_t *e)
{
    return e->known >= 0 ? ompp_causal_known_record((unsigned)e->known) : NULL;
}

ompp_causal_seen_t ompp_causal_result_seen(const ompp_causal_experiment_t *experiment, ompp_time_t t)
{
    ompp_causal_seen_t seen;

    ompp_causal_sum_threads(0, &seen, 0);
    seen.work = experiment->slot >= 0 ? ompp_causal_done_by_key(ompp_causal_key((unsigned)experiment->slot), t) : 0;
    return seen;
}

void ompp_causal_result_paid(ompp_time_t paid) { atomic_fetch_add(&ompp_causal_results.whatif->paid_ns, paid); }

bool ompp_causal_result_has(const ompp_causal_experiment_t *experiment)
{
    ompp_a_whatif_region_t *record = record_of(experiment);

    if (!experiment->percent) return ompp_causal_results.whatif->control.observations > 0;
    for (unsigned k = 0; record && k < SPEEDUPS; k++)
        if (record->result.clocks[k].permille == experiment->percent * 10)
            return record->result.clocks[k].observations > 0;
    return false;
}

/* Of an experiment that makes nothing faster. */
static void add_control(const ompp_whatif_block_t *block)
{
    ompp_a_whatif_t *w = ompp_causal_results.whatif;

    ompp_causal_lock(&ompp_causal_results.lock);
    atomic_fetch_add_explicit(&w->sequence, 1, memory_order_acq_rel);
    w->control.time_ns += block->time_ns;
    w->control.observations++;
    ompp_whatif_block_t *to = ompp_causal_next_block(&w->control);
    *to = *block;
    to->work_ns = 0; /* of one region here, of another there */
    atomic_fetch_add_explicit(&w->sequence, 1, memory_order_release);
    ompp_causal_unlock(&ompp_causal_results.lock);
}

/* Its region did something in it. Of ranks that do not share memory each knows its own part alone. */
static bool saw_region(const ompp_whatif_block_t *block)
{
    const bool all = ompp_causal_shared_is_there() || ompp_whatif_ranks() <= 1;

    return !all || block->work_ns > block->time_ns / OMPP_CAUSAL_SEEN;
}

void ompp_causal_result_add(const ompp_causal_experiment_t *experiment, const ompp_whatif_block_t *block,
                            const ompp_causal_seen_t *seen)
{
    ompp_a_whatif_region_t *record = record_of(experiment);
    ompp_whatif_clock_t *clock =
        record && experiment->percent ? ompp_causal_clock_of(record, experiment->percent) : NULL;

    if (!experiment->percent) add_control(block);
    if (!clock) return;
    ompp_unsynchronised_t *unsynchronised = &unsynchronised_of[experiment->known];
    ompp_causal_lock(&ompp_causal_results.lock);
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
    clock->time_ns += block->time_ns;
    clock->saved_ns += (uint64_t)block->saved_ns;
    clock->paid_ns += block->paid_ns;
    clock->work_ns += seen->work;
    clock->observations += saw_region(block);
    *ompp_causal_next_block(clock) = *block;
    record->result.work_ns += seen->work;
    record->result.visits += seen->visits;
    record->result.followed_ns += block->time_ns;
    ompp_unsynchronised_note(unsynchronised, (unsigned)(clock - record->result.clocks), experiment->unsynchronised,
                             experiment->drifts);
    if (experiment->slot >= 0) record->result.flags = ompp_causal_flags_of((unsigned)experiment->slot);
    else record->result.flags &= ~(uint32_t)OMPP_WHATIF_F_UNSYNCHRONISED;
    if (ompp_unsynchronised_matters(unsynchronised, record->result.clocks))
        record->result.flags |= OMPP_WHATIF_F_UNSYNCHRONISED;
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
    ompp_causal_unlock(&ompp_causal_results.lock);
}

/* What is known of experiments at the end only: by the average of all the run, by all of them. */
static void judge(unsigned known, ompp_time_t t)
{
    ompp_a_whatif_region_t *record = ompp_causal_known_record(known);
    const uint32_t flags = (ompp_causal_is_transient(known, t) ? OMPP_WHATIF_F_TRANSIENT : 0) |
                           (atomic_load(&ompp_causal.lacks_ranks) ? OMPP_WHATIF_F_UNSYNCHRONISED : 0) |
                           (ompp_causal_results.oversubscribed ? OMPP_WHATIF_F_OVERSUBSCRIBED : 0);

    if (!record || !flags) return;
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
    record->result.flags |= flags;
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
}

/* With delays: work of the whole run. */
static void write_work(unsigned known, ompp_time_t t)
{
    ompp_a_whatif_region_t *record = ompp_causal_known_record(known);
    const ompp_time_t done = ompp_causal_done(known, t);

    if (!record) return;
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_acq_rel);
    record->result.total_ns = done;
    atomic_fetch_add_explicit(&record->sequence, 1, memory_order_release);
}

void ompp_causal_result_until(ompp_time_t t)
{
    ompp_causal_lock(&ompp_causal_results.lock);
    if (!ompp_causal_results.closed) {
        ompp_causal_write_totals(false, t);
        for (unsigned i = 0; i < ompp_causal_nknown(); i++) write_work(i, t);
    }
    ompp_causal_unlock(&ompp_causal_results.lock);
}

/* Under the lock. */
void ompp_causal_result_experiments(ompp_causal_thread_t *self, bool goes_on, ompp_time_t t)
{
    (void)self, (void)goes_on;
    for (unsigned i = 0; i < ompp_causal_nknown(); i++) {
        write_work(i, t);
        judge(i, t);
    }
}
