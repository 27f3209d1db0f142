/*
 * Cost of the event functions, as ns, as a ratio to two timer reads in the same run, and, under callgrind, in
 * instructions: "bench_events NAME N" runs one case only. Medians over repeated runs; make bench prints the table.
 */
#define OMPP_IMPLEMENTATION
#include "ompp.h"

#include "model/ompp_profile.h"
#include "process/ompp_lifecycle.h"
#include "runtime/ompp_event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS 15

static ompp_region_ref_t user[16], loop, parallel, critical, mpi;
static volatile uint64_t sink;

static void none(unsigned i) { __asm__ volatile("" : : "r"(i)); }

static void two_timers(unsigned i)
{
    (void)i;
    sink = ompp_event_now();
    sink = ompp_event_now();
}

static void enter_exit(unsigned i)
{
    (void)i;
    ompp_event_enter(user[0], ompp_event_now());
    ompp_event_exit(user[0], ompp_event_now());
}

static void enter_exit_16(unsigned i)
{
    ompp_event_enter(user[i & 15], ompp_event_now());
    ompp_event_exit(user[i & 15], ompp_event_now());
}

static void by_site(unsigned i)
{
    (void)i;
    ompp_region_ref_t region = ompp_region_at(OMPP_CONSTRUCT_BARRIER, (const void *)by_site, NULL);
    ompp_event_enter(region, ompp_event_now());
    ompp_event_exit(region, ompp_event_now());
}

static void critical_section(unsigned i)
{
    (void)i;
    ompp_event_enter(critical, ompp_event_now());
    ompp_event_phase(critical, OMPP_PHASE_BODY, ompp_event_now());
    ompp_event_phase(critical, OMPP_PHASE_EXIT, ompp_event_now());
    ompp_event_exit(critical, ompp_event_now());
}

static void loop_with_barrier(unsigned i)
{
    (void)i;
    ompp_event_enter(loop, ompp_event_now());
    ompp_event_exit_or_barrier(loop, ompp_event_now());
    ompp_event_barrier_phase(true, ompp_event_now());
    ompp_event_barrier_phase(false, ompp_event_now());
}

static void fork_join(unsigned i)
{
    (void)i;
    ompp_team_t *team = ompp_event_fork(parallel, ompp_event_now());
    ompp_event_member_begin(team, 0, false, ompp_event_now());
    ompp_event_member_barrier(true, ompp_event_now());
    ompp_event_member_barrier(false, ompp_event_now());
    ompp_event_member_end(ompp_event_now());
    ompp_event_join(team, ompp_event_now());
}

static void task(unsigned i)
{
    (void)i;
    ompp_task_t t = ompp_event_task_create(user[1], ompp_event_now());
    ompp_event_task_begin(&t, ompp_event_now());
    ompp_event_task_end(t, ompp_event_now());
}

static void mpi_call(unsigned i)
{
    (void)i;
    ompp_region_ref_t region = ompp_event_call((const void *)mpi_call, "MPI_Send");
    ompp_event_return_counted(region, OMPP_METRIC_SENDS, 0, 8, ompp_event_now());
}

static void mpi_timed(unsigned i)
{
    (void)i;
    ompp_region_ref_t region = ompp_event_call((const void *)mpi_timed, "MPI_Send");
    ompp_event_return_timed(region);
}

void __cyg_profile_func_enter(void *code, void *site);
void __cyg_profile_func_exit(void *code, void *site);

static void function(unsigned i)
{
    (void)i;
    __cyg_profile_func_enter((void *)function, NULL);
    __cyg_profile_func_exit((void *)function, NULL);
}

static void named(unsigned i)
{
    (void)i;
    ompp_region_begin("assemble");
    ompp_region_end("assemble");
}

static void count(unsigned i)
{
    (void)i;
    ompp_event_count(mpi);
}

/* What virtual clocks add where threads and ranks wait for one another; nothing without OMPP_CAUSAL. */
static void barrier(unsigned i)
{
    (void)i;
    ompp_sync_arrive(1, ompp_event_now());
    ompp_sync_resume(OMPP_SYNC_BARRIER, 1, ompp_event_now());
}

static void mutex(unsigned i)
{
    (void)i;
    ompp_sync_wait(OMPP_SYNC_MUTEX, 1, ompp_event_now());
    ompp_sync_resume(OMPP_SYNC_MUTEX, 1, ompp_event_now());
    ompp_sync_publish(OMPP_SYNC_MUTEX, 1, ompp_event_now());
}

static void message(unsigned i)
{
    static uint64_t stamp[4096 / sizeof(uint64_t)], all[4096 / sizeof(uint64_t)];
    const ompp_time_t t = ompp_event_now();
    const ompp_sync_wait_t wait = {.begin = t, .end = t};

    (void)i;
    if (ompp_sync_clock_vector_size() > sizeof stamp) return;
    ompp_sync_clock_vector(stamp, t);
    ompp_sync_combine(all, stamp);
    ompp_sync_join_clock(all, &wait);
}

