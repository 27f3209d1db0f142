/**
 * \file
 * Where the instructions behind a call put its result: registers and places of the frame, as x86-64 has them. Without
 * Zydis nothing is known but the register of the result. Private to src/structure.
 */
#ifndef OMPP_FOLLOW_H
#define OMPP_FOLLOW_H

#include "structure/ompp_elf.h"

#include <stdbool.h>
#include <stdint.h>

#define OMPP_FOLLOW_PLACES 8u /* of the frame, that may hold the result at a time */

/** What holds the result behind an instruction. */
typedef struct {
    uint64_t code;      /* of the next instruction */
    unsigned step;      /* instructions that were followed, 0 = none: right behind the call */
    uint32_t registers; /* a bit each, by DWARF's numbers */
    uint32_t new_ones;  /* of these, those that have got it by the last instruction */
    int64_t frame;      /* bytes from the stack pointer to the canonical frame address, or a number as good */
    unsigned nplaces;   /* of the frame */
    int64_t places[OMPP_FOLLOW_PLACES]; /* from the canonical frame address: 8 bytes each, the last one the newest */
    bool new_place;
    bool returned;    /* the function returns it; the last one that is visited */
    uint64_t address; /* that the last instruction has stored it to; 0 = to none that the code names */
} ompp_follow_t;

/** \return true: that is enough. */
typedef bool ompp_follow_visit_t(const ompp_follow_t *where, void *data);

/** \return bytes from a register to the canonical frame address; 0 = not known. reg: DWARF's number of it. */
typedef int64_t ompp_follow_frame_t(uint64_t code, unsigned *reg, void *data);

/**
 * \brief Follows the result of a call: jumps that depend on something are not taken. Ends where nothing holds it any
 *        more, where a function returns, and after some hundred instructions.
 * \param[in] code  where the call returns to.
 * \param[in] place  of the frame, where the call has stored its result; 0 = it is returned.
 */
void ompp_follow_result(const ompp_elf_t *elf, uint64_t code, int64_t place, ompp_follow_frame_t *frame,
                        ompp_follow_visit_t *visit, void *data);

#endif
