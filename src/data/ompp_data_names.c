/*
 * OMPP_DATA: structures named by the user, found by the names of variables. Debug information is read by
 * libompp-names.so, which is opened only for this and closed again: the process itself needs no libdwarf, and a program
 * whose user names nothing pays nothing. Libraries that come later are searched for the names that are still missing.
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "data"
#include "data/ompp_data_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_float.h"
#include "base/ompp_log.h"
#include "base/ompp_vector.h"
#include "image/ompp_program.h"
#include "model/ompp_located.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_event.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL "all" /* the word of OMPP_DATA for all data; a variable of this name is ::all */

typedef enum { MISSING, FOUND, SEVERAL } state_t;

typedef struct {
    char *text;
    state_t state;
    bool said;         /* what there is to say about it */
    bool once;         /* found, perhaps in a library that is closed again */
    bool is_line;      /* "solve.c:42": blocks that are allocated there */
    uintptr_t address; /* when found */
    uint64_t size;     /* bytes */
    uintptr_t module;  /* the bias of its module */
    char why[400];     /* of one that is missing */
} name_t;

typedef struct {
    size_t n, allocated;
    ompp_locate_module_t *items; /* paths are owned */
} modules_t;

/* Guards what follows. Not waited for: who holds it may be opening libraries, which may ask again, on this very
 * thread. */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static name_t *names;
static size_t nnames;
static bool split, refused;
static unsigned long long adds, subs; /* of modules, when last looked at */
static modules_t seen;

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static void split_names(void)
{
    char *rest = strdup(ompp_env.data);

    split = true;
    names = rest ? calloc(strlen(rest) / 2 + 1, sizeof *names) : NULL;
    for (char *name; names && (name = ompp_locate_next(&rest));)
        if (*name && strcmp(name, ALL) != 0) names[nnames++].text = name;
}

bool ompp_data_wants_all(void)
{
    const size_t n = sizeof ALL - 1;

    if (!*ompp_env.data) return !*ompp_env.data_addr;
    for (const char *at = ompp_env.data; (at = strstr(at, ALL)); at += n)
        if ((at == ompp_env.data || strchr(", ", at[-1])) && strchr(", ", at[n])) return true;
    return false;
}

static size_t missing(void)
{
    size_t n = 0;

    for (size_t i = 0; i < nnames; i++) n += names[i].state == MISSING;
    return n;
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

static bool is_seen(const modules_t *modules, const char *path, uintptr_t bias)
{
    for (size_t i = 0; i < modules->n; i++)
        if (modules->items[i].bias == bias && strcmp(modules->items[i].path, path) == 0) return true;
    return false;
}

static void add_module(modules_t *modules, const char *path, uintptr_t bias)
{
    char *copy = strdup(path);
    ompp_locate_module_t *module =
        copy ? ompp_vector_push(&modules->items, &modules->n, &modules->allocated, sizeof *module) : NULL;

    if (module) *module = (ompp_locate_module_t){copy, bias};
    else free(copy);
}

static void free_modules(modules_t *modules)
{
    for (size_t i = 0; i < modules->n; i++) free((char *)modules->items[i].path);
    free(modules->items);
    *modules = (modules_t){0};
}

static bool is_ours(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && strncmp(slash, "/libompp", 8) == 0;
}

/* The program comes first, without a name. */
static int note_module(struct dl_phdr_info *info, size_t size, void *data)
{
    modules_t *modules = data;
    const char *path = modules->n == 0 ? ompp_program_path() : info->dlpi_name;

    (void)size;
    adds = info->dlpi_adds;
    subs = info->dlpi_subs;
    if (path && ((*path == '/' && !is_ours(path)) || modules->n == 0)) add_module(modules, path, info->dlpi_addr);
    return 0;
}

static int note_changes(struct dl_phdr_info *info, size_t size, void *data)
{
    unsigned long long *now = data;

    (void)size;
    now[0] = info->dlpi_adds;
    now[1] = info->dlpi_subs;
    return 1;
}

static bool modules_changed(void)
{
    unsigned long long now[2] = {0, 0};

    dl_iterate_phdr(note_changes, now);
    return now[0] != adds || now[1] != subs;
}

/* What was in a library that is closed is gone. */
static void forget_closed(const modules_t *now)
{
    for (size_t i = 0; i < nnames; i++) {
        bool there = names[i].state != FOUND;
        for (size_t k = 0; k < now->n && !there; k++) there = now->items[k].bias == names[i].module;
        if (there) continue;
        if (names[i].is_line) ompp_data_site_forget(names[i].text, names[i].module);
        else ompp_data_release((const void *)names[i].address);
        names[i].state = MISSING;
    }
}

/* ---- Looking up -------------------------------------------------------------------------------------------------- */

static void say(name_t *name, const char *why, bool final)
{
    char subject[300];

    if (!name->said) ompp_warn_common("OMPP_DATA: %s: %s", name->text, why);
    name->said = true;
    if (why != name->why) snprintf(name->why, sizeof name->why, "%s", why);
    if (!final) return;
    snprintf(subject, sizeof subject, "OMPP_DATA: %s", name->text);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, subject, why);
}

/* Another name that means the same bytes, and was written before it. */
static const name_t *twin_of(const name_t *name)
{
    for (const name_t *other = names; other < name; other++)
        if (other->state == FOUND && other->address == name->address && other->size == name->size) return other;
    return NULL;
}

