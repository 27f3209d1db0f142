/**
 * \file
 * kinst-ompp: the wrapper's own options. See kinst-ompp.h for the parts, docs/kinst-ompp.md for users.
 */
#include "tools/kinst/kinst-ompp.h"

#include "base/ompp_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void help(const char *name)
{
    printf("usage: %s <compile-or-link-command>\n"
           "       %s [options] <compile-or-link-command>\n"
           "       %s [options] <options for opari2> -- <compile-or-link-command>\n"
           "Compiles and links a program so that it measures itself.\n\n"
           "  --with=opari|ompt      source of OpenMP events (default: opari for gcc, ompt for clang)\n"
           "  --opari=PROGRAM        the OPARI2 to use\n"
           "  --opari-timeout=SEC    give up on a source after so many seconds (default 10)\n"
           "  --disable=CONSTRUCT,.. leave out what OPARI2 can: atomic, critical, flush, locks, master, ordered, "
           "single, task\n"
           "  --memory               hooks at loads and stores, for counts per data structure (docs/data.md)\n"
           "  -nosrc                 accepted and ignored\n"
           "  -@, --verbose          show commands, and say what could not be instrumented\n"
           "  --dry-run              show the commands, run none\n"
           "  --version, --help\n\n"
           "Examples\n"
           "  %s mpicc -g -O2 -fopenmp app.c -o app\n"
           "  make CC=\"%s mpicc\"\n"
           "  cmake -S . -B build -DCMAKE_C_COMPILER=kinst-ompp-mpicc\n",
           name, name, name, name, name);
}

/* What OPARI2 can leave out, and what the report calls it; NULL: several. */
static const struct {
    const char *word, *name;
} left_out[] = {{"atomic", "ATOMIC"}, {"critical", "CRITICAL"}, {"flush", "FLUSH"},   {"locks", "LOCK"},
                {"master", "MASTER"}, {"ordered", "ORDERED"},   {"single", "SINGLE"}, {"sync", NULL},
                {"task", "TASK"},     {"taskwait", "TASKWAIT"}};

static void note_left_out(const char *name)
{
    for (size_t i = 0; i < kinst_own.left_out.n; i += 2)
        if (strcmp(kinst_own.left_out.v[i], name) == 0) return;
    kinst_add(&kinst_own.left_out, name);
    kinst_add(&kinst_own.left_out, "left out at build: kinst-ompp --disable");
}

/* Takes an option for OPARI2; that of --disable=omp:LIST is noted for the report. \return false when a construct of the
 * list is none that can be left out. */
static bool take_opari_option(const char *option)
{
    static const char ours[] = "--disable=omp:";
    const char *list = option + strlen(ours);
    bool known = true;

    kinst_add(&kinst_own.opari_options, option);
    if (strncmp(option, ours, strlen(ours)) != 0) return true;
    for (size_t length; *list; list += length + (list[length] != '\0')) {
        bool found = false;
        length = strcspn(list, ",");
        for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++) {
            if (strlen(left_out[i].word) != length || memcmp(left_out[i].word, list, length) != 0) continue;
            found = true;
            if (left_out[i].name) note_left_out(left_out[i].name);
            for (size_t k = 0; !left_out[i].name && k < i; k++) note_left_out(left_out[k].name);
        }
        known &= found;
    }
    return known;
}

static void add_opari_option(const char *word, char *const rest[], int *used)
{
    bool disable = strcmp(word, "-disable") == 0 && rest[0];

    *used = disable ? 1 : 0;
    if (!disable) take_opari_option(word);
    else if (strcmp(rest[0], "omp") == 0) take_opari_option("--disable=omp");
    else take_opari_option(kinst_text("--disable=omp:%s", rest[0]));
}

/* A path is that of a program; a name is looked up when it is needed. */
static const char *opari_named(const char *program, const char *name)
{
    const char *path = strchr(program, '/') ? realpath(program, NULL) : program;

    if (path && *path && (path == program || access(path, X_OK) == 0)) return path;
    fprintf(stderr, "%s: --opari=%s: there is no such program\n", name, program);
    exit(2);
}

_Noreturn static void refuse_value(const char *word, const char *choices, const char *name)
{
    fprintf(stderr, "%s: %s: the value is to be %s\n", name, word, choices);
    exit(2);
}

static bool disables(const char *word, const char *name)
{
    if (strncmp(word, "--disable=", 10) != 0 || strncmp(word + 10, "omp", 3) == 0 || strpbrk(word + 10, ":+"))
        return false;
    if (!take_opari_option(kinst_text("--disable=omp:%s", word + 10)))
        refuse_value(word, "a list of atomic, critical, flush, locks, master, ordered, single, task, taskwait, sync",
                     name);
    return true;
}

