/**
 * \file
 * Columns of the tables from the phases of the profile, by the tables of model/ompp_tables.h alone.
 */
#include "analysis/ompp_values_priv.h"

#include "analysis/ompp_analysis.h"
#include "base/ompp_vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sums of a node and all below it, for the locations that have any: n items, ascending by location. */
typedef struct {
    uint64_t *items; /* each the location, then [width] sums; room for the next power of two */
    size_t n;
} below_t;

struct ompp_values {
    const ompp_profile_t *profile;
    ompp_paths_t paths;
    below_t *below; /* [nnodes] */
    size_t width;   /* ompp_nmpi_columns + ncounters */
    size_t ncounters, acounters;
    ompp_counter_t *counters;
};

/* columns, with which no structure gets one any more: tables stay readable with a thousand structures */
#define MOST_FOR_OBJECTS 32

/* ---- One block --------------------------------------------------------------------------------------------------- */

static const uint64_t *node_values(const ompp_profile_t *profile, uint32_t node, uint32_t location, uint32_t set)
{
    const ompp_block_t *block = ompp_profile_find_block(profile, node, location, set, 0);

    return block ? block->values : NULL;
}

uint64_t ompp_values_of_column(unsigned construct, const uint64_t *values, const ompp_column_row_t *column)
{
    uint64_t time;

    switch (column->source) {
    case OMPP_SOURCE_EXEC: return ompp_values_over_phases(construct, values, OMPP_SLOT_TIME);
    case OMPP_SOURCE_VISITS: return values[0];
    case OMPP_SOURCE_TIME: return ompp_values_of_phase(construct, values, column->arg, OMPP_SLOT_TIME);
    case OMPP_SOURCE_TIME_LESS:
        time = ompp_values_of_phase(construct, values, column->arg, OMPP_SLOT_TIME);
        return ompp_less(time, ompp_values_of_phase(construct, values, column->arg, OMPP_SLOT_TASK));
    case OMPP_SOURCE_COUNT: return ompp_values_of_phase(construct, values, column->arg, OMPP_SLOT_COUNT);
    case OMPP_SOURCE_TASKS:
        return ompp_values_of_phase(construct, values, OMPP_PHASE_EXITBAR, OMPP_SLOT_TASK) +
               ompp_values_of_phase(construct, values, OMPP_PHASE_EXEC, OMPP_SLOT_TASK);
    default: return 0;
    }
}

/* What children and tasks took of a column. */
static uint64_t taken_of_column(unsigned construct, const uint64_t *values, const ompp_column_row_t *column)
{
    switch (column->source) {
    case OMPP_SOURCE_EXEC:
        return ompp_values_over_phases(construct, values, OMPP_SLOT_CHILD) +
               ompp_values_over_phases(construct, values, OMPP_SLOT_TASK);
    case OMPP_SOURCE_TIME:
        return ompp_values_of_phase(construct, values, column->arg, OMPP_SLOT_CHILD) +
               ompp_values_of_phase(construct, values, column->arg, OMPP_SLOT_TASK);
    default: return 0;
    }
}

/* Time of the phases whose class is MPI: the node's own part of MPI_TIME. */
static uint64_t mpi_time(unsigned construct, const uint64_t *values)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < ompp_nrules; i++)
        if (ompp_rules[i].construct == construct && ompp_rules[i].class == OMPP_CLASS_MPI)
            sum += ompp_values_of_phase(construct, values, ompp_rules[i].phase, OMPP_SLOT_TIME);
    return sum;
}

/* A node's own part of a column that sums over the subtree, on the location of a block. */
static uint64_t own_part(unsigned construct, const ompp_block_t *block, const ompp_column_row_t *column)
{
    if (block->object != 0 || construct == OMPP_CONSTRUCT_NUM) return 0;
    if (column->source == OMPP_SOURCE_MPI_TIME && block->set == OMPP_SET_PHASES)
        return mpi_time(construct, block->values);
    if (column->source == OMPP_SOURCE_METRIC && block->set == OMPP_SET_MPI) return block->values[column->arg];
    return 0;
}

/* ---- Single values ----------------------------------------------------------------------------------------------- */

static bool sums_subtree(const ompp_column_row_t *column)
{
    return column->source == OMPP_SOURCE_MPI_TIME || column->source == OMPP_SOURCE_METRIC;
}

static bool is_below(const ompp_profile_t *profile, uint32_t node, uint32_t top)
{
    while (node > top) node = profile->nodes[node].parent; /* parents stand before their children */
    return node == top;
}

