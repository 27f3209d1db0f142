/**
 * \file
 * What the wrappers of MPI's Fortran bindings need to know of the process: the functions they stand for, and the
 * address that means MPI_IN_PLACE. Both are looked up when a binding is called first: where the program's code and
 * MPI's Fortran libraries are in the process by then, be they linked or loaded by some plug-in.
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "mpi"
#include "mpi-wrap/mpi_fortran_priv.h"

#include "base/ompp_dl.h"
#include "base/ompp_log.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

const void *ompp_mpi_in_place_f[OMPP_MPI_IN_PLACES];

#if defined(OPEN_MPI)
/*
 * Open MPI tells its constants by the addresses of these variables, which are common blocks of the program. Without a
 * reference from here, a linker that leaves out libraries whose functions we stand for (--as-needed) would keep the
 * program's own to itself, and MPI, loaded at run time, would have others.
 */
#define CONSTANT(name) extern char name __attribute__((weak));
/* A list without commas. */
/* clang-format off */
#define CONSTANTS(DO)                                                                                                  \
    DO(mpi_fortran_bottom_) DO(mpi_fortran_in_place_) DO(mpi_fortran_argv_null_) DO(mpi_fortran_argvs_null_)           \
    DO(mpi_fortran_errcodes_ignore_) DO(mpi_fortran_status_ignore_) DO(mpi_fortran_statuses_ignore_)                   \
    DO(mpi_fortran_unweighted_) DO(mpi_fortran_weights_empty_)
/* clang-format on */
CONSTANTS(CONSTANT)
#define ADDRESS(name) &name,
const char *const ompp_mpi_constants_f[] = {CONSTANTS(ADDRESS)};
#endif

/* ---- Where to look ----------------------------------------------------------------------------------------------- */

/* The module that calls, as a handle: its own scope has what it was linked with, also when it was loaded by a
 * plug-in. */
static void *caller_of(const void *code)
{
    Dl_info info;

    return dladdr(code, &info) && info.dli_fname ? ompp_dl_open(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* A symbol as the module at code sees it; NULL when it sees none. */
static void *seen_from(const void *code, const char *name)
{
    void *found = ompp_dl_symbol(RTLD_DEFAULT, name), *module = found ? NULL : caller_of(code);

    if (module) {
        found = ompp_dl_symbol(module, name);
        dlclose(module); /* it was loaded before and stays so */
    }
    return found;
}

/* A program linked by a linker that saw no need for MPI's Fortran libraries, as our symbols came first. */
static void *in_libraries(const char *const libraries[], const char *name)
{
    void *found = NULL;

    for (int i = 0; !found && libraries[i]; i++) {
        void *library = ompp_dl_open(libraries[i], RTLD_LAZY | RTLD_GLOBAL);
        if (library) found = ompp_dl_symbol(library, name);
    }
    return found;
}

/* ---- MPI_IN_PLACE ------------------------------------------------------------------------------------------------ */

static void learn_in_place(const void *code)
{
#if defined(OPEN_MPI)
    static const char *const names[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place__", "mpi_fortran_in_place",
                                        "MPI_FORTRAN_IN_PLACE"};

    for (size_t i = 0; !ompp_mpi_in_place_f[0] && i < sizeof names / sizeof *names; i++)
        ompp_mpi_in_place_f[0] = seen_from(code, names[i]);
#else
    /* MPICH: a pointer that MPI_Init sets, for mpif.h and use mpi, and a variable for use mpi_f08. */
    const void *const *pointer = seen_from(code, "MPIR_F_MPI_IN_PLACE");

    if (pointer) ompp_mpi_in_place_f[0] = *pointer;
    ompp_mpi_in_place_f[1] = seen_from(code, "MPIR_F08_MPI_IN_PLACE");
#endif
}

/* ---- The functions behind ---------------------------------------------------------------------------------------- */

static void *find_function(const char *symbol, const void *code, const char *const libraries[])
{
    char profiling[80];
    void *found;

    snprintf(profiling, sizeof profiling, "p%s", symbol);
    found = seen_from(code, profiling);
    if (!found) found = ompp_mpi_library_find(symbol);
    if (!found) found = in_libraries(libraries, profiling);
    if (!found) found = in_libraries(libraries, symbol);
    if (found) return found;
    /* Without us the loader would not have started, or ended, the program: it calls what is in no library. */
    ompp_warn("symbol lookup error: %s is in no MPI library of this process", symbol);
    _exit(127);
}

void *ompp_mpi_real_slow(void **known, const char *symbol, const void *code, const char *const libraries[])
{
    const int saved = errno;
    void *function = find_function(symbol, code, libraries);

    learn_in_place(code);
    __atomic_store_n(known, function, __ATOMIC_RELEASE);
    errno = saved;
    return function;
}
