/**
 * \file
 * Runs OPARI2 on the scanned text and puts its output right: places are the user's, what was hidden comes back, and
 * OPARI2's macros are replaced, so that no preprocessor is needed any more.
 */
#include "tools/kinst/kinst-ompp-source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Macros of OPARI2: opari2_ctc_N. */
typedef struct {
    char *name, *text;
} macro_t;

/* Its handles, with a number behind. */
#define HANDLE "opari2_region_"

typedef struct {
    const kinst_scan_t *scan;
    char *own; /* path by which OPARI2 names the source */
    macro_t *macros;
    size_t nmacros;
    kinst_buffer_t declarations;
    kinst_list_t *ctcs;
    kinst_buffer_t *body;
    bool at_code; /* behind the declarations */
} work_t;

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Of in/source.c. */
static const char *run_opari(const kinst_source_t *source, const char *in)
{
    const char *options[] = {source->lang == KINST_LANG_CXX ? "--c++" : "--c", NULL};

    return kinst_run_opari(options, in, "source.c", "out.c");
}

/* ---- OPARI2's declarations --------------------------------------------------------------------------------------- */

/* "*sscl=/private/in/source.c:12:13*escl=...": the user's file and lines instead. */
static char *with_places(const work_t *w, const char *text)
{
    const char *begin = strstr(text, kinst_text("*sscl=%s:", w->own)), *rest = text;
    unsigned first = 0, last = 0;

    if (!begin) return kinst_text("%s", text);
    for (const char *hit = begin; (hit = strstr(hit, w->own));) {
        unsigned one = 0, other = 0;
        int n = 0;
        hit += strlen(w->own);
        if (sscanf(hit, ":%u:%u%n", &one, &other, &n) != 2) continue;
        if (!first) first = one;
        last = other;
        rest = hit + n;
    }
    char *span =
        kinst_scan_span(w->scan, kinst_scan_place(w->scan, first), first, kinst_scan_place(w->scan, last), last);
    return kinst_text("%.*s*%s%s", (int)(begin - text), text, span, rest);
}

static void add_macro(work_t *w, const char *definition)
{
    size_t length = strcspn(definition, " ");
    char *text = with_places(w, definition + length + (definition[length] == ' '));
    macro_t *macro = kinst_push(&w->macros, &w->nmacros, sizeof *macro);

    *macro = (macro_t){kinst_text("%.*s", (int)length, definition), text};
    if (*text == '"') kinst_addf(w->ctcs, "%.*s", (int)strlen(text) - 2, text + 1);
}

/* Calls name a handle by a function, because a variable would need a data-sharing clause where default(none) is in
 * force. */
static void put_handle(work_t *w, unsigned long number)
{
    kinst_putf(&w->declarations,
               "static OPARI2_Region_handle " HANDLE "%lu = 0;\n"
               "static __inline__ __attribute__((__unused__, __always_inline__, __no_instrument_function__)) "
               "OPARI2_Region_handle *ompp_handle_%lu(void)\n"
               "{\n    return &" HANDLE "%lu;\n}\n",
               number, number, number);
}

/* Without its functions that assign handles: handles are assigned when they are first used. */
static void read_declarations(work_t *w, char *inc)
{
    static const char define[] = "#define ", handle[] = "static OPARI2_Region_handle " HANDLE;

    for (char *line = strtok(inc, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, define, strlen(define)) == 0) add_macro(w, line + strlen(define));
        else if (strncmp(line, handle, strlen(handle)) == 0) put_handle(w, strtoul(line + strlen(handle), NULL, 10));
    }
}

/* ---- OPARI2's text ----------------------------------------------------------------------------------------------- */

static void put_marker(work_t *w, kinst_place_t place)
{
    const char *file = place.file ? place.file : w->scan->source->path;

    /* the same object from every build */
    if (strncmp(file, kinst_private(), strlen(kinst_private())) == 0) file = "<ompp>";
    kinst_putf(w->body, "# %u \"%s\"%s\n", place.line, kinst_escaped(file), place.flags);
}

/* Calls that lack a variable which is in scope wherever OPARI2 puts them; see include/opari2/pomp2_lib.h. $N:
 * argument. */
