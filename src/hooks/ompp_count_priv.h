/**
 * \file
 * Counting of loads and stores per data structure on one thread. Private to src/hooks.
 *
 * A thread counts into an array of its own, one cache line per structure. When the runtime says that the thread's place
 * in the call tree changes (runtime/ompp_meter.h), what was counted goes to the place that is left. So a hook needs no
 * lock, no allocation and no knowledge of regions.
 */
#ifndef OMPP_COUNT_PRIV_H
#define OMPP_COUNT_PRIV_H

#include "data/ompp_address_map.h"
#include "data/ompp_data.h"
#include "data/ompp_used.h"
#include "model/ompp_counted.h"

#include <stddef.h>

#define OMPP_COUNT_SCALAR 16 /* bytes: what is larger is a block */

typedef ompp_counted_t ompp_count_t;

struct ompp_feed;

typedef struct {
    /* number of the thread, from 1, << OMPP_MAP_OWNER_SHIFT, as in the map; nobody's number: not seen yet, or code in
     * the program counts nothing by itself */
    uint32_t tag;
    uint32_t most;         /* turns of a loop that clang's code may hold back */
    const uint32_t *pages; /* the map's, here to be near */
    uint64_t mask;
    uintptr_t reported; /* address of the last access that was told of by -fsanitize-coverage; 0 = counted already */
    /* the last block hook of each kind, for calls that the compiler makes of it: address, size */
    uintptr_t block[2][2];
    uintptr_t block_code[2]; /* where it was called */
    uint32_t own;            /* the thread's number, as the tag; nobody's: not seen yet */
    uint32_t limit;          /* highest structure that there is room for */
    uint64_t (*blocks)[2];   /* shape [limit + 1]: of the others, those that are larger than OMPP_COUNT_SCALAR */
    ompp_used_t *used;       /* structures that were counted for, but near ones of the map; NULL with limit 0 */
    struct ompp_whose_thread *whose; /* NULL: it is not known whose data is whose */
    struct ompp_feed *feed;          /* what is told of accesses one by one; NULL = nothing */
    uint32_t epoch;                  /* another one whenever the thread's place changes; never 0 */
    uint32_t cells;                  /* ~0: cells tell whose variables of functions are; 0: the map alone does */
    const void *edges;               /* the map's, as the pages */
    uint32_t locals; /* ~0: code in the program looks at cells by itself; 0: it asks, as caches are simulated */
    /* which bits of an address change where gcc's code counts in a register no longer; by FOR */
    uint64_t widths[OMPP_INLINE_FOR + 1];
    uint64_t unused_too[6];
    ompp_count_t count[1]; /* shape [limit + 1]; [0]: data that belongs to no structure */
} ompp_counter_t;

enum { OMPP_LOAD, OMPP_STORE };

/** Who accesses: where the program goes on, and its stack and base pointers there; code 0 = who calls this library. */
typedef struct {
    uintptr_t code, sp, rbp;
} ompp_accessor_t;

/** \brief Who calls a function whose frame begins with its caller's base pointer. */
static inline ompp_accessor_t ompp_accessor_of(const void *code, const uintptr_t *frame)
{
    return (ompp_accessor_t){(uintptr_t)code, (uintptr_t)(frame + 2), frame[0]};
}

/** Who calls the function that this stands in. */
#define OMPP_CALLER ompp_accessor_of(__builtin_return_address(0), (const uintptr_t *)__builtin_frame_address(0))

/* An address alone, where there is no other, too. */
#define OMPP_COUNT_WIDTHS                                                                                             \
    {                                                                                                                 \
        -1ull, -(1ull << OMPP_MAP_PAGE_BITS), -1ull, -(1ull << OMPP_MAP_GRAIN_BITS), -32ull, -64ull, -128ull, -256ull \
    }
#define OMPP_COUNT_UNSEEN OMPP_MAP_NOBODY /* the number of who has not been seen yet */

