#include "tools/common/ompp-program.h"

#include "base/ompp_env.h"
#include "base/ompp_path.h"
#include "image/ompp_known.h"
#include "image/ompp_needed.h"
#include "tools/common/ompp-binary.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { CANNOT_RUN = 126, NOT_FOUND = 127, MAX_FIRST_LINE = 256 };

/* ---- What it needs ----------------------------------------------------------------------------------------------- */

static bool starts(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

static void see(const char *soname, void *data)
{
    ompp_needs_t *needs = data;
    ompp_openmp_t openmp = starts(soname, "libgomp.so") ? OMPP_OPENMP_GOMP
                           : starts(soname, "libomp.so") || starts(soname, "libomp-") || starts(soname, "libiomp5.so")
                               ? OMPP_OPENMP_LLVM
                               : OMPP_OPENMP_NONE;

    /* libmpi.so.40, libmpich.so.12, libmpi.so.12 (Intel), not libmpi_cxx or libmpi_mpifh */
    if (!*needs->mpi && *ompp_known_mpi(soname)) snprintf(needs->mpi, sizeof needs->mpi, "%s", soname);
    if (!*needs->sanitizer &&
        (starts(soname, "libasan.so") || starts(soname, "libtsan.so") || starts(soname, "liblsan.so") ||
         starts(soname, "libhwasan.so") || starts(soname, "libclang_rt.")))
        snprintf(needs->sanitizer, sizeof needs->sanitizer, "%s", soname);
    needs->pmi |= starts(soname, "libpmi.so") || starts(soname, "libpmi2.so");
    needs->pmix |= starts(soname, "libpmix.so");
    needs->mpi_f77 |=
        starts(soname, "libmpi_mpifh.so") || starts(soname, "libmpichfort.so") || starts(soname, "libmpifort.so");
    needs->mpi_f08 |= starts(soname, "libmpi_usempif08.so");
    needs->mpi_f90 |= starts(soname, "libmpi_usempi_") || starts(soname, "libmpi_usempi.so");
    if (openmp != OMPP_OPENMP_NONE && needs->openmp != OMPP_OPENMP_NONE && needs->openmp != openmp) needs->both = true;
    if (needs->openmp == OMPP_OPENMP_NONE) needs->openmp = openmp;
}

void ompp_program_needs(const char *path, ompp_needs_t *needs)
{
    *needs = (ompp_needs_t){.openmp = OMPP_OPENMP_NONE};
    ompp_needed_names(path, see, needs);
}

bool ompp_program_mpi_library(const char *dir, const char *soname, const char *family, char *path)
{
    static const char *const families[] = {"openmpi", "mpich", "other"};
    ompp_needs_t own;

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (snprintf(path, PATH_MAX, "%s/libompp-mpi-%s.so", dir, families[i]) >= PATH_MAX || access(path, R_OK) != 0)
            continue;
        if (family && strcmp(families[i], family) == 0) return true;
        if (!soname) continue;
        ompp_program_needs(path, &own); /* a library of ours belongs to one MPI: its own soname must be the program's */
        if (strcmp(own.mpi, soname) == 0) return true;
    }
    return false;
}

