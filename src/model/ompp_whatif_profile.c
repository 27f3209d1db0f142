#include "model/ompp_whatif_profile.h"

#include "base/ompp_error.h"
#include "base/ompp_table.h"
#include "model/ompp_combine_priv.h"

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/* When the last of its blocks would have ended. A producer that others cannot keep up with is ahead of the program. */
static int64_t last_visit(const ompp_whatif_clock_t *clock)
{
    int64_t t = 0;

    for (uint32_t i = 0; i < clock->nblocks; i++) t += (int64_t)clock->blocks[i].time_ns - clock->blocks[i].saved_ns;
    return t;
}

/* The program is as fast as the rank that is last: its blocks are kept. */
static void take_blocks(ompp_whatif_clock_t *into, const ompp_whatif_clock_t *from)
{
    if (into->nblocks && last_visit(from) <= last_visit(into)) return;
    into->nblocks = from->nblocks;
    for (uint32_t i = 0; i < from->nblocks; i++) into->blocks[i] = from->blocks[i];
}

/* Both end when the last of them is there, in the measured program as in the optimised one. */
static void join_clock(ompp_whatif_clock_t *into, uint64_t into_ns, const ompp_whatif_clock_t *from, uint64_t from_ns)
{
    const uint64_t time = larger(into->permille ? into->time_ns : into_ns, from->permille ? from->time_ns : from_ns);
    const uint64_t into_time = into->permille ? into->time_ns : into_ns,
                   from_time = from->permille ? from->time_ns : from_ns;
    const uint64_t faster = larger(less(into_time, into->saved_ns), less(from_time, from->saved_ns));
    const uint64_t alone = larger(less(into_time, into->paid_ns), less(from_time, from->paid_ns));

    if (!into->permille) into->permille = from->permille;
    take_blocks(into, from);
    into->time_ns = time;
    into->saved_ns = less(time, faster);
    into->paid_ns = less(time, alone);
    into->work_ns += from->work_ns;
    into->observations += from->observations;
}

static void join_sums(ompp_whatif_region_t *into, const ompp_whatif_region_t *from)
{
    into->flags |= from->flags;
    into->work_ns += from->work_ns;
    into->total_ns += from->total_ns;
    into->visits += from->visits;
    into->followed_ns = larger(into->followed_ns, from->followed_ns);
}

void ompp_whatif_join_region(ompp_whatif_region_t *into, uint64_t into_ns, const ompp_whatif_region_t *from,
                             uint64_t from_ns)
{
    join_sums(into, from);
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
        if (into->clocks[k].permille || from->clocks[k].permille)
            join_clock(&into->clocks[k], into_ns, &from->clocks[k], from_ns);
}

void ompp_whatif_join_parts(ompp_whatif_region_t *into, const ompp_whatif_region_t *from)
{
    join_sums(into, from);
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
        ompp_whatif_clock_t *a = &into->clocks[k];
        const ompp_whatif_clock_t *b = &from->clocks[k];
        if (!b->permille) continue;
        if (!a->permille) {
            *a = *b;
            continue;
        }
        a->time_ns = larger(a->time_ns, b->time_ns);
        a->saved_ns += b->saved_ns;
        if (a->saved_ns > a->time_ns) a->saved_ns = a->time_ns;
        a->paid_ns = larger(a->paid_ns, b->paid_ns);
        a->work_ns += b->work_ns;
        a->observations += b->observations;
    }
}

/* Adds up the counts of equal progress points. */
static void join_point(ompp_whatif_point_t *into, const ompp_whatif_point_t *from)
{
    into->visits += from->visits;
    into->begins += from->begins;
    into->in_flight_ns += from->in_flight_ns;
}

/* Experiments are the same on all ranks. A clock that only one of the two has is taken as it is. */
static void take_experiments(ompp_whatif_region_t *into, const ompp_whatif_region_t *from)
{
    join_sums(into, from);
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
        ompp_whatif_clock_t *a = &into->clocks[k];
        const ompp_whatif_clock_t *b = &from->clocks[k];
        const uint64_t observations = larger(a->observations, b->observations);
        if (!b->permille) continue;
        if (!a->permille) {
            *a = *b;
            continue;
        }
        join_clock(a, 0, b, 0);
        a->observations = observations;
    }
}

