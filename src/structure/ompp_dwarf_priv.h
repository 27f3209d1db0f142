/**
 * \file
 * One compilation unit as ompp needs it: its line table and its functions, read with libdwarf (the interface of
 * 20210528 and the later one). Only ompp_structure.c and its parts include this.
 *
 * A unit is read when an address of it is asked for, and kept until the file is closed.
 */
#ifndef OMPP_DWARF_PRIV_H
#define OMPP_DWARF_PRIV_H

#include "base/ompp_interval.h"
#include "base/ompp_table.h"
#include "structure/ompp_elf.h"

#include <dwarf.h>
#include <libdwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OMPP_NO_FUNCTION UINT32_MAX
#define OMPP_ID_SHIFT 40 /* of the number of a unit in the id of a type */

typedef struct {
    uint64_t low, high; /* [low, high) */
    uint32_t unit;      /* index, where it is a unit's; 0 otherwise */
} ompp_range_t;

typedef struct {
    size_t n, allocated;
    ompp_range_t *items;
} ompp_ranges_t;

typedef struct {
    uint64_t address;
    uint32_t line, file; /* file: number in the unit's line table */
    uint32_t order;      /* place in the table */
    bool end;            /* first address after a sequence */
    bool statement;      /* begins one */
} ompp_row_t;

/** A subprogram, or one inlined into another. Entries stand in preorder: those inside entry i are i + 1 .. last. */
typedef struct {
    const char *name; /* borrowed from libdwarf; NULL = none */
    Dwarf_Off die;
    uint32_t decl_line, decl_file;
    uint32_t first_range, nranges; /* in the unit's ranges */
    uint32_t last;
    uint32_t outer; /* the one that it is inside of; OMPP_NO_FUNCTION = none */
    bool inlined, has_file;
    bool body;    /* ompp_outlined_is_body() */
    uint8_t mark; /* ompp_mark_t */
} ompp_function_t;

/** Lines of a function of a region that has no line itself (gcc), in one file. */
typedef struct {
    uint32_t file, first, last;
} ompp_own_lines_t;

/** A call in the code. */
typedef struct {
    uint64_t back;    /* where it returns to; of a jump: the address behind it */
    Dwarf_Off origin; /* entry of who is called */
    Dwarf_Off caller; /* of who calls, inlined or not */
    uint32_t order;   /* of the entries */
    bool tail;        /* made as a jump */
} ompp_unit_call_t;

typedef struct ompp_dwarf ompp_dwarf_t;

typedef struct {
    Dwarf_Off head, die; /* its entry in the file with the line table, and in that with the entries: mostly the same */
    uint64_t dwo;        /* from DWARF 5 on: number of the .dwo file */
    ompp_dwarf_t *split; /* the file that has the entries; NULL: the one that has the line table */
    Dwarf_Half version;
    bool loaded, split_read;
    size_t nrows;
    ompp_row_t *rows; /* ascending by address */
    size_t nfunctions, afunctions;
    ompp_function_t *functions;
    ompp_ranges_t ranges;
    ompp_interval_t *intervals; /* [ranges.n] of the functions, item: a function */
    /* Functions that are not inlined, by the lines of their declarations: all, and those with a mark. */
    uint32_t *by_line, *outlined;
    size_t nby_line, noutlined;
    bool own_read; /* ompp_extent.c */
    size_t nown, aown;
    ompp_own_lines_t *own;
    bool calls_read; /* ompp_tail.c */
    size_t ncalls, acalls;
    ompp_unit_call_t *calls; /* ascending by back */
    ompp_table_t code;       /* where the code of who is called is, by the callee's entry */
    size_t nfiles;
    char **files; /* path by number; NULL = not known */
} ompp_unit_t;

struct ompp_splits;

