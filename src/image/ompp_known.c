#define _GNU_SOURCE
#include "image/ompp_known.h"
#include "base/ompp_path.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

static const char *const shells[] = {"sh",   "bash", "dash",    "ksh", "zsh", "csh",
                                     "tcsh", "fish", "busybox", "ash", "mksh"};

/* By the beginning of the name, the first that fits: the families number them differently. */
static const struct {
    const char *begin, *family;
} mpi_libraries[] = {
    {"libmpich.so", "mpich"},    {"libmpi.so.12", "mpich"}, {"libmpi.so.40", "openmpi"},
    {"libmpi.so.20", "openmpi"}, {"libmpi.so", "other"},
};

/* By the beginning of the name. */
static const char *const mpi_parts[] = {
    "libmpi.",     "libmpi_mpifh", "libmpi_usempi", "libmpi_cxx.", "libmpi++.",  "libmpi_java.", "libmpi_mt.",
    "libmpi_ibm.", "libmpi_gnu",   "libmpi_intel",  "libmpi_cray", "libmpi_ilp", "libmpi_dbg",   "libmpifort.",
    "libmpich.",   "libmpichf",    "libmpichcxx.",  "libmpicxx.",  "libpmpi.",   "libpmpich.",   "libmpigc",
    "libmpigf.",   "mca_",         "libmca_",       "libopen-",
};

/* By the beginning of the name. */
static const struct {
    const char *begin;
    ompp_owner_t owner;
} owners[] = {
    {"libompp", OMPP_OWNER_OURS},     {"libgomp.", OMPP_OWNER_OPENMP},   {"libomp.", OMPP_OWNER_OPENMP},
    {"libiomp5.", OMPP_OWNER_OPENMP}, {"libc.", OMPP_OWNER_SYSTEM},      {"libc-", OMPP_OWNER_SYSTEM},
    {"libm.", OMPP_OWNER_SYSTEM},     {"libmvec.", OMPP_OWNER_SYSTEM},   {"libpthread", OMPP_OWNER_SYSTEM},
    {"ld-linux", OMPP_OWNER_SYSTEM},  {"linux-vdso", OMPP_OWNER_SYSTEM},
};

bool ompp_known_shell(const char *path)
{
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(ompp_path_last(path), shells[i]) == 0) return true;
    return false;
}

const char *ompp_known_mpi(const char *path)
{
    const char *name = ompp_path_last(path);

    for (size_t i = 0; i < sizeof mpi_libraries / sizeof mpi_libraries[0]; i++)
        if (strncmp(name, mpi_libraries[i].begin, strlen(mpi_libraries[i].begin)) == 0) return mpi_libraries[i].family;
    return "";
}

bool ompp_known_mpi_part(const char *path)
{
    const char *name = ompp_path_last(path);

    for (size_t i = 0; i < sizeof mpi_parts / sizeof mpi_parts[0]; i++)
        if (strncmp(name, mpi_parts[i], strlen(mpi_parts[i])) == 0) return true;
    return false;
}

ompp_owner_t ompp_known_owner(const char *path)
{
    const char *name = ompp_path_last(path);

    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++)
        if (strncmp(name, owners[i].begin, strlen(owners[i].begin)) == 0) return owners[i].owner;
    return OMPP_OWNER_PROGRAM;
}

const char *ompp_known_family(const char *family)
{
    return strcmp(family, "openmpi") == 0 ? "Open MPI" : strcmp(family, "mpich") == 0 ? "MPICH" : "another MPI";
}

static int is_valgrind(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    return info->dlpi_name && strncmp(ompp_path_last(info->dlpi_name), "vgpreload_", 10) == 0;
}

bool ompp_known_in_valgrind(void) { return dl_iterate_phdr(is_valgrind, NULL) != 0; }
