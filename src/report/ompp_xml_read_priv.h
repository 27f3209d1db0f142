/**
 * \file
 * What the files that read XML share: where the reader is, and elements with attributes.
 */
#ifndef OMPP_XML_READ_PRIV_H
#define OMPP_XML_READ_PRIV_H

#include "base/ompp_table.h"
#include "report/ompp_xml_priv.h"

#include <libxml/xmlreader.h>

#define OMPP_XML_DEPTH 5

typedef struct ompp_xml_in ompp_xml_in_t;

/* What to do at an element; its place is given by its parent. */
typedef struct {
    const char *name, *parent; /* parent "": the document */
    void (*enter)(ompp_xml_in_t *x);
    void (*text)(ompp_xml_in_t *x, const char *text);
} ompp_xml_element_t;

struct ompp_xml_in {
    xmlTextReaderPtr reader;
    ompp_profile_t *profile;
    const ompp_xml_element_t *open[OMPP_XML_DEPTH];
    bool have_run, have_root, have_root_node;
    uint64_t *values; /* of the open <times> or <values> */
    uint32_t nvalues;
    bool have_values; /* the list of <values> was read */
    int rc;
    int syntax_line;
    char syntax[256]; /* message of the XML parser */
    char why[512];
    unsigned builtin;      /* built-in metrics seen */
    ompp_table_t followed; /* regions and points of <followed> seen */
    int64_t lost_ns;       /* of <efficiency>, less what <loss> has */
};

/** \brief Something is wrong: the first time counts. code: OMPP_E_*. */
__attribute__((format(printf, 3, 4))) void ompp_xml_fail(ompp_xml_in_t *x, int code, const char *format, ...);

/**
 * \brief Reads the attributes of the element under the cursor.
 * \param[in,out] data  the caller has cleared it; indices that are missing become OMPP_NONE.
 * \param[out] id       NULL = it has none. \return false when something was wrong.
 */
bool ompp_xml_read_record(ompp_xml_in_t *x, const ompp_xml_record_t *record, void *data, uint64_t *id);

#endif
