/*
 * Source lines of loops, and the scopes of a procedure (PLDI 2009, section 3).
 *
 * A loop lies in the innermost inlined call that all of its statements are in. It begins on the first of the lines that
 * its branches and the statement at its begin have: compilers move code out of loops, and what they move in is neither.
 * Loops of one context that begin on one line are copies of one.
 */
#define _GNU_SOURCE /* qsort_r */
#include "structure/ompp_scope_priv.h"

#include "base/ompp_error.h"
#include "base/ompp_vector.h"
#include "structure/ompp_fortran.h"

#include <stdlib.h>
#include <string.h>

#define MAX_AROUND 200u   /* loops around one that are looked at */
#define MOST_PAIRS 10000u /* of copies of two loops that are looked at */
#define NEAR 2u           /* lines between the begin of a loop and its body */

/* ---- Context ----------------------------------------------------------------------------------------------------- */

/* What all code of a loop is in, but for loops inside it. other: loops where all code counts, not statements. */
static void find_contexts(const ompp_shape_t *s, ompp_source_loop_t *lines, const bool *other)
{
    for (size_t i = 0; i < s->nstrips; i++) {
        const ompp_strip_t *strip = &s->strips[i];
        const uint32_t l = s->loops.of[strip->block];
        if (l != OMPP_NO_LOOP && strip->low < strip->high && (other ? other[l] : strip->statement))
            lines[l].context = ompp_shape_common(s, lines[l].context, strip->context);
    }
}

/*
 * Of a loop over vectors one line with statements may be left, say of an inlined call that tells the limit, while most
 * of its code is of the function around that: then all of its code tells. Also where it has no statement.
 */
static bool find_narrow(const ompp_shape_t *s, const ompp_source_loop_t *lines, bool *narrow)
{
    uint64_t *all = calloc(s->loops.n + 1, sizeof *all), *inside = calloc(s->loops.n + 1, sizeof *inside);
    uint32_t *only = calloc(s->loops.n + 1, sizeof *only); /* the line; OMPP_NO_FILE: there are several */
    const bool ok = all && inside && only;

    for (size_t i = 0; ok && i < s->nstrips; i++) {
        const ompp_strip_t *strip = &s->strips[i];
        const uint32_t l = s->loops.of[strip->block];
        uint32_t file, line;
        if (l == OMPP_NO_LOOP || lines[l].context == OMPP_NO_CONTEXT) continue;
        all[l] += strip->high - strip->low;
        if (ompp_shape_common(s, strip->context, lines[l].context) != lines[l].context) continue;
        inside[l] += strip->high - strip->low;
        if (!strip->statement || !ompp_shape_project(s, strip, lines[l].context, &file, &line)) continue;
        only[l] = !only[l] || only[l] == line ? line : OMPP_NO_FILE;
    }
    for (uint32_t l = 0; ok && l < s->loops.n; l++)
        narrow[l] = lines[l].context == OMPP_NO_CONTEXT || (2 * inside[l] < all[l] && only[l] != OMPP_NO_FILE);
    free(all);
    free(inside);
    free(only);
    return ok;
}

static void spread_contexts(const ompp_shape_t *s, ompp_source_loop_t *lines)
{
    for (uint32_t l = s->loops.n; l-- > 0;) {
        const uint32_t outer = s->loops.loops[l].outer;
        if (outer != OMPP_NO_LOOP) lines[outer].context = ompp_shape_common(s, lines[outer].context, lines[l].context);
    }
}

/* ---- First line -------------------------------------------------------------------------------------------------- */

static bool is_in_loop(const ompp_shape_t *s, uint32_t block, uint32_t loop)
{
    uint32_t l = s->loops.of[block];

    while (l != OMPP_NO_LOOP && l > loop) l = s->loops.loops[l].outer;
    return l == loop;
}

/* The line of the last instruction of a block, or else of what is before it there. statement: only of one. */
static bool line_of_end(const ompp_shape_t *s, uint32_t block, uint32_t context, bool statement, uint32_t *file,
                        uint32_t *line)
{
    for (size_t i = s->first_strip[block + 1]; i-- > s->first_strip[block];) {
        if (s->strips[i].low == s->strips[i].high || !ompp_shape_project(s, &s->strips[i], context, file, line))
            continue;
        return s->strips[i].statement || !statement;
    }
    return false;
}

