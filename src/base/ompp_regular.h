/**
 * \file
 * Regular files, for reading what others may have named. Needs nothing.
 */
#ifndef OMPP_REGULAR_H
#define OMPP_REGULAR_H

/**
 * \brief Opens a regular file. Nothing else is touched: a pipe would be waited for, and a device may do something when
 *        it is opened.
 * \return descriptor; -1 with errno: EACCES when it is no regular file.
 */
int ompp_regular_open(const char *path);

#endif
