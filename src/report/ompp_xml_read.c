/**
 * \file
 * XML to profile. The file is read element by element and every value is checked before it is used: names, numbers, and
 * that each index points to something that stands before it. Rubbish is refused with the line that it stands on.
 */
#define _GNU_SOURCE /* memmem */
#include "report/ompp_plain_locale.h"
#include "report/ompp_report.h"
#include "report/ompp_xml_in_priv.h"

#include "base/ompp_error.h"
#include "model/ompp_merge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libxml/xmlreader.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Attributes -------------------------------------------------------------------------------------------------- */

static unsigned find_field(const ompp_record_t *record, const char *name)
{
    unsigned i = 0;

    for (const ompp_field_t *f = record->fields; f->type && !(f->attribute && strcmp(f->attribute, name) == 0); f++)
        i++;
    return i;
}

static void read_value(ompp_xml_in_t *x, const ompp_record_t *record, const ompp_field_t *field, char *text, void *data)
{
    char shown[64];
    uint64_t value;

    snprintf(shown, sizeof shown, "%s", text);
    if (ompp_xml_parse(x->profile, field, text, &value)) ompp_field_set(field, data, value);
    else ompp_xml_fail(x, OMPP_E_FORMAT, "<%s %s=\"%s\">: not a valid value", record->element, field->attribute, shown);
    if (x->rc == 0 && field->of && value >= ompp_record_count(x->profile, field->of))
        ompp_xml_fail(x, OMPP_E_FORMAT, "unknown %s %" PRIu64, field->of->element, value);
}

/* The attribute under the cursor. seen: bit per field, bit 63 for the id. */
static void read_attribute(ompp_xml_in_t *x, const ompp_record_t *record, void *data, uint64_t *seen)
{
    const char *name = (const char *)xmlTextReaderConstName(x->reader);
    xmlChar *value = xmlTextReaderValue(x->reader);
    const unsigned i = find_field(record, name ? name : "");

    if (!name || !value) {
        ompp_xml_fail(x, OMPP_E_NOMEM, "out of memory");
    } else if (record->first != OMPP_RECORD_NO_ID && strcmp(name, "id") == 0) {
        *seen |= 1ull << 63;
        if (!ompp_xml_parse_u64((char *)value, UINT32_MAX, &x->id))
            ompp_xml_fail(x, OMPP_E_FORMAT, "id \"%.60s\" is not a number", value);
    } else if (!record->fields[i].type) {
        ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> has no attribute \"%.60s\"", record->element, name);
    } else {
        *seen |= 1ull << i;
        read_value(x, record, &record->fields[i], (char *)value, data);
    }
    xmlFree(value);
}

/* Elements of a list count from their first number, so that an index is found without searching, and never points
 * ahead. */
static void check_id(ompp_xml_in_t *x, const ompp_record_t *record, uint64_t seen)
{
    size_t expected = ompp_record_count(x->profile, record) + (size_t)record->first;

    if (record == &ompp_record_node && !x->have_root_node) expected = 0; /* the profile comes with its root */
    if (!(seen & 1ull << 63)) ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> lacks the attribute \"id\"", record->element);
    if (x->id != expected)
        ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> has id %" PRIu64 ", expected %zu", record->element, x->id, expected);
}