static const struct {
    const char *name, *what;
    void (*run)(unsigned i);
} cases[] = {
    {"none", "empty loop", none},
    {"timers", "two timer reads", two_timers},
    {"enter", "region enter + exit", enter_exit},
    {"enter16", "the same, 16 regions in turn", enter_exit_16},
    {"site", "region by return address, enter + exit", by_site},
    {"critical", "critical: enter, 2 phases, exit", critical_section},
    {"loop", "loop: enter, end, barrier", loop_with_barrier},
    {"fork", "parallel: fork, begin, barrier, end, join", fork_join},
    {"task", "task: create, begin, end", task},
    {"mpi", "MPI call: site, enter, values, exit", mpi_call},
    {"mpitime", "MPI call without values", mpi_timed},
    {"count", "counted call", count},
    {"function", "instrumented function: enter + exit", function},
    {"named", "user region by name: begin + end", named},
    {"barrier", "clocks: arrive at a barrier, go on", barrier},
    {"mutex", "clocks: wait, lock, unlock", mutex},
    {"message", "clocks: stamp, combine, adopt", message},
};
#define NCASES (sizeof cases / sizeof cases[0])

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median_ns(void (*run)(unsigned), unsigned n)
{
    double ns[REPEATS];

    for (unsigned r = 0; r < REPEATS; r++) {
        ompp_time_t start = ompp_event_now();
        for (unsigned i = 0; i < n; i++) run(i);
        ns[r] = (double)(ompp_event_now() - start) / n;
    }
    qsort(ns, REPEATS, sizeof ns[0], by_value);
    return ns[REPEATS / 2];
}

/* ---- Call paths -------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) double at_depth(unsigned depth, unsigned n)
{
    const double ns = depth ? at_depth(depth - 1, n) : median_ns(mpi_call, n);

    __asm__ volatile("" ::: "memory"); /* no call at its end, which would be a jump */
    return ns;
}

static double chain(unsigned depth, unsigned n);
static __attribute__((noinline)) double other(unsigned depth, unsigned n)
{
    const double ns = chain(depth - 1, n);

    __asm__ volatile("" ::: "memory");
    return ns;
}

/* Functions in turn: a function that calls itself would be one node. */
static __attribute__((noinline)) double chain(unsigned depth, unsigned n)
{
    const double ns = depth ? other(depth, n) : at_depth(0, n);

    __asm__ volatile("" ::: "memory");
    return ns;
}

static void print_paths(unsigned n)
{
    const double without = median_ns(none, n);

    printf("%-44s %8s %12s\n", "MPI call with its call path", "ns", "per function");
    const double least = at_depth(0, n) - without;
    printf("%-44s %8.1f\n", "called by main's functions", least);
    for (unsigned depth = 8; depth <= 32; depth *= 2) {
        const double ns = chain(depth, n) - without;
        printf("%2u functions more %26s %8.1f %12.1f\n", 2 * depth, "", ns, (ns - least) / (2 * depth));
    }
}

static void define(void)
{
    static char names[16][8];
    ompp_region_def_t def = {.construct = OMPP_CONSTRUCT_USER_REGION, .file = "bench.c", .begin = 1, .end = 2};

    for (unsigned i = 0; i < 16; i++) {
        snprintf(names[i], sizeof names[i], "u%u", i);
        def.name = names[i];
        user[i] = ompp_region_define(&def);
    }
    def.name = NULL;
    def.construct = OMPP_CONSTRUCT_LOOP;
    loop = ompp_region_define(&def);
    def.construct = OMPP_CONSTRUCT_PARALLEL;
    parallel = ompp_region_define(&def);
    def.construct = OMPP_CONSTRUCT_CRITICAL;
    critical = ompp_region_define(&def);
    def.construct = OMPP_CONSTRUCT_MPI;
    def.name = "MPI_Comm_rank";
    mpi = ompp_region_define(&def);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 200000;
    double empty, timers;

    const bool paths = argc > 1 && strcmp(argv[1], "paths") == 0;
    setenv("OMPP_CALLPATH", paths ? "full" : "site", 1);
    if (!ompp_runtime_start()) return 1;
    define();
    if (paths) {
        print_paths(n);
        fflush(stdout);
        _Exit(0);
    }
    if (argc > 1) {
        for (size_t c = 0; c < NCASES; c++)
            if (strcmp(cases[c].name, argv[1]) == 0)
                for (unsigned i = 0; i < n; i++) cases[c].run(i);
        _Exit(0);
    }
    empty = median_ns(none, n);
    timers = median_ns(two_timers, n) - empty;
    printf("%-44s %8s %8s\n", "event", "ns", "/timers");
    for (size_t c = 1; c < NCASES; c++) {
        double ns = median_ns(cases[c].run, n) - empty;
        printf("%-44s %8.1f %8.2f\n", cases[c].what, ns, ns / timers);
    }
    fflush(stdout);
    _Exit(0);
}
