/**
 * \file
 * The functions of include/ompp.h. Regions are found by the text of their name in a table without locks.
 */
#define OMPP_IMPLEMENTATION
#include "ompp.h"

#include "opari-bridge/ompp_user_api_priv.h"

#include "base/ompp_hash.h"
#include "data/ompp_data.h"
#include "model/ompp_profile.h"
#include "process/ompp_lifecycle.h"
#include "runtime/ompp_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OMPP_EXPORT __attribute__((visibility("default")))

enum { ROOTS = 1024, BITS = 2 };

/* Where a region begins: a return address, or a line. */
typedef struct {
    const void *code;
    const char *file;
    unsigned line;
} place_t;

/* A tree that branches by the bits of the hash: programs with many names find each of them in a few steps. */
typedef struct ompp_named {
    struct ompp_named *below[1 << BITS];
    uint64_t hash;
    ompp_region_ref_t ref;
    char name[];
} ompp_named_t;

static ompp_named_t *named[ROOTS]; /* entries are put where there is none by compare-and-swap and never removed */

static ompp_region_ref_t define(const char *name, const place_t *place)
{
    const ompp_region_def_t def = {.construct = OMPP_CONSTRUCT_USER_REGION,
                                   .name = name,
                                   .code = place->code,
                                   .file = place->file,
                                   .begin = place->line,
                                   .end = place->line};
    int saved = errno;
    ompp_region_ref_t ref = ompp_runtime_start() ? ompp_region_define(&def) : 0;

    errno = saved;
    return ref;
}

static ompp_named_t *new_name(const char *name, uint64_t hash, ompp_region_ref_t ref)
{
    size_t length = strlen(name) + 1;
    int saved = errno;
    ompp_named_t *entry = malloc(sizeof *entry + length);

    if (entry) {
        *entry = (ompp_named_t){.hash = hash, .ref = ref};
        memcpy(entry->name, name, length);
    }
    errno = saved;
    return entry;
}

/* Where the entry of a name is, or belongs. \return the entry, or NULL. */
static ompp_named_t *look(ompp_named_t ***where, uint64_t *bits, const char *name, uint64_t hash)
{
    for (;; *bits >>= BITS) {
        ompp_named_t *entry = __atomic_load_n(*where, __ATOMIC_ACQUIRE);
        if (!entry || (entry->hash == hash && strcmp(entry->name, name) == 0)) return entry;
        *where = &entry->below[*bits % (1 << BITS)];
    }
}

