#include "structure/ompp_structure.h"

#include "base/ompp_clock.h"
#include "base/ompp_error.h"
#include "structure/ompp_extent_priv.h"
#include "structure/ompp_outlined.h"
#include "structure/ompp_structure_priv.h"
#include "structure/ompp_tail.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBUG_ROOT "/usr/lib/debug"
#define MIN_ID_DIGITS 16

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static bool is_build_id(const char *id)
{
    size_t n = id ? strspn(id, "0123456789abcdefABCDEF") : 0;

    return n >= MIN_ID_DIGITS && n % 2 == 0 && id[n] == '\0';
}

static bool equal_id(const char *a, const char *b)
{
    for (; *a && tolower((unsigned char)*a) == tolower((unsigned char)*b); a++) b++;
    return *a == *b;
}

static bool try_debug_info(ompp_structure_t *structure, const ompp_elf_t *elf)
{
    if (!ompp_elf_has(elf, ".debug_info") && !ompp_elf_has(elf, ".zdebug_info")) return false;
    if (structure->symbols_only) return true;
    if (!ompp_elf_lists_sound(elf)) return false;
    structure->has_lines = ompp_dwarf_open(&structure->dwarf, elf, &structure->elf) == 0;
    return structure->has_lines;
}

/* A separate debug file counts when it belongs to the module: same build id, or else the checksum that the module
 * names. */
static bool try_debug_file(ompp_structure_t *structure, const char *path, const uint32_t *crc)
{
    char expected[OMPP_BUILD_ID_TEXT], id[OMPP_BUILD_ID_TEXT];
    uint32_t sum = 0;
    bool known = ompp_elf_build_id(&structure->elf, expected);

    const int rc = ompp_elf_open(&structure->debug, path, &structure->elf);
    if (rc != 0) {
        structure->foreign_debug |= rc == -OMPP_E_OPEN && errno == EPERM;
        structure->debug.fd = -1;
        return false;
    }
    bool named = ompp_elf_build_id(&structure->debug, id);
    bool fits = known && named ? equal_id(id, expected) : crc && ompp_elf_crc(&structure->debug, &sum) && sum == *crc;
    if (fits && try_debug_info(structure, &structure->debug)) return true;
    ompp_elf_close(&structure->debug);
    return false;
}

static bool try_build_id(ompp_structure_t *structure)
{
    char id[OMPP_BUILD_ID_TEXT], path[sizeof DEBUG_ROOT "/.build-id/xx/.debug" + OMPP_BUILD_ID_TEXT];

    if (!ompp_elf_build_id(&structure->elf, id) || strlen(id) < 3) return false;
    snprintf(path, sizeof path, DEBUG_ROOT "/.build-id/%.2s/%s.debug", id, id + 2);
    return try_debug_file(structure, path, NULL);
}

static bool try_debug_link(ompp_structure_t *structure, const char *module)
{
    static const struct {
        const char *root, *below;
    } places[] = {{"", "/"}, {"", "/.debug/"}, {DEBUG_ROOT, "/"}};
    const char *slash = strrchr(module, '/'), *directory = slash ? module : ".";
    int length = slash ? (int)(slash - module) : 1;
    char *name = NULL, path[4096];
    uint32_t crc = 0;
    bool found = false;

    if (!ompp_elf_debug_link(&structure->elf, &name, &crc)) return false;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !found; i++) {
        int n = snprintf(path, sizeof path, "%s%.*s%s%s", places[i].root, length, directory, places[i].below, name);
        found = n > 0 && (size_t)n < sizeof path && try_debug_file(structure, path, &crc);
    }
    free(name);
    return found;
}

static int open_module(const char *path, const char *id, bool symbols_only, ompp_structure_t **out)
{
    char own[OMPP_BUILD_ID_TEXT];
    ompp_structure_t *structure = calloc(1, sizeof *structure);

    *out = NULL;
    if (!structure) return -OMPP_E_NOMEM;
    structure->symbols_only = symbols_only;
    structure->debug.fd = -1;
    int rc = ompp_elf_open(&structure->elf, path, NULL);
    if (rc == 0 && is_build_id(id) && (!ompp_elf_build_id(&structure->elf, own) || !equal_id(own, id))) {
        ompp_elf_close(&structure->elf);
        rc = -OMPP_E_VERSION;
    }
    if (rc != 0) {
        free(structure);
        return rc;
    }
    if (!try_debug_info(structure, &structure->elf) && !try_build_id(structure)) try_debug_link(structure, path);
    *out = structure;
    return 0;
}

