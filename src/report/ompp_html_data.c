/**
 * \file
 * Data structures by region, and misses of simulated caches, as lists of the page.
 */
#include "report/ompp_html_priv.h"

#include "analysis/ompp_cache_rows.h"

#include <stdlib.h>
#include <string.h>

/* The metrics of structures: loads first, then stores. NULL = there are none. */
static const ompp_metric_t *metrics_of(const ompp_profile_t *p, uint32_t *n)
{
    *n = 0;
    for (size_t i = 0; i < p->nmetrics; i++) {
        const ompp_metric_t *first = &p->metrics[i];
        if (first->use != OMPP_USE_OBJECTS || first->index != 0) continue;
        while (i + *n < p->nmetrics && first[*n].set == first->set) ++*n;
        return first;
    }
    return NULL;
}

static void add_node(const ompp_node_t *node, uint32_t set, uint32_t n, uint64_t *sums)
{
    for (uint32_t b = 0; b < node->nblocks; b++)
        for (uint32_t i = 0; node->blocks[b].set == set && i < n && i < node->blocks[b].nvalues; i++)
            sums[node->blocks[b].object * (size_t)n + i] += node->blocks[b].values[i];
}

/* Region (-1: none) and structure, from 0 on (-1: all data), then values. */
static void open_row(ompp_html_t *h, uint32_t region, uint32_t object)
{
    ompp_json_open(&h->json, NULL, '[');
    ompp_json_real(&h->json, NULL, region == OMPP_NONE ? -1 : (double)region);
    ompp_json_real(&h->json, NULL, (double)object - 1);
}

static void put_sums(ompp_html_t *h, const ompp_profile_t *p, uint32_t region, uint32_t n, uint64_t *sums)
{
    for (uint32_t object = 0; object <= p->nobjects; object++) {
        uint64_t *values = &sums[object * (size_t)n];
        bool any = false;
        for (uint32_t i = 0; i < n; i++) any |= values[i] > 0;
        if (!any) continue;
        open_row(h, region, object);
        for (uint32_t i = 0; i < n; i++) ompp_json_number(&h->json, NULL, values[i]);
        ompp_json_close(&h->json, ']');
        memset(values, 0, n * sizeof *values);
    }
}

static void put_texts(ompp_html_t *h, const char *key, const ompp_profile_t *p, const ompp_metric_t *metrics,
                      uint32_t n)
{
    ompp_json_open(&h->json, key, '[');
    for (uint32_t i = 0; i < n; i++) ompp_json_string(&h->json, NULL, ompp_profile_text(p, metrics[i].name));
    ompp_json_close(&h->json, ']');
}

static void put_cache_row(ompp_html_t *h, const ompp_cache_rows_t *rows, const ompp_cache_row_t *row)
{
    open_row(h, row->region, row->object);
    ompp_json_number(&h->json, NULL, row->loads + row->stores);
    for (unsigned i = 0; rows->is_model && i < 3; i++)
        ompp_json_number(&h->json, NULL,
                         row->values[OMPP_CACHED_MISSES + 2 * i] + row->values[OMPP_CACHED_MISSES + 2 * i + 1]);
    for (unsigned size = 0; !rows->is_model && size < OMPP_CACHE_SIZES; size++) {
        uint64_t misses;
        ompp_json_real(&h->json, NULL, ompp_cache_misses(row, size, &misses) ? (double)misses : -1);
    }
    ompp_json_close(&h->json, ']');
}

/* Of one region each; what belongs to no structure is the rest. */
static bool put_caches(ompp_html_t *h, const ompp_text_t *t)
{
    ompp_cache_rows_t rows;

    if (ompp_analysis_cache(t->profile, t->paths, &rows) != 0) return false;
    if (rows.n) {
        ompp_json_string(&h->json, "kind", rows.is_model ? "model" : "curves");
        ompp_json_open(&h->json, "misses", '[');
        for (size_t i = 0; i < rows.n; i++)
            if (rows.rows[i].region != OMPP_CACHE_ALL && rows.rows[i].object != OMPP_CACHE_ALL)
                put_cache_row(h, &rows, &rows.rows[i]);
        ompp_json_close(&h->json, ']');
    }
    ompp_cache_rows_free(&rows);
    return true;
}

bool ompp_html_data(ompp_html_t *h, const ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    uint32_t n;
    const ompp_metric_t *metrics = metrics_of(p, &n);

    if (!metrics) return true;
    uint64_t *sums = calloc((p->nobjects + 1) * (size_t)n, sizeof *sums);
    if (!sums) return false;
    ompp_json_open(&h->json, "structures", '{');
    put_texts(h, "columns", p, metrics, n);
    ompp_json_open(&h->json, "names", '[');
    for (size_t i = 0; i < p->nobjects; i++) ompp_json_string(&h->json, NULL, ompp_profile_text(p, p->objects[i].name));
    ompp_json_close(&h->json, ']');
    ompp_json_open(&h->json, "rows", '[');
    if (p->nnodes) add_node(&p->nodes[0], metrics->set, n, sums);
    put_sums(h, p, OMPP_NONE, n, sums);
    for (uint32_t region = 0; region < p->nregions; region++) {
        const uint32_t *node = ompp_paths_begin(t->paths, region), *end = ompp_paths_end(t->paths, region);
        for (; node < end; node++) add_node(&p->nodes[*node], metrics->set, n, sums);
        put_sums(h, p, region, n, sums);
    }
    ompp_json_close(&h->json, ']');
    free(sums);
    const bool ok = put_caches(h, t);
    ompp_json_close(&h->json, '}');
    return ok;
}