uint64_t ompp_analysis_value(const ompp_profile_t *profile, uint32_t node, uint32_t location, ompp_column_t column)
{
    const ompp_column_row_t *row = &ompp_columns[column];
    unsigned construct = ompp_values_construct(profile, node);
    uint64_t sum = 0;

    if (!sums_subtree(row)) {
        const uint64_t *values = node_values(profile, node, location, OMPP_SET_PHASES);
        return values && construct < OMPP_CONSTRUCT_NUM ? ompp_values_of_column(construct, values, row) : 0;
    }
    for (uint32_t n = node; n < profile->nnodes; n++) {
        if (!is_below(profile, n, node)) continue;
        for (uint32_t b = 0; b < profile->nodes[n].nblocks; b++)
            if (profile->nodes[n].blocks[b].location == location)
                sum += own_part(ompp_values_construct(profile, n), &profile->nodes[n].blocks[b], row);
    }
    return sum;
}

/* ---- Columns of registered metrics ------------------------------------------------------------------------------- */

static uint32_t find_waits(const ompp_profile_t *p, const ompp_metric_t *column)
{
    for (size_t i = 0; i < p->nmetrics; i++) {
        const ompp_metric_t *m = &p->metrics[i];
        if (m->use == OMPP_USE_WAITS && m->set == column->set && m->name == column->name) return m->index;
    }
    return OMPP_NONE;
}

static int by_set(const void *a, const void *b)
{
    const ompp_counter_t *x = a, *y = b;

    if (x->set != y->set) return x->set < y->set ? -1 : 1;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* "loads(a)": one word, whatever the user has named the structure. */
static char *name_of(const ompp_profile_t *p, const ompp_metric_t *m, uint32_t object)
{
    const char *metric = ompp_profile_text(p, m->name),
               *of = object ? ompp_profile_text(p, p->objects[object - 1].name) : "";
    size_t size = strlen(metric) + strlen(of) + 3;
    char *name = malloc(size);

    if (!name) return NULL;
    snprintf(name, size, object ? "%s(%s)" : "%s", metric, of);
    for (char *c = name; object && *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == ',') *c = '_';
    return name;
}

static bool add_counter(ompp_values_t *values, const ompp_metric_t *m, uint32_t object)
{
    char *name = name_of(values->profile, m, object);
    ompp_counter_t *counter =
        name ? ompp_vector_push(&values->counters, &values->ncounters, &values->acounters, sizeof *counter) : NULL;

    if (!counter) {
        free(name);
        return false;
    }
    *counter = (ompp_counter_t){
        name, m->unit, m->quality, m->set, m->index, object ? OMPP_NONE : find_waits(values->profile, m), object};
    return true;
}

static bool find_counters(ompp_values_t *values)
{
    const ompp_profile_t *p = values->profile;
    ompp_table_t has = {0};
    bool ok = ompp_profile_find_objects(p, &has);

    for (size_t i = 0; i < p->nmetrics; i++) {
        const ompp_metric_t *m = &p->metrics[i];
        if (m->use == OMPP_USE_COLUMN) ok &= add_counter(values, m, 0);
    }
    /* Structure by structure, so that the first ones have all their columns when there is not room for all. */
    for (uint32_t object = 1; object <= p->nobjects && values->ncounters < MOST_FOR_OBJECTS; object++)
        for (size_t i = 0;
             i < p->nmetrics && values->ncounters < MOST_FOR_OBJECTS && !ompp_object_is_all(p, &p->objects[object - 1]);
             i++) {
            const ompp_metric_t *m = &p->metrics[i];
            if (m->use == OMPP_USE_OBJECTS ||
                (m->use == OMPP_USE_SELECTED && ompp_table_get(&has, ompp_hash_pair(m->set, object))))
                ok &= add_counter(values, m, object);
        }
    ompp_table_fini(&has);
    if (values->ncounters) qsort(values->counters, values->ncounters, sizeof values->counters[0], by_set);
    return ok;
}

const ompp_counter_t *ompp_values_counters(const ompp_values_t *values, size_t *n)
{
    *n = values->ncounters;
    return values->counters;
}

static bool is_of(const ompp_block_t *block, const ompp_counter_t *counter)
{
    return block->set == counter->set && block->object == counter->object;
}

/* What a block has of a counter while the thread worked, and while it waited. */
static uint64_t working(const ompp_block_t *block, const ompp_counter_t *counter)
{
    return is_of(block, counter) && counter->index < block->nvalues ? block->values[counter->index] : 0;
}

static uint64_t waiting(const ompp_block_t *block, const ompp_counter_t *counter)
{
    return is_of(block, counter) && counter->waits < block->nvalues ? block->values[counter->waits] : 0;
}

/* ---- Sums over subtrees ------------------------------------------------------------------------------------------ */

/* The sums of a node on a location, made on first use; NULL when out of memory. */
static uint64_t *below_at(const ompp_values_t *values, below_t *below, uint64_t location)
{
    const size_t size = 1 + values->width;
    size_t low = 0, high = below->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (below->items[middle * size] < location) low = middle + 1;
        else high = middle;
    }
    uint64_t *item = below->items + low * size;
    if (low < below->n && *item == location) return item + 1;
    if ((below->n & (below->n - 1)) == 0) {
        uint64_t *more = reallocarray(below->items, below->n ? 2 * below->n : 1, size * sizeof *more);
        if (!more) return NULL;
        below->items = more;
        item = more + low * size;
    }
    memmove(item + size, item, (below->n++ - low) * size * sizeof *item);
    memset(item, 0, size * sizeof *item);
    *item = location;
    return item + 1;
}

