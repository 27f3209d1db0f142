/*
 * Which region the next experiment is with: of those in which much of the work was done lately each is as likely as the
 * other, by a hash of (seed, n, key of the region), not by a generator with a state. What was done counts for less and
 * less, and a region in which nothing is done any longer, as those of the program's start, has no turn. Slots go to the
 * regions in which most is done lately.
 */
#include "base/ompp_env.h"
#include "base/ompp_hash.h"
#include "base/ompp_path.h"
#include "causal/clock/ompp_causal_clock_priv.h"
#include "causal/experiment/ompp_causal_experiment_priv.h"
#include "causal/result/ompp_causal_result_priv.h"

#include "runtime/ompp_whatif_record.h"

#include <stdio.h>
#include <string.h>

/* regions with less than one part in so many of the work of the one with the most are not tried */
#define SHARE 50u
#define IDLE 1u           /* experiments in which nothing was done in a region, before it has no turn, ... */
#define IDLE_AGAIN 2u     /* and so many times as many as it has come back after */
#define HALF_NS 50000000u /* what was done counts half after so long, ... */
#define HALF_PART 8u      /* or one part in so many of the run */

/* What is known of regions here, or behind them of slots whose region only other ranks know: candidates for an
 * experiment. */
#define CANDIDATES (OMPP_CAUSAL_KNOWN + OMPP_CLOCKS_SLOTS)
static struct {
    _Atomic uint64_t heard[CANDIDATES]; /* ns of work, most of another rank */
    char wanted[OMPP_CAUSAL_KNOWN];     /* 0 = not looked at yet, or 'y', 'n' */
    uint64_t work[CANDIDATES];          /* at the last look */
    double lately[CANDIDATES];          /* ns of work, which count the less the longer they are past */
    unsigned idle[CANDIDATES];          /* looks since something was done */
    /* the most of them until something was done again: the region is one of several in turn */
    unsigned longest[CANDIDATES];
    ompp_time_t look;
    uint64_t number;       /* of the experiment before which it was */
    _Atomic uint32_t lock; /* of looking at them, and of what follows from that */
} candidates;

/* Whether the user's text names the region: its name, file:line, or where lines are not known yet module+0xoffset; with
 * a path or not. */
static bool is_named(ompp_region_ref_t region)
{
    const char *wanted = ompp_env.causal_region;
    char file[512], name[512], place[600], address[600];
    uint32_t line;

    if (!region) return strcmp(wanted, OMPP_WHATIF_OUTSIDE) == 0;
    ompp_whatif_region_place(region, file, sizeof file, &line, name, sizeof name);
    snprintf(place, sizeof place, "%s:%u", ompp_path_last(file), line);
    ompp_whatif_region_address(region, address, sizeof address);
    if (strcmp(name, wanted) == 0) return true;
    wanted = ompp_path_last(wanted);
    return strcmp(place, wanted) == 0 || (*address && strcmp(address, wanted) == 0);
}

static bool is_wanted(unsigned known)
{
    if (!ompp_causal_known_key(known)) return false;
    if (!*ompp_env.causal_region) return true;
    if (!candidates.wanted[known]) candidates.wanted[known] = is_named(ompp_causal_known_region(known)) ? 'y' : 'n';
    return candidates.wanted[known] == 'y';
}

/* A region that only other ranks know has a slot because one of them wants it. */
static uint64_t work_of(unsigned candidate)
{
    const uint64_t heard = atomic_load_explicit(&candidates.heard[candidate], memory_order_relaxed);
    uint64_t work = 0;

    if (candidate < ompp_causal_nknown() && is_wanted(candidate))
        for (const ompp_causal_thread_t *t = atomic_load(&ompp_causal.threads); t; t = t->next)
            work += t->region_work[candidate];
    return work > heard ? work : heard;
}

static unsigned candidate_of(unsigned slot)
{
    const int known = ompp_causal_known(slot);

    return known >= 0 ? (unsigned)known : OMPP_CAUSAL_KNOWN + slot;
}

uint64_t ompp_causal_work(unsigned slot) { return ompp_causal_key(slot) ? work_of(candidate_of(slot)) : 0; }

void ompp_causal_heard_of(uint64_t key, uint64_t work)
{
    const int slot = key && work ? ompp_causal_give_slot(key) : -1;
    _Atomic uint64_t *heard = slot < 0 ? NULL : &candidates.heard[candidate_of((unsigned)slot)];

    if (heard && work > atomic_load_explicit(heard, memory_order_relaxed))
        atomic_store_explicit(heard, work, memory_order_relaxed);
}

/* The slot is to belong to another region: what is known of its work as that of a slot is forgotten. */
static void replace(unsigned slot, uint64_t key)
{
    const unsigned candidate = OMPP_CAUSAL_KNOWN + slot;

    atomic_store(&candidates.heard[candidate], 0);
    candidates.work[candidate] = 0;
    candidates.lately[candidate] = 0;
    candidates.longest[candidate] = 0;
    ompp_causal_result_leave(slot);
    ompp_causal_replace(slot, key);
}

