/**
 * \file
 * What the parts of section ompp What-if share.
 */
#ifndef OMPP_TEXT_WHATIF_PRIV_H
#define OMPP_TEXT_WHATIF_PRIV_H

#include "report/ompp_text_priv.h"

#include "analysis/ompp_whatif.h"

#define OMPP_TEXT_MUCH_OUTSIDE 0.05 /* of the work: the thing to fix may not be in the table */

/**
 * \return percent of their time that threads waited for a processor; 0: so little that it does not matter. What they
 *         worked, and what they waited for each other, cannot be told from that.
 */
double ompp_text_whatif_cpu_wait(const ompp_text_t *t);

/** \brief The lines above the table. */
void ompp_text_whatif_run(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n);

/** \return what the user can do to learn of more regions. */
const char *ompp_text_whatif_try(const ompp_text_t *t);

/** \brief The last column of a row: names of warnings. */
void ompp_text_whatif_warnings(ompp_text_t *t, const ompp_whatif_result_t *r);

/** \brief What the warnings in the table mean, a line each. */
void ompp_text_whatif_meanings(ompp_text_t *t, const ompp_whatif_result_t *results, size_t n);

#endif
