#include "tools/doctor/ompp-doctor.h"

#include "base/ompp_debug_advice.h"
#include "base/ompp_env.h"
#include "image/ompp_bind.h"
#include "image/ompp_known.h"
#include "image/ompp_needed.h"
#include "image/ompp_proc.h"
#include "tools/common/ompp-binary.h"
#include "tools/common/ompp-option.h"
#include "tools/common/ompp-place.h"
#include "tools/common/ompp-program.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRONG_USAGE = 2, SMALL_ADDRESS_MIB = 512, SMALL_FILE_KIB = 10240, SMALL_FREE_MIB = 64 };

/* A program of the line. */
typedef struct {
    ompp_launch_t *line;
    ompp_program_t program;
    ompp_needs_t needs;
    bool fits;                  /* can be measured */
    bool instrumented;          /* built with kinst-ompp */
    char mpi_library[PATH_MAX]; /* ours for the program's MPI; "" = none */
    const char *family;         /* of the program's MPI: openmpi, mpich, other; "" = none */
    bool mpi, openmp;           /* it has MPI, OpenMP: by its file, or by an option */
    bool later;                 /* neither: it may load them later */
} part_t;

/* What is known of the user's line when the verdicts are spoken. */
typedef struct {
    ompp_line_t line;
    part_t part[OMPP_DOCTOR_PROGRAMS];
    ompp_started_t plain, measured;
    ompp_doctor_said_t said;
    /* what the launcher is to be told, for ranks bound to too few processors; NULL = nothing */
    const ompp_bind_t *bind;
    int threads; /* of such a rank; 0 = not said */
    bool bad;
} doctor_t;

/* ---- Saying it --------------------------------------------------------------------------------------------------- */

typedef enum { FINE, NOTE, BAD } verdict_t;

__attribute__((format(printf, 4, 5))) static void say(doctor_t *d, verdict_t verdict, const char *topic,
                                                      const char *format, ...)
{
    static const char *const words[] = {"ok", "note", "BAD"};
    va_list args;

    va_start(args, format);
    printf("%-4s  %-12s ", words[verdict], topic);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    if (verdict == BAD) d->bad = true;
}

