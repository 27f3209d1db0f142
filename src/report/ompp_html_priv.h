/**
 * \file
 * What the parts of the HTML writer share: JSON that is compressed and encoded while it is written, in bounded memory.
 */
#ifndef OMPP_HTML_PRIV_H
#define OMPP_HTML_PRIV_H

#include "analysis/ompp_efficiency.h"
#include "base/ompp_json.h"
#include "report/ompp_text_priv.h"

#define ZLIB_CONST
#include <zlib.h>

#define OMPP_HTML_ROOM 32768u /* bytes that are kept before they are compressed, or written */

/** A page being written. */
typedef struct {
    FILE *out;
    ompp_json_t json; /* what is compressed, and written to out */
    z_stream deflate;
    size_t npacked;
    bool failed; /* out of memory; what follows is not written */
    char plain[OMPP_HTML_ROOM];
    unsigned char packed[OMPP_HTML_ROOM];
} ompp_html_t;

/** \return owned, ompp_html_free(); NULL when out of memory. */
ompp_html_t *ompp_html_new(FILE *out);

/** \brief Writes what is left. \return false when out of memory at any time. */
bool ompp_html_finish(ompp_html_t *html);
void ompp_html_free(ompp_html_t *html);

/** \brief The lines of a text as a list of texts. */
void ompp_html_lines(ompp_html_t *html, const char *key, const char *text);

/** What a part of the text report writes to t->out. \return 0 or -OMPP_E_NOMEM. */
typedef int ompp_html_write_fn(ompp_text_t *t, const void *what);

/** \brief Its lines as a list, without empty ones at begin and end; nothing when there are none. */
void ompp_html_section(ompp_html_t *html, const char *key, ompp_text_t *t, ompp_html_write_fn *write, const void *what);

/** \brief Regions; call paths with their values, and what they lose; rows per region and thread. */
void ompp_html_regions(ompp_html_t *html, const ompp_profile_t *profile, const ompp_text_t *t);
bool ompp_html_paths(ompp_html_t *html, const ompp_text_t *t, const ompp_loss_t *losses, size_t nlosses);
bool ompp_html_rows(ompp_html_t *html, ompp_text_t *t);

/** \brief Samples, with the call paths of their own. \param[in] source  whether text of source files goes along. */
bool ompp_html_samples(ompp_html_t *html, const ompp_profile_t *profile, bool source);

/** \brief Data structures by region, and what misses in simulated caches. \return false when out of memory. */
bool ompp_html_data(ompp_html_t *html, const ompp_text_t *t);

/** \brief Gains with their intervals. \return false when out of memory. */
bool ompp_html_whatif(ompp_html_t *html, const ompp_profile_t *profile);

/** The page without data (viewer/page.html): what goes before the data and behind it. */
extern const unsigned char ompp_html_page[];
extern const size_t ompp_html_page_size;

#endif
