/*
 * Reads just enough C and C++ to find the end of one statement: comments, literals, preprocessor lines, brackets, and
 * the statements that contain others. Of #if .. #else .. #endif the first branch is read, so that brackets stay in
 * balance.
 */
#include "structure/ompp_source.h"

#include "base/ompp_error.h"
#include "base/ompp_regular.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SIZE ((int64_t)64 << 20)
#define MAX_DEPTH 200 /* of nested statements */

struct ompp_source {
    size_t size, nlines;
    size_t *lines; /* offset of each line */
    char text[];   /* [size], zero-terminated */
};

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static bool read_all(int fd, char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = read(fd, text, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text += n;
        size -= (size_t)n;
    }
    return true;
}

static bool find_lines(ompp_source_t *source)
{
    size_t n = 1;

    for (size_t i = 0; i < source->size; i++) n += source->text[i] == '\n';
    source->lines = malloc(n * sizeof *source->lines);
    if (!source->lines) return false;
    source->lines[source->nlines++] = 0;
    for (size_t i = 0; i < source->size; i++)
        if (source->text[i] == '\n') source->lines[source->nlines++] = i + 1;
    return true;
}

ompp_source_t *ompp_source_open(const char *path, int64_t newest)
{
    struct stat status;
    int fd = ompp_regular_open(path);
    ompp_source_t *source = NULL;

    if (fd < 0) return NULL;
    if (fstat(fd, &status) == 0 && status.st_size <= MAX_SIZE && status.st_mtime <= newest)
        source = calloc(1, sizeof *source + (size_t)status.st_size + 1);
    if (source) source->size = (size_t)status.st_size;
    if (source && (!read_all(fd, source->text, source->size) || !find_lines(source))) {
        free(source);
        source = NULL;
    }
    close(fd);
    return source;
}

void ompp_source_close(ompp_source_t *source)
{
    if (!source) return;
    free(source->lines);
    free(source);
}

const char *ompp_source_line(const ompp_source_t *source, uint32_t line, size_t *length)
{
    size_t begin, end;

    if (line == 0 || line > source->nlines) return NULL;
    begin = source->lines[line - 1];
    end = line < source->nlines ? source->lines[line] - 1 : source->size;
    if (end > begin && source->text[end - 1] == '\r') end--;
    *length = end - begin;
    return source->text + begin;
}

static uint32_t line_of(const ompp_source_t *source, size_t offset)
{
    size_t low = 0, high = source->nlines;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (source->lines[middle] <= offset) low = middle + 1;
        else high = middle;
    }
    return (uint32_t)low;
}

/* ---- Blanks ------------------------------------------------------------------------------------------------------ */

/* End of a line, continuation lines included: offset of its newline or of the end of the text. */
static size_t logical_end(const ompp_source_t *source, size_t at)
{
    for (; at < source->size; at++) {
        if (source->text[at] != '\n') continue;
        size_t before = at;
        if (before > 0 && source->text[before - 1] == '\r') before--;
        if (before == 0 || source->text[before - 1] != '\\') break;
    }
    return at;
}

