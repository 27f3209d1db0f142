/**
 * \file
 * Sections of an ELF file, for the files that read it. Private to src/structure.
 */
#ifndef OMPP_ELF_PRIV_H
#define OMPP_ELF_PRIV_H

#include "structure/ompp_elf.h"

#include <elf.h>

/** \brief The i-th section. */
static inline const Elf64_Shdr *ompp_elf_section_at(const ompp_elf_t *elf, size_t i)
{
    return (const Elf64_Shdr *)elf->sections + i;
}

/**
 * \brief Contents of a section plus a terminating zero.
 * \return owned, free(); NULL when it has none in this file, is damaged or compressed.
 */
char *ompp_elf_section_contents(const ompp_elf_t *elf, const Elf64_Shdr *section);

/** \brief The first section of this name. \return borrowed; NULL when there is none. */
const Elf64_Shdr *ompp_elf_section_named(const ompp_elf_t *elf, const char *name);

/** \brief The section that is loaded to an address. \return borrowed; NULL when there is none. */
const Elf64_Shdr *ompp_elf_section_of(const ompp_elf_t *elf, uint64_t address);

#endif
