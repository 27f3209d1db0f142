/**
 * \file
 * Variables of functions: which of them lie at a place of a frame, or have a register's value at an address of the
 * code; and what pointers in variables point to. For structures that nobody has named (analysis/ompp_names.c).
 */
#ifndef OMPP_LOCAL_H
#define OMPP_LOCAL_H

#include "structure/ompp_variable.h"

/** A place in the frame of the procedure that an address of the code is in. */
typedef struct {
    uint64_t code;     /* in the procedure */
    int64_t low, high; /* bytes from its canonical frame address: low <= offset < high, below 0 */
    uint64_t frame;    /* bytes from the stack pointer to that address; 0 = not known */
    bool now;    /* code is in the variable's block and the variable is there, not only somewhere in the procedure */
    bool ever;   /* with now: in the variable's block, and the variable is there somewhere in the procedure */
    bool begins; /* it is said to be there from code on: only with now */
    bool in_register; /* not the place, but a register is asked for */
    unsigned reg;     /* DWARF's number */
} ompp_local_place_t;

/** Strings are borrowed from the structure or its debug information. */
typedef struct {
    const char *name, *function; /* function: that it is declared in */
    uint64_t type;
    int64_t low; /* where it begins, or would: of one that is asked for a register, bytes from the register's to it */
    bool fortran;
    bool parameter;
    bool given_on;   /* it is declared in a function inlined here that returns a pointer: to its caller */
    bool is_address; /* what is there is not the variable, but its address */
    bool listed;     /* it is said to be there at this code, not only in all of its block */
} ompp_local_t;

/**
 * \brief The variables at a place: several where the compiler uses it for one after the other and the code does not
 *        tell which (now).
 * \param[out] found  shape [max].
 * \return how many, at most max.
 */
size_t ompp_local_find(ompp_structure_t *structure, const ompp_local_place_t *place, ompp_local_t *found, size_t max);

/**
 * \brief Whether the procedure around an address returns a pointer.
 * \param[out] target  the type that it points to; 0 = it is not said what.
 */
bool ompp_local_returns_pointer(ompp_structure_t *structure, uint64_t code, uint64_t *target);

/** \return how many variables and parameters of the procedure around an address point to this type. */
unsigned ompp_local_pointers_to(ompp_structure_t *structure, uint64_t code, uint64_t target);

/** \brief The procedure around an address, as in the source. \return borrowed; NULL = not known. */
const char *ompp_local_function(ompp_structure_t *structure, uint64_t code);

/** What is at a place of a type. A container of the C++ library has the block that it points to. */
typedef enum { OMPP_LOCAL_NO_POINTER, OMPP_LOCAL_POINTER, OMPP_LOCAL_CONTAINER } ompp_local_kind_t;

/**
 * \brief Which part of a type holds a pointer at an offset, and what that points to.
 * \param[out] text   "" or ".x[2].y" or "%x"; members of the C++ library's own are left out. Shape [size].
 * \param[out] target the type that is pointed to, 0 = not known.
 * \return NO_POINTER: none is known to be there; text says which part it is.
 */
ompp_local_kind_t ompp_local_pointer(ompp_structure_t *structure, uint64_t type, uint64_t offset, bool fortran,
                                     char *text, size_t size, uint64_t *target, double deadline);

/**
 * \brief The same of a variable that was found, or of its address.
 * \param[in] offset  within what was found.
 */
ompp_local_kind_t ompp_local_points(ompp_structure_t *structure, const ompp_local_t *found, uint64_t offset, char *text,
                                    size_t size, uint64_t *target, double deadline);

/** \return the definition of a type that its unit only declares, where another unit has the only one; else type. */
uint64_t ompp_local_defined(ompp_structure_t *structure, uint64_t type, double deadline);

/** \brief Which part of a type lies at an offset, as ompp_variable_part(). */
void ompp_local_part(ompp_structure_t *structure, uint64_t type, uint64_t offset, bool fortran, char *text,
                     size_t size);

/** A line of the source. */
typedef struct {
    const char *file; /* borrowed from the structure */
    uint32_t line;
} ompp_line_t;

/**
 * \brief The line of an address, then those where the functions around it, which are inlined, are called.
 * \param[out] lines  innermost first, shape [max].  \return how many.
 */
size_t ompp_local_lines(ompp_structure_t *structure, uint64_t code, ompp_line_t *lines, size_t max);

/** \return size of a type in bytes; 0 = not known. */
uint64_t ompp_local_size(ompp_structure_t *structure, uint64_t type, bool fortran);

#endif
