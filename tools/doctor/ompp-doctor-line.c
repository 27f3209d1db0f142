/*
 * The user's line, from what the ranks of the probe have told: the launcher, processors, whether our libraries are
 * loaded, directories, counters, samples, settings, limits.
 */
#include "tools/doctor/ompp-doctor.h"

#include "base/ompp_env.h"
#include "image/ompp_known.h"
#include "image/ompp_proc.h"
#include "tools/common/ompp-place.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALL_ADDRESS_MIB = 512, SMALL_FILE_KIB = 10240, SMALL_FREE_MIB = 64 };

const ompp_part_t *ompp_doctor_find_alien(const ompp_doctor_t *d, const ompp_probe_t *first)
{
    for (size_t i = 0; i < d->line.n; i++) {
        const ompp_part_t *p = &d->part[i];
        if (p->fits && p->mpi && *first->launcher && strcmp(first->launcher, "slurm") != 0 &&
            strcmp(p->family, "other") != 0 && strcmp(first->launcher, p->family) != 0)
            return p;
    }
    return NULL;
}

const char *ompp_doctor_missing_wire(const ompp_part_t *p, const ompp_probe_t *first)
{
    const bool pmix = strcmp(first->wire, "pmix") == 0, pmi2 = strcmp(first->wire, "pmi2") == 0;

    if (strcmp(first->launcher, "slurm") != 0 || !p->fits || !p->mpi) return NULL;
    if (strcmp(p->family, "openmpi") == 0) return pmix ? NULL : "pmix";
    if (strcmp(p->family, "mpich") != 0 || pmi2 || p->needs.pmi || (pmix && p->needs.pmix)) return NULL;
    return ompp_env_foreign("I_MPI_PMI_LIBRARY") ? NULL : "pmi2";
}

const ompp_part_t *ompp_doctor_find_unwired(const ompp_doctor_t *d, const ompp_probe_t *first)
{
    for (size_t i = 0; i < d->line.n; i++)
        if (ompp_doctor_missing_wire(&d->part[i], first)) return &d->part[i];
    return NULL;
}

/* OpenMP, or else MPI. */
static bool any_needs(const ompp_doctor_t *d, bool openmp)
{
    bool any = false;

    for (size_t i = 0; i < d->line.n; i++)
        any = any || (d->part[i].fits && (openmp ? d->part[i].openmp : d->part[i].mpi));
    return any;
}

static size_t count_hosts(const ompp_started_t *s)
{
    size_t hosts = 0;

    for (size_t i = 0; i < s->n; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) seen = strcmp(s->rank[k].host, s->rank[i].host) == 0;
        hosts += !seen;
    }
    return hosts;
}

bool ompp_doctor_knows_launcher(const ompp_probe_t *first)
{
    return strcmp(first->launcher, "openmpi") == 0 || strcmp(first->launcher, "mpich") == 0;
}

/* What launchers say when they start nothing, and the option that mends it. */
static const struct {
    const char *said, *option, *advice;
} refusals[] = {
    {"as root", "--allow-run-as-root", "mpirun of Open MPI does not start programs of root: add --allow-run-as-root"},
    {"not enough slots", "--oversubscribe",
     "more ranks than slots: start fewer, or add --oversubscribe (ranks then share processors)"},
};

static void advise_start(ompp_doctor_t *d)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (strstr(d->plain.said, refusals[i].said)) {
            d->needs = refusals[i].option;
            ompp_doctor_advise("%s", refusals[i].advice);
            return;
        }
    ompp_doctor_advise("try it with another program: the same line with hostname in place of %s",
                       d->line.part[0].argv[d->line.part[0].program]);
}