/* The first statement that begins in a block. */
static bool line_of_begin(const ompp_shape_t *s, uint32_t block, uint32_t context, uint32_t *file, uint32_t *line)
{
    for (size_t i = s->first_strip[block]; i < s->first_strip[block + 1]; i++)
        if (s->strips[i].statement && ompp_shape_project(s, &s->strips[i], context, file, line)) return true;
    return false;
}

/* What is done with a line on which a loop may begin. */
typedef void take_t(ompp_source_loop_t *to, uint32_t file, uint32_t line);

static void take_first(ompp_source_loop_t *to, uint32_t file, uint32_t line)
{
    if (to->line && (file != to->file || line >= to->line)) return;
    to->file = file;
    to->line = line;
}

static void take_next(ompp_source_loop_t *to, uint32_t file, uint32_t line)
{
    if (file == to->file && line > to->line && (!to->next || line < to->next)) to->next = line;
}

/* First branches that lead back: they tell the file. */
static void take_back_branches(const ompp_shape_t *s, ompp_source_loop_t *lines, take_t *take)
{
    const ompp_graph_t *g = &s->flow.graph;
    uint32_t file, line;

    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
            const uint32_t l = s->loops.of[g->to[e]];
            if (l == OMPP_NO_LOOP || s->loops.loops[l].header != g->to[e] || !is_in_loop(s, v, l)) continue;
            if (line_of_end(s, v, lines[l].context, false, &file, &line)) take(&lines[l], file, line);
            if (line_of_end(s, v, lines[l].context, true, &file, &line) && (!lines[l].sure || line < lines[l].sure))
                lines[l].sure = line;
        }
}

static void take_begins(const ompp_shape_t *s, ompp_source_loop_t *lines, take_t *take)
{
    const ompp_graph_t *g = &s->flow.graph;
    uint32_t file, line;

    take_back_branches(s, lines, take);
    for (uint32_t v = 0; v < g->n; v++) {
        const uint32_t l = s->loops.of[v];
        if (l != OMPP_NO_LOOP && g->first[v + 1] - g->first[v] > 1 &&
            line_of_end(s, v, lines[l].context, true, &file, &line))
            take(&lines[l], file, line);
    }
    for (uint32_t l = 0; l < s->loops.n; l++)
        if (line_of_begin(s, s->loops.loops[l].header, lines[l].context, &file, &line)) take(&lines[l], file, line);
}

/* A loop does not begin behind the start of one inside it. Where branches back say so, its own code tells better. */
static void find_earlier(const ompp_shape_t *s, ompp_source_loop_t *lines, bool *late, uint32_t *first, uint32_t *inner)
{
    uint32_t file, line;

    for (uint32_t l = s->loops.n; l-- > 0;) {
        const uint32_t outer = s->loops.loops[l].outer;
        if (outer == OMPP_NO_LOOP || !lines[l].line || lines[l].file != lines[outer].file) continue;
        if (lines[l].context == lines[outer].context && lines[outer].line >= lines[l].line) late[outer] = true;
        if (late[outer] && (!inner[outer] || lines[l].line < inner[outer])) inner[outer] = lines[l].line;
    }
    for (size_t i = 0; i < s->nstrips; i++) {
        const uint32_t l = s->loops.of[s->strips[i].block];
        if (l == OMPP_NO_LOOP || !late[l] || !s->strips[i].statement) continue;
        if (ompp_shape_project(s, &s->strips[i], lines[l].context, &file, &line) && file == lines[l].file &&
            (!first[l] || line < first[l]))
            first[l] = line;
    }
    for (uint32_t l = 0; l < s->loops.n; l++) {
        const uint32_t line = first[l] ? first[l] : inner[l];
        if (late[l] && line < lines[l].line) lines[l].line = line;
    }
}

/* ---- Last line --------------------------------------------------------------------------------------------------- */

static void find_ends(const ompp_shape_t *s, ompp_source_loop_t *lines)
{
    uint32_t file, line;

    for (uint32_t l = 0; l < s->loops.n; l++) lines[l].line_end = lines[l].line;
    for (size_t i = 0; i < s->nstrips; i++) {
        uint32_t l = s->loops.of[s->strips[i].block];
        for (unsigned around = 0; l != OMPP_NO_LOOP && around < MAX_AROUND; around++, l = s->loops.loops[l].outer)
            if ((!s->strips[i].foreign || s->strips[i].context != lines[l].context) &&
                ompp_shape_project(s, &s->strips[i], lines[l].context, &file, &line) && file == lines[l].file &&
                line > lines[l].line_end)
                lines[l].line_end = line;
    }
}

