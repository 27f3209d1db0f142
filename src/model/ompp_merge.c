#include "model/ompp_merge.h"

#include "base/ompp_error.h"
#include "base/ompp_table.h"
#include "model/ompp_combine_priv.h"
#include "model/ompp_record.h"

#include <stdlib.h>
#include <string.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* One merge under way. The arrays say, for each index in from, which index it has afterwards. */
typedef struct {
    ompp_profile_t *into;
    const ompp_profile_t *from;
    bool from_leads; /* from has the lower rank: what one rank says for all is taken from it */
    uint32_t *strings, *modules, *regions, *nodes, *locations;
    uint32_t *objects; /* numbers of objects, from 1; [0] = 0 */
    struct {
        uint32_t from, into;
    } * sets; /* ascending by from, [nsets] */
    size_t nsets;
    ompp_metric_list_t metrics; /* of into, after its sets are complete */
} merge_t;

/* A metric set: its definitions, borrowed. */
typedef struct {
    const ompp_metric_t *metrics;
    size_t n;
} set_t;

static uint32_t *new_map(size_t n) { return calloc(n ? n : 1, sizeof(uint32_t)); }

static uint32_t mapped(const uint32_t *map, uint32_t index) { return index == OMPP_NONE ? OMPP_NONE : map[index]; }

/* What a record of from names, by the indices that it has in into. */
static void translate(const merge_t *m, const ompp_record_t *record, void *data)
{
    for (const ompp_field_t *f = record->fields; f->type; f++) {
        const uint32_t index = (uint32_t)ompp_field_get(f, data);
        if (f->type == OMPP_FIELD_TEXT) ompp_field_set(f, data, m->strings[index]);
        if (f->of == &ompp_record_module) ompp_field_set(f, data, mapped(m->modules, index));
    }
}

/* The lowest rank that went into the profile, also into its rest; OMPP_NONE when there is none. */
static uint32_t lowest_rank(const ompp_profile_t *profile)
{
    return profile->nranks_kept ? MIN(profile->ranks[0].rank, profile->rest_first_rank) : profile->rest_first_rank;
}

static int merge_strings(merge_t *m)
{
    m->strings = new_map(m->from->nstrings);
    if (!m->strings) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < m->from->nstrings; i++) m->strings[i] = ompp_profile_string(m->into, m->from->strings[i]);
    return m->into->failed ? -OMPP_E_NOMEM : 0;
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

/* Tables have the index + 1 of elements; of equal ones the first is found. There is room for it. */
static void keep_first(ompp_table_t *table, uint64_t key, size_t index)
{
    if (!ompp_table_get(table, key)) ompp_table_set(table, key, index + 1);
}

static uint64_t module_key(const ompp_module_t *module)
{
    return ompp_hash_pair(module->id, module->id ? 0 : module->path);
}

static int merge_modules(merge_t *m)
{
    ompp_profile_t *into = m->into;
    ompp_table_t table = {0};

    m->modules = new_map(m->from->nmodules);
    if (!m->modules || !ompp_table_reserve(&table, into->nmodules + m->from->nmodules)) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < into->nmodules; i++) keep_first(&table, module_key(&into->modules[i]), i);
    for (size_t i = 0; i < m->from->nmodules && !into->failed; i++) {
        ompp_module_t module = m->from->modules[i];
        translate(m, &ompp_record_module, &module);
        const uint64_t key = module_key(&module), found = ompp_table_get(&table, key);
        m->modules[i] = found ? (uint32_t)found - 1 : ompp_profile_add_module(into, &module);
        if (!found) ompp_table_set(&table, key, m->modules[i] + 1u);
        else if (m->from_leads) into->modules[found - 1] = module;
    }
    ompp_table_fini(&table);
    return into->failed ? -OMPP_E_NOMEM : 0;
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

