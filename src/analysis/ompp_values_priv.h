/**
 * \file
 * Values of one block of phases, for columns and for overhead classes. Private to src/analysis.
 */
#ifndef OMPP_VALUES_PRIV_H
#define OMPP_VALUES_PRIV_H

#include "analysis/ompp_values.h"

/** \brief Construct of a node; OMPP_CONSTRUCT_NUM for the root. */
static inline unsigned ompp_values_construct(const ompp_profile_t *profile, uint32_t node)
{
    uint32_t region = profile->nodes[node].region;

    return region == OMPP_NONE ? OMPP_CONSTRUCT_NUM : profile->regions[region].construct;
}

/** \brief Sum of one item (OMPP_SLOT_*) over all phases. */
static inline uint64_t ompp_values_over_phases(unsigned construct, const uint64_t *values, unsigned what)
{
    uint64_t sum = 0;

    for (unsigned s = 0; s < ompp_constructs[construct].nphases; s++) sum += values[ompp_value_index(s, what)];
    return sum;
}

/** \brief One item of one phase; 0 when the construct does not have it. */
static inline uint64_t ompp_values_of_phase(unsigned construct, const uint64_t *values, unsigned phase, unsigned what)
{
    unsigned slot = ompp_phase_slot(construct, phase);

    return slot == OMPP_NO_SLOT ? 0 : values[ompp_value_index(slot, what)];
}

/** \brief Value of a column that comes from the phases of the node itself. */
uint64_t ompp_values_of_column(unsigned construct, const uint64_t *values, const ompp_column_row_t *column);

#endif
