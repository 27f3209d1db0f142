/**
 * \file
 * Check of a report: the callgraph from the tables of the call paths, and the overheads from both.
 */
#include "reader/ompp_document_check_priv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Callgraph --------------------------------------------------------------------------------------------------- */

/* The table of a node stands where the node stands, and its path is that of the nodes above. above: [level] regions. */
static bool same_path(const ompp_doc_check_t *c, const ompp_doc_node_t *node, const ompp_doc_table_t *t,
                      const uint32_t *above)
{
    if (t->nsteps != node->level) return false;
    for (size_t k = 0; k < t->nsteps; k++)
        if (c->same[t->steps[k].region] != above[k]) return false;
    return true;
}

static bool has_locks(const ompp_doc_check_t *c, size_t node)
{
    const ompp_document_t *d = c->doc;

    if (ompp_constructs[d->regions[d->nodes[node].region].construct].place == OMPP_PLACE_ADDRESS) return true;
    for (size_t n = node + 1; n < d->nnodes && d->nodes[n].level > d->nodes[node].level; n++)
        if (d->nodes[n].level == d->nodes[node].level + 1 &&
            ompp_constructs[d->regions[d->nodes[n].region].construct].place == OMPP_PLACE_ADDRESS)
            return true;
    return false;
}

/* Sum of execT of the children, without tasks; nchildren of them. */
static double inside_of(const ompp_doc_check_t *c, size_t node, size_t *nchildren)
{
    const ompp_document_t *d = c->doc;
    double inside = 0;

    *nchildren = 0;
    for (size_t n = node + 1; n < d->nnodes && d->nodes[n].level > d->nodes[node].level; n++) {
        if (d->nodes[n].level != d->nodes[node].level + 1) continue;
        ++*nchildren;
        if (!(ompp_constructs[d->regions[d->nodes[n].region].construct].flags & OMPP_CONSTRUCT_F_TASK))
            inside += ompp_doc_total(&d->paths[n], OMPP_COLUMN_EXEC_T);
    }
    return inside;
}

/* What the split columns of times lose to regions below. */
static double taken_of(const ompp_doc_table_t *t)
{
    double taken = 0;

    for (size_t i = 1; i < t->ncolumns; i++)
        if (t->columns[i].part == 'E' && t->columns[i].kind == OMPP_CELL_TIME)
            taken +=
                ompp_decimal_value(&ompp_doc_sum(t)->values[i - 1]) - ompp_decimal_value(&ompp_doc_sum(t)->values[i]);
    return taken;
}

static double nearest(double value, const double *wants, size_t n)
{
    double best = wants[0];

    for (size_t i = 1; i < n; i++)
        if (fabs(wants[i] - value) < fabs(best - value)) best = wants[i];
    return best;
}

/* Times of a node are sums over threads divided by threads, ranks or 1; ompP does not subtract tasks, and children only
 * from the body. */
static void check_times(ompp_doc_check_t *c, size_t n)
{
    const ompp_document_t *d = c->doc;
    const ompp_doc_node_t *node = &d->nodes[n];
    const ompp_doc_table_t *t = &d->paths[n];
    double divisors[] = {(double)d->nthreads, (double)c->nranks, 1}, exec = ompp_doc_total(t, OMPP_COLUMN_EXEC_T),
           half = ompp_doc_half(t);
    double wants[] = {exec / divisors[0], exec / divisors[1], exec}, value = ompp_decimal_value(&node->value[0]);
    double want = nearest(value, wants, 3), divisor = want == wants[0]   ? divisors[0]
                                                      : want == wants[1] ? divisors[1]
                                                                         : 1;
    double tasks = ompp_doc_total(t, OMPP_COLUMN_TASK_T), taken = taken_of(t), inside;
    size_t nchildren;

    ompp_doc_near(c, node->line, "inclusive time", "", &node->value[0], want, half / divisor);
    inside = inside_of(c, n, &nchildren);
    double sums[] = {exec - taken, exec - taken - tasks, exec - inside - tasks};
    for (size_t i = 0; i < 3; i++) sums[i] = sums[i] > 0 ? sums[i] / divisor : 0;
    if (!c->nested && !has_locks(c, n)) /* an inner team's time, or a lock that does not nest, is in no column */
        ompp_doc_near(c, node->line, "exclusive time", "", &node->value[2],
                      nearest(ompp_decimal_value(&node->value[2]), sums, 3), (4 + (double)nchildren) * half / divisor);
}

