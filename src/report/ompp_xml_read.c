/**
 * \file
 * XML to profile. The file is read element by element and every value is checked before it is used: names, numbers, and
 * that each index points to something that stands before it. Rubbish is refused with the line that it stands on.
 */
#define _GNU_SOURCE /* memmem */
#include "report/ompp_plain_locale.h"
#include "report/ompp_report.h"
#include "report/ompp_xml_priv.h"

#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_properties.h"
#include "base/ompp_error.h"
#include "model/ompp_merge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libxml/xmlreader.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH 5

typedef struct xml_in xml_in_t;

/*
 * What to do at an element; its place is given by its parent. Its attributes go to place(), or to a copy, which take()
 * checks and puts where it belongs. With neither of them the copy goes to the list of its record; where there is none,
 * it is checked only, for it follows from the rest.
 */
typedef struct {
    const char *name, *parent;   /* parent "": the document */
    const ompp_record_t *record; /* NULL: it has no attributes */
    void (*take)(xml_in_t *x, const void *item);
    void *(*place)(xml_in_t *x); /* NULL after fail(); zeros */
    void (*text)(xml_in_t *x, const char *text);
} element_t;

struct xml_in {
    xmlTextReaderPtr reader;
    ompp_profile_t *profile;
    const element_t *open[MAX_DEPTH];
    bool have_run, have_root, have_root_node;
    uint64_t *values; /* of the open <times> or <values> */
    uint32_t nvalues;
    bool have_values; /* the list of <values> was read */
    int rc;
    int syntax_line;
    char syntax[256]; /* message of the XML parser */
    char why[512];
    uint64_t id;           /* of the element, if its record has numbers */
    unsigned builtin;      /* built-in metrics seen */
    ompp_table_t followed; /* regions and points of <followed> seen */
    int64_t lost_ns;       /* of <efficiency>, less what <loss> has */
};

__attribute__((format(printf, 3, 4))) static void fail(xml_in_t *x, int code, const char *format, ...)
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

/* ---- Attributes -------------------------------------------------------------------------------------------------- */

static unsigned find_field(const ompp_record_t *record, const char *name)
{
    unsigned i = 0;

    for (const ompp_field_t *f = record->fields; f->type && !(f->attribute && strcmp(f->attribute, name) == 0); f++)
        i++;
    return i;
}

static void read_value(xml_in_t *x, const ompp_record_t *record, const ompp_field_t *field, char *text, void *data)
{
    char shown[64];
    uint64_t value;

    snprintf(shown, sizeof shown, "%s", text);
    if (ompp_xml_parse(x->profile, field, text, &value)) ompp_field_set(field, data, value);
    else fail(x, OMPP_E_FORMAT, "<%s %s=\"%s\">: not a valid value", record->element, field->attribute, shown);
    if (x->rc == 0 && field->of && value >= ompp_record_count(x->profile, field->of))
        fail(x, OMPP_E_FORMAT, "unknown %s %" PRIu64, field->of->element, value);
}

/* The attribute under the cursor. seen: bit per field, bit 63 for the id. */
static void read_attribute(xml_in_t *x, const ompp_record_t *record, void *data, uint64_t *seen)
{
    const char *name = (const char *)xmlTextReaderConstName(x->reader);
    xmlChar *value = xmlTextReaderValue(x->reader);
    const unsigned i = find_field(record, name ? name : "");

    if (!name || !value) {
        fail(x, OMPP_E_NOMEM, "out of memory");
    } else if (record->first != OMPP_RECORD_NO_ID && strcmp(name, "id") == 0) {
        *seen |= 1ull << 63;
        if (!ompp_xml_parse_u64((char *)value, UINT32_MAX, &x->id))
            fail(x, OMPP_E_FORMAT, "id \"%.60s\" is not a number", value);
    } else if (!record->fields[i].type) {
        fail(x, OMPP_E_FORMAT, "<%s> has no attribute \"%.60s\"", record->element, name);
    } else {
        *seen |= 1ull << i;
        read_value(x, record, &record->fields[i], (char *)value, data);
    }
    xmlFree(value);
}

/* Elements of a list count from their first number, so that an index is found without searching, and never points
 * ahead. */
static void check_id(xml_in_t *x, const ompp_record_t *record, uint64_t seen)
{
    size_t expected = ompp_record_count(x->profile, record) + (size_t)record->first;

    if (record == &ompp_record_node && !x->have_root_node) expected = 0; /* the profile comes with its root */
    if (!(seen & 1ull << 63)) fail(x, OMPP_E_FORMAT, "<%s> lacks the attribute \"id\"", record->element);
    if (x->id != expected)
        fail(x, OMPP_E_FORMAT, "<%s> has id %" PRIu64 ", expected %zu", record->element, x->id, expected);
}

