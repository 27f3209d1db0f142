/**
 * \file
 * Source text with what was measured beside its lines. Includes base, model and analysis.
 */
#ifndef OMPP_ANNOTATE_H
#define OMPP_ANNOTATE_H

#include "model/ompp_profile.h"

#include <stdbool.h>
#include <stdio.h>

/**
 * \brief Prints lines of a source file: processor time by samples, and the thread time of regions that begin there.
 * \param[in] file    its path: of the profile's files with that name it is the one whose path ends most like it.
 * \param[in] full    all lines; false: those near one that has a value.
 * \param[in] source  its text.
 * \return 0, -OMPP_E_NOTFOUND when nothing was measured in it, or -OMPP_E_NOMEM.
 */
int ompp_report_annotate(const ompp_profile_t *profile, const char *file, bool full, FILE *source, FILE *out);

/** \brief The path that the profile has for a source file that is named by its end. \return borrowed; NULL: none. */
const char *ompp_report_path(const ompp_profile_t *profile, const char *file);

/** \brief Prints the source files in which something was measured, that with most time first. \return as above. */
int ompp_report_files(const ompp_profile_t *profile, FILE *out);

#endif
