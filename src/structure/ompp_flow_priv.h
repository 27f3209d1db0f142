/**
 * \file
 * The instructions of a procedure, for the parts that make its control flow. Only ompp_flow.c and ompp_flow_table.c
 * include this.
 */
#ifndef OMPP_FLOW_PRIV_H
#define OMPP_FLOW_PRIV_H

#include "structure/ompp_flow.h"

#include <Zydis/Zydis.h>

#define OMPP_NO_PLACE UINT32_MAX

/** Places are offsets in the code of all parts, one behind the other. */
typedef struct {
    uint64_t low, high;
    uint32_t at; /* place of low */
} ompp_code_part_t;

typedef enum { OMPP_BRANCH_JUMP, OMPP_BRANCH_EITHER, OMPP_BRANCH_TABLE, OMPP_BRANCH_STOP } ompp_branch_kind_t;

typedef struct {
    uint32_t at, next; /* places of it, and behind it */
    ompp_branch_kind_t kind;
    uint64_t target;             /* JUMP, EITHER */
    uint32_t to;                 /* place of it, or OMPP_NO_PLACE */
    uint32_t first_case, ncases; /* TABLE */
} ompp_branch_t;

/** A register gets an address. */
typedef struct {
    uint32_t at;
    uint8_t reg; /* as encoded */
    uint64_t target;
} ompp_lea_t;

/** Of a place. */
enum { OMPP_MARK_START = 1, OMPP_MARK_LEADER = 2, OMPP_MARK_REAL = 4 /* an instruction with an effect */ };

typedef struct {
    const ompp_flow_file_t *file;
    ompp_code_part_t *parts;
    size_t nparts;
    uint32_t size;  /* of the code */
    uint8_t *code;  /* [size] */
    uint8_t *marks; /* [size + 1] */
    ZydisDecoder quick, full;
    bool no_memory;
    ompp_branch_t *branches; /* ascending */
    ompp_lea_t *leas;        /* ascending */
    uint32_t *cases;         /* places where tables lead */
    uint32_t *at;            /* places of the blocks */
    size_t nbranches, abranches, nleas, aleas, ncases, acases, nat, aat;
    size_t nblocks, ablocks, npadding, apadding, nedges, aedges, aoutside;
} ompp_code_map_t;

/** \brief Place of an address, or OMPP_NO_PLACE. */
uint32_t ompp_code_map_place(const ompp_code_map_t *m, uint64_t address);
uint64_t ompp_code_map_address(const ompp_code_map_t *m, uint32_t at);

/** \brief Adds where a jump by a table leads. \return false: no table was found. */
bool ompp_flow_table(ompp_code_map_t *m, ompp_branch_t *branch);

#endif
