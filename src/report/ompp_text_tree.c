/**
 * \file
 * Trees of call paths, from the outermost function inwards and from each function outwards: of the time that samples
 * stand for, or of a metric, which is any expression of counters and columns.
 */
#define _GNU_SOURCE /* qsort_r */
#include "report/ompp_text_path.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_eval.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WIDTH 80u
#define LEAST 0.005 /* part of the whole that a row has at least */
#define MOST_DEPTH 64u
#define HOT 0.5 /* part of a row's value that the next row of the hot path has at least */

/*
 * What is summed up: n numbers of each node, which the value of a row is computed from. Of samples that is one, ns; of
 * a metric the columns and counters of its row.
 */
typedef struct {
    FILE *out;
    const ompp_profile_t *p;
    size_t n;
    uint64_t *own, *all;    /* [nnodes][n]; of a node's lines, own has what all has */
    uint32_t *first, *next; /* [nnodes] lists of children that are no lines */
    ompp_eval_t *eval;      /* NULL: of samples */
    ompp_row_t *row;        /* for eval */
    size_t ncounters;
    unsigned deepest; /* levels that are shown */
    bool adds;        /* values of rows add up to that of the row around them: they have percentages */
    bool hot;         /* of each row the one alone that has most of its value */
    double total, least;
} tree_t;

static double value_of(const tree_t *tree, const uint64_t *numbers)
{
    if (!tree->eval) return (double)*numbers;
    memcpy(tree->row->value, numbers, OMPP_COLUMN_NUM * sizeof *numbers);
    memcpy(tree->row->counter, numbers + OMPP_COLUMN_NUM, tree->ncounters * sizeof *numbers);
    return ompp_eval_value(tree->eval, tree->row);
}

static void add_to(const tree_t *tree, uint64_t *to, const uint64_t *from)
{
    for (size_t i = 0; i < tree->n; i++) to[i] += from[i];
}

static uint64_t *own_of(const tree_t *tree, uint32_t node) { return tree->own + node * tree->n; }
static uint64_t *all_of(const tree_t *tree, uint32_t node) { return tree->all + node * tree->n; }

