/**
 * \file
 * XML to profile, element by element: where its attributes go, and what has to be true of them.
 */
#include "report/ompp_report.h"
#include "report/ompp_xml_in_priv.h"

#include "analysis/ompp_efficiency.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ompp_xml_fail(ompp_xml_in_t *x, int code, const char *format, ...)
{
    va_list args;

    if (x->rc) return;
    x->rc = -code;
    va_start(args, format);
    vsnprintf(x->why, sizeof x->why, format, args);
    va_end(args);
    for (char *c = x->why; *c; c++) /* it may quote the file, and is one line */
        if ((unsigned char)*c < ' ') *c = ' ';
}

/* ---- The profile ------------------------------------------------------------------------------------------------- */

static void take_root(ompp_xml_in_t *x, const void *item)
{
    const ompp_xml_root_t *root = item;

    x->have_root = true;
    if (root->format != OMPP_REPORT_FORMAT)
        ompp_xml_fail(x, OMPP_E_VERSION, "format %" PRIu32 ", this program reads format %d", root->format,
                      OMPP_REPORT_FORMAT);
}

static void *place_run(ompp_xml_in_t *x)
{
    if (x->have_run) ompp_xml_fail(x, OMPP_E_FORMAT, "second <run>");
    x->have_run = true;
    return x->profile;
}

static void take_rank(ompp_xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_rank_t *r = item;

    if (p->nranks_kept && p->ranks[p->nranks_kept - 1].rank >= r->rank)
        ompp_xml_fail(x, OMPP_E_FORMAT, "ranks do not ascend");
    if (r->rank >= p->nranks) ompp_xml_fail(x, OMPP_E_FORMAT, "rank %" PRIu32 " of %" PRIu32, r->rank, p->nranks);
    if (x->rc == 0) ompp_profile_add_rank(p, r);
}

/* Number of metrics of a registered set. */
static uint32_t metrics_in(const ompp_profile_t *p, uint32_t set)
{
    uint32_t n = 0;

    for (size_t i = 0; i < p->nmetrics; i++) n += p->metrics[i].set == set;
    return n;
}

static void take_metric(ompp_xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_metric_t *m = item;

    if (m->set == OMPP_SET_MPI) {
        bool same = m->index == x->builtin && m->index < OMPP_METRIC_MPI_NUM &&
                    strcmp(ompp_profile_text(p, m->name), ompp_mpi_metrics[m->index].name) == 0;
        if (!same)
            ompp_xml_fail(x, OMPP_E_FORMAT, "metric %" PRIu32 " of set %" PRIu32 " is not the expected one", m->index,
                          m->set);
        x->builtin++;
        return;
    }
    if (m->set < OMPP_SET_FIRST_FREE || m->index != metrics_in(p, m->set))
        ompp_xml_fail(x, OMPP_E_FORMAT, "metric %" PRIu32 " of set %" PRIu32 " out of order", m->index, m->set);
    if (x->rc == 0) ompp_profile_add_metric(p, m);
}

static void take_node(ompp_xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_node_t *n = item;

    if (!x->have_root_node) { /* the profile comes with it */
        if (n->parent != OMPP_NONE || n->region != OMPP_NONE)
            ompp_xml_fail(x, OMPP_E_FORMAT, "node 0 is the root, without parent and region");
        p->nodes[0].first_ns = n->first_ns;
        p->nodes[0].first_rank = n->first_rank;
        x->have_root_node = true;
        return;
    }
    if (n->parent >= p->nnodes)
        ompp_xml_fail(x, OMPP_E_FORMAT, "the parent of node %" PRIu64 " does not stand before it", x->id);
    if (n->region >= p->nregions) ompp_xml_fail(x, OMPP_E_FORMAT, "node %" PRIu64 " has no known region", x->id);
    if (x->rc == 0) ompp_profile_add_node(p, n->region, n->parent, n->first_ns, n->first_rank);
}

/* The block for the open element; leaves it in x->values. */
static void open_block(ompp_xml_in_t *x, uint32_t location, uint32_t set, uint32_t object, uint32_t nvalues)
{
    ompp_profile_t *p = x->profile;
    uint32_t node = (uint32_t)p->nnodes - 1, before = p->nodes[node].nblocks;

    x->values = NULL;
    if (location >= p->nlocations) ompp_xml_fail(x, OMPP_E_FORMAT, "unknown location %" PRIu32, location);
    if (x->rc) return;
    x->values = ompp_profile_block(p, node, location, set, object, nvalues);
    x->nvalues = nvalues;
    if (p->nodes[node].nblocks == before)
        ompp_xml_fail(x, OMPP_E_FORMAT, "second value for location %" PRIu32, location);
}

static void take_times(ompp_xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_xml_times_t *t = item;
    uint32_t region = p->nodes[p->nnodes - 1].region;

    if (region == OMPP_NONE) {
        ompp_xml_fail(x, OMPP_E_FORMAT, "<times> of the root");
        return;
    }
    open_block(x, t->location, OMPP_SET_PHASES, 0, ompp_phase_values(p->regions[region].construct));
    if (x->rc == 0 && x->values) x->values[0] = t->visits;
}

