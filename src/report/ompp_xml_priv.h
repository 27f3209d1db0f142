/**
 * \file
 * The XML file as tables: which attributes an element has and where in the profile they live. Writer and reader walk
 * the same tables. Described for users in docs/xml.md and by ompp-profile.xsd.
 */
#ifndef OMPP_XML_PRIV_H
#define OMPP_XML_PRIV_H

#include "model/ompp_profile.h"

typedef enum {
    OMPP_XML_U32,
    OMPP_XML_U64,
    OMPP_XML_HEX,   /* uint64_t, 0x... */
    OMPP_XML_INDEX, /* uint32_t; left out when OMPP_NONE */
    OMPP_XML_BOOL,
    OMPP_XML_DOUBLE, /* finite, not negative */
    OMPP_XML_REAL,   /* double, finite */
    OMPP_XML_I64,
    OMPP_XML_SET,  /* uint32_t, bits of names with blanks between them; left out when empty */
    OMPP_XML_TEXT, /* ompp_str_t */
    OMPP_XML_NAME  /* uint32_t, written as one of names */
} ompp_xml_type_t;

/** Names of an enum. */
typedef struct {
    unsigned n;
    const char *(*name)(unsigned value);
} ompp_xml_names_t;

/** An attribute. Those that are not required are left out when 0, "" or OMPP_NONE. */
typedef struct {
    const char *name;
    ompp_xml_type_t type;
    size_t offset; /* in the record */
    bool required;
    const ompp_xml_names_t *names;
} ompp_xml_field_t;

/** An element with attributes. */
typedef struct {
    const char *element;
    size_t nfields;
    const ompp_xml_field_t *fields;
} ompp_xml_record_t;

/** <times> and <phase>, <values>: parts of a block as they stand in the file. */
typedef struct {
    uint32_t location;
    uint64_t visits, own_ns; /* own_ns: follows from the rest */
} ompp_xml_times_t;

typedef struct {
    uint32_t phase;
    uint64_t item[OMPP_SLOT_NUM];
} ompp_xml_phase_t;

typedef struct {
    uint32_t location, set, object;
} ompp_xml_values_t;

typedef struct {
    uint32_t over_ranks; /* 0: threads, 1: ranks */
    ompp_spread_t spread;
} ompp_xml_spread_t;

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

extern const ompp_xml_record_t ompp_xml_whatif, ompp_xml_point, ompp_xml_control, ompp_xml_ideal, ompp_xml_followed,
    ompp_xml_clock, ompp_xml_block, ompp_xml_result, ompp_xml_gain;
extern const ompp_xml_record_t ompp_xml_run, ompp_xml_setting, ompp_xml_module, ompp_xml_rank, ompp_xml_location,
    ompp_xml_region, ompp_xml_metric, ompp_xml_object, ompp_xml_node, ompp_xml_times, ompp_xml_phase, ompp_xml_values,
    ompp_xml_spread, ompp_xml_coverage, ompp_xml_property, ompp_xml_efficiency, ompp_xml_loss, ompp_xml_message;

/**
 * \brief Makes text safe for XML: a backslash becomes \\, a byte that XML cannot carry \xHH.
 * \return owned; NULL: no memory.
 */
char *ompp_xml_escape(const char *text);

/** \brief The way back, in place. \return false when it is not something that ompp_xml_escape() makes. */
bool ompp_xml_unescape(char *text);

/**
 * \brief Values from text, all of which they must be. Not for user's numbers: no sign where none is possible, no
 *        blanks.
 * \param[in] limit  largest value.
 * \param[in] text   of a set it is changed.
 * \return false when it is no such value.
 */
bool ompp_xml_parse_u64(const char *text, uint64_t limit, uint64_t *value);
bool ompp_xml_parse_hex(const char *text, uint64_t *value);
bool ompp_xml_parse_double(const char *text, double *value);
bool ompp_xml_parse_real(const char *text, double *value);
bool ompp_xml_parse_i64(const char *text, int64_t *value);
bool ompp_xml_parse_name(const ompp_xml_names_t *names, const char *text, uint32_t *value);
bool ompp_xml_parse_set(const ompp_xml_names_t *names, char *text, uint32_t *set);

#endif
