/*
 * End of measurement: collect, reduce over the ranks, hand the profile to libompp-report.so. In MPI_Finalize, at exit,
 * or for a dump. Nothing here is collective but ompp_runtime_finalize().
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "finish"
#include "process/ompp_finish_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_error.h"
#include "base/ompp_log.h"
#include "base/ompp_write.h"
#include "data/ompp_data.h"
#include "model/ompp_collect.h"
#include "model/ompp_job.h"
#include "model/ompp_merge.h"
#include "model/ompp_pack.h"
#include "preload/ompp_launch.h"
#include "process/ompp_checkpoint.h"
#include "process/ompp_dump_priv.h"
#include "process/ompp_lifecycle.h"
#include "process/ompp_openmp.h"
#include "process/ompp_plugin.h"
#include "process/ompp_process_priv.h"
#include "process/ompp_unmeasured_priv.h"
#include "runtime/ompp_meter_priv.h"
#include "runtime/ompp_thread_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOLD_SECONDS 2 /* longest wait of a fork for a report that is being written */

/* ---- The profile of this process --------------------------------------------------------------------------------- */

/* Begins and ends that do not match are most often the user's mistake. */
static void warn_of_mismatches(const ompp_profile_t *profile)
{
    uint64_t n = 0;
    const char *what = NULL, *first = NULL;

    for (size_t i = 0; i < profile->ncoverage; i++) {
        const ompp_coverage_t *c = &profile->coverage[i];
        if (c->kind != OMPP_COVERAGE_MISMATCH) continue;
        if (!what) what = ompp_profile_text(profile, c->subject), first = ompp_profile_text(profile, c->reason);
        n += c->count;
    }
    if (n)
        ompp_warn("%s: %s%s%llu in all; times are complete, see Coverage in the report", what, first,
                  *first ? ", " : "", (unsigned long long)n);
}

/* Threads whose last counts could not be had. */
static unsigned missed_threads;

static void add_missed(ompp_profile_t *profile)
{
    char subject[120];

    if (!missed_threads) return;
    snprintf(subject, sizeof subject, "threads that were at work at the end, whose last counts are missing: %u",
             missed_threads);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_NOTE, subject, NULL, 1);
}

ompp_profile_t *ompp_finish_collect(const char *arena, uint64_t size, ompp_time_t t, ompp_end_t end)
{
    ompp_profile_t *profile = ompp_collect(arena, size, t, end);

    if (!profile) return NULL;
    if (profile->nranks_kept) ompp_process_cpu(&profile->ranks[0].user_ns, &profile->ranks[0].system_ns);
    ompp_openmp_coverage(profile);
    ompp_unmeasured_mpi(profile);
    add_missed(profile);
    ompp_cpu_wait_add(profile);
    if (ompp_process.arena.why[0])
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_ARENA, NULL, ompp_process.arena.why, 1);
    if (end == OMPP_END_FINAL) warn_of_mismatches(profile);
    if (!profile->failed) return profile;
    ompp_profile_free(profile);
    return NULL;
}

