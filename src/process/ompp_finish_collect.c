/*
 * The profile of this process, from the arena or a copy of it.
 */
#define OMPP_LOG_DOMAIN "finish"
#include "process/ompp_finish_priv.h"

#include "base/ompp_log.h"
#include "model/ompp_collect.h"
#include "process/ompp_cpu_wait.h"
#include "process/ompp_openmp.h"
#include "process/ompp_unmeasured_priv.h"
#include "runtime/ompp_state.h"

#include <stdio.h>

/* Begins and ends that do not match are most often the user's mistake. */
static void warn_of_mismatches(const ompp_profile_t *profile)
{
    uint64_t n = 0;
    const char *what = NULL, *first = NULL;
    bool complete = true;

    for (size_t i = 0; i < profile->ncoverage; i++) {
        const ompp_coverage_t *c = &profile->coverage[i];
        if (c->kind == OMPP_COVERAGE_DROPPED) complete = false;
        if (c->kind != OMPP_COVERAGE_MISMATCH) continue;
        if (!what) what = ompp_profile_text(profile, c->subject), first = ompp_profile_text(profile, c->reason);
        n += c->count;
    }
    if (n)
        ompp_warn("%s: %s%s%llu in all; %ssee Coverage in the report", what, first, *first ? ", " : "",
                  (unsigned long long)n, complete ? "times are complete, " : "");
}

static void add_missed(ompp_profile_t *profile, unsigned missed)
{
    char subject[120];

    if (!missed) return;
    snprintf(subject, sizeof subject, "threads that were at work at the end, whose last counts are missing: %u",
             missed);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_NOTE, subject, NULL, 1);
}

static void add_cpu(ompp_rank_t *rank)
{
    ompp_cpu_time(&rank->user_ns, &rank->system_ns);
    rank->user_ns -= ompp_process.header->user0_ns;
    rank->system_ns -= ompp_process.header->system0_ns;
}

ompp_profile_t *ompp_finish_collect(const char *arena, uint64_t size, ompp_time_t t, ompp_end_t end, unsigned missed)
{
    ompp_profile_t *profile = ompp_collect(arena, size, t, end);

    if (!profile) return NULL;
    if (profile->nranks_kept) add_cpu(&profile->ranks[0]);
    ompp_openmp_coverage(profile);
    ompp_unmeasured_mpi(profile);
    add_missed(profile, missed);
    ompp_cpu_wait_add(profile);
    if (ompp_process.arena.why[0])
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_ARENA, NULL, ompp_process.arena.why, 1);
    if (end == OMPP_END_FINAL) warn_of_mismatches(profile);
    if (!profile->failed) return profile;
    ompp_profile_free(profile);
    return NULL;
}
