#include "analysis/ompp_efficiency.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_whatif.h"
#include "base/ompp_utf8.h"
#include "report/ompp_xml_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ------------------------------------------------------------------------------------------------------- */

#define NAMES(id, ...)                                    \
    static const char *id##_name(unsigned value)          \
    {                                                     \
        static const char *const texts[] = {__VA_ARGS__}; \
        return texts[value];                              \
    }

NAMES(end, [OMPP_END_FINAL] = "final", [OMPP_END_DUMP] = "dump", [OMPP_END_INCOMPLETE] = "incomplete")
NAMES(kind, [OMPP_THREAD_INITIAL] = "initial", [OMPP_THREAD_TEAM] = "team", [OMPP_THREAD_NESTED] = "nested",
      [OMPP_THREAD_OTHER] = "other")
NAMES(quality, [OMPP_QUALITY_EXACT] = "exact", [OMPP_QUALITY_SAMPLED] = "sampled",
      [OMPP_QUALITY_SIMULATED] = "simulated", [OMPP_QUALITY_HARDWARE] = "hardware")
NAMES(reduction, [OMPP_REDUCE_SUM] = "sum", [OMPP_REDUCE_MIN] = "min", [OMPP_REDUCE_MAX] = "max")
NAMES(use, [OMPP_USE_VALUE] = "value", [OMPP_USE_COLUMN] = "column", [OMPP_USE_WAITS] = "waits",
      [OMPP_USE_OBJECTS] = "objects", [OMPP_USE_SELECTED] = "selected", [OMPP_USE_COST] = "cost",
      [OMPP_USE_READINGS] = "readings", [OMPP_USE_WANTED] = "wanted", [OMPP_USE_COUNTED] = "counted",
      [OMPP_USE_ERROR] = "error", [OMPP_USE_LOSS] = "loss", [OMPP_USE_CURVES] = "curves", [OMPP_USE_MODEL] = "model")
NAMES(over, "threads", "ranks")
NAMES(point_kind, [OMPP_WHATIF_THROUGHPUT] = "throughput", [OMPP_WHATIF_LATENCY] = "latency")
NAMES(verdict, [OMPP_WHATIF_AGREES] = "agrees", [OMPP_WHATIF_BUSY_FOR_NOTHING] = "busy-for-nothing",
      [OMPP_WHATIF_SMALL_BUT_CRITICAL] = "small-but-critical")

static const char *construct_name(unsigned value) { return ompp_constructs[value].full; }

static const char *phase_name(unsigned value) { return ompp_phase_name[value]; }

static const char *unit_name(unsigned value) { return ompp_unit_name[value]; }

static const char *property_name(unsigned value) { return ompp_properties[value].name; }

static const char *lost_name(unsigned value) { return ompp_lost_rows[value].name; }

static const char *coverage_name(unsigned value) { return ompp_coverage_rows[value].name; }

static const char *mode_name(unsigned value) { return ompp_whatif_modes[value]; }

static const char *flag_name(unsigned value) { return ompp_whatif_flags[value].name; }

static const ompp_xml_names_t ends = {OMPP_END_INCOMPLETE + 1, end_name}, kinds = {OMPP_THREAD_OTHER + 1, kind_name},
                              qualities = {OMPP_QUALITY_HARDWARE + 1, quality_name},
                              reductions = {OMPP_REDUCE_MAX + 1, reduction_name}, overs = {2, over_name},
                              uses = {OMPP_USE_NUM, use_name}, constructs = {OMPP_CONSTRUCT_NUM, construct_name},
                              phases = {OMPP_PHASE_NUM, phase_name}, units = {OMPP_UNIT_NUM, unit_name},
                              coverages = {OMPP_COVERAGE_NUM, coverage_name},
                              properties = {OMPP_PROPERTY_NUM, property_name}, losts = {OMPP_LOST_NUM, lost_name},
                              modes = {OMPP_WHATIF_MODE_NUM, mode_name}, flags = {OMPP_WHATIF_FLAG_NUM, flag_name},
                              point_kinds = {OMPP_WHATIF_LATENCY + 1, point_kind_name},
                              verdicts = {OMPP_WHATIF_SMALL_BUT_CRITICAL + 1, verdict_name};

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