static bool region_equal(const void *regions, uint64_t value, const void *wanted)
{
    const ompp_region_t *a = (const ompp_region_t *)regions + value - 1, *b = wanted;

    if (a->construct != b->construct || a->name != b->name || a->key != b->key) return false;
    if (a->key) return true; /* a lock on the heap: its address differs from rank to rank */
    if (a->begin == 0 && b->begin == 0) return a->module == b->module && a->addr == b->addr;
    return a->begin == b->begin && a->end == b->end && a->file == b->file;
}

static uint64_t region_hash(const ompp_region_t *region)
{
    uint64_t h = ompp_hash_join(ompp_hash_pair(region->construct, region->name), region->key);

    if (region->key) return h;
    if (region->begin == 0) return ompp_hash_join(ompp_hash_join(h, region->module), region->addr);
    return ompp_hash_join(ompp_hash_join(h, region->file), ompp_hash_pair(region->begin, region->end));
}

/* What the two know of the same region. Counted means that nobody timed it. */
static void join_region(ompp_region_t *into, const ompp_region_t *from)
{
    into->flags = (into->flags & from->flags & OMPP_REGION_F_COUNTED) | (into->flags & ~OMPP_REGION_F_COUNTED);
    if (!into->file) into->file = from->file;
    if (!into->function) into->function = from->function;
    if (!into->addr_end) into->addr_end = from->addr_end;
    if (into->iterations < from->iterations) into->iterations = from->iterations;
    if (into->module == OMPP_NONE && from->module != OMPP_NONE) {
        into->module = from->module;
        into->addr = from->addr;
    }
}

static int merge_regions(merge_t *m)
{
    ompp_profile_t *into = m->into;
    ompp_table_t table = {0};

    m->regions = new_map(m->from->nregions);
    if (!m->regions || !ompp_table_reserve(&table, into->nregions + m->from->nregions)) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < into->nregions; i++) {
        uint64_t key = region_hash(&into->regions[i]);
        into->regions[i].number = OMPP_NONE;
        if (!ompp_table_search(&table, &key, region_equal, into->regions, &into->regions[i]))
            ompp_table_set(&table, key, i + 1);
    }
    for (size_t i = 0; i < m->from->nregions && !into->failed; i++) {
        ompp_region_t region = m->from->regions[i];
        translate(m, &ompp_record_region, &region);
        region.number = OMPP_NONE;
        uint64_t key = region_hash(&region),
                 found = ompp_table_search(&table, &key, region_equal, into->regions, &region);
        m->regions[i] = found ? (uint32_t)found - 1 : ompp_profile_add_region(into, &region);
        if (found) join_region(&into->regions[found - 1], &region);
        else ompp_table_set(&table, key, m->regions[i] + 1u);
    }
    ompp_table_fini(&table);
    return into->failed ? -OMPP_E_NOMEM : 0;
}

/* ---- Metric sets ------------------------------------------------------------------------------------------------- */

static bool set_equal(const set_t *a, const set_t *b)
{
    for (size_t i = 0; a->n == b->n && i < a->n; i++) {
        ompp_metric_t metric = a->metrics[i];
        metric.set = b->metrics[i].set; /* its number may be another */
        if (!ompp_record_equal(&ompp_record_metric, &metric, &b->metrics[i])) return false;
    }
    return a->n == b->n;
}

/* Splits a list into its sets; returns their number. */
static size_t split_sets(const ompp_metric_list_t *list, set_t *sets)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        if (i == 0 || list->metrics[i].set != list->metrics[i - 1].set) sets[n++] = (set_t){&list->metrics[i], 0};
        sets[n - 1].n++;
    }
    return n;
}