/* Reads the attributes of the element under the cursor into data; indices that are not there become OMPP_NONE. */
static bool read_record(xml_in_t *x, const ompp_record_t *record, void *data)
{
    uint64_t seen = 0;

    for (const ompp_field_t *f = record->fields; f->type; f++)
        if (f->type == OMPP_FIELD_INDEX) ompp_field_set(f, data, OMPP_NONE);
    while (x->rc == 0 && xmlTextReaderMoveToNextAttribute(x->reader) == 1) read_attribute(x, record, data, &seen);
    xmlTextReaderMoveToElement(x->reader);
    for (unsigned i = 0; record->fields[i].type; i++)
        if (record->fields[i].required && !(seen & 1ull << i))
            fail(x, OMPP_E_FORMAT, "<%s> lacks the attribute \"%s\"", record->element, record->fields[i].attribute);
    if (record->first != OMPP_RECORD_NO_ID) check_id(x, record, seen);
    return x->rc == 0;
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static void take_root(xml_in_t *x, const void *item)
{
    const ompp_xml_root_t *root = item;

    x->have_root = true;
    if (root->format != OMPP_REPORT_FORMAT)
        fail(x, OMPP_E_VERSION, "format %" PRIu32 ", this program reads format %d", root->format, OMPP_REPORT_FORMAT);
}

static void *place_run(xml_in_t *x)
{
    if (x->have_run) fail(x, OMPP_E_FORMAT, "second <run>");
    x->have_run = true;
    return x->profile;
}

static void take_rank(xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_rank_t *r = item;

    if (p->nranks_kept && p->ranks[p->nranks_kept - 1].rank >= r->rank) fail(x, OMPP_E_FORMAT, "ranks do not ascend");
    if (r->rank >= p->nranks) fail(x, OMPP_E_FORMAT, "rank %" PRIu32 " of %" PRIu32, r->rank, p->nranks);
    if (x->rc == 0) ompp_profile_add_rank(p, r);
}

/* Number of metrics of a registered set. */
static uint32_t metrics_in(const ompp_profile_t *p, uint32_t set)
{
    uint32_t n = 0;

    for (size_t i = 0; i < p->nmetrics; i++) n += p->metrics[i].set == set;
    return n;
}

static void take_metric(xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_metric_t *m = item;

    if (m->set == OMPP_SET_MPI) {
        bool same = m->index == x->builtin && m->index < OMPP_METRIC_MPI_NUM &&
                    strcmp(ompp_profile_text(p, m->name), ompp_mpi_metrics[m->index].name) == 0;
        if (!same)
            fail(x, OMPP_E_FORMAT, "metric %" PRIu32 " of set %" PRIu32 " is not the expected one", m->index, m->set);
        x->builtin++;
        return;
    }
    if (m->set < OMPP_SET_FIRST_FREE || m->index != metrics_in(p, m->set))
        fail(x, OMPP_E_FORMAT, "metric %" PRIu32 " of set %" PRIu32 " out of order", m->index, m->set);
    if (x->rc == 0) ompp_profile_add_metric(p, m);
}

static void take_node(xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_node_t *n = item;

    if (!x->have_root_node) { /* the profile comes with it */
        if (n->parent != OMPP_NONE || n->region != OMPP_NONE)
            fail(x, OMPP_E_FORMAT, "node 0 is the root, without parent and region");
        p->nodes[0].first_ns = n->first_ns;
        p->nodes[0].first_rank = n->first_rank;
        x->have_root_node = true;
        return;
    }
    if (n->parent >= p->nnodes)
        fail(x, OMPP_E_FORMAT, "the parent of node %" PRIu64 " does not stand before it", x->id);
    if (n->region >= p->nregions) fail(x, OMPP_E_FORMAT, "node %" PRIu64 " has no known region", x->id);
    if (x->rc == 0) ompp_profile_add_node(p, n->region, n->parent, n->first_ns, n->first_rank);
}

/* The block for the open element; leaves it in x->values. */
static void open_block(xml_in_t *x, uint32_t location, uint32_t set, uint32_t object, uint32_t nvalues)
{
    ompp_profile_t *p = x->profile;
    uint32_t node = (uint32_t)p->nnodes - 1, before = p->nodes[node].nblocks;

    x->values = NULL;
    if (location >= p->nlocations) fail(x, OMPP_E_FORMAT, "unknown location %" PRIu32, location);
    if (x->rc) return;
    x->values = ompp_profile_block(p, node, location, set, object, nvalues);
    x->nvalues = nvalues;
    if (p->nodes[node].nblocks == before) fail(x, OMPP_E_FORMAT, "second value for location %" PRIu32, location);
}

static void take_times(xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_xml_times_t *t = item;
    uint32_t region = p->nodes[p->nnodes - 1].region;

    if (region == OMPP_NONE) {
        fail(x, OMPP_E_FORMAT, "<times> of the root");
        return;
    }
    open_block(x, t->location, OMPP_SET_PHASES, 0, ompp_phase_values(p->regions[region].construct));
    if (x->rc == 0 && x->values) x->values[0] = t->visits;
}

static void take_phase(xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_xml_phase_t *phase = item;
    unsigned construct = p->regions[p->nodes[p->nnodes - 1].region].construct;
    const unsigned slot = ompp_phase_slot(construct, phase->phase);

    if (slot == OMPP_NO_SLOT)
        fail(x, OMPP_E_FORMAT, "%s has no phase \"%s\"", ompp_constructs[construct].full,
             ompp_phase_name[phase->phase]);
    for (unsigned i = 0; x->rc == 0 && x->values && i < OMPP_SLOT_NUM; i++)
        x->values[ompp_value_index(slot, i)] = phase->item[i];
}

static void take_values(xml_in_t *x, const void *item)
{
    const ompp_block_t *b = item;
    const uint32_t n = b->set == OMPP_SET_MPI ? OMPP_METRIC_MPI_NUM : metrics_in(x->profile, b->set);

    x->have_values = false;
    if (!n || b->set == OMPP_SET_PHASES) fail(x, OMPP_E_FORMAT, "unknown metric set %" PRIu32, b->set);
    if (x->rc == 0) open_block(x, b->location, b->set, b->object, n);
}

static void text_values(xml_in_t *x, const char *text)
{
    uint32_t n = 0;

    for (text += strspn(text, " \t\r\n"); *text && x->rc == 0; text += strspn(text, " \t\r\n"), n++) {
        char number[24];
        size_t length = strcspn(text, " \t\r\n");
        snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : sizeof number - 1), text);
        if (n < x->nvalues && !ompp_xml_parse_u64(number, UINT64_MAX, &x->values[n]))
            fail(x, OMPP_E_FORMAT, "<values>: \"%s\" is not a number", number);
        text += length;
    }
    if (n != x->nvalues || x->have_values)
        fail(x, OMPP_E_FORMAT, "<values> holds %" PRIu32 " numbers, expected %" PRIu32, n, x->nvalues);
    x->have_values = true;
}

