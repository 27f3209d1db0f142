#include "tools/ompp-doctor.h"

#include "base/ompp_env.h"
#include "tools/ompp-elf.h"
#include "tools/ompp-place.h"
#include "tools/ompp-program.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRONG_USAGE = 2, SMALL_ADDRESS_MIB = 512, SMALL_FILE_KIB = 10240, SMALL_FREE_MIB = 64 };

/* What is known of the user's line when the verdicts are spoken. */
typedef struct {
    ompp_launch_t launch;
    ompp_program_t program;
    ompp_needs_t needs;
    bool instrumented;          /* built with kinst-ompp */
    char mpi_library[PATH_MAX]; /* ours for the program's MPI; "" = none */
    const char *family;         /* of the program's MPI: openmpi, mpich, other; "" = none */
    ompp_started_t plain, measured;
    bool bad;
} doctor_t;

/* ---- Saying it --------------------------------------------------------------------------------------------------------- */

typedef enum { FINE, NOTE, BAD } verdict_t;

__attribute__((format(printf, 4, 5))) static void say(doctor_t *d, verdict_t verdict, const char *topic, const char *format, ...)
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

/* A word as a shell takes it. */
static void print_word(const char *word)
{
    if (*word && !strpbrk(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!")) {
        printf("%s", word);
        return;
    }
    putchar('\'');
    for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stdout);
    putchar('\'');
}

static void print_words(char **words, size_t begin, size_t end)
{
    for (size_t i = begin; i < end && words[i]; i++) {
        print_word(words[i]);
        putchar(' ');
    }
}

/* ---- The program ------------------------------------------------------------------------------------------------------- */

static void see_ours(const char *soname, void *data)
{
    if (strncmp(soname, "libompp.so", 10) == 0) *(bool *)data = true;
}

static const char *family_name(const char *family)
{
    return strcmp(family, "openmpi") == 0 ? "Open MPI" : strcmp(family, "mpich") == 0 ? "MPICH" : "another MPI";
}

/* By the name of the library: the families number them differently. */
static const char *family_of(const char *soname)
{
    if (!*soname) return "";
    if (strncmp(soname, "libmpich", 8) == 0 || strcmp(soname, "libmpi.so.12") == 0) return "mpich";
    return strcmp(soname, "libmpi.so.40") == 0 || strcmp(soname, "libmpi.so.20") == 0 ? "openmpi" : "other";
}

static bool check_program(doctor_t *d)
{
    char **argv = d->launch.argv + d->launch.program;

    ompp_program_find(argv, false, &d->program);
    if (d->program.status) {
        say(d, BAD, "program", "%s: %s", argv[0], d->program.why);
        return false;
    }
    if (*d->program.why) {
        say(d, BAD, "program", "%s cannot be measured: it %s", argv[0], d->program.why);
        return false;
    }
    ompp_program_needs(d->program.path, &d->needs);
    ompp_elf_needed(d->program.path, see_ours, &d->instrumented);
    d->family = family_of(d->needs.mpi);
    say(d, FINE, "program", "%s: dynamic%s", d->program.path, d->instrumented ? ", built with kinst-ompp" : "");
    return true;
}

static void check_debug(doctor_t *d)
{
    switch (ompp_elf_debug(d->program.path)) {
    case OMPP_ELF_LINES: say(d, FINE, "lines", "debug information is in the program: regions have file and line"); break;
    case OMPP_ELF_SEPARATE: say(d, FINE, "lines", "debug information is in a file of its own, by build id"); break;
    case OMPP_ELF_NO_LINES:
        say(d, NOTE, "lines", "no debug information: regions that are known by address alone have no file and line");
        advise("compile with -g; it changes no code");
    }
}

static void check_mpi(doctor_t *d)
{
    const ompp_needs_t *needs = &d->needs;

    if (!*needs->mpi) {
        say(d, FINE, "MPI", "the program needs none");
        return;
    }
    bool there = ompp_program_mpi_library(ompp_place_find()->lib, needs->mpi, NULL, d->mpi_library);
    say(d, there ? FINE : BAD, "MPI", "%s (%s)%s%s%s%s", family_name(d->family), needs->mpi, needs->mpi_f77 ? ", Fortran mpif.h" : "",
        needs->mpi_f90 ? ", use mpi" : "", needs->mpi_f08 ? ", use mpi_f08" : "", there ? "" : ": ompp was not built for it");
    if (!there) {
        d->mpi_library[0] = '\0';
        advise("ompp has " OMPP_MPI_FAMILIES "; configure it with this MPI's mpicc in PATH, or OpenMP alone is measured");
    }
}

