/**
 * \file
 * ompp [options] -- program arguments: measures a dynamic program that nobody rebuilt, by preloading the libraries.
 * Replaces itself by the program, so process id and signals are the program's. See docs/launcher.md.
 */
#include "base/ompp_env.h"
#include "base/ompp_path.h"
#include "image/ompp_known.h"
#include "tools/common/ompp-option.h"
#include "tools/common/ompp-place.h"
#include "tools/common/ompp-program.h"
#include "tools/doctor/ompp-doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRONG_USAGE = 2, CANNOT_RUN = 126, NOT_FOUND = 127 };

static bool only_print;
static bool is_again; /* the program is there already, and has come back to us */

/* ---- The environment --------------------------------------------------------------------------------------------- */

static void print_variable(const char *name, const char *value)
{
    printf("export %s='", name);
    for (; *value; value++) fputs(*value == '\'' ? "'\\''" : (char[]){*value, '\0'}, stdout);
    printf("'\n");
}

static char *joined(const char *a, const char *separator, const char *b)
{
    char *text = NULL;

    if (!a || !*a) return strdup(b);
    if (asprintf(&text, "%s%s%s", a, separator, b) < 0) abort();
    return text;
}

/*
 * Sets a variable for the program, and notes for it what the variable was: libompp gives the program's children the
 * environment that they would have had (ompp_env_restore).
 */
static void set(const char *name, const char *value)
{
    const char *was = ompp_env_foreign(name), *names = ompp_env_foreign(OMPP_ENV_RESTORE);
    char *note = NULL;

    if (asprintf(&note, OMPP_ENV_WAS "%s", name) < 0) abort();
    if (!names || !strstr(joined(joined(",", "", names), "", ","), joined(joined(",", "", name), "", ","))) {
        if (was) setenv(note, was, 1);
        setenv(OMPP_ENV_RESTORE, joined(names, ",", name), 1);
    }
    if (only_print) print_variable(name, value);
    setenv(name, value, 1);
}

/* A program that replaces itself by another is measured, too: the library comes back to us. */
static void keep_command(void)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n <= 0) return;
    self[n] = '\0';
    setenv(OMPP_ENV_COMMAND, self, 1);
}

/* What it starts is measured, too: the environment is theirs as well. The first of them is the one that the launcher
 * was asked for. */
static void keep_for_children(const char *program)
{
    char *names = joined(ompp_env_foreign(OMPP_ENV_RESTORE), "", ""), *note = NULL, process[24],
         chosen[OMPP_ENV_REEXEC_SIZE];
    struct stat st;

    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        if (asprintf(&note, OMPP_ENV_WAS "%s", name) < 0) abort();
        unsetenv(note);
    }
    unsetenv(OMPP_ENV_RESTORE);
    snprintf(process, sizeof process, "%ld", (long)getpid());
    setenv(OMPP_ENV_LAUNCHED, process, !is_again);
    if (stat(program, &st) != 0) return;
    ompp_env_reexec(chosen, &st);
    setenv(OMPP_ENV_REEXEC, chosen, 1);
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

_Noreturn static void refuse(const char *option, int why)
{
    const char *nearest = ompp_option_nearest(option);

    if (why == OMPP_OPTION_NO_VALUE) fprintf(stderr, "ompp: write %s=...: it needs a value\n", option);
    else if (nearest)
        fprintf(stderr, "ompp: did you mean %s? unknown option %s; ompp --help=all lists all\n", nearest, option);
    else fprintf(stderr, "ompp: look into ompp --help=all: unknown option %s\n", option);
    exit(WRONG_USAGE);
}

/* A typing error on the command line is seen before hours of computing; a variable may be there for other programs, and
 * stops none. */
static void refuse_value(const char *wrong)
{
    if (!wrong) return;
    fprintf(stderr, "ompp: %s\n", wrong);
    exit(WRONG_USAGE);
}

/* \return index of the program's name in argv. */
static int read_options(int argc, char **argv)
{
    const char *value = NULL;
    char *variable;
    int i;

    for (i = 1; i < argc; i++) /* -n counts for options before it, too */
        if (strcmp(argv[i], "--") == 0 || argv[i][0] != '-') break;
        else if (strcmp(argv[i], "-n") == 0) only_print = true;
    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) return i + 1;
        const bool all = strcmp(argv[i], "--help=all") == 0;
        if (all || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            ompp_option_help(all);
            exit(0);
        }
        if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-v") == 0) {
            printf("ompp %s\n", OMPP_VERSION);
            exit(0);
        }
        const int used = ompp_option_read(argv + i, &variable, &value);
        if (used <= 0) refuse(argv[i], used);
        refuse_value(ompp_option_wrong(variable, value));
        if (variable) set(variable, value);
        only_print = only_print || strcmp(argv[i], "-n") == 0;
        i += used - 1;
    }
    return i;
}

