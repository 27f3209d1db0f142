/*
 * What compilers make of a parallel or task construct: clang NAME.omp_outlined[.N] (before 17: .omp_outlined.[N]),
 *   declared on the directive's line. With debug information the
 *          body is a second function, ..._debug__, declared where the block begins, called by the first one; when it is
 *          optimised it is inlined there. Tasks: .omp_task_entry. and the same pair. A loop that is combined with the
 *          construct ("parallel for") has its variables in the outermost scope of the body, a loop with a directive of
 *          its own has them in a block. The code that begins a combined loop may be on the line of the "for", which
 *          does not tell the two apart.
 *   gcc    NAME._omp_fn.N, without a line of its own; its first row is on the directive's line.
 * Rows that come from other functions inlined into this code say nothing about where it ends.
 */
#include "structure/ompp_extent_priv.h"

#include <string.h>

/* Marks of outlined functions in their names. */
static const struct {
    const char *mark;
    bool declared; /* has the directive's line as its own */
} outlined[] = {
    {"omp_outlined", true},
    {".omp_task_entry.", true},
    {"._omp_fn.", false},
};
#define NOUTLINED (sizeof outlined / sizeof outlined[0])

static const char body_mark[] = "_debug__";
static const char loop_variable[] = ".omp.iv";

/* Row of the table above, or NOUTLINED. */
static size_t mark_of(const ompp_function_t *function)
{
    size_t i = 0;

    while (i < NOUTLINED && !(function->name && strstr(function->name, outlined[i].mark))) i++;
    return i;
}

/* The mark counts behind the last "omp_outlined": a nested construct carries the names of those around it in front. */
static bool is_body(const ompp_function_t *function)
{
    const char *last = NULL;

    for (const char *at = function->name; at && (at = strstr(at, outlined[0].mark)); at++) last = at;
    return last && strstr(last, body_mark);
}

/* "main.omp_outlined" -> 4; names without a mark as they are. */
size_t ompp_extent_source_name(const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < NOUTLINED; i++) {
        const char *mark = strstr(name, outlined[i].mark);
        if (!mark) continue;
        length = (size_t)(mark - name);
        while (length > 0 && name[length - 1] == '.') length--;
        return length;
    }
    return length;
}

/* Whether the code at an address inside function number f is its own, not that of another function inlined into it. */
static bool is_own(const ompp_unit_t *unit, uint32_t f, uint64_t address)
{
    uint32_t inner = ompp_unit_innermost(unit, address, f, unit->functions[f].last);

    return inner == f || (inner != OMPP_NO_FUNCTION && mark_of(&unit->functions[inner]) < NOUTLINED);
}

typedef struct {
    uint32_t first, last; /* lines; 0 = none */
} lines_t;

/* First and last line of a function's own rows in one file. */
static lines_t own_lines(const ompp_unit_t *unit, uint32_t f, uint32_t file)
{
    const ompp_function_t *function = &unit->functions[f];
    lines_t lines = {0, 0};

    for (uint32_t r = 0; r < function->nranges; r++) {
        const ompp_range_t *range = &unit->ranges.items[function->first_range + r];
        for (size_t i = ompp_unit_row_from(unit, range->low); i < unit->nrows && unit->rows[i].address < range->high;
             i++) {
            const ompp_row_t *row = &unit->rows[i];
            if (row->end || row->line == 0 || row->file != file || !is_own(unit, f, row->address)) continue;
            if (lines.first == 0 || row->line < lines.first) lines.first = row->line;
            if (row->line > lines.last) lines.last = row->line;
        }
    }
    return lines;
}

static bool has_inlined_body(const ompp_unit_t *unit, uint32_t f)
{
    for (uint32_t i = f + 1; i <= unit->functions[f].last; i++)
        if (mark_of(&unit->functions[i]) < NOUTLINED) return true;
    return false;
}

/*
 * Line on which the body of the directive on a line begins, 0 = none. The next block to begin is the directive's own:
 * what follows a directive is its block, before any other directive.
 */