/* Reads the attributes of the element under the cursor into data; indices that are not there become OMPP_NONE. */
static bool read_record(ompp_xml_in_t *x, const ompp_record_t *record, void *data)
{
    uint64_t seen = 0;

    for (const ompp_field_t *f = record->fields; f->type; f++)
        if (f->type == OMPP_FIELD_INDEX) ompp_field_set(f, data, OMPP_NONE);
    while (x->rc == 0 && xmlTextReaderMoveToNextAttribute(x->reader) == 1) read_attribute(x, record, data, &seen);
    xmlTextReaderMoveToElement(x->reader);
    for (unsigned i = 0; record->fields[i].type; i++)
        if (record->fields[i].required && !(seen & 1ull << i))
            ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> lacks the attribute \"%s\"", record->element,
                          record->fields[i].attribute);
    if (record->first != OMPP_RECORD_NO_ID) check_id(x, record, seen);
    return x->rc == 0;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void take_element(ompp_xml_in_t *x, const ompp_xml_element_t *element)
{
    const ompp_record_t *record = element->record;
    void *const copy = record && !element->place ? calloc(1, record->bytes) : NULL, *const item =
                                                                                        record && element->place
                                                                                            ? element->place(x)
                                                                                            : copy;

    if (record != &ompp_record_profile && record != &ompp_record_root && !x->have_run)
        ompp_xml_fail(x, OMPP_E_FORMAT, "<run> must come first");
    if (!record && xmlTextReaderHasAttributes(x->reader) == 1)
        ompp_xml_fail(x, OMPP_E_FORMAT, "attributes where none are known");
    if (record && !item) ompp_xml_fail(x, OMPP_E_NOMEM, "out of memory");
    if (record && x->rc == 0 && read_record(x, record, item)) {
        if (element->take) element->take(x, item);
        else if (!element->place && record->array) ompp_profile_append(x->profile, record, item);
    }
    free(copy);
}

static void start_element(ompp_xml_in_t *x)
{
    const char *name = (const char *)xmlTextReaderConstName(x->reader), *parent;
    int depth = xmlTextReaderDepth(x->reader);

    parent = depth > 0 && depth < OMPP_XML_DEPTH && x->open[depth - 1] ? x->open[depth - 1]->name : "";
    const ompp_xml_element_t *element = depth < OMPP_XML_DEPTH ? ompp_xml_find_element(name ? name : "", parent) : NULL;
    if (!element) {
        ompp_xml_fail(x, OMPP_E_FORMAT, "<%.60s> is not known here", name ? name : "");
        return;
    }
    x->open[depth] = element;
    take_element(x, element);
    if (element->text && xmlTextReaderIsEmptyElement(x->reader) == 1)
        ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> is empty", element->name);
    if (x->profile->failed) ompp_xml_fail(x, OMPP_E_NOMEM, "out of memory");
}

static void take_text(ompp_xml_in_t *x)
{
    int depth = xmlTextReaderDepth(x->reader) - 1;
    const char *text = (const char *)xmlTextReaderConstValue(x->reader);
    const ompp_xml_element_t *element = depth >= 0 && depth < OMPP_XML_DEPTH ? x->open[depth] : NULL;

    if (element && element->text && x->values) element->text(x, text ? text : "");
    else ompp_xml_fail(x, OMPP_E_FORMAT, "text \"%.40s\" where none is known", text ? text : "");
}

static void end_element(ompp_xml_in_t *x)
{
    int depth = xmlTextReaderDepth(x->reader);

    if (depth < OMPP_XML_DEPTH && x->open[depth]->text && !x->have_values)
        ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> is empty", x->open[depth]->name);
}

static void take_piece(ompp_xml_in_t *x)
{
    switch (xmlTextReaderNodeType(x->reader)) {
    case XML_READER_TYPE_ELEMENT: start_element(x); break;
    case XML_READER_TYPE_END_ELEMENT: end_element(x); break;
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA: take_text(x); break;
    case XML_READER_TYPE_DOCUMENT_TYPE:
    case XML_READER_TYPE_ENTITY_REFERENCE:
        ompp_xml_fail(x, OMPP_E_FORMAT, "document types and entities are not accepted");
        break;
    default: /* comments, blanks */ break;
    }
}

/* The XML parser's own complaint; the first one counts. Signature since libxml2 2.12 has a const here. */
#if LIBXML_VERSION >= 21200
static void on_syntax(void *data, const xmlError *error)
#else
static void on_syntax(void *data, xmlErrorPtr error)
#endif
{
    ompp_xml_in_t *x = data;

    if (x->syntax[0] || !error) return;
    snprintf(x->syntax, sizeof x->syntax, "%s", error->message ? error->message : "not XML");
    x->syntax[strcspn(x->syntax, "\n")] = 0;
    x->syntax_line = error->line;
}

