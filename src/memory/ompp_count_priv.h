/**
 * \file
 * Counting of loads and stores per data structure on one thread. Private to src/memory.
 *
 * A thread counts into an array of its own, one cache line per structure. When the runtime says that the thread's place in the call
 * tree changes (runtime/ompp_meter.h), what was counted goes to the place that is left. So a hook needs no lock, no allocation and
 * no knowledge of regions.
 */
#ifndef OMPP_COUNT_PRIV_H
#define OMPP_COUNT_PRIV_H

#include "memory/ompp_map_priv.h"
#include "runtime/ompp_data.h"

#include <stddef.h>

#define OMPP_COUNT_SCALAR 16 /* bytes: what is larger is a block */
#define OMPP_COUNT_SIZES 5   /* 1, 2, 4, 8 and 16 bytes */

/**
 * What hooks count for a structure: one number each, so that they have one to increase. The values of the report, whose names are in
 * ompp_count.c, follow from these. Loads stand before stores, [0] and [1].
 */
typedef struct {
    uint64_t scalars[2][OMPP_COUNT_SIZES]; /* accesses of 1 << n bytes */
    uint64_t others[2];                    /* accesses of other sizes; a block copied or set at once is one */
    uint64_t other_bytes[2];
    uint64_t foreign[2];                   /* accesses to pages that another thread touched first */
} __attribute__((aligned(128))) ompp_count_t;

typedef struct {
    uint64_t tag;          /* number of the thread << OMPP_MAP_OWNER_SHIFT, from 1, as in the map; beyond all of them: no thread */
    const uint32_t *pages; /* the map's, here to be near */
    uint64_t mask;
    uint64_t blocks[2][OMPP_DATA_MAX + 1]; /* of the others, those that are larger than OMPP_COUNT_SCALAR */
    uintptr_t told;        /* address of the last access that was told of by -fsanitize-coverage; 0 = counted already */
    uintptr_t block[2][2]; /* the last block hook of each kind, for calls that the compiler makes of it: address, size */
    uintptr_t block_code[2];               /* where it was called */
    ompp_count_t count[OMPP_DATA_MAX + 1]; /* [0]: data that belongs to no structure */
} ompp_counter_t;

enum { OMPP_LOAD, OMPP_STORE };

/** Object files with hooks: all of them, and those that clang made. */
enum { OMPP_FILES_ALL, OMPP_FILES_CLANG, OMPP_FILES_NUM };
extern unsigned ompp_counter_files[OMPP_FILES_NUM];

/** \brief An object file with hooks is there: before main, or before dlopen() returns. */
void ompp_counter_file(unsigned compiler);

/** Never NULL. */
extern __thread ompp_counter_t *ompp_counter_self __attribute__((tls_model("initial-exec")));

/** \brief The counter of this thread, made at its first access; one that nobody reads when it is not measured. Keeps errno. */
ompp_counter_t *ompp_counter_get(void);

/** \brief No structure was registered so far. */
bool ompp_counter_no_objects(void);

/** \brief Opens the map and joins the runtime, once. */
void ompp_counter_start(void);

/** \brief ompp_count() for pages that are not this thread's, not one structure's alone, or when the thread is new. */
void ompp_count_other(uintptr_t address, size_t size, unsigned kind);

/**
 * \brief One access of size bytes, 1, 2, 4, 8 or 16; kind is OMPP_LOAD or OMPP_STORE. It belongs to the structure that its first
 *        byte is in.
 * Budget: 14 instructions for a page that this thread touched first and that belongs to one structure as a whole, or to none.
 */
static inline void ompp_count(uintptr_t address, size_t size, unsigned kind)
{
    ompp_counter_t *counter = ompp_counter_self;
    uint64_t page = (address >> OMPP_MAP_PAGE_BITS) & counter->mask;
    uint64_t object = __atomic_load_n(&counter->pages[page], __ATOMIC_ACQUIRE) ^ counter->tag;

    if (__builtin_expect(object >= OMPP_MAP_LEADS, 0)) {
        ompp_count_other(address, size, kind);
        return;
    }
    counter->count[object].scalars[kind][__builtin_ctzl(size)]++;
}

/** \brief An atomic load or store: clang tells of it twice, first as of any other. */
static inline void ompp_count_atomic(uintptr_t address, size_t size, unsigned kind)
{
    ompp_counter_t *counter = ompp_counter_get();

    if (counter->told != address) ompp_count(address, size, kind);
    counter->told = 0;
}

/** \brief A block: one access for each structure that it touches, with the bytes that lie there. */
void ompp_count_block(uintptr_t address, size_t size, unsigned kind);

#endif
