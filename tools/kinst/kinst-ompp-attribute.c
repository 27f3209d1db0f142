/** \file C++ attributes that hold OpenMP directives, [[omp::directive(parallel for)]], are written as pragmas. */
#include "tools/kinst/kinst-ompp-source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "directive(x)" and "directive(x), directive(y)" up to end, each as a line with a pragma. \return false: something
 * else. */
static bool put_pragmas(kinst_buffer_t *b, const char *p, const char *end)
{
    for (p = kinst_skip_space(p, end); p < end; p = kinst_skip_space(p, end)) {
        if (*p == ',') p = kinst_skip_space(p + 1, end);
        if (!strncmp(p, "omp", 3)) { /* omp::directive inside a sequence */
            const char *colons = kinst_skip_space(p + 3, end);
            if (strncmp(colons, "::", 2) != 0) return false;
            p = kinst_skip_space(colons + 2, end);
        }
        bool sequence = kinst_take(&p, "sequence");
        if ((!sequence && !kinst_take(&p, "directive")) || *p != '(') return false;
        const char *behind = kinst_behind_token(p, end);
        if (sequence) {
            if (!put_pragmas(b, p + 1, behind - 1)) return false;
        } else {
            size_t from = b->size;
            bool first = true;
            kinst_puts(b, "#pragma omp ");
            for (const char *q = kinst_skip_space(p + 1, behind); q < behind - 1; q++) {
                bool comma = *q == ',' && first; /* between directive and clauses */
                if (*q == ',' || *q == '(') first = false;
                kinst_put(b, *q == '\n' || comma ? " " : q, 1);
            }
            if (memchr(b->text + from + 1, '#', b->size - from - 1)) return false;
            kinst_put(b, "\n", 1);
        }
        p = behind;
    }
    return true;
}

/* Behind the attribute that begins at p, its pragmas in b; NULL when it has nothing of OpenMP, or too much else. */
static const char *read_attribute(kinst_buffer_t *b, const char *p, const char *end)
{
    const char *behind = kinst_behind_token(p, end), *inside = kinst_skip_space(p + 2, end), *rest = inside;

    b->size = 0;
    kinst_puts(b, "");
    if (behind - p < 4 || behind[-2] != ']') return NULL;
    if (kinst_take(&rest, "using")) {
        if (!kinst_take(&rest, "omp") || *rest != ':') return NULL;
        inside = rest + 1;
    } else if (!kinst_take(&rest, "omp") || strncmp(rest, "::", 2) != 0) {
        return NULL;
    }
    return put_pragmas(b, inside, behind - 2) ? behind : NULL;
}

char *kinst_attributes(char *text, size_t *size)
{
    const char *end = text + *size, *p = text;
    const char *file = "\"\"";
    size_t file_length = 2;
    unsigned long line = 1;
    kinst_buffer_t b = {0}, pragmas = {0};
    bool at_line_start = true;

    if (!strstr(text, KINST_HAS_ATTRIBUTES) || !strstr(text, "directive")) return text;
    while (p < end) {
        const char *next = p + 1, *behind;
        if (*p == '#' && at_line_start) {
            char *rest;
            unsigned long number = strtoul(p + 1, &rest, 10);
            next = kinst_end_of_line(p, end);
            if (rest > p + 1 && *kinst_skip_blanks(rest) == '"') {
                file = kinst_skip_blanks(rest);
                file_length = kinst_behind_quotes(file, end) - file;
                line = number - 1; /* the newline counts */
            }
        } else if (p[0] == '[' && p[1] == '[' && (behind = read_attribute(&pragmas, p, end))) {
            for (char *pragma = strtok(pragmas.text, "\n"); pragma; pragma = strtok(NULL, "\n"))
                kinst_putf(&b, "\n# %lu %.*s\n%s", line, (int)file_length, file, pragma);
            for (; p < behind; p++) line += *p == '\n';
            kinst_putf(&b, "\n# %lu %.*s\n", line, (int)file_length, file);
            continue;
        } else if (!strchr("([{", *p) && !isspace((unsigned char)*p)) {
            next = kinst_behind_token(p, end);
        }
        at_line_start = *p == '\n' || (at_line_start && isspace((unsigned char)*p));
        kinst_put(&b, p, next - p);
        for (; p < next; p++) line += *p == '\n';
    }
    *size = b.size;
    return b.text;
}
