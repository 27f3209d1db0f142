/**
 * \file
 * --memory: the compiler puts a hook at every load and store, and the program is linked with libompp-memory.so, where
 * the hooks count. The compiler's own sanitizer libraries must stay out: its options are for compiling only. See
 * docs/data.md.
 */
#include "tools/kinst/kinst-ompp-source.h"

#include "tools/common/ompp-place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GNU = 1, CLANG = 2, BOTH = GNU | CLANG, C_LIKE = 1, FORTRAN = 2, ALL = C_LIKE | FORTRAN };

#if defined(__x86_64__)
#define STRATEGY "rep_byte:8192:noalign,libcall:-1:noalign"
#endif

/* What each compiler needs; measured, see docs/data-hooks.md. */
static const struct {
    const char *option;
    int compilers, languages;
} options[] = {
    {"-fsanitize=thread", BOTH, ALL},
    {"-U__SANITIZE_THREAD__", BOTH, C_LIKE}, /* it is not ThreadSanitizer that runs */
    /* else reads of local arrays are left out that a callee is seen not to keep */
    {"-fno-ipa-modref", GNU, ALL},
    {"-fno-builtin-memcpy", GNU, C_LIKE}, /* else they are expanded after the hooks were put in */
    {"-fno-builtin-memmove", GNU, C_LIKE},
    {"-fno-builtin-mempcpy", GNU, C_LIKE},
    {"-fno-builtin-memset", GNU, C_LIKE},
/* which assignments become calls, whatever -march says: src/hooks/ompp_copy.c tells them from the user's by it */
#ifdef STRATEGY
    {"-mmemcpy-strategy=" STRATEGY, GNU, ALL},
    {"-mmemset-strategy=" STRATEGY, GNU, ALL},
#endif
    {"-finline-matmul-limit=100000", GNU, FORTRAN},
    {"-Wno-tsan", GNU, ALL},
    {"-fno-lto", GNU, ALL}, /* else hooks would be put in at the link, where these options are not known */
    /* Accesses of 32 bytes and more, complex numbers among them, get no hook. */
    {"-fno-vectorize", CLANG, ALL},
    {"-fno-slp-vectorize", CLANG, ALL},
    /* ThreadSanitizer's hooks leave out what cannot be a race; those of the coverage do not. */
    {"-mllvm", CLANG, ALL},
    {"-tsan-instrument-memory-accesses=0", CLANG, ALL},
    {"-mllvm", CLANG, ALL}, /* else calls of hooks become invokes, for exceptions that they cannot throw */
    {"-tsan-handle-cxx-exceptions=0", CLANG, ALL},
    {"-fsanitize-coverage=func,trace-pc-guard,trace-loads,trace-stores", CLANG, ALL},
    {"-gdwarf-aranges", CLANG, ALL},
};

static const char *const wrapped[] = {
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "__memcpy_chk",
    "__memmove_chk",
    "__mempcpy_chk",
    "__memset_chk",
    /* What gets memory, which may be named by its line: src/hooks/ompp_alloc.c; the last ones are C++'s new and
     * new[]. */
    "malloc",
    "calloc",
    "aligned_alloc",
    "memalign",
    "posix_memalign",
    "_Znwm",
    "_Znam",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    /* What gives memory back or moves it: src/hooks/ompp_free.c, ompp_mappings.c; the last ones are C++'s delete and
     * delete[]. */
    "free",
    "realloc",
    "reallocarray",
    "munmap",
    "mmap",
    "mmap64",
    "mremap",
    "dlclose",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
};

/* "-fsanitize=undefined,thread": those that bring a library of their own for what the compiler puts in. */
static bool is_clash(const char *word)
{
    static const char *const kinds[] = {"thread",   "address",       "hwaddress", "kernel-address", "kernel-hwaddress",
                                        "memory",   "kernel-memory", "leak",      "dataflow",       "numerical",
                                        "realtime", "type",          "fuzzer",    "fuzzer-no-link"};

    if (strncmp(word, "-fsanitize=", 11) != 0) return false;
    for (const char *p = word + 11; *p; p += *p == ',') {
        size_t length = strcspn(p, ",");
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            if (strlen(kinds[i]) == length && strncmp(p, kinds[i], length) == 0) return true;
        p += length;
    }
    return false;
}

