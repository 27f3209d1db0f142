/*
 * Whether there are samples, and by what; their start and end.
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "sample"
#include "sample/ompp_sample.h"

#include "base/ompp_caller.h"
#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "base/ompp_paranoid.h"
#include "image/ompp_known.h"
#include "image/ompp_program.h"
#include "model/ompp_profile.h"
#include "preload/ompp_dlopen_watch.h"
#include "preload/ompp_launch.h"
#include "process/ompp_lifecycle.h"
#include "runtime/ompp_callpath.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_meter.h"
#include "sample/ompp_sample_priv.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND 1000000000u
#define LONGEST_START 100000u /* looks of a thread that comes while another one starts samples */

static struct {
    unsigned hz;
    ompp_sample_way_t way;
    bool decided, good, started;
    char text[120]; /* of the report's header */
    char why[300];  /* there are none */
} samples;

enum { NEW, STARTING, STARTED };
static _Atomic int state;

static _Atomic unsigned refused; /* threads without a timer */
static _Atomic int refused_error;

static pid_t early; /* process whose initial thread had samples before the first event; 0 = none */

static const ompp_env_row_t *rate_asked(void)
{
    const ompp_env_row_t *row = ompp_env_rows;

    while (row->offset != offsetof(ompp_env_t, sample_hz)) row++;
    return row;
}

bool ompp_sample_is_wanted(void)
{
    const char *text = ompp_env_text(rate_asked());
    char *end;

    return !*text || strtol(text, &end, 10) != 0 || end == text;
}

bool ompp_sample_is_on(void) { return atomic_load(&state) == STARTED && ompp_sampler_is_on(); }

/* ---- Which way --------------------------------------------------------------------------------------------------- */

static const char *const ways[] = {[OMPP_SAMPLE_TIMER] = "CPU timers", [OMPP_SAMPLE_PERF] = "perf events"};

static uint64_t period(void) { return SECOND / samples.hz; }

/* \return 0, or errno. */
static int try_way(ompp_sample_way_t way)
{
    ompp_sampler_t probe = {.fd = -1};
    const int error = ompp_sample_way_open(&probe, way, period());

    if (!error) ompp_sample_way_close(&probe);
    return error;
}

static void add_why(ompp_sample_way_t way, int error)
{
    const size_t n = strlen(samples.why);
    char reason[100];

    if (way == OMPP_SAMPLE_PERF && (error == EACCES || error == EPERM))
        snprintf(reason, sizeof reason, "not permitted (perf_event_paranoid is %d, or a container forbids it)",
                 ompp_perf_paranoid());
    else if (way == OMPP_SAMPLE_TIMER && error == EAGAIN)
        snprintf(reason, sizeof reason, "no signal is left for them (ulimit -i)");
    else if (error == EMFILE) snprintf(reason, sizeof reason, "too few descriptors (ulimit -n)");
    else snprintf(reason, sizeof reason, "%s", strerror(error));
    snprintf(samples.why + n, sizeof samples.why - n, "%s%s: %s", n ? "; " : "", ways[way], reason);
}

static bool choose(ompp_sample_way_t way, unsigned hz)
{
    const unsigned asked = samples.hz;

    samples.hz = hz;
    const int error = try_way(way);
    if (error) add_why(way, error);
    if (error) samples.hz = asked;
    else samples.way = way;
    return !error;
}

/*
 * Timers need no permission and count time in the kernel, too. Before Linux 5.11 they may interrupt a system call: only
 * who asks for samples gets them there.
 */
static bool choose_any(void)
{
    const unsigned asked = samples.hz, most = ompp_sample_timers_most();
    const bool safe = ompp_sample_timers_are_safe(), timers = safe || ompp_env_is_set("OMPP_SAMPLE_HZ");

    if (asked <= most && safe && choose(OMPP_SAMPLE_TIMER, asked)) return true;
    if (choose(OMPP_SAMPLE_PERF, asked)) return true;
    if (timers && (asked > most || !safe) && choose(OMPP_SAMPLE_TIMER, asked > most ? most : asked)) return true;
    if (!timers) {
        const size_t n = strlen(samples.why);
        snprintf(samples.why + n, sizeof samples.why - n,
                 "; CPU timers of this kernel can interrupt system calls: ompp --sample=%u -- switches them on", asked);
    }
    return false;
}