static void take_spread(xml_in_t *x, const void *item)
{
    const ompp_spread_t *s = item;
    ompp_node_t *node = &x->profile->nodes[x->profile->nnodes - 1];

    *(s->over ? &node->over_ranks : &node->over_threads) = *s;
}

static void take_coverage(xml_in_t *x, const void *item)
{
    ompp_profile_t *p = x->profile;
    const ompp_coverage_t *c = item;
    size_t before = p->ncoverage;

    ompp_profile_add_coverage(p, c->kind, ompp_profile_text(p, c->subject), ompp_profile_text(p, c->reason), c->count);
    if (p->ncoverage == before && !p->failed) fail(x, OMPP_E_FORMAT, "the same coverage line twice");
    if (x->rc != 0 || p->failed) return;
    p->coverage[before].nranks = c->nranks;
    p->coverage[before].first_rank = c->first_rank;
}

/* Losses make up what is no useful time: of all of them together that is asked at the end. */
static void take_efficiency(xml_in_t *x, const void *item)
{
    const ompp_efficiency_t *e = item;

    x->lost_ns += (int64_t)(e->thread_ns - e->useful_ns);
}

static void take_loss(xml_in_t *x, const void *item) { x->lost_ns -= (int64_t)((const ompp_loss_t *)item)->lost_ns; }

/* ---- What-if ----------------------------------------------------------------------------------------------------- */

static void *place_whatif(xml_in_t *x)
{
    if (x->profile->whatif.mode != OMPP_WHATIF_OFF) fail(x, OMPP_E_FORMAT, "second <whatif>");
    return &x->profile->whatif;
}

static void take_whatif(xml_in_t *x, const void *item)
{
    if (((const ompp_whatif_t *)item)->mode == OMPP_WHATIF_OFF) fail(x, OMPP_E_FORMAT, "<whatif> of a run without");
}

