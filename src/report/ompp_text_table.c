/**
 * \file
 * Callgraph, and the tables of the flat and of the callgraph profiles.
 */
#include "config.h"

#include "report/ompp_text_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALL_RANKS_UP_TO 16 /* above that number of ranks only the extreme ones are printed */
#define EXTREME_RANKS 8    /* of each end */

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

size_t ompp_text_columns(const ompp_text_t *t, unsigned construct, bool split)
{
    ompp_text_column_t *printed = t->columns;
    const ompp_construct_row_t *c = &ompp_constructs[construct];
    size_t n = 0;

    for (unsigned i = 0; i < c->ncolumns; i++) {
        ompp_column_t id = c->columns[i] & ~OMPP_COLUMN_SPLIT;
        bool both = split && (c->columns[i] & OMPP_COLUMN_SPLIT);
        printed[n++] = (ompp_text_column_t){id, both ? "/I" : "", OMPP_TEXT_COLUMN};
        if (both) printed[n++] = (ompp_text_column_t){id, "/E", OMPP_TEXT_COLUMN};
    }
    n += ompp_text_counter_columns(t, split, printed + n);
    for (size_t i = 0; t->profile->mpi && i < ompp_nmpi_columns; i++)
        printed[n++] = (ompp_text_column_t){ompp_mpi_columns[i], "", OMPP_TEXT_COLUMN};
    return n;
}

static bool is_time(const ompp_text_column_t *column) { return ompp_columns[column->id].unit == OMPP_UNIT_NS; }

int ompp_text_column_width(const ompp_text_t *t, const ompp_text_column_t *column)
{
    if (column->kind != OMPP_TEXT_COLUMN) return ompp_text_counter_width(t, column);
    return OMPP_WIDTH_VALUE + (is_time(column) ? t->extra : 0);
}

static void print_titles(ompp_text_t *t, const ompp_text_column_t *columns, size_t n)
{
    ompp_layout_row_title(t->out, t->show_ranks);
    for (size_t c = 0; c < n; c++) {
        char title[32];
        if (columns[c].kind != OMPP_TEXT_COLUMN) {
            ompp_text_counter_title(t, &columns[c]);
            continue;
        }
        snprintf(title, sizeof title, "%s%s", ompp_columns[columns[c].id].title, columns[c].suffix);
        ompp_layout_cell(t->out, ompp_text_column_width(t, &columns[c]), title);
    }
    putc('\n', t->out);
}