static void check_openmp(doctor_t *d)
{
    const char *tool = ompp_env_foreign("OMP_TOOL");

    if (d->needs.openmp == OMPP_OPENMP_LLVM && tool && strcmp(tool, "disabled") == 0) {
        say(d, BAD, "OpenMP", "libomp tells nothing: OMP_TOOL=disabled is set");
        advise("unset OMP_TOOL");
    } else if (d->needs.openmp == OMPP_OPENMP_LLVM) {
        say(d, FINE, "OpenMP", "libomp: all constructs are told (OMPT)");
    } else if (d->needs.openmp == OMPP_OPENMP_GOMP && d->instrumented) {
        say(d, FINE, "OpenMP", "libgomp: constructs of files that were compiled with kinst-ompp");
    } else if (d->needs.openmp == OMPP_OPENMP_GOMP) {
        say(d, NOTE, "OpenMP", "libgomp: what is a call is seen; loops with a static schedule, master and atomic are not");
        advise("to see them: CC=\"kinst-ompp gcc\" in the build, or ompp --omp-runtime=llvm -- ./app");
    } else if (!*d->needs.mpi && !d->instrumented) {
        say(d, BAD, "OpenMP", "the program needs neither OpenMP nor MPI: there is nothing to measure");
        advise("if it loads them later (Python): ompp --omp-runtime=gomp --mpi-family=openmpi -- ./app; functions: kinst-ompp");
    } else {
        say(d, FINE, "OpenMP", "the program needs none");
    }
    if (d->needs.both) say(d, NOTE, "OpenMP", "libgomp and libomp are both in the program: one of them is measured");
}

/* ---- The line ---------------------------------------------------------------------------------------------------------- */

static bool check_launch(doctor_t *d)
{
    const ompp_started_t *s = &d->plain;
    const ompp_probe_t *first = s->rank;
    size_t hosts = 0;

    if (s->n == 0) {
        say(d, BAD, "launch", "the line starts nothing%s: %s", s->late ? " in a minute" : "", *s->said ? s->said : "no message");
        advise("try it with another program: the same line with hostname in place of %s", d->launch.argv[d->launch.program]);
        return false;
    }
    for (size_t i = 0; i < s->n; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) seen = strcmp(s->rank[k].host, s->rank[i].host) == 0;
        hosts += !seen;
    }
    bool mpi = *d->needs.mpi != '\0', alien = mpi && *first->launcher && strcmp(first->launcher, "slurm") != 0 &&
                                              strcmp(d->family, "other") != 0 && strcmp(first->launcher, d->family) != 0;
    if (alien) {
        say(d, BAD, "launch", "%s starts it, the program is of %s: each of %zu processes would be rank 0 of 1",
            family_name(first->launcher), family_name(d->family), s->n);
        advise("start it with mpirun of %s (Debian: mpirun.%s), or build it with mpicc of %s", family_name(d->family), d->family,
               family_name(first->launcher));
    } else {
        say(d, FINE, "launch", "%zu %s on %zu %s (%s%s)", s->n, s->n == 1 ? "process" : "processes", hosts, hosts == 1 ? "node" : "nodes",
            first->host, hosts > 1 ? ", ..." : "");
        if (!mpi && s->n > 1) say(d, NOTE, "launch", "the program has no MPI: each process writes a report of its own");
    }
    return true;
}

/* Ranks that are bound to fewer processors than they have threads: the commonest slow hybrid run, with ompp or without. */
static void check_cpus(doctor_t *d)
{
    for (size_t i = 0; i < d->plain.n && d->needs.openmp != OMPP_OPENMP_NONE; i++) {
        const ompp_probe_t *p = &d->plain.rank[i];
        int threads = atoi(p->threads), cpus = atoi(p->ncpus);
        if (cpus <= 0 || (threads <= cpus && (threads > 0 || cpus > 1))) continue;
        say(d, NOTE, "processors", "rank %s: %s threads on %d processor%s (%s)", *p->rank ? p->rank : "0", threads ? p->threads : "all",
            cpus, cpus == 1 ? "" : "s", p->cpus);
        advise("Open MPI: --bind-to none, or --map-by slot:PE=N; MPICH: -bind-to none; Slurm: --cpus-per-task=N");
        return;
    }
}

static const ompp_probe_t *same_rank(const ompp_started_t *s, const char *rank)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->rank[i].rank, rank) == 0) return &s->rank[i];
    return NULL;
}

static void check_measured(doctor_t *d)
{
    const ompp_started_t *m = &d->measured;

    if (m->n == 0 || *m->unloaded || strcmp(m->rank[0].loaded, "yes") != 0) {
        say(d, BAD, "libraries", "ompp's libraries are not in the processes: %s", *m->unloaded ? m->unloaded : m->said);
        advise("%s must be the same on all nodes", ompp_place_find()->lib);
        return;
    }
    say(d, FINE, "libraries", "%s is loaded on all nodes", ompp_place_find()->lib);
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
        say(d, NOTE, "survival", "%s on %s: %s; the profile is in memory only, and lost if the program dies", p->jobdir, p->host,
            p->jobdir_why);
        advise("set OMPP_JOB_DIR to a directory of the node that can be written");
        return;
    }
    p = d->plain.rank;
    say(d, atoll(p->free_mib) < SMALL_FREE_MIB ? NOTE : FINE, "survival", "%s, %s MiB free: what is left there by a run that dies becomes "
        "a report by ompp-report merge", p->jobdir, p->free_mib);
}