/* Blanks inside a line, continuations included. */
static size_t skip_inline(const ompp_source_t *source, size_t at)
{
    for (; at < source->size; at++) {
        if (source->text[at] == '\\' && source->text[at + 1] == '\n') at++;
        else if (source->text[at] == '\\' && source->text[at + 1] == '\r' && source->text[at + 2] == '\n') at += 2;
        else if (source->text[at] != ' ' && source->text[at] != '\t') break;
    }
    return at;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Whether this word stands at an offset. */
static bool word_at(const ompp_source_t *source, size_t at, const char *word)
{
    size_t n = strlen(word);

    return source->size - at >= n && memcmp(source->text + at, word, n) == 0 && !is_word(source->text[at + n]);
}

static size_t skip_comment(const ompp_source_t *source, size_t at)
{
    if (source->text[at + 1] == '/') return logical_end(source, at);
    const char *end = strstr(source->text + at + 2, "*/");
    return end ? (size_t)(end - source->text) + 2 : source->size;
}

static bool is_comment(const ompp_source_t *source, size_t at)
{
    return source->text[at] == '/' && (source->text[at + 1] == '/' || source->text[at + 1] == '*');
}

/* From the line of an #else or #elif to the end of the line of its #endif. */
static size_t skip_branches(const ompp_source_t *source, size_t at)
{
    unsigned depth = 1;

    while (at < source->size) {
        size_t hash = skip_inline(source, at), word = source->text[hash] == '#' ? skip_inline(source, hash + 1) : hash;
        if (word != hash) {
            if (strncmp(source->text + word, "if", 2) == 0) depth++;
            else if (word_at(source, word, "endif") && --depth == 0) return logical_end(source, word);
        }
        at = logical_end(source, hash);
        if (at < source->size) at++;
    }
    return at;
}

static size_t skip_directive(const ompp_source_t *source, size_t at)
{
    size_t word = skip_inline(source, at + 1), end = logical_end(source, word);
    bool other = strncmp(source->text + word, "else", 4) == 0 || strncmp(source->text + word, "elif", 4) == 0;

    return other && end < source->size ? skip_branches(source, end + 1) : end;
}

/* To the next token. A '#' between tokens begins a preprocessor line; branches: of which all branches are read. */
static size_t skip_to_token(const ompp_source_t *source, size_t at, bool branches)
{
    while (at < source->size) {
        char c = source->text[at];
        if (isspace((unsigned char)c) || (c == '\\' && isspace((unsigned char)source->text[at + 1]))) at++;
        else if (is_comment(source, at)) at = skip_comment(source, at);
        else if (c == '#') at = branches ? logical_end(source, at) : skip_directive(source, at);
        else break;
    }
    return at;
}

static size_t skip_blanks(const ompp_source_t *source, size_t at) { return skip_to_token(source, at, false); }

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

static size_t skip_quoted(const ompp_source_t *source, size_t at)
{
    char quote = source->text[at++];

    for (; at < source->size && source->text[at] != quote; at++) {
        if (source->text[at] == '\n') return at; /* not closed: damage stays on its line */
        if (source->text[at] == '\\' && at + 1 < source->size) at++;
    }
    return at < source->size ? at + 1 : at;
}

/* R"mark(...)mark" at an offset, or the offset itself when there is none. */
static size_t skip_raw(const ompp_source_t *source, size_t at)
{
    char close[20];
    size_t n = 0;

    if (source->text[at] != 'R' || source->text[at + 1] != '"') return at;
    close[n++] = ')';
    for (size_t i = at + 2; n < 18 && i < source->size && source->text[i] != '('; i++) close[n++] = source->text[i];
    close[n++] = '"';
    close[n] = '\0';
    const char *end = strstr(source->text + at + 2, close);
    return end ? (size_t)(end - source->text) + n : source->size;
}

/* Past one token that is no bracket. */
static size_t skip_token(const ompp_source_t *source, size_t at)
{
    char c = source->text[at];
    size_t raw = skip_raw(source, at);

    if (raw != at) return raw;
    if (c == '"' || c == '\'') return skip_quoted(source, at);
    if (!is_word(c)) return at + 1;
    bool number = isdigit((unsigned char)c);
    while (at < source->size && (is_word(source->text[at]) || (number && source->text[at] == '\'')) &&
           (number || skip_raw(source, at) == at))
        at++;
    return at;
}

/* From an opening bracket past the one that closes it; the size of the text when there is none. */
static size_t skip_brackets(const ompp_source_t *source, size_t at)
{
    unsigned depth = 0;

    while ((at = skip_blanks(source, at)) < source->size) {
        char c = source->text[at];
        if (c == '(' || c == '[' || c == '{') depth++;
        if (c == ')' || c == ']' || c == '}') {
            if (--depth == 0) return at + 1;
        }
        at = skip_token(source, at);
    }
    return source->size;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static size_t skip_statement(const ompp_source_t *source, size_t at, int depth);

/* Brackets that may come next, with words and "constexpr" before them. */
static size_t skip_condition(const ompp_source_t *source, size_t at)
{
    at = skip_blanks(source, at);
    while (at < source->size && is_word(source->text[at])) at = skip_blanks(source, skip_token(source, at));
    return at < source->size && source->text[at] == '(' ? skip_brackets(source, at) : at;
}

/* Past the next ';' outside brackets. A bracket that closes more than was opened ends it, too. */
static size_t skip_simple(const ompp_source_t *source, size_t at)
{
    while ((at = skip_blanks(source, at)) < source->size) {
        char c = source->text[at];
        if (c == ';') return at + 1;
        if (c == ')' || c == ']' || c == '}') return at;
        at = c == '(' || c == '[' || c == '{' ? skip_brackets(source, at) : skip_token(source, at);
    }
    return at;
}

static size_t skip_if(const ompp_source_t *source, size_t at, int depth)
{
    at = skip_statement(source, skip_condition(source, at), depth);
    size_t next = skip_blanks(source, at);
    return next < source->size && word_at(source, next, "else") ? skip_statement(source, next + 4, depth) : at;
}

static size_t skip_try(const ompp_source_t *source, size_t at, int depth)
{
    at = skip_statement(source, at, depth);
    for (size_t next; (next = skip_blanks(source, at)) < source->size && word_at(source, next, "catch");)
        at = skip_statement(source, skip_condition(source, next + 5), depth);
    return at;
}

static size_t skip_loop(const ompp_source_t *source, size_t at, int depth)
{
    return skip_statement(source, skip_condition(source, at), depth);
}

static size_t skip_do(const ompp_source_t *source, size_t at, int depth)
{
    return skip_simple(source, skip_statement(source, at, depth));
}

/* Statements that contain statements. */
static const struct {
    const char *word;
    size_t (*skip)(const ompp_source_t *source, size_t at, int depth);
} compound[] = {
    {"if", skip_if},       {"for", skip_loop}, {"while", skip_loop},
    {"switch", skip_loop}, {"do", skip_do},    {"try", skip_try},
};

static size_t skip_statement(const ompp_source_t *source, size_t at, int depth)
{
    at = skip_blanks(source, at);
    if (at >= source->size || depth >= MAX_DEPTH) return source->size;
    if (source->text[at] == '{') return skip_brackets(source, at);
    for (size_t i = 0; i < sizeof compound / sizeof compound[0]; i++)
        if (word_at(source, at, compound[i].word))
            return compound[i].skip(source, at + strlen(compound[i].word), depth + 1);
    return skip_simple(source, at);
}

/* ---- Statements on a line ---------------------------------------------------------------------------------------- */

/* A statement as far as it has been read; begin = size of the text: it has not begun. */
typedef struct {
    size_t begin, before; /* offsets of its first and its last token */
    int depth;            /* of brackets */
    bool is_new;          /* it has the word */
} statement_t;

/* Does the brace that comes next hold values, of an array or of what "new" makes? */
static bool holds_values(const ompp_source_t *source, const statement_t *s)
{
    char before = source->text[s->before];

    if (before == '=' && s->begin < source->size) return true;
    return s->is_new && (is_word(before) || before == '>' || (before == ']' && s->depth == 0));
}

void ompp_source_statement(const ompp_source_t *source, uint32_t line, uint32_t *first, uint32_t *last)
{
    statement_t s = {.begin = source->size};
    size_t at = 0;

    *first = *last = line;
    if (line == 0 || line > source->nlines) return;
    const size_t begin = source->lines[line - 1], end = line < source->nlines ? source->lines[line] : source->size;
    while ((at = skip_to_token(source, at, true)) < source->size && (at < end || s.begin < end)) {
        const char c = source->text[at];
        const bool brace = c == '{' || c == '}';
        if (s.begin == source->size) s = (statement_t){.begin = at, .before = at};
        if (c == '{' && holds_values(source, &s)) {
            at = skip_brackets(source, at);
            s.before = at - 1;
            continue;
        }
        if (brace || (c == ';' && s.depth <= 0)) {
            const uint32_t from = line_of(source, s.begin), to = line_of(source, at);
            if (s.begin < end && at >= begin && from < *first) *first = from;
            if (s.begin < end && at >= begin && to > *last) *last = to;
            s.begin = source->size;
        }
        s.depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
        s.is_new |= word_at(source, at, "new");
        at = skip_token(source, at);
        s.before = at - 1;
    }
}

bool ompp_source_has_word(const ompp_source_t *source, uint32_t line, const char *const words[])
{
    if (line == 0 || line > source->nlines) return false;
    const size_t end = line < source->nlines ? source->lines[line] : source->size;
    size_t at = source->lines[line - 1];

    for (; (at = skip_to_token(source, at, true)) < end; at = skip_token(source, at))
        for (size_t i = 0; words[i]; i++)
            if (word_at(source, at, words[i])) return true;
    return false;
}

/* ---- Directives -------------------------------------------------------------------------------------------------- */

static size_t append_word(const ompp_source_t *source, size_t at, char *to, size_t size)
{
    size_t used = strlen(to), end = skip_token(source, at);

    if (used + (end - at) + 2 > size) return end;
    if (used > 0) to[used++] = ' ';
    memcpy(to + used, source->text + at, end - at);
    to[used + (end - at)] = '\0';
    return end;
}

/* Words of the directive; its clauses follow from the first one with brackets, which belong to the name of a
 * critical. */
static void read_words(const ompp_source_t *source, size_t at, ompp_directive_t *directive)
{
    size_t end = logical_end(source, at);

    for (at = skip_inline(source, at); at < end && is_word(source->text[at]);) {
        size_t word = at, next = skip_inline(source, skip_token(source, at));
        bool named = next < end && source->text[next] == '(';
        if (named && !word_at(source, word, "critical")) return;
        append_word(source, word, directive->words, sizeof directive->words);
        if (named) {
            at = skip_inline(source, next + 1);
            if (is_word(source->text[at])) append_word(source, at, directive->name, sizeof directive->name);
            return;
        }
        at = next;
    }
}

int ompp_source_directive(const ompp_source_t *source, uint32_t line, ompp_directive_t *directive)
{
    memset(directive, 0, sizeof *directive);
    if (line == 0 || line > source->nlines) return -OMPP_E_NOTFOUND;
    size_t at = skip_inline(source, source->lines[line - 1]);
    static const char *const begin[] = {"pragma", "omp"};
    if (at >= source->size || source->text[at] != '#') return -OMPP_E_NOTFOUND;
    at++;
    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++) {
        at = skip_inline(source, at);
        if (at >= source->size || !word_at(source, at, begin[i])) return -OMPP_E_NOTFOUND;
        at += strlen(begin[i]);
    }
    read_words(source, at, directive);
    directive->first = line;
    size_t end = skip_statement(source, logical_end(source, at), 0);
    if (end > 0 && end < source->size) directive->last = line_of(source, end - 1);
    return 0;
}