_Static_assert(offsetof(ompp_counter_t, tag) == OMPP_INLINE_TAG, "as inlined");
_Static_assert(offsetof(ompp_counter_t, most) == OMPP_INLINE_MOST, "as inlined");
_Static_assert(offsetof(ompp_counter_t, pages) == OMPP_INLINE_PAGES, "as inlined");
_Static_assert(offsetof(ompp_counter_t, mask) == OMPP_INLINE_MASK, "as inlined");
_Static_assert(offsetof(ompp_counter_t, widths) == OMPP_INLINE_WIDTHS, "as inlined");
_Static_assert(offsetof(ompp_counter_t, edges) == OMPP_INLINE_EDGES, "as inlined");
_Static_assert(offsetof(ompp_counter_t, feed) == OMPP_INLINE_FEED, "as inlined");
_Static_assert(offsetof(ompp_counter_t, locals) == OMPP_INLINE_LOCALS, "as inlined");
_Static_assert(offsetof(ompp_counter_t, cells) == OMPP_INLINE_CELLS, "as inlined");
_Static_assert(offsetof(ompp_counter_t, epoch) == OMPP_INLINE_EPOCH, "as inlined");
_Static_assert(sizeof *ompp_map_edge == 1u << OMPP_INLINE_TABLE_BITS, "as inlined");
_Static_assert(OMPP_MAP_FAR == OMPP_INLINE_LEADS - 1, "each number of a table is less");
_Static_assert(offsetof(ompp_counter_t, count) == OMPP_INLINE_COUNT, "as inlined");
_Static_assert(sizeof(ompp_count_t) == 1u << OMPP_INLINE_COUNT_BITS, "as inlined");
_Static_assert(offsetof(ompp_count_t, scalars[OMPP_STORE]) == OMPP_INLINE_KIND, "as inlined");
_Static_assert(offsetof(ompp_count_t, foreign) == OMPP_INLINE_FOREIGN, "as inlined");
_Static_assert((OMPP_MAP_NEAR + 1) << OMPP_INLINE_COUNT_BITS == OMPP_INLINE_LEADS, "room for the number of each");

/** Object files with hooks: all of them, and those that clang made. */
enum { OMPP_FILES_ALL, OMPP_FILES_CLANG, OMPP_FILES_NUM };
extern unsigned ompp_counter_files[OMPP_FILES_NUM];

/** \brief An object file with hooks is there: before main, or before dlopen() returns. */
void ompp_counter_file(unsigned compiler);

/* Seen by the objects of the program. */
#pragma GCC visibility push(default)
#define OMPP_COUNT_TEXT(name) #name
#define OMPP_COUNT_NAMED(name) __asm__(OMPP_COUNT_TEXT(name))

/** Never NULL. */
extern __thread ompp_counter_t *ompp_counter_self OMPP_COUNT_NAMED(OMPP_INLINE_SELF)
    __attribute__((tls_model("initial-exec")));

/** Where an access is counted: a counter, and the bytes from its count[0] to the structure's. */
typedef struct {
    ompp_counter_t *counter;
    uint64_t at;
} ompp_found_t;

/**
 * \brief Finds the structure at an address of any page, and counts when the page is another thread's. Makes the counter
 *        of a new thread; keeps errno.
 */
ompp_found_t ompp_count_find_load(uintptr_t address) OMPP_COUNT_NAMED(OMPP_INLINE_LOAD);
ompp_found_t ompp_count_find_store(uintptr_t address) OMPP_COUNT_NAMED(OMPP_INLINE_STORE);
#pragma GCC visibility pop

/**
 * \brief The counter of this thread, made at its first access; one that nobody reads when it is not measured. Keeps
 *        errno.
 */
ompp_counter_t *ompp_counter_get(void);

/** \brief No structure was registered so far. */
bool ompp_counter_no_objects(void);

/** \brief An object will be counted for. Between ompp_data_try() and ompp_data_done(). */
void ompp_counter_expect(uint32_t object);

/**
 * \brief Code in the program will count for an object by itself. Between ompp_data_try() and ompp_data_done().
 * \return false: there is no room.
 */
bool ompp_counter_inline(uint32_t object);

/** \brief All that is counted for an object is foreign. Between ompp_data_try() and ompp_data_done(). */
void ompp_counter_foreign(uint32_t object);

