/**
 * \file
 * Names of files.
 */
#ifndef OMPP_PATH_H
#define OMPP_PATH_H

#include <string.h>

/** \return the last part of a path: what is behind its last slash, or all of it. Points into it. */
static inline const char *ompp_path_last(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

#endif
