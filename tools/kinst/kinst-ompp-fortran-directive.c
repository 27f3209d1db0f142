/**
 * \file
 * Directives of Fortran as OPARI2 can read them, and back. It writes clauses in lower case and without blanks, which
 * text constants must not be; it dies of words that are written as one or go on in the next line; it forgets what
 * follows a comment between the lines of a directive, and leaves lines without clauses behind. So all lines of a
 * directive become one text, whose words are told apart, and that is written in lines which end between words.
 */
#include "tools/kinst/kinst-ompp-fortran.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PLACEHOLDER "ompp_text_"
#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

enum { FIXED_WIDTH = 72, FREE_WIDTH = 130, FIRST_COLUMN = 6, MAX_DEPTH = 8 };

/* ---- Text constants ---------------------------------------------------------------------------------------------- */

/* The text with names in place of text constants, which end in it. */
static char *without_constants(kinst_fortran_t *f, const char *text)
{
    char *result = kinst_text("%s", "");

    while (*text) {
        size_t length = strcspn(text, "'\"");
        result = kinst_text("%s%.*s", result, (int)length, text);
        text += length;
        if (!*text) break;
        const char *end = text;
        do end = strchr(end + 1, *text) + 1;
        while (*end == *text); /* two quotes stand for one */
        kinst_add(&f->constants, kinst_text("%.*s", (int)(end - text), text));
        result = kinst_text("%s" PLACEHOLDER "%zu", result, f->constants.n - 1);
        text = end;
    }
    return result;
}

char *kinst_fortran_constants(const kinst_fortran_t *f, char *line)
{
    for (char *at, *rest = line; (at = strstr(rest, PLACEHOLDER));) {
        char *end;
        size_t number = strtoul(at + strlen(PLACEHOLDER), &end, 10);
        if (number >= f->constants.n) return line;
        const char *constant = f->constants.v[number];
        size_t done = at - line + strlen(constant);
        line = kinst_text("%.*s%s%s", (int)(at - line), line, constant, end);
        rest = line + done;
    }
    return line;
}

/* ---- One text ---------------------------------------------------------------------------------------------------- */

/* A directive that is being read, line by line. */
typedef struct {
    kinst_fortran_t *f;
    FILE *out;
    const char *before; /* its last line, behind the sentinel */
    char quote;         /* of a text constant that goes on in the next line; 0 = none */
    bool more;          /* free form: its last line ended with & */
} directive_t;

static void put(directive_t *d, char c)
{
    if (d->quote) d->quote = c == d->quote ? 0 : d->quote;
    else if (c == '\'' || c == '"') d->quote = c;
    fputc(c, d->out);
}

/* Free form: with & at the begin of the next line, that goes on where this one ends, in the middle of a word, too. */
static void add_free(directive_t *d, const char *p)
{
    const char *rest;

    p = kinst_skip_blanks(p);
    if (d->before && *p == '&') p++;
    else if (d->before && !d->quote) put(d, ' ');
    d->more = false;
    for (; *p && (d->quote || *p != '!'); p++) {
        if (*p == '&') {
            rest = kinst_skip_blanks(p + 1);
            d->more = !*rest || (*rest == '!' && !d->quote);
            if (d->more) return;
        }
        put(d, *p);
    }
}

/* Fixed form: a line that is shorter than it may be ends with blanks. */
static void add_fixed(directive_t *d, const char *p)
{
    size_t room = d->f->form.width ? d->f->form.width - FIRST_COLUMN : strlen(p);

    for (p += *p != '\0'; *p && room && (d->quote || *p != '!'); p++, room--) put(d, *p);
    if (!d->f->form.width || !room) return;
    do put(d, ' ');
    while (d->quote && --room > 0);
}

static void add(directive_t *d, const char *rest)
{
    if (d->f->form.fixed) add_fixed(d, rest);
    else add_free(d, rest);
    d->before = rest;
}

static bool goes_on(const directive_t *d, const char *rest)
{
    return d->f->form.fixed ? kinst_directive_continues(d->f->form, rest, d->before) : d->more;
}

typedef enum { BELONGS, BETWEEN, OTHER, BROKEN } part_t;

