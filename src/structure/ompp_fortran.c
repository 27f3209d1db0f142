/*
 * Reads Fortran by lines: comments, continuations in free and fixed form, words. Strings are not followed across lines.
 */
#include "structure/ompp_fortran.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define MAX_CONTINUED 255u
#define MAX_BODY 10000u /* lines of a loop that are looked at */

/* A line as it counts: without its comment and the blanks at its ends. */
typedef struct {
    const char *text;
    size_t length;
    bool continues; /* fixed form: the line before it goes on here */
} line_t;

bool ompp_fortran_is(const char *path)
{
    static const char *const ends[] = {"f", "for", "ftn", "fpp", "f77", "f90", "f95", "f03", "f08", "f18"};
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (!strcasecmp(dot + 1, ends[i])) return true;
    return false;
}

bool ompp_fortran_copies(const char *symbol)
{
    static const char *const names[] = {"_gfortran_internal_pack", "_gfortran_internal_unpack", "_FortranACopyInAssign",
                                        "_FortranACopyOutAssign"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(symbol, names[i]) == 0) return true;
    return false;
}

bool ompp_fortran_is_fixed(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && (!dot[2] || tolower((unsigned char)dot[2]) == 'o' || tolower((unsigned char)dot[2]) == 't' ||
                   !strcmp(dot + 2, "77"));
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Length of a line up to its comment. */
static size_t without_comment(const char *text, size_t length)
{
    char quote = '\0';

    for (size_t i = 0; i < length; i++) {
        if (quote) quote = text[i] == quote ? '\0' : quote;
        else if (text[i] == '\'' || text[i] == '"') quote = text[i];
        else if (text[i] == '!') return i;
    }
    return length;
}

static bool get_line(const ompp_fortran_t *source, uint32_t number, line_t *line)
{
    size_t length;
    const char *text = ompp_source_line(source->text, number, &length);

    if (!text) return false;
    *line = (line_t){.text = text};
    if (source->fixed && length > 0 && strchr("cC*!", text[0])) return true;
    if (source->fixed)
        line->continues = length > 5 && text[5] != ' ' && text[5] != '0' && strspn(text, " ") >= 5 && text[0] != '#';
    if (length > 0 && text[0] == '#') return true;
    for (length = without_comment(text, length); length > 0 && isspace((unsigned char)text[length - 1]);) length--;
    while (length > 0 && isspace((unsigned char)*line->text)) line->text++, length--;
    line->length = length;
    return true;
}

static bool uses(const line_t *line, const char *name)
{
    const size_t n = strlen(name);

    for (size_t i = 0; i + n <= line->length; i++) {
        if (strncasecmp(line->text + i, name, n)) continue;
        if ((i == 0 || !is_word(line->text[i - 1])) && (i + n == line->length || !is_word(line->text[i + n])))
            return true;
    }
    return false;
}

/* The nearest line above that is not blank or a comment; 0 = none. */
static uint32_t line_above(const ompp_fortran_t *source, uint32_t number, line_t *line)
{
    while (--number > 0 && get_line(source, number, line))
        if (line->length) return number;
    return 0;
}

static bool goes_on(const ompp_fortran_t *source, const line_t *line, const line_t *next)
{
    return source->fixed ? next->continues : line->text[line->length - 1] == '&';
}

void ompp_fortran_lines(const ompp_fortran_t *source, uint32_t number, uint32_t *first, uint32_t *last)
{
    line_t line, other, begin;
    uint32_t next = number;

    *first = *last = number;
    if (!get_line(source, number, &line) || !line.length) return;
    begin = line;
    while ((next = line_above(source, next, &other)) && goes_on(source, &other, &begin)) {
        *first = next;
        begin = other;
    }
    for (next = number + 1; get_line(source, next, &other) && next - *last <= MAX_CONTINUED; next++) {
        if (!other.length) continue;
        if (!goes_on(source, &line, &other)) break;
        *last = next;
        line = other;
    }
}

uint32_t ompp_fortran_statement(const ompp_fortran_t *source, uint32_t number, const char *name)
{
    line_t line, above;

    if (!get_line(source, number, &line)) return 0;
    for (unsigned i = 0; i < MAX_CONTINUED && number; i++) {
        if (uses(&line, name)) return number;
        number = line_above(source, number, &above);
        if (number == 0 || !goes_on(source, &above, &line)) break;
        line = above;
    }
    return 0;
}

size_t ompp_fortran_uses(const ompp_fortran_t *source, uint32_t first, uint32_t last, const char *name,
                         uint32_t lines[], size_t max)
{
    size_t n = 0;
    line_t line;

    for (uint32_t i = first; i <= last && get_line(source, i, &line); i++) {
        if (!uses(&line, name)) continue;
        if (n < max) lines[n] = i;
        n++;
    }
    return n;
}

/* Whether a line's first word is this one; *rest gets what follows it. */
static bool begins(const line_t *line, const char *word, line_t *rest)
{
    const size_t n = strlen(word);

    if (line->length < n || strncasecmp(line->text, word, n) || (line->length > n && is_word(line->text[n])))
        return false;
    *rest = (line_t){.text = line->text + n, .length = line->length - n};
    while (rest->length && isspace((unsigned char)*rest->text)) rest->text++, rest->length--;
    return true;
}

static bool begins_unit(const line_t *line)
{
    static const char *const words[] = {"program", "subroutine", "function"};
    line_t rest;

    if (begins(line, "end", &rest)) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (uses(line, words[i])) return true;
    return begins(line, "module", &rest) && begins(&rest, "procedure", &rest);
}

/* "outer: do": the name of a construct is left out. */
static line_t without_name(const line_t *line)
{
    line_t rest = *line;

    while (rest.length && is_word(*rest.text)) rest.text++, rest.length--;
    while (rest.length && *rest.text == ' ') rest.text++, rest.length--;
    if (!rest.length || *rest.text != ':') return *line;
    do rest.text++, rest.length--;
    while (rest.length && *rest.text == ' ');
    return rest;
}

/* Whether a line begins a loop. \param[out] label  of the statement that ends it, in digits; length 0: END DO does. */
static bool begins_do(const line_t *line, line_t *label)
{
    const line_t bare = without_name(line);
    line_t rest;

    if (!begins(&bare, "do", &rest) || (rest.length && *rest.text == '=')) return false;
    *label = (line_t){.text = rest.text};
    while (label->length < rest.length && isdigit((unsigned char)rest.text[label->length])) label->length++;
    return true;
}

/* Whether one of the lines first .. last - 1 has a label. */
static bool has_label(const ompp_fortran_t *source, uint32_t first, uint32_t last, const line_t *label)
{
    line_t line;

    for (uint32_t i = first; i < last && get_line(source, i, &line); i++)
        if (line.length > label->length && memcmp(line.text, label->text, label->length) == 0 &&
            !is_word(line.text[label->length]))
            return true;
    return false;
}

uint32_t ompp_fortran_do(const ompp_fortran_t *source, uint32_t number)
{
    const uint32_t from = number;
    line_t line, label, rest;
    unsigned closed = 0;

    for (unsigned i = 0; i < MAX_BODY && (number = line_above(source, number, &line)); i++) {
        if (begins_unit(&line)) return 0;
        if (begins(&line, "enddo", &rest) || (begins(&line, "end", &rest) && begins(&rest, "do", &rest))) closed++;
        else if (!begins_do(&line, &label)) continue;
        else if (label.length ? !has_label(source, number + 1, from, &label) : !closed) return number;
        else if (!label.length) closed--;
    }
    return 0;
}

static bool ends_unit(const line_t *line)
{
    static const char *const words[] = {"program", "subroutine", "function", "procedure", "module"};
    static const char *const joined[] = {"endprogram", "endsubroutine", "endfunction", "endprocedure", "contains"};
    line_t rest;

    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++)
        if (begins(line, joined[i], &rest)) return true;
    if (!begins(line, "end", &rest)) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        line_t name;
        if (begins(&rest, words[i], &name)) return true;
    }
    return rest.length == 0;
}

void ompp_fortran_unit(const ompp_fortran_t *source, uint32_t number, uint32_t *first, uint32_t *last)
{
    line_t line;

    for (*first = number; *first > 1 && get_line(source, *first, &line) && !begins_unit(&line);) --*first;
    for (*last = number; get_line(source, *last + 1, &line) && !ends_unit(&line);) ++*last;
}
