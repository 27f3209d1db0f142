/**
 * \file
 * Profile to XML. Integers and names only, nothing rendered.
 */
#include "report/ompp_plain_locale.h"
#include "report/ompp_report.h"
#include "report/ompp_xml_priv.h"

#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_own.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_whatif.h"
#include "base/ompp_error.h"

#include <inttypes.h>
#include <libxml/xmlwriter.h>
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

static void put_owned(xml_out_t *x, const char *name, char *value)
{
    if (value) put_attribute(x, name, value);
    else if (x->rc == 0) x->rc = -OMPP_E_NOMEM;
    free(value);
}

/* Those that say nothing are left out; doubles also when they are -0. */
static bool says_nothing(const ompp_field_t *field, uint64_t value)
{
    if (field->type == OMPP_FIELD_INDEX) return value == OMPP_NONE;
    if (field->required || field->type == OMPP_FIELD_BOOL || field->type == OMPP_FIELD_NAME) return false;
    if (field->type == OMPP_FIELD_SET) return value << (64 - field->names->n) == 0; /* of bits that have names */
    return (ompp_field_is_real(field) ? value << 1 : value) == 0;
}

static void put_fields(xml_out_t *x, const ompp_record_t *record, const void *data)
{
    for (const ompp_field_t *f = record->fields; f->type; f++) {
        const uint64_t value = ompp_field_get(f, data);
        if (f->attribute && !says_nothing(f, value)) put_owned(x, f->attribute, ompp_xml_format(x->profile, f, value));
    }
}

static void open_record(xml_out_t *x, const ompp_record_t *record, const void *data)
{
    open_element(x, record->element);
    put_fields(x, record, data);
}

static void put_record(xml_out_t *x, const ompp_record_t *record, const void *data)
{
    open_record(x, record, data);
    close_element(x);
}

/* A list of the profile. Those that others refer to say their number first. */
static void put_list(xml_out_t *x, const char *name, const ompp_record_t *record)
{
    open_element(x, name);
    for (size_t i = 0; i < ompp_record_count(x->profile, record); i++) {
        open_element(x, record->element);
        if (record->first != OMPP_RECORD_NO_ID) put_number(x, "id", i + (size_t)record->first);
        put_fields(x, record, ompp_record_at(x->profile, record, i));
        close_element(x);
    }
    close_element(x);
}

/* ---- Metrics ----------------------------------------------------------------------------------------------------- */

/* Metrics of the built-in sets are written like registered ones, for readers that do not know them. */
static void put_builtin_metric(xml_out_t *x, unsigned index)
{
    const ompp_metric_row_t *row = &ompp_mpi_metrics[index];

    open_element(x, ompp_record_metric.element);
    put_number(x, "set", OMPP_SET_MPI);
    put_number(x, "index", index);
    put_attribute(x, "name", row->name);
    put_attribute(x, "unit", ompp_name(&ompp_names_unit, row->unit));
    put_attribute(x, "quality", ompp_name(&ompp_names_quality, row->quality));
    put_attribute(x, "over-threads", ompp_name(&ompp_names_reduction, row->threads));
    put_attribute(x, "over-ranks", ompp_name(&ompp_names_reduction, row->ranks));
    put_attribute(x, "source", row->source);
    put_attribute(x, "meaning", row->meaning);
    close_element(x);
}

static void put_metrics(xml_out_t *x)
{
    open_element(x, "metrics");
    for (unsigned i = 0; i < OMPP_METRIC_MPI_NUM; i++) put_builtin_metric(x, i);
    for (size_t i = 0; i < x->profile->nmetrics; i++) put_record(x, &ompp_record_metric, &x->profile->metrics[i]);
    close_element(x);
}

/* ---- Call tree --------------------------------------------------------------------------------------------------- */

static void put_times(xml_out_t *x, uint32_t node, const ompp_block_t *block)
{
    const ompp_profile_t *p = x->profile;
    const ompp_construct_row_t *row = &ompp_constructs[p->regions[p->nodes[node].region].construct];
    ompp_xml_times_t times = {block->location, block->values[0], (uint64_t)ompp_own_ns(p, node, block)};

    open_record(x, &ompp_record_times, &times);
    for (unsigned s = 0; s < row->nphases; s++) {
        ompp_xml_phase_t phase = {.phase = row->phases[s]};
        bool any = false;
        for (unsigned i = 0; i < OMPP_SLOT_NUM; i++) {
            phase.item[i] = block->values[ompp_value_index(s, i)];
            any |= phase.item[i] != 0;
        }
        if (any) put_record(x, &ompp_record_phase, &phase);
    }
    close_element(x);
}

