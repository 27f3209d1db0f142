/**
 * \file
 * Variables with a fixed address: globals, statics of files and functions, static members, variables of Fortran modules
 * and common blocks. By name and by address, from the debug information, and from symbols where there is none.
 *
 * Addresses are those of the module's file, as in ompp_structure.h. Variables of threads (thread_local, threadprivate)
 * have none.
 */
#ifndef OMPP_VARIABLE_H
#define OMPP_VARIABLE_H

#include "structure/ompp_structure.h"

/** Strings are owned by the structure. */
typedef struct {
    /* as in the source, qualified: "count", "geo::Body::count", "shapes::area" (module), "/work/x" (common) */
    const char *name;
    const char *function; /* it is a static variable of this one; NULL = it is not */
    const char *file;     /* of its declaration; NULL = not known */
    uint32_t line;        /* 0 = not known */
    uint64_t addr, size;  /* bytes; size 0 = not known */
    uint64_t type;        /* for ompp_variable_part(); 0 = known by its symbol only */
    bool fortran;         /* its name has no case; parts are written as in Fortran */
} ompp_variable_t;

/**
 * \brief The variable that an address lies in.
 * \param[in] deadline  as in ompp_structure_lookup(); when it is over, what has been read so far counts. All units are
 *                      read once.
 * \return borrowed; NULL = none known.
 */
const ompp_variable_t *ompp_variable_at(ompp_structure_t *structure, uint64_t addr, double deadline);

/**
 * \brief All variables of a name: as above, or its last part alone ("count"); "function::name" for static ones.
 * \param[out] found  caller's, shape [max]; ascending by address.
 * \return how many there are, which may be more than max: the name is ambiguous when it is more than 1.
 */
size_t ompp_variable_named(ompp_structure_t *structure, const char *name, double deadline,
                           const ompp_variable_t **found, size_t max);

/**
 * \brief Which part of a variable lies at an offset: "[3].lock", "(2,5)%lock", "" for the variable itself.
 * \param[in]  whole  names of types that are not taken apart, NULL-terminated; NULL = down to the scalar.
 * \param[out] text   always terminated; an offset that no part explains is written "+0x10". Shape [size].
 */
void ompp_variable_part(ompp_structure_t *structure, const ompp_variable_t *variable, uint64_t offset,
                        const char *const whole[], char *text, size_t size);

/** \brief All variables, ascending by address. \param[out] n  their number. \return borrowed, shape [n]. */
const ompp_variable_t *ompp_variable_all(ompp_structure_t *structure, double deadline, size_t *n);

/**
 * \brief Whether a variable may have this name: a symbol of data contains it, or the debug information holds it as a
 *        text. To be asked before that is read, of a structure from ompp_structure_open_symbols() as well.
 * \param[in] word        one identifier, without what it is qualified by; in any case.
 * \param[in] compressed  the answer when neither symbols nor what can be read without decompression have it.
 */
bool ompp_variable_may_be(ompp_structure_t *structure, const char *word, bool compressed);

/** \brief Whether a function has this name, as its symbol or as in the source. */
bool ompp_variable_is_function(ompp_structure_t *structure, const char *name);

/** \brief Whether the module uses a symbol of another one by this name. */
bool ompp_variable_is_imported(ompp_structure_t *structure, const char *name);

/** \brief The symbol that begins at an address. \return its name, borrowed; NULL = none. \param[out] size  bytes. */
const char *ompp_variable_symbol(ompp_structure_t *structure, uint64_t addr, uint64_t *size);

/** \brief Behind the last "::" or "/" of a name. */
const char *ompp_variable_last_part(const char *name);

/**
 * \brief The bytes of a part of a variable, written as in its language: ".lock", "[2][1:3]" (start and length, as in
 *        OpenMP), "%x", "(1:5,2)" (first and last), and several of them.
 * \param[out] offset, size  bytes.
 * \return NULL, or why it is no part of it: a sentence.
 */
const char *ompp_variable_select(ompp_structure_t *structure, const ompp_variable_t *variable, const char *part,
                                 uint64_t *offset, uint64_t *size);

typedef enum {
    OMPP_VARIABLE_DATA,
    OMPP_VARIABLE_POINTER,
    OMPP_VARIABLE_DESCRIPTOR,
    OMPP_VARIABLE_CONTAINER
} ompp_variable_kind_t;

/**
 * \brief Whether a variable holds the user's data, or says where they lie: a pointer or reference, an allocatable
 *        array, a container.
 */
ompp_variable_kind_t ompp_variable_kind(ompp_structure_t *structure, const ompp_variable_t *variable);

#endif