/* remark: what the user is told of it, or "". */
static void take_found(name_t *name, const ompp_locate_t *answer, const char *remark, const modules_t *modules)
{
    char why[320];

    name->state = FOUND;
    name->once = true;
    name->address = answer->address;
    name->size = answer->size;
    name->module = modules->items[answer->module].bias;
    const name_t *twin = twin_of(name);
    if (twin) {
        snprintf(why, sizeof why, "the same as %s, which is counted", twin->text);
        if (strcmp(twin->text, name->text) != 0) say(name, why, true);
        return;
    }
    ompp_data_add((const void *)answer->address, answer->size, name->text, "OMPP_DATA");
    if (*remark) say(name, remark, true);
}

/* Blocks of a line: of all modules that have code of it. */
static void take_line(name_t *name, const ompp_locate_t *answer, const modules_t *modules)
{
    char why[760];
    const bool hooks = ompp_data_has("hooks");

    ompp_locate_why(answer, hooks, why, sizeof why);
    name->is_line = true;
    if (!hooks) {
        name->state = SEVERAL;
        say(name, why, true);
    } else if (answer->found > 0) {
        name->state = FOUND;
        name->once = true;
        for (size_t i = 0; i < answer->found; i++) {
            name->module = modules->items[answer->code[i].module].bias;
            ompp_data_site_add(name->text, name->module, answer->code[i].begin, answer->code[i].end,
                               answer->code[i].other);
        }
    } else if (!name->once && (!*name->why || *answer->text)) {
        say(name, why, false);
    }
}

static void take_answer(name_t *name, const ompp_locate_t *answer, const modules_t *modules)
{
    char why[760];

    ompp_locate_why(answer, ompp_data_has("hooks"), why, sizeof why);
    if (answer->is_line) {
        take_line(name, answer, modules);
    } else if (answer->found > 1) {
        name->state = SEVERAL;
        say(name, why, true);
    } else if (answer->found == 1 && answer->size > 0) {
        take_found(name, answer, why, modules);
    } else if (!name->once && (!*name->why || *answer->text)) { /* a later library knows less about it */
        say(name, why, false);
    }
}

static void ask(ompp_locate_run_t *locate, const modules_t *modules)
{
    size_t n = missing(), k = 0;
    ompp_locate_t *answers = calloc(n, sizeof *answers);

    if (!answers) return;
    for (size_t i = 0; i < nnames; i++)
        if (names[i].state == MISSING) answers[k++].name = names[i].text;
    locate(modules->items, modules->n, answers, n, ompp_env.resolve_seconds);
    k = 0;
    for (size_t i = 0; i < nnames; i++)
        if (names[i].state == MISSING) take_answer(&names[i], &answers[k++], modules);
    free(answers);
}

static ompp_locate_run_t *open_library(void **library)
{
    static char path[4200]; /* who is here is alone */

    ompp_library_path(path, sizeof path, "libompp-names.so");
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *library ? (ompp_locate_run_t *)dlsym(*library, OMPP_LOCATE_FUNCTION) : NULL;
}

static void look_up(const modules_t *modules)
{
    void *library;
    ompp_locate_run_t *locate = open_library(&library);

    if (locate) {
        ask(locate, modules);
    } else {
        const char *why = dlerror();
        refused = true;
        ompp_warn_common("OMPP_DATA: no names of variables: %s", why ? why : "unknown error");
        ompp_event_coverage(OMPP_COVERAGE_REFUSED, "OMPP_DATA", "libompp-names.so cannot be opened");
    }
    if (library) dlclose(library);
}

/* Only what was not there before is searched, but the program's own module comes first whatever is asked. */
static void resolve(void)
{
    modules_t now = {0}, fresh = {0};

    if (!split) split_names();
    if (!modules_changed()) return;
    dl_iterate_phdr(note_module, &now);
    forget_closed(&now);
    for (size_t i = 0; i < now.n; i++)
        if (!is_seen(&seen, now.items[i].path, now.items[i].bias))
            add_module(&fresh, now.items[i].path, now.items[i].bias);
    if (fresh.n > 0 && missing() > 0) look_up(&fresh);
    free_modules(&fresh);
    free_modules(&seen);
    seen = now;
}

void ompp_data_resolve(void)
{
    if (refused || !ompp_data_has_backend() || !ompp_runtime_start() || !*ompp_env.data) return;
    ompp_float_t program;

    if (atomic_flag_test_and_set(&busy)) return;
    const int saved_errno = errno;
    ompp_float_begin(&program);
    resolve(); /* it may take seconds: the program's signals come meanwhile */
    ompp_float_end(&program);
    errno = saved_errno;
    atomic_flag_clear(&busy);
}

/* A line where nothing was allocated: perhaps the one beside it was meant. */
static void say_unused(name_t *name)
{
    static ompp_locate_t answer; /* it is large */
    char why[400];
    void *library = NULL;

    answer = (ompp_locate_t){.name = name->text, .line_of = ompp_data_site_nearest(name->text)};
    ompp_locate_run_t *locate = answer.line_of ? open_library(&library) : NULL;
    if (locate) locate(seen.items, seen.n, &answer, 1, ompp_env.resolve_seconds);
    if (library) dlclose(library);
    snprintf(why, sizeof why,
             "neither this line nor what it calls has allocated a block (blocks of other named lines left out)%s%.200s",
             *answer.text ? "; the nearest line that calls for one is " : "", answer.text);
    say(name, why, true);
}

static void note_missing(void)
{
    if (!*ompp_env.data || atomic_flag_test_and_set(&busy)) return;
    for (size_t i = 0; i < nnames; i++)
        if (names[i].is_line && names[i].once && !ompp_data_site_was_used(names[i].text)) say_unused(&names[i]);
    for (size_t i = 0; i < nnames; i++)
        if (names[i].state == MISSING && !names[i].once) say(&names[i], names[i].why, true);
    atomic_flag_clear(&busy);
}

void ompp_data_finish(void)
{
    ompp_components_quiesce();
    note_missing();
    ompp_data_note_covered();
    ompp_data_note_uncounted();
}
