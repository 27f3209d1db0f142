/* Reads compilation units with libdwarf. Every call gets an error object: without one the library would abort the
 * process. */
#include "structure/ompp_dwarf_priv.h"

#include "base/ompp_error.h"
#include "base/ompp_vector.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 256 /* of nested scopes; deeper ones are left out */
#define MAX_FILES 1000000

static int compare_ranges(const void *a, const void *b)
{
    const ompp_range_t *x = a, *y = b;

    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static bool add_unit(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half version, const Dwarf_Sig8 *signature)
{
    ompp_unit_t unit = {.version = version};
    Dwarf_Addr base = 0;

    if (!ompp_die_ok(dwarf, dwarf_dieoffset(die, &unit.die, &dwarf->error))) return true;
    unit.head = unit.die;
    memcpy(&unit.dwo, signature, sizeof unit.dwo);
    ompp_unit_t *to = ompp_vector_push(&dwarf->units, &dwarf->nunits, &dwarf->aunits, sizeof unit);
    if (!to) return false;
    *to = unit;
    if (!ompp_die_ok(dwarf, dwarf_lowpc(die, &base, &dwarf->error))) base = 0;
    ompp_die_ranges(dwarf, die, version, base, (uint32_t)dwarf->nunits - 1, &dwarf->ranges);
    return true;
}

/* Head of every unit, nothing below it: cheap also where a compiler writes no .debug_aranges (clang). */
static bool read_units(ompp_dwarf_t *dwarf)
{
    Dwarf_Unsigned length, type_offset, next = 0, last = 0;
    Dwarf_Half version, address_size, offset_size, extension_size, kind;
    Dwarf_Off abbreviations;
    Dwarf_Sig8 signature = {0};

    while (ompp_die_ok(dwarf, dwarf_next_cu_header_d(dwarf->debug, 1, &length, &version, &abbreviations, &address_size,
                                                     &offset_size, &extension_size, &signature, &type_offset, &next,
                                                     &kind, &dwarf->error))) {
        Dwarf_Die die = NULL;
        if (ompp_die_ok(dwarf, dwarf_siblingof_b(dwarf->debug, NULL, 1, &die, &dwarf->error))) {
            bool added = add_unit(dwarf, die, version, &signature);
            dwarf_dealloc_die(die);
            if (!added) return false;
        }
        if (next <= last) break; /* damaged */
        last = next;
    }
    if (dwarf->ranges.n > 1) qsort(dwarf->ranges.items, dwarf->ranges.n, sizeof *dwarf->ranges.items, compare_ranges);
    return true;
}

/* Of .debug_rnglists. */
static void find_size(ompp_dwarf_t *dwarf)
{
    Dwarf_Unsigned s[20] = {0};

    dwarf_get_section_max_offsets_d(dwarf->debug, &s[0], &s[1], &s[2], &s[3], &s[4], &s[5], &s[6], &s[7], &s[8], &s[9],
                                    &s[10], &s[11], &s[12], &s[13], &s[14], &s[15], &s[16], &s[17], &s[18], &s[19]);
    dwarf->lists_size = s[19];
}

int ompp_dwarf_open(ompp_dwarf_t *dwarf, const ompp_elf_t *elf, const ompp_elf_t *module)
{
    *dwarf = (ompp_dwarf_t){.module = module};
    if (!ompp_die_open(dwarf, elf, DW_GROUPNUMBER_ANY)) return -OMPP_E_FORMAT;
    find_size(dwarf);
    if (read_units(dwarf)) return 0;
    ompp_dwarf_close(dwarf);
    return -OMPP_E_NOMEM;
}

static void free_unit(ompp_unit_t *unit)
{
    for (size_t i = 0; i < unit->nfiles; i++) free(unit->files[i]);
    free(unit->files);
    free(unit->rows);
    free(unit->functions);
    free(unit->intervals);
    free(unit->by_line);
    free(unit->outlined);
    free(unit->own);
    free(unit->calls);
    ompp_table_fini(&unit->code);
    free(unit->ranges.items);
    if (unit->split) dwarf_dealloc_die(unit->split->head);
    free(unit->split);
}

void ompp_dwarf_close(ompp_dwarf_t *dwarf)
{
    for (size_t i = 0; i < dwarf->nunits; i++) free_unit(&dwarf->units[i]);
    free(dwarf->units);
    free(dwarf->ranges.items);
    ompp_splits_free(dwarf);
    ompp_die_close(dwarf);
    memset(dwarf, 0, sizeof *dwarf);
}

uint32_t ompp_dwarf_unit_of(const ompp_dwarf_t *dwarf, uint64_t address)
{
    size_t low = 0, high = dwarf->ranges.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dwarf->ranges.items[middle].low <= address) low = middle + 1;
        else high = middle;
    }
    if (low == 0 || address >= dwarf->ranges.items[low - 1].high) return OMPP_NO_FUNCTION;
    return dwarf->ranges.items[low - 1].unit;
}

