/**
 * \file
 * Strings of JSON. Names come from programs and may be any bytes. Called by the commands and the writers.
 */
#ifndef OMPP_JSON_H
#define OMPP_JSON_H

#include <stdio.h>

/** \brief Writes text in quotes; U+FFFD stands for bytes that are not UTF-8. */
void ompp_json_text(FILE *out, const char *text);

/** \brief Writes , (but for the first one of an object) and "name": . \param[in,out] first  false afterwards. */
void ompp_json_name(FILE *out, const char *name, _Bool *first);

#endif
