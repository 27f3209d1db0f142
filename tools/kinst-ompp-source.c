/**
 * \file
 * The instrumented text of a source: the wrapper's own pragmas become calls, OPARI2 does the OpenMP constructs, and every #line is
 * made to name the user's file as the user wrote it. Lines keep their numbers.
 */
#include "tools/kinst-ompp.h"

#include "tools/ompp-place.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Stands in for omp.h while OPARI2 reads the source: it would delete the line. */
#define KEEP_OMP "#include <ompp-keeps-omp.h>"

/* ---- Text that grows ------------------------------------------------------------------------------------------------- */

typedef struct {
    char *text;
    size_t size, room;
} buffer_t;

static void put(buffer_t *b, const char *text, size_t size)
{
    if (b->size + size + 1 > b->room) {
        b->room = 2 * b->room + size + 1024;
        b->text = realloc(b->text, b->room);
        if (!b->text) abort();
    }
    memcpy(b->text + b->size, text, size);
    b->size += size;
    b->text[b->size] = '\0';
}

static void puts_to(buffer_t *b, const char *text)
{
    put(b, text, strlen(text));
}

static void putf(buffer_t *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void putf(buffer_t *b, const char *format, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) abort();
    va_end(args);
    puts_to(b, text);
    free(text);
}

/* As the inside of a C string. */
static char *escaped(const char *text)
{
    buffer_t b = {0};

    puts_to(&b, "");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') put(&b, "\\", 1);
        put(&b, *text == '\n' ? " " : text, 1);
    }
    return b.text;
}

/* ---- What is found in a source --------------------------------------------------------------------------------------- */

typedef struct {
    char *name;
    unsigned begin, end; /* physical lines */
} user_region_t;

/* A #line of the user: physical line `at` and on are `line` and on of `file` (NULL = the source itself). */
typedef struct {
    unsigned at, line;
    const char *file;
} mapping_t;

typedef struct {
    const kinst_source_t *source;
    const char *absolute; /* path of the source, for regions */
    buffer_t text;        /* the translated source */
    user_region_t *regions;
    size_t nregions;
    mapping_t *mappings;
    size_t nmappings;
    kinst_list_t ignored; /* pragmas, with the reason behind each: subject, reason, subject, ... */
    bool has_openmp, has_calls;
} scan_t;

static mapping_t mapped(const scan_t *s, unsigned line)
{
    mapping_t m = {0, line, NULL};

    for (size_t i = 0; i < s->nmappings && s->mappings[i].at <= line; i++)
        m = (mapping_t){line, s->mappings[i].line + line - s->mappings[i].at, s->mappings[i].file};
    return m;
}

/* Text between the outer parentheses, without blanks around it. */
static char *in_parentheses(const char *p, const char *end)
{
    const char *open = memchr(p, '(', end - p), *close = end;

    while (close > p && close[-1] != ')') close--;
    if (!open || close <= open + 1) return kinst_text("%s", "");
    open = kinst_skip_blanks(open + 1);
    for (close--; close > open && isspace((unsigned char)close[-1]); close--) continue;
    return kinst_text("%.*s", (int)(close - open), open);
}

static size_t region_named(const scan_t *s, const char *name)
{
    for (size_t i = s->nregions; i > 0; i--)
        if (strcmp(s->regions[i - 1].name, name) == 0) return i;
    return 0;
}

static void ignore(scan_t *s, const char *what, unsigned line, const char *why)
{
    mapping_t m = mapped(s, line);

    kinst_addf(&s->ignored, "pragma inst %s at %s:%u ignored", what, m.file ? m.file : s->source->path, m.line);
    kinst_add(&s->ignored, why);
}

