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
#include "structure/ompp_outlined.h"

#include "base/ompp_vector.h"

#include <string.h>

static const char loop_variable[] = ".omp.iv";

/* Functions of regions that have the directive's line as their own. */
static bool is_declared(const ompp_function_t *function) { return function->mark != OMPP_MARK_GCC; }

static bool has_mark(const ompp_function_t *function) { return function->mark != OMPP_MARK_NONE; }

/* Whether the code at an address inside function number f is its own, not that of another function inlined into it. */
static bool is_own(const ompp_unit_t *unit, uint32_t f, uint64_t address)
{
    uint32_t inner = ompp_unit_innermost(unit, address, f, unit->functions[f].last);

    return inner == f || (inner != OMPP_NO_FUNCTION && has_mark(&unit->functions[inner]));
}

typedef struct {
    uint32_t first, last; /* lines; 0 = none */
} lines_t;

/* First row of a range of a function. The last row of the code in front may be at the same address, with no code. */
static size_t rows_from(const ompp_unit_t *unit, uint32_t f, uint64_t low)
{
    const size_t begin = ompp_unit_row_from(unit, low);

    for (size_t i = begin; !unit->functions[f].inlined && i < unit->nrows && unit->rows[i].address == low; i++)
        if (unit->rows[i].statement && !unit->rows[i].end) return i;
    return begin;
}

/* First and last line of a function's own rows in one file. */
static lines_t own_lines(const ompp_unit_t *unit, uint32_t f, uint32_t file)
{
    const ompp_function_t *function = &unit->functions[f];
    lines_t lines = {0, 0};

    for (uint32_t r = 0; r < function->nranges; r++) {
        const ompp_range_t *range = &unit->ranges.items[function->first_range + r];
        for (size_t i = rows_from(unit, f, range->low); i < unit->nrows && unit->rows[i].address < range->high; i++) {
            const ompp_row_t *row = &unit->rows[i];
            if (row->end || row->line == 0 || row->file != file || !is_own(unit, f, row->address)) continue;
            if (lines.first == 0 || row->line < lines.first) lines.first = row->line;
            if (row->line > lines.last) lines.last = row->line;
        }
    }
    return lines;
}

uint32_t ompp_extent_first(const ompp_unit_t *unit, uint32_t function, uint32_t file)
{
    return own_lines(unit, function, file).first;
}

static bool has_inlined_body(const ompp_unit_t *unit, uint32_t f)
{
    for (uint32_t i = f + 1; i <= unit->functions[f].last; i++)
        if (has_mark(&unit->functions[i])) return true;
    return false;
}

static const ompp_function_t *outlined_at(const ompp_unit_t *unit, size_t i)
{
    return &unit->functions[unit->outlined[i]];
}

static size_t outlined_from(const ompp_unit_t *unit, uint32_t line)
{
    return ompp_unit_from_line(unit, unit->outlined, unit->noutlined, line);
}

/*
 * Line on which the body of the directive on a line begins, 0 = none. The next block to begin is the directive's own:
 * what follows a directive is its block, before any other directive.
 */
static uint32_t body_line(const ompp_unit_t *unit, uint32_t file, uint32_t line)
{
    for (size_t i = outlined_from(unit, line); i < unit->noutlined; i++)
        if (outlined_at(unit, i)->body && outlined_at(unit, i)->decl_file == file)
            return outlined_at(unit, i)->decl_line;
    return 0;
}