/* The last statement of a block, and of those behind it, that begins shortly before the line of a loop. */
static void take_exit(const ompp_shape_t *s, uint32_t block, uint32_t least, unsigned further, ompp_source_loop_t *to,
                      uint32_t *best)
{
    const ompp_graph_t *g = &s->flow.graph;
    uint32_t file, line;

    for (size_t i = s->first_strip[block]; i < s->first_strip[block + 1]; i++)
        if (s->strips[i].statement && s->strips[i].context == to->context &&
            ompp_shape_project(s, &s->strips[i], to->context, &file, &line) && file == to->file && line > least &&
            line > *best && line < to->line && line + NEAR >= to->line)
            *best = line;
    for (uint32_t e = g->first[block]; further && e < g->first[block + 1] && e < g->first[block] + 2; e++)
        take_exit(s, g->to[e], least, further - 1, to, best);
}

/* Of loops over vectors compilers know the line of the body alone: code behind the loop, for the turns that are left
 * over, has the other one. */
static void find_by_exits(const ompp_shape_t *s, ompp_source_loop_t *lines)
{
    const ompp_graph_t *g = &s->flow.graph;

    for (uint32_t v = 0; v < g->n; v++) {
        const uint32_t l = s->loops.of[v];
        if (l == OMPP_NO_LOOP || !lines[l].line) continue;
        if (lines[l].line != lines[l].line_end && lines[l].line == lines[l].sure) continue;
        const uint32_t outer = s->loops.loops[l].outer;
        const bool inside = outer != OMPP_NO_LOOP && lines[outer].context == lines[l].context;
        uint32_t best = 0;
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
            if (!is_in_loop(s, g->to[e], l))
                take_exit(s, g->to[e], inside ? lines[outer].line : 0, 1, &lines[l], &best);
        if (best) lines[l].line = best;
    }
}

/* ---- Code of earlier lines --------------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b, void *lines)
{
    const ompp_source_loop_t *x = (ompp_source_loop_t *)lines + *(const uint32_t *)a,
                             *y = (ompp_source_loop_t *)lines + *(const uint32_t *)b;

    if (x->context != y->context) return x->context < y->context ? -1 : 1;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return x->line != y->line ? (x->line < y->line ? -1 : 1) : 0;
}

static bool is_nested(const ompp_shape_t *s, uint32_t loop, uint32_t in)
{
    while (loop != OMPP_NO_LOOP && loop > in) loop = s->loops.loops[loop].outer;
    return loop == in;
}

/* Copies of a loop, order[*first] .. order[*last - 1], where order[at] is one of them. */
static void find_copies(const ompp_source_loop_t *lines, const uint32_t *order, uint32_t n, uint32_t at,
                        uint32_t *first, uint32_t *last)
{
    void *const all = (void *)(uintptr_t)lines;

    for (*first = at; *first > 0 && compare_places(&order[*first - 1], &order[at], all) == 0; --*first) {
    }
    for (*last = at + 1; *last < n && compare_places(&order[*last], &order[at], all) == 0; ++*last) {
    }
}

/* Whether a copy of one loop is inside of a copy of another one. */
static bool is_related(const ompp_shape_t *s, const ompp_source_loop_t *lines, const uint32_t *order, uint32_t inner,
                       uint32_t outer)
{
    uint32_t inner_first, inner_last, outer_first, outer_last;

    find_copies(lines, order, s->loops.n, inner, &inner_first, &inner_last);
    find_copies(lines, order, s->loops.n, outer, &outer_first, &outer_last);
    if ((uint64_t)(inner_last - inner_first) * (outer_last - outer_first) > MOST_PAIRS) return true;
    for (uint32_t i = inner_first; i < inner_last; i++)
        for (uint32_t o = outer_first; o < outer_last; o++)
            if (is_nested(s, order[i], order[o]) || is_nested(s, order[o], order[i])) return true;
    return false;
}

