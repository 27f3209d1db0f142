/**
 * \file
 * From a file to lines to a document. Every byte may be wrong: nothing is believed before it was looked at, and what
 * cannot be read is refused with its line and the reason.
 */
#include "reader/ompp_document_priv.h"

#include "base/ompp_error.h"
#include "base/ompp_vector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES ((size_t)256 << 20) /* of a file */
#define MAX_LINE ((size_t)1 << 20)    /* of a line */

char ompp_document_sniff(const char *data, size_t length)
{
    const char *p = data, *end = data + length;

    if (length >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
    if (end - p >= 5 && memcmp(p, "##BEG", 5) == 0) return 'C';
    if (end - p >= 20 && memcmp(p, "--------------------", 20) == 0) return 'T';
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    return p < end && *p == '<' ? 'X' : 0;
}

/* One line of data, up to end; its carriage return is no part of it. */
static bool add_line(ompp_reading_t *r, const char ***lines, const char *text, size_t length)
{
    const char **line;

    r->at = r->nlines;
    if (length && text[length - 1] == '\r') length--;
    if (length > MAX_LINE)
        return ompp_reading_fail(r, "it is no report", "a line of more than %zu characters", MAX_LINE);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' && text[i] != '\t')
            return ompp_reading_fail(r, "it is no text; name a report of ompP or ompp",
                                     "the character 0x%02x in column %zu", (unsigned char)text[i], i + 1);
    line = ompp_reading_push(r, lines, &r->nlines, sizeof *line);
    if (line) *line = ompp_reading_keep(r, text, length);
    return line && *line;
}

static bool split(ompp_reading_t *r, const char *data, size_t length)
{
    const char **lines = NULL;

    if (length >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
        data += 3;
        length -= 3;
    }
    while (length) {
        const char *newline = memchr(data, '\n', length);
        size_t n = newline ? (size_t)(newline - data) : length;
        if (!add_line(r, &lines, data, n)) return false;
        n += newline != NULL;
        data += n;
        length -= n;
    }
    r->lines = lines;
    r->at = 0;
    return true;
}

static void parse(ompp_reading_t *r, const char *data, size_t length)
{
    char kind = ompp_document_sniff(data, length);

    if (!length) {
        ompp_reading_fail(r, "name a report of ompP or ompp", "the file is empty");
    } else if (kind != 'T' && kind != 'C') {
        ompp_reading_fail(
            r, "name a report of ompP or ompp",
            "no report: a text report begins with a line of dashes, a CSV report with ##BEG header, XML with <");
    } else if (split(r, data, length)) {
        r->doc->form = kind == 'T' ? OMPP_DOC_TEXT : OMPP_DOC_CSV;
        (kind == 'T' ? ompp_read_text : ompp_read_csv)(r);
    }
}

int ompp_document_parse(const char *name, const char *data, size_t length, ompp_document_t **document, char *why,
                        size_t size)
{
    ompp_reading_t r = {.doc = ompp_document_new()};

    *document = NULL;
    if (!r.doc) {
        snprintf(why, size, "%s: out of memory", name);
        return -OMPP_E_NOMEM;
    }
    parse(&r, data, length);
    if (r.rc) {
        snprintf(why, size, "%s:%zu: %s", name, r.fail_line, r.why);
        ompp_document_free(r.doc);
    } else {
        *document = r.doc;
    }
    return r.rc;
}

/* The whole file; at most MAX_BYTES. */
static int load(int fd, char **data, size_t *length)
{
    size_t room = 0;
    ssize_t n;
    int rc = 0;

    *data = NULL;
    *length = 0;
    do {
        if (!ompp_vector_reserve(data, &room, *length + 65536, 1)) return -OMPP_E_NOMEM;
        n = read(fd, *data + *length, room - *length);
        if (n < 0) rc = -OMPP_E_IO;
        if (n > 0) *length += (size_t)n;
        if (*length > MAX_BYTES) rc = -OMPP_E_LIMIT;
    } while (n > 0 && !rc);
    return rc;
}

int ompp_document_read_fd(int fd, const char *name, ompp_document_t **document, char *why, size_t size)
{
    char *data;
    size_t length;
    int rc = load(fd, &data, &length);

    *document = NULL;
    if (rc == -OMPP_E_IO)
        snprintf(why, size, "%s:1: cannot read it: %s; name a report that you may read", name, strerror(errno));
    else if (rc == -OMPP_E_LIMIT)
        snprintf(why, size, "%s:1: more than %zu MiB; it is no report", name, MAX_BYTES >> 20);
    else if (rc) snprintf(why, size, "%s:1: %s; free some memory", name, ompp_error_message(rc));
    else rc = ompp_document_parse(name, data, length, document, why, size);
    free(data);
    return rc;
}
