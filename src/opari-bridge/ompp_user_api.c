/**
 * \file
 * The functions of include/ompp.h. Regions are found by the text of their name in a table without locks.
 */
#include "ompp.h"

#include "opari-bridge/ompp_user_api_priv.h"

#include "runtime/ompp_event.h"
#include "runtime/ompp_lifecycle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OMPP_EXPORT __attribute__((visibility("default")))

/* Names beyond these are looked up at the runtime, with its lock. */
enum { NAMES = 1024 };

typedef struct {
    uint64_t hash;
    ompp_region_ref_t ref;
    char name[];
} ompp_named_t;

static ompp_named_t *named[NAMES]; /* open addressing; entries are published by compare-and-swap and never removed */

static uint64_t hash_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash;
}

static ompp_region_ref_t define(const char *name, const void *code)
{
    const ompp_region_def_t def = {.construct = OMPP_CONSTRUCT_USER_REGION, .name = name, .code = code};
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

/* The region of a name; code = where it begins, NULL = only look. Regions refused now (measurement off) are asked for again. */
static ompp_region_ref_t find(const char *name, const void *code)
{
    uint64_t hash = hash_of(name);
    ompp_region_ref_t ref;
    ompp_named_t *entry;

    for (unsigned i = 0; i < NAMES; i++) {
        ompp_named_t **slot = &named[(hash + i) % NAMES];
        entry = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (entry && entry->hash == hash && strcmp(entry->name, name) == 0) return entry->ref;
        if (entry) continue;
        ref = code ? define(name, code) : 0;
        if (ref == 0) return 0;
        ompp_named_t *fresh = new_name(name, hash, ref);
        if (!fresh || __atomic_compare_exchange_n(slot, &entry, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return ref;
        free(fresh); /* another thread took the slot, perhaps for this name */
        i--;
    }
    return define(name, NULL); /* the table is full: the name alone is the key, for begin and end alike */
}

void ompp_named_begin(const char *name, const void *code)
{
    ompp_event_enter(find(name, code), ompp_event_now());
}

void ompp_named_end(const char *name, const void *code)
{
    ompp_time_t t = ompp_event_now();
    ompp_region_ref_t ref = find(name, NULL);

    ompp_region_ends_at(ref, code);
    ompp_event_exit(ref, t);
}

OMPP_EXPORT void ompp_region_begin(const char *name)
{
    if (name) ompp_named_begin(name, __builtin_return_address(0));
}

OMPP_EXPORT void ompp_region_end(const char *name)
{
    if (name) ompp_named_end(name, __builtin_return_address(0));
}

OMPP_EXPORT void POMP_Init(void)
{
    int saved = errno;

    ompp_runtime_start();
    errno = saved;
}

OMPP_EXPORT void POMP_On(void)
{
    ompp_event_switch(true, "POMP_On");
}

OMPP_EXPORT void POMP_Off(void)
{
    ompp_event_switch(false, "POMP_Off");
}

OMPP_EXPORT void OMPP_Dump(void)
{
    int saved = errno;

    ompp_runtime_dump(false, "OMPP_Dump");
    errno = saved;
}
