/**
 * \file
 * Walks through a source once and translates it: ompp's own pragmas become calls, and, in preprocessed text for OPARI2,
 * linemarkers are taken out and remembered, lock functions get the names of the measured ones, and what OPARI2 cannot
 * read is hidden.
 */
#include "tools/kinst/kinst-ompp-source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* From the current line of the output on, places go on from here. */
static void map_here(kinst_scan_t *s)
{
    if (s->nmappings && s->mappings[s->nmappings - 1].at == s->line) s->nmappings--;
    kinst_mapping_t *mapping = kinst_push(&s->mappings, &s->nmappings, sizeof *mapping);
    *mapping = (kinst_mapping_t){s->line, s->place};
}

kinst_place_t kinst_scan_place(const kinst_scan_t *s, unsigned line)
{
    size_t low = 0, high = s->nmappings; /* the last mapping not behind the line is below high */

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->mappings[middle].at <= line) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return (kinst_place_t){NULL, line, "", NULL};
    kinst_place_t place = s->mappings[low - 1].place;
    place.line += line - s->mappings[low - 1].at;
    return place;
}

const char *kinst_scan_path(const kinst_scan_t *s, const kinst_place_t *place)
{
    static const char *file, *path; /* the last answer: places come in runs */

    if (!place->file || strcmp(place->file, s->source->path) == 0) return s->absolute;
    if (file && strcmp(file, place->file) == 0) return path;
    file = place->file;
    path = realpath(file, NULL);
    if (!path) path = file;
    return path;
}

static bool same_file(const kinst_place_t *a, const kinst_place_t *b)
{
    return a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0);
}

static unsigned depth_of(const kinst_place_t *place)
{
    unsigned depth = 0;

    while ((place = place->from)) depth++;
    return depth;
}

/* The innermost file that both are in, themselves or by what they are included from. */
static void climb(kinst_place_t *a, kinst_place_t *b)
{
    unsigned depth = depth_of(a), other = depth_of(b);

    for (; depth > other; depth--) *a = *a->from;
    for (; other > depth; other--) *b = *b->from;
    for (; a->from != b->from; *b = *b->from) *a = *a->from;
}

/* Puts begin and end of lines first to last of the translated text into one file. */
static void into_one_file(const kinst_scan_t *s, kinst_place_t *begin, unsigned first, kinst_place_t *end,
                          unsigned last)
{
    climb(begin, end);
    while (!same_file(begin, end) && last > first) {
        kinst_place_t before = kinst_scan_place(s, --last);
        if (depth_of(&before) >= depth_of(begin)) *end = before;
        climb(begin, end);
    }
    if (end->line < begin->line || !same_file(begin, end)) *end = *begin;
}

char *kinst_scan_span(const kinst_scan_t *s, kinst_place_t begin, unsigned first, kinst_place_t end, unsigned last)
{
    into_one_file(s, &begin, first, &end, last);
    const char *file = kinst_escaped(kinst_scan_path(s, &begin));
    return kinst_text("sscl=%s:%u:%u*escl=%s:%u:%u", file, begin.line, begin.line, file, end.line, end.line);
}

/* An include file begins or ends. The line that includes it is the one before that where its file goes on. */
static void change_file(kinst_scan_t *s, bool begins, unsigned line)
{
    kinst_place_t *from = s->place.from, *room = NULL;
    size_t n = 0;

    if (begins) {
        from = kinst_push(&room, &n, sizeof *from);
        *from = s->place;
    } else if (from) {
        from->line = line - 1;
        from = from->from;
    }
    s->place.from = from;
}

