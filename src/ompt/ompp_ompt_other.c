#define _GNU_SOURCE
#include "ompt/ompp_ompt_other.h"

#include "base/ompp_caller.h"
#include "base/ompp_env.h"
#include "base/ompp_path.h"
#include "image/ompp_dso.h"
#include "image/ompp_needed.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char asked[] = "ompt_start_tool";

/* ---- In the process ---------------------------------------------------------------------------------------------- */

/* The runtime's own function looks for one behind it. */
static bool is_of_runtime(const ompp_dso_t *module)
{
    return ompp_dso_find(module, "omp_get_num_threads", ompp_dso_hash("omp_get_num_threads")) != NULL;
}

static bool same_module(const void *a, const void *b)
{
    Dl_info first, second;

    return dladdr(a, &first) && dladdr(b, &second) && first.dli_fbase == second.dli_fbase;
}

/* The function that a runtime would call without us, when it stands in front of ours. */
static void *front(ompp_ompt_start_t *ours)
{
    void *first = dlsym(RTLD_DEFAULT, asked), *runtime = dlsym(RTLD_DEFAULT, "omp_get_num_threads");

    if (!first || same_module(first, (const void *)ours)) return NULL;
    return runtime && same_module(first, runtime) ? NULL : first;
}

static void see_slot(const ompp_dso_t *module, const ompp_dso_import_t *import, void *ours)
{
    if (import->slot && strcmp(import->name, asked) == 0) ompp_dso_replace(module, import->slot, ours);
}

static int see_module(struct dl_phdr_info *info, size_t size, void *ours)
{
    ompp_dso_t module;

    (void)size;
    if (ompp_dso_read(info, &module) && is_of_runtime(&module)) ompp_dso_imports(&module, see_slot, ours);
    return 0;
}

void ompp_ompt_other_stand_in_front(ompp_ompt_start_t *ours)
{
    if (front(ours)) dl_iterate_phdr(see_module, (void *)ours);
}

ompt_start_tool_result_t *ompp_ompt_other_start(ompp_ompt_start_t *ours, unsigned version, const char *runtime)
{
    static __thread bool inside; /* a tool may call the next one by itself */
    ompt_start_tool_result_t *result = NULL;
    ompp_ompt_start_t *other = inside ? NULL : (ompp_ompt_start_t *)front(ours);

    if (!other) other = (ompp_ompt_start_t *)dlsym(RTLD_NEXT, asked);
    if (!other || inside) return other ? other(version, runtime) : NULL;
    inside = true;
    result = other(version, runtime);
    inside = false;
    return result;
}

/* ---- Asked for --------------------------------------------------------------------------------------------------- */

/* Whether the runtime has asked us without the list, as we are in the program. */
static bool is_in_program(void)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    const bool is = program && dlsym(program, "ompp_event_claim_openmp");

    if (program) dlclose(program);
    return is;
}

typedef struct {
    const char *runtime; /* file */
    char *found;         /* [PATH_MAX] */
    bool is;
} search_t;

static bool is_there(const char *name, search_t *search)
{
    snprintf(search->found, PATH_MAX, "%s", name);
    if (strchr(name, '/')) return access(name, R_OK) == 0;
    return ompp_needed_find(name, search->runtime, search->found);
}

static void look(void *data)
{
    search_t *search = data;
    const char *list = ompp_env_foreign("OMP_TOOL_LIBRARIES");
    static char name[PATH_MAX]; /* once in a process */

    for (; list && *list; list += *list == ':') {
        const size_t length = strcspn(list, ":");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        list += length;
        if (strncmp(ompp_path_last(name), "libompp.so", strlen("libompp.so")) == 0) return;
        search->is = *name && is_there(name, search);
        if (search->is) return;
    }
    search->is = dlsym(RTLD_DEFAULT, "__tsan_init") && is_there("libarcher.so", search);
}

const char *ompp_ompt_other_listed(void)
{
    static atomic_flag again = ATOMIC_FLAG_INIT;
    static char found[PATH_MAX];
    Dl_info info;
    search_t search = {.found = found};

    if (!is_in_program() || atomic_flag_test_and_set(&again))
        return NULL; /* those before us on the list have declined */
    if (dladdr(dlsym(RTLD_DEFAULT, "omp_get_num_threads"), &info)) search.runtime = info.dli_fname;
    ompp_caller_run(look, &search);
    return search.is ? found : NULL;
}