/* At an end: what other threads may still do is theirs. */
static ompp_profile_t *collect(ompp_time_t t, ompp_end_t end)
{
    return ompp_finish_collect(ompp_process.arena.base, ompp_process.arena.mapped, t, end);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void report_library(char *path, size_t n)
{
    if (*ompp_env.report_lib) snprintf(path, n, "%s", ompp_env.report_lib);
    else ompp_library_path(path, n, "libompp-report.so");
}

void ompp_runtime_report_dir(char *dir, size_t n)
{
    if (!*ompp_env.outdir) snprintf(dir, n, "%s", ompp_program_dir());
    else if (*ompp_env.outdir == '/') snprintf(dir, n, "%s", ompp_env.outdir);
    else snprintf(dir, n, "%s/%s", ompp_program_dir(), ompp_env.outdir);
}

/* Reports by the clock may meet the same trouble every time: that is said once. */
static void warn_of_report(bool incremental, const char *before, const char *text)
{
    static char last[1200];

    if (incremental && strcmp(last, text) == 0) return;
    snprintf(last, sizeof last, "%s", text);
    ompp_warn("%s%s", before, text);
}

/* Without the report library: the compact profile, which ompp-report converts. */
static bool write_compact(const ompp_profile_t *profile, const ompp_job_t *job, bool incremental, const char *why)
{
    char path[1400], size[40];
    uint32_t threads = 1;

    for (size_t i = 0; i < profile->nranks_kept; i++)
        if (profile->ranks[i].nthreads > threads) threads = profile->ranks[i].nthreads;
    /* Of one rank alone: named after it, as its other files are. */
    if (job->local_rank >= 0) snprintf(size, sizeof size, ":%d.%u", job->local_rank, threads);
    else snprintf(size, sizeof size, ".%ux%u", profile->nranks, threads);
    for (unsigned n = 0; n < 1000; n++) {
        snprintf(path, sizeof path, "%s%s%s%s-%u.ompp.bin", job->dir, *job->dir ? "/" : "",
                 ompp_profile_text(profile, profile->app), size, n);
        if (access(path, F_OK) != 0) break;
    }
    const bool written = ompp_pack_write_file(path, profile) == 0;
    if (written)
        ompp_log_at(incremental ? OMPP_LOG_INFO : OMPP_LOG_WARN, false,
                    "make the report with ompp-report convert %s: the report library is not usable (%s)", path, why);
    else
        ompp_warn("set OMPP_OUTDIR to a directory that you can write to: no report: %s, and %s cannot be written (%s)",
                  why, path, strerror(errno));
    return written;
}

static unsigned formats(void)
{
    bool text = ompp_env_has_word(ompp_env.outformat, "text") || ompp_env_has_word(ompp_env.outformat, "plain");

    return (text ? OMPP_JOB_TEXT : 0) | (ompp_env_has_word(ompp_env.outformat, "csv") ? OMPP_JOB_CSV : 0);
}

/* What is said behind the report of one rank alone: how to get that of all. */
static const char *advice(void)
{
    static char text[700];

    text[0] = '\0';
    if (ompp_process.arena.path[0] && ompp_process.header->size > 1)
        snprintf(text, sizeof text, "; of all ranks: ompp-report merge %s", ompp_process.arena.path);
    return text;
}

/* \return whether there is a report now, or the compact profile. */
static bool write_here(ompp_profile_t *profile, int local_rank, const char *why)
{
    bool incremental = profile->nranks_kept == 1 && profile->ranks[0].end == OMPP_END_DUMP;
    char dir[4200], library[4200];
    ompp_job_run_t *run = NULL;
    ompp_job_t job = {.version = OMPP_JOB_VERSION,
                      .formats = formats(),
                      .dir = dir,
                      .choose = "set OMPP_OUTDIR to a directory",
                      .tmpdir = ompp_env.tmpdir,
                      .file = ompp_env.reportfile,
                      .overwrite = ompp_env.overwrite,
                      .usepid = ompp_env.usepid,
                      .local_rank = local_rank,
                      .time_digits = (int)ompp_env.time_digits,
                      .resolve_seconds = ompp_env.resolve_seconds,
                      .resolve_live = true};

    ompp_runtime_report_dir(dir, sizeof dir);
    report_library(library, sizeof library);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle) run = (ompp_job_run_t *)dlsym(handle, OMPP_JOB_FUNCTION);
    if (!run) {
        const char *reason = dlerror();
        ompp_write_t writing;
        ompp_write_begin(&writing);
        const bool written = write_compact(profile, &job, incremental, reason ? reason : "unknown error");
        ompp_write_end(&writing);
        return written;
    }
    int error = run(profile, &job);
    if (job.message[0]) warn_of_report(incremental, "", job.message);
    else if (error) warn_of_report(incremental, "no report: ", ompp_error_message(error));
    else if (why) ompp_warn("%s; report of this process: %s%s", why, job.path, advice());
    else ompp_log_at(incremental ? OMPP_LOG_INFO : OMPP_LOG_WARN, !incremental, "report: %s", job.path);
    if (job.notice[0] && !incremental) ompp_warn("%s", job.notice);
    return job.path[0] != '\0';
}

