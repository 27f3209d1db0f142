/**
 * \file
 * How two blocks of the same metric set become one: by the reduction in the metric's definition. For src/model only.
 */
#ifndef OMPP_COMBINE_PRIV_H
#define OMPP_COMBINE_PRIV_H

#include "model/ompp_profile.h"

typedef enum { OMPP_OVER_THREADS, OMPP_OVER_RANKS } ompp_over_t;

/** Metric definitions of a profile, ascending by (set, index). */
typedef struct {
    size_t n;
    ompp_metric_t *metrics; /* owned copies; strings belong to the profile */
} ompp_metric_list_t;

/** \return 0 or -OMPP_E_NOMEM. Free with ompp_metric_list_fini(). */
int ompp_metric_list_init(ompp_metric_list_t *list, const ompp_profile_t *profile);
void ompp_metric_list_fini(ompp_metric_list_t *list);

/** \return definitions of a set, borrowed, shape [*n]; *n is 0 when it has none. */
const ompp_metric_t *ompp_metric_list_set(const ompp_metric_list_t *list, uint32_t set, size_t *n);

/** \brief into[i] becomes the reduction of into[i] and from[i]. Shape of both: [n], a block of the set. */
void ompp_combine(const ompp_metric_list_t *list, uint32_t set, ompp_over_t over, uint64_t *into, const uint64_t *from,
                  size_t n);

/** \brief Puts blocks in ascending order. */
void ompp_blocks_sort(ompp_block_t *blocks, size_t n);

/**
 * \brief Part of ompp_profile_merge(): the locations of both, ascending; the blocks of into follow.
 * \param[out] map  for each index in from, which it has in into.
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_merge_locations(ompp_profile_t *into, const ompp_profile_t *from, uint32_t *map);

/**
 * \brief Part of ompp_profile_merge(): the causal profiles.
 * \param[in] strings, regions  for each index in from, which it has in into.
 * \return 0, or -OMPP_E_NOMEM.
 */
int ompp_whatif_merge(ompp_profile_t *into, const ompp_profile_t *from, const uint32_t *strings,
                      const uint32_t *regions, bool from_leads);

/** \brief By sender and receiver, equal pairs joined; of too many pairs those with the least bytes are added up. */
void ompp_messages_sort(ompp_profile_t *profile);

/** \brief Part of ompp_profile_merge(): the message matrix. \return 0, or -OMPP_E_NOMEM. */
int ompp_messages_merge(ompp_profile_t *into, const ompp_profile_t *from);

#endif
