/*
 * Settings that are understood at the end of a run only (OMPP_EVAL1, ...), or that are about the program, which the
 * probe is not (OMPP_DATA): looked at from outside, with what the run itself would use, so that the words are the same.
 */
#include "tools/doctor/ompp-doctor.h"

#include "analysis/ompp_eval.h"
#include "base/ompp_env.h"
#include "base/ompp_path.h"
#include "image/ompp_needed.h"
#include "model/ompp_located.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MODULES = 512, MAX_COUNTERS = 100 };

/* Each once: programs of a line may share a setting. */
__attribute__((format(printf, 3, 4))) static void add(ompp_doctor_said_t *said, bool remark, const char *format, ...)
{
    char *line = said->line[said->n].text;
    va_list args;

    if (said->n + 1 == sizeof said->line / sizeof said->line[0]) return;
    va_start(args, format);
    vsnprintf(line, sizeof said->line[0].text, format, args);
    va_end(args);
    said->line[said->n].remark = remark;
    for (size_t i = 0; i < said->n; i++)
        if (strcmp(said->line[i].text, line) == 0) return;
    said->n++;
}

/* ---- Evaluators -------------------------------------------------------------------------------------------------- */

/* OMPP_CTR1=NAME is not counted: ... */
bool ompp_doctor_is_refused(const ompp_started_t *measured, const char *variable, const char *name)
{
    char begin[300];

    snprintf(begin, sizeof begin, "%s=%s is not counted", variable, name);
    for (size_t i = 0; i < measured->nwarnings; i++)
        if (strncmp(measured->warnings[i], begin, strlen(begin)) == 0) return true;
    return false;
}

static size_t find_counters(const ompp_started_t *measured, ompp_counter_t *counters)
{
    char variable[32];
    size_t n = 0;

    for (unsigned k = 1; k <= OMPP_ENV_NUMBER_MAX && n < MAX_COUNTERS; k++) {
        snprintf(variable, sizeof variable, "OMPP_CTR%u", k);
        const char *name = ompp_env_foreign(variable);
        if (name && *name && !ompp_doctor_is_refused(measured, variable, name))
            counters[n++] = (ompp_counter_t){.name = name};
    }
    return n;
}

static void check_evaluators(const ompp_started_t *measured, ompp_doctor_said_t *said)
{
    ompp_counter_t counters[MAX_COUNTERS];
    const size_t n = find_counters(measured, counters);
    char variable[32], why[400];

    for (unsigned k = 1; k <= OMPP_ENV_NUMBER_MAX; k++) {
        snprintf(variable, sizeof variable, "OMPP_EVAL%u", k);
        const char *text = ompp_env_foreign(variable);
        if (text && *text && !ompp_eval_check(text, counters, n, why, sizeof why))
            add(said, false, "%s='%s': %s", variable, text, why);
    }
}

/* ---- Data structures --------------------------------------------------------------------------------------------- */

typedef struct {
    ompp_locate_module_t module[MAX_MODULES]; /* paths are owned */
    size_t n;
    bool hooks;
} modules_t;

static void add_module(const char *path, void *data)
{
    modules_t *modules = data;
    const char *name = ompp_path_last(path);

    if (strncmp(name, "libompp-memory.so", 17) == 0) modules->hooks = true;
    if (modules->n == MAX_MODULES || (modules->n > 0 && strncmp(name, "libompp", 7) == 0)) return;
    char *copy = strdup(path);
    if (copy) modules->module[modules->n++] = (ompp_locate_module_t){copy, 0};
}

static void locate(ompp_locate_run_t *run, const modules_t *modules, char *list, ompp_doctor_said_t *said)
{
    ompp_locate_t *answer = calloc(1, sizeof *answer);
    char why[760], *rest = list;

    for (char *name; answer && (name = ompp_locate_next(&rest));) {
        if (!*name) continue;
        *answer = (ompp_locate_t){.name = name};
        run(modules->module, modules->n, answer, 1, 20);
        ompp_locate_why(answer, modules->hooks, why, sizeof why);
        if (*why) add(said, answer->found == 1 && !answer->is_line, "OMPP_DATA: %s: %s", name, why);
        size_t used = strlen(said->no_data);
        if (!answer->found) snprintf(said->no_data + used, sizeof said->no_data - used, "%s%s,", used ? "" : ",", name);
    }
    free(answer);
}

static void check_names(const char *program, const char *lib, ompp_doctor_said_t *said)
{
    const char *names = ompp_env_foreign("OMPP_DATA"), *backend = ompp_env_foreign("OMPP_DATA_BACKEND");
    char path[PATH_MAX], *list = names && *names ? strdup(names) : NULL;
    static modules_t modules;

    if (!list) return;
    snprintf(path, sizeof path, "%s/libompp-names.so", lib);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ompp_locate_run_t *run = NULL;
    if (library) *(void **)&run = dlsym(library, OMPP_LOCATE_FUNCTION);
    modules = (modules_t){.n = 0};
    add_module(program, &modules);
    ompp_needed_files(program, add_module, &modules);
    if (run) locate(run, &modules, list, said);
    if (!modules.hooks && (!backend || !*backend || strcmp(backend, "auto") == 0))
        add(said, true,
            "OMPP_DATA: %s was not built with kinst-ompp --memory: at most page faults (first touches) are counted, "
            "no loads and stores",
            program);
    if (library) dlclose(library);
    for (size_t i = 0; i < modules.n; i++) free((char *)modules.module[i].path);
    free(list);
}

void ompp_doctor_settings(const char *program, const char *lib, const ompp_started_t *measured,
                          ompp_doctor_said_t *said)
{
    check_evaluators(measured, said);
    check_names(program, lib, said);
}
