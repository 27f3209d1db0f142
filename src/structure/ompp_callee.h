/**
 * \file
 * Whether a function that is called returns, by its name. Called by ompp_scope.c.
 */
#ifndef OMPP_CALLEE_H
#define OMPP_CALLEE_H

#include "structure/ompp_elf.h"

/** \brief Whether a function never returns, by its symbol: abort, __cxa_throw, ... */
bool ompp_callee_never_returns(const char *symbol);

/**
 * \brief Symbol of the function at an address, which may be an entry of the procedure linkage table.
 * \return borrowed; NULL = not known.
 */
const char *ompp_callee_name(ompp_elf_t *elf, uint64_t address);

#endif
