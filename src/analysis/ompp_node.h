/**
 * \file
 * Nodes of a profile's call tree that become one. Includes base and model only.
 */
#ifndef OMPP_NODE_H
#define OMPP_NODE_H

#include "model/ompp_profile.h"

/** \brief Adds a block's values to those of a node, each metric by its reduction over threads. */
void ompp_node_add(ompp_profile_t *profile, uint32_t node, const ompp_block_t *from);

/** \brief Adds all that a node has to another one, which is at the same place. */
void ompp_node_join(ompp_profile_t *profile, uint32_t into, const ompp_node_t *from);

/** \brief Frees a node's blocks: it has none. */
void ompp_node_clear(ompp_node_t *node);

#endif
