/**
 * \file
 * Definition of regions and value blocks: the rare side of ompp_region_* and ompp_event_add*. Private to src/runtime.
 */
#ifndef OMPP_REGION_PRIV_H
#define OMPP_REGION_PRIV_H

#include "runtime/ompp_thread.h"

/** \return what stands for the name of a region that has none in the thread's cache. */
static inline const void *ompp_site_key(ompp_construct_t construct) { return (const void *)(uintptr_t)(construct + 1); }

/**
 * \brief Defines the region and fills one of the pair of cache entries.
 * \param[in] second  of the pair.  \return 0 when it cannot be had.
 */
ompp_region_ref_t ompp_region_at_slow(ompp_thread_t *thread, ompp_site_t *second, ompp_construct_t construct,
                                      const void *code, const char *name);

void ompp_region_ends_at_slow(ompp_a_region_t *region, const void *code);

/** \brief Makes the block. \return borrowed, shape [n]; NULL when full. */
uint64_t *ompp_values_slow(ompp_thread_t *thread, ompp_off_t node, unsigned set, unsigned object, unsigned n);

/** \brief Number of metrics of a set; 0 = not registered. */
unsigned ompp_set_size(unsigned set);

/** \brief The values of (node, set, object); made when missing. */
static inline uint64_t *ompp_values_at(ompp_thread_t *thread, ompp_off_t node, unsigned set, unsigned object,
                                       unsigned n)
{
    ompp_off_t off = atomic_load_explicit(&ompp_node(thread, node)->sets, memory_order_relaxed);

    while (off) {
        ompp_a_block_t *block = ompp_at(thread, off);
        if (__builtin_expect(block->set == set && block->object == object, 1)) return block->values;
        off = block->next;
    }
    return ompp_values_slow(thread, node, set, object, n);
}

/** \brief The values of (node, set, all data). */
static inline uint64_t *ompp_values_of(ompp_thread_t *thread, ompp_off_t node, unsigned set, unsigned n)
{
    return ompp_values_at(thread, node, set, 0, n);
}

#endif
