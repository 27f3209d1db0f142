#include "analysis/ompp_cache_rows.h"

#include "analysis/ompp_values.h"
#include "base/ompp_error.h"
#include "base/ompp_vector.h"

#include <stdlib.h>
#include <string.h>

/* One in so many lines tells caches of 64 times so many: the lines of its blocks are no longer alone then. */
#define LINES_OF_PART 64
#define LEAST_LINES 64u /* of a structure's, followed: so many tell its misses to an eighth */
#define LEAST_SEEN 64u  /* references, in bursts */

typedef struct {
    const ompp_profile_t *profile;
    const ompp_paths_t *paths;
    ompp_cache_rows_t *rows;
    uint32_t counts, caches; /* sets */
    size_t room;
    ompp_cache_row_t *sums; /* [nobjects + 1] */
} making_t;

static void find_sets(making_t *m)
{
    for (size_t i = 0; i < m->profile->nmetrics; i++) {
        const ompp_metric_t *metric = &m->profile->metrics[i];
        if (metric->use == OMPP_USE_OBJECTS && metric->quality == OMPP_QUALITY_EXACT && metric->index == 0)
            m->counts = metric->set;
        if (metric->use != OMPP_USE_CURVES && metric->use != OMPP_USE_MODEL) continue;
        m->caches = metric->set;
        m->rows->is_model = metric->use == OMPP_USE_MODEL;
    }
}

static void add_node(making_t *m, const ompp_node_t *node)
{
    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        ompp_cache_row_t *row = &m->sums[block->object];
        if (block->set == m->counts && block->nvalues >= 2) {
            row->loads += block->values[0];
            row->stores += block->values[1];
        }
        for (uint32_t i = 0; block->set == m->caches && i < block->nvalues && i < OMPP_CACHED_CURVE_VALUES; i++)
            row->values[i] += block->values[i];
        if (block->set == m->caches && !m->rows->is_model && block->object == 0 &&
            block->values[OMPP_CACHED_ONE_IN] > m->rows->one_in)
            m->rows->one_in = block->values[OMPP_CACHED_ONE_IN];
    }
}

static bool put(making_t *m, const ompp_cache_row_t *row)
{
    ompp_cache_row_t *next = ompp_vector_push(&m->rows->rows, &m->rows->n, &m->room, sizeof *next);

    if (next) *next = *row;
    return next != NULL;
}

/* What is left of all data when that of structures is taken away. */
static ompp_cache_row_t rest_of(const making_t *m)
{
    ompp_cache_row_t rest = m->sums[0];

    for (uint32_t object = 1; object <= m->profile->nobjects; object++) {
        const ompp_cache_row_t *sum = &m->sums[object];
        rest.loads = ompp_less(rest.loads, sum->loads);
        rest.stores = ompp_less(rest.stores, sum->stores);
        for (unsigned i = 0; i < OMPP_CACHED_CURVE_VALUES; i++)
            rest.values[i] = ompp_less(rest.values[i], sum->values[i]);
    }
    return rest;
}

static bool put_sums(making_t *m, uint32_t region)
{
    const uint32_t n = m->profile->nobjects;
    bool ok = true;

    for (uint32_t object = 1; ok && object <= n + 1; object++) {
        ompp_cache_row_t row = object <= n ? m->sums[object] : rest_of(m);
        row.region = region;
        row.object = object <= n ? object : OMPP_CACHE_ALL;
        if ((row.loads || row.stores) && (object <= n || n > 0)) ok = put(m, &row);
    }
    m->sums[0].region = region;
    m->sums[0].object = 0;
    if (ok && (m->sums[0].loads || m->sums[0].stores)) ok = put(m, &m->sums[0]);
    memset(m->sums, 0, (n + 1ul) * sizeof *m->sums);
    return ok;
}

