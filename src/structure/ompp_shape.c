/* Rows of the line table and inlined calls of a procedure, block by block. */
#include "structure/ompp_scope_priv.h"

#include "base/ompp_clock.h"
#include "base/ompp_error.h"
#include "base/ompp_vector.h"

#include <stdlib.h>
#include <string.h>

#define NEAREST 8u        /* functions with lines before one that are looked at */
#define CHECK_EVERY 1024u /* rows between two looks at the clock */

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Compilers give one file several numbers. */
static uint32_t one_file(ompp_shape_t *s, uint32_t file)
{
    const ompp_unit_t *unit = s->unit;

    if (file >= unit->nfiles || !unit->files[file]) return OMPP_NO_FILE;
    for (uint32_t i = 0; !s->same_file[file]; i++)
        if (unit->files[i] && (i == file || strcmp(unit->files[i], unit->files[file]) == 0)) s->same_file[file] = i + 1;
    return s->same_file[file] - 1;
}

/* ---- Contexts ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const ompp_shape_t *shape;
    ompp_context_t context;
} wanted_t;

static bool is_equal(const void *elements, uint64_t value, const void *wanted)
{
    const wanted_t *w = wanted;
    const ompp_context_t *have = (const ompp_context_t *)elements + value - 1, *want = &w->context;
    const ompp_function_t *f = &w->shape->unit->functions[have->function],
                          *g = &w->shape->unit->functions[want->function];

    return have->outer == want->outer && have->call_file == want->call_file && have->call_line == want->call_line &&
           f->decl_line == g->decl_line && f->decl_file == g->decl_file &&
           (f->name == g->name || (f->name && g->name && strcmp(f->name, g->name) == 0));
}

/* The context of an inlined function; those around it are known. \return OMPP_NO_CONTEXT when out of memory. */
static uint32_t add_context(ompp_shape_t *s, uint32_t function, uint32_t outer)
{
    const ompp_function_t *f = &s->unit->functions[function];
    wanted_t wanted = {s, {outer, function, OMPP_NO_FILE, 0}};

    if (ompp_dwarf_call_site(&s->structure->dwarf, s->unit, f, &wanted.context.call_file, &wanted.context.call_line))
        wanted.context.call_file = one_file(s, wanted.context.call_file);
    uint64_t hash = ompp_hash_join(ompp_hash_pair(outer, wanted.context.call_line),
                                   ompp_hash_pair(f->decl_line, wanted.context.call_file));
    const uint64_t found = ompp_table_search(&s->by_call, &hash, is_equal, s->contexts, &wanted);
    if (found) return (uint32_t)found - 1;
    ompp_context_t *context = ompp_vector_push(&s->contexts, &s->ncontexts, &s->acontexts, sizeof *context);
    if (!context || !ompp_table_set(&s->by_call, hash, s->ncontexts)) return OMPP_NO_CONTEXT;
    *context = wanted.context;
    return (uint32_t)s->ncontexts - 1;
}

/* What is inside the procedure in the order from the outermost: each of the chain gets its context once. */
static uint32_t context_of(ompp_shape_t *s, uint32_t function)
{
    const ompp_function_t *functions = s->unit->functions;
    uint32_t *of = s->of_function, low = s->function;

    while (!of[function - low]) {
        uint32_t f = function; /* the outermost one without */
        while (functions[f].outer != OMPP_NO_FUNCTION && functions[f].outer >= low && !of[functions[f].outer - low])
            f = functions[f].outer;
        const uint32_t outer = functions[f].outer;
        const bool inside = outer != OMPP_NO_FUNCTION && outer >= low;
        const uint32_t context = add_context(s, f, inside ? of[outer - low] - 1 : 0);
        if (context == OMPP_NO_CONTEXT) return OMPP_NO_CONTEXT;
        of[f - low] = context + 1;
    }
    return of[function - low] - 1;
}

static uint32_t context_at(ompp_shape_t *s, uint64_t address)
{
    if (!s->unit || s->function == OMPP_NO_FUNCTION) return 0;
    const uint32_t last = s->unit->functions[s->function].last;
    const uint32_t found = ompp_unit_innermost(s->unit, address, s->function, last);

    return found == OMPP_NO_FUNCTION ? 0 : context_of(s, found);
}

uint32_t ompp_shape_common(const ompp_shape_t *s, uint32_t a, uint32_t b)
{
    if (a == OMPP_NO_CONTEXT || b == OMPP_NO_CONTEXT) return a == OMPP_NO_CONTEXT ? b : a;
    while (a != b) {
        if (a > b) a = s->contexts[a].outer;
        else b = s->contexts[b].outer;
    }
    return a;
}

