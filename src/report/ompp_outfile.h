/**
 * \file
 * The files of a report, one per format: finds free names without races, writes beside them and renames, so that there
 * is either a whole report or none. Symbolic links stay and what they lead to is replaced. A device, a pipe or the
 * program's own stdout or stderr is written to as it is, and gets no further files beside it. Needs base only.
 */
#ifndef OMPP_OUTFILE_H
#define OMPP_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Formats, in the order in which they take the exact name of the report. As sets: 1 << format. */
enum { OMPP_OUT_TEXT, OMPP_OUT_CSV, OMPP_OUT_XML, OMPP_OUT_COZ, OMPP_OUTFILES };

/** Files being made. */
typedef struct {
    char path[OMPP_OUTFILES][1024];      /* final names; "" = this file is not made */
    char target[OMPP_OUTFILES][1024];    /* the same without symbolic links */
    char temporary[OMPP_OUTFILES][1024]; /* "" = there is none, out writes to the target itself */
    FILE *out[OMPP_OUTFILES];            /* NULL where the file is not made */
    bool reserved;                       /* the final names exist already, empty, and are ours */
} ompp_outfile_t;

/** \brief Name of the file that ompp_outfile_open() tries first: of the report that is read first, of those wanted. */
void ompp_outfile_first_name(char *name, size_t size, const char *stem, bool number, unsigned wanted);

/**
 * \brief Opens the files in a directory.
 * \param[in] dir     "" = working directory.
 * \param[in] stem    name without sequence number and ending, e.g. "app.2x4".
 * \param[in] number  add "-n", n the smallest number for which no file of any format exists; else existing files will
 *                    be overwritten.
 * \param[in] wanted  set of formats, not empty.
 * \return 0 or -OMPP_E_OPEN with errno set; nothing is left behind.
 */
int ompp_outfile_open(ompp_outfile_t *files, const char *dir, const char *stem, bool number, unsigned wanted);

/**
 * \brief The same with the exact name of the first wanted file; further ones get ".csv", ".xml" and ".coz" added.
 * \param[in] suffix  goes after the name, "" for none; left out when the name alone is no regular file.
 * \note Never waits: a pipe that nobody reads cannot be opened (ENXIO).
 */
int ompp_outfile_open_exact(ompp_outfile_t *files, const char *dir, const char *name, const char *suffix,
                            unsigned wanted);

/**
 * \brief Flushes to the disk, closes and renames.
 * \return 0, or -OMPP_E_IO with errno set; then nothing is left behind, but a device or pipe has what was written until
 *         then.
 */
int ompp_outfile_commit(ompp_outfile_t *files);

/** \brief Closes and removes what was made. Keeps errno. */
void ompp_outfile_abandon(ompp_outfile_t *files);

/** \brief A name for files from any text: other characters than letters, digits and ._+- become '_'. out: size > 8. */
void ompp_outfile_safe_name(const char *text, char *out, size_t size);

#endif
