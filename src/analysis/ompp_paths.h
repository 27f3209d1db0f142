/**
 * \file
 * What is asked of call paths again and again, found in one pass over all of them: which nodes a region has, and what
 * stands above a node. Without it each question would walk all nodes, for each region. Includes base and model only.
 */
#ifndef OMPP_PATHS_H
#define OMPP_PATHS_H

#include "model/ompp_profile.h"

#define OMPP_PATHS_SLOTS 1u

typedef struct {
    uint32_t *first; /* [nregions + 1] nodes[first[r]] .. nodes[first[r + 1] - 1] are those of region r, ascending */
    uint32_t *nodes; /* [nnodes] */
    uint32_t *fork;  /* [nnodes] innermost node at or above this one that starts a team; 0 (the root) = there is none */
    uint32_t *top;   /* [nnodes] outermost region's node at or above this one; its own where there is none */
    bool *own;       /* [nnodes] threads of the program's own were on the path from its outermost region on */
    uint8_t *
        slots; /* [nnodes] OMPP_PATHS_SLOTS: sums over threads are divided by all slots of the run, else by its ranks */
} ompp_paths_t;

/**
 * \brief Reads all nodes; parents stand before their children.
 * \param[in] profile  borrowed; regions and nodes must stay as they are.
 * \return false when out of memory: nothing is to be freed then.
 */
bool ompp_paths_init(ompp_paths_t *paths, const ompp_profile_t *profile);
void ompp_paths_fini(ompp_paths_t *paths);

/** \brief The nodes of a region, from begin on up to, without, end. */
static inline const uint32_t *ompp_paths_begin(const ompp_paths_t *paths, uint32_t region)
{
    return paths->nodes + paths->first[region];
}

static inline const uint32_t *ompp_paths_end(const ompp_paths_t *paths, uint32_t region)
{
    return paths->nodes + paths->first[region + 1];
}

#endif