static bool is_set(const char *name)
{
    const char *text = ompp_env_foreign(name);

    return text && strcmp(text, "0") != 0;
}

/* A word of a variable, or "auto". What the variable does not take is said by the program's own reading of it. */
static const char *word_of(const char *name)
{
    const char *text = ompp_env_foreign(name);

    return text && *text ? text : "auto";
}

/* What holds for all ranks is said by the first. */
static bool is_first(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    const char *rank = NULL;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !rank; i++) rank = ompp_env_foreign(names[i]);
    return !rank || atoi(rank) == 0;
}

/* ---- What is preloaded ------------------------------------------------------------------------------------------- */

/* Wrappers of another MPI than the program's would break it. */
static bool is_wrong_family(const char *family, const ompp_needs_t *needs)
{
    const char *known = ompp_known_mpi(needs->mpi);

    if (strcmp(family, "other") == 0 || !*known || strcmp(known, "other") == 0 || strcmp(known, family) == 0)
        return false;
    if (is_first())
        fprintf(stderr,
                "ompp: use --mpi-family=%s: the program is of %s, and with --mpi-family=%s MPI is not measured\n",
                known, ompp_known_family(known), family);
    return true;
}

/* MPI that the program opens by itself is seen in the program when it comes (ompp_dlopen_watch.c), and may be another
 * one than was said. */
static bool comes_later(const char *family, const ompp_needs_t *needs)
{
    return !*needs->mpi && (strcmp(family, "openmpi") == 0 || strcmp(family, "mpich") == 0);
}

static char *add_mpi(char *preload, const char *dir, const ompp_needs_t *needs)
{
    const char *family = word_of("OMPP_MPI_FAMILY");
    bool automatic = strcmp(family, "auto") == 0;
    char path[PATH_MAX];

    if (strcmp(family, "none") == 0 || (automatic && !*needs->mpi)) return preload;
    if (!automatic && is_wrong_family(family, needs)) return preload;
    if (ompp_program_mpi_library(dir, automatic ? needs->mpi : NULL, automatic ? NULL : family, path))
        return comes_later(family, needs) ? preload : joined(preload, ":", path);
    if (is_first())
        fprintf(
            stderr,
            "ompp: configure ompp with the program's mpicc in PATH: MPI is not measured, as the program uses %s, and "
            "ompp was built for %s\n",
            automatic ? needs->mpi : family, OMPP_MPI_FAMILIES);
    return preload;
}

/* Also of a program that GCC has compiled and LLVM's library serves; where clang has compiled some of it, OMPT tells
 * more. */
static bool use_gomp(const char *runtime, const ompp_needs_t *needs)
{
    if (strcmp(runtime, "gomp") == 0) return true;
    return needs->openmp == OMPP_OPENMP_GOMP &&
           (strcmp(runtime, "auto") == 0 || (strcmp(runtime, "llvm") == 0 && !needs->both));
}

/*
 * LLVM's library has the functions of libgomp as well: in front of it, it serves programs that GCC has compiled.
 * \return the runtime to measure, OMPP_OMP_RUNTIME but for LLVM's that is not there; *libomp: its file, else "".
 */
static const char *find_runtime(char libomp[PATH_MAX])
{
    const char *runtime = word_of("OMPP_OMP_RUNTIME");

    *libomp = '\0';
    if (strcmp(runtime, "llvm") != 0 || ompp_program_find_libomp(libomp)) return runtime;
    *libomp = '\0';
    if (is_first())
        fprintf(stderr, "ompp: install LLVM's OpenMP library (Debian: libomp5-19): libomp.so.5 is not found, and "
                        "--omp-runtime=auto is used\n");
    return "auto";
}

static void say_what(const ompp_needs_t *needs)
{
    static const char *const openmp[] = {"none", "libgomp", "libomp"};

    printf("# MPI: %s%s%s%s; OpenMP: %s%s\n", *needs->mpi ? needs->mpi : "none", needs->mpi_f77 ? ", mpif.h" : "",
           needs->mpi_f90 ? ", use mpi" : "", needs->mpi_f08 ? ", use mpi_f08" : "", openmp[needs->openmp],
           !needs->both                        ? ""
           : needs->openmp == OMPP_OPENMP_GOMP ? " (also libomp, not measured)"
                                               : " (also libgomp, behind it)");
}

/* Libraries of MPI and OpenMP would stand in front of ours. */
static bool is_measured(const char *path)
{
    static const char *const openmp[] = {"libgomp.", "libomp.", "libomp-", "libiomp5."};
    const char *name = ompp_path_last(path);
    bool is = ompp_known_mpi_part(path);

    for (size_t i = 0; i < sizeof openmp / sizeof openmp[0]; i++)
        is |= strncmp(name, openmp[i], strlen(openmp[i])) == 0;
    return is;
}

