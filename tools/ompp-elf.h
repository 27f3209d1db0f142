/**
 * \file
 * What the launcher asks of a program file, without running it.
 */
#ifndef OMPP_ELF_H
#define OMPP_ELF_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    OMPP_ELF_DYNAMIC, /* can be measured */
    OMPP_ELF_STATIC,
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

/** \brief One shared library that a file needs, directly or through others. \param[in] soname  borrowed for the call. */
typedef void (*ompp_elf_visit_t)(const char *soname, void *data);

/**
 * \brief Visits the names of all libraries in the closure of DT_NEEDED, each once, in the order in which the dynamic linker loads and
 *        searches them (breadth first). Libraries are searched as the dynamic linker does: run path with $ORIGIN, LD_LIBRARY_PATH,
 *        the directories of /etc/ld.so.conf, the standard ones. One that is not found is visited and not followed.
 */
void ompp_elf_needed(const char *path, ompp_elf_visit_t visit, void *data);

/** \brief The same, but visits the files of those that are found. */
void ompp_elf_libraries(const char *path, ompp_elf_visit_t visit, void *data);

/**
 * \brief Finds a library by its name where a program without run path would get it from.
 * \param[out] path  [PATH_MAX].
 */
bool ompp_elf_find(const char *soname, char *path);

#endif