/*
 * A loop that the source has between two lines of another one is inside of it. Where the code has it elsewhere, the
 * first of these lines is that of code which the compiler has moved in, and the loop begins on the next one.
 */
static bool leave_out_moved(const ompp_shape_t *s, ompp_source_loop_t *lines)
{
    uint32_t *order = malloc((s->loops.n + 1) * sizeof *order);

    if (!order) return false;
    take_begins(s, lines, take_next);
    for (uint32_t l = 0; l < s->loops.n; l++) order[l] = l;
    if (s->loops.n) qsort_r(order, s->loops.n, sizeof *order, compare_places, lines);
    for (uint32_t i = 0; i < s->loops.n; i++) {
        ompp_source_loop_t *l = &lines[order[i]];
        bool moved = false;
        for (uint32_t k = i + 1; l->next && k < s->loops.n && k < i + MAX_AROUND && !moved; k++) {
            const ompp_source_loop_t *m = &lines[order[k]];
            if (m->context != l->context || m->file != l->file || m->line >= l->next) break;
            moved = m->line > l->line && m->line_end < l->next && !is_related(s, lines, order, k, i);
        }
        if (!moved) l->next = 0;
    }
    for (uint32_t l = 0; l < s->loops.n; l++)
        if (lines[l].next) lines[l].line = lines[l].next;
    free(order);
    return true;
}

bool ompp_nest_lines(ompp_shape_t *s, ompp_source_loop_t *lines)
{
    bool *late = calloc(s->loops.n + 1, sizeof *late);
    uint32_t *first = calloc(s->loops.n + 1, sizeof *first), *inner = calloc(s->loops.n + 1, sizeof *inner);

    for (uint32_t l = 0; l < s->loops.n; l++)
        lines[l] = (ompp_source_loop_t){.context = OMPP_NO_CONTEXT, .file = OMPP_NO_FILE};
    find_contexts(s, lines, NULL);
    if (late && find_narrow(s, lines, late)) find_contexts(s, lines, late);
    spread_contexts(s, lines);
    take_begins(s, lines, take_first);
    if (late) memset(late, 0, s->loops.n * sizeof *late);
    if (late && first && inner) find_earlier(s, lines, late, first, inner);
    find_ends(s, lines);
    const bool ok = leave_out_moved(s, lines) && late && first && inner;
    find_by_exits(s, lines);
    free(late);
    free(first);
    free(inner);
    return ok;
}

/* ---- Scopes ------------------------------------------------------------------------------------------------------ */

/* Copies of one loop. */
typedef struct {
    ompp_source_loop_t lines;
    uint32_t deepest, depth; /* copy with most loops around it, that are of other groups */
    uint32_t copies;
    bool irreducible, on_way;
    uint32_t scope; /* + 1; 0 = not made yet */
} group_t;

typedef struct {
    const ompp_shape_t *shape;
    ompp_procedure_t *to;
    size_t ascopes, apieces, ngroups, agroups;
    group_t *groups;
    uint32_t *group_of; /* [loops] */
    uint32_t *context;  /* [scopes] */
    uint32_t *outer;    /* [scopes] */
    size_t acontext, aouter;
    ompp_table_t by_lines, by_call; /* groups; scopes of inlined calls */
    bool no_memory;
} nest_t;

static bool is_same(const void *elements, uint64_t value, const void *wanted)
{
    const ompp_source_loop_t *have = &((const group_t *)elements)[value - 1].lines, *want = wanted;

    return have->context == want->context && have->file == want->file && have->line == want->line;
}

/* \return the group, or UINT32_MAX when out of memory. Each loop without lines is one. */
static uint32_t add_group(nest_t *n, const ompp_source_loop_t *lines)
{
    uint64_t hash = ompp_hash_join(ompp_hash_pair(lines->context, lines->file), lines->line);
    const uint64_t found = lines->line ? ompp_table_search(&n->by_lines, &hash, is_same, n->groups, lines) : 0;

    if (found) return (uint32_t)found - 1;
    group_t *group = ompp_vector_push(&n->groups, &n->ngroups, &n->agroups, sizeof *group);
    if (!group || (lines->line && !ompp_table_set(&n->by_lines, hash, n->ngroups))) return UINT32_MAX;
    *group = (group_t){.lines = *lines, .deepest = OMPP_NO_LOOP};
    return (uint32_t)n->ngroups - 1;
}

