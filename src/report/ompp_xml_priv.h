/**
 * \file
 * The XML file: records as in model/ompp_record.def, and those that follow from them. Writer and reader walk the same
 * tables. Described for users in docs/xml.md and by ompp-profile.xsd.
 */
#ifndef OMPP_XML_PRIV_H
#define OMPP_XML_PRIV_H

#include "model/ompp_record.h"

typedef struct {
    uint32_t format;
} ompp_xml_root_t;

/** <times> and <phase>: parts of a block as they stand in the file. */
typedef struct {
    uint32_t location;
    uint64_t visits, own_ns; /* own_ns: follows from the rest */
} ompp_xml_times_t;

typedef struct {
    uint32_t phase;
    uint64_t item[OMPP_SLOT_NUM];
} ompp_xml_phase_t;

/** <gain>, <result>: what follows from the observations, for readers that do not know how. */
typedef struct {
    uint32_t permille;
    bool interval, wide; /* wide: that is why there is none */
    bool by_control;
    double gain, low, high, correction;
} ompp_xml_gain_t;

typedef struct {
    uint32_t region, knee, inside, verdict;
    bool contention;
    double share, followed, own, correction, slope;
    uint32_t flags;
} ompp_xml_result_t;

extern const ompp_record_t ompp_record_root, ompp_record_times, ompp_record_phase, ompp_record_property,
    ompp_record_efficiency, ompp_record_loss, ompp_record_control, ompp_record_ideal, ompp_record_result,
    ompp_record_gain;

/**
 * \brief Value of a field as text, for XML: a backslash becomes \\, a byte that XML cannot carry \xHH.
 * \return owned; NULL: no memory.
 */
char *ompp_xml_format(const ompp_profile_t *profile, const ompp_field_t *field, uint64_t value);

/**
 * \brief The way back. Not for user's numbers: no sign where none is possible, no blanks.
 * \param[in,out] profile  gets the text of a string.
 * \param[in]     text     may be changed.
 * \return false when it is nothing that ompp_xml_format() makes of such a field.
 */
bool ompp_xml_parse(ompp_profile_t *profile, const ompp_field_t *field, char *text, uint64_t *value);

/** \brief A number up to a limit from all of a text. */
bool ompp_xml_parse_u64(const char *text, uint64_t limit, uint64_t *value);

#endif
