/**
 * \file
 * The files of a report, one per format: finds free names without races, writes beside them and renames, so that there
 * is either a whole report or none. Symbolic links stay and what they lead to is replaced, if nobody else can have put
 * them there (base/ompp_new_file.h). A device, a pipe or the program's own stdout or stderr is written to as it is, and
 * gets no further files beside it. Needs base only.
 */
#ifndef OMPP_OUTFILE_H
#define OMPP_OUTFILE_H

#include "base/ompp_new_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Formats, in the order in which they take the exact name of the report. As sets: 1 << format. */
enum { OMPP_OUT_TEXT, OMPP_OUT_CSV, OMPP_OUT_HTML, OMPP_OUT_XML, OMPP_OUT_COZ, OMPP_OUTFILES };

/** Files being made. */
typedef struct {
    char path[OMPP_OUTFILES][1024]; /* final names; "" = this file is not made */
    FILE *out[OMPP_OUTFILES];       /* NULL where the file is not made */
    ompp_new_file_t file[OMPP_OUTFILES];
    struct {
        int fd;
        bool is;
        char *text; /* owned; what will be written, [size] */
        size_t size;
    } special[OMPP_OUTFILES]; /* devices and pipes */
    char stem[1024];          /* with the directory */
    bool number;              /* the names get a number, and replace nothing */
    int next;                 /* number to try */
    unsigned wanted;
    bool chosen;
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
 * \param[in] chosen  the user has chosen this directory. Else files are for the user alone, and no devices or pipes.
 * \return 0 or -OMPP_E_OPEN with errno set; nothing is left behind.
 */
int ompp_outfile_open(ompp_outfile_t *files, const char *dir, const char *stem, bool number, unsigned wanted,
                      bool chosen);

/**
 * \brief The same with the exact name of the first wanted file; further ones get ".csv", ".html", ".xml" and ".coz"
 *        added. What is there is replaced, but for programs, in a directory that the user has chosen, and stays
 *        elsewhere (EEXIST).
 * \param[in] suffix  goes after the name, "" for none; left out when the name alone is no regular file.
 * \note Never waits: a pipe that nobody reads cannot be opened (ENXIO). ompp_outfile_commit() waits while a reader
 *       takes something.
 */
int ompp_outfile_open_exact(ompp_outfile_t *files, const char *dir, const char *name, const char *suffix,
                            unsigned wanted, bool chosen);

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
