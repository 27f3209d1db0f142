/**
 * \file
 * Memory of a report: all that it holds is given back at once.
 */
#include "reader/ompp_document_priv.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 65536

/* Memory is taken in chunks and given back at once. */
typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(16) char bytes[];
} chunk_t;

ompp_document_t *ompp_document_new(void) { return calloc(1, sizeof(ompp_document_t)); }

void ompp_document_free(ompp_document_t *document)
{
    chunk_t *next;

    if (!document) return;
    for (chunk_t *c = document->memory; c; c = next) {
        next = c->next;
        free(c);
    }
    ompp_table_fini(&document->index);
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

char *ompp_document_printf(ompp_document_t *document, const char *format, ...)
{
    va_list args;
    char *text;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    text = length < 0 ? NULL : ompp_document_alloc(document, (size_t)length + 1);
    if (!text) return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}
