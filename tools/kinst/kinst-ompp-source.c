/**
 * \file
 * The texts of a source that go to the compiler: instrumented by OPARI2, with the wrapper's own pragmas only, or the
 * original with notes for the report.
 */
#include "tools/kinst/kinst-ompp-source.h"

#include "base/ompp_path.h"
#include "tools/common/ompp-place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Generated declarations -------------------------------------------------------------------------------------- */

/* What a note says about; see ompp_build_note() in src/opari-bridge/ompp_pomp2.c. */
enum { NOTE_UNINSTRUMENTED, NOTE_REMARK, NOTE_UNSEEN, NOTE_QUIET, NOTE_LEFT_OUT };

/* A description in OPARI2's form, see src/opari-bridge/ompp_pomp2_ctc.h. */
static char *description(const kinst_scan_t *s, const kinst_region_t *r)
{
    char *span = kinst_scan_span(s, r->begin, r->first, r->end, r->last),
         *name = r->name ? kinst_escaped(r->name) : NULL;

    return kinst_text("*regionType=%s*%s%s%s**", r->type, span, name ? "*userRegionName=" : "", name ? name : "");
}

/* Teams on the host run one after the other on the thread that meets them: a team of one. */
static void put_league(kinst_buffer_t *b, const kinst_scan_t *s, size_t i)
{
    static const char head[] =
        "static __inline__ __attribute__((__unused__, __no_instrument_function__)) void ompp_region_";

    kinst_putf(b,
               "%sbegin_%zu(POMP2_Task_handle *team)\n{\n    ompp_pomp2_fork(&ompp_region_%zu, team, \"%s\");\n"
               "    ompp_pomp2_member_begin(&ompp_region_%zu, *team);\n}\n",
               head, i + 1, i + 1, description(s, &s->regions[i]), i + 1);
    kinst_putf(b,
               "%send_%zu(POMP2_Task_handle team)\n{\n    POMP2_Parallel_end(&ompp_region_%zu);\n    "
               "ompp_pomp2_join(team);\n}\n",
               head, i + 1, i + 1);
}

static void put_task(kinst_buffer_t *b, const kinst_scan_t *s, size_t i)
{
    static const char head[] = "static __inline__ __attribute__((__unused__)) void ompp_region_";

    kinst_putf(b,
               "%sbegin_%zu(POMP2_Task_handle *task)\n{\n    POMP2_Task_handle old;\n"
               "    POMP2_Task_create_begin(&ompp_region_%zu, task, &old, 1, \"%s\");\n}\n",
               head, i + 1, i + 1, description(s, &s->regions[i]));
    kinst_putf(b, "%send_%zu(void)\n{\n    POMP2_Task_create_end(&ompp_region_%zu, 0);\n}\n", head, i + 1, i + 1);
    kinst_putf(b, "%sleave_%zu(POMP2_Task_handle *task)\n{\n    ompp_pomp2_task_end(*task);\n}\n", head, i + 1);
}

/* Functions, so that the handles need no data-sharing clauses. */
static void put_region(kinst_buffer_t *b, const kinst_scan_t *s, size_t i)
{
    static const char head[] =
        "static __inline__ __attribute__((__unused__, __no_instrument_function__)) void ompp_region_";
    const kinst_region_t *r = &s->regions[i];

    kinst_putf(b, "static OPARI2_Region_handle ompp_region_%zu = 0;\n", i + 1);
    if (strcmp(r->type, "teams") == 0) {
        put_league(b, s, i);
        return;
    }
    if (strncmp(r->type, "task", 4) == 0 && (!r->type[4] || r->type[4] == '*')) {
        put_task(b, s, i);
        return;
    }
    kinst_putf(b, "%sbegin_%zu(void)\n{\n    POMP2_Begin(&ompp_region_%zu, \"%s\");\n}\n", head, i + 1, i + 1,
               description(s, r));
    kinst_putf(b, "%send_%zu(void)\n{\n    POMP2_End(&ompp_region_%zu);\n}\n", head, i + 1, i + 1);
    if (strcmp(r->type, "taskgroup") == 0)
        kinst_putf(b, "%sawait_%zu(void)\n{\n    ompp_pomp2_await_tasks(&ompp_region_%zu);\n}\n", head, i + 1, i + 1);
    if (strcmp(r->type, "scope") == 0)
        kinst_putf(b,
                   "%sbarrier_%zu(void)\n{\n    POMP2_Task_handle task;\n"
                   "    POMP2_Implicit_barrier_enter(&ompp_region_%zu, &task);\n}\n",
                   head, i + 1, i + 1);
}