bool ompp_shape_project(const ompp_shape_t *s, const ompp_strip_t *strip, uint32_t context, uint32_t *file,
                        uint32_t *line)
{
    uint32_t at = strip->context;

    *file = strip->file;
    *line = strip->line;
    while (at > context) {
        *file = s->contexts[at].call_file;
        *line = s->contexts[at].call_line;
        at = s->contexts[at].outer;
    }
    return at == context && *line != 0 && *file != OMPP_NO_FILE;
}

/* ---- Strips ------------------------------------------------------------------------------------------------------ */

/* Whether a row may be of the function that its address is in: compilers leave out some ranges of inlined functions. */
static bool is_coherent(ompp_shape_t *s, const ompp_strip_t *strip)
{
    const uint32_t f = s->contexts[strip->context].function;

    if (!strip->line || f == OMPP_NO_FUNCTION || !s->unit->functions[f].has_file) return strip->line != 0;
    const uint32_t file = ompp_unit_file(s->unit, s->unit->functions[f].decl_file);
    return file == UINT32_MAX || (one_file(s, file) == strip->file && strip->line >= s->unit->functions[f].decl_line);
}

static bool add_strip(ompp_shape_t *s, uint32_t block, uint64_t low, uint64_t high, const ompp_row_t *row)
{
    ompp_strip_t strip = {low, high, block, context_at(s, low), OMPP_NO_FILE, 0, false, false};
    const bool first = s->nstrips == s->first_strip[block];

    if (strip.context == OMPP_NO_CONTEXT) return false;
    if (row && !row->end && row->line) {
        strip.file = one_file(s, row->file);
        strip.line = strip.file == OMPP_NO_FILE ? 0 : row->line;
        strip.statement = row->statement && is_coherent(s, &strip);
    }
    ompp_strip_t *before = first ? NULL : &s->strips[s->nstrips - 1];
    if (before && before->high == low && before->context == strip.context && before->file == strip.file &&
        before->line == strip.line) {
        before->high = high;
        before->statement = before->statement || strip.statement;
        return true;
    }
    if (low == high && !strip.statement) return true;
    ompp_strip_t *to = ompp_vector_push(&s->strips, &s->nstrips, &s->astrips, sizeof *to);
    if (to) *to = strip;
    return to != NULL;
}

static int compare_edges(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static bool find_edges(ompp_shape_t *s)
{
    const ompp_function_t *functions = s->unit->functions, *whole = &functions[s->function];
    const size_t begin = whole->first_range + whole->nranges,
                 end = functions[whole->last].first_range + functions[whole->last].nranges;

    s->edges = calloc(2 * (end - begin) + 1, sizeof *s->edges);
    for (size_t r = begin; s->edges && r < end; r++) {
        s->edges[s->nedges++] = s->unit->ranges.items[r].low;
        s->edges[s->nedges++] = s->unit->ranges.items[r].high;
    }
    if (s->nedges > 1) qsort(s->edges, s->nedges, sizeof *s->edges, compare_edges);
    return s->edges != NULL;
}

/* A row goes on where another inlined call of the same line begins: of operator[], say. */
static bool add_row(ompp_shape_t *s, uint32_t block, uint64_t low, uint64_t high, const ompp_row_t *row)
{
    size_t first = 0, last = s->nedges;

    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        if (s->edges[middle] <= low) first = middle + 1;
        else last = middle;
    }
    for (; first < s->nedges && s->edges[first] < high; first++) {
        if (s->edges[first] == low) continue;
        if (!add_strip(s, block, low, s->edges[first], row)) return false;
        low = s->edges[first];
    }
    return add_strip(s, block, low, high, row);
}

/* Of rows at one address the last one counts for its code. */
static int read_block(ompp_shape_t *s, uint32_t index)
{
    const ompp_flow_block_t *block = &s->flow.blocks[index];
    const ompp_unit_t *unit = s->unit;
    const ompp_row_t *row = NULL;
    uint64_t low = block->low;
    size_t i = unit ? ompp_unit_row_from(unit, low) : 0;

    if (i > 0) row = &unit->rows[i - 1];
    for (; unit && i < unit->nrows && unit->rows[i].address < block->high; i++) {
        const ompp_row_t *next = &unit->rows[i];
        const bool same = next->address == low;
        if ((!same || (row && row->address == low)) && !add_row(s, index, low, next->address, row))
            return -OMPP_E_NOMEM;
        low = next->address;
        row = next;
        if (i % CHECK_EVERY == 0 && ompp_clock_seconds() >= s->deadline) return -OMPP_E_TIMEOUT;
    }
    return add_row(s, index, low, block->high, row) ? 0 : -OMPP_E_NOMEM;
}

