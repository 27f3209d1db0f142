#include "analysis/ompp_serial.h"

#include "analysis/ompp_owner.h"
#include "analysis/ompp_values.h"
#include "base/ompp_error.h"

#include <stdlib.h>

#define LEAST_SAMPLES 20 /* so that chance is a quarter of it at most */
#define LARGER 1.1       /* a part that is clearly larger */

typedef struct {
    double ns;        /* of the node and what it calls, but in parallel regions and MPI; or what a late rank has more */
    double variance;  /* of that, by chance, ns^2 */
    double all_ns;    /* of all ranks */
    uint32_t largest; /* the child of the program's code with most of it; 0 = none */
    bool forks;       /* a parallel region is below it */
} serial_t;

/* Where late is NULL, samples of all threads count; else those of the first thread of each rank. */
static void add_own(const ompp_profile_t *p, const ompp_node_t *node, uint32_t set, const ompp_late_t *late,
                    serial_t *s)
{
    const double others = p->nranks > 1 ? p->nranks - 1 : 1;

    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        const ompp_location_t *location = &p->locations[block->location];
        if (block->set != set || block->nvalues < OMPP_METRIC_SAMPLES_NUM || !block->values[OMPP_METRIC_SAMPLES] ||
            (late && location->kind != OMPP_THREAD_INITIAL))
            continue;
        const double ns = (double)block->values[OMPP_METRIC_SAMPLED_NS];
        const double weight = !late || location->rank == late->rank ? 1 : -1 / others;
        s->ns += weight * ns;
        s->variance += weight * weight * ns * ns / (double)block->values[OMPP_METRIC_SAMPLES];
        s->all_ns += ns;
    }
}

/* Threads that wait for work spin in libraries. What is no function, nor part of one, is a construct of the program. */
static bool is_programs(const ompp_profile_t *p, const ompp_region_t *region)
{
    return !ompp_construct_is_path(region->construct) || ompp_code_owner(p, region) == OMPP_CODE_PROGRAM;
}

/* Children come behind their parents. */
static void sum_up(const ompp_profile_t *p, uint32_t set, const ompp_late_t *late, serial_t *s)
{
    for (uint32_t n = (uint32_t)p->nnodes; n-- > 0;) {
        add_own(p, &p->nodes[n], set, late, &s[n]);
        if (!n) return;
        const ompp_region_t *region = &p->regions[p->nodes[n].region];
        const bool forks = ompp_construct_forks(region->construct);
        if (forks || region->construct == OMPP_CONSTRUCT_MPI) s[n].ns = s[n].variance = s[n].all_ns = 0;
        serial_t *parent = &s[p->nodes[n].parent];
        parent->forks = parent->forks || forks || s[n].forks;
        if (parent == s && !is_programs(p, region)) continue;
        parent->ns += s[n].ns;
        parent->variance += s[n].variance;
        parent->all_ns += s[n].all_ns;
        if (is_programs(p, region) && s[n].ns > 0 && (!parent->largest || s[n].ns > s[parent->largest].ns))
            parent->largest = n;
    }
}

static bool is_sure(const serial_t *s) { return s->ns * s->ns >= LEAST_SAMPLES * s->variance; }

static bool is_function(const ompp_region_t *region)
{
    return region->construct == OMPP_CONSTRUCT_FUNCTION || region->construct == OMPP_CONSTRUCT_INLINED;
}

/* \return node; 0 = none. */
static uint32_t place_of_all(const ompp_profile_t *p, const serial_t *s)
{
    uint32_t place = 0;

    for (uint32_t n = s[0].largest; n && s[n].ns >= s[0].ns / 2 && is_sure(&s[n]); n = s[n].largest) {
        const ompp_region_t *region = &p->regions[p->nodes[n].region];
        if (s[n].forks) continue;
        if (region->construct == OMPP_CONSTRUCT_SOURCE_LOOP) return n;
        if (is_function(region)) place = n;
    }
    return place;
}

/* The deepest function whose time differs by a clearly larger part than that of its callers. */
static uint32_t place_of_late(const ompp_profile_t *p, const serial_t *s, const ompp_late_t *late)
{
    uint32_t place = 0;
    double most = 0;

    for (uint32_t n = s[0].largest; n && s[n].ns >= (double)late->more_ns / 2; n = s[n].largest) {
        const double part = s[n].ns / s[n].all_ns;
        if (!is_function(&p->regions[p->nodes[n].region]) || !is_sure(&s[n]) || part < LARGER * most) continue;
        place = n;
        most = part;
    }
    return place;
}

uint32_t ompp_analysis_serial_place(const ompp_profile_t *p, const ompp_late_t *late)
{
    const uint32_t set = ompp_analysis_find_set(p, ompp_sample_metrics, OMPP_METRIC_SAMPLES_NUM);
    const bool known = !late || (late->more_ns && !p->nrest && p->nranks_kept == p->nranks);
    serial_t *s = set && known ? calloc(p->nnodes, sizeof *s) : NULL;

    if (!s) return OMPP_NONE;
    sum_up(p, set, late, s);
    const uint32_t n = late ? place_of_late(p, s, late) : place_of_all(p, s);
    free(s);
    return n ? p->nodes[n].region : OMPP_NONE;
}
