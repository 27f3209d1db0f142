/*
 * Plug-ins, by a table: what asks for them, and their library.
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "plugin"
#include "process/ompp_plugin.h"

#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "base/ompp_path.h"
#include "data/ompp_data.h"
#include "image/ompp_program.h"
#include "model/ompp_profile.h"
#include "preload/ompp_launch.h"
#include "runtime/ompp_event.h"
#include "runtime/ompp_meter.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAPI_LIBRARY "libompp-papi.so"

static bool wants_counters(void) { return ompp_env.counters.n > 0; }

static bool wants_perf(void)
{
    return ompp_data_may_choose("samples") || ompp_data_may_choose("breakpoints") ||
           ompp_data_may_choose("page-faults");
}

static const struct {
    const char *what; /* for messages */
    bool (*wanted)(void);
    const char *library;
} plugins[] = {
    {"counters (OMPP_CTR)", wants_counters, PAPI_LIBRARY},
    {"data structures (OMPP_DATA_BACKEND)", wants_perf, "libompp-perf.so"},
};

/* Programs that are meant to be measured, and no shell or tool that inherits the environment; by what their libraries
 * begin with. */
static const char *const parallel[] = {"libgomp.so", "libomp.so",   "libiomp5.so",
                                       "libmpi.so",  "libmpich.so", "libompp-mpi"};

typedef struct {
    bool parallel, hooks;
} loaded_t;

bool ompp_plugin_has_counters(void)
{
    char path[4200];

    ompp_library_path(path, sizeof path, PAPI_LIBRARY);
    return access(path, R_OK) == 0;
}

/* Those that count for data structures wait until one of them is chosen. */
static void start_list(const ompp_component_t *const *list)
{
    char why[300];

    for (; *list; list++) {
        const ompp_component_t *c = *list;
        if (c->put) {
            if (ompp_data_wants(c->name)) ompp_data_offer(c);
        } else if (!ompp_component_start(c, why, sizeof why) && *why) {
            ompp_warn_common("no %s: %s", c->name, why);
            ompp_event_coverage(OMPP_COVERAGE_REFUSED, c->name, why);
        }
    }
}

static void start_all(void)
{
    char path[4200];

    start_list(ompp_builtin_components);
    start_list(ompp_components_early());
    for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++) {
        if (!plugins[i].wanted()) continue;
        ompp_library_path(path, sizeof path, plugins[i].library);
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void *list = handle ? dlsym(handle, "ompp_components") : NULL;
        if (list) {
            start_list(list);
            continue;
        }
        ompp_warn_common("no %s: %s", plugins[i].what, dlerror());
        ompp_event_coverage(OMPP_COVERAGE_REFUSED, plugins[i].what,
                            "this ompp was built without them, or the library is missing");
    }
    ompp_data_choose(ompp_plugin_has_counters());
}

static int note_library(struct dl_phdr_info *info, size_t size, void *loaded)
{
    const char *name = ompp_path_last(info->dlpi_name);
    loaded_t *l = loaded;

    (void)size;
    for (size_t i = 0; i < sizeof parallel / sizeof parallel[0]; i++)
        l->parallel |= strncmp(name, parallel[i], strlen(parallel[i])) == 0;
    l->hooks |= strncmp(name, "libompp-memory.so", 17) == 0;
    return 0;
}

/* Was this program asked for, by its link, by "ompp --" or by "ompp --children --", and not by an environment that it
 * inherits? */
static bool is_meant(void)
{
    const char *children = ompp_env_foreign("OMPP_CHILDREN");

    return ompp_is_launched() || (children && *children && strcmp(children, "0") != 0) || !ompp_is_preloaded();
}

void ompp_plugins_at_load(void)
{
    const bool data =
        ompp_env_is_set("OMPP_DATA") || ompp_env_is_set("OMPP_DATA_ADDR") || ompp_env_is_set("OMPP_DATA_BACKEND");
    const bool counters = ompp_env_is_set("OMPP_CTR");
    loaded_t loaded = {false, false};

    /* Most programs are not asked for, and are left alone: measurement does not start in them here. */
    if (!data && !counters) return;
    dl_iterate_phdr(note_library, &loaded);
    const bool early = loaded.parallel && data && !loaded.hooks && wants_perf();
    const bool serial = !loaded.parallel && !loaded.hooks && is_meant(); /* no event may ever come */
    if (early || serial) ompp_meter_place();
}

void ompp_plugins_start(void)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;

    /* Others do not wait: they may hold the loader's lock, which opening a library needs. */
    if (atomic_flag_test_and_set(&begun)) return;
    start_all();
    ompp_data_resolve(); /* some may count for data structures */
}