static const struct {
    const char *name, *call;
} calls[] = {
    {"POMP2_Parallel_fork", "ompp_pomp2_fork($0, $3, $4)"},
    {"POMP2_Parallel_begin", "ompp_pomp2_member_begin($0, pomp2_old_task)"},
    {"POMP2_Parallel_join", "ompp_pomp2_join($1)"},
    {"POMP2_Task_begin", "ompp_pomp2_task_begin(&($1))"},
    {"POMP2_Task_end", "ompp_pomp2_task_end(pomp2_new_task)"},
    {"POMP2_Untied_task_begin", "ompp_pomp2_task_begin(&($1))"},
    {"POMP2_Untied_task_end", "ompp_pomp2_task_end(pomp2_new_task)"},
};

static void put_code(work_t *w, const char *from, const char *end);

static bool is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

/* Argument n of a call whose '(' is at open. */
static void put_argument(work_t *w, const char *open, const char *close, int n)
{
    const char *p = open + 1;

    for (const char *q = p; q < close; q = kinst_behind_token(q, close)) {
        if (*q != ',') continue;
        if (n-- == 0) {
            close = q;
            break;
        }
        p = q + 1;
    }
    put_code(w, p, close);
}

static const char *put_call(work_t *w, const char *call, const char *open, const char *end)
{
    const char *behind = kinst_behind_token(open, end);

    for (; *call; call++) {
        if (*call == '$') put_argument(w, open, behind - 1, *++call - '0');
        else kinst_put(w->body, call, 1);
    }
    return behind;
}

/* A word that stands for something. \return behind it, NULL = it stands for itself. */
static const char *put_word(work_t *w, const char *word, size_t length, const char *end)
{
    const char *open = kinst_skip_blanks(word + length);

    if (strncmp(word, KINST_HIDDEN_WORD, strlen(KINST_HIDDEN_WORD)) == 0) {
        size_t i = strtoul(word + strlen(KINST_HIDDEN_WORD), NULL, 10);
        if (i < w->scan->hidden.n) kinst_puts(w->body, w->scan->hidden.v[i]);
        return word + length;
    }
    if (strncmp(word, "POMP2_DLIST_", 12) == 0) return word + length; /* shared(handles) */
    if (strncmp(word, "opari2_ctc_", 11) == 0)
        for (size_t i = 0; i < w->nmacros; i++)
            if (is(word, length, w->macros[i].name)) {
                kinst_puts(w->body, w->macros[i].text);
                return word + length;
            }
    if (strncmp(word, "POMP2_", 6) != 0 || *open != '(') return NULL;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (is(word, length, calls[i].name)) return put_call(w, calls[i].call, open, end);
    return NULL;
}

static void put_code(work_t *w, const char *p, const char *end)
{
    static const char handle[] = "&" HANDLE;

    while (p < end) {
        if (w->at_code && strncmp(p, handle, strlen(handle)) == 0) {
            char *behind;
            kinst_putf(w->body, "ompp_handle_%lu()", strtoul(p + strlen(handle), &behind, 10));
            p = behind;
            continue;
        }
        const char *next = strchr("([{", *p) ? p + 1 : kinst_behind_token(p, end), *other = NULL;
        if (w->at_code && (isalpha((unsigned char)*p) || *p == '_')) other = put_word(w, p, next - p, end);
        if (!other) kinst_put(w->body, p, next - p);
        p = other ? other : next;
    }
}

/* "#line 12 "/private/in/source.c"": the number, or 0. */
static unsigned own_line(const work_t *w, const char *line)
{
    char *rest;
    unsigned long number;

    if (strncmp(line, "#line ", 6) != 0) return 0;
    number = strtoul(line + 6, &rest, 10);
    if (strncmp(rest, " \"", 2) != 0 || strncmp(rest + 2, w->own, strlen(w->own)) != 0) return 0;
    return (unsigned)number;
}

static bool take_text(const char **line, const char *text)
{
    if (strncmp(*line, text, strlen(text)) != 0) return false;
    *line += strlen(text);
    return true;
}