/*
 * What was preloaded before stands in front, as a PMPI layer or an OMPT tool has to, and behind it what is measured
 * now; but for ours, chosen for the program that has started this one.
 */
static char *with_others(char *preload, const char *dir, const char *libomp)
{
    const char *before = ompp_env_foreign("LD_PRELOAD");
    char *rest = strdup(before ? before : ""), *ours = joined(dir, "/", "libompp"), *front = NULL;

    for (char *path = strtok(rest, ": "); path; path = strtok(NULL, ": ")) {
        if (strncmp(path, ours, strlen(ours)) == 0 || strcmp(path, libomp) == 0) continue;
        if (is_measured(path)) preload = joined(preload, ":", path);
        else front = joined(front, ":", path);
    }
    return joined(front, ":", preload);
}

static void set_up(const char *program)
{
    const char *dir = ompp_place_find()->lib;
    char *library = joined(dir, "/", "libompp.so"), *preload = NULL, libomp[PATH_MAX];
    const char *runtime;
    ompp_needs_t needs;

    if (access(library, R_OK) != 0 || strpbrk(dir, ": ")) {
        fprintf(stderr,
                access(library, R_OK) != 0
                    ? "ompp: install ompp again: %s is missing, and the program runs without measurement\n"
                    : "ompp: install ompp in a path without blank and colon: %s cannot be preloaded, and the program "
                      "runs without measurement\n",
                library);
        return;
    }
    ompp_program_needs(program, &needs);
    if (only_print) say_what(&needs);
    preload = add_mpi(preload, dir, &needs);
    runtime = find_runtime(libomp);
    if (use_gomp(runtime, &needs)) preload = joined(preload, ":", joined(dir, "/", "libompp-gomp.so"));
    preload = joined(preload, ":", library);
    if (*libomp) preload = joined(preload, ":", libomp);
    keep_command();
    preload = with_others(preload, dir, libomp);
    set("LD_PRELOAD", *needs.sanitizer ? joined(needs.sanitizer, ":", preload) : preload);
    if (is_set("OMPP_CHILDREN")) keep_for_children(program);
}

/* What shells put into "_": the path of the command. */
static bool is_own_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return path && strcmp(slash ? slash + 1 : path, "ompp") == 0;
}

static const char usage[] = "usage: ompp [options] -- program [arguments]; ompp --help says more\n";

/* A program that has come back to us keeps what it had; it has not preloaded it into us. */
static void take_back_preloaded(void)
{
    const char *was = ompp_env_foreign(OMPP_ENV_WAS "LD_PRELOAD");

    if (!was || ompp_env_foreign(OMPP_ENV_RESTORE)) return;
    setenv("LD_PRELOAD", was, 1);
    unsetenv(OMPP_ENV_WAS "LD_PRELOAD");
}

/* \return index of the program's name in argv; of a program that replaces itself by another, this is all that argv
 * has. */
static int find_program(int argc, char **argv, ompp_program_t *program)
{
    const char *file = ompp_env_foreign(OMPP_ENV_EXEC);
    char *path = file ? strdup(file) : NULL;
    const int first = path ? 0 : read_options(argc, argv);

    unsetenv(OMPP_ENV_EXEC);
    is_again = path != NULL;
    if (path) {
        take_back_preloaded();
        ompp_program_take(path, argv, is_set("OMPP_CHILDREN"), program);
        free(path);
        return 0;
    }
    if (first < argc && first == 1 && strcmp(argv[1], "doctor") == 0) exit(ompp_doctor(argv + 2));
    if (first >= argc) {
        fputs(usage, stderr);
        exit(WRONG_USAGE);
    }
    ompp_program_find(argv + first, is_set("OMPP_CHILDREN"), program);
    return first;
}

int main(int argc, char **argv)
{
    static ompp_program_t program;
    const int first = find_program(argc, argv, &program);

    if (program.status) {
        fprintf(stderr, "ompp: %s%s%s: %s\n", program.remedy, *program.remedy ? ": " : "", argv[first], program.why);
        return program.status;
    }
    if (!*program.why) set_up(program.path);
    else if (is_first())
        fprintf(stderr, "ompp: %s%s%s is not measured: it %s\n", program.remedy, *program.remedy ? ": " : "",
                argv[first], program.why);
    if (only_print) return *program.why ? CANNOT_RUN : 0;
    if (*program.why) ompp_env_restore();
    /* as a shell that had started the program itself */
    if (is_own_name(ompp_env_foreign("_"))) setenv("_", program.path, 1);
    execv(program.path, program.argv);
    fprintf(stderr, "ompp: %s: %s\n", argv[first], strerror(errno));
    return errno == ENOENT ? NOT_FOUND : CANNOT_RUN;
}