/* One pragma of the wrapper's; p stands behind "inst". */
static void translate(scan_t *s, const char *p, const char *end, unsigned line, bool statement_fits)
{
    static const struct {
        const char *word, *call;
    } simple[] = {{"init", "POMP2_Init();"}, {"on", "POMP2_On();"}, {"off", "POMP2_Off();"}, {"finalize", "POMP2_Finalize();"}};
    bool begin = strncmp(p, "begin", 5) == 0, last = strncmp(p, "end", 3) == 0;
    size_t id;

    if (strncmp(p, "data", 4) == 0) {
        ignore(s, "data", line, "data structures are not measured in this version");
        return;
    }
    if (kinst_take(&p, "noinstrument")) puts_to(&s->text, "#pragma pomp noinstrument");
    if (kinst_take(&p, "instrument")) puts_to(&s->text, "#pragma pomp instrument");
    for (size_t i = 0; i < sizeof simple / sizeof simple[0]; i++) {
        const char *rest = p;
        if (!kinst_take(&rest, simple[i].word)) continue;
        if (statement_fits)
            puts_to(&s->text, simple[i].call);
        else
            ignore(s, simple[i].word, line, "it stands where a statement would change the program");
        s->has_calls = true;
        return;
    }
    if (!begin && !last && strncmp(p, "altend", 6) != 0) return;
    char *name = in_parentheses(p, end);
    id = region_named(s, name);
    if (!statement_fits) {
        ignore(s, begin ? "begin" : "end", line, "it stands where a statement would change the program");
    } else if (begin) {
        s->regions = realloc(s->regions, (s->nregions + 1) * sizeof *s->regions);
        if (!s->regions) abort();
        s->regions[s->nregions++] = (user_region_t){name, line, line};
        putf(&s->text, "ompp_user_begin_%zu();", s->nregions);
    } else if (id) {
        s->regions[id - 1].end = line;
        putf(&s->text, "ompp_user_end_%zu();", id);
    } else {
        ignore(s, "end", line, "no begin before it in this file");
    }
    s->has_calls = true;
}

static void note_line(scan_t *s, const char *p, unsigned line)
{
    char *rest;
    unsigned long number = strtoul(p, &rest, 10);
    const char *open = strchr(rest, '"'), *close = open ? strchr(open + 1, '"') : NULL, *eol = strchr(rest, '\n');
    const char *file = s->nmappings ? s->mappings[s->nmappings - 1].file : NULL;

    if (rest == p) return;
    if (close && (!eol || close < eol)) file = kinst_text("%.*s", (int)(close - open - 1), open + 1);
    s->mappings = realloc(s->mappings, (s->nmappings + 1) * sizeof *s->mappings);
    if (!s->mappings) abort();
    s->mappings[s->nmappings++] = (mapping_t){line + 1, (unsigned)number, file};
}

/* Does this OpenMP directive want a block or statement after it? */
static bool wants_block(const char *p)
{
    static const char *const alone[] = {"barrier", "taskwait", "taskyield", "flush", "threadprivate", "cancel", "cancellation"};

    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
        if (strncmp(p, alone[i], strlen(alone[i])) == 0) return false;
    return true;
}

/*
 * A directive: from '#' to its end, continuation lines included. before: last character of code in front of it; a call may stand
 * there when that ends a statement or opens a block.
 */
static void directive(scan_t *s, const char *hash, const char *end, unsigned line, char *before)
{
    const char *p = kinst_skip_blanks(hash + 1);
    size_t kept = s->text.size;
    bool fits = *before && strchr(";{}:", *before);

    if (kinst_take(&p, "line") || isdigit((unsigned char)*p)) note_line(s, p, line);
    if (kinst_take(&p, "include") && (strncmp(p, "<omp.h>", 7) == 0 || strncmp(p, "\"omp.h\"", 7) == 0)) {
        puts_to(&s->text, KEEP_OMP);
    } else if (kinst_take(&p, "pragma")) {
        bool openmp = kinst_take(&p, "omp"), pomp = !openmp && kinst_take(&p, "pomp"), inst;
        inst = (openmp || pomp) && kinst_take(&p, "inst");
        if (pomp && (strncmp(p, "noinstrument", 12) == 0 || strncmp(p, "instrument", 10) == 0)) inst = true;
        if (inst) {
            translate(s, p, end, line, fits);
            if (s->text.size == kept) put(&s->text, " ", 1);
        } else if (openmp) {
            s->has_openmp = true;
            *before = wants_block(p) ? ')' : ';';
        }
    }
    if (s->text.size == kept) {
        put(&s->text, hash, end - hash);
        return;
    }
    for (const char *c = hash; c < end; c++)
        if (*c == '\n') put(&s->text, "\n", 1);
}