/* ---- Line table -------------------------------------------------------------------------------------------------- */

/* Path without "//", "/./" and, where that is possible by the text alone, "dir/../". Owned. */
static char *normal_path(const char *path)
{
    size_t n = 0;
    char *normal = malloc(strlen(path) + 2);

    if (!normal) return NULL;
    for (const char *at = path; *at;) {
        if (*at == '/') {
            if (n == 0 || normal[n - 1] != '/') normal[n++] = '/';
            at++;
            continue;
        }
        size_t length = strcspn(at, "/");
        bool up = length == 2 && at[0] == '.' && at[1] == '.';
        size_t parent = n;
        if (up && n > 1)
            for (parent = n - 1; parent > 0 && normal[parent - 1] != '/';) parent--;
        bool named = parent < n && !(n - parent == 3 && memcmp(normal + parent, "../", 3) == 0);
        if (length == 1 && at[0] == '.') at += at[1] == '/' ? 2 : 1;
        else if (up && named) {
            n = parent;
            at += length;
        } else {
            memcpy(normal + n, at, length);
            n += length;
            at += length;
        }
    }
    normal[n] = '\0';
    return normal;
}

static void note_file(ompp_dwarf_t *dwarf, ompp_unit_t *unit, Dwarf_Line line, Dwarf_Unsigned number)
{
    char *path = NULL;

    if (number >= MAX_FILES || (number < unit->nfiles && unit->files[number])) return;
    const size_t former = unit->nfiles;
    if (!ompp_vector_reserve(&unit->files, &unit->nfiles, number + 1, sizeof *unit->files)) return;
    for (size_t i = former; i < unit->nfiles; i++) unit->files[i] = NULL;
    if (!ompp_die_ok(dwarf, dwarf_linesrc(line, &path, &dwarf->error))) return;
    unit->files[number] = normal_path(path);
    dwarf_dealloc(dwarf->debug, path, DW_DLA_STRING);
}

/* libdwarf 20210528 says "end of sequence" for a row that begins an epilogue, too. */
static bool begins_epilogue(ompp_dwarf_t *dwarf, Dwarf_Line line)
{
    Dwarf_Bool prologue_end = 0, epilogue_begin = 0;
    Dwarf_Unsigned isa = 0, discriminator = 0;

    return ompp_die_ok(dwarf, dwarf_prologue_end_etc(line, &prologue_end, &epilogue_begin, &isa, &discriminator,
                                                     &dwarf->error)) &&
           epilogue_begin;
}

