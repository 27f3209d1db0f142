/**
 * \file
 * What of the source an address lies in: its procedure, calls that were inlined there, and loops, nested as the source
 * has them (Tallent, Mellor-Crummey and Fagan, PLDI 2009, section 3). Each procedure is analysed when it is first asked
 * for, and kept until the module is closed. Called by src/analysis and ompp-struct.
 *
 * A loop is one of the source: copies that the compiler has made of it (vector and remainder, unrolled, in several
 * copies of the code around it) are one scope.
 */
#ifndef OMPP_SCOPE_H
#define OMPP_SCOPE_H

#include "structure/ompp_flow.h"
#include "structure/ompp_structure.h"

typedef enum { OMPP_SCOPE_PROCEDURE, OMPP_SCOPE_INLINED, OMPP_SCOPE_LOOP } ompp_scope_kind_t;

/** Strings are borrowed from the structure. */
typedef struct ompp_scope {
    const struct ompp_scope *outer; /* what it is inside of; NULL: it is the procedure */
    ompp_scope_kind_t kind;
    const char *function; /* PROCEDURE, INLINED: as in the source; the symbol without debug information; or NULL */
    const char *file;     /* of line; NULL = not known */
    uint32_t line,
        line_end;     /* PROCEDURE: declaration; INLINED: where it is called; LOOP: first and last; 0 = not known */
    uint32_t copies;  /* LOOP: in the code */
    bool irreducible; /* LOOP: a copy of it is entered not only at its begin */
    bool made;        /* LOOP: by the compiler: it has no line, or is an array expression or copy of Fortran */
    uint64_t low;     /* lowest address that belongs to it */
    uint64_t bytes;   /* of code that is in it, and in no scope inside it */
} ompp_scope_t;

/** Code of one scope and one line. */
typedef struct {
    uint64_t low, high;
    uint32_t scope;
    uint32_t line; /* 0 = not known */
    const char *file;
} ompp_piece_t;

typedef struct {
    size_t nparts, nscopes, npieces;
    ompp_part_t *parts;   /* parts[0] begins with its entry */
    ompp_scope_t *scopes; /* scopes[0] is the procedure; a scope stands behind the one that it is inside of */
    ompp_piece_t *pieces; /* ascending by address */
    /* 0: loops are known. -OMPP_E_UNSUPPORTED: this build has no Zydis. -OMPP_E_LIMIT: the procedure is too large.
     * -OMPP_E_FORMAT: the file does not have its code. */
    int loops_rc;
    uint32_t unknown_jumps; /* by registers or memory, whose targets were not found */
} ompp_procedure_t;

/**
 * \brief The procedure of an address.
 * \param[in]  deadline  ompp_clock_seconds(). A procedure takes 2 s at most.
 * \param[out] procedure  borrowed from the structure.
 * \return 0.
 * \return -OMPP_E_NOTFOUND  no procedure is known there.
 * \return -OMPP_E_TIMEOUT   later than the deadline; may be asked again.
 * \return -OMPP_E_NOMEM.
 */
int ompp_scope_procedure(ompp_structure_t *structure, uint64_t address, double deadline,
                         const ompp_procedure_t **procedure);

/** \brief The piece of a procedure that holds an address. \return NULL: there is none. */
const ompp_piece_t *ompp_scope_piece(const ompp_procedure_t *procedure, uint64_t address);

/** Where an address lies: the scope and those around it (outer), from the innermost to the procedure. */
typedef struct {
    const ompp_scope_t *scope;
    const char *file; /* of the line; NULL = not known */
    uint32_t line;    /* of the innermost function; 0 = not known */
    int loops_rc;     /* as in ompp_procedure_t */
} ompp_spot_t;

/**
 * \brief What an address lies in. Of a return address, ask for the byte before it.
 * \return as ompp_scope_procedure().
 */
int ompp_scope_at(ompp_structure_t *structure, uint64_t address, double deadline, ompp_spot_t *spot);

/**
 * \brief Who is called where an address lies.
 * \param[in] address  of the last byte of a call.
 * \return the symbol, borrowed; NULL = not known, or no call of a function by its name.
 */
const char *ompp_scope_callee(ompp_structure_t *structure, uint64_t address);

/**
 * \brief An address in every procedure that symbols, unwind information or debug information know, ascending.
 * \param[out] addresses  owned, free().
 * \return 0, -OMPP_E_NOMEM, -OMPP_E_TIMEOUT (those of debug information may be missing).
 */
int ompp_scope_addresses(ompp_structure_t *structure, double deadline, uint64_t **addresses, size_t *n);

#endif
