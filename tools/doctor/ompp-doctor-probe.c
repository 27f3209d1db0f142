#include "tools/doctor/ompp-doctor.h"

#include "base/ompp_env.h"
#include "tools/common/ompp-option.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MARK "ompp-probe"
#define MAX_CPUS 4096

static const struct {
    const char *name;
    size_t offset, size;
} fields[] = {
#define FIELD(name)                                                          \
    {                                                                        \
#name, offsetof(ompp_probe_t, name), sizeof((ompp_probe_t *)0)->name \
    }
    FIELD(rank),       FIELD(size),     FIELD(launcher),   FIELD(wire),        FIELD(host),
    FIELD(cpus),       FIELD(ncpus),    FIELD(online),     FIELD(threads),     FIELD(outdir),
    FIELD(outdir_why), FIELD(jobdir),   FIELD(jobdir_why), FIELD(jobdir_new),  FIELD(free_mib),
    FIELD(paranoid),   FIELD(software), FIELD(hardware),   FIELD(address_mib), FIELD(file_kib),
    FIELD(loaded),     FIELD(timers),   FIELD(interrupts), FIELD(most_hz),     FIELD(events),
#undef FIELD
};
#define NFIELDS (sizeof fields / sizeof fields[0])

/* ---- What it finds ----------------------------------------------------------------------------------------------- */

static void take(char *to, size_t n, const char *name)
{
    const char *text = ompp_env_foreign(name);

    if (text) snprintf(to, n, "%s", text);
}

/* Slurm's own launcher, srun, which says what it gives to the ranks: PMIx, PMI2 or nothing. */
static void find_slurm(ompp_probe_t *p)
{
    const char *const job = ompp_env_foreign("SLURM_JOB_ID"), *const step = ompp_env_foreign("SLURM_STEP_ID");
    char wanted[80], space[80] = "", pmi[80] = "";

    if (!job || !step) return;
    snprintf(wanted, sizeof wanted, "%s.%s", job, step);
    take(space, sizeof space, "PMIX_NAMESPACE"); /* slurm.pmix.JOB.STEP */
    take(pmi, sizeof pmi, "PMI_JOBID");          /* JOB.STEP */
    if (strncmp(space, "slurm.", 6) == 0) snprintf(p->wire, sizeof p->wire, "pmix");
    else if (strcmp(pmi, wanted) == 0) snprintf(p->wire, sizeof p->wire, "pmi2");
    else if (*space || *pmi || ompp_env_foreign("PMI_RANK") || ompp_env_foreign("OMPI_COMM_WORLD_RANK"))
        return; /* mpirun in an allocation */
    take(p->rank, sizeof p->rank, "SLURM_PROCID");
    take(p->size, sizeof p->size, "SLURM_NTASKS");
    snprintf(p->launcher, sizeof p->launcher, "slurm");
}

static void find_rank(ompp_probe_t *p)
{
    static const struct {
        const char *launcher, *rank, *size;
    } launchers[] = {{"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"mpich", "PMI_RANK", "PMI_SIZE"}};

    find_slurm(p);
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0] && !*p->rank; i++) {
        take(p->rank, sizeof p->rank, launchers[i].rank);
        take(p->size, sizeof p->size, launchers[i].size);
        if (*p->rank) snprintf(p->launcher, sizeof p->launcher, "%s", launchers[i].launcher);
    }
}

