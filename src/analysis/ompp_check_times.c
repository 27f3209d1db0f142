/**
 * \file
 * Do the times of a profile agree? Everything here follows from how they are measured: a call path takes no longer than
 * the one it is part of, and nothing lies outside the run. Clocks of processors differ a little, so a little is
 * allowed.
 */
#include "analysis/ompp_analysis.h"

#include <inttypes.h>
#include <stdarg.h>

typedef struct {
    const ompp_profile_t *p;
    const char *name;
    FILE *out;
    size_t nbad;
} check_t;

#define SAID 20 /* objections that are printed */

__attribute__((format(printf, 2, 3))) static void object(check_t *c, const char *format, ...)
{
    va_list args;

    if (c->nbad++ >= SAID) return;
    fprintf(c->out, "%s: ", c->name);
    va_start(args, format);
    vfprintf(c->out, format, args);
    va_end(args);
    putc('\n', c->out);
}

static bool exceeds(uint64_t part_ns, uint64_t whole_ns)
{
    return part_ns > whole_ns && part_ns - whole_ns > 1000000 + whole_ns / 1000;
}

static const ompp_rank_t *rank_of(const ompp_profile_t *p, uint32_t rank)
{
    for (size_t r = 0; r < p->nranks_kept; r++)
        if (p->ranks[r].rank == rank) return &p->ranks[r];
    return NULL;
}

static const ompp_region_t *region_of(const ompp_profile_t *p, uint32_t node)
{
    return p->nodes[node].region == OMPP_NONE ? NULL : &p->regions[p->nodes[node].region];
}

static uint64_t exec_ns(const ompp_profile_t *p, uint32_t node, uint32_t location)
{
    return ompp_analysis_value(p, node, location, OMPP_COLUMN_EXEC_T);
}

/* Tasks run wherever a thread waits, and a lock may be held longer than the region it was taken in. */
static bool stays_within(const ompp_profile_t *p, uint32_t node)
{
    unsigned construct = region_of(p, node)->construct;

    return !(ompp_constructs[construct].flags & OMPP_CONSTRUCT_F_TASK) &&
           ompp_constructs[construct].place != OMPP_PLACE_ADDRESS;
}

/* ---- Call paths -------------------------------------------------------------------------------------------------- */

/* Threads of an inner team may work elsewhere on the path above, or not at all. */
static bool is_inner_team(const ompp_profile_t *p, uint32_t node)
{
    if (!ompp_construct_forks(region_of(p, node)->construct)) return false;
    while ((node = p->nodes[node].parent) != 0)
        if (ompp_constructs[region_of(p, node)->construct].flags & (OMPP_CONSTRUCT_F_FORK | OMPP_CONSTRUCT_F_TASK))
            return true;
    return false;
}

static void check_parent(check_t *c, uint32_t node)
{
    const ompp_profile_t *p = c->p;
    uint32_t parent = p->nodes[node].parent;

    for (uint32_t i = 0; i < p->nodes[node].nblocks; i++) {
        const ompp_block_t *b = &p->nodes[node].blocks[i];
        uint64_t own = 0, above = 0;
        if (b->set != OMPP_SET_PHASES || !ompp_profile_find_block(p, parent, b->location, OMPP_SET_PHASES, 0)) continue;
        own = exec_ns(p, node, b->location);
        above = exec_ns(p, parent, b->location);
        if (exceeds(own, above))
            object(c,
                   "node %" PRIu32 " took %" PRIu64 " ns on location %" PRIu32 ", node %" PRIu32
                   " that contains it %" PRIu64 " ns",
                   node, own, b->location, parent, above);
    }
}

/* End of the measurement of a rank, by the clock of first_ns, which may have begun before it. */
static uint64_t end_of(const ompp_profile_t *p, uint32_t rank)
{
    const ompp_rank_t *kept = rank_of(p, rank);
    uint64_t end = kept ? kept->duration_ns : UINT64_MAX;

    for (size_t l = 0; kept && l < p->nlocations; l++)
        if (p->locations[l].rank == rank && p->locations[l].end_ns > end) end = p->locations[l].end_ns;
    return end;
}

static void check_first(check_t *c, uint32_t node)
{
    const ompp_node_t *n = &c->p->nodes[node];
    uint64_t end = end_of(c->p, n->first_rank);

    if (exceeds(n->first_ns, end))
        object(c, "node %" PRIu32 " begins at %" PRIu64 " ns, the run of rank %" PRIu32 " ends at %" PRIu64 " ns", node,
               n->first_ns, n->first_rank, end);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

/* What stands directly below the root, on one location. */
static uint64_t top_ns(const ompp_profile_t *p, uint32_t location)
{
    uint64_t sum = 0;

    for (uint32_t n = 1; n < p->nnodes; n++)
        if (p->nodes[n].parent == 0 && stays_within(p, n)) sum += exec_ns(p, n, location);
    return sum;
}

static void check_location(check_t *c, uint32_t location)
{
    const ompp_profile_t *p = c->p;
    const ompp_location_t *l = &p->locations[location];
    const ompp_rank_t *rank = rank_of(p, l->rank);
    uint64_t whole = rank ? rank->duration_ns : p->rest_wall_threads_ns, part = top_ns(p, location);

    /* a process that died left no end */
    if (!exceeds(part, whole) || (rank && rank->end == OMPP_END_INCOMPLETE)) return;
    if (rank)
        object(c, "rank %" PRIu32 " took %" PRIu64 " ns, its regions %" PRIu64 " ns on thread %" PRIu32, l->rank, whole,
               part, l->tid);
    else object(c, "the threads of the rest took %" PRIu64 " ns, their regions %" PRIu64 " ns", whole, part);
}

size_t ompp_analysis_check(const ompp_profile_t *profile, const char *name, FILE *out)
{
    check_t c = {profile, name, out, 0};

    for (uint32_t n = 1; n < profile->nnodes; n++) {
        check_first(&c, n);
        if (profile->nodes[n].parent != 0 && stays_within(profile, n) && !is_inner_team(profile, n))
            check_parent(&c, n);
    }
    for (uint32_t l = 0; l < profile->nlocations; l++) check_location(&c, l);
    if (c.nbad > SAID) fprintf(out, "%s: and %zu more\n", name, c.nbad - SAID);
    return c.nbad;
}