int ompp_structure_open(const char *path, const char *id, ompp_structure_t **out)
{
    return open_module(path, id, false, out);
}

int ompp_structure_open_symbols(const char *path, const char *id, ompp_structure_t **out)
{
    return open_module(path, id, true, out);
}

void ompp_structure_close(ompp_structure_t *structure)
{
    if (!structure) return;
    ompp_variables_free(structure->variables);
    if (structure->scopes) structure->free_scopes(structure->scopes);
    if (structure->locals) structure->free_locals(structure->locals);
    if (structure->definitions) structure->free_definitions(structure->definitions);
    if (structure->has_lines) ompp_dwarf_close(&structure->dwarf);
    if (structure->debug.fd >= 0) ompp_elf_close(&structure->debug);
    ompp_elf_close(&structure->elf);
    for (ompp_kept_name_t *name = structure->names, *next; name; name = next) {
        next = name->next;
        free(name);
    }
    free(structure);
}

bool ompp_structure_has_lines(const ompp_structure_t *structure) { return structure->has_lines; }

bool ompp_structure_has_foreign_debug_file(const ompp_structure_t *structure) { return structure->foreign_debug; }

bool ompp_structure_names_debug_file(const ompp_structure_t *structure)
{
    return ompp_elf_has(&structure->elf, ".gnu_debuglink");
}

size_t ompp_structure_missing(const ompp_structure_t *structure, const char **first)
{
    *first = "";
    return structure->has_lines ? ompp_splits_missing(&structure->dwarf, first) : 0;
}

int64_t ompp_structure_mtime(const ompp_structure_t *structure) { return structure->elf.mtime; }

/* ---- Answering --------------------------------------------------------------------------------------------------- */

/* The name as it stands in the source; a copy when it has to be cut. */
static const char *source_name(ompp_structure_t *structure, const char *name)
{
    size_t length = name ? ompp_outlined_source_name(name) : 0;

    if (length == 0 || name[length] == '\0') return length ? name : NULL;
    ompp_kept_name_t *kept = malloc(sizeof *kept + length + 1);
    if (!kept) return name;
    memcpy(kept->text, name, length);
    kept->text[length] = '\0';
    kept->next = structure->names;
    structure->names = kept;
    return kept->text;
}

static const ompp_elf_symbol_t *symbol_at(ompp_structure_t *structure, uint64_t address)
{
    const ompp_elf_symbol_t *symbol = ompp_elf_symbol(&structure->elf, address);

    return symbol || structure->debug.fd < 0 ? symbol : ompp_elf_symbol(&structure->debug, address);
}

static void answer_symbol(ompp_structure_t *structure, ompp_query_t *query)
{
    const ompp_elf_symbol_t *symbol = symbol_at(structure, query->addr);

    /* of the call, where the code of the region has no name */
    if (!symbol && query->extent == OMPP_EXTENT_OUTLINED && query->addr_end) {
        symbol = symbol_at(structure, query->addr_end);
        if (symbol) query->function = symbol->name, query->offset = query->addr_end - symbol->low;
        return;
    }
    uint64_t low;
    if (!symbol && query->extent == OMPP_EXTENT_FUNCTION &&
        ompp_elf_procedure(&structure->elf, query->addr, &low, NULL))
        query->offset = query->addr - low;
    if (!symbol) return;
    if (query->extent == OMPP_EXTENT_FUNCTION) query->symbol = symbol->name;
    query->function = symbol->name;
    query->offset = query->addr - symbol->low;
}

static uint32_t last_line(const ompp_unit_t *unit, const ompp_query_t *query, const ompp_row_t *row)
{
    if (query->extent == OMPP_EXTENT_OUTLINED) return ompp_extent_outlined(unit, row);
    if ((query->extent == OMPP_EXTENT_CALLS || query->extent == OMPP_EXTENT_LOOP) && query->addr_end)
        return ompp_extent_calls(unit, row, query->addr, query->addr_end);
    return 0;
}

static uint32_t first_line(ompp_structure_t *structure, const ompp_unit_t *unit, const ompp_query_t *query,
                           const ompp_row_t *row)
{
    uint32_t combined =
        query->extent == OMPP_EXTENT_LOOP ? ompp_extent_combined(&structure->dwarf, unit, query->addr) : 0;

    return combined ? combined : row->line;
}

