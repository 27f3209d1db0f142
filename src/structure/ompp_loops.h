/**
 * \file
 * The loops of a graph and how they are nested: Havlak, "Nesting of reducible and irreducible loops", TOPLAS 19(4),
 * 1997. Nothing here knows of code. Called by ompp_scope.c.
 */
#ifndef OMPP_LOOPS_H
#define OMPP_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#define OMPP_NO_LOOP UINT32_MAX

/** Edges of node i lead to to[first[i]] .. to[first[i + 1] - 1]. */
typedef struct {
    uint32_t n;
    uint32_t *first; /* [n + 1] */
    uint32_t *to;    /* [first[n]] */
} ompp_graph_t;

typedef struct {
    uint32_t header;  /* node */
    uint32_t outer;   /* the loop around it, with a lower index; OMPP_NO_LOOP = none */
    bool irreducible; /* it is entered not only by its header */
} ompp_loop_t;

typedef struct {
    uint32_t n;
    ompp_loop_t *loops; /* outer ones first */
    uint32_t *of;       /* [nodes] the innermost loop of each node, or OMPP_NO_LOOP */
} ompp_loops_t;

/**
 * \brief Finds all loops that are reached from a node, then those reached only from other nodes, as from landing pads:
 *        an edge from there does not count as an entry of a loop.
 * \param[in]  entry     node; < graph->n.
 * \param[in]  no_root   [n] nodes that are left out when nothing leads to them (padding).
 * \param[in]  deadline  ompp_clock_seconds().
 * \param[out] loops     the caller's; ompp_loops_free() also after a failure.
 * \return 0, -OMPP_E_NOMEM, -OMPP_E_TIMEOUT.
 */
int ompp_loops_find(const ompp_graph_t *graph, uint32_t entry, const bool *no_root, double deadline,
                    ompp_loops_t *loops);

void ompp_loops_free(ompp_loops_t *loops);

#endif
