#include "tools/kinst/kinst-ompp.h"

#include "base/ompp_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

/* What an option means to the wrapper. Every option it does not know is passed on and changes nothing. */
typedef enum {
    NOTHING,
    STEP_NONE, /* no object file comes of it, or the wrapper stays out: the command runs as it is */
    STEP_COMPILE,
    STEP_ASSEMBLE,
    OPENMP,
    OPENMP_BY_PREPROCESSOR,
    FOR_PREPROCESSOR,
    NO_OPENMP,
    STATIC,
    LANGUAGE,
    OUTPUT,
    DEPENDENCY, /* writes a dependency file beside the object */
    DEBUG,
    MPI_LIBRARY,
} meaning_t;

/* ARGUMENT: the next word belongs to it; PREFIX: only the beginning is compared */
enum { ALONE, ARGUMENT = 1, PREFIX = 2 };

static const struct {
    const char *text;
    int form;
    meaning_t meaning;
} options[] = {
    {"-c", ALONE, STEP_COMPILE},
    {"-S", ALONE, STEP_ASSEMBLE},
    {"-E", ALONE, STEP_NONE},
    {"-M", ALONE, STEP_NONE},
    {"-MM", ALONE, STEP_NONE},
    {"-fsyntax-only", ALONE, STEP_NONE},
    {"--precompile", ALONE, STEP_NONE}, /* clang's: a module without its object */
    {"-emit-ast", ALONE, STEP_NONE},
    {"--analyze", ALONE, STEP_NONE},
    {"-###", ALONE, STEP_NONE},
    {"--version", ALONE, STEP_NONE},
    {"--help", PREFIX, STEP_NONE},
    {"-print-", PREFIX, STEP_NONE},
    {"--print-", PREFIX, STEP_NONE},
    {"-show", PREFIX, STEP_NONE}, /* MPI wrappers */
    {"-compile_info", ALONE, STEP_NONE},
    {"-link_info", ALONE, STEP_NONE},
    {"--showme", PREFIX, STEP_NONE},
    {"-r", ALONE, STEP_NONE},
    {"-emit-llvm", ALONE, NOTHING},
    {"-fopenmp-simd", ALONE, NOTHING},
    {"-fopenmp-", PREFIX, NOTHING}, /* -fopenmp-targets= and the like come with -fopenmp */
    {"-fopenmp", PREFIX, OPENMP},
    {"-qopenmp", ALONE, OPENMP},
    {"-fiopenmp", ALONE, OPENMP},
    {"-fno-openmp", ALONE, NO_OPENMP},
    {"-static", ALONE, STATIC},
    {"-static-pie", ALONE, STATIC},
    {"--static", ALONE, STATIC},
    {"-x", ARGUMENT, LANGUAGE},
    {"-x", PREFIX, LANGUAGE},
    {"-o", ARGUMENT, OUTPUT},
    {"-o", PREFIX, OUTPUT},
    {"-MD", ALONE, DEPENDENCY},
    {"-MMD", ALONE, DEPENDENCY},
    {"-MP", ALONE, DEPENDENCY},
    {"-MG", ALONE, DEPENDENCY},
    {"-MF", ARGUMENT, DEPENDENCY},
    {"-MT", ARGUMENT, DEPENDENCY},
    {"-MQ", ARGUMENT, DEPENDENCY},
    {"-MJ", ARGUMENT, NOTHING},
    {"-MF", PREFIX, DEPENDENCY},
    {"-MT", PREFIX, DEPENDENCY},
    {"-MQ", PREFIX, DEPENDENCY},
    {"-Wp,-M", PREFIX, DEPENDENCY},
    {"-Wp,-fopenmp", ALONE, OPENMP_BY_PREPROCESSOR},
    {"-g0", ALONE, NOTHING},
    {"-g", PREFIX, DEBUG},
    {"-lmpi", PREFIX, MPI_LIBRARY},
    {"-l", ARGUMENT, NOTHING},
    {"-I", ARGUMENT, NOTHING},
    {"-D", ARGUMENT, NOTHING},
    {"-U", ARGUMENT, NOTHING},
    {"-L", ARGUMENT, NOTHING},
    {"-B", ARGUMENT, NOTHING},
    {"-T", ARGUMENT, NOTHING},
    {"-u", ARGUMENT, NOTHING},
    {"-e", ARGUMENT, NOTHING},
    {"-z", ARGUMENT, NOTHING},
    {"-h", ARGUMENT, NOTHING},
    {"-A", ARGUMENT, NOTHING},
    {"-G", ARGUMENT, NOTHING},
    {"-F", ARGUMENT, NOTHING},
    {"-include", ARGUMENT, NOTHING},
    {"-imacros", ARGUMENT, NOTHING},
    {"-iquote", ARGUMENT, NOTHING},
    {"-isystem", ARGUMENT, NOTHING},
    {"-idirafter", ARGUMENT, NOTHING},
    {"-iprefix", ARGUMENT, NOTHING},
    {"-iwithprefix", ARGUMENT, NOTHING},
    {"-iwithprefixbefore", ARGUMENT, NOTHING},
    {"-isysroot", ARGUMENT, NOTHING},
    {"-imultilib", ARGUMENT, NOTHING},
    {"-include-pch", ARGUMENT, NOTHING},
    {"-Xlinker", ARGUMENT, NOTHING},
    {"-Xassembler", ARGUMENT, NOTHING},
    {"-Xpreprocessor", ARGUMENT, FOR_PREPROCESSOR},
    {"-Xclang", ARGUMENT, NOTHING},
    {"-Xopenmp-target", ARGUMENT, NOTHING},
    {"-mllvm", ARGUMENT, NOTHING},
    {"-arch", ARGUMENT, NOTHING},
    {"-target", ARGUMENT, NOTHING},
    {"--target", ARGUMENT, NOTHING},
    {"--param", ARGUMENT, NOTHING},
    {"--sysroot", ARGUMENT, NOTHING},
    {"-aux-info", ARGUMENT, NOTHING},
    {"-dumpbase", ARGUMENT, NOTHING},
    {"-dumpbase-ext", ARGUMENT, NOTHING},
    {"-dumpdir", ARGUMENT, NOTHING},
    {"-wrapper", ARGUMENT, NOTHING},
    {"-specs", ARGUMENT, NOTHING},
    {"-rpath", ARGUMENT, NOTHING},
    {"-J", ARGUMENT, NOTHING},
    {"-framework", ARGUMENT, NOTHING},
};

