/**
 * \file
 * What is run, in which order. A clean build of instrumented sources is one run of the compiler. When the compiler says
 * anything that could be about generated text, the user's own command runs first and its messages and status are the
 * ones that count; then the instrumented sources are compiled silently over it, with as many of them as compile.
 */
#include "tools/kinst/kinst-ompp.h"

#include "base/ompp_env.h"
#include "image/ompp_known.h"
#include "tools/common/ompp-place.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum { LINK_OMPP, LINK_NULL, LINK_NOTHING } link_t;

/** One way to run the command. */
typedef struct {
    bool originals; /* the user's sources, whatever their level */
    bool silent;    /* no warnings */
    bool unhooked;  /* without what --memory puts in */
    link_t link;
    bool added;      /* messages are added to those in err */
    const char *err; /* file for stderr, NULL = the user's */
} how_t;

static bool ok(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

/* ---- The command's words ----------------------------------------------------------------------------------------- */

/* Directory part as the user wrote it, with the slash; "" for none. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? kinst_text("%.*s", (int)(slash - path + 1), path) : kinst_text("%s", "");
}

static const char *original_of(const kinst_source_t *source) { return source->plain ? source->plain : source->path; }

static const char *text_of(const kinst_source_t *source)
{
    return source->level == KINST_TEXT_ORIGINAL ? original_of(source) : source->text[source->level];
}

/* The private text stands for a file of the user's directory: headers beside it, its name in __FILE__ and in debug
 * lines. */
static void add_place(kinst_list_t *argv, const kinst_source_t *source, const char *text)
{
    char *dir = directory_of(source->path);

    if (text == source->path) return;
    if (source->level == KINST_TEXT_INSTRUMENTED && source->preprocessed) return; /* it names its files itself */
    if (source->lang == KINST_LANG_FORTRAN) kinst_addf(argv, "-I%s", *dir ? dir : ".");
    kinst_add(argv, "-iquote");
    kinst_add(argv, *dir ? dir : ".");
    kinst_addf(argv, "-ffile-prefix-map=%s=%s", directory_of(text), dir);
    if (!*dir) kinst_add(argv, "-ffile-prefix-map=./=");
}

/* OPARI2 adds words of its own to lines with clauses, which get longer than 132 columns. What the user says of the
 * length of lines comes behind this. C compilers warn of the option. */
static void add_line_length(kinst_list_t *argv, const kinst_source_t *sources, size_t n)
{
    bool instrumented = false;

    for (size_t i = 0; i < n; i++) {
        if (sources[i].lang != KINST_LANG_FORTRAN) return;
        instrumented = instrumented || sources[i].level == KINST_TEXT_INSTRUMENTED;
    }
    if (instrumented) kinst_add(argv, "-ffree-line-length-none");
}

static bool readable(const char *dir, const char *name) { return access(kinst_text("%s/%s", dir, name), R_OK) == 0; }

/* Of the MPI that the command is for; the default one when that cannot be told. */
static const char *mpi_library(const kinst_command_t *c)
{
    return *c->mpi_family ? kinst_text("libompp-mpi-%s.so", c->mpi_family) : "libompp-mpi.so";
}

/* Of the MPI that the command names: -lmpi, libmpi.so */
static bool is_mpi_library(const char *word)
{
    if (strncmp(word, "-l", 2) == 0) word = word[2] == ':' ? word + 3 : kinst_text("lib%s.so", word + 2);
    return *word != '-' && ompp_known_mpi_part(word);
}

/* The word that libompp-mpi comes before: the first library of MPI; the end where the compiler adds those. */
static size_t mpi_place(const kinst_command_t *c)
{
    size_t i = c->ncompiler;

    while (i < c->words.n && !is_mpi_library(c->words.v[i]) &&
           !(strcmp(c->words.v[i], "-l") == 0 && i + 1 < c->words.n &&
             is_mpi_library(kinst_text("-l%s", c->words.v[i + 1]))))
        i++;
    return i;
}

/*
 * libompp-mpi comes last before any MPI library: a PMPI layer of the program's own, in objects, archives or libraries,
 * stands in front of it. It stays although nothing may refer to it. An option for the linker, since a file could be
 * taken for one in the language of "-x".
 */
static void add_mpi_library(kinst_list_t *argv, const kinst_command_t *c)
{
    const char *lib = ompp_place_find()->lib, *mpi = mpi_library(c);

    if (c->mpi && readable(lib, mpi))
        kinst_addf(argv, "-Wl,--push-state,-Bdynamic,--no-as-needed,%s/%s,--pop-state", lib, mpi);
}

/* libompp stays although nothing may refer to it. */
static void add_libraries(kinst_list_t *argv)
{
    const char *lib = ompp_place_find()->lib;

    kinst_add(argv, "-Wl,--push-state,--no-as-needed");
    kinst_addf(argv, "%s/libompp.so", lib);
    if (kinst_own.memory) kinst_memory_link(argv);
    kinst_add(argv, "-Wl,--pop-state");
    kinst_addf(argv, "-Wl,-rpath,%s", lib);
}

/* The text of a source; a preprocessed one says so, and what comes behind it is in the user's language again. */
static void add_text(kinst_list_t *argv, const kinst_command_t *c, const kinst_source_t *source, bool more)
{
    bool preprocessed = source->level == KINST_TEXT_INSTRUMENTED && source->preprocessed;

    if (preprocessed) {
        if (c->openmp_by_preprocessor) kinst_add(argv, "-fopenmp");
        kinst_add(argv, "-x");
        kinst_add(argv, source->lang == KINST_LANG_CXX ? "c++-cpp-output" : "cpp-output");
    }
    kinst_add(argv, text_of(source));
    if (!preprocessed || !more) return;
    kinst_add(argv, "-x");
    kinst_add(argv, source->x ? source->x : "none");
}

/* Compiles to private objects with hooks, then links those: the options for hooks would make the compiler link its own
 * libraries. */
static int run_with_hooks(const kinst_command_t *c, const how_t *how, const kinst_list_t *before)
{
    kinst_list_t argv = {0};
    const size_t place = mpi_place(c);
    size_t source = 0;
    int status = kinst_private() ? 0 : 1 << 8;

    if (how->err) kinst_file_write(how->err, "", 0);
    for (size_t i = 0; i < c->nsources && status == 0; i++) {
        kinst_list_t text = {0};
        if (how->originals) kinst_add(&text, original_of(&c->sources[i]));
        else add_text(&text, c, &c->sources[i], false);
        status = kinst_memory_object(c, i, before, &text, how->err, how->silent);
    }
    if (!ok(status)) return status;
    for (size_t i = 0; i < c->ncompiler; i++) kinst_add(&argv, c->words.v[i]);
    add_libraries(&argv);
    for (size_t i = c->ncompiler; i < c->words.n; i++) {
        if (i == place) add_mpi_library(&argv, c);
        if (c->kinds[i] == KINST_WORD_SOURCE) kinst_memory_add_object(&argv, source++);
        else if (c->kinds[i] != KINST_WORD_DEPENDENCY) kinst_add(&argv, c->words.v[i]);
    }
    if (place == c->words.n) add_mpi_library(&argv, c);
    return kinst_memory_run(&argv, NULL, how->err);
}

static int run(const kinst_command_t *c, const how_t *how);

/* gcc's dependency files would name the header that --memory includes. */
static bool names_our_header(const kinst_command_t *c) { return kinst_own.memory && !c->clang; }

/* The options for hooks differ by language: objects of Fortran, assembly and others in one command are made one by one.
 * So are those of clang, which makes them in two steps. */
static kinst_lang_t options_of(const kinst_source_t *source)
{
    return source->lang == KINST_LANG_FORTRAN || source->lang == KINST_LANG_ASSEMBLER ? source->lang : KINST_LANG_C;
}

static bool is_mixed(const kinst_command_t *c)
{
    if (kinst_inline_fits(c)) return c->nsources > 1;
    for (size_t i = 1; i < c->nsources; i++)
        if (options_of(&c->sources[i]) != options_of(&c->sources[0])) return true;
    return false;
}

/* The command about one of its sources. */
static int run_one(const kinst_command_t *c, const how_t *how, size_t source)
{
    kinst_command_t one = *c;
    size_t seen = 0, n = c->ncompiler;

    one.words = (kinst_list_t){0};
    one.kinds = calloc(c->words.n, sizeof *one.kinds);
    if (!one.kinds) return 1 << 8;
    one.sources = &c->sources[source];
    one.nsources = one.ninputs = 1;
    for (size_t i = 0; i < c->ncompiler; i++) kinst_add(&one.words, c->words.v[i]);
    for (size_t i = c->ncompiler; i < c->words.n; i++) {
        if (c->kinds[i] == KINST_WORD_SOURCE && seen++ != source) continue;
        one.kinds[n++] = c->kinds[i];
        kinst_add(&one.words, c->words.v[i]);
    }
    int status = run(&one, how);
    free(one.kinds);
    return status;
}

static int run_each(const kinst_command_t *c, const how_t *how)
{
    how_t each = *how;
    int status = 0;

    each.added = true;
    if (how->err) kinst_file_write(how->err, "", 0);
    for (size_t i = 0; i < c->nsources; i++) {
        int one = run_one(c, &each, i);
        if (!ok(one)) status = one;
    }
    return status;
}

static int run(const kinst_command_t *c, const how_t *how)
{
    kinst_list_t argv = {0};
    bool replaced = false,
         hooks = kinst_own.memory && c->step == KINST_STEP_LINK && how->link == LINK_OMPP && c->nsources > 0;
    const bool compiles = kinst_own.memory && c->step != KINST_STEP_LINK && c->nsources > 0 && !how->unhooked;

    if (how->unhooked) hooks = false;
    if (kinst_own.memory && c->step != KINST_STEP_LINK && is_mixed(c)) return run_each(c, how);
    for (size_t i = 0; i < c->ncompiler; i++) kinst_add(&argv, c->words.v[i]);
    if (how->err && isatty(2)) kinst_add(&argv, "-fdiagnostics-color=always");
    /* A parallel region at a function's end would be a jump into the OpenMP library, and known by the place of the
     * function's call. */
    if (c->clang && c->openmp) kinst_add(&argv, "-fno-optimize-sibling-calls");
    const bool links = c->step == KINST_STEP_LINK && how->link == LINK_OMPP && !hooks;
    const size_t place = links ? mpi_place(c) : SIZE_MAX;
    if (links) add_libraries(&argv);
    if (!how->originals) add_line_length(&argv, c->sources, c->nsources);
    for (size_t i = 0; i < c->nsources; i++) {
        add_place(&argv, &c->sources[i], how->originals ? original_of(&c->sources[i]) : text_of(&c->sources[i]));
        if (c->sources[i].level != KINST_TEXT_ORIGINAL && !how->originals) replaced = true;
    }
    const char *form = how->originals ? NULL : kinst_fortran_form(c),
               *notes = how->originals ? NULL : kinst_fortran_notes(c);
    if (form) {
        kinst_add(&argv, "-fpreprocessed");
        kinst_add(&argv, form);
    }
    if (notes) kinst_addf(&argv, "-Wa,%s", notes);
    if (hooks) return run_with_hooks(c, how, &argv);
    size_t source = 0, inputs = c->ninputs + (how->link == LINK_NULL);
    for (size_t i = c->ncompiler; i < c->words.n; i++) {
        const bool keeps = kinst_keeps_temporaries(c->words.v[i]),
                   dropped = c->kinds[i] == KINST_WORD_DEPENDENCY || keeps;
        if (i == place) add_mpi_library(&argv, c);
        /* the user's own command has written them */
        if (compiles && (keeps || (dropped && names_our_header(c)))) continue;
        if (c->kinds[i] == KINST_WORD_SOURCE || c->kinds[i] == KINST_WORD_INPUT) inputs--;
        if (c->kinds[i] == KINST_WORD_SOURCE && !how->originals) add_text(&argv, c, &c->sources[source++], inputs > 0);
        else if (c->kinds[i] == KINST_WORD_SOURCE) kinst_add(&argv, original_of(&c->sources[source++]));
        else if ((notes || kinst_own.memory) && strcmp(c->words.v[i], "-pipe") == 0)
            continue; /* the assembler would read the notes or the hooks alone */
        else if (!dropped || !replaced) kinst_add(&argv, c->words.v[i]);
    }
    if (place == c->words.n) add_mpi_library(&argv, c);
    if (c->step == KINST_STEP_LINK && how->link == LINK_NULL)
        kinst_addf(&argv, "%s/libompp-null.a", ompp_place_find()->lib);
    if (compiles) kinst_memory_compile(&argv, c, &c->sources[0]);
    if (how->silent) kinst_add(&argv, "-w");
    const bool one = compiles && c->step == KINST_STEP_COMPILE && c->nsources == 1;
    const kinst_command_t *hooked = one && c->sources[0].lang != KINST_LANG_ASSEMBLER ? c : NULL;
    if (how->err && how->added) return kinst_memory_run(&argv, hooked, how->err);
    const bool dependencies = !replaced && !(compiles && names_our_header(c));
    return kinst_inline_run(&argv, hooked, &(kinst_run_t){.err = how->err, .dependencies = dependencies});
}

/* The dependency files, from the user's own sources: exactly what the compiler would have written. False when it does
 * not. */
static bool write_dependencies(const kinst_command_t *c)
{
    kinst_list_t argv = {0};

    if (!c->dependencies && !ompp_env_foreign("DEPENDENCIES_OUTPUT") && !ompp_env_foreign("SUNPRO_DEPENDENCIES"))
        return true;
    for (size_t i = 0; i < c->words.n; i++) kinst_add(&argv, c->words.v[i]);
    kinst_add(&argv, "-fsyntax-only");
    kinst_add(&argv, "-w");
    return ok(kinst_run(argv.v, &(kinst_run_t){.out = "/dev/null", .err = "/dev/null", .dependencies = true}));
}

/*
 * What else the user's command writes beside objects with hooks, it writes itself, without hooks: dependency files
 * where the objects are made privately and linked, and temporaries that are kept.
 */
static void write_beside(const kinst_command_t *c)
{
    static bool written;
    bool keeps = false;

    if (written || !kinst_own.memory || kinst_own.dry_run || c->nsources == 0) return;
    written = true;
    for (size_t i = 0; i < c->words.n; i++) keeps = keeps || kinst_keeps_temporaries(c->words.v[i]);
    if (keeps) kinst_run(c->words.v, &(kinst_run_t){.out = "/dev/null", .err = "/dev/null"});
    else if (c->step == KINST_STEP_LINK || names_our_header(c)) write_dependencies(c);
}

static bool compiles(const kinst_command_t *c, const kinst_source_t *source, const char *err)
{
    kinst_list_t argv = {0};

    for (size_t i = 0; i < c->ncompiler; i++) kinst_add(&argv, c->words.v[i]);
    add_line_length(&argv, source, 1);
    add_place(&argv, source, text_of(source));
    for (size_t i = c->ncompiler; i < c->words.n; i++)
        if (c->kinds[i] == KINST_WORD_OPTION && !kinst_keeps_temporaries(c->words.v[i]))
            kinst_add(&argv, c->words.v[i]);
    add_text(&argv, c, source, false);
    kinst_add(&argv, "-fsyntax-only");
    kinst_add(&argv, "-w");
    return ok(kinst_run(argv.v, &(kinst_run_t){.out = "/dev/null", .err = err}));
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static char *private_file(const char *name)
{
    const char *dir = kinst_private();

    return dir ? kinst_text("%s/%s", dir, name) : NULL;
}

static void forward(const char *path)
{
    size_t size;
    char *text = path ? kinst_file_read(path, &size) : NULL;

    if (text) fwrite(text, 1, size, stderr);
    free(text);
}

/* Can all of it be about the user's own text? */
static bool about_user(const char *path)
{
    static const char *const ours[] = {"pomp2", "POMP2", "opari2", "ompp_f_", "ompp_user_", "ompp-keeps", "libompp"};
    size_t size;
    char *text = path ? kinst_file_read(path, &size) : NULL;
    bool theirs = true;

    if (!text) return true;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strstr(text, ours[i])) theirs = false;
    if (strstr(text, kinst_private())) theirs = false;
    free(text);
    return theirs;
}

/* Can all of it be about the user's own text, and is it all that there is to be said? */
static bool complete(const kinst_command_t *c, const char *path)
{
    size_t size;
    char *text = path ? kinst_file_read(path, &size) : NULL;
    bool empty = !text || !*text;

    free(text);
    for (size_t i = 0; i < c->nsources; i++) {
        const kinst_source_t *s = &c->sources[i];
        if (s->level == KINST_TEXT_INSTRUMENTED && s->preprocessed && (!s->quiet || !empty)) return false;
    }
    return about_user(path);
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static char *first_line(const char *path)
{
    size_t size;
    char *text = path ? kinst_file_read(path, &size) : NULL;

    if (text) text[strcspn(text, "\n")] = '\0';
    return text && *text ? text : "the compiler fails";
}

/* The user's sources without hooks, which they do not compile with: said, and noted for the report. */
static bool run_unhooked(const kinst_command_t *c, link_t link, bool silent, const char *first_err)
{
    static bool said;
    char *why = first_line(first_err), *err = private_file("err2");
    kinst_command_t other = *c;

    if (!kinst_own.memory || c->nsources == 0 || link == LINK_NULL) return false;
    other.sources = calloc(c->nsources, sizeof *other.sources);
    for (size_t i = 0; other.sources && i < c->nsources; i++)
        other.sources[i] = kinst_source_unhooked(&c->sources[i], why);
    if (!other.sources || !ok(run(&other, &(how_t){.link = link, .silent = silent, .unhooked = true, .err = err})))
        return false;
    for (size_t i = 0; !said && i < c->nsources; i++)
        fprintf(stderr, "kinst-ompp: %s does not compile with hooks, its loads and stores are not counted: %s\n",
                c->sources[i].path, why);
    said = true;
    if (!silent) forward(err);
    return true;
}

/* With a precompiled header that was made without hooks, which clang refuses; it is the right one where it serves
 * without them. */
static bool run_with_header(const kinst_command_t *c, link_t link, bool silent, const char *err)
{
    size_t size;
    const char *text = kinst_own.memory && c->clang && err ? kinst_file_read(err, &size) : NULL;

    if (!text || !strstr(text, "AST file")) return false;
    for (size_t i = 0; i < c->nsources; i++)
        if (!compiles(c, &c->sources[i], "/dev/null")) return false;
    kinst_memory_take_headers();
    return ok(run(c, &(how_t){.originals = true, .link = link, .silent = silent, .err = err}));
}

/* The user's sources, linked with libompp, or where that cannot be with the functions that do nothing, or with
 * neither. */
static int run_originals(const kinst_command_t *c, bool silent)
{
    link_t first = c->step != KINST_STEP_LINK ? LINK_NOTHING : c->static_link ? LINK_NULL : LINK_OMPP;
    char *err = private_file("err"), *first_err = private_file("err1");

    write_beside(c);
    int status = run(c, &(how_t){.originals = true, .link = first, .silent = silent, .err = first_err}), again;

    if (!ok(status) && run_with_header(c, first, silent, first_err)) status = 0;
    if (!ok(status) && run_unhooked(c, first, silent, first_err)) return 0;
    if (ok(status) || first == LINK_NOTHING) {
        if (!silent) forward(first_err);
        return status;
    }
    for (link_t link = first + 1; link <= LINK_NOTHING; link++) {
        again = run(c, &(how_t){.originals = true, .link = link, .silent = silent, .err = err});
        if (!ok(again)) continue;
        kinst_say("linked without measurement: the linker does not take libompp.so");
        if (!silent) forward(err);
        return again;
    }
    /* Of a broken link the messages without our libraries, unless they are about missing POMP2 functions. */
    if (!silent) forward(about_user(err) ? err : first_err);
    return status;
}

/* A source in another directory must not find headers of this one first. */
static void check_headers(kinst_command_t *c)
{
    size_t size;

    for (size_t i = 0; i < c->nsources; i++) {
        kinst_source_t *s = &c->sources[i];
        char *own = directory_of(s->path),
             *text = s->level != KINST_TEXT_ORIGINAL ? kinst_file_read(s->path, &size) : NULL;
        if (s->level == KINST_TEXT_INSTRUMENTED && s->preprocessed) continue;
        for (char *p = text; p && (p = strstr(p, "include")); p++) {
            const char *open = p + 7 + strspn(p + 7, " \t");
            if (*open != '"' && *open != '\'') continue;
            char *name = kinst_text("%.*s", (int)strcspn(open + 1, "'\"\n"), open + 1);
            for (size_t k = 0; k < c->nsources; k++) {
                char *other = directory_of(c->sources[k].path);
                if (strcmp(own, other) == 0 || !readable(*other ? other : ".", name)) continue;
                kinst_say("%s is compiled unmodified: header %s is also in %s", s->path, name, *other ? other : ".");
                s->level = KINST_TEXT_ORIGINAL;
            }
        }
    }
}

static bool any_changed(const kinst_command_t *c)
{
    for (size_t i = 0; i < c->nsources; i++)
        if (c->sources[i].level != KINST_TEXT_ORIGINAL) return true;
    return false;
}

/* Lowers the sources whose text does not compile; all of them when each compiles alone. */
static void lower_bad(kinst_command_t *c, const char *err)
{
    static const char why[] = "the instrumented text does not compile";
    bool found = false;

    for (size_t i = 0; i < c->nsources; i++) {
        kinst_source_t *s = &c->sources[i];
        if (s->level == KINST_TEXT_ORIGINAL || compiles(c, s, err)) continue;
        kinst_source_lower(s, why);
        found = true;
    }
    for (size_t i = 0; i < c->nsources && !found; i++)
        if (c->sources[i].level != KINST_TEXT_ORIGINAL) kinst_source_lower(&c->sources[i], why);
}

/* One run of the compiler, if it has nothing to say about our text; else returns. */
static void build_at_once(const kinst_command_t *c, link_t link, const char *err)
{
    int status = run(c, &(how_t){.link = link, .err = err});

    if (kinst_own.dry_run) kinst_finish(0);
    if (!ok(status) || !complete(c, err)) return;
    forward(err);
    kinst_finish(status);
}

static void build_instrumented(kinst_command_t *c)
{
    link_t link = c->static_link ? LINK_NULL : LINK_OMPP;
    char *err = private_file("err");

    /* First the dependency files: where they cannot be written, the compiler makes no object either, and says why. */
    bool keeps = false;
    for (size_t i = 0; i < c->words.n; i++) keeps = keeps || kinst_keeps_temporaries(c->words.v[i]);
    if (kinst_own.dry_run || (!keeps && write_dependencies(c))) build_at_once(c, link, err);
    int status = run_originals(c, false);
    if (!ok(status)) kinst_finish(status);
    while (any_changed(c)) {
        if (ok(run(c, &(how_t){.link = link, .silent = true, .err = err}))) kinst_finish(0);
        lower_bad(c, err);
    }
    /* The last attempt may have removed what the user's own command had made. */
    kinst_finish(run_originals(c, true));
}

/* A source that includes ompp.h finds it, behind all of the user's directories. */
static void find_header(kinst_command_t *c)
{
    bool needed = false;
    size_t size;

    for (size_t i = 0; i < c->nsources && !needed; i++) {
        char *text = c->sources[i].lang == KINST_LANG_FORTRAN ? NULL : kinst_file_read(c->sources[i].path, &size);
        needed = text && (strstr(text, "<ompp.h>") || strstr(text, "\"ompp.h\""));
        free(text);
    }
    if (!needed || !*ompp_place_find()->include) return;
    kinst_add(&c->words, "-idirafter");
    kinst_add(&c->words, ompp_place_find()->include);
    c->kinds = realloc(c->kinds, (c->words.n + 1) * sizeof *c->kinds);
    if (!c->kinds) abort();
    c->kinds[c->words.n - 2] = c->kinds[c->words.n - 1] = KINST_WORD_OPTION;
}

void kinst_build(kinst_command_t *c)
{
    bool opari = kinst_own.with == KINST_WITH_OPARI || (kinst_own.with == KINST_WITH_AUTO && !c->clang);

    if (c->step == KINST_STEP_NONE) kinst_exec(c->words.v);
    kinst_memory_check(c);
    find_header(c);
    for (size_t i = 0; i < c->nsources; i++) kinst_source_make(c, &c->sources[i], opari && c->openmp);
    kinst_fortran_module(c);
    if (c->nsources > 1) check_headers(c);
    if (c->nsources > 0 && c->openmp && !opari && !c->debug && !kinst_own.memory)
        kinst_say("compile with -g: without it the report names addresses, not files and lines");
    if (c->step == KINST_STEP_LINK && c->mpi && !readable(ompp_place_find()->lib, mpi_library(c)))
        fprintf(
            stderr,
            "kinst-ompp: configure ompp with this mpicc in PATH: MPI is not measured, as ompp was built for %s, and "
            "this is %s\n",
            OMPP_MPI_FAMILIES, *c->mpi_family ? c->mpi_family : "another one");
    if (c->step == KINST_STEP_LINK && c->static_link)
        fprintf(stderr, "kinst-ompp: leave out -static: the program is linked without measurement, which needs shared "
                        "libraries\n");
    if (any_changed(c)) build_instrumented(c);
    if (c->step != KINST_STEP_LINK && !kinst_own.memory) kinst_exec(c->words.v);
    kinst_finish(run_originals(c, false));
}