/* Walks through the text once; copies it, with the wrapper's pragmas translated. */
static void scan(scan_t *s, const char *text, size_t size)
{
    const char *p = text, *end = text + size, *from, *counted = text;
    bool at_line_start = true;
    char before = ';';
    unsigned line = 1;

    while (p < end) {
        for (; counted < p; counted++) line += *counted == '\n';
        from = p;
        if (*p == '\n') {
            at_line_start = true;
            p++;
        } else if (*p == '#' && at_line_start) {
            p = kinst_end_of_directive(p, end);
            directive(s, from, p, line, &before);
            continue;
        } else if (*p == '/' && p + 1 < end && p[1] == '*') {
            p = kinst_behind_comment(p, end);
        } else if (*p == '/' && p + 1 < end && p[1] == '/') {
            p = kinst_end_of_line(p, end);
        } else if (*p == '"' && p > text && p[-1] == 'R') {
            p = kinst_behind_raw(p, end);
            before = '"';
        } else if (*p == '"' || (*p == '\'' && !(p > text && isxdigit((unsigned char)p[-1])))) {
            p = kinst_behind_quotes(p, end);
            before = '"';
        } else {
            if (!isspace((unsigned char)*p)) before = *p, at_line_start = false;
            p++;
        }
        if (p > end) p = end;
        put(&s->text, from, p - from);
    }
    if (strstr(text, "omp_") && strstr(text, "_lock")) s->has_openmp = true;
}

/* ---- Generated texts ------------------------------------------------------------------------------------------------- */

/* A description in OPARI2's form, see src/opari-bridge/ompp_pomp2_ctc.h. */
static void put_region(buffer_t *b, const scan_t *s, size_t i)
{
    const user_region_t *r = &s->regions[i];
    mapping_t begin = mapped(s, r->begin), end = mapped(s, r->end);
    char *file = escaped(begin.file ? begin.file : s->absolute), *name = escaped(r->name);

    putf(b, "static OPARI2_Region_handle ompp_user_region_%zu = 0;\n", i + 1);
    putf(b, "static __inline__ __attribute__((__unused__)) void ompp_user_begin_%zu(void)\n{\n", i + 1);
    putf(b, "    POMP2_Begin(&ompp_user_region_%zu, \"*regionType=userRegion*sscl=%s:%u:%u*escl=%s:%u:%u*userRegionName=%s**\");\n}\n",
         i + 1, file, begin.line, begin.line, file, end.line, end.line, name);
    putf(b, "static __inline__ __attribute__((__unused__)) void ompp_user_end_%zu(void)\n{\n", i + 1);
    putf(b, "    POMP2_End(&ompp_user_region_%zu);\n}\n", i + 1);
}

/* Constructors that tell the run about what the build could not do; without libompp the weak function is not there. */
static void put_notes(buffer_t *b, const scan_t *s, const char *unmodified)
{
    const kinst_source_t *source = s->source;
    bool partly = source->unseen_here && !unmodified;

    if (!unmodified && !partly && s->ignored.n == 0 && source->unseen.n == 0 && !source->unsearched) return;
    puts_to(b, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
               "extern void ompp_build_note(int, const char *, const char *) __attribute__((__weak__));\n"
               "#ifdef __cplusplus\n}\n#endif\n"
               "static void __attribute__((__constructor__, __used__)) ompp_build_notes_here(void)\n{\n"
               "    if (!ompp_build_note) return;\n");
    if (unmodified) putf(b, "    ompp_build_note(0, \"%s\", \"%s\");\n", escaped(s->absolute), escaped(unmodified));
    if (partly)
        putf(b, "    ompp_build_note(0, \"%s\", \"OpenMP directives in _Pragma; clang and --with=ompt see them\");\n",
             escaped(s->absolute));
    for (size_t i = 0; i < source->unseen.n; i++)
        putf(b, "    ompp_build_note(0, \"%s\", \"OpenMP directives in a header; clang and --with=ompt see them\");\n",
             escaped(source->unseen.v[i]));
    if (source->unsearched)
        putf(b, "    ompp_build_note(1, \"headers of %s: not all searched for OpenMP directives\", \"%s\");\n",
             escaped(s->absolute), escaped(source->unsearched));
    for (size_t i = 0; i + 1 < s->ignored.n; i += 2)
        putf(b, "    ompp_build_note(1, \"%s\", \"%s\");\n", escaped(s->ignored.v[i]), escaped(s->ignored.v[i + 1]));
    puts_to(b, "}\n");
}

