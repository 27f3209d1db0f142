#include "structure/ompp_scope.h"

#include "base/ompp_clock.h"
#include "base/ompp_error.h"
#include "base/ompp_vector.h"
#include "structure/ompp_callee.h"
#include "structure/ompp_scope_priv.h"

#include <stdlib.h>
#include <string.h>

#define PROCEDURE_SECONDS 2.0 /* that one may take */
#define CALLEE_BYTES 1024u    /* of code of a function that may never return */
#define CALLEE_DEPTH 8u       /* of calls between such functions */

/* All procedures that have been asked for. */
typedef struct ompp_scopes {
    size_t n, allocated;
    ompp_procedure_t **items;
    ompp_table_t by_low, returns; /* by entries: index + 1; 1 = it returns, 2 = it does not */
    unsigned depth;               /* of callees that are looked at */
} ompp_scopes_t;

static void free_procedure(ompp_procedure_t *procedure)
{
    free(procedure->parts);
    free(procedure->scopes);
    free(procedure->pieces);
    free(procedure);
}

static void free_scopes(ompp_scopes_t *scopes)
{
    for (size_t i = 0; i < scopes->n; i++) free_procedure(scopes->items[i]);
    free(scopes->items);
    ompp_table_fini(&scopes->by_low);
    ompp_table_fini(&scopes->returns);
    free(scopes);
}

static ompp_scopes_t *scopes_of(ompp_structure_t *structure)
{
    if (!structure->scopes) structure->scopes = calloc(1, sizeof *structure->scopes);
    structure->free_scopes = free_scopes;
    return structure->scopes;
}

/* ---- The file, for the control flow ------------------------------------------------------------------------------ */

static bool read_code(void *context, uint64_t address, void *buffer, size_t size)
{
    return ompp_elf_read(&((ompp_structure_t *)context)->elf, address, buffer, size);
}

static bool never_returns(void *context, uint64_t callee);

/* A small function that has no return, and no jump that leads out of it. Its callees are asked for in turn; those that
 * are asked for already count as returning. */
static bool has_no_return(ompp_structure_t *structure, uint64_t callee)
{
    const ompp_flow_file_t file = {structure, read_code, never_returns};
    ompp_part_t part = {callee, 0};
    ompp_flow_t flow;
    uint64_t low;

    if (structure->scopes->depth >= CALLEE_DEPTH || !ompp_elf_procedure(&structure->elf, callee, &low, &part.high) ||
        low != callee || part.high - callee > CALLEE_BYTES)
        return false;
    structure->scopes->depth++;
    const int rc = ompp_flow_build(&part, 1, &file, ompp_clock_seconds() + PROCEDURE_SECONDS / 10, &flow);
    structure->scopes->depth--;
    const bool ends = rc == 0 && flow.returns == 0 && flow.noutside == 0 && flow.unknown == 0;
    ompp_flow_free(&flow);
    return ends;
}

static bool never_returns(void *context, uint64_t callee)
{
    ompp_structure_t *structure = context;
    ompp_table_t *returns = &structure->scopes->returns;
    const uint64_t known = ompp_table_get(returns, callee);

    if (known) return known == 2;
    const char *name = ompp_callee_name(&structure->elf, callee);
    if (!ompp_table_set(returns, callee, 1)) return false;
    const bool never = (name && ompp_callee_never_returns(name)) || has_no_return(structure, callee);
    if (never) ompp_table_set(returns, callee, 2);
    return never;
}

/* ---- Where a procedure is ---------------------------------------------------------------------------------------- */

typedef struct {
    const ompp_unit_t *unit;
    uint32_t function;
    const ompp_elf_symbol_t *symbol;
    size_t n, allocated;
    ompp_part_t *parts;
} found_t;

static bool add_part(ompp_structure_t *structure, found_t *found, uint64_t low, uint64_t high)
{
    uint64_t end;

    if (!ompp_elf_code(&structure->elf, low, &end) || high <= low) return true;
    ompp_part_t *part = ompp_vector_push(&found->parts, &found->n, &found->allocated, sizeof *part);
    if (part) *part = (ompp_part_t){low, high < end ? high : end};
    return part != NULL;
}