#define MUST true
#define MAY false
#define FIELD(attribute, type, must, struct_type, member)                     \
    {                                                                         \
        attribute, OMPP_XML_##type, offsetof(struct_type, member), must, NULL \
    }
#define NAMED(attribute, names, must, struct_type, member)                      \
    {                                                                           \
        attribute, OMPP_XML_NAME, offsetof(struct_type, member), must, &(names) \
    }
#define BITS(attribute, names, struct_type, member)                             \
    {                                                                           \
        attribute, OMPP_XML_SET, offsetof(struct_type, member), false, &(names) \
    }
#define RECORD(id, element, ...)                                 \
    static const ompp_xml_field_t id##_fields[] = {__VA_ARGS__}; \
    const ompp_xml_record_t ompp_xml_##id = {element, sizeof id##_fields / sizeof id##_fields[0], id##_fields}

RECORD(run, "run", FIELD("application", TEXT, MUST, ompp_profile_t, app),
       FIELD("version", TEXT, MUST, ompp_profile_t, version),
       FIELD("build-date", TEXT, MAY, ompp_profile_t, build_date),
       FIELD("openmp-source", TEXT, MAY, ompp_profile_t, source), FIELD("mpi", BOOL, MUST, ompp_profile_t, mpi),
       FIELD("ranks", U32, MUST, ompp_profile_t, nranks), FIELD("slots", U32, MUST, ompp_profile_t, nslots),
       FIELD("rest-ranks", U32, MAY, ompp_profile_t, nrest),
       FIELD("rest-duration-max-ns", U64, MAY, ompp_profile_t, rest_duration_max_ns),
       FIELD("rest-wall-threads-ns", U64, MAY, ompp_profile_t, rest_wall_threads_ns),
       FIELD("rest-user-ns", U64, MAY, ompp_profile_t, rest_user_ns),
       FIELD("rest-system-ns", U64, MAY, ompp_profile_t, rest_system_ns));

RECORD(setting, "setting", FIELD("name", TEXT, MUST, ompp_setting_t, name),
       FIELD("value", TEXT, MUST, ompp_setting_t, value));

RECORD(module, "module", FIELD("path", TEXT, MUST, ompp_module_t, path), FIELD("build", TEXT, MAY, ompp_module_t, id),
       FIELD("base", HEX, MAY, ompp_module_t, base));

