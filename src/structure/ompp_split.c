#define _GNU_SOURCE /* asprintf */
/*
 * Debug information in files of its own (-gsplit-dwarf): the program's file has the line table and, of each unit, where
 * its entries are. They are in the .dwo file that the unit names, or in the .dwp file into which all were packed. A
 * file counts when it has a unit with the same number.
 */
#include "structure/ompp_dwarf_priv.h"

#include "base/ompp_error.h"
#include "base/ompp_path.h"
#include "base/ompp_vector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define RESERVED 64u /* descriptors that are left to others */

typedef struct {
    uint64_t dwo;
    Dwarf_Off die;
} split_unit_t;

/* A .dwo or .dwp file. */
typedef struct {
    ompp_elf_t elf;
    ompp_dwarf_t dwarf; /* of which the units have copies */
    size_t nunits, aunits;
    split_unit_t *units; /* ascending by dwo */
} split_file_t;

struct ompp_splits {
    bool packed_read;
    split_file_t *packed; /* .dwp; NULL = none */
    size_t nfiles, afiles;
    split_file_t **files; /* all */
    size_t nmissing;
    char *missing; /* the first one, and why */
};

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void close_file(split_file_t *file)
{
    ompp_die_close(&file->dwarf);
    ompp_elf_close(&file->elf);
    free(file->units);
    free(file);
}

static int compare_units(const void *a, const void *b)
{
    const split_unit_t *x = a, *y = b;

    return x->dwo < y->dwo ? -1 : x->dwo > y->dwo;
}

/* The number of a unit, in its own file or in the program's: of DWARF 5 the header has it. */
static uint64_t number_of(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half version, uint64_t of_header)
{
    Dwarf_Unsigned number = 0;

    if (version >= 5) return of_header;
    return ompp_die_number(dwarf, die, DW_AT_GNU_dwo_id, &number) ? number : 0;
}

static void read_units(split_file_t *file)
{
    Dwarf_Unsigned length, type_offset, next = 0, last = 0;
    Dwarf_Half version, address_size, offset_size, extension_size, kind;
    ompp_dwarf_t *dwarf = &file->dwarf;
    Dwarf_Off abbreviations;
    Dwarf_Sig8 signature;

    while (ompp_die_ok(dwarf, dwarf_next_cu_header_d(dwarf->debug, 1, &length, &version, &abbreviations, &address_size,
                                                     &offset_size, &extension_size, &signature, &type_offset, &next,
                                                     &kind, &dwarf->error))) {
        split_unit_t unit;
        Dwarf_Die die = NULL;
        if (ompp_die_ok(dwarf, dwarf_siblingof_b(dwarf->debug, NULL, 1, &die, &dwarf->error))) {
            memcpy(&unit.dwo, &signature, sizeof unit.dwo);
            unit.dwo = number_of(dwarf, die, version, unit.dwo);
            const bool known = ompp_die_ok(dwarf, dwarf_dieoffset(die, &unit.die, &dwarf->error));
            split_unit_t *to = known ? ompp_vector_push(&file->units, &file->nunits, &file->aunits, sizeof unit) : NULL;
            if (to) *to = unit;
            dwarf_dealloc_die(die);
        }
        if (next <= last) break; /* damaged */
        last = next;
    }
    if (file->nunits > 1) qsort(file->units, file->nunits, sizeof *file->units, compare_units);
}

static bool has_room(const struct ompp_splits *splits)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && splits->nfiles + RESERVED < limit.rlim_cur;
}

/* \return NULL: no such file, or none that can be read; why says so. */
static split_file_t *open_file(ompp_dwarf_t *dwarf, const char *path, const char **why)
{
    for (size_t i = 0; i < dwarf->splits->nfiles; i++)
        if (strcmp(dwarf->splits->files[i]->elf.path, path) == 0) return dwarf->splits->files[i];
    split_file_t *file = has_room(dwarf->splits) ? calloc(1, sizeof *file) : NULL;
    *why = "too many files are open";
    if (!file) return NULL;
    const int rc = ompp_elf_open(&file->elf, path, dwarf->module);
    if (rc != 0) {
        *why = rc == -OMPP_E_OPEN && errno == EPERM ? "another user's" : rc == -OMPP_E_OPEN ? "not found" : "damaged";
        free(file);
        return NULL;
    }
    *why = "damaged";
    const bool good = ompp_elf_has(&file->elf, ".debug_info.dwo") && ompp_elf_lists_sound(&file->elf) &&
                      ompp_die_open(&file->dwarf, &file->elf, DW_GROUPNUMBER_DWO);
    split_file_t **to =
        good ? ompp_vector_push(&dwarf->splits->files, &dwarf->splits->nfiles, &dwarf->splits->afiles, sizeof *to)
             : NULL;
    if (!to) {
        close_file(file);
        return NULL;
    }
    read_units(file);
    return *to = file;
}

void ompp_splits_free(ompp_dwarf_t *dwarf)
{
    struct ompp_splits *splits = dwarf->splits;

    if (!splits) return;
    for (size_t i = 0; i < splits->nfiles; i++) close_file(splits->files[i]);
    free(splits->files);
    free(splits->missing);
    free(splits);
    dwarf->splits = NULL;
}

/* ---- Units ------------------------------------------------------------------------------------------------------- */