/* A node's own part of column c of the sums: the MPI columns, then the counters. */
static uint64_t part_of(const ompp_values_t *values, unsigned construct, const ompp_block_t *block, size_t c)
{
    if (c < ompp_nmpi_columns) return own_part(construct, block, &ompp_columns[ompp_mpi_columns[c]]);
    const ompp_counter_t *counter = &values->counters[c - ompp_nmpi_columns];
    return working(block, counter) + waiting(block, counter);
}

static bool add_own_parts(ompp_values_t *values, uint32_t node)
{
    const ompp_node_t *n = &values->profile->nodes[node];
    unsigned construct = ompp_values_construct(values->profile, node);

    for (uint32_t b = 0; b < n->nblocks; b++) {
        for (size_t c = 0; c < values->width; c++) {
            uint64_t part = part_of(values, construct, &n->blocks[b], c);
            if (!part) continue;
            uint64_t *sums = below_at(values, &values->below[node], n->blocks[b].location);
            if (!sums) return false;
            sums[c] += part;
        }
    }
    return true;
}

static bool add_to_parent(ompp_values_t *values, uint32_t node)
{
    const below_t *from = &values->below[node];

    for (size_t i = 0; node != 0 && i < from->n; i++) {
        const uint64_t *item = from->items + i * (1 + values->width);
        uint64_t *sums = below_at(values, &values->below[values->profile->nodes[node].parent], *item);
        if (!sums) return false;
        for (size_t c = 0; c < values->width; c++) sums[c] += item[1 + c];
    }
    return true;
}

ompp_values_t *ompp_values_new(const ompp_profile_t *profile)
{
    ompp_values_t *values = calloc(1, sizeof *values);

    if (!values) return NULL;
    values->profile = profile;
    bool named = find_counters(values);
    values->width = ompp_nmpi_columns + values->ncounters;
    values->below = calloc(profile->nnodes, sizeof *values->below);
    if (!values->below || !named || !ompp_paths_init(&values->paths, profile)) {
        ompp_values_free(values);
        return NULL;
    }
    for (size_t n = profile->nnodes; n-- > 0;) { /* children before parents */
        if (add_own_parts(values, n) && add_to_parent(values, n)) continue;
        ompp_values_free(values);
        return NULL;
    }
    return values;
}

void ompp_values_free(ompp_values_t *values)
{
    if (!values) return;
    for (size_t n = 0; values->below && n < values->profile->nnodes; n++) free(values->below[n].items);
    for (size_t c = 0; c < values->ncounters; c++) free((char *)values->counters[c].name);
    free(values->counters);
    free(values->below);
    ompp_paths_fini(&values->paths);
    free(values);
}

const ompp_paths_t *ompp_values_paths(const ompp_values_t *values) { return &values->paths; }

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void add_phases(unsigned construct, const uint64_t *values, ompp_row_t *row)
{
    const ompp_construct_row_t *c = &ompp_constructs[construct];

    for (unsigned i = 0; i < c->ncolumns; i++) {
        unsigned id = c->columns[i] & ~OMPP_COLUMN_SPLIT;
        uint64_t value = ompp_values_of_column(construct, values, &ompp_columns[id]);
        row->value[id] += value;
        if (c->columns[i] & OMPP_COLUMN_SPLIT)
            row->exclusive += ompp_less(value, taken_of_column(construct, values, &ompp_columns[id]));
    }
    row->below_ns += ompp_values_over_phases(construct, values, OMPP_SLOT_CHILD) +
                     ompp_values_over_phases(construct, values, OMPP_SLOT_TASK);
}

/* Inclusive values have the node's own waiting, which its row does not; exclusive ones are of its work alone. */
static void add_counters(const ompp_values_t *values, const ompp_block_t *block, ompp_row_t *row)
{
    for (size_t c = 0; c < values->ncounters; c++) {
        row->counter[c] -= waiting(block, &values->counters[c]);
        row->counter_exclusive[c] += working(block, &values->counters[c]);
    }
}