static bool is_line(const ompp_profile_t *p, uint32_t node)
{
    return node && p->regions[p->nodes[node].region].construct == OMPP_CONSTRUCT_SOURCE_LINE;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void put_value(const tree_t *tree, double value)
{
    if (!tree->eval) fprintf(tree->out, "%9s", ompp_text_seconds_digits((uint64_t)value, 2).text);
    else if (isnan(value)) fprintf(tree->out, "%13s", "-");
    else fprintf(tree->out, tree->adds && value == floor(value) ? "%13.0f" : "%13.6g", value);
}

/* \return columns used. */
static unsigned put_numbers(const tree_t *tree, double own, const double *all)
{
    const unsigned width = tree->eval ? 13 : 9;

    put_value(tree, own);
    if (tree->adds) {
        fprintf(tree->out, " %6.2f", 100 * own / tree->total);
        if (all) fprintf(tree->out, " %6.2f  ", 100 * *all / tree->total);
        else fprintf(tree->out, " %6s  ", "");
        return width + 16;
    }
    putc(' ', tree->out);
    if (all) put_value(tree, *all);
    else fprintf(tree->out, "%13s", "");
    fputs("  ", tree->out);
    return 2 * width + 3;
}

/* A row of a tree: a function, or a region on the way. all: NULL = own alone. */
static void put_branch(const tree_t *tree, double own, const double *all, unsigned depth, uint32_t region)
{
    const ompp_region_t *r = &tree->p->regions[region];
    const unsigned indent = depth < 20 ? 2 * depth : 40, used = put_numbers(tree, own, all) + indent;
    const size_t room = used + 20 < WIDTH ? WIDTH - used : 20;
    char name[400], place[300], text[760];

    ompp_path_place(tree->p, r, place, sizeof place);
    const size_t taken = strlen(place);
    ompp_path_name(tree->p, r, room > taken + 20 ? room - taken : 20, name, sizeof name);
    if (r->construct == OMPP_CONSTRUCT_FUNCTION && strncmp(name, place, taken) == 0)
        snprintf(text, sizeof text, "%s", name);
    else if (r->construct == OMPP_CONSTRUCT_FUNCTION) snprintf(text, sizeof text, "%s %s", name, place);
    else if (r->construct == OMPP_CONSTRUCT_INLINED) snprintf(text, sizeof text, "%s, inlined at %s", name, place);
    else if (r->construct == OMPP_CONSTRUCT_SOURCE_LOOP) {
        const char *lines = strrchr(place, ':'), *more = ompp_profile_text(tree->p, r->name);
        const bool fits =
            !lines || taken + strlen(more) + sizeof "[loop  ]" <= room; /* the lines tell more than the file */
        snprintf(text, sizeof text, "[loop %s%s%s]", fits ? place : lines + 1, *more ? " " : "", more);
    } else if (ompp_constructs[r->construct].place == OMPP_PLACE_CALL)
        snprintf(text, sizeof text, "[%s %s]", ompp_profile_text(tree->p, r->name), place);
    else snprintf(text, sizeof text, "[%s %s]", ompp_constructs[r->construct].full, place);
    fprintf(tree->out, "%*s", (int)indent, "");
    ompp_path_put(tree->out, text, room);
    putc('\n', tree->out);
}

/* What has no row of its own, so that rows add up: all of it is in what they would stand for. */
static void put_rest(const tree_t *tree, double value, bool inwards, unsigned depth, const char *what)
{
    const unsigned indent = depth < 20 ? 2 * depth : 40;

    if (!tree->adds || value <= 0) return;
    put_numbers(tree, value, inwards ? &value : NULL);
    fprintf(tree->out, "%*s(%s)\n", (int)indent, "", what);
}

typedef struct {
    uint32_t index;
    double value;
} branch_t;

static int by_value(const void *a, const void *b)
{
    const branch_t *x = a, *y = b;
    const double v = isnan(x->value) ? -HUGE_VAL : x->value, w = isnan(y->value) ? -HUGE_VAL : y->value;

    if (v != w) return v > w ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Small rows are left out; of values that do not add up those without any number. */
static bool is_shown(const tree_t *tree, const uint64_t *numbers)
{
    if (tree->adds) return value_of(tree, numbers) > tree->least;
    for (size_t i = 0; i < tree->n; i++)
        if (numbers[i]) return true;
    return false;
}

/* ---- From the outermost function inwards ------------------------------------------------------------------------- */

/* Children of a node that have a row, those with most first. \return owned; NULL: none, or *ok is false. */
static branch_t *children_of(const tree_t *tree, uint32_t node, size_t *n, bool *ok)
{
    size_t all = 0;

    *n = 0;
    for (uint32_t c = tree->first[node]; c; c = tree->next[c]) all += is_shown(tree, all_of(tree, c));
    branch_t *children = all ? malloc(all * sizeof *children) : NULL;
    *ok = children || !all;
    for (uint32_t c = tree->first[node]; children && c; c = tree->next[c])
        if (is_shown(tree, all_of(tree, c))) children[(*n)++] = (branch_t){c, value_of(tree, all_of(tree, c))};
    if (children) qsort(children, *n, sizeof *children, by_value);
    return children;
}

static bool put_callees(const tree_t *tree, uint32_t node, unsigned depth)
{
    const double own = node ? value_of(tree, own_of(tree, node)) : 0, all = value_of(tree, all_of(tree, node));
    double rest = all - own;
    size_t n;
    bool ok;

    if (depth == tree->deepest) return true;
    branch_t *children = children_of(tree, node, &n, &ok);
    if (tree->hot && depth && n && children[0].value < HOT * all) n = 0;
    if (tree->hot && n) n = 1;
    for (size_t i = 0; i < n && ok; i++) {
        const uint32_t c = children[i].index;
        put_branch(tree, value_of(tree, own_of(tree, c)), &children[i].value, depth, tree->p->nodes[c].region);
        ok = put_callees(tree, c, depth + 1);
        rest -= children[i].value;
    }
    free(children);
    if (ok && !tree->hot && tree->first[node]) put_rest(tree, rest, true, depth, "all others");
    return ok;
}

/* ---- From each function outwards --------------------------------------------------------------------------------- */

/* Of one function, or of its callers: the node that is looked at, and the node whose own numbers come by it. */
typedef struct {
    uint32_t node, origin;
} way_t;

static int by_region(const void *a, const void *b, void *profile)
{
    const ompp_profile_t *p = profile;
    const way_t *x = a, *y = b;
    const uint32_t r = x->node ? p->nodes[x->node].region : OMPP_NONE,
                   q = y->node ? p->nodes[y->node].region : OMPP_NONE;

    if (r != q) return r < q ? -1 : 1;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return x->origin < y->origin ? -1 : x->origin > y->origin;
}

static size_t end_of_group(const ompp_profile_t *p, const way_t *ways, size_t n, size_t begin)
{
    size_t end = begin + 1;

    while (end < n && !ways[end].node == !ways[begin].node &&
           (!ways[end].node || p->nodes[ways[end].node].region == p->nodes[ways[begin].node].region))
        end++;
    return end;
}

/* Value of ways[begin .. end) together. \return whether there is a row for it. */
static bool sum_group(const tree_t *tree, const way_t *ways, size_t begin, size_t end, uint64_t *sum, double *value)
{
    memset(sum, 0, tree->n * sizeof *sum);
    for (size_t i = begin; i < end; i++) add_to(tree, sum, own_of(tree, ways[i].origin));
    *value = value_of(tree, sum);
    return is_shown(tree, sum);
}

/* ways: each at a node of one region. Goes to what has called them, unless depth is 0, and prints these by region. */
static bool put_callers(const tree_t *tree, way_t *ways, size_t n, unsigned depth)
{
    const ompp_profile_t *p = tree->p;
    branch_t *groups = malloc((n + 1) * sizeof *groups);
    uint64_t *sum = malloc(tree->n * sizeof *sum);
    size_t ngroups = 0;
    bool ok = groups && sum;
    double value, others = 0, outermost = 0;

    for (size_t i = 0; i < n && depth; i++) ways[i].node = ompp_path_caller(p, ways[i].node);
    qsort_r(ways, n, sizeof *ways, by_region, (void *)(uintptr_t)p);
    for (size_t i = 0, next; ok && i < n; i = next) {
        next = end_of_group(p, ways, n, i);
        const bool shown = sum_group(tree, ways, i, next, sum, &value);
        if (!ways[i].node) outermost += value;
        else if (shown) groups[ngroups++] = (branch_t){(uint32_t)i, value};
        else others += value;
    }
    if (ngroups) qsort(groups, ngroups, sizeof *groups, by_value);
    for (size_t g = 0; ok && g < ngroups; g++) {
        const size_t begin = groups[g].index, end = end_of_group(p, ways, n, begin);
        put_branch(tree, groups[g].value, NULL, depth, p->nodes[ways[begin].node].region);
        if (depth + 1 == tree->deepest) continue;
        way_t *above = malloc((end - begin) * sizeof *above);
        if (above) memcpy(above, ways + begin, (end - begin) * sizeof *above);
        ok = above && put_callers(tree, above, end - begin, depth + 1);
        free(above);
    }
    if (ok) put_rest(tree, others, false, depth, "all others");
    if (ok && (ngroups || others > 0)) put_rest(tree, outermost, false, depth, "no caller");
    free(groups);
    free(sum);
    return ok;
}

/* The function that a node is a part of; of a region itself. */
static uint32_t function_of(const ompp_profile_t *p, uint32_t node)
{
    while (node && ompp_construct_is_part(p->regions[p->nodes[node].region].construct)) node = p->nodes[node].parent;
    return node;
}

/* Each function with numbers of its own, and who called it. */
static bool put_all_callers(const tree_t *tree)
{
    const ompp_profile_t *p = tree->p;
    way_t *ways = malloc(p->nnodes * sizeof *ways);
    size_t n = 0;

    for (uint32_t i = 1; ways && i < p->nnodes; i++)
        if (!is_line(p, i)) ways[n++] = (way_t){function_of(p, i), i};
    const bool ok = ways && put_callers(tree, ways, n, 0);
    free(ways);
    return ok;
}

/* ---- Without the paths ------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t region;
    double own, all;
} flat_t;

static int by_own(const void *a, const void *b)
{
    const flat_t *x = a, *y = b;
    const branch_t own[2] = {{x->region, x->own}, {y->region, y->own}},
                   all[2] = {{x->region, x->all}, {y->region, y->all}};

    return x->own == y->own ? by_value(&all[0], &all[1]) : by_value(&own[0], &own[1]);
}

/* A function that calls itself is counted once. */
static bool is_within_itself(const ompp_profile_t *p, uint32_t node)
{
    for (uint32_t n = p->nodes[node].parent; n; n = p->nodes[n].parent)
        if (p->nodes[n].region == p->nodes[node].region) return true;
    return false;
}

/* Each function and region. */
static bool put_flat(const tree_t *tree)
{
    const ompp_profile_t *p = tree->p;
    uint64_t *own = calloc(p->nregions + 1, tree->n * sizeof *own),
             *all = calloc(p->nregions + 1, tree->n * sizeof *all);
    flat_t *rows = calloc(p->nregions + 1, sizeof *rows);
    const bool ok = own && all && rows;
    size_t n = 0;

    for (uint32_t i = 1; ok && i < p->nnodes; i++) {
        const uint32_t f = function_of(p, i);
        if (is_line(p, i) || !f) continue;
        add_to(tree, own + p->nodes[f].region * tree->n, own_of(tree, i));
        if (f == i && !is_within_itself(p, i)) add_to(tree, all + p->nodes[f].region * tree->n, all_of(tree, i));
    }
    for (uint32_t r = 0; ok && r < p->nregions; r++)
        if (is_shown(tree, own + r * tree->n) || is_shown(tree, all + r * tree->n))
            rows[n++] = (flat_t){r, value_of(tree, own + r * tree->n), value_of(tree, all + r * tree->n)};
    if (n) qsort(rows, n, sizeof *rows, by_own);
    for (size_t i = 0; i < n; i++) put_branch(tree, rows[i].own, &rows[i].all, 0, rows[i].region);
    free(own);
    free(all);
    free(rows);
    return ok;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool make(tree_t *tree, FILE *out, const ompp_profile_t *p, size_t n)
{
    tree->out = out;
    tree->p = p;
    tree->n = n;
    tree->own = calloc(p->nnodes * n, sizeof *tree->own);
    tree->all = calloc(p->nnodes * n, sizeof *tree->all);
    tree->first = calloc(p->nnodes, sizeof *tree->first);
    tree->next = calloc(p->nnodes, sizeof *tree->next);
    return tree->own && tree->all && tree->first && tree->next;
}

/* all is known: own is what children do not have. */
static void find_own(tree_t *tree)
{
    const ompp_profile_t *p = tree->p;

    memcpy(tree->own, tree->all, p->nnodes * tree->n * sizeof *tree->own);
    for (uint32_t c = (uint32_t)p->nnodes; c-- > 1;) {
        const uint32_t parent = p->nodes[c].parent;
        if (is_line(p, c)) continue;
        for (size_t i = 0; i < tree->n; i++) {
            uint64_t *own = &own_of(tree, parent)[i];
            *own = ompp_less(*own, all_of(tree, c)[i]);
        }
        tree->next[c] = tree->first[parent];
        tree->first[parent] = c;
    }
}

static int put(tree_t *tree, ompp_by_t by, bool full)
{
    static const char *const titles[OMPP_BY_NUM] = {[OMPP_BY_FLAT] = "function",
                                                    [OMPP_BY_CALLER] = "function, and who called it",
                                                    [OMPP_BY_CALLEE] = "function, and what it calls",
                                                    [OMPP_BY_HOT] = "function, and what most is spent in"};
    const bool outwards = by == OMPP_BY_CALLER;

    find_own(tree);
    tree->total = value_of(tree, all_of(tree, 0));
    tree->least = full ? 0 : LEAST * tree->total;
    fprintf(tree->out, "\n%*s %*s %*s  %s\n", tree->eval ? 13 : 9, tree->eval ? "own" : "own sec", tree->adds ? 6 : 0,
            tree->adds ? "own %" : "", tree->adds ? 6 : 12,
            outwards     ? ""
            : tree->adds ? "all %"
                         : "all",
            titles[by]);
    tree->deepest = MOST_DEPTH;
    tree->hot = by == OMPP_BY_HOT;
    const bool ok = by == OMPP_BY_FLAT ? put_flat(tree) : outwards ? put_all_callers(tree) : put_callees(tree, 0, 0);
    return ok ? 0 : -OMPP_E_NOMEM;
}

static void clear(tree_t *tree)
{
    free(tree->own);
    free(tree->all);
    free(tree->first);
    free(tree->next);
    free(tree->row);
    ompp_eval_free(tree->eval);
}

int ompp_path_tree_of_samples(const ompp_profile_t *p, const ompp_samples_t *samples, ompp_by_t by, bool full,
                              FILE *out)
{
    tree_t tree = {.adds = true};
    const bool ok = make(&tree, out, p, 1);

    if (ok) memcpy(tree.all, samples->inclusive_ns, p->nnodes * sizeof *tree.all);
    const int rc = ok ? put(&tree, by, full) : -OMPP_E_NOMEM;
    clear(&tree);
    return rc;
}

/* Of a region its row; of parts of paths, and of the whole, what is below. */
static void fill_in(tree_t *tree, const ompp_values_t *values)
{
    const ompp_profile_t *p = tree->p;

    for (uint32_t i = (uint32_t)p->nnodes; i-- > 0;) {
        uint64_t *all = all_of(tree, i);
        if (i && !ompp_construct_is_path(p->regions[p->nodes[i].region].construct)) {
            ompp_rows_clear(values, tree->row, 1);
            ompp_values_sum(values, i, tree->row);
            memcpy(all, tree->row->value, OMPP_COLUMN_NUM * sizeof *all);
            memcpy(all + OMPP_COLUMN_NUM, tree->row->counter, tree->ncounters * sizeof *all);
        }
        if (i && (p->nodes[i].parent == 0 ||
                  ompp_construct_is_path(p->regions[p->nodes[p->nodes[i].parent].region].construct)))
            add_to(tree, all_of(tree, p->nodes[i].parent), all);
    }
}

int ompp_report_metric(const ompp_profile_t *p, const char *metric, ompp_by_t by, bool full, FILE *out, char *error,
                       size_t size)
{
    ompp_values_t *values = ompp_values_new(p);
    tree_t tree = {.adds = false};
    int rc = -OMPP_E_NOMEM;

    *error = '\0';
    const ompp_counter_t *counters = values ? ompp_values_counters(values, &tree.ncounters) : NULL;
    if (values) tree.eval = ompp_eval_new(metric, values, error, size);
    if (values && !tree.eval) rc = -OMPP_E_FORMAT;
    for (size_t i = 0; i < tree.ncounters; i++) tree.adds |= strcmp(counters[i].name, metric) == 0;
    for (size_t i = 0; i < OMPP_COLUMN_NUM; i++) tree.adds |= strcasecmp(ompp_columns[i].title, metric) == 0;
    tree.row = tree.eval ? ompp_rows_new(values, 1) : NULL;
    if (tree.row && make(&tree, out, p, OMPP_COLUMN_NUM + tree.ncounters)) {
        fill_in(&tree, values);
        rc = put(&tree, by, full);
    }
    clear(&tree);
    ompp_values_free(values);
    return rc;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void put_csv_path(const ompp_text_t *t, const ompp_profile_t *p, uint32_t node)
{
    uint32_t chain[MOST_DEPTH], n = 0;
    char name[400];

    for (; node && n < MOST_DEPTH; node = p->nodes[node].parent) chain[n++] = p->nodes[node].region;
    for (; n-- > 0; fputs(n ? " > " : "", t->out)) {
        const ompp_region_t *r = &p->regions[chain[n]];
        char place[300];
        ompp_path_name(p, r, sizeof name, name, sizeof name);
        ompp_path_place(p, r, place, sizeof place);
        const bool is_named =
            r->construct == OMPP_CONSTRUCT_FUNCTION || r->construct == OMPP_CONSTRUCT_INLINED || r->name;
        ompp_text_csv(t->out, is_named ? name : ompp_constructs[r->construct].full, false);
        putc(' ', t->out);
        ompp_text_csv(t->out, place, false);
    }
}

void ompp_path_counters_csv(const ompp_text_t *t, const ompp_profile_t *p)
{
    size_t n = 0;
    ompp_values_t *values = ompp_values_new(p);
    const ompp_counter_t *counters = values ? ompp_values_counters(values, &n) : NULL;
    ompp_row_t *row = n ? ompp_rows_new(values, 1) : NULL;

    if (row) fputs("##BEG ompp counters\nPath", t->out);
    for (size_t k = 0; row && k < n; k++) fprintf(t->out, ",%s", counters[k].name);
    if (row) putc('\n', t->out);
    for (uint32_t i = 1; row && i < p->nnodes; i++) {
        if (ompp_construct_is_path(p->regions[p->nodes[i].region].construct)) continue;
        ompp_rows_clear(values, row, 1);
        ompp_values_sum(values, i, row);
        put_csv_path(t, p, i);
        for (size_t k = 0; k < n; k++) fprintf(t->out, ",%" PRIu64, row->counter[k]);
        putc('\n', t->out);
    }
    if (row) fputs("##END ompp counters\n\n", t->out);
    free(row);
    ompp_values_free(values);
}
