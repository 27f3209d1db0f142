/*
 * The code of a line: rows of line tables, and functions that are inlined where they are called in the line.
 */
#include "structure/ompp_code.h"

#include "base/ompp_clock.h"
#include "base/ompp_path.h"
#include "structure/ompp_structure_priv.h"

#include <string.h>

typedef struct {
    const char *file;
    uint32_t line, *nearest;
    ompp_code_t *code;
    size_t n, max;
} lines_t;

bool ompp_code_ends_path(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);

    return m > 0 && m <= n && strcmp(path + n - m, end) == 0 && (m == n || path[n - m - 1] == '/');
}

static bool is_file(const lines_t *l, const ompp_unit_t *unit, uint32_t file)
{
    return file < unit->nfiles && unit->files[file] && ompp_code_ends_path(unit->files[file], l->file);
}

static void take(lines_t *l, uint64_t begin, uint64_t end)
{
    if (begin >= end) return;
    if (l->n > 0 && l->n <= l->max && l->code[l->n - 1].end == begin) {
        l->code[l->n - 1].end = end;
        return;
    }
    if (l->n < l->max) l->code[l->n] = (ompp_code_t){begin, end};
    l->n++;
}

/* A row holds up to the next one of a higher address. Rows of one address: the last one counts. */
static void search_rows(lines_t *l, const ompp_unit_t *unit)
{
    for (size_t i = 0; i + 1 < unit->nrows; i++) {
        const ompp_row_t *row = &unit->rows[i];
        if (row->end || row->line < l->line || row[1].address == row->address || !is_file(l, unit, row->file)) continue;
        if (row->line == l->line) take(l, row->address, row[1].address);
        else if (*l->nearest == 0 || row->line < *l->nearest) *l->nearest = row->line;
    }
}

static bool is_called_there(lines_t *l, ompp_dwarf_t *dwarf, const ompp_unit_t *unit, const ompp_function_t *function)
{
    Dwarf_Unsigned line = 0, file = 0;
    Dwarf_Die die = NULL;

    if (!ompp_die_ok(dwarf, dwarf_offdie_b(dwarf->debug, function->die, 1, &die, &dwarf->error))) return false;
    bool known =
        ompp_die_number(dwarf, die, DW_AT_call_line, &line) && ompp_die_number(dwarf, die, DW_AT_call_file, &file);
    dwarf_dealloc_die(die);
    return known && line == l->line && is_file(l, unit, ompp_unit_file(unit, (uint32_t)file));
}

static void search_inlined(lines_t *l, ompp_dwarf_t *dwarf, const ompp_unit_t *unit)
{
    for (size_t i = 0; i < unit->nfunctions; i++) {
        const ompp_function_t *f = &unit->functions[i];
        if (!f->inlined || !is_called_there(l, dwarf, unit, f)) continue;
        for (uint32_t k = 0; k < f->nranges; k++) {
            const ompp_range_t *range = &unit->ranges.items[f->first_range + k];
            take(l, range->low, range->high);
        }
    }
}

static bool has_file(const lines_t *l, const ompp_unit_t *unit)
{
    for (uint32_t i = 0; i < unit->nfiles; i++)
        if (is_file(l, unit, i)) return true;
    return false;
}

size_t ompp_code_of_line(ompp_structure_t *structure, const char *file, uint32_t line, double deadline,
                         ompp_code_t *code, size_t max, uint32_t *nearest)
{
    lines_t l = {.file = file, .line = line, .nearest = nearest, .code = code, .max = max};

    for (uint32_t i = 0; structure->has_lines && i < structure->dwarf.nunits && ompp_clock_seconds() < deadline; i++) {
        const ompp_unit_t *unit = ompp_dwarf_unit(&structure->dwarf, i);
        if (!unit || !has_file(&l, unit)) continue;
        search_rows(&l, unit);
        search_inlined(&l, &structure->dwarf, unit);
    }
    return l.n;
}

bool ompp_code_may_be(const ompp_structure_t *structure, const char *file, bool compressed)
{
    static const char *const sections[] = {".debug_line_str", ".debug_line", ".debug_str"};
    const ompp_elf_t *elf = structure->debug.fd >= 0 ? &structure->debug : &structure->elf;
    int has = ompp_elf_has(elf, ".zdebug_line") ? -1 : 0;

    for (size_t i = 0; i < sizeof sections / sizeof sections[0] && has == 0; i++)
        has = ompp_elf_holds(elf, sections[i], ompp_path_last(file));
    return has < 0 ? compressed : has > 0;
}