static void take_followed(xml_in_t *x, const void *item)
{
    const ompp_whatif_region_t *region = item;
    const uint64_t key = ompp_hash_pair(region->region, region->point);

    if (ompp_table_get(&x->followed, key)) fail(x, OMPP_E_FORMAT, "region %" PRIu32 " followed twice", region->region);
    if (!ompp_table_set(&x->followed, key, 1)) fail(x, OMPP_E_NOMEM, "out of memory");
    if (x->rc == 0) ompp_profile_add_whatif_region(x->profile, region);
}

static void *place_ideal(xml_in_t *x)
{
    ompp_whatif_t *w = &x->profile->whatif;

    if (w->ideal.followed_ns || w->nregions) fail(x, OMPP_E_FORMAT, "<ideal> must come once, before <followed>");
    w->ideal.region = w->ideal.point = OMPP_NONE;
    return &w->ideal;
}

static ompp_whatif_region_t *open_followed(xml_in_t *x)
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

static void *place_clock(xml_in_t *x)
{
    ompp_whatif_region_t *region = open_followed(x);
    const unsigned n = nclocks(region);

    if (n < OMPP_WHATIF_SPEEDUPS) return &region->clocks[n];
    fail(x, OMPP_E_FORMAT, "more than %u clocks", OMPP_WHATIF_SPEEDUPS);
    return NULL;
}

static void take_clock(xml_in_t *x, const void *item)
{
    const uint32_t permille = ((const ompp_whatif_clock_t *)item)->permille;

    if (permille == 0 || permille > 1000) fail(x, OMPP_E_FORMAT, "speed-up of %" PRIu32 " permille", permille);
}

static void *place_control(xml_in_t *x) { return &x->profile->whatif.control; }

static void add_block(xml_in_t *x, ompp_whatif_clock_t *clock, const void *item)
{
    if (clock->nblocks < OMPP_WHATIF_BLOCKS) clock->blocks[clock->nblocks++] = *(const ompp_whatif_block_t *)item;
    else fail(x, OMPP_E_FORMAT, "more than %u blocks", OMPP_WHATIF_BLOCKS);
}

static void take_block(xml_in_t *x, const void *item)
{
    ompp_whatif_region_t *region = open_followed(x);

    add_block(x, &region->clocks[nclocks(region) - 1], item);
}

static void take_control_block(xml_in_t *x, const void *item) { add_block(x, &x->profile->whatif.control, item); }

static const element_t elements[] = {
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

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static const element_t *find_element(const char *name, const char *parent)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (strcmp(elements[i].name, name) == 0 && strcmp(elements[i].parent, parent) == 0) return &elements[i];
    return NULL;
}

static void take_element(xml_in_t *x, const element_t *element)
{
    const ompp_record_t *record = element->record;
    void *const copy = record && !element->place ? calloc(1, record->bytes) : NULL, *const item =
                                                                                        record && element->place
                                                                                            ? element->place(x)
                                                                                            : copy;

    if (record != &ompp_record_profile && record != &ompp_record_root && !x->have_run)
        fail(x, OMPP_E_FORMAT, "<run> must come first");
    if (!record && xmlTextReaderHasAttributes(x->reader) == 1)
        fail(x, OMPP_E_FORMAT, "attributes where none are known");
    if (record && !item) fail(x, OMPP_E_NOMEM, "out of memory");
    if (record && x->rc == 0 && read_record(x, record, item)) {
        if (element->take) element->take(x, item);
        else if (!element->place && record->array) ompp_profile_append(x->profile, record, item);
    }
    free(copy);
}

static void start_element(xml_in_t *x)
{
    const char *name = (const char *)xmlTextReaderConstName(x->reader), *parent;
    int depth = xmlTextReaderDepth(x->reader);

    parent = depth > 0 && depth < MAX_DEPTH && x->open[depth - 1] ? x->open[depth - 1]->name : "";
    const element_t *element = depth < MAX_DEPTH ? find_element(name ? name : "", parent) : NULL;
    if (!element) {
        fail(x, OMPP_E_FORMAT, "<%.60s> is not known here", name ? name : "");
        return;
    }
    x->open[depth] = element;
    take_element(x, element);
    if (element->text && xmlTextReaderIsEmptyElement(x->reader) == 1)
        fail(x, OMPP_E_FORMAT, "<%s> is empty", element->name);
    if (x->profile->failed) fail(x, OMPP_E_NOMEM, "out of memory");
}

