#include "analysis/ompp_thinned.h"

#include "analysis/ompp_values.h"
#include "base/ompp_path.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN 8   /* regions that have a line of their own */
#define WIDE 1.96 /* standard errors on each side: 95 % */

typedef struct {
    uint32_t region;
    double executions, timed, ns, variance; /* of the time of all */
} thinned_t;

static bool is_thinned(const ompp_block_t *block, uint32_t set)
{
    return set && block->set == set && block->object == 0 && block->nvalues == OMPP_METRIC_THINNED_NUM &&
           block->values[OMPP_METRIC_THINNED] > block->values[OMPP_METRIC_THINNED_TIMED];
}

static uint32_t find_set(const ompp_profile_t *p)
{
    return ompp_analysis_find_set(p, ompp_thinned_metrics, OMPP_METRIC_THINNED_NUM);
}

static uint64_t untimed_in(const ompp_block_t *block, uint32_t set)
{
    return is_thinned(block, set) ? block->values[OMPP_METRIC_THINNED] - block->values[OMPP_METRIC_THINNED_TIMED] : 0;
}

uint64_t ompp_thinned_untimed_all(const ompp_profile_t *p, uint32_t node)
{
    const uint32_t set = find_set(p);
    uint64_t sum = 0;

    for (uint32_t b = 0; set && b < p->nodes[node].nblocks; b++) sum += untimed_in(&p->nodes[node].blocks[b], set);
    return sum;
}

uint64_t ompp_thinned_untimed(const ompp_profile_t *p, uint32_t node, uint32_t location)
{
    const uint32_t set = find_set(p);
    const ompp_block_t *block = set ? ompp_profile_find_block(p, node, location, set, 0) : NULL;

    return block ? untimed_in(block, set) : 0;
}

/* Of a sample without replacement. */
static double variance_of(const uint64_t *values)
{
    const double all = (double)values[OMPP_METRIC_THINNED], n = (double)values[OMPP_METRIC_THINNED_TIMED],
                 sum = (double)values[OMPP_METRIC_THINNED_TIME], squares = (double)values[OMPP_METRIC_THINNED_SQUARES];

    if (n < 2 || squares <= sum * sum / n) return 0;
    return all * (all - n) / n * (squares - sum * sum / n) / (n - 1);
}

static void add_block(thinned_t *t, const ompp_block_t *block, uint32_t set)
{
    if (is_thinned(block, set)) {
        t->executions += (double)block->values[OMPP_METRIC_THINNED];
        t->timed += (double)block->values[OMPP_METRIC_THINNED_TIMED];
        t->variance += variance_of(block->values);
    }
    for (unsigned slot = 0; ompp_block_is_phases(block) && ompp_value_index(slot, 0) < block->nvalues; slot++)
        t->ns += (double)block->values[ompp_value_index(slot, OMPP_SLOT_TIME)];
}

static int most_first(const void *a, const void *b)
{
    const thinned_t *x = a, *y = b;

    if (x->executions != y->executions) return x->executions > y->executions ? -1 : 1;
    return x->region < y->region ? -1 : x->region > y->region;
}

static void say(ompp_profile_t *p, const thinned_t *t, const char *what)
{
    const double half = WIDE * sqrt(t->variance);
    char reason[120];

    snprintf(reason, sizeof reason, "%.6f sec, %.6f to %.6f", 1e-9 * t->ns, 1e-9 * fmax(t->ns - half, 0),
             1e-9 * (t->ns + half));
    ompp_profile_add_coverage(p, OMPP_COVERAGE_THINNED, what, reason, (uint64_t)ceil(t->executions / t->timed));
    if (p->ncoverage) p->coverage[p->ncoverage - 1].nranks = 0; /* said of the run */
}

static void say_region(ompp_profile_t *p, const thinned_t *t)
{
    const ompp_region_t *region = &p->regions[t->region];
    const char *file = ompp_path_last(ompp_profile_text(p, region->file)), *name = ompp_profile_text(p, region->name);
    char what[200], place[120] = "";

    if (*file) snprintf(place, sizeof place, " %.60s (%" PRIu32 ")", file, region->begin);
    snprintf(what, sizeof what, "R%05" PRIu32 " %s%s%s%.60s", region->number, ompp_constructs[region->construct].brief,
             place, *name ? " " : "", name);
    say(p, t, what);
}

void ompp_analysis_thinned(ompp_profile_t *p)
{
    const uint32_t set = find_set(p);
    thinned_t *all = set ? calloc(p->nregions + 1, sizeof *all) : NULL, rest = {0};
    size_t n = 0, others = 0;
    char what[60];

    if (!all) return;
    for (uint32_t r = 0; r < p->nregions; r++) all[r].region = r;
    for (uint32_t i = 1; i < p->nnodes; i++)
        for (uint32_t b = 0; b < p->nodes[i].nblocks; b++)
            add_block(&all[p->nodes[i].region], &p->nodes[i].blocks[b], set);
    qsort(all, p->nregions, sizeof *all, most_first);
    for (; n < p->nregions && all[n].timed > 0; n++) {
        if (all[n].ns <= 0) continue; /* creations that OMPT tells of: they take no time */
        if (n < SHOWN) {
            say_region(p, &all[n]);
            continue;
        }
        rest.executions += all[n].executions, rest.timed += all[n].timed;
        rest.ns += all[n].ns, rest.variance += all[n].variance;
        others++;
    }
    snprintf(what, sizeof what, "%zu more regions", others);
    if (others) say(p, &rest, what);
    free(all);
}