void kinst_memory_check(const kinst_command_t *c)
{
    if (!kinst_own.memory) return;
    for (size_t i = c->ncompiler; i < c->words.n; i++)
        if (is_clash(c->words.v[i])) {
            fprintf(stderr, "kinst-ompp: leave out --memory or %s: both need the compiler's hooks\n", c->words.v[i]);
            kinst_finish(1 << 8);
        }
    if (c->static_link && c->step == KINST_STEP_LINK) {
        fprintf(stderr, "kinst-ompp: leave out --memory or -static: the hooks are in a shared library\n");
        kinst_finish(1 << 8);
    }
}

/* clang says of options for the preprocessor that they are not used where there is none. */
static bool is_preprocessed(const kinst_source_t *source)
{
    static const char *const suffixes[] = {".i", ".ii", ".pcm"};
    const char *dot = strrchr(source->path, '.');

    if (source->x) return strstr(source->x, "cpp-output") != NULL;
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcmp(dot, suffixes[i]) == 0) return true;
    return false;
}

static bool takes_headers;

void kinst_memory_take_headers(void) { takes_headers = true; }

void kinst_memory_compile(kinst_list_t *argv, const kinst_command_t *c, const kinst_source_t *source)
{
    const kinst_lang_t lang = source->lang;
    int language = lang == KINST_LANG_FORTRAN ? FORTRAN : C_LIKE, compiler = c->clang ? CLANG : GNU;

    if (lang == KINST_LANG_ASSEMBLER) return;
    if (!c->debug) kinst_add(argv, "-g");
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const bool preprocessor = strncmp(options[i].option, "-U", 2) == 0;
        if (!(options[i].compilers & compiler) || !(options[i].languages & language)) continue;
        if (!preprocessor || !c->clang || !is_preprocessed(source)) kinst_add(argv, options[i].option);
    }
    if (takes_headers) kinst_add(argv, "-Xclang"), kinst_add(argv, "-fno-validate-pch");
    kinst_inline_prepare(argv, c);
    if (lang != KINST_LANG_FORTRAN) kinst_memory_preprocess(argv, c);
}

void kinst_memory_preprocess(kinst_list_t *argv, const kinst_command_t *c)
{
    if (!kinst_own.memory || c->clang) return;
    kinst_add(argv, "-include");
    kinst_addf(argv, "%s/opari2/memory_builtins.h", ompp_place_find()->pkginclude);
}

void kinst_memory_link(kinst_list_t *argv)
{
    const char *lib = ompp_place_find()->lib;

    kinst_addf(argv, "%s/libompp-memory.so", lib);
    for (size_t i = 0; i < sizeof wrapped / sizeof wrapped[0]; i++) kinst_addf(argv, "-Wl,--wrap=%s", wrapped[i]);
}

/* ---- What clang's hooks change in a source ----------------------------------------------------------------------- */

/* As "-MM" writes them: "target: file file \\\n file"; a blank in a name has a backslash before it. */
static char *next_file(const char **p)
{
    kinst_buffer_t b = {0};

    while (**p == ' ' || **p == '\n' || ((*p)[0] == '\\' && (*p)[1] == '\n')) ++*p;
    for (; **p && **p != ' ' && **p != '\n'; ++*p) {
        if ((*p)[0] == '\\' && (*p)[1] == ' ') ++*p;
        kinst_put(&b, *p, 1);
    }
    return b.text;
}

/* A directive of ours, which clang does not see where it stands in a header: it gets the source alone as the wrapper
 * leaves it. */
static bool has_directive(const char *text)
{
    bool found = false;

    for (const char *hash = text; !found && (hash = strchr(hash, '#')); hash++) {
        const char *before = hash, *p = kinst_skip_blanks(hash + 1);
        while (before > text && (before[-1] == ' ' || before[-1] == '\t')) before--;
        found = (before == text || before[-1] == '\n') && kinst_take(&p, "pragma") &&
                (kinst_take(&p, "omp") || kinst_take(&p, "pomp")) && kinst_take(&p, "inst");
    }
    return found;
}

