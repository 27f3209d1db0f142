/**
 * \file
 * Is a report in order? What follows from other numbers of the same report is computed again, within the rounding of
 * what was printed: sums, percentages, the callgraph from the tables, overheads from the callgraph profiles. Knows
 * ompP's rules and ours (docs/compatibility.md) and, like all of the reader, no construct by name: the rules stand in
 * the tables of the model.
 */
#include "config.h"

#include "reader/ompp_document_check_priv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void check_sums(ompp_doc_check_t *c, const ompp_doc_table_t *t)
{
    for (size_t i = 0; i < t->ncolumns; i++) {
        double sum = 0, slack = 0;
        if (t->columns[i].kind == OMPP_CELL_EVALUATOR) continue;
        for (size_t k = 0; k + 1 < t->nrows; k++) {
            sum += ompp_decimal_value(&t->rows[k].values[i]);
            slack += ompp_decimal_slack(&t->rows[k].values[i]);
        }
        ompp_doc_near(c, ompp_doc_sum(t)->line, "SUM of ", t->columns[i].title, &ompp_doc_sum(t)->values[i], sum,
                      slack);
    }
}

/* Titles are those of the construct, in order; older reports lack some. Counters and MPI may follow. */
static void check_titles(ompp_doc_check_t *c, const ompp_doc_table_t *t)
{
    const ompp_construct_row_t *construct = &ompp_constructs[ompp_doc_last(c, t)->construct];
    unsigned next = 0;

    for (size_t i = 0; i < t->ncolumns; i++) {
        const char *title = t->columns[i].title;
        if (t->columns[i].kind != OMPP_CELL_TIME && t->columns[i].kind != OMPP_CELL_COUNT) continue;
        if (ompp_doc_is_mpi(&t->columns[i]) || t->columns[i].part == 'E') continue;
        while (next < construct->ncolumns &&
               strcmp(ompp_columns[construct->columns[next] & ~OMPP_COLUMN_SPLIT].title, title) != 0)
            next++;
        if (next == construct->ncolumns) {
            ompp_doc_object(c, t->line, "%s has no column %s, or not there", construct->full, title);
            return;
        }
        next++;
    }
}

static void check_rows(ompp_doc_check_t *c, const ompp_doc_table_t *t)
{
    if (t->nrows < 2) ompp_doc_object(c, t->line, "a table without rows");
    for (size_t k = 0; k < t->nrows; k++) {
        const ompp_doc_row_t *row = &t->rows[k], *before = k ? row - 1 : NULL;
        if (before && row->kind == OMPP_ROW_THREAD &&
            (before->rank > row->rank || (before->rank == row->rank && before->tid >= row->tid)))
            ompp_doc_object(c, row->line, "rows are out of order, or one stands twice");
        for (size_t i = 1; i < t->ncolumns; i++) {
            if (t->columns[i].part != 'E') continue;
            double more = ompp_decimal_value(&row->values[i]) - ompp_decimal_value(&row->values[i - 1]);
            c->nchecked++;
            if (more > ompp_decimal_slack(&row->values[i]) + ompp_decimal_slack(&row->values[i - 1]) + 1e-9)
                ompp_doc_object(c, row->line, "exclusive %s above inclusive", t->columns[i].title);
        }
    }
}