static bool make_groups(nest_t *n, const ompp_source_loop_t *lines)
{
    const ompp_loops_t *loops = &n->shape->loops;
    uint32_t *depth = calloc(loops->n + 1, sizeof *depth);

    for (uint32_t l = 0; depth && l < loops->n; l++) {
        const uint32_t outer = loops->loops[l].outer, g = n->group_of[l] = add_group(n, &lines[l]);
        if (g == UINT32_MAX) {
            free(depth);
            return false;
        }
        group_t *group = &n->groups[g];
        depth[l] = outer == OMPP_NO_LOOP ? 1 : depth[outer] + (n->group_of[outer] != g);
        group->copies++;
        group->irreducible = group->irreducible || loops->loops[l].irreducible;
        if (lines[l].line_end > group->lines.line_end) group->lines.line_end = lines[l].line_end;
        if (depth[l] <= group->depth) continue;
        group->depth = depth[l];
        group->deepest = l;
    }
    free(depth);
    return depth != NULL;
}

static const char *file_name(const nest_t *n, uint32_t file)
{
    return n->shape->unit && file < n->shape->unit->nfiles ? n->shape->unit->files[file] : NULL;
}

static uint32_t add_scope(nest_t *n, uint32_t outer, uint32_t context, const ompp_scope_t *scope)
{
    ompp_scope_t *to = ompp_vector_push(&n->to->scopes, &n->to->nscopes, &n->ascopes, sizeof *to);

    if (!to || !ompp_vector_reserve(&n->context, &n->acontext, n->to->nscopes, sizeof *n->context) ||
        !ompp_vector_reserve(&n->outer, &n->aouter, n->to->nscopes, sizeof *n->outer)) {
        n->no_memory = true;
        return 0;
    }
    *to = *scope;
    n->context[n->to->nscopes - 1] = context;
    n->outer[n->to->nscopes - 1] = outer;
    return (uint32_t)n->to->nscopes - 1;
}

/* The scope of an inlined call in another scope, with those between. A call that is not inside of it is that scope. */
static uint32_t scope_of_call(nest_t *n, uint32_t scope, uint32_t context)
{
    const ompp_context_t *contexts = n->shape->contexts;
    uint32_t chain[MAX_AROUND], length = 0;

    for (; context > n->context[scope]; context = contexts[context].outer)
        if (length < MAX_AROUND) chain[length++] = context;
    if (context != n->context[scope]) return scope;
    while (length-- > 0 && !n->no_memory) {
        const ompp_context_t *c = &contexts[chain[length]];
        const uint64_t key = ompp_hash_pair(scope, chain[length]), found = ompp_table_get(&n->by_call, key);
        const ompp_scope_t inlined = {.kind = OMPP_SCOPE_INLINED,
                                      .function = n->shape->unit->functions[c->function].name,
                                      .file = file_name(n, c->call_file),
                                      .line = c->call_line,
                                      .line_end = c->call_line};
        scope = found ? (uint32_t)found - 1 : add_scope(n, scope, chain[length], &inlined);
        if (!found && !ompp_table_set(&n->by_call, key, scope + UINT64_C(1))) n->no_memory = true;
    }
    return scope;
}

static uint32_t scope_of_group(nest_t *n, uint32_t g, unsigned around)
{
    uint32_t outer = n->shape->loops.loops[n->groups[g].deepest].outer, scope = 0;

    if (n->groups[g].scope) return n->groups[g].scope - 1;
    n->groups[g].on_way = true;
    while (outer != OMPP_NO_LOOP && n->groups[n->group_of[outer]].on_way) outer = n->shape->loops.loops[outer].outer;
    if (outer != OMPP_NO_LOOP && around < MAX_AROUND) scope = scope_of_group(n, n->group_of[outer], around + 1);
    const group_t *group = &n->groups[g];
    const char *const file = file_name(n, group->lines.file);
    const bool one_line = group->lines.line == group->lines.line_end;
    const ompp_scope_t loop = {.kind = OMPP_SCOPE_LOOP,
                               .file = file,
                               .line = group->lines.line,
                               .line_end = group->lines.line_end,
                               .copies = group->copies,
                               .irreducible = group->irreducible,
                               .made = n->shape->unit &&
                                       (!group->lines.line || (one_line && file && ompp_fortran_is(file)))};
    scope = add_scope(n, scope_of_call(n, scope, group->lines.context), group->lines.context, &loop);
    n->groups[g].on_way = false;
    n->groups[g].scope = scope + 1;
    return scope;
}

