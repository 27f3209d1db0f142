/* What is asked of a unit that has been read: rows and files of its line table; its functions, by address and line. */
#define _GNU_SOURCE /* qsort_r */
#include "structure/ompp_dwarf_priv.h"
#include "structure/ompp_outlined.h"

#include <stdlib.h>

/* ---- Line table -------------------------------------------------------------------------------------------------- */

size_t ompp_unit_row_from(const ompp_unit_t *unit, uint64_t address)
{
    size_t low = 0, high = unit->nrows;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (unit->rows[middle].address < address) low = middle + 1;
        else high = middle;
    }
    return low;
}

uint32_t ompp_unit_file(const ompp_unit_t *unit, uint32_t number)
{
    bool known = number < unit->nfiles && unit->files[number];

    if (!known && number == 1 && unit->version >= 5) number = 0;
    return number < unit->nfiles && unit->files[number] ? number : UINT32_MAX;
}

const ompp_row_t *ompp_unit_row(const ompp_unit_t *unit, uint64_t address)
{
    if (address == UINT64_MAX) return NULL;
    /* Line 0 is code the compiler has added: it belongs to what stands before it. */
    for (size_t i = ompp_unit_row_from(unit, address + 1); i-- > 0 && !unit->rows[i].end;)
        if (unit->rows[i].line) return &unit->rows[i];
    return NULL;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b, void *functions)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const ompp_function_t *f = (ompp_function_t *)functions + x, *g = (ompp_function_t *)functions + y;

    if (f->decl_line != g->decl_line) return f->decl_line < g->decl_line ? -1 : 1;
    return x < y ? -1 : x > y;
}

bool ompp_unit_index(ompp_unit_t *unit)
{
    unit->intervals = calloc(unit->ranges.n + 1, sizeof *unit->intervals);
    unit->by_line = calloc(unit->nfunctions + 1, sizeof *unit->by_line);
    unit->outlined = calloc(unit->nfunctions + 1, sizeof *unit->outlined);
    if (!unit->intervals || !unit->by_line || !unit->outlined) return false;
    for (uint32_t f = 0; f < unit->nfunctions; f++) {
        ompp_function_t *function = &unit->functions[f];
        for (uint32_t r = function->first_range; r < function->first_range + function->nranges; r++)
            unit->intervals[r] = (ompp_interval_t){unit->ranges.items[r].low, unit->ranges.items[r].high, f, 0};
        function->mark = ompp_outlined_mark(function->name);
        function->body = ompp_outlined_is_body(function->name);
        if (function->inlined) continue;
        unit->by_line[unit->nby_line++] = f;
        if (function->mark != OMPP_MARK_NONE) unit->outlined[unit->noutlined++] = f;
    }
    ompp_intervals_link(unit->intervals, unit->ranges.n);
    if (unit->nby_line) qsort_r(unit->by_line, unit->nby_line, sizeof(uint32_t), compare_lines, unit->functions);
    if (unit->noutlined) qsort_r(unit->outlined, unit->noutlined, sizeof(uint32_t), compare_lines, unit->functions);
    return true;
}

size_t ompp_unit_from_line(const ompp_unit_t *unit, const uint32_t *functions, size_t n, uint32_t line)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (unit->functions[functions[middle]].decl_line < line) low = middle + 1;
        else high = middle;
    }
    return low;
}

bool ompp_function_holds(const ompp_unit_t *unit, const ompp_function_t *function, uint64_t address)
{
    const ompp_range_t *range = &unit->ranges.items[function->first_range];

    for (uint32_t i = 0; i < function->nranges; i++)
        if (address >= range[i].low && address < range[i].high) return true;
    return false;
}

uint32_t ompp_unit_holder(const ompp_unit_t *unit, uint64_t address)
{
    return unit->nfunctions ? ompp_intervals_last(unit->intervals, unit->ranges.n, address) : OMPP_NO_INTERVAL;
}

uint32_t ompp_unit_function(const ompp_unit_t *unit, uint64_t address)
{
    uint32_t found = OMPP_NO_FUNCTION;

    for (uint32_t i = ompp_unit_holder(unit, address); i != OMPP_NO_INTERVAL;
         i = ompp_intervals_before(unit->intervals, i, address)) {
        const uint32_t f = unit->intervals[i].item;
        if (!unit->functions[f].inlined && (found == OMPP_NO_FUNCTION || f > found)) found = f;
    }
    return found;
}

uint32_t ompp_unit_innermost(const ompp_unit_t *unit, uint64_t address, uint32_t first, uint32_t last)
{
    uint32_t found = OMPP_NO_FUNCTION, next;

    /* One inside the last one that was found; not only of those inside it in turn, as what gcc moves out of one
     * (functions of parallel regions) lies elsewhere. Those that hold the address are few. */
    do {
        next = OMPP_NO_FUNCTION;
        for (uint32_t i = ompp_unit_holder(unit, address); i != OMPP_NO_INTERVAL;
             i = ompp_intervals_before(unit->intervals, i, address)) {
            const uint32_t f = unit->intervals[i].item;
            if (f >= first && f <= last && f < next) next = f;
        }
        if (next == OMPP_NO_FUNCTION) break;
        found = next;
        first = found + 1;
        last = unit->functions[found].last;
    } while (first <= last);
    return found;
}
