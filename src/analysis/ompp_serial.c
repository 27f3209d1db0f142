#include "analysis/ompp_serial.h"

#include "analysis/ompp_owner.h"
#include "analysis/ompp_values.h"
#include "base/ompp_error.h"

#include <stdlib.h>

#define LEAST_SAMPLES 20u

typedef struct {
    uint64_t samples; /* of the node and what it calls, but in parallel regions and MPI */
    uint32_t largest; /* the child of the program's code with most of them; 0 = none */
    bool forks;       /* a parallel region is below it */
} serial_t;

static uint64_t samples_of(const ompp_node_t *node, uint32_t set)
{
    uint64_t n = 0;

    for (uint32_t b = 0; b < node->nblocks; b++)
        if (node->blocks[b].set == set && node->blocks[b].nvalues >= OMPP_METRIC_SAMPLES_NUM)
            n += node->blocks[b].values[OMPP_METRIC_SAMPLES];
    return n;
}

/* Threads that wait for work spin in libraries. What is no function, nor part of one, is a construct of the program. */
static bool is_programs(const ompp_profile_t *p, const ompp_region_t *region)
{
    return !ompp_construct_is_path(region->construct) || ompp_code_owner(p, region) == OMPP_CODE_PROGRAM;
}

/* Children come behind their parents. */
static void sum_up(const ompp_profile_t *p, uint32_t set, serial_t *s)
{
    for (uint32_t n = (uint32_t)p->nnodes; n-- > 0;) {
        s[n].samples += samples_of(&p->nodes[n], set);
        if (!n) return;
        const ompp_region_t *region = &p->regions[p->nodes[n].region];
        const bool forks = ompp_construct_forks(region->construct);
        if (forks || region->construct == OMPP_CONSTRUCT_MPI) s[n].samples = 0;
        serial_t *parent = &s[p->nodes[n].parent];
        parent->forks = parent->forks || forks || s[n].forks;
        if (parent != s || is_programs(p, region)) parent->samples += s[n].samples;
        if (is_programs(p, region) && s[n].samples && (!parent->largest || s[n].samples > s[parent->largest].samples))
            parent->largest = n;
    }
}

uint32_t ompp_analysis_serial_place(const ompp_profile_t *p)
{
    const uint32_t set = ompp_analysis_find_set(p, ompp_sample_metrics, OMPP_METRIC_SAMPLES_NUM);
    serial_t *s = set ? calloc(p->nnodes, sizeof *s) : NULL;
    uint32_t place = OMPP_NONE;

    if (!s) return OMPP_NONE;
    sum_up(p, set, s);
    const uint64_t least = s[0].samples / 2 > LEAST_SAMPLES ? s[0].samples / 2 : LEAST_SAMPLES;
    for (uint32_t n = s[0].largest; n && s[n].samples >= least; n = s[n].largest) {
        const ompp_region_t *region = &p->regions[p->nodes[n].region];
        if (s[n].forks) continue;
        if (region->construct == OMPP_CONSTRUCT_SOURCE_LOOP) {
            place = p->nodes[n].region;
            break;
        }
        if (region->construct == OMPP_CONSTRUCT_FUNCTION || region->construct == OMPP_CONSTRUCT_INLINED)
            place = p->nodes[n].region;
    }
    free(s);
    return place;
}
