/**
 * \file
 * The ranges of data structures, ordered by where they begin and by when they were registered: finding those that share
 * bytes with others takes a time that is logarithmic in their number, and linear in how many are found. Private to
 * src/data.
 *
 * Callers take turns. Nothing here comes from malloc: the program may have its allocator in its hands.
 */
#ifndef OMPP_DATA_RANGES_PRIV_H
#define OMPP_DATA_RANGES_PRIV_H

#include "data/ompp_data.h"

/** A range, and its place in the order of registration: later ones have a higher number and cover earlier ones. */
typedef struct {
    ompp_data_range_t range;
    uint64_t order;
} ompp_data_entry_t;

/** \brief How many there are. */
size_t ompp_data_ranges_count(void);

/** \brief Adds a range as the newest one. \return false: out of memory. */
bool ompp_data_ranges_add(ompp_data_range_t range);

/**
 * \brief Adds a range at a place in the order that was another's: what is left of that one.
 * \return false: out of memory.
 */
bool ompp_data_ranges_put(ompp_data_entry_t entry);

/** \brief Takes it out. */
void ompp_data_ranges_remove(ompp_data_entry_t entry);

/**
 * \brief The ranges that share bytes with begin <= address < end, in order of registration.
 * \param[out] found  borrowed until the next call of this; what is added and removed meanwhile changes nothing in it.
 * \return their number; 0 also when out of memory.
 */
size_t ompp_data_ranges_over(uintptr_t begin, uintptr_t end, const ompp_data_entry_t **found);

/** \brief The newest range that shares bytes with begin <= address < end. \return false: none does. */
bool ompp_data_ranges_newest(uintptr_t begin, uintptr_t end, ompp_data_range_t *newest);

#endif
