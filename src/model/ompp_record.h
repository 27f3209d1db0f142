/**
 * \file
 * The fields of the profile's records as tables (ompp_record.def): which member, of which type, under which name in
 * XML. For what does the same to every field: packing, XML, the check, merging.
 */
#ifndef OMPP_RECORD_H
#define OMPP_RECORD_H

#include "model/ompp_profile.h"

#include <string.h>

typedef enum {
    OMPP_FIELD_END, /* behind the last one */
    OMPP_FIELD_U32,
    OMPP_FIELD_U64,
    OMPP_FIELD_HEX,   /* uint64_t, 0x... */
    OMPP_FIELD_INDEX, /* uint32_t; left out when OMPP_NONE */
    OMPP_FIELD_BOOL,
    OMPP_FIELD_DOUBLE, /* finite, not negative */
    OMPP_FIELD_REAL,   /* double, finite */
    OMPP_FIELD_I64,
    OMPP_FIELD_SET,  /* uint32_t, bits of names with blanks between them; left out when empty */
    OMPP_FIELD_TEXT, /* ompp_str_t */
    OMPP_FIELD_NAME  /* uint32_t, written as one of names */
} ompp_field_type_t;

/** Names of an enum: texts in an array, or in the rows of a table. */
typedef struct {
    unsigned n;
    const char *const *first;
    size_t bytes; /* from one to the next */
} ompp_names_t;

typedef struct {
    const char *attribute;     /* NULL: not in XML */
    const ompp_names_t *names; /* NAME, SET */
    const ompp_record_t *of;   /* INDEX: of which list; NULL: of none of the profile */
    uint16_t offset;           /* in the record */
    uint8_t bytes;             /* 1 (bool), 4 or 8 */
    uint8_t type;              /* ompp_field_type_t */
    bool required;             /* in XML; others are left out when 0, "" or OMPP_NONE */
} ompp_field_t;

#define OMPP_RECORD_NO_ID (-1)

struct ompp_record {
    const char *element;
    size_t bytes;
    int first;                      /* number of the first one in XML, or OMPP_RECORD_NO_ID */
    size_t array, count, allocated; /* offsets in the profile of the list; array 0 = there is none */
    const ompp_field_t *fields;     /* OMPP_FIELD_END behind the last one */
};

extern const ompp_names_t ompp_names_end, ompp_names_thread, ompp_names_quality, ompp_names_reduction, ompp_names_use,
    ompp_names_construct, ompp_names_phase, ompp_names_unit, ompp_names_coverage, ompp_names_mode, ompp_names_flag,
    ompp_names_point, ompp_names_over;

/** The lists whose records are nothing but their fields: [OMPP_RECORD_LISTS]. Nodes and regions of a causal profile are
 * more. */
enum { OMPP_RECORD_LISTS = 10 };
extern const ompp_record_t *const ompp_record_lists[OMPP_RECORD_LISTS];

/** \return name of a value; "?" when it has none. */
static inline const char *ompp_name(const ompp_names_t *names, uint64_t value)
{
    return value < names->n ? *(const char *const *)((const char *)names->first + value * names->bytes) : "?";
}

/** \return a field of a record: the bits of a double. */
static inline uint64_t ompp_field_get(const ompp_field_t *field, const void *record)
{
    const void *at = (const char *)record + field->offset;
    uint64_t value;

    if (field->bytes < sizeof value) return field->bytes == 4 ? *(const uint32_t *)at : *(const bool *)at;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline void ompp_field_set(const ompp_field_t *field, void *record, uint64_t value)
{
    void *at = (char *)record + field->offset;

    if (field->bytes == sizeof value) memcpy(at, &value, sizeof value);
    else if (field->bytes == 4) *(uint32_t *)at = (uint32_t)value;
    else *(bool *)at = value != 0;
}

static inline bool ompp_field_is_real(const ompp_field_t *field)
{
    return field->type == OMPP_FIELD_DOUBLE || field->type == OMPP_FIELD_REAL;
}

/** \return number of records in a list of the profile. */
static inline size_t ompp_record_count(const ompp_profile_t *profile, const ompp_record_t *record)
{
    return *(const size_t *)((const char *)profile + record->count);
}

/** \return record i of a list. */
static inline const void *ompp_record_at(const ompp_profile_t *profile, const ompp_record_t *record, size_t i)
{
    const char *items;

    memcpy(&items, (const char *)profile + record->array, sizeof items);
    return items + i * record->bytes;
}

/** \return whether all fields are equal. */
bool ompp_record_equal(const ompp_record_t *record, const void *a, const void *b);

#endif
