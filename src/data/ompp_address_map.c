/*
 * Filling the address map. Slow side only; one caller at a time.
 */
#include "data/ompp_address_map.h"

#include "base/ompp_reserve.h"

#include <stddef.h>

#define PAGE (1ul << OMPP_MAP_PAGE_BITS)

static uint32_t nothing;
uint32_t *ompp_map_page = &nothing;
uint64_t ompp_map_mask;
uint32_t *ompp_map_far;
uint32_t (*ompp_map_edge)[OMPP_MAP_GRAINS];
uint32_t (*ompp_map_byte)[OMPP_MAP_BYTES];

/* Tables handed out; number 0 is not used, so that a zeroed entry never leads anywhere. */
static uint32_t nedges = 1, nbytes = 1;

bool ompp_map_open(void)
{
    ompp_map_edge = ompp_reserve(OMPP_MAP_EDGES * sizeof *ompp_map_edge);
    ompp_map_byte = ompp_reserve(OMPP_MAP_GRAINS_SHARED * sizeof *ompp_map_byte);
    uint32_t *pages = ompp_map_edge && ompp_map_byte ? ompp_reserve(OMPP_MAP_PAGES * sizeof *pages) : NULL;
    if (!pages) return false;
    ompp_map_page = pages;
    ompp_map_mask = OMPP_MAP_PAGES - 1;
    return true;
}

/* ---- One page ---------------------------------------------------------------------------------------------------- */

/* The page that is being filled, which readers do not see before it is; and what it will lead to. */
static uint32_t *held, held_meaning;

/* The low bits of a page's entry; the high ones are written by the thread that touches it first. */
static void publish(uint32_t *entry, uint32_t low)
{
    uint32_t old = __atomic_load_n(entry, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(entry, &old, low | (old & ~OMPP_MAP_LOW), false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
}

static uint32_t *second_of(const uint32_t *entry)
{
    if (!ompp_map_far) ompp_map_far = ompp_reserve(OMPP_MAP_PAGES * sizeof *ompp_map_far);
    return ompp_map_far ? &ompp_map_far[entry - ompp_map_page] : NULL;
}

/* What a page leads to, as a second entry says it: also where there is none. */
static uint32_t meaning_of(const uint32_t *entry)
{
    if (entry == held) return held_meaning;
    uint32_t low = *entry & OMPP_MAP_LOW, table = low & OMPP_MAP_FAR;

    if (!(low & OMPP_MAP_PAGE_LEADS)) return low >> OMPP_INLINE_COUNT_BITS;
    return table == OMPP_MAP_FAR ? *second_of(entry) : OMPP_MAP_GRAIN_LEADS | table;
}

/* \return false: there are no addresses for second entries. */
static bool give_meaning(uint32_t *entry, uint32_t meaning)
{
    uint32_t number = meaning & ~OMPP_MAP_GRAIN_LEADS, *second;

    if (entry == held) {
        held_meaning = meaning;
        return true;
    }
    if (meaning & OMPP_MAP_GRAIN_LEADS ? number < OMPP_MAP_FAR : number <= OMPP_MAP_NEAR) {
        publish(entry,
                meaning & OMPP_MAP_GRAIN_LEADS ? OMPP_MAP_PAGE_LEADS | number : number << OMPP_INLINE_COUNT_BITS);
        return true;
    }
    second = second_of(entry);
    if (!second) return false;
    __atomic_store_n(second, meaning, __ATOMIC_RELEASE);
    publish(entry, OMPP_MAP_PAGE_LEADS | OMPP_MAP_FAR);
    return true;
}

/* The table of a page that is shared, made with what the page was. */
static uint32_t *edge_of(uint32_t *entry)
{
    uint32_t meaning = meaning_of(entry);

    if (meaning & OMPP_MAP_GRAIN_LEADS) return ompp_map_edge[meaning & ~OMPP_MAP_GRAIN_LEADS];
    if (nedges == OMPP_MAP_EDGES) return NULL;
    uint32_t *table = ompp_map_edge[nedges];
    for (unsigned i = 0; i < OMPP_MAP_GRAINS; i++) table[i] = meaning;
    if (!give_meaning(entry, OMPP_MAP_GRAIN_LEADS | nedges)) return NULL;
    nedges++;
    return table;
}

static uint32_t *bytes_of(uint32_t *grain)
{
    if (*grain & OMPP_MAP_GRAIN_LEADS) return ompp_map_byte[*grain & (OMPP_MAP_GRAINS_SHARED - 1)];
    if (nbytes == OMPP_MAP_GRAINS_SHARED) return NULL;
    uint32_t *table = ompp_map_byte[nbytes];
    for (unsigned i = 0; i < OMPP_MAP_BYTES; i++) table[i] = *grain;
    __atomic_store_n(grain, OMPP_MAP_GRAIN_LEADS | nbytes++, __ATOMIC_RELEASE);
    return table;
}

/* Bytes from..to of a grain; a whole grain that has a table keeps it. */
static bool put_grain(uint32_t *grain, uint32_t object, unsigned from, unsigned to)
{
    uint32_t *bytes;

    if (*grain == object) return true;
    if (from == 0 && to == OMPP_MAP_BYTES && !(*grain & OMPP_MAP_GRAIN_LEADS)) {
        __atomic_store_n(grain, object, __ATOMIC_RELEASE);
        return true;
    }
    bytes = bytes_of(grain);
    for (unsigned i = from; bytes && i < to; i++) __atomic_store_n(&bytes[i], object, __ATOMIC_RELAXED);
    return bytes != NULL;
}

/* Bytes from..to of a page. */
static bool put_page(uint32_t *entry, uint32_t object, unsigned from, unsigned to)
{
    uint32_t *table, meaning = meaning_of(entry);
    bool done = true;

    if (meaning == object) return true; /* no table for what is so already */
    if (from == 0 && to == PAGE && !(meaning & OMPP_MAP_GRAIN_LEADS)) return give_meaning(entry, object);
    table = edge_of(entry);
    if (!table) return false;
    for (unsigned at = from, next; at < to; at = next) {
        next = (at & ~(OMPP_MAP_BYTES - 1)) + OMPP_MAP_BYTES;
        if (next > to) next = to;
        unsigned low = at & (OMPP_MAP_BYTES - 1);
        done &= put_grain(&table[at >> OMPP_MAP_GRAIN_BITS], object, low, low + next - at);
    }
    return done;
}

void ompp_map_hold(uintptr_t address)
{
    uint32_t *entry = ompp_map_entry(address);

    held_meaning = meaning_of(entry);
    held = entry;
}

bool ompp_map_release(void)
{
    uint32_t *entry = held;

    held = NULL;
    return give_meaning(entry, held_meaning);
}

bool ompp_map_put(uint32_t object, uintptr_t begin, uintptr_t end)
{
    bool done = true;

    while (begin < end) {
        uintptr_t page = begin & ~(PAGE - 1), next = page + PAGE < end && page + PAGE > page ? page + PAGE : end;
        done &= put_page(ompp_map_entry(begin), object, (unsigned)(begin - page), (unsigned)(next - page));
        begin = next;
    }
    return done;
}
