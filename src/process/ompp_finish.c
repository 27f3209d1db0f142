/*
 * End of measurement, in MPI_Finalize or at exit, and reports while the program runs: collect (ompp_finish_collect.c),
 * reduce over the ranks (ompp_finish_reduce.c), write (ompp_finish_write.c). Nothing here is collective but
 * ompp_runtime_finalize().
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "finish"
#include "process/ompp_finish_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_error.h"
#include "base/ompp_float.h"
#include "base/ompp_log.h"
#include "data/ompp_data.h"
#include "model/ompp_merge.h"
#include "preload/ompp_launch.h"
#include "process/ompp_checkpoint.h"
#include "process/ompp_dump_priv.h"
#include "process/ompp_plugin.h"
#include "process/ompp_snapshot.h"
#include "process/ompp_unmeasured_priv.h"
#include "runtime/ompp_meters.h"
#include "runtime/ompp_thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HOLD_SECONDS 2 /* longest wait of a fork for a report that is being written */

/* Threads whose last counts could not be had. */
static unsigned missed_threads;

/* At an end: what other threads may still do is theirs. */
static ompp_profile_t *collect(ompp_time_t t, ompp_end_t end)
{
    return ompp_finish_collect(ompp_process.arena.base, ompp_process.arena.mapped, t, end, missed_threads);
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

void ompp_runtime_absent(const ompp_reduce_t *reduce)
{
    char rank[16];
    bool done = false;

    if (reduce->size < 2 || ompp_finish_meet(reduce)) return;
    if (reduce->compare) reduce->compare();
    if (reduce->rank == 0) ompp_finish_begin();
    ompp_profile_t *profile = reduce->rank == 0 ? ompp_profile_new() : NULL;
    if (profile) {
        snprintf(rank, sizeof rank, "%d", reduce->world ? reduce->world[0] : 0);
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_INCOMPLETE, rank, "not measured", 1);
        ompp_finish_reduce(reduce, profile);
        done = ompp_finish_write(profile, -1, NULL);
        ompp_profile_free(profile);
    } else if (reduce->rank > 0) {
        ompp_finish_reduce_nothing(reduce);
    }
    ompp_finish_tell(reduce, &done);
}

/* Nothing is measured from here on. \param[out] t  the end. \return true for the one caller that ends a running
 * measurement. */
static bool stop(ompp_time_t *t)
{
    ompp_data_finish();
    ompp_runtime_hooks.ends();
    if (atomic_exchange(&ompp_process.state, OMPP_STATE_DEAD) != OMPP_STATE_RUNNING) return false;
    atomic_store(&ompp_process.on, 0);
    ompp_dump_stop();
    *t = ompp_process.header->end_ns = ompp_threads_stop(ompp_thread_self);
    return true;
}

/* running: other threads are at work, and go on. */
static bool local_report(ompp_time_t t, ompp_end_t end, bool running, const char *why)
{
    int rank = ompp_process.header->rank;
    char text[16];

    ompp_finish_begin();
    ompp_profile_t *profile = running ? ompp_snapshot_profile(end) : collect(t, end);

    if (!profile) {
        ompp_finish_warn(end == OMPP_END_DUMP, "no report: ", "out of memory");
        return false;
    }
    snprintf(text, sizeof text, "%d", rank < 0 ? 0 : rank);
    if (why) ompp_profile_add_coverage(profile, OMPP_COVERAGE_INCOMPLETE, text, why, 1);
    /* Before MPI_Init has told it, too, reports of several ranks are to be told apart. */
    const bool written = ompp_finish_write(profile, rank < 0 && end == OMPP_END_DUMP ? ompp_launch_rank() : rank, why);
    ompp_profile_free(profile);
    return written;
}

/* ---- The file that holds the profile while the program runs ------------------------------------------------------ */

/* There is a report: what would have told of this process without one goes. */
static void remove_files(void)
{
    ompp_arena_unlink(&ompp_process.arena);
    ompp_checkpoint_remove();
}

/* Its profile went to rank 0, which has not said that there is a report: the file goes when MPI is finalized, or at
 * exit. */
static atomic_bool leaves_later;

void ompp_runtime_leave(void)
{
    if (atomic_exchange(&leaves_later, false)) remove_files();
}

/* An end that was not good: what all ranks have left can be joined, if this one leaves its part. */
static atomic_bool ended_badly;

static void note_why(const char *why)
{
    const ompp_locked_t locked = ompp_lock();
    atomic_store_explicit(&ompp_process.header->why, ompp_string_take(why), memory_order_release);
    ompp_unlock(locked);
}

