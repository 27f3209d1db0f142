/*
 * The profile of this process, from the arena or a copy of it.
 */
#define OMPP_LOG_DOMAIN "finish"
#include "process/ompp_finish_priv.h"

#include "base/ompp_log.h"
#include "image/ompp_proc.h"
#include "model/ompp_collect.h"
#include "process/ompp_cpu_wait.h"
#include "process/ompp_cpus.h"
#include "process/ompp_openmp.h"
#include "process/ompp_unmeasured_priv.h"
#include "runtime/ompp_state.h"

#include <stdio.h>
#include <unistd.h>

#define APART_NS 1000000000 /* that two clocks may be after a long run */

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

/*
 * A process that was restored from a checkpoint is another one for the system; how long it was away is in its times. A
 * machine that was suspended, or that the process was moved to, has clocks that have gone on differently.
 */
static void add_clock(ompp_profile_t *profile)
{
    const uint64_t was = ompp_process.header->start_ticks, start = ompp_proc_start(getpid());
    const int64_t apart = (int64_t)(ompp_clock_now() - ompp_clock_gettime());
    const uint64_t allowed = APART_NS + ompp_clock_gettime() / 1000;

    if (was && start && start != was)
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_CLOCK, "the process was restored from a checkpoint",
                                  "counters may be missing since then", 1);
    else if ((uint64_t)(apart < 0 ? -apart : apart) > allowed)
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_CLOCK,
                                  "the processor's counter and the clock of the system have parted",
                                  "was the machine suspended? OMPP_CLOCK=gettime uses the clock alone", 1);
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
    ompp_cpus_add(profile);
    add_clock(profile);
    if (ompp_process.arena.why[0])
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_ARENA, NULL, ompp_process.arena.why, 1);
    if (end == OMPP_END_FINAL) warn_of_mismatches(profile);
    if (!profile->failed) return profile;
    ompp_profile_free(profile);
    return NULL;
}