static void check_counters(doctor_t *d)
{
    const ompp_probe_t *p = FIRST_WITH(d, software), *q = FIRST_WITH(d, hardware);

    if (p) {
        say(d, NOTE, "counters", "none on %s: perf_event_open: %s (kernel.perf_event_paranoid is %s)", p->host, p->software,
            *p->paranoid ? p->paranoid : "unknown");
        advise("ask for sysctl kernel.perf_event_paranoid=2 or less; in a container, for the system call perf_event_open (CAP_PERFMON)");
    } else if (q) {
        say(d, NOTE, "counters", "software events only (perf::PAGE-FAULTS, ...) on %s: hardware events: %s", q->host, q->hardware);
        advise("%s", strcmp(q->hardware, "No such file or directory") == 0
                         ? "this machine has no performance counters, or its hypervisor hides them"
                         : "ask for sysctl kernel.perf_event_paranoid=1 or less");
    } else {
        say(d, FINE, "counters", "hardware and software events are permitted");
    }
}

/* Of the directory for the profile the survival line speaks; names and hooks of data are the program's, which the probe is not. */
static bool is_of_probe(const char *line)
{
    static const char *const begins[] = {"profile is kept in memory", "OMPP_DATA: ", "loads and stores are not counted"};

    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(line, begins[i], strlen(begins[i])) == 0) return true;
    return strncmp(line, "OMPP_DATA_BACKEND=", 18) == 0 && line[18] != '\'';
}

/* What the run would say, in its words. */
static void check_settings(doctor_t *d)
{
    const ompp_started_t *m = &d->measured;
    bool fine = true;

    for (size_t i = 0; i < m->nwarnings; i++) {
        const char *line = m->warnings[i];
        bool counters = strncmp(line, "OMPP_CTR", 8) == 0 || strncmp(line, "no counters", 11) == 0;
        if (is_of_probe(line)) continue;
        say(d, BAD, counters ? "counters" : "settings", "%s", line);
        fine = fine && counters;
    }
    if (fine) say(d, FINE, "settings", "the OMPP_* variables that are set are understood");
}

static void check_limits(doctor_t *d)
{
    const ompp_probe_t *p = FIRST_WITH(d, address_mib), *q = FIRST_WITH(d, file_kib);

    if (p && atoll(p->address_mib) < SMALL_ADDRESS_MIB) {
        say(d, NOTE, "limits", "address space on %s: %s MiB; ompp reserves 8 (OMPP_MEMORY) and libraries", p->host, p->address_mib);
        advise("ulimit -v unlimited");
    }
    if (q && atoll(q->file_kib) < SMALL_FILE_KIB) {
        say(d, NOTE, "limits", "files on %s: %s KiB; reports and the profile may be cut off", q->host, q->file_kib);
        advise("ulimit -f unlimited");
    }
    if (!p && !q) say(d, FINE, "limits", "address space and file size are not limited");
}

static void print_command(const doctor_t *d)
{
    size_t n = d->launch.program;

    printf("\n%s:\n  ", d->bad ? "When that is mended" : "Measure with");
    print_words(d->launch.argv, 0, d->launch.front);
    if (!d->instrumented && d->launch.front == n) printf("ompp -- ");
    if (!d->instrumented) print_words(d->launch.argv, d->launch.front, n);
    while (d->launch.argv[n]) n++;
    print_words(d->launch.argv, d->launch.program, n);
    printf("\n");
}

/* ---- The command ------------------------------------------------------------------------------------------------------- */

static void start_both(doctor_t *d)
{
    char self[PATH_MAX] = "ompp", option[64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n > 0) self[n] = '\0';
    snprintf(option, sizeof option, "--mpi-family=%s", *d->mpi_library ? d->family : "none");
    ompp_doctor_start(&d->launch, (char *[]){self, "doctor", "--probe", NULL}, &d->plain);
    if (d->plain.n) ompp_doctor_start(&d->launch, (char *[]){self, option, "--", self, "doctor", "--probe", NULL}, &d->measured);
}

int ompp_doctor(char **argv)
{
    static doctor_t d;

    if (argv[0] && strcmp(argv[0], "--probe") == 0) ompp_doctor_probe();
    if (!argv[0] || argv[0][0] == '-' || !ompp_doctor_parse(argv, &d.launch)) {
        fprintf(stderr, "usage: ompp doctor LAUNCH LINE, as in: ompp doctor mpirun -n 4 ./app arguments\n");
        return argv[0] && strcmp(argv[0], "--help") == 0 ? 0 : WRONG_USAGE;
    }
    if (!check_program(&d)) return 1;
    check_debug(&d);
    check_mpi(&d);
    check_openmp(&d);
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
