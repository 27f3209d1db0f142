/*
 * The time of the process, which begins at load; start of measurement at the first event; fork. The end is in
 * ompp_finish.c.
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "runtime"
#include "process/ompp_lifecycle.h"

#include "base/ompp_caller.h"
#include "base/ompp_env.h"
#include "base/ompp_error.h"
#include "base/ompp_log.h"
#include "base/ompp_new_file.h"
#include "base/ompp_path.h"
#include "base/ompp_write.h"
#include "data/ompp_data.h"
#include "image/ompp_proc.h"
#include "image/ompp_program.h"
#include "model/ompp_profile.h"
#include "preload/ompp_dlopen_watch.h"
#include "preload/ompp_exec.h"
#include "preload/ompp_launch.h"
#include "preload/ompp_reexec.h"
#include "process/ompp_cpu_wait.h"
#include "process/ompp_dump_priv.h"
#include "process/ompp_finish_priv.h"
#include "process/ompp_plugin.h"
#include "process/ompp_unmeasured_priv.h"
#include "runtime/ompp_calibrate.h"
#include "runtime/ompp_callpath.h"
#include "runtime/ompp_coverage.h"
#include "runtime/ompp_pending.h"
#include "runtime/ompp_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_START_NAPS 300000u /* some 30 s and more */

#ifndef OMPP_VERSION
#define OMPP_VERSION "unknown"
#endif

static void keep_setting(const char *name, const char *value)
{
    ompp_a_header_t *header = ompp_process.header;
    ompp_off_t off = *value ? ompp_arena_take(&ompp_process.arena, sizeof(ompp_a_setting_t)) : 0;

    if (!off) return;
    *(ompp_a_setting_t *)(ompp_process.arena.base + off) =
        (ompp_a_setting_t){header->settings, ompp_string_take(name), ompp_string_take(value)};
    atomic_store_explicit(&header->settings, off, memory_order_release);
}

void ompp_runtime_keep_setting(const char *name, const char *value)
{
    if (atomic_load_explicit(&ompp_process.state, memory_order_acquire) != OMPP_STATE_RUNNING) return;
    const ompp_locked_t locked = ompp_lock();
    keep_setting(name, value);
    ompp_unlock(locked);
}

/* The environment as it was at the start: the report of a process that died has it, too. */
static void keep_settings(void)
{
    char name[64];

    for (size_t i = 0; i < ompp_env_nrows; i++) {
        const ompp_env_row_t *row = &ompp_env_rows[i];
        if (row->type == OMPP_ENV_LIST) {
            const ompp_env_list_t *list = (const ompp_env_list_t *)((const char *)&ompp_env + row->offset);
            for (unsigned k = 0; k < list->n; k++) {
                snprintf(name, sizeof name, "%s%u", row->name, list->number[k]);
                keep_setting(name, list->text[k]);
            }
        }
        keep_setting(row->name, ompp_env_text(row));
    }
    if (ompp_plugin_has_counters()) keep_setting("PAPI", "available");
}

static void set_disabled(void)
{
    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++)
        for (size_t i = 0; ompp_constructs[c].env && i < ompp_env_nrows; i++)
            if (strcmp(ompp_env_rows[i].name, ompp_constructs[c].env) == 0)
                ompp_process.disabled[c] = *(bool *)((char *)&ompp_env + ompp_env_rows[i].offset);
    if (ompp_env.disable_locks) ompp_process.disabled[OMPP_CONSTRUCT_LOCK] = true;
}

/* A directory as it is seen from where the program started: the program may change its own. */
static const char *from_start(char *path, size_t n, const char *dir)
{
    snprintf(path, n, "%s%s%s", *dir == '/' ? "" : ompp_program_dir(), *dir == '/' ? "" : "/", dir);
    return path;
}

/*
 * A program that executes itself or another one that is measured (exec) leaves its file, whose name is that of the new
 * one's: what it held was the old program's, and there is nobody to report it.
 */