static const struct {
    const char *suffix;
    kinst_lang_t lang;
} suffixes[] = {
    {"c", KINST_LANG_C},         {"C", KINST_LANG_CXX},       {"cc", KINST_LANG_CXX},       {"CC", KINST_LANG_CXX},
    {"cp", KINST_LANG_CXX},      {"cpp", KINST_LANG_CXX},     {"CPP", KINST_LANG_CXX},      {"cxx", KINST_LANG_CXX},
    {"CXX", KINST_LANG_CXX},     {"c++", KINST_LANG_CXX},     {"f", KINST_LANG_FORTRAN},    {"F", KINST_LANG_FORTRAN},
    {"for", KINST_LANG_FORTRAN}, {"FOR", KINST_LANG_FORTRAN}, {"f90", KINST_LANG_FORTRAN},  {"F90", KINST_LANG_FORTRAN},
    {"f95", KINST_LANG_FORTRAN}, {"F95", KINST_LANG_FORTRAN}, {"f03", KINST_LANG_FORTRAN},  {"F03", KINST_LANG_FORTRAN},
    {"f08", KINST_LANG_FORTRAN}, {"F08", KINST_LANG_FORTRAN}, {"ftn", KINST_LANG_FORTRAN},  {"FTN", KINST_LANG_FORTRAN},
    {"fpp", KINST_LANG_FORTRAN}, {"FPP", KINST_LANG_FORTRAN}, {"i", KINST_LANG_OTHER},      {"ii", KINST_LANG_OTHER},
    {"s", KINST_LANG_ASSEMBLER}, {"S", KINST_LANG_ASSEMBLER}, {"sx", KINST_LANG_ASSEMBLER}, {"m", KINST_LANG_OTHER},
    {"cu", KINST_LANG_OTHER},    {"cppm", KINST_LANG_OTHER},  {"ccm", KINST_LANG_OTHER},    {"cxxm", KINST_LANG_OTHER},
    {"c++m", KINST_LANG_OTHER},  {"ixx", KINST_LANG_OTHER},   {"pcm", KINST_LANG_OTHER},
};

