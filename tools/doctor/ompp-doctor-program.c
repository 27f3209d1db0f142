/*
 * A program of the user's line, before anything is started: what its file, its options and the variables say of lines,
 * MPI and OpenMP.
 */
#include "tools/doctor/ompp-doctor.h"

#include "base/ompp_debug_advice.h"
#include "base/ompp_env.h"
#include "image/ompp_known.h"
#include "image/ompp_needed.h"
#include "tools/common/ompp-binary.h"
#include "tools/common/ompp-option.h"
#include "tools/common/ompp-place.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void see_ours(const char *soname, void *data)
{
    if (strncmp(soname, "libompp.so", 10) == 0) *(bool *)data = true;
}

static bool check_program(ompp_doctor_t *d, ompp_part_t *p)
{
    char **argv = p->line->argv + p->line->program;

    ompp_program_find(argv, false, &p->program);
    if (p->program.status) {
        ompp_doctor_say(d, OMPP_BAD, "program", "%s: %s", argv[0], p->program.why);
        if (*p->program.remedy) ompp_doctor_advise("%s", p->program.remedy);
        return false;
    }
    if (*p->program.why) {
        ompp_doctor_say(d, OMPP_BAD, "program", "%s cannot be measured: it %s", argv[0], p->program.why);
        if (*p->program.remedy) ompp_doctor_advise("%s", p->program.remedy);
        return false;
    }
    ompp_program_needs(p->program.path, &p->needs);
    ompp_needed_names(p->program.path, see_ours, &p->instrumented);
    p->family = ompp_known_mpi(p->needs.mpi);
    ompp_doctor_say(d, OMPP_FINE, "program", "%s: dynamic%s", p->program.path,
                    p->instrumented ? ", built with kinst-ompp" : "");
    return true;
}

static void check_options(ompp_doctor_t *d, const ompp_part_t *p)
{
    if (p->line->wrong) {
        ompp_doctor_say(d, OMPP_BAD, "options", "%s", p->line->wrong);
        ompp_doctor_advise("ompp stops there; the line below is without it");
    }
    if (!p->line->unknown) return;
    ompp_doctor_say(d, OMPP_BAD, "options", "ompp does not know %s, or its value is missing", p->line->unknown);
    const char *nearest = ompp_option_nearest(p->line->unknown);
    ompp_doctor_advise("%s%sompp --help=all lists them; -- stands between them and the program", nearest ? nearest : "",
                       nearest ? "? " : "");
}

static void check_debug(ompp_doctor_t *d, const ompp_part_t *p)
{
    switch (ompp_elf_debug(p->program.path)) {
    case OMPP_ELF_LINES:
        ompp_doctor_say(d, OMPP_FINE, "lines", "debug information is in the program: regions have file and line");
        break;
    case OMPP_ELF_SEPARATE:
        ompp_doctor_say(d, OMPP_FINE, "lines", "debug information is in a file of its own: regions have file and line");
        break;
    case OMPP_ELF_NO_LINES:
        ompp_doctor_say(d, OMPP_NOTE, "lines",
                        "no debug information: regions that are known by address alone have no file and line");
        ompp_doctor_advise("%s", ompp_debug_advice(p->program.path, ompp_elf_names_debug_file(p->program.path)));
    }
}

/* A program that loads MPI later does not say which; the option does. \return false: the file says it. */
static bool check_asked_mpi(ompp_doctor_t *d, ompp_part_t *p)
{
    const char *asked = ompp_env_foreign("OMPP_MPI_FAMILY");

    if (!asked || !*asked || strcmp(asked, "auto") == 0) return false;
    if (strcmp(asked, "none") == 0) {
        ompp_doctor_say(d, OMPP_FINE, "MPI", "not measured: --mpi-family=none");
    } else if (*p->needs.mpi && strcmp(p->family, asked) != 0) {
        ompp_doctor_say(d, OMPP_BAD, "MPI", "the program is of %s (%s), and --mpi-family=%s is said",
                        ompp_known_family(p->family), p->needs.mpi, asked);
        ompp_doctor_advise("leave --mpi-family out: the program's file says it");
    } else if (ompp_program_mpi_library(ompp_place_find()->lib, NULL, asked, p->mpi_library)) {
        ompp_doctor_say(d, OMPP_FINE, "MPI", "%s (--mpi-family=%s)", ompp_known_family(asked), asked);
        p->family = strdup(asked);
        p->mpi = true;
    } else {
        p->mpi_library[0] = '\0';
        ompp_doctor_say(d, OMPP_BAD, "MPI", "ompp was not built for %s (--mpi-family=%s)", ompp_known_family(asked),
                        asked);
        ompp_doctor_advise("ompp has " OMPP_MPI_FAMILIES "; configure it with this MPI's mpicc in PATH");
    }
    return true;
}

