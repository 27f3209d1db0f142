/**
 * \file
 * Address map: which data structure an address belongs to, in constant time and exact to the byte, for any number of
 * structures. Private to src/data.
 *
 * One entry per 512 bytes of the whole address space, a page here (reserved once, backed where it is used): an eighth
 * of the system's pages, so that few accesses to a small array are near its edges. A page that belongs to one structure
 * as a whole says so; an edge page leads to a table with an entry per 16 bytes; 16 bytes that several share lead to a
 * table with an entry per byte. A page also says which thread touched the system's page first, as far as hooks have
 * seen. What has no room in a page's entry, for it is one of very many structures or tables, stands in a second entry.
 *
 * Readers take no lock: an entry is published by one store after what it leads to is complete. Tables of a page stay
 * with it for ever, so that a reader never looks into another page's table.
 */
#ifndef OMPP_ADDRESS_MAP_H
#define OMPP_ADDRESS_MAP_H

#include "data/ompp_map_layout.h"

#include <stdbool.h>
#include <stdint.h>

#define OMPP_MAP_PAGE_BITS OMPP_INLINE_PAGE_BITS
#define OMPP_MAP_TOUCH_BITS 12 /* pages of the system: a thread that touches one is first in all of it */
#define OMPP_MAP_PAGES (1ull << (47 - OMPP_MAP_PAGE_BITS))
#define OMPP_MAP_GRAIN_BITS 4
#define OMPP_MAP_GRAINS (1u << (OMPP_MAP_PAGE_BITS - OMPP_MAP_GRAIN_BITS))
#define OMPP_MAP_BYTES (1u << OMPP_MAP_GRAIN_BITS)
#define OMPP_MAP_EDGES (1u << 26)         /* tables of pages */
#define OMPP_MAP_GRAINS_SHARED (1u << 26) /* tables of 16 bytes */
/* highest object that a page's entry has room for */
#define OMPP_MAP_NEAR OMPP_INLINE_NEAR
/* the number of no table: see the second entry */
#define OMPP_MAP_FAR OMPP_INLINE_FAR
#define OMPP_MAP_OWNERS (1u << (32 - OMPP_MAP_OWNER_SHIFT))
#define OMPP_MAP_OWNER_SHIFT 18
#define OMPP_MAP_LOW ((1u << OMPP_MAP_OWNER_SHIFT) - 1)
/* Numbers that are no thread's: of pages whose accesses are told of each by itself (hooks/ompp_feed_priv.h), and of
 * nobody, which no page has. */
#define OMPP_MAP_SAMPLED ((OMPP_MAP_OWNERS - 1) << OMPP_MAP_OWNER_SHIFT)
#define OMPP_MAP_NOBODY ((OMPP_MAP_OWNERS - 2) << OMPP_MAP_OWNER_SHIFT)
#define OMPP_MAP_LAST_OWNER (OMPP_MAP_OWNERS - 3)
#define OMPP_MAP_PAGE_LEADS ((uint32_t)OMPP_INLINE_LEADS)
#define OMPP_MAP_GRAIN_LEADS 0x80000000u

/**
 * Entries of pages: the high 14 bits are the first thread that touched it, 0 = none yet. The low 18 are its object,
 * times the size of an object's counts, which hooks need; or PAGE_LEADS and the number of its table; or PAGE_LEADS and
 * FAR. Second entries and those of tables: an object, or GRAIN_LEADS and the number of a table, of the page or of
 * bytes.
 */
extern uint32_t *ompp_map_page;
/* OMPP_MAP_PAGES - 1; 0 while there is no room for the map: one entry stands for all pages */
extern uint64_t ompp_map_mask;
extern uint32_t *ompp_map_far; /* second entries; there before a page's entry says so */
extern uint32_t (*ompp_map_edge)[OMPP_MAP_GRAINS];
extern uint32_t (*ompp_map_byte)[OMPP_MAP_BYTES];

/**
 * \brief Reserves the tables.
 * \return false: the system gives no addresses; then every address belongs to no structure.
 */
bool ompp_map_open(void);

/**
 * \brief The bytes begin <= address < end belong to object from now on; 0 = to none. Callers take turns.
 * \return false when there were not enough tables for the edges; those bytes keep what they were.
 */
bool ompp_map_put(uint32_t object, uintptr_t begin, uintptr_t end);

/**
 * \brief What is put into the page of an address is seen from release() on, all at once. Callers take turns, and put in
 *        between.
 * \return false: as of ompp_map_put().
 */
void ompp_map_hold(uintptr_t address);
bool ompp_map_release(void);

static inline uint32_t *ompp_map_entry(uintptr_t address)
{
    return &ompp_map_page[(address >> OMPP_MAP_PAGE_BITS) & ompp_map_mask];
}

/** \brief The object at an address of a page whose entry leads to a table. */
static inline uint32_t ompp_map_in_edge(uint32_t entry, uintptr_t address)
{
    uint32_t table = entry & OMPP_MAP_FAR;

    if (__builtin_expect(table == OMPP_MAP_FAR, 0)) {
        table = __atomic_load_n(&ompp_map_far[(address >> OMPP_MAP_PAGE_BITS) & ompp_map_mask], __ATOMIC_ACQUIRE);
        if (!(table & OMPP_MAP_GRAIN_LEADS)) return table;
    }
    uint32_t grain = __atomic_load_n(
        &ompp_map_edge[table & (OMPP_MAP_EDGES - 1)][(address >> OMPP_MAP_GRAIN_BITS) & (OMPP_MAP_GRAINS - 1)],
        __ATOMIC_ACQUIRE);

    if (__builtin_expect(!(grain & OMPP_MAP_GRAIN_LEADS), 1)) return grain;
    return __atomic_load_n(&ompp_map_byte[grain & (OMPP_MAP_GRAINS_SHARED - 1)][address & (OMPP_MAP_BYTES - 1)],
                           __ATOMIC_RELAXED);
}

/** \brief The same where it is found in one step; else more than OMPP_MAP_NEAR. */
static inline uint32_t ompp_map_grain(uint32_t entry, uintptr_t address)
{
    const uint32_t table = entry & OMPP_MAP_FAR;

    if (table == OMPP_MAP_FAR) return UINT32_MAX;
    return __atomic_load_n(&ompp_map_edge[table][(address >> OMPP_MAP_GRAIN_BITS) & (OMPP_MAP_GRAINS - 1)],
                           __ATOMIC_ACQUIRE);
}

/** \brief The object at an address whose page has this entry, 0 = none. */
static inline uint32_t ompp_map_in_page(uint32_t entry, uintptr_t address)
{
    return entry & OMPP_MAP_PAGE_LEADS ? ompp_map_in_edge(entry, address)
                                       : (entry & OMPP_MAP_LOW) >> OMPP_INLINE_COUNT_BITS;
}

/** \brief The object at an address, 0 = none. */
static inline uint32_t ompp_map_object(uintptr_t address)
{
    return ompp_map_in_page(__atomic_load_n(ompp_map_entry(address), __ATOMIC_ACQUIRE), address);
}

#endif
