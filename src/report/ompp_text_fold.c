/**
 * \file
 * Reports of very many regions and call paths: above a size the text leaves out those that carry nothing, and then
 * those with the least time. Sections print what is left in t->regions and t->nodes; sums have everything.
 */
#include "report/ompp_text_priv.h"

#include "analysis/ompp_properties.h"
#include "base/ompp_env.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADING = 9,                /* "R00001 ", a blank, the end of the line; without place and type */
    STEP = 6,                   /* "[+01] " */
    CALLGRAPH = 46,             /* times, percentages and type in front of a node's branches */
    BRANCH = 3,                 /* for each level */
    OVERHEADS = 2 * 12,         /* in front of the two tables of classes */
    SHARE = 18,                 /* a time and its percentage */
    WALL = 60,                  /* a line of the table of wallclocks, without the place when that is longer */
    SHOWN_RANKS = 16,           /* of more ranks only the extreme ones are shown */
    LEAST_ROOM = 1 << 20,       /* of the text, however late it is */
    BYTES_PER_SECOND = 20 << 20 /* that are written, at the least */
};

/* What one table, or one line, takes and carries. */
typedef struct {
    uint64_t bytes, weight; /* weight: ns; UINT64_MAX = there is a finding; 0 = it carries nothing */
    uint32_t index;
    bool is_node;
} part_t;

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const ompp_text_t *t;
    uint64_t row[OMPP_CONSTRUCT_NUM][2]; /* bytes of a row in tables of a construct, flat and of call paths */
    uint64_t ranks, locations;           /* that have rows */
} sizes_t;

static uint64_t row_bytes(ompp_text_t *t, unsigned construct, bool split)
{
    const size_t n = ompp_text_columns(t, construct, split);
    uint64_t bytes = t->show_ranks ? 10 : 5;

    for (size_t c = 0; c < n; c++) bytes += 1 + (uint64_t)ompp_text_column_width(t, &t->columns[c]);
    return bytes;
}

static sizes_t measure(ompp_text_t *t)
{
    const ompp_profile_t *p = t->profile;
    const uint64_t ranks = p->nranks_kept ? p->nranks_kept : 1, shown = ranks < SHOWN_RANKS ? ranks : SHOWN_RANKS;
    sizes_t sizes = {.t = t, .ranks = shown, .locations = p->nlocations * shown / ranks};

    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++)
        for (unsigned split = 0; split < 2; split++) sizes.row[c][split] = row_bytes(t, c, split);
    return sizes;
}

/* Titles, rows of threads, SUM, the empty line. */
static uint64_t table_bytes(const sizes_t *sizes, unsigned construct, bool split)
{
    const bool once = ompp_constructs[construct].flags & OMPP_CONSTRUCT_F_ONCE ||
                      (sizes->t->collapse && ompp_constructs[construct].place == OMPP_PLACE_ADDRESS);

    return sizes->row[construct][split] * (2 + (once ? sizes->ranks : sizes->locations)) + 1;
}

static uint64_t heading_bytes(const ompp_text_t *t, uint32_t region)
{
    return HEADING + strlen(t->places[region]) + strlen(ompp_constructs[t->profile->regions[region].construct].full);
}

/* Its line in the overview, its table, its lines among overheads. */
static uint64_t region_bytes(const sizes_t *sizes, uint32_t region)
{
    const ompp_text_t *t = sizes->t;
    const unsigned construct = t->profile->regions[region].construct;
    const uint64_t place = strlen(t->places[region]);
    uint64_t bytes = HEADING + 2 + place + heading_bytes(t, region) + table_bytes(sizes, construct, false);

    if (ompp_construct_forks(construct)) bytes += WALL + place + OVERHEADS + 2 * SHARE * (OMPP_CLASS_NUM + 1);
    return bytes;
}

