/**
 * \file
 * The program's own PMPI layer: functions MPI_x of the program, or of a library that it brings, which call PMPI_x. They
 * are called as without us, and ours measure below them. Whoever would reach the program's function without us must not
 * reach ours, which may stand in front of it; whoever calls PMPI_x reaches ours. Both is done at load, by the slots
 * through which modules call each other: the wrappers know nothing of it.
 *
 * A layer may also ask the loader for the function behind it: see follow_dlsym(). Other modules that call PMPI_x want
 * no tool to see it: they are left alone.
 */
#define _GNU_SOURCE
#include "mpi-wrap/mpi_wrap_priv.h"

#include "base/ompp_jump.h"
#include "base/ompp_path.h"
#include "model/ompp_profile.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A function that we wrap. */
typedef struct {
    const char *name;
    uint32_t hash;
    bool settled;  /* the first module that defines it is known, not counting ours */
    bool replaced; /* that is one of the program's */
    void *mpis;    /* that is one of MPI's */
    void *wrapper; /* ours */
    void *instead; /* what ours must not stand in front of; NULL = nothing */
} function_t;

static function_t *functions; /* ascending by name */
static size_t nfunctions;

static char layers[150]; /* modules that define functions of MPI, as many as the report has room for; "" = none */
static unsigned nreplaced;

static bool is_ours(const ompp_dso_t *module) { return ompp_dso_has(module, &functions); }

static void add_layer(const ompp_dso_t *module)
{
    const size_t used = strlen(layers);

    snprintf(layers + used, sizeof layers - used, "%s%s", used ? ", " : "",
             *module->path ? ompp_path_last(module->path) : "the program");
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const function_t *)a)->name, ((const function_t *)b)->name);
}

static bool make_functions(const ompp_mpi_names_t wrapped[2])
{
    for (int i = 0; i < 2; i++)
        for (ompp_mpi_names_t name = wrapped[i]; *name; name++) nfunctions++;
    functions = calloc(nfunctions, sizeof *functions);
    if (!functions) return false;
    nfunctions = 0;
    for (int i = 0; i < 2; i++)
        for (ompp_mpi_names_t name = wrapped[i]; *name; name++)
            functions[nfunctions++] = (function_t){.name = *name, .hash = ompp_dso_hash(*name)};
    qsort(functions, nfunctions, sizeof *functions, by_name);
    return true;
}

/* PMPI_x, pmpi_x_, PMPI_X */
static bool is_profiling(const char *name)
{
    return (*name == 'P' || *name == 'p') && strncasecmp(name + 1, "mpi_", 4) == 0;
}

static const function_t *function_of(const char *name)
{
    const function_t key = {.name = name + is_profiling(name)};

    if (strncasecmp(key.name, "mpi_", 4) != 0) return NULL;
    return bsearch(&key, functions, nfunctions, sizeof key, by_name);
}

/* Does the Fortran binding call the C function under its MPI_ name? Those of MPICH do, but for its mpi_x_f08_. */
static bool calls(const char *fortran, const char *c)
{
    static const char *const ends[] = {"", "_", "__", "_f08ts_"};
    const size_t length = strlen(c), large = length > 2 && strcmp(c + length - 2, "_c") == 0 ? 2 : 0;

    if (strncasecmp(fortran, c, length - large) != 0) return false;
    fortran += length - large;
    if (large) return strcmp(fortran, "_f08ts_large_") == 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (strcmp(fortran, ends[i]) == 0) return true;
    return false;
}

/* ---- Who defines what -------------------------------------------------------------------------------------------- */

/* \return whether the function is one of the program's. */
static bool settle(function_t *f, void *found, bool mpis, bool behind)
{
    if (!f->settled) {
        f->settled = true;
        f->replaced = !mpis;
        f->mpis = mpis ? found : NULL;
        f->instead = !mpis && behind ? found : NULL;
        nreplaced += f->replaced;
    }
    return f->replaced && !mpis;
}

static int see_definitions(struct dl_phdr_info *info, size_t size, void *data)
{
    bool *passed = data, layer = false; /* ours is in front of what comes now */
    ompp_dso_t module;

    (void)size;
    if (!ompp_dso_read(info, &module)) return 0;
    const bool ours = is_ours(&module), mpis = !ours && ompp_mpi_is_library(&module);
    for (function_t *f = functions; f < functions + nfunctions; f++) {
        void *found = ompp_dso_find(&module, f->name, f->hash);
        if (found && ours) f->wrapper = found;
        else if (found) layer |= settle(f, found, mpis, *passed);
    }
    if (layer) add_layer(&module);
    *passed |= ours;
    return 0;
}

/* A Fortran binding whose work the program's own C function does is measured below that, too. */
static void pass_fortran(void)
{
    for (const function_t *c = functions; c < functions + nfunctions; c++)
        for (function_t *f = functions; c->replaced && f < functions + nfunctions; f++)
            if (f != c && f->mpis && !f->instead && calls(f->name, c->name)) f->instead = f->mpis;
}

