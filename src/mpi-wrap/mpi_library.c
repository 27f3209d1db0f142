/**
 * \file
 * Which modules of the process belong to MPI. Its libraries are known by their names, and by the functions under their
 * profiling names that no other library defines; a library of the program may have MPI in its name, and MPI's functions
 * in it.
 */
#define _GNU_SOURCE
#include "mpi-wrap/mpi_wrap_priv.h"

#include "image/ompp_known.h"

bool ompp_mpi_is_library(const ompp_dso_t *module)
{
    static const char *const functions[] = {"PMPI_Init", "pmpi_init_", "pmpi_init_f08_"};

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (ompp_dso_find(module, functions[i], ompp_dso_hash(functions[i]))) return true;
    return ompp_known_mpi_part(module->path);
}

typedef struct {
    const char *name;
    uint32_t hash;
    void *found;
} search_t;

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    search_t *search = data;
    ompp_dso_t module;

    (void)size;
    if (ompp_dso_read(info, &module) && ompp_mpi_is_library(&module))
        search->found = ompp_dso_find(&module, search->name, search->hash);
    return search->found != NULL;
}

void *ompp_mpi_library_find(const char *name)
{
    search_t search = {name, ompp_dso_hash(name), NULL};

    dl_iterate_phdr(visit, &search);
    return search.found;
}
