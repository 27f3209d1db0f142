/**
 * \file
 * What of MPI the program calls that the wrappers do not see: functions imported by the loaded modules, by their
 * relocations, that this library does not wrap.
 */
#define _GNU_SOURCE
#include "mpi-wrap/mpi_wrap_priv.h"

#include "base/ompp_path.h"
#include "model/ompp_profile.h"

#include <ctype.h>
#include <string.h>

#define MAX_NAMES 64 /* said one by one */

typedef struct {
    const ompp_mpi_names_t *wrapped; /* ompp_mpi_wrapped */
    const char *names[MAX_NAMES];    /* of modules that stay loaded while this runs */
    unsigned count;
} found_t;

/* MPI_Xx.. and MPIX_Xx..: constants of mpi.h that are data symbols are all upper case. */
static bool is_mpi_function(const char *name)
{
    const size_t prefix = !strncmp(name, "MPIX_", 5) ? 5 : 4;

    if (strncmp(name, "MPI_", 4) && prefix == 4) return false;
    return isupper((unsigned char)name[prefix]) && islower((unsigned char)name[prefix + 1]);
}

static bool ends_in(const char *name, const char *end)
{
    const size_t length = strlen(name), n = strlen(end);

    return length >= n && !strcmp(name + length - n, end);
}

/* mpi_send_, mpi_send__, mpi_send_f08_, MPI_SEND; not what is no call: sizes of variables, callbacks, constants. */
static bool is_fortran_function(const char *name)
{
    if (strncmp(name, "mpi_", 4) || !islower((unsigned char)name[4]) || !ends_in(name, "_")) return false;
    return strncmp(name, "mpi_sizeof_", 11) && strncmp(name, "mpi_fortran_", 12) &&
           strncmp(name, "mpi_conversion_fn_", 18) && !ends_in(name, "_fn_") && !ends_in(name, "_fn__");
}

static bool is_wrapped(const found_t *found, const char *name)
{
    for (int i = 0; i < 2; i++)
        for (ompp_mpi_names_t wrapped = found->wrapped[i]; *wrapped; wrapped++)
            if (!strcmp(*wrapped, name)) return true;
    return false;
}

static void note(found_t *found, const char *name)
{
    if (found->count == MAX_NAMES || !(is_fortran_function(name) || is_mpi_function(name))) return;
    if (is_wrapped(found, name)) return;
    for (unsigned i = 0; i < found->count; i++)
        if (!strcmp(found->names[i], name)) return;
    found->names[found->count++] = name;
}

static void see_import(const ompp_dso_t *module, const ompp_dso_import_t *import, void *found)
{
    (void)module;
    if (!import->own) note(found, import->name);
}

/* MPI's own libraries call each other, and ours call them; only the program and its libraries are of interest. */
static int visit_module(struct dl_phdr_info *info, size_t size, void *found)
{
    ompp_dso_t module;

    (void)size;
    if (ompp_dso_read(info, &module) && strncmp(ompp_path_last(module.path), "libompp", strlen("libompp")) != 0 &&
        !ompp_mpi_is_library(&module))
        ompp_dso_imports(&module, see_import, found);
    return 0;
}

void ompp_mpi_coverage(const ompp_mpi_names_t wrapped[2])
{
    found_t found = {.wrapped = wrapped};

    dl_iterate_phdr(visit_module, &found);
    for (unsigned i = 0; i < found.count; i++) ompp_event_coverage(OMPP_COVERAGE_MPI_UNWRAPPED, found.names[i], NULL);
}
