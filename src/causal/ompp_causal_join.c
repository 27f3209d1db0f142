/*
 * Moments that may end a unit of work, a turn or an experiment: progress points, joins and barriers.
 */
#include "base/ompp_hash.h"
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/experiment/ompp_progress_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

void ompp_causal_moment(ompp_causal_thread_t *self, uint64_t visits, unsigned teams, ompp_time_t t)
{
    if (visits && !ompp_causal_is_suspended(self)) ompp_causal_result_block(self, visits, t);
    ompp_causal_may_turn(self, teams, t);
    ompp_causal_may_write(self, t);
}

void ompp_causal_may_end_unit(ompp_causal_thread_t *self, ompp_region_ref_t region, ompp_time_t t)
{
    if (region) ompp_progress_candidate(region, false, t);
    ompp_causal.mode->moment(self, ompp_progress_visits(t), region ? 0 : 1,
                             t); /* the region is left, the barrier is the team's */
}

/* The same place again is found without looking at its region. */
static ompp_progress_candidate_t *passed_at(ompp_causal_thread_t *self, ompp_off_t node)
{
    const unsigned i = ompp_hash_place32(node >> 4, 6);
    _Static_assert(OMPP_CAUSAL_PASSED == 1u << 6, "the hash is as long as the table");

    if (self->passed[i].node != node) {
        const ompp_region_ref_t region = ompp_meter_region(node);
        ompp_progress_candidate_t *candidate = ompp_progress_find(region, !ompp_causal_forks(node));
        self->passed[i].node = candidate || !region ? node : 0;
        self->passed[i].candidate = candidate;
    }
    return self->passed[i].candidate;
}

/* Nobody tells of joins while clocks are suspended: the barrier at the end of a team stands for it. */
static void pass_barrier(ompp_causal_thread_t *self, ompp_time_t t)
{
    const ompp_off_t node = ompp_meter_last();
    ompp_progress_candidate_t *candidate = passed_at(self, node);

    ompp_causal_opportunity(t);
    if (__builtin_expect(atomic_load_explicit(&ompp_causal.moves_reported, memory_order_relaxed), 0))
        ompp_causal_stop_moves();
    if (t >= atomic_load_explicit(&ompp_causal.look, memory_order_relaxed)) {
        ompp_causal_may_turn(self, 1, t);
        if (!ompp_causal_is_suspended(self) && ompp_causal_forks(node)) return; /* the join is still to be told */
    }
    if (candidate) ompp_progress_pass(candidate, t);
}

/* The initial thread has left a barrier of its team, or of other threads. The join behind that of the team's end is
 * still to be told. */
static void at_barrier(ompp_causal_thread_t *self, ompp_time_t t)
{
    if (ompp_causal_forks(self->node)) return;
    ompp_progress_candidate(ompp_meter_region(self->node), true, t);
    ompp_causal_may_end_unit(self, 0, t);
}

void ompp_causal_left_barrier(ompp_causal_thread_t *self, ompp_time_t t)
{
    if (ompp_causal_is_suspended(self)) pass_barrier(self, t);
    else at_barrier(self, t);
}
