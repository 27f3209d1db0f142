/**
 * \file
 * Files for writing in directories that others may write to, too. Nobody else can have prepared what is written to: a
 * new file, without a name or under a random one, gets its final name when it is whole. A symbolic link at the final
 * name is followed when it is this user's or root's, and refused otherwise; the same holds for a pipe. Nothing here
 * waits for ever.
 */
#ifndef OMPP_NEW_FILE_H
#define OMPP_NEW_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#define OMPP_NEW_FILE_PATH 4700

/** A file that is being written. */
typedef struct {
    char target[OMPP_NEW_FILE_PATH];    /* its final name, without symbolic links */
    char temporary[OMPP_NEW_FILE_PATH]; /* "" = there is none */
    int fd;                             /* the file while it has no name */
    bool nameless, named;               /* it has none; it has its final one */
    bool special;                       /* it is a device or a pipe */
} ompp_new_file_t;

/**
 * \brief Opens a file for writing. A device or a pipe that is there is opened itself, with O_NONBLOCK.
 * \param[in] mode  of the file, less the umask.
 * \return descriptor; -1 with errno: EPERM when another user's link or pipe is there, ENXIO for a pipe without reader.
 */
int ompp_new_file_open(ompp_new_file_t *file, const char *path, mode_t mode);

/**
 * \brief Writes all of it, into a pipe with patience.
 * \return 0; -1 with errno: ETIMEDOUT when the reader of the pipe takes nothing for 5 s.
 */
int ompp_new_file_write(int fd, const char *data, size_t bytes);

/**
 * \brief Gives the file its final name.
 * \param[in] replace  what is there is replaced; else it stays, and errno is EEXIST.
 * \return 0; -1 with errno, and the file may still be given another name.
 */
int ompp_new_file_commit(ompp_new_file_t *file, bool replace);

/** \brief Takes the final name away from a file that has just got it. */
void ompp_new_file_retract(ompp_new_file_t *file);

/** \brief Removes what was made. Keeps errno. */
void ompp_new_file_abandon(ompp_new_file_t *file);

/**
 * \return whether what lies in a directory is this user's: its owner has that number or, on file systems that map
 *         numbers (NFS with root_squash), is the owner of a file just made there.
 */
bool ompp_new_file_is_own(const struct stat *what, const char *dir);

#endif