static const char *const headers[] = {"h", "H", "hh", "hp", "hpp", "HPP", "hxx", "h++", "tcc"};

/* A source by its suffix: false for objects and libraries. */
static bool is_source(const char *path, kinst_lang_t *lang)
{
    const char *dot = strrchr(ompp_path_last(path), '.');

    for (size_t i = 0; dot && i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcmp(dot + 1, suffixes[i].suffix) == 0) {
            *lang = suffixes[i].lang;
            return true;
        }
    return false;
}

static const char *language; /* of -x; NULL = by suffix */

/* What becomes a precompiled header: no object. */
static bool is_header(const char *path)
{
    const char *dot = strrchr(ompp_path_last(path), '.');

    if (language) return strstr(language, "-header") != NULL;
    for (size_t i = 0; dot && i < sizeof headers / sizeof headers[0]; i++)
        if (strcmp(dot + 1, headers[i]) == 0) return true;
    return false;
}

static void set_language(const char *name)
{
    if (*name < 'a' || *name > 'z') return; /* -xHost and the like of other compilers */
    language = strcmp(name, "none") == 0 ? NULL : name;
}

static bool by_language(kinst_lang_t *lang)
{
    if (!language) return false;
    *lang = strcmp(language, "c") == 0               ? KINST_LANG_C
            : strcmp(language, "c++") == 0           ? KINST_LANG_CXX
            : strncmp(language, "f", 1) == 0         ? KINST_LANG_FORTRAN
            : strncmp(language, "assembler", 9) == 0 ? KINST_LANG_ASSEMBLER
                                                     : KINST_LANG_OTHER;
    return true;
}

static void apply(kinst_command_t *c, meaning_t meaning, const char *argument)
{
    switch (meaning) {
    case STEP_NONE: c->step = KINST_STEP_NONE; break;
    case STEP_COMPILE:
        if (c->step != KINST_STEP_NONE) c->step = KINST_STEP_COMPILE;
        break;
    case STEP_ASSEMBLE:
        if (c->step != KINST_STEP_NONE) c->step = KINST_STEP_ASSEMBLE;
        break;
    case OPENMP: c->openmp = true; break;
    case FOR_PREPROCESSOR:
        if (strcmp(argument, "-fopenmp") != 0) break;
        /* fall through */
    case OPENMP_BY_PREPROCESSOR: c->openmp = c->openmp_by_preprocessor = true; break;
    case NO_OPENMP: c->openmp = false; break;
    case STATIC: c->static_link = true; break;
    case LANGUAGE: set_language(argument); break;
    case DEPENDENCY: c->dependencies = true; break;
    case DEBUG: c->debug = true; break;
    case MPI_LIBRARY: c->mpi = true; break;
    case OUTPUT:
    case NOTHING: break;
    }
}

/* /usr/lib/libmpi.so, libmpi_mpifh.so.40, libmpich.a: build systems name libraries by their paths. */
static void know_library(kinst_command_t *c, const char *path)
{
    const char *name = ompp_path_last(path), *rest = name + 6;

    if (strncmp(name, "libmpi", 6) != 0 || !*rest || !strchr("._+cf", *rest) ||
        !(strstr(rest, ".so") || strstr(rest, ".a")))
        return;
    const char *real = realpath(path, NULL);
    c->mpi = true;
    if (!real) return;
    c->mpi_family = strstr(real, "mpich") ? "mpich" : strstr(real, "openmpi") ? "openmpi" : c->mpi_family;
}

static void read_input(kinst_command_t *c, size_t word)
{
    const char *path = c->words.v[word];
    kinst_source_t source = {.path = path, .word = word, .level = KINST_TEXT_ORIGINAL, .x = language};

    c->kinds[word] = KINST_WORD_INPUT;
    c->ninputs++;
    know_library(c, path);
    if (is_header(path)) c->nheaders++;
    if (strcmp(path, "-") == 0 || is_header(path) || (!by_language(&source.lang) && !is_source(path, &source.lang)))
        return;
    c->kinds[word] = KINST_WORD_SOURCE;
    kinst_source_t *to = kinst_push(&c->sources, &c->nsources, sizeof *to);
    *to = source;
}

