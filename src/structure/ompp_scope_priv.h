/**
 * \file
 * From the code of a procedure to its scopes. Only ompp_scope.c and its parts include this.
 */
#ifndef OMPP_SCOPE_PRIV_H
#define OMPP_SCOPE_PRIV_H

#include "base/ompp_table.h"
#include "structure/ompp_scope.h"
#include "structure/ompp_structure_priv.h"

#define OMPP_NO_CONTEXT UINT32_MAX
#define OMPP_NO_FILE UINT32_MAX

/** A chain of inlined calls; 0 is the procedure itself. Calls of one function on one line are one. */
typedef struct {
    uint32_t outer;
    uint32_t function;             /* of the unit */
    uint32_t call_file, call_line; /* in outer; OMPP_NO_FILE, 0 = not known */
} ompp_context_t;

/** Code of one block and one row of the line table. A row without code, which begins a statement, is one too. */
typedef struct {
    uint64_t low, high; /* [low, high) */
    uint32_t block, context;
    uint32_t file, line; /* OMPP_NO_FILE, 0 = not known */
    bool statement;      /* it begins one, of the function that it is in: other rows may be of code around it */
    bool foreign;        /* its line is of another function, which is inlined elsewhere in the procedure */
} ompp_strip_t;

/** What is known of a procedure while its scopes are made. */
typedef struct {
    ompp_structure_t *structure;
    const ompp_unit_t *unit; /* NULL: no debug information; function is not valid then */
    uint32_t function;       /* OMPP_NO_FUNCTION: lines only */
    double deadline;
    ompp_flow_t flow;   /* without Zydis: a block for each part, no edges */
    ompp_loops_t loops; /* of the blocks */
    ompp_context_t *contexts;
    ompp_strip_t *strips;  /* in the order of the blocks */
    size_t *first_strip;   /* [blocks + 1] */
    uint32_t *of_function; /* context + 1 of functions from `function` on; 0 = not asked for yet */
    uint64_t *edges;       /* where code of inlined calls begins or ends, ascending */
    size_t nedges;
    uint32_t *same_file;  /* first file of the unit with the same path, + 1; 0 = not asked for yet */
    ompp_table_t by_call; /* contexts */
    size_t ncontexts, acontexts, nstrips, astrips;
} ompp_shape_t;

/** \brief Fills in contexts and strips. \return 0, -OMPP_E_NOMEM, -OMPP_E_TIMEOUT. */
int ompp_shape_read(ompp_shape_t *shape);
void ompp_shape_free(ompp_shape_t *shape);

/** \brief The innermost context that two are inside of. */
uint32_t ompp_shape_common(const ompp_shape_t *shape, uint32_t a, uint32_t b);

/**
 * \brief The line that code has in a context that it is inside of: its own, or that of a call there.
 * \return false: none.
 */
bool ompp_shape_project(const ompp_shape_t *shape, const ompp_strip_t *strip, uint32_t context, uint32_t *file,
                        uint32_t *line);

/** A loop of the code as the source has it. */
typedef struct {
    uint32_t context;
    uint32_t file, line, line_end; /* OMPP_NO_FILE, 0 = not known */
    uint32_t sure; /* first of the lines of branches back to its begin that are statements; 0 = none is */
    uint32_t next; /* the line behind line on which it may begin; 0 = none */
} ompp_source_loop_t;

/**
 * \brief Context and lines of each loop.
 * \param[out] lines  the caller's, shape [shape->loops.n].
 * \return false: out of memory.
 */
bool ompp_nest_lines(ompp_shape_t *shape, ompp_source_loop_t *lines);

/** \brief Makes the scopes and pieces of a procedure, whose parts are there. \return 0, -OMPP_E_NOMEM. */
int ompp_nest_scopes(ompp_shape_t *shape, const ompp_source_loop_t *lines, ompp_procedure_t *procedure);

#endif
