#include "analysis/ompp_owner.h"

#include "base/ompp_path.h"
#include "image/ompp_known.h"

#include <string.h>

const char *const ompp_code_owner_names[OMPP_CODE_OWNERS] = {
    [OMPP_CODE_PROGRAM] = "the program",     [OMPP_CODE_MPI] = "MPI library",
    [OMPP_CODE_OPENMP] = "OpenMP library",   [OMPP_CODE_C_LIBRARY] = "C library",
    [OMPP_CODE_LIBRARY] = "other libraries", [OMPP_CODE_OMPP] = "ompp itself",
    [OMPP_CODE_UNKNOWN] = "path not found",
};

/* Of files that are told by their names; a program's own ones are told apart below. */
static const ompp_code_owner_t of_owner[] = {[OMPP_OWNER_PROGRAM] = OMPP_CODE_PROGRAM,
                                             [OMPP_OWNER_OURS] = OMPP_CODE_OMPP,
                                             [OMPP_OWNER_OPENMP] = OMPP_CODE_OPENMP,
                                             [OMPP_OWNER_SYSTEM] = OMPP_CODE_C_LIBRARY};

ompp_code_owner_t ompp_code_owner(const ompp_profile_t *p, const ompp_region_t *region)
{
    if (region->module >= p->nmodules)
        return strcmp(ompp_profile_text(p, region->name), OMPP_OWN_FUNCTION) == 0 ? OMPP_CODE_OMPP : OMPP_CODE_UNKNOWN;
    const char *path = ompp_profile_text(p, p->modules[region->module].path), *name = ompp_path_last(path);
    const ompp_owner_t owner = ompp_known_owner(path);
    if (owner != OMPP_OWNER_PROGRAM) return of_owner[owner];
    if (ompp_known_mpi_part(path)) return OMPP_CODE_MPI;
    return strncmp(name, "lib", 3) == 0 && strstr(name, ".so") ? OMPP_CODE_LIBRARY : OMPP_CODE_PROGRAM;
}

bool ompp_code_is_start(const ompp_profile_t *p, const ompp_region_t *region)
{
    return ompp_code_owner(p, region) == OMPP_CODE_C_LIBRARY ||
           strcmp(ompp_profile_text(p, region->name), "_start") == 0;
}
