#include "image/ompp_mapped.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "begin-end rights offset device inode   path" */
static bool take_line(const char *line, uintptr_t address, char *path, size_t n)
{
    char *behind;
    const uintptr_t begin = strtoul(line, &behind, 16), end = *behind == '-' ? strtoul(behind + 1, NULL, 16) : 0;
    const char *slash = strchr(line, '/');

    if (address < begin || address >= end || !slash || strlen(slash) >= n) return false;
    memcpy(path, slash, strlen(slash) + 1);
    return true;
}

bool ompp_mapped_file(uintptr_t address, char *path, size_t n)
{
    char text[1024], line[1280];
    size_t have = 0;
    ssize_t got;
    bool found = false;
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    if (fd < 0) return false;
    while (!found && (got = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < got && !found; i++) {
            if (text[i] != '\n') {
                if (have < sizeof line) line[have++] = text[i];
                continue;
            }
            if (have < sizeof line) { /* else it is too long for the caller, too */
                line[have] = '\0';
                found = take_line(line, address, path, n);
            }
            have = 0;
        }
    close(fd);
    return found;
}
