/*
 * Blocks of the heap that are named by the line which allocates them. The code of the lines stands in one small table,
 * which is replaced as a whole when it changes, so that allocating threads read it without a lock.
 */
#define _GNU_SOURCE
#include "data/ompp_data_priv.h"

#include "base/ompp_caller.h"
#include "runtime/ompp_component.h"
#include "runtime/ompp_thread.h"

#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 48         /* calls that are looked at */
#define FAR (64ul << 10) /* bytes from a line's code: who allocates there was not meant */

/* Whether there were blocks of this name; made with its first line, for no memory can be had inside an allocation. */
typedef struct used {
    const char *name;
    _Atomic bool was;
    _Atomic uintptr_t nearest, distance; /* a call that led to other blocks; bytes from the name's code */
    struct used *next;
} used_t;

typedef struct {
    uintptr_t begin, end, module;
    used_t *used;
    bool other; /* of another line of the statement than the one that is named */
} site_t;

typedef struct {
    size_t n;
    site_t sites[];
} table_t;

static _Atomic(table_t *) table;
static _Atomic(used_t *) names;
static __thread bool walking; /* what the unwinder allocates is its own */

bool ompp_data_has_sites(void) { return atomic_load_explicit(&table, memory_order_relaxed) != NULL; }

/* ---- The table: one caller at a time ----------------------------------------------------------------------------- */

/* Without those of name in module; a former table may still be read, and is left. */
static table_t *copy_without(const char *name, uintptr_t module, size_t more)
{
    const table_t *old = atomic_load(&table);
    const size_t n = old ? old->n : 0;
    table_t *copy = calloc(1, sizeof *copy + (n + more) * sizeof copy->sites[0]);

    for (size_t i = 0; copy && i < n; i++)
        if (!name || strcmp(old->sites[i].used->name, name) != 0 || old->sites[i].module != module)
            copy->sites[copy->n++] = old->sites[i];
    return copy;
}

static used_t *used_of(const char *name)
{
    used_t *u = atomic_load(&names);

    while (u && strcmp(u->name, name) != 0) u = u->next;
    return u;
}

static used_t *add_name(const char *name)
{
    used_t *u = used_of(name);

    if (u || !(u = calloc(1, sizeof *u))) return u;
    u->name = name;
    u->distance = FAR;
    u->next = atomic_load(&names);
    atomic_store(&names, u);
    return u;
}

void ompp_data_site_add(const char *name, uintptr_t module, uintptr_t begin, uintptr_t end, bool other)
{
    used_t *used = add_name(name);
    table_t *bigger = used ? copy_without(NULL, 0, 1) : NULL;
    void *first[1];

    if (!bigger) return;
    if (!ompp_data_has_sites()) backtrace(first, 1); /* loads what it needs, now and not inside an allocation */
    bigger->sites[bigger->n++] = (site_t){begin, end, module, used, other};
    atomic_store_explicit(&table, bigger, memory_order_release);
}

void ompp_data_site_forget(const char *name, uintptr_t module)
{
    table_t *smaller = copy_without(name, module, 0);

    if (smaller) atomic_store_explicit(&table, smaller, memory_order_release);
}

bool ompp_data_site_was_used(const char *name)
{
    const used_t *u = used_of(name);

    return u && atomic_load(&u->was);
}

uintptr_t ompp_data_site_nearest(const char *name)
{
    const used_t *u = used_of(name);

    return u ? atomic_load(&u->nearest) : 0;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* Is it the one that is meant? Of ranges inside each other (a line of a header inlined into one of the source) the
 * smallest is. */
static bool fits_better(const site_t *site, const site_t *best)
{
    if (!best || site->other != best->other) return !best || best->other;
    return site->end - site->begin < best->end - best->begin;
}

static used_t *name_at(const table_t *t, const void *returns)
{
    const uintptr_t call = (uintptr_t)returns - 1;
    const site_t *best = NULL;

    for (size_t i = 0; i < t->n; i++) {
        const site_t *site = &t->sites[i];
        if (site->begin <= call && call < site->end && fits_better(site, best)) best = site;
    }
    return best ? best->used : NULL;
}

/* A call that is on the way to a block without a name: which lines may have been meant. */
static void note_near(const table_t *t, const void *returns)
{
    const uintptr_t call = (uintptr_t)returns - 1;

    for (size_t i = 0; i < t->n; i++) {
        const site_t *site = &t->sites[i];
        const uintptr_t distance = call < site->begin ? site->begin - call : call - site->end;
        if (distance >= atomic_load_explicit(&site->used->distance, memory_order_relaxed)) continue;
        atomic_store_explicit(&site->used->distance, distance, memory_order_relaxed);
        atomic_store_explicit(&site->used->nearest, call, memory_order_relaxed);
    }
}

static used_t *name_on_path(const table_t *t, const void *code)
{
    used_t *name = name_at(t, code);
    void *frames[DEPTH];
    int n, i = 0;

    if (name || walking) return name;
    const ompp_stay_t stay = ompp_stay_if_handled();
    walking = true;
    n = backtrace(frames, DEPTH);
    walking = false;
    ompp_stay_end(stay);
    while (i < n && frames[i] != code) i++; /* below are our own */
    for (int k = i + 1; k < n && !name; k++) name = name_at(t, frames[k]);
    for (int k = i; k < n && !name; k++) note_near(t, frames[k]);
    return name;
}

void ompp_data_allocated(const void *block, size_t size, const void *code, bool kept)
{
    const table_t *t = atomic_load_explicit(&table, memory_order_acquire);
    int saved = errno;

    if (!t || !block || size == 0 || walking || atomic_load(&ompp_process.state) != OMPP_STATE_RUNNING) return;
    used_t *name = name_on_path(t, code);
    /* What is there has another name now, or somebody has given it back whom nobody hears. */
    if ((name || !kept) && ompp_data_overlaps(block, size)) ompp_data_forget(block, size, NULL, 0);
    if (name) {
        ompp_data_add(block, size, name->name, "OMPP_DATA");
        atomic_store_explicit(&name->was, true, memory_order_relaxed);
    }
    errno = saved;
}

void ompp_data_got(const void *block, size_t size, const void *code, void *const *word)
{
    if (ompp_data_has_sites()) ompp_data_allocated(block, size, code, false);
    ompp_component_got(block, size, code, word);
}

void ompp_data_gone(const void *block, size_t size)
{
    if (ompp_data_has_sites() && ompp_data_overlaps(block, size)) ompp_data_forget(block, size, NULL, 0);
    ompp_component_gone(block, size);
}