/* Makes the region at its first place, and an entry for it unless another thread was faster. */
static ompp_region_ref_t add(ompp_named_t **where, uint64_t bits, const char *name, uint64_t hash, const place_t *place)
{
    ompp_region_ref_t ref = define(name, place);
    ompp_named_t *fresh = ompp_region_is_kept(ref) ? new_name(name, hash, ref) : NULL, *found, *none;

    while (fresh) {
        none = NULL;
        if (__atomic_compare_exchange_n(where, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) break;
        found = look(&where, &bits, name, hash);
        if (!found) continue;
        free(fresh);
        return found->ref;
    }
    return ref;
}

/* The region of a name; place NULL: only look. One refused now (the profile is full) is asked for again. */
static ompp_region_ref_t find(const char *name, const place_t *place)
{
    uint64_t hash = ompp_hash_text(OMPP_HASH_START, name), bits = hash;
    ompp_named_t **where = &named[(hash ^ hash >> 32) % ROOTS];
    const ompp_named_t *entry = look(&where, &bits, name, hash);

    if (entry) return entry->ref;
    return place ? add(where, bits, name, hash, place) : 0;
}

void ompp_named_begin(const char *name, const void *code)
{
    const place_t place = {.code = code};
    ompp_region_ref_t ref = find(name, &place); /* first: it may start the measurement, and with it the clock */

    ompp_event_enter(ref, ompp_event_now());
}

/* An end whose name was never begun is counted here: there is no region that could say so. */
static void unknown_end(const char *name)
{
    int saved = errno;

    if (ompp_region_wanted(OMPP_CONSTRUCT_USER_REGION))
        ompp_event_coverage(OMPP_COVERAGE_MISMATCH, "ends of regions that were not open", name);
    errno = saved;
}

void ompp_named_end(const char *name, const void *code)
{
    ompp_time_t t = ompp_event_now();
    ompp_region_ref_t ref = find(name, NULL);

    if (!ref && ompp_region_some_lost()) ref = OMPP_REGION_LOST;
    if (!ref) unknown_end(name);
    ompp_region_ends_at(ref, code);
    ompp_event_exit(ref, t);
}

OMPP_EXPORT void ompp_region_begin(const char *name)
{
    if (name) ompp_named_begin(name, __builtin_return_address(0));
}

OMPP_EXPORT void ompp_region_begin_at(const char *name, const char *file, unsigned line)
{
    const place_t place = {.file = file, .line = line};
    ompp_region_ref_t ref = name ? find(name, &place) : 0;

    if (name) ompp_event_enter(ref, ompp_event_now());
}

OMPP_EXPORT void ompp_region_end(const char *name)
{
    if (name) ompp_named_end(name, __builtin_return_address(0));
}

/* ---- ompP's descriptors ------------------------------------------------------------------------------------------ */

static ompp_region_ref_t described(struct ompregdescr *region)
{
    uintptr_t ref = (uintptr_t)__atomic_load_n(&region->data, __ATOMIC_RELAXED);
    const ompp_region_def_t def = {.construct = OMPP_CONSTRUCT_USER_REGION,
                                   .name = region->sub_name,
                                   .file = region->file_name,
                                   .begin = (uint32_t)region->begin_first_line,
                                   .end = (uint32_t)region->end_last_line};
    int saved = errno;

    if (ref) return (ompp_region_ref_t)ref;
    ref = ompp_runtime_start() ? ompp_region_define(&def) : 0;
    __atomic_store_n(&region->data, (void *)ref, __ATOMIC_RELAXED); /* threads that come at once store the same */
    errno = saved;
    return (ompp_region_ref_t)ref;
}

OMPP_EXPORT void POMP_Begin(struct ompregdescr *region)
{
    ompp_region_ref_t ref = region ? described(region) : 0;

    if (region) ompp_event_enter(ref, ompp_event_now());
}

OMPP_EXPORT void POMP_End(struct ompregdescr *region)
{
    if (region) ompp_event_exit(described(region), ompp_event_now());
}

/* ---- Switches ---------------------------------------------------------------------------------------------------- */

OMPP_EXPORT void POMP_Init(void)
{
    int saved = errno;

    ompp_runtime_start();
    errno = saved;
}

OMPP_EXPORT void POMP_Finalize(void) { ompp_event_switch(false, "POMP_Finalize"); }

OMPP_EXPORT void POMP_On(void) { ompp_event_switch(true, "POMP_On"); }

OMPP_EXPORT void POMP_Off(void) { ompp_event_switch(false, "POMP_Off"); }

OMPP_EXPORT void OMPP_Dump(void)
{
    int saved = errno;

    ompp_runtime_dump(false, "OMPP_Dump");
    errno = saved;
}

OMPP_EXPORT void ompp_papi_set_drange(void *address, size_t size, const char *name)
{
    ompp_data_add(address, size, name, "ompp_papi_set_drange");
}

OMPP_EXPORT void OMPP_papi_set_drange(void *address, size_t size, const char *name)
{
    ompp_data_add(address, size, name, "OMPP_papi_set_drange");
}

OMPP_EXPORT void ompp_release_drange(void *address) { ompp_data_release(address); }

/* What kinst-ompp makes of #pragma omp inst data; declared in include/opari2/pomp2_lib.h. */
OMPP_EXPORT void ompp_pragma_data(void *address, size_t size, const char *name);
OMPP_EXPORT void ompp_pragma_data(void *address, size_t size, const char *name)
{
    ompp_data_add(address, size, name, "pragma inst data");
}
