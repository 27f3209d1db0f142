/**
 * \file
 * XML to profile. The file is read element by element and every value is checked before it is used: names, numbers, and
 * that each index points to something that stands before it. Rubbish is refused with the line that it stands on.
 */
#define _GNU_SOURCE /* memmem */
#include "report/ompp_report.h"
#include "report/ompp_xml_read_priv.h"

#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_properties.h"
#include "base/ompp_error.h"
#include "model/ompp_merge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Elements of a list count from 0, so that an index is found without searching, and never points ahead. */
static bool read_numbered(ompp_xml_in_t *x, const ompp_xml_record_t *record, void *data, size_t expected)
{
    uint64_t id;

    if (!ompp_xml_read_record(x, record, data, &id)) return false;
    if (id != expected)
        ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> has id %" PRIu64 ", expected %zu", record->element, id, expected);
    return x->rc == 0;
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static void enter_root(ompp_xml_in_t *x)
{
    static const ompp_xml_field_t format = {"format", OMPP_XML_U32, 0, true, NULL};
    static const ompp_xml_record_t root = {"ompp-profile", 1, &format};
    uint32_t version = 0;

    x->have_root = true;
    if (ompp_xml_read_record(x, &root, &version, NULL) && version != OMPP_REPORT_FORMAT)
        ompp_xml_fail(x, OMPP_E_VERSION, "format %" PRIu32 ", this program reads format %d", version,
                      OMPP_REPORT_FORMAT);
}

static void enter_run(ompp_xml_in_t *x)
{
    if (x->have_run) ompp_xml_fail(x, OMPP_E_FORMAT, "second <run>");
    x->have_run = true;
    ompp_xml_read_record(x, &ompp_xml_run, x->profile, NULL);
}

static void enter_list(ompp_xml_in_t *x)
{
    if (!x->have_run) ompp_xml_fail(x, OMPP_E_FORMAT, "<run> must come first");
    if (xmlTextReaderHasAttributes(x->reader) == 1) ompp_xml_fail(x, OMPP_E_FORMAT, "attributes where none are known");
}

static void enter_setting(ompp_xml_in_t *x)
{
    ompp_setting_t s = {0};

    if (ompp_xml_read_record(x, &ompp_xml_setting, &s, NULL))
        ompp_profile_add_setting(x->profile, ompp_profile_text(x->profile, s.name),
                                 ompp_profile_text(x->profile, s.value));
}

static void enter_module(ompp_xml_in_t *x)
{
    ompp_module_t m = {0};

    if (read_numbered(x, &ompp_xml_module, &m, x->profile->nmodules)) ompp_profile_add_module(x->profile, &m);
}

static void enter_rank(ompp_xml_in_t *x)
{
    ompp_profile_t *p = x->profile;
    ompp_rank_t r = {0};

    if (!ompp_xml_read_record(x, &ompp_xml_rank, &r, NULL)) return;
    if (p->nranks_kept && p->ranks[p->nranks_kept - 1].rank >= r.rank)
        ompp_xml_fail(x, OMPP_E_FORMAT, "ranks do not ascend");
    if (r.rank >= p->nranks) ompp_xml_fail(x, OMPP_E_FORMAT, "rank %" PRIu32 " of %" PRIu32, r.rank, p->nranks);
    if (x->rc == 0) ompp_profile_add_rank(p, &r);
}

static bool have_rank(const ompp_profile_t *p, uint32_t rank)
{
    for (size_t i = p->nranks_kept; i-- > 0;) /* mostly the last one */
        if (p->ranks[i].rank == rank) return true;
    return false;
}

static void enter_location(ompp_xml_in_t *x)
{
    ompp_profile_t *p = x->profile;
    ompp_location_t l = {0};

    if (!read_numbered(x, &ompp_xml_location, &l, p->nlocations)) return;
    if (l.rank != OMPP_NONE && !have_rank(p, l.rank))
        ompp_xml_fail(x, OMPP_E_FORMAT, "location of the unknown rank %" PRIu32, l.rank);
    for (size_t i = 0; l.rank == OMPP_NONE && i < p->nlocations; i++)
        if (p->locations[i].rank == OMPP_NONE) ompp_xml_fail(x, OMPP_E_FORMAT, "second location without rank");
    if (l.rank == OMPP_NONE && !p->nrest) ompp_xml_fail(x, OMPP_E_FORMAT, "location without rank, but no rest-ranks");
    if (x->rc == 0) ompp_profile_add_location(p, &l);
}

static void enter_region(ompp_xml_in_t *x)
{
    ompp_profile_t *p = x->profile;
    ompp_region_t r = {0};

    if (!read_numbered(x, &ompp_xml_region, &r, p->nregions)) return;
    if (r.module != OMPP_NONE && r.module >= p->nmodules)
        ompp_xml_fail(x, OMPP_E_FORMAT, "unknown module %" PRIu32, r.module);
    if (x->rc == 0) ompp_profile_add_region(p, &r);
}

/* Number of metrics of a registered set. */
static uint32_t metrics_in(const ompp_profile_t *p, uint32_t set)
{
    uint32_t n = 0;

    for (size_t i = 0; i < p->nmetrics; i++) n += p->metrics[i].set == set;
    return n;
}

static void enter_metric(ompp_xml_in_t *x)
{
    ompp_profile_t *p = x->profile;
    ompp_metric_t m = {0};

    if (!ompp_xml_read_record(x, &ompp_xml_metric, &m, NULL)) return;
    if (m.set == OMPP_SET_MPI) {
        bool same = m.index == x->builtin && m.index < OMPP_METRIC_MPI_NUM &&
                    strcmp(ompp_profile_text(p, m.name), ompp_mpi_metrics[m.index].name) == 0;
        if (!same)
            ompp_xml_fail(x, OMPP_E_FORMAT, "metric %" PRIu32 " of set %" PRIu32 " is not the expected one", m.index,
                          m.set);
        x->builtin++;
        return;
    }
    if (m.set < OMPP_SET_FIRST_FREE || m.index != metrics_in(p, m.set))
        ompp_xml_fail(x, OMPP_E_FORMAT, "metric %" PRIu32 " of set %" PRIu32 " out of order", m.index, m.set);
    if (x->rc == 0) ompp_profile_add_metric(p, &m);
}

static void enter_object(ompp_xml_in_t *x)
{
    ompp_object_t o = {0};

    if (read_numbered(x, &ompp_xml_object, &o, x->profile->nobjects + 1)) ompp_profile_add_object(x->profile, &o);
}

static void enter_node(ompp_xml_in_t *x)
{
    ompp_profile_t *p = x->profile;
    ompp_node_t n = {0};
    uint64_t id;

    if (!ompp_xml_read_record(x, &ompp_xml_node, &n, &id)) return;
    if (id == 0) { /* the profile comes with its root */
        if (n.parent != OMPP_NONE || n.region != OMPP_NONE || x->have_root_node)
            ompp_xml_fail(x, OMPP_E_FORMAT, "node 0 is the root, once, without parent and region");
        p->nodes[0].first_ns = n.first_ns;
        p->nodes[0].first_rank = n.first_rank;
        x->have_root_node = true;
        return;
    }
    if (!x->have_root_node) ompp_xml_fail(x, OMPP_E_FORMAT, "the first node is not the root");
    if (id != p->nnodes) ompp_xml_fail(x, OMPP_E_FORMAT, "<node> has id %" PRIu64 ", expected %zu", id, p->nnodes);
    if (n.parent >= p->nnodes)
        ompp_xml_fail(x, OMPP_E_FORMAT, "the parent of node %" PRIu64 " does not stand before it", id);
    if (n.region >= p->nregions) ompp_xml_fail(x, OMPP_E_FORMAT, "node %" PRIu64 " has no known region", id);
    if (x->rc == 0) ompp_profile_add_node(p, n.region, n.parent, n.first_ns, n.first_rank);
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

static void enter_times(ompp_xml_in_t *x)
{
    ompp_profile_t *p = x->profile;
    ompp_xml_times_t t = {0};
    uint32_t region = p->nodes[p->nnodes - 1].region;

    if (!ompp_xml_read_record(x, &ompp_xml_times, &t, NULL)) return;
    if (region == OMPP_NONE) {
        ompp_xml_fail(x, OMPP_E_FORMAT, "<times> of the root");
        return;
    }
    open_block(x, t.location, OMPP_SET_PHASES, 0, ompp_phase_values(p->regions[region].construct));
    if (x->rc == 0 && x->values) x->values[0] = t.visits;
}

static void enter_phase(ompp_xml_in_t *x)
{
    ompp_profile_t *p = x->profile;
    ompp_xml_phase_t phase = {0};
    unsigned construct = p->regions[p->nodes[p->nnodes - 1].region].construct, slot;

    if (!ompp_xml_read_record(x, &ompp_xml_phase, &phase, NULL) || !x->values) return;
    slot = ompp_phase_slot(construct, phase.phase);
    if (slot == OMPP_NO_SLOT)
        ompp_xml_fail(x, OMPP_E_FORMAT, "%s has no phase \"%s\"", ompp_constructs[construct].full,
                      ompp_phase_name[phase.phase]);
    for (unsigned i = 0; x->rc == 0 && i < OMPP_SLOT_NUM; i++) x->values[ompp_value_index(slot, i)] = phase.item[i];
}

static void enter_values(ompp_xml_in_t *x)
{
    ompp_xml_values_t v = {0};
    uint32_t n;

    x->have_values = false;
    if (!ompp_xml_read_record(x, &ompp_xml_values, &v, NULL)) return;
    n = v.set == OMPP_SET_MPI ? OMPP_METRIC_MPI_NUM : metrics_in(x->profile, v.set);
    if (!n || v.set == OMPP_SET_PHASES) ompp_xml_fail(x, OMPP_E_FORMAT, "unknown metric set %" PRIu32, v.set);
    if (x->rc == 0) open_block(x, v.location, v.set, v.object, n);
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

static void enter_spread(ompp_xml_in_t *x)
{
    ompp_xml_spread_t s = {0};
    ompp_node_t *node = &x->profile->nodes[x->profile->nnodes - 1];

    if (!ompp_xml_read_record(x, &ompp_xml_spread, &s, NULL)) return;
    *(s.over_ranks ? &node->over_ranks : &node->over_threads) = s.spread;
}

static void enter_coverage(ompp_xml_in_t *x)
{
    ompp_profile_t *p = x->profile;
    ompp_coverage_t c = {0};
    size_t before = p->ncoverage;

    if (!ompp_xml_read_record(x, &ompp_xml_coverage, &c, NULL)) return;
    ompp_profile_add_coverage(p, c.kind, ompp_profile_text(p, c.subject), ompp_profile_text(p, c.reason), c.count);
    if (p->ncoverage == before && !p->failed) ompp_xml_fail(x, OMPP_E_FORMAT, "the same coverage line twice");
    if (x->rc == 0 && !p->failed) p->coverage[before].nranks = c.nranks;
}

/* Checked, and otherwise left: they follow from the rest. */
static void enter_property(ompp_xml_in_t *x)
{
    ompp_finding_t f = {0};

    if (!ompp_xml_read_record(x, &ompp_xml_property, &f, NULL)) return;
    if (f.region != OMPP_NONE && f.region >= x->profile->nregions)
        ompp_xml_fail(x, OMPP_E_FORMAT, "unknown region %" PRIu32, f.region);
}

static void enter_message(ompp_xml_in_t *x)
{
    ompp_message_t m = {0};

    if (ompp_xml_read_record(x, &ompp_xml_message, &m, NULL)) ompp_profile_add_message(x->profile, &m);
}

/* Losses make up what is no useful time: of all of them together that is asked at the end. */
static void enter_efficiency(ompp_xml_in_t *x)
{
    ompp_efficiency_t e = {0};

    if (ompp_xml_read_record(x, &ompp_xml_efficiency, &e, NULL)) x->lost_ns += (int64_t)(e.thread_ns - e.useful_ns);
}

static void enter_loss(ompp_xml_in_t *x)
{
    ompp_loss_t loss = {0};

    if (ompp_xml_read_record(x, &ompp_xml_loss, &loss, NULL)) x->lost_ns -= (int64_t)loss.lost_ns;
}

/* ---- What-if ----------------------------------------------------------------------------------------------------- */

static void enter_whatif(ompp_xml_in_t *x)
{
    ompp_whatif_t *w = &x->profile->whatif;

    if (!x->have_run) ompp_xml_fail(x, OMPP_E_FORMAT, "<run> must come first");
    if (w->mode != OMPP_WHATIF_OFF) ompp_xml_fail(x, OMPP_E_FORMAT, "second <whatif>");
    ompp_xml_read_record(x, &ompp_xml_whatif, w, NULL);
    if (w->mode == OMPP_WHATIF_OFF) ompp_xml_fail(x, OMPP_E_FORMAT, "<whatif> of a run without");
}

static void enter_point(ompp_xml_in_t *x)
{
    ompp_whatif_point_t point = {0};

    if (!ompp_xml_read_record(x, &ompp_xml_point, &point, NULL)) return;
    if (point.region != OMPP_NONE && point.region >= x->profile->nregions)
        ompp_xml_fail(x, OMPP_E_FORMAT, "unknown region %" PRIu32, point.region);
    if (x->rc == 0) ompp_profile_add_whatif_point(x->profile, &point);
}

static void enter_followed(ompp_xml_in_t *x)
{
    ompp_whatif_region_t *region = calloc(1, sizeof *region);

    if (!region) {
        ompp_xml_fail(x, OMPP_E_NOMEM, "out of memory");
    } else if (ompp_xml_read_record(x, &ompp_xml_followed, region, NULL)) {
        if (region->region != OMPP_NONE && region->region >= x->profile->nregions)
            ompp_xml_fail(x, OMPP_E_FORMAT, "unknown region %" PRIu32, region->region);
        const uint64_t key = ompp_hash_pair(region->region, region->point);
        if (ompp_table_get(&x->followed, key))
            ompp_xml_fail(x, OMPP_E_FORMAT, "region %" PRIu32 " followed twice", region->region);
        if (!ompp_table_set(&x->followed, key, 1)) ompp_xml_fail(x, OMPP_E_NOMEM, "out of memory");
        if (x->rc == 0) ompp_profile_add_whatif_region(x->profile, region);
    }
    free(region);
}

static void enter_ideal(ompp_xml_in_t *x)
{
    ompp_whatif_t *w = &x->profile->whatif;

    if (w->ideal.followed_ns || w->nregions)
        ompp_xml_fail(x, OMPP_E_FORMAT, "<ideal> must come once, before <followed>");
    ompp_xml_read_record(x, &ompp_xml_ideal, &w->ideal, NULL);
    w->ideal.region = w->ideal.point = OMPP_NONE;
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

static void enter_clock(ompp_xml_in_t *x)
{
    ompp_whatif_region_t *region = open_followed(x);
    unsigned n = nclocks(region);

    if (n == OMPP_WHATIF_SPEEDUPS) {
        ompp_xml_fail(x, OMPP_E_FORMAT, "more than %u clocks", OMPP_WHATIF_SPEEDUPS);
        return;
    }
    if (!ompp_xml_read_record(x, &ompp_xml_clock, &region->clocks[n], NULL)) return;
    if (region->clocks[n].permille == 0 || region->clocks[n].permille > 1000)
        ompp_xml_fail(x, OMPP_E_FORMAT, "speed-up of %" PRIu32 " permille", region->clocks[n].permille);
}

static void enter_control(ompp_xml_in_t *x)
{
    ompp_xml_read_record(x, &ompp_xml_control, &x->profile->whatif.control, NULL);
}

static void read_block(ompp_xml_in_t *x, ompp_whatif_clock_t *clock)
{
    if (clock->nblocks == OMPP_WHATIF_BLOCKS) {
        ompp_xml_fail(x, OMPP_E_FORMAT, "more than %u blocks", OMPP_WHATIF_BLOCKS);
        return;
    }
    if (ompp_xml_read_record(x, &ompp_xml_block, &clock->blocks[clock->nblocks], NULL)) clock->nblocks++;
}

static void enter_block(ompp_xml_in_t *x)
{
    ompp_whatif_region_t *region = open_followed(x);

    read_block(x, &region->clocks[nclocks(region) - 1]);
}

static void enter_control_block(ompp_xml_in_t *x) { read_block(x, &x->profile->whatif.control); }

static void enter_result(ompp_xml_in_t *x)
{
    ompp_xml_result_t result = {0};

    if (!ompp_xml_read_record(x, &ompp_xml_result, &result, NULL)) return;
    if (result.region != OMPP_NONE && result.region >= x->profile->nregions)
        ompp_xml_fail(x, OMPP_E_FORMAT, "unknown region %" PRIu32, result.region);
}

static void enter_gain(ompp_xml_in_t *x)
{
    ompp_xml_gain_t gain = {0};

    ompp_xml_read_record(x, &ompp_xml_gain, &gain, NULL);
}

static const ompp_xml_element_t elements[] = {
    {"ompp-profile", "", enter_root, NULL},
    {"run", "ompp-profile", enter_run, NULL},
    {"settings", "ompp-profile", enter_list, NULL},
    {"modules", "ompp-profile", enter_list, NULL},
    {"ranks", "ompp-profile", enter_list, NULL},
    {"locations", "ompp-profile", enter_list, NULL},
    {"regions", "ompp-profile", enter_list, NULL},
    {"metrics", "ompp-profile", enter_list, NULL},
    {"objects", "ompp-profile", enter_list, NULL},
    {"nodes", "ompp-profile", enter_list, NULL},
    {"coverage", "ompp-profile", enter_list, NULL},
    {"setting", "settings", enter_setting, NULL},
    {"module", "modules", enter_module, NULL},
    {"rank", "ranks", enter_rank, NULL},
    {"location", "locations", enter_location, NULL},
    {"region", "regions", enter_region, NULL},
    {"metric", "metrics", enter_metric, NULL},
    {"object", "objects", enter_object, NULL},
    {"node", "nodes", enter_node, NULL},
    {"times", "node", enter_times, NULL},
    {"values", "node", enter_values, text_values},
    {"spread", "node", enter_spread, NULL},
    {"phase", "times", enter_phase, NULL},
    {"properties", "ompp-profile", enter_list, NULL},
    {"line", "coverage", enter_coverage, NULL},
    {"property", "properties", enter_property, NULL},
    {"messages", "ompp-profile", enter_list, NULL},
    {"message", "messages", enter_message, NULL},
    {"whatif", "ompp-profile", enter_whatif, NULL},
    {"point", "whatif", enter_point, NULL},
    {"control", "whatif", enter_control, NULL},
    {"block", "control", enter_control_block, NULL},
    {"ideal", "whatif", enter_ideal, NULL},
    {"clock", "ideal", enter_clock, NULL},
    {"followed", "whatif", enter_followed, NULL},
    {"clock", "followed", enter_clock, NULL},
    {"block", "clock", enter_block, NULL},
    {"efficiencies", "ompp-profile", enter_list, NULL},
    {"efficiency", "efficiencies", enter_efficiency, NULL},
    {"loss", "efficiency", enter_loss, NULL},
    {"results", "ompp-profile", enter_list, NULL},
    {"result", "results", enter_result, NULL},
    {"gain", "result", enter_gain, NULL},
};

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static const ompp_xml_element_t *find_element(const char *name, const char *parent)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (strcmp(elements[i].name, name) == 0 && strcmp(elements[i].parent, parent) == 0) return &elements[i];
    return NULL;
}

static void start_element(ompp_xml_in_t *x)
{
    const char *name = (const char *)xmlTextReaderConstName(x->reader), *parent;
    int depth = xmlTextReaderDepth(x->reader);

    parent = depth > 0 && depth < OMPP_XML_DEPTH && x->open[depth - 1] ? x->open[depth - 1]->name : "";
    const ompp_xml_element_t *element = depth < OMPP_XML_DEPTH ? find_element(name ? name : "", parent) : NULL;
    if (!element) {
        ompp_xml_fail(x, OMPP_E_FORMAT, "<%.60s> is not known here", name ? name : "");
        return;
    }
    x->open[depth] = element;
    element->enter(x);
    if (element->text && xmlTextReaderIsEmptyElement(x->reader) == 1)
        ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> is empty", element->name);
    if (x->profile->failed) ompp_xml_fail(x, OMPP_E_NOMEM, "out of memory");
}

static void take_text(ompp_xml_in_t *x)
{
    int depth = xmlTextReaderDepth(x->reader) - 1;
    const char *text = (const char *)xmlTextReaderConstValue(x->reader);
    const ompp_xml_element_t *element = depth >= 0 && depth < OMPP_XML_DEPTH ? x->open[depth] : NULL;

    if (element && element->text && x->values) element->text(x, text ? text : "");
    else ompp_xml_fail(x, OMPP_E_FORMAT, "text \"%.40s\" where none is known", text ? text : "");
}

static void end_element(ompp_xml_in_t *x)
{
    int depth = xmlTextReaderDepth(x->reader);

    if (depth < OMPP_XML_DEPTH && x->open[depth]->text && !x->have_values)
        ompp_xml_fail(x, OMPP_E_FORMAT, "<%s> is empty", x->open[depth]->name);
}

static void take_piece(ompp_xml_in_t *x)
{
    switch (xmlTextReaderNodeType(x->reader)) {
    case XML_READER_TYPE_ELEMENT: start_element(x); break;
    case XML_READER_TYPE_END_ELEMENT: end_element(x); break;
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA: take_text(x); break;
    case XML_READER_TYPE_DOCUMENT_TYPE:
    case XML_READER_TYPE_ENTITY_REFERENCE:
        ompp_xml_fail(x, OMPP_E_FORMAT, "document types and entities are not accepted");
        break;
    default: /* comments, blanks */ break;
    }
}

/* The XML parser's own complaint; the first one counts. Signature since libxml2 2.12 has a const here. */
#if LIBXML_VERSION >= 21200
static void on_syntax(void *data, const xmlError *error)
#else
static void on_syntax(void *data, xmlErrorPtr error)
#endif
{
    ompp_xml_in_t *x = data;

    if (x->syntax[0] || !error) return;
    snprintf(x->syntax, sizeof x->syntax, "%s", error->message ? error->message : "not XML");
    x->syntax[strcspn(x->syntax, "\n")] = 0;
    x->syntax_line = error->line;
}

/* Does a profile lack its end? What the parser then complains about is no fault of what is there. */
static bool is_cut_off(const ompp_xml_in_t *x, int fd)
{
    static const char end[] = "</ompp-profile>";
    char tail[64];
    off_t size = lseek(fd, 0, SEEK_END), from = size > (off_t)sizeof tail ? size - (off_t)sizeof tail : 0;
    ssize_t n = size < 0 ? -1 : pread(fd, tail, sizeof tail, from);

    return x->have_root && n >= 0 && !memmem(tail, (size_t)n, end, sizeof end - 1);
}

static void check_whole(ompp_xml_in_t *x)
{
    ompp_profile_t *p = x->profile;
    char why[256];

    if (!x->have_root || !x->have_run) ompp_xml_fail(x, OMPP_E_FORMAT, "no <run>");
    if (x->rc == 0 && x->lost_ns) ompp_xml_fail(x, OMPP_E_FORMAT, "losses do not add up: %" PRId64 " ns", x->lost_ns);
    if (x->rc == 0 && !x->have_root_node) ompp_xml_fail(x, OMPP_E_FORMAT, "no root node");
    if (x->rc == 0 && p->nranks_kept + (uint64_t)p->nrest > p->nranks)
        ompp_xml_fail(x, OMPP_E_FORMAT, "more ranks than the run has");
    if (x->rc == 0 && p->nranks_kept == 0) ompp_xml_fail(x, OMPP_E_FORMAT, "no rank");
    if (x->rc == 0 && ompp_profile_check(p, why, sizeof why)) ompp_xml_fail(x, OMPP_E_FORMAT, "%s", why);
}

static void parse(ompp_xml_in_t *x, int fd, const char *path)
{
    int rc = 0;

    x->reader = xmlReaderForFd(fd, path, NULL, XML_PARSE_NONET);
    x->profile = ompp_profile_new();
    if (!x->reader || !x->profile) {
        ompp_xml_fail(x, OMPP_E_NOMEM, "out of memory");
        return;
    }
    xmlTextReaderSetStructuredErrorHandler(x->reader, (xmlStructuredErrorFunc)on_syntax, x);
    while (x->rc == 0 && (rc = xmlTextReaderRead(x->reader)) == 1) take_piece(x);
    if (rc < 0)
        ompp_xml_fail(x, OMPP_E_FORMAT, "%s%s", is_cut_off(x, fd) ? "the file is cut off: " : "",
                      x->syntax[0] ? x->syntax : "not XML");
    if (x->rc == 0) check_whole(x);
}

int ompp_report_xml_read_fd(int fd, const char *name, ompp_profile_t **profile, char *why, size_t size)
{
    ompp_xml_in_t x = {0};
    int line = 0;

    *profile = NULL;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* no decimal comma */
    locale_t saved = plain ? uselocale(plain) : (locale_t)0;
    parse(&x, fd, name);
    if (x.reader) line = x.syntax_line ? x.syntax_line : xmlTextReaderGetParserLineNumber(x.reader);
    if (x.rc) {
        snprintf(why, size, "%s:%d: %s", name, line, x.why);
        ompp_profile_free(x.profile);
    } else {
        *profile = x.profile;
    }
    xmlFreeTextReader(x.reader);
    ompp_table_fini(&x.followed);
    if (plain) {
        uselocale(saved);
        freelocale(plain);
    }
    return x.rc;
}

int ompp_report_xml_read(const char *path, ompp_profile_t **profile, char *why, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

    *profile = NULL;
    if (fd < 0) {
        snprintf(why, size, "%s: %s", path, strerror(errno));
        return -OMPP_E_OPEN;
    }
    rc = ompp_report_xml_read_fd(fd, path, profile, why, size);
    close(fd);
    return rc;
}
