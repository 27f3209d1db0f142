/*
 * The code of a line: rows of line tables, and functions that are inlined where they are called in the line. The call
 * that a statement makes stands on one of its lines, which one depends on the compiler: the text tells the others.
 */
#include "structure/ompp_code.h"

#include "base/ompp_clock.h"
#include "base/ompp_path.h"
#include "structure/ompp_fortran.h"
#include "structure/ompp_source.h"
#include "structure/ompp_structure_priv.h"

#include <string.h>

typedef struct {
    const char *file;
    uint32_t line, *nearest;
    uint32_t first, last; /* lines of the statement */
    bool others;          /* those but for the line are searched */
    ompp_code_t *code;
    size_t n, max;
} lines_t;

/* Of lines as far away, the one behind is. */
static bool is_nearer(uint32_t line, uint32_t than, uint32_t to)
{
    const uint32_t distance = line > to ? line - to : to - line, other = than > to ? than - to : to - than;

    return line && (!than || distance < other || (distance == other && line > than));
}

bool ompp_code_ends_path(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);

    return m > 0 && m <= n && strcmp(path + n - m, end) == 0 && (m == n || path[n - m - 1] == '/');
}

static bool is_file(const lines_t *l, const ompp_unit_t *unit, uint32_t file)
{
    return file < unit->nfiles && unit->files[file] && ompp_code_ends_path(unit->files[file], l->file);
}

static bool is_wanted(const lines_t *l, uint32_t line)
{
    return l->others ? line >= l->first && line <= l->last && line != l->line : line == l->line;
}

static void take(lines_t *l, uint64_t begin, uint64_t end)
{
    ompp_code_t *before = l->n > 0 && l->n <= l->max ? &l->code[l->n - 1] : NULL;

    if (begin >= end) return;
    if (before && before->end == begin && before->other == l->others) {
        before->end = end;
        return;
    }
    if (l->n < l->max) l->code[l->n] = (ompp_code_t){begin, end, l->others};
    l->n++;
}

/* A row holds up to the next one of a higher address. Rows of one address: the last one counts. */
static void search_rows(lines_t *l, const ompp_unit_t *unit)
{
    for (size_t i = 0; i + 1 < unit->nrows; i++) {
        const ompp_row_t *row = &unit->rows[i];
        if (row->end || row->line < l->first || row[1].address == row->address || !is_file(l, unit, row->file))
            continue;
        if (is_wanted(l, row->line)) take(l, row->address, row[1].address);
        else if (is_nearer(row->line, *l->nearest, l->line)) *l->nearest = row->line;
    }
}

static bool is_called_there(lines_t *l, ompp_dwarf_t *dwarf, const ompp_unit_t *unit, const ompp_function_t *function)
{
    uint32_t file, line;

    return ompp_dwarf_call_site(dwarf, unit, function, &file, &line) && is_wanted(l, line) && is_file(l, unit, file);
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

/* ---- The statement ----------------------------------------------------------------------------------------------- */

/* Does one of several lines that call an allocator stand for itself? */
static bool is_apart(const lines_t *l, const ompp_source_t *source)
{
    static const char *const allocators[] = {
        "malloc", "calloc", "realloc", "aligned_alloc", "memalign", "posix_memalign", "mmap", "new", NULL};
    unsigned n = 0;

    for (uint32_t i = l->first; i <= l->last; i++) n += ompp_source_has_word(source, i, allocators);
    return l->n > 0 && n > 1 && ompp_source_has_word(source, l->line, allocators);
}

/* Finds its lines in the text of a source file. */
static void read_statement(lines_t *l, const char *path, int64_t newest)
{
    ompp_source_t *source = ompp_source_open(path, newest);
    const ompp_fortran_t fortran = {source, ompp_fortran_is_fixed(path)};

    if (!source) return;
    if (ompp_fortran_is(path)) {
        ompp_fortran_lines(&fortran, l->line, &l->first, &l->last);
    } else {
        ompp_source_statement(source, l->line, &l->first, &l->last);
        if (is_apart(l, source)) l->first = l->last = l->line;
    }
    ompp_source_close(source);
}

/* The file of a unit that is meant, or NULL. */
static const char *file_of(const lines_t *l, const ompp_unit_t *unit)
{
    for (uint32_t i = 0; i < unit->nfiles; i++)
        if (is_file(l, unit, i)) return unit->files[i];
    return NULL;
}

static void search(lines_t *l, ompp_structure_t *structure, double deadline)
{
    const char *path = NULL;

    for (uint32_t i = 0; i < structure->dwarf.nunits && ompp_clock_seconds() < deadline; i++) {
        const ompp_unit_t *unit = ompp_dwarf_unit(&structure->dwarf, i);
        const char *file = unit ? file_of(l, unit) : NULL;
        if (!file) continue;
        if (!path) path = file;
        search_rows(l, unit);
        search_inlined(l, &structure->dwarf, unit);
    }
    if (path && !l->others) read_statement(l, path, ompp_structure_mtime(structure));
}

size_t ompp_code_of_line(ompp_structure_t *structure, const char *file, uint32_t line, double deadline,
                         ompp_code_t *code, size_t max, uint32_t *nearest)
{
    lines_t l = {.file = file, .line = line, .nearest = nearest, .first = line, .last = line, .code = code, .max = max};

    if (!structure->has_lines) return 0;
    search(&l, structure, deadline);
    l.others = true;
    if (l.first < l.last) search(&l, structure, deadline);
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
