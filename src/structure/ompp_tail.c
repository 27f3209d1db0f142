#include "structure/ompp_tail.h"

#include "base/ompp_vector.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_DEPTH = 64, MAX_JUMPS = 4 }; /* of nested scopes; of one function to the next */

/* ---- Calls of a unit --------------------------------------------------------------------------------------------- */

typedef struct {
    ompp_unit_t *unit;
    int depth;
    Dwarf_Off function; /* entry of the innermost one, inlined or not */
} reading_t;

static bool has(ompp_dwarf_t *dwarf, Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Bool there = 0;

    return ompp_die_ok(dwarf, dwarf_hasattr(die, name, &there, &dwarf->error)) && there;
}

static void add_call(ompp_dwarf_t *dwarf, Dwarf_Die die, const reading_t *reading)
{
    ompp_unit_t *unit = reading->unit;
    ompp_unit_call_t call = {.caller = reading->function};

    if (!ompp_die_address(dwarf, die, DW_AT_call_return_pc, &call.back) &&
        !ompp_die_address(dwarf, die, DW_AT_low_pc, &call.back))
        return;
    Dwarf_Die origin = ompp_die_referred(dwarf, die, DW_AT_call_origin);
    if (!origin) origin = ompp_die_referred(dwarf, die, DW_AT_abstract_origin);
    if (!origin) return; /* by a pointer */
    bool ok = ompp_die_ok(dwarf, dwarf_dieoffset(origin, &call.origin, &dwarf->error));
    dwarf_dealloc_die(origin);
    call.tail = has(dwarf, die, DW_AT_call_tail_call) || has(dwarf, die, DW_AT_GNU_tail_call);
    if (!ok) return;
    ompp_unit_call_t *to = ompp_vector_push(&unit->calls, &unit->ncalls, &unit->acalls, sizeof call);
    if (to) *to = call;
}

static bool read_calls(ompp_dwarf_t *dwarf, Dwarf_Die die, void *context)
{
    reading_t *reading = context;
    const Dwarf_Off outer = reading->function;
    Dwarf_Half tag = 0;

    if (!ompp_die_ok(dwarf, dwarf_tag(die, &tag, &dwarf->error))) return true;
    switch (tag) {
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site: add_call(dwarf, die, reading); break;
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
        if (!ompp_die_ok(dwarf, dwarf_dieoffset(die, &reading->function, &dwarf->error))) reading->function = 0;
        /* fall through */
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        if (reading->depth == MAX_DEPTH) break;
        reading->depth++;
        ompp_die_each_child(dwarf, die, read_calls, reading);
        reading->depth--;
    }
    reading->function = outer;
    return true;
}