/* Each set of from becomes the equal one of into, or a new one behind the highest number that either uses. */
static void match_sets(merge_t *m, const set_t *into, size_t ninto, const set_t *from, size_t nfrom)
{
    uint32_t next = ninto ? into[ninto - 1].metrics[0].set + 1 : OMPP_SET_FIRST_FREE;

    for (size_t i = 0; i < nfrom; i++) {
        size_t found = 0;
        while (found < ninto && !set_equal(&into[found], &from[i])) found++;
        m->sets[i].from = from[i].metrics[0].set;
        m->sets[i].into = found < ninto ? into[found].metrics[0].set : next++;
        for (size_t k = 0; found == ninto && k < from[i].n; k++) {
            ompp_metric_t metric = from[i].metrics[k];
            metric.set = m->sets[i].into;
            ompp_profile_add_metric(m->into, &metric);
        }
    }
    m->nsets = nfrom;
}

static int merge_metrics(merge_t *m)
{
    ompp_metric_list_t a = {0}, b = {0};
    set_t *into = NULL, *from = NULL;
    int rc = -OMPP_E_NOMEM;

    if (ompp_metric_list_init(&a, m->into) != 0 || ompp_metric_list_init(&b, m->from) != 0) goto out;
    into = calloc(a.n + 1, sizeof *into);
    from = calloc(b.n + 1, sizeof *from);
    m->sets = calloc(b.n + 1, sizeof *m->sets);
    if (!into || !from || !m->sets) goto out;
    for (size_t i = 0; i < b.n; i++) translate(m, &ompp_record_metric, &b.metrics[i]);
    size_t ninto = split_sets(&a, into), nfrom = split_sets(&b, from);
    match_sets(m, into, ninto, from, nfrom);
    rc = m->into->failed ? -OMPP_E_NOMEM : ompp_metric_list_init(&m->metrics, m->into);
out:
    free(into);
    free(from);
    ompp_metric_list_fini(&a);
    ompp_metric_list_fini(&b);
    return rc;
}

static uint32_t map_set(const merge_t *m, uint32_t set)
{
    size_t low = 0, high = m->nsets;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->sets[middle].from < set) low = middle + 1;
        else high = middle;
    }
    return low < m->nsets && m->sets[low].from == set ? m->sets[low].into : set;
}

/* ---- Data structures --------------------------------------------------------------------------------------------- */

/* The addresses are those of the lowest rank; the largest offsets are the ones to warn of. */
static void join_object(ompp_object_t *into, const ompp_object_t *from)
{
    uint64_t start = MAX(into->start_offset, from->start_offset), end = MAX(into->end_offset, from->end_offset);
    uint32_t nranges = MAX(into->nranges, from->nranges);

    if (from->rank < into->rank) *into = *from;
    into->start_offset = start;
    into->end_offset = end;
    into->nranges = nranges;
}

static int merge_objects(merge_t *m)
{
    ompp_profile_t *into = m->into;
    ompp_table_t table = {0};

    m->objects = new_map(m->from->nobjects + 1);
    if (!m->objects || !ompp_table_reserve(&table, into->nobjects + m->from->nobjects)) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < into->nobjects; i++) keep_first(&table, into->objects[i].name, i);
    for (size_t i = 0; i < m->from->nobjects && !into->failed; i++) {
        ompp_object_t object = m->from->objects[i];
        translate(m, &ompp_record_object, &object);
        const uint64_t found = ompp_table_get(&table, object.name);
        m->objects[i + 1] = found ? (uint32_t)found : ompp_profile_add_object(into, &object) + 1;
        if (found) join_object(&into->objects[found - 1], &object);
        else ompp_table_set(&table, object.name, m->objects[i + 1]);
    }
    ompp_table_fini(&table);
    return into->failed ? -OMPP_E_NOMEM : 0;
}

/* ---- Nodes and blocks -------------------------------------------------------------------------------------------- */

static void join_first(ompp_node_t *into, const ompp_node_t *from)
{
    if (from->first_rank > into->first_rank) return;
    if (from->first_rank == into->first_rank && from->first_ns >= into->first_ns) return;
    into->first_rank = from->first_rank;
    into->first_ns = from->first_ns;
}

