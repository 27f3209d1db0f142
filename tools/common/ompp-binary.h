/**
 * \file
 * What the launcher asks of a program file, without running it.
 */
#ifndef OMPP_TOOLS_BINARY_H
#define OMPP_TOOLS_BINARY_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    OMPP_ELF_DYNAMIC, /* can be measured */
    OMPP_ELF_STATIC,
    OMPP_ELF_OTHER_LIBC, /* its dynamic linker is not that of the GNU C library */
    OMPP_ELF_SCRIPT,
    OMPP_ELF_FOREIGN, /* another machine or word size, or no program at all */
    OMPP_ELF_UNREADABLE
} ompp_elf_kind_t;

/** \brief Kind of a file. */
ompp_elf_kind_t ompp_elf_kind(const char *path);

/** Where the source lines of a program's addresses are to be had. */
typedef enum {
    OMPP_ELF_LINES,    /* in the file */
    OMPP_ELF_SEPARATE, /* in a file of its own, found by build id or .gnu_debuglink */
    OMPP_ELF_NO_LINES
} ompp_elf_debug_t;

/** \brief Debug information of a program. */
ompp_elf_debug_t ompp_elf_debug(const char *path);

/** \return whether the file names one with its debug information (.gnu_debuglink), found or not. */
bool ompp_elf_names_debug_file(const char *path);

#endif
