#define _GNU_SOURCE
#include "preload/ompp_loaded.h"

#include "base/ompp_path.h"
#include "image/ompp_known.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

static bool begins(const char *name, const char *begin) { return strncmp(name, begin, strlen(begin)) == 0; }

static int see_ours(struct dl_phdr_info *info, size_t size, void *data)
{
    static const char wrappers[] = "libompp-mpi-";
    ompp_loaded_t *loaded = data;

    (void)size;
    if (!info->dlpi_name) return 0;
    const char *name = ompp_path_last(info->dlpi_name);
    loaded->gomp |= begins(name, "libgomp.so");
    loaded->gomp_reported |= begins(name, "libompp-gomp.so");
    if (begins(name, wrappers)) {
        name += sizeof wrappers - 1;
        snprintf(loaded->wrapped, sizeof loaded->wrapped, "%.*s", (int)strcspn(name, "."), name);
    }
    return 0;
}

static int see_mpi(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *path = info->dlpi_name ? info->dlpi_name : "", *family = ompp_known_mpi(path);
    ompp_loaded_t *loaded = data;

    (void)size;
    if (*loaded->mpi || !*family || strcmp(family, loaded->wrapped) == 0) return 0;
    loaded->family = family;
    snprintf(loaded->mpi, sizeof loaded->mpi, "%s", ompp_path_last(path));
    return 0;
}

void ompp_loaded_look(ompp_loaded_t *loaded)
{
    *loaded = (ompp_loaded_t){.family = ""};
    dl_iterate_phdr(see_ours, loaded);
    dl_iterate_phdr(see_mpi, loaded);
}
