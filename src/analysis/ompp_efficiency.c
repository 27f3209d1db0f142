#include "analysis/ompp_efficiency.h"

#include "analysis/ompp_values.h"

#include <stdlib.h>

/* Class of a phase; OMPP_CLASS_NUM = none, it is work. */
static unsigned class_of(unsigned construct, unsigned slot)
{
    const unsigned phase = ompp_constructs[construct].phases[slot];

    for (size_t i = 0; i < ompp_nrules; i++)
        if (ompp_rules[i].construct == construct && ompp_rules[i].phase == phase) return ompp_rules[i].class;
    return OMPP_CLASS_NUM;
}

/* Of one location. */
typedef struct {
    double useful, top; /* top: in outermost regions */
} place_t;

static void add_block(const ompp_block_t *block, unsigned construct, bool top, place_t *places, double *classes)
{
    place_t *place = &places[block->location];

    for (unsigned s = 0; s < ompp_constructs[construct].nphases; s++) {
        const double time = (double)block->values[ompp_value_index(s, OMPP_SLOT_TIME)],
                     own = time - (double)block->values[ompp_value_index(s, OMPP_SLOT_CHILD)] -
                           (double)block->values[ompp_value_index(s, OMPP_SLOT_TASK)];
        const unsigned class = class_of(construct, s);
        if (top) place->top += time;
        if (class < OMPP_CLASS_NUM) classes[class] += own;
        else place->useful += own;
    }
}

static void read_nodes(const ompp_profile_t *p, const ompp_paths_t *paths, place_t *places, double *classes)
{
    for (uint32_t n = 1; n < p->nnodes; n++) {
        const unsigned construct = p->regions[p->nodes[n].region].construct;
        if (ompp_construct_is_path(construct)) continue;
        for (uint32_t b = 0; b < p->nodes[n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[n].blocks[b];
            if (!ompp_block_is_phases(block) || p->locations[block->location].rank == OMPP_NONE) continue;
            add_block(block, construct, paths->top[n] == n, places, classes);
        }
    }
}

/* What a thread does outside of all regions: its own time less theirs. Workers have nothing to do there. */
static double outside_of(const ompp_profile_t *p, uint32_t location, double top)
{
    const ompp_location_t *l = &p->locations[location];
    const size_t r = ompp_analysis_rank_index(p, l->rank);
    double all = 0;

    if (l->kind == OMPP_THREAD_INITIAL && r < p->nranks_kept) all = (double)p->ranks[r].duration_ns;
    if (l->kind == OMPP_THREAD_OTHER) all = (double)(l->end_ns - l->begin_ns);
    return all > top ? all - top : 0;
}

static uint64_t to_ns(double ns) { return ns > 0 ? (uint64_t)(ns + 0.5) : 0; }

bool ompp_analysis_efficiency(const ompp_profile_t *p, const ompp_paths_t *paths, ompp_efficiency_t *e)
{
    place_t *places = calloc(p->nlocations + 1, sizeof *places);
    double classes[OMPP_CLASS_NUM] = {0}, useful = 0, most = 0, lost = 0;
    uint64_t duration = 0;

    *e = (ompp_efficiency_t){0};
    if (!places) return false;
    read_nodes(p, paths, places, classes);
    for (size_t r = 0; r < p->nranks_kept; r++)
        if (p->ranks[r].duration_ns > duration) duration = p->ranks[r].duration_ns;
    for (uint32_t l = 0; l < p->nlocations; l++) {
        if (p->locations[l].rank == OMPP_NONE) continue;
        const double own = places[l].useful + outside_of(p, l, places[l].top);
        e->nthreads++;
        useful += own;
        if (own > most) most = own;
    }
    free(places);
    e->thread_ns = duration * e->nthreads;
    if (!e->thread_ns || most <= 0) return false;
    for (unsigned c = 0; c < OMPP_CLASS_NUM; c++) {
        e->class_ns[c] = to_ns(classes[c]);
        lost += (double)e->class_ns[c];
    }
    e->useful_ns = to_ns(useful);
    /* Clocks of ranks differ a little: the whole is what its parts are. */
    if ((double)e->useful_ns + lost > (double)e->thread_ns) e->thread_ns = e->useful_ns + to_ns(lost);
    e->idle_ns = e->thread_ns - e->useful_ns - to_ns(lost);
    const double mean = (double)e->useful_ns / (double)e->nthreads, length = (double)e->thread_ns / (double)e->nthreads;
    if (most > length) most = length;
    e->balance = mean / most;
    e->communication = most / length;
    e->parallel = mean / length;
    return true;
}
