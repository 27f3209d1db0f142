/**
 * \file
 * For readers that take a path: the bytes lie in a file without a name.
 */
#ifndef OMPP_FUZZ_FILE_H
#define OMPP_FUZZ_FILE_H

#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

/** \brief Makes the file. \param[out] path  its name. \return its descriptor, close(). */
static inline int fuzz_file(const void *data, size_t size, char path[64])
{
    int fd = memfd_create("fuzz", 0);

    FUZZ_REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file in memory");
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
