/**
 * \file
 * An opened module, for the parts of src/structure that answer questions about it.
 */
#ifndef OMPP_STRUCTURE_PRIV_H
#define OMPP_STRUCTURE_PRIV_H

#include "structure/ompp_dwarf_priv.h"
#include "structure/ompp_elf.h"
#include "structure/ompp_structure.h"

/** A name cut out of a longer one, kept until the structure is closed. */
typedef struct ompp_kept_name {
    struct ompp_kept_name *next;
    char text[];
} ompp_kept_name_t;

struct ompp_variables;
struct ompp_locals;
struct ompp_definitions;
struct ompp_scopes;

struct ompp_structure {
    ompp_elf_t elf;   /* the module */
    ompp_elf_t debug; /* its separate debug file, for symbols when the module has none left; fd -1 = none */
    ompp_dwarf_t dwarf;
    bool has_lines;
    bool symbols_only;  /* debug information is found, and not read */
    bool foreign_debug; /* a debug file was there that is another user's */
    ompp_kept_name_t *names;
    struct ompp_variables *variables; /* NULL until asked for; ompp_variable.c */
    struct ompp_scopes *scopes;       /* the same; ompp_scope.c, which is not in every library that has this */
    void (*free_scopes)(struct ompp_scopes *scopes);
    struct ompp_locals *locals; /* the same; ompp_local.c */
    void (*free_locals)(struct ompp_locals *locals);
    struct ompp_definitions *definitions; /* the same; ompp_defined.c */
    void (*free_definitions)(struct ompp_definitions *definitions);
};

/** \brief Gives back what ompp_variable.c has read. NULL is accepted. */
void ompp_variables_free(struct ompp_variables *variables);

#endif
