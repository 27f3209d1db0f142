/**
 * \file
 * Where a region stands, in the words of text ("solve.c (20-30) ('name')") and of CSV ("solve.c,20,30,name").
 */
#include "reader/ompp_document_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A place taken apart; pieces of the text that it was read from. */
typedef struct {
    const char *file, *name;
    size_t file_length, name_length;
    uint64_t begin, end;
    bool address; /* begin and end are addresses, not lines */
} place_t;

/* A line, or an address: 20, 0x1f0. */
static bool take_line(const char **p, uint64_t *line, bool *address)
{
    char *end;

    *address = strncmp(*p, "0x", 2) == 0;
    if (!*address) return ompp_take_whole(p, UINT32_MAX, line);
    *line = strtoull(*p, &end, 16);
    if (end == *p + 2) return false;
    *p = end;
    return true;
}

/* ---- Text to CSV ------------------------------------------------------------------------------------------------- */

/* Last place in text, of this length, where mark begins; NULL when there is none. */
static const char *find_last(const char *text, size_t length, const char *mark)
{
    size_t n = strlen(mark);

    for (size_t i = length; i-- > 0;)
        if (i + n <= length && memcmp(text + i, mark, n) == 0) return text + i;
    return NULL;
}

/* "(20-30)", "(20)" or "(<0x1f0>)", which ends with the text. */
static bool parse_lines(const char *p, const char *end, place_t *place)
{
    bool bracket, same = false;

    if (!ompp_take(&p, " (")) return false;
    bracket = ompp_take(&p, "<");
    if (!take_line(&p, &place->begin, &place->address) || bracket != place->address) return false;
    place->end = place->begin;
    if (!bracket && ompp_take(&p, "-") && !take_line(&p, &place->end, &same)) return false;
    return !same && (!bracket || ompp_take(&p, ">")) && *p == ')' && p + 1 == end;
}

/* Length of text without this ending. */
static size_t without(const char *text, size_t length, const char *ending)
{
    size_t n = strlen(ending);

    return length >= n && memcmp(text + length - n, ending, n) == 0 ? length - n : length;
}

static bool parse_text(const char *text, place_t *place)
{
    size_t length = without(text, strlen(text), "(collapsed stats)");
    const char *at;

    *place = (place_t){.file = text};
    while (length && text[length - 1] == ' ') length--; /* ompP leaves one after a lock */
    if (length >= 2 && memcmp(text + length - 2, "')", 2) == 0 && (at = find_last(text, length, " ('"))) {
        place->name = at + 3;
        place->name_length = (size_t)(text + length - 2 - place->name);
        length = (size_t)(at - text);
    }
    length = without(text, length, " (unnamed)");
    at = find_last(text, length, " (");
    place->file_length = at ? (size_t)(at - text) : 0;
    return at && parse_lines(at, text + length, place);
}

/* There is no quoting in the format: a comma in a name becomes a semicolon. */
static const char *without_commas(char *text)
{
    for (char *c = text; c && *c; c++)
        if (*c == ',') *c = ';';
    return text;
}

const char *ompp_place_to_fields(ompp_document_t *document, ompp_construct_t construct, const char *text)
{
    const char *full = ompp_constructs[construct].full, *file, *name, *format;
    place_t place;

    if (!parse_text(text, &place)) {
        file = without_commas(ompp_document_printf(document, "%s", text));
        return file ? ompp_document_printf(document, "%s,%s,0,0,", full, file) : NULL;
    }
    file = without_commas(ompp_document_printf(document, "%.*s", (int)place.file_length, place.file));
    name = without_commas(ompp_document_printf(document, "%.*s", (int)place.name_length, place.name ? place.name : ""));
    if (!file || !name) return NULL;
    format = place.address ? "%s,%s,0x%" PRIx64 ",0x%" PRIx64 ",%s" : "%s,%s,%" PRIu64 ",%" PRIu64 ",%s";
    return ompp_document_printf(document, format, full, file, place.begin, place.end, name);
}

/* ---- CSV to text ------------------------------------------------------------------------------------------------- */

/* file,begin,end,name: the file may have commas, too. */
static bool parse_fields(const char *text, place_t *place)
{
    bool address;

    *place = (place_t){.file = text};
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ',')) {
        const char *p = comma + 1;
        if (!take_line(&p, &place->begin, &place->address) || *p++ != ',') continue;
        if (!take_line(&p, &place->end, &address) || address != place->address || *p != ',') continue;
        place->file_length = (size_t)(comma - text);
        place->name = p + 1;
        place->name_length = strlen(p + 1);
        return true;
    }
    return false;
}

static const char *print_place(ompp_document_t *document, ompp_place_t how, const place_t *p)
{
    bool one = how == OMPP_PLACE_LINE || how == OMPP_PLACE_CALL || !p->end,
         named = how != OMPP_PLACE_RANGE && how != OMPP_PLACE_LINE;
    const char *unnamed = how == OMPP_PLACE_NAMED ? " (unnamed)" : "";
    char lines[48];

    if (p->address) snprintf(lines, sizeof lines, "<0x%" PRIx64 ">", p->begin);
    else if (one) snprintf(lines, sizeof lines, "%" PRIu64, p->begin);
    else snprintf(lines, sizeof lines, "%" PRIu64 "-%" PRIu64, p->begin, p->end);
    if (named && p->name_length)
        return ompp_document_printf(document, "%.*s (%s) ('%s')", (int)p->file_length, p->file, lines, p->name);
    return ompp_document_printf(document, "%.*s (%s)%s", (int)p->file_length, p->file, lines, unnamed);
}

const char *ompp_place_from_fields(ompp_document_t *document, ompp_construct_t construct, const char *fields)
{
    const ompp_construct_row_t *c = &ompp_constructs[construct];
    size_t length = strlen(c->full), rest;
    place_t place;

    if (strncmp(fields, c->full, length) != 0 || fields[length] != ',') { /* 0.6: the place as in text, then the type */
        ompp_construct_at_end(fields, ',', &rest);
        return ompp_document_text_copy(document, fields, rest);
    }
    if (!parse_fields(fields + length + 1, &place)) return fields + length + 1;
    if (!place.begin && !place.end && memchr(place.file, '(', place.file_length)) /* made by ompp_place_to_fields */
        return ompp_document_printf(document, "%.*s", (int)place.file_length, place.file);
    return print_place(document, c->place, &place);
}