static int merge_nodes(merge_t *m)
{
    ompp_profile_t *into = m->into;
    ompp_table_t table = {0};

    m->nodes = new_map(m->from->nnodes);
    if (!m->nodes || !ompp_table_reserve(&table, into->nnodes + m->from->nnodes)) return -OMPP_E_NOMEM;
    for (size_t i = 1; i < into->nnodes; i++)
        keep_first(&table, ompp_hash_pair(into->nodes[i].parent, into->nodes[i].region), i);
    for (size_t i = 0; i < m->from->nnodes; i++) {
        const ompp_node_t *from = &m->from->nodes[i];
        const uint32_t region = mapped(m->regions, from->region), parent = mapped(m->nodes, from->parent);
        const uint64_t key = ompp_hash_pair(parent, region), found = i == 0 ? 1 : ompp_table_get(&table, key);
        const uint32_t to =
            found ? (uint32_t)found - 1 : ompp_profile_add_node(into, region, parent, from->first_ns, from->first_rank);
        if (into->failed) break;
        if (!found) ompp_table_set(&table, key, to + 1u);
        join_first(&into->nodes[to], from);
        ompp_spread_merge(&into->nodes[to].over_threads, &from->over_threads);
        ompp_spread_merge(&into->nodes[to].over_ranks, &from->over_ranks);
        m->nodes[i] = to;
    }
    ompp_table_fini(&table);
    return into->failed ? -OMPP_E_NOMEM : 0;
}

/* Blocks with equal keys, which stand side by side, become one; returns how many are left. */
static uint32_t combine_equal(const merge_t *m, ompp_block_t *blocks, uint32_t n)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        ompp_block_t *last = kept ? &blocks[kept - 1] : NULL;
        if (!last || ompp_block_compare(last, &blocks[i]) != 0 || last->nvalues != blocks[i].nvalues) {
            blocks[kept++] = blocks[i];
            continue;
        }
        ompp_combine(&m->metrics, last->set, OMPP_OVER_RANKS, last->values, blocks[i].values, last->nvalues);
        free(blocks[i].values);
    }
    return kept;
}

static bool copy_block(const merge_t *m, ompp_block_t *to, const ompp_block_t *from)
{
    *to = *from;
    to->values = malloc((from->nvalues ? from->nvalues : 1) * sizeof *to->values);
    if (!to->values) return false;
    memcpy(to->values, from->values, from->nvalues * sizeof *to->values);
    to->location = m->locations[from->location];
    to->set = map_set(m, from->set);
    to->object = m->objects[from->object];
    return true;
}

/* Both lists in order into a new array; those of into are moved, those of from have been copied. */
static void weave(ompp_block_t *out, const ompp_block_t *a, uint32_t na, const ompp_block_t *b, uint32_t nb)
{
    uint32_t i = 0, k = 0, n = 0;

    while (i < na || k < nb) out[n++] = i < na && (k >= nb || ompp_block_compare(&a[i], &b[k]) <= 0) ? a[i++] : b[k++];
}

static int merge_blocks(const merge_t *m, ompp_node_t *into, const ompp_node_t *from)
{
    uint32_t n = into->nblocks + from->nblocks, copied = 0;
    ompp_block_t *copies, *out;

    if (from->nblocks == 0) return 0;
    copies = calloc(from->nblocks, sizeof *copies);
    out = calloc(n, sizeof *out);
    while (copies && out && copied < from->nblocks && copy_block(m, &copies[copied], &from->blocks[copied])) copied++;
    if (copied < from->nblocks) {
        while (copied) free(copies[--copied].values);
        free(copies);
        free(out);
        return -OMPP_E_NOMEM;
    }
    ompp_blocks_sort(copies, copied);
    weave(out, into->blocks, into->nblocks, copies, copied);
    free(copies);
    free(into->blocks);
    into->blocks = out;
    into->ablocks = n;
    into->nblocks = combine_equal(m, out, n);
    return 0;
}