static bool read_row(ompp_dwarf_t *dwarf, ompp_unit_t *unit, Dwarf_Line line, ompp_row_t *row)
{
    Dwarf_Addr address = 0;
    Dwarf_Unsigned number = 0, file = 0;
    Dwarf_Bool end = 0, statement = 0;

    if (!ompp_die_ok(dwarf, dwarf_lineaddr(line, &address, &dwarf->error))) return false;
    if (!ompp_die_ok(dwarf, dwarf_lineendsequence(line, &end, &dwarf->error))) return false;
    if (!ompp_die_ok(dwarf, dwarf_lineno(line, &number, &dwarf->error))) return false;
    if (!ompp_die_ok(dwarf, dwarf_line_srcfileno(line, &file, &dwarf->error))) return false;
    if (!ompp_die_ok(dwarf, dwarf_linebeginstatement(line, &statement, &dwarf->error))) return false;
    if (end) end = !begins_epilogue(dwarf, line);
    if (!end) note_file(dwarf, unit, line, file);
    *row = (ompp_row_t){
        .address = address, .line = (uint32_t)number, .file = (uint32_t)file, .end = end, .statement = statement};
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const ompp_row_t *x = a, *y = b;

    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    if (x->end != y->end) return x->end ? -1 : 1; /* where one sequence ends and the next begins */
    return x->order < y->order ? -1 : x->order > y->order;
}

static void read_rows(ompp_dwarf_t *dwarf, ompp_unit_t *unit, Dwarf_Die die)
{
    Dwarf_Unsigned version = 0;
    Dwarf_Small tables = 0;
    Dwarf_Line_Context context = NULL;
    Dwarf_Line *lines = NULL;
    Dwarf_Signed n = 0;
    bool begins = true, dead = false;

    if (!ompp_die_ok(dwarf, dwarf_srclines_b(die, &version, &tables, &context, &dwarf->error))) return;
    if (ompp_die_ok(dwarf, dwarf_srclines_from_linecontext(context, &lines, &n, &dwarf->error)) && n > 0)
        unit->rows = malloc((size_t)n * sizeof *unit->rows);
    for (Dwarf_Signed i = 0; unit->rows && i < n; i++) {
        ompp_row_t row;
        if (!read_row(dwarf, unit, lines[i], &row)) continue;
        if (begins) dead = row.address == 0; /* thrown away by the linker */
        begins = row.end;
        row.order = (uint32_t)i;
        if (!dead) unit->rows[unit->nrows++] = row;
    }
    dwarf_srclines_dealloc_b(context);
    if (unit->nrows > 1) qsort(unit->rows, unit->nrows, sizeof *unit->rows, compare_rows);
}

static bool is_of_gcc(ompp_dwarf_t *dwarf, Dwarf_Die unit)
{
    Dwarf_Attribute attribute = NULL;
    char *producer = NULL;

    if (!ompp_die_ok(dwarf, dwarf_attr(unit, DW_AT_producer, &attribute, &dwarf->error))) return false;
    bool found =
        ompp_die_ok(dwarf, dwarf_formstring(attribute, &producer, &dwarf->error)) && strncmp(producer, "GNU ", 4) == 0;
    dwarf_dealloc_attribute(attribute);
    return found;
}

/* Files that no row is of, too: calls that were inlined stand in them. */
static void name_files(ompp_dwarf_t *dwarf, ompp_unit_t *unit, Dwarf_Die die)
{
    const size_t base = unit->version < 5, former = unit->nfiles;
    char **paths = NULL;
    Dwarf_Signed n = 0;

    if (!ompp_die_ok(dwarf, dwarf_srcfiles(die, &paths, &n, &dwarf->error))) return;
    const size_t all = (size_t)n + base;
    if (n > 0 && n < MAX_FILES && ompp_vector_reserve(&unit->files, &unit->nfiles, all, sizeof *unit->files)) {
        for (size_t i = former; i < unit->nfiles; i++) unit->files[i] = NULL;
        for (size_t i = base; i < all; i++)
            if (!unit->files[i]) unit->files[i] = normal_path(paths[i - base]);
    }
    for (Dwarf_Signed i = 0; i < n; i++) dwarf_dealloc(dwarf->debug, paths[i], DW_DLA_STRING);
    dwarf_dealloc(dwarf->debug, paths, DW_DLA_LIST);
}

/* The rows that libdwarf 20210528 says to be of file 0 are of file 1, where that is another one: the first code is of a
 * header, say. */