static void take_phase(ompp_xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_xml_phase_t *phase = item;
    unsigned construct = p->regions[p->nodes[p->nnodes - 1].region].construct;
    const unsigned slot = ompp_phase_slot(construct, phase->phase);

    if (slot == OMPP_NO_SLOT)
        ompp_xml_fail(x, OMPP_E_FORMAT, "%s has no phase \"%s\"", ompp_constructs[construct].full,
                      ompp_phase_name[phase->phase]);
    for (unsigned i = 0; x->rc == 0 && x->values && i < OMPP_SLOT_NUM; i++)
        x->values[ompp_value_index(slot, i)] = phase->item[i];
}

static void take_values(ompp_xml_in_t *x, const void *item)
{
    const ompp_block_t *b = item;
    const uint32_t n = b->set == OMPP_SET_MPI ? OMPP_METRIC_MPI_NUM : metrics_in(x->profile, b->set);

    x->have_values = false;
    if (!n || b->set == OMPP_SET_PHASES) ompp_xml_fail(x, OMPP_E_FORMAT, "unknown metric set %" PRIu32, b->set);
    if (x->rc == 0) open_block(x, b->location, b->set, b->object, n);
}

static void text_values(ompp_xml_in_t *x, const char *text)
{
    uint32_t n = 0;

    for (text += strspn(text, " \t\r\n"); *text && x->rc == 0; text += strspn(text, " \t\r\n"), n++) {
        char number[24];
        size_t length = strcspn(text, " \t\r\n");
        snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : sizeof number - 1), text);
        if (n < x->nvalues && !ompp_xml_parse_u64(number, UINT64_MAX, &x->values[n]))
            ompp_xml_fail(x, OMPP_E_FORMAT, "<values>: \"%s\" is not a number", number);
        text += length;
    }
    if (n != x->nvalues || x->have_values)
        ompp_xml_fail(x, OMPP_E_FORMAT, "<values> holds %" PRIu32 " numbers, expected %" PRIu32, n, x->nvalues);
    x->have_values = true;
}

static void take_spread(ompp_xml_in_t *x, const void *item)
{
    const ompp_spread_t *s = item;
    ompp_node_t *node = &x->profile->nodes[x->profile->nnodes - 1];

    *(s->over ? &node->over_ranks : &node->over_threads) = *s;
}

static void take_coverage(ompp_xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_coverage_t *c = item;
    size_t before = p->ncoverage;

    ompp_profile_add_coverage(p, c->kind, ompp_profile_text(p, c->subject), ompp_profile_text(p, c->reason), c->count);
    if (p->ncoverage == before && !p->failed) ompp_xml_fail(x, OMPP_E_FORMAT, "the same coverage line twice");
    if (x->rc != 0 || p->failed) return;
    p->coverage[before].nranks = c->nranks;
    p->coverage[before].first_rank = c->first_rank;
}

/* Losses make up what is no useful time: of all of them together that is asked at the end. */
static void take_efficiency(ompp_xml_in_t *x, const void *item)
{
    const ompp_efficiency_t *e = item;

    x->lost_ns += (int64_t)(e->thread_ns - e->useful_ns);
}

static void take_loss(ompp_xml_in_t *x, const void *item)
{
    x->lost_ns -= (int64_t)((const ompp_loss_t *)item)->lost_ns;
}

/* ---- What-if ----------------------------------------------------------------------------------------------------- */

static void *place_whatif(ompp_xml_in_t *x)
{
    if (x->profile->whatif.mode != OMPP_WHATIF_OFF) ompp_xml_fail(x, OMPP_E_FORMAT, "second <whatif>");
    return &x->profile->whatif;
}

static void take_whatif(ompp_xml_in_t *x, const void *item)
{
    if (((const ompp_whatif_t *)item)->mode == OMPP_WHATIF_OFF)
        ompp_xml_fail(x, OMPP_E_FORMAT, "<whatif> of a run without");
}

static void take_followed(ompp_xml_in_t *x, const void *item)
{
    const ompp_whatif_region_t *region = item;
    const uint64_t key = ompp_hash_pair(region->region, region->point);

    if (ompp_table_get(&x->followed, key))
        ompp_xml_fail(x, OMPP_E_FORMAT, "region %" PRIu32 " followed twice", region->region);
    if (!ompp_table_set(&x->followed, key, 1)) ompp_xml_fail(x, OMPP_E_NOMEM, "out of memory");
    if (x->rc == 0) ompp_profile_add_whatif_region(x->profile, region);
}

static void *place_ideal(ompp_xml_in_t *x)
{
    ompp_whatif_t *w = &x->profile->whatif;

    if (w->ideal.followed_ns || w->nregions)
        ompp_xml_fail(x, OMPP_E_FORMAT, "<ideal> must come once, before <followed>");
    w->ideal.region = w->ideal.point = OMPP_NONE;
    return &w->ideal;
}

static ompp_whatif_region_t *open_followed(ompp_xml_in_t *x)
{
    ompp_whatif_t *w = &x->profile->whatif;

    return w->nregions ? &w->regions[w->nregions - 1] : &w->ideal;
}

