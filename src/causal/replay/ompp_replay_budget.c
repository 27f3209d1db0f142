/*
 * A share of the run time, and an estimate by sampling for what it does not reach.
 */
#include "causal/replay/ompp_replay_budget.h"

#include "base/ompp_hash.h"

#include <string.h>

#define HORIZON 64.0   /* what there is left may be spent on so many stretches */
#define LEAST_PART 4.0 /* of the probability in the long run that one has when nothing is left */
#define ALONE 1e-6 /* weight of one that stands for itself only: it speaks for others as long as nothing else does */

static double between(double least, double x, double most) { return x > most ? most : x < least ? least : x; }

/* ---- Which ones -------------------------------------------------------------------------------------------------- */

/* By splitmix64: in [0, 1). */
static double draw(ompp_replay_budget_t *budget)
{
    return (double)(ompp_hash_mix(budget->chance += OMPP_HASH_STEP) >> 43) / (double)(1u << 21);
}

/* From what there is left and what one costs; never nothing, so that each kind can be met. */
static double probability(const ompp_replay_budget_t *budget, ompp_time_t passed)
{
    const double share = (double)passed / OMPP_REPLAY_BUDGET_PART,
                 left = OMPP_REPLAY_BUDGET_FREE + share - (double)budget->charged;
    const double cost = budget->paid ? (double)budget->charged / (double)budget->paid : 0;

    if (left >= HORIZON * cost) return 1;
    const double fair = share / (double)budget->begun / cost, p = left / (HORIZON * cost);
    if (left > 0 && fair >= 1) return 1;
    return between(fair < LEAST_PART ? fair / LEAST_PART : 1, p, 1);
}

double ompp_replay_budget_allows(ompp_replay_budget_t *budget, ompp_time_t passed)
{
    const double p = probability(budget, passed);

    budget->begun++;
    if (p >= 1 || draw(budget) < p) return p;
    budget->kept++;
    return 0;
}

void ompp_replay_budget_charge(ompp_replay_budget_t *budget, ompp_time_t charged)
{
    budget->charged += charged;
    budget->paid++;
}

/* ---- What they bring --------------------------------------------------------------------------------------------- */

/* \return whether the present set is this one; a newer one takes its place. */
static bool is_of(ompp_replay_budget_t *budget, uint64_t set)
{
    if (set > budget->learnt.set) {
        memset(&budget->learnt, 0, sizeof budget->learnt);
        budget->learnt.set = set;
    }
    return set == budget->learnt.set;
}

void ompp_replay_budget_learn(ompp_replay_budget_t *budget, const ompp_clock_vector_t *before,
                              const ompp_clock_vector_t *after, ompp_fine_t length, double p)
{
    ompp_replay_budget_learnt_t *l = &budget->learnt;
    const double weight = p < 1 ? 1 / p - 1 : ALONE;

    budget->replayed++;
    if (!is_of(budget, after->set)) return;
    l->replayed++;
    if (length <= 0) return;
    if (after->used > l->used) l->used = (unsigned)after->used;
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) {
        const ompp_fine_t more = ompp_clock_vector_at(before, i) - ompp_clock_vector_at(after, i);
        if (l->length <= 0 || more / length < l->least[i]) l->least[i] = more / length;
        if (l->length <= 0 || more / length > l->most[i]) l->most[i] = more / length;
        l->more[i] += weight * more;
    }
    l->length += weight * length;
}

void ompp_replay_budget_give_up(ompp_replay_budget_t *budget) { budget->spoiled++; }

bool ompp_replay_budget_estimate(ompp_replay_budget_t *budget, ompp_clock_vector_t *vector, ompp_fine_t length)
{
    ompp_replay_budget_learnt_t *l = &budget->learnt;

    if (!is_of(budget, vector->set)) return false;
    l->kept++;
    if (length <= 0) return false;
    l->others += length;
    if (l->length <= 0) return false;
    ompp_clock_vector_widen(vector, l->used);
    for (unsigned i = 0; i < l->used; i++) {
        const double due = l->more[i] / l->length * l->others - l->given[i];
        const ompp_fine_t more = (ompp_fine_t)(int64_t)between(l->least[i] * length, due, l->most[i] * length);
        l->given[i] += more;
        vector->v[i] -= more;
    }
    return l->replayed * OMPP_REPLAY_BUDGET_ENOUGH >= l->replayed + l->kept;
}
