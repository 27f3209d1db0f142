/**
 * \file
 * What reading the counters costs, and how certain their values are: lines of General Information that ompP does not
 * have.
 */
#define _GNU_SOURCE
#include "report/ompp_text_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Value of a metric at the root, over all threads. */
static uint64_t at_root(const ompp_profile_t *p, const ompp_metric_t *m)
{
    const ompp_node_t *root = p->nodes;
    uint64_t value = 0;

    for (uint32_t b = 0; p->nnodes && b < root->nblocks; b++) {
        const ompp_block_t *block = &root->blocks[b];
        if (block->set != m->set || block->object != 0 || m->index >= block->nvalues) continue;
        const uint64_t own = block->values[m->index];
        value = m->reduce_threads == OMPP_REDUCE_MAX ? (own > value ? own : value) : value + own;
    }
    return value;
}

static const ompp_metric_t *find(const ompp_profile_t *p, unsigned use, ompp_str_t name)
{
    for (size_t i = 0; i < p->nmetrics; i++)
        if (p->metrics[i].use == use && (!name || p->metrics[i].name == name)) return &p->metrics[i];
    return NULL;
}

static void cost_line(const ompp_text_t *t, ompp_text_line_fn *line)
{
    const ompp_metric_t *cost = find(t->profile, OMPP_USE_COST, 0), *readings = find(t->profile, OMPP_USE_READINGS, 0);
    char text[120];

    if (!cost || !readings) return;
    const uint64_t ns = at_root(t->profile, cost), n = at_root(t->profile, readings);
    snprintf(text, sizeof text, "%s us; %" PRIu64 " readings; %s sec of all threads",
             ompp_text_seconds_digits(1000000 * ns, 3).text, n, ompp_text_seconds_digits(ns * n, t->digits).text);
    line(t, "Cost per Read", text);
}

/* Of the counter's column, and where a range restricts it, of all structures. */
static double total_of(const ompp_text_t *t, const char *name)
{
    double total = 0;

    for (size_t i = 0; i < t->ncounters; i++)
        if (strncmp(t->counters[i].name, name, strlen(name)) == 0 && strchr("(", t->counters[i].name[strlen(name)]))
            total += (double)t->totals[0].counter[i];
    return total;
}

static void share_of(const ompp_text_t *t, FILE *out, const ompp_metric_t *counted)
{
    const ompp_profile_t *p = t->profile;
    const ompp_metric_t *wanted = find(p, OMPP_USE_WANTED, counted->name),
                        *error = find(p, OMPP_USE_ERROR, counted->name);
    const char *name = ompp_profile_text(p, counted->name);
    const uint64_t all = wanted ? at_root(p, wanted) : 0;
    const double total = total_of(t, name);

    if (!all) {
        fprintf(out, "%s for a time that is not known", name);
        return;
    }
    fprintf(out, "%s %.1f%% of the time", name, 100 * (double)at_root(p, counted) / (double)all);
    if (error && total > 0) fprintf(out, " +-%.1f%%", 100 * (double)at_root(p, error) / total);
}

static void turns_line(const ompp_text_t *t, ompp_text_line_fn *line)
{
    char *text = NULL;
    size_t length;
    FILE *out = find(t->profile, OMPP_USE_COUNTED, 0) ? open_memstream(&text, &length) : NULL;
    const char *between = "";

    for (size_t i = 0; out && i < t->profile->nmetrics; i++) {
        if (t->profile->metrics[i].use != OMPP_USE_COUNTED) continue;
        fputs(between, out);
        share_of(t, out, &t->profile->metrics[i]);
        between = "; ";
    }
    if (out && fclose(out) == 0) line(t, "Multiplexing", text);
    free(text);
}

void ompp_text_reading_lines(const ompp_text_t *t, ompp_text_line_fn *line)
{
    cost_line(t, line);
    turns_line(t, line);
}