/* Others have their part of the profile in files, too. */
static bool is_file_of_run(void) { return ompp_process.arena.path[0] && ompp_process.header->size > 1; }

/* Measurement is over. */
static void end_badly(ompp_time_t t, const char *why)
{
    note_why(why);
    bool written = local_report(t, OMPP_END_INCOMPLETE, false, why);
    if (written && !is_file_of_run()) remove_files();
}

/* Ends the measurement, badly. */
static void end_now(const char *why)
{
    int saved_errno = errno;
    ompp_time_t t;
    ompp_float_t program;

    if (atomic_load(&ended_badly)) return;
    ompp_float_begin(&program);
    if (stop(&t)) {
        if (ompp_thread_self) ompp_meter_flush(ompp_thread_self);
        missed_threads = ompp_meter_take_over(ompp_thread_self);
        ompp_thread_self = &ompp_thread_none;
        end_badly(t, why);
    }
    ompp_float_end(&program);
    errno = saved_errno;
}

/* ---- Ends, continued --------------------------------------------------------------------------------------------- */

static bool wants_reports_of(const char *what)
{
    return strcmp(ompp_env.mpi_report, what) == 0 || strcmp(ompp_env.mpi_report, "both") == 0;
}

static ompp_profile_t *collect_final(ompp_time_t t, bool mpi)
{
    ompp_profile_t *profile = collect(t, OMPP_END_FINAL);

    if (profile && mpi) ompp_profile_add_coverage(profile, OMPP_COVERAGE_AFTER_FINALIZE, NULL, NULL, 1);
    if (!profile) ompp_warn("no profile of this rank: out of memory");
    return profile;
}

/* The report of this rank alone, as ompP writes it. */
static bool report_of_rank(ompp_time_t t, int rank)
{
    ompp_finish_begin();
    ompp_profile_t *profile = collect_final(t, true);
    bool written = profile && ompp_finish_write(profile, rank, NULL);

    ompp_profile_free(profile);
    return written;
}

/* It has called MPI and not MPI_Init: MPI's sessions, where there is nothing that holds the ranks together. */
static bool has_sessions(const ompp_profile_t *profile)
{
    for (size_t r = 0; r < profile->nregions; r++)
        if (profile->regions[r].construct == OMPP_CONSTRUCT_MPI) return true;
    return false;
}

static bool write_of_process(ompp_profile_t *profile)
{
    const bool sessions = ompp_launch_rank() >= 0 && has_sessions(profile);

    if (sessions)
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_NOTE, "MPI without MPI_Init (sessions)",
                                  "one report per process", 1);
    return ompp_finish_write(profile, sessions ? ompp_launch_rank() : -1, NULL);
}

/* The report of the run, on rank 0; collective when there is more than one rank. \return whether this process's part is
 * done. */
static bool report_of_run(ompp_time_t t, const ompp_reduce_t *reduce)
{
    ompp_finish_begin();
    ompp_profile_t *profile = collect_final(t, reduce != NULL);
    bool done = true;

    if (reduce && reduce->size > 1) {
        /* A rank without a profile still takes part, so that nobody waits. */
        if (!profile) profile = ompp_profile_new();
        if (profile) ompp_finish_reduce(reduce, profile);
        else ompp_finish_reduce_nothing(reduce);
    }
    if (!reduce) done = profile && write_of_process(profile);
    else if (reduce->rank == 0) done = profile && ompp_finish_write(profile, -1, NULL);
    ompp_profile_free(profile);
    return done;
}

/* What comes of it belongs to the thread that ends measurement. */
static void compare(const ompp_reduce_t *reduce, ompp_thread_t *self)
{
    if (!reduce->compare) return;
    ompp_thread_self = self;
    reduce->compare();
    ompp_thread_self = &ompp_thread_none;
}

