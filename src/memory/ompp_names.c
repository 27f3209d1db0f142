/*
 * Names to addresses through symbol tables. Called once, when the first thread comes.
 */
#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "data"
#include "memory/ompp_names_priv.h"

#include "base/ompp_log.h"
#include "model/ompp_profile.h"
#include "runtime/ompp_data.h"
#include "runtime/ompp_event.h"
#include "structure/ompp_elf.h"
#include "structure/ompp_name.h"

#include <ctype.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One search under way. */
typedef struct {
    const char *wanted;
    bool program;     /* in the program itself, else in its libraries */
    unsigned modules; /* seen */
    size_t found;
    uintptr_t address;
    size_t size;
    char listed[400]; /* what fits, for the message about several */
} search_t;

/* ---- Does a symbol fit? --------------------------------------------------------------------------------------------- */

static bool all_digits(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* gcc's "count.0" and clang's "function.count". */
static bool is_static_local(const char *symbol, const char *wanted)
{
    const char *dot = strrchr(symbol, '.');
    size_t n = strlen(wanted);

    if (!dot) return false;
    return all_digits(dot + 1) ? strncmp(symbol, wanted, n) == 0 && symbol + n == dot : strcmp(dot + 1, wanted) == 0;
}

/* gfortran's "block_" for the common block, in any case of letters. */
static bool is_common(const char *symbol, const char *wanted)
{
    size_t n = strlen(wanted);

    return strncasecmp(symbol, wanted, n) == 0 && strcmp(symbol + n, "_") == 0;
}

static bool is_scoped(const char *symbol, const char *wanted)
{
    bool fits = false;

    if (strncmp(symbol, "_Z", 2) != 0 && !strstr(symbol, "_MOD_")) return false;
    char *name = ompp_name_of_symbol(symbol, false), *last = name ? strrchr(name, ':') : NULL;
    if (name) fits = strcasecmp(name, wanted) == 0 || (last && strcasecmp(last + 1, wanted) == 0);
    free(name);
    return fits;
}

static bool fits(const char *symbol, const char *wanted)
{
    return strcmp(symbol, wanted) == 0 || is_static_local(symbol, wanted) || is_common(symbol, wanted) || is_scoped(symbol, wanted);
}

/* ---- Where are symbols? --------------------------------------------------------------------------------------------- */

static void take(search_t *s, const ompp_elf_symbol_t *symbol, uintptr_t bias)
{
    size_t used = strlen(s->listed);
    uintptr_t address = bias + symbol->low;

    if (s->found && address == s->address) return; /* another name of the same variable */
    s->found++;
    s->address = address;
    s->size = symbol->high - symbol->low;
    snprintf(s->listed + used, sizeof s->listed - used, "%s%s (%zu bytes at 0x%zx)", used ? ", " : "", symbol->name, s->size, s->address);
}

/* An exact name is the one, whatever else fits. */
static void search_file(search_t *s, const char *path, uintptr_t bias)
{
    ompp_elf_t elf;

    if (ompp_elf_open(&elf, path) != 0) return;
    const ompp_elf_symbols_t *symbols = ompp_elf_objects(&elf);
    for (size_t i = 0; symbols && i < symbols->n && !s->found; i++)
        if (strcmp(symbols->items[i].name, s->wanted) == 0) take(s, &symbols->items[i], bias);
    bool exact = s->found > 0;
    for (size_t i = 0; symbols && i < symbols->n && !exact; i++)
        if (fits(symbols->items[i].name, s->wanted)) take(s, &symbols->items[i], bias);
    ompp_elf_close(&elf);
}

static int search_module(struct dl_phdr_info *info, size_t size, void *search)
{
    search_t *s = search;
    bool first = s->modules++ == 0;

    (void)size;
    if (first == s->program) search_file(s, first ? "/proc/self/exe" : info->dlpi_name, info->dlpi_addr);
    return 0;
}

static void give_up(const char *name, const char *why)
{
    char subject[300];

    ompp_warn_common("OMPP_DATA: %s: %s", name, why);
    snprintf(subject, sizeof subject, "OMPP_DATA: %s", name);
    ompp_event_coverage(OMPP_COVERAGE_NOTE, subject, why);
}

static void find(const char *name)
{
    search_t s = {.wanted = name, .program = true};
    char why[480];

    dl_iterate_phdr(search_module, &s);
    s.program = false;
    s.modules = 0;
    if (!s.found) dl_iterate_phdr(search_module, &s);
    if (s.found > 1) snprintf(why, sizeof why, "there are %zu: %s; give one by its symbol", s.found, s.listed);
    if (s.found == 0) snprintf(why, sizeof why, "no variable of this name and a fixed address");
    if (s.found != 1)
        give_up(name, why);
    else
        ompp_data_add((const void *)s.address, s.size, name, "OMPP_DATA");
}

void ompp_names_register(const char *names)
{
    char *copy = strdup(names), *rest = copy;

    for (char *name; copy && (name = strsep(&rest, ","));) {
        while (isspace((unsigned char)*name)) name++;
        for (size_t n = strlen(name); n && isspace((unsigned char)name[n - 1]);) name[--n] = '\0';
        if (*name) find(name);
    }
    free(copy);
}
