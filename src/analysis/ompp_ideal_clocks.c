#include "analysis/ompp_ideal_clocks.h"

#include "analysis/ompp_whatif_priv.h"

#include <math.h>
#include <string.h>

bool ompp_whatif_is_unasked(const ompp_profile_t *p)
{
    const char *causal = ompp_profile_setting(p, "OMPP_CAUSAL");

    return p->whatif.mode == OMPP_WHATIF_VIRTUAL && strcmp(ompp_profile_setting(p, "OMPP_EFFICIENCY"), "full") == 0 &&
           (!*causal || strcmp(causal, ompp_whatif_modes[OMPP_WHATIF_OFF]) == 0);
}

bool ompp_analysis_ideal_clock(const ompp_profile_t *p, ompp_whatif_ideal_t ideal, ompp_ideal_gain_t *gain)
{
    const ompp_whatif_t *w = &p->whatif;
    const ompp_whatif_clock_t *clock = &w->ideal.clocks[ideal];
    ompp_gain_t found = {.permille = clock->permille};

    if (w->mode != OMPP_WHATIF_VIRTUAL || w->why || !w->ideal.followed_ns || !clock->permille || !clock->time_ns)
        return false;
    found.gain = ompp_whatif_gain_of((double)clock->time_ns, (double)clock->saved_ns, 0);
    ompp_whatif_interval(clock, 1, &found);
    *gain = (ompp_ideal_gain_t){.gain = found.gain, .low = found.gain, .high = found.gain};
    gain->is_estimate = (double)w->ideal.followed_ns < OMPP_WHATIF_NEARLY_ALL * (double)w->time_ns;
    gain->is_known = gain->is_estimate && found.interval == OMPP_INTERVAL_KNOWN;
    if (!gain->is_known) return true;
    gain->low = fmax(found.low, 0);
    gain->high = fmin(found.high, 1);
    return true;
}