typedef struct {
    ompp_profile_t *profile;
    int local_rank;
    const char *why;
    bool written;
} report_task_t;

static void *write_there(void *argument)
{
    report_task_t *task = argument;

    ompp_thread_self = &ompp_thread_none;
    task->written = write_here(task->profile, task->local_rank, task->why);
    return NULL;
}

/* Bytes left on this thread's stack; 0 = unknown. */
static size_t stack_left(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size, left = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) left = (size_t)((char *)&attributes - (char *)low);
    pthread_attr_destroy(&attributes);
    return left;
}

/* A thread that calls exit() may have a small stack: then the report is written on another one. */
static bool write_report(ompp_profile_t *profile, int local_rank, const char *why)
{
    const size_t enough = 512 << 10;
    report_task_t task = {profile, local_rank, why, false};
    pthread_attr_t attributes;
    pthread_t thread;
    size_t left = stack_left();
    bool done = false;

    if (left > 0 && left < enough && pthread_attr_init(&attributes) == 0) {
        done = pthread_attr_setstacksize(&attributes, 4 * enough) == 0 &&
               pthread_create(&thread, &attributes, write_there, &task) == 0 && pthread_join(thread, NULL) == 0;
        pthread_attr_destroy(&attributes);
    }
    return done ? task.written : write_here(profile, local_rank, why);
}

/* ---- Reduction --------------------------------------------------------------------------------------------------- */

static int send_profile(const ompp_reduce_t *reduce, int to, const ompp_profile_t *profile)
{
    void *data = NULL;
    uint64_t bytes = 0;
    /* An empty message says that there is nothing: the receiver must not wait for what cannot come. */
    int packed = profile ? ompp_pack(profile, &data, &bytes) : 0;
    int error = reduce->send(to, data, packed == 0 ? bytes : 0);

    free(data);
    return error;
}

static int receive_into(const ompp_reduce_t *reduce, int from, ompp_profile_t *into)
{
    uint64_t bytes = 0;
    ompp_profile_t *profile = NULL;
    int error = reduce->receive_size(from, &bytes);
    void *data = error ? NULL : malloc(bytes ? bytes : 1);

    if (error || !data) return error ? error : -OMPP_E_NOMEM;
    error = reduce->receive(from, data, bytes);
    if (!error) error = bytes ? ompp_unpack(data, bytes, &profile) : -OMPP_E_NOTFOUND;
    if (!error) error = ompp_profile_merge(into, profile);
    ompp_profile_free(profile);
    free(data);
    return error;
}

static void merge_from(const ompp_reduce_t *reduce, int from, ompp_profile_t *into)
{
    char rank[16];
    int error = receive_into(reduce, from, into);

    if (!error) return;
    snprintf(rank, sizeof rank, "%d", reduce->world ? reduce->world[from] : from);
    ompp_profile_add_coverage(into, OMPP_COVERAGE_INCOMPLETE, rank, ompp_error_message(error), 1);
}

/*
 * Ranks from first on are kept only as sums: a binomial tree over them, its root is first. \return true on the rank
 * that holds the result (first).
 */
static bool reduce_rest(const ompp_reduce_t *reduce, int first, ompp_profile_t *profile)
{
    int me = reduce->rank - first, n = reduce->size - first;

    ompp_profile_fold_rest(profile);
    for (int step = 1; step < n; step *= 2) {
        if (me & step) {
            send_profile(reduce, first + me - step, profile);
            return false;
        }
        if (me + step < n) merge_from(reduce, first + me + step, profile);
    }
    return true;
}

/*
 * Brings everything to rank 0: ranks below OMPP_RANK_DETAIL send their whole profile, one after the other, so that rank
 * 0 holds at most one of them beside the union; the others come as one sum.
 */
