#include "model/ompp_whatif.h"

const ompp_whatif_flag_t ompp_whatif_flags[OMPP_WHATIF_FLAG_NUM] = {
#define OMPP_WHATIF_FLAG(id, name, sentence) [OMPP_WHATIF_BIT_##id] = {name, sentence},
#include "model/ompp_whatif_flag.def"
#undef OMPP_WHATIF_FLAG
};

const char *const ompp_whatif_modes[OMPP_WHATIF_MODE_NUM] = {
    [OMPP_WHATIF_OFF] = "off", [OMPP_WHATIF_VIRTUAL] = "virtual", [OMPP_WHATIF_DELAY] = "delay"};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Both end when the last of them is there, in the measured program as in the optimised one. */
static void join_clock(ompp_whatif_clock_t *into, uint64_t into_ns, const ompp_whatif_clock_t *from, uint64_t from_ns)
{
    const uint64_t time = larger(into->permille ? into->time_ns : into_ns, from->permille ? from->time_ns : from_ns);
    const uint64_t into_time = into->permille ? into->time_ns : into_ns, from_time = from->permille ? from->time_ns : from_ns;
    const uint64_t faster = larger(less(into_time, into->saved_ns), less(from_time, from->saved_ns));
    const uint64_t alone = larger(less(into_time, into->paid_ns), less(from_time, from->paid_ns));

    if (!into->permille && from->permille) {
        into->permille = from->permille;
        into->nblocks = from->nblocks;
        for (uint32_t i = 0; i < from->nblocks; i++) into->blocks[i] = from->blocks[i];
    }
    into->time_ns = time;
    into->saved_ns = less(time, faster);
    into->paid_ns = less(time, alone);
    into->observations += from->observations;
}

void ompp_whatif_join_region(ompp_whatif_region_t *into, uint64_t into_ns, const ompp_whatif_region_t *from, uint64_t from_ns)
{
    into->flags |= from->flags;
    into->work_ns += from->work_ns;
    into->followed_ns = larger(into->followed_ns, from->followed_ns);
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++)
        if (into->clocks[k].permille || from->clocks[k].permille)
            join_clock(&into->clocks[k], into_ns, &from->clocks[k], from_ns);
}

void ompp_whatif_join_parts(ompp_whatif_region_t *into, const ompp_whatif_region_t *from)
{
    into->flags |= from->flags;
    into->work_ns += from->work_ns;
    into->followed_ns = larger(into->followed_ns, from->followed_ns);
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
        a->observations += b->observations;
    }
}

void ompp_whatif_join_point(ompp_whatif_point_t *into, const ompp_whatif_point_t *from)
{
    into->visits += from->visits;
    into->begins += from->begins;
    into->in_flight_ns += from->in_flight_ns;
}