/* Does a profile lack its end? What the parser then complains about is no fault of what is there. */
static bool is_cut_off(const ompp_xml_in_t *x, int fd)
{
    static const char end[] = "</ompp-profile>";
    char tail[64];
    off_t size = lseek(fd, 0, SEEK_END), from = size > (off_t)sizeof tail ? size - (off_t)sizeof tail : 0;
    ssize_t n = size < 0 ? -1 : pread(fd, tail, sizeof tail, from);

    return x->have_root && n >= 0 && !memmem(tail, (size_t)n, end, sizeof end - 1);
}

static void check_whole(ompp_xml_in_t *x)
{
    ompp_profile_t *p = x->profile;
    char why[256];

    if (!x->have_root || !x->have_run) ompp_xml_fail(x, OMPP_E_FORMAT, "no <run>");
    if (x->rc == 0 && x->lost_ns) ompp_xml_fail(x, OMPP_E_FORMAT, "losses do not add up: %" PRId64 " ns", x->lost_ns);
    if (x->rc == 0 && !x->have_root_node) ompp_xml_fail(x, OMPP_E_FORMAT, "no root node");
    if (x->rc == 0 && p->nranks_kept + (uint64_t)p->nrest > p->nranks)
        ompp_xml_fail(x, OMPP_E_FORMAT, "more ranks than the run has");
    for (size_t i = 0; x->rc == 0 && !p->nrest && i < p->nlocations; i++)
        if (p->locations[i].rank == OMPP_NONE)
            ompp_xml_fail(x, OMPP_E_FORMAT, "location without rank, but no rest-ranks");
    if (x->rc == 0 && p->nranks_kept == 0) ompp_xml_fail(x, OMPP_E_FORMAT, "no rank");
    if (x->rc == 0 && ompp_profile_check(p, why, sizeof why)) ompp_xml_fail(x, OMPP_E_FORMAT, "%s", why);
}

static void parse(ompp_xml_in_t *x, int fd, const char *path)
{
    int rc = 0;

    x->reader = xmlReaderForFd(fd, path, NULL, XML_PARSE_NONET);
    x->profile = ompp_profile_new();
    if (!x->reader || !x->profile) {
        ompp_xml_fail(x, OMPP_E_NOMEM, "out of memory");
        return;
    }
    xmlTextReaderSetStructuredErrorHandler(x->reader, (xmlStructuredErrorFunc)on_syntax, x);
    while (x->rc == 0 && (rc = xmlTextReaderRead(x->reader)) == 1) take_piece(x);
    if (rc < 0)
        ompp_xml_fail(x, OMPP_E_FORMAT, "%s%s", is_cut_off(x, fd) ? "the file is cut off: " : "",
                      x->syntax[0] ? x->syntax : "not XML");
    if (x->rc == 0) check_whole(x);
}

int ompp_report_xml_read_fd(int fd, const char *name, ompp_profile_t **profile, char *why, size_t size)
{
    ompp_xml_in_t x = {0};
    int line = 0;

    *profile = NULL;
    const ompp_plain_locale_t locale = ompp_plain_locale_begin();
    parse(&x, fd, name);
    if (x.reader) line = x.syntax_line ? x.syntax_line : xmlTextReaderGetParserLineNumber(x.reader);
    if (x.rc) {
        snprintf(why, size, "%s:%d: %s", name, line, x.why);
        ompp_profile_free(x.profile);
    } else {
        *profile = x.profile;
    }
    xmlFreeTextReader(x.reader);
    ompp_table_fini(&x.followed);
    ompp_plain_locale_end(locale);
    return x.rc;
}

int ompp_report_xml_read(const char *path, ompp_profile_t **profile, char *why, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

    *profile = NULL;
    if (fd < 0) {
        snprintf(why, size, "%s: %s", path, strerror(errno));
        return -OMPP_E_OPEN;
    }
    rc = ompp_report_xml_read_fd(fd, path, profile, why, size);
    close(fd);
    return rc;
}