static void remove_predecessor(const char *const *dirs, const char *name)
{
    struct stat st;
    char path[5200];

    for (; *dirs; dirs++)
        if (snprintf(path, sizeof path, "%s/%s", *dirs, name) < (int)sizeof path && lstat(path, &st) == 0 &&
            S_ISREG(st.st_mode) && ompp_new_file_is_own(&st, *dirs))
            unlink(path);
}

void ompp_runtime_node_dirs(const char *dirs[4])
{
    static char job_dir[5000], tmpdir[5000]; /* the first event may come on a small stack */
    unsigned n = 0;

    ompp_env_read();
    dirs[0] = dirs[1] = dirs[2] = dirs[3] = NULL;
    if (*ompp_env.job_dir) {
        dirs[n++] = from_start(job_dir, sizeof job_dir, ompp_env.job_dir);
        mkdir(job_dir, 0700); /* it may be there */
    } else {
        dirs[n++] = "/dev/shm";
        if (*ompp_env.tmpdir) dirs[n++] = from_start(tmpdir, sizeof tmpdir, ompp_env.tmpdir);
        dirs[n++] = "/tmp";
    }
}

static void open_arena(void)
{
    const char *dirs[4];
    char name[100], remedy[100];

    ompp_runtime_node_dirs(dirs);
    const uint64_t start = ompp_proc_start(getpid()), space = ompp_proc_space();
    int n = snprintf(name, sizeof name, "ompp-%u-%d-%llx", (unsigned)getuid(), (int)getpid(),
                     (unsigned long long)(start ? start : ompp_clock.origin_epoch));
    if (space && space != OMPP_PROC_SPACE_ALL) snprintf(name + n, sizeof name - n, "-%llx", (unsigned long long)space);
    if (start) remove_predecessor(dirs, name);
    if (ompp_arena_open(&ompp_process.arena, dirs, name, ompp_env.memory) != 0) {
        ompp_process.arena.base = NULL;
        return;
    }
    ompp_process.arena.kept = OMPP_ARENA_KEPT;
    if (ompp_process.arena.why[0])
        ompp_warn_common(
            "%s: the profile is kept in memory only (%s), and lost if the program dies",
            ompp_write_remedy(ompp_process.arena.error, "set OMPP_JOB_DIR to a directory", remedy, sizeof remedy),
            ompp_process.arena.why);
}

static bool write_header(void)
{
    ompp_off_t off = ompp_arena_take(&ompp_process.arena, sizeof(ompp_a_header_t));
    char host[256] = "";

    if (off != OMPP_LAYOUT_HEADER) return false;
    ompp_a_header_t *header = ompp_process.header = (ompp_a_header_t *)(ompp_process.arena.base + off);
    gethostname(host, sizeof host - 1);
    header->layout = OMPP_LAYOUT_VERSION;
    header->endian = OMPP_LAYOUT_ENDIAN;
    header->pid = (uint32_t)getpid();
    header->rank = -1;
    header->size = 1;
    header->tsc = ompp_clock.use_tsc;
    header->origin_epoch = ompp_clock.origin_epoch;
    header->origin_ns = ompp_clock.origin_ns;
    header->begin_ns = 0;
    ompp_cpu_time_before(&header->user0_ns, &header->system0_ns);
    ompp_cpu_wait_begin();
    header->host = ompp_string_take(host);
    header->app = ompp_string_take(ompp_path_last(*ompp_env.appname ? ompp_env.appname : ompp_program_path()));
    header->version = ompp_string_take(OMPP_VERSION);
    header->built = ompp_string_take(__DATE__ " " __TIME__);
    header->start_ticks = ompp_proc_start(getpid());
    header->pid_space = ompp_proc_space();
    header->launcher_rank = ompp_launch_rank();
    header->launch = ompp_string_take(ompp_launch_rank() < 0 ? "" : ompp_launch_name());
    keep_settings();
    memcpy(header->magic, OMPP_LAYOUT_MAGIC, sizeof header->magic);
    return true;
}

