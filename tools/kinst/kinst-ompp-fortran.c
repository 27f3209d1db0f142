/**
 * \file
 * Fortran sources: what the compiler gets for each, what their object tells the run, and the module of ompp's
 * interface.
 *
 * A Fortran object cannot call anything when the program starts. What is to be told (what was not instrumented, and
 * that OPARI2 was used) is therefore written in C, compiled to assembler, and given to the assembler together with the
 * compiler's output.
 */
#include "tools/kinst/kinst-ompp-fortran.h"

#include "base/ompp_path.h"
#include "tools/common/ompp-place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static bool has_notes(const kinst_source_t *source)
{
    const kinst_fortran_t *f = source->fortran;

    return source->reason || kinst_own.left_out.n > 0 || f->ignored.n > 0 || f->unseen.n > 0 || f->unmeasured.n > 0 ||
           f->unsearched;
}

static char *text_of_command(const kinst_command_t *c)
{
    char *text = kinst_text("%s", "");

    for (size_t i = 0; i < c->words.n; i++) text = kinst_text("%s %s", text, c->words.v[i]);
    return text;
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

/* dir/name/base, made. NULL = there is no space. */
static FILE *open_text(const kinst_source_t *source, const char *name, char **path)
{
    char *dir = kinst_text("%s/%s", source->dir, name);

    *path = kinst_text("%s/%s", dir, ompp_path_last(source->path));
    return mkdir(dir, 0700) == 0 ? fopen(*path, "w") : NULL;
}

static const char *write_text(kinst_source_t *source, const char *name, bool opari)
{
    static const char no_space[] = "no space for temporary files";
    char *path;
    FILE *out = open_text(source, name, &path);
    const char *reason;

    if (!out) return no_space;
    reason = kinst_fortran_text(source->fortran, opari, out);
    if (fclose(out) != 0 && !reason) reason = no_space;
    if (!reason) source->text[KINST_TEXT_INSTRUMENTED] = path;
    return reason;
}

/* Where the source is compiled as it is, gfortran must not see what it would refuse. */
static void write_plain(kinst_source_t *source, const char *text)
{
    char *path;
    FILE *out = open_text(source, "plain", &path);

    if (!out) return;
    kinst_fortran_plain(source->fortran, text, out);
    if (fclose(out) == 0) source->plain = path;
}

void kinst_fortran_lower(kinst_source_t *source, const char *reason)
{
    bool noted = source->level == KINST_TEXT_INSTRUMENTED, opari = noted && source->fortran->has_openmp;

    if (!source->reason) source->reason = reason;
    if (noted) kinst_say("%s is compiled unmodified: %s", source->path, source->reason);
    source->text[KINST_TEXT_NOTED] = source->plain ? source->plain : (char *)source->path;
    source->level = noted ? KINST_TEXT_NOTED : KINST_TEXT_ORIGINAL;
    if (!opari || !source->fortran->has_calls) return;
    /* User regions can still be measured. */
    source->fortran->has_openmp = false;
    if (!write_text(source, "regions", false)) source->level = KINST_TEXT_INSTRUMENTED;
}

void kinst_fortran_unhooked(kinst_source_t *source, const char *subject, const char *why)
{
    kinst_list_t *notes = &source->fortran->ignored;

    source->level = KINST_TEXT_NOTED;
    source->text[KINST_TEXT_NOTED] = source->plain ? source->plain : (char *)source->path;
    if (notes->n > 1 && strcmp(notes->v[notes->n - 2], subject) == 0) return; /* of an attempt before */
    kinst_add(notes, subject);
    kinst_add(notes, why);
}

/* Do directives stand in branches that exclude each other? All of them would be taken for directives of the program. */
static bool has_alternatives(const kinst_fortran_t *f)
{
    enum { DIRECTIVE = 1, OTHERS = 2 };
    unsigned has[64] = {0}, depth = 0;
    const char *rest;

    for (size_t i = 0; i < f->lines.n; i++) {
        kinst_line_kind_t kind = kinst_line_kind(f->form, f->lines.v[i].text, &rest);
        rest = kinst_skip_blanks(rest);
        if (kind == KINST_LINE_DIRECTIVE) has[depth] |= DIRECTIVE;
        if (kind != KINST_LINE_CPP) continue;
        if (strncmp(rest, "if", 2) == 0 && depth < 63) has[++depth] = 0;
        if (strncmp(rest, "el", 2) == 0) has[depth] |= OTHERS;
        if (strncmp(rest, "endif", 5) != 0 || depth == 0) continue;
        if (has[depth] == (DIRECTIVE | OTHERS)) return true;
        depth--;
        has[depth] |= has[depth + 1] & DIRECTIVE;
    }
    return false;
}

static bool needs_preprocessor(kinst_fortran_t *f)
{
    kinst_lines_t unused = {0};

    if (!f->form.cpp || !f->has_openmp || has_alternatives(f)) return f->form.cpp && f->has_openmp;
    kinst_fortran_prepare(f, &unused);
    return f->needs_cpp;
}

static char *preprocessed(const kinst_command_t *c, const kinst_source_t *source)
{
    const char *dir = kinst_private();
    size_t size;

    return dir ? kinst_preprocessed(c, NULL, source, source->path, kinst_text("%s/preprocessed", dir), "/dev/null",
                                    &size)
               : NULL;
}

/* From now on the text of the source is what the preprocessor makes of it. \return false when it makes nothing. */
static bool preprocess(kinst_fortran_t *f)
{
    char *text = preprocessed(f->compiler, f->source);

    if (!text) return false;
    *f = (kinst_fortran_t){.source = f->source,
                           .compiler = f->compiler,
                           .absolute = f->absolute,
                           .command = f->command,
                           .form = f->form,
                           .preprocessed = true};
    kinst_fortran_scan(f, text);
    kinst_fortran_includes(f, text);
    return true;
}

void kinst_fortran_make(const kinst_command_t *c, kinst_source_t *source, bool opari)
{
    static unsigned number;
    kinst_fortran_t *f = calloc(1, sizeof *f);
    const char *reason;
    size_t size;
    char *text = kinst_file_read(source->path, &size), *absolute = realpath(source->path, NULL);

    if (!f || !text || !absolute || strlen(text) != size) return;
    *f = (kinst_fortran_t){.source = source,
                           .compiler = c,
                           .absolute = absolute,
                           .command = text_of_command(c),
                           .form = kinst_form_of(c, source)};
    source->fortran = f;
    kinst_fortran_scan(f, text);
    if (opari && !(needs_preprocessor(f) && preprocess(f))) kinst_fortran_includes(f, text);
    f->has_openmp = opari = opari && f->has_openmp;
    bool change = opari || f->has_calls || f->ignored.n > 0;
    if ((!change && !has_notes(source)) || !kinst_private()) return;
    source->level = KINST_TEXT_NOTED;
    source->text[KINST_TEXT_NOTED] = (char *)source->path;
    source->dir = kinst_text("%s/f%u", kinst_private(), number++);
    if (!change || mkdir(source->dir, 0700) != 0) return;
    if (f->has_omp_inst) write_plain(source, text);
    source->level = KINST_TEXT_INSTRUMENTED;
    reason = write_text(source, "instrumented", opari);
    if (reason && opari && f->form.cpp && !f->preprocessed && preprocess(f))
        reason = write_text(source, "again", opari);
    if (reason) kinst_fortran_lower(source, reason);
}

/* ---- What the object tells --------------------------------------------------------------------------------------- */

static void put_notes(FILE *out, const kinst_source_t *source)
{
    const kinst_fortran_t *f = source->fortran;
    char *path = kinst_escaped(f->absolute);

    if (source->reason) fprintf(out, "    ompp_build_note(0, \"%s\", \"%s\");\n", path, kinst_escaped(source->reason));
    for (size_t i = 0; i < f->unseen.n; i++)
        fprintf(
            out,
            "    ompp_build_note(0, \"%s\", \"OpenMP directives in an include file, which OPARI2 does not read\");\n",
            kinst_escaped(f->unseen.v[i]));
    if (f->unsearched)
        fprintf(out,
                "    ompp_build_note(1, \"include files of %s: not all searched for OpenMP directives\", \"%s\");\n",
                path, kinst_escaped(f->unsearched));
    for (size_t i = 0; i + 1 < f->unmeasured.n && !source->reason; i += 2)
        fprintf(out, "    ompp_build_note(2, \"OpenMP %s\", \"%s\");\n", f->unmeasured.v[i],
                kinst_escaped(f->unmeasured.v[i + 1]));
    for (size_t i = 0; i + 1 < kinst_own.left_out.n && !source->reason; i += 2)
        fprintf(out, "    ompp_build_note(4, \"%s\", \"%s\");\n", kinst_own.left_out.v[i], kinst_own.left_out.v[i + 1]);
    for (size_t i = 0; i + 1 < f->ignored.n; i += 2)
        fprintf(out, "    ompp_build_note(1, \"%s\", \"%s\");\n", kinst_escaped(f->ignored.v[i]),
                kinst_escaped(f->ignored.v[i + 1]));
}

/* All descriptions of the file, for the regions that are never executed. */
static void put_list(FILE *out, const kinst_source_t *source, size_t number)
{
    const kinst_list_t *texts = &source->fortran->texts;

    fprintf(out, "static const char *const ompp_texts_%zu[] = {\n", number);
    for (size_t i = 0; i < texts->n; i++) fprintf(out, "    \"%s\",\n", kinst_escaped(texts->v[i]));
    fprintf(out,
            "    0};\nstatic void __attribute__((__constructor__, __used__)) ompp_fortran_list_%zu(void)\n{\n"
            "    if (ompp_build_regions) ompp_build_regions(ompp_texts_%zu, %zu);\n}\n",
            number, number, texts->n);
}

/* The compiler of the command, told to do something else; options about the machine stay. */
static void add_compiler(kinst_list_t *argv, const kinst_command_t *c)
{
    for (size_t i = 0; i < c->ncompiler; i++) kinst_add(argv, c->words.v[i]);
    for (size_t i = c->ncompiler; i < c->words.n; i++)
        if (strncmp(c->words.v[i], "-m", 2) == 0) kinst_add(argv, c->words.v[i]);
}

static bool run_quietly(kinst_list_t *argv)
{
    int status = kinst_run(argv->v, &(kinst_run_t){.out = "/dev/null", .err = "/dev/null"});

    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A line of assembler text, with labels that differ from those of another text. */
static void put_relabelled(FILE *out, const char *line, size_t length)
{
    for (const char *end = line + length; line < end; line++) {
        bool label = line[0] == '.' && line[1] == 'L' && line[2] != '\n';
        fputs(label ? ".Lompp_" : (char[]){*line, '\0'}, out);
        if (label) line++;
    }
    fputc('\n', out);
}

/* Assembler text that can stand in front of another's: with labels of its own, and without what is said once per
 * file. */
static bool make_assembler(const kinst_command_t *c, const char *source, const char *target)
{
    static const char *const options[] = {"-x", "c", "-S", "-O1", "-fPIC", "-g0", "-w", "-fno-lto", "-o"};
    kinst_list_t argv = {0};
    size_t size;

    add_compiler(&argv, c);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) kinst_add(&argv, options[i]);
    kinst_add(&argv, target);
    kinst_add(&argv, source);
    char *text = run_quietly(&argv) ? kinst_file_read(target, &size) : NULL;
    FILE *out = text ? fopen(target, "w") : NULL;
    if (!out) return false;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        const char *p = kinst_skip_blanks(line);
        if (strncmp(p, ".file", 5) != 0 && strncmp(p, ".ident", 6) != 0) put_relabelled(out, line, length);
        line += length + (line[length] == '\n');
    }
    return fclose(out) == 0;
}