static void finalize(const ompp_reduce_t *reduce)
{
    ompp_thread_t *self = ompp_thread_self;
    ompp_time_t t;
    bool done = true;
    int error = 0, untold = 0;

    /* A report that is under way is of a moment before the end. A forked process has none. */
    if (atomic_load(&ompp_process.state) == OMPP_STATE_RUNNING) ompp_dump_stop();
    if (!stop(&t)) return;
    if (ompp_thread_self) ompp_meter_end(ompp_thread_self);
    missed_threads = ompp_meter_take_over(ompp_thread_self);
    ompp_thread_self = &ompp_thread_none;
    if (reduce && wants_reports_of("ranks")) done = report_of_rank(t, ompp_process.header->rank);
    if (!reduce || wants_reports_of("merged")) {
        error = reduce && reduce->size > 1 ? ompp_finish_meet(reduce) : 0;
        if (!error && reduce && reduce->size > 1) compare(reduce, self);
        if (!error) done = report_of_run(t, reduce);
        if (!error && reduce && reduce->size > 1) untold = ompp_finish_tell(reduce, &done);
    }
    if (error)
        end_badly(t, error == -OMPP_E_TIMEOUT ? "not all ranks reached MPI_Finalize within OMPP_FINALIZE_TIMEOUT"
                                              : "the ranks could not be reached at MPI_Finalize");
    else if (untold) atomic_store(&leaves_later, true);
    else if (done) remove_files();
}

void ompp_runtime_finalize(const ompp_reduce_t *reduce)
{
    ompp_float_t program;

    ompp_float_begin(&program);
    finalize(reduce);
    ompp_float_end(&program);
}

/*
 * The process is about to end although MPI is not finalized (MPI_Abort): a report of what there is by now. Other
 * threads are at work until it ends; the file that stays has that, too.
 */
static void foretell_end(ompp_time_t t, const char *why)
{
    if (atomic_exchange(&ended_badly, true)) return;
    note_why(why);
    local_report(t, OMPP_END_INCOMPLETE, true, why);
}

static pthread_mutex_t dumping = PTHREAD_MUTEX_INITIALIZER;

void ompp_runtime_dump(bool final, const char *why)
{
    ompp_thread_t *self = ompp_thread_self;
    ompp_time_t t = ompp_clock_now();
    int saved_errno = errno;
    ompp_float_t program;

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return;
    if (final && !is_file_of_run()) {
        end_now(why);
        return;
    }
    ompp_float_begin(&program);
    pthread_mutex_lock(&dumping);
    if (self) ompp_meter_flush(self);
    ompp_thread_self = &ompp_thread_none; /* what the writing of the report does is no event */
    if (final) foretell_end(t, why);
    else local_report(t, OMPP_END_DUMP, true, NULL);
    pthread_mutex_unlock(&dumping);
    ompp_float_end(&program);
    errno = saved_errno;
    ompp_thread_self = self;
}

void ompp_finish_dump(void) { ompp_runtime_dump(false, "OMPP_DUMP_INTERVAL"); }

void ompp_finish_checkpoint(void)
{
    ompp_thread_t *self = ompp_thread_self;

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return;
    pthread_mutex_lock(&dumping);
    ompp_thread_self = &ompp_thread_none;
    ompp_checkpoint_write();
    ompp_thread_self = self;
    pthread_mutex_unlock(&dumping);
}

bool ompp_finish_hold(void)
{
    struct timespec limit;

    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += HOLD_SECONDS;
    return pthread_mutex_timedlock(&dumping, &limit) == 0;
}

void ompp_finish_release(void) { pthread_mutex_unlock(&dumping); }

/*
 * Samples began at load, since a program that is built with us and has OpenMP or MPI is meant to be measured; but no
 * event came. It may be a tool that the build of such a program runs: there is no report of it.
 */
static bool has_samples_alone(void)
{
    const char *base = ompp_process.arena.base;
    const ompp_a_thread_t *thread;
    const ompp_a_node_t *node;

    if (ompp_is_launched() || ompp_plugins_need_no_events()) return false;
    for (ompp_off_t t = ompp_process.header->threads; t; t = thread->next) {
        thread = (const void *)(base + t);
        for (ompp_off_t n = thread->nodes; n; n = node->next) {
            node = (const void *)(base + n);
            if (node->region) return false;
        }
    }
    return true;
}

static void forget(void)
{
    ompp_time_t t;

    if (!stop(&t)) return;
    ompp_thread_self = &ompp_thread_none;
    remove_files();
    ompp_unmeasured_say();
}

void ompp_finish_at_exit(void)
{
    if (atomic_load(&ompp_process.state) == OMPP_STATE_NEW) ompp_unmeasured_say();
    /* a child made without fork(3) */
    if (!ompp_process.header || ompp_process.header->pid != (uint32_t)getpid()) return;
    ompp_runtime_leave();
    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return;
    if (has_samples_alone()) forget();
    else if (ompp_process.header->rank < 0) ompp_runtime_finalize(NULL);
    else end_now("ended without MPI_Finalize");
}
