/**
 * \file
 * Values of attributes to text and back.
 */
#define _GNU_SOURCE /* asprintf */
#include "base/ompp_utf8.h"
#include "report/ompp_xml_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- To text ----------------------------------------------------------------------------------------------------- */

static char *escape(const char *text)
{
    char *copy = malloc(4 * strlen(text) + 1), *to = copy;
    uint32_t code;

    if (!copy) return NULL;
    while (*text) {
        size_t n = ompp_utf8_next(text, &code);
        if (n == 0) to += sprintf(to, "\\x%02x", (unsigned)code);
        else if (code == '\\') to += sprintf(to, "\\\\");
        else to = (char *)memcpy(to, text, n) + n;
        text += n ? n : 1;
    }
    *to = 0;
    return copy;
}

/* Names of the bits that are set. */
static char *format_set(const ompp_names_t *names, uint64_t set)
{
    char text[512] = "";
    size_t n = 0;

    for (unsigned i = 0; i < names->n && n < sizeof text; i++)
        if (set & 1u << i) n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", ompp_name(names, i));
    return strdup(text);
}

char *ompp_xml_format(const ompp_profile_t *profile, const ompp_field_t *field, uint64_t value)
{
    char *text = NULL;
    double real;
    int n = -1;

    memcpy(&real, &value, sizeof real);
    switch (field->type) {
    case OMPP_FIELD_TEXT: return escape(ompp_profile_text(profile, (ompp_str_t)value));
    case OMPP_FIELD_SET: return format_set(field->names, value);
    case OMPP_FIELD_NAME: return strdup(ompp_name(field->names, value));
    case OMPP_FIELD_BOOL: return strdup(value ? "true" : "false");
    case OMPP_FIELD_HEX: n = asprintf(&text, "0x%" PRIx64, value); break;
    case OMPP_FIELD_I64: n = asprintf(&text, "%" PRId64, (int64_t)value); break;
    case OMPP_FIELD_DOUBLE:
    case OMPP_FIELD_REAL: n = asprintf(&text, "%.17g", real); break;
    default: n = asprintf(&text, "%" PRIu64, value); break;
    }
    return n < 0 ? NULL : text;
}

/* ---- From text --------------------------------------------------------------------------------------------------- */

static bool unescape(char *text)
{
    char *to = text;
    unsigned byte;

    while (*text) {
        if (*text != '\\') {
            *to++ = *text++;
        } else if (text[1] == '\\') {
            *to++ = '\\';
            text += 2;
        } else {
            if (text[1] != 'x' || strspn(text + 2, "0123456789abcdef") < 2) return false;
            char hex[3] = {text[2], text[3], 0};
            byte = (unsigned)strtoul(hex, NULL, 16);
            if (!byte) return false;
            *to++ = (char)byte;
            text += 4;
        }
    }
    *to = 0;
    return true;
}

bool ompp_xml_parse_u64(const char *text, uint64_t limit, uint64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9') return false; /* strtoull would take signs and blanks */
    errno = 0;
    *value = strtoull(text, &end, 10);
    return !*end && !errno && *value <= limit;
}

static bool parse_hex(const char *text, uint64_t *value)
{
    char *end;

    if (strncmp(text, "0x", 2) != 0 || !strspn(text + 2, "0123456789abcdef")) return false;
    errno = 0;
    *value = strtoull(text + 2, &end, 16);
    return !*end && !errno;
}

static bool parse_real(const char *text, bool negative, uint64_t *value)
{
    char *end;
    const char *digits = text + (negative && *text == '-');

    if (*digits < '0' || *digits > '9') return false;
    const double real = strtod(text, &end);
    memcpy(value, &real, sizeof real);
    return !*end && isfinite(real);
}

static bool parse_i64(const char *text, uint64_t *value)
{
    if (!ompp_xml_parse_u64(text + (*text == '-'), INT64_MAX, value)) return false;
    if (*text == '-') *value = -*value;
    return true;
}

static bool parse_name(const ompp_names_t *names, const char *text, uint64_t *value)
{
    for (*value = 0; *value < names->n; ++*value)
        if (strcmp(ompp_name(names, *value), text) == 0) return true;
    return false;
}

static bool parse_set(const ompp_names_t *names, char *text, uint64_t *set)
{
    uint64_t bit;
    char *rest = NULL;

    *set = 0;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (!parse_name(names, word, &bit) || *set & 1u << bit) return false;
        *set |= 1u << bit;
    }
    return *set != 0;
}

bool ompp_xml_parse(ompp_profile_t *profile, const ompp_field_t *field, char *text, uint64_t *value)
{
    switch (field->type) {
    case OMPP_FIELD_TEXT:
        if (!unescape(text)) return false;
        *value = ompp_profile_string(profile, text);
        return true;
    case OMPP_FIELD_SET: return parse_set(field->names, text, value);
    case OMPP_FIELD_NAME: return parse_name(field->names, text, value);
    case OMPP_FIELD_BOOL: *value = strcmp(text, "true") == 0; return *value || strcmp(text, "false") == 0;
    case OMPP_FIELD_HEX: return parse_hex(text, value);
    case OMPP_FIELD_I64: return parse_i64(text, value);
    case OMPP_FIELD_DOUBLE:
    case OMPP_FIELD_REAL: return parse_real(text, field->type == OMPP_FIELD_REAL, value);
    default: return ompp_xml_parse_u64(text, field->bytes == 8 ? UINT64_MAX : UINT32_MAX - 1, value);
    }
}
