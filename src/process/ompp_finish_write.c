/*
 * Writing the report: by libompp-report.so, or the compact profile where that cannot be opened.
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "finish"
#include "process/ompp_finish_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_error.h"
#include "base/ompp_log.h"
#include "base/ompp_write.h"
#include "image/ompp_program.h"
#include "model/ompp_job.h"
#include "model/ompp_pack.h"
#include "process/ompp_helper.h"
#include "process/ompp_lifecycle.h"
#include "runtime/ompp_thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

void ompp_finish_warn(bool incremental, const char *before, const char *text)
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
    struct stat st;

    for (size_t i = 0; i < profile->nranks_kept; i++)
        if (profile->ranks[i].nthreads > threads) threads = profile->ranks[i].nthreads;
    /* Of one rank alone: named after it, as its other files are. */
    if (job->local_rank >= 0) snprintf(size, sizeof size, ":%d.%u", job->local_rank, threads);
    else snprintf(size, sizeof size, ".%ux%u", profile->nranks, threads);
    bool written = false;
    for (unsigned n = 0; n < 1000 && !written; n++) {
        snprintf(path, sizeof path, "%s%s%s%s-%u.ompp.bin", job->dir, *job->dir ? "/" : "",
                 ompp_profile_text(profile, profile->app), size, n);
        if (lstat(path, &st) == 0) continue;
        written = ompp_pack_write_file(path, profile, false) == 0;
        if (!written && errno != EEXIST) break;
    }
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

    return (text ? OMPP_JOB_TEXT : 0) | (ompp_env_has_word(ompp_env.outformat, "csv") ? OMPP_JOB_CSV : 0) |
           (ompp_env_has_word(ompp_env.outformat, "html") ? OMPP_JOB_HTML : 0);
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

/* What found no room in the memory for the profile, on all ranks that the report is of. */
static void warn_of_losses(const ompp_profile_t *profile)
{
    char text[300];
    int used = 0;

    for (size_t i = 0; i < profile->ncoverage; i++) {
        const ompp_coverage_t *c = &profile->coverage[i];
        const char *subject = ompp_profile_text(profile, c->subject);
        if (c->kind != OMPP_COVERAGE_DROPPED || !strstr(ompp_profile_text(profile, c->reason), "OMPP_MEMORY")) continue;
        const int n = snprintf(text + used, sizeof text - used, "%s%llu %s", used ? ", " : "",
                               (unsigned long long)c->count, subject);
        if (n >= (int)sizeof text - used) break;
        used += n;
    }
    text[used] = '\0';
    if (used) ompp_warn("set a larger OMPP_MEMORY: no room for %s; see Coverage in the report", text);
}

static double begun; /* ompp_clock_seconds() */

void ompp_finish_begin(void) { begun = ompp_clock_seconds(); }

static bool wants_summary(void)
{
    if (ompp_env.quiet || strcmp(ompp_env.summary, "off") == 0) return false;
    return strcmp(ompp_env.summary, "on") == 0 || isatty(STDERR_FILENO);
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
                      .wants_summary = !incremental && wants_summary(),
                      .redact = ompp_env.redact,
                      .local_rank = local_rank,
                      .time_digits = (int)ompp_env.time_digits,
                      .resolve_seconds = ompp_env.resolve_seconds,
                      .begun = begun,
                      .report_seconds = ompp_env.report_seconds,
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
    if (job.message[0]) ompp_finish_warn(incremental, "", job.message);
    else if (error) ompp_finish_warn(incremental, "no report: ", ompp_error_message(error));
    else if (why) ompp_warn("%s; report of this process: %s%s", why, job.path, advice());
    else ompp_log_at(incremental ? OMPP_LOG_INFO : OMPP_LOG_WARN, !incremental, "report: %s", job.path);
    if (job.summary[0]) ompp_write_stderr(job.summary, strlen(job.summary));
    if (job.notice[0] && !incremental) ompp_warn("%s", job.notice);
    if (!incremental) warn_of_losses(profile);
    return job.path[0] != '\0';
}

typedef struct {
    ompp_profile_t *profile;
    int local_rank;
    const char *why;
    bool written;
} report_task_t;

static void write_there(void *argument)
{
    report_task_t *task = argument;

    task->written = write_here(task->profile, task->local_rank, task->why);
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
bool ompp_finish_write(ompp_profile_t *profile, int local_rank, const char *why)
{
    const size_t enough = 512 << 10;
    report_task_t task = {profile, local_rank, why, false};
    pthread_t thread;
    const size_t left = stack_left();
    const bool done = left > 0 && left < enough &&
                      ompp_helper_start(&thread, "ompp-report", 4 * enough, write_there, &task) == 0 &&
                      pthread_join(thread, NULL) == 0;

    return done ? task.written : write_here(profile, local_rank, why);
}
