#include "model/ompp_record_rows.h"

static const char *const ends[] = {
    [OMPP_END_FINAL] = "final", [OMPP_END_DUMP] = "dump", [OMPP_END_INCOMPLETE] = "incomplete"};
static const char *const threads[] = {[OMPP_THREAD_INITIAL] = "initial",
                                      [OMPP_THREAD_TEAM] = "team",
                                      [OMPP_THREAD_NESTED] = "nested",
                                      [OMPP_THREAD_OTHER] = "other"};
static const char *const qualities[] = {[OMPP_QUALITY_EXACT] = "exact",
                                        [OMPP_QUALITY_SAMPLED] = "sampled",
                                        [OMPP_QUALITY_SIMULATED] = "simulated",
                                        [OMPP_QUALITY_HARDWARE] = "hardware"};
static const char *const reductions[] = {
    [OMPP_REDUCE_SUM] = "sum", [OMPP_REDUCE_MIN] = "min", [OMPP_REDUCE_MAX] = "max"};
static const char *const uses[OMPP_USE_NUM] = {
    [OMPP_USE_VALUE] = "value",       [OMPP_USE_COLUMN] = "column",     [OMPP_USE_WAITS] = "waits",
    [OMPP_USE_OBJECTS] = "objects",   [OMPP_USE_SELECTED] = "selected", [OMPP_USE_COST] = "cost",
    [OMPP_USE_READINGS] = "readings", [OMPP_USE_WANTED] = "wanted",     [OMPP_USE_COUNTED] = "counted",
    [OMPP_USE_ERROR] = "error",       [OMPP_USE_LOSS] = "loss",         [OMPP_USE_CURVES] = "curves",
    [OMPP_USE_MODEL] = "model"};
static const char *const overs[] = {"threads", "ranks"};
static const char *const points[] = {[OMPP_WHATIF_THROUGHPUT] = "throughput", [OMPP_WHATIF_LATENCY] = "latency"};

OMPP_NAMES(end, ends, );
OMPP_NAMES(thread, threads, );
OMPP_NAMES(quality, qualities, );
OMPP_NAMES(reduction, reductions, );
OMPP_NAMES(use, uses, );
OMPP_NAMES(over, overs, );
OMPP_NAMES(point, points, );
OMPP_NAMES(construct, ompp_constructs, .full);
OMPP_NAMES(phase, ompp_phase_name, );
OMPP_NAMES(unit, ompp_unit_name, );
OMPP_NAMES(coverage, ompp_coverage_rows, .name);
OMPP_NAMES(mode, ompp_whatif_modes, );
OMPP_NAMES(flag, ompp_whatif_flags, .name);

#include "model/ompp_record.def"

const ompp_record_t *const ompp_record_lists[OMPP_RECORD_LISTS] = {
    &ompp_record_setting, &ompp_record_module, &ompp_record_rank,     &ompp_record_location,     &ompp_record_region,
    &ompp_record_metric,  &ompp_record_object, &ompp_record_coverage, &ompp_record_whatif_point, &ompp_record_message};

bool ompp_record_equal(const ompp_record_t *record, const void *a, const void *b)
{
    const ompp_field_t *f = record->fields;

    while (f->type && ompp_field_get(f, a) == ompp_field_get(f, b)) f++;
    return !f->type;
}
