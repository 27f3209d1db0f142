/**
 * \file
 * Regions, call paths with their values, and rows per region and thread, as lists of the page.
 */
#include "report/ompp_html_priv.h"

#include "base/ompp_path.h"

#include <inttypes.h>
#include <stdlib.h>

#define MOST_VALUES 1500000u /* of single threads: the page stays below 20 MB */

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

static void put_files(ompp_html_t *h, const ompp_profile_t *p, uint32_t *index)
{
    uint32_t n = 0;

    ompp_json_open(&h->json, "files", '[');
    for (uint32_t r = 0; r < p->nregions; r++) {
        const ompp_str_t file = p->regions[r].file;
        if (!file || file >= p->nstrings || index[file]) continue;
        index[file] = ++n;
        ompp_json_string(&h->json, NULL, ompp_profile_text(p, file));
    }
    ompp_json_close(&h->json, ']');
    ompp_json_open(&h->json, "file", '['); /* 1-based; 0 = not known */
    for (uint32_t r = 0; r < p->nregions; r++)
        ompp_json_number(&h->json, NULL, p->regions[r].file < p->nstrings ? index[p->regions[r].file] : 0);
    ompp_json_close(&h->json, ']');
}

/* What a number of a region is, for a list of all. */
typedef uint64_t region_value_fn(const ompp_region_t *region);
static uint64_t number_of(const ompp_region_t *r) { return r->number == OMPP_NONE ? 0 : r->number; }
static uint64_t construct_of(const ompp_region_t *r) { return r->construct; }
static uint64_t begin_of(const ompp_region_t *r) { return r->begin; }
static uint64_t end_of(const ompp_region_t *r) { return r->end; }

static void put_region_numbers(ompp_html_t *h, const ompp_profile_t *p)
{
    static const struct {
        const char *key;
        region_value_fn *value;
    } lists[] = {{"number", number_of}, {"construct", construct_of}, {"begin", begin_of}, {"end", end_of}};

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        ompp_json_open(&h->json, lists[i].key, '[');
        for (uint32_t r = 0; r < p->nregions; r++) ompp_json_number(&h->json, NULL, lists[i].value(&p->regions[r]));
        ompp_json_close(&h->json, ']');
    }
}

/* What a function is called where there is no name: its address. */
static const char *name_of(const ompp_profile_t *p, const ompp_region_t *r, char *room, size_t size)
{
    const char *name = ompp_profile_text(p, r->name);

    if (*name || !ompp_construct_is_path(r->construct)) return name;
    name = ompp_profile_text(p, r->function);
    if (*name || !r->addr) return name;
    snprintf(room, size, "0x%" PRIx64, r->addr);
    return room;
}

void ompp_html_regions(ompp_html_t *h, const ompp_profile_t *p, const ompp_text_t *t)
{
    uint32_t *index = calloc(p->nstrings + 1, sizeof *index);
    char room[32];

    if (!index) {
        h->failed = true;
        return;
    }
    ompp_json_open(&h->json, "constructs", '[');
    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++) {
        ompp_json_open(&h->json, NULL, '[');
        ompp_json_string(&h->json, NULL, ompp_constructs[c].full);
        ompp_json_string(&h->json, NULL, ompp_constructs[c].brief);
        ompp_json_number(&h->json, NULL, ompp_construct_is_path(c));
        ompp_json_close(&h->json, ']');
    }
    ompp_json_close(&h->json, ']');
    ompp_json_open(&h->json, "regions", '{');
    put_region_numbers(h, p);
    put_files(h, p, index);
    ompp_json_open(&h->json, "name", '[');
    for (uint32_t r = 0; r < p->nregions; r++)
        ompp_json_string(&h->json, NULL, name_of(p, &p->regions[r], room, sizeof room));
    ompp_json_close(&h->json, ']');
    ompp_json_open(&h->json, "place", '['); /* as the text report has it; "" = not executed */
    for (uint32_t r = 0; r < p->nregions; r++) ompp_json_string(&h->json, NULL, t->places[r] ? t->places[r] : "");
    ompp_json_close(&h->json, ']');
    ompp_json_open(&h->json, "module", '[');
    for (uint32_t r = 0; r < p->nregions; r++) {
        const uint32_t module = p->regions[r].module;
        ompp_json_string(&h->json, NULL,
                         p->regions[r].file || module >= p->nmodules
                             ? ""
                             : ompp_path_last(ompp_profile_text(p, p->modules[module].path)));
    }
    ompp_json_close(&h->json, ']');
    ompp_json_close(&h->json, '}');
    free(index);
}