static void check_node(ompp_doc_check_t *c, size_t n)
{
    const ompp_document_t *d = c->doc;
    const ompp_doc_node_t *node = &d->nodes[n];
    double duration = ompp_decimal_value(&d->root[0]), slack = ompp_decimal_slack(&d->root[0]);
    bool leaf = n + 1 == d->nnodes || d->nodes[n + 1].level <= node->level;
    char mark = d->paths[n].steps[d->paths[n].nsteps - 1].mark;

    if (leaf != (mark == '=')) ompp_doc_object(c, d->paths[n].line, "marked as %s", leaf ? "an inner node" : "a leaf");
    ompp_doc_percent(c, node->line, "inclusive time", &node->value[1], &node->value[0], duration, slack);
    ompp_doc_percent(c, node->line, "exclusive time", &node->value[3], &node->value[2], duration, slack);
    check_times(c, n);
}

static void check_root(ompp_doc_check_t *c)
{
    const ompp_document_t *d = c->doc;
    double inside = 0, slack = ompp_decimal_slack(&d->root[0]), duration = ompp_decimal_value(&d->root[0]), want;

    for (size_t n = 0; n < d->nnodes; n++) {
        if (d->nodes[n].level != 1) continue;
        inside += ompp_decimal_value(&d->nodes[n].value[0]);
        slack += ompp_decimal_slack(&d->nodes[n].value[0]);
    }
    want = duration - inside;
    if (want < 0 && ompp_decimal_value(&d->root[2]) >= 0) want = 0;
    ompp_doc_near(c, d->root_line, "exclusive time of the program", "", &d->root[2], want, slack);
    ompp_doc_percent(c, d->root_line, "exclusive time of the program", &d->root[3], &d->root[2], duration,
                     ompp_decimal_slack(&d->root[0]));
}

void ompp_doc_check_callgraph(ompp_doc_check_t *c)
{
    const ompp_document_t *d = c->doc;
    uint32_t *above = calloc(d->nnodes + 2, sizeof *above); /* [level - 1] */

    if (d->nnodes != d->npaths)
        ompp_doc_object(c, d->root_line, "%zu nodes in the callgraph, %zu callgraph profiles", d->nnodes, d->npaths);
    for (size_t n = 0; above && d->nnodes == d->npaths && n < d->nnodes; n++) {
        above[d->nodes[n].level - 1] = c->same[d->nodes[n].region];
        if (!same_path(c, &d->nodes[n], &d->paths[n], above)) {
            ompp_doc_object(c, d->paths[n].line, "not the call path of the same node of the callgraph");
            break;
        }
        check_node(c, n);
    }
    free(above);
    if (!c->folded) check_root(c);
}

/* ---- Overheads --------------------------------------------------------------------------------------------------- */

/* Index of the row of a region's number, neach when there is none. */
static size_t row_of(const ompp_doc_check_t *c, uint32_t number)
{
    const uint64_t found = ompp_table_get(&c->rows, number);

    return found ? found - 1 : c->doc->neach;
}

static bool find_rows(ompp_doc_check_t *c)
{
    bool ok = true;

    for (size_t i = 0; ok && i < c->doc->neach; i++)
        if (!ompp_table_get(&c->rows, c->doc->each[i].number))
            ok = ompp_table_set(&c->rows, c->doc->each[i].number, i + 1);
    return ok;
}

/* Position of a class among those of the report. */
static size_t class_of(const ompp_document_t *d, unsigned class)
{
    size_t i = 0;

    while (i < d->nclasses && strcmp(d->classes[i], ompp_classes[class].title) != 0) i++;
    return i;
}

/* Time of a phase in a table: its column, or what is left of execT. */
static double phase_time(const ompp_doc_table_t *t, unsigned construct, unsigned phase)
{
    const ompp_construct_row_t *row = &ompp_constructs[construct];

    for (unsigned i = 0; i < row->ncolumns; i++) {
        ompp_column_t column = row->columns[i] & ~OMPP_COLUMN_SPLIT;
        bool time =
            ompp_columns[column].source == OMPP_SOURCE_TIME || ompp_columns[column].source == OMPP_SOURCE_TIME_LESS;
        if (time && ompp_columns[column].arg == (int)phase) return ompp_doc_total(t, column);
    }
    return row->phases[0] == phase ? ompp_doc_total(t, OMPP_COLUMN_EXEC_T) - ompp_doc_total(t, OMPP_COLUMN_TASK_T) : 0;
}

