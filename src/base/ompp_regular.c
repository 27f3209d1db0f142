#define _GNU_SOURCE
#include "base/ompp_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Not to wait: somebody may have a lease of the file (fcntl(2), F_SETLEASE). */
#define HOW (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

bool (*ompp_regular_may)(int fd, const struct stat *is);

int ompp_regular_open(const char *path)
{
    const int found = open(path, O_PATH | O_CLOEXEC);
    struct stat st;
    char name[40];
    int fd = -1, error;

    if (found < 0) return -1;
    if (fstat(found, &st) == 0 && S_ISREG(st.st_mode) && (!ompp_regular_may || ompp_regular_may(found, &st))) {
        snprintf(name, sizeof name, "/proc/thread-self/fd/%d", found);
        fd = open(name, HOW);
        if (fd < 0 && errno == ENOENT) fd = open(path, HOW); /* without /proc */
        error = errno;
    } else {
        error = EACCES;
    }
    close(found);
    errno = error;
    return fd;
}
