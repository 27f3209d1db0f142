/*
 * Threads that were ready to run while the processors were others': what is measured as work, and as waiting for one
 * another, is then waiting for a processor too, and nobody can tell it apart. So how much of it there was is said in
 * the report.
 */
#include "process/ompp_cpu_wait.h"

#include "image/ompp_bind.h"
#include "image/ompp_proc.h"
#include "preload/ompp_launch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define WORTH_NS 1000000      /* of processor time: a thread with less is over sooner than it is asked */
#define SHORTEST_NS 20000000u /* of waiting */
#define SOME_PERMILLE 50u /* of the threads' time, sleep and all, that those who wait for them may lose: worth a note */
#define MANY_PERMILLE 200u /* of the threads' time: times are not to be trusted */

static _Atomic uint64_t ended_ran, ended_waited; /* of threads that are over */
/* of the process, until our library was loaded: it may have been another program */
static ompp_proc_queue_t before;
static uint64_t user_before, system_before; /* ns of processor time */
/* as measurement began: OpenMP libraries bind threads, and some are over at the end */
static ompp_proc_cpus_t given;

void ompp_cpu_time(uint64_t *user_ns, uint64_t *system_ns)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    *user_ns = (uint64_t)usage.ru_utime.tv_sec * 1000000000u + (uint64_t)usage.ru_utime.tv_usec * 1000u;
    *system_ns = (uint64_t)usage.ru_stime.tv_sec * 1000000000u + (uint64_t)usage.ru_stime.tv_usec * 1000u;
}

void ompp_cpu_wait_mark(void)
{
    ompp_cpu_time(&user_before, &system_before);
    ompp_proc_queue_process(&before);
}

void ompp_cpu_time_before(uint64_t *user_ns, uint64_t *system_ns)
{
    *user_ns = user_before;
    *system_ns = system_before;
}

void ompp_cpu_wait_begin(void)
{
    atomic_store(&ended_ran, 0); /* a forked child begins with those of its parent */
    atomic_store(&ended_waited, 0);
    given = (ompp_proc_cpus_t){{0}};
    ompp_proc_cpus_add(&given);
}

ompp_proc_cpus_t ompp_cpu_wait_given(void) { return given; }

void ompp_cpu_wait_thread_end(void)
{
    ompp_proc_queue_t own = {0, 0};
    struct timespec used = {0, 0};

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0 || (used.tv_sec == 0 && used.tv_nsec < WORTH_NS)) return;
    ompp_proc_queue_thread(&own);
    atomic_fetch_add(&ended_ran, own.ran_ns);
    atomic_fetch_add(&ended_waited, own.waited_ns);
}

static const char *processors(unsigned n) { return n == 1 ? "processor" : "processors"; }

/* The commonest cause: more threads than the processors that they may use, which are few because the launcher binds
 * ranks. */
static void add_cause(ompp_profile_t *profile)
{
    const unsigned threads = profile->nranks_kept ? profile->ranks[0].nthreads : 0,
                   ranks = (unsigned)ompp_launch_ranks_here();
    const unsigned online = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    const ompp_bind_t *bind = ompp_bind_find(NULL);
    ompp_proc_cpus_t cpus = given;
    char subject[120], why[200];

    ompp_proc_cpus_add(&cpus);
    const unsigned n = ompp_proc_cpus_count(&cpus);
    if (n == 0 || (threads <= n && (ranks < 2 || n < online || ranks * threads <= n))) return;
    if (threads <= n) {
        snprintf(subject, sizeof subject, "%u ranks with %u %s each share %u %s", ranks, threads,
                 threads == 1 ? "thread" : "threads", n, processors(n));
        const unsigned fit = n / ranks;
        if (fit && fit < threads) snprintf(why, sizeof why, "OMP_NUM_THREADS=%u, or fewer ranks on a node", fit);
        else snprintf(why, sizeof why, "start fewer ranks on a node");
    } else if (n < online) {
        snprintf(subject, sizeof subject, "%u threads are bound to %u of %u %s", threads, n, online,
                 processors(online));
        snprintf(why, sizeof why, "%s; or OMP_NUM_THREADS=%u",
                 bind ? bind->words : "taskset, numactl or a container binds them", n);
    } else {
        snprintf(subject, sizeof subject, "%u threads share %u %s", threads, n, processors(n));
        snprintf(why, sizeof why, "OMP_NUM_THREADS=%u", n);
    }
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_SHARED, subject, why, 1);
}

/* ns that the threads were there; at least what they ran, and would have. */
static uint64_t time_of(const ompp_profile_t *profile, uint64_t least)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < profile->nlocations; i++) {
        const ompp_location_t *l = &profile->locations[i];
        if (l->rank != OMPP_NONE && l->end_ns > l->begin_ns) sum += l->end_ns - l->begin_ns;
    }
    return sum > least ? sum : least;
}

void ompp_cpu_wait_add(ompp_profile_t *profile)
{
    ompp_proc_queue_t all = {atomic_load(&ended_ran), atomic_load(&ended_waited)};

    ompp_proc_queue_process(&all);
    const uint64_t waited = all.waited_ns > before.waited_ns ? all.waited_ns - before.waited_ns : 0;
    const uint64_t ran = all.ran_ns > before.ran_ns ? all.ran_ns - before.ran_ns : 0;
    const uint64_t time = time_of(profile, ran + waited),
                   threads = profile->nranks_kept ? profile->ranks[0].nthreads : 1;

    /* One without a processor holds up its team. */
    if (waited < SHORTEST_NS || waited * 1000 < time) return;
    if (waited * 1000 * (threads > 2 ? threads - 1 : 1) < time * SOME_PERMILLE) return;
    const bool many = waited * 1000 >= time * MANY_PERMILLE;
    ompp_profile_add_coverage(profile, many ? OMPP_COVERAGE_CPU_WAIT : OMPP_COVERAGE_CPU_WAIT_SOME, NULL, NULL,
                              waited * 1000 / time);
    if (waited * 1000 >= time * SOME_PERMILLE) add_cause(profile);
}