static uint32_t body_line(const ompp_unit_t *unit, uint32_t file, uint32_t line)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < unit->nfunctions; i++) {
        const ompp_function_t *f = &unit->functions[i];
        if (f->inlined || f->decl_file != file || f->decl_line < line || !is_body(f) || mark_of(f) == NOUTLINED)
            continue;
        if (found == 0 || f->decl_line < found) found = f->decl_line;
    }
    return found;
}

static uint32_t max(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Last line of all bodies that begin on a line: one, or one per instance of a template. */
static uint32_t body_end(const ompp_unit_t *unit, uint32_t file, uint32_t line)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < unit->nfunctions; i++) {
        const ompp_function_t *f = &unit->functions[i];
        if (f->inlined || f->decl_file != file || f->decl_line != line || !is_body(f)) continue;
        last = max(last, own_lines(unit, i, file).last);
    }
    return last;
}

uint32_t ompp_extent_outlined(const ompp_unit_t *unit, const ompp_row_t *begin)
{
    uint32_t last = 0;
    bool body_apart = false;

    for (uint32_t i = 0; i < unit->nfunctions; i++) {
        const ompp_function_t *f = &unit->functions[i];
        size_t mark = f->inlined || is_body(f) ? NOUTLINED : mark_of(f);
        if (mark == NOUTLINED) continue;
        if (outlined[mark].declared && (f->decl_line != begin->line || f->decl_file != begin->file)) continue;
        lines_t lines = own_lines(unit, i, begin->file);
        if (!outlined[mark].declared && lines.first != begin->line) continue;
        last = max(last, lines.last);
        body_apart = body_apart || (outlined[mark].declared && !has_inlined_body(unit, i));
    }
    uint32_t body = body_apart ? body_line(unit, begin->file, begin->line) : 0;
    return body ? max(last, body_end(unit, begin->file, body)) : last;
}

/* File of the first row that is a function's own. */
static uint32_t own_file(const ompp_unit_t *unit, uint32_t f)
{
    const ompp_range_t *range = &unit->ranges.items[unit->functions[f].first_range];

    for (size_t i = ompp_unit_row_from(unit, range->low); i < unit->nrows && unit->rows[i].address < range->high; i++)
        if (!unit->rows[i].end && unit->rows[i].line && is_own(unit, f, unit->rows[i].address))
            return unit->rows[i].file;
    return UINT32_MAX;
}

/* File of the function that this one is made of, when it has lines there: its own first rows may be of others, inlined
 * into it. */
static uint32_t file_of_outer(const ompp_unit_t *unit, uint32_t f)
{
    for (uint32_t i = f; i-- > 0;) {
        const ompp_function_t *outer = &unit->functions[i];
        uint32_t file = ompp_unit_file(unit, outer->decl_file);
        if (outer->inlined || outer->last < f || mark_of(outer) < NOUTLINED) continue;
        return file != UINT32_MAX && own_lines(unit, f, file).first ? file : UINT32_MAX;
    }
    return UINT32_MAX;
}

bool ompp_extent_entry(const ompp_unit_t *unit, uint64_t addr, uint32_t *file, uint32_t *first, uint32_t *last)
{
    for (uint32_t i = 0; i < unit->nfunctions; i++) {
        const ompp_function_t *f = &unit->functions[i];
        size_t mark = f->inlined || f->nranges == 0 ? NOUTLINED : mark_of(f);
        if (mark == NOUTLINED || outlined[mark].declared || unit->ranges.items[f->first_range].low != addr) continue;
        *file = file_of_outer(unit, i);
        if (*file == UINT32_MAX) *file = own_file(unit, i);
        lines_t lines = own_lines(unit, i, *file);
        *first = lines.first;
        *last = lines.last;
        return *file < unit->nfiles && lines.first != 0;
    }
    return false;
}

/*
 * Line of the directive whose body is a function: the last one that stands above the body or on its line. Between a
 * directive and the loop it is combined with there is no other directive.
 */