/* A function of assembly, one that the compiler has made (gcc: of a construct), or one whose debug information libdwarf
 * cannot read: the line of its first instruction, so that all its addresses are one function. gfortran gives the first
 * instruction of a construct the line of its last statement: there it is the least line.
 * index: the function, or OMPP_NO_FUNCTION. */
static bool answer_entry(const ompp_unit_t *unit, uint32_t index, uint64_t entry, ompp_query_t *query)
{
    const ompp_row_t *row = ompp_unit_row(unit, entry);

    if (!row || row->file >= unit->nfiles || !unit->files[row->file]) return false;
    query->file = unit->files[row->file];
    const bool made = index != OMPP_NO_FUNCTION && unit->functions[index].mark == OMPP_MARK_GCC;
    const uint32_t first = made ? ompp_extent_first(unit, index, row->file) : 0;
    query->line = query->line_end = first ? first : row->line;
    return true;
}

/* A function: from the line that declares it to its last one. The first instruction may be that of another one inlined
 * into it. */
static bool answer_function(ompp_structure_t *structure, const ompp_unit_t *unit, ompp_query_t *query)
{
    uint32_t index = ompp_unit_function(unit, query->addr);
    const ompp_elf_symbol_t *symbol = symbol_at(structure, query->addr);

    if (symbol) query->symbol = symbol->name;
    if (index == OMPP_NO_FUNCTION) return symbol && answer_entry(unit, index, symbol->low, query);
    const ompp_function_t *function = &unit->functions[index];
    uint32_t file = ompp_unit_file(unit, function->decl_file);
    if (file == UINT32_MAX || function->decl_line == 0)
        return answer_entry(unit, index, symbol ? symbol->low : unit->ranges.items[function->first_range].low, query);
    query->function = function->name;
    query->file = unit->files[file];
    query->line = function->decl_line;
    query->line_end = ompp_extent_function(unit, index, file);
    if (query->line_end < query->line) query->line_end = query->line;
    return true;
}

/* Line of the nearest row in a direction that is on another line than `at`, in the same file and function; 0 = none. */
static uint32_t neighbour(const ompp_unit_t *unit, const ompp_row_t *row, const ompp_row_t *at, uint32_t function,
                          int step)
{
    for (const ompp_row_t *r = row + step; r >= unit->rows && r < unit->rows + unit->nrows && !r->end; r += step) {
        if (!ompp_function_holds(unit, &unit->functions[function], r->address)) return 0;
        if (r->line && r->file == at->file && r->line != at->line) return r->line;
    }
    return 0;
}

/* The place in function f where the code of a row stands, whose file and line are there those of `at`. */
static ompp_source_site_t site_of(ompp_structure_t *structure, const ompp_unit_t *unit, const ompp_query_t *query,
                                  const ompp_row_t *row, const ompp_row_t *at, uint32_t f)
{
    const ompp_function_t *function = &unit->functions[f];
    const bool here = ompp_unit_file(unit, function->decl_file) == at->file && function->decl_line;
    const uint32_t last = last_line(unit, query, at);

    return (ompp_source_site_t){.file = unit->files[at->file],
                                .function = source_name(structure, function->name),
                                .line = at->line,
                                .line_end = last > at->line ? last : at->line,
                                .line_before = neighbour(unit, row, at, f, -1),
                                .line_after = neighbour(unit, row, at, f, 1),
                                .first = here ? function->decl_line : at->line,
                                .last = here ? ompp_extent_function(unit, f, at->file) : at->line};
}

void ompp_structure_take(ompp_query_t *query, const ompp_source_site_t *site)
{
    query->file = site->file;
    query->function = site->function;
    query->line = site->line;
    query->line_end = site->line_end;
    query->line_before = site->line_before;
    query->line_after = site->line_after;
}

/* A call for a directive in code of a function that is inlined: gcc gives many such calls no line, and they have that
 * of the code in front. Its entry for the call, if in an inlined function, says that the directive is in that. */