static void check_mpi(ompp_doctor_t *d, ompp_part_t *p)
{
    const ompp_needs_t *needs = &p->needs;

    p->mpi = *needs->mpi != '\0';
    if (check_asked_mpi(d, p)) return;
    if (!*needs->mpi) {
        ompp_doctor_say(d, OMPP_FINE, "MPI", "the program needs none");
        return;
    }
    bool there = ompp_program_mpi_library(ompp_place_find()->lib, needs->mpi, NULL, p->mpi_library);
    ompp_doctor_say(d, there ? OMPP_FINE : OMPP_BAD, "MPI", "%s (%s)%s%s%s%s", ompp_known_family(p->family), needs->mpi,
                    needs->mpi_f77 ? ", Fortran mpif.h" : "", needs->mpi_f90 ? ", use mpi" : "",
                    needs->mpi_f08 ? ", use mpi_f08" : "", there ? "" : ": ompp was not built for it");
    if (!there) {
        p->mpi_library[0] = '\0';
        ompp_doctor_advise("ompp has " OMPP_MPI_FAMILIES
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
static bool is_replaced(const ompp_part_t *p)
{
    char libomp[PATH_MAX];

    return p->needs.openmp == OMPP_OPENMP_GOMP && wants_runtime("llvm") && ompp_program_find_libomp(libomp);
}

static void see_language(const char *soname, void *data)
{
    const char **language = data;

    if (strncmp(soname, "libgfortran.so", 14) == 0) *language = "Fortran";
    else if (strncmp(soname, "libstdc++.so", 12) == 0 && strcmp(*language, "C") == 0) *language = "C++";
}

/* How a program of its language, with MPI or without, is built with ompp. */
static const char *build_with(const ompp_part_t *p)
{
    static const struct {
        const char *language, *alone, *mpi;
    } builds[] = {{"Fortran", "FC=\"kinst-ompp gfortran\"", "FC=\"kinst-ompp mpifort\""},
                  {"C++", "CXX=\"kinst-ompp g++\"", "CXX=\"kinst-ompp mpicxx\""},
                  {"C", "CC=\"kinst-ompp gcc\"", "CC=\"kinst-ompp mpicc\""}};
    const char *language = "C";
    size_t i = 0;

    ompp_needed_names(p->program.path, see_language, &language);
    while (strcmp(builds[i].language, language) != 0) i++;
    return *p->needs.mpi ? builds[i].mpi : builds[i].alone;
}

static void check_openmp(ompp_doctor_t *d, ompp_part_t *p)
{
    const char *tool = ompp_env_foreign("OMP_TOOL");
    const bool replaced = is_replaced(p), ompt = p->needs.openmp == OMPP_OPENMP_LLVM || (replaced && p->needs.both);

    p->openmp = p->needs.openmp != OMPP_OPENMP_NONE || wants_runtime("gomp");
    if (ompt && tool && strcmp(tool, "disabled") == 0) {
        ompp_doctor_say(d, OMPP_BAD, "OpenMP", "libomp tells nothing: OMP_TOOL=disabled is set");
        ompp_doctor_advise("unset OMP_TOOL");
    } else if (ompt) {
        ompp_doctor_say(d, replaced ? OMPP_NOTE : OMPP_FINE, "OpenMP", "libomp%s",
                        replaced
                            ? " in place of libgomp: all that clang has compiled is told (OMPT), little of gcc's code"
                            : ": all constructs are told (OMPT)");
    } else if (p->needs.openmp == OMPP_OPENMP_GOMP && p->instrumented) {
        ompp_doctor_say(d, OMPP_FINE, "OpenMP", "libgomp: constructs of files that were compiled with kinst-ompp");
    } else if (p->needs.openmp == OMPP_OPENMP_GOMP) {
        ompp_doctor_say(d, OMPP_NOTE, "OpenMP",
                        "%s: what is a call is seen; loops with a static schedule, master and atomic are not",
                        replaced ? "libomp in place of libgomp" : "libgomp");
        ompp_doctor_advise("to see them: %s in the build%s", build_with(p),
                           wants_runtime("llvm") && !replaced
                               ? "; for --omp-runtime=llvm, libomp.so.5 is missing (Debian package: libomp5-19)"
                               : "");
    } else if (wants_runtime("gomp")) {
        ompp_doctor_say(d, OMPP_FINE, "OpenMP", "libgomp (--omp-runtime=gomp): what is a call is seen");
    } else if (p->mpi && !*p->needs.mpi) {
        ompp_doctor_say(d, OMPP_NOTE, "OpenMP", "the program's file needs none");
        ompp_doctor_advise("if it loads libgomp later (numpy): --omp-runtime=gomp");
    } else if (p->program.shell && !is_set("OMPP_CHILDREN")) {
        ompp_doctor_say(d, OMPP_BAD, "OpenMP", "%s starts what is to be measured: there is nothing to measure in it",
                        p->line->argv[p->line->program]);
        ompp_doctor_advise("put ompp in front of the program that it starts, or use ompp --children --");
    } else if (!p->mpi && !p->instrumented && !p->program.shell && !ompp_env_is_set("OMPP_CTR") &&
               !ompp_env_is_set("OMPP_DATA")) {
        ompp_doctor_say(d, OMPP_NOTE, "OpenMP",
                        "the program needs neither OpenMP nor MPI: samples say where its time goes");
        ompp_doctor_advise("if it loads libgomp later, as Python does (numpy): ompp --omp-runtime=gomp --");
    } else {
        ompp_doctor_say(d, OMPP_FINE, "OpenMP", "the program needs none");
    }
    if (p->needs.both)
        ompp_doctor_say(d, OMPP_NOTE, "OpenMP", "libgomp and libomp are both in the program: one of them is measured");
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

void ompp_doctor_with_options(ompp_doctor_t *d, ompp_part_t *p, void (*check)(ompp_doctor_t *d, ompp_part_t *p))
{
    const ompp_launch_t *line = p->line;
    char **was = calloc(line->noptions + 1, sizeof *was), *variable;
    const char *value = NULL;

    if (!was) abort();
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
    check(d, p);
    set_back(line, 0, was);
    free(was);
}

static void check_part(ompp_doctor_t *d, ompp_part_t *p)
{
    p->fits = check_program(d, p);
    if (!p->fits) return;
    check_debug(d, p);
    check_mpi(d, p);
    check_openmp(d, p);
    check_options(d, p);
}

void ompp_doctor_check_program(ompp_doctor_t *d, ompp_part_t *p) { ompp_doctor_with_options(d, p, check_part); }