/* ---- Which region ------------------------------------------------------------------------------------------------ */

static void look_at(unsigned candidate, double left)
{
    const uint64_t work = work_of(candidate), before = candidates.work[candidate];

    candidates.work[candidate] = work;
    if (before && work > before && candidates.idle[candidate] > candidates.longest[candidate])
        candidates.longest[candidate] = candidates.idle[candidate];
    candidates.idle[candidate] = work > before ? 0 : candidates.idle[candidate] + 1;
    candidates.lately[candidate] = left * candidates.lately[candidate] + (work > before ? (double)(work - before) : 0);
}

/* What was done lately: half of it counts after a time that grows with the run, so that its start is forgotten, and
 * long phases are not. */
static void look_at_all(uint64_t n, ompp_time_t t)
{
    const ompp_time_t passed = t > candidates.look ? t - candidates.look : 0;
    const ompp_time_t part = ompp_causal_result_passed(t) / HALF_PART, half = part > HALF_NS ? part : HALF_NS;
    const double parts = (double)passed / (double)half;

    if (candidates.number == n) return;
    candidates.number = n;
    candidates.look = t;
    for (unsigned i = 0; i < ompp_causal_nknown(); i++) look_at(i, 1 / (1 + parts));
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++)
        if (ompp_causal_key(s) && ompp_causal_known(s) < 0) look_at(candidate_of(s), 1 / (1 + parts));
}

/* The slot whose region did least lately, but for that which is tried now; a free one first. OMPP_CLOCKS_SLOTS: that is
 * the only one. */
static unsigned least_slot(double *lately)
{
    unsigned least = OMPP_CLOCKS_SLOTS;

    for (unsigned s = 0; s < ompp_causal_nslots(); s++) {
        const double is = ompp_causal_key(s) ? candidates.lately[candidate_of(s)] : -1;
        if ((int)s == ompp_causal_experiment.slot || (least < OMPP_CLOCKS_SLOTS && is >= *lately)) continue;
        least = s;
        *lately = is;
    }
    return least;
}

/* Regions that do much more than some with slots get theirs. */
static void give_slots(void)
{
    for (unsigned n = 0; n < OMPP_CLOCKS_SLOTS; n++) {
        double least = 0, most = 0;
        unsigned best = 0;
        for (unsigned i = 0; i < ompp_causal_nknown(); i++) {
            if (candidates.lately[i] <= most || ompp_causal_find_slot(ompp_causal_known_key(i)) >= 0) continue;
            most = candidates.lately[i];
            best = i;
        }
        const unsigned slot = least_slot(&least);
        if (most <= 0 || slot == OMPP_CLOCKS_SLOTS || most < 2 * least) return;
        replace(slot, ompp_causal_known_key(best));
    }
}

int ompp_causal_replace_slot(uint64_t key, uint64_t n, ompp_time_t t)
{
    double lately = 0;

    ompp_causal_lock(&candidates.lock);
    look_at_all(n, t);
    give_slots();
    if (ompp_causal_give_slot(key) < 0) {
        const unsigned least = least_slot(&lately);
        if (least < OMPP_CLOCKS_SLOTS) replace(least, key);
    }
    ompp_causal_unlock(&candidates.lock);
    return ompp_causal_find_slot(key);
}

/* A number is as good as a draw. */
uint64_t ompp_causal_draw(uint64_t n, uint64_t key)
{
    return ompp_hash_mix((uint64_t)ompp_env.causal_seed * OMPP_HASH_STEP + n * 0xbf58476d1ce4e5b9u + key);
}

/* Nothing will be done in it any more, as far as one can tell. */
static bool is_over(unsigned candidate)
{
    return candidates.idle[candidate] > IDLE + IDLE_AGAIN * candidates.longest[candidate];
}

int ompp_causal_choice(uint64_t n, ompp_time_t t, unsigned *nregions)
{
    double lately[OMPP_CLOCKS_SLOTS], largest = 0;
    uint64_t best = 0;
    int chosen = -1;

    *nregions = 0;
    ompp_causal_shared_listen(ompp_causal_heard_of);
    ompp_causal_lock(&candidates.lock);
    look_at_all(n, t);
    give_slots();
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        lately[s] = ompp_causal_key(s) && !is_over(candidate_of(s)) ? candidates.lately[candidate_of(s)] : 0;
        if (lately[s] > largest) largest = lately[s];
    }
    for (unsigned s = 0; s < OMPP_CLOCKS_SLOTS; s++) {
        const uint64_t ticket = ompp_causal_draw(n, ompp_causal_key(s));
        if (lately[s] <= 0 || lately[s] < largest / SHARE) continue;
        ++*nregions;
        if (chosen >= 0 && ticket <= best) continue;
        best = ticket;
        chosen = (int)s;
    }
    ompp_causal_unlock(&candidates.lock);
    return chosen;
}