/* ---- Fork -------------------------------------------------------------------------------------------------------- */

/* Of the thread that forks. */
static __thread bool held_reports;

static void before_fork(void)
{
    if (atomic_load(&ompp_process.state) == OMPP_STATE_RUNNING) ompp_event_coverage(OMPP_COVERAGE_FORKED, NULL, NULL);
    held_reports = ompp_thread_self != &ompp_thread_none && ompp_finish_hold();
}

static void in_parent(void)
{
    if (!held_reports) return;
    held_reports = false;
    ompp_finish_release();
}

/* A child is not measured: it must not write into its parent's profile, and must not write a report. */
static void in_child(void)
{
    atomic_store(&ompp_process.on, 0);
    if (atomic_exchange(&ompp_process.state, OMPP_STATE_DEAD) == OMPP_STATE_RUNNING) {
        ompp_pending_detach();
        ompp_arena_detach(&ompp_process.arena);
    }
    ompp_thread_self = &ompp_thread_none;
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

static void note_misread(void)
{
    char subject[200], why[120];

    for (size_t i = 0; i < ompp_env_nrows; i++) {
        const ompp_env_row_t *row = &ompp_env_rows[i];
        if (!ompp_env_is_misread(row)) continue;
        snprintf(subject, sizeof subject, "%s=%s", row->name, ompp_env_text(row));
        snprintf(why, sizeof why, "not understood; '%s' was used", row->def);
        ompp_event_coverage(OMPP_COVERAGE_REFUSED, subject, why);
    }
}

ompp_own_t ompp_runtime_own_begin(void)
{
    const ompp_a_header_t *header = ompp_process.header;
    ompp_own_t own = {.t_ns = ompp_clock_now()};

    if (header) own.begin_ns = header->begin_ns, own.user0_ns = header->user0_ns, own.system0_ns = header->system0_ns;
    else ompp_cpu_time_before(&own.user0_ns, &own.system0_ns);
    ompp_cpu_time(&own.user_ns, &own.system_ns);
    return own;
}

void ompp_runtime_own_end(const ompp_own_t *own)
{
    ompp_a_header_t *header = ompp_process.header;
    uint64_t user, system;

    if (atomic_load_explicit(&ompp_process.state, memory_order_acquire) != OMPP_STATE_RUNNING) return;
    const ompp_locked_t locked = ompp_lock();
    if (!atomic_load_explicit(&header->threads, memory_order_acquire)) {
        ompp_cpu_time(&user, &system);
        header->begin_ns = own->begin_ns + ompp_clock_now() - own->t_ns;
        header->user0_ns = own->user0_ns + user - own->user_ns;
        header->system0_ns = own->system0_ns + system - own->system_ns;
    }
    ompp_unlock(locked);
}

static void start_now(void)
{
    if (!ompp_env_is_trusted()) {
        atomic_store(&ompp_process.state, OMPP_STATE_DEAD);
        return;
    }
    ompp_clock_mark(); /* another library's constructor may be earlier than ours */
    const ompp_own_t own = ompp_runtime_own_begin();
    ompp_program_note();
    ompp_log_set_rank(ompp_launch_rank()); /* messages before MPI_Init are said once */
    ompp_env_read();
    set_disabled();
    ompp_clock_start(ompp_env.clock);
    open_arena();
    if (!ompp_process.arena.base || !write_header()) {
        ompp_warn("no memory for the profile; the program is not measured");
        atomic_store(&ompp_process.state, OMPP_STATE_DEAD);
        return;
    }
    pthread_atfork(before_fork, in_parent, in_child);
    atomic_store(&ompp_process.state, OMPP_STATE_RUNNING);
    ompp_calibrate(ompp_process.header->cost_ps, ompp_process.header->inside_ps);
    ompp_coverage_start();
    note_misread();
    ompp_callpath_start();
    ompp_data_from_environment();
    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++)
        if (ompp_process.disabled[c])
            ompp_event_coverage(OMPP_COVERAGE_DISABLED, ompp_constructs[c].full, ompp_constructs[c].env);
    ompp_dump_start(ompp_finish_dump, ompp_finish_checkpoint);
    ompp_runtime_own_end(&own);
}

