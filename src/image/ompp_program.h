/**
 * \file
 * What the process is: the program's path, and where it and our library are. Taken at start, before the program changes
 * it.
 */
#ifndef OMPP_PROGRAM_H
#define OMPP_PROGRAM_H

#include <stddef.h>

/** \brief Takes path and directory, at the first call. A library's constructor may make the first event before ours. */
void ompp_program_note(void);

/** \return path of the program, never NULL. */
const char *ompp_program_path(void);

/** \return working directory at the start of the program, "" when unknown. */
const char *ompp_program_dir(void);

/** \brief Path of one of our libraries: beside the library this code is in. \param[out] path  shape [n]. */
void ompp_library_path(char *path, size_t n, const char *name);

#endif