/* Its line in the callgraph, its path, its table. path: bytes of the path. */
static uint64_t node_bytes(const sizes_t *sizes, uint32_t node, uint64_t path)
{
    const ompp_text_t *t = sizes->t;
    const uint32_t region = t->profile->nodes[node].region;

    return CALLGRAPH + BRANCH * (uint64_t)t->depth[node] + HEADING + strlen(t->places[region]) + path +
           table_bytes(sizes, t->profile->regions[region].construct, true);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

/* All regions and nodes that the sections print. \return their bytes. */
static uint64_t list_parts(ompp_text_t *t, part_t *parts, uint64_t *path)
{
    const ompp_profile_t *p = t->profile;
    const sizes_t sizes = measure(t);
    uint64_t bytes = 0;

    for (size_t i = 0; i < t->nexecuted; i++)
        parts[i] = (part_t){region_bytes(&sizes, t->regions[i]), 0, t->regions[i], false};
    path[0] = STEP + strlen(t->app) + 1;
    for (size_t i = 0; i < t->nordered; i++) {
        const uint32_t node = t->nodes[i];
        path[node] = path[p->nodes[node].parent] + STEP + heading_bytes(t, p->nodes[node].region);
        parts[t->nexecuted + i] = (part_t){node_bytes(&sizes, node, path[node]), 0, node, true};
    }
    for (size_t i = 0; i < t->nexecuted + t->nordered; i++) bytes += parts[i].bytes;
    return bytes;
}

/* Thread time that is printed as other than 0. */
static uint64_t printed(const ompp_text_t *t, uint64_t ns)
{
    uint64_t unit = 1;

    for (int i = t->digits; i < 9; i++) unit *= 10;
    return ns >= unit - unit / 2 ? ns : 0;
}

static int weigh(const ompp_text_t *t, part_t *parts, size_t n)
{
    const ompp_profile_t *p = t->profile;
    uint64_t *of_region = calloc(p->nregions + 1, sizeof *of_region);
    ompp_finding_t *findings = NULL;
    size_t nfindings = 0;
    int rc = of_region ? ompp_analysis_properties(p, t->paths, &findings, &nfindings) : -OMPP_E_NOMEM;

    for (uint32_t node = 1; rc == 0 && node < p->nnodes; node++)
        of_region[p->nodes[node].region] += t->totals[node].value[OMPP_COLUMN_EXEC_T];
    for (size_t i = 0; rc == 0 && i < p->nregions; i++) of_region[i] = printed(t, of_region[i]);
    for (size_t i = 0; rc == 0 && i < nfindings; i++)
        if (findings[i].region != OMPP_NONE && ompp_text_is_listed(t, &findings[i]))
            of_region[findings[i].region] = UINT64_MAX;
    for (size_t i = 0; rc == 0 && i < n; i++)
        parts[i].weight = parts[i].is_node ? printed(t, t->totals[parts[i].index].value[OMPP_COLUMN_EXEC_T])
                                           : of_region[parts[i].index];
    free(of_region);
    free(findings);
    return rc;
}

/* Heaviest first; of equal ones regions, then in the order of the profile. */
static int compare(const void *a, const void *b)
{
    const part_t *x = a, *y = b;

    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    if (x->is_node != y->is_node) return x->is_node ? 1 : -1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* ---- Folding ----------------------------------------------------------------------------------------------------- */

bool ompp_text_kept_init(ompp_text_kept_t *kept, const ompp_profile_t *p)
{
    *kept = (ompp_text_kept_t){calloc(p->nregions + 1, sizeof *kept->region), calloc(p->nnodes, sizeof *kept->node)};
    return kept->region && kept->node;
}

void ompp_text_kept_fini(ompp_text_kept_t *kept)
{
    free(kept->region);
    free(kept->node);
}

void ompp_text_keep(const ompp_profile_t *p, uint32_t node, ompp_text_kept_t *kept)
{
    for (uint32_t n = node; n != 0 && !kept->node[n]; n = p->nodes[n].parent) {
        kept->node[n] = true;
        kept->region[p->nodes[n].region] = true;
    }
}

void ompp_text_link(ompp_text_t *t)
{
    memset(t->has_child, 0, t->profile->nnodes * sizeof *t->has_child);
    for (size_t i = t->nordered; i-- > 0;) {
        const uint32_t parent = t->profile->nodes[t->nodes[i]].parent;
        t->has_sibling[t->nodes[i]] = t->has_child[parent];
        t->has_child[parent] = true;
    }
}

void ompp_text_drop(ompp_text_t *t, ompp_text_kept_t *kept)
{
    size_t nregions = 0, nnodes = 0;

    for (size_t i = 0; i < t->nexecuted; i++)
        if (kept->region[t->regions[i]]) t->regions[nregions++] = t->regions[i];
    for (size_t i = 0; i < t->nordered; i++) {
        const ompp_row_t *total = &t->totals[t->nodes[i]];
        if (kept->node[t->nodes[i]]) t->nodes[nnodes++] = t->nodes[i];
        else t->folded.own_ns += ompp_less(total->value[OMPP_COLUMN_EXEC_T], total->below_ns);
    }
    t->folded.regions += t->nexecuted - nregions;
    t->folded.nodes += t->nordered - nnodes;
    t->nexecuted = nregions;
    t->nordered = nnodes;
    free(t->folded.kept);
    t->folded.kept = kept->region;
    kept->region = NULL;
    ompp_text_link(t);
}

/* Of what has no weight nothing is kept, of the rest as much as there is room for. */
static bool choose(ompp_text_t *t, const part_t *parts, size_t n, uint64_t limit)
{
    const ompp_profile_t *p = t->profile;
    ompp_text_kept_t kept;
    uint64_t bytes = 0;
    size_t i = 0;
    const bool memory = ompp_text_kept_init(&kept, p);

    for (; memory && i < n && parts[i].weight; i++) {
        bytes += parts[i].bytes;
        if (bytes > limit) break;
        if (parts[i].is_node) ompp_text_keep(p, parts[i].index, &kept);
        else kept.region[parts[i].index] = true;
    }
    if (memory) {
        t->folded.least = i < n && parts[i].weight;
        ompp_text_drop(t, &kept);
    }
    ompp_text_kept_fini(&kept);
    return memory;
}

/* 0 = there is none. What was left out for lack of time is left out again. */
static uint64_t limit_of(const ompp_profile_t *p, bool csv)
{
    uint64_t limit = OMPP_TEXT_LIMIT, set;

    if (ompp_env_parse_bytes(ompp_profile_setting(p, "OMPP_TEXT_LIMIT"), &set)) limit = set;
    if (csv) limit = 0;
    for (size_t i = 0; i < p->ncoverage; i++)
        if (p->coverage[i].kind == OMPP_COVERAGE_LATE && (!limit || p->coverage[i].count < limit) &&
            strcmp(ompp_profile_text(p, p->coverage[i].subject), ompp_text_late) == 0)
            limit = p->coverage[i].count;
    return limit;
}

const char *const ompp_text_late = "bytes that the text has room for";

/* \return bytes of all parts; *parts is owned by the caller, [*n]; NULL when out of memory. */
static uint64_t all_parts(ompp_text_t *t, part_t **parts, size_t *n)
{
    uint64_t *path = calloc(t->profile->nnodes, sizeof *path), bytes = 0;

    *n = t->nexecuted + t->nordered;
    *parts = path ? calloc(*n + 1, sizeof **parts) : NULL;
    if (*parts) bytes = list_parts(t, *parts, path);
    free(path);
    return bytes;
}

int ompp_text_fold(ompp_text_t *t, bool csv)
{
    const uint64_t limit = limit_of(t->profile, csv);
    part_t *parts = NULL;
    size_t n;
    int rc = 0;

    if (!limit) return 0;
    const uint64_t bytes = all_parts(t, &parts, &n);
    if (!parts) rc = -OMPP_E_NOMEM;
    if (parts && bytes > limit) {
        rc = weigh(t, parts, n);
        if (rc == 0) qsort(parts, n, sizeof *parts, compare);
        if (rc == 0 && !choose(t, parts, n, limit)) rc = -OMPP_E_NOMEM;
    }
    free(parts);
    return rc;
}

bool ompp_text_shows(const ompp_text_t *t, uint32_t region) { return !t->folded.kept || t->folded.kept[region]; }

bool ompp_text_folded(const ompp_text_t *t, char *text, size_t size)
{
    if (!t->folded.regions && !t->folded.nodes) return false;
    if (t->view) {
        snprintf(
            text, size,
            "folded: %zu regions and %zu call paths, " OMPP_LAYOUT_FOLDED ", less than was asked for, or other "
            "names; together %s sec of thread time of their own (ompp-report show --full prints them from the XML)",
            t->folded.regions, t->folded.nodes, ompp_text_seconds(t, t->folded.own_ns).text);
        return true;
    }
    snprintf(text, size,
             "folded: %zu regions and %zu call paths, " OMPP_LAYOUT_FOLDED "%s; together %s sec of thread "
             "time of their own (OMPP_TEXT_LIMIT; ompp-report show --full prints them from the XML)",
             t->folded.regions, t->folded.nodes, t->folded.least ? ", or the least time" : "",
             ompp_text_seconds(t, t->folded.own_ns).text);
    return true;
}

int ompp_report_text_room(const ompp_profile_t *profile, int digits, double seconds, uint64_t *bytes)
{
    const double room = seconds * BYTES_PER_SECOND;
    ompp_text_t t = {.profile = profile, .digits = digits};
    part_t *parts = NULL;
    size_t n;

    *bytes = 0;
    if (limit_of(profile, false) && room >= (double)limit_of(profile, false)) return 0;
    int rc = ompp_text_prepare(&t);
    if (rc == 0 && all_parts(&t, &parts, &n) > room) *bytes = room > LEAST_ROOM ? (uint64_t)room : LEAST_ROOM;
    if (rc == 0 && !parts) rc = -OMPP_E_NOMEM;
    free(parts);
    ompp_text_release(&t);
    return rc;
}