/* One option and, when it has one, its argument. \return number of words read. */
static size_t read_option(kinst_command_t *c, size_t i)
{
    const char *word = c->words.v[i];

    for (size_t k = 0; k < sizeof options / sizeof options[0]; k++) {
        size_t length = strlen(options[k].text);
        bool whole = strcmp(word, options[k].text) == 0;
        if (!whole && !(options[k].form == PREFIX && strncmp(word, options[k].text, length) == 0)) continue;
        bool two = options[k].form == ARGUMENT && i + 1 < c->words.n;
        if (options[k].form == ARGUMENT && !two) c->step = KINST_STEP_NONE; /* an error, for the compiler to say */
        if (options[k].meaning == DEPENDENCY) c->kinds[i] = c->kinds[i + two] = KINST_WORD_DEPENDENCY;
        if (options[k].meaning == OUTPUT) c->kinds[i] = c->kinds[i + two] = KINST_WORD_OUTPUT;
        apply(c, options[k].meaning, two ? c->words.v[i + 1] : word + length);
        return two ? 2 : 1;
    }
    return 1;
}

/* First line of a command's output, for questions to compilers. */
static char *answer(const char *compiler, const char *option)
{
    const char *dir = kinst_private();
    char *path = kinst_text("%s/answer", dir ? dir : "/nonexistent"), *text;
    char *const argv[] = {(char *)compiler, (char *)option, NULL};
    bool verbose = kinst_own.verbose, dry = kinst_own.dry_run;
    size_t size;

    kinst_own.verbose = kinst_own.dry_run = false;
    int status = dir ? kinst_run(argv, &(kinst_run_t){.out = path, .err = "/dev/null"}) : -1;
    kinst_own.verbose = verbose;
    kinst_own.dry_run = dry;
    text = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? kinst_file_read(path, &size) : NULL;
    return text ? text : "";
}

static bool is_clang_name(const char *name)
{
    return strstr(name, "clang") || strstr(name, "icx") || strstr(name, "icpx") || strstr(name, "flang") ||
           strstr(name, "ifx");
}

static void know_compiler(kinst_command_t *c, const char *compiler)
{
    const char *name = ompp_path_last(compiler);

    c->cxx_driver = strstr(name, "++") || strstr(name, "cxx") || strstr(name, "CC");
    if (strncmp(name, "mp", 2) == 0) {
        char *show = answer(compiler, "-show");
        c->mpi = true;
        c->mpi_family = strstr(show, "mpich") ? "mpich" : strstr(show, "openmpi") ? "openmpi" : "";
        show[strcspn(show, " \n")] = '\0';
        name = compiler = *show ? show : "gcc";
    }
    if (is_clang_name(ompp_path_last(name))) c->clang = true;
    else if (!strstr(name, "gcc") && !strstr(name, "g++") && !strstr(name, "gfortran"))
        c->clang = strstr(answer(compiler, "--version"), "clang") != NULL;
}

static bool is_launcher(const char *word)
{
    static const char *const names[] = {"ccache", "sccache", "distcc", "icecc"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(ompp_path_last(word), names[i]) == 0) return true;
    return false;
}

/* ---- Words that stand for several -------------------------------------------------------------------------------- */

enum { MAX_RESPONSE = 1 << 20, MAX_RESPONSE_DEPTH = 10 };

static void add_word(kinst_list_t *list, const char *word, unsigned depth);

/* The words of a response file, written as GCC reads them: quotes of both kinds, and a backslash in front of any
 * character. */
static void add_response(kinst_list_t *list, const char *p, unsigned depth)
{
    while (*(p += strspn(p, " \t\r\n\v\f"))) {
        char *word = kinst_text("%s", p), *to = word, quote = '\0';
        for (; *p && (quote || !strchr(" \t\r\n\v\f", *p)); p++) {
            if (*p == '\\' && p[1]) *to++ = *++p;
            else if (quote ? *p == quote : (*p == '"' || *p == '\'')) quote = quote ? '\0' : *p;
            else *to++ = *p;
        }
        *to = '\0';
        add_word(list, word, depth);
    }
}

