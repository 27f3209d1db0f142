/**
 * \file
 * Reading of the XML file: what is known of it so far, and what is done at its elements. Private to src/report.
 */
#ifndef OMPP_XML_IN_PRIV_H
#define OMPP_XML_IN_PRIV_H

#include "report/ompp_xml_priv.h"

#include "model/ompp_profile.h"

#include <libxml/xmlreader.h>

#define OMPP_XML_DEPTH 5

typedef struct ompp_xml_in ompp_xml_in_t;

/**
 * What to do at an element; its place is given by its parent. Its attributes go to place(), or to a copy, which take()
 * checks and puts where it belongs. With neither of them the copy goes to the list of its record; where there is none,
 * it is checked only, for it follows from the rest.
 */
typedef struct {
    const char *name, *parent;   /* parent "": the document */
    const ompp_record_t *record; /* NULL: it has no attributes */
    void (*take)(ompp_xml_in_t *x, const void *item);
    void *(*place)(ompp_xml_in_t *x); /* NULL after ompp_xml_fail(); zeros */
    void (*text)(ompp_xml_in_t *x, const char *text);
} ompp_xml_element_t;

/** A file that is being read. */
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
    uint64_t id;           /* of the element, if its record has numbers */
    unsigned builtin;      /* built-in metrics seen */
    ompp_table_t followed; /* regions and points of <followed> seen */
    int64_t lost_ns;       /* of <efficiency>, less what <loss> has */
};

/** \brief Refuses the file, with the reason; the first one counts. */
__attribute__((format(printf, 3, 4))) void ompp_xml_fail(ompp_xml_in_t *x, int code, const char *format, ...);

/** \brief What to do at an element of this name. \return NULL: it is not known there. */
const ompp_xml_element_t *ompp_xml_find_element(const char *name, const char *parent);

#endif