static uint32_t directive_line(const ompp_unit_t *unit, const ompp_function_t *body)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < unit->nfunctions; i++) {
        const ompp_function_t *f = &unit->functions[i];
        size_t mark = f->inlined || is_body(f) ? NOUTLINED : mark_of(f);
        if (mark == NOUTLINED || !outlined[mark].declared || f->decl_file != body->decl_file) continue;
        if (f->decl_line <= body->decl_line) found = max(found, f->decl_line);
    }
    return found;
}

uint32_t ompp_extent_combined(ompp_dwarf_t *dwarf, const ompp_unit_t *unit, uint64_t addr)
{
    uint32_t f = ompp_unit_innermost(unit, addr, 0, OMPP_NO_FUNCTION);

    if (f == OMPP_NO_FUNCTION || !is_body(&unit->functions[f])) return 0;
    return ompp_dwarf_has_variable(dwarf, &unit->functions[f], loop_variable)
               ? directive_line(unit, &unit->functions[f])
               : 0;
}

/* A function whose lines begin behind another one's and hold this line; OMPP_NO_FUNCTION = none. */
static uint32_t later_function(const ompp_unit_t *unit, uint32_t function, uint32_t file, uint32_t line)
{
    uint32_t begin = unit->functions[function].decl_line;

    for (uint32_t i = 0; i < unit->nfunctions; i++) {
        const ompp_function_t *f = &unit->functions[i];
        if (f->inlined || f->decl_line <= begin || f->decl_line > line || ompp_unit_file(unit, f->decl_file) != file)
            continue;
        if (own_lines(unit, i, file).last >= line) return i;
    }
    return OMPP_NO_FUNCTION;
}

/* The last of a function's own lines in front of a line. */
static uint32_t last_before(const ompp_unit_t *unit, uint32_t function, uint32_t file, uint32_t line)
{
    const ompp_function_t *f = &unit->functions[function];
    uint32_t last = 0;

    for (uint32_t r = 0; r < f->nranges; r++) {
        const ompp_range_t *range = &unit->ranges.items[f->first_range + r];
        for (size_t i = ompp_unit_row_from(unit, range->low); i < unit->nrows && unit->rows[i].address < range->high;
             i++) {
            const ompp_row_t *row = &unit->rows[i];
            if (!row->end && row->file == file && row->line < line && is_own(unit, function, row->address))
                last = max(last, row->line);
        }
    }
    return last;
}

/*
 * Code inlined into a function is not always marked as such (the hooks that gcc puts into it): a function does not end
 * inside one that begins behind it. One with others inside it, as lambdas are, has code behind them.
 */
uint32_t ompp_extent_function(const ompp_unit_t *unit, uint32_t function, uint32_t file)
{
    uint32_t last = own_lines(unit, function, file).last, later;

    while ((later = later_function(unit, function, file, last)) != OMPP_NO_FUNCTION)
        last = last_before(unit, function, file, unit->functions[later].decl_line);
    return last;
}

uint32_t ompp_extent_calls(const ompp_unit_t *unit, const ompp_row_t *begin, uint64_t addr, uint64_t addr_end)
{
    const ompp_row_t *end = ompp_unit_row(unit, addr_end);
    uint32_t last = begin->line, outer = ompp_unit_innermost(unit, addr, 0, OMPP_NO_FUNCTION);

    if (!end || end->file != begin->file) return last;
    if (end->line > last) last = end->line;
    if (outer == OMPP_NO_FUNCTION || addr_end <= addr || !ompp_function_holds(unit, &unit->functions[outer], addr_end))
        return last;
    /* The call that ends it may stand on any line of the last statement; the statement's other rows lie before it. */
    for (size_t i = ompp_unit_row_from(unit, addr); i < unit->nrows && unit->rows[i].address <= addr_end; i++) {
        const ompp_row_t *row = &unit->rows[i];
        if (!row->end && row->file == begin->file && row->line > last && is_own(unit, outer, row->address))
            last = row->line;
    }
    return last;
}
