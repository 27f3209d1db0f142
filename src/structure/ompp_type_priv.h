/**
 * \file
 * Types in the debug information: sizes, and which part of an object lies at an offset. Private to src/structure.
 */
#ifndef OMPP_TYPE_PRIV_H
#define OMPP_TYPE_PRIV_H

#include "structure/ompp_dwarf_priv.h"

/** \return offset of the entry for the type that an entry refers to, 0 = none. */
uint64_t ompp_type_of(ompp_dwarf_t *dwarf, Dwarf_Die die);

/** \return size of a type in bytes; 0 = not known, or not fixed. */
uint64_t ompp_type_size(ompp_dwarf_t *dwarf, uint64_t type, bool fortran);

/** \brief See ompp_variable_part(). */
void ompp_type_part(ompp_dwarf_t *dwarf, uint64_t type, uint64_t offset, bool fortran, const char *const whole[],
                    char *text, size_t size);

/**
 * \brief See ompp_local_pointer().
 * \param[in,out] offset  where none is: what is left of it in the part that text names.
 * \param[out] target     where none is: the type of that part.
 */
bool ompp_type_pointer(ompp_dwarf_t *dwarf, uint64_t type, uint64_t *offset, bool fortran, char *text, size_t size,
                       uint64_t *target);

/** \brief See ompp_variable_select(). */
const char *ompp_type_select(ompp_dwarf_t *dwarf, uint64_t type, const char *part, bool fortran, uint64_t *offset,
                             uint64_t *size);

/** \brief Pointers and references, by whatever name. */
bool ompp_type_is_pointer(ompp_dwarf_t *dwarf, uint64_t type);

/** \brief Arrays whose data lie elsewhere: allocatable ones and pointers of Fortran. */
bool ompp_type_is_descriptor(ompp_dwarf_t *dwarf, uint64_t type);

/** \brief Classes of the C++ library whose elements lie elsewhere, by their names ("vector<double>"). */
bool ompp_type_is_container(ompp_dwarf_t *dwarf, uint64_t type);

#endif