static int merge_locations(merge_t *m)
{
    m->locations = new_map(m->from->nlocations);
    return m->locations ? ompp_merge_locations(m->into, m->from, m->locations) : -OMPP_E_NOMEM;
}

static int merge_values(merge_t *m)
{
    for (size_t i = 0; i < m->from->nnodes; i++)
        if (merge_blocks(m, &m->into->nodes[m->nodes[i]], &m->from->nodes[i]) != 0) return -OMPP_E_NOMEM;
    return 0;
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

static bool coverage_equal(const void *lines, uint64_t value, const void *wanted)
{
    const ompp_coverage_t *a = (const ompp_coverage_t *)lines + value - 1, *b = wanted;

    return a->kind == b->kind && a->subject == b->subject && a->reason == b->reason;
}

/* Lines of one rank's own profile do not say whose they are. */
static uint32_t rank_of_line(const ompp_profile_t *profile, const ompp_coverage_t *line)
{
    if (line->first_rank != OMPP_NONE || profile->nranks_kept + profile->nrest != 1) return line->first_rank;
    return profile->nrest ? profile->rest_first_rank : profile->ranks[0].rank;
}

/* All lines of into, then those of from, each only once. */
static int merge_coverage(merge_t *m)
{
    ompp_profile_t *into = m->into;
    size_t total = into->ncoverage + m->from->ncoverage, n = 0;
    const bool several = into->nranks_kept + into->nrest && m->from->nranks_kept + m->from->nrest;
    ompp_coverage_t *out = calloc(total + 1, sizeof *out);
    ompp_table_t table = {0};

    if (!out || !ompp_table_reserve(&table, total)) {
        free(out);
        return -OMPP_E_NOMEM;
    }
    for (size_t i = 0; i < total; i++) {
        bool own = i < into->ncoverage;
        ompp_coverage_t line = own ? into->coverage[i] : m->from->coverage[i - into->ncoverage];
        if (several) line.first_rank = rank_of_line(own ? into : m->from, &line);
        if (!own) translate(m, &ompp_record_coverage, &line);
        uint64_t key = ompp_hash_join(ompp_hash_pair(line.kind, line.subject), line.reason),
                 found = ompp_table_search(&table, &key, coverage_equal, out, &line);
        if (found) {
            out[found - 1].count += line.count;
            out[found - 1].nranks += line.nranks;
            const uint32_t first = out[found - 1].first_rank;
            if (first != OMPP_NONE && (line.first_rank < first || line.first_rank == OMPP_NONE))
                out[found - 1].first_rank = line.first_rank;
        } else {
            out[n++] = line;
            ompp_table_set(&table, key, n);
        }
    }
    ompp_table_fini(&table);
    free(into->coverage);
    into->coverage = out;
    into->ncoverage = n;
    into->acoverage = total + 1;
    return 0;
}

static int compare_ranks(const void *a, const void *b)
{
    const ompp_rank_t *x = a, *y = b;

    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->begin_epoch_ns < y->begin_epoch_ns ? -1 : x->begin_epoch_ns > y->begin_epoch_ns;
}

/* The same rank twice (two files of one process): it is described once, by the earlier start and the later end. */
static void join_rank(ompp_rank_t *into, const ompp_rank_t *from)
{
    uint64_t end = MAX(into->begin_epoch_ns + into->duration_ns, from->begin_epoch_ns + from->duration_ns);

    into->duration_ns = end - into->begin_epoch_ns;
    into->nthreads = MAX(into->nthreads, from->nthreads);
    into->end = MAX(into->end, from->end);
    into->user_ns += from->user_ns;
    into->system_ns += from->system_ns;
}

static int merge_ranks(merge_t *m)
{
    ompp_profile_t *into = m->into;
    size_t n = 0;

    for (size_t i = 0; i < m->from->nranks_kept; i++) {
        ompp_rank_t rank = m->from->ranks[i];
        translate(m, &ompp_record_rank, &rank);
        ompp_profile_add_rank(into, &rank);
    }
    if (into->nranks_kept) qsort(into->ranks, into->nranks_kept, sizeof *into->ranks, compare_ranks);
    for (size_t i = 0; i < into->nranks_kept; i++) {
        if (n > 0 && into->ranks[n - 1].rank == into->ranks[i].rank) join_rank(&into->ranks[n - 1], &into->ranks[i]);
        else into->ranks[n++] = into->ranks[i];
    }
    into->nranks_kept = n;
    return into->failed ? -OMPP_E_NOMEM : 0;
}

static int merge_whatif(merge_t *m)
{
    return ompp_whatif_merge(m->into, m->from, m->strings, m->regions, m->from_leads);
}

static int merge_settings(merge_t *m)
{
    if (!m->from_leads) return 0;
    m->into->nsettings = 0;
    for (size_t i = 0; i < m->from->nsettings; i++)
        ompp_profile_add_setting(m->into, ompp_profile_text(m->from, m->from->settings[i].name),
                                 ompp_profile_text(m->from, m->from->settings[i].value));
    return m->into->failed ? -OMPP_E_NOMEM : 0;
}

/* Where ranks have different sources of OpenMP events, the header names one that is real; Coverage has a line for
 * each. */
static ompp_str_t join_source(const ompp_profile_t *p, ompp_str_t a, ompp_str_t b)
{
    const char *x = ompp_profile_text(p, a), *y = ompp_profile_text(p, b);
    int x_real = !*x ? 0 : strcmp(x, "none") == 0 ? 1 : 2, y_real = !*y ? 0 : strcmp(y, "none") == 0 ? 1 : 2;

    if (x_real != y_real) return x_real > y_real ? a : b;
    return strcmp(x, y) <= 0 ? a : b;
}

static int merge_run(merge_t *m)
{
    ompp_profile_t *into = m->into;
    const ompp_profile_t *from = m->from;

    if (m->from_leads) {
        into->app = m->strings[from->app];
        into->version = m->strings[from->version];
        into->build_date = m->strings[from->build_date];
    }
    into->source = join_source(into, into->source, m->strings[from->source]);
    into->mpi = into->mpi || from->mpi;
    into->nranks = MAX(into->nranks, from->nranks);
    into->nslots += from->nslots;
    into->nrest += from->nrest;
    into->rest_duration_max_ns = MAX(into->rest_duration_max_ns, from->rest_duration_max_ns);
    into->rest_wall_threads_ns += from->rest_wall_threads_ns;
    into->rest_user_ns += from->rest_user_ns;
    into->rest_system_ns += from->rest_system_ns;
    into->rest_first_rank = MIN(into->rest_first_rank, from->rest_first_rank);
    into->failed = into->failed || from->failed;
    return 0;
}

static int merge_messages(merge_t *m) { return ompp_messages_merge(m->into, m->from); }

/* In the order they depend on each other. */
static int (*const steps[])(merge_t *) = {merge_strings,  merge_modules,   merge_regions, merge_metrics,  merge_objects,
                                          merge_nodes,    merge_locations, merge_values,  merge_coverage, merge_ranks,
                                          merge_settings, merge_messages,  merge_whatif,  merge_run};

int ompp_profile_merge(ompp_profile_t *into, const ompp_profile_t *from)
{
    merge_t m = {.into = into, .from = from};
    bool failed_before = into->failed;
    int rc = 0;

    m.from_leads = lowest_rank(from) < lowest_rank(into);
    into->failed = false; /* of this merge alone, until it is done */
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && rc == 0; i++) rc = steps[i](&m);
    into->failed = into->failed || failed_before || rc != 0;
    free(m.strings);
    free(m.modules);
    free(m.regions);
    free(m.nodes);
    free(m.locations);
    free(m.sets);
    free(m.objects);
    ompp_metric_list_fini(&m.metrics);
    return rc;
}
