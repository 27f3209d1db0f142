/**
 * \file
 * The Performance Properties of a report in the other form. In its own form the section is kept line by line, with
 * whatever else stands in it.
 */
#include "reader/ompp_document_priv.h"

#include <string.h>

const char *const ompp_property_title = "ompP Performance Properties Report";
const char *const ompp_property_block = "ompp performance properties report";

static const char program[] = "PROGRAM"; /* stands for the type where the whole program is meant */

/* Text between two marks, the second one searched from the right. */
static bool between(const char *line, const char *before, const char *after, const char **text, size_t *length)
{
    const char *p = line, *end = NULL;

    if (!ompp_take(&p, before)) return false;
    for (const char *found = strstr(p, after); found; found = strstr(found + 1, after)) end = found;
    if (!end) return false;
    *text = p;
    *length = (size_t)(end - p);
    return true;
}

/* "Property P00001 'Name' holds for", and below it "     'LOOP place', with a severity (in percent) of 1.000000". */
bool ompp_property_from_text(const char *first, const char *second, ompp_doc_property_t *property)
{
    static const char severity[] = "', with a severity (in percent) of ";
    const char *quote = strchr(first, '\''), *number;

    if (strncmp(first, "Property P", 10) != 0 || !quote) return false;
    if (!between(quote, "'", "' holds for", &property->name, &property->name_length)) return false;
    if (!between(second, "     '", severity, &property->subject, &property->subject_length)) return false;
    number = property->subject + property->subject_length + strlen(severity);
    if (!ompp_take_number(&number, &property->severity) || *number) return false;
    property->severity = ompp_decimal_shift(&property->severity, -2);
    return true;
}

/* "Name,place,0.010000": the severity is a fraction. */
bool ompp_property_from_csv(const char *line, ompp_doc_property_t *property)
{
    const char *first = strchr(line, ','), *last = strrchr(line, ','), *number;

    if (!first || first == last) return false;
    property->name = line;
    property->name_length = (size_t)(first - line);
    property->subject = first + 1;
    property->subject_length = (size_t)(last - first - 1);
    number = last + 1;
    return ompp_take_number(&number, &property->severity) && !*number;
}

typedef struct {
    const char *text;
    size_t length;
} place_t;

static uint64_t hash_of(place_t place) { return ompp_hash_bytes(OMPP_HASH_START, place.text, place.length); }

static bool is_there(const void *document, uint64_t value, const void *wanted)
{
    const ompp_document_t *d = document;
    const char *place = d->regions[d->overview[value - 1]].place;
    const place_t *w = wanted;

    return strlen(place) == w->length && memcmp(place, w->text, w->length) == 0;
}

bool ompp_property_places(const ompp_document_t *d, ompp_table_t *places)
{
    bool ok = true;

    for (size_t i = 0; ok && i < d->noverview; i++) {
        const char *text = d->regions[d->overview[i]].place;
        const place_t place = {text, strlen(text)};
        uint64_t key = hash_of(place);
        if (!ompp_table_search(places, &key, is_there, d, &place)) ok = ompp_table_set(places, key, i + 1);
    }
    return ok;
}

/* CSV has the place without the type, and for the whole program its name. */
const char *ompp_property_type(const ompp_document_t *d, const ompp_table_t *places,
                               const ompp_doc_property_t *property)
{
    const place_t place = {property->subject, property->subject_length};
    uint64_t key = hash_of(place), found = ompp_table_search(places, &key, is_there, d, &place);

    if (found) {
        const ompp_construct_row_t *c = &ompp_constructs[d->regions[d->overview[found - 1]].construct];
        return c->place == OMPP_PLACE_ADDRESS ? "" : c->full;
    }
    return strlen(d->app) == property->subject_length &&
                   strncmp(d->app, property->subject, property->subject_length) == 0
               ? program
               : "";
}

size_t ompp_property_type_length(const char *subject)
{
    ompp_construct_t construct = ompp_construct_at_start(subject, ' ');

    if (construct == OMPP_CONSTRUCT_NUM)
        return strncmp(subject, program, strlen(program)) == 0 ? strlen(program) + 1 : 0;
    return ompp_constructs[construct].place == OMPP_PLACE_ADDRESS ? 0 : strlen(ompp_constructs[construct].full) + 1;
}