/* A line behind those of the directive: it belongs to it, may stand in between, or does not. Of an include file all. */
static part_t add_line(directive_t *d, const char *line, int depth)
{
    const char *rest;
    kinst_line_kind_t kind = kinst_line_kind(d->f->form, line, &rest);
    kinst_lines_t lines;
    part_t part = BETWEEN, next;

    if (kind == KINST_LINE_COMMENT) return BETWEEN;
    if (kind == KINST_LINE_DIRECTIVE && goes_on(d, rest)) {
        add(d, rest);
        return BELONGS;
    }
    if (kind != KINST_LINE_CODE || depth == 0 || !kinst_fortran_included(d->f, line, &lines)) return OTHER;
    for (size_t i = 0; i < lines.n; i++) {
        next = add_line(d, lines.v[i].text, depth - 1);
        if (next == OTHER) return part == BELONGS ? BROKEN : OTHER;
        if (next == BROKEN) return BROKEN;
        if (next == BELONGS) part = BELONGS;
    }
    return part;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Writes a name with blanks between its words, "paralleldo" as "parallel do"; false = it is not made of such words. */
static bool put_words(FILE *out, const char *name, size_t length)
{
    bool clause;
    size_t n;

    for (size_t i = 0; i < length; i += n)
        if (!(n = kinst_fortran_word(name + i, length - i, &clause))) return false;
    for (size_t i = 0; i < length; i += n) {
        n = kinst_fortran_word(name + i, length - i, &clause);
        fprintf(out, "%s%.*s", i ? " " : "", (int)n, name + i);
    }
    return true;
}

/* Letters, digits and, in fixed form, blanks between them at p: their end; name gets them without blanks. */
static const char *read_name(bool fixed, const char *p, char *name)
{
    const char *end = p;

    for (; *p && (strchr(NAME, *p) || (fixed && isspace((unsigned char)*p))); p++) {
        if (isspace((unsigned char)*p)) continue;
        *name++ = *p;
        end = p + 1;
    }
    *name = '\0';
    return end;
}

/* One blank between words, and none in brackets of fixed form, where blanks mean nothing. */
static char *with_words(kinst_fortran_t *f, const char *p)
{
    const kinst_form_t form = f->form;
    char *text, *name = kinst_text("%s", p), last = ' ';
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int depth = 0;

    if (!out) abort();
    while (*p) {
        bool begins = strchr(NAME, *p);
        if (begins && depth == 0) {
            const char *end = read_name(form.fixed, p, name);
            if (last != ' ' && last != ',') fputc(' ', out);
            if (!put_words(out, name, strlen(name))) {
                f->needs_cpp = f->form.cpp;
                fprintf(out, "%.*s", (int)(end - p), p);
            }
            last = 'a';
            p = end;
            continue;
        }
        depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
        bool blank = isspace((unsigned char)*p);
        if (!blank) fputc(last = *p, out);
        else if (!form.fixed && last != ' ') fputc(last = ' ', out);
        p++;
    }
    fclose(out);
    while (size > 0 && text[size - 1] == ' ') text[--size] = '\0';
    free(name);
    return text;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* ".and." and the like. */
static bool is_operator(const char *p)
{
    size_t length = *p == '.' ? strspn(p + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") : 0;

    return length > 0 && p[1 + length] == '.';
}

/* May a line end before text[n]? */
static bool may_end(const char *text, size_t n)
{
    char before = text[n - 1];

    if (before == ' ' || before == ',') return true;
    if (strchr("+-*/:<>=", before) && isalpha((unsigned char)text[n])) return true;
    return strchr(NAME ")", before) && is_operator(text + n);
}

/* How much of the text fits into a line: where possible whole clauses, for OPARI2 spoils a schedule over two lines; 0 =
 * the first word is too long. */
static size_t fitting(const char *text, size_t room)
{
    size_t clauses = 0, words = 0;
    int depth = 0;

    if (strlen(text) <= room) return strlen(text);
    for (size_t n = 1; n <= room; n++) {
        depth += text[n - 1] == '(' ? 1 : text[n - 1] == ')' ? -1 : 0;
        if (!may_end(text, n)) continue;
        words = n;
        if (depth == 0) clauses = n;
    }
    return clauses ? clauses : words;
}

/* The directive in lines for OPARI2, all of which stand for all of its lines; false = a word is too long. */
static bool put_lines(const kinst_fortran_t *f, kinst_lines_t *out, const char *text, kinst_line_t line)
{
    const bool fixed = f->form.fixed;
    const char *begin = "!$omp ";
    const size_t first = out->n;

    do {
        size_t width = fixed ? FIXED_WIDTH : FREE_WIDTH - 2, n = fitting(text, width - strlen(begin));
        bool more = text[n];
        if (n == 0 && more) {
            out->n = first;
            return false;
        }
        line.text = kinst_text("%s%.*s%s", begin, (int)n, text, more && !fixed ? " &" : "");
        *(kinst_line_t *)kinst_push(&out->v, &out->n, sizeof line) = line;
        line.original = NULL;
        begin = fixed ? "!$omp& " : "  !$omp ";
        text = kinst_skip_blanks(text + n);
    } while (*text);
    return true;
}

/* The lines first to last as they are in the source. */
static char *original(const kinst_fortran_t *f, size_t first, size_t last)
{
    char *text = f->lines.v[first].text;

    while (++first <= last) text = kinst_text("%s\n%s", text, f->lines.v[first].text);
    return text;
}

/* Does the directive go on behind lines of the preprocessor, of which line k is the first? */
static bool is_cut(const directive_t *d, size_t k)
{
    const kinst_lines_t *lines = &d->f->lines;
    const char *rest;
    kinst_line_kind_t kind = KINST_LINE_CPP;

    if (kinst_line_kind(d->f->form, lines->v[k].text, &rest) != KINST_LINE_CPP) return false;
    while (kind == KINST_LINE_CPP || kind == KINST_LINE_COMMENT) {
        if (++k == lines->n) return false;
        kind = kinst_line_kind(d->f->form, lines->v[k].text, &rest);
    }
    return d->more || (kind == KINST_LINE_DIRECTIVE && goes_on(d, rest));
}

/* The directive that begins at line i. \return its last line. */
static size_t prepare(kinst_fortran_t *f, size_t i, kinst_lines_t *out)
{
    const kinst_line_t *lines = f->lines.v;
    size_t size, last = i;
    char *text;
    const char *rest, *why = NULL;
    directive_t d = {.f = f, .out = open_memstream(&text, &size)};
    part_t part = BELONGS;

    if (!d.out) abort();
    kinst_line_kind(f->form, lines[i].text, &rest);
    add(&d, rest);
    for (size_t k = i + 1; k < f->lines.n && (f->form.fixed || d.more); k++) {
        part = add_line(&d, lines[k].text, MAX_DEPTH);
        if (part == OTHER && is_cut(&d, k)) f->needs_cpp = true;
        if (part == OTHER) break;
        if (part != BETWEEN) last = k;
        if (part == BROKEN) break;
    }
    fclose(d.out);
    if (d.quote) why = "a text constant of it does not end";
    if (part == BROKEN) why = "an include file has its end, and more";
    for (size_t k = 0; k < f->refused.n && !why; k++)
        if (strtoul(f->refused.v[k], NULL, 10) == lines[i].line) why = "OPARI2 refuses it";
    text = with_words(f, why ? text : without_constants(f, text));
    kinst_line_t line = {.line = lines[i].line, .last = lines[last].line, .original = original(f, i, last)};
    if (!why && put_lines(f, out, text, line)) return last;
    line.text = kinst_text("!$omp %.*s", (int)strcspn(text, "("), text);
    line.why = why ? why : "a word of it is too long";
    *(kinst_line_t *)kinst_push(&out->v, &out->n, sizeof line) = line;
    return last;
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

/*
 * A statement that OPARI2 does not read as it is: one that begins or ends a loop and does not have its words in one
 * line, or one of several lines behind a directive, of which it may take the first for the whole.
 */
typedef struct {
    size_t first, last; /* lines */
    char *text;         /* what it reads */
} bound_t;

typedef struct {
    const kinst_fortran_t *f;
    bool behind_directive;
    bound_t *v;
    size_t n;
} bounds_t;

/* Does the line begin with these words as they are usually written? */
static bool is_plain(const bounds_t *b, size_t line, const char *words)
{
    const char *p = b->f->lines.v[line].text;

    if (!b->f->form.fixed) return true; /* blanks mean something */
    p += strspn(p, " \t0123456789");
    return kinst_words(&p, words);
}

static void find_bound(void *context, const kinst_statement_t *s)
{
    bounds_t *bounds = context;
    const char *text = NULL, *words = "continue";
    bool behind = bounds->behind_directive && s->first < s->last;
    long label;

    bounds->behind_directive = false;
    if (kinst_fortran_is_do(s->text, &label)) {
        words = "do";
        text = label ? kinst_text("do %ld i = 1, 2", label) : "do i = 1, 2";
    } else if (strncmp(s->text, "enddo", 5) == 0) {
        text = words = "end do";
    } else if (behind || (s->label && strcmp(s->text, words) == 0)) {
        text = words;
    }
    if (!text || (s->first == s->last && is_plain(bounds, s->first, words))) return;
    char *line = s->label ? kinst_text("%5ld %s", s->label, text) : kinst_text("      %s", text);
    *(bound_t *)kinst_push(&bounds->v, &bounds->n, sizeof *bounds->v) = (bound_t){s->first, s->last, line};
}

static bounds_t find_bounds(const kinst_fortran_t *f)
{
    kinst_reader_t reader = {.form = f->form};
    bounds_t bounds = {.f = f};
    const char *rest;

    for (size_t i = 0; i < f->lines.n; i++) {
        kinst_line_kind_t kind = kinst_line_kind(f->form, f->lines.v[i].text, &rest);
        if (kind == KINST_LINE_CODE) kinst_read_code(&reader, f->lines.v[i].text, i, find_bound, &bounds);
        if (kind != KINST_LINE_DIRECTIVE) continue;
        kinst_read_end(&reader, find_bound, &bounds);
        bounds.behind_directive = true;
    }
    kinst_read_end(&reader, find_bound, &bounds);
    return bounds;
}

/* Its words in a line of their own, and what is in the source behind a comment, in place of lines from .. last. */
static void put_bound(kinst_fortran_t *f, const bound_t *b, size_t from, kinst_lines_t *out)
{
    const kinst_line_t *lines = f->lines.v, *first = &lines[from <= b->last ? from : b->last];

    kinst_add(&f->hidden, from <= b->last ? original(f, from, b->last) : "");
    kinst_lines_add(out, kinst_text("%s !" KINST_FORTRAN_HIDDEN " %zu", b->text, f->hidden.n - 1), first->line);
    out->v[out->n - 1].last = lines[b->last].line;
}

void kinst_fortran_prepare(kinst_fortran_t *f, kinst_lines_t *out)
{
    const bounds_t bounds = find_bounds(f);
    const char *rest;
    size_t next = 0;

    f->constants.n = f->hidden.n = 0;
    for (size_t i = 0; i < f->lines.n; i++) {
        if (next < bounds.n && bounds.v[next].first == i) {
            size_t from = i;
            for (; next < bounds.n && bounds.v[next].first <= i; from = i + 1, next++) {
                put_bound(f, &bounds.v[next], from, out);
                i = bounds.v[next].last;
            }
            continue;
        }
        if (kinst_line_kind(f->form, f->lines.v[i].text, &rest) == KINST_LINE_DIRECTIVE) i = prepare(f, i, out);
        else kinst_lines_add(out, f->lines.v[i].text, f->lines.v[i].line);
    }
}

void kinst_fortran_drop_empty(const kinst_fortran_t *f, kinst_lines_t *lines)
{
    const char *rest;
    size_t n = 0;

    for (size_t i = 0; i < lines->n; i++) {
        const char *text = lines->v[i].text;
        bool directive = kinst_line_kind(f->form, text, &rest) == KINST_LINE_DIRECTIVE;
        if (!directive || lines->v[i].original || rest[strspn(rest, " \t&")]) {
            lines->v[n++] = lines->v[i];
        } else if (!f->form.fixed && !strchr(rest, '&') && n > 0) { /* the last line of the directive */
            char *last = kinst_text("%s", lines->v[n - 1].text), *mark = strrchr(last, '&');
            bool before = kinst_line_kind(f->form, last, &rest) == KINST_LINE_DIRECTIVE;
            if (before && mark && !*kinst_skip_blanks(mark + 1)) *mark = '\0';
            lines->v[n - 1].text = last;
        }
    }
    lines->n = n;
}
