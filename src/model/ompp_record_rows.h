/**
 * \file
 * Turns rows of ompp_record.def and the like into tables; for the files that define them. After model/ompp_record.h.
 */
#ifndef OMPP_RECORD_ROWS_H
#define OMPP_RECORD_ROWS_H

#include "model/ompp_record.h"

#define MUST true
#define MAY false
#define NO_ID OMPP_RECORD_NO_ID

/* name: of the member with the name, as ".full"; nothing when the array has the texts themselves. */
#define OMPP_NAMES(id, array, name) \
    const ompp_names_t ompp_names_##id = {sizeof array / sizeof array[0], &array[0] name, sizeof array[0]}

#define OMPP_RECORD_BEGINS(id, type, ...) \
    typedef type id##_t;                  \
    const ompp_record_t ompp_record_##id = {__VA_ARGS__, (const ompp_field_t[]) {
#define OMPP_RECORD(id, type, element) OMPP_RECORD_BEGINS(id, type, element, sizeof(type), NO_ID, 0, 0, 0)
#define OMPP_LIST(id, type, element, first, array, count, allocated)                            \
    OMPP_RECORD_BEGINS(id, type, element, sizeof(type), first, offsetof(ompp_profile_t, array), \
                       offsetof(ompp_profile_t, count), offsetof(ompp_profile_t, allocated))
#define OMPP_LIST_BY_HAND OMPP_LIST
#define OMPP_FIELD_ROW(id, member, type, must, attribute, names, of) \
    {attribute, names, of, offsetof(id##_t, member), sizeof((id##_t *)NULL)->member, OMPP_FIELD_##type, must},
#define OMPP_FIELD(id, member, type, must, attribute) OMPP_FIELD_ROW(id, member, type, must, attribute, NULL, NULL)
#define OMPP_NAMED(id, member, names, must, attribute) \
    OMPP_FIELD_ROW(id, member, NAME, must, attribute, &ompp_names_##names, NULL)
#define OMPP_SET(id, member, names, attribute) \
    OMPP_FIELD_ROW(id, member, SET, MAY, attribute, &ompp_names_##names, NULL)
#define OMPP_INDEX(id, member, of, attribute) OMPP_FIELD_ROW(id, member, INDEX, MAY, attribute, NULL, &ompp_record_##of)
#define OMPP_END               \
    {                          \
        .type = OMPP_FIELD_END \
    }                          \
    }                          \
    }                          \
    ;

#endif