/* Processors as a list: 0-3,8 */
static void find_cpus(ompp_probe_t *p)
{
    cpu_set_t *set = CPU_ALLOC(MAX_CPUS);
    size_t bytes = CPU_ALLOC_SIZE(MAX_CPUS), n = 0;

    if (!set || sched_getaffinity(0, bytes, set) != 0) {
        CPU_FREE(set);
        return;
    }
    snprintf(p->ncpus, sizeof p->ncpus, "%d", CPU_COUNT_S(bytes, set));
    snprintf(p->online, sizeof p->online, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    for (int first = 0; first < MAX_CPUS; first++) {
        int last = first;
        if (!CPU_ISSET_S(first, bytes, set)) continue;
        while (last + 1 < MAX_CPUS && CPU_ISSET_S(last + 1, bytes, set)) last++;
        if (n + 24 < sizeof p->cpus)
            n += (size_t)snprintf(p->cpus + n, sizeof p->cpus - n, last > first ? "%s%d-%d" : "%s%d", n ? "," : "",
                                  first, last);
        first = last;
    }
    CPU_FREE(set);
}

/* A directory is where a file can be made: rights, read-only file systems and quotas are asked all at once. */
static bool can_write(const char *dir, char *why, size_t n)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/.ompp-doctor-XXXXXX", *dir ? dir : ".");
    int fd = mkstemp(path), error = fd < 0 ? errno : posix_fallocate(fd, 0, 1 << 18);
    if (fd >= 0) {
        unlink(path);
        close(fd);
    }
    snprintf(why, n, "%s", error ? strerror(error) : "");
    return !error;
}

/* The directory that it is in. */
static void parent_of(const char *dir, char *parent, size_t n)
{
    size_t length = strlen(dir);

    while (length > 1 && dir[length - 1] == '/') length--;
    while (length > 0 && dir[length - 1] != '/') length--;
    snprintf(parent, n, "%.*s", length ? (int)length : 1, length ? dir : ".");
}

/* The run makes it, if there is the directory that it is in. */
static bool can_make(const char *dir, char *why, size_t n)
{
    char parent[PATH_MAX];

    parent_of(dir, parent, sizeof parent);
    return can_write(parent, why, n);
}

static void find_job_dir(ompp_probe_t *p, const char *dir)
{
    snprintf(p->jobdir, sizeof p->jobdir, "%s", dir);
    if (access(dir, F_OK) == 0 || errno != ENOENT) can_write(dir, p->jobdir_why, sizeof p->jobdir_why);
    else if (can_make(dir, p->jobdir_why, sizeof p->jobdir_why)) snprintf(p->jobdir_new, sizeof p->jobdir_new, "yes");
}

static void find_room(ompp_probe_t *p)
{
    char at[sizeof p->jobdir];
    struct statvfs fs;

    if (*p->jobdir_new) parent_of(p->jobdir, at, sizeof at);
    else snprintf(at, sizeof at, "%s", p->jobdir);
    if (statvfs(at, &fs) == 0)
        snprintf(p->free_mib, sizeof p->free_mib, "%llu", (unsigned long long)fs.f_bavail * fs.f_frsize >> 20);
}

static void find_directories(ompp_probe_t *p)
{
    const char *outdir = ompp_env_foreign("OMPP_OUTDIR"), *jobdir = ompp_env_foreign("OMPP_JOB_DIR"),
               *tmpdir = ompp_env_foreign("TMPDIR");
    const char *const usual[] = {"/dev/shm", tmpdir && *tmpdir ? tmpdir : "/tmp", "/tmp"};

    if (outdir && *outdir) snprintf(p->outdir, sizeof p->outdir, "%s", outdir);
    else if (!getcwd(p->outdir, sizeof p->outdir)) snprintf(p->outdir, sizeof p->outdir, ".");
    can_write(p->outdir, p->outdir_why, sizeof p->outdir_why);
    if (jobdir && *jobdir) find_job_dir(p, jobdir);
    for (int i = 0; i < 3 && !(jobdir && *jobdir); i++) {
        snprintf(p->jobdir, sizeof p->jobdir, "%s", usual[i]);
        if (can_write(p->jobdir, p->jobdir_why, sizeof p->jobdir_why)) break;
    }
    find_room(p);
}

/* An event is permitted when it opens and counts; the query of a library says nothing. */
static void try_event(unsigned type, unsigned long long config, char *why, size_t n)
{
    struct perf_event_attr attr = {
        .type = type, .size = sizeof attr, .config = config, .exclude_kernel = 1, .exclude_hv = 1};
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);
    unsigned long long count;

    if (fd < 0 || read((int)fd, &count, sizeof count) != sizeof count) snprintf(why, n, "%s", strerror(errno));
    if (fd >= 0) close((int)fd);
}