static void note_file(const char *path, bool is_source, kinst_list_t *notes)
{
    size_t size;
    char *text = kinst_file_read(path, &size);

    if (text && strstr(text, "thread_sanitizer")) {
        kinst_addf(notes, "%s asks __has_feature(thread_sanitizer)", path);
        kinst_add(notes, "with --memory clang says yes, and may compile other code of it than without");
    }
    if (text && !is_source && has_directive(text)) {
        kinst_addf(notes, "pragma inst in %s ignored", path);
        kinst_add(notes, "with clang, directives in headers are not seen: call the functions of <ompp.h> there");
    }
    free(text);
}

/* What would write files of its own. */
static bool is_about_output(const char *word)
{
    return kinst_keeps_temporaries(word) || strcmp(word, "-c") == 0 || strcmp(word, "-S") == 0 ||
           strncmp(word, "-ftime-", 7) == 0;
}

void kinst_memory_note(const kinst_command_t *c, const kinst_source_t *source, kinst_list_t *notes)
{
    kinst_list_t argv = {0};
    char *out = kinst_text("%s/headers", source->dir);
    size_t size;

    if (!kinst_own.memory || !c->clang) return;
    for (size_t i = 0; i < c->ncompiler; i++) kinst_add(&argv, c->words.v[i]);
    for (size_t i = c->ncompiler; i < c->words.n; i++)
        if (c->kinds[i] == KINST_WORD_OPTION && !is_about_output(c->words.v[i])) kinst_add(&argv, c->words.v[i]);
    kinst_add(&argv, "-MM");
    kinst_add(&argv, "-MT");
    kinst_add(&argv, "x");
    if (source->x) kinst_add(&argv, "-x"), kinst_add(&argv, source->x);
    kinst_add(&argv, source->path);
    kinst_run(argv.v, &(kinst_run_t){.out = out, .err = "/dev/null", .always = true});
    char *text = kinst_file_read(out, &size);
    const char *p = text ? strchr(text, ':') : NULL;
    if (p) p++;
    bool first = true; /* which is the source itself */
    for (char *file; p && (file = next_file(&p)); first = false) note_file(file, first, notes);
}

/* ---- A command that compiles and links --------------------------------------------------------------------------- */

static char *object_of(size_t source) { return kinst_text("%s/memory-%zu.o", kinst_private(), source); }

/* Runs one of several commands whose messages go to one file. */
int kinst_memory_run(const kinst_list_t *argv, const kinst_command_t *c, const char *err)
{
    size_t before_size = 0, size = 0;
    char *before = err ? kinst_file_read(err, &before_size) : NULL;
    int status = kinst_inline_run(argv, c, &(kinst_run_t){.err = err});
    char *text = err && before_size ? kinst_file_read(err, &size) : NULL;

    if (text) {
        char *both = kinst_text("%s%s", before, text);
        kinst_file_write(err, both, strlen(both));
    }
    return status;
}

int kinst_memory_object(const kinst_command_t *c, size_t source, const kinst_list_t *before, const kinst_list_t *text,
                        const char *err, bool silent)
{
    kinst_list_t argv = {0};

    for (size_t i = 0; i < before->n; i++) kinst_add(&argv, before->v[i]);
    for (size_t i = c->ncompiler; i < c->words.n; i++)
        if (c->kinds[i] == KINST_WORD_OPTION && strcmp(c->words.v[i], "-pipe") != 0 &&
            !kinst_keeps_temporaries(c->words.v[i]))
            kinst_add(&argv, c->words.v[i]);
    kinst_memory_compile(&argv, c, &c->sources[source]);
    if (c->clang) kinst_add(&argv, "-Wno-unused-command-line-argument"); /* libraries and the like */
    if (silent) kinst_add(&argv, "-w");
    kinst_add(&argv, "-c");
    kinst_add(&argv, "-o");
    kinst_add(&argv, object_of(source));
    for (size_t i = 0; i < text->n; i++) kinst_add(&argv, text->v[i]);
    return kinst_memory_run(&argv, c->sources[source].lang == KINST_LANG_ASSEMBLER ? NULL : c, err);
}

void kinst_memory_add_object(kinst_list_t *argv, size_t source)
{
    kinst_add(argv, "-x"); /* whatever language the user has set: this is an object */
    kinst_add(argv, "none");
    kinst_add(argv, object_of(source));
}