static void rename_first_file(ompp_dwarf_t *dwarf, ompp_unit_t *unit, Dwarf_Die die)
{
    if (unit->version < 5 || unit->nfiles < 2 || !unit->files[1] || !is_of_gcc(dwarf, die)) return;
    for (size_t i = 0; i < unit->nrows; i++)
        if (unit->rows[i].file == 0) unit->rows[i].file = 1;
}

/*
 * DWARF 5 of gcc names the source twice, as file 0 and 1, and says 1 only; rows before the first change of file are
 * said to be of 0 by libdwarf 20210528. (To clang, 0 is the source and 1 is another file.)
 */
static void join_source_file(ompp_unit_t *unit)
{
    if (unit->version < 5 || unit->nfiles < 2 || !unit->files[0] || !unit->files[1]) return;
    if (strcmp(unit->files[0], unit->files[1]) != 0) return;
    for (size_t i = 0; i < unit->nrows; i++)
        if (unit->rows[i].file == 0) unit->rows[i].file = 1;
}

/*
 * The same of clang, function by function: file 0 is the source to it, and 1 another one, which it does not say at the
 * begin of a function of that file. A function begins in the file that declares it.
 */
static void rename_first_rows(ompp_unit_t *unit)
{
    if (unit->version < 5 || unit->nfiles < 2 || !unit->files[0] || !unit->files[1]) return;
    for (size_t f = 0; f < unit->nfunctions; f++) {
        const ompp_function_t *function = &unit->functions[f];
        if (function->inlined || !function->has_file || function->decl_file != 1) continue;
        for (uint32_t r = 0; r < function->nranges; r++) {
            const ompp_range_t *range = &unit->ranges.items[function->first_range + r];
            for (size_t i = ompp_unit_row_from(unit, range->low);
                 i < unit->nrows && unit->rows[i].address < range->high && !unit->rows[i].end &&
                 unit->rows[i].file == 0;
                 i++)
                unit->rows[i].file = 1;
        }
    }
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* What an entry lies in. */
typedef struct {
    uint64_t base;
    int depth;
    uint32_t outer; /* function */
} inside_t;

static void walk(ompp_dwarf_t *dwarf, ompp_unit_t *unit, Dwarf_Die parent, inside_t in);

static bool is_scope(Dwarf_Half tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
           tag == DW_TAG_catch_block;
}

static void visit(ompp_dwarf_t *dwarf, ompp_unit_t *unit, Dwarf_Die die, inside_t in)
{
    Dwarf_Half tag = 0;

    if (!ompp_die_ok(dwarf, dwarf_tag(die, &tag, &dwarf->error))) return;
    if (is_scope(tag)) walk(dwarf, unit, die, in);
    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) return;
    ompp_function_t function = {
        .first_range = (uint32_t)unit->ranges.n, .outer = in.outer, .inlined = tag == DW_TAG_inlined_subroutine};
    ompp_die_ranges(dwarf, die, unit->version, in.base, 0, &unit->ranges);
    function.nranges = (uint32_t)unit->ranges.n - function.first_range;
    if (function.nranges == 0) { /* a declaration, or the model of inlined ones, which may hold functions of regions */
        if (tag == DW_TAG_subprogram) walk(dwarf, unit, die, in);
        return;
    }
    ompp_die_describe(dwarf, die, &function);
    if (!ompp_die_ok(dwarf, dwarf_dieoffset(die, &function.die, &dwarf->error))) function.die = 0;
    size_t index = unit->nfunctions;
    ompp_function_t *to = ompp_vector_push(&unit->functions, &unit->nfunctions, &unit->afunctions, sizeof function);
    if (!to) return;
    *to = function;
    in.outer = (uint32_t)index;
    walk(dwarf, unit, die, in);
    unit->functions[index].last = (uint32_t)unit->nfunctions - 1;
}

