/*
 * What Coverage says of counts: what back ends have lost, and where the counts of a program without parallel regions are.
 */
#include "analysis/ompp_analysis.h"

#include <stdio.h>

static uint64_t sum_of(const ompp_profile_t *profile, const ompp_metric_t *m)
{
    uint64_t sum = 0;

    for (size_t n = 0; n < profile->nnodes; n++) {
        const ompp_node_t *node = &profile->nodes[n];
        for (uint32_t b = 0; b < node->nblocks; b++)
            if (node->blocks[b].set == m->set && node->blocks[b].object == 0 && m->index < node->blocks[b].nvalues)
                sum += node->blocks[b].values[m->index];
    }
    return sum;
}

/* Said of the run, not by ranks. */
static void say(ompp_profile_t *profile, ompp_coverage_kind_t kind, const char *subject, const char *reason, uint64_t count)
{
    ompp_profile_add_coverage(profile, kind, subject, reason, count);
    if (profile->ncoverage) profile->coverage[profile->ncoverage - 1].nranks = 0;
}

static void say_loss(ompp_profile_t *profile, const ompp_metric_t *m)
{
    const uint64_t lost = sum_of(profile, m);
    char subject[200];

    if (!lost) return;
    snprintf(subject, sizeof subject, "%s: %s", ompp_profile_text(profile, m->source), ompp_profile_text(profile, m->name));
    say(profile, OMPP_COVERAGE_LOSS, subject, ompp_profile_text(profile, m->meaning), lost);
}

static bool has_parallel(const ompp_profile_t *profile)
{
    for (size_t n = 1; n < profile->nnodes; n++)
        if (ompp_construct_forks(profile->regions[profile->nodes[n].region].construct)) return true;
    return false;
}

static bool has_columns(const ompp_profile_t *profile)
{
    for (size_t i = 0; i < profile->nmetrics; i++)
        if (profile->metrics[i].use == OMPP_USE_COLUMN) return true;
    return false;
}

void ompp_analysis_counted(ompp_profile_t *profile)
{
    for (size_t i = 0; i < profile->nmetrics; i++)
        if (profile->metrics[i].use == OMPP_USE_LOSS) say_loss(profile, &profile->metrics[i]);
    if (has_columns(profile) && !has_parallel(profile))
        say(profile, OMPP_COVERAGE_NOTE, "counters in the table of parallel regions add up to 0",
            "no parallel region was run; what was counted stands in the flat profiles and in Outside Regions", 1);
}