static bool check_launch(ompp_doctor_t *d)
{
    const ompp_started_t *s = &d->plain;
    const ompp_probe_t *first = s->rank;
    const size_t hosts = count_hosts(s);

    if (s->n == 0) {
        ompp_doctor_say(d, OMPP_BAD, "launch", "the line starts nothing%s: %s", s->late ? " in a minute" : "",
                        *s->said ? s->said : "no message");
        advise_start(d);
        return false;
    }
    const ompp_part_t *alien = ompp_doctor_find_alien(d, first);
    if (alien) {
        ompp_doctor_say(d, OMPP_BAD, "launch",
                        "mpirun of %s starts a program of %s: each of the %zu processes would be rank 0 of 1",
                        ompp_known_family(first->launcher), ompp_known_family(alien->family), s->n);
        ompp_doctor_advise("start it with mpirun of %s (Debian: mpirun.%s), or build it with mpicc of %s",
                           ompp_known_family(alien->family), alien->family, ompp_known_family(first->launcher));
        return true;
    }
    const ompp_part_t *unwired = ompp_doctor_find_unwired(d, first);
    if (unwired) {
        ompp_doctor_say(d, OMPP_BAD, "launch",
                        "srun gives %s to a program of %s: its %zu processes would not find each other",
                        strcmp(first->wire, "pmix") == 0 ? "PMIx"
                        : *first->wire                   ? "PMI2"
                                                         : "neither PMIx nor PMI2",
                        ompp_known_family(unwired->family), s->n);
        ompp_doctor_advise(
            "srun --mpi=%s (srun --mpi=list says what there is), or mpirun of %s in an allocation (sbatch, salloc)",
            ompp_doctor_missing_wire(unwired, first), ompp_known_family(unwired->family));
        return true;
    }
    ompp_doctor_say(d, OMPP_FINE, "launch", "%zu %s on %zu %s (%s%s)", s->n, s->n == 1 ? "process" : "processes", hosts,
                    hosts == 1 ? "node" : "nodes", first->host, hosts > 1 ? ", ..." : "");
    if (!any_needs(d, false) && s->n > 1) {
        ompp_doctor_say(d, OMPP_NOTE, "launch", "the program has no MPI: each process writes a report of its own");
        if (ompp_doctor_knows_launcher(first))
            ompp_doctor_advise("if it loads MPI later, as Python does: ompp --mpi-family=%s --", first->launcher);
    }
    return true;
}

static int ranks_on(const ompp_started_t *s, const char *host)
{
    int n = 0;

    for (size_t i = 0; i < s->n; i++) n += strcmp(s->rank[i].host, host) == 0;
    return n;
}

/* Processors that ranks could have where this one is: all of the machine, or what this process was given of it. */
static int available_to(const ompp_probe_t *p)
{
    ompp_proc_cpus_t own = {{0}};
    char host[sizeof p->host] = "";

    gethostname(host, sizeof host - 1);
    ompp_proc_cpus_add(&own);
    return strcmp(host, p->host) == 0 ? (int)ompp_proc_cpus_count(&own) : atoi(p->online);
}

static void advise_processors(ompp_doctor_t *d, const ompp_probe_t *p, int threads, int cpus, int available)
{
    const int ranks = ranks_on(&d->plain, p->host), each = available / ranks > 1 ? available / ranks : 1;
    const ompp_bind_t *bind = cpus < available && *p->launcher ? ompp_bind_find(p->launcher) : NULL;

    if (bind) {
        d->bind = bind;
        d->threads = threads ? threads : each;
        ompp_doctor_advise("the launcher binds it: %s", bind->words);
        if (threads * ranks <= available && threads) return;
        d->num_threads = d->threads = each;
        ompp_doctor_advise("set OMP_NUM_THREADS=%d: %d rank%s on each node, %d processors", each, ranks,
                           ranks == 1 ? "" : "s", available);
    } else {
        d->num_threads = *p->launcher ? each : cpus;
        ompp_doctor_advise("OMP_NUM_THREADS=%d%s", d->num_threads,
                           cpus < atoi(p->online) ? ", or let it have more (taskset, numactl, container)" : "");
    }
}

/* Ranks that are bound to fewer processors than they have threads, or that share them: the commonest slow hybrid run,
 * with ompp or without. */
static void check_cpus(ompp_doctor_t *d)
{
    for (size_t i = 0; i < d->plain.n && any_needs(d, true); i++) {
        const ompp_probe_t *p = &d->plain.rank[i];
        const int threads = atoi(p->threads), cpus = atoi(p->ncpus), available = available_to(p),
                  ranks = ranks_on(&d->plain, p->host);
        /* OpenMP libraries take one thread then */
        const bool alone = cpus == 1 && available > ranks, share = threads <= cpus && threads * ranks > available;
        if (cpus <= 0 || (threads <= cpus && (threads > 0 || !alone) && !share)) continue;
        if (share)
            ompp_doctor_say(d, OMPP_NOTE, "processors", "%d ranks with %d thread%s each share %d processor%s", ranks,
                            threads, threads == 1 ? "" : "s", available, available == 1 ? "" : "s");
        else
            ompp_doctor_say(d, OMPP_NOTE, "processors", "rank %s: %s threads on %d processor%s (%s)",
                            *p->rank ? p->rank : "0", threads ? p->threads : "all", cpus, cpus == 1 ? "" : "s",
                            p->cpus);
        advise_processors(d, p, threads, cpus, available);
        return;
    }
}

