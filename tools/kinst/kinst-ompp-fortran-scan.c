/** \file What is in a Fortran source: ompp's own pragmas, #line, whether OPARI2 has anything to do, include files. */
#include "tools/kinst/kinst-ompp-fortran.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Include files that are searched for directives, at most. */
enum { MAX_INCLUDES = 500 };

kinst_mapping_t kinst_fortran_mapped(const kinst_fortran_t *f, unsigned line)
{
    size_t low = 0, high = f->nmappings; /* the last mapping not behind the line is below high */

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (f->mappings[middle].at <= line) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return (kinst_mapping_t){0, line, NULL};
    const kinst_mapping_t *m = &f->mappings[low - 1];
    return (kinst_mapping_t){line, m->line + line - m->at, m->file};
}

bool kinst_fortran_same_file(kinst_mapping_t a, kinst_mapping_t b)
{
    return a.file == b.file || (a.file && b.file && strcmp(a.file, b.file) == 0);
}

void kinst_fortran_marker(const kinst_fortran_t *f, FILE *out, unsigned line)
{
    kinst_mapping_t m = kinst_fortran_mapped(f, line);

    fprintf(out, "%s %u \"%s\"\n", f->form.cpp ? "#line" : "#", m.line,
            kinst_escaped(m.file ? m.file : f->source->path));
}

/* '# 12 "file"' or '#line 12 "file"'; p stands behind '#'. \return false when it is another line. */
static bool note_line(kinst_fortran_t *f, const char *p, unsigned line)
{
    const char *file = f->nmappings ? f->mappings[f->nmappings - 1].file : NULL;
    char *rest;

    p = kinst_skip_blanks(p);
    kinst_take(&p, "line");
    unsigned long number = strtoul(p, &rest, 10);
    if (rest == p) return false;
    const char *open = strchr(rest, '"'), *close = open ? strchr(open + 1, '"') : NULL;
    if (close) file = kinst_text("%.*s", (int)(close - open - 1), open + 1);
    if (file && strcmp(file, f->source->path) == 0) file = NULL;
    kinst_mapping_t *mapping = kinst_push(&f->mappings, &f->nmappings, sizeof *mapping);
    *mapping = (kinst_mapping_t){line + 1, (unsigned)number, file};
    return true;
}

/* ---- Pragmas ----------------------------------------------------------------------------------------------------- */

/* Behind the sentinel of one of ompp's pragmas, "inst" included, or NULL; *plain = it had no "inst". */
static const char *own_pragma(kinst_form_t form, const char *line, bool *plain)
{
    bool fixed_comment = form.fixed && *line && strchr("cC*!", *line);
    const char *p = fixed_comment ? line : kinst_skip_blanks(line);
    bool omp = false;

    *plain = false;
    if (!fixed_comment && *p != '!') return NULL;
    p++;
    if (!kinst_words(&p, "$pomp") && strncasecmp(p, "pomp$", 5) != 0) {
        omp = kinst_words(&p, "$omp");
        if (!omp) return NULL;
    } else if (strncasecmp(p, "pomp$", 5) == 0) {
        p += 5;
    }
    if (kinst_words(&p, "inst")) return p;
    *plain = true;
    return omp ? NULL : p;
}

static bool is_omp_inst(kinst_form_t form, const char *line)
{
    const char *p = strchr(line, '$');
    bool plain;

    return own_pragma(form, line, &plain) && p && strncasecmp(p, "$omp", 4) == 0;
}

void kinst_fortran_plain(const kinst_fortran_t *f, const char *text, FILE *out)
{
    kinst_lines_t lines = kinst_lines_of(text);

    kinst_fortran_marker(f, out, 1);
    for (size_t i = 0; i < lines.n; i++)
        fprintf(out, "%s\n", is_omp_inst(f->form, lines.v[i].text) ? "" : lines.v[i].text);
}

/* Must a loop or a single statement follow this directive? p stands behind the sentinel. */
static bool wants_statement(const char *p)
{
    static const char *const prefixes[] = {"target", "teams", "parallel", "master", "masked", NULL};
    static const char *const wanting[] = {"do",       "loop",       "simd",       "atomic", "sections", "workshare",
                                          "taskloop", "distribute", "paralleldo", "scan",   NULL};

    for (size_t i = 0; prefixes[i]; i++)
        if (kinst_words(&p, prefixes[i])) i = (size_t)-1; /* again from the first */
    for (size_t i = 0; wanting[i]; i++)
        if (kinst_words(&p, wanting[i])) return true;
    return false;
}

