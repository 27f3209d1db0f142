#include "model/ompp_merge.h"

#include "base/ompp_error.h"
#include "base/ompp_table.h"
#include "model/ompp_combine_priv.h"
#include "model/ompp_record.h"

#include <stdarg.h>
#include <stdio.h>

/* A check under way: the profile and where the first objection goes. */
typedef struct {
    const ompp_profile_t *p;
    char *why;
    size_t size;
    ompp_metric_list_t metrics;
} check_t;

__attribute__((format(printf, 2, 3))) static int wrong(check_t *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (c->size) vsnprintf(c->why, c->size, format, args);
    va_end(args);
    return -OMPP_E_FORMAT;
}

static int check_strings(check_t *c)
{
    const ompp_profile_t *p = c->p;

    if (p->nstrings == 0) return wrong(c, "no strings");
    for (size_t i = 0; i < p->nstrings; i++)
        if (!p->strings[i]) return wrong(c, "string %zu is missing", i);
    return p->strings[0][0] ? wrong(c, "string 0 is not empty") : 0;
}

/* What holds for every record: strings, names and records of other lists that it names are there. */
static int check_record(check_t *c, const ompp_record_t *record, const void *data, size_t number)
{
    for (const ompp_field_t *f = record->fields; f->type; f++) {
        const uint64_t value = ompp_field_get(f, data);
        if (f->type == OMPP_FIELD_TEXT && value >= c->p->nstrings)
            return wrong(c, "%s %zu names a string that does not exist", record->element, number);
        if (f->type == OMPP_FIELD_NAME && value >= f->names->n)
            return wrong(c, "%s %zu: unknown %s %u", record->element, number, f->attribute, (unsigned)value);
        if (f->of && value != OMPP_NONE && value >= ompp_record_count(c->p, f->of))
            return wrong(c, "%s %zu names %s %u, which does not exist", record->element, number, f->of->element,
                         (unsigned)value);
    }
    return 0;
}

static int check_list(check_t *c, const ompp_record_t *record)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ompp_record_count(c->p, record); i++)
        rc = check_record(c, record, ompp_record_at(c->p, record, i), i);
    return rc;
}

static int check_records(check_t *c)
{
    int rc = check_record(c, &ompp_record_profile, c->p, 0);

    if (rc == 0) rc = check_record(c, &ompp_record_whatif, &c->p->whatif, 0);
    if (rc == 0) rc = check_list(c, &ompp_record_whatif_region);
    for (size_t i = 0; rc == 0 && i < OMPP_RECORD_LISTS; i++) rc = check_list(c, ompp_record_lists[i]);
    return rc;
}

static int check_ranks(check_t *c)
{
    for (size_t i = 0; i < c->p->nranks_kept; i++) {
        const ompp_rank_t *rank = &c->p->ranks[i];
        if (rank->rank == OMPP_NONE) return wrong(c, "rank entry %zu has no number", i);
        if (i > 0 && rank->rank <= rank[-1].rank) return wrong(c, "rank %u is not in ascending order", rank->rank);
    }
    return 0;
}

static bool has_rank(const ompp_profile_t *p, uint32_t rank)
{
    size_t low = 0, high = p->nranks_kept;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->ranks[middle].rank < rank) low = middle + 1;
        else high = middle;
    }
    return low < p->nranks_kept && p->ranks[low].rank == rank;
}

static int check_location(check_t *c, size_t i, ompp_table_t *seen)
{
    const ompp_location_t *l = &c->p->locations[i];
    const uint64_t key = ompp_hash_pair(l->rank, l->rank == OMPP_NONE ? 0 : l->tid);

    if (l->rank != OMPP_NONE && !has_rank(c->p, l->rank))
        return wrong(c, "location %zu belongs to rank %u, which is not described", i, l->rank);
    if (ompp_table_get(seen, key))
        return wrong(c, l->rank == OMPP_NONE ? "two rest locations" : "rank %u has thread %u twice", l->rank, l->tid);
    return ompp_table_set(seen, key, 1) ? 0 : -OMPP_E_NOMEM;
}

static int check_locations(check_t *c)
{
    ompp_table_t seen = {0};
    int rc = 0;

    for (size_t i = 0; i < c->p->nlocations && rc == 0; i++) rc = check_location(c, i, &seen);
    ompp_table_fini(&seen);
    return rc;
}

static int check_metrics(check_t *c)
{
    if (ompp_metric_list_init(&c->metrics, c->p) != 0) return -OMPP_E_NOMEM;
    for (size_t i = 0; i < c->metrics.n; i++) {
        const ompp_metric_t *m = &c->metrics.metrics[i];
        uint32_t expected = i > 0 && m[-1].set == m->set ? m[-1].index + 1 : 0;
        if (m->set < OMPP_SET_FIRST_FREE) return wrong(c, "a metric claims the built-in set %u", m->set);
        if (m->index != expected) return wrong(c, "set %u: metric %u where %u is due", m->set, m->index, expected);
    }
    return 0;
}

