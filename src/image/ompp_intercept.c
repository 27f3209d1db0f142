/**
 * \file
 * Replacing the slots of modules (ompp_dso.h).
 */
#define _GNU_SOURCE
#include "image/ompp_intercept.h"
#include "base/ompp_dl.h"
#include "base/ompp_path.h"
#include "image/ompp_dso.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Modules that are left alone, by the beginning of their file's name: they implement the functions; the first NEVER of
 * them always, the others synchronise on their own account. */
enum { NEVER = 13 };
static const char *const left_alone[] = {
    "libc.so",   "libc-",      "libpthread",   "ld-linux",    "linux-vdso",  "libdl",         "libm.so",
    "librt",     "libompp",    "libasan",      "libtsan",     "libmsan",     "libubsan",      "libgcc_s",
    "libgomp",   "libomp.",    "libomp-",      "libiomp5",    "libmpi",      "libopen-",      "libpmi",
    "libprte",   "libevent",   "libhwloc",     "libucp",      "libucs",      "libuct",        "libucm",
    "libfabric", "libpsm",     "libibverbs",   "librdmacm",   "libhcoll",    "libsharp_coll", "libucc",
    "libnccl",   "libcuda.so", "libjemalloc",  "libtcmalloc", "libmimalloc", "mca_",          "libcoz",
    "libpapi",   "libpfm",     "libomptarget", "libcudart",   "libnv",       "librccl",       "libamdhip",
    "libhsa",    "libze_",     "libOpenCL",
};

#define MAX_CALLERS 12 /* of the rows that are given */

typedef struct {
    const ompp_intercept_t *rows;
    size_t n, nleft; /* that are left alone */
    unsigned replaced;
} wanted_t;

static bool is_left_alone(const char *path, size_t n)
{
    const char *name = ompp_path_last(path);

    for (size_t i = 0; i < n; i++)
        if (strncmp(name, left_alone[i], strlen(left_alone[i])) == 0) return true;
    return false;
}

static int by_name(const void *name, const void *row) { return strcmp(name, ((const ompp_intercept_t *)row)->name); }

static void look_at(const ompp_dso_t *module, const ompp_dso_import_t *import, void *data)
{
    wanted_t *wanted = data;
    void **slot = import->own ? NULL : import->slot; /* the module's own function of that name is left alone */
    const ompp_intercept_t *row =
        slot ? bsearch(import->name, wanted->rows, wanted->n, sizeof *wanted->rows, by_name) : NULL;

    /* A weak reference that is empty asks whether the function is there at all. */
    if (!row || !*slot || *slot == row->replacement || (row->real && !*row->real)) return;
    wanted->replaced += ompp_dso_replace(module, slot, row->replacement);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    wanted_t *wanted = data;
    ompp_dso_t module;

    (void)size;
    if (!is_left_alone(info->dlpi_name ? info->dlpi_name : "", wanted->nleft) && ompp_dso_read(info, &module))
        ompp_dso_imports(&module, look_at, wanted);
    return 0;
}

/* How many modules have been loaded, ever; the loader tells it with the first module. */
static int count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

/* Not while the loader's list of modules is held. */
static void find_real(const ompp_intercept_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].real && !*rows[i].real) *rows[i].real = ompp_dl_symbol(RTLD_DEFAULT, rows[i].name);
}

/* Which modules have been looked at for these rows. */
static unsigned long long *seen_for(const ompp_intercept_t *rows)
{
    static struct {
        const ompp_intercept_t *rows;
        unsigned long long loads;
    } seen[MAX_CALLERS];
    size_t i = 0;

    while (i < MAX_CALLERS - 1 && seen[i].rows && seen[i].rows != rows) i++;
    if (seen[i].rows != rows) seen[i].loads = 0;
    seen[i].rows = rows;
    return &seen[i].loads;
}

static unsigned intercept(const ompp_intercept_t *rows, size_t n, size_t nleft)
{
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    unsigned long long loads = 0;
    wanted_t wanted = {.rows = rows, .n = n, .nleft = nleft};
    int saved = errno;

    if (atomic_flag_test_and_set(&busy)) return 0;
    dl_iterate_phdr(count_loads, &loads);
    unsigned long long *seen = seen_for(rows);
    if (loads != *seen) {
        find_real(rows, n);
        dl_iterate_phdr(visit, &wanted);
    }
    *seen = loads;
    atomic_flag_clear(&busy);
    errno = saved;
    return wanted.replaced;
}

unsigned ompp_intercept(const ompp_intercept_t *rows, size_t n)
{
    return intercept(rows, n, sizeof left_alone / sizeof left_alone[0]);
}

unsigned ompp_intercept_everywhere(const ompp_intercept_t *rows, size_t n) { return intercept(rows, n, NEVER); }

/* The program's file is the first module. */
static int visit_first(struct dl_phdr_info *info, size_t size, void *wanted)
{
    ompp_dso_t module;

    (void)size;
    if (ompp_dso_read(info, &module)) ompp_dso_imports(&module, look_at, wanted);
    return 1;
}

void ompp_intercept_program(const ompp_intercept_t *rows, size_t n)
{
    wanted_t wanted = {.rows = rows, .n = n};
    int saved = errno;

    find_real(rows, n);
    dl_iterate_phdr(visit_first, &wanted);
    errno = saved;
}
