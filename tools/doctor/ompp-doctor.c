/*
 * The command: starts the probe in place of the user's programs, has everything checked, and prints the line to measure
 * with.
 */
#include "tools/doctor/ompp-doctor.h"

#include "base/ompp_env.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRONG_USAGE = 2 };

/* ---- The line to measure with ------------------------------------------------------------------------------------ */

/* mpirun of the program's MPI, where both are installed under names of their own and the line has the other one's. */
static void use_own_launcher(const ompp_doctor_t *d)
{
    const ompp_part_t *alien = d->plain.n ? ompp_doctor_find_alien(d, d->plain.rank) : NULL;
    static ompp_program_t program;
    static char name[64];

    if (!alien || !ompp_program_starts_ranks(d->line.part[0].argv[0])) return;
    snprintf(name, sizeof name, "mpirun.%s", alien->family);
    ompp_program_find((char *[]){name, NULL}, true, &program);
    if (!program.status) d->line.part[0].argv[0] = name;
}

/* What the launcher is to be told of processors. */
static void print_binding(const ompp_doctor_t *d)
{
    const char *option = d->bind ? d->bind->option : "";

    if (*option) printf("%s", option);
    if (*option && option[strlen(option) - 1] == '=') printf("%d", d->threads);
    if (*option) printf(" ");
}

/* The words in front of the programs; the launcher with options that are missing, in place of one that does not
 * help. */
static void print_launcher(const ompp_doctor_t *d, const ompp_launch_t *line)
{
    const ompp_part_t *unwired = d->plain.n ? ompp_doctor_find_unwired(d, d->plain.rank) : NULL;

    if (line != &d->line.part[0] || !ompp_program_starts_ranks(line->argv[0])) {
        ompp_doctor_print_words(line->argv, 0, line->front);
        return;
    }
    ompp_doctor_print_words(line->argv, 0, 1);
    if (d->needs) printf("%s ", d->needs);
    print_binding(d);
    if (unwired) printf("--mpi=%s ", ompp_doctor_missing_wire(unwired, d->plain.rank));
    for (size_t i = 1; i < line->front; i++) {
        if (unwired && strncmp(line->argv[i], "--mpi=", 6) == 0) continue;
        const size_t binding = d->bind ? ompp_bind_said(d->bind, line->argv + i) : 0;
        if (binding == 0) ompp_doctor_print_words(line->argv, i, i + 1);
        else i += binding - 1;
    }
}

/* ompp and its options, without values that are not there. */
static void print_ompp(const ompp_doctor_t *d, const ompp_part_t *p)
{
    const ompp_launch_t *line = p->line;

    if (line->front == line->program) {
        printf("ompp -- ");
        return;
    }
    ompp_doctor_print_words(line->argv, line->front, line->front + 1);
    ompp_doctor_print_options(line->argv, line->front + 1, line->program, &d->measured, d->said.no_data);
}

/* Also where the user has set it in front of the doctor alone. */
static void print_threads(const ompp_doctor_t *d)
{
    const char *set = ompp_env_foreign("OMP_NUM_THREADS");
    bool openmp = false;

    for (size_t i = 0; i < d->line.n; i++) openmp = openmp || (d->part[i].fits && d->part[i].openmp);
    if (openmp && d->num_threads) printf("OMP_NUM_THREADS=%d ", d->num_threads);
    else if (openmp && set && *set) printf("OMP_NUM_THREADS=%s ", set);
}

static void print_command(const ompp_doctor_t *d)
{
    use_own_launcher(d);
    print_threads(d);
    for (size_t i = 0; i < d->line.n; i++) {
        const ompp_part_t *p = &d->part[i];
        const ompp_launch_t *line = p->line;
        if (i > 0) printf(": ");
        print_launcher(d, line);
        if (!p->instrumented) print_ompp(d, p);
        ompp_doctor_print_words(line->argv, line->program, ompp_doctor_count(line->argv));
    }
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

/* Words of the probe in place of a program, measured or not. */
static char **probe_words(const ompp_part_t *p, char *self, bool measured)
{
    const ompp_launch_t *line = p->line;
    char **words = calloc(2 * line->noptions + 9, sizeof *words), *option = NULL;
    size_t n = 0;

    if (!words || asprintf(&option, "--mpi-family=%s", *p->mpi_library ? p->family : "none") < 0) abort();
    words[n++] = self;
    if (measured) {
        words[n++] = option;
        for (size_t i = 0; i < line->noptions; i++) words[n++] = line->options[i];
        words[n++] = "--sample=off"; /* measurement starts where the probe wants it to */
        words[n++] = "--";
        words[n++] = self;
    }
    words[n++] = "doctor";
    words[n++] = "--probe";
    for (size_t i = 0; i < line->noptions && !measured; i++) words[n++] = line->options[i];
    return words;
}

static void start_both(ompp_doctor_t *d)
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
    static ompp_doctor_t d;
    bool any = false;

    bool json = false;
    ompp_color_t color = OMPP_COLOR_AUTO;

    if (argv[0] && strcmp(argv[0], "--probe") == 0) ompp_doctor_probe(argv + 1);
    for (; argv[0]; argv++) {
        if (strcmp(argv[0], "--json") == 0) json = true;
        else if (!ompp_color_read(argv[0], &color)) break;
    }
    if (!argv[0] || argv[0][0] == '-' || !ompp_doctor_parse(argv, &d.line))
        return ompp_doctor_usage(argv[0]) ? 0 : WRONG_USAGE;
    ompp_doctor_begin(json, color);
    for (size_t i = 0; i < d.line.n; i++) {
        d.part[i] = (ompp_part_t){.line = &d.line.part[i], .family = ""};
        ompp_doctor_check_program(&d, &d.part[i]);
        any = any || d.part[i].fits;
    }
    if (!any) {
        d.bad = true;
        ompp_doctor_end(&d, NULL);
        return 1;
    }
    fflush(stdout);
    start_both(&d);
    ompp_doctor_check_line(&d);
    ompp_doctor_end(&d, print_command);
    free(d.plain.rank);
    free(d.measured.rank);
    return d.bad;
}