/* Adds what a call path costs to the innermost parallel region around it. sums, slack: [neach][nclasses]. */
static void credit(const ompp_doc_check_t *c, const ompp_doc_table_t *t, double *sums, double *slack)
{
    const ompp_document_t *d = c->doc;
    unsigned construct = ompp_doc_last(c, t)->construct;
    bool few = ompp_doc_total(t, OMPP_COLUMN_SECT_C) < ompp_doc_total(t, OMPP_COLUMN_EXEC_C);
    size_t step = t->nsteps, row;

    while (step > 0 && !ompp_construct_forks(d->regions[t->steps[step - 1].region].construct)) step--;
    row = step ? row_of(c, d->regions[t->steps[step - 1].region].number) : d->neach;
    if (row == d->neach) return;
    for (size_t i = 0; i < ompp_nrules; i++) {
        size_t class = class_of(d, few ? ompp_rules[i].class_few : ompp_rules[i].class);
        if (ompp_rules[i].construct != construct || class == d->nclasses) continue;
        sums[row * d->nclasses + class] += phase_time(t, construct, ompp_rules[i].phase);
        slack[row * d->nclasses + class] += 2 * ompp_doc_half(t);
    }
    if (!d->ours && ompp_construct_forks(construct) &&
        class_of(d, OMPP_CLASS_MPI) < d->nclasses) { /* ompP has no nodes of MPI calls */
        sums[row * d->nclasses + class_of(d, OMPP_CLASS_MPI)] += ompp_doc_total(t, OMPP_COLUMN_MPI_T);
        slack[row * d->nclasses + class_of(d, OMPP_CLASS_MPI)] += ompp_doc_half(t);
    }
}

static void check_shares(ompp_doc_check_t *c, const ompp_doc_overhead_t *row, double basis, double basis_slack)
{
    const ompp_document_t *d = c->doc;
    double sum = 0, slack = 0;

    for (size_t i = 0; i <= d->nclasses; i++) {
        const char *title = i ? d->classes[i - 1] : "overheads";
        ompp_doc_percent(c, row->line, title, &row->shares[i].percent, &row->shares[i].time, basis, basis_slack);
        if (!i) continue;
        sum += ompp_decimal_value(&row->shares[i].time);
        slack += ompp_decimal_slack(&row->shares[i].time);
    }
    ompp_doc_near(c, row->line, "overheads", "", &row->shares[0].time, sum, slack);
}

static void check_classes(ompp_doc_check_t *c)
{
    const ompp_document_t *d = c->doc;
    size_t n = d->neach * d->nclasses + 1;
    double *sums = calloc(n, sizeof *sums), *slack = calloc(n, sizeof *slack);
    double program = ompp_decimal_value(&d->runtime) * (double)d->nthreads,
           rounding = ompp_decimal_slack(&d->runtime) * (double)d->nthreads;

    for (size_t i = 0; sums && slack && !c->folded && i < d->npaths; i++) credit(c, &d->paths[i], sums, slack);
    for (size_t i = 0; i < d->neach; i++) {
        const ompp_doc_overhead_t *row = &d->each[i];
        check_shares(c, row, ompp_decimal_value(&row->total), ompp_decimal_slack(&row->total));
        for (size_t k = 0; sums && slack && !c->folded && k < d->nclasses; k++)
            ompp_doc_near(c, row->line, d->classes[k], "", &row->shares[1 + k].time, sums[i * d->nclasses + k],
                          slack[i * d->nclasses + k]);
    }
    for (size_t i = 0; i < d->nwhole; i++) check_shares(c, &d->whole[i], program, rounding);
    free(sums);
    free(slack);
}

/* In our reports, regions that run at the same time add up to the duration at most; n: threads whose time is added. */
static void limit_sum(const ompp_document_t *d, double *sum, double *slack, uint64_t n)
{
    const double most = ompp_decimal_value(&d->runtime) * (double)n;

    if (!d->ours || *sum <= most) return;
    *sum = most;
    *slack += ompp_decimal_slack(&d->runtime) * (double)n;
}

/* Without regions inside regions the totals add up. */
static void check_total(ompp_doc_check_t *c, const ompp_doc_overhead_t *sum)
{
    const ompp_document_t *d = c->doc;
    double total = 0, slack = ompp_decimal_slack(&d->coverage) * (double)d->nthreads;

    if (c->nested) return;
    for (const ompp_doc_overhead_t *row = d->whole; row < sum; row++) {
        total += ompp_decimal_value(&row->total);
        slack += ompp_decimal_slack(&row->total);
    }
    limit_sum(d, &total, &slack, d->nthreads);
    ompp_doc_near(c, sum->line, "SUM of totals", "", &sum->total, total, slack);
}

