/**
 * \file
 * Profile to XML. Integers and names only, nothing rendered.
 */
#include "report/ompp_report.h"
#include "report/ompp_xml_priv.h"

#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_own.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_whatif.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <libxml/xmlwriter.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* The file being written; the first failure is kept and everything after it does nothing. */
typedef struct {
    xmlTextWriterPtr writer;
    const ompp_profile_t *profile;
    int rc;
} xml_out_t;

static void check(xml_out_t *x, int result)
{
    if (result < 0 && x->rc == 0) x->rc = -OMPP_E_IO;
}

static void open_element(xml_out_t *x, const char *name)
{
    if (x->rc == 0) check(x, xmlTextWriterStartElement(x->writer, BAD_CAST name));
}

static void close_element(xml_out_t *x)
{
    if (x->rc == 0) check(x, xmlTextWriterEndElement(x->writer));
}

static void put_attribute(xml_out_t *x, const char *name, const char *value)
{
    if (x->rc == 0) check(x, xmlTextWriterWriteAttribute(x->writer, BAD_CAST name, BAD_CAST value));
}

static void put_number(xml_out_t *x, const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, value);
    put_attribute(x, name, text);
}

static void put_text(xml_out_t *x, const char *name, const char *value)
{
    char *escaped = ompp_xml_escape(value);

    if (escaped) put_attribute(x, name, escaped);
    else if (x->rc == 0) x->rc = -OMPP_E_NOMEM;
    free(escaped);
}

static void put_double(xml_out_t *x, const char *name, double value)
{
    char text[64];

    snprintf(text, sizeof text, "%.17g", value);
    put_attribute(x, name, text);
}

static void put_hex(xml_out_t *x, const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "0x%" PRIx64, value);
    put_attribute(x, name, text);
}

/* Names of the bits that are set. */
static void put_set(xml_out_t *x, const ompp_xml_field_t *field, uint32_t set)
{
    char text[512];
    size_t n = 0;

    for (unsigned i = 0; i < field->names->n && n < sizeof text; i++)
        if (set & 1u << i)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", field->names->name(i));
    if (n) put_attribute(x, field->name, text);
}

static void put_field(xml_out_t *x, const ompp_xml_field_t *field, const void *record)
{
    const void *at = (const char *)record + field->offset;
    uint32_t u32 = 0;
    uint64_t u64 = 0;
    bool flag;
    double real;
    char number[32];

    if (field->type == OMPP_XML_U64 || field->type == OMPP_XML_HEX || field->type == OMPP_XML_I64)
        memcpy(&u64, at, sizeof u64);
    else if (field->type != OMPP_XML_BOOL && field->type != OMPP_XML_DOUBLE && field->type != OMPP_XML_REAL)
        memcpy(&u32, at, sizeof u32);
    switch (field->type) {
    case OMPP_XML_U32:
        if (u32 || field->required) put_number(x, field->name, u32);
        break;
    case OMPP_XML_INDEX:
        if (u32 != OMPP_NONE) put_number(x, field->name, u32);
        break;
    case OMPP_XML_U64:
        if (u64 || field->required) put_number(x, field->name, u64);
        break;
    case OMPP_XML_HEX:
        if (u64 || field->required) put_hex(x, field->name, u64);
        break;
    case OMPP_XML_BOOL:
        memcpy(&flag, at, sizeof flag);
        put_attribute(x, field->name, flag ? "true" : "false");
        break;
    case OMPP_XML_I64:
        snprintf(number, sizeof number, "%" PRId64, (int64_t)u64);
        if (u64 || field->required) put_attribute(x, field->name, number);
        break;
    case OMPP_XML_SET: put_set(x, field, u32); break;
    case OMPP_XML_DOUBLE:
    case OMPP_XML_REAL:
        memcpy(&real, at, sizeof real);
        if (real != 0 || field->required) put_double(x, field->name, real);
        break;
    case OMPP_XML_TEXT:
        if (u32 || field->required) put_text(x, field->name, ompp_profile_text(x->profile, u32));
        break;
    case OMPP_XML_NAME: put_attribute(x, field->name, u32 < field->names->n ? field->names->name(u32) : "?"); break;
    }
}

static void open_record(xml_out_t *x, const ompp_xml_record_t *record, const void *data)
{
    open_element(x, record->element);
    for (size_t i = 0; i < record->nfields; i++) put_field(x, &record->fields[i], data);
}