static int first_rest(const ompp_reduce_t *reduce)
{
    int64_t detail = ompp_env.rank_detail < 1 ? 1 : ompp_env.rank_detail;

    return detail < reduce->size ? (int)detail : reduce->size;
}

/* The rank that waits for this one's profile. */
static int taker_of(const ompp_reduce_t *reduce)
{
    int me = reduce->rank - first_rest(reduce);

    return me <= 0 ? 0 : first_rest(reduce) + (me & (me - 1));
}

static void reduce_profiles(const ompp_reduce_t *reduce, ompp_profile_t *profile)
{
    int first = first_rest(reduce);

    if (reduce->rank >= first) {
        if (reduce_rest(reduce, first, profile)) send_profile(reduce, 0, profile);
    } else if (reduce->rank > 0) {
        send_profile(reduce, 0, profile);
    } else {
        for (int r = 1; r < first; r++) merge_from(reduce, r, profile);
        if (first < reduce->size) merge_from(reduce, first, profile);
        if (profile->nranks < (uint32_t)reduce->size) profile->nranks = (uint32_t)reduce->size;
    }
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

/*
 * All ranks are here, or not: rank 0 decides and says so. A rank that waited in vain says to the rank that would wait
 * for it that nothing comes; one that comes late hears that rank 0 has given up.
 */
static int meet(const ompp_reduce_t *reduce)
{
    int error = reduce->agree(ompp_env.finalize_timeout);
    char go = !error;
    uint64_t bytes = 0;

    if (reduce->rank == 0) {
        for (int r = 1; r < reduce->size; r++) reduce->send(r, &go, sizeof go);
    } else if (error) {
        send_profile(reduce, taker_of(reduce), NULL);
    } else {
        error = reduce->receive_size(0, &bytes);
        if (!error) error = bytes == sizeof go ? reduce->receive(0, &go, sizeof go) : -OMPP_E_FORMAT;
        if (!error && !go) error = -OMPP_E_TIMEOUT;
    }
    return error;
}

void ompp_runtime_absent(const ompp_reduce_t *reduce)
{
    char rank[16];

    if (reduce->size < 2) return;
    int error = meet(reduce);

    if (error) return;
    if (reduce->rank == 0) {
        ompp_profile_t *profile = ompp_profile_new();
        if (!profile) return;
        snprintf(rank, sizeof rank, "%d", reduce->world ? reduce->world[0] : 0);
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_INCOMPLETE, rank, "not measured", 1);
        reduce_profiles(reduce, profile);
        write_report(profile, -1, NULL);
        ompp_profile_free(profile);
    } else {
        send_profile(reduce, taker_of(reduce), NULL);
    }
}

/* Nothing is measured from here on; t: the end. \return true for the one caller that ends a running measurement. */
static bool stop(ompp_time_t t)
{
    ompp_data_finish();
    if (atomic_exchange(&ompp_process.state, OMPP_STATE_DEAD) != OMPP_STATE_RUNNING) return false;
    atomic_store(&ompp_process.on, 0);
    ompp_process.header->end_ns = t;
    ompp_dump_stop();
    return true;
}