/* Nothing of the program changes. \return whether there can be samples. */
static bool decide(unsigned hz)
{
    if (samples.decided) return samples.good;
    samples.decided = true;
    samples.hz = hz;
    if (!samples.hz) return false;
    const unsigned asked = samples.hz;
    const char *conflict = ompp_sample_conflict();
    if (!conflict && !ompp_env_is_set("OMPP_SAMPLE_HZ") && ompp_known_in_valgrind())
        conflict = "valgrind runs the program, and callgrind ends when signals come in threads: ompp --sample=100 -- "
                   "switches them on";
    if (conflict) snprintf(samples.why, sizeof samples.why, "%s", conflict);
    samples.good = !conflict && choose_any();
    snprintf(samples.text, sizeof samples.text, "%u Hz of processor time%s, by %s", samples.hz,
             samples.way == OMPP_SAMPLE_PERF ? " outside of the kernel" : "", ways[samples.way]);
    if (samples.good && samples.hz != asked) {
        const size_t n = strlen(samples.text);
        snprintf(samples.text + n, sizeof samples.text - n, " (%u Hz need perf events)", asked);
    }
    return samples.good;
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

static void libraries_changed(void)
{
    if (!ompp_sampler_is_on()) return;
    ompp_sample_follow();
    ompp_callpath_refresh();
}

static void watch_and_start(void)
{
    if (!early) ompp_dlopen_watch_tell(libraries_changed); /* else its parent has done it */
    ompp_sampler_start();
}

static void start(void)
{
    const bool is_early = early == getpid();
    const char *why = decide((unsigned)ompp_env.sample_hz) ? NULL : samples.why;

    if (!samples.hz) return;
    if (!why && !is_early) why = ompp_sample_install();
    if (why) {
        ompp_event_coverage(OMPP_COVERAGE_REFUSED, "samples", why);
        return;
    }
    if (!ompp_callpath_start_samples()) {
        ompp_event_coverage(OMPP_COVERAGE_REFUSED, "samples", "call paths cannot be found");
        return;
    }
    ompp_runtime_keep_setting("Samples", samples.text);
    if (!is_early) watch_and_start();
    samples.started = true;
}

static void start_once(void)
{
    int expected = NEW;

    if (atomic_load_explicit(&state, memory_order_acquire) == STARTED) return;
    if (atomic_compare_exchange_strong(&state, &expected, STARTING)) {
        const ompp_own_t own = ompp_runtime_own_begin();
        start();
        ompp_runtime_own_end(&own);
        atomic_store(&state, STARTED);
    }
    /* Not for ever: this thread may hold the loader's lock. */
    for (unsigned i = 0; i < LONGEST_START && atomic_load(&state) == STARTING; i++) sched_yield();
}

void ompp_sample_thread_begins(void)
{
    if (!ompp_sample_is_wanted()) return;
    start_once();
    if (!ompp_sampler_is_on()) return;
    if (ompp_sample_self) {
        ompp_sampler_go_on();
        return;
    }
    const int error = ompp_sampler_begin(samples.way, period());
    if (!error || !ompp_sampler_is_on()) return;
    atomic_fetch_add(&refused, 1);
    atomic_store(&refused_error, error);
}

void ompp_sample_thread_ends(void) { ompp_sampler_end(); }

/* Only what the first event will say the same of: the environment is read then, and wrong values are told. */
static unsigned early_rate(void)
{
    const ompp_env_row_t *row = rate_asked();
    const char *text = ompp_env_text(row);
    char wrong[300];

    if (!*text) text = row->def;
    return ompp_env_accepts(row->name, text, row->name, wrong, sizeof wrong) ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/*
 * A program that is built with us: measurement starts with its first event, if there is one. Until then samples of its
 * initial thread are kept aside, and the program sees of them what it will see later.
 */
static void start_early(void *unused)
{
    (void)unused;
    if (ompp_is_preloaded() || atomic_load(&state) != NEW || (pid_t)syscall(SYS_gettid) != getpid()) return;
    if (!decide(early_rate()) || !ompp_callpath_start_early() || ompp_sample_install()) {
        ompp_callpath_early_forget();
        memset(&samples, 0, sizeof samples);
        return;
    }
    watch_and_start();
    early = getpid();
    ompp_sampler_begin(samples.way, period());
}

void ompp_sample_at_load(void)
{
    if (!ompp_sample_is_wanted() || ompp_known_shell(ompp_program_path())) return;
    if (!ompp_is_launched()) {
        ompp_caller_run(start_early, NULL);
        return;
    }
    ompp_env_read();
    if (!ompp_env.children && decide((unsigned)ompp_env.sample_hz)) ompp_meter_place();
}

/* ---- End --------------------------------------------------------------------------------------------------------- */

void ompp_sample_ends(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;

    if (!samples.started || atomic_flag_test_and_set(&done)) return;
    const bool on = ompp_sampler_is_on();
    if (!on && !ompp_sample_why_given_up()) return; /* a child */
    ompp_sampler_stop(false);
    const ompp_sampler_sum_t sum = ompp_sampler_sum();
    if (!on) ompp_event_coverage(OMPP_COVERAGE_REFUSED, "samples to the end", ompp_sample_why_given_up());
    const struct {
        unsigned kind;
        const char *subject, *reason;
        uint64_t n;
    } lines[] = {
        {OMPP_COVERAGE_UNSAMPLED, NULL, strerror(refused_error), refused},
        {OMPP_COVERAGE_UNSAMPLED, NULL, "they block SIGPROF", sum.never},
        {OMPP_COVERAGE_UNSAMPLED, " at the end", "they block SIGPROF", sum.blocked - sum.never},
        {OMPP_COVERAGE_UNSAMPLED, " at the end", "the program has closed the descriptors of their events", sum.closed},
        {OMPP_COVERAGE_UNSAMPLED_TIME, NULL, NULL, sum.unsampled_ns / 1000000u},
        {OMPP_COVERAGE_LOSS, "threads with fewer samples", "a sample took more than 5 % of its period", sum.slowed},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ompp_event_coverage_count(lines[i].kind, lines[i].subject, lines[i].reason, lines[i].n);
    ompp_log_at(OMPP_LOG_INFO, false, "%llu samples of %u threads, %llu ms of processor time",
                (unsigned long long)sum.samples, sum.threads, (unsigned long long)sum.ns / 1000000u);
}
