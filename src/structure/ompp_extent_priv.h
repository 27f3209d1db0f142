/**
 * \file
 * Last line of OpenMP code, from what compilers make of it. See ompp_extent.c.
 */
#ifndef OMPP_EXTENT_PRIV_H
#define OMPP_EXTENT_PRIV_H

#include "structure/ompp_dwarf_priv.h"

/**
 * \brief Last line of the outlined code of a directive.
 * \param[in] begin  row of the directive's call; its line is the directive's.
 * \return 0 when the unit has no such code.
 */
uint32_t ompp_extent_outlined(const ompp_unit_t *unit, const ompp_row_t *begin);

/**
 * \brief Lines of a region that is known by the first address of the function made of it (gcc).
 * \param[out] file  number of the file, as in rows.
 * \return false when no such function begins there.
 */
bool ompp_extent_entry(const ompp_unit_t *unit, uint64_t addr, uint32_t *file, uint32_t *first, uint32_t *last);

/**
 * \brief Line of the directive of a combined construct ("parallel for"), for code of the loop in it.
 * \return 0 when the code at this address is not that of such a loop, or nothing says so.
 */
uint32_t ompp_extent_combined(ompp_dwarf_t *dwarf, const ompp_unit_t *unit, uint64_t addr);

/** \brief Last line between two addresses of one function. \return at least begin->line. */
uint32_t ompp_extent_calls(const ompp_unit_t *unit, const ompp_row_t *begin, uint64_t addr, uint64_t addr_end);

/** \return the least line in a file of a function's own code; 0 = it has none there. */
uint32_t ompp_extent_first(const ompp_unit_t *unit, uint32_t function, uint32_t file);

/** \brief Last line of a function's own code in one file. \return 0 when it has none there. */
uint32_t ompp_extent_function(const ompp_unit_t *unit, uint32_t function, uint32_t file);

#endif