/* Adds up what two ranks say of the units of a latency point. */
static void join_latency(ompp_whatif_region_t *into, const ompp_whatif_region_t *from)
{
    into->flags |= from->flags;
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
        ompp_whatif_clock_t *a = &into->clocks[k];
        const ompp_whatif_clock_t *b = &from->clocks[k];
        if (!a->permille) a->permille = b->permille;
        a->time_ns += b->time_ns;
        a->saved_ns += b->saved_ns;
        a->paid_ns += b->paid_ns;
        a->observations += b->observations;
    }
}

/* They are told by the rank that leads, or by all that see the same. */
static void take_control(ompp_whatif_clock_t *into, const ompp_whatif_clock_t *from)
{
    if (from->observations > into->observations) *into = *from;
}

/* Index + 1 of each record by its region and point. */
static bool find_records(const ompp_whatif_t *w, ompp_table_t *records)
{
    bool ok = true;

    for (size_t i = w->nregions; ok && i-- > 0;) /* of equal ones the first counts */
        ok = ompp_table_set(records, ompp_hash_pair(w->regions[i].region, w->regions[i].point), i + 1);
    return ok;
}

static uint32_t whatif_point(const ompp_whatif_t *w, const ompp_whatif_point_t *wanted)
{
    for (uint32_t i = 0; i < w->npoints; i++)
        if (w->points[i].name == wanted->name && w->points[i].kind == wanted->kind &&
            w->points[i].region == wanted->region)
            return i;
    return OMPP_NONE;
}

/* A point of the other profile, by its names and regions here; added when there is none. \return its index here. */
static uint32_t same_point(ompp_profile_t *into, ompp_whatif_point_t point, const uint32_t *strings,
                           const uint32_t *regions, bool join)
{
    point.name = strings[point.name];
    point.region = point.region == OMPP_NONE ? OMPP_NONE : regions[point.region];
    const uint32_t same = whatif_point(&into->whatif, &point);
    if (same == OMPP_NONE) return ompp_profile_add_whatif_point(into, &point);
    if (join) join_point(&into->whatif.points[same], &point);
    return same;
}

/*
 * Ranks have told each other when they would have ended (MPI_Finalize): who knows a region says what the whole program
 * gains, and a rank that never met it has nothing to add.
 */
int ompp_whatif_merge(ompp_profile_t *into_profile, const ompp_profile_t *from_profile, const uint32_t *strings,
                      const uint32_t *regions, bool from_leads)
{
    ompp_whatif_t *into = &into_profile->whatif;
    const ompp_whatif_t *from = &from_profile->whatif;

    ompp_table_t records = {0};

    if (from->mode == OMPP_WHATIF_OFF) return 0;
    bool ok = find_records(into, &records);
    if (into->mode == OMPP_WHATIF_OFF) into->mode = from->mode;
    for (size_t i = 0; i < from->npoints; i++) same_point(into_profile, from->points[i], strings, regions, true);
    take_control(&into->control, &from->control);
    for (size_t i = 0; i < from->nregions; i++) {
        ompp_whatif_region_t region = from->regions[i];
        if (region.region != OMPP_NONE) region.region = regions[region.region];
        if (region.point != OMPP_NONE)
            region.point = same_point(into_profile, from->points[region.point], strings, regions, false);
        const uint64_t key = ompp_hash_pair(region.region, region.point), at = ompp_table_get(&records, key);
        ompp_whatif_region_t *same = at ? &into->regions[at - 1] : NULL;
        if (!same) ok = ompp_table_set(&records, key, into->nregions + 1) && ok;
        if (same && region.point != OMPP_NONE) join_latency(same, &region);
        else if (!same) ompp_profile_add_whatif_region(into_profile, &region);
        else if (into->mode == OMPP_WHATIF_DELAY) take_experiments(same, &region);
        else ompp_whatif_join_region(same, into->time_ns, &region, from->time_ns);
    }
    if (from->why && (!into->why || from_leads)) into->why = strings[from->why];
    ompp_whatif_join_region(&into->ideal, into->time_ns, &from->ideal, from->time_ns);
    into->time_ns = larger(into->time_ns, from->time_ns);
    into->paid_ns = larger(into->paid_ns, from->paid_ns);
    into->events += from->events;
    into->cost_ns += from->cost_ns;
    into->lost += from->lost;
    into->lost_ns += from->lost_ns;
    into->worked_ns += from->worked_ns;
    into->outside_ns += from->outside_ns;
    into->suspended_ns = larger(into->suspended_ns, from->suspended_ns);
    into->passed_ns = larger(into->passed_ns, from->passed_ns);
    into->replayed += from->replayed;
    into->kept += from->kept;
    ompp_table_fini(&records);
    return into_profile->failed || !ok ? -OMPP_E_NOMEM : 0;
}
