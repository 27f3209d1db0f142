/**
 * \file
 * ompp [options] -- program arguments: measures a dynamic program that nobody rebuilt, by preloading the libraries. Replaces itself
 * by the program, so process id and signals are the program's. See docs/launcher.md.
 */
#include "base/ompp_env.h"
#include "tools/ompp-elf.h"
#include "tools/ompp-place.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRONG_USAGE = 2, CANNOT_RUN = 126, NOT_FOUND = 127 };

static bool only_print;

/* ---- Options --------------------------------------------------------------------------------------------------------- */

/* OMPP_TIME_DIGITS -> time-digits; NULL for variables of other software and for those without effect. */
static char *option_name(const ompp_env_row_t *row)
{
    static char name[128];
    size_t i;

    if (row->type == OMPP_ENV_FOREIGN || row->type == OMPP_ENV_LATER) return NULL;
    for (i = 0; row->name[i + 5] && i + 1 < sizeof name; i++)
        name[i] = row->name[i + 5] == '_' ? '-' : (char)tolower((unsigned char)row->name[i + 5]);
    name[i] = '\0';
    return name;
}

static void help(void)
{
    printf("usage: ompp [options] -- program [arguments]\n"
           "Runs a dynamic program under measurement.\n\n"
           "  -n                     print the environment that would be set, for pasting into a shell\n"
           "  --version, --help\n");
    for (size_t i = 0; i < ompp_env_nrows; i++) {
        const char *name = option_name(&ompp_env_rows[i]);
        if (name) printf("  --%s=...%*s %s\n", name, (int)(strlen(name) < 17 ? 17 - strlen(name) : 0), "", ompp_env_rows[i].help);
    }
}

static void set(const char *name, const char *value)
{
    if (only_print) {
        printf("export %s='", name);
        for (; *value; value++) fputs(*value == '\'' ? "'\\''" : (char[]){*value, '\0'}, stdout);
        printf("'\n");
    }
    setenv(name, value, 1);
}

/* --name=value, or --name for a flag. */
static bool set_variable(const char *option)
{
    size_t length = strcspn(option, "=");

    for (size_t i = 0; i < ompp_env_nrows; i++) {
        const ompp_env_row_t *row = &ompp_env_rows[i];
        const char *name = option_name(row);
        if (!name || strlen(name) != length || strncmp(name, option, length) != 0) continue;
        if (option[length] == '\0' && row->type != OMPP_ENV_FLAG) return false;
        set(row->name, option[length] ? option + length + 1 : "1");
        return true;
    }
    return false;
}

/* \return index of the program's name in argv. */
static int read_options(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++) /* -n counts for options before it, too */
        if (strcmp(argv[i], "--") == 0 || argv[i][0] != '-')
            break;
        else if (strcmp(argv[i], "-n") == 0)
            only_print = true;
    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) return i + 1;
        if (strcmp(argv[i], "-n") == 0) continue;
        if (strcmp(argv[i], "--help") == 0) {
            help();
            exit(0);
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("ompp %s\n", OMPP_VERSION);
            exit(0);
        }
        if (strcmp(argv[i], "--app") == 0 || strncmp(argv[i], "--app=", 6) == 0) {
            set("OMPP_APPNAME", argv[i] + 5 + (argv[i][5] == '='));
        } else if (strncmp(argv[i], "--", 2) != 0 || !set_variable(argv[i] + 2)) {
            fprintf(stderr, "ompp: unknown option %s; see ompp --help\n", argv[i]);
            exit(WRONG_USAGE);
        }
    }
    return i;
}

/* ---- The program ----------------------------------------------------------------------------------------------------- */

/* As execvp finds it. */
static bool find_program(const char *name, char path[PATH_MAX])
{
    const char *list = ompp_env_foreign("PATH");
    struct stat st;

    if (strchr(name, '/')) {
        snprintf(path, PATH_MAX, "%s", name);
        return access(path, F_OK) == 0;
    }
    while (list && *list) {
        size_t length = strcspn(list, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", (int)length, length ? list : ".", name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0) return true;
        list += length + (list[length] == ':');
    }
    return false;
}

static void refuse(const char *program, const char *why)
{
    fprintf(stderr, "ompp: %s: %s\n", program, why);
    exit(CANNOT_RUN);
}

static void check_program(const char *name, const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0) refuse(name, strerror(errno));
    if (S_ISDIR(st.st_mode)) refuse(name, "is a directory");
    if (access(path, X_OK) != 0) refuse(name, "is not executable");
    if (st.st_mode & (S_ISUID | S_ISGID)) refuse(name, "runs with other rights (setuid or setgid); the system ignores preloading there");
    switch (ompp_elf_kind(path)) {
    case OMPP_ELF_DYNAMIC: return;
    case OMPP_ELF_STATIC: refuse(name, "is statically linked; build it with kinst-ompp and without -static"); break;
    case OMPP_ELF_SCRIPT: refuse(name, "is a script; put ompp in front of the program that it runs"); break;
    case OMPP_ELF_FOREIGN: refuse(name, "is not a program of this machine"); break;
    case OMPP_ELF_UNREADABLE: refuse(name, "cannot be read, so it is not known what it needs"); break;
    }
}

