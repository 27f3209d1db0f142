#include "tools/common/ompp-place.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char lib[PATH_MAX], include_dir[PATH_MAX], pkginclude[PATH_MAX];
static const ompp_place_t place = {lib, include_dir, pkginclude};

static bool holds(const char *dir, const char *name)
{
    char path[3 * PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, R_OK) == 0;
}

static void own_directory(char dir[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
    char *slash;

    dir[n > 0 ? n : 0] = '\0';
    slash = strrchr(dir, '/');
    if (slash) *slash = '\0';
}

/* ompp-build-tree holds one line: the include directory of the source tree. */
static bool from_build_tree(const char *dir)
{
    char path[2 * PATH_MAX];
    FILE *file;

    snprintf(path, sizeof path, "%s/ompp-build-tree", dir);
    file = fopen(path, "r");
    if (!file) return false;
    if (fgets(include_dir, sizeof include_dir, file)) include_dir[strcspn(include_dir, "\n")] = '\0';
    fclose(file);
    memcpy(pkginclude, include_dir, sizeof pkginclude);
    snprintf(path, sizeof path, "%s/.libs", dir);
    if (!realpath(path, lib)) lib[0] = '\0';
    return true;
}

static void choose(char to[PATH_MAX], const char *configured, const char *dir, const char *relative, const char *name)
{
    char moved[2 * PATH_MAX];

    snprintf(to, PATH_MAX, "%s", configured);
    if (holds(configured, name)) return;
    snprintf(moved, sizeof moved, "%s/%s", dir, relative);
    if (!holds(moved, name) || !realpath(moved, to)) snprintf(to, PATH_MAX, "%s", configured);
}

const ompp_place_t *ompp_place_find(void)
{
    char dir[PATH_MAX];

    if (*lib) return &place;
    own_directory(dir);
    if (from_build_tree(dir)) return &place;
    choose(lib, OMPP_LIBDIR, dir, "../lib", "libompp.so");
    choose(include_dir, OMPP_INCLUDEDIR, dir, "../include", "ompp.h");
    choose(pkginclude, OMPP_PKGINCLUDEDIR, dir, "../include/ompp", "opari2/pomp2_lib.h");
    return &place;
}