/* ---- Call paths -------------------------------------------------------------------------------------------------- */

/* What nodes lose: by the loss budget, or by class where that has not all ranks. */
enum { KINDS = (int)OMPP_LOST_NUM > (int)OMPP_CLASS_NUM ? (int)OMPP_LOST_NUM : (int)OMPP_CLASS_NUM };

typedef struct {
    const ompp_text_t *t;
    uint64_t (*lost)[KINDS]; /* [nnodes] owned; of node 0 what is lost outside of regions */
    bool is_budget;
} paths_t;

/* A value of a node, for a list of all in the order of the report. */
typedef uint64_t node_value_fn(const paths_t *paths, uint32_t node, unsigned what);

static uint64_t exec_of(const paths_t *p, uint32_t node, unsigned what)
{
    (void)what;
    return p->t->totals[node].value[OMPP_COLUMN_EXEC_T];
}

static uint64_t own_of(const paths_t *p, uint32_t node, unsigned what)
{
    (void)what;
    return ompp_less(p->t->totals[node].value[OMPP_COLUMN_EXEC_T], p->t->totals[node].below_ns);
}

static uint64_t divisor_of(const paths_t *p, uint32_t node, unsigned what)
{
    (void)what;
    return ompp_analysis_divisor(p->t->profile, p->t->paths, node);
}

static uint64_t column_of(const paths_t *p, uint32_t node, unsigned what) { return p->t->totals[node].value[what]; }
static uint64_t counter_of(const paths_t *p, uint32_t node, unsigned what) { return p->t->totals[node].counter[what]; }

static uint64_t counter_own_of(const paths_t *p, uint32_t node, unsigned what)
{
    return p->t->totals[node].counter_exclusive[what];
}

static uint64_t lost_of(const paths_t *p, uint32_t node, unsigned what) { return p->lost[node][what]; }

static void put_nodes(ompp_html_t *h, const char *key, const paths_t *p, node_value_fn *value, unsigned what,
                      uint64_t root)
{
    ompp_json_open(&h->json, key, '[');
    ompp_json_number(&h->json, NULL, root);
    for (size_t i = 0; i < p->t->nordered; i++) ompp_json_number(&h->json, NULL, value(p, p->t->nodes[i], what));
    ompp_json_close(&h->json, ']');
}

static bool is_all_zero(const paths_t *p, node_value_fn *value, unsigned what)
{
    for (size_t i = 0; i < p->t->nordered; i++)
        if (value(p, p->t->nodes[i], what)) return false;
    return true;
}

static void open_metric(ompp_html_t *h, const char *title, const char *meaning, unsigned unit)
{
    static const char *const units[OMPP_UNIT_NUM] = {
        [OMPP_UNIT_NS] = "ns", [OMPP_UNIT_COUNT] = "count", [OMPP_UNIT_BYTES] = "bytes"};

    ompp_json_open(&h->json, NULL, '{');
    ompp_json_string(&h->json, "title", title);
    ompp_json_string(&h->json, "meaning", meaning);
    ompp_json_string(&h->json, "unit", units[unit]);
}

/* all: everything below counts, too; own: of the node alone. A list that is missing follows from the other one. */
static void put_metrics(ompp_html_t *h, const paths_t *p)
{
    const ompp_text_t *t = p->t;

    ompp_json_open(&h->json, "metrics", '[');
    open_metric(h, "time", "time of all threads together", OMPP_UNIT_NS);
    put_nodes(h, "all", p, exec_of, 0, t->duration_ns * t->nslots);
    put_nodes(h, "own", p, own_of, 0, 0);
    ompp_json_close(&h->json, '}');
    open_metric(h, "executions", ompp_columns[OMPP_COLUMN_EXEC_C].meaning, OMPP_UNIT_COUNT);
    put_nodes(h, "own", p, column_of, OMPP_COLUMN_EXEC_C, 0);
    ompp_json_close(&h->json, '}');
    for (unsigned k = 0; k < (p->is_budget ? (unsigned)OMPP_LOST_NUM : (unsigned)OMPP_CLASS_NUM); k++) {
        const ompp_lost_row_t *row = &ompp_lost_rows[k];
        if (!p->lost[0][k] && is_all_zero(p, lost_of, k)) continue;
        if (p->is_budget)
            open_metric(h, row->text, row->level == OMPP_LEVEL_MPI ? "lost between ranks" : "lost between threads",
                        OMPP_UNIT_NS);
        else open_metric(h, ompp_classes[k].title, ompp_classes[k].meaning, OMPP_UNIT_NS);
        ompp_json_string(&h->json, "loss", p->is_budget ? row->name : ompp_classes[k].title);
        put_nodes(h, "own", p, lost_of, k, p->lost[0][k]);
        ompp_json_close(&h->json, '}');
    }
    for (size_t i = 0; t->profile->mpi && i < ompp_nmpi_columns; i++) {
        const unsigned c = ompp_mpi_columns[i];
        if (is_all_zero(p, column_of, c)) continue;
        open_metric(h, ompp_columns[c].title, ompp_columns[c].meaning, ompp_columns[c].unit);
        put_nodes(h, "all", p, column_of, c, t->totals[0].value[c]);
        ompp_json_close(&h->json, '}');
    }
    for (unsigned c = 0; c < t->ncounters; c++) {
        if (is_all_zero(p, counter_of, c)) continue;
        open_metric(h, t->counters[c].name, "", t->counters[c].unit);
        put_nodes(h, "all", p, counter_of, c, t->totals[0].counter[c]);
        put_nodes(h, "own", p, counter_own_of, c, t->totals[0].counter_exclusive[c]);
        ompp_json_close(&h->json, '}');
    }
    ompp_json_close(&h->json, ']');
}