static const ompp_probe_t *same_rank(const ompp_started_t *s, const char *rank)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->rank[i].rank, rank) == 0) return &s->rank[i];
    return NULL;
}

/* Every rank tells whether ompp's library is in it; one that does not come back was not started with it. */
static const ompp_probe_t *first_unloaded(const ompp_doctor_t *d, size_t *n)
{
    const ompp_probe_t *first = NULL;

    *n = 0;
    for (size_t i = 0; i < d->plain.n; i++) {
        const ompp_probe_t *q =
            d->measured.n == d->plain.n ? &d->measured.rank[i] : same_rank(&d->measured, d->plain.rank[i].rank);
        if (q && strcmp(q->loaded, "yes") == 0) continue;
        if (!first) first = &d->plain.rank[i];
        ++*n;
    }
    return first;
}

static void check_measured(ompp_doctor_t *d)
{
    const ompp_started_t *m = &d->measured;
    size_t n;
    const ompp_probe_t *without = first_unloaded(d, &n);

    if (without) {
        ompp_doctor_say(d, OMPP_BAD, "libraries",
                        "ompp's libraries are not in %zu of %zu processes, first rank %s on %s: %s", n, d->plain.n,
                        *without->rank ? without->rank : "0", without->host,
                        *m->unloaded ? m->unloaded
                        : *m->said   ? m->said
                                     : "no message");
        ompp_doctor_advise("%s must be the same on all nodes", ompp_place_find()->lib);
        return;
    }
    ompp_doctor_say(d, OMPP_FINE, "libraries", d->plain.n == 1 ? "%s is loaded" : "%s is loaded in all %zu processes",
                    ompp_place_find()->lib, d->plain.n);
    for (size_t i = 0; i < d->plain.n; i++) {
        const ompp_probe_t *p = &d->plain.rank[i], *q = same_rank(m, p->rank);
        if (!q || strcmp(p->cpus, q->cpus) == 0) continue;
        ompp_doctor_say(d, OMPP_BAD, "affinity", "rank %s may use processors %s, and %s when measured", p->rank,
                        p->cpus, q->cpus);
        return;
    }
    ompp_doctor_say(d, OMPP_FINE, "affinity", "processors are the same with and without measurement (rank %s: %s)",
                    *d->plain.rank[0].rank ? d->plain.rank[0].rank : "0", d->plain.rank[0].cpus);
}

/* First rank that has something in a field; of equal troubles one is said. */
#define FIRST_WITH(d, field) first_with(d, offsetof(ompp_probe_t, field))
static const ompp_probe_t *first_with(const ompp_doctor_t *d, size_t offset)
{
    for (size_t i = 0; i < d->plain.n; i++)
        if (((const char *)&d->plain.rank[i])[offset]) return &d->plain.rank[i];
    return NULL;
}

static void check_directories(ompp_doctor_t *d)
{
    const ompp_probe_t *p = FIRST_WITH(d, outdir_why);

    if (p) {
        ompp_doctor_say(d, OMPP_BAD, "reports", "%s on %s: %s", p->outdir, p->host, p->outdir_why);
        ompp_doctor_advise("set OMPP_OUTDIR to a directory that can be written on all nodes");
    } else {
        ompp_doctor_say(d, OMPP_FINE, "reports", "go to %s", d->plain.rank[0].outdir);
    }
    p = FIRST_WITH(d, jobdir_why);
    if (p) {
        ompp_doctor_say(d, OMPP_NOTE, "survival",
                        "%s on %s: %s; the profile is in memory only, and lost if the program dies", p->jobdir, p->host,
                        p->jobdir_why);
        ompp_doctor_advise("set OMPP_JOB_DIR to a directory of the node that can be written");
        return;
    }
    p = d->plain.rank;
    ompp_doctor_say(d, atoll(p->free_mib) < SMALL_FREE_MIB ? OMPP_NOTE : OMPP_FINE, "survival",
                    "%s%s, %s MiB free: what is left there by a run that dies becomes a report by ompp-report merge",
                    p->jobdir, *p->jobdir_new ? " (the run makes it)" : "", p->free_mib);
}