/* running: other threads are at work, and go on. */
static bool local_report(ompp_time_t t, ompp_end_t end, bool running, const char *why)
{
    int rank = ompp_process.header->rank;
    char text[16];
    ompp_profile_t *profile = running ? ompp_dump_profile(end) : collect(t, end);

    if (!profile) {
        warn_of_report(end == OMPP_END_DUMP, "no report: ", "out of memory");
        return false;
    }
    snprintf(text, sizeof text, "%d", rank < 0 ? 0 : rank);
    if (why) ompp_profile_add_coverage(profile, OMPP_COVERAGE_INCOMPLETE, text, why, 1);
    /* Before MPI_Init has told it, too, reports of several ranks are to be told apart. */
    const bool written = write_report(profile, rank < 0 && end == OMPP_END_DUMP ? ompp_launch_rank() : rank, why);
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

/* Its profile went to rank 0, which may yet die before there is a report: the file goes when MPI is finalized, or at
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
static void end_now(ompp_time_t t, const char *why)
{
    int saved_errno = errno;

    if (atomic_load(&ended_badly) || !stop(t)) return;
    ompp_threads_stop(ompp_thread_self);
    if (ompp_thread_self) ompp_meter_flush(ompp_thread_self);
    missed_threads = ompp_meter_take_over(ompp_thread_self);
    ompp_thread_self = &ompp_thread_none;
    end_badly(t, why);
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
    ompp_profile_t *profile = collect_final(t, true);
    bool written = profile && write_report(profile, rank, NULL);

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
    return write_report(profile, sessions ? ompp_launch_rank() : -1, NULL);
}

/* The report of the run, on rank 0; collective when there is more than one rank. \return whether this process's part is
 * done. */
static bool report_of_run(ompp_time_t t, const ompp_reduce_t *reduce)
{
    ompp_profile_t *profile = collect_final(t, reduce != NULL);
    bool done = true;

    if (reduce && reduce->size > 1) {
        /* A rank without a profile still takes part, so that nobody waits. */
        if (!profile) profile = ompp_profile_new();
        if (profile) reduce_profiles(reduce, profile);
        else send_profile(reduce, taker_of(reduce), NULL);
    }
    if (!reduce) done = profile && write_of_process(profile);
    else if (reduce->rank == 0) done = profile && write_report(profile, -1, NULL);
    ompp_profile_free(profile);
    return done;
}

void ompp_runtime_finalize(const ompp_reduce_t *reduce)
{
    bool done = true;
    int error = 0;

    /* A report that is under way is of a moment before the end. A forked process has none. */
    if (atomic_load(&ompp_process.state) == OMPP_STATE_RUNNING) ompp_dump_stop();
    const ompp_time_t t = ompp_clock_now();
    if (!stop(t)) return;
    ompp_threads_stop(ompp_thread_self);
    if (ompp_thread_self) ompp_meter_end(ompp_thread_self);
    missed_threads = ompp_meter_take_over(ompp_thread_self);
    ompp_thread_self = &ompp_thread_none;
    if (reduce && wants_reports_of("ranks")) done = report_of_rank(t, ompp_process.header->rank);
    if (!reduce || wants_reports_of("merged")) {
        error = reduce && reduce->size > 1 ? meet(reduce) : 0;
        if (!error) done = report_of_run(t, reduce);
    }
    if (error)
        end_badly(t, error == -OMPP_E_TIMEOUT ? "not all ranks reached MPI_Finalize within OMPP_FINALIZE_TIMEOUT"
                                              : "the ranks could not be reached at MPI_Finalize");
    else if (reduce && reduce->rank > 0) atomic_store(&leaves_later, true);
    else if (done) remove_files();
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

    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return;
    if (final && !is_file_of_run()) {
        end_now(t, why);
        return;
    }
    pthread_mutex_lock(&dumping);
    if (self) ompp_meter_flush(self);
    ompp_thread_self = &ompp_thread_none; /* what the writing of the report does is no event */
    if (final) foretell_end(t, why);
    else local_report(t, OMPP_END_DUMP, true, NULL);
    pthread_mutex_unlock(&dumping);
    errno = saved_errno;
    ompp_thread_self = self;
}

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

void ompp_finish_at_exit(void)
{
    if (atomic_load(&ompp_process.state) == OMPP_STATE_NEW) ompp_unmeasured_say();
    /* a child made without fork(3) */
    if (!ompp_process.header || ompp_process.header->pid != (uint32_t)getpid()) return;
    ompp_runtime_leave();
    if (atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return;
    if (ompp_process.header->rank < 0) ompp_runtime_finalize(NULL);
    else end_now(ompp_clock_now(), "ended without MPI_Finalize");
}
