/**
 * \file
 * The text by which OPARI2 describes a construct ("compile time context"):
 *     "91*regionType=for*sscl=/a/file.c:14:14*escl=/a/file.c:15:15*hasSchedule=dynamic,2**"
 * Needs the construct table only; called once per handle.
 */
#ifndef OMPP_POMP2_CTC_H
#define OMPP_POMP2_CTC_H

#include "model/ompp_tables.h"

#include <stddef.h>
#include <stdint.h>

/** A part of the text; borrowed, not terminated. */
typedef struct {
    const char *text;
    size_t length;
} ompp_span_t;

typedef struct {
    ompp_construct_t construct;
    ompp_span_t file, name; /* name: of a critical or a user region; length 0 = none */
    bool dynamic;           /* a loop whose iterations are handed out as it goes, or may be */
    uint32_t begin, end;    /* first line of the construct's begin and last of its end; 0 = unknown */
} ompp_ctc_t;

/**
 * \brief Reads a description; accepts any text.
 * \param[in]  text  borrowed by *ctc; NULL allowed.
 * \param[out] ctc   always filled; what is missing is 0.
 * \return true when the text names a construct that ompp knows; else ctc->construct is OMPP_CONSTRUCT_NUM.
 */
bool ompp_ctc_read(const char *text, ompp_ctc_t *ctc);

#endif