__attribute__((format(printf, 1, 2))) static void advise(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("%-19s-> ", "");
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static void see_ours(const char *soname, void *data)
{
    if (strncmp(soname, "libompp.so", 10) == 0) *(bool *)data = true;
}

static bool check_program(doctor_t *d, part_t *p)
{
    char **argv = p->line->argv + p->line->program;

    ompp_program_find(argv, false, &p->program);
    if (p->program.status) {
        say(d, BAD, "program", "%s: %s", argv[0], p->program.why);
        if (*p->program.remedy) advise("%s", p->program.remedy);
        return false;
    }
    if (*p->program.why) {
        say(d, BAD, "program", "%s cannot be measured: it %s", argv[0], p->program.why);
        if (*p->program.remedy) advise("%s", p->program.remedy);
        return false;
    }
    ompp_program_needs(p->program.path, &p->needs);
    ompp_needed_names(p->program.path, see_ours, &p->instrumented);
    p->family = ompp_known_mpi(p->needs.mpi);
    say(d, FINE, "program", "%s: dynamic%s", p->program.path, p->instrumented ? ", built with kinst-ompp" : "");
    return true;
}

static void check_options(doctor_t *d, const part_t *p)
{
    if (p->line->wrong) {
        say(d, BAD, "options", "%s", p->line->wrong);
        advise("ompp stops there; the line below is without it");
    }
    if (!p->line->unknown) return;
    say(d, BAD, "options", "ompp does not know %s, or its value is missing", p->line->unknown);
    const char *nearest = ompp_option_nearest(p->line->unknown);
    advise("%s%sompp --help=all lists them; -- stands between them and the program", nearest ? nearest : "",
           nearest ? "? " : "");
}

static void check_debug(doctor_t *d, const part_t *p)
{
    switch (ompp_elf_debug(p->program.path)) {
    case OMPP_ELF_LINES:
        say(d, FINE, "lines", "debug information is in the program: regions have file and line");
        break;
    case OMPP_ELF_SEPARATE:
        say(d, FINE, "lines", "debug information is in a file of its own: regions have file and line");
        break;
    case OMPP_ELF_NO_LINES:
        say(d, NOTE, "lines", "no debug information: regions that are known by address alone have no file and line");
        advise("%s", ompp_debug_advice(p->program.path, ompp_elf_names_debug_file(p->program.path)));
    }
}

/* A program that loads MPI later does not say which; the option does. \return false: the file says it. */
static bool check_asked_mpi(doctor_t *d, part_t *p)
{
    const char *asked = ompp_env_foreign("OMPP_MPI_FAMILY");

    if (!asked || !*asked || strcmp(asked, "auto") == 0) return false;
    if (strcmp(asked, "none") == 0) {
        say(d, FINE, "MPI", "not measured: --mpi-family=none");
    } else if (*p->needs.mpi && strcmp(p->family, asked) != 0) {
        say(d, BAD, "MPI", "the program is of %s (%s), and --mpi-family=%s is said", ompp_known_family(p->family),
            p->needs.mpi, asked);
        advise("leave --mpi-family out: the program's file says it");
    } else if (ompp_program_mpi_library(ompp_place_find()->lib, NULL, asked, p->mpi_library)) {
        say(d, FINE, "MPI", "%s (--mpi-family=%s)", ompp_known_family(asked), asked);
        p->family = strdup(asked);
        p->mpi = true;
    } else {
        p->mpi_library[0] = '\0';
        say(d, BAD, "MPI", "ompp was not built for %s (--mpi-family=%s)", ompp_known_family(asked), asked);
        advise("ompp has " OMPP_MPI_FAMILIES "; configure it with this MPI's mpicc in PATH");
    }
    return true;
}

static void check_mpi(doctor_t *d, part_t *p)
{
    const ompp_needs_t *needs = &p->needs;

    p->mpi = *needs->mpi != '\0';
    if (check_asked_mpi(d, p)) return;
    if (!*needs->mpi) {
        say(d, FINE, "MPI", "the program needs none");
        return;
    }
    bool there = ompp_program_mpi_library(ompp_place_find()->lib, needs->mpi, NULL, p->mpi_library);
    say(d, there ? FINE : BAD, "MPI", "%s (%s)%s%s%s%s", ompp_known_family(p->family), needs->mpi,
        needs->mpi_f77 ? ", Fortran mpif.h" : "", needs->mpi_f90 ? ", use mpi" : "",
        needs->mpi_f08 ? ", use mpi_f08" : "", there ? "" : ": ompp was not built for it");
    if (!there) {
        p->mpi_library[0] = '\0';
        advise("ompp has " OMPP_MPI_FAMILIES
               "; configure it with this MPI's mpicc in PATH, or OpenMP alone is measured");
    }
}

/* What the program's options and variables say: auto, gomp or llvm. */
static bool wants_runtime(const char *name)
{
    const char *text = ompp_env_foreign("OMPP_OMP_RUNTIME");

    return text && strcmp(text, name) == 0;
}

static bool is_set(const char *name)
{
    const char *text = ompp_env_foreign(name);

    return text && strcmp(text, "0") != 0;
}

/* LLVM's library in place of libgomp, where that is wanted and there. */
static bool is_replaced(const part_t *p)
{
    char libomp[PATH_MAX];

    return p->needs.openmp == OMPP_OPENMP_GOMP && wants_runtime("llvm") && ompp_program_find_libomp(libomp);
}

static void check_openmp(doctor_t *d, part_t *p)
{
    const char *tool = ompp_env_foreign("OMP_TOOL");
    const bool replaced = is_replaced(p), ompt = p->needs.openmp == OMPP_OPENMP_LLVM || (replaced && p->needs.both);

    p->openmp = p->needs.openmp != OMPP_OPENMP_NONE || wants_runtime("gomp");
    if (ompt && tool && strcmp(tool, "disabled") == 0) {
        say(d, BAD, "OpenMP", "libomp tells nothing: OMP_TOOL=disabled is set");
        advise("unset OMP_TOOL");
    } else if (ompt) {
        say(d, replaced ? NOTE : FINE, "OpenMP", "libomp%s",
            replaced ? " in place of libgomp: all that clang has compiled is told (OMPT), little of gcc's code"
                     : ": all constructs are told (OMPT)");
    } else if (p->needs.openmp == OMPP_OPENMP_GOMP && p->instrumented) {
        say(d, FINE, "OpenMP", "libgomp: constructs of files that were compiled with kinst-ompp");
    } else if (p->needs.openmp == OMPP_OPENMP_GOMP) {
        say(d, NOTE, "OpenMP", "%s: what is a call is seen; loops with a static schedule, master and atomic are not",
            replaced ? "libomp in place of libgomp" : "libgomp");
        advise("to see them: CC=\"kinst-ompp gcc\" in the build%s",
               wants_runtime("llvm") && !replaced
                   ? "; for --omp-runtime=llvm, libomp.so.5 is missing (Debian package: libomp5-19)"
                   : "");
    } else if (wants_runtime("gomp")) {
        say(d, FINE, "OpenMP", "libgomp (--omp-runtime=gomp): what is a call is seen");
    } else if (p->mpi && !*p->needs.mpi) {
        say(d, NOTE, "OpenMP", "the program's file needs none");
        advise("if it loads libgomp later (numpy): --omp-runtime=gomp");
    } else if (p->program.shell && !is_set("OMPP_CHILDREN")) {
        say(d, BAD, "OpenMP", "%s starts what is to be measured: there is nothing to measure in it",
            p->line->argv[p->line->program]);
        advise("put ompp in front of the program that it starts, or use ompp --children --");
    } else if (!p->mpi && !p->instrumented && !p->program.shell && !ompp_env_is_set("OMPP_CTR") &&
               !ompp_env_is_set("OMPP_DATA")) {
        p->later = true;
        say(d, BAD, "OpenMP", "the program needs neither OpenMP nor MPI: there is nothing to measure");
        advise("if it loads them later, as Python does, the line below names them; functions: kinst-ompp");
    } else {
        say(d, FINE, "OpenMP", "the program needs none");
    }
    if (p->needs.both) say(d, NOTE, "OpenMP", "libgomp and libomp are both in the program: one of them is measured");
}

/* Options are variables for what follows, as ompp would have it. \param[in,out] was [noptions] what they were before;
 * owned texts. */
static void set_options(const ompp_launch_t *line, char **was)
{
    const char *value = NULL;
    char *variable;

    for (size_t i = 0; i < line->noptions;) {
        const int used = ompp_option_read(line->options + i, &variable, &value);
        if (variable) {
            const char *text = ompp_env_foreign(variable);
            was[i] = text ? strdup(text) : NULL;
            setenv(variable, value, 1);
        }
        free(variable);
        i += (size_t)(used > 0 ? used : 1);
    }
}

/* From the last one on: an option that is there twice found the first one's value. */
static void set_back(const ompp_launch_t *line, size_t i, char **was)
{
    const char *value = NULL;
    char *variable;

    if (i >= line->noptions) return;
    const int used = ompp_option_read(line->options + i, &variable, &value);
    set_back(line, i + (size_t)(used > 0 ? used : 1), was);
    if (variable && was[i]) setenv(variable, was[i], 1);
    else if (variable) unsetenv(variable);
    free(was[i]);
    free(variable);
}

static void check_part(doctor_t *d, part_t *p)
{
    char **was = calloc(p->line->noptions + 1, sizeof *was);

    if (!was) abort();
    set_options(p->line, was);
    p->fits = check_program(d, p);
    if (p->fits) {
        check_debug(d, p);
        check_mpi(d, p);
        check_openmp(d, p);
        check_options(d, p);
    }
    set_back(p->line, 0, was);
    free(was);
}

/* ---- The line ---------------------------------------------------------------------------------------------------- */

/* A program whose MPI is another one than the launcher's; NULL = none. */
static const part_t *find_alien(const doctor_t *d, const ompp_probe_t *first)
{
    for (size_t i = 0; i < d->line.n; i++) {
        const part_t *p = &d->part[i];
        if (p->fits && p->mpi && *first->launcher && strcmp(first->launcher, "slurm") != 0 &&
            strcmp(p->family, "other") != 0 && strcmp(first->launcher, p->family) != 0)
            return p;
    }
    return NULL;
}

/*
 * What srun has to give to the ranks of a program, and does not; NULL = nothing. Open MPI wants PMIx; MPICH speaks with
 * PMI2 by itself, and with other things by libraries.
 */
static const char *missing_wire(const part_t *p, const ompp_probe_t *first)
{
    const bool pmix = strcmp(first->wire, "pmix") == 0, pmi2 = strcmp(first->wire, "pmi2") == 0;

    if (strcmp(first->launcher, "slurm") != 0 || !p->fits || !p->mpi) return NULL;
    if (strcmp(p->family, "openmpi") == 0) return pmix ? NULL : "pmix";
    if (strcmp(p->family, "mpich") != 0 || pmi2 || p->needs.pmi || (pmix && p->needs.pmix)) return NULL;
    return ompp_env_foreign("I_MPI_PMI_LIBRARY") ? NULL : "pmi2";
}

static const part_t *find_unwired(const doctor_t *d, const ompp_probe_t *first)
{
    for (size_t i = 0; i < d->line.n; i++)
        if (missing_wire(&d->part[i], first)) return &d->part[i];
    return NULL;
}

static bool any_needs_mpi(const doctor_t *d)
{
    bool any = false;

    for (size_t i = 0; i < d->line.n; i++) any = any || (d->part[i].fits && d->part[i].mpi);
    return any;
}

static bool any_needs_openmp(const doctor_t *d)
{
    bool any = false;

    for (size_t i = 0; i < d->line.n; i++) any = any || (d->part[i].fits && d->part[i].openmp);
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

static bool is_of_known_launcher(const ompp_probe_t *first)
{
    return strcmp(first->launcher, "openmpi") == 0 || strcmp(first->launcher, "mpich") == 0;
}

static bool check_launch(doctor_t *d)
{
    const ompp_started_t *s = &d->plain;
    const ompp_probe_t *first = s->rank;
    const size_t hosts = count_hosts(s);

    if (s->n == 0) {
        say(d, BAD, "launch", "the line starts nothing%s: %s", s->late ? " in a minute" : "",
            *s->said ? s->said : "no message");
        advise("try it with another program: the same line with hostname in place of %s",
               d->line.part[0].argv[d->line.part[0].program]);
        return false;
    }
    const part_t *alien = find_alien(d, first);
    if (alien) {
        say(d, BAD, "launch", "mpirun of %s starts a program of %s: each of the %zu processes would be rank 0 of 1",
            ompp_known_family(first->launcher), ompp_known_family(alien->family), s->n);
        advise("start it with mpirun of %s (Debian: mpirun.%s), or build it with mpicc of %s",
               ompp_known_family(alien->family), alien->family, ompp_known_family(first->launcher));
        return true;
    }
    const part_t *unwired = find_unwired(d, first);
    if (unwired) {
        say(d, BAD, "launch", "srun gives %s to a program of %s: its %zu processes would not find each other",
            strcmp(first->wire, "pmix") == 0 ? "PMIx"
            : *first->wire                   ? "PMI2"
                                             : "neither PMIx nor PMI2",
            ompp_known_family(unwired->family), s->n);
        advise("srun --mpi=%s (srun --mpi=list says what there is), or mpirun of %s in an allocation (sbatch, salloc)",
               missing_wire(unwired, first), ompp_known_family(unwired->family));
        return true;
    }
    say(d, FINE, "launch", "%zu %s on %zu %s (%s%s)", s->n, s->n == 1 ? "process" : "processes", hosts,
        hosts == 1 ? "node" : "nodes", first->host, hosts > 1 ? ", ..." : "");
    if (!any_needs_mpi(d) && s->n > 1) {
        say(d, NOTE, "launch", "the program has no MPI: each process writes a report of its own");
        if (is_of_known_launcher(first))
            advise("if it loads MPI later, as Python does: ompp --mpi-family=%s --", first->launcher);
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

static void advise_processors(doctor_t *d, const ompp_probe_t *p, int threads, int cpus, int available)
{
    const int ranks = ranks_on(&d->plain, p->host), each = available / ranks > 1 ? available / ranks : 1;
    const ompp_bind_t *bind = cpus < available && *p->launcher ? ompp_bind_find(p->launcher) : NULL;

    if (bind) {
        d->bind = bind;
        d->threads = threads ? threads : each;
        advise("the launcher binds it: %s", bind->words);
        if (threads * ranks > available || !threads)
            advise("set OMP_NUM_THREADS=%d: %d rank%s on each node, %d processors", each, ranks, ranks == 1 ? "" : "s",
                   available);
    } else {
        advise("OMP_NUM_THREADS=%d%s", *p->launcher ? each : cpus,
               cpus < atoi(p->online) ? ", or let it have more (taskset, numactl, container)" : "");
    }
}

/* Ranks that are bound to fewer processors than they have threads: the commonest slow hybrid run, with ompp or
 * without. */
static void check_cpus(doctor_t *d)
{
    for (size_t i = 0; i < d->plain.n && any_needs_openmp(d); i++) {
        const ompp_probe_t *p = &d->plain.rank[i];
        const int threads = atoi(p->threads), cpus = atoi(p->ncpus), available = available_to(p);
        /* OpenMP libraries take one thread then */
        const bool alone = cpus == 1 && available > ranks_on(&d->plain, p->host);
        if (cpus <= 0 || (threads <= cpus && (threads > 0 || !alone))) continue;
        say(d, NOTE, "processors", "rank %s: %s threads on %d processor%s (%s)", *p->rank ? p->rank : "0",
            threads ? p->threads : "all", cpus, cpus == 1 ? "" : "s", p->cpus);
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
static const ompp_probe_t *first_unloaded(const doctor_t *d, size_t *n)
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

static void check_measured(doctor_t *d)
{
    const ompp_started_t *m = &d->measured;
    size_t n;
    const ompp_probe_t *without = first_unloaded(d, &n);

    if (without) {
        say(d, BAD, "libraries", "ompp's libraries are not in %zu of %zu processes, first rank %s on %s: %s", n,
            d->plain.n, *without->rank ? without->rank : "0", without->host,
            *m->unloaded ? m->unloaded
            : *m->said   ? m->said
                         : "no message");
        advise("%s must be the same on all nodes", ompp_place_find()->lib);
        return;
    }
    say(d, FINE, "libraries", d->plain.n == 1 ? "%s is loaded" : "%s is loaded in all %zu processes",
        ompp_place_find()->lib, d->plain.n);
    for (size_t i = 0; i < d->plain.n; i++) {
        const ompp_probe_t *p = &d->plain.rank[i], *q = same_rank(m, p->rank);
        if (!q || strcmp(p->cpus, q->cpus) == 0) continue;
        say(d, BAD, "affinity", "rank %s may use processors %s, and %s when measured", p->rank, p->cpus, q->cpus);
        return;
    }
    say(d, FINE, "affinity", "processors are the same with and without measurement (rank %s: %s)",
        *d->plain.rank[0].rank ? d->plain.rank[0].rank : "0", d->plain.rank[0].cpus);
}

/* First rank that has something in a field; of equal troubles one is said. */
#define FIRST_WITH(d, field) first_with(d, offsetof(ompp_probe_t, field))
static const ompp_probe_t *first_with(const doctor_t *d, size_t offset)
{
    for (size_t i = 0; i < d->plain.n; i++)
        if (((const char *)&d->plain.rank[i])[offset]) return &d->plain.rank[i];
    return NULL;
}

static void check_directories(doctor_t *d)
{
    const ompp_probe_t *p = FIRST_WITH(d, outdir_why);

    if (p) {
        say(d, BAD, "reports", "%s on %s: %s", p->outdir, p->host, p->outdir_why);
        advise("set OMPP_OUTDIR to a directory that can be written on all nodes");
    } else {
        say(d, FINE, "reports", "go to %s", d->plain.rank[0].outdir);
    }
    p = FIRST_WITH(d, jobdir_why);
    if (p) {
        say(d, NOTE, "survival", "%s on %s: %s; the profile is in memory only, and lost if the program dies", p->jobdir,
            p->host, p->jobdir_why);
        advise("set OMPP_JOB_DIR to a directory of the node that can be written");
        return;
    }
    p = d->plain.rank;
    say(d, atoll(p->free_mib) < SMALL_FREE_MIB ? NOTE : FINE, "survival",
        "%s%s, %s MiB free: what is left there by a run that dies becomes a report by ompp-report merge", p->jobdir,
        *p->jobdir_new ? " (the run makes it)" : "", p->free_mib);
}

static void check_counters(doctor_t *d)
{
    const ompp_probe_t *p = FIRST_WITH(d, software), *q = FIRST_WITH(d, hardware);

    if (p) {
        say(d, NOTE, "counters", "none on %s: perf_event_open: %s (kernel.perf_event_paranoid is %s)", p->host,
            p->software, *p->paranoid ? p->paranoid : "unknown");
        advise("ask for sysctl kernel.perf_event_paranoid=2 or less; in a container, for the system call "
               "perf_event_open (CAP_PERFMON)");
    } else if (q) {
        say(d, NOTE, "counters", "software events only (perf::PAGE-FAULTS, ...) on %s: hardware events: %s", q->host,
            q->hardware);
        advise("%s", strcmp(q->hardware, "No such file or directory") == 0
                         ? "this machine has no performance counters, or its hypervisor hides them"
                         : "ask for sysctl kernel.perf_event_paranoid=1 or less");
    } else {
        say(d, FINE, "counters", "hardware and software events are permitted");
    }
}

/* What no probe can tell, of each program with the options that it has. */
static void see_settings(doctor_t *d, ompp_doctor_said_t *said)
{
    for (size_t i = 0; i < d->line.n; i++) {
        part_t *p = &d->part[i];
        char **was = calloc(p->line->noptions + 1, sizeof *was);
        if (!was) abort();
        set_options(p->line, was);
        if (p->fits) ompp_doctor_settings(p->program.path, ompp_place_find()->lib, &d->measured, said);
        set_back(p->line, 0, was);
        free(was);
    }
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
static void check_settings(doctor_t *d)
{
    const ompp_started_t *m = &d->measured;
    bool fine = true;

    for (size_t i = 0; i < m->nwarnings; i++) {
        const char *line = m->warnings[i];
        if (is_of_probe(line)) continue;
        say(d, BAD, "settings", "%s", line);
        fine = false;
    }
    see_settings(d, &d->said);
    for (size_t i = 0; i < d->said.n; i++)
        say(d, d->said.line[i].remark ? NOTE : BAD, "settings", "%s", d->said.line[i].text);
    fine = fine && d->said.n == 0;
    if (fine) say(d, FINE, "settings", "the OMPP_* variables that are set are understood");
}

static void check_limits(doctor_t *d)
{
    const ompp_probe_t *p = FIRST_WITH(d, address_mib), *q = FIRST_WITH(d, file_kib);

    if (p && atoll(p->address_mib) < SMALL_ADDRESS_MIB) {
        say(d, NOTE, "limits", "address space on %s: %s MiB; ompp reserves 8 (OMPP_MEMORY) and libraries", p->host,
            p->address_mib);
        advise("ulimit -v unlimited");
    }
    if (q && atoll(q->file_kib) < SMALL_FILE_KIB) {
        say(d, NOTE, "limits", "files on %s: %s KiB; reports and the profile may be cut off", q->host, q->file_kib);
        advise("ulimit -f unlimited");
    }
    if (!p && !q) say(d, FINE, "limits", "address space and file size are not limited");
}

/* mpirun of the program's MPI, where both are installed under names of their own and the line has the other one's. */
static void use_own_launcher(const doctor_t *d)
{
    const part_t *alien = d->plain.n ? find_alien(d, d->plain.rank) : NULL;
    static ompp_program_t program;
    static char name[64];

    if (!alien || !ompp_program_starts_ranks(d->line.part[0].argv[0])) return;
    snprintf(name, sizeof name, "mpirun.%s", alien->family);
    ompp_program_find((char *[]){name, NULL}, true, &program);
    if (!program.status) d->line.part[0].argv[0] = name;
}

/* What the launcher is to be told of processors. */
static void print_binding(const doctor_t *d)
{
    const char *option = d->bind ? d->bind->option : "";

    if (*option) printf("%s", option);
    if (*option && option[strlen(option) - 1] == '=') printf("%d", d->threads);
    if (*option) printf(" ");
}

/* The words in front of the programs; the launcher with options that are missing, in place of one that does not
 * help. */
static void print_launcher(const doctor_t *d, const ompp_launch_t *line)
{
    const part_t *unwired = d->plain.n ? find_unwired(d, d->plain.rank) : NULL;

    if (line != &d->line.part[0] || !ompp_program_starts_ranks(line->argv[0])) {
        ompp_doctor_print_words(line->argv, 0, line->front);
        return;
    }
    ompp_doctor_print_words(line->argv, 0, 1);
    print_binding(d);
    if (unwired) printf("--mpi=%s ", missing_wire(unwired, d->plain.rank));
    for (size_t i = 1; i < line->front; i++) {
        if (unwired && strncmp(line->argv[i], "--mpi=", 6) == 0) continue;
        const size_t binding = d->bind ? ompp_bind_said(d->bind, line->argv + i) : 0;
        if (binding == 0) ompp_doctor_print_words(line->argv, i, i + 1);
        else i += binding - 1;
    }
}

/* What a program that loads MPI and OpenMP later needs; the MPI is the launcher's. */
static void print_later(const doctor_t *d, const part_t *p)
{
    if (!p->later) return;
    printf("--omp-runtime=gomp ");
    if (d->plain.n && is_of_known_launcher(d->plain.rank)) printf("--mpi-family=%s ", d->plain.rank->launcher);
}

/* ompp and its options, without values that are not there. */
static void print_ompp(const doctor_t *d, const part_t *p)
{
    const ompp_launch_t *line = p->line;

    if (line->front == line->program) {
        printf("ompp ");
        print_later(d, p);
        printf("-- ");
        return;
    }
    ompp_doctor_print_words(line->argv, line->front, line->front + 1);
    print_later(d, p);
    ompp_doctor_print_options(line->argv, line->front + 1, line->program, &d->measured, d->said.no_data);
}

static void print_command(const doctor_t *d)
{
    use_own_launcher(d);
    printf("\n%s:\n  ", d->bad ? "When that is mended" : "Measure with");
    for (size_t i = 0; i < d->line.n; i++) {
        const part_t *p = &d->part[i];
        const ompp_launch_t *line = p->line;
        if (i > 0) printf(": ");
        print_launcher(d, line);
        if (!p->instrumented) print_ompp(d, p);
        ompp_doctor_print_words(line->argv, line->program, ompp_doctor_count(line->argv));
    }
    printf("\n");
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

/* Words of the probe in place of a program, measured or not. */
static char **probe_words(const part_t *p, char *self, bool measured)
{
    const ompp_launch_t *line = p->line;
    char **words = calloc(2 * line->noptions + 8, sizeof *words), *option = NULL;
    size_t n = 0;

    if (!words || asprintf(&option, "--mpi-family=%s", *p->mpi_library ? p->family : "none") < 0) abort();
    words[n++] = self;
    if (measured) {
        words[n++] = option;
        for (size_t i = 0; i < line->noptions; i++) words[n++] = line->options[i];
        words[n++] = "--";
        words[n++] = self;
    }
    words[n++] = "doctor";
    words[n++] = "--probe";
    for (size_t i = 0; i < line->noptions && !measured; i++) words[n++] = line->options[i];
    return words;
}

static void start_both(doctor_t *d)
{
    char self[PATH_MAX] = "ompp", *const * plain[OMPP_DOCTOR_PROGRAMS], *const * measured[OMPP_DOCTOR_PROGRAMS];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n > 0) self[n] = '\0';
    for (size_t i = 0; i < d->line.n; i++) {
        plain[i] = probe_words(&d->part[i], self, false);
        measured[i] = probe_words(&d->part[i], self, true);
    }
    ompp_doctor_start(&d->line, plain, &d->plain);
    if (d->plain.n) ompp_doctor_start(&d->line, measured, &d->measured);
}

int ompp_doctor(char **argv)
{
    static doctor_t d;
    bool any = false;

    if (argv[0] && strcmp(argv[0], "--probe") == 0) ompp_doctor_probe(argv + 1);
    if (!argv[0] || argv[0][0] == '-' || !ompp_doctor_parse(argv, &d.line))
        return ompp_doctor_usage(argv[0]) ? 0 : WRONG_USAGE;
    for (size_t i = 0; i < d.line.n; i++) {
        d.part[i] = (part_t){.line = &d.line.part[i], .family = ""};
        check_part(&d, &d.part[i]);
        any = any || d.part[i].fits;
    }
    if (!any) return 1;
    fflush(stdout);
    start_both(&d);
    if (check_launch(&d)) {
        check_cpus(&d);
        check_measured(&d);
        check_directories(&d);
        check_counters(&d);
        check_settings(&d);
        check_limits(&d);
    }
    print_command(&d);
    free(d.plain.rank);
    free(d.measured.rank);
    return d.bad;
}
