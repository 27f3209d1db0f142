/**
 * \file
 * Regular files, for reading what others may have named. Needs nothing.
 */
#ifndef OMPP_REGULAR_H
#define OMPP_REGULAR_H

#include <stdbool.h>
#include <sys/stat.h>

/**
 * \brief Opens a regular file. Nothing else is touched: a pipe would be waited for, and a device may do something when
 *        it is opened.
 * \return descriptor; -1 with errno: EACCES when it is no regular file, or ompp_regular_may() refuses it.
 */
int ompp_regular_open(const char *path);

/** \brief From now on only files are opened of which this says so. NULL: all. To be set before there are threads. */
extern bool (*ompp_regular_may)(int fd, const struct stat *is);

#endif
