/**
 * \file
 * JSON, written value by value. Names come from programs and may be any bytes. Called by the commands and the writers.
 */
#ifndef OMPP_JSON_H
#define OMPP_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Where values go. */
typedef struct {
    FILE *out;
    bool follows; /* a value stands before the next one of the object or list that is open */
    bool plain;   /* control characters but tabs, and what is not UTF-8, become '?' */
} ompp_json_t;

/** \brief A value of an object, or with name NULL of a list. bracket: '{' or '[', and what closes it. */
void ompp_json_open(ompp_json_t *json, const char *name, char bracket);
void ompp_json_close(ompp_json_t *json, char bracket);
void ompp_json_number(ompp_json_t *json, const char *name, uint64_t value);
void ompp_json_string(ompp_json_t *json, const char *name, const char *text);

/** \brief What stands before a value, which the caller writes to json->out. */
void ompp_json_begin(ompp_json_t *json, const char *name);

/** \brief The same; null when it is not finite. Floating point: not in the process of the program. */
static inline void ompp_json_real(ompp_json_t *json, const char *name, double value)
{
    ompp_json_begin(json, name);
    if (__builtin_isfinite(value)) fprintf(json->out, "%.9g", value);
    else fputs("null", json->out);
}

/** \brief Writes text in quotes; U+FFFD stands for bytes that are not UTF-8. */
void ompp_json_text(FILE *out, const char *text);

#endif
