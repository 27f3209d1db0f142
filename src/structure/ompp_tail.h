/**
 * \file
 * Calls that the compiler has made as jumps, because they are the last thing in their function: they return to the
 * caller of that function, which is all that the one who is called sees. Debug information knows where such jumps are.
 */
#ifndef OMPP_TAIL_H
#define OMPP_TAIL_H

#include "structure/ompp_structure_priv.h"

/**
 * \brief Where a call stands that is seen to return behind an address.
 * \param[in] addr    in the call that it returns behind, or first address of a function that an OpenMP library has
 *                    called.
 * \param[in] callee  who is called: a name, or its begin in front of a '_'. Case does not count (Fortran).
 * \return an address in the jump; addr when there is none, when there are several, or when nothing is known.
 */
uint64_t ompp_tail_find(ompp_structure_t *structure, uint64_t addr, const char *callee);

/**
 * \brief The function, inlined or not, that the call at an address is written in, where the compiler has kept that.
 * \return its index; OMPP_NO_FUNCTION: not known.
 */
uint32_t ompp_tail_caller(ompp_structure_t *structure, const ompp_unit_t *unit, uint64_t addr);

#endif