/* Ranks start elsewhere, or without what is set here: ompp belongs behind their launcher. */
static void advise(const char *name)
{
    static const char *const launchers[] = {"mpirun", "mpiexec", "srun", "prun", "orterun", "mpiexec.hydra"};
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;

    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        size_t n = strlen(launchers[i]);
        if (strncmp(base, launchers[i], n) != 0 || (base[n] && base[n] != '.')) continue;
        fprintf(stderr, "ompp: put ompp behind %s, to measure the ranks: %s -n 2 ompp -- ./app\n", base, base);
        return;
    }
}

typedef struct {
    bool mpi, libomp;
    char mpi_name[256];
} needs_t;

static void see(const char *soname, void *data)
{
    needs_t *needs = data;

    /* libmpi.so.40, libmpich.so.12, libmpi.so.12 (Intel), not libmpi_cxx or libmpi_mpifh */
    if (strncmp(soname, "libmpi.so", 9) == 0 || strncmp(soname, "libmpich.so", 11) == 0) {
        needs->mpi = true;
        snprintf(needs->mpi_name, sizeof needs->mpi_name, "%s", soname);
    }
    if (strncmp(soname, "libomp.so", 9) == 0 || strncmp(soname, "libiomp5.so", 11) == 0) needs->libomp = true;
}

static char *joined(const char *a, const char *b)
{
    char *text = NULL;

    if (!b || !*b) return strdup(a);
    if (asprintf(&text, "%s:%s", a, b) < 0) abort();
    return text;
}

/* libompp-mpi belongs to one MPI library: its own soname must be the program's. */
static bool mpi_fits(const char *library, const needs_t *program)
{
    needs_t own = {0};

    if (access(library, R_OK) != 0) return false;
    ompp_elf_needed(library, see, &own);
    return strcmp(own.mpi_name, program->mpi_name) == 0;
}

/* \return the library for the program's MPI, or NULL. */
static char *mpi_library(const char *dir, const needs_t *program)
{
    static const char *const families[] = {"openmpi", "mpich", "other"};
    char *path = NULL;

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (asprintf(&path, "%s/libompp-mpi-%s.so", dir, families[i]) < 0) abort();
        if (mpi_fits(path, program)) return path;
    }
    return NULL;
}

static void set_up(const char *program)
{
    const char *dir = ompp_place_find()->lib;
    needs_t needs = {0};
    char *library = NULL, *mpi, *preload;

    if (asprintf(&library, "%s/libompp.so", dir) < 0) abort();
    if (access(library, R_OK) != 0) {
        fprintf(stderr, "ompp: %s is missing; the program runs without measurement\n", library);
        return;
    }
    ompp_elf_needed(program, see, &needs);
    preload = joined(library, ompp_env_foreign("LD_PRELOAD"));
    mpi = needs.mpi ? mpi_library(dir, &needs) : NULL;
    if (mpi) preload = joined(mpi, preload);
    if (needs.mpi && !mpi)
        fprintf(stderr, "ompp: MPI is not measured: the program uses %s, ompp was built for %s\n", needs.mpi_name, OMPP_MPI_FAMILIES);
    set("LD_PRELOAD", preload);
    if (needs.libomp) set("OMP_TOOL_LIBRARIES", joined(library, ompp_env_foreign("OMP_TOOL_LIBRARIES")));
}

int main(int argc, char **argv)
{
    int first = read_options(argc, argv);
    char path[PATH_MAX];

    if (first >= argc) {
        fprintf(stderr, "usage: ompp [options] -- program [arguments]\n");
        return WRONG_USAGE;
    }
    if (!find_program(argv[first], path)) {
        fprintf(stderr, "ompp: %s: not found\n", argv[first]);
        return NOT_FOUND;
    }
    advise(argv[first]);
    check_program(argv[first], path);
    set_up(path);
    if (only_print) return 0;
    execv(path, argv + first);
    fprintf(stderr, "ompp: %s: %s\n", argv[first], strerror(errno));
    return errno == ENOENT ? NOT_FOUND : CANNOT_RUN;
}