static void print_row(const ompp_text_t *t, ompp_row_kind_t kind, uint32_t rank, uint32_t tid,
                      const ompp_text_column_t *columns, size_t n, const ompp_row_t *row)
{
    ompp_layout_row_label(t->out, t->show_ranks, kind, rank, tid);
    for (size_t c = 0; c < n; c++) {
        if (columns[c].kind != OMPP_TEXT_COLUMN) {
            ompp_text_counter_cell(t, &columns[c], row);
            continue;
        }
        uint64_t value = ompp_text_value(&columns[c], row);
        if (is_time(&columns[c]))
            ompp_layout_cell(t->out, OMPP_WIDTH_VALUE + t->extra, ompp_text_seconds(t, value).text);
        else fprintf(t->out, " %*" PRIu64, OMPP_WIDTH_VALUE, value);
    }
    putc('\n', t->out);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static bool is_zero(const ompp_text_column_t *columns, size_t n, const ompp_row_t *row)
{
    for (size_t c = 0; c < n; c++)
        if (columns[c].kind != OMPP_TEXT_EVALUATOR && ompp_text_value(&columns[c], row)) return false;
    return true;
}

static int by_value(const void *a, const void *b, void *values)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint64_t *value = values;

    if (value[x] != value[y]) return value[x] < value[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

void ompp_text_choose_ranks(ompp_text_t *t)
{
    size_t n = t->profile->nranks_kept;
    bool all = n <= ALL_RANKS_UP_TO;

    for (size_t r = 0; r < n; r++) {
        t->rank_sort[r] = r;
        t->rank_shown[r] = t->view && t->view->rank != OMPP_NONE ? t->profile->ranks[r].rank == t->view->rank : all;
    }
    if (all || (t->view && t->view->rank != OMPP_NONE)) return;
    qsort_r(t->rank_sort, n, sizeof *t->rank_sort, by_value, t->rank_exec);
    for (size_t i = 0; i < EXTREME_RANKS; i++)
        t->rank_shown[t->rank_sort[i]] = t->rank_shown[t->rank_sort[n - 1 - i]] = true;
}

/* All threads of a rank in the row of its thread 0. */
static void collapse_rows(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    ompp_row_t *first = NULL;

    for (size_t i = 0; i < p->nlocations; i++) { /* by rank, then thread */
        const ompp_location_t *l = &p->locations[t->order[i]];
        ompp_row_t *row = &t->rows[t->order[i]];
        if (l->tid == 0) {
            first = row;
        } else if (first) {
            ompp_row_add(t->values, first, row);
            ompp_rows_clear(t->values, row, 1);
        }
    }
}

/* Which ranks this table shows: by execT. */
static void choose_by_exec(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    memset(t->rank_exec, 0, p->nranks_kept * sizeof *t->rank_exec);
    for (size_t l = 0; l < p->nlocations; l++) {
        size_t r = ompp_analysis_rank_index(p, p->locations[l].rank);
        if (r < p->nranks_kept) t->rank_exec[r] += t->rows[l].value[OMPP_COLUMN_EXEC_T];
    }
    ompp_text_choose_ranks(t);
}

void ompp_text_rows(ompp_text_t *t, unsigned construct, bool split, ompp_text_row_fn *print)
{
    const ompp_profile_t *p = t->profile;
    const ompp_text_column_t *columns = t->columns;
    size_t n = ompp_text_columns(t, construct, split);
    bool collapsed = t->collapse && ompp_constructs[construct].place == OMPP_PLACE_ADDRESS;
    bool once = collapsed || ompp_constructs[construct].flags & OMPP_CONSTRUCT_F_ONCE, omitted = p->nrest > 0;
    ompp_row_t *sum = &t->sums[0], *others = &t->sums[1];

    ompp_rows_clear(t->values, t->sums, 2);
    if (collapsed) collapse_rows(t);
    choose_by_exec(t);
    for (size_t i = 0; i < p->nlocations; i++) {
        const ompp_location_t *l = &p->locations[t->order[i]];
        const ompp_row_t *row = &t->rows[t->order[i]];
        size_t r = ompp_analysis_rank_index(p, l->rank);
        ompp_row_add(t->values, sum, row);
        if (r == p->nranks_kept || !t->rank_shown[r]) {
            ompp_row_add(t->values, others, row);
            omitted = true;
            continue;
        }
        if (once && l->tid != 0 && is_zero(columns, n, row)) continue;
        print(t, OMPP_ROW_THREAD, l->rank, l->tid, columns, n, row);
    }
    if (omitted) print(t, OMPP_ROW_OTHERS, 0, 0, columns, n, others);
    print(t, OMPP_ROW_SUM, 0, 0, columns, n, sum);
}

static void print_table(ompp_text_t *t, unsigned construct, bool split)
{
    print_titles(t, t->columns, ompp_text_columns(t, construct, split));
    ompp_text_rows(t, construct, split, print_row);
}

static void clear_rows(ompp_text_t *t) { ompp_rows_clear(t->values, t->rows, t->profile->nlocations); }

void ompp_text_gather_region(ompp_text_t *t, uint32_t region)
{
    clear_rows(t);
    for (const uint32_t *n = ompp_paths_begin(t->paths, region); n < ompp_paths_end(t->paths, region); n++)
        ompp_values_add(t->values, *n, t->rows);
}

void ompp_text_gather_node(ompp_text_t *t, uint32_t node)
{
    clear_rows(t);
    ompp_values_add(t->values, node, t->rows);
}

/* "R00001 file (1-2) LOOP". Where the location already is the name of the construct, a heading does not repeat it. */
static void print_region(ompp_text_t *t, uint32_t region, bool repeat)
{
    const ompp_construct_row_t *construct = &ompp_constructs[t->profile->regions[region].construct];

    ompp_layout_heading(t->out, t->profile->regions[region].number, t->places[region],
                        repeat || construct->place != OMPP_PLACE_ADDRESS ? construct->full : "");
}

/* ---- Profiles ---------------------------------------------------------------------------------------------------- */

void ompp_text_flat(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;

    ompp_layout_title(t->out, "ompP Flat Region Profile (inclusive data)");
    for (size_t i = 0; i < t->nexecuted; i++) {
        ompp_text_gather_region(t, t->regions[i]);
        print_region(t, t->regions[i], false);
        print_table(t, p->regions[t->regions[i]].construct, false);
        putc('\n', t->out);
    }
}

uint32_t ompp_text_path(ompp_text_t *t, uint32_t node)
{
    for (uint32_t n = node; n != 0; n = t->profile->nodes[n].parent) t->path[t->depth[n] - 1] = n;
    return t->depth[node];
}

static void print_path(ompp_text_t *t, uint32_t node)
{
    uint32_t depth = ompp_text_path(t, node);

    ompp_layout_step(t->out, '*', 0);
    fprintf(t->out, "%s\n", t->app);
    for (uint32_t d = 0; d < depth; d++) {
        ompp_layout_step(t->out, t->has_child[t->path[d]] ? '+' : '=', d + 1);
        print_region(t, t->profile->nodes[t->path[d]].region, true);
    }
}

void ompp_text_callgraph_profiles(ompp_text_t *t)
{
    ompp_layout_title(t->out, "ompP Callgraph Region Profiles (incl./excl. data)");
    putc('\n', t->out);
    for (size_t i = 0; i < t->nordered; i++) {
        uint32_t node = t->nodes[i];
        ompp_text_gather_node(t, node);
        print_path(t, node);
        print_table(t, t->profile->regions[t->profile->nodes[node].region].construct, true);
        putc('\n', t->out);
    }
    putc('\n', t->out);
}

/* ---- Callgraph --------------------------------------------------------------------------------------------------- */

uint64_t ompp_text_inclusive(const ompp_text_t *t, uint32_t node)
{
    if (node == 0) return t->duration_ns;
    return ompp_text_mean(t->totals[node].value[OMPP_COLUMN_EXEC_T], ompp_analysis_divisor(t->profile, t->paths, node));
}

uint64_t ompp_text_exclusive(const ompp_text_t *t, uint32_t node)
{
    const ompp_row_t *total = &t->totals[node];

    if (node == 0) return ompp_analysis_outside_ns(t->profile, t->paths);
    return ompp_text_mean(ompp_less(total->value[OMPP_COLUMN_EXEC_T], total->below_ns),
                          ompp_analysis_divisor(t->profile, t->paths, node));
}

/* Two times with percentages, in ompP's changing number of digits. */
static void print_times(ompp_text_t *t, uint64_t inclusive, uint64_t exclusive, const char *brief)
{
    double a = ompp_text_percent(inclusive, t->duration_ns), b = ompp_text_percent(exclusive, t->duration_ns);
    ompp_seconds_t times[2] = {ompp_text_seconds(t, inclusive), ompp_text_seconds(t, exclusive)};
    char percent[2][32];
    int digits[2];

    ompp_layout_percent_digits(a, b, digits);
    snprintf(percent[0], sizeof percent[0], "%.*f", digits[0], a);
    snprintf(percent[1], sizeof percent[1], "%.*f", digits[1], b);
    ompp_layout_node(t->out, t->extra, (const char *[]){times[0].text, percent[0], times[1].text, percent[1]}, brief);
}

static void print_root(ompp_text_t *t)
{
    uint64_t outside = ompp_text_exclusive(t, 0);

    ompp_layout_root(t->out, t->extra, ompp_text_seconds(t, t->duration_ns).text, "100.0",
                     ompp_text_seconds(t, outside).text, ompp_text_share(outside, (double)t->duration_ns).text, t->app,
                     t->nslots);
}

static void print_node(ompp_text_t *t, uint32_t node)
{
    uint32_t region = t->profile->nodes[node].region, depth = ompp_text_path(t, node);

    print_times(t, ompp_text_inclusive(t, node), ompp_text_exclusive(t, node),
                ompp_constructs[t->profile->regions[region].construct].brief);
    for (uint32_t d = 0; d < depth; d++) ompp_layout_branch(t->out, d + 1 == depth, t->has_sibling[t->path[d]]);
    ompp_layout_heading(t->out, t->profile->regions[region].number, t->places[region], "");
}

void ompp_text_callgraph(ompp_text_t *t)
{
    ompp_layout_title(t->out, "ompP Callgraph");
    ompp_layout_callgraph_titles(t->out, t->extra);
    print_root(t);
    for (size_t i = 0; i < t->nordered; i++) print_node(t, t->nodes[i]);
    if (t->view && t->view->told && t->folded.nodes)
        fprintf(t->out, "and %zu call paths that carry less, %s %% of the thread time together; --full shows them\n",
                t->folded.nodes, ompp_text_share(t->folded.own_ns, (double)t->duration_ns * (double)t->nslots).text);
    putc('\n', t->out);
}