static bool find_parts(ompp_structure_t *structure, uint64_t address, found_t *found)
{
    const uint32_t u = structure->has_lines ? ompp_dwarf_unit_of(&structure->dwarf, address) : OMPP_NO_FUNCTION;
    uint64_t low, high;

    *found = (found_t){.function = OMPP_NO_FUNCTION};
    found->unit = u == OMPP_NO_FUNCTION ? NULL : ompp_dwarf_unit(&structure->dwarf, u);
    if (found->unit) found->function = ompp_unit_function(found->unit, address);
    found->symbol = ompp_elf_symbol(&structure->elf, address);
    if (!found->symbol && structure->debug.fd >= 0) found->symbol = ompp_elf_symbol(&structure->debug, address);
    if (found->function != OMPP_NO_FUNCTION) {
        const ompp_function_t *f = &found->unit->functions[found->function];
        for (uint32_t r = f->first_range; r < f->first_range + f->nranges; r++)
            if (!add_part(structure, found, found->unit->ranges.items[r].low, found->unit->ranges.items[r].high))
                return false;
        return true;
    }
    if (found->symbol && found->symbol->high > address)
        return add_part(structure, found, found->symbol->low, found->symbol->high);
    return !ompp_elf_procedure(&structure->elf, address, &low, &high) || address >= high ||
           add_part(structure, found, low, high);
}

static bool has_part(const found_t *found, uint64_t address)
{
    for (size_t i = 0; i < found->n; i++)
        if (address >= found->parts[i].low && address < found->parts[i].high) return true;
    return false;
}

/* Without debug information: what compilers split off of a procedure, where it jumps there. \return whether it has. */
static bool add_cold_parts(ompp_structure_t *structure, const ompp_flow_t *flow, found_t *found)
{
    const size_t before = found->n;

    if (found->function != OMPP_NO_FUNCTION) return false;
    for (size_t i = 0; i < flow->noutside; i++) {
        const ompp_elf_symbol_t *symbol = ompp_elf_symbol(&structure->elf, flow->outside[i]);
        if (symbol && strstr(symbol->name, ".cold") && !has_part(found, symbol->low) &&
            !add_part(structure, found, symbol->low, symbol->high))
            break;
    }
    return found->n > before;
}

/* ---- One procedure ----------------------------------------------------------------------------------------------- */

/* A block for each part: only inlined calls and lines are found. */
static int without_flow(ompp_shape_t *shape, const found_t *found)
{
    ompp_flow_free(&shape->flow);
    ompp_loops_free(&shape->loops);
    shape->flow.blocks = calloc(found->n, sizeof *shape->flow.blocks);
    shape->flow.padding = calloc(found->n, sizeof *shape->flow.padding);
    shape->flow.graph.first = calloc(found->n + 1, sizeof *shape->flow.graph.first);
    shape->loops.of = malloc(found->n * sizeof *shape->loops.of);
    if (!shape->flow.blocks || !shape->flow.padding || !shape->flow.graph.first || !shape->loops.of)
        return -OMPP_E_NOMEM;
    shape->flow.graph.n = (uint32_t)found->n;
    for (size_t i = 0; i < found->n; i++) {
        shape->flow.blocks[i] = (ompp_flow_block_t){found->parts[i].low, found->parts[i].high, found->parts[i].low};
        shape->loops.of[i] = OMPP_NO_LOOP;
    }
    return 0;
}

static int find_flow(ompp_structure_t *structure, ompp_shape_t *shape, found_t *found)
{
    const ompp_flow_file_t file = {structure, read_code, never_returns};
    int rc = ompp_flow_build(found->parts, found->n, &file, shape->deadline, &shape->flow);

    if (rc == 0 && add_cold_parts(structure, &shape->flow, found)) {
        ompp_flow_free(&shape->flow);
        rc = ompp_flow_build(found->parts, found->n, &file, shape->deadline, &shape->flow);
    }
    if (rc == 0) rc = ompp_loops_find(&shape->flow.graph, 0, shape->flow.padding, shape->deadline, &shape->loops);
    return rc;
}