/* All children of an entry. */
static void walk(ompp_dwarf_t *dwarf, ompp_unit_t *unit, Dwarf_Die parent, inside_t in)
{
    Dwarf_Die die = NULL, next = NULL;
    Dwarf_Off at = 0, last = 0;

    if (in.depth++ >= MAX_DEPTH || !ompp_die_ok(dwarf, dwarf_child(parent, &die, &dwarf->error))) return;
    for (; die; die = next, next = NULL) {
        visit(dwarf, unit, die, in);
        /* damaged data could lead back */
        bool forward = ompp_die_ok(dwarf, dwarf_dieoffset(die, &at, &dwarf->error)) && at > last;
        last = at;
        if (!forward || !ompp_die_ok(dwarf, dwarf_siblingof_b(dwarf->debug, die, 1, &next, &dwarf->error))) next = NULL;
        dwarf_dealloc_die(die);
    }
}

/* What the unit's entries say: of the file that has them. */
static void read_entries(ompp_dwarf_t *dwarf, ompp_unit_t *unit, uint64_t base)
{
    Dwarf_Die die = ompp_die_at(dwarf, unit->die);

    if (!die) return;
    rename_first_file(dwarf, unit, die);
    walk(dwarf, unit, die, (inside_t){base, 0, OMPP_NO_FUNCTION});
    dwarf_dealloc_die(die);
}

const ompp_unit_t *ompp_dwarf_unit(ompp_dwarf_t *dwarf, uint32_t index)
{
    ompp_unit_t *unit = &dwarf->units[index];
    Dwarf_Addr base = 0;

    if (unit->loaded) return unit;
    unit->loaded = true;
    Dwarf_Die die = ompp_die_at(dwarf, unit->head);
    if (!die) return unit;
    if (!ompp_die_ok(dwarf, dwarf_lowpc(die, &base, &dwarf->error))) base = 0;
    read_rows(dwarf, unit, die);
    name_files(dwarf, unit, die);
    dwarf_dealloc_die(die);
    ompp_split_open(dwarf, unit);
    read_entries(ompp_unit_dwarf(dwarf, unit), unit, base);
    rename_first_rows(unit);
    join_source_file(unit);
    if (!ompp_unit_index(unit)) unit->nfunctions = 0;
    return unit;
}

bool ompp_dwarf_call_site(ompp_dwarf_t *dwarf, const ompp_unit_t *unit, const ompp_function_t *function, uint32_t *file,
                          uint32_t *line)
{
    ompp_dwarf_t *in = ompp_unit_dwarf(dwarf, unit);
    Dwarf_Unsigned number = 0, at = 0;
    Dwarf_Die die = ompp_die_at(in, function->die);

    if (!die) return false;
    bool known = ompp_die_number(in, die, DW_AT_call_line, &at) && ompp_die_number(in, die, DW_AT_call_file, &number);
    dwarf_dealloc_die(die);
    *file = known ? ompp_unit_file(unit, (uint32_t)number) : UINT32_MAX;
    *line = (uint32_t)at;
    return known;
}

typedef struct {
    const char *name;
    bool found;
} wanted_t;

static bool find_variable(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context)
{
    wanted_t *wanted = context;
    ompp_function_t found = {0};
    Dwarf_Half tag = 0;

    if (!ompp_die_ok(dwarf, dwarf_tag(die, &tag, &dwarf->error)) || tag != DW_TAG_variable) return true;
    ompp_die_describe(dwarf, die, &found);
    wanted->found = found.name && strcmp(found.name, wanted->name) == 0;
    return !wanted->found;
}

bool ompp_dwarf_has_variable(ompp_dwarf_t *dwarf, const ompp_unit_t *unit, const ompp_function_t *function,
                             const char *name)
{
    ompp_dwarf_t *in = ompp_unit_dwarf(dwarf, unit);
    Dwarf_Die parent = function->die ? ompp_die_at(in, function->die) : NULL;
    wanted_t wanted = {name, false};

    if (!parent) return false;
    ompp_die_each_child(in, parent, find_variable, &wanted);
    dwarf_dealloc_die(parent);
    return wanted.found;
}