static void ignore(kinst_fortran_t *f, const char *what, unsigned line, const char *why)
{
    kinst_mapping_t m = kinst_fortran_mapped(f, line);

    kinst_addf(&f->ignored, "pragma inst %s at %s:%u ignored", what, m.file ? m.file : f->source->path, m.line);
    kinst_add(&f->ignored, why);
}

static size_t region_named(const kinst_fortran_t *f, const char *name)
{
    for (size_t i = f->nregions; i > 0; i--)
        if (strcmp(f->regions[i - 1].name, name) == 0) return i;
    return 0;
}

size_t kinst_fortran_region(kinst_fortran_t *f, const char *type, char *name, unsigned line)
{
    kinst_user_region_t *region = kinst_push(&f->regions, &f->nregions, sizeof *region);

    *region = (kinst_user_region_t){type, name, line, line};
    return f->nregions;
}

/* Why a variable of any type cannot be an argument: the standard that the user wants; NULL = it can. */
static const char *no_descriptors(const kinst_fortran_t *f)
{
    static const char *const older[] = {"-std=f95", "-std=f2003", "-std=f2008"};
    const char *standard = "";

    for (size_t i = 0; i < f->compiler->words.n; i++)
        if (strncmp(f->compiler->words.v[i], "-std=", 5) == 0) standard = f->compiler->words.v[i];
    for (size_t i = 0; i < sizeof older / sizeof older[0]; i++)
        if (strcmp(standard, older[i]) == 0) return "it needs -std=gnu or f2018; call ompp_papi_set_drange instead";
    return NULL;
}

/* data(variable, bytes, name); why_not: the pragma's place does not fit. */
static char *translate_data(kinst_fortran_t *f, const char *p, unsigned line, const char *why_not)
{
    char *inside = kinst_in_parentheses(p, p + strlen(p)), *arguments[3];
    bool ok = kinst_three_arguments(inside, inside + strlen(inside), arguments);

    if (!why_not && !ok) why_not = "it needs a variable, a number of bytes and a name";
    if (!why_not) why_not = no_descriptors(f);
    if (why_not) {
        ignore(f, "data", line, why_not);
        return kinst_text("%s", "");
    }
    f->has_calls = true;
    /* No intrinsic function: the program may have a variable of its name. */
    return kinst_text("      call ompp_f_inst_data(%s, (%s)+0_8, %s)", arguments[2], arguments[1], arguments[0]);
}

/* The line that stands for a pragma; p stands behind "inst". */
static char *translate(kinst_fortran_t *f, const char *p, unsigned line, bool fits)
{
    static const struct {
        const char *word, *call;
    } simple[] = {{"init", "POMP2_Init"}, {"on", "POMP2_On"}, {"off", "POMP2_Off"}, {"finalize", "POMP2_Finalize"}};
    static const char no_place[] = "it stands where a statement would change the program";
    bool begin, last;

    if (kinst_words(&p, "noinstrument")) return kinst_text("!$pomp noinstrument");
    if (kinst_words(&p, "instrument")) return kinst_text("!$pomp instrument");
    if (kinst_words(&p, "data")) return translate_data(f, p, line, fits ? NULL : no_place);
    for (size_t i = 0; i < sizeof simple / sizeof simple[0]; i++) {
        if (!kinst_words(&p, simple[i].word)) continue;
        f->has_calls = true;
        if (fits) return kinst_text("      call %s", simple[i].call);
        ignore(f, simple[i].word, line, no_place);
        return kinst_text("%s", "");
    }
    begin = kinst_words(&p, "begin");
    last = !begin && (kinst_words(&p, "end") || kinst_words(&p, "altend"));
    if (!begin && !last) return kinst_text("%s", "");
    char *name = kinst_in_parentheses(p, p + strlen(p));
    size_t id = region_named(f, name);
    f->has_calls = true;
    if (!fits) {
        ignore(f, begin ? "begin" : "end", line, no_place);
    } else if (begin) {
        return kinst_text("      call ompp_user_begin_%zu", kinst_fortran_region(f, "userRegion", name, line));
    } else if (id) {
        f->regions[id - 1].end = line;
        return kinst_text("      call ompp_user_end_%zu", id);
    } else {
        ignore(f, "end", line, "no begin before it in this file");
    }
    return kinst_text("%s", "");
}