static void name_procedure(const found_t *found, ompp_scope_t *whole)
{
    whole->function = found->symbol ? found->symbol->name : NULL;
    if (found->function == OMPP_NO_FUNCTION) return;
    const ompp_function_t *f = &found->unit->functions[found->function];
    const uint32_t file = ompp_unit_file(found->unit, f->decl_file);
    if (f->name) whole->function = f->name;
    whole->line = whole->line_end = f->decl_line;
    if (file != UINT32_MAX) whole->file = found->unit->files[file];
}

static int make_scopes(ompp_shape_t *shape, const found_t *found, ompp_procedure_t *to)
{
    ompp_source_loop_t *lines = calloc(shape->loops.n + 1, sizeof *lines);
    int rc = lines ? ompp_shape_read(shape) : -OMPP_E_NOMEM;

    if (rc == 0 && !ompp_nest_lines(shape, lines)) rc = -OMPP_E_NOMEM;
    if (rc == 0) rc = ompp_nest_scopes(shape, lines, to);
    if (rc == 0) name_procedure(found, &to->scopes[0]);
    free(lines);
    return rc;
}

/* What takes longer than a procedure may take, or cannot be read, is left out: loops, then all but its name. */
static int analyse(ompp_structure_t *structure, found_t *found, double deadline, ompp_procedure_t *to)
{
    const double own = ompp_clock_seconds() + PROCEDURE_SECONDS;
    ompp_shape_t shape = {.structure = structure,
                          .unit = found->unit,
                          .function = found->function,
                          .deadline = own < deadline ? own : deadline};

    to->loops_rc = find_flow(structure, &shape, found);
    if (to->loops_rc == -OMPP_E_TIMEOUT && own < deadline) to->loops_rc = -OMPP_E_LIMIT;
    int rc = to->loops_rc == -OMPP_E_TIMEOUT || to->loops_rc == -OMPP_E_NOMEM ? to->loops_rc : 0;
    if (rc == 0 && to->loops_rc != 0) rc = without_flow(&shape, found);
    to->unknown_jumps = shape.flow.unknown;
    if (rc == 0) rc = make_scopes(&shape, found, to);
    if (rc == -OMPP_E_TIMEOUT && own < deadline) {
        rc = 0;
        to->loops_rc = -OMPP_E_LIMIT;
        to->scopes = calloc(1, sizeof *to->scopes);
        to->nscopes = to->scopes ? 1 : 0;
        if (to->scopes) name_procedure(found, &to->scopes[0]);
        else rc = -OMPP_E_NOMEM;
    }
    ompp_shape_free(&shape);
    return rc;
}

/* ---- Use --------------------------------------------------------------------------------------------------------- */

static int add_procedure(ompp_structure_t *structure, found_t *found, double deadline,
                         const ompp_procedure_t **procedure)
{
    ompp_scopes_t *scopes = structure->scopes;
    ompp_procedure_t *to = calloc(1, sizeof *to);

    if (!to) return -OMPP_E_NOMEM;
    int rc = ompp_clock_seconds() >= deadline ? -OMPP_E_TIMEOUT : analyse(structure, found, deadline, to);
    ompp_procedure_t **item =
        rc == 0 ? ompp_vector_push(&scopes->items, &scopes->n, &scopes->allocated, sizeof *item) : NULL;
    if (rc == 0 && (!item || !ompp_table_set(&scopes->by_low, found->parts[0].low, scopes->n))) {
        if (item) scopes->n--;
        rc = -OMPP_E_NOMEM;
    }
    if (rc != 0) {
        free_procedure(to);
        return rc;
    }
    to->parts = found->parts;
    to->nparts = found->n;
    found->parts = NULL;
    *item = to;
    *procedure = to;
    return 0;
}

int ompp_scope_procedure(ompp_structure_t *structure, uint64_t address, double deadline,
                         const ompp_procedure_t **procedure)
{
    ompp_scopes_t *scopes = scopes_of(structure);
    found_t found;
    int rc = 0;

    *procedure = NULL;
    if (!scopes) return -OMPP_E_NOMEM;
    if (!find_parts(structure, address, &found)) rc = -OMPP_E_NOMEM;
    else if (found.n == 0) rc = -OMPP_E_NOTFOUND;
    const uint64_t known = rc == 0 ? ompp_table_get(&scopes->by_low, found.parts[0].low) : 0;
    if (known) *procedure = scopes->items[known - 1];
    else if (rc == 0) rc = add_procedure(structure, &found, deadline, procedure);
    free(found.parts);
    return rc;
}