/* each: rows of locations; else there is one for all of them. */
static void add(const ompp_values_t *values, uint32_t node, ompp_row_t *rows, bool each)
{
    const ompp_node_t *n = &values->profile->nodes[node];
    const below_t *below = &values->below[node];
    unsigned construct = ompp_values_construct(values->profile, node);

    for (uint32_t b = 0; b < n->nblocks && construct < OMPP_CONSTRUCT_NUM; b++)
        if (n->blocks[b].set == OMPP_SET_PHASES && n->blocks[b].object == 0)
            add_phases(construct, n->blocks[b].values, &rows[each ? n->blocks[b].location : 0]);
    for (size_t i = 0; i < below->n; i++) {
        const uint64_t *item = below->items + i * (1 + values->width), *sums = item + 1;
        ompp_row_t *row = &rows[each ? *item : 0];
        for (size_t c = 0; c < ompp_nmpi_columns; c++) row->value[ompp_mpi_columns[c]] += sums[c];
        for (size_t c = 0; c < values->ncounters; c++) row->counter[c] += sums[ompp_nmpi_columns + c];
    }
    for (uint32_t b = 0; b < n->nblocks; b++)
        add_counters(values, &n->blocks[b], &rows[each ? n->blocks[b].location : 0]);
}

void ompp_values_add(const ompp_values_t *values, uint32_t node, ompp_row_t *rows) { add(values, node, rows, true); }

void ompp_values_sum(const ompp_values_t *values, uint32_t node, ompp_row_t *row) { add(values, node, row, false); }

ompp_row_t *ompp_rows_new(const ompp_values_t *values, size_t n)
{
    const size_t counters = 2 * values->ncounters;
    ompp_row_t *rows = calloc(n + 1, sizeof *rows + counters * sizeof(uint64_t));
    uint64_t *room = (uint64_t *)(rows + n);

    for (size_t i = 0; rows && i < n; i++, room += counters) {
        rows[i].counter = room;
        rows[i].counter_exclusive = room + values->ncounters;
    }
    return rows;
}

void ompp_rows_clear(const ompp_values_t *values, ompp_row_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ompp_row_t *row = &rows[i];
        *row = (ompp_row_t){.counter = row->counter, .counter_exclusive = row->counter_exclusive};
        memset(row->counter, 0, 2 * values->ncounters * sizeof *row->counter);
    }
}

void ompp_row_add(const ompp_values_t *values, ompp_row_t *into, const ompp_row_t *from)
{
    for (unsigned c = 0; c < OMPP_COLUMN_NUM; c++) into->value[c] += from->value[c];
    for (unsigned c = 0; c < values->ncounters; c++) {
        into->counter[c] += from->counter[c];
        into->counter_exclusive[c] += from->counter_exclusive[c];
    }
    into->exclusive += from->exclusive;
    into->below_ns += from->below_ns;
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

uint64_t ompp_analysis_nranks(const ompp_profile_t *profile)
{
    uint64_t n = profile->nranks_kept + (uint64_t)profile->nrest;

    return n ? n : 1;
}

size_t ompp_analysis_rank_index(const ompp_profile_t *p, uint32_t rank)
{
    size_t low = 0, high = p->nranks_kept;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (p->ranks[middle].rank < rank) low = middle + 1;
        else high = middle;
    }
    return low < p->nranks_kept && p->ranks[low].rank == rank ? low : p->nranks_kept;
}

uint64_t ompp_analysis_duration(const ompp_profile_t *profile)
{
    uint64_t longest = profile->nrest ? profile->rest_duration_max_ns : 0;

    for (size_t r = 0; r < profile->nranks_kept; r++)
        if (profile->ranks[r].duration_ns > longest) longest = profile->ranks[r].duration_ns;
    return longest;
}

uint32_t ompp_analysis_max_threads(const ompp_profile_t *profile)
{
    uint32_t most = 1;

    for (size_t r = 0; r < profile->nranks_kept; r++)
        if (profile->ranks[r].nthreads > most) most = profile->ranks[r].nthreads;
    return most;
}

uint64_t ompp_analysis_divisor(const ompp_profile_t *profile, const ompp_paths_t *paths, uint32_t node)
{
    const uint64_t slots = profile->nslots ? profile->nslots : 1;
    return paths->slots[node] & OMPP_PATHS_SLOTS ? slots : ompp_analysis_nranks(profile);
}

uint32_t ompp_analysis_find_set(const ompp_profile_t *p, const ompp_metric_row_t *rows, unsigned n)
{
    for (size_t first = 0; first < p->nmetrics; first++) {
        unsigned same = 0;
        for (size_t i = 0; i < p->nmetrics; i++) {
            const ompp_metric_t *m = &p->metrics[i];
            if (m->set == p->metrics[first].set && m->index < n &&
                strcmp(ompp_profile_text(p, m->name), rows[m->index].name) == 0)
                same++;
        }
        if (same == n) return p->metrics[first].set;
    }
    return 0;
}