/* The object remembers the options of its command, and the link repeats them: then nothing can be given to the
 * assembler. */
static bool link_time(const kinst_command_t *c)
{
    bool lto = false;

    for (size_t i = c->ncompiler; i < c->words.n; i++) {
        if (strncmp(c->words.v[i], "-flto", 5) == 0) lto = true;
        if (strcmp(c->words.v[i], "-fno-lto") == 0) lto = false;
    }
    return lto;
}

const char *kinst_fortran_notes(const kinst_command_t *c)
{
    const char *dir = kinst_private();
    char *path = kinst_text("%s/notes.c", dir ? dir : "/nonexistent"),
         *target = kinst_text("%s/notes.s", dir ? dir : "");
    bool any = false, opari = false, notes = false, others = false;
    FILE *out;

    for (size_t i = 0; i < c->nsources; i++) {
        const kinst_source_t *s = &c->sources[i];
        if (!s->fortran && s->level == KINST_TEXT_INSTRUMENTED) others = true;
        if (!s->fortran || s->level == KINST_TEXT_ORIGINAL) continue;
        if (s->level == KINST_TEXT_INSTRUMENTED && s->fortran->instrumented) opari = true;
        if (s->level == KINST_TEXT_INSTRUMENTED && s->fortran->texts.n > 0) notes = true;
        if (has_notes(s)) notes = true;
    }
    any = opari || notes;
    if (!any || c->step == KINST_STEP_ASSEMBLE || link_time(c) || strchr(target, ',') || !(out = fopen(path, "w")))
        return NULL;
    /* The assembler reads this text before that of each source: what instrumented C defines must not be defined here as
     * well. */
    if (opari && !others)
        fputs("extern const char ompp_opari_linked __attribute__((__weak__, __visibility__(\"default\")));\n"
              "const char ompp_opari_linked = 1;\n",
              out);
    fputs("extern void ompp_build_regions(const char *const *, unsigned) __attribute__((__weak__));\n", out);
    for (size_t i = 0; i < c->nsources; i++)
        if (c->sources[i].fortran && c->sources[i].level == KINST_TEXT_INSTRUMENTED &&
            c->sources[i].fortran->texts.n > 0)
            put_list(out, &c->sources[i], i);
    fputs("extern void ompp_build_note(int, const char *, const char *) __attribute__((__weak__));\n"
          "static void __attribute__((__constructor__, __used__)) ompp_fortran_notes_here(void)\n{\n"
          "    if (!ompp_build_note) return;\n",
          out);
    for (size_t i = 0; i < c->nsources; i++)
        if (c->sources[i].fortran && c->sources[i].level != KINST_TEXT_ORIGINAL) put_notes(out, &c->sources[i]);
    fputs("}\n", out);
    if (fclose(out) != 0) return NULL;
    return make_assembler(c, path, target) ? target : NULL;
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

static void add_option(kinst_command_t *c, const char *word)
{
    c->kinds = realloc(c->kinds, (c->words.n + 2) * sizeof *c->kinds);
    if (!c->kinds) abort();
    c->kinds[c->words.n] = KINST_WORD_OPTION;
    c->kinds[c->words.n + 1] = KINST_WORD_OPTION;
    kinst_add(&c->words, word);
}

/* Behind the user's own directories: a module of that name there comes first. */
void kinst_fortran_module(kinst_command_t *c)
{
    kinst_list_t argv = {0};
    bool needed = false;

    for (size_t i = 0; i < c->nsources; i++)
        if (c->sources[i].fortran && c->sources[i].fortran->uses_ompp) needed = true;
    if (!needed || !kinst_private()) return;
    char *dir = kinst_text("%s/mod", kinst_private());
    if (mkdir(dir, 0700) != 0) return;
    add_compiler(&argv, c);
    kinst_add(&argv, "-w");
    kinst_add(&argv, "-fsyntax-only");
    kinst_addf(&argv, "-J%s", dir);
    kinst_addf(&argv, "%s/ompp.f90", ompp_place_find()->pkginclude);
    if (run_quietly(&argv)) add_option(c, kinst_text("-I%s", dir));
}

/* ---- Names in messages of the program ---------------------------------------------------------------------------- */

const char *kinst_fortran_form(const kinst_command_t *c)
{
    for (size_t i = 0; i < c->nsources; i++) {
        const kinst_source_t *s = &c->sources[i];
        if (s->lang != KINST_LANG_FORTRAN || s->level != KINST_TEXT_INSTRUMENTED || !s->fortran || s->fortran->form.cpp)
            return NULL;
        if (s->fortran->form.fixed != c->sources[0].fortran->form.fixed) return NULL;
    }
    if (c->nsources == 0) return NULL;
    return c->sources[0].fortran->form.fixed ? "-ffixed-form" : "-ffree-form";
}