/* Clocks stand in the order of the array, and those not used are not there. */
static unsigned nclocks(const ompp_whatif_region_t *region)
{
    unsigned n = OMPP_WHATIF_SPEEDUPS;

    while (n > 0 && region->clocks[n - 1].permille == 0) n--;
    return n;
}

static void *place_clock(ompp_xml_in_t *x)
{
    ompp_whatif_region_t *region = open_followed(x);
    const unsigned n = nclocks(region);

    if (n < OMPP_WHATIF_SPEEDUPS) return &region->clocks[n];
    ompp_xml_fail(x, OMPP_E_FORMAT, "more than %u clocks", OMPP_WHATIF_SPEEDUPS);
    return NULL;
}

static void take_clock(ompp_xml_in_t *x, const void *item)
{
    const uint32_t permille = ((const ompp_whatif_clock_t *)item)->permille;

    if (permille == 0 || permille > 1000) ompp_xml_fail(x, OMPP_E_FORMAT, "speed-up of %" PRIu32 " permille", permille);
}

static void *place_control(ompp_xml_in_t *x) { return &x->profile->whatif.control; }

static void add_block(ompp_xml_in_t *x, ompp_whatif_clock_t *clock, const void *item)
{
    if (clock->nblocks < OMPP_WHATIF_BLOCKS) clock->blocks[clock->nblocks++] = *(const ompp_whatif_block_t *)item;
    else ompp_xml_fail(x, OMPP_E_FORMAT, "more than %u blocks", OMPP_WHATIF_BLOCKS);
}

static void take_block(ompp_xml_in_t *x, const void *item)
{
    ompp_whatif_region_t *region = open_followed(x);

    add_block(x, &region->clocks[nclocks(region) - 1], item);
}

static void take_control_block(ompp_xml_in_t *x, const void *item) { add_block(x, &x->profile->whatif.control, item); }

static const ompp_xml_element_t elements[] = {
    {"ompp-profile", "", .record = &ompp_record_root, .take = take_root},
    {"run", "ompp-profile", .record = &ompp_record_profile, .place = place_run},
    {"settings", .parent = "ompp-profile"},
    {"modules", .parent = "ompp-profile"},
    {"ranks", .parent = "ompp-profile"},
    {"locations", .parent = "ompp-profile"},
    {"regions", .parent = "ompp-profile"},
    {"metrics", .parent = "ompp-profile"},
    {"objects", .parent = "ompp-profile"},
    {"nodes", .parent = "ompp-profile"},
    {"coverage", .parent = "ompp-profile"},
    {"setting", "settings", .record = &ompp_record_setting},
    {"module", "modules", .record = &ompp_record_module},
    {"rank", "ranks", .record = &ompp_record_rank, .take = take_rank},
    {"location", "locations", .record = &ompp_record_location},
    {"region", "regions", .record = &ompp_record_region},
    {"metric", "metrics", .record = &ompp_record_metric, .take = take_metric},
    {"object", "objects", .record = &ompp_record_object},
    {"node", "nodes", .record = &ompp_record_node, .take = take_node},
    {"times", "node", .record = &ompp_record_times, .take = take_times},
    {"values", "node", .record = &ompp_record_block, .take = take_values, .text = text_values},
    {"spread", "node", .record = &ompp_record_spread, .take = take_spread},
    {"phase", "times", .record = &ompp_record_phase, .take = take_phase},
    {"properties", .parent = "ompp-profile"},
    {"line", "coverage", .record = &ompp_record_coverage, .take = take_coverage},
    {"property", "properties", .record = &ompp_record_property},
    {"messages", .parent = "ompp-profile"},
    {"message", "messages", .record = &ompp_record_message},
    {"whatif", "ompp-profile", .record = &ompp_record_whatif, .take = take_whatif, .place = place_whatif},
    {"point", "whatif", .record = &ompp_record_whatif_point},
    {"control", "whatif", .record = &ompp_record_control, .place = place_control},
    {"block", "control", .record = &ompp_record_whatif_block, .take = take_control_block},
    {"ideal", "whatif", .record = &ompp_record_ideal, .place = place_ideal},
    {"clock", "ideal", .record = &ompp_record_whatif_clock, .take = take_clock, .place = place_clock},
    {"followed", "whatif", .record = &ompp_record_whatif_region, .take = take_followed},
    {"clock", "followed", .record = &ompp_record_whatif_clock, .take = take_clock, .place = place_clock},
    {"block", "clock", .record = &ompp_record_whatif_block, .take = take_block},
    {"efficiencies", .parent = "ompp-profile"},
    {"efficiency", "efficiencies", .record = &ompp_record_efficiency, .take = take_efficiency},
    {"loss", "efficiency", .record = &ompp_record_loss, .take = take_loss},
    {"results", .parent = "ompp-profile"},
    {"result", "results", .record = &ompp_record_result},
    {"gain", "result", .record = &ompp_record_gain},
};

const ompp_xml_element_t *ompp_xml_find_element(const char *name, const char *parent)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (strcmp(elements[i].name, name) == 0 && strcmp(elements[i].parent, parent) == 0) return &elements[i];
    return NULL;
}
