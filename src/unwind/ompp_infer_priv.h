/**
 * \file
 * A search for a recipe in the code: values that are followed, and what the search knows. Private to src/unwind.
 */
#ifndef OMPP_INFER_PRIV_H
#define OMPP_INFER_PRIV_H

#include "unwind/ompp_decoder_priv.h"

#define OMPP_INFER_POINTS 256u
#define OMPP_INFER_PENDING 32u /* branches that are still to be followed */
#define OMPP_INFER_STORES 24u  /* words of the stack, written on the way */
#define OMPP_INFER_VISITED_BITS 15u
#define OMPP_INFER_ALIGNED 16u /* number of a register that there is not: the stack pointer after it was aligned */

/** In terms of the registers at the address where the search begins. */
typedef struct {
    enum {
        OMPP_INFER_UNKNOWN,
        OMPP_INFER_REGISTER,
        OMPP_INFER_MEMORY,
        OMPP_INFER_INDIRECT,
        OMPP_INFER_ADDRESS
    } form : 8; /* reg + offset; *(reg + offset) + plus; *(*(reg + offset) + plus); begin of the file + offset */
    uint8_t reg;
    int32_t offset, plus;
} ompp_infer_value_t;

typedef struct {
    uintptr_t at;
    ompp_infer_value_t reg[16];
    struct {
        ompp_infer_value_t address, value; /* address.form OMPP_INFER_REGISTER, or OMPP_INFER_UNKNOWN: none */
    } store[OMPP_INFER_STORES];
    unsigned next_store;
    int64_t apart; /* rbp - rsp, as they were where the search began */
} ompp_infer_state_t;

/** An address on the way. */
typedef struct {
    uintptr_t at;
    int32_t down; /* its stack pointer less the one at the begin */
    bool is_rsp_known;
    uint16_t unchanged; /* registers that have their values of the begin */
} ompp_infer_point_t;

typedef struct {
    const ompp_image_map_t *image;
    const ompp_infer_help_t *help;
    ompp_recipe_t *recipe;
    unsigned npoints;
    ompp_infer_point_t points[OMPP_INFER_POINTS];
    ompp_recipe_t weak; /* of a return where rbp was not known any more; kind NONE: there was none */
    uintptr_t goal;     /* not 0: the search begins where the procedure does, and ends here */
    unsigned count, npending;
    /* By a register: to a case of a switch, or to another procedure. */
    bool has_jump, was_jump;
    ompp_infer_state_t now, jump, first_jump, pending[OMPP_INFER_PENDING];
    uint32_t visited[1u << OMPP_INFER_VISITED_BITS];
} ompp_infer_search_t;

/** \brief A value, and a number more; not known where that does not fit. */
static inline ompp_infer_value_t ompp_infer_add(ompp_infer_value_t value, int64_t n)
{
    const int64_t sum = (value.form == OMPP_INFER_MEMORY ? value.plus : value.offset) + n;

    if (sum != (int32_t)sum || (value.form == OMPP_INFER_INDIRECT && n)) value.form = OMPP_INFER_UNKNOWN;
    if (value.form == OMPP_INFER_MEMORY) value.plus = (int32_t)sum;
    if (value.form == OMPP_INFER_REGISTER || value.form == OMPP_INFER_ADDRESS) value.offset = (int32_t)sum;
    return value;
}

/** \brief Relative to the stack pointer, where rbp is known to point to the stack. */
static inline int64_t ompp_infer_place(const ompp_infer_state_t *s, ompp_infer_value_t address)
{
    return address.offset + (address.reg == OMPP_RBP ? s->apart : 0);
}

static inline bool ompp_infer_is_on_stack(ompp_infer_value_t address)
{
    return address.reg == OMPP_RSP || address.reg == OMPP_RBP;
}

static inline bool ompp_infer_same_place(const ompp_infer_state_t *s, ompp_infer_value_t a, ompp_infer_value_t b)
{
    if (a.form != OMPP_INFER_REGISTER || b.form != OMPP_INFER_REGISTER) return false;
    if (a.reg == b.reg) return a.offset == b.offset;
    return ompp_infer_is_on_stack(a) && ompp_infer_is_on_stack(b) && ompp_infer_place(s, a) == ompp_infer_place(s, b);
}

/** \brief The return address is on top of the stack: makes the recipe of it. \return false: none. */
bool ompp_infer_ends(ompp_infer_search_t *search, const ompp_infer_state_t *s);

/**
 * \brief The search has begun where the procedure does: what it knows here is turned round.
 * \return false: it makes no recipe.
 */
bool ompp_infer_reaches_goal(ompp_infer_search_t *search, const ompp_infer_state_t *s);

#endif
