/*
 * Two hyper-threads of a core work slower than one alone. A team of which some threads share a core and others do not
 * waits for the slow ones, however well the work is divided.
 */
#define _GNU_SOURCE
#include "process/ompp_cpus.h"

#include "image/ompp_cores.h"
#include "image/ompp_proc.h"
#include "preload/ompp_launch.h"
#include "process/ompp_cpu_wait.h"
#include "runtime/ompp_thread.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CPUS = 8 * sizeof((ompp_proc_cpus_t *)NULL)->bits };

/* Threads of the outermost team. */
static unsigned team_of(const ompp_profile_t *profile)
{
    unsigned n = 0;

    for (size_t i = 0; i < profile->nlocations; i++)
        n += profile->locations[i].kind == OMPP_THREAD_INITIAL || profile->locations[i].kind == OMPP_THREAD_TEAM;
    return n;
}

/* The core that the thread is bound to: its lowest processor; CPUS = none. */
static unsigned core_of(uint32_t task)
{
    ompp_proc_cpus_t allowed = {{0}};
    unsigned cpu = 0;

    if (sched_getaffinity((pid_t)task, sizeof allowed, (cpu_set_t *)&allowed) < 0) return CPUS;
    const ompp_proc_cpus_t cores = ompp_cores_of(OMPP_CORES_SYSTEM, &allowed);
    if (ompp_proc_cpus_count(&cores) != 1) return CPUS;
    while (!(cores.bits[cpu / 8] >> cpu % 8 & 1)) cpu++;
    return cpu;
}

/*
 * Threads that are measured, alive, and bound to a core each. MPI's own threads are not among them.
 * \param[out] sharing  of them, those that share their core, when others do not.
 */
static unsigned count_bound(unsigned *sharing)
{
    unsigned short *on_core = calloc(CPUS, sizeof *on_core);
    unsigned bound = 0, most = 0, least = CPUS;

    *sharing = 0;
    for (ompp_thread_t *t = on_core ? atomic_load(&ompp_process.threads) : NULL; t; t = t->next_all) {
        const bool in_team = t->record->kind == OMPP_THREAD_INITIAL || t->record->kind == OMPP_THREAD_TEAM;
        const unsigned core = in_team && !t->record->end_ns ? core_of(t->record->os_tid) : CPUS;
        if (core == CPUS) continue;
        bound++;
        on_core[core]++;
    }
    for (unsigned i = 0; bound && i < CPUS; i++) {
        if (on_core[i] > most) most = on_core[i];
        if (on_core[i] && on_core[i] < least) least = on_core[i];
    }
    for (unsigned i = 0; most > least && i < CPUS; i++) *sharing += on_core[i] > least ? on_core[i] : 0;
    free(on_core);
    return bound;
}

static void say_unequal(ompp_profile_t *profile, unsigned cpus, unsigned cores, unsigned bound, unsigned sharing)
{
    const unsigned team = team_of(profile), ranks = (unsigned)ompp_launch_ranks_here();
    const unsigned online = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned threads = ranks > 1 && cpus == online ? ranks * team : team;
    char subject[120];

    if (cpus == cores) return; /* no hyper-threads; too many threads for them wait (ompp_cpu_wait.c) */
    if (bound > 1 && bound >= team && sharing)
        snprintf(subject, sizeof subject, "%u of %u threads share cores with each other (hyper-threads)", sharing,
                 bound);
    else if (bound < team && threads > cores && threads <= cpus && threads % cores != 0)
        snprintf(subject, sizeof subject, "%u threads share %u cores (hyper-threads)", threads, cores);
    else return;
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_UNEQUAL, subject,
                              "OMP_PLACES=cores, and no more threads than cores", 1);
}

void ompp_cpus_add(ompp_profile_t *profile)
{
    ompp_proc_cpus_t allowed = ompp_cpu_wait_given();
    char text[120];
    unsigned sharing;

    ompp_cores_kind("/proc/cpuinfo", text, sizeof text);
    if (*text) ompp_profile_add_coverage(profile, OMPP_COVERAGE_PROCESSOR, text, NULL, 1);
    ompp_proc_cpus_add(&allowed);
    const ompp_proc_cpus_t cores = ompp_cores_of(OMPP_CORES_SYSTEM, &allowed),
                           numa = ompp_cores_numa(OMPP_CORES_SYSTEM, &allowed);
    const unsigned bound = count_bound(&sharing);
    if (!profile->nranks_kept || ompp_proc_cpus_count(&allowed) == 0) return;
    ompp_rank_t *rank = &profile->ranks[0];
    ompp_cores_text(&allowed, text, sizeof text);
    rank->processors = ompp_profile_string(profile, text);
    ompp_cores_text(&numa, text, sizeof text);
    rank->numa_nodes = ompp_profile_string(profile, text);
    rank->cores = ompp_proc_cpus_count(&cores);
    rank->bound = bound;
    say_unequal(profile, ompp_proc_cpus_count(&allowed), rank->cores, bound, sharing);
}
