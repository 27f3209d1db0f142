/**
 * \file
 * The pair of files of a report: finds free names without races, writes beside them and renames, so that there is either a whole
 * report or none. Symbolic links stay and what they lead to is replaced. A device, a pipe or the program's own stdout or stderr is
 * written to as it is, and gets no XML beside it. Needs base only.
 */
#ifndef OMPP_OUTFILE_H
#define OMPP_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define OMPP_OUTFILES 2 /* text, XML */

/** A pair of files being made. */
typedef struct {
    char path[OMPP_OUTFILES][1024];   /* final names; the text first; "" = this file is not made */
    char target[OMPP_OUTFILES][1024]; /* the same without symbolic links */
    char temporary[OMPP_OUTFILES][1024]; /* "" = there is none, out writes to the target itself */
    FILE *out[OMPP_OUTFILES];            /* NULL for the XML when the text does not go to a regular file */
    bool reserved; /* the final names exist already, empty, and are ours */
} ompp_outfile_t;

/**
 * \brief Opens the pair in a directory.
 * \param[in] dir     "" = working directory.
 * \param[in] stem    name without sequence number and ending, e.g. "app.2x4".
 * \param[in] number  add "-n", n the smallest number for which neither file exists; else existing files will be overwritten.
 * \return 0 or -OMPP_E_OPEN with errno set; nothing is left behind.
 */
int ompp_outfile_open(ompp_outfile_t *files, const char *dir, const char *stem, bool number);

/**
 * \brief The same with the exact name of the text file; the XML file gets ".xml" added.
 * \param[in] suffix  goes between name and ".xml", "" for none; left out when the name alone is no regular file.
 * \note Never waits: a pipe that nobody reads cannot be opened (ENXIO).
 */
int ompp_outfile_open_exact(ompp_outfile_t *files, const char *dir, const char *name, const char *suffix);

/**
 * \brief Flushes to the disk, closes and renames.
 * \return 0, or -OMPP_E_IO with errno set; then nothing is left behind, but a device or pipe has what was written until then.
 */
int ompp_outfile_commit(ompp_outfile_t *files);

/** \brief Closes and removes what was made. Keeps errno. */
void ompp_outfile_abandon(ompp_outfile_t *files);

/** \brief A name for files from any text: other characters than letters, digits and ._+- become '_'. out: size > 8. */
void ompp_outfile_safe_name(const char *text, char *out, size_t size);

#endif