/* Number of the table of range lists that begins where a packed unit's part does. */
static Dwarf_Unsigned lists_from(ompp_dwarf_t *dwarf, uint64_t offset, Dwarf_Unsigned *begin)
{
    Dwarf_Unsigned low = 0, high = 0, n = 0;
    Dwarf_Small sizes[4];
    unsigned version;

    if (!ompp_die_ok(dwarf, dwarf_load_rnglists(dwarf->debug, &n, &dwarf->error))) n = 0;
    for (high = n; low < high;) {
        const Dwarf_Unsigned middle = low + (high - low) / 2;
        *begin = UINT64_MAX;
        if (ompp_die_ok(dwarf, dwarf_get_rnglist_context_basics(dwarf->debug, middle, begin, &sizes[0], &sizes[1],
                                                                &version, &sizes[2], &sizes[3], NULL, NULL, NULL, NULL,
                                                                &dwarf->error)) &&
            *begin < offset)
            low = middle + 1;
        else high = middle;
    }
    *begin = offset;
    return low;
}

static bool take_unit(ompp_dwarf_t *dwarf, ompp_unit_t *unit, split_file_t *file, Dwarf_Die head, uint64_t dwo)
{
    const split_unit_t wanted = {.dwo = dwo};
    const split_unit_t *found =
        file->nunits ? bsearch(&wanted, file->units, file->nunits, sizeof wanted, compare_units) : NULL;
    ompp_dwarf_t *split = found ? calloc(1, sizeof *split) : NULL;
    Dwarf_Debug_Fission_Per_CU part = {0};
    Dwarf_Off base = 0;
    Dwarf_Die die = NULL;

    if (!split) return false;
    *split = (ompp_dwarf_t){.elf = &file->elf,
                            .debug = file->dwarf.debug,
                            .main = dwarf,
                            .head = head,
                            .id = (uint64_t)(unit - dwarf->units + 1) << OMPP_ID_SHIFT};
    if (unit->version < 5) {
        if (ompp_die_offset(dwarf, head, DW_AT_GNU_ranges_base, &base)) split->lists_at = base;
    } else if (ompp_die_ok(split, dwarf_offdie_b(split->debug, found->die, 1, &die, &split->error))) {
        if (ompp_die_ok(split, dwarf_get_debugfission_for_die(die, &part, &split->error)))
            split->lists = lists_from(split, part.pcu_offset[DW_SECT_RNGLISTS], &split->lists_at);
        dwarf_dealloc_die(die);
    }
    unit->split = split;
    unit->die = found->die;
    return true;
}

static void note_missing(ompp_dwarf_t *dwarf, const char *path, const char *why)
{
    if (dwarf->splits->nmissing++ == 0 && asprintf(&dwarf->splits->missing, "%s: %s", path, why) < 0)
        dwarf->splits->missing = NULL;
}

/* All units in one: in the file itself (an object of -gsplit-dwarf=single), or APP.dwp beside the program or its debug
 * file. */
static split_file_t *packed(ompp_dwarf_t *dwarf)
{
    const ompp_elf_t *const beside[] = {dwarf->module, dwarf->elf};
    struct ompp_splits *splits = dwarf->splits;
    const char *why;

    if (!splits->packed_read && ompp_elf_has(dwarf->elf, ".debug_info.dwo"))
        splits->packed = open_file(dwarf, dwarf->elf->path, &why);
    for (size_t i = 0; i < 2 && !splits->packed_read && !splits->packed; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s.dwp", beside[i]->path) < 0) continue;
        splits->packed = open_file(dwarf, path, &why);
        free(path);
    }
    splits->packed_read = true;
    return splits->packed;
}

/* The file that a unit names: from where it was compiled, else beside the program. */
static void open_named(ompp_dwarf_t *dwarf, ompp_unit_t *unit, Dwarf_Die head, uint64_t dwo, const char *name)
{
    const char *folder = ompp_die_text(dwarf, head, DW_AT_comp_dir);
    const char *module = dwarf->module->path, *last = ompp_path_last(module), *why = NULL;
    const bool below = *name != '/' && folder;
    char *paths[2] = {NULL, NULL};

    if (asprintf(&paths[0], "%s%s%s", below ? folder : "", below ? "/" : "", name) < 0) paths[0] = NULL;
    if (asprintf(&paths[1], "%.*s%s", (int)(last - module), module, ompp_path_last(name)) < 0) paths[1] = NULL;
    for (size_t i = 0; i < 2 && paths[0] && paths[1] && !unit->split; i++) {
        const char *problem = NULL;
        split_file_t *file = open_file(dwarf, paths[i], &problem);
        if (file && !take_unit(dwarf, unit, file, head, dwo)) problem = "of another build";
        if (!why || (file && !unit->split)) why = problem;
    }
    if (!unit->split) note_missing(dwarf, paths[0] ? paths[0] : name, why ? why : "no memory");
    free(paths[0]);
    free(paths[1]);
}

void ompp_split_open(ompp_dwarf_t *dwarf, ompp_unit_t *unit)
{
    Dwarf_Die head = NULL;

    if (unit->split_read) return;
    unit->split_read = true;
    if (!ompp_die_ok(dwarf, dwarf_offdie_b(dwarf->debug, unit->head, 1, &head, &dwarf->error))) return;
    const char *name = ompp_die_text(dwarf, head, unit->version < 5 ? DW_AT_GNU_dwo_name : DW_AT_dwo_name);
    const uint64_t dwo = name ? number_of(dwarf, head, unit->version, unit->dwo) : 0;
    if (dwo && !dwarf->splits) dwarf->splits = calloc(1, sizeof *dwarf->splits);
    if (dwo && dwarf->splits && !(packed(dwarf) && take_unit(dwarf, unit, dwarf->splits->packed, head, dwo)))
        open_named(dwarf, unit, head, dwo, name);
    if (!unit->split) dwarf_dealloc_die(head);
}

size_t ompp_splits_missing(const ompp_dwarf_t *dwarf, const char **first)
{
    *first = dwarf->splits && dwarf->splits->missing ? dwarf->splits->missing : "";
    return dwarf->splits ? dwarf->splits->nmissing : 0;
}