/* ---- What layers ask the loader for ------------------------------------------------------------------------------ */

typedef struct {
    const function_t *function;
    const char *name;
    uint32_t hash;
    const void *caller;
    bool passed; /* the caller's module */
    void *found;
} search_t;

/* As RTLD_NEXT searches; ours is not there. */
static int see_next(struct dl_phdr_info *info, size_t size, void *data)
{
    search_t *search = data;
    ompp_dso_t module;

    (void)size;
    if (!ompp_dso_read(info, &module)) return 0;
    if (search->passed && !is_ours(&module)) search->found = ompp_dso_find(&module, search->name, search->hash);
    search->passed |= ompp_dso_has(&module, search->caller);
    if (search->found && ompp_mpi_is_library(&module)) search->found = search->function->wrapper;
    return search->found != NULL;
}

/* In the module that has the function found: one of MPI's is given as ours, and ours as the program's own. */
static int see_found(struct dl_phdr_info *info, size_t size, void *data)
{
    search_t *search = data;
    const function_t *f = search->function;
    ompp_dso_t module;

    (void)size;
    if (!ompp_dso_read(info, &module) || !ompp_dso_has(&module, search->found)) return 0;
    if (is_ours(&module)) search->found = f->instead ? f->instead : search->found;
    else if (ompp_mpi_is_library(&module)) search->found = f->wrapper;
    return 1;
}

static void *find(void *library, const char *name, const void *caller)
{
    const int saved = errno;
    search_t search = {.function = function_of(name), .name = name, .hash = ompp_dso_hash(name), .caller = caller};

    if (!search.function || !search.function->wrapper) return NULL;
    if (library == RTLD_NEXT) {
        dl_iterate_phdr(see_next, &search);
    } else {
        search.found = dlsym(library, name);
        if (search.found) dl_iterate_phdr(see_found, &search);
    }
    errno = saved;
    return search.found;
}

OMPP_JUMPS static void *follow_dlsym(void *library, const char *name)
{
    void *found = name ? find(library, name, __builtin_return_address(0)) : NULL;

    if (found) return found;
    OMPP_JUMP return dlsym(library, name);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

/* Of a layer: what it calls of MPI leads to us. */
static void see_layer(const ompp_dso_t *module, const ompp_dso_import_t *import, void *data)
{
    const function_t *f = is_profiling(import->name) ? function_of(import->name) : NULL;
    void *value = f ? f->wrapper : NULL;

    (void)data;
    if (strcmp(import->name, "dlsym") == 0) value = (void *)follow_dlsym;
    if (value && import->slot && *import->slot && *import->slot != value) ompp_dso_replace(module, import->slot, value);
}

/* Of any module, also MPI's: what would lead to the layer without us does so. */
static void see_caller(const ompp_dso_t *module, const ompp_dso_import_t *import, void *data)
{
    const function_t *f = is_profiling(import->name) ? NULL : function_of(import->name);

    (void)data;
    if (f && f->instead && import->slot && *import->slot && *import->slot != f->instead)
        ompp_dso_replace(module, import->slot, f->instead);
}

static bool is_layer(const ompp_dso_t *module)
{
    for (const function_t *f = functions; f < functions + nfunctions; f++)
        if (f->replaced && ompp_dso_find(module, f->name, f->hash)) return true;
    return false;
}

static int see_imports(struct dl_phdr_info *info, size_t size, void *data)
{
    ompp_dso_t module;

    (void)size;
    (void)data;
    if (!ompp_dso_read(info, &module) || is_ours(&module)) return 0;
    ompp_dso_imports(&module, see_caller, NULL);
    if (!ompp_mpi_is_library(&module) && is_layer(&module)) ompp_dso_imports(&module, see_layer, NULL);
    return 0;
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

/* How many modules have been loaded, ever; the loader tells it with the first module. */
static int count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

void ompp_mpi_layer_follow(void)
{
    static unsigned long long seen;
    unsigned long long loads = 0;
    const int saved = errno;

    if (!*layers) return;
    dl_iterate_phdr(count_loads, &loads);
    if (loads != seen) dl_iterate_phdr(see_imports, NULL);
    seen = loads;
    errno = saved;
}

void ompp_mpi_layer_start(const ompp_mpi_names_t wrapped[2])
{
    const int saved = errno;
    bool passed = false;
    char reason[60];

    if (!make_functions(wrapped)) return;
    dl_iterate_phdr(see_definitions, &passed);
    if (*layers) {
        if (OMPP_MPI_FORTRAN_CALLS_C) pass_fortran();
        ompp_mpi_layer_follow();
        snprintf(reason, sizeof reason, "functions: %u", nreplaced);
        ompp_event_coverage(OMPP_COVERAGE_MPI_LAYER, layers, reason);
    } else {
        free(functions);
        functions = NULL;
        nfunctions = 0;
    }
    errno = saved;
}