static void add_losses(paths_t *paths, const ompp_loss_t *losses, size_t n)
{
    const ompp_profile_t *p = paths->t->profile;

    for (size_t i = 0; paths->is_budget && i < n; i++)
        paths->lost[losses[i].node == OMPP_NONE ? 0 : losses[i].node][losses[i].lost] += losses[i].lost_ns;
    for (uint32_t k = 1; !paths->is_budget && k < p->nnodes; k++) ompp_analysis_classes(p, k, paths->lost[k]);
}

bool ompp_html_paths(ompp_html_t *h, const ompp_text_t *t, const ompp_loss_t *losses, size_t nlosses)
{
    const ompp_profile_t *p = t->profile;
    uint32_t *place = calloc(p->nnodes, sizeof *place);
    paths_t paths = {t, calloc(p->nnodes, sizeof *paths.lost), nlosses && !p->nrest};

    if (!place || !paths.lost) {
        free(place);
        free(paths.lost);
        return false;
    }
    add_losses(&paths, losses, nlosses);
    for (size_t i = 0; i < t->nordered; i++) place[t->nodes[i]] = (uint32_t)i + 1;
    ompp_json_open(&h->json, "tree", '{');
    ompp_json_open(&h->json, "parent", '['); /* node 0 is the program; parents stand before their children */
    ompp_json_number(&h->json, NULL, 0);
    for (size_t i = 0; i < t->nordered; i++) ompp_json_number(&h->json, NULL, place[p->nodes[t->nodes[i]].parent]);
    ompp_json_close(&h->json, ']');
    ompp_json_open(&h->json, "region", '['); /* 1-based; 0 = the program */
    ompp_json_number(&h->json, NULL, 0);
    for (size_t i = 0; i < t->nordered; i++) ompp_json_number(&h->json, NULL, p->nodes[t->nodes[i]].region + 1);
    ompp_json_close(&h->json, ']');
    put_nodes(h, "divisor", &paths, divisor_of, 0, t->nslots);
    put_metrics(h, &paths);
    ompp_json_close(&h->json, '}');
    free(paths.lost);
    free(place);
    return true;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t exec;
    uint32_t region;
} weight_t;

static int heaviest_first(const void *a, const void *b)
{
    const weight_t *x = a, *y = b;

    if (x->exec != y->exec) return x->exec < y->exec ? 1 : -1;
    return x->region < y->region ? -1 : x->region > y->region;
}

static void put_value(ompp_html_t *h, const ompp_text_t *t, const ompp_text_column_t *column, const ompp_row_t *row)
{
    if (column->kind == OMPP_TEXT_EVALUATOR)
        ompp_json_real(&h->json, NULL, ompp_eval_value(t->evaluators[column->id].eval, row));
    else ompp_json_number(&h->json, NULL, ompp_text_value(column, row));
}

static const char *title_of(const ompp_text_t *t, const ompp_text_column_t *column)
{
    if (column->kind == OMPP_TEXT_EVALUATOR) return t->evaluators[column->id].title;
    return column->kind == OMPP_TEXT_COUNTER ? t->counters[column->id].name : ompp_columns[column->id].title;
}

static unsigned unit_of(const ompp_text_t *t, const ompp_text_column_t *column)
{
    if (column->kind == OMPP_TEXT_EVALUATOR) return OMPP_UNIT_COUNT;
    return column->kind == OMPP_TEXT_COUNTER ? t->counters[column->id].unit : ompp_columns[column->id].unit;
}

