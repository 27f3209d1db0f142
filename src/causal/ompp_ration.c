/*
 * A share of the run time, and an estimate by sampling for what it does not reach.
 */
#include "causal/ompp_ration.h"

#include <string.h>

#define HORIZON 64.0   /* what there is left may be spent on so many stretches */
#define LEAST_PART 4.0 /* of the probability in the long run that one has when nothing is left */
#define ALONE 1e-6 /* weight of one that stands for itself only: it speaks for others as long as nothing else does */

static double between(double least, double x, double most) { return x > most ? most : x < least ? least : x; }

/* ---- Which ones -------------------------------------------------------------------------------------------------- */

/* By a generator with a Weyl sequence (splitmix64): in [0, 1). */
static double draw(ompp_ration_t *ration)
{
    uint64_t x = ration->chance += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)(x >> 43) / (double)(1u << 21);
}

/* From what there is left and what one costs; never nothing, so that each kind can be met. */
static double probability(const ompp_ration_t *ration, ompp_time_t passed)
{
    const double share = (double)passed / OMPP_RATION_PART, left = OMPP_RATION_FREE + share - (double)ration->spent;
    const double cost = ration->paid ? (double)ration->spent / (double)ration->paid : 0;

    if (left >= HORIZON * cost) return 1;
    const double fair = share / (double)ration->begun / cost, p = left / (HORIZON * cost);
    if (left > 0 && fair >= 1) return 1;
    return between(fair < LEAST_PART ? fair / LEAST_PART : 1, p, 1);
}

double ompp_ration_allows(ompp_ration_t *ration, ompp_time_t passed)
{
    const double p = probability(ration, passed);

    ration->begun++;
    if (p >= 1 || draw(ration) < p) return p;
    ration->kept++;
    return 0;
}

void ompp_ration_spend(ompp_ration_t *ration, ompp_time_t spent)
{
    ration->spent += spent;
    ration->paid++;
}

/* ---- What they bring --------------------------------------------------------------------------------------------- */

/* \return whether the present set is this one; a newer one takes its place. */
static bool is_of(ompp_ration_t *ration, uint64_t set)
{
    if (set > ration->learnt.set) {
        memset(&ration->learnt, 0, sizeof ration->learnt);
        ration->learnt.set = set;
    }
    return set == ration->learnt.set;
}

void ompp_ration_learn(ompp_ration_t *ration, const ompp_stamp_t *before, const ompp_stamp_t *after, ompp_fine_t length,
                       double p)
{
    ompp_ration_learnt_t *l = &ration->learnt;
    const double weight = p < 1 ? 1 / p - 1 : ALONE;

    ration->replayed++;
    if (!is_of(ration, after->set)) return;
    l->replayed++;
    if (length <= 0) return;
    if (after->used > l->used) l->used = (unsigned)after->used;
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) {
        const ompp_fine_t more = ompp_stamp_v(before, i) - ompp_stamp_v(after, i);
        if (l->length <= 0 || more / length < l->least[i]) l->least[i] = more / length;
        if (l->length <= 0 || more / length > l->most[i]) l->most[i] = more / length;
        l->more[i] += weight * more;
    }
    l->length += weight * length;
}

void ompp_ration_give_up(ompp_ration_t *ration) { ration->spoiled++; }

bool ompp_ration_estimate(ompp_ration_t *ration, ompp_stamp_t *stamp, ompp_fine_t length)
{
    ompp_ration_learnt_t *l = &ration->learnt;

    if (!is_of(ration, stamp->set)) return false;
    l->kept++;
    if (length <= 0) return false;
    l->others += length;
    if (l->length <= 0) return false;
    ompp_stamp_widen(stamp, l->used);
    for (unsigned i = 0; i < l->used; i++) {
        const double due = l->more[i] / l->length * l->others - l->given[i];
        const ompp_fine_t more = (ompp_fine_t)(int64_t)between(l->least[i] * length, due, l->most[i] * length);
        l->given[i] += more;
        stamp->v[i] -= more;
    }
    return l->replayed * OMPP_RATION_ENOUGH >= l->replayed + l->kept;
}