static void put_record(xml_out_t *x, const ompp_xml_record_t *record, const void *data)
{
    open_record(x, record, data);
    close_element(x);
}

/* A list of equal records. with_id: each says its index first, because others refer to it. */
static void put_list(xml_out_t *x, const char *name, const ompp_xml_record_t *record, const void *data, size_t n,
                     size_t size, bool with_id)
{
    open_element(x, name);
    for (size_t i = 0; i < n; i++) {
        const char *item = (const char *)data + i * size;
        open_element(x, record->element);
        if (with_id) put_number(x, "id", i);
        for (size_t f = 0; f < record->nfields; f++) put_field(x, &record->fields[f], item);
        close_element(x);
    }
    close_element(x);
}

/* ---- Metrics ----------------------------------------------------------------------------------------------------- */

/* Metrics of the built-in sets are written like registered ones, for readers that do not know them. */
static void put_builtin_metric(xml_out_t *x, unsigned index)
{
    const ompp_metric_row_t *row = &ompp_mpi_metrics[index];

    open_element(x, ompp_xml_metric.element);
    put_number(x, "set", OMPP_SET_MPI);
    put_number(x, "index", index);
    put_text(x, "name", row->name);
    put_attribute(x, "unit", ompp_unit_name[row->unit]);
    for (size_t f = 0; f < ompp_xml_metric.nfields; f++) {
        const ompp_xml_field_t *field = &ompp_xml_metric.fields[f];
        if (field->offset == offsetof(ompp_metric_t, quality))
            put_attribute(x, field->name, field->names->name(row->quality));
        if (field->offset == offsetof(ompp_metric_t, reduce_threads))
            put_attribute(x, field->name, field->names->name(row->threads));
        if (field->offset == offsetof(ompp_metric_t, reduce_ranks))
            put_attribute(x, field->name, field->names->name(row->ranks));
    }
    put_text(x, "source", row->source);
    put_text(x, "meaning", row->meaning);
    close_element(x);
}

static void put_metrics(xml_out_t *x)
{
    open_element(x, "metrics");
    for (unsigned i = 0; i < OMPP_METRIC_MPI_NUM; i++) put_builtin_metric(x, i);
    for (size_t i = 0; i < x->profile->nmetrics; i++) put_record(x, &ompp_xml_metric, &x->profile->metrics[i]);
    close_element(x);
}

/* Objects are numbered from 1: values of object 0 are those of all data. */
static void put_objects(xml_out_t *x)
{
    open_element(x, "objects");
    for (size_t i = 0; i < x->profile->nobjects; i++) {
        open_element(x, ompp_xml_object.element);
        put_number(x, "id", i + 1);
        for (size_t f = 0; f < ompp_xml_object.nfields; f++)
            put_field(x, &ompp_xml_object.fields[f], &x->profile->objects[i]);
        close_element(x);
    }
    close_element(x);
}

/* ---- Call tree --------------------------------------------------------------------------------------------------- */

static void put_times(xml_out_t *x, uint32_t node, const ompp_block_t *block)
{
    const ompp_profile_t *p = x->profile;
    const ompp_construct_row_t *row = &ompp_constructs[p->regions[p->nodes[node].region].construct];
    ompp_xml_times_t times = {block->location, block->values[0], (uint64_t)ompp_own_ns(p, node, block)};

    open_record(x, &ompp_xml_times, &times);
    for (unsigned s = 0; s < row->nphases; s++) {
        ompp_xml_phase_t phase = {.phase = row->phases[s]};
        bool any = false;
        for (unsigned i = 0; i < OMPP_SLOT_NUM; i++) {
            phase.item[i] = block->values[ompp_value_index(s, i)];
            any |= phase.item[i] != 0;
        }
        if (any) put_record(x, &ompp_xml_phase, &phase);
    }
    close_element(x);
}

static void put_values(xml_out_t *x, const ompp_block_t *block)
{
    ompp_xml_values_t values = {block->location, block->set, block->object};
    char text[32];

    open_record(x, &ompp_xml_values, &values);
    for (uint32_t i = 0; i < block->nvalues; i++) {
        snprintf(text, sizeof text, "%s%" PRIu64, i ? " " : "", block->values[i]);
        if (x->rc == 0) check(x, xmlTextWriterWriteString(x->writer, BAD_CAST text));
    }
    close_element(x);
}