static bool answer_directive(ompp_structure_t *structure, const ompp_unit_t *unit, ompp_query_t *query,
                             const ompp_row_t *row, uint32_t innermost)
{
    const uint32_t caller = ompp_tail_caller(structure, unit, query->addr);
    ompp_row_t at = *row;
    size_t n = 0;

    for (uint32_t f = innermost;; f = unit->functions[f].outer) {
        const ompp_function_t *function = &unit->functions[f];
        const ompp_source_site_t site = site_of(structure, unit, query, row, &at, f);
        query->sites[n] = site;
        const bool known = f == caller && function->inlined;
        if (known || !function->inlined) {
            ompp_structure_take(query, &site);
            query->nsites = known ? 0 : n + 1;
            return true;
        }
        if (function->outer == OMPP_NO_FUNCTION ||
            !ompp_dwarf_call_site(&structure->dwarf, unit, function, &at.file, &at.line) || at.file >= unit->nfiles ||
            at.line == 0)
            return false;
        if (n + 1 < OMPP_SITES) n++; /* the outermost one is always kept */
    }
}

static void answer(ompp_structure_t *structure, const ompp_unit_t *unit, ompp_query_t *query)
{
    const ompp_row_t *row = unit ? ompp_unit_row(unit, query->addr) : NULL;
    const char *file = row && row->file < unit->nfiles ? unit->files[row->file] : NULL;

    query->done = true;
    if (query->extent == OMPP_EXTENT_FUNCTION && unit && answer_function(structure, unit, query)) return;
    if (!file) {
        answer_symbol(structure, query);
        return;
    }
    uint32_t function = ompp_unit_innermost(unit, query->addr, 0, OMPP_NO_FUNCTION);
    if (function != OMPP_NO_FUNCTION) {
        query->function = source_name(structure, unit->functions[function].name);
        query->line_before = neighbour(unit, row, row, function, -1);
        query->line_after = neighbour(unit, row, row, function, 1);
        if (query->directive && unit->functions[function].inlined &&
            answer_directive(structure, unit, query, row, function))
            return;
    }
    uint32_t own, from, to;
    if (query->extent == OMPP_EXTENT_OUTLINED && ompp_extent_entry(unit, query->addr, &own, &from, &to)) {
        query->file = unit->files[own];
        query->line = from;
        query->line_end = to;
        return;
    }
    uint32_t last = last_line(unit, query, row);
    query->file = file;
    query->line = first_line(structure, unit, query, row);
    query->line_end = last > row->line ? last : row->line;
}

typedef struct {
    uint32_t unit; /* OMPP_NO_FUNCTION: none */
    uint32_t query;
} order_t;

static int compare_order(const void *a, const void *b)
{
    const order_t *x = a, *y = b;

    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    return x->query < y->query ? -1 : x->query > y->query;
}

static int answer_all(ompp_structure_t *structure, ompp_query_t *queries, const order_t *order, size_t n,
                      double deadline)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t u = order[i].unit;
        const bool first = i == 0 || order[i - 1].unit != u;
        if ((first || i % 64 == 0) && ompp_clock_seconds() >= deadline) return -OMPP_E_TIMEOUT;
        const ompp_unit_t *unit = u == OMPP_NO_FUNCTION ? NULL : ompp_dwarf_unit(&structure->dwarf, u);
        answer(structure, unit, &queries[order[i].query]);
    }
    return 0;
}

static void find_jumps(ompp_structure_t *structure, ompp_query_t *queries, size_t n, double deadline)
{
    for (size_t i = 0; i < n && ompp_clock_seconds() < deadline; i++) {
        ompp_query_t *q = &queries[i];
        if (q->callee) q->addr = ompp_tail_find(structure, q->addr, q->callee);
        if (q->callee_end && q->addr_end) q->addr_end = ompp_tail_find(structure, q->addr_end, q->callee_end);
    }
}

int ompp_structure_lookup(ompp_structure_t *structure, ompp_query_t *queries, size_t n, double deadline)
{
    order_t *order = malloc((n + 1) * sizeof *order);

    for (size_t i = 0; i < n; i++) {
        queries[i].done = false;
        queries[i].file = queries[i].function = queries[i].symbol = NULL;
        queries[i].offset = queries[i].nsites = 0;
        queries[i].line = queries[i].line_end = queries[i].line_before = queries[i].line_after = 0;
    }
    if (!order) return -OMPP_E_NOMEM;
    find_jumps(structure, queries, n, deadline);
    for (size_t i = 0; i < n; i++) {
        uint32_t unit =
            structure->has_lines ? ompp_dwarf_unit_of(&structure->dwarf, queries[i].addr) : OMPP_NO_FUNCTION;
        order[i] = (order_t){unit, (uint32_t)i};
    }
    if (n > 1) qsort(order, n, sizeof *order, compare_order);
    int rc = answer_all(structure, queries, order, n, deadline);
    free(order);
    return rc;
}