/* What stands for a pragma, in as many lines as it takes. Both forms may be broken anywhere, in text constants too. */
static void add_pragma(kinst_fortran_t *f, char *line, unsigned number)
{
    const bool fixed = f->form.fixed;
    const char *begin = fixed ? "     &" : "      &";
    const size_t width = fixed ? f->form.width : 130;

    while (width && strlen(line) > width) {
        kinst_lines_add(&f->lines, kinst_text("%.*s%s", (int)width, line, fixed ? "" : "&"), number);
        line = kinst_text("%s%s", begin, line + width);
        number = 0;
    }
    kinst_lines_add(&f->lines, line, number);
}

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

static void look_at_statement(void *context, const kinst_statement_t *statement)
{
    kinst_fortran_t *f = context;
    const char *p = statement->text;

    if (strncmp(p, "useompp", 7) == 0 || strncmp(p, "use::ompp", 9) == 0) {
        char behind = p[3] == ':' ? p[9] : p[7];
        if (!isalnum((unsigned char)behind) && behind != '_') f->uses_ompp = true;
    }
    if (strstr(p, "omp_") && strstr(p, "_lock(")) f->has_openmp = true;
}

/* Fixed form: is the next line of code part of the statement before? */
static bool goes_on(const kinst_fortran_t *f, const kinst_lines_t *lines, size_t i)
{
    const char *rest;

    if (!f->form.fixed) return false;
    while (++i < lines->n)
        if (kinst_line_kind(f->form, lines->v[i].text, &rest) == KINST_LINE_CODE)
            return kinst_fixed_continues(lines->v[i].text);
    return false;
}

void kinst_fortran_scan(kinst_fortran_t *f, const char *text)
{
    kinst_lines_t lines = kinst_lines_of(text);
    kinst_reader_t reader = {.form = f->form};
    const char *rest, *before = NULL;
    bool wanting = false, plain;

    for (size_t i = 0; i < lines.n; i++) {
        char *line = lines.v[i].text;
        unsigned number = lines.v[i].line;
        const char *pragma = own_pragma(f->form, line, &plain);
        kinst_line_kind_t kind = kinst_line_kind(f->form, line, &rest);
        if (pragma) {
            f->has_omp_inst |= is_omp_inst(f->form, line);
            bool fits = !wanting && !reader.more && !goes_on(f, &lines, i);
            line = plain && !strcasestr(pragma, "instrument") ? line : translate(f, pragma, number, fits);
        } else if (kind == KINST_LINE_CPP) {
            if (note_line(f, rest, number)) line = kinst_text("%s", "");
        } else if (kind == KINST_LINE_DIRECTIVE) {
            f->has_openmp = true;
            if (!kinst_directive_continues(f->form, rest, before)) wanting = wants_statement(rest);
            before = rest;
            if (f->form.fixed && f->form.width && strlen(line) > f->form.width) line[f->form.width] = '\0';
        } else if (kind == KINST_LINE_CODE) {
            kinst_read_code(&reader, line, i, look_at_statement, f);
            wanting = false;
            before = NULL;
        }
        if (pragma) add_pragma(f, line, number);
        else kinst_lines_add(&f->lines, line, number);
    }
    kinst_read_end(&reader, look_at_statement, f);
    f->nuser = f->nregions;
}

/* ---- Include files ----------------------------------------------------------------------------------------------- */

/* Name in "include 'name'" or "#include "name"", or NULL. */
static char *included(const char *line)
{
    const char *p = kinst_skip_blanks(line);
    bool cpp = *p == '#';
    size_t length;

    if (cpp) p++;
    p = kinst_skip_blanks(p);
    if (strncasecmp(p, "include", 7) != 0) return NULL;
    p = kinst_skip_blanks(p + 7);
    if (*p != '"' && (*p != '\'' || cpp)) return NULL;
    length = strcspn(p + 1, *p == '"' ? "\"" : "'");
    return length && p[1 + length] ? kinst_text("%.*s", (int)length, p + 1) : NULL;
}

