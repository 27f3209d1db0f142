/**
 * \file
 * Accesses told of one by one, for caches that are simulated (src/cache) while the program runs. A thread puts them
 * into a buffer of its own, without a lock; when it is full, or the thread's place in the call tree changes, they are
 * simulated. Counts of loads and stores are made as without it. Private to src/hooks.
 *
 * Code in the program counts by itself where the entry of a page of the map says that the page is the thread's own. So
 * whoever wants to be told of all accesses gives the thread nobody's number, and who wants to be told of a part gives
 * pages of the map to OMPP_MAP_SAMPLED: where all pages are the thread's own, nothing costs more than before.
 */
#ifndef OMPP_FEED_PRIV_H
#define OMPP_FEED_PRIV_H

#include "hooks/ompp_count_priv.h"

#include "runtime/ompp_meter.h"

#define OMPP_FEED_ROOM 512u
#define OMPP_FEED_FILTER 1024u
#define OMPP_FEED_TURNS 32u /* of a loop of clang's, whose accesses are told of together: four lines of doubles */

typedef struct {
    uint64_t address;
    uint32_t object; /* << 1 | store */
    uint32_t size;   /* bytes; of an access of 16 or less, 1 */
    uint64_t again;  /* further accesses to its line, right behind it */
} ompp_fed_t;

typedef struct {
    uint64_t line;   /* touched last of those of this place; that again changes nothing */
    uintptr_t found; /* where its accesses are counted, when all of it is the thread's own and one structure's */
} ompp_latest_t;

typedef struct ompp_feed {
    uint32_t n;
    bool all;       /* all accesses are wanted, not only those of sampled pages */
    bool by_line;   /* code that counts in registers is told of lines, not of each access to them */
    bool always[2]; /* accesses of this kind are not left out */
    uint32_t shift, mask;
    ompp_fed_t *last;                       /* whose line is latest[0] */
    uint32_t structures;                    /* what is remembered is of this state of theirs */
    ompp_latest_t latest[OMPP_FEED_FILTER]; /* [line & mask] */
    ompp_fed_t entry[OMPP_FEED_ROOM + 1];
} ompp_feed_t;

/* Set where the part of the pages is chosen: bits of a page's hash that are 0; ~0: there is none. */
extern uint32_t ompp_feed_rate;

#define OMPP_FEED_BLOCK_BITS (OMPP_MAP_TOUCH_BITS - OMPP_MAP_PAGE_BITS)

static inline uint64_t ompp_feed_hash(uintptr_t address)
{
    const uint64_t page = address >> OMPP_MAP_TOUCH_BITS;

    return (page ^ page >> 17) * 0x9e3779b97f4a7c15u;
}

/** \brief One page of the map of a page of the system at most, and so many of these as the rate says. */
static inline bool ompp_feed_is_sampled(uintptr_t address)
{
    const uint64_t hash = ompp_feed_hash(address);

    return !((uint32_t)(hash >> 24) & __atomic_load_n(&ompp_feed_rate, __ATOMIC_RELAXED)) &&
           hash >> (64 - OMPP_FEED_BLOCK_BITS) ==
               ((address >> OMPP_MAP_PAGE_BITS) & ((1u << OMPP_FEED_BLOCK_BITS) - 1));
}

/** \brief Bytes from the begin of a page of the system to what is never sampled, at any rate. */
static inline uintptr_t ompp_feed_passed(uintptr_t address)
{
    if (__atomic_load_n(&ompp_feed_rate, __ATOMIC_RELAXED) == UINT32_MAX) return 0;
    return ompp_feed_hash(address) >> (64 - OMPP_FEED_BLOCK_BITS) ? 0 : 1u << OMPP_MAP_PAGE_BITS;
}

/* How often a structure has got or lost bytes. */
extern uint32_t ompp_feed_structures;

static inline bool ompp_feed_wants(const ompp_feed_t *feed, uint32_t entry)
{
    return feed->all || (entry & ~OMPP_MAP_LOW) == OMPP_MAP_SAMPLED;
}

