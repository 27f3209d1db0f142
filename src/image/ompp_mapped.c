#include "image/ompp_mapped.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 1280 /* of a line */

/* "begin-end rights offset device inode   path"; of one that is too long, there is no path. */
static bool visit_line(const char *line, size_t length, ompp_mapped_visit_t *visit, void *data)
{
    char *behind;
    const uintptr_t begin = strtoul(line, &behind, 16), end = *behind == '-' ? strtoul(behind + 1, NULL, 16) : 0;
    const char *slash = length < MOST - 1 ? strchr(line, '/') : NULL;

    return visit(data, begin, end, slash ? slash : "");
}

bool ompp_mapped_each(ompp_mapped_visit_t *visit, void *data)
{
    char text[1024], line[MOST];
    size_t have = 0;
    ssize_t got;
    bool all = false;
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    if (fd < 0) return false;
    while (!all && (got = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < got && !all; i++) {
            if (text[i] != '\n') {
                if (have < sizeof line - 1) line[have++] = text[i];
                continue;
            }
            line[have] = '\0';
            all = visit_line(line, have, visit, data);
            have = 0;
        }
    close(fd);
    return all || got == 0;
}

typedef struct {
    uintptr_t address;
    char *path;
    size_t n;
    bool found;
} asked_t;

static bool take(void *data, uintptr_t begin, uintptr_t end, const char *path)
{
    asked_t *asked = data;
    const size_t length = strlen(path);

    if (asked->address < begin || asked->address >= end) return false;
    asked->found = length && length < asked->n;
    if (asked->found) memcpy(asked->path, path, length + 1);
    return true;
}

bool ompp_mapped_file(uintptr_t address, char *path, size_t n)
{
    asked_t asked = {address, path, n, false};

    ompp_mapped_each(take, &asked);
    return asked.found;
}