/* Lines of a function that is inlined. */
typedef struct {
    uint32_t file, first, last;
} extent_t;

static int compare_extents(const void *a, const void *b)
{
    const extent_t *x = a, *y = b;

    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static extent_t extent_of(ompp_shape_t *s, uint32_t context)
{
    const uint32_t f = s->contexts[context].function;
    const ompp_function_t *function = f == OMPP_NO_FUNCTION ? NULL : &s->unit->functions[f];
    const uint32_t file = function && function->has_file ? ompp_unit_file(s->unit, function->decl_file) : UINT32_MAX;

    if (file == UINT32_MAX || !function->decl_line) return (extent_t){OMPP_NO_FILE, 0, 0};
    return (extent_t){one_file(s, file), function->decl_line, 0};
}

/* Whether a line is of one of the functions, sorted, that begin behind another one; some are in each other. */
static bool is_within(const extent_t *extents, size_t n, uint32_t file, uint32_t line, uint32_t begin)
{
    const extent_t wanted = {file, line, 0};
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_extents(&extents[middle], &wanted) <= 0) low = middle + 1;
        else high = middle;
    }
    for (size_t i = low; i-- > 0 && i + NEAREST >= low && extents[i].file == file && extents[i].first > begin;)
        if (line <= extents[i].last) return true;
    return false;
}

/* Compilers leave out some ranges of inlined functions: rows there seem to be of the function around it. */
static bool find_foreign(ompp_shape_t *s)
{
    extent_t *extents = calloc(s->ncontexts, sizeof *extents), *sorted = calloc(s->ncontexts, sizeof *sorted);

    for (uint32_t c = 0; extents && c < s->ncontexts; c++) extents[c] = extent_of(s, c);
    for (size_t i = 0; extents && i < s->nstrips; i++) {
        extent_t *e = &extents[s->strips[i].context];
        if (e->file == s->strips[i].file && s->strips[i].line > e->last) e->last = s->strips[i].line;
    }
    const bool ok = extents && sorted;
    if (ok && s->ncontexts > 1) {
        memcpy(sorted, extents + 1, (s->ncontexts - 1) * sizeof *sorted);
        qsort(sorted, s->ncontexts - 1, sizeof *sorted, compare_extents);
    }
    for (size_t i = 0; ok && i < s->nstrips; i++) {
        ompp_strip_t *strip = &s->strips[i];
        const extent_t *own = &extents[strip->context];
        strip->foreign = own->file == strip->file && strip->line > own->first &&
                         is_within(sorted, s->ncontexts - 1, strip->file, strip->line, own->first);
    }
    free(extents);
    free(sorted);
    return ok;
}

int ompp_shape_read(ompp_shape_t *s)
{
    const bool has_functions = s->unit && s->function != OMPP_NO_FUNCTION;
    const uint32_t nfunctions = has_functions ? s->unit->functions[s->function].last - s->function + 1 : 0;
    ompp_context_t *whole = ompp_vector_push(&s->contexts, &s->ncontexts, &s->acontexts, sizeof *whole);

    s->first_strip = calloc(s->flow.graph.n + 1, sizeof *s->first_strip);
    s->of_function = calloc(nfunctions + 1, sizeof *s->of_function);
    s->same_file = calloc((s->unit ? s->unit->nfiles : 0) + 1, sizeof *s->same_file);
    if (!whole || !s->first_strip || !s->of_function || !s->same_file) return -OMPP_E_NOMEM;
    *whole = (ompp_context_t){OMPP_NO_CONTEXT, s->function, OMPP_NO_FILE, 0};
    s->of_function[0] = 1;
    if (has_functions && !find_edges(s)) return -OMPP_E_NOMEM;
    for (uint32_t b = 0; b < s->flow.graph.n; b++) {
        s->first_strip[b] = s->nstrips;
        const int rc = read_block(s, b);
        if (rc != 0) return rc;
        if (b % CHECK_EVERY == 0 && ompp_clock_seconds() >= s->deadline) return -OMPP_E_TIMEOUT;
    }
    s->first_strip[s->flow.graph.n] = s->nstrips;
    return !has_functions || find_foreign(s) ? 0 : -OMPP_E_NOMEM;
}

void ompp_shape_free(ompp_shape_t *s)
{
    ompp_flow_free(&s->flow);
    ompp_loops_free(&s->loops);
    free(s->contexts);
    free(s->strips);
    free(s->first_strip);
    free(s->of_function);
    free(s->same_file);
    free(s->edges);
    ompp_table_fini(&s->by_call);
}