static inline bool ompp_feed_is_full(const ompp_feed_t *feed) { return feed->n >= OMPP_FEED_ROOM; }

/** \return bytes of a line that are told of at once: at most a page of the map. */
static inline uint32_t ompp_feed_line(const ompp_feed_t *feed)
{
    return feed->shift < OMPP_MAP_PAGE_BITS ? 1u << feed->shift : 1u << OMPP_MAP_PAGE_BITS;
}

/** \brief Not full. A signal handler in between loses one of the two accesses. */
static inline void ompp_feed_add(ompp_feed_t *feed, uintptr_t address, size_t size, unsigned kind, uint32_t object)
{
    uint64_t line = address >> feed->shift;
    ompp_latest_t *latest = &feed->latest[line & feed->mask];

    if (size > 1 || feed->always[kind]) line = 0; /* it is not left out, nor is the next one */
    else if (latest->line == line) {
        feed->last->again++;
        return;
    }
    latest->line = line;
    latest->found = 0;
    ompp_fed_t *entry = &feed->entry[feed->n];
    feed->last = entry;
    entry->address = address;
    entry->object = object << 1 | kind;
    entry->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    entry->again = 0;
    feed->n += feed->n < OMPP_FEED_ROOM;
}

/** \brief Where the access is counted, when nothing changes by it; 0 = is not known. */
static inline uintptr_t ompp_feed_known(ompp_feed_t *feed, uintptr_t address, unsigned kind)
{
    const uint64_t line = address >> feed->shift, at = line & feed->mask;

    if (feed->latest[at].line != line || feed->always[kind] || !feed->latest[at].found) return 0;
    if (feed->structures != __atomic_load_n(&ompp_feed_structures, __ATOMIC_ACQUIRE)) return 0;
    feed->last->again++;
    return feed->latest[at].found;
}

/** \brief Remembers that, of the line that was added last. */
static inline void ompp_feed_remember(ompp_feed_t *feed, uintptr_t address, uintptr_t found)
{
    const uint64_t line = address >> feed->shift, at = line & feed->mask;

    const uint32_t now = __atomic_load_n(&ompp_feed_structures, __ATOMIC_ACQUIRE);

    if (feed->structures != now) {
        for (uint32_t i = 0; i <= feed->mask; i++) feed->latest[i].found = 0;
        feed->structures = now; /* this one may be of before */
    } else if (feed->latest[at].line == line) feed->latest[at].found = found;
}

/** \return where the block begins that an address of a structure is in, 0 = it is not known. */
typedef uintptr_t ompp_feed_block_t(uint32_t object, uintptr_t address);

/** \brief Reads what the user wants, once. \param[in] block  NULL: offsets in structures are not told of. */
void ompp_feed_start(ompp_feed_block_t *block);

/** \brief Measurement is about to end: what was not simulated, and who shares lines falsely, for Coverage. */
void ompp_feed_finish(void);

/**
 * \brief The place that gets what a thread counts at a node: its own, or that of the construct around an ATOMIC. An
 *        update is one access or two, and giving them a place of their own takes a hundred times as long.
 */
static inline ompp_off_t ompp_counter_place(ompp_off_t node)
{
    const ompp_region_ref_t region = ompp_meter_region(node);

    return region && ompp_region_construct(region) == OMPP_CONSTRUCT_ATOMIC ? ompp_meter_parent(node) : node;
}

/** \brief A thread's counter is new: it gets a feed when caches are simulated. */
void ompp_feed_begin(ompp_counter_t *counter);

/** \brief Simulates what is in the buffer. Uses all registers. */
void ompp_feed_drain(ompp_counter_t *counter);

/** \brief The thread leaves a place: what was found goes there. Also called on another thread, while it is stopped. */
void ompp_feed_move(ompp_counter_t *counter, ompp_off_t node);

/** \brief The thread is over. */
void ompp_feed_end(ompp_counter_t *counter);

#endif