static void check_table(ompp_doc_check_t *c, const ompp_doc_table_t *t)
{
    check_titles(c, t);
    check_rows(c, t);
    check_sums(c, t);
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

static int by_region(const void *a, const void *b, void *data)
{
    const ompp_doc_region_t *regions = data, *x = &regions[*(const uint32_t *)a], *y = &regions[*(const uint32_t *)b];

    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->construct != y->construct) return x->construct < y->construct ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* same[r]: the first region with the number and type of r, whatever its place is called. */
static bool find_same(ompp_doc_check_t *c)
{
    const ompp_document_t *d = c->doc;
    uint32_t *order = calloc(d->nregions + 1, sizeof *order);

    c->same = calloc(d->nregions + 1, sizeof *c->same);
    if (!order || !c->same) {
        free(order);
        return false;
    }
    for (uint32_t i = 0; i < d->nregions; i++) order[i] = i;
    qsort_r(order, d->nregions, sizeof *order, by_region, d->regions);
    for (size_t i = 0; i < d->nregions; i++) {
        const ompp_doc_region_t *r = &d->regions[order[i]], *before = i ? &d->regions[order[i - 1]] : NULL;
        bool same = before && before->number == r->number && before->construct == r->construct;
        c->same[order[i]] = same ? c->same[order[i - 1]] : order[i];
    }
    free(order);
    return true;
}

/* Every region of the overview has one flat table, and the other way round; same[] says what flat table a region has.
 */
static void check_overview(ompp_doc_check_t *c)
{
    const ompp_document_t *d = c->doc;
    size_t nforks = 0;

    for (size_t i = 0; i < d->nflat; i++) {
        const ompp_doc_table_t **of = &c->flat_of[c->same[d->flat[i].steps[0].region]];
        if (*of) ompp_doc_object(c, d->flat[i].line, "a second flat table of the same region");
        *of = &d->flat[i];
    }
    for (size_t i = 0; i < d->noverview; i++) {
        const ompp_doc_region_t *r = &d->regions[d->overview[i]];
        nforks += ompp_construct_forks(r->construct);
        if (!c->flat_of[c->same[d->overview[i]]])
            ompp_doc_object(c, d->root_line, "R%05" PRIu32 " (%s) is in the overview, but not in the flat profile",
                            r->number, ompp_constructs[r->construct].full);
    }
    if (d->noverview != d->nflat)
        ompp_doc_object(c, d->root_line, "%zu regions in the overview, %zu in the flat profile", d->noverview,
                        d->nflat);
    if (nforks != d->nparallel && !(c->folded && nforks < d->nparallel))
        ompp_doc_object(c, d->overheads_line, "%" PRIu64 " parallel regions, but %zu in the overview", d->nparallel,
                        nforks);
}

/* Counts of a region are those of its call paths together; so are times, in our reports. */
static void check_flat(ompp_doc_check_t *c, const ompp_doc_table_t *t, double *sum, double *slack)
{
    for (size_t i = 0; i < t->ncolumns; i++) {
        const ompp_doc_column_t *column = &t->columns[i];
        bool exact = column->kind == OMPP_CELL_COUNT || (column->kind == OMPP_CELL_TIME && c->doc->ours);
        if (exact && !ompp_doc_is_mpi(column) && !isnan(sum[i]))
            ompp_doc_near(c, ompp_doc_sum(t)->line, "SUM of all call paths of ", column->title,
                          &ompp_doc_sum(t)->values[i], sum[i], slack[i]);
    }
}

static void check_flats(ompp_doc_check_t *c)
{
    const ompp_document_t *d = c->doc;

    for (size_t f = 0; f < d->nflat; f++) {
        const ompp_doc_table_t *t = &d->flat[f];
        double sum[OMPP_DOC_COLUMNS] = {0}, slack[OMPP_DOC_COLUMNS] = {0};
        size_t npaths = 0;
        for (const ompp_doc_table_t *p = c->first_path[c->same[t->steps[0].region]]; p;
             p = c->next_path[p - d->paths], npaths++)
            for (size_t i = 0; i < t->ncolumns; i++) {
                size_t k = 0;
                while (k < p->ncolumns &&
                       (p->columns[k].part == 'E' || strcmp(p->columns[k].title, t->columns[i].title) != 0))
                    k++;
                if (k == p->ncolumns) {
                    sum[i] = NAN;
                    continue;
                }
                sum[i] += ompp_decimal_value(&ompp_doc_sum(p)->values[k]);
                slack[i] += ompp_decimal_slack(&ompp_doc_sum(p)->values[k]);
            }
        if (npaths) check_flat(c, t, sum, slack);
    }
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static void link_paths(ompp_doc_check_t *c)
{
    const ompp_document_t *d = c->doc;

    for (size_t i = d->npaths; i-- > 0;) {
        uint32_t region = c->same[d->paths[i].steps[d->paths[i].nsteps - 1].region];
        c->next_path[i] = c->first_path[region];
        c->first_path[region] = &d->paths[i];
    }
}

static void check_all(ompp_doc_check_t *c)
{
    const ompp_document_t *d = c->doc;

    for (size_t i = 0; i < d->npaths; i++) {
        size_t nested = 0;
        for (size_t k = 0; k < d->paths[i].nsteps; k++)
            nested += ompp_construct_forks(d->regions[d->paths[i].steps[k].region].construct);
        c->nested |= nested > 1;
    }
    link_paths(c);
    check_overview(c);
    for (size_t i = 0; i < d->nflat; i++) check_table(c, &d->flat[i]);
    for (size_t i = 0; i < d->npaths; i++) check_table(c, &d->paths[i]);
    if (!c->folded) check_flats(c);
    ompp_doc_check_callgraph(c);
    ompp_doc_check_overheads(c);
}

/* A line of the sections that ompP does not have, behind some words; NULL = there is none. */
static const char *find_said(const ompp_document_t *document, const char *words)
{
    const char *found = NULL;

    for (size_t i = 0; i < document->nsections && !found; i++)
        for (size_t k = 0; k < document->sections[i].nlines && !found; k++)
            found = strstr(document->sections[i].lines[k], words);
    return found ? found + strlen(words) : NULL;
}

/* Coverage tells of ranks of the run that have no part in its report. */
static uint32_t ranks_elsewhere(const ompp_document_t *document)
{
    const char *at = find_said(document, "ranks of MPI_COMM_WORLD that are not measured"),
               *colon = at ? strchr(at, ':') : NULL;

    return colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

size_t ompp_document_check(const ompp_document_t *document, const char *name, FILE *out, size_t *nchecked)
{
    ompp_doc_check_t c = {.doc = document, .name = name, .out = out};
    c.folded = document->ours && find_said(document, OMPP_LAYOUT_FOLDED);
    size_t n = document->nregions + 1;

    c.flat_of = calloc(n, sizeof *c.flat_of);
    c.first_path = calloc(n, sizeof *c.first_path);
    c.next_path = calloc(document->npaths + 1, sizeof *c.next_path);
    c.nranks = 1;
    uint32_t last = 0;
    for (size_t i = 0; i < document->nflat; i++)
        for (size_t k = 0; k < document->flat[i].nrows; k++)
            if (document->flat[i].rows[k].kind == OMPP_ROW_OTHERS) last = last ? last : 1; /* there are more */
            else if (document->flat[i].rows[k].rank > last) last = document->flat[i].rows[k].rank;
    const char *procs = ompp_document_field(document, "MPI num procs");
    const uint32_t known = procs ? (uint32_t)strtoul(procs, NULL, 10) : 0, absent = ranks_elsewhere(document);
    if (last > 0) c.nranks = known > last ? known : last + 1;
    if (absent < c.nranks) c.nranks -= absent;
    if (find_same(&c) && c.flat_of && c.first_path && c.next_path) check_all(&c);
    else ompp_doc_object(&c, 1, "not checked: out of memory");
    if (c.nbad > OMPP_DOC_OBJECTIONS) fprintf(out, "%s: %zu objections more\n", name, c.nbad - OMPP_DOC_OBJECTIONS);
    free(c.same);
    free(c.flat_of);
    free(c.first_path);
    free(c.next_path);
    *nchecked = c.nchecked;
    return c.nbad;
}