static bool put_all(making_t *m)
{
    for (size_t i = 0; i < m->profile->nnodes; i++) add_node(m, &m->profile->nodes[i]);
    bool ok = put_sums(m, OMPP_CACHE_ALL);
    add_node(m, &m->profile->nodes[0]);
    ok = ok && put_sums(m, OMPP_NONE);
    for (uint32_t region = 0; ok && region < m->profile->nregions; region++) {
        const uint32_t *node = ompp_paths_begin(m->paths, region), *end = ompp_paths_end(m->paths, region);
        for (; node < end; node++) add_node(m, &m->profile->nodes[*node]);
        ok = put_sums(m, region);
    }
    return ok;
}

unsigned ompp_cache_least(const ompp_cache_rows_t *rows)
{
    unsigned size = 0;

    while (size < OMPP_CACHE_SIZES - 1 && (1ull << (OMPP_CACHED_LEAST_BITS + size)) < rows->one_in * LINES_OF_PART)
        size++;
    return size;
}

static uint64_t sum_from(const uint64_t *histogram, unsigned size)
{
    uint64_t sum = 0;

    for (unsigned i = size; i < OMPP_CACHED_DISTANCES; i++) sum += histogram[i];
    return sum;
}

static bool is_whole(const ompp_cache_row_t *row)
{
    const uint64_t all = row->loads + row->stores, followed = row->values[OMPP_CACHED_REFERENCES];

    return followed + all / 1000 >= all && followed <= all + all / 1000;
}

/* Enough references were looked at, and those that a larger burst might find in the cache are one of 100 at most. */
static bool burst_tells(const ompp_cache_row_t *row, unsigned size)
{
    const uint64_t *v = row->values, followed = v[OMPP_CACHED_REFERENCES];
    uint64_t unsure = 0;

    if (size > OMPP_CACHED_BURST_ROWS || !followed) return false;
    for (unsigned i = 0; i < size; i++) unsure += v[OMPP_CACHED_UNSURE + i];
    return is_whole(row) || (v[OMPP_CACHED_SEEN] >= LEAST_SEEN && unsure <= followed / 100);
}

/* Of few lines chance decides which are followed: these count where they make the references that they stand for. */
static bool part_tells(const ompp_cache_rows_t *rows, const ompp_cache_row_t *row, unsigned size)
{
    const uint64_t all = row->loads + row->stores, part = row->values[OMPP_CACHED_FOLLOWED];
    const uint64_t least = LEAST_LINES * rows->one_in;
    const bool many = row->lines >= least && sum_from(&row->values[OMPP_CACHED_SAMPLED], 0) >= least;

    return size >= ompp_cache_least(rows) && (many || (part >= all - all / 4 && part <= all + all / 4));
}

/* A larger cache has no more misses: where they are next to none, that is known of it, too. Smaller sizes first. */
static bool is_known(const ompp_cache_rows_t *rows, const ompp_cache_row_t *row, unsigned size)
{
    const uint64_t all = row->loads + row->stores;
    const bool fits = size && row->known >> (size - 1) & 1 && row->misses[size - 1] <= all / 100;

    return !all || fits || burst_tells(row, size) || part_tells(rows, row, size);
}

/* \return false: nothing is known. */
static bool misses_alone(const ompp_cache_rows_t *rows, const ompp_cache_row_t *row, unsigned size, uint64_t *misses)
{
    const uint64_t all = row->loads + row->stores, followed = row->values[OMPP_CACHED_REFERENCES];
    const bool small = size < ompp_cache_least(rows);

    *misses = 0;
    if (!all) return true;
    if (small ? followed > 0 : burst_tells(row, size) && (is_whole(row) || !part_tells(rows, row, size))) {
        const uint64_t sum = sum_from(&row->values[OMPP_CACHED_BURST], size);
        *misses = (uint64_t)((unsigned __int128)sum * all / followed);
    } else if (small) return false;
    else *misses = sum_from(&row->values[OMPP_CACHED_SAMPLED], size);
    if (*misses > all) *misses = all;
    return true;
}

/* A larger cache has no more: where the part says so, it is chance. */
static bool misses_of(const ompp_cache_rows_t *rows, const ompp_cache_row_t *row, unsigned size, uint64_t *misses)
{
    uint64_t smaller;

    if (!misses_alone(rows, row, size, misses)) return false;
    while (size-- > 0)
        if (misses_alone(rows, row, size, &smaller) && smaller < *misses) *misses = smaller;
    return true;
}