/* The file that an include line means: beside the source, or in a directory of -I. NULL = not found. */
static char *find(const kinst_command_t *c, const kinst_source_t *source, const char *name)
{
    const char *slash = strrchr(source->path, '/');
    char *path = *name == '/' ? kinst_text("%s", name)
                              : kinst_text("%.*s%s", slash ? (int)(slash - source->path + 1) : 0, source->path, name);
    char *real = realpath(path, NULL);

    for (size_t i = c->ncompiler; !real && *name != '/' && i < c->words.n; i++) {
        const char *word = c->words.v[i];
        if (strncmp(word, "-I", 2) != 0) continue;
        const char *dir = word[2] ? word + 2 : c->words.v[i + 1];
        if (dir) real = realpath(kinst_text("%s/%s", dir, name), NULL);
    }
    return real;
}

bool kinst_fortran_included(const kinst_fortran_t *f, const char *line, kinst_lines_t *lines)
{
    char *name = included(line), *path = name ? find(f->compiler, f->source, name) : NULL;
    size_t size;
    char *text = path ? kinst_file_read(path, &size) : NULL;

    if (text) *lines = kinst_lines_of(text);
    return text;
}

/* A directive that would have been measured? p stands behind the sentinel. */
static bool is_measured(const char *p)
{
    static const char *const others[] = {"threadprivate", "declare", "simd",  "requires",
                                         "end",           "atomic",  "flush", NULL};
    bool clause = false;

    for (size_t i = 0; others[i]; i++)
        if (kinst_words(&p, others[i])) return false;
    p = kinst_skip_blanks(p);
    return kinst_fortran_word(p, strlen(p), &clause) > 0 && !clause;
}

void kinst_fortran_includes(kinst_fortran_t *f, const char *text)
{
    kinst_form_t form = f->form;
    kinst_list_t files = {0};
    size_t size;

    for (size_t next = 0; text; text = next < files.n ? kinst_file_read(files.v[next++], &size) : NULL) {
        kinst_lines_t lines = kinst_lines_of(text);
        const char *rest, *before = NULL;
        bool found = false;
        for (size_t i = 0; i < lines.n; i++) {
            char *name = included(lines.v[i].text), *path = name ? find(f->compiler, f->source, name) : NULL;
            bool known = !path;
            for (size_t k = 0; k < files.n && !known; k++) known = strcmp(files.v[k], path) == 0;
            if (!known && files.n < MAX_INCLUDES) kinst_add(&files, path);
            if (kinst_line_kind(form, lines.v[i].text, &rest) != KINST_LINE_DIRECTIVE) continue;
            if (!kinst_directive_continues(form, rest, before) && is_measured(rest)) found = true;
            before = rest;
        }
        if (found && next > 0) {
            kinst_say("%s has OpenMP directives that OPARI2 does not see", files.v[next - 1]);
            kinst_add(&f->unseen, files.v[next - 1]);
        }
    }
    if (files.n == MAX_INCLUDES) f->unsearched = "there are too many";
}

static void look_at_head(void *context, const kinst_statement_t *s)
{
    bool *head = context;

    if (strncmp(s->text, "implicit", 8) == 0 || strncmp(s->text, "use", 3) == 0 || strncmp(s->text, "import", 6) == 0)
        *head = true;
}

static bool has_head(const kinst_fortran_t *f, const char *line, int depth)
{
    kinst_reader_t reader = {.form = f->form};
    kinst_lines_t lines;
    const char *rest;
    bool head = false;

    if (depth == 0 || !kinst_fortran_included(f, line, &lines)) return false;
    for (size_t i = 0; i < lines.n && !head; i++) {
        if (has_head(f, lines.v[i].text, depth - 1)) return true;
        if (kinst_line_kind(f->form, lines.v[i].text, &rest) == KINST_LINE_CODE)
            kinst_read_code(&reader, lines.v[i].text, i, look_at_head, &head);
    }
    kinst_read_end(&reader, look_at_head, &head);
    return head;
}

bool kinst_fortran_includes_head(const kinst_fortran_t *f, const char *line) { return has_head(f, line, 8); }