/* The columns of a region's table: sums of all threads, and of each one where there is room. t->rows, t->sums[0]. */
static size_t put_columns(ompp_html_t *h, const ompp_text_t *t, uint32_t region, bool each)
{
    static const char *const units[OMPP_UNIT_NUM] = {
        [OMPP_UNIT_NS] = "ns", [OMPP_UNIT_COUNT] = "count", [OMPP_UNIT_BYTES] = "bytes"};
    const size_t n = ompp_text_columns(t, t->profile->regions[region].construct, false);
    size_t values = 0;

    ompp_json_open(&h->json, NULL, '{');
    ompp_json_number(&h->json, "region", region);
    ompp_json_open(&h->json, "columns", '[');
    for (size_t c = 0; c < n; c++) {
        const ompp_text_column_t *column = &t->columns[c];
        ompp_json_open(&h->json, NULL, '{');
        ompp_json_string(&h->json, "title", title_of(t, column));
        ompp_json_string(&h->json, "unit", units[unit_of(t, column)]);
        ompp_json_open(&h->json, "sum", '[');
        put_value(h, t, column, &t->sums[0]);
        ompp_json_close(&h->json, ']');
        if (each) ompp_json_open(&h->json, "rows", '[');
        for (size_t i = 0; each && i < t->profile->nlocations; i++) {
            const ompp_row_t *row = &t->rows[t->order[i]];
            put_value(h, t, column, row);
            values += column->kind == OMPP_TEXT_EVALUATOR || ompp_text_value(column, row) != 0;
        }
        if (each) ompp_json_close(&h->json, ']');
        ompp_json_close(&h->json, '}');
    }
    ompp_json_close(&h->json, ']');
    ompp_json_close(&h->json, '}');
    return values;
}

static void put_meanings(ompp_html_t *h)
{
    ompp_json_open(&h->json, "meanings", '{'); /* of columns, by title */
    for (unsigned c = 0; c < OMPP_COLUMN_NUM; c++)
        ompp_json_string(&h->json, ompp_columns[c].title, ompp_columns[c].meaning);
    ompp_json_close(&h->json, '}');
}

static void put_locations(ompp_html_t *h, const ompp_text_t *t)
{
    static const char *const kinds[] = {[OMPP_THREAD_INITIAL] = "initial",
                                        [OMPP_THREAD_TEAM] = "team",
                                        [OMPP_THREAD_NESTED] = "nested",
                                        [OMPP_THREAD_OTHER] = "own"};

    ompp_json_open(&h->json, "locations", '['); /* rank (-1: the rest), thread, kind */
    for (size_t i = 0; i < t->profile->nlocations; i++) {
        const ompp_location_t *l = &t->profile->locations[t->order[i]];
        ompp_json_open(&h->json, NULL, '[');
        if (l->rank == OMPP_NONE) ompp_json_real(&h->json, NULL, -1);
        else ompp_json_number(&h->json, NULL, l->rank);
        ompp_json_number(&h->json, NULL, l->tid);
        ompp_json_string(&h->json, NULL, l->kind <= OMPP_THREAD_OTHER ? kinds[l->kind] : "");
        ompp_json_close(&h->json, ']');
    }
    ompp_json_close(&h->json, ']');
}

static void sum_region(ompp_text_t *t, uint32_t region)
{
    ompp_rows_clear(t->values, t->sums, 1);
    for (const uint32_t *n = ompp_paths_begin(t->paths, region); n < ompp_paths_end(t->paths, region); n++)
        ompp_row_add(t->values, &t->sums[0], &t->totals[*n]);
}

bool ompp_html_rows(ompp_html_t *h, ompp_text_t *t)
{
    weight_t *weights = calloc(t->nexecuted + 1, sizeof *weights);
    size_t values = 0;

    if (!weights) return false;
    for (size_t i = 0; i < t->nexecuted; i++) {
        sum_region(t, t->regions[i]);
        weights[i] = (weight_t){t->sums[0].value[OMPP_COLUMN_EXEC_T], t->regions[i]};
    }
    qsort(weights, t->nexecuted, sizeof *weights, heaviest_first);
    put_locations(h, t);
    put_meanings(h);
    ompp_json_open(&h->json, "tables", '[');
    for (size_t i = 0; i < t->nexecuted && !h->failed; i++) {
        const bool each = values < MOST_VALUES;
        sum_region(t, weights[i].region);
        if (each) ompp_text_gather_region(t, weights[i].region);
        values += put_columns(h, t, weights[i].region, each);
    }
    ompp_json_close(&h->json, ']');
    free(weights);
    return true;
}