/** Debug information of a file; or one unit of it, whose entries are in another one (.dwo, .dwp). */
struct ompp_dwarf {
    const ompp_elf_t *elf;    /* the file that has it */
    const ompp_elf_t *module; /* the file that was asked for: elf, or what elf is the debug file of */
    Dwarf_Debug debug;
    Dwarf_Error error;
    struct ompp_splits *splits; /* .dwo and .dwp files; NULL until one was looked for */
    /* of such a unit */
    ompp_dwarf_t *main;      /* the file that has its addresses; NULL: it is whole, and what follows does not count */
    Dwarf_Die head;          /* its entry there */
    Dwarf_Unsigned lists;    /* number of the table with its lists of ranges, from DWARF 5 on */
    Dwarf_Unsigned lists_at; /* where that begins; before DWARF 5, where its lists begin in .debug_ranges of main */
    uint64_t id;             /* in the ids of its types */
    /* of a whole file */
    Dwarf_Unsigned lists_size; /* bytes of .debug_rnglists */
    size_t nunits, aunits;
    ompp_unit_t *units;
    ompp_ranges_t ranges; /* of all units, ascending by low */
    bool frames_read;     /* ompp_local.c */
    Dwarf_Signed ncies, nfdes;
    Dwarf_Cie *cies;
    Dwarf_Fde *fdes;
};

/**
 * \brief Opens the debug information of a file and notes which addresses belong to which unit.
 * \param[in] elf     the file; the caller's, who closes it after ompp_dwarf_close().
 * \param[in] module  what it is the debug file of; or elf.
 * \return 0, -OMPP_E_FORMAT (none, or damaged), -OMPP_E_NOMEM.
 */
int ompp_dwarf_open(ompp_dwarf_t *dwarf, const ompp_elf_t *elf, const ompp_elf_t *module);
void ompp_dwarf_close(ompp_dwarf_t *dwarf);

/** \return index of the unit of an address, or OMPP_NO_FUNCTION. */
uint32_t ompp_dwarf_unit_of(const ompp_dwarf_t *dwarf, uint64_t address);

/** \brief The unit, read if it is not yet. \return NULL when out of memory. What cannot be read of it is missing. */
const ompp_unit_t *ompp_dwarf_unit(ompp_dwarf_t *dwarf, uint32_t unit);

/** \brief The file with the entries of a unit that has been read: of all that is asked of them. */
static inline ompp_dwarf_t *ompp_unit_dwarf(ompp_dwarf_t *dwarf, const ompp_unit_t *unit)
{
    return unit->split ? unit->split : dwarf;
}

/** \brief The file that has the type with an id, which is 0 or of ompp_type_of(). */
static inline ompp_dwarf_t *ompp_type_dwarf(ompp_dwarf_t *dwarf, uint64_t type)
{
    ompp_dwarf_t *main = dwarf->main ? dwarf->main : dwarf;
    const uint64_t unit = type >> OMPP_ID_SHIFT;

    return unit && unit <= main->nunits && main->units[unit - 1].split ? main->units[unit - 1].split : main;
}

/** \brief Finds the file with a unit's entries, if it has them elsewhere (unit->split, unit->die). */
void ompp_split_open(ompp_dwarf_t *dwarf, ompp_unit_t *unit);
void ompp_splits_free(ompp_dwarf_t *dwarf);

/** \return how many of these files are not there. \param[out] first  one of them, and why; borrowed. */
size_t ompp_splits_missing(const ompp_dwarf_t *dwarf, const char **first);

/** \brief Whether a function has a variable of this name in its outermost scope, not in a block inside it. */
bool ompp_dwarf_has_variable(ompp_dwarf_t *dwarf, const ompp_unit_t *unit, const ompp_function_t *function,
                             const char *name);

/**
 * \brief Where an inlined function is called.
 * \param[out] file  number in the line table; UINT32_MAX: there is no row of it.
 * \return false: it is not known.
 */
bool ompp_dwarf_call_site(ompp_dwarf_t *dwarf, const ompp_unit_t *unit, const ompp_function_t *function, uint32_t *file,
                          uint32_t *line);

/**
 * \brief The number by which rows know a file that an entry names by `number`.
 * \return UINT32_MAX: there is no row of it.
 */
uint32_t ompp_unit_file(const ompp_unit_t *unit, uint32_t number);

/* ---- Entries: every call of libdwarf gets an error object, which ompp_die_ok() gives back ------------------------ */

/** \brief True when a call succeeded; forgets its error otherwise. */
bool ompp_die_ok(ompp_dwarf_t *dwarf, int rc);