static void (*_Atomic at_start)(void);

static _Atomic pid_t starter; /* thread that starts measurement; 0 = none yet */

/*
 * Another thread starts measurement. In a child that was forked meanwhile it is not there; a handler of the program's
 * may have jumped out of the start. Then nothing is measured. Who waits has nothing half done: its signals come (the
 * start may wait for a handler of it, a garbage collector's), and it may leave by longjmp().
 */
static void wait_for_start(void)
{
    const struct timespec nap = {0, 100000};
    unsigned naps = 0;

    while (atomic_load(&ompp_process.state) == OMPP_STATE_NEW) {
        int state = OMPP_STATE_NEW;
        if (syscall(SYS_tgkill, getpid(), atomic_load(&starter), 0) != 0 || naps++ > LONGEST_START_NAPS)
            atomic_compare_exchange_strong(&ompp_process.state, &state, OMPP_STATE_DEAD);
        else syscall(SYS_nanosleep, &nap, NULL); /* nobody is cancelled here, as by nanosleep() */
    }
}

static void call_at_start(void)
{
    void (*callback)(void) = atomic_exchange(&at_start, NULL);

    if (callback) callback();
}

/*
 * The program's first event: it is not to see of it that files were looked for and opened. What the starting thread
 * does meanwhile, in a handler of a fault or in a function that we call, is no event.
 */
static void start_once(void *unused)
{
    pid_t other = 0;

    (void)unused;
    if (!atomic_compare_exchange_strong(&starter, &other, (pid_t)syscall(SYS_gettid))) return;
    start_now();
    call_at_start();
}

void ompp_runtime_start_once(void)
{
    const int saved_errno = errno;

    if (!atomic_load(&starter)) ompp_caller_run(start_once, NULL);
    if (atomic_load(&starter) != (pid_t)syscall(SYS_gettid)) wait_for_start();
    errno = saved_errno;
}

void ompp_runtime_thread_begins(void)
{
    const ompp_own_t own = ompp_runtime_own_begin();

    ompp_plugins_start();
    ompp_runtime_own_end(&own);
}

void ompp_runtime_at_start(void (*callback)(void))
{
    atomic_store(&at_start, callback);
    if (atomic_load(&ompp_process.state) != OMPP_STATE_NEW) call_at_start();
}

/* The exit handler is registered at load, so that it runs after those the program registers. */
__attribute__((constructor)) static void at_load(int argc, char **argv, char **envp)
{
    int saved_errno = errno;

    (void)argc;
    if (!ompp_env_is_trusted()) {
        atomic_store(&ompp_process.state, OMPP_STATE_DEAD);
        return;
    }
    ompp_reexec_check(argv, envp);

    ompp_clock_mark(); /* the program's time begins here, not with its first event */
    ompp_cpu_wait_mark();
    ompp_program_note();
    ompp_log_set_rank(ompp_launch_rank()); /* messages before MPI_Init are said once */
    ompp_launch_restore();
    atexit(ompp_finish_at_exit);
    if (ompp_is_launched()) ompp_exec_follow();
    ompp_dlopen_watch_start();
    ompp_unmeasured_follow(ompp_finish_at_exit);
    ompp_plugins_at_load();
    ompp_runtime_hooks.loaded();
    errno = saved_errno;
}

void ompp_runtime_mpi(int rank, int size)
{
    if (!ompp_runtime_start()) return;
    ompp_process.header->rank = rank;
    ompp_process.header->size = (uint32_t)size;
    ompp_log_set_rank(rank);
}

void ompp_runtime_job(const char *name)
{
    if (!ompp_runtime_start()) return;
    const ompp_locked_t locked = ompp_lock();
    atomic_store_explicit(&ompp_process.header->job, ompp_string_take(name), memory_order_release);
    ompp_unlock(locked);
}