/* What no burst has met misses as the structure does elsewhere, or all data. */
static bool misses_as(const ompp_cache_rows_t *rows, const ompp_cache_row_t *row, const ompp_cache_row_t *as,
                      unsigned size, uint64_t *misses)
{
    const uint64_t all = row->loads + row->stores, others = as->loads + as->stores;

    if (!others || !misses_of(rows, as, size, misses)) return false;
    *misses = (uint64_t)((unsigned __int128)*misses * all / others);
    return true;
}

static void add_misses(ompp_cache_row_t *to, unsigned size, uint64_t misses, bool told)
{
    to->misses[size] += misses;
    if (!told) to->in_doubt |= 1u << size;
}

/* Of each structure in each region; sums of these are those of structures, of regions and of all. */
static void add_up(making_t *m)
{
    const uint32_t nobjects = m->profile->nobjects;
    ompp_cache_row_t *rows = m->rows->rows, *end = rows + m->rows->n;
    uint32_t *whole = calloc(nobjects + 2ul, sizeof *whole); /* by object: index + 1 of its row of all */
    uint64_t misses;

    for (ompp_cache_row_t *row = rows; whole && row < end; row++) {
        uint32_t *of_object = &whole[row->object == OMPP_CACHE_ALL ? nobjects + 1 : row->object];
        if (row->region == OMPP_CACHE_ALL) *of_object = (uint32_t)(row - rows) + 1;
        if (*of_object) row->lines = rows[*of_object - 1].values[OMPP_CACHED_SAMPLED + OMPP_CACHED_DISTANCES - 1];
    }
    for (ompp_cache_row_t *row = rows; whole && row < end; row++) {
        if (row->region == OMPP_CACHE_ALL || (nobjects && row->object == 0)) continue;
        ompp_cache_row_t *of_region = row;
        while (of_region->object && of_region + 1 < end) of_region++; /* the last one of its region */
        const uint32_t object = whole[row->object == OMPP_CACHE_ALL ? nobjects + 1 : row->object];
        if (!object || !whole[0]) continue;
        ompp_cache_row_t *of_object = &rows[object - 1], *of_all = &rows[whole[0] - 1];
        for (unsigned size = 0; size < OMPP_CACHE_SIZES; size++) {
            const bool told = is_known(m->rows, row, size);
            if (!misses_of(m->rows, row, size, &misses) && !misses_as(m->rows, row, of_object, size, &misses) &&
                !misses_as(m->rows, row, of_all, size, &misses))
                misses = 0;
            add_misses(row, size, misses, told);
            row->known |= (uint32_t)told << size;
            if (of_region != row) add_misses(of_region, size, misses, told);
            if (of_object != of_all) add_misses(of_object, size, misses, told);
            add_misses(of_all, size, misses, told);
        }
    }
    for (ompp_cache_row_t *row = rows; whole && row < end; row++)
        for (unsigned size = 0; size < OMPP_CACHE_SIZES; size++)
            if (!(row->in_doubt >> size & 1) || is_known(m->rows, row, size)) row->known |= 1u << size;
    free(whole);
}

int ompp_analysis_cache(const ompp_profile_t *profile, const ompp_paths_t *paths, ompp_cache_rows_t *rows)
{
    making_t m = {.profile = profile, .paths = paths, .rows = rows, .counts = OMPP_NONE, .caches = OMPP_NONE};

    *rows = (ompp_cache_rows_t){.one_in = 1};
    find_sets(&m);
    if (m.caches == OMPP_NONE || m.counts == OMPP_NONE || profile->nnodes == 0) return 0;
    m.sums = calloc(profile->nobjects + 1ul, sizeof *m.sums);
    const bool ok = m.sums && put_all(&m);
    free(m.sums);
    if (ok && !rows->is_model) add_up(&m);
    if (!ok) ompp_cache_rows_free(rows);
    return ok ? 0 : -OMPP_E_NOMEM;
}

void ompp_cache_rows_free(ompp_cache_rows_t *rows)
{
    free(rows->rows);
    *rows = (ompp_cache_rows_t){.rows = NULL};
}
