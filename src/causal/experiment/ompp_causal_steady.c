/*
 * Whether threads that do not meet are in step in an experiment, and whether experiments with a region have seen what
 * the run does: by the work in each region for a unit of work, in the part that is measured and on average of the run.
 */
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/experiment/ompp_progress_priv.h"

#include <string.h>

#define REGIONS 64u  /* known regions whose experiments are judged, and by whose work they are */
#define MISSING 0.03 /* of the units: the gain is too large by that at most */

static struct {
    uint64_t visits, changes; /* where the average begins */
    bool begun;
    ompp_time_t seen[OMPP_CAUSAL_KNOWN];
    double units[REGIONS];         /* in experiments with the region */
    double done[REGIONS][REGIONS]; /* ns of work meanwhile, in each region */
} average;

/* What a thread is doing at t, since it was counted to the regions that it is in. */
static ompp_time_t present_of(const ompp_causal_thread_t *p, ompp_time_t t)
{
    const ompp_clocks_t *c = &p->clocks;
    const ompp_time_t worked = ompp_causal_worked(p), since = c->since, until = p->region_work_until;
    const bool works = !c->waiting && !c->idle && !p->pauses && atomic_load_explicit(&p->used, memory_order_relaxed);

    return (worked > until ? worked - until : 0) + (works && t > since ? t - since : 0);
}

void ompp_causal_flows(uint64_t visits, ompp_time_t t, ompp_steady_t *flows)
{
    memset(flows, 0, sizeof *flows);
    flows->visits = visits;
    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next) {
        const ompp_time_t present = present_of(p, t);
        for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
            const int known = ompp_causal_known(s);
            if (known >= 0) flows->work[s] += p->region_work[known] + (p->regions >> s & 1 ? present : 0);
        }
    }
}

static ompp_time_t seen_in(unsigned known)
{
    ompp_time_t sum = 0;

    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next)
        sum += p->region_work[known];
    return sum;
}

/* By its place in the call tree: slots may be about to change hands. */
static bool is_in(const ompp_causal_thread_t *p, ompp_region_ref_t region)
{
    ompp_off_t node = p->node;

    if (!region) return !ompp_meter_region(node) && ompp_causal_is_outside(p);
    for (unsigned depth = 0; ompp_meter_region(node) && depth <= OMPP_CAUSAL_DEEPEST;
         depth++, node = ompp_meter_parent(node))
        if (ompp_meter_region(node) == region) return true;
    return false;
}

ompp_time_t ompp_causal_done(unsigned known, ompp_time_t t)
{
    const ompp_region_ref_t region = ompp_causal_known_region(known);
    ompp_time_t sum = seen_in(known);

    for (const ompp_causal_thread_t *p = atomic_load(&ompp_causal.threads); p; p = p->next)
        if (is_in(p, region)) sum += present_of(p, t);
    return sum;
}

ompp_time_t ompp_causal_done_by_key(uint64_t key, ompp_time_t t)
{
    ompp_time_t sum = 0;

    for (unsigned i = 0; i < ompp_causal_nknown() && key; i++)
        if (ompp_causal_known_key(i) == key) sum += ompp_causal_done(i, t);
    return sum;
}

/* Since the average began. */
static double done_in(unsigned known) { return (double)(seen_in(known) - average.seen[known]); }

/* Another progress point has other units. */
void ompp_causal_average_begin(uint64_t visits)
{
    if (average.begun && average.changes == ompp_progress_changes()) return;
    average.begun = true;
    average.visits = visits;
    average.changes = ompp_progress_changes();
    for (unsigned i = 0; i < ompp_causal_nknown(); i++) average.seen[i] = seen_in(i);
    memset(average.units, 0, sizeof average.units);
    memset(average.done, 0, sizeof average.done);
}

bool ompp_causal_in_step(const ompp_steady_t *from, uint64_t visits, ompp_time_t t)
{
    ompp_steady_t first = {.visits = average.visits}, now;

    ompp_causal_flows(visits, t, &now);
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++)
        if (ompp_causal_known(s) >= 0) first.work[s] = average.seen[ompp_causal_known(s)];
    return average.changes != ompp_progress_changes() || ompp_steady(&first, from, &now);
}

void ompp_causal_step_add(int known, const ompp_steady_t *from, uint64_t visits, ompp_time_t t)
{
    ompp_steady_t now;

    if (known < 0 || known >= (int)REGIONS || average.changes != ompp_progress_changes() || visits <= from->visits)
        return;
    ompp_causal_flows(visits, t, &now);
    average.units[known] += (double)(visits - from->visits);
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        const int flow = ompp_causal_known(s);
        if (flow < 0 || flow >= (int)REGIONS || now.work[s] <= from->work[s]) continue;
        average.done[known][flow] += (double)(now.work[s] - from->work[s]);
    }
}

bool ompp_causal_is_transient(unsigned known, ompp_time_t t)
{
    const unsigned n = ompp_causal_nknown() < REGIONS ? ompp_causal_nknown() : REGIONS;
    const double all = (double)(ompp_progress_visits(t) - average.visits);
    double largest = 0, missing = 0;

    if (known >= REGIONS || average.units[known] <= 0 || all <= 0 || average.changes != ompp_progress_changes())
        return false;
    for (unsigned i = 0; i < n; i++)
        if (done_in(i) > largest) largest = done_in(i);
    for (unsigned i = 0; i < n; i++) {
        const double work = done_in(i);
        if (work <= 0 || work < largest / OMPP_STEADY_SMALL) continue;
        const double part = 1 - average.done[known][i] / (average.units[known] * work / all);
        if (part > missing) missing = part;
    }
    return missing > MISSING;
}
