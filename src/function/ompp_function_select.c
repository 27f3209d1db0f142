/*
 * OMPP_FUNCTIONS: patterns of shells for names of functions, separated by commas; '-' in front leaves out. The last
 * pattern that fits decides; when none does, the function is measured if the first pattern leaves something out.
 *
 * Names come from the symbol table of the module's file: static functions are not known to the dynamic linker.
 */
#define _GNU_SOURCE
#include "function/ompp_function_priv.h"

#include "base/ompp_env.h"
#include "model/ompp_profile.h"
#include "structure/ompp_elf.h"
#include "structure/ompp_name.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The symbols of a module; never freed. */
typedef struct symbols {
    struct symbols *next;
    uintptr_t base;
    bool readable;
    ompp_elf_t elf;
    char path[];
} symbols_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static symbols_t *modules;
static bool said;

static symbols_t *symbols_of(const struct link_map *map)
{
    const char *path = map->l_name && *map->l_name ? map->l_name : "/proc/self/exe";
    symbols_t *s = modules;

    while (s && (s->base != map->l_addr || strcmp(s->path, path) != 0)) s = s->next;
    if (s) return s;
    s = calloc(1, sizeof *s + strlen(path) + 1);
    if (!s) return NULL;
    strcpy(s->path, path);
    s->base = map->l_addr;
    s->readable = ompp_elf_open(&s->elf, path, NULL) == 0;
    s->next = modules;
    modules = s;
    return s;
}

/* Symbol that begins at the function's entry; NULL = not known. The caller holds the lock. */
static const char *symbol_of(const struct link_map *map, const void *code)
{
    symbols_t *s = map ? symbols_of(map) : NULL;
    const ompp_elf_symbol_t *symbol = s && s->readable ? ompp_elf_symbol(&s->elf, (uintptr_t)code - s->base) : NULL;

    return symbol ? symbol->name : NULL;
}

static bool fits(const char *pattern, size_t length, const char *symbol, const char *name)
{
    char text[512];

    if (length >= sizeof text) return false;
    memcpy(text, pattern, length);
    text[length] = '\0';
    return fnmatch(text, symbol, 0) == 0 || fnmatch(text, name, 0) == 0;
}

static bool decide(const char *patterns, const char *symbol, const char *name)
{
    bool selected = *patterns == '-';

    while (*patterns) {
        size_t length = strcspn(patterns, ",");
        bool out = *patterns == '-';
        if (length > out && fits(patterns + out, length - out, symbol, name)) selected = !out;
        patterns += length + (patterns[length] == ',');
    }
    return selected;
}

bool ompp_function_selected(const void *code)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (!*ompp_env.functions) return true;
    /* Before the lock: it asks the loader, which another thread may hold while it waits for us. */
    if (!dladdr1(code, &info, (void **)&map, RTLD_DL_LINKMAP)) map = NULL;
    pthread_mutex_lock(&lock);
    const char *symbol = symbol_of(map, code);
    char *name = symbol ? ompp_name_of_symbol(symbol, false) : NULL;
    bool selected = decide(ompp_env.functions, symbol ? symbol : "", name ? name : "");
    free(name);
    if (!selected && !said) {
        said = true;
        ompp_event_coverage(OMPP_COVERAGE_DISABLED, "functions that OMPP_FUNCTIONS leaves out", ompp_env.functions);
    }
    pthread_mutex_unlock(&lock);
    return selected;
}
