#define _GNU_SOURCE
#include "image/ompp_program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char program_path[4096], program_dir[4096];

const char *ompp_program_path(void) { return program_path; }

const char *ompp_program_dir(void) { return program_dir; }

void ompp_program_note(void)
{
    ssize_t n;

    if (program_path[0]) return;
    n = readlink("/proc/self/exe", program_path, sizeof program_path - 1);
    program_path[n > 0 ? n : 0] = '\0';
    if (!getcwd(program_dir, sizeof program_dir)) program_dir[0] = '\0';
}

void ompp_library_path(char *path, size_t n, const char *name)
{
    Dl_info self;
    const char *slash;

    if (dladdr((void *)ompp_library_path, &self) && self.dli_fname && (slash = strrchr(self.dli_fname, '/')))
        snprintf(path, n, "%.*s/%s", (int)(slash - self.dli_fname), self.dli_fname, name);
    else snprintf(path, n, "%s", name);
}
