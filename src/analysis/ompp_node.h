/**
 * \file
 * Nodes of a profile's call tree that become one. Includes base and model only.
 */
#ifndef OMPP_NODE_H
#define OMPP_NODE_H

#include "model/ompp_profile.h"

/** \return whether a node is no region's, but a part of a call path between regions. The root is a region's. */
static inline bool ompp_node_is_path(const ompp_profile_t *profile, uint32_t node)
{
    const uint32_t region = profile->nodes[node].region;

    return region < profile->nregions && ompp_construct_is_path(profile->regions[region].construct);
}

/** \brief Adds a block's values to those of a node, each metric by its reduction over threads. */
void ompp_node_add(ompp_profile_t *profile, uint32_t node, const ompp_block_t *from);

/** \brief Adds all that a node has to another one, which is at the same place. */
void ompp_node_join(ompp_profile_t *profile, uint32_t into, const ompp_node_t *from);

/** \brief Frees a node's blocks: it has none. */
void ompp_node_clear(ompp_node_t *node);

#endif
