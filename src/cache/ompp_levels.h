/**
 * \file
 * Caches of one thread, simulated: levels with sets, TLBs, prefetchers, and a fully associative shadow that tells
 * conflict misses from those of capacity. Plain data and no locks, but for levels that threads share.
 */
#ifndef OMPP_CACHE_LEVELS_H
#define OMPP_CACHE_LEVELS_H

#include "cache/ompp_machine.h"

/** What is simulated beside the levels: a set of these. */
enum {
    OMPP_WITH_CLASSES = 1,       /* compulsory, capacity, conflict */
    OMPP_WITH_TLB = 2,           /* with the references of page walks, through L2 and L3 */
    OMPP_WITH_NEXT_LINE = 4,     /* what misses L1 brings the next line, too */
    OMPP_WITH_STRIDE = 8,        /* three equal strides in a page bring what comes next */
    OMPP_WITH_RANDOM_PAGES = 16, /* L2 and L3 by physical addresses, pages placed by chance */
    OMPP_WITH_COHERENCE = 32,    /* lines that other threads have written to: true and false sharing */
    OMPP_WITH_SHARED = 64,       /* the last level is one for all threads */
};

/** What one access did: counts to add. Misses are those of the levels, from L1 on. */
typedef struct {
    uint8_t misses[OMPP_LEVELS];
    uint8_t compulsory[OMPP_LEVELS], conflict[OMPP_LEVELS];
    uint8_t tlb_misses[OMPP_TLBS];
    uint8_t prefetched; /* lines that were brought */
} ompp_access_result_t;

typedef struct ompp_levels ompp_levels_t;
typedef void *(*ompp_memory_new_t)(size_t size);

/**
 * \brief Makes the caches of a thread.
 * \param[in] memory_new  gives zeroed memory, NULL = there is none.
 * \param[in] shared      another thread's whose shared levels these use, NULL = none.
 * \return NULL without memory; what was taken until then stays taken.
 */
ompp_levels_t *ompp_levels_new(const ompp_machine_t *machine, unsigned with, ompp_memory_new_t memory_new,
                               ompp_levels_t *shared);

/** \brief Caches are empty again. */
void ompp_levels_clear(ompp_levels_t *levels);

/**
 * \brief One access to a line of L1.
 * \param[in] address  of any byte in the line.
 */
void ompp_levels_access(ompp_levels_t *levels, uint64_t address, bool store, ompp_access_result_t *result);

/** \return whether ompp_levels_all() will do: nothing but levels, of which none looks at those above. */
bool ompp_levels_are_plain(const ompp_levels_t *levels);

#define OMPP_LEVELS_MOST 512u

/** Accesses of one byte each, OMPP_LEVELS_MOST at most. */
typedef struct {
    const uint64_t *address; /* of the first */
    const uint32_t *kind;    /* of the first: the lowest bit says that it is a store */
    size_t stride;           /* bytes from one to the next */
    unsigned n;
} ompp_accesses_t;

/**
 * \brief Many accesses, level by level.
 * \param[out] which    numbers of those that missed each level, in their order; shape [OMPP_LEVELS][OMPP_LEVELS_MOST].
 * \param[out] nmissed  how many they are; shape [OMPP_LEVELS].
 */
void ompp_levels_all(ompp_levels_t *levels, const ompp_accesses_t *accesses, uint16_t which[][OMPP_LEVELS_MOST],
                     unsigned *nmissed);

/** \brief A line has been taken by another thread: it leaves all levels. \return whether one had it. */
bool ompp_levels_invalidate(ompp_levels_t *levels, uint64_t address);

/** \brief What could not be simulated for want of memory, or because another thread held a shared level: accesses. */
uint64_t ompp_levels_lost(const ompp_levels_t *levels);

#endif
