/**
 * \file
 * Directives of Fortran as OPARI2 can read them, and back. It writes clauses in lower case and without blanks, which
 * text constants must not be; it dies of a name that goes on in the next line; it forgets what follows a comment
 * between the lines of a directive, and leaves lines without clauses behind.
 */
#include "tools/kinst/kinst-ompp-fortran.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PLACEHOLDER "ompp_text_"
#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* ---- Text constants ---------------------------------------------------------------------------------------------- */

/* Behind the text constant at p, where two quotes stand for one; NULL = it does not end in this line. */
static const char *behind_constant(const char *p)
{
    char quote = *p++;

    for (; *p; p++) {
        if (*p != quote) continue;
        if (p[1] != quote) return p + 1;
        p++;
    }
    return NULL;
}

/* The line without comment, and with names in place of text constants. NULL = a constant goes on in the next line. */
static char *without_constants(kinst_fortran_t *f, const char *line, const char *rest)
{
    char *result = kinst_text("%.*s", (int)(rest - line), line);

    while (*rest && *rest != '!') {
        size_t length = strcspn(rest, "'\"!");
        result = kinst_text("%s%.*s", result, (int)length, rest);
        rest += length;
        if (*rest != '\'' && *rest != '"') continue;
        const char *end = behind_constant(rest);
        if (!end) return NULL;
        kinst_add(&f->constants, kinst_text("%.*s", (int)(end - rest), rest));
        result = kinst_text("%s" PLACEHOLDER "%zu", result, f->constants.n - 1);
        rest = end;
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

/* ---- Lines of a directive ---------------------------------------------------------------------------------------- */

/* Does it end with &? Cuts the & and the blanks before it off. */
static bool cut_ampersand(char *line)
{
    size_t length = strlen(line);
    bool found;

    while (length > 0 && isspace((unsigned char)line[length - 1])) length--;
    found = length > 0 && line[length - 1] == '&';
    if (found) length--;
    while (found && length > 0 && isspace((unsigned char)line[length - 1])) length--;
    line[length] = '\0';
    return found;
}

/* What a line of a directive holds: behind the sentinel and the mark of a continuation. */
static const char *content(kinst_form_t form, const char *line)
{
    const char *p;

    kinst_line_kind(form, line, &p);
    if (form.fixed && *p) return kinst_skip_blanks(p + 1);
    p = kinst_skip_blanks(p);
    return *p == '&' ? kinst_skip_blanks(p + 1) : p;
}

/* Behind the word of a directive's name at p, or NULL. */
static const char *behind_name(const char *p)
{
    static const char *const words[] = {
        "atomic",    "barrier",  "cancel",   "critical",  "data",   "distribute", "do",       "end",
        "enter",     "exit",     "flush",    "loop",      "masked", "master",     "ordered",  "parallel",
        "point",     "scope",    "section",  "sections",  "simd",   "single",     "target",   "task",
        "taskgroup", "taskloop", "taskwait", "taskyield", "teams",  "update",     "workshare"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *rest = p;
        if (kinst_words(&rest, words[i])) return rest;
    }
    return NULL;
}

/*
 * Moves the words of the directive's name from the begin of its next line to the end of its first one, which has
 * nothing but such words. \return the next line; NULL = nothing is left of it.
 */
static char *join_name(kinst_form_t form, char **first, char *next)
{
    const char *p = content(form, next), *behind;
    char *head = kinst_text("%s", *first);

    if (!form.fixed) cut_ampersand(head);
    while (*p && (behind = behind_name(p))) {
        head = kinst_text("%s %.*s", head, (int)strspn(p, NAME), p);
        p = behind;
    }
    bool left = *p && (form.fixed || *p != '&'), more = left || *p == '&';
    *first = more && !form.fixed ? kinst_text("%s &", head) : head;
    return left ? kinst_text(form.fixed ? "!$omp& %s" : "  !$omp %s", p) : NULL;
}

/* A directive's first line with blanks between the words of its name: OPARI2 dies of PARALLELDO. */
static char *with_blanks(kinst_form_t form, char *line)
{
    static const char *const words[] = {"end", "parallel"};
    const char *p, *rest;

    kinst_line_kind(form, line, &rest);
    p = kinst_skip_blanks(rest);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if (strncasecmp(p, words[i], length) != 0) continue;
        size_t done = p + length - line;
        if (isalpha((unsigned char)line[done])) line = kinst_text("%.*s %s", (int)done, line, line + done);
        p = kinst_skip_blanks(line + done);
    }
    return line;
}

static bool is_name_only(kinst_form_t form, const char *line)
{
    const char *p = content(form, line);

    p += strspn(p, " \t" NAME);
    return !*p || *p == '&';
}

/* Is line i a comment between the lines of a directive? before: behind the sentinel of the last one. */
static bool is_between(const kinst_fortran_t *f, size_t i, const char *before)
{
    const char *rest;
    kinst_line_kind_t kind;

    if (!before) return false;
    while ((kind = kinst_line_kind(f->form, f->lines.v[i].text, &rest)) == KINST_LINE_COMMENT)
        if (++i == f->lines.n) return false;
    return kind == KINST_LINE_DIRECTIVE && kinst_directive_continues(f->form, rest, before);
}

const char *kinst_fortran_prepare(kinst_fortran_t *f, kinst_lines_t *out)
{
    const char *rest, *before = NULL;
    size_t first = 0; /* line of out where the directive begins */

    f->constants.n = 0;
    for (size_t i = 0; i < f->lines.n; i++) {
        char *line = f->lines.v[i].text;
        kinst_line_kind_t kind = kinst_line_kind(f->form, line, &rest);
        if (kind == KINST_LINE_COMMENT && is_between(f, i, before)) continue;
        if (kind != KINST_LINE_DIRECTIVE) {
            before = NULL;
            kinst_lines_add(out, line, f->lines.v[i].line);
            continue;
        }
        bool continues = kinst_directive_continues(f->form, rest, before);
        line = without_constants(f, line, rest);
        if (!line) return "a text constant of a directive goes on in the next line";
        if (!continues) {
            first = out->n;
            line = with_blanks(f->form, line);
        }
        kinst_line_kind(f->form, line, &before);
        if (continues && first + 1 == out->n && is_name_only(f->form, out->v[first].text))
            line = join_name(f->form, &out->v[first].text, line);
        if (line) kinst_lines_add(out, line, f->lines.v[i].line);
    }
    return NULL;
}

void kinst_fortran_drop_empty(const kinst_fortran_t *f, kinst_lines_t *lines)
{
    const char *rest;
    size_t n = 0;

    for (size_t i = 0; i < lines->n; i++) {
        const char *text = lines->v[i].text;
        bool directive = kinst_line_kind(f->form, text, &rest) == KINST_LINE_DIRECTIVE;
        if (!directive || rest[strspn(rest, " \t&")]) {
            lines->v[n++] = lines->v[i];
        } else if (!f->form.fixed && !strchr(rest, '&') && n > 0) { /* the last line of the directive */
            char *last = kinst_text("%s", lines->v[n - 1].text);
            if (kinst_line_kind(f->form, last, &rest) == KINST_LINE_DIRECTIVE) cut_ampersand(last);
            lines->v[n - 1].text = last;
        }
    }
    lines->n = n;
}
