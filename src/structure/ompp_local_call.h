/**
 * \file
 * Variables that get what a call returns, and registers of its callers that a function has kept in its frame.
 */
#ifndef OMPP_LOCAL_CALL_H
#define OMPP_LOCAL_CALL_H

#include "structure/ompp_local.h"

/**
 * \brief The variable that gets what a call returns, as far as the code behind the call tells.
 * \param[in]  code   where it returns to.
 * \param[in]  place  of the frame, where the result is, from the canonical frame address; 0 = it is returned.
 * \param[out] found  low is at most 0: the result is stored so many bytes behind the variable's begin. given_on: there
 *                    are only variables of functions that give it on.
 */
bool ompp_local_result(ompp_structure_t *structure, uint64_t code, int64_t place, double deadline, ompp_local_t *found);

/** \brief The address that a call's result is stored to, where the code behind the call says so; 0 = it does not, or
 *         says that a variable gets what the call has stored to a place. */
uint64_t ompp_local_stored(ompp_structure_t *structure, uint64_t code, int64_t place, double deadline);

/** \brief Whether the function around a call returns the call's result, as far as the code behind the call tells. */
bool ompp_local_returned(ompp_structure_t *structure, uint64_t code, int64_t place, double deadline);

/** \return the register of its callers that a function has kept so many bytes below its canonical frame address at an
 *         address of the code, in DWARF's numbers; negative = none. */
int ompp_local_kept(ompp_structure_t *structure, uint64_t code, int64_t below);

/** \brief Whether a function has kept a register of its callers anywhere. */
bool ompp_local_keeps(ompp_structure_t *structure, uint64_t code, unsigned reg);

#endif