/* \return 0 when it is no number. */
static double seconds_of(const char *text)
{
    char *end;
    const double seconds = strtod(text, &end);

    return end != text && !*end && seconds > 0 && seconds <= 1e9 ? seconds : 0;
}

/* \return true when the word is one of the wrapper's own; those that print end the process. */
static bool own_option(const char *word, const char *name)
{
    if (strcmp(word, "--version") == 0 || strcmp(word, "-v") == 0) {
        printf("kinst-ompp (ompp) %s\n", OMPP_VERSION);
        exit(0);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        help(name);
        exit(0);
    }
    if (strcmp(word, "-@") == 0 || strcmp(word, "--verbose") == 0) kinst_own.verbose = true;
    else if (strcmp(word, "--dry-run") == 0) kinst_own.dry_run = true;
    else if (strcmp(word, "-nosrc") == 0) return true; /* of ompP: lines are always the user's */
    else if (strcmp(word, "--memory") == 0) kinst_own.memory = true;
    else if (strcmp(word, "--with=opari") == 0) kinst_own.with = KINST_WITH_OPARI;
    else if (strcmp(word, "--with=ompt") == 0) kinst_own.with = KINST_WITH_OMPT;
    else if (strncmp(word, "--with", 6) == 0 && (word[6] == '=' || !word[6])) refuse_value(word, "opari or ompt", name);
    else if (strncmp(word, "--opari=", 8) == 0) kinst_own.opari = opari_named(word + 8, name);
    else if (disables(word, name)) return true;
    else if (strncmp(word, "--opari-timeout=", 16) == 0 && seconds_of(word + 16) > 0)
        kinst_own.opari_seconds = seconds_of(word + 16);
    else if (strncmp(word, "--opari-timeout", 15) == 0) refuse_value(word, "a number of seconds", name);
    else return false;
    return true;
}

/* Options that no compiler has: they count behind it, too, as in CXX="kinst-ompp-mpicxx --memory". */
static bool is_ours_alone(const char *word)
{
    return strcmp(word, "--memory") == 0 || strcmp(word, "-@") == 0 || strcmp(word, "-nosrc") == 0 ||
           strncmp(word, "--with=", 7) == 0 || strncmp(word, "--disable=", 10) == 0 || strncmp(word, "--opari", 7) == 0;
}

/*
 * Build systems that take a compiler of one word only call the wrapper by a name that has the compiler in it:
 * kinst-ompp-mpicc is "kinst-ompp mpicc". \return that compiler, or NULL.
 */
static const char *compiler_of(const char *name)
{
    static const char stem[] = "kinst-ompp-";

    if (strncmp(name, stem, strlen(stem)) != 0 || strcmp(name, "kinst-ompp-papi") == 0) return NULL;
    return name + strlen(stem);
}

/* Who builds programs by other commands has to give them the compiler. */
static void advise(const char *command)
{
    static const char *const builders[] = {"make", "gmake", "cmake", "ninja", "meson", "scons", "configure"};

    for (size_t i = 0; i < sizeof builders / sizeof builders[0]; i++)
        if (strcmp(command, builders[i]) == 0)
            fprintf(stderr,
                    "kinst-ompp: give %s the compiler, as CC=kinst-ompp-gcc: %s itself is no compiler, and what it "
                    "compiles is not measured\n",
                    command, command);
}

int main(int argc, char **argv)
{
    const char *name = ompp_path_last(argv[0]);
    kinst_list_t words = {0};
    kinst_command_t command;
    const char *foreign = NULL;
    bool separated = false;
    int i, used;

    for (i = 1; i < argc && argv[i][0] == '-' && !compiler_of(name); i++) {
        if (strcmp(argv[i], "--") == 0) {
            separated = true;
            i++;
            break;
        }
        if (own_option(argv[i], name)) continue;
        if (!foreign) foreign = argv[i];
        add_opari_option(argv[i], argv + i + 1, &used);
        i += used;
    }
    if (!kinst_own.opari) kinst_own.opari = "opari2";
    if (!separated && foreign) {
        fprintf(stderr,
                "%s: unknown option %s: those of the compiler stand behind it (%s gcc -O2 ...); %s --help lists all; "
                "options for opari2 end with --\n",
                name, foreign, name, name);
        return 2;
    }
    if (compiler_of(name)) kinst_add(&words, compiler_of(name));
    for (; i < argc; i++)
        if (!is_ours_alone(argv[i]) || !own_option(argv[i], name)) kinst_add(&words, argv[i]);
    if (words.n == 0 && !compiler_of(name)) { /* as ompP's: on stdout, status 1 */
        printf("usage: %s <compile-or-link-command>\n", name);
        return 1;
    }
    advise(ompp_path_last(words.v[0]));
    kinst_command_read(&command, words.v);
    kinst_build(&command);
}
