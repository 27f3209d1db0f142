#define _GNU_SOURCE
#include "base/ompp_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELD_STATE 3
#define FIELD_START 22

uint64_t ompp_proc_start(pid_t pid)
{
    char path[40], text[1024];
    const int saved_errno = errno;
    ssize_t n = -1;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof text - 1);
        close(fd);
    }
    errno = saved_errno;
    text[n > 0 ? n : 0] = '\0';
    const char *field = strrchr(text, ')'); /* the name before it may hold anything */
    if (field && field[1] && (field[2] == 'Z' || field[2] == 'X')) field = NULL;
    for (int i = FIELD_STATE - 1; field && i < FIELD_START; i++) {
        field = strchr(field, ' ');
        if (field) field++;
    }
    return field ? strtoull(field, NULL, 10) : 0;
}