static void put_c(kinst_buffer_t *b, const kinst_scan_t *s, const char *declaration)
{
    kinst_putf(b, "%s%s", s->source->lang == KINST_LANG_CXX ? "extern \"C\" " : "extern ", declaration);
}

static void put_pairs(kinst_buffer_t *b, int kind, const kinst_list_t *pairs)
{
    for (size_t i = 0; i + 1 < pairs->n; i += 2)
        kinst_putf(b, "    ompp_build_note(%d, \"%s\", \"%s\");\n", kind, kinst_escaped(pairs->v[i]),
                   kinst_escaped(pairs->v[i + 1]));
}

/*
 * Constructors that tell the run about what the build could not do, and which regions there are; without libompp the
 * weak functions are not there.
 */
static void put_notes(kinst_buffer_t *b, const kinst_scan_t *s, const char *unmodified)
{
    const kinst_list_t *left_out = &kinst_own.left_out;

    if (!unmodified && s->ignored.n + s->unseen.n + s->quiet.n + left_out->n == 0) return;
    put_c(b, s, "void ompp_build_note(int, const char *, const char *) __attribute__((__weak__));\n");
    kinst_puts(b, "static void __attribute__((__constructor__, __used__, __no_instrument_function__)) "
                  "ompp_build_notes_here(void)\n{\n"
                  "    if (!ompp_build_note) return;\n");
    if (unmodified) {
        kinst_list_t files = {0};
        kinst_add(&files, s->absolute);
        kinst_add(&files, unmodified);
        for (size_t i = 0; i < s->files.n; i++) {
            if (strcmp(s->files.v[i], s->absolute) == 0) continue;
            kinst_add(&files, s->files.v[i]);
            kinst_addf(&files, "header of %s: %s", s->absolute, unmodified);
        }
        put_pairs(b, NOTE_UNINSTRUMENTED, &files);
    } else {
        put_pairs(b, NOTE_UNSEEN, &s->unseen);
        put_pairs(b, NOTE_LEFT_OUT, left_out);
    }
    put_pairs(b, NOTE_REMARK, &s->ignored);
    put_pairs(b, NOTE_QUIET, &s->quiet);
    kinst_puts(b, "}\n");
}

static void put_regions(kinst_buffer_t *b, const kinst_scan_t *s)
{
    for (size_t i = 0; i < s->nregions; i++) put_region(b, s, i);
    put_notes(b, s, NULL);
}

/* All descriptions of the file, for the regions that are never executed. */
static void put_list(kinst_buffer_t *b, const kinst_scan_t *s, const kinst_list_t *ctcs)
{
    put_c(b, s, "void ompp_build_regions(const char *const *, unsigned) __attribute__((__weak__));\n");
    kinst_puts(b, "static const char *const ompp_descriptions[] = {\n");
    for (size_t i = 0; i < ctcs->n; i++) kinst_putf(b, "    \"%s\",\n", ctcs->v[i]);
    for (size_t i = 0; i < s->nregions; i++) kinst_putf(b, "    \"%s\",\n", description(s, &s->regions[i]));
    kinst_putf(b,
               "    0};\nstatic void __attribute__((__constructor__, __used__, __no_instrument_function__)) "
               "ompp_build_regions_here(void)\n{\n"
               "    if (ompp_build_regions) ompp_build_regions(ompp_descriptions, %zu);\n}\n",
               ctcs->n + s->nregions);
}