const ompp_piece_t *ompp_scope_piece(const ompp_procedure_t *procedure, uint64_t address)
{
    size_t low = 0, high = procedure->npieces;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (procedure->pieces[middle].low <= address) low = middle + 1;
        else high = middle;
    }
    return low > 0 && address < procedure->pieces[low - 1].high ? &procedure->pieces[low - 1] : NULL;
}

int ompp_scope_at(ompp_structure_t *structure, uint64_t address, double deadline, ompp_spot_t *spot)
{
    const ompp_procedure_t *procedure;
    const int rc = ompp_scope_procedure(structure, address, deadline, &procedure);

    *spot = (ompp_spot_t){0};
    if (rc != 0) return rc;
    const ompp_piece_t *piece = ompp_scope_piece(procedure, address);
    spot->loops_rc = procedure->loops_rc;
    spot->scope = &procedure->scopes[piece ? piece->scope : 0];
    if (!piece) return 0;
    spot->file = piece->file;
    spot->line = piece->line;
    return 0;
}

/* call offset, or call *offset(%rip) */
const char *ompp_scope_callee(ompp_structure_t *structure, uint64_t address)
{
    const uint64_t back = address + 1;
    unsigned char code[6];
    int32_t offset;

    if (back < sizeof code || !ompp_elf_read(&structure->elf, back - sizeof code, code, sizeof code)) return NULL;
    memcpy(&offset, code + 2, sizeof offset);
    if (code[0] == 0xff && code[1] == 0x15) return ompp_elf_import(&structure->elf, back + (uint64_t)(int64_t)offset);
    return code[1] == 0xe8 ? ompp_callee_name(&structure->elf, back + (uint64_t)(int64_t)offset) : NULL;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

typedef struct {
    size_t n, allocated;
    uint64_t *items;
    bool no_memory;
} addresses_t;

static void add_address(addresses_t *a, uint64_t address)
{
    uint64_t *item = ompp_vector_push(&a->items, &a->n, &a->allocated, sizeof *item);

    if (item) *item = address;
    else a->no_memory = true;
}

static int compare_addresses(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static int add_units(ompp_structure_t *structure, double deadline, addresses_t *to)
{
    for (uint32_t u = 0; structure->has_lines && u < structure->dwarf.nunits; u++) {
        if (ompp_clock_seconds() >= deadline) return -OMPP_E_TIMEOUT;
        const ompp_unit_t *unit = ompp_dwarf_unit(&structure->dwarf, u);
        for (size_t f = 0; unit && f < unit->nfunctions; f++)
            if (!unit->functions[f].inlined) add_address(to, unit->ranges.items[unit->functions[f].first_range].low);
    }
    return 0;
}

int ompp_scope_addresses(ompp_structure_t *structure, double deadline, uint64_t **addresses, size_t *n)
{
    const ompp_elf_symbols_t *symbols = ompp_elf_functions(&structure->elf);
    addresses_t a = {0};
    size_t kept = 0;

    for (size_t i = 0; i < symbols->n; i++) add_address(&a, symbols->items[i].low);
    for (uint32_t i = 0; i < ompp_elf_procedures(&structure->elf); i++)
        add_address(&a, ompp_elf_procedure_low(&structure->elf, i));
    const int rc = add_units(structure, deadline, &a);
    if (a.n > 1) qsort(a.items, a.n, sizeof *a.items, compare_addresses);
    for (size_t i = 0; i < a.n; i++)
        if ((!kept || a.items[kept - 1] != a.items[i]) && !ompp_elf_links(&structure->elf, a.items[i]))
            a.items[kept++] = a.items[i];
    *addresses = a.items;
    *n = kept;
    return a.no_memory ? -OMPP_E_NOMEM : rc;
}