/* "#line 12 "file"" and "# 12 "file" 1 3 4": what follows is there. p stands at the number. */
static bool read_marker(kinst_scan_t *s, const char *p)
{
    char *rest;
    unsigned long number = strtoul(p, &rest, 10);
    const char *eol = rest + strcspn(rest, "\n"), *open = memchr(rest, '"', eol - rest), *close = eol;

    if (rest == p) return false;
    for (close--; open && close > open && *close != '"'; close--) continue;
    if (open && close == open) return false;
    bool begins = open && memchr(close, '1', eol - close), ends = open && memchr(close, '2', eol - close);
    if (begins || ends) change_file(s, begins, (unsigned)number);
    s->place.line = (unsigned)number;
    s->place.flags = "";
    if (!open) return true;
    char *file = kinst_text("%.*s", (int)(close - open - 1), open + 1), *to = file;
    for (const char *from = file; *from; from++) *to++ = *from == '\\' && from[1] ? *++from : *from;
    *to = '\0';
    if (!s->place.file || strcmp(s->place.file, file) != 0) s->place.file = file;
    if (memchr(close, '3', eol - close)) s->place.flags = memchr(close, '4', eol - close) ? " 3 4" : " 3";
    return true;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* User's text: its newlines are newlines of the user's file. */
static void copy(kinst_scan_t *s, const char *from, const char *to)
{
    kinst_put(&s->out, from, to - from);
    for (; from < to; from++)
        if (*from == '\n') s->line++, s->place.line++;
}

void kinst_scan_put(kinst_scan_t *s, const char *text)
{
    kinst_puts(&s->out, text);
    for (; *text; text++)
        if (*text == '\n') {
            s->line++;
            map_here(s);
        }
}

void kinst_scan_fresh_line(kinst_scan_t *s)
{
    if (s->out.size && s->out.text[s->out.size - 1] != '\n') kinst_scan_put(s, "\n");
}

void kinst_scan_skip(kinst_scan_t *s, const char *to)
{
    for (; s->cursor < to; s->cursor++)
        if (*s->cursor == '\n') kinst_put(&s->out, "\n", 1), s->line++, s->place.line++;
}

size_t kinst_scan_region(kinst_scan_t *s, const char *type, const char *name)
{
    kinst_region_t *region = kinst_push(&s->regions, &s->nregions, sizeof *region);

    *region = (kinst_region_t){type, name, s->place, s->place, s->line, s->line};
    return s->nregions;
}

void kinst_scan_region_end(kinst_scan_t *s, size_t region)
{
    s->regions[region - 1].end = s->place;
    s->regions[region - 1].last = s->line;
}

/* ---- The wrapper's own pragmas ----------------------------------------------------------------------------------- */

static size_t region_named(const kinst_scan_t *s, const char *name)
{
    for (size_t i = s->nregions; i > 0; i--)
        if (s->regions[i - 1].name && strcmp(s->regions[i - 1].name, name) == 0) return i;
    return 0;
}

static void ignore(kinst_scan_t *s, const char *what, const char *why)
{
    kinst_addf(&s->ignored, "pragma inst %s at %s:%u ignored", what, s->place.file ? s->place.file : s->source->path,
               s->place.line);
    kinst_add(&s->ignored, why);
}

/* data(address, size, name); p stands behind the word. */
static void translate_data(kinst_scan_t *s, const char *p, const char *end, bool statement_fits)
{
    char *inside = kinst_in_parentheses(p, end), *arguments[3];

    if (!statement_fits) {
        ignore(s, "data", "it stands where a statement would change the program");
    } else if (!kinst_three_arguments(inside, inside + strlen(inside), arguments)) {
        ignore(s, "data", "it needs an address, a size and a name");
    } else {
        kinst_scan_put(s,
                       kinst_text("ompp_pragma_data((void *)(%s), %s, %s);", arguments[0], arguments[1], arguments[2]));
        s->has_calls = true;
    }
}

void kinst_scan_end_quiet(kinst_scan_t *s)
{
    kinst_place_t begin = s->quiet_from, end = s->place;

    if (!s->noinstrument) return;
    into_one_file(s, &begin, s->quiet_line, &end, s->line);
    kinst_addf(&s->quiet, "%s:%u:%u", begin.file ? begin.file : s->absolute, begin.line, end.line);
    kinst_add(&s->quiet, "");
}

/* A pragma of the wrapper's; p stands behind "inst". */
static void translate(kinst_scan_t *s, const char *p, const char *end, bool statement_fits)
{
    static const struct {
        const char *word, *call;
    } simple[] = {
        {"init", "POMP2_Init();"}, {"on", "POMP2_On();"}, {"off", "POMP2_Off();"}, {"finalize", "POMP2_Finalize();"}};
    bool begin = strncmp(p, "begin", 5) == 0, last = strncmp(p, "end", 3) == 0,
         without = strncmp(p, "noinstrument", 12) == 0;
    size_t id;

    if (kinst_take(&p, "data")) {
        translate_data(s, p, end, statement_fits);
        return;
    }
    if (without || strncmp(p, "instrument", 10) == 0) {
        kinst_scan_end_quiet(s);
        s->noinstrument = without;
        s->quiet_from = s->place;
        s->quiet_line = s->line;
        kinst_scan_put(s, without ? "#pragma pomp noinstrument" : "#pragma pomp instrument");
        return;
    }
    for (size_t i = 0; i < sizeof simple / sizeof simple[0]; i++) {
        const char *rest = p;
        if (!kinst_take(&rest, simple[i].word)) continue;
        if (statement_fits) kinst_scan_put(s, simple[i].call);
        else ignore(s, simple[i].word, "it stands where a statement would change the program");
        s->has_calls = true;
        return;
    }
    if (!begin && !last && strncmp(p, "altend", 6) != 0) return;
    char *name = kinst_in_parentheses(p, end);
    id = region_named(s, name);
    if (!statement_fits) {
        ignore(s, begin ? "begin" : "end", "it stands where a statement would change the program");
    } else if (begin) {
        kinst_scan_put(s, kinst_text("ompp_region_begin_%zu();", kinst_scan_region(s, "userRegion", name)));
    } else if (id) {
        kinst_scan_region_end(s, id);
        kinst_scan_put(s, kinst_text("ompp_region_end_%zu();", id));
    } else {
        ignore(s, "end", "no begin before it in this file");
    }
    s->has_calls = true;
}

/* ---- Directives -------------------------------------------------------------------------------------------------- */

/* \return as kinst_scan_to(). */
static const char *pragma(kinst_scan_t *s, const char *hash, const char *end, const char *p)
{
    const char *behind;
    bool openmp = kinst_take(&p, "omp"), pomp = !openmp && kinst_take(&p, "pomp"), inst;

    behind = p;
    inst = (openmp || pomp) && kinst_take(&p, "inst");
    if (pomp && (strncmp(p, "noinstrument", 12) == 0 || strncmp(p, "instrument", 10) == 0)) inst = true;
    if (openmp && !inst && s->preprocessed) return behind;
    if (inst) {
        translate(s, p, end, s->before && strchr(";{}:", s->before));
        kinst_scan_skip(s, end);
    } else {
        if (openmp) s->has_openmp = true, s->before = kinst_directive_wants_block(behind) ? ')' : ';';
        copy(s, hash, end);
        s->cursor = end;
    }
    return NULL;
}

/* A line that begins with '#', continuation lines included. \return as kinst_scan_to(). */
static const char *directive(kinst_scan_t *s, const char *end, const char **eol)
{
    const char *hash = s->cursor, *p = kinst_skip_blanks(hash + 1);
    bool line = kinst_take(&p, "line");

    *eol = kinst_end_of_directive(hash, end);
    if (kinst_take(&p, "pragma")) return pragma(s, hash, *eol, p);
    if ((line || isdigit((unsigned char)*p)) && read_marker(s, p)) {
        if (!s->preprocessed) {
            unsigned number = s->place.line;
            copy(s, hash, *eol);
            s->line++; /* the newline that follows */
            s->place.line = number;
            map_here(s);
            s->line--;
            s->place.line = number - 1;
        } else {
            *eol += **eol == '\n';
            map_here(s);
        }
    } else {
        copy(s, hash, *eol);
    }
    s->cursor = *eol;
    return NULL;
}

/* ---- Code -------------------------------------------------------------------------------------------------------- */

void kinst_scan_hide(kinst_scan_t *s, const char *to)
{
    const char *from = s->cursor;

    s->cursor = to;
    kinst_addf(&s->hidden, "%.*s", (int)(to - from), from);
    kinst_puts(&s->out, kinst_text("%s%zu_", KINST_HIDDEN_WORD, s->hidden.n - 1));
    unsigned lines = 0;
    for (; from < to; from++) lines += *from == '\n';
    if (lines == 0) return;
    s->line++, s->place.line += lines + 1; /* of the line behind it */
    map_here(s);
    s->line--, s->place.line--;
}

/* Once: the calls of functions with the names of OpenMP's stay as they are. */
static void note_own_locks(kinst_scan_t *s)
{
    static const kinst_scan_t *noted;

    if (noted == s) return;
    noted = s;
    kinst_addf(&s->unseen, "lock calls in %s", s->absolute);
    kinst_add(&s->unseen, "it declares a function of that name");
}

/* The next word, number, string or character of code. */
static void code(kinst_scan_t *s, const char *end)
{
    const char *from = s->cursor, *next = strchr("([{", *from) ? from + 1 : kinst_behind_token(from, end), *lock = NULL;
    bool word = isalpha((unsigned char)*from) || *from == '_', string = next[-1] == '"' || next[-1] == '\'';
    bool odd = s->preprocessed &&
               ((string && memchr(from, 'R', 3 < next - from ? 3 : next - from) && *from != '"' && *from != '\'') ||
                (isdigit((unsigned char)*from) && memchr(from, '\'', next - from)));

    s->at_line_start = false;
    if (s->preprocessed && !s->opaque && !s->noinstrument && word) lock = kinst_lock_function(s, from, next);
    if (lock && s->own_locks) {
        note_own_locks(s);
        lock = NULL;
    }
    if (lock) {
        kinst_puts(&s->out, lock);
        s->has_openmp = true;
    } else if (odd) {
        kinst_scan_hide(s, next);
    } else {
        copy(s, from, next);
    }
    s->before = string ? '"' : next[-1];
    s->word = word && !string ? from : NULL;
    s->cursor = next;
}

const char *kinst_scan_to(kinst_scan_t *s, const char *to, const char **eol)
{
    while (s->cursor < to) {
        const char *p = s->cursor, *next = p;
        if (*p == '\n') {
            next++;
            s->at_line_start = true;
        } else if (p[0] == '/' && p[1] == '*') {
            next = kinst_behind_comment(p, to);
        } else if (p[0] == '/' && p[1] == '/') {
            next = kinst_end_of_line(p, to);
        } else if (isspace((unsigned char)*p)) {
            next++;
        } else if (*p == '#' && s->at_line_start) {
            const char *omp = directive(s, to, eol);
            if (omp) return omp;
            continue;
        } else {
            code(s, to);
            continue;
        }
        if (next > to) next = to;
        copy(s, p, next);
        s->cursor = next;
    }
    return NULL;
}

void kinst_scan_begin(kinst_scan_t *s, const char *text, size_t size)
{
    s->text = s->cursor = text;
    s->end = text + size;
    s->place = (kinst_place_t){NULL, 1, "", NULL};
    s->at_line_start = true;
    s->before = ';';
    s->line = 1;
    s->own_locks = s->preprocessed && kinst_lock_names_taken(text, size);
    kinst_puts(&s->out, "");
}