static uint32_t max(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Last line of all bodies that begin on a line: one, or one per instance of a template. */
static uint32_t body_end(const ompp_unit_t *unit, uint32_t file, uint32_t line)
{
    uint32_t last = 0;

    for (size_t i = outlined_from(unit, line); i < unit->noutlined && outlined_at(unit, i)->decl_line == line; i++)
        if (outlined_at(unit, i)->body && outlined_at(unit, i)->decl_file == file)
            last = max(last, own_lines(unit, unit->outlined[i], file).last);
    return last;
}

static int compare_own(const void *a, const void *b)
{
    const ompp_own_lines_t *x = a, *y = b;

    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Files that a function has rows in; \return false when out of memory. */
static bool add_own(ompp_unit_t *unit, uint32_t f)
{
    const ompp_range_t *range = &unit->ranges.items[unit->functions[f].first_range];
    const size_t before = unit->nown;

    for (const ompp_range_t *end = range + unit->functions[f].nranges; range < end; range++)
        for (size_t i = rows_from(unit, f, range->low); i < unit->nrows && unit->rows[i].address < range->high; i++) {
            const ompp_row_t *row = &unit->rows[i];
            size_t at = before;
            if (row->end || row->line == 0) continue;
            while (at < unit->nown && unit->own[at].file != row->file) at++;
            if (at < unit->nown) continue;
            ompp_own_lines_t *own = ompp_vector_push(&unit->own, &unit->nown, &unit->aown, sizeof *own);
            if (!own) return false;
            const lines_t lines = own_lines(unit, f, row->file);
            *own = (ompp_own_lines_t){row->file, lines.first, lines.last};
        }
    return true;
}

/* The lines of all functions of regions that have no line themselves: found once, not for each question. */
static void read_own(ompp_unit_t *unit)
{
    if (unit->own_read) return;
    unit->own_read = true;
    for (size_t i = 0; i < unit->noutlined; i++)
        if (!is_declared(outlined_at(unit, i)) && !outlined_at(unit, i)->body && !add_own(unit, unit->outlined[i]))
            break;
    if (unit->nown) qsort(unit->own, unit->nown, sizeof *unit->own, compare_own);
}

/* Last line of the functions of regions whose lines begin with this one. */
static uint32_t own_end(const ompp_unit_t *unit, uint32_t file, uint32_t line)
{
    const ompp_own_lines_t wanted = {.file = file, .first = line};
    size_t low = 0, high;
    uint32_t last = 0;

    read_own((ompp_unit_t *)unit);
    for (high = unit->nown; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (compare_own(&unit->own[middle], &wanted) < 0) low = middle + 1;
        else high = middle;
    }
    for (; low < unit->nown && compare_own(&unit->own[low], &wanted) == 0; low++) last = max(last, unit->own[low].last);
    return last;
}

uint32_t ompp_extent_outlined(const ompp_unit_t *unit, const ompp_row_t *begin)
{
    uint32_t last = own_end(unit, begin->file, begin->line);
    bool body_apart = false;

    for (size_t i = outlined_from(unit, begin->line);
         i < unit->noutlined && outlined_at(unit, i)->decl_line == begin->line; i++) {
        const ompp_function_t *f = outlined_at(unit, i);
        if (f->body || !is_declared(f) || f->decl_file != begin->file) continue;
        last = max(last, own_lines(unit, unit->outlined[i], begin->file).last);
        body_apart = body_apart || !has_inlined_body(unit, unit->outlined[i]);
    }
    uint32_t body = body_apart ? body_line(unit, begin->file, begin->line) : 0;
    return body ? max(last, body_end(unit, begin->file, body)) : last;
}

/* File of the first row that is a function's own. */
static uint32_t own_file(const ompp_unit_t *unit, uint32_t f)
{
    const ompp_range_t *range = &unit->ranges.items[unit->functions[f].first_range];

    for (size_t i = rows_from(unit, f, range->low); i < unit->nrows && unit->rows[i].address < range->high; i++)
        if (!unit->rows[i].end && unit->rows[i].line && is_own(unit, f, unit->rows[i].address))
            return unit->rows[i].file;
    return UINT32_MAX;
}

/* File of the function that this one is made of, when it has lines there: its own first rows may be of others, inlined
 * into it. */
static uint32_t file_of_outer(const ompp_unit_t *unit, uint32_t f)
{
    for (uint32_t i = unit->functions[f].outer; i != OMPP_NO_FUNCTION; i = unit->functions[i].outer) {
        const ompp_function_t *outer = &unit->functions[i];
        uint32_t file = ompp_unit_file(unit, outer->decl_file);
        if (outer->inlined || has_mark(outer)) continue;
        return file != UINT32_MAX && own_lines(unit, f, file).first ? file : UINT32_MAX;
    }
    return UINT32_MAX;
}

/* gcc's function of a region that begins at an address. */
static uint32_t entry_at(const ompp_unit_t *unit, uint64_t addr)
{
    uint32_t found = OMPP_NO_FUNCTION;

    for (uint32_t i = ompp_unit_holder(unit, addr); i != OMPP_NO_INTERVAL;
         i = ompp_intervals_before(unit->intervals, i, addr)) {
        const uint32_t index = unit->intervals[i].item;
        const ompp_function_t *f = &unit->functions[index];
        if (!f->inlined && f->mark == OMPP_MARK_GCC && unit->ranges.items[f->first_range].low == addr && index < found)
            found = index;
    }
    return found;
}

bool ompp_extent_entry(const ompp_unit_t *unit, uint64_t addr, uint32_t *file, uint32_t *first, uint32_t *last)
{
    const uint32_t f = entry_at(unit, addr);

    if (f == OMPP_NO_FUNCTION) return false;
    *file = file_of_outer(unit, f);
    if (*file == UINT32_MAX) *file = own_file(unit, f);
    lines_t lines = own_lines(unit, f, *file);
    *first = lines.first;
    *last = lines.last;
    return *file < unit->nfiles && lines.first != 0;
}

/*
 * Line of the directive whose body is a function: the last one that stands above the body or on its line. Between a
 * directive and the loop it is combined with there is no other directive.
 */
static uint32_t directive_line(const ompp_unit_t *unit, const ompp_function_t *body)
{
    for (size_t i = outlined_from(unit, body->decl_line + 1); i-- > 0;) {
        const ompp_function_t *f = outlined_at(unit, i);
        if (!f->body && is_declared(f) && f->decl_file == body->decl_file) return f->decl_line;
    }
    return 0;
}

uint32_t ompp_extent_combined(ompp_dwarf_t *dwarf, const ompp_unit_t *unit, uint64_t addr)
{
    uint32_t f = ompp_unit_innermost(unit, addr, 0, OMPP_NO_FUNCTION);

    if (f == OMPP_NO_FUNCTION || !unit->functions[f].body) return 0;
    return ompp_dwarf_has_variable(dwarf, unit, &unit->functions[f], loop_variable)
               ? directive_line(unit, &unit->functions[f])
               : 0;
}

/* A function whose lines begin behind another one's and hold this line; OMPP_NO_FUNCTION = none. */
static uint32_t later_function(const ompp_unit_t *unit, uint32_t function, uint32_t file, uint32_t line)
{
    uint32_t begin = unit->functions[function].decl_line, found = OMPP_NO_FUNCTION;

    for (size_t i = ompp_unit_from_line(unit, unit->by_line, unit->nby_line, begin + 1); i < unit->nby_line; i++) {
        const uint32_t f = unit->by_line[i];
        if (unit->functions[f].decl_line > line) break;
        if (f > found || ompp_unit_file(unit, unit->functions[f].decl_file) != file) continue;
        if (own_lines(unit, f, file).last >= line) found = f;
    }
    return found;
}

/* The last of a function's own lines in front of a line. */
static uint32_t last_before(const ompp_unit_t *unit, uint32_t function, uint32_t file, uint32_t line)
{
    const ompp_function_t *f = &unit->functions[function];
    uint32_t last = 0;

    for (uint32_t r = 0; r < f->nranges; r++) {
        const ompp_range_t *range = &unit->ranges.items[f->first_range + r];
        for (size_t i = rows_from(unit, function, range->low); i < unit->nrows && unit->rows[i].address < range->high;
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