static void put_node(xml_out_t *x, uint32_t id)
{
    const ompp_node_t *node = &x->profile->nodes[id];
    ompp_xml_spread_t threads = {0, node->over_threads}, ranks = {1, node->over_ranks};

    open_element(x, ompp_xml_node.element);
    put_number(x, "id", id);
    for (size_t f = 0; f < ompp_xml_node.nfields; f++) put_field(x, &ompp_xml_node.fields[f], node);
    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        if (block->set == OMPP_SET_PHASES && block->object == 0 && node->region != OMPP_NONE) put_times(x, id, block);
        else put_values(x, block);
    }
    if (threads.spread.count) put_record(x, &ompp_xml_spread, &threads);
    if (ranks.spread.count) put_record(x, &ompp_xml_spread, &ranks);
    close_element(x);
}

/* ---- Properties -------------------------------------------------------------------------------------------------- */

/* They follow from the rest; for readers that do not know the rules. */
static void put_properties(xml_out_t *x)
{
    ompp_finding_t *findings = NULL;
    ompp_paths_t paths;
    size_t n;
    int rc = ompp_paths_init(&paths, x->profile) ? ompp_analysis_properties(x->profile, &paths, &findings, &n)
                                                 : -OMPP_E_NOMEM;

    ompp_paths_fini(&paths);
    if (rc && x->rc == 0) x->rc = rc;
    if (rc == 0) put_list(x, "properties", &ompp_xml_property, findings, n, sizeof *findings, false);
    free(findings);
}

/* The same: of the run with its losses by call path, of user regions by what they lose to. */
static void put_efficiencies(xml_out_t *x)
{
    ompp_efficiency_t *all = NULL;
    ompp_loss_t *losses = NULL;
    ompp_paths_t paths;
    size_t n = 0, nlosses = 0;
    int rc = ompp_paths_init(&paths, x->profile)
                 ? ompp_analysis_efficiency(x->profile, &paths, &all, &n, &losses, &nlosses)
                 : -OMPP_E_NOMEM;

    ompp_paths_fini(&paths);
    if (rc && x->rc == 0) x->rc = rc;
    if (n) open_element(x, "efficiencies");
    for (size_t i = 0; i < n; i++) {
        open_record(x, &ompp_xml_efficiency, &all[i]);
        for (size_t k = 0; i == 0 && k < nlosses; k++) put_record(x, &ompp_xml_loss, &losses[k]);
        for (unsigned lost = 0; i > 0 && lost < OMPP_LOST_NUM; lost++) {
            const ompp_loss_t loss = {lost, OMPP_NONE, OMPP_NONE, OMPP_NONE, all[i].lost_ns[lost], 0};
            if (loss.lost_ns) put_record(x, &ompp_xml_loss, &loss);
        }
        close_element(x);
    }
    if (n) close_element(x);
    free(all);
    free(losses);
}

/* ---- What-if ----------------------------------------------------------------------------------------------------- */

static void put_clock(xml_out_t *x, const ompp_whatif_clock_t *clock)
{
    if (!clock->permille) return;
    open_record(x, &ompp_xml_clock, clock);
    for (uint32_t i = 0; i < clock->nblocks; i++) put_record(x, &ompp_xml_block, &clock->blocks[i]);
    close_element(x);
}

static void put_clocks(xml_out_t *x, const ompp_xml_record_t *record, const ompp_whatif_region_t *region)
{
    open_record(x, record, region);
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) put_clock(x, &region->clocks[k]);
    close_element(x);
}

static void put_whatif(xml_out_t *x)
{
    const ompp_whatif_t *w = &x->profile->whatif;

    open_record(x, &ompp_xml_whatif, w);
    for (size_t i = 0; i < w->npoints; i++) put_record(x, &ompp_xml_point, &w->points[i]);
    if (w->control.observations) {
        open_record(x, &ompp_xml_control, &w->control);
        for (uint32_t i = 0; i < w->control.nblocks; i++) put_record(x, &ompp_xml_block, &w->control.blocks[i]);
        close_element(x);
    }
    if (w->ideal.followed_ns) put_clocks(x, &ompp_xml_ideal, &w->ideal);
    for (size_t i = 0; i < w->nregions; i++) put_clocks(x, &ompp_xml_followed, &w->regions[i]);
    close_element(x);
}

