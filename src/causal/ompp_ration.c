/*
 * A share of the run time, and an estimate by sampling for what it does not reach.
 */
#include "causal/ompp_ration.h"

#include <string.h>

#define SKIPS 4u /* up to so many less one */

bool ompp_ration_allows(ompp_ration_t *ration, ompp_time_t passed)
{
    bool allowed = ration->spent <= OMPP_RATION_FREE + passed / OMPP_RATION_PART;

    if (allowed && ration->skip) {
        ration->skip--;
        allowed = false;
    }
    if (allowed) ration->replayed++;
    else ration->kept++;
    ration->scarce |= !allowed;
    return allowed;
}

void ompp_ration_spend(ompp_ration_t *ration, ompp_time_t spent)
{
    ration->spent += spent;
    if (ration->scarce) {
        ration->chance = ration->chance * 6364136223846793005u + 1442695040888963407u;
        ration->skip = (unsigned)(ration->chance >> 33) % SKIPS;
    }
    ration->scarce = false;
}

void ompp_ration_learn(ompp_ration_t *ration, const ompp_stamp_t *before, const ompp_stamp_t *after, ompp_fine_t length)
{
    if (ration->set != after->set) {
        ration->set = after->set;
        ration->length = 0;
        memset(ration->more, 0, sizeof ration->more);
    }
    ration->length += length;
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) ration->more[i] += before->v[i] - after->v[i];
}

bool ompp_ration_estimate(const ompp_ration_t *ration, ompp_stamp_t *stamp, ompp_fine_t length)
{
    if (ration->set != stamp->set || ration->length <= 0 || length <= 0) return false;
    for (unsigned i = 0; i < OMPP_CLOCKS; i++) stamp->v[i] -= (ompp_fine_t)(int64_t)(ration->more[i] / ration->length * length);
    return ration->replayed * OMPP_RATION_ENOUGH >= ration->replayed + ration->kept;
}
