/**
 * \file
 * Do the times of a profile agree? Everything here follows from how they are measured: a call path takes no longer than
 * the one it is part of, and nothing lies outside the run. Clocks of processors differ a little, so a little is
 * allowed.
 */
#include "analysis/ompp_analysis.h"
#include "analysis/ompp_outline.h"
#include "analysis/ompp_values.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

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
    const size_t r = ompp_analysis_rank_index(p, rank);

    return r < p->nranks_kept ? &p->ranks[r] : NULL;
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

/* Threads of an inner team may work elsewhere on the path above, or not at all. inside: [nnodes], in teams or tasks. */
static bool is_inner_team(const ompp_profile_t *p, uint32_t node, const bool *inside)
{
    return ompp_construct_forks(region_of(p, node)->construct) && inside[p->nodes[node].parent];
}

static void find_inside(const ompp_profile_t *p, bool *inside)
{
    for (uint32_t n = 1; n < p->nnodes; n++)
        inside[n] = inside[p->nodes[n].parent] ||
                    ompp_constructs[region_of(p, n)->construct].flags & (OMPP_CONSTRUCT_F_FORK | OMPP_CONSTRUCT_F_TASK);
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

/* End of the measurement of each rank, by the clock of first_ns, which may have begun before it. ends: [nranks_kept] */
static void find_ends(const ompp_profile_t *p, uint64_t *ends)
{
    for (size_t r = 0; r < p->nranks_kept; r++) ends[r] = p->ranks[r].duration_ns;
    for (size_t l = 0; l < p->nlocations; l++) {
        const size_t r = ompp_analysis_rank_index(p, p->locations[l].rank);
        if (r < p->nranks_kept && p->locations[l].end_ns > ends[r]) ends[r] = p->locations[l].end_ns;
    }
}

static void check_first(check_t *c, uint32_t node, const uint64_t *ends)
{
    const ompp_node_t *n = &c->p->nodes[node];
    const size_t r = ompp_analysis_rank_index(c->p, n->first_rank);

    if (r < c->p->nranks_kept && exceeds(n->first_ns, ends[r]))
        object(c, "node %" PRIu32 " begins at %" PRIu64 " ns, the run of rank %" PRIu32 " ends at %" PRIu64 " ns", node,
               n->first_ns, n->first_rank, ends[r]);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

/* What stands directly below the root, on each location. sums: [nlocations] */
static void add_top(const ompp_profile_t *p, uint64_t *sums)
{
    for (uint32_t n = 1; n < p->nnodes; n++)
        for (uint32_t b = 0; p->nodes[n].parent == 0 && stays_within(p, n) && b < p->nodes[n].nblocks; b++)
            if (ompp_block_is_phases(&p->nodes[n].blocks[b]))
                sums[p->nodes[n].blocks[b].location] += exec_ns(p, n, p->nodes[n].blocks[b].location);
}

static void check_location(check_t *c, uint32_t location, uint64_t part)
{
    const ompp_profile_t *p = c->p;
    const ompp_location_t *l = &p->locations[location];
    const ompp_rank_t *rank = rank_of(p, l->rank);
    uint64_t whole = rank ? rank->duration_ns : p->rest_wall_threads_ns;

    /* a process that died left no end */
    if (!exceeds(part, whole) || (rank && rank->end == OMPP_END_INCOMPLETE)) return;
    if (rank)
        object(c, "rank %" PRIu32 " took %" PRIu64 " ns, its regions %" PRIu64 " ns on thread %" PRIu32, l->rank, whole,
               part, l->tid);
    else object(c, "the threads of the rest took %" PRIu64 " ns, their regions %" PRIu64 " ns", whole, part);
}

static size_t check(const ompp_profile_t *profile, const char *name, FILE *out)
{
    check_t c = {profile, name, out, 0};
    uint64_t *ends = calloc(profile->nranks_kept + 1, sizeof *ends),
             *top = calloc(profile->nlocations + 1, sizeof *top);
    bool *inside = calloc(profile->nnodes + 1, sizeof *inside);
    const bool memory = ends && top && inside;

    if (memory) {
        find_ends(profile, ends);
        find_inside(profile, inside);
        add_top(profile, top);
    } else {
        object(&c, "not checked: out of memory");
    }
    for (uint32_t n = 1; memory && n < profile->nnodes; n++) {
        check_first(&c, n, ends);
        if (profile->nodes[n].parent != 0 && stays_within(profile, n) && !is_inner_team(profile, n, inside))
            check_parent(&c, n);
    }
    for (uint32_t l = 0; memory && l < profile->nlocations; l++) check_location(&c, l, top[l]);
    if (c.nbad > SAID) fprintf(out, "%s: and %zu more\n", name, c.nbad - SAID);
    free(ends);
    free(top);
    free(inside);
    return c.nbad;
}

size_t ompp_analysis_check(const ompp_profile_t *profile, const char *name, FILE *out)
{
    const ompp_profile_t *outline = ompp_outline_new(profile, false);
    size_t nbad = 1;

    if (outline) nbad = check(outline, name, out);
    else fprintf(out, "%s: not checked: out of memory\n", name);
    ompp_outline_free(outline, profile);
    return nbad;
}