/**
 * \brief The same for a variable of a function, whose object is made if need be. Each change of place looks at all of
 *        them, so that there are not many.
 */
bool ompp_counter_local_room(void);

/** There was no more room: the map knows what the variables belong to that have none. */
extern _Atomic bool ompp_counter_locals_full __attribute__((visibility("hidden")));

/** \brief Bytes belong to an object from now on. Between ompp_data_try() and ompp_data_done(). */
void ompp_counter_put(uint32_t object, uintptr_t begin, uintptr_t end);

/** \return the thread, of those that are counted for, whose stack an address is in; NULL = none. */
struct ompp_whose_thread *ompp_counter_in_stack(uintptr_t address);

/** \brief Opens the map and joins the runtime, once. */
void ompp_counter_start(void);

/**
 * \brief Structures are too many to be looked through for those that were counted for: notes that this one is. Those
 *        that code in the program counts for by itself need no note.
 * \return the structure, 0 when the counter has no room for it.
 */
static inline uint32_t ompp_count_note(ompp_counter_t *counter, uint32_t object)
{
    if (__builtin_expect(object > counter->limit, 0)) return 0;
    if (counter->used) ompp_used_mark(counter->used, object);
    return object;
}

/** \brief The entry of an address' page, as this thread's counter has it. */
static inline uint32_t ompp_count_entry(const ompp_counter_t *counter, uintptr_t address)
{
    return __atomic_load_n(&counter->pages[(address >> OMPP_MAP_PAGE_BITS) & counter->mask], __ATOMIC_ACQUIRE);
}

static inline ompp_count_t *ompp_count_at(ompp_counter_t *counter, uint64_t at)
{
    return (ompp_count_t *)((char *)counter->count + at);
}

/**
 * \brief One access of size bytes, 1, 2, 4, 8 or 16; kind is OMPP_LOAD or OMPP_STORE. It belongs to the structure that
 *        its first byte is in.
 * Budget: 11 instructions for a page that this thread touched first and that belongs to one structure as a whole, or to
 * none. ompp_inline.S does the same.
 */
static inline void ompp_count(uintptr_t address, size_t size, unsigned kind)
{
    ompp_counter_t *counter = ompp_counter_self;
    uint64_t page = (address >> OMPP_MAP_PAGE_BITS) & counter->mask;
    /* nothing that it leads to is read here */
    uint64_t at = __atomic_load_n(&counter->pages[page], __ATOMIC_RELAXED) ^ counter->tag;

    if (__builtin_expect(at >= OMPP_INLINE_LEADS, 0)) {
        ompp_found_t found = kind == OMPP_LOAD ? ompp_count_find_load(address) : ompp_count_find_store(address);
        counter = found.counter;
        at = found.at;
    }
    ompp_count_at(counter, at)->scalars[kind][__builtin_ctzl(size)]++;
}

/**
 * \brief An atomic load or store: clang tells of it twice, first as of any other, with ompp_count_reported(). Objects
 *        that count by themselves are clang's, and have no need to remember.
 */
static inline void ompp_count_atomic(uintptr_t address, size_t size, unsigned kind)
{
#ifdef OMPP_INLINED
    (void)address, (void)size, (void)kind;
#else
    ompp_counter_t *counter = ompp_counter_get();

    if (counter->reported != address) ompp_count(address, size, kind);
    counter->reported = 0;
#endif
}

static inline void ompp_count_reported(uintptr_t address)
{
#ifdef OMPP_INLINED
    (void)address;
#else
    ompp_counter_self->reported = address;
#endif
}

/** \brief A block: one access for each structure that it touches, with the bytes that lie there. */
void ompp_count_block(ompp_counter_t *counter, uintptr_t address, size_t size, unsigned kind, ompp_accessor_t by);

/** \brief A block that is copied, to simulated caches alone: what is read and what is written, line by line in turn. */
void ompp_count_tell_copy(ompp_counter_t *counter, uintptr_t to, uintptr_t from, size_t size, ompp_accessor_t by);

#endif
