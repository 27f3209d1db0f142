/** \file Text that grows, and the little that the wrapper knows of how C and C++ are written. */
#include "tools/kinst/kinst-ompp-source.h"

#include "base/ompp_vector.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kinst_put(kinst_buffer_t *b, const char *text, size_t size)
{
    if (!ompp_vector_reserve(&b->text, &b->room, b->size + size + 1, 1)) abort();
    memcpy(b->text + b->size, text, size);
    b->size += size;
    b->text[b->size] = '\0';
}

void kinst_puts(kinst_buffer_t *b, const char *text) { kinst_put(b, text, strlen(text)); }

void kinst_putf(kinst_buffer_t *b, const char *format, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) abort();
    va_end(args);
    kinst_puts(b, text);
    free(text);
}

char *kinst_escaped(const char *text)
{
    kinst_buffer_t b = {0};

    kinst_puts(&b, "");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') kinst_put(&b, "\\", 1);
        kinst_put(&b, *text == '\n' ? " " : text, 1);
    }
    return b.text;
}

/* Behind the backslash and newline at p, or p. */
static const char *behind_join(const char *p)
{
    if (p[0] != '\\') return p;
    return p[1] == '\n' ? p + 2 : p[1] == '\r' && p[2] == '\n' ? p + 3 : p;
}

/* Lines that a backslash joins are one. */
const char *kinst_skip_blanks(const char *p)
{
    for (const char *next = p;; p = next) {
        while (*p == ' ' || *p == '\t') p++;
        next = behind_join(p);
        if (next == p) return p;
    }
}

bool kinst_take(const char **p, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(*p, word, length) != 0 || isalnum((unsigned char)(*p)[length]) || (*p)[length] == '_') return false;
    *p = kinst_skip_blanks(*p + length);
    return true;
}

const char *kinst_behind_words(const char *p, const char *name)
{
    for (;;) {
        size_t length = strcspn(name, " ");
        char *word = kinst_text("%.*s", (int)length, name);
        bool taken = kinst_take(&p, word);
        free(word);
        if (!taken) return NULL;
        if (!name[length]) return p;
        name += length + 1;
    }
}

const char *kinst_behind_quotes(const char *p, const char *end)
{
    char quote = *p++;

    while (p < end && *p != quote && *p != '\n') p += *p == '\\' && p + 1 < end ? 2 : 1;
    return p < end && *p == quote ? p + 1 : p;
}

const char *kinst_behind_raw(const char *p, const char *end)
{
    const char *open = memchr(p, '(', end - p), *close;

    if (!open || open - p > 17) return kinst_behind_quotes(p, end);
    char *mark = kinst_text(")%.*s\"", (int)(open - p - 1), p + 1);
    close = strstr(open, mark);
    p = close ? close + strlen(mark) : end;
    free(mark);
    return p;
}

const char *kinst_behind_comment(const char *p, const char *end)
{
    const char *close = strstr(p + 2, "*/");

    return close ? close + 2 : end;
}

const char *kinst_end_of_line(const char *p, const char *end)
{
    while (p < end && *p != '\n') {
        const char *next = behind_join(p);
        p = next > p ? next : p + 1;
    }
    return p < end ? p : end;
}

const char *kinst_end_of_directive(const char *p, const char *end)
{
    while (p < end && *p != '\n') {
        const char *next = behind_join(p);
        if (p[0] == '/' && p[1] == '/') return kinst_end_of_line(p, end);
        if (p[0] == '/' && p[1] == '*') next = kinst_behind_comment(p, end);
        if (p[0] == '"') next = kinst_behind_quotes(p, end);
        p = next > p ? next : p + 1;
    }
    return p < end ? p : end;
}

char *kinst_in_parentheses(const char *p, const char *end)
{
    const char *open = memchr(p, '(', end - p), *close = end;

    while (close > p && close[-1] != ')') close--;
    if (!open || close <= open + 1) return kinst_text("%s", "");
    open = kinst_skip_blanks(open + 1);
    for (close--; close > open && isspace((unsigned char)close[-1]); close--) continue;
    char *text = kinst_text("%.*s", (int)(close - open), open);
    /* of lines that are joined, one blank is left: others count the newlines */
    for (char *q = text; (q = strchr(q, '\\')); q++)
        if (q[1 + strspn(q + 1, "\r")] == '\n') memset(q, ' ', 2 + strspn(q + 1, "\r"));
    return text;
}

bool kinst_three_arguments(const char *p, const char *end, char *arguments[3])
{
    int depth = 0, n = 0;
    const char *from = p;

    for (; p <= end; p++) {
        if (p < end && (*p == '"' || *p == '\'')) {
            p = kinst_behind_quotes(p, end) - 1;
            continue;
        }
        depth += p < end ? (strchr("([{", *p) != NULL) - (strchr(")]}", *p) != NULL) : 0;
        if (p < end && (*p != ',' || depth > 0)) continue;
        const char *to = p;
        while (from < to && isspace((unsigned char)*from)) from++;
        while (to > from && isspace((unsigned char)to[-1])) to--;
        if (n == 3 || to == from) return false;
        arguments[n++] = kinst_text("%.*s", (int)(to - from), from);
        from = p + 1;
    }
    return n == 3;
}