static void put_head(buffer_t *b, const scan_t *s, bool opari)
{
    const char *dir = escaped(ompp_place_find()->pkginclude);

    puts_to(b, "#pragma GCC system_header\n#define OMPP_KINST 1\n");
    putf(b, "#include \"%s/opari2/pomp2_user_lib.h\"\n", dir);
    if (opari)
        putf(b,
             "#include \"%s/opari2/pomp2_lib.h\"\n"
             "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
             "extern const char ompp_opari_linked __attribute__((__weak__, __used__, __visibility__(\"default\")));\n"
             "const char ompp_opari_linked = 1;\n"
             "#ifdef __cplusplus\n}\n#endif\n",
             dir);
    for (size_t i = 0; i < s->nregions; i++) put_region(b, s, i);
    put_notes(b, s, NULL);
}

static void put_user_line(buffer_t *b, const scan_t *s, unsigned line)
{
    mapping_t m = mapped(s, line);

    putf(b, "#line %u \"%s\"\n", m.line, escaped(m.file ? m.file : s->source->path));
}

/* One line of text that may hold KEEP_OMP. */
static void put_code(buffer_t *b, const char *line, size_t size)
{
    const char *keep = memmem(line, size, KEEP_OMP, strlen(KEEP_OMP));

    if (keep) {
        put(b, line, keep - line);
        puts_to(b, "#include <omp.h>");
        size -= keep - line + strlen(KEEP_OMP);
        line = keep + strlen(KEEP_OMP);
    }
    put(b, line, size);
}

/* ---- OPARI2 ---------------------------------------------------------------------------------------------------------- */

