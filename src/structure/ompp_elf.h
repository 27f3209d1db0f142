/**
 * \file
 * The few things ompp needs from an ELF file: build id, name of the separate debug file, symbols of functions and
 * objects. Reads 64-bit files of this machine's byte order; every offset and size in the file is checked, so that a
 * damaged file gives an error and no crash.
 *
 * Addresses are those of the file: for a position-independent module, run-time address minus the module's load bias
 * (dlpi_addr of dl_iterate_phdr); for others the run-time address itself (their load bias is 0).
 */
#ifndef OMPP_ELF_H
#define OMPP_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OMPP_BUILD_ID_TEXT 129 /* bytes of a build id as hex text, with the terminating zero */

typedef struct {
    uint64_t low, high; /* [low, high); a symbol without size reaches to the next one */
    const char *name;   /* borrowed from the file object */
} ompp_elf_symbol_t;

/** Symbols of a kind, of .symtab, else of .dynsym. */
typedef struct {
    size_t n;
    ompp_elf_symbol_t *items; /* ascending by low */
    char *names[2];           /* string tables behind them */
    bool read;
} ompp_elf_symbols_t;

typedef struct {
    int fd;
    char *path; /* by which it was opened */
    uid_t owner;
    uint64_t size; /* bytes of the file */
    int64_t mtime; /* seconds since 1970 */
    size_t nsections;
    void *sections; /* Elf64_Shdr[nsections] */
    char *names;    /* section names, zero-terminated */
    size_t names_size;
    ompp_elf_symbols_t functions, objects, thread_objects, imports;
    char *starts;       /* .eh_frame_hdr; NULL = none that is understood */
    uint64_t starts_at; /* its address */
    uint32_t nstarts;   /* procedures that it lists */
    bool starts_read;
} ompp_elf_t;

/**
 * \brief Opens a file and reads its section table.
 * \param[out] elf    the caller's; ompp_elf_close() after success only.
 * \param[in] module  the file is its debug file, which counts when it belongs to the module's owner, this user or root:
 *                    others may write to the directory. NULL: it may be of anybody.
 * \return 0.
 * \return -OMPP_E_OPEN    no such file, or not readable; errno is EPERM for a debug file of another user.
 * \return -OMPP_E_FORMAT  not an ELF file of this machine, or damaged.
 * \return -OMPP_E_NOMEM.
 */
int ompp_elf_open(ompp_elf_t *elf, const char *path, const ompp_elf_t *module);

void ompp_elf_close(ompp_elf_t *elf);

/** \brief Whether the file holds a section of this name with contents (a stripped one has none of its own). */
bool ompp_elf_has(const ompp_elf_t *elf, const char *section);

/**
 * \brief Contents of a section as they are, not compressed.
 * \param[out] size  bytes; 0: it has none.
 * \return false: they are compressed.
 */
bool ompp_elf_section_size(const ompp_elf_t *elf, const char *section, uint64_t *size);

/** \brief Reads bytes of such a section. \return false: they are not all there. */
bool ompp_elf_section_read(const ompp_elf_t *elf, const char *section, uint64_t offset, void *buffer, size_t size);

/**
 * \brief Whether a section holds a text that is terminated there.
 * \return 1 yes, 0 no, -1 when its contents are compressed: they are not looked at.
 */
int ompp_elf_holds(const ompp_elf_t *elf, const char *section, const char *text);

/**
 * \brief Whether the list tables of DWARF 5 (.debug_rnglists, .debug_loclists, those of .dwo files) are in order, as
 *        far as their headers tell.
 * \note libdwarf 20210528 frees memory twice on a damaged one, which would end the process: such files must not reach
 *       it.
 */
bool ompp_elf_lists_sound(const ompp_elf_t *elf);

/** \brief Build id in lower-case hex. \return false, and text "", when there is none. */
bool ompp_elf_build_id(const ompp_elf_t *elf, char text[OMPP_BUILD_ID_TEXT]);

/**
 * \brief Name and checksum of the separate debug file.
 * \param[out] name  owned by the caller, free().
 * \return false when the file names none.
 */
bool ompp_elf_debug_link(const ompp_elf_t *elf, char **name, uint32_t *crc);

/**
 * \brief CRC-32 of the whole file, as .gnu_debuglink has it.
 * \return false when reading fails, or it has more than 4 GiB.
 */
bool ompp_elf_crc(const ompp_elf_t *elf, uint32_t *crc);

/**
 * \brief Function symbol that covers an address (.symtab, else .dynsym; read at the first call).
 * \return borrowed; NULL when there is none.
 */
const ompp_elf_symbol_t *ompp_elf_symbol(ompp_elf_t *elf, uint64_t address);

/**
 * \brief Where the procedure of an address begins, by the unwind information; also in stripped files.
 * \param[out] high  where the next one begins, or the code ends. May be NULL.
 * \return false: there is none.
 */
bool ompp_elf_procedure(ompp_elf_t *elf, uint64_t address, uint64_t *low, uint64_t *high);

/** \brief Number of procedures that the unwind information lists. */
uint32_t ompp_elf_procedures(ompp_elf_t *elf);

/** \brief Where the i-th of them begins; ascending. */
uint64_t ompp_elf_procedure_low(const ompp_elf_t *elf, uint32_t i);

/** \brief Contents of the loaded file at an address, as far as it has them. \return false: not all of it is there. */
bool ompp_elf_read(const ompp_elf_t *elf, uint64_t address, void *buffer, size_t size);

/** \brief Whether an address is code, and where the section of it ends. */
bool ompp_elf_code(const ompp_elf_t *elf, uint64_t address, uint64_t *high);

/** \brief Whether an address is in a table of jumps to functions of other files (.plt). */
bool ompp_elf_links(const ompp_elf_t *elf, uint64_t address);

/** \brief Name of the function of another file whose address the dynamic linker puts at an address. \return or NULL. */
const char *ompp_elf_import(ompp_elf_t *elf, uint64_t address);

/** \brief As ompp_elf_symbol() for variables, but not those of threads. */
const ompp_elf_symbol_t *ompp_elf_object(ompp_elf_t *elf, uint64_t address);

/** \brief All variables, ascending by address. */
const ompp_elf_symbols_t *ompp_elf_objects(ompp_elf_t *elf);

/** \brief All variables of threads, ascending by their offset in the module's template. */
const ompp_elf_symbols_t *ompp_elf_thread_objects(ompp_elf_t *elf);

/** \brief All function symbols, ascending by address. */
const ompp_elf_symbols_t *ompp_elf_functions(ompp_elf_t *elf);

#endif