static uint32_t scope_of_strip(nest_t *n, const ompp_strip_t *strip)
{
    const uint32_t loop = n->shape->loops.of[strip->block];
    const uint32_t scope = loop == OMPP_NO_LOOP ? 0 : scope_of_group(n, n->group_of[loop], 0);

    return scope_of_call(n, scope, strip->context);
}

static int compare_pieces(const void *a, const void *b)
{
    const ompp_piece_t *x = a, *y = b;

    return x->low < y->low ? -1 : x->low > y->low;
}

/* Pieces that follow each other and are of one scope and line are one. */
static void join_pieces(ompp_procedure_t *to)
{
    size_t kept = 0;

    for (size_t i = 0; i < to->npieces; i++) {
        const ompp_piece_t *piece = &to->pieces[i];
        ompp_piece_t *before = kept ? &to->pieces[kept - 1] : NULL;
        if (before && before->high == piece->low && before->scope == piece->scope && before->line == piece->line &&
            before->file == piece->file)
            before->high = piece->high;
        else to->pieces[kept++] = *piece;
    }
    to->npieces = kept;
    ompp_piece_t *less = kept ? reallocarray(to->pieces, kept, sizeof *less) : NULL;
    if (less) to->pieces = less;
}

static bool make_pieces(nest_t *n)
{
    ompp_procedure_t *to = n->to;

    for (size_t i = 0; i < n->shape->nstrips && !n->no_memory; i++) {
        const ompp_strip_t *strip = &n->shape->strips[i];
        if (strip->low == strip->high) continue;
        const ompp_piece_t piece = {strip->low, strip->high, scope_of_strip(n, strip), strip->line,
                                    file_name(n, strip->file)};
        ompp_piece_t *item = ompp_vector_push(&to->pieces, &to->npieces, &n->apieces, sizeof *item);
        if (!item) return false;
        *item = piece;
    }
    if (to->npieces > 1) qsort(to->pieces, to->npieces, sizeof *to->pieces, compare_pieces);
    for (size_t i = 1; i < to->npieces; i++) /* code that the compiler has added belongs to what is before it */
        if (!to->pieces[i].line)
            to->pieces[i].line = to->pieces[i - 1].line, to->pieces[i].file = to->pieces[i - 1].file;
    join_pieces(to);
    return !n->no_memory;
}

/* What a scope is inside of stands before it; its code counts there, too. */
static void finish_scopes(nest_t *n)
{
    ompp_procedure_t *to = n->to;

    for (size_t i = 0; i < to->nscopes; i++) {
        to->scopes[i].outer = i ? &to->scopes[n->outer[i]] : NULL;
        to->scopes[i].low = UINT64_MAX;
    }
    for (size_t i = 0; i < to->npieces; i++) {
        ompp_scope_t *scope = &to->scopes[to->pieces[i].scope];
        if (to->pieces[i].low < scope->low) scope->low = to->pieces[i].low;
        scope->bytes += to->pieces[i].high - to->pieces[i].low;
    }
    for (size_t i = to->nscopes; i-- > 1;)
        if (to->scopes[i].low < to->scopes[n->outer[i]].low) to->scopes[n->outer[i]].low = to->scopes[i].low;
}

int ompp_nest_scopes(ompp_shape_t *shape, const ompp_source_loop_t *lines, ompp_procedure_t *procedure)
{
    nest_t n = {.shape = shape, .to = procedure, .group_of = calloc(shape->loops.n + 1, sizeof *n.group_of)};
    const ompp_scope_t whole = {.kind = OMPP_SCOPE_PROCEDURE};

    add_scope(&n, 0, 0, &whole);
    const bool good = !n.no_memory && n.group_of && make_groups(&n, lines) && make_pieces(&n);
    if (good) finish_scopes(&n);
    free(n.groups);
    free(n.group_of);
    free(n.context);
    free(n.outer);
    ompp_table_fini(&n.by_lines);
    ompp_table_fini(&n.by_call);
    return good ? 0 : -OMPP_E_NOMEM;
}
