/**
 * \file
 * Rows of call paths in text: names and places of their parts, and trees of them. For the writers of samples.
 */
#ifndef OMPP_TEXT_PATH_H
#define OMPP_TEXT_PATH_H

#include "analysis/ompp_sample_sums.h"
#include "report/ompp_report.h"
#include "report/ompp_text_priv.h"

#include <stdio.h>

/** \brief Text in what is left of a line; what does not fit ends in "...". \return columns used. */
size_t ompp_path_put(FILE *out, const char *text, size_t room);

/** \brief "solve.c:42", of a loop "solve.c:42-50", "libm.so.6", or nothing. */
void ompp_path_place(const ompp_profile_t *profile, const ompp_region_t *region, char *out, size_t size);

/**
 * \brief A name that is too long for the room loses the arguments of templates, then its first scopes: what is wanted
 *        most is at its end.
 */
void ompp_path_name(const ompp_profile_t *profile, const ompp_region_t *region, size_t room, char *out, size_t size);

/** \return what has called a node: loops call nothing. */
uint32_t ompp_path_caller(const ompp_profile_t *profile, uint32_t node);

/** \brief The tree of a view, caller or callee. \param[in] full  also small rows. \return 0 or -OMPP_E_NOMEM. */
int ompp_path_tree_of_samples(const ompp_profile_t *profile, const ompp_samples_t *samples, ompp_by_t by, bool full,
                              FILE *out);

/** \brief Counters of each region on each call path, inclusive, as a section of CSV; nothing without counters. */
void ompp_path_counters_csv(const ompp_text_t *t, const ompp_profile_t *profile);

#endif
