/**
 * \file
 * Memory and lists of a report; see ompp_document.h.
 */
#include "reader/ompp_document.h"
#include "reader/ompp_document_priv.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 65536

/* Memory is taken in chunks and given back at once. */
typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(16) char bytes[];
} chunk_t;

const ompp_section_row_t ompp_sections[OMPP_SECTION_NUM] = {
    [OMPP_SECTION_GENERAL] = {"ompP General Information", "header"},
    [OMPP_SECTION_OVERVIEW] = {"ompP Region Overview", "region overview"},
    [OMPP_SECTION_CALLGRAPH] = {"ompP Callgraph", "ompp callgraph"},
    [OMPP_SECTION_FLAT] = {"ompP Flat Region Profile (inclusive data)", "flat region profiles"},
    [OMPP_SECTION_PATHS] = {"ompP Callgraph Region Profiles (incl./excl. data)", "callgraph region profiles"},
    [OMPP_SECTION_OVERHEADS] = {"ompP Overhead Analysis Report", "overhead analysis report"},
};

ompp_document_t *ompp_document_new(void) { return calloc(1, sizeof(ompp_document_t)); }

void ompp_document_free(ompp_document_t *document)
{
    chunk_t *next;

    if (!document) return;
    for (chunk_t *c = document->memory; c; c = next) {
        next = c->next;
        free(c);
    }
    free(document);
}

void *ompp_document_alloc(ompp_document_t *document, size_t size)
{
    chunk_t *c = document->memory;

    size = (size + 15) & ~(size_t)15;
    if (!c || c->size - c->used < size) {
        size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        c = calloc(1, sizeof *c + room);
        if (!c) return NULL;
        c->size = room;
        c->next = document->memory;
        document->memory = c;
    }
    c->used += size;
    return c->bytes + c->used - size;
}

const char *ompp_document_text_copy(ompp_document_t *document, const char *text, size_t length)
{
    char *copy = ompp_document_alloc(document, length + 1);

    return copy ? memcpy(copy, text, length) : NULL;
}

/* Arrays have room for the next power of two. */
void *ompp_document_push(ompp_document_t *document, void *array, size_t *n, size_t size)
{
    char *items;

    memcpy(&items, array, sizeof items);
    if ((*n & (*n - 1)) == 0) {
        char *more = ompp_document_alloc(document, (*n ? 2 * *n : 1) * size);
        if (!more) return NULL;
        if (*n) memcpy(more, items, *n * size);
        items = more;
        memcpy(array, &items, sizeof items);
    }
    return items + (*n)++ * size;
}

/* Regions are found by what they were read from, in chains of equal hashes. */
#define NBUCKETS 4096

static size_t bucket_of(uint32_t number, const char *source)
{
    uint32_t hash = 2166136261u ^ number;

    for (; *source; source++) hash = (hash ^ (unsigned char)*source) * 16777619u;
    return hash % NBUCKETS;
}

static const char *source_of(const ompp_doc_region_t *r, bool from_text) { return from_text ? r->place : r->fields; }

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

uint32_t ompp_document_region(ompp_document_t *document, uint32_t number, ompp_construct_t construct, const char *place,
                              const char *fields)
{
    const char *source = place ? place : fields;
    uint32_t *bucket, i;

    if (!document->buckets) document->buckets = ompp_document_alloc(document, NBUCKETS * sizeof *document->buckets);
    if (!document->buckets) return OMPP_DOC_NONE;
    bucket = &document->buckets[bucket_of(number, source)]; /* index + 1; 0: empty */
    for (i = *bucket; i; i = document->regions[i - 1].next) {
        const ompp_doc_region_t *r = &document->regions[i - 1];
        if (r->number == number && r->construct == construct && strcmp(source_of(r, place), source) == 0) return i - 1;
    }
    i = add_region(document, (ompp_doc_region_t){number, construct, place, fields, *bucket});
    if (i != OMPP_DOC_NONE) *bucket = i + 1;
    return i;
}

const char *ompp_document_field(const ompp_document_t *document, const char *name)
{
    for (size_t i = 0; i < document->nfields; i++)
        if (strcmp(document->fields[i].name, name) == 0) return document->fields[i].value;
    return NULL;
}
