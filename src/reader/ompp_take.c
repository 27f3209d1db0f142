/**
 * \file
 * Takes things from a line: numbers, regions, names of constructs.
 */
#include "reader/ompp_document_priv.h"

#include <string.h>

bool ompp_take(const char **p, const char *text)
{
    size_t n = strlen(text);

    if (strncmp(*p, text, n) != 0) return false;
    *p += n;
    return true;
}

bool ompp_take_number(const char **p, ompp_decimal_t *number)
{
    const char *at = *p + strspn(*p, " ");
    size_t n = ompp_decimal_parse(at, number);

    if (n) *p = at + n;
    return n > 0;
}

bool ompp_take_whole(const char **p, uint64_t limit, uint64_t *number)
{
    ompp_decimal_t d;
    size_t n = ompp_decimal_parse(*p, &d);

    if (!n || d.places || d.negative || d.kind != OMPP_DECIMAL_FINITE || d.units > limit) return false;
    *number = d.units;
    *p += n;
    return true;
}

bool ompp_take_version(const char **p, uint64_t *part)
{
    const char *at = *p;

    *part = 0;
    for (; *at >= '0' && *at <= '9' && *part < UINT32_MAX; at++) *part = *part * 10 + (uint64_t)(*at - '0');
    if (at == *p) return false;
    *p = at + (*at == '.');
    return true;
}

bool ompp_take_region(const char **p, uint32_t *number)
{
    const char *at = *p;
    uint64_t n;

    if (*at++ != 'R' || !ompp_take_whole(&at, UINT32_MAX - 1, &n)) return false;
    *number = (uint32_t)n;
    *p = at;
    return true;
}

ompp_construct_t ompp_construct_by_brief(const char *brief)
{
    unsigned c = 0;

    while (c < OMPP_CONSTRUCT_NUM && strcmp(ompp_constructs[c].brief, brief) != 0) c++;
    return c;
}

/* Both prefer the longest name: PARALLEL LOOP ends with LOOP. */
ompp_construct_t ompp_construct_at_end(const char *text, char separator, size_t *length)
{
    size_t all = strlen(text), best = 0;
    ompp_construct_t found = OMPP_CONSTRUCT_NUM;

    *length = all;
    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++) {
        size_t n = strlen(ompp_constructs[c].full);
        if (n <= best || all < n + 1 || text[all - n - 1] != separator ||
            strcmp(text + all - n, ompp_constructs[c].full) != 0)
            continue;
        found = c;
        best = n;
        *length = all - n - 1;
    }
    return found;
}

ompp_construct_t ompp_construct_at_start(const char *text, char separator)
{
    size_t best = 0;
    ompp_construct_t found = OMPP_CONSTRUCT_NUM;

    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++) {
        size_t n = strlen(ompp_constructs[c].full);
        if (n <= best || strncmp(text, ompp_constructs[c].full, n) != 0 || text[n] != separator) continue;
        found = c;
        best = n;
    }
    return found;
}