/* ---- The texts of a source --------------------------------------------------------------------------------------- */

/* dir/base and dir/base.ompp.inc, which it includes. */
static char *write_texts(const char *dir, const char *base, const kinst_buffer_t *inc, const kinst_buffer_t *body)
{
    char *text = kinst_text("%s/%s", dir, base), *inc_path = kinst_text("%s.ompp.inc", text);
    kinst_buffer_t whole = {0};

    if (mkdir(dir, 0700) != 0 && errno != EEXIST) return NULL; /* it may have been written before */
    kinst_putf(&whole, "#include \"%s.ompp.inc\"\n", base);
    kinst_put(&whole, body->text, body->size);
    if (!kinst_file_write(inc_path, inc->text, inc->size) || !kinst_file_write(text, whole.text, whole.size))
        return NULL;
    return text;
}

static void make_noted(kinst_source_t *source, const kinst_scan_t *s, const char *original, size_t size,
                       const char *folder)
{
    kinst_buffer_t inc = {0}, body = {0};

    kinst_puts(&inc, "#pragma GCC system_header\n");
    put_notes(&inc, s, source->reason);
    kinst_putf(&body, "#line 1 \"%s\"\n", kinst_escaped(source->path));
    kinst_put(&body, original, size);
    source->text[KINST_TEXT_NOTED] =
        write_texts(kinst_text("%s/%s", source->dir, folder), ompp_path_last(source->path), &inc, &body);
}

/* The text without OPARI2: user regions and switches only. */
static const char *make_plain(kinst_source_t *source, const kinst_scan_t *s)
{
    kinst_buffer_t inc = {0}, body = {0};

    kinst_puts(&inc, "#pragma GCC system_header\n#define OMPP_KINST 1\n");
    kinst_putf(&inc, "#include \"%s/opari2/pomp2_user_lib.h\"\n", kinst_escaped(ompp_place_find()->pkginclude));
    put_regions(&inc, s);
    kinst_putf(&body, "#line 1 \"%s\"\n", kinst_escaped(source->path));
    kinst_put(&body, s->out.text, s->out.size);
    source->text[KINST_TEXT_INSTRUMENTED] =
        write_texts(kinst_text("%s/instrumented", source->dir), ompp_path_last(source->path), &inc, &body);
    return source->text[KINST_TEXT_INSTRUMENTED] ? NULL : "no space for temporary files";
}

/* The text through OPARI2, for the compiler without preprocessor. */
static const char *make_opari(kinst_source_t *source, const kinst_scan_t *s)
{
    char *dir = kinst_text("%s/instrumented", source->dir),
         *path = kinst_text("%s/%s", dir, ompp_path_last(source->path));
    kinst_buffer_t head = {0}, body = {0};
    kinst_list_t ctcs = {0};
    const char *reason;

    put_c(&head, s,
          "const char ompp_opari_linked __attribute__((__weak__, __used__, __visibility__(\"default\")));\n"
          "const char ompp_opari_linked = 1;\n");
    put_regions(&head, s);
    kinst_putf(&body, "# 0 \"%s\"\n", kinst_escaped(source->path));
    reason = kinst_opari(s, &head, &body, &ctcs);
    if (reason) return reason;
    kinst_puts(&body, "# 1 \"<ompp>\" 3\n");
    put_list(&body, s, &ctcs);
    if (mkdir(dir, 0700) != 0 || !kinst_file_write(path, body.text, body.size)) return "no space for temporary files";
    source->text[KINST_TEXT_INSTRUMENTED] = path;
    source->preprocessed = true;
    return NULL;
}

/* ---- Which text -------------------------------------------------------------------------------------------------- */