static char *first_line_of(const char *path)
{
    size_t size;
    char *text = kinst_file_read(path, &size);

    if (!text || !*text) return "no message";
    text += strspn(text, " \r\n");
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* Runs OPARI2 on in/source.c. \return NULL, or why it gave nothing. */
static const char *run_opari(const kinst_source_t *source, const char *in)
{
    kinst_list_t argv = {0};
    int status;

    kinst_add(&argv, kinst_own.opari);
    kinst_add(&argv, source->lang == KINST_LANG_CXX ? "--c++" : "--c");
    kinst_add(&argv, "--omp-task-untied=keep");
    if (kinst_own.nosrc) kinst_add(&argv, "--nosrc");
    for (size_t i = 0; i < kinst_own.opari_options.n; i++) kinst_add(&argv, kinst_own.opari_options.v[i]);
    kinst_add(&argv, "source.c");
    kinst_add(&argv, "out.c");
    char *log = kinst_text("%s/log", in);
    status = kinst_run(argv.v, &(kinst_run_t){.cwd = in, .out = log, .err = log, .seconds = kinst_own.opari_seconds});
    if (status == KINST_TIMED_OUT) return kinst_text("OPARI2 took longer than %g s", kinst_own.opari_seconds);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return "OPARI2 is not installed";
    if (WIFSIGNALED(status)) return kinst_text("OPARI2 died of signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) != 0) return kinst_text("OPARI2 failed: %s", first_line_of(log));
    return NULL;
}

/* "#line 12 "/private/in/source.c"": the number, or 0. */
static unsigned own_line(const char *line, const char *in)
{
    char *rest;
    unsigned long number;

    if (strncmp(line, "#line ", 6) != 0) return 0;
    number = strtoul(line + 6, &rest, 10);
    if (strncmp(rest, " \"", 2) != 0 || strncmp(rest + 2, in, strlen(in)) != 0) return 0;
    return (unsigned)number;
}

/* What OPARI2 wrote, with the user's lines, and with declarations that give no warning when nothing uses them. */
static void put_instrumented(buffer_t *b, const scan_t *s, const char *out, const char *in)
{
    static const char if_line[] = "  int pomp2_if = ", threads_line[] = "  int pomp2_num_threads = omp_get_max_threads();";
    const char *next;

    for (const char *line = out; *line; line = next) {
        size_t length = strcspn(line, "\n");
        unsigned number = own_line(line, in);
        next = line + length + (line[length] == '\n');
        if (line == out && strncmp(line, "#include", 8) == 0) continue; /* of the file that put_declarations() replaces */
        if (number) {
            put_user_line(b, s, number);
        } else if (strncmp(line, threads_line, strlen(threads_line)) == 0) {
            puts_to(b, "  int pomp2_num_threads = POMP2_Lib_get_max_threads();\n");
        } else if (strncmp(line, if_line, strlen(if_line)) == 0) {
            puts_to(b, "  int __attribute__((__unused__)) pomp2_if = ");
            put(b, line + strlen(if_line), next - line - strlen(if_line));
        } else {
            put_code(b, line, next - line);
        }
    }
}

/* "sscl=/private/in/source.c:12:12": the user's file and line instead; p stands behind the path. */
static const char *put_place(buffer_t *b, const scan_t *s, const char *p)
{
    unsigned first = 0, last = 0;
    int n = 0;

    if (sscanf(p, ":%u:%u%n", &first, &last, &n) != 2) n = 0;
    mapping_t m = mapped(s, first), l = mapped(s, last);
    puts_to(b, escaped(m.file ? m.file : s->absolute));
    if (n) putf(b, ":%u:%u", m.line, l.line);
    return p + n;
}

/* OPARI2's declarations, without its functions that assign handles: handles are assigned when they are first used. */
static void put_declarations(buffer_t *b, const scan_t *s, const char *inc, const char *in)
{
    char *own = kinst_text("%s/source.c", in), *stop = strstr(inc, "#ifdef __cplusplus\nextern \"C\"");

    if (stop) *stop = '\0';
    for (const char *p = inc; *p;) {
        const char *hit = strstr(p, own), *include = strncmp(p, "#include", 8) == 0 ? p : strstr(p, "\n#include");
        if (include && (!hit || include < hit)) {
            put(b, p, include - p + (*include == '\n'));
            p = include + 1;
            p += strcspn(p, "\n");
            continue;
        }
        if (!hit) hit = p + strlen(p);
        put(b, p, hit - p);
        p = *hit ? put_place(b, s, hit + strlen(own)) : hit;
    }
    free(own);
}

/* ---- The texts of a source ------------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* dir/base and dir/base.ompp.inc, which it includes. */
static char *write_texts(const char *dir, const char *base, const buffer_t *inc, const buffer_t *body)
{
    char *text = kinst_text("%s/%s", dir, base), *inc_path = kinst_text("%s.ompp.inc", text);
    buffer_t whole = {0};

    if (mkdir(dir, 0700) != 0) return NULL;
    putf(&whole, "#include \"%s.ompp.inc\"\n", base);
    put(&whole, body->text ? body->text : "", body->size);
    if (!kinst_file_write(inc_path, inc->text, inc->size) || !kinst_file_write(text, whole.text, whole.size)) return NULL;
    return text;
}

static void make_noted(kinst_source_t *source, const scan_t *s, const char *original, size_t size)
{
    buffer_t inc = {0}, body = {0};

    puts_to(&inc, "#pragma GCC system_header\n");
    put_notes(&inc, s, source->reason);
    putf(&body, "#line 1 \"%s\"\n", escaped(source->path));
    put(&body, original, size);
    source->text[KINST_TEXT_NOTED] = write_texts(kinst_text("%s/noted", source->dir), base_name(source->path), &inc, &body);
}

/* The text without OPARI2: user regions and switches only. */
static void make_plain(kinst_source_t *source, const scan_t *s)
{
    buffer_t inc = {0}, body = {0};

    put_head(&inc, s, false);
    put_user_line(&body, s, 1);
    put_code(&body, s->text.text, s->text.size);
    /* A second or third KEEP_OMP in the same text. */
    for (char *hit; (hit = strstr(body.text, KEEP_OMP));) {
        char *rest = kinst_text("%s", hit + strlen(KEEP_OMP));
        body.size = hit - body.text;
        puts_to(&body, "#include <omp.h>");
        puts_to(&body, rest);
        free(rest);
    }
    source->text[KINST_TEXT_INSTRUMENTED] =
        write_texts(kinst_text("%s/instrumented", source->dir), base_name(source->path), &inc, &body);
}

static const char *make_opari(kinst_source_t *source, const scan_t *s)
{
    char *in = kinst_text("%s/in", source->dir), *out, *inc_text;
    buffer_t inc = {0}, body = {0};
    const char *reason;
    size_t size;

    if (mkdir(in, 0700) != 0 || !kinst_file_write(kinst_text("%s/source.c", in), s->text.text, s->text.size))
        return "no space for temporary files";
    reason = run_opari(source, in);
    if (reason) return reason;
    out = kinst_file_read(kinst_text("%s/out.c", in), &size);
    inc_text = kinst_file_read(kinst_text("%s/source.c.opari.inc", in), &size);
    if (!out || !inc_text) return "OPARI2 wrote nothing";
    put_head(&inc, s, true);
    put_declarations(&inc, s, inc_text, in);
    put_instrumented(&body, s, out, in);
    source->text[KINST_TEXT_INSTRUMENTED] =
        write_texts(kinst_text("%s/instrumented", source->dir), base_name(source->path), &inc, &body);
    return source->text[KINST_TEXT_INSTRUMENTED] ? NULL : "no space for temporary files";
}

void kinst_source_lower(kinst_source_t *source, const char *reason)
{
    if (!source->reason) source->reason = reason;
    if (source->level == KINST_TEXT_INSTRUMENTED) {
        kinst_say("%s is compiled unmodified: %s", source->path, source->reason);
        scan_t s = {.source = source, .absolute = realpath(source->path, NULL)};
        size_t size;
        char *original = kinst_file_read(source->path, &size);
        if (original && s.absolute) make_noted(source, &s, original, size);
    }
    source->level = source->level == KINST_TEXT_INSTRUMENTED && source->text[KINST_TEXT_NOTED] ? KINST_TEXT_NOTED
                                                                                               : KINST_TEXT_ORIGINAL;
}

void kinst_source_make(const kinst_command_t *command, kinst_source_t *source, bool opari)
{
    static unsigned number;
    scan_t s = {.source = source};
    const char *reason = NULL;
    size_t size;
    char *text;

    if (source->lang != KINST_LANG_C && source->lang != KINST_LANG_CXX) return;
    text = kinst_file_read(source->path, &size);
    s.absolute = realpath(source->path, NULL);
    if (!text || !s.absolute || strlen(text) != size) return;
    puts_to(&s.text, "");
    scan(&s, text, size);
    if (opari) kinst_headers_search(command, source, text, size);
    bool change = (opari && s.has_openmp) || s.has_calls || s.ignored.n > 0;
    if (!change && !source->unseen_here && source->unseen.n == 0 && !source->unsearched) return;
    if (!kinst_private()) return;
    source->dir = kinst_text("%s/%u", kinst_private(), number++);
    if (mkdir(source->dir, 0700) != 0) return;
    if (!change) {
        make_noted(source, &s, text, size);
        if (source->text[KINST_TEXT_NOTED]) source->level = KINST_TEXT_NOTED;
        return;
    }
    if (opari && s.has_openmp)
        reason = make_opari(source, &s);
    else
        make_plain(source, &s);
    source->level = KINST_TEXT_INSTRUMENTED;
    if (reason || !source->text[KINST_TEXT_INSTRUMENTED]) kinst_source_lower(source, reason ? reason : "no space");
}