static const ompp_xml_field_t rank_fields[] = {
    FIELD("rank", U32, MUST, ompp_rank_t, rank),
    FIELD("pid", U32, MAY, ompp_rank_t, pid),
    FIELD("threads", U32, MUST, ompp_rank_t, nthreads),
    NAMED("end", ends, MUST, ompp_rank_t, end),
    FIELD("host", TEXT, MAY, ompp_rank_t, host),
    FIELD("clock", TEXT, MAY, ompp_rank_t, clock),
    FIELD("processors", TEXT, MAY, ompp_rank_t, processors),
    FIELD("cores", U32, MAY, ompp_rank_t, cores),
    FIELD("numa-nodes", TEXT, MAY, ompp_rank_t, numa_nodes),
    FIELD("bound", U32, MAY, ompp_rank_t, bound),
    FIELD("begin-epoch-ns", U64, MUST, ompp_rank_t, begin_epoch_ns),
    FIELD("duration-ns", U64, MUST, ompp_rank_t, duration_ns),
    FIELD("user-ns", U64, MAY, ompp_rank_t, user_ns),
    FIELD("system-ns", U64, MAY, ompp_rank_t, system_ns),
#define OMPP_COST(id, name, meaning)                                           \
    FIELD("cost-" name "-ps", U32, MAY, ompp_rank_t, cost_ps[OMPP_COST_##id]), \
        FIELD("inside-" name "-ps", U32, MAY, ompp_rank_t, inside_ps[OMPP_COST_##id]),
#include "model/ompp_cost.def"
#undef OMPP_COST
};
const ompp_xml_record_t ompp_xml_rank = {"rank", sizeof rank_fields / sizeof rank_fields[0], rank_fields};

RECORD(location, "location", FIELD("rank", INDEX, MAY, ompp_location_t, rank),
       FIELD("tid", U32, MAY, ompp_location_t, tid), NAMED("kind", kinds, MUST, ompp_location_t, kind),
       FIELD("begin-ns", U64, MAY, ompp_location_t, begin_ns), FIELD("end-ns", U64, MAY, ompp_location_t, end_ns));

RECORD(region, "region", FIELD("number", INDEX, MAY, ompp_region_t, number),
       NAMED("type", constructs, MUST, ompp_region_t, construct), FIELD("flags", U32, MAY, ompp_region_t, flags),
       FIELD("file", TEXT, MAY, ompp_region_t, file), FIELD("begin", U32, MAY, ompp_region_t, begin),
       FIELD("end", U32, MAY, ompp_region_t, end), FIELD("name", TEXT, MAY, ompp_region_t, name),
       FIELD("function", TEXT, MAY, ompp_region_t, function), FIELD("module", INDEX, MAY, ompp_region_t, module),
       FIELD("address", HEX, MAY, ompp_region_t, addr), FIELD("address-end", HEX, MAY, ompp_region_t, addr_end),
       FIELD("key", U64, MAY, ompp_region_t, key));

RECORD(metric, "metric", FIELD("set", U32, MUST, ompp_metric_t, set), FIELD("index", U32, MUST, ompp_metric_t, index),
       FIELD("name", TEXT, MUST, ompp_metric_t, name), NAMED("unit", units, MUST, ompp_metric_t, unit),
       NAMED("quality", qualities, MUST, ompp_metric_t, quality),
       NAMED("over-threads", reductions, MUST, ompp_metric_t, reduce_threads),
       NAMED("over-ranks", reductions, MUST, ompp_metric_t, reduce_ranks),
       FIELD("source", TEXT, MAY, ompp_metric_t, source), FIELD("meaning", TEXT, MAY, ompp_metric_t, meaning),
       NAMED("use", uses, MAY, ompp_metric_t, use));

RECORD(object, "object", FIELD("name", TEXT, MUST, ompp_object_t, name),
       FIELD("origin", TEXT, MAY, ompp_object_t, origin), FIELD("address", HEX, MUST, ompp_object_t, address),
       FIELD("size", U64, MUST, ompp_object_t, size), FIELD("start-offset", U64, MAY, ompp_object_t, start_offset),
       FIELD("end-offset", U64, MAY, ompp_object_t, end_offset), FIELD("ranges", U32, MAY, ompp_object_t, nranges),
       FIELD("rank", U32, MAY, ompp_object_t, rank));

RECORD(node, "node", FIELD("parent", INDEX, MAY, ompp_node_t, parent), FIELD("region", INDEX, MAY, ompp_node_t, region),
       FIELD("first-ns", U64, MAY, ompp_node_t, first_ns), FIELD("first-rank", U32, MAY, ompp_node_t, first_rank));

RECORD(times, "times", FIELD("location", U32, MUST, ompp_xml_times_t, location),
       FIELD("visits", U64, MUST, ompp_xml_times_t, visits), FIELD("own-ns", U64, MAY, ompp_xml_times_t, own_ns));

RECORD(phase, "phase", NAMED("name", phases, MUST, ompp_xml_phase_t, phase),
       FIELD("time-ns", U64, MAY, ompp_xml_phase_t, item[OMPP_SLOT_TIME]),
       FIELD("child-ns", U64, MAY, ompp_xml_phase_t, item[OMPP_SLOT_CHILD]),
       FIELD("task-ns", U64, MAY, ompp_xml_phase_t, item[OMPP_SLOT_TASK]),
       FIELD("count", U64, MAY, ompp_xml_phase_t, item[OMPP_SLOT_COUNT]));

RECORD(values, "values", FIELD("location", U32, MUST, ompp_xml_values_t, location),
       FIELD("set", U32, MUST, ompp_xml_values_t, set), FIELD("object", U32, MAY, ompp_xml_values_t, object));

RECORD(spread, "spread", NAMED("over", overs, MUST, ompp_xml_spread_t, over_ranks),
       FIELD("count", U64, MUST, ompp_xml_spread_t, spread.count),
       FIELD("sum-ns", U64, MUST, ompp_xml_spread_t, spread.sum),
       FIELD("min-ns", U64, MUST, ompp_xml_spread_t, spread.min),
       FIELD("max-ns", U64, MUST, ompp_xml_spread_t, spread.max),
       FIELD("min-rank", U32, MAY, ompp_xml_spread_t, spread.min_rank),
       FIELD("min-tid", U32, MAY, ompp_xml_spread_t, spread.min_tid),
       FIELD("max-rank", U32, MAY, ompp_xml_spread_t, spread.max_rank),
       FIELD("max-tid", U32, MAY, ompp_xml_spread_t, spread.max_tid),
       FIELD("mean-ns", DOUBLE, MAY, ompp_xml_spread_t, spread.mean),
       FIELD("m2", DOUBLE, MAY, ompp_xml_spread_t, spread.m2));

RECORD(coverage, "line", NAMED("kind", coverages, MUST, ompp_coverage_t, kind),
       FIELD("subject", TEXT, MAY, ompp_coverage_t, subject), FIELD("reason", TEXT, MAY, ompp_coverage_t, reason),
       FIELD("count", U64, MAY, ompp_coverage_t, count), FIELD("ranks", U32, MAY, ompp_coverage_t, nranks));

RECORD(property, "property", NAMED("name", properties, MUST, ompp_finding_t, property),
       FIELD("region", INDEX, MAY, ompp_finding_t, region), FIELD("rank", INDEX, MAY, ompp_finding_t, rank),
       FIELD("lost-ns", U64, MUST, ompp_finding_t, lost_ns),
       FIELD("own-permille", U32, MAY, ompp_finding_t, own_permille));

RECORD(efficiency, "efficiency", FIELD("region", INDEX, MAY, ompp_efficiency_t, region),
       FIELD("thread-ns", U64, MUST, ompp_efficiency_t, thread_ns),
       FIELD("useful-ns", U64, MUST, ompp_efficiency_t, useful_ns),
       FIELD("threads", U64, MUST, ompp_efficiency_t, nthreads), FIELD("ranks", U64, MUST, ompp_efficiency_t, nranks),
       FIELD("parallel", REAL, MUST, ompp_efficiency_t, all.parallel),
       FIELD("balance", REAL, MUST, ompp_efficiency_t, all.balance),
       FIELD("communication", REAL, MUST, ompp_efficiency_t, all.communication),
       FIELD("serialisation", REAL, MAY, ompp_efficiency_t, all.serialisation),
       FIELD("transfer", REAL, MAY, ompp_efficiency_t, all.transfer),
       FIELD("transfer-low", REAL, MAY, ompp_efficiency_t, all.low),
       FIELD("transfer-high", REAL, MAY, ompp_efficiency_t, all.high),
       FIELD("mpi-parallel", REAL, MUST, ompp_efficiency_t, mpi.parallel),
       FIELD("mpi-balance", REAL, MUST, ompp_efficiency_t, mpi.balance),
       FIELD("mpi-communication", REAL, MUST, ompp_efficiency_t, mpi.communication),
       FIELD("mpi-serialisation", REAL, MAY, ompp_efficiency_t, mpi.serialisation),
       FIELD("mpi-transfer", REAL, MAY, ompp_efficiency_t, mpi.transfer),
       FIELD("mpi-transfer-low", REAL, MAY, ompp_efficiency_t, mpi.low),
       FIELD("mpi-transfer-high", REAL, MAY, ompp_efficiency_t, mpi.high),
       FIELD("openmp-parallel", REAL, MUST, ompp_efficiency_t, openmp.parallel),
       FIELD("openmp-balance", REAL, MUST, ompp_efficiency_t, openmp.balance),
       FIELD("openmp-communication", REAL, MUST, ompp_efficiency_t, openmp.communication),
       FIELD("openmp-serialisation", REAL, MAY, ompp_efficiency_t, openmp.serialisation),
       FIELD("openmp-transfer", REAL, MAY, ompp_efficiency_t, openmp.transfer),
       FIELD("openmp-transfer-low", REAL, MAY, ompp_efficiency_t, openmp.low),
       FIELD("openmp-transfer-high", REAL, MAY, ompp_efficiency_t, openmp.high));

RECORD(loss, "loss", NAMED("to", losts, MUST, ompp_loss_t, lost), FIELD("lost-ns", U64, MUST, ompp_loss_t, lost_ns),
       FIELD("region", INDEX, MAY, ompp_loss_t, region), FIELD("node", INDEX, MAY, ompp_loss_t, node),
       FIELD("rank", INDEX, MAY, ompp_loss_t, rank), FIELD("rank-ns", U64, MAY, ompp_loss_t, rank_ns));

RECORD(message, "message", FIELD("from", INDEX, MAY, ompp_message_t, from), FIELD("to", INDEX, MAY, ompp_message_t, to),
       FIELD("messages", U64, MUST, ompp_message_t, messages), FIELD("bytes", U64, MAY, ompp_message_t, bytes));

RECORD(whatif, "whatif", NAMED("mode", modes, MUST, ompp_whatif_t, mode), FIELD("why", TEXT, MAY, ompp_whatif_t, why),
       FIELD("time-ns", U64, MUST, ompp_whatif_t, time_ns), FIELD("paid-ns", U64, MAY, ompp_whatif_t, paid_ns),
       FIELD("events", U64, MAY, ompp_whatif_t, events), FIELD("cost-ns", U64, MAY, ompp_whatif_t, cost_ns),
       FIELD("lost", U64, MAY, ompp_whatif_t, lost), FIELD("lost-ns", U64, MAY, ompp_whatif_t, lost_ns),
       FIELD("worked-ns", U64, MAY, ompp_whatif_t, worked_ns), FIELD("outside-ns", U64, MAY, ompp_whatif_t, outside_ns),
       FIELD("rested-ns", U64, MAY, ompp_whatif_t, suspended_ns), FIELD("replayed", U64, MAY, ompp_whatif_t, replayed),
       FIELD("kept", U64, MAY, ompp_whatif_t, kept), FIELD("passed-ns", U64, MAY, ompp_whatif_t, passed_ns));

RECORD(point, "point", NAMED("kind", point_kinds, MUST, ompp_whatif_point_t, kind),
       FIELD("name", TEXT, MAY, ompp_whatif_point_t, name),
       FIELD("automatic", U32, MAY, ompp_whatif_point_t, automatic),
       FIELD("region", INDEX, MAY, ompp_whatif_point_t, region),
       FIELD("visits", U64, MUST, ompp_whatif_point_t, visits), FIELD("begins", U64, MAY, ompp_whatif_point_t, begins),
       FIELD("in-flight-ns", U64, MAY, ompp_whatif_point_t, in_flight_ns));

RECORD(control, "control", FIELD("time-ns", U64, MUST, ompp_whatif_clock_t, time_ns),
       FIELD("observations", U64, MUST, ompp_whatif_clock_t, observations));

RECORD(followed, "followed", FIELD("region", INDEX, MAY, ompp_whatif_region_t, region),
       FIELD("point", INDEX, MAY, ompp_whatif_region_t, point), BITS("flags", flags, ompp_whatif_region_t, flags),
       FIELD("work-ns", U64, MUST, ompp_whatif_region_t, work_ns),
       FIELD("followed-ns", U64, MUST, ompp_whatif_region_t, followed_ns),
       FIELD("visits", U64, MAY, ompp_whatif_region_t, visits),
       FIELD("total-ns", U64, MAY, ompp_whatif_region_t, total_ns));

RECORD(ideal, "ideal", BITS("flags", flags, ompp_whatif_region_t, flags),
       FIELD("followed-ns", U64, MUST, ompp_whatif_region_t, followed_ns));

RECORD(clock, "clock", FIELD("permille", U32, MUST, ompp_whatif_clock_t, permille),
       FIELD("time-ns", U64, MUST, ompp_whatif_clock_t, time_ns),
       FIELD("saved-ns", U64, MUST, ompp_whatif_clock_t, saved_ns),
       FIELD("paid-ns", U64, MAY, ompp_whatif_clock_t, paid_ns),
       FIELD("work-ns", U64, MAY, ompp_whatif_clock_t, work_ns),
       FIELD("observations", U64, MAY, ompp_whatif_clock_t, observations));

RECORD(block, "block", FIELD("number", U32, MUST, ompp_whatif_block_t, number),
       FIELD("visits", U32, MAY, ompp_whatif_block_t, visits),
       FIELD("time-ns", U64, MUST, ompp_whatif_block_t, time_ns),
       FIELD("saved-ns", I64, MUST, ompp_whatif_block_t, saved_ns),
       FIELD("paid-ns", U64, MAY, ompp_whatif_block_t, paid_ns),
       FIELD("work-ns", U64, MAY, ompp_whatif_block_t, work_ns));

RECORD(result, "result", FIELD("region", INDEX, MAY, ompp_xml_result_t, region),
       FIELD("share", REAL, MUST, ompp_xml_result_t, share), FIELD("followed", REAL, MUST, ompp_xml_result_t, followed),
       FIELD("own", REAL, MUST, ompp_xml_result_t, own), FIELD("correction", REAL, MUST, ompp_xml_result_t, correction),
       FIELD("slope", REAL, MUST, ompp_xml_result_t, slope), FIELD("knee", U32, MAY, ompp_xml_result_t, knee),
       FIELD("contention", BOOL, MUST, ompp_xml_result_t, contention),
       FIELD("inside", INDEX, MAY, ompp_xml_result_t, inside),
       NAMED("verdict", verdicts, MUST, ompp_xml_result_t, verdict), BITS("flags", flags, ompp_xml_result_t, flags));

RECORD(gain, "gain", FIELD("permille", U32, MUST, ompp_xml_gain_t, permille),
       FIELD("gain", REAL, MUST, ompp_xml_gain_t, gain), FIELD("interval", BOOL, MUST, ompp_xml_gain_t, interval),
       FIELD("wide", BOOL, MAY, ompp_xml_gain_t, wide), FIELD("by-control", BOOL, MAY, ompp_xml_gain_t, by_control),
       FIELD("low", REAL, MAY, ompp_xml_gain_t, low), FIELD("high", REAL, MAY, ompp_xml_gain_t, high),
       FIELD("correction", REAL, MAY, ompp_xml_gain_t, correction));

/* ---- Text -------------------------------------------------------------------------------------------------------- */

char *ompp_xml_escape(const char *text)
{
    char *copy = malloc(4 * strlen(text) + 1), *to = copy;
    uint32_t code;

    if (!copy) return NULL;
    while (*text) {
        size_t n = ompp_utf8_next(text, &code);
        if (n == 0) to += sprintf(to, "\\x%02x", (unsigned)code);
        else if (code == '\\') to += sprintf(to, "\\\\");
        else to = (char *)memcpy(to, text, n) + n;
        text += n ? n : 1;
    }
    *to = 0;
    return copy;
}

bool ompp_xml_unescape(char *text)
{
    char *to = text;
    unsigned byte;

    while (*text) {
        if (*text != '\\') {
            *to++ = *text++;
        } else if (text[1] == '\\') {
            *to++ = '\\';
            text += 2;
        } else {
            if (text[1] != 'x' || strspn(text + 2, "0123456789abcdef") < 2) return false;
            char hex[3] = {text[2], text[3], 0};
            byte = (unsigned)strtoul(hex, NULL, 16);
            if (!byte) return false;
            *to++ = (char)byte;
            text += 4;
        }
    }
    *to = 0;
    return true;
}
