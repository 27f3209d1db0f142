/**
 * \file
 * Whose a page is, and who is told of accesses to it: for accesses that the code in the program does not count by
 * itself. In the objects of ompp_found_hot.c, which use no vector registers. Private to src/hooks.
 */
#ifndef OMPP_FOUND_PRIV_H
#define OMPP_FOUND_PRIV_H

#include "hooks/ompp_feed_priv.h"
#include "hooks/ompp_whose.h"

/* Calls a function, which keeps no vector registers, for callers that need them. */
#if defined(__x86_64__)
void *ompp_found_kept(void *(*function)(void *), void *with) __attribute__((visibility("hidden")));
#else
static inline void *ompp_found_kept(void *(*function)(void *), void *with) { return function(with); }
#endif

/* Gives an entry without an owner this one; none changes nothing. \return the entry as it is then. */
static uint32_t ompp_found_own(uint32_t *entry, uint32_t owner)
{
    uint32_t value = __atomic_load_n(entry, __ATOMIC_ACQUIRE);

    while (!(value & ~OMPP_MAP_LOW) && owner)
        if (__atomic_compare_exchange_n(entry, &value, value | owner, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
            return value | owner;
    return value;
}

static void *ompp_found_paint(void *address) { return ompp_whose_paint(*(const uintptr_t *)address), NULL; }

/* \return false: it could not be found now; the next access tries again. */
static bool ompp_found_has_structure(uintptr_t address)
{
    const uint32_t *entry = ompp_map_entry(address);

    if (!(__atomic_load_n(entry, __ATOMIC_ACQUIRE) & OMPP_MAP_LOW)) ompp_found_kept(ompp_found_paint, &address);
    return __atomic_load_n(entry, __ATOMIC_ACQUIRE) & OMPP_MAP_LOW;
}

/* Where whose page of the system it is stands: at its first entry, or at the second, where the first is one of those
 * that are told of. */
static uintptr_t ompp_found_holder(uintptr_t address)
{
    const uintptr_t first = address >> OMPP_MAP_TOUCH_BITS << OMPP_MAP_TOUCH_BITS;

    return first + ompp_feed_passed(first);
}

/*
 * The entry of the page of an address after an access by this thread, which owns the page when nobody did.
 */
static uint32_t ompp_found_touch(const ompp_counter_t *counter, uintptr_t address)
{
    uint32_t *entry = ompp_map_entry(address), value = __atomic_load_n(entry, __ATOMIC_ACQUIRE), owner;

    if (value & ~OMPP_MAP_LOW && (value & OMPP_MAP_LOW || !ompp_whose_all)) return value;
    if (ompp_whose_all) {
        /* an entry with an owner and without a structure would not be asked for again */
        if (!ompp_found_has_structure(address) || !ompp_found_has_structure(ompp_found_holder(address)))
            return __atomic_load_n(entry, __ATOMIC_ACQUIRE);
        value = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
        if (value & ~OMPP_MAP_LOW) return value;
    }
    owner = ompp_found_own(ompp_map_entry(ompp_found_holder(address)), counter->own) & ~OMPP_MAP_LOW;
    return ompp_found_own(entry, owner && ompp_feed_is_sampled(address) ? OMPP_MAP_SAMPLED : owner);
}

/* Whose a page is whose accesses are told of. When fewer are by now, it is one as others again. */
static uint32_t ompp_found_owner_behind(uint32_t *entry, uint32_t value, uintptr_t address)
{
    const uint32_t owner =
        __atomic_load_n(ompp_map_entry(ompp_found_holder(address)), __ATOMIC_ACQUIRE) & ~OMPP_MAP_LOW;

    if (!ompp_feed_is_sampled(address) && owner)
        __atomic_compare_exchange_n(entry, &value, (value & OMPP_MAP_LOW) | owner, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED);
    return owner;
}

static inline uint32_t ompp_found_owner(uint32_t value, uintptr_t address)
{
    const uint32_t owner = value & ~OMPP_MAP_LOW;

    return __builtin_expect(owner == OMPP_MAP_SAMPLED, 0)
               ? ompp_found_owner_behind(ompp_map_entry(address), value, address)
               : owner;
}

/* A page that has no structure yet has no owner, either. */
static inline bool ompp_found_is_foreign(const ompp_counter_t *counter, uint32_t value, uintptr_t address)
{
    const uint32_t owner = ompp_found_owner(value, address);

    return owner && owner != counter->own;
}

static void *ompp_found_drain(void *counter) { return ompp_feed_drain(counter), NULL; }

/* An access, as its page's entry is, to whoever is told of it. */
static void ompp_found_tell(ompp_counter_t *counter, uint32_t entry, uintptr_t address, size_t size, unsigned kind,
                            uint32_t object)
{
    ompp_feed_t *feed = counter->feed;

    if (!ompp_feed_wants(feed, entry)) return;
    if (ompp_feed_is_full(feed)) ompp_found_kept(ompp_found_drain, counter);
    if (!ompp_feed_is_full(feed)) ompp_feed_add(feed, address, size, kind, object);
}

#endif
