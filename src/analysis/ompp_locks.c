/*
 * Programs with a lock per cell or particle: the locks of one array, when there are many, become one region. Thousands
 * of regions with a few executions each say nothing, and hide the rest.
 */
#include "analysis/ompp_locks.h"

#include "base/ompp_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW 64 /* locks of one variable that are listed one by one */

/* A lock and what it belongs to: the variable it is an element of, or the heap. */
typedef struct {
    ompp_region_t *region;
    const char *name; /* of the region; "" = on the heap, or in memory without a name */
    size_t length;    /* of the variable's part of the name */
} lock_t;

/* "cells[3].lock", "tlock(17)" and "block+0x40" are elements of cells, tlock and block. */
static lock_t lock_of(const ompp_profile_t *profile, ompp_region_t *region)
{
    const char *name = ompp_profile_text(profile, region->name);

    return (lock_t){region, name, strcspn(name, "[(+")};
}

static int compare(const void *a, const void *b)
{
    const lock_t *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = x->region->module < y->region->module ? -1 : x->region->module > y->region->module;

    if (!order) order = memcmp(x->name, y->name, shorter);
    if (!order) order = x->length < y->length ? -1 : x->length > y->length;
    if (!order) order = x->region->begin < y->region->begin ? -1 : x->region->begin > y->region->begin;
    return order;
}

/* Members of a group become equal in all that tells regions apart. */
static void gather(ompp_profile_t *profile, const lock_t *locks, size_t n)
{
    char name[256];
    ompp_region_t first = *locks[0].region;

    for (size_t i = 1; i < n; i++) {
        if (locks[i].region->addr < first.addr) first.addr = locks[i].region->addr;
        if (locks[i].region->key < first.key) first.key = locks[i].region->key;
    }
    snprintf(name, sizeof name, "%.*s[*]", (int)(locks[0].length < 200 ? locks[0].length : 200), locks[0].name);
    ompp_str_t text = ompp_profile_string(profile, locks[0].length ? name : "[*]");
    for (size_t i = 0; i < n; i++) {
        locks[i].region->addr = first.addr;
        locks[i].region->key = first.key;
        locks[i].region->name = text;
    }
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_GATHERED,
                              locks[0].length ? name : "on the heap, or without a name", NULL, n);
    if (profile->ncoverage) profile->coverage[profile->ncoverage - 1].nranks = 0; /* said of the run, not by ranks */
}

int ompp_analysis_gather_locks(ompp_profile_t *profile)
{
    lock_t *locks = malloc((profile->nregions + 1) * sizeof *locks);
    size_t n = 0;

    if (!locks) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < profile->nregions; i++)
        if (ompp_constructs[profile->regions[i].construct].place == OMPP_PLACE_ADDRESS)
            locks[n++] = lock_of(profile, &profile->regions[i]);
    if (n > FEW) qsort(locks, n, sizeof *locks, compare);
    for (size_t i = 0, next; n > FEW && i < n; i = next) {
        for (next = i + 1; next < n && compare(&locks[i], &locks[next]) == 0;) next++;
        if (next - i > FEW) gather(profile, locks + i, next - i);
    }
    free(locks);
    return profile->failed ? -OMPP_E_NOMEM : 0;
}