static int compare_calls(const void *a, const void *b)
{
    const ompp_unit_call_t *x = a, *y = b;

    if (x->back != y->back) return x->back < y->back ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void read_unit(ompp_dwarf_t *dwarf, ompp_unit_t *unit)
{
    ompp_dwarf_t *in = ompp_unit_dwarf(dwarf, unit);
    reading_t reading = {unit, 0, 0};

    if (unit->calls_read) return;
    unit->calls_read = true;
    Dwarf_Die die = ompp_die_at(in, unit->die);
    if (!die) return;
    ompp_die_each_child(in, die, read_calls, &reading);
    dwarf_dealloc_die(die);
    for (size_t i = 0; i < unit->ncalls; i++) unit->calls[i].order = (uint32_t)i;
    if (unit->ncalls > 1) qsort(unit->calls, unit->ncalls, sizeof *unit->calls, compare_calls);
}

/* Index of the first call that returns to an address or behind it. */
static size_t calls_from(const ompp_unit_t *unit, uint64_t back)
{
    size_t low = 0, high = unit->ncalls;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (unit->calls[middle].back < back) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int compare_order(const void *a, const void *b)
{
    const ompp_unit_call_t *x = a, *y = b;

    return x->order < y->order ? -1 : x->order > y->order;
}

/* The jumps in the code of a function, in the order of their entries. Owned. */
static ompp_unit_call_t *jumps_of(const ompp_unit_t *unit, uint32_t function, size_t *n)
{
    const ompp_function_t *f = &unit->functions[function];
    const ompp_range_t *range = &unit->ranges.items[f->first_range];
    ompp_unit_call_t *jumps = NULL;
    size_t allocated = 0;

    *n = 0;
    for (const ompp_range_t *end = range + f->nranges; range < end; range++)
        for (size_t i = calls_from(unit, range->low + 1); i < unit->ncalls && unit->calls[i].back <= range->high; i++) {
            if (!unit->calls[i].tail) continue;
            ompp_unit_call_t *jump = ompp_vector_push(&jumps, n, &allocated, sizeof *jump);
            if (jump) *jump = unit->calls[i];
        }
    if (*n > 1) qsort(jumps, *n, sizeof *jumps, compare_order);
    return jumps;
}

/* ---- Who is called ----------------------------------------------------------------------------------------------- */

/* What is known of who is called, for the time of a question. */
typedef struct {
    ompp_function_t function; /* name and place of its declaration */
    const char *linkage;      /* NULL = as its name; gcc's own calls have __builtin_GOMP_... for a name */
    Dwarf_Off die;
} callee_t;

static bool is_callee(const callee_t *called, const char *callee)
{
    const char *name = called->linkage ? called->linkage : called->function.name;
    size_t n = strlen(callee);

    return strncasecmp(name, callee, n) == 0 && (name[n] == '\0' || name[n] == '_');
}

static bool describe(ompp_dwarf_t *dwarf, Dwarf_Off offset, callee_t *callee)
{
    Dwarf_Die die = ompp_die_at(dwarf, offset);

    *callee = (callee_t){.die = offset};
    if (!die) return false;
    ompp_die_describe(dwarf, die, &callee->function);
    callee->linkage = ompp_die_linkage_name(dwarf, die);
    dwarf_dealloc_die(die);
    return callee->function.name != NULL;
}

/* A place in the code: a function of a unit. */
typedef struct {
    ompp_unit_t *unit;
    uint32_t function;
} place_t;

static place_t place_at(ompp_structure_t *structure, uint64_t address)
{
    uint32_t index = ompp_dwarf_unit_of(&structure->dwarf, address);
    ompp_unit_t *unit = index == OMPP_NO_FUNCTION ? NULL : (ompp_unit_t *)ompp_dwarf_unit(&structure->dwarf, index);

    return (place_t){unit, unit ? ompp_unit_function(unit, address) : OMPP_NO_FUNCTION};
}

/* The code of who is called: in the same unit, or that of a symbol. */
static place_t search_code(ompp_structure_t *structure, ompp_unit_t *unit, const callee_t *callee)
{
    const char *name = callee->linkage ? callee->linkage : callee->function.name;

    for (uint32_t i = 0; i < unit->nfunctions; i++) {
        const ompp_function_t *f = &unit->functions[i];
        bool same = f->die == callee->die || (f->name && f->decl_line && f->decl_line == callee->function.decl_line &&
                                              strcmp(f->name, callee->function.name) == 0);
        if (same && !f->inlined) return (place_t){unit, i};
    }
    ompp_elf_symbol(&structure->elf, 0); /* reads them */
    const ompp_elf_symbols_t *symbols = &structure->elf.functions;
    for (size_t i = 0; i < symbols->n; i++)
        if (strcmp(symbols->items[i].name, name) == 0) return place_at(structure, symbols->items[i].low);
    return (place_t){NULL, OMPP_NO_FUNCTION};
}

/* Each is searched once. */
static place_t code_of(ompp_structure_t *structure, ompp_unit_t *unit, const callee_t *callee)
{
    ompp_unit_t *units = structure->dwarf.units;
    uint64_t known = ompp_table_get(&unit->code, callee->die);

    if (!known) {
        const place_t place = search_code(structure, unit, callee);
        known = ompp_hash_pair(place.unit ? (uint32_t)(place.unit - units) + 1 : 0, place.function);
        if (!known || !ompp_table_set(&unit->code, callee->die, known)) return place;
    }
    return (place_t){known >> 32 ? &units[(known >> 32) - 1] : NULL, (uint32_t)known};
}

/* ---- The jumps --------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *callee;
    uint64_t found; /* 0 = none yet */
    bool several;
} search_t;

/* A function may be there several times over, inlined into others or itself. */
static bool is_same_line(const ompp_unit_t *unit, const search_t *search, uint64_t address)
{
    const ompp_row_t *row = ompp_unit_row(unit, address),
                     *before = search->found ? ompp_unit_row(unit, search->found) : NULL;

    return !search->found || (row && before && row->line == before->line && row->file == before->file);
}

static void search_jumps(ompp_structure_t *structure, place_t place, int depth, search_t *search)
{
    size_t n;

    if (!place.unit || place.function == OMPP_NO_FUNCTION || depth == MAX_JUMPS) return;
    read_unit(&structure->dwarf, place.unit);
    ompp_unit_call_t *jumps = jumps_of(place.unit, place.function, &n);
    for (size_t i = 0; i < n; i++) {
        const ompp_unit_call_t *call = &jumps[i];
        callee_t callee;
        if (ompp_unit_function(place.unit, call->back - 1) != place.function) continue; /* of one that is inside it */
        if (!describe(ompp_unit_dwarf(&structure->dwarf, place.unit), call->origin, &callee)) continue;
        if (is_callee(&callee, search->callee)) {
            search->several = search->several || !is_same_line(place.unit, search, call->back - 1);
            search->found = call->back - 1;
        } else {
            search_jumps(structure, code_of(structure, place.unit, &callee), depth + 1, search);
        }
    }
    free(jumps);
}

uint64_t ompp_tail_find(ompp_structure_t *structure, uint64_t addr, const char *callee)
{
    search_t search = {.callee = callee};
    callee_t called;

    if (!structure->has_lines) return addr;
    place_t place = place_at(structure, addr);
    if (!place.unit || place.function == OMPP_NO_FUNCTION) return addr;
    const ompp_function_t *function = &place.unit->functions[place.function];
    if (place.unit->ranges.items[function->first_range].low == addr) {
        search_jumps(structure, place, 0, &search); /* of a region's own function */
        return search.found && !search.several ? search.found : addr;
    }
    read_unit(&structure->dwarf, place.unit);
    for (size_t i = calls_from(place.unit, addr + 1); i < place.unit->ncalls; i++) {
        const ompp_unit_call_t call = place.unit->calls[i];
        if (call.back != addr + 1) break;
        if (call.tail || !describe(ompp_unit_dwarf(&structure->dwarf, place.unit), call.origin, &called)) continue;
        if (is_callee(&called, callee)) return addr;
        search_jumps(structure, code_of(structure, place.unit, &called), 0, &search);
    }
    return search.found && !search.several ? search.found : addr;
}

uint32_t ompp_tail_caller(ompp_structure_t *structure, const ompp_unit_t *unit, uint64_t addr)
{
    read_unit(&structure->dwarf, (ompp_unit_t *)unit);
    const size_t i = calls_from(unit, addr + 1);
    if (i == unit->ncalls || unit->calls[i].back != addr + 1) return OMPP_NO_FUNCTION;
    for (uint32_t f = 0; f < unit->nfunctions; f++)
        if (unit->functions[f].die == unit->calls[i].caller) return f;
    return OMPP_NO_FUNCTION;
}
