/**
 * \file
 * Values of attributes from text.
 */
#include "report/ompp_xml_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool ompp_xml_parse_u64(const char *text, uint64_t limit, uint64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9') return false; /* strtoull would take signs and blanks */
    errno = 0;
    *value = strtoull(text, &end, 10);
    return !*end && !errno && *value <= limit;
}

bool ompp_xml_parse_hex(const char *text, uint64_t *value)
{
    char *end;

    if (strncmp(text, "0x", 2) != 0 || !strspn(text + 2, "0123456789abcdef")) return false;
    errno = 0;
    *value = strtoull(text + 2, &end, 16);
    return !*end && !errno;
}

bool ompp_xml_parse_double(const char *text, double *value)
{
    char *end;

    if (*text < '0' || *text > '9') return false;
    *value = strtod(text, &end);
    return !*end && isfinite(*value);
}

bool ompp_xml_parse_real(const char *text, double *value)
{
    return ompp_xml_parse_double(text + (*text == '-'), value) && (*text != '-' || (*value = -*value, true));
}

bool ompp_xml_parse_i64(const char *text, int64_t *value)
{
    uint64_t size;

    if (!ompp_xml_parse_u64(text + (*text == '-'), INT64_MAX, &size)) return false;
    *value = *text == '-' ? -(int64_t)size : (int64_t)size;
    return true;
}

bool ompp_xml_parse_name(const ompp_xml_names_t *names, const char *text, uint32_t *value)
{
    for (*value = 0; *value < names->n; ++*value)
        if (strcmp(names->name(*value), text) == 0) return true;
    return false;
}

bool ompp_xml_parse_set(const ompp_xml_names_t *names, char *text, uint32_t *set)
{
    uint32_t bit;
    char *rest = NULL;

    *set = 0;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (!ompp_xml_parse_name(names, word, &bit) || *set & 1u << bit) return false;
        *set |= 1u << bit;
    }
    return *set != 0;
}