bool ompp_program_find_libomp(char *path)
{
    static const char name[] = "libomp.so.5";
    glob_t found;

    if (ompp_needed_find(name, NULL, path)) return true;
    if (glob("/usr/lib/llvm-*/lib/libomp.so.5", 0, NULL, &found) != 0) return false;
    snprintf(path, PATH_MAX, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return true;
}

/* ---- Which file it is -------------------------------------------------------------------------------------------- */

/* As execvp finds it: without PATH in the places of the system's commands; an empty place is where we are. */
static bool search_path(const char *name, char path[PATH_MAX])
{
    const char *list = ompp_env_foreign("PATH");
    bool more = true;
    struct stat st;

    if (strchr(name, '/')) {
        snprintf(path, PATH_MAX, "%s", name);
        return access(path, F_OK) == 0;
    }
    for (list = list ? list : "/bin:/usr/bin"; more; list++) {
        size_t length = strcspn(list, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", (int)(length ? length : 1), length ? list : ".", name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0) return true;
        list += length;
        more = *list == ':';
    }
    return false;
}

__attribute__((format(printf, 2, 3))) static void cannot(ompp_program_t *program, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(program->why, sizeof program->why, format, args);
    va_end(args);
}

/* The system ignores preloading in programs that run with rights of others. */
static bool has_other_rights(const char *path, const struct stat *st)
{
    if (st->st_mode & S_ISUID && st->st_uid != getuid()) return true;
    if (st->st_mode & S_ISGID && st->st_gid != getgid()) return true;
    return getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

/* Programs that start others: measured is what they start, and only when ompp stands behind them. */
typedef enum { RANKS, COMMAND, CONTAINER } starter_kind_t;

static const struct {
    const char *name;
    starter_kind_t kind;
} starters[] = {
    {"mpirun", RANKS},         {"mpiexec", RANKS},       {"orterun", RANKS},
    {"prun", RANKS},           {"prterun", RANKS},       {"srun", RANKS},
    {"aprun", RANKS},          {"jsrun", RANKS},         {"ibrun", RANKS},
    {"flux", RANKS},           {"env", COMMAND},         {"nice", COMMAND},
    {"ionice", COMMAND},       {"taskset", COMMAND},     {"numactl", COMMAND},
    {"chrt", COMMAND},         {"timeout", COMMAND},     {"stdbuf", COMMAND},
    {"setarch", COMMAND},      {"time", COMMAND},        {"nohup", COMMAND},
    {"xargs", COMMAND},        {"gdb", COMMAND},         {"valgrind", COMMAND},
    {"strace", COMMAND},       {"perf", COMMAND},        {"make", COMMAND},
    {"dmtcp_launch", COMMAND}, {"apptainer", CONTAINER}, {"singularity", CONTAINER},
    {"docker", CONTAINER},     {"podman", CONTAINER},    {"ch-run", CONTAINER},
    {"shifter", CONTAINER},    {"sarus", CONTAINER},     {"enroot", CONTAINER},
    {"udocker", CONTAINER},    {"bwrap", CONTAINER},     {"chroot", CONTAINER},
};

/* Row of the table, or its end. */
static size_t find_starter(const char *base)
{
    size_t i = 0;

    for (; i < sizeof starters / sizeof starters[0]; i++) {
        size_t n = strlen(starters[i].name);
        if (strncmp(base, starters[i].name, n) == 0 && (!base[n] || base[n] == '.')) break;
    }
    return i;
}

bool ompp_program_starts_others(const char *name)
{
    return find_starter(ompp_path_last(name)) < sizeof starters / sizeof starters[0];
}

bool ompp_program_starts_ranks(const char *name)
{
    return ompp_program_starts_others(name) && starters[find_starter(ompp_path_last(name))].kind == RANKS;
}

/* children: those of the program are measured, too; but for those in a container, where our libraries may be missing.
 */
static void check_starter(ompp_program_t *program, const char *name, bool children)
{
    const char *base = ompp_path_last(name);
    size_t i = find_starter(base);

    if (i == sizeof starters / sizeof starters[0] || (children && starters[i].kind != CONTAINER)) return;
    cannot(program, "starts what is to be measured%s",
           starters[i].kind == CONTAINER ? " in a container, which needs ompp's directory in it" : "");
    snprintf(program->remedy, sizeof program->remedy, "put ompp behind %.60s, as %.60s%s ompp -- ./app", base, base,
             starters[i].kind == RANKS ? " -n 2" : " ...");
}

/* The words of the first line of a script, without #!: interpreter, and the rest as one word, as the system takes
 * it. */
static bool read_first_line(const char *path, char line[MAX_FIRST_LINE], char **interpreter, char **argument)
{
    FILE *file = fopen(path, "r");
    bool read = file && fgets(line, MAX_FIRST_LINE, file) && line[0] == '#' && line[1] == '!';
    char *end;

    if (file) fclose(file);
    if (!read) return false;
    line[strcspn(line, "\n")] = '\0';
    for (end = line + strlen(line); end > line + 2 && strchr(" \t\r", end[-1]); end--) end[-1] = '\0';
    *interpreter = line + 2 + strspn(line + 2, " \t");
    *argument = *interpreter + strcspn(*interpreter, " \t");
    if (**argument) *(*argument)++ = '\0';
    *argument += strspn(*argument, " \t");
    return **interpreter != '\0';
}

static void look_at(ompp_program_t *program, const char *name, bool children, unsigned depth);

/*
 * A script is what its interpreter does with it. "#!/usr/bin/env python3" is followed to python3, as env would.
 */
static void follow_script(ompp_program_t *program, bool children, unsigned depth)
{
    char *line = malloc(MAX_FIRST_LINE), *interpreter, *argument, *script = strdup(program->path);
    size_t n = 0, k = 0;
    char **argv;

    if (!line || !script || depth > 4 || !read_first_line(program->path, line, &interpreter, &argument)) {
        cannot(program, "is a script that names no interpreter");
        return;
    }
    if (strcmp(ompp_path_last(interpreter), "env") == 0 && *argument && *argument != '-' &&
        !strpbrk(argument, "= \t")) {
        interpreter = argument;
        argument += strlen(argument);
    }
    while (program->argv[n]) n++;
    argv = calloc(n + 3, sizeof *argv);
    if (!argv) abort();
    argv[k++] = interpreter;
    if (*argument) argv[k++] = argument;
    argv[k++] = script;
    for (size_t i = 1; i < n; i++) argv[k++] = program->argv[i];
    program->argv = argv;
    if (!search_path(interpreter, program->path)) {
        cannot(program, "needs %s, which is not found", interpreter);
        program->status = NOT_FOUND;
        return;
    }
    look_at(program, interpreter, children, depth + 1);
}

static void look_at(ompp_program_t *program, const char *name, bool children, unsigned depth)
{
    struct stat st;

    program->status = CANNOT_RUN;
    if (stat(program->path, &st) != 0) {
        cannot(program, "%s", strerror(errno));
        return;
    }
    if (!S_ISREG(st.st_mode) || access(program->path, X_OK) != 0) {
        cannot(program, S_ISDIR(st.st_mode) ? "a directory" : "not executable");
        return;
    }
    program->status = 0;
    if (has_other_rights(program->path, &st)) {
        cannot(program, "runs with the rights of another user (setuid, setgid or capabilities), where the system "
                        "ignores preloading");
        return;
    }
    const size_t starter = find_starter(ompp_path_last(name));
    /* also where it is a script, or statically linked, as tools for containers often are */
    if (starter < sizeof starters / sizeof starters[0] && strcmp(starters[starter].name, ompp_path_last(name)) == 0)
        check_starter(program, name, children);
    if (*program->why) return;
    switch (ompp_elf_kind(program->path)) {
    case OMPP_ELF_DYNAMIC:
        program->shell = ompp_known_shell(program->path);
        check_starter(program, name, children);
        break;
    case OMPP_ELF_STATIC:
        cannot(program, "is statically linked");
        snprintf(program->remedy, sizeof program->remedy, "build it with kinst-ompp and without -static");
        break;
    case OMPP_ELF_OTHER_LIBC: cannot(program, "has another C library than ompp is built for (glibc)"); break;
    case OMPP_ELF_SCRIPT: follow_script(program, children, depth); break;
    case OMPP_ELF_FOREIGN: cannot(program, "is not a program of this machine and word size"); break;
    case OMPP_ELF_UNREADABLE: cannot(program, "cannot be read, so it is not known what it needs"); break;
    }
}

void ompp_program_take(const char *path, char **argv, bool children, ompp_program_t *program)
{
    *program = (ompp_program_t){.argv = argv};
    snprintf(program->path, sizeof program->path, "%s", path);
    look_at(program, path, children, 0);
}

void ompp_program_find(char **argv, bool children, ompp_program_t *program)
{
    *program = (ompp_program_t){.argv = argv};
    if (search_path(argv[0], program->path)) {
        look_at(program, argv[0], children, 0);
    } else {
        cannot(program, strchr(argv[0], '/') ? "not found" : "not found in PATH");
        if (!strchr(argv[0], '/') && access(argv[0], X_OK) == 0)
            snprintf(program->remedy, sizeof program->remedy, "write ./%.150s", argv[0]);
        else if (strchr(argv[0], '='))
            snprintf(program->remedy, sizeof program->remedy, "put %.150s in front of ompp", argv[0]);
        else if (!argv[0][strspn(argv[0], "0123456789")])
            snprintf(program->remedy, sizeof program->remedy, "for ranks, write mpirun -n %.20s ompp -- ./app",
                     argv[0]);
        program->status = NOT_FOUND;
    }
}
