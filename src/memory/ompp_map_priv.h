/**
 * \file
 * Address map: which data structure an address belongs to, in constant time and exact to the byte, for any number of structures.
 * Private to src/memory.
 *
 * One entry per 4 KiB page of the whole address space (reserved once, backed where it is used). A page that belongs to one
 * structure as a whole says so; an edge page leads to a table with an entry per 16 bytes; 16 bytes that several share lead to
 * a table with an entry per byte. A page also says which thread touched it first, as far as hooks have seen.
 *
 * Readers take no lock: an entry is published by one store after what it leads to is complete. Tables of a page stay with it for
 * ever, so that a reader never looks into another page's table.
 */
#ifndef OMPP_MAP_PRIV_H
#define OMPP_MAP_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#define OMPP_MAP_PAGE_BITS 12
#define OMPP_MAP_PAGES (1ull << (47 - OMPP_MAP_PAGE_BITS))
#define OMPP_MAP_GRAIN_BITS 4
#define OMPP_MAP_GRAINS (1u << (OMPP_MAP_PAGE_BITS - OMPP_MAP_GRAIN_BITS))
#define OMPP_MAP_BYTES (1u << OMPP_MAP_GRAIN_BITS)
#define OMPP_MAP_LEADS 0x8000u /* the low 15 bits are the number of a table, not an object */
#define OMPP_MAP_TABLES 0x8000u
#define OMPP_MAP_OWNER_SHIFT 16

/** Entries of pages: low 16 bits object or table; high 16 bits the first thread that touched it, 0 = none yet. */
extern uint32_t *ompp_map_page;
extern uint64_t ompp_map_mask; /* OMPP_MAP_PAGES - 1; 0 while there is no room for the map: one entry stands for all pages */
extern uint16_t (*ompp_map_edge)[OMPP_MAP_GRAINS];
extern uint16_t (*ompp_map_byte)[OMPP_MAP_BYTES];

/** \brief Reserves the tables. \return false: the system gives no addresses; then every address belongs to no structure. */
bool ompp_map_open(void);

/**
 * \brief The bytes begin <= address < end belong to object from now on; 0 = to none. Callers take turns.
 * \return false when there were not enough tables for the edges; those bytes keep what they were.
 */
bool ompp_map_put(uint32_t object, uintptr_t begin, uintptr_t end);

static inline uint32_t *ompp_map_entry(uintptr_t address)
{
    return &ompp_map_page[(address >> OMPP_MAP_PAGE_BITS) & ompp_map_mask];
}

/** \brief The object at an address of a page whose entry leads to a table. */
static inline uint32_t ompp_map_in_edge(uint32_t entry, uintptr_t address)
{
    uint32_t grain = __atomic_load_n(
        &ompp_map_edge[entry & (OMPP_MAP_LEADS - 1)][(address >> OMPP_MAP_GRAIN_BITS) & (OMPP_MAP_GRAINS - 1)], __ATOMIC_RELAXED);

    if (__builtin_expect(!(grain & OMPP_MAP_LEADS), 1)) return grain;
    return __atomic_load_n(&ompp_map_byte[grain & (OMPP_MAP_LEADS - 1)][address & (OMPP_MAP_BYTES - 1)], __ATOMIC_RELAXED);
}

/** \brief The object at an address, 0 = none. */
static inline uint32_t ompp_map_object(uintptr_t address)
{
    uint32_t entry = __atomic_load_n(ompp_map_entry(address), __ATOMIC_ACQUIRE) & 0xffffu;

    return entry & OMPP_MAP_LEADS ? ompp_map_in_edge(entry, address) : entry;
}

#endif