/* Both tables of overheads have the same rows; the second one has a sum. */
static void check_whole(ompp_doc_check_t *c)
{
    const ompp_document_t *d = c->doc;
    const ompp_doc_overhead_t *sum = d->nwhole ? &d->whole[d->nwhole - 1] : NULL;

    if (d->nwhole != d->neach + 1 || sum->number != OMPP_DOC_NONE) {
        ompp_doc_object(c, d->overheads_line, "the tables of overheads list different regions");
        return;
    }
    for (size_t k = 0; !c->folded && k <= d->nclasses; k++) {
        double total = 0, slack = 0;
        for (size_t i = 0; i + 1 < d->nwhole; i++) {
            total += ompp_decimal_value(&d->whole[i].shares[k].time);
            slack += ompp_decimal_slack(&d->whole[i].shares[k].time);
        }
        ompp_doc_near(c, sum->line, "SUM of ", k ? d->classes[k - 1] : "overheads", &sum->shares[k].time, total, slack);
    }
    if (!c->folded) check_total(c, sum);
    for (size_t i = 0; i + 1 < d->nwhole; i++) {
        size_t row = row_of(c, d->whole[i].number);
        if (row == d->neach || d->each[row].total.units != d->whole[i].total.units)
            ompp_doc_object(c, d->whole[i].line, "another total than in the table above");
    }
}

/* The wallclock of a region: thread 0's (ompP), or the longest of a thread, as mean over ranks. */
static void check_wall(ompp_doc_check_t *c, const ompp_doc_wall_t *wall, const ompp_doc_table_t *t)
{
    double longest = 0, sum = 0, first = 0;
    bool hidden = false;

    for (size_t k = 0; k + 1 < t->nrows; k++) {
        double exec = ompp_doc_value(t, &t->rows[k], OMPP_COLUMN_EXEC_T);
        bool next =
            k + 2 == t->nrows || t->rows[k + 1].rank != t->rows[k].rank || t->rows[k + 1].kind != OMPP_ROW_THREAD;
        if (k == 0) first = exec;
        hidden |= t->rows[k].kind != OMPP_ROW_THREAD;
        longest = exec > longest ? exec : longest;
        if (!next) continue;
        sum += longest;
        longest = 0;
    }
    if (!hidden)
        ompp_doc_near(c, wall->line, "wallclock", "", &wall->wall, c->doc->ours ? sum / c->nranks : first,
                      ompp_doc_half(t));
}

static void check_walls(ompp_doc_check_t *c)
{
    const ompp_document_t *d = c->doc;
    double sum = 0, slack = 0;

    if (d->nwall != d->neach + 1)
        ompp_doc_object(c, d->overheads_line, "the tables of wallclocks and of overheads list different regions");
    for (size_t i = 0; i < d->nwall; i++) {
        const ompp_doc_wall_t *w = &d->wall[i];
        ompp_doc_percent(c, w->line, "wallclock", &w->percent, &w->wall, ompp_decimal_value(&d->runtime),
                         ompp_decimal_slack(&d->runtime));
        if (w->region == OMPP_DOC_NONE) continue;
        sum += ompp_decimal_value(&w->wall);
        slack += ompp_decimal_slack(&w->wall);
        if (c->flat_of[c->same[w->region]]) check_wall(c, w, c->flat_of[c->same[w->region]]);
        if (i < d->neach && d->each[i].number == d->regions[w->region].number && c->nranks == 1)
            ompp_doc_near(c, d->each[i].line, "total", "", &d->each[i].total,
                          ompp_decimal_value(&w->wall) * (double)d->nthreads,
                          ompp_decimal_slack(&w->wall) * (double)d->nthreads);
    }
    limit_sum(d, &sum, &slack, 1);
    if (!c->nested && !c->folded)
        ompp_doc_near(c, d->overheads_line, "parallel coverage", "", &d->coverage, sum, slack);
    ompp_doc_percent(c, d->overheads_line, "parallel coverage", &d->coverage_percent, &d->coverage,
                     ompp_decimal_value(&d->runtime), ompp_decimal_slack(&d->runtime));
}

void ompp_doc_check_overheads(ompp_doc_check_t *c)
{
    const ompp_document_t *d = c->doc;
    const char *duration = ompp_document_field(d, "Duration");
    ompp_decimal_t seconds;

    if (d->runtime.units != d->root[0].units || d->runtime_threads != d->nthreads)
        ompp_doc_object(c, d->overheads_line, "another runtime, or other threads, than in the callgraph");
    if (duration && ompp_take_number(&duration, &seconds) && seconds.units != d->runtime.units)
        ompp_doc_object(c, d->overheads_line, "the runtime is not the duration");
    check_walls(c);
    if (find_rows(c)) {
        check_classes(c);
        check_whole(c);
    } else {
        ompp_doc_object(c, d->overheads_line, "not checked: out of memory");
    }
    ompp_table_fini(&c->rows);
}