static void find_counters(ompp_probe_t *p)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

    if (file && fscanf(file, "%15s", p->paranoid) != 1) p->paranoid[0] = '\0';
    if (file) fclose(file);
    try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, p->software, sizeof p->software);
    try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, p->hardware, sizeof p->hardware);
}

static void find_limits(ompp_probe_t *p)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(p->address_mib, sizeof p->address_mib, "%llu", (unsigned long long)limit.rlim_cur >> 20);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(p->file_kib, sizeof p->file_kib, "%llu", (unsigned long long)limit.rlim_cur >> 10);
}

/*
 * What the run would say of its settings, it says now: measurement starts with an event of ours, in memory alone. We
 * leave by _exit, so that there is no report.
 */
static bool start_measurement(void)
{
    static char nowhere[] = "/dev/null";
    ompp_env_t *env = dlsym(RTLD_DEFAULT, "ompp_env");
    void (*begin)(const char *name);

    *(void **)&begin = dlsym(RTLD_DEFAULT, "ompp_region_begin");
    if (!begin) return false;
    setenv("OMPP_JOB_DIR", nowhere, 1); /* with OMPP_CHILDREN the environment is read when measurement starts */
    if (env) env->job_dir = nowhere;
    begin("ompp doctor");
    return true;
}

/* As ompp would set them: those of other nodes know of them by these words alone. */
static void set_options(char *const *options)
{
    const char *value = NULL;
    char *variable;

    for (int used; *options && (used = ompp_option_read(options, &variable, &value)) > 0; options += used)
        if (variable) setenv(variable, value, 1);
}

/* Settings may have started measurement before us, where a run would put its memory (OMPP_DATA). */
static void remove_memory(const ompp_probe_t *p)
{
    char path[sizeof p->jobdir + 300], ours[64];
    DIR *dir = opendir(p->jobdir);
    const struct dirent *entry;

    snprintf(ours, sizeof ours, "ompp-%u-%d-", (unsigned)getuid(), (int)getpid());
    while (dir && (entry = readdir(dir))) {
        if (strncmp(entry->d_name, ours, strlen(ours)) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", p->jobdir, entry->d_name);
        unlink(path);
    }
    if (dir) closedir(dir);
}

void ompp_doctor_probe(char *const *options)
{
    static ompp_probe_t p;
    char line[PIPE_BUF];
    size_t n = (size_t)snprintf(line, sizeof line, MARK);

    set_options(options);
    find_rank(&p);
    gethostname(p.host, sizeof p.host - 1);
    find_cpus(&p);
    take(p.threads, sizeof p.threads, "OMP_NUM_THREADS");
    find_directories(&p);
    find_counters(&p);
    find_limits(&p);
    ompp_doctor_try_samples(&p);
    snprintf(p.loaded, sizeof p.loaded, "%s", start_measurement() ? "yes" : "no");
    for (size_t i = 0; i < NFIELDS && n < sizeof line; i++)
        n +=
            (size_t)snprintf(line + n, sizeof line - n, "\t%s=%s", fields[i].name, (const char *)&p + fields[i].offset);
    if (n > sizeof line - 2) n = sizeof line - 2;
    line[n++] = '\n';
    remove_memory(&p);
    _exit(write(STDOUT_FILENO, line, n) == (ssize_t)n ? 0 : 1); /* one piece, so that lines of ranks do not mix */
}

/* ---- Reading it -------------------------------------------------------------------------------------------------- */

bool ompp_doctor_read(const char *line, ompp_probe_t *probe)
{
    const char *at = strstr(line, MARK "\t"); /* launchers may put something in front of a line */

    if (!at) return false;
    *probe = (ompp_probe_t){0};
    for (at += strlen(MARK); *at == '\t';) {
        size_t name = strcspn(++at, "="), value = strcspn(at, "\t\n");
        for (size_t i = 0; i < NFIELDS && name < value; i++)
            if (strlen(fields[i].name) == name && strncmp(fields[i].name, at, name) == 0)
                snprintf((char *)probe + fields[i].offset, fields[i].size, "%.*s", (int)(value - name - 1),
                         at + name + 1);
        at += value;
    }
    return true;
}