/* Of -Wp,a,b,c each part gets a word, options for dependency files with their argument. */
static void add_preprocessor_words(kinst_list_t *list, const char *word)
{
    static const char *const two[] = {"-MD", "-MMD", "-MF",      "-MT",      "-MQ",    "-D",
                                      "-U",  "-I",   "-include", "-isystem", "-iquote"};
    char *text = kinst_text("%s", word + 4), *part = strtok(text, ",");

    for (; part; part = strtok(NULL, ",")) {
        char *argument = NULL;
        for (size_t i = 0; i < sizeof two / sizeof two[0] && !argument; i++)
            if (strcmp(part, two[i]) == 0) argument = strtok(NULL, ",");
        kinst_addf(list, argument ? "-Wp,%s,%s" : "-Wp,%s", part, argument);
    }
}

static void add_word(kinst_list_t *list, const char *word, unsigned depth)
{
    size_t size = 0;
    char *text = *word == '@' && depth < MAX_RESPONSE_DEPTH ? kinst_file_read(word + 1, &size) : NULL;

    if (text && size < MAX_RESPONSE) add_response(list, text, depth + 1);
    else if (strncmp(word, "-Wp,", 4) == 0 && word[4]) add_preprocessor_words(list, word);
    else kinst_add(list, word);
}

/* -Xpreprocessor -MD -Xpreprocessor file */
static void find_dependencies(kinst_command_t *c)
{
    static const char option[] = "-Xpreprocessor";

    for (size_t i = c->ncompiler; i + 1 < c->words.n; i++) {
        if (strcmp(c->words.v[i], option) != 0 || strncmp(c->words.v[i + 1], "-M", 2) != 0) continue;
        bool two = strcmp(c->words.v[i + 1], "-MP") != 0 && strcmp(c->words.v[i + 1], "-MG") != 0 &&
                   i + 3 < c->words.n && strcmp(c->words.v[i + 2], option) == 0;
        for (size_t k = 0; k < (two ? 4 : 2); k++) c->kinds[i + k] = KINST_WORD_DEPENDENCY;
        c->dependencies = true;
    }
}

/* By its name: musl-gcc, x86_64-linux-musl-gcc, arm-linux-musleabi-clang. ompp is built for glibc. */
static bool is_of_other_libc(const char *compiler) { return strstr(ompp_path_last(compiler), "musl") != NULL; }

void kinst_command_read(kinst_command_t *c, char *const words[])
{
    size_t i;

    memset(c, 0, sizeof *c);
    c->mpi_family = "";
    kinst_add(&c->words, *words);
    for (words++; words[-1] && *words; words++) add_word(&c->words, *words, 0);
    c->kinds = calloc(c->words.n + 1, sizeof *c->kinds);
    if (!c->kinds) abort();
    c->ncompiler = c->words.n > 1 && is_launcher(c->words.v[0]) ? 2 : 1;
    for (i = c->ncompiler; i < c->words.n;) {
        const char *word = c->words.v[i];
        if (*word == '-' && word[1]) {
            i += read_option(c, i);
        } else {
            read_input(c, i++);
        }
    }
    find_dependencies(c);
    if (c->ninputs == c->nheaders) c->step = KINST_STEP_NONE;
    if (c->step != KINST_STEP_NONE && is_of_other_libc(c->words.v[c->ncompiler - 1])) {
        if (c->step == KINST_STEP_LINK)
            fprintf(stderr, "kinst-ompp: %s links another C library than ompp is built for (glibc): not measured\n",
                    ompp_path_last(c->words.v[c->ncompiler - 1]));
        c->step = KINST_STEP_NONE;
    }
    if (c->step != KINST_STEP_NONE) know_compiler(c, c->words.v[c->ncompiler - 1]);
    for (i = 0; i < c->nsources; i++) /* g++ takes .c for C++ */
        if (c->cxx_driver && !c->sources[i].x && c->sources[i].lang == KINST_LANG_C)
            c->sources[i].lang = KINST_LANG_CXX;
}

bool kinst_keeps_temporaries(const char *word)
{
    return strcmp(word, "-save-temps") == 0 || strncmp(word, "-save-temps=", 12) == 0 ||
           strcmp(word, "--save-temps") == 0;
}