/* One line of OPARI2's output. */
static void put_line(work_t *w, const kinst_buffer_t *head, const char *line, const char *eol)
{
    const char *p = kinst_skip_blanks(line);

    if (take_text(&p, KINST_HIDDEN_PRAGMA)) {
        size_t i = strtoul(p, NULL, 10);
        if (i < w->scan->hidden.n) kinst_puts(w->body, w->scan->hidden.v[i]);
    } else if (strncmp(p, KINST_DECLARATIONS, strlen(KINST_DECLARATIONS)) == 0) {
        kinst_puts(w->body, "# 1 \"<ompp>\" 3\n");
        kinst_put(w->body, w->declarations.text ? w->declarations.text : "", w->declarations.size);
        kinst_put(w->body, head->text, head->size);
        w->at_code = true;
    } else if (strncmp(p, KINST_HAS_ATTRIBUTES, strlen(KINST_HAS_ATTRIBUTES)) == 0) {
        kinst_puts(w->body, "");
    } else if (strncmp(line, "  int pomp2_num_threads = omp_get_max_threads();", 48) == 0) {
        kinst_puts(w->body, "  int pomp2_num_threads = POMP2_Lib_get_max_threads();");
    } else if (take_text(&line, "  int pomp2_if = ")) {
        kinst_puts(w->body, "  int __attribute__((__unused__)) pomp2_if = ");
        put_code(w, line, eol);
    } else {
        put_code(w, line, eol);
    }
    kinst_puts(w->body, "\n");
}

/* Number of the next #line for the source behind a line; 0 = there is none, or it goes back. */
static unsigned limit_behind(const work_t *w, const char *line, unsigned at)
{
    unsigned number = 0;

    while (!number && *line) {
        line += strcspn(line, "\n");
        line += *line == '\n';
        number = own_line(w, line);
    }
    return number > at ? number : 0;
}

/*
 * OPARI2 says with #line where its output goes on with line N of the source; from there lines count on, so the places
 * that the scan remembered are known for all of the user's text. Lines of generated calls get the place of the line
 * before them: a function must not seem to end behind its end.
 */
static void put_instrumented(work_t *w, const kinst_buffer_t *head, const char *out)
{
    unsigned number, at = 1, limit = limit_behind(w, out, 1);
    kinst_place_t next = {NULL, 0, "", NULL}; /* where the compiler thinks it is */

    for (const char *line = out, *eol; *line; line = *eol ? eol + 1 : eol) {
        eol = line + strcspn(line, "\n");
        /* of the file that read_declarations() replaces */
        if (line == out && strncmp(line, "#include", 8) == 0) continue;
        if ((number = own_line(w, line))) {
            at = number;
            limit = limit_behind(w, line, at);
            continue;
        }
        kinst_place_t place = kinst_scan_place(w->scan, at);
        if (place.line != next.line || place.file != next.file || place.flags != next.flags) put_marker(w, place);
        bool whole = !w->at_code;
        size_t before = w->body->size;
        put_line(w, head, line, eol);
        next = place;
        for (const char *p = w->body->text + before; *p; p++) next.line += *p == '\n';
        if (whole && w->at_code) next.line = 0;
        if (!limit || at + 1 < limit) at++;
    }
}

const char *kinst_opari(const kinst_scan_t *scan, const kinst_buffer_t *head, kinst_buffer_t *body, kinst_list_t *ctcs)
{
    char *in = kinst_text("%s/in", scan->source->dir), *out, *inc;
    work_t w = {.scan = scan, .own = kinst_text("%s/source.c", in), .body = body, .ctcs = ctcs};
    const char *reason;
    size_t size;

    if (mkdir(in, 0700) != 0 || !kinst_file_write(w.own, scan->out.text, scan->out.size))
        return "no space for temporary files";
    reason = run_opari(scan->source, in);
    if (reason) return reason;
    out = kinst_file_read(kinst_text("%s/out.c", in), &size);
    inc = kinst_file_read(kinst_text("%s/source.c.opari.inc", in), &size);
    if (!out || !inc) return "OPARI2 wrote nothing";
    read_declarations(&w, inc);
    put_instrumented(&w, head, out);
    return w.at_code ? NULL : "OPARI2 lost the declarations";
}