/**
 * \brief A whole number that an attribute holds.
 * \return false when there is none, or it is not constant or below 0.
 */
bool ompp_die_number(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half attribute, Dwarf_Unsigned *value);

/** \brief Opens the debug information of a file (DW_GROUPNUMBER_...). \return false: it has none, or is damaged. */
bool ompp_die_open(ompp_dwarf_t *dwarf, const ompp_elf_t *elf, unsigned group);
void ompp_die_close(ompp_dwarf_t *dwarf);

/** \return to be freed with dwarf_dealloc_die(); NULL = there is none. */
Dwarf_Die ompp_die_at(ompp_dwarf_t *dwarf, Dwarf_Off offset);

/** \brief The place in a section that an attribute holds. */
bool ompp_die_offset(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half attribute, Dwarf_Off *offset);

/** \return borrowed from libdwarf; NULL = none. */
const char *ompp_die_text(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half attribute);

/** \brief An address that an attribute holds. */
bool ompp_die_address(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half attribute, uint64_t *address);

/** \brief The address with a number. \param[in] die  an entry of the unit, where that is whole. */
bool ompp_die_indexed(ompp_dwarf_t *dwarf, Dwarf_Die die, uint64_t index, uint64_t *address);

/** \brief Appends the addresses of an entry, by low and high or by a list. \param[in] base  of the unit. */
void ompp_die_ranges(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half version, uint64_t base, uint32_t unit,
                     ompp_ranges_t *to);

/** \brief The entry that an attribute refers to. \return to be freed with dwarf_dealloc_die(); NULL = none. */
Dwarf_Die ompp_die_referred(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half attribute);

/** \brief Name and place of the declaration, from the entry or what it is an instance of; function is zero at first. */
void ompp_die_describe(ompp_dwarf_t *dwarf, Dwarf_Die die, ompp_function_t *function);

/**
 * \brief Whether an attribute that is a list of locations has a whole one in its section: libdwarf would read behind
 *        that.
 */
bool ompp_die_has_locations(ompp_dwarf_t *dwarf, Dwarf_Attribute attribute, const ompp_unit_t *unit);

/** \return borrowed from libdwarf; NULL = none. */
const char *ompp_die_linkage_name(ompp_dwarf_t *dwarf, Dwarf_Die die);

/** \return false to stop. */
typedef bool ompp_die_visit_t(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context);

void ompp_die_each_child(ompp_dwarf_t *dwarf, Dwarf_Die parent, ompp_die_visit_t *visit, void *context);

/** \brief Makes functions be found by address and line, once they are all there. \return false when out of memory. */
bool ompp_unit_index(ompp_unit_t *unit);

/** \brief Place of the first of functions (by_line, outlined) that is declared on a line or behind it. */
size_t ompp_unit_from_line(const ompp_unit_t *unit, const uint32_t *functions, size_t n, uint32_t line);

/** \brief Row that covers an address and has a line. \return NULL when there is none. */
const ompp_row_t *ompp_unit_row(const ompp_unit_t *unit, uint64_t address);

/** \brief Index of the first row at or after an address. */
size_t ompp_unit_row_from(const ompp_unit_t *unit, uint64_t address);

/**
 * \brief First of the intervals of functions that hold an address, for ompp_intervals_before().
 * \return or OMPP_NO_INTERVAL.
 */
uint32_t ompp_unit_holder(const ompp_unit_t *unit, uint64_t address);

bool ompp_function_holds(const ompp_unit_t *unit, const ompp_function_t *function, uint64_t address);

/**
 * \brief The function that an address is in, not one inlined into it; the innermost, as gcc's functions of regions are
 *        in others.
 * \return or OMPP_NO_FUNCTION.
 */
uint32_t ompp_unit_function(const ompp_unit_t *unit, uint64_t address);

/**
 * \brief Innermost function, inlined ones included, at an address among entries first .. last.
 * \return or OMPP_NO_FUNCTION.
 */
uint32_t ompp_unit_innermost(const ompp_unit_t *unit, uint64_t address, uint32_t first, uint32_t last);

#endif