static void take_text(xml_in_t *x)
{
    int depth = xmlTextReaderDepth(x->reader) - 1;
    const char *text = (const char *)xmlTextReaderConstValue(x->reader);
    const element_t *element = depth >= 0 && depth < MAX_DEPTH ? x->open[depth] : NULL;

    if (element && element->text && x->values) element->text(x, text ? text : "");
    else fail(x, OMPP_E_FORMAT, "text \"%.40s\" where none is known", text ? text : "");
}

static void end_element(xml_in_t *x)
{
    int depth = xmlTextReaderDepth(x->reader);

    if (depth < MAX_DEPTH && x->open[depth]->text && !x->have_values)
        fail(x, OMPP_E_FORMAT, "<%s> is empty", x->open[depth]->name);
}

static void take_piece(xml_in_t *x)
{
    switch (xmlTextReaderNodeType(x->reader)) {
    case XML_READER_TYPE_ELEMENT: start_element(x); break;
    case XML_READER_TYPE_END_ELEMENT: end_element(x); break;
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA: take_text(x); break;
    case XML_READER_TYPE_DOCUMENT_TYPE:
    case XML_READER_TYPE_ENTITY_REFERENCE:
        fail(x, OMPP_E_FORMAT, "document types and entities are not accepted");
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
    xml_in_t *x = data;

    if (x->syntax[0] || !error) return;
    snprintf(x->syntax, sizeof x->syntax, "%s", error->message ? error->message : "not XML");
    x->syntax[strcspn(x->syntax, "\n")] = 0;
    x->syntax_line = error->line;
}

/* Does a profile lack its end? What the parser then complains about is no fault of what is there. */
static bool is_cut_off(const xml_in_t *x, int fd)
{
    static const char end[] = "</ompp-profile>";
    char tail[64];
    off_t size = lseek(fd, 0, SEEK_END), from = size > (off_t)sizeof tail ? size - (off_t)sizeof tail : 0;
    ssize_t n = size < 0 ? -1 : pread(fd, tail, sizeof tail, from);

    return x->have_root && n >= 0 && !memmem(tail, (size_t)n, end, sizeof end - 1);
}

static void check_whole(xml_in_t *x)
{
    ompp_profile_t *p = x->profile;
    char why[256];

    if (!x->have_root || !x->have_run) fail(x, OMPP_E_FORMAT, "no <run>");
    if (x->rc == 0 && x->lost_ns) fail(x, OMPP_E_FORMAT, "losses do not add up: %" PRId64 " ns", x->lost_ns);
    if (x->rc == 0 && !x->have_root_node) fail(x, OMPP_E_FORMAT, "no root node");
    if (x->rc == 0 && p->nranks_kept + (uint64_t)p->nrest > p->nranks)
        fail(x, OMPP_E_FORMAT, "more ranks than the run has");
    for (size_t i = 0; x->rc == 0 && !p->nrest && i < p->nlocations; i++)
        if (p->locations[i].rank == OMPP_NONE) fail(x, OMPP_E_FORMAT, "location without rank, but no rest-ranks");
    if (x->rc == 0 && p->nranks_kept == 0) fail(x, OMPP_E_FORMAT, "no rank");
    if (x->rc == 0 && ompp_profile_check(p, why, sizeof why)) fail(x, OMPP_E_FORMAT, "%s", why);
}

static void parse(xml_in_t *x, int fd, const char *path)
{
    int rc = 0;

    x->reader = xmlReaderForFd(fd, path, NULL, XML_PARSE_NONET);
    x->profile = ompp_profile_new();
    if (!x->reader || !x->profile) {
        fail(x, OMPP_E_NOMEM, "out of memory");
        return;
    }
    xmlTextReaderSetStructuredErrorHandler(x->reader, (xmlStructuredErrorFunc)on_syntax, x);
    while (x->rc == 0 && (rc = xmlTextReaderRead(x->reader)) == 1) take_piece(x);
    if (rc < 0)
        fail(x, OMPP_E_FORMAT, "%s%s", is_cut_off(x, fd) ? "the file is cut off: " : "",
             x->syntax[0] ? x->syntax : "not XML");
    if (x->rc == 0) check_whole(x);
}

int ompp_report_xml_read_fd(int fd, const char *name, ompp_profile_t **profile, char *why, size_t size)
{
    xml_in_t x = {0};
    int line = 0;

    *profile = NULL;
    const ompp_plain_locale_t locale = ompp_plain_locale_begin();
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
    ompp_plain_locale_end(locale);
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
