#include "analysis/ompp_serial.h"

#include "analysis/ompp_owner.h"
#include "analysis/ompp_values.h"
#include "base/ompp_error.h"

#include <stdlib.h>

#define LEAST_SAMPLES 20
#define SURE 3     /* standard deviations */
#define LARGER 1.1 /* a part that is clearly larger */

typedef struct {
    double samples;   /* of the node and what it calls, but in parallel regions and MPI; or what a rank has more */
    double all;       /* of all ranks */
    uint32_t largest; /* the child of the program's code with most of them; 0 = none */
    bool forks;       /* a parallel region is below it */
} serial_t;

/* rank: OMPP_NONE = samples of all ranks; else those that it has more than others have on average. */
static void add_own(const ompp_profile_t *p, const ompp_node_t *node, uint32_t set, uint32_t rank, serial_t *s)
{
    const double others = p->nranks > 1 ? p->nranks - 1 : 1;

    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        if (block->set != set || block->nvalues < OMPP_METRIC_SAMPLES_NUM) continue;
        const double n = (double)block->values[OMPP_METRIC_SAMPLES];
        const bool its = rank == OMPP_NONE || p->locations[block->location].rank == rank;
        s->samples += its ? n : -n / others;
        s->all += n;
    }
}

/* Threads that wait for work spin in libraries. What is no function, nor part of one, is a construct of the program. */
static bool is_programs(const ompp_profile_t *p, const ompp_region_t *region)
{
    return !ompp_construct_is_path(region->construct) || ompp_code_owner(p, region) == OMPP_CODE_PROGRAM;
}

/* Children come behind their parents. */
static void sum_up(const ompp_profile_t *p, uint32_t set, uint32_t rank, serial_t *s)
{
    for (uint32_t n = (uint32_t)p->nnodes; n-- > 0;) {
        add_own(p, &p->nodes[n], set, rank, &s[n]);
        if (!n) return;
        const ompp_region_t *region = &p->regions[p->nodes[n].region];
        const bool forks = ompp_construct_forks(region->construct);
        if (forks || region->construct == OMPP_CONSTRUCT_MPI) s[n].samples = s[n].all = 0;
        serial_t *parent = &s[p->nodes[n].parent];
        parent->forks = parent->forks || forks || s[n].forks;
        if (parent != s || is_programs(p, region)) parent->samples += s[n].samples, parent->all += s[n].all;
        if (is_programs(p, region) && s[n].samples > 0 &&
            (!parent->largest || s[n].samples > s[parent->largest].samples))
            parent->largest = n;
    }
}

/* All samples, or those of a rank: two ranks that do the same differ by chance. */
static bool is_much(const serial_t *s, double least, uint32_t rank)
{
    return s->samples >= least && (rank == OMPP_NONE || s->samples * s->samples >= SURE * SURE * s->all);
}

static bool is_function(const ompp_region_t *region)
{
    return region->construct == OMPP_CONSTRUCT_FUNCTION || region->construct == OMPP_CONSTRUCT_INLINED;
}

/* \return node; 0 = none. */
static uint32_t place_of_all(const ompp_profile_t *p, const serial_t *s, double least)
{
    uint32_t place = 0;

    for (uint32_t n = s[0].largest; n && is_much(&s[n], least, OMPP_NONE); n = s[n].largest) {
        const ompp_region_t *region = &p->regions[p->nodes[n].region];
        if (s[n].forks) continue;
        if (region->construct == OMPP_CONSTRUCT_SOURCE_LOOP) return n;
        if (is_function(region)) place = n;
    }
    return place;
}

/* What the functions above it do is done by all ranks, too; those that it calls do no less than it does. */
static uint32_t place_of_rank(const ompp_profile_t *p, const serial_t *s, double least, uint32_t rank)
{
    uint32_t place = 0;
    double most = 0;

    for (uint32_t n = s[0].largest; n && is_much(&s[n], least, rank); n = s[n].largest) {
        const double part = s[n].samples / s[n].all;
        if (!is_function(&p->regions[p->nodes[n].region]) || part < LARGER * most) continue;
        place = n;
        most = part;
    }
    return place;
}

uint32_t ompp_analysis_serial_place(const ompp_profile_t *p, uint32_t rank)
{
    const uint32_t set = ompp_analysis_find_set(p, ompp_sample_metrics, OMPP_METRIC_SAMPLES_NUM);
    serial_t *s = set ? calloc(p->nnodes, sizeof *s) : NULL;

    if (!s) return OMPP_NONE;
    sum_up(p, set, rank, s);
    const double least = s[0].samples / 2 > LEAST_SAMPLES ? s[0].samples / 2 : LEAST_SAMPLES;
    const uint32_t n = rank == OMPP_NONE ? place_of_all(p, s, least) : place_of_rank(p, s, least, rank);
    free(s);
    return n ? p->nodes[n].region : OMPP_NONE;
}