static void put_result(xml_out_t *x, const ompp_whatif_result_t *r)
{
    ompp_xml_result_t result = {.region = r->region,
                                .knee = r->knee,
                                .inside = r->inside,
                                .verdict = r->verdict,
                                .contention = r->contention,
                                .share = r->share,
                                .followed = r->followed,
                                .own = r->own,
                                .correction = r->correction,
                                .slope = r->slope,
                                .flags = r->flags};

    open_record(x, &ompp_xml_result, &result);
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) {
        const ompp_gain_t *g = &r->gains[k];
        ompp_xml_gain_t gain = {g->permille,
                                g->interval == OMPP_INTERVAL_KNOWN,
                                g->interval > OMPP_INTERVAL_FEW,
                                g->by_control,
                                g->gain,
                                g->low,
                                g->high,
                                g->correction};
        if (g->permille) put_record(x, &ompp_xml_gain, &gain);
    }
    close_element(x);
}

/* They follow from <whatif>. */
static void put_results(xml_out_t *x)
{
    ompp_whatif_result_t *results;
    size_t n;
    int rc = ompp_analysis_whatif(x->profile, &results, &n);

    if (rc && x->rc == 0) x->rc = rc;
    if (n) open_element(x, "results");
    for (size_t i = 0; i < n; i++) put_result(x, &results[i]);
    if (n) close_element(x);
    free(results);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

#define LIST(name, record, array, count, with_id) \
    put_list(x, name, record, profile->array, profile->count, sizeof *profile->array, with_id)

static void put_profile(xml_out_t *x)
{
    const ompp_profile_t *profile = x->profile;

    open_element(x, "ompp-profile");
    put_number(x, "format", OMPP_REPORT_FORMAT);
    put_record(x, &ompp_xml_run, profile);
    LIST("settings", &ompp_xml_setting, settings, nsettings, false);
    LIST("modules", &ompp_xml_module, modules, nmodules, true);
    LIST("ranks", &ompp_xml_rank, ranks, nranks_kept, false);
    LIST("locations", &ompp_xml_location, locations, nlocations, true);
    LIST("regions", &ompp_xml_region, regions, nregions, true);
    put_metrics(x);
    if (profile->nobjects) put_objects(x);
    open_element(x, "nodes");
    for (size_t i = 0; i < profile->nnodes; i++) put_node(x, i);
    close_element(x);
    LIST("coverage", &ompp_xml_coverage, coverage, ncoverage, false);
    if (profile->nmessages) LIST("messages", &ompp_xml_message, messages, nmessages, false);
    if (profile->whatif.mode != OMPP_WHATIF_OFF) put_whatif(x);
    put_properties(x);
    put_efficiencies(x);
    if (profile->whatif.mode != OMPP_WHATIF_OFF) put_results(x);
    close_element(x);
}

/* Always says that it went well: libxml2 would print its own messages. The FILE remembers its error. */
static int write_to_file(void *out, const char *data, int length)
{
    if (!ferror((FILE *)out)) fwrite(data, 1, (size_t)length, out);
    return length;
}

int ompp_report_xml_write(const ompp_profile_t *profile, FILE *out)
{
    xmlOutputBufferPtr buffer = xmlOutputBufferCreateIO(write_to_file, NULL, out, NULL);
    xml_out_t x = {.profile = profile};
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* no decimal comma */
    locale_t saved = plain ? uselocale(plain) : (locale_t)0;

    if (buffer) x.writer = xmlNewTextWriter(buffer);
    if (buffer && !x.writer) xmlOutputBufferClose(buffer);
    if (x.writer) {
        check(&x, xmlTextWriterSetIndent(x.writer, 1));
        check(&x, xmlTextWriterStartDocument(x.writer, NULL, "UTF-8", NULL));
        put_profile(&x);
        check(&x, xmlTextWriterEndDocument(x.writer));
        check(&x, xmlTextWriterFlush(x.writer));
        xmlFreeTextWriter(x.writer);
    } else {
        x.rc = -OMPP_E_NOMEM;
    }
    if (plain) {
        uselocale(saved);
        freelocale(plain);
    }
    return x.rc ? x.rc : ferror(out) ? -OMPP_E_IO : 0;
}
