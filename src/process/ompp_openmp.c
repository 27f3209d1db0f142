#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "runtime"
#include "process/ompp_openmp.h"

#include "base/ompp_dl.h"
#include "base/ompp_log.h"
#include "preload/ompp_launch.h"
#include "runtime/ompp_coverage.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *file;
    bool llvm;
} libraries[] = {{"libgomp.so", false}, {"libomp.so", true}, {"libiomp5.so", true}};
enum { NLIBRARIES = sizeof libraries / sizeof libraries[0] };

static size_t library_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    size_t i = 0;

    while (i < NLIBRARIES && !(slash && strncmp(slash + 1, libraries[i].file, strlen(libraries[i].file)) == 0)) i++;
    return i;
}

static int see(struct dl_phdr_info *info, size_t size, void *loaded)
{
    size_t i = library_of(info->dlpi_name);

    (void)size;
    if (i < NLIBRARIES) ((bool *)loaded)[i] = true;
    return 0;
}

static bool noted[NLIBRARIES];

void ompp_openmp_note(void) { dl_iterate_phdr(see, noted); }

const char *ompp_openmp_loaded(void)
{
    bool loaded[NLIBRARIES] = {false};
    size_t i = 0;

    memcpy(loaded, noted, sizeof loaded);

    dl_iterate_phdr(see, loaded);
    while (i < NLIBRARIES && !loaded[i]) i++;
    return i < NLIBRARIES ? libraries[i].file : NULL;
}

/* LLVM's library has libgomp's functions as well: where it is in front, nothing gets to the libgomp that is loaded,
 * too. */
static bool serves_gcc(void)
{
    void *function = ompp_dl_symbol(RTLD_DEFAULT, "GOMP_parallel");
    Dl_info info;
    size_t i = function && dladdr(function, &info) ? library_of(info.dli_fname) : NLIBRARIES;

    return i < NLIBRARIES && libraries[i].llvm;
}

static void no_source(ompp_profile_t *profile)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const char *library = ompp_openmp_loaded(), *tool = ompp_coverage_left_to();
    char reason[160];

    if (*tool) {
        snprintf(reason, sizeof reason, "left to another OMPT tool, %s", tool);
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_SOURCE, "none", reason, 1);
        if (!atomic_flag_test_and_set(&said))
            ompp_warn_common("OpenMP is not measured: its events are left to another OMPT tool, %s", tool);
        return;
    }
    if (!library) return;
    snprintf(reason, sizeof reason, "the program has %s, and %s", library,
             !ompp_is_launched()                   ? "none of its files was instrumented (ompp -- measures it)"
             : strncmp(library, "libgomp", 7) == 0 ? "was not measured by ompp --omp-runtime=gomp --"
                                                   : "was not built with kinst-ompp");
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_SOURCE, "none", reason, 1);
    if (ompp_is_launched() && !profile->mpi && strncmp(library, "libgomp", 7) == 0 && !atomic_flag_test_and_set(&said))
        ompp_warn_common("use ompp --omp-runtime=gomp --: OpenMP is not measured: the program loads %s by itself",
                         library);
}

void ompp_openmp_coverage(ompp_profile_t *profile)
{
    const char *source = ompp_profile_text(profile, profile->source);
    const bool ompt = strncmp(source, "OMPT", 4) == 0, by_llvm = strstr(source, "libomp");
    bool loaded[NLIBRARIES] = {false};
    char reason[160];

    if (!*source) {
        no_source(profile);
        return;
    }
    dl_iterate_phdr(see, loaded);
    for (size_t i = 0; i < NLIBRARIES && !by_llvm; i++) {
        if (!loaded[i] || libraries[i].llvm == ompt) continue;
        if (ompt && serves_gcc())
            snprintf(reason, sizeof reason,
                     "of code that gcc has compiled: barrier, loops with static schedule, sections, the end of single, "
                     "master");
        else
            snprintf(reason, sizeof reason, "constructs that run in %s, which is in the process, too",
                     libraries[i].file);
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_INVISIBLE, source, reason, 1);
    }
}
