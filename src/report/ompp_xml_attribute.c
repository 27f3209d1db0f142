/**
 * \file
 * Elements with attributes, read as a table of fields says. Every value is checked before it is used.
 */
#include "report/ompp_xml_read_priv.h"

#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void ompp_xml_fail(ompp_xml_in_t *x, int code, const char *format, ...)
{
    va_list args;

    if (x->rc) return;
    x->rc = -code;
    va_start(args, format);
    vsnprintf(x->why, sizeof x->why, format, args);
    va_end(args);
    for (char *c = x->why; *c; c++) /* it may quote the file, and is one line */
        if ((unsigned char)*c < ' ') *c = ' ';
}

/* ---- Attributes -------------------------------------------------------------------------------------------------- */

/* Stores one attribute in the record. text may be changed. */
static bool parse_field(ompp_xml_in_t *x, const ompp_xml_field_t *field, char *text, void *record)
{
    void *at = (char *)record + field->offset;
    uint64_t u64;
    uint32_t u32;
    int64_t i64;
    double real;
    bool flag;

    switch (field->type) {
    case OMPP_XML_U32:
    case OMPP_XML_INDEX:
        if (!ompp_xml_parse_u64(text, UINT32_MAX - 1, &u64)) return false;
        u32 = (uint32_t)u64;
        memcpy(at, &u32, sizeof u32);
        return true;
    case OMPP_XML_U64:
    case OMPP_XML_HEX:
        if (field->type == OMPP_XML_HEX ? !ompp_xml_parse_hex(text, &u64) : !ompp_xml_parse_u64(text, UINT64_MAX, &u64))
            return false;
        memcpy(at, &u64, sizeof u64);
        return true;
    case OMPP_XML_BOOL:
        flag = strcmp(text, "true") == 0;
        memcpy(at, &flag, sizeof flag);
        return flag || strcmp(text, "false") == 0;
    case OMPP_XML_DOUBLE:
        if (!ompp_xml_parse_double(text, &real)) return false;
        memcpy(at, &real, sizeof real);
        return true;
    case OMPP_XML_REAL:
        if (!ompp_xml_parse_real(text, &real)) return false;
        memcpy(at, &real, sizeof real);
        return true;
    case OMPP_XML_I64:
        if (!ompp_xml_parse_i64(text, &i64)) return false;
        memcpy(at, &i64, sizeof i64);
        return true;
    case OMPP_XML_SET:
        if (!ompp_xml_parse_set(field->names, text, &u32)) return false;
        memcpy(at, &u32, sizeof u32);
        return true;
    case OMPP_XML_TEXT:
        if (!ompp_xml_unescape(text)) return false;
        u32 = ompp_profile_string(x->profile, text);
        memcpy(at, &u32, sizeof u32);
        return true;
    case OMPP_XML_NAME:
        if (!ompp_xml_parse_name(field->names, text, &u32)) return false;
        memcpy(at, &u32, sizeof u32);
        return true;
    }
    return false;
}

static size_t find_field(const ompp_xml_record_t *record, const char *name)
{
    size_t i = 0;

    while (i < record->nfields && strcmp(record->fields[i].name, name) != 0) i++;
    return i;
}

/* The attribute under the cursor. seen: bit per field, bit 31 for the id. */
static void read_attribute(ompp_xml_in_t *x, const ompp_xml_record_t *record, void *data, uint64_t *id, uint32_t *seen)
{
    const char *name = (const char *)xmlTextReaderConstName(x->reader);
    xmlChar *value = xmlTextReaderValue(x->reader);
    size_t i = find_field(record, name ? name : "");

    if (!name || !value) {
        ompp_xml_fail(x, OMPP_E_NOMEM, "out of memory");
    } else if (id && strcmp(name, "id") == 0) {
        *seen |= 1u << 31;
        if (!ompp_xml_parse_u64((char *)value, UINT32_MAX, id))
            ompp_xml_fail(x, OMPP_E_FORMAT, "id \"%.60s\" is not a number", value);
    } else if (i == record->nfields) {
        ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> has no attribute \"%.60s\"", record->element, name);
    } else {
        char shown[64];
        snprintf(shown, sizeof shown, "%s", (char *)value);
        *seen |= 1u << i;
        if (!parse_field(x, &record->fields[i], (char *)value, data))
            ompp_xml_fail(x, OMPP_E_FORMAT, "<%s %s=\"%s\">: not a valid value", record->element, name, shown);
    }
    xmlFree(value);
}

bool ompp_xml_read_record(ompp_xml_in_t *x, const ompp_xml_record_t *record, void *data, uint64_t *id)
{
    uint32_t seen = 0, none = OMPP_NONE;

    for (size_t i = 0; i < record->nfields; i++)
        if (record->fields[i].type == OMPP_XML_INDEX)
            memcpy((char *)data + record->fields[i].offset, &none, sizeof none);
    while (x->rc == 0 && xmlTextReaderMoveToNextAttribute(x->reader) == 1) read_attribute(x, record, data, id, &seen);
    xmlTextReaderMoveToElement(x->reader);
    for (size_t i = 0; i < record->nfields; i++)
        if (record->fields[i].required && !(seen & 1u << i))
            ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> lacks the attribute \"%s\"", record->element, record->fields[i].name);
    if (id && !(seen & 1u << 31)) ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> lacks the attribute \"id\"", record->element);
    return x->rc == 0;
}