void kinst_source_lower(kinst_source_t *source, const char *reason)
{
    kinst_scan_t s = {.source = source, .absolute = realpath(source->path, NULL), .files = source->files};
    size_t size;

    if (source->lang == KINST_LANG_FORTRAN) {
        kinst_fortran_lower(source, reason);
        return;
    }
    if (!source->reason) source->reason = reason;
    if (source->level == KINST_TEXT_INSTRUMENTED) {
        kinst_say("%s is compiled unmodified: %s", source->path, source->reason);
        char *original = kinst_file_read(source->path, &size);
        if (original && s.absolute) make_noted(source, &s, original, size, "noted");
    }
    source->level = source->level == KINST_TEXT_INSTRUMENTED && source->text[KINST_TEXT_NOTED] ? KINST_TEXT_NOTED
                                                                                               : KINST_TEXT_ORIGINAL;
}

kinst_source_t kinst_source_unhooked(const kinst_source_t *source, const char *why)
{
    kinst_source_t other = *source;
    kinst_scan_t s = {.source = &other, .absolute = realpath(source->path, NULL), .files = source->files};
    char *subject = kinst_text("loads and stores of %s", s.absolute ? s.absolute : source->path);
    char *reason = kinst_text("not counted, it does not compile with hooks: %s", why);
    char *original = source->dir && !source->fortran ? kinst_file_read(source->path, &(size_t){0}) : NULL;

    other.level = KINST_TEXT_ORIGINAL;
    kinst_add(&s.ignored, subject);
    kinst_add(&s.ignored, reason);
    if (source->fortran) kinst_fortran_unhooked(&other, subject, reason);
    if (!original) return other;
    make_noted(&other, &s, original, strlen(original), "unhooked");
    if (other.text[KINST_TEXT_NOTED]) other.level = KINST_TEXT_NOTED;
    return other;
}

static bool make_dir(kinst_source_t *source)
{
    static unsigned number;

    if (!kinst_private()) return false;
    source->dir = kinst_text("%s/%u", kinst_private(), number++);
    return mkdir(source->dir, 0700) == 0;
}

/* Preprocesses and scans; false when there is nothing in it for OPARI2. */
static bool through_opari(const kinst_command_t *command, kinst_source_t *source, const char *absolute, kinst_scan_t *s)
{
    size_t size;
    char *text = kinst_preprocess(command, source, &size, &source->quiet);

    *s = (kinst_scan_t){.source = source, .absolute = absolute, .preprocessed = true};
    if (!text || strlen(text) != size) return false; /* the compiler will say what is wrong */
    text = kinst_data_arguments(command, source, text, &size);
    kinst_digraphs(text, size, source->lang == KINST_LANG_CXX);
    text = kinst_attributes(text, &size);
    kinst_omp_scan(s, text, size);
    source->files = s->files;
    if (s->loud) source->quiet = false;
    return s->has_openmp;
}

void kinst_source_make(const kinst_command_t *command, kinst_source_t *source, bool opari)
{
    kinst_scan_t raw = {.source = source, .absolute = realpath(source->path, NULL)}, s;
    const char *reason;
    size_t size;
    char *text;

    if (source->lang == KINST_LANG_FORTRAN) kinst_fortran_make(command, source, opari);
    if (source->lang != KINST_LANG_C && source->lang != KINST_LANG_CXX) return;
    text = kinst_file_read(source->path, &size);
    if (!text || !raw.absolute || strlen(text) != size || !make_dir(source)) return;
    kinst_omp_scan(&raw, text, size);
    kinst_memory_note(command, source, &raw.ignored);
    if (opari && through_opari(command, source, raw.absolute, &s)) {
        kinst_memory_note(command, source, &s.ignored);
        reason = make_opari(source, &s);
    } else if (raw.has_calls || raw.ignored.n > 0 || raw.quiet.n > 0) {
        reason = make_plain(source, &raw);
    } else if (opari && s.unseen.n > 0) {
        raw.unseen = s.unseen;
        make_noted(source, &raw, text, size, "noted");
        if (source->text[KINST_TEXT_NOTED]) source->level = KINST_TEXT_NOTED;
        return;
    } else {
        return;
    }
    source->level = KINST_TEXT_INSTRUMENTED;
    if (reason) kinst_source_lower(source, reason);
}
