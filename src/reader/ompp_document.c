/**
 * \file
 * A report as data: names of its sections and fields, and its regions; see ompp_document.h.
 */
#include "base/ompp_hash.h"
#include "reader/ompp_document_priv.h"

#include <string.h>

const ompp_section_row_t ompp_sections[OMPP_SECTION_NUM] = {
    [OMPP_SECTION_GENERAL] = {"ompP General Information", "header"},
    [OMPP_SECTION_OVERVIEW] = {"ompP Region Overview", "region overview"},
    [OMPP_SECTION_CALLGRAPH] = {"ompP Callgraph", "ompp callgraph"},
    [OMPP_SECTION_FLAT] = {"ompP Flat Region Profile (inclusive data)", "flat region profiles"},
    [OMPP_SECTION_PATHS] = {"ompP Callgraph Region Profiles (incl./excl. data)", "callgraph region profiles"},
    [OMPP_SECTION_OVERHEADS] = {"ompP Overhead Analysis Report", "overhead analysis report"},
};

const ompp_field_row_t ompp_fields[] = {
    {"Duration", "Duration", OMPP_FIELD_SECONDS, true}, {"Max Threads", "Thread Count", OMPP_FIELD_SAME, true},
    {"ompP Version", NULL, OMPP_FIELD_VERSION, true},   {"User Time", NULL, OMPP_FIELD_SAME, true},
    {"System Time", NULL, OMPP_FIELD_SAME, true},       {"Data Address", NULL, OMPP_FIELD_SAME, false},
    {"Data Size", NULL, OMPP_FIELD_SAME, false},        {"Data Name", NULL, OMPP_FIELD_SAME, false},
    {"Data Start Offs.", NULL, OMPP_FIELD_SAME, false}, {"Data End   Offs.", NULL, OMPP_FIELD_SAME, false},
};
const size_t ompp_nfields = sizeof ompp_fields / sizeof ompp_fields[0];
const char *const ompp_version_keys[3] = {"ompP Version Major", "ompP Version Minor", "ompP Version Revision"};

const ompp_field_row_t *ompp_field_find(ompp_doc_form_t form, const char *name)
{
    for (size_t i = 0; i < ompp_nfields; i++) {
        const char *known = form == OMPP_DOC_TEXT ? ompp_fields[i].text : ompp_fields[i].csv;
        if (known && strcmp(known, name) == 0) return &ompp_fields[i];
    }
    return NULL;
}

/* Derives what was not given, and appends the region. */
static uint32_t add_region(ompp_document_t *document, ompp_doc_region_t region)
{
    ompp_doc_region_t *r;

    if (region.place) region.place = ompp_document_text_copy(document, region.place, strlen(region.place));
    if (region.fields) region.fields = ompp_document_text_copy(document, region.fields, strlen(region.fields));
    if (!region.place && !region.fields) return OMPP_DOC_NONE;
    if (!region.place) region.place = ompp_place_from_fields(document, region.construct, region.fields);
    if (!region.fields) region.fields = ompp_place_to_fields(document, region.construct, region.place);
    if (!region.place || !region.fields) return OMPP_DOC_NONE;
    r = ompp_document_push(document, &document->regions, &document->nregions, sizeof *r);
    if (!r) return OMPP_DOC_NONE;
    *r = region;
    return (uint32_t)document->nregions - 1;
}

/* Regions are found by what they were read from. */
static bool is_region(const void *document, uint64_t value, const void *wanted)
{
    const ompp_doc_region_t *r = &((const ompp_document_t *)document)->regions[value - 1], *w = wanted;
    const char *source = w->place ? w->place : w->fields, *other = w->place ? r->place : r->fields;

    return r->number == w->number && r->construct == w->construct && strcmp(other, source) == 0;
}

uint32_t ompp_document_region(ompp_document_t *document, uint32_t number, ompp_construct_t construct, const char *place,
                              const char *fields)
{
    const ompp_doc_region_t region = {.number = number, .construct = construct, .place = place, .fields = fields};
    uint64_t key = ompp_hash_text(OMPP_HASH_START ^ number, place ? place : fields),
             found = ompp_table_search(&document->index, &key, is_region, document, &region);

    if (found) return (uint32_t)found - 1;
    const uint32_t i = add_region(document, region);
    return i != OMPP_DOC_NONE && ompp_table_set(&document->index, key, i + (uint64_t)1) ? i : OMPP_DOC_NONE;
}

const char *ompp_document_field(const ompp_document_t *document, const char *name)
{
    for (size_t i = 0; i < document->nfields; i++)
        if (strcmp(document->fields[i].name, name) == 0) return document->fields[i].value;
    return NULL;
}
