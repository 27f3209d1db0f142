/**
 * \file
 * Control flow of one procedure from its decoded instructions (x86-64, Zydis). Called by ompp_scope.c.
 *
 * Calls end a block only when they do not return. A jump by a table leads to the entries of the table, which ends where
 * an entry does not lead to an instruction of the procedure. No edge leads to the landing pads of exceptions.
 */
#ifndef OMPP_FLOW_H
#define OMPP_FLOW_H

#include "structure/ompp_loops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t low, high; /* [low, high) */
} ompp_part_t;

/** What is asked about the file. */
typedef struct {
    void *context;
    /** Reads bytes of the file at an address. \return false: they are not all there. */
    bool (*read)(void *context, uint64_t address, void *buffer, size_t size);
    /** Whether the function that is called at an address never returns. */
    bool (*never_returns)(void *context, uint64_t callee);
} ompp_flow_file_t;

typedef struct {
    uint64_t low, high;
    uint64_t last; /* its last instruction */
} ompp_flow_block_t;

typedef struct {
    ompp_flow_block_t *blocks; /* [graph.n], in the order of the parts */
    bool *padding;             /* [graph.n] nothing but instructions without effect */
    ompp_graph_t graph;        /* of the blocks */
    uint64_t *outside;         /* where jumps out of the procedure lead */
    size_t noutside;
    uint32_t returns; /* instructions that return */
    uint32_t unknown; /* jumps by a register or memory whose table was not found: mostly calls made as jumps */
} ompp_flow_t;

#define OMPP_FLOW_MAX_BYTES (16u << 20) /* of a procedure that is looked at */

/**
 * \param[in]  parts     shape [n], not overlapping; blocks[0] begins the first.
 * \param[in]  deadline  ompp_clock_seconds().
 * \param[out] flow      the caller's; ompp_flow_free() also after a failure.
 * \return 0, -OMPP_E_NOMEM, -OMPP_E_TIMEOUT, -OMPP_E_FORMAT (no code there), -OMPP_E_LIMIT (too much of it),
 *         -OMPP_E_UNSUPPORTED (this build does not decode instructions).
 */
int ompp_flow_build(const ompp_part_t *parts, size_t n, const ompp_flow_file_t *file, double deadline,
                    ompp_flow_t *flow);

void ompp_flow_free(ompp_flow_t *flow);

#endif
