#include "analysis/ompp_sample_sums.h"

#include "analysis/ompp_values.h"
#include "base/ompp_error.h"
#include "base/ompp_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Whose code -------------------------------------------------------------------------------------------------- */

static const ompp_region_t *region_of(const ompp_profile_t *p, uint32_t node)
{
    return node && p->nodes[node].region < p->nregions ? &p->regions[p->nodes[node].region] : NULL;
}

/*
 * What a library has others do is its own: the outermost function of libraries below the program's code, or the call of
 * MPI around them.
 * \param[in] node  a function or a line.  \param[out] owner  of the time there.
 * \return the node of what the program has called, or of the program's function itself.
 */
static uint32_t entry_of(const ompp_profile_t *p, uint32_t node, ompp_code_owner_t *owner)
{
    const ompp_region_t *region = region_of(p, node);
    uint32_t entry = node;

    *owner = OMPP_CODE_UNKNOWN;
    for (bool first = true; region && ompp_construct_is_path(region->construct); region = region_of(p, node)) {
        const ompp_code_owner_t next = ompp_code_owner(p, region);
        const bool part = ompp_construct_is_part(region->construct);
        if (next == OMPP_CODE_PROGRAM && !first) return entry;
        *owner = next;
        entry = node;
        node = p->nodes[node].parent;
        if (part) continue;
        if (next == OMPP_CODE_PROGRAM || next == OMPP_CODE_OMPP) return entry;
        first = false;
    }
    if (!region || region->construct != OMPP_CONSTRUCT_MPI) return entry;
    *owner = OMPP_CODE_MPI;
    return node;
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

typedef struct {
    const ompp_profile_t *p;
    uint32_t set;
    uint64_t *own;          /* [nnodes] */
    ompp_sampled_t *region; /* [nregions] */
    ompp_sampled_t *node;   /* [nnodes] what the program has called, or its own functions */
} sums_t;

static void read_samples(sums_t *s, ompp_samples_t *samples)
{
    const ompp_profile_t *p = s->p;

    for (uint32_t n = 0; n < p->nnodes; n++)
        for (uint32_t b = 0; b < p->nodes[n].nblocks; b++) {
            const ompp_block_t *block = &p->nodes[n].blocks[b];
            if (block->set != s->set || block->nvalues < OMPP_METRIC_SAMPLES_NUM) continue;
            s->own[n] += block->values[OMPP_METRIC_SAMPLED_NS];
            samples->total += block->values[OMPP_METRIC_SAMPLES];
        }
    for (uint32_t n = (uint32_t)p->nnodes; n-- > 0;) {
        samples->inclusive_ns[n] += s->own[n];
        if (n) samples->inclusive_ns[p->nodes[n].parent] += samples->inclusive_ns[n];
    }
    samples->total_ns = samples->inclusive_ns[0];
}

static bool is_function(const ompp_profile_t *p, uint32_t node)
{
    const ompp_region_t *region = region_of(p, node);

    return region && region->construct == OMPP_CONSTRUCT_FUNCTION;
}

/* A function that calls itself is counted once. */
static bool is_within_itself(const ompp_profile_t *p, uint32_t node)
{
    for (uint32_t n = p->nodes[node].parent; n; n = p->nodes[n].parent)
        if (p->nodes[n].region == p->nodes[node].region) return true;
    return false;
}

static bool is_part(const ompp_profile_t *p, uint32_t node)
{
    const ompp_region_t *region = region_of(p, node);

    return region && ompp_construct_is_part(region->construct);
}

/* Time of a line: its own, that of the loop that it is in, and of the function. */
static void add_line(sums_t *s, uint32_t line)
{
    const ompp_profile_t *p = s->p;
    const uint64_t own = s->own[line];
    bool in_loop = false;
    uint32_t n = line;

    for (; is_part(p, n); n = p->nodes[n].parent) {
        const uint32_t region = p->nodes[n].region;
        const bool loop = p->regions[region].construct == OMPP_CONSTRUCT_SOURCE_LOOP;
        if (n == line || (loop && !in_loop)) s->region[region].own_ns += own;
        in_loop = in_loop || loop;
    }
    if (is_function(p, n)) s->region[p->nodes[n].region].own_ns += own;
}

static void sum_up(sums_t *s, ompp_samples_t *samples)
{
    const ompp_profile_t *p = s->p;

    for (uint32_t n = 0; n < p->nnodes; n++) {
        const ompp_region_t *region = region_of(p, n);
        const bool loop = region && region->construct == OMPP_CONSTRUCT_SOURCE_LOOP;
        if ((is_function(p, n) || loop) && !is_within_itself(p, n))
            s->region[p->nodes[n].region].all_ns += samples->inclusive_ns[n];
        if (!s->own[n]) continue;
        ompp_code_owner_t owner;
        const uint32_t entry = entry_of(p, n, &owner);
        samples->owner_ns[owner] += s->own[n];
        s->node[entry].own_ns += s->own[n];
        s->node[entry].all_ns = samples->inclusive_ns[entry];
        if (region) add_line(s, n);
    }
}

/*
 * Paths are told by functions and inlined calls: those that differ in the loops around these are one, the first of
 * them.
 * \return false: out of memory.
 */
static bool join_paths(sums_t *s, const ompp_samples_t *samples)
{
    const ompp_profile_t *p = s->p;
    uint32_t *same = calloc(p->nnodes, sizeof *same);
    ompp_table_t first = {0};
    bool ok = same != NULL;

    for (uint32_t n = 1; n < p->nnodes && ok; n++) {
        const uint32_t outer = same[p->nodes[n].parent];
        const uint64_t key = ompp_hash_pair(p->nodes[n].region + 1, outer), known = ompp_table_get(&first, key);
        same[n] = p->regions[p->nodes[n].region].construct == OMPP_CONSTRUCT_SOURCE_LOOP ? outer
                  : known                                                                ? (uint32_t)known
                                                                                         : n;
        if (same[n] == n) ok = ompp_table_set(&first, key, n);
    }
    for (uint32_t n = 1; n < p->nnodes && ok; n++) {
        if (same[n] == n || !s->node[n].own_ns) continue;
        s->node[same[n]].own_ns += s->node[n].own_ns;
        s->node[n] = (ompp_sampled_t){0};
    }
    for (uint32_t n = 1; n < p->nnodes && ok; n++)
        if (s->node[n].own_ns) s->node[n].all_ns = 0;
    for (uint32_t n = 1; n < p->nnodes && ok; n++) {
        const bool loop = p->regions[p->nodes[n].region].construct == OMPP_CONSTRUCT_SOURCE_LOOP;
        if (!loop && s->node[same[n]].own_ns) s->node[same[n]].all_ns += samples->inclusive_ns[n];
    }
    ompp_table_fini(&first);
    free(same);
    return ok;
}

static int by_own(const void *a, const void *b)
{
    const ompp_sampled_t *x = a, *y = b;

    if (x->own_ns != y->own_ns) return x->own_ns > y->own_ns ? -1 : 1;
    if (x->all_ns != y->all_ns) return x->all_ns > y->all_ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Those of a construct, or all, that have samples. \return owned; NULL: out of memory. */
static ompp_sampled_t *listed(const ompp_profile_t *p, const ompp_sampled_t *all, size_t n, unsigned construct,
                              size_t *found)
{
    ompp_sampled_t *list = malloc((n + 1) * sizeof *list);

    *found = 0;
    for (uint32_t i = 0; list && i < n; i++)
        if ((all[i].own_ns || all[i].all_ns) &&
            (construct == OMPP_CONSTRUCT_NUM || p->regions[i].construct == construct))
            list[(*found)++] = (ompp_sampled_t){i, all[i].own_ns, all[i].all_ns};
    if (list) qsort(list, *found, sizeof *list, by_own);
    return list;
}

int ompp_samples_init(ompp_samples_t *samples, const ompp_profile_t *p)
{
    sums_t s = {.p = p, .set = ompp_analysis_find_set(p, ompp_sample_metrics, OMPP_METRIC_SAMPLES_NUM)};
    bool ok = true;

    *samples = (ompp_samples_t){0};
    if (!s.set) return 0;
    s.own = calloc(p->nnodes, sizeof *s.own);
    s.region = calloc(p->nregions + 1, sizeof *s.region);
    s.node = calloc(p->nnodes, sizeof *s.node);
    samples->inclusive_ns = calloc(p->nnodes, sizeof *samples->inclusive_ns);
    ok = s.own && s.region && s.node && samples->inclusive_ns;
    if (ok) {
        read_samples(&s, samples);
        sum_up(&s, samples);
        ok = join_paths(&s, samples);
    }
    if (ok) {
        samples->functions = listed(p, s.region, p->nregions, OMPP_CONSTRUCT_FUNCTION, &samples->nfunctions);
        samples->lines = listed(p, s.region, p->nregions, OMPP_CONSTRUCT_SOURCE_LINE, &samples->nlines);
        samples->loops = listed(p, s.region, p->nregions, OMPP_CONSTRUCT_SOURCE_LOOP, &samples->nloops);
        samples->paths = listed(p, s.node, p->nnodes, OMPP_CONSTRUCT_NUM, &samples->npaths);
        ok = samples->functions && samples->lines && samples->loops && samples->paths;
    }
    free(s.own);
    free(s.region);
    free(s.node);
    if (ok) return 0;
    ompp_samples_fini(samples);
    return -OMPP_E_NOMEM;
}

void ompp_samples_fini(ompp_samples_t *samples)
{
    free(samples->functions);
    free(samples->lines);
    free(samples->loops);
    free(samples->paths);
    free(samples->inclusive_ns);
    *samples = (ompp_samples_t){0};
}

/* ---- Do they agree with the clocks? ------------------------------------------------------------------------------ */

uint64_t ompp_samples_cpu_ns(const ompp_profile_t *p)
{
    uint64_t sum = p->rest_user_ns + p->rest_system_ns;

    for (size_t r = 0; r < p->nranks_kept; r++) sum += p->ranks[r].user_ns + p->ranks[r].system_ns;
    return sum;
}

#define SPARED 0.05                     /* part of the processor time that samples may differ by */
#define SPARED_NS ((uint64_t)50000000u) /* and what a thread's begin and end may take without one */

void ompp_samples_check(ompp_profile_t *p)
{
    const uint64_t cpu = ompp_samples_cpu_ns(p);
    ompp_samples_t samples;
    char text[100];

    for (size_t r = 0; r < p->nranks_kept; r++)
        if (p->ranks[r].end == OMPP_END_INCOMPLETE) return; /* nobody knows its processor time */
    if (ompp_samples_init(&samples, p) != 0) return;
    const uint64_t sampled = samples.total_ns, spared = (uint64_t)(SPARED * (double)cpu) + SPARED_NS * p->nlocations;
    if (samples.total && (sampled > cpu + spared || sampled + spared < cpu)) {
        snprintf(text, sizeof text, "%.1f %%", 100 * (double)sampled / (double)(cpu ? cpu : 1));
        ompp_profile_add_coverage(p, OMPP_COVERAGE_NOTE, "of the processor time, samples stand for", text, 1);
        if (p->ncoverage) p->coverage[p->ncoverage - 1].nranks = 0; /* said of the run, not by ranks */
    }
    ompp_samples_fini(&samples);
}