static void put_values(xml_out_t *x, const ompp_block_t *block)
{
    char text[32];

    open_record(x, &ompp_record_block, block);
    for (uint32_t i = 0; i < block->nvalues; i++) {
        snprintf(text, sizeof text, "%s%" PRIu64, i ? " " : "", block->values[i]);
        if (x->rc == 0) check(x, xmlTextWriterWriteString(x->writer, BAD_CAST text));
    }
    close_element(x);
}

static void put_node(xml_out_t *x, uint32_t id)
{
    const ompp_node_t *node = &x->profile->nodes[id];
    ompp_spread_t threads = node->over_threads, ranks = node->over_ranks;

    threads.over = 0;
    ranks.over = 1;
    open_element(x, ompp_record_node.element);
    put_number(x, "id", id);
    put_fields(x, &ompp_record_node, node);
    for (uint32_t b = 0; b < node->nblocks; b++) {
        const ompp_block_t *block = &node->blocks[b];
        if (block->set == OMPP_SET_PHASES && block->object == 0 && node->region != OMPP_NONE) put_times(x, id, block);
        else put_values(x, block);
    }
    if (threads.count) put_record(x, &ompp_record_spread, &threads);
    if (ranks.count) put_record(x, &ompp_record_spread, &ranks);
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
    if (rc == 0) open_element(x, "properties");
    for (size_t i = 0; rc == 0 && i < n; i++) put_record(x, &ompp_record_property, &findings[i]);
    if (rc == 0) close_element(x);
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
        open_record(x, &ompp_record_efficiency, &all[i]);
        for (size_t k = 0; i == 0 && k < nlosses; k++) put_record(x, &ompp_record_loss, &losses[k]);
        for (unsigned lost = 0; i > 0 && lost < OMPP_LOST_NUM; lost++) {
            const ompp_loss_t loss = {lost, OMPP_NONE, OMPP_NONE, OMPP_NONE, all[i].lost_ns[lost], 0};
            if (loss.lost_ns) put_record(x, &ompp_record_loss, &loss);
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
    open_record(x, &ompp_record_whatif_clock, clock);
    for (uint32_t i = 0; i < clock->nblocks; i++) put_record(x, &ompp_record_whatif_block, &clock->blocks[i]);
    close_element(x);
}

static void put_clocks(xml_out_t *x, const ompp_record_t *record, const ompp_whatif_region_t *region)
{
    open_record(x, record, region);
    for (unsigned k = 0; k < OMPP_WHATIF_SPEEDUPS; k++) put_clock(x, &region->clocks[k]);
    close_element(x);
}

static void put_whatif(xml_out_t *x)
{
    const ompp_whatif_t *w = &x->profile->whatif;

    open_record(x, &ompp_record_whatif, w);
    for (size_t i = 0; i < w->npoints; i++) put_record(x, &ompp_record_whatif_point, &w->points[i]);
    if (w->control.observations) {
        open_record(x, &ompp_record_control, &w->control);
        for (uint32_t i = 0; i < w->control.nblocks; i++)
            put_record(x, &ompp_record_whatif_block, &w->control.blocks[i]);
        close_element(x);
    }
    if (w->ideal.followed_ns) put_clocks(x, &ompp_record_ideal, &w->ideal);
    for (size_t i = 0; i < w->nregions; i++) put_clocks(x, &ompp_record_whatif_region, &w->regions[i]);
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

    open_record(x, &ompp_record_result, &result);
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
        if (g->permille) put_record(x, &ompp_record_gain, &gain);
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

static void put_profile(xml_out_t *x)
{
    const ompp_profile_t *profile = x->profile;

    open_element(x, "ompp-profile");
    put_number(x, "format", OMPP_REPORT_FORMAT);
    put_record(x, &ompp_record_profile, profile);
    put_list(x, "settings", &ompp_record_setting);
    put_list(x, "modules", &ompp_record_module);
    put_list(x, "ranks", &ompp_record_rank);
    put_list(x, "locations", &ompp_record_location);
    put_list(x, "regions", &ompp_record_region);
    put_metrics(x);
    if (profile->nobjects) put_list(x, "objects", &ompp_record_object);
    open_element(x, "nodes");
    for (size_t i = 0; i < profile->nnodes; i++) put_node(x, i);
    close_element(x);
    put_list(x, "coverage", &ompp_record_coverage);
    if (profile->nmessages) put_list(x, "messages", &ompp_record_message);
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
    const ompp_plain_locale_t locale = ompp_plain_locale_begin();

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
    ompp_plain_locale_end(locale);
    return x.rc ? x.rc : ferror(out) ? -OMPP_E_IO : 0;
}