static int check_objects(check_t *c)
{
    const ompp_profile_t *p = c->p;
    ompp_table_t seen = {0};
    int rc = 0;

    for (size_t i = 0; i < p->nobjects && rc == 0; i++) {
        const ompp_object_t *o = &p->objects[i];
        if (ompp_table_get(&seen, o->name)) rc = wrong(c, "object %zu has the name of an earlier one", i + 1);
        else if (!ompp_table_set(&seen, o->name, 1)) rc = -OMPP_E_NOMEM;
    }
    ompp_table_fini(&seen);
    return rc;
}

/* Number of values a block of this set has in this node; 0 = there cannot be one. */
static size_t block_shape(const check_t *c, const ompp_node_t *node, uint32_t set)
{
    size_t n;

    if (set == OMPP_SET_PHASES)
        return node->region == OMPP_NONE ? 0 : ompp_phase_values(c->p->regions[node->region].construct);
    if (set == OMPP_SET_MPI) return OMPP_METRIC_MPI_NUM;
    ompp_metric_list_set(&c->metrics, set, &n);
    return n;
}

static int check_blocks(check_t *c, size_t node)
{
    const ompp_node_t *n = &c->p->nodes[node];

    for (uint32_t i = 0; i < n->nblocks; i++) {
        const ompp_block_t *b = &n->blocks[i];
        size_t shape = block_shape(c, n, b->set);
        if (b->location >= c->p->nlocations) return wrong(c, "node %zu: location %u does not exist", node, b->location);
        if (i > 0 && ompp_block_compare(b - 1, b) >= 0)
            return wrong(c, "node %zu: block of location %u, set %u, object %u twice or out of order", node,
                         b->location, b->set, b->object);
        if (b->object > c->p->nobjects) return wrong(c, "node %zu: object %u does not exist", node, b->object);
        if (shape == 0) return wrong(c, "node %zu: set %u cannot be there", node, b->set);
        if (b->nvalues != shape)
            return wrong(c, "node %zu, set %u: %u values where there should be %zu", node, b->set, b->nvalues, shape);
        if (!b->values) return wrong(c, "node %zu: a block without values", node);
    }
    return 0;
}

static int check_nodes(check_t *c)
{
    const ompp_profile_t *p = c->p;
    int rc = 0;

    if (p->nnodes == 0 || p->nodes[0].region != OMPP_NONE || p->nodes[0].parent != OMPP_NONE)
        return wrong(c, "node 0 is not the root");
    for (size_t i = 1; i < p->nnodes; i++) {
        if (p->nodes[i].region >= p->nregions)
            return wrong(c, "node %zu: region %u does not exist", i, p->nodes[i].region);
        if (p->nodes[i].parent >= i) return wrong(c, "node %zu does not stand behind its parent", i);
    }
    for (size_t i = 0; i < p->nnodes && rc == 0; i++) rc = check_blocks(c, i);
    return rc;
}

static int check_messages(check_t *c)
{
    for (size_t i = 0; i < c->p->nmessages; i++) {
        const ompp_message_t *m = &c->p->messages[i], *before = i ? m - 1 : NULL;
        if ((m->from != OMPP_NONE && m->from >= c->p->nranks) || (m->to != OMPP_NONE && m->to >= c->p->nranks) ||
            (m->from == OMPP_NONE && m->to != OMPP_NONE))
            return wrong(c, "messages %zu: of ranks that do not exist", i);
        if (before && (before->from > m->from || (before->from == m->from && before->to >= m->to)))
            return wrong(c, "messages %zu: not in order", i);
    }
    return 0;
}

static bool are_clocks(const ompp_whatif_region_t *region)
{
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
        const ompp_whatif_clock_t *clock = &region->clocks[k];
        if (clock->nblocks > OMPP_WHATIF_BLOCKS || clock->permille > 1000 || clock->saved_ns > clock->time_ns ||
            clock->paid_ns > clock->time_ns)
            return false;
    }
    return true;
}

static int check_whatif(check_t *c)
{
    const ompp_whatif_t *w = &c->p->whatif;

    for (size_t i = 0; i < w->nregions; i++)
        if (!are_clocks(&w->regions[i])) return wrong(c, "causal profile, region %zu: a clock says what cannot be", i);
    if (!are_clocks(&w->ideal)) return wrong(c, "causal profile: an ideal clock says what cannot be");
    return w->control.nblocks > OMPP_WHATIF_BLOCKS ? wrong(c, "causal profile: control says what cannot be") : 0;
}

/* Later ones rely on what earlier ones have found right. */
static int (*const checks[])(check_t *) = {check_strings, check_records, check_ranks,    check_locations, check_metrics,
                                           check_objects, check_nodes,   check_messages, check_whatif};

int ompp_profile_check(const ompp_profile_t *profile, char *why, size_t n)
{
    check_t c = {.p = profile, .why = why, .size = n};
    int rc = 0;

    if (n) why[0] = '\0';
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && rc == 0; i++) rc = checks[i](&c);
    if (rc == -OMPP_E_NOMEM) wrong(&c, "out of memory");
    ompp_metric_list_fini(&c.metrics);
    return rc;
}
