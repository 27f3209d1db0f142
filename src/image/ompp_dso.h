/**
 * \file
 * Modules of this process (the program and its libraries) as the loader has them in memory: the functions that they
 * define, and the slots through which they call those of others. A slot is a word that the loader fills with the
 * address of a function. It may lie in memory that the loader has made read-only since (PT_GNU_RELRO).
 */
#ifndef OMPP_DSO_H
#define OMPP_DSO_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct dl_phdr_info;

#pragma GCC visibility push(default)

/** Borrowed from the loader: valid while the module is loaded. */
typedef struct {
    const char *path; /* "" = the program */
    uintptr_t base;
    const ElfW(Phdr) * headers;
    unsigned nheaders;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash, *hash;   /* one of them may be NULL */
    const ElfW(Rela) * relocations[2]; /* of data, of calls; NULL = none */
    size_t count[2];
    uintptr_t relro_begin, relro_end; /* read-only now; 0, 0 = nothing */
} ompp_dso_t;

/** \brief For callbacks of dl_iterate_phdr(). \return false: it has no dynamic section. */
bool ompp_dso_read(const struct dl_phdr_info *info, ompp_dso_t *module);

/** \return whether the address lies in the module. */
bool ompp_dso_has(const ompp_dso_t *module, const void *address);

/** \brief The hash of a name, for ompp_dso_find(). */
uint32_t ompp_dso_hash(const char *name);

/** \return address of a function that the module defines for others; NULL = none of this name. */
void *ompp_dso_find(const ompp_dso_t *module, const char *name, uint32_t hash);

/** A name that the loader has looked up for a module, for one slot. */
typedef struct {
    const char *name;
    bool own;    /* the module defines it, too; another one may stand in front */
    void **slot; /* NULL: the relocation is of a kind that is not replaced */
} ompp_dso_import_t;

typedef void ompp_dso_visit_t(const ompp_dso_t *module, const ompp_dso_import_t *import, void *data);

void ompp_dso_imports(const ompp_dso_t *module, ompp_dso_visit_t visit, void *data);

/** \return whether the slot has the value now. */
bool ompp_dso_replace(const ompp_dso_t *module, void **slot, void *value);

#pragma GCC visibility pop

#endif