static void check_counters(ompp_doctor_t *d)
{
    const ompp_probe_t *p = FIRST_WITH(d, software), *q = FIRST_WITH(d, hardware);

    if (p) {
        ompp_doctor_say(d, OMPP_NOTE, "counters", "none on %s: perf_event_open: %s (kernel.perf_event_paranoid is %s)",
                        p->host, p->software, *p->paranoid ? p->paranoid : "unknown");
        ompp_doctor_advise("ask for sysctl kernel.perf_event_paranoid=2 or less; in a container, for the system call "
                           "perf_event_open (CAP_PERFMON)");
    } else if (q) {
        ompp_doctor_say(d, OMPP_NOTE, "counters",
                        "software events only (perf::PAGE-FAULTS, ...) on %s: hardware events: %s", q->host,
                        q->hardware);
        ompp_doctor_advise("%s", strcmp(q->hardware, "No such file or directory") == 0
                                     ? "this machine has no performance counters, or its hypervisor hides them"
                                     : "ask for sysctl kernel.perf_event_paranoid=1 or less");
    } else {
        ompp_doctor_say(d, OMPP_FINE, "counters", "hardware and software events are permitted");
    }
}

/* What no probe can tell, of a program with the options that it has. */
static void see_settings(ompp_doctor_t *d, ompp_part_t *p)
{
    if (p->fits) ompp_doctor_settings(p->program.path, ompp_place_find()->lib, &d->measured, &d->said);
}

/* Of the directory for the profile the survival line speaks; names and hooks of data are the program's, which the probe
 * is not. */
static bool is_of_probe(const char *line)
{
    static const char *const words[] = {"the profile is kept in memory", "OMPP_DATA: ", "OMPP_DATA counts ",
                                        "loads and stores are not counted"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(line, words[i])) return true;
    return strncmp(line, "OMPP_DATA_BACKEND=", 18) == 0;
}

/* What the run would say, in its words. */
static void check_settings(ompp_doctor_t *d)
{
    const ompp_started_t *m = &d->measured;
    bool fine = true;

    for (size_t i = 0; i < m->nwarnings; i++) {
        const char *line = m->warnings[i];
        if (is_of_probe(line)) continue;
        ompp_doctor_say(d, OMPP_BAD, "settings", "%s", line);
        fine = false;
    }
    for (size_t i = 0; i < d->line.n; i++) ompp_doctor_with_options(d, &d->part[i], see_settings);
    for (size_t i = 0; i < d->said.n; i++)
        ompp_doctor_say(d, d->said.line[i].remark ? OMPP_NOTE : OMPP_BAD, "settings", "%s", d->said.line[i].text);
    fine = fine && d->said.n == 0;
    if (fine) ompp_doctor_say(d, OMPP_FINE, "settings", "the OMPP_* variables that are set are understood");
}

static void check_limits(ompp_doctor_t *d)
{
    const ompp_probe_t *p = FIRST_WITH(d, address_mib), *q = FIRST_WITH(d, file_kib);

    if (p && atoll(p->address_mib) < SMALL_ADDRESS_MIB) {
        ompp_doctor_say(d, OMPP_NOTE, "limits",
                        "address space on %s: %s MiB; ompp reserves 8 (OMPP_MEMORY) and libraries", p->host,
                        p->address_mib);
        ompp_doctor_advise("ulimit -v unlimited");
    }
    if (q && atoll(q->file_kib) < SMALL_FILE_KIB) {
        ompp_doctor_say(d, OMPP_NOTE, "limits", "files on %s: %s KiB; reports and the profile may be cut off", q->host,
                        q->file_kib);
        ompp_doctor_advise("ulimit -f unlimited");
    }
    if (!p && !q) ompp_doctor_say(d, OMPP_FINE, "limits", "address space and file size are not limited");
}

void ompp_doctor_check_line(ompp_doctor_t *d)
{
    if (!check_launch(d)) return;
    check_cpus(d);
    check_measured(d);
    check_directories(d);
    check_counters(d);
    ompp_doctor_check_samples(d, FIRST_WITH(d, timers), FIRST_WITH(d, interrupts), FIRST_WITH(d, events));
    check_settings(d);
    check_limits(d);
}
