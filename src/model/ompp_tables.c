#include "model/ompp_tables.h"

#include "model/ompp_whatif_profile.h"

#include <string.h>

const char *const ompp_unit_name[OMPP_UNIT_NUM] = {
    [OMPP_UNIT_NS] = "ns", [OMPP_UNIT_COUNT] = "count", [OMPP_UNIT_BYTES] = "bytes"};

const char *const ompp_phase_name[OMPP_PHASE_NUM] = {
#define OMPP_PHASE(id, name, kind, meaning) [OMPP_PHASE_##id] = name,
#include "model/ompp_phase.def"
#undef OMPP_PHASE
};

enum { WAIT = false, WORK = true };
const bool ompp_phase_is_work[OMPP_PHASE_NUM] = {
#define OMPP_PHASE(id, name, kind, meaning) [OMPP_PHASE_##id] = kind,
#include "model/ompp_phase.def"
#undef OMPP_PHASE
};

#define SUMMED OMPP_QUALITY_EXACT, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "PMPI"
const ompp_metric_row_t ompp_mpi_metrics[OMPP_METRIC_MPI_NUM] = {
    [OMPP_METRIC_BYTES_IN] = {"bytes_in", OMPP_UNIT_BYTES, SUMMED, "bytes received"},
    [OMPP_METRIC_BYTES_OUT] = {"bytes_out", OMPP_UNIT_BYTES, SUMMED, "bytes sent"},
    [OMPP_METRIC_RECVS] = {"recvs", OMPP_UNIT_COUNT, SUMMED, "receive calls"},
    [OMPP_METRIC_SENDS] = {"sends", OMPP_UNIT_COUNT, SUMMED, "send calls"},
    [OMPP_METRIC_COLLS] = {"colls", OMPP_UNIT_COUNT, SUMMED, "collective calls"},
};
#undef SUMMED

#define OF_TASKS(how) OMPP_QUALITY_EXACT, OMPP_REDUCE_##how, OMPP_REDUCE_##how, "tasks"
const ompp_metric_row_t ompp_start_metrics[OMPP_METRIC_TASK_START_NUM] = {
    [OMPP_METRIC_TASK_STARTS] = {"task_starts", OMPP_UNIT_COUNT, OF_TASKS(SUM), "tasks begun"},
    [OMPP_METRIC_TASK_WAIT] = {"task_wait", OMPP_UNIT_NS, OF_TASKS(SUM), "from the creation of tasks to their begin"},
    [OMPP_METRIC_TASK_WAIT_MAX] = {"task_wait_max", OMPP_UNIT_NS, OF_TASKS(MAX), "longest of these times"},
};
const ompp_metric_row_t ompp_end_metrics[OMPP_METRIC_TASK_END_NUM] = {
    [OMPP_METRIC_TASK_ENDS] = {"task_ends", OMPP_UNIT_COUNT, OF_TASKS(SUM), "tasks ended"},
    [OMPP_METRIC_TASK_RUN] = {"task_run", OMPP_UNIT_NS, OF_TASKS(SUM),
                              "time of tasks, without other tasks that ran meanwhile"},
    [OMPP_METRIC_TASK_RUN_MIN] = {"task_run_min", OMPP_UNIT_NS, OF_TASKS(MIN), "shortest of these times"},
    [OMPP_METRIC_TASK_RUN_MAX] = {"task_run_max", OMPP_UNIT_NS, OF_TASKS(MAX), "longest of these times"},
};
#undef OF_TASKS

#define OF_SAMPLES OMPP_QUALITY_SAMPLED, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "samples"
const ompp_metric_row_t ompp_sample_metrics[OMPP_METRIC_SAMPLES_NUM] = {
    [OMPP_METRIC_SAMPLES] = {"samples", OMPP_UNIT_COUNT, OF_SAMPLES, "samples of processor time taken here",
                             OMPP_USE_VALUE},
    [OMPP_METRIC_SAMPLED_NS] = {"sampled_time", OMPP_UNIT_NS, OF_SAMPLES, "processor time that they stand for",
                                OMPP_USE_VALUE},
};
#undef OF_SAMPLES
#define OF_CHUNKS(quality) OMPP_QUALITY_##quality, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "loops"
const ompp_metric_row_t ompp_chunk_metrics[OMPP_METRIC_CHUNK_NUM] = {
    [OMPP_METRIC_CHUNKS] = {"chunks", OMPP_UNIT_COUNT, OF_CHUNKS(EXACT),
                            "parts of the iterations that were handed out"},
    [OMPP_METRIC_CHUNK_ASKS] = {"chunk_asks", OMPP_UNIT_COUNT, OF_CHUNKS(EXACT), "times that threads came for one"},
    [OMPP_METRIC_CHUNK_TIMED] = {"chunk_timed", OMPP_UNIT_COUNT, OF_CHUNKS(EXACT), "of these, those that were timed"},
    [OMPP_METRIC_CHUNK_TIME] = {"chunk_time", OMPP_UNIT_NS, OF_CHUNKS(SAMPLED), "what these took"},
};
#undef OF_CHUNKS
#define OF_THINNED(quality) OMPP_QUALITY_##quality, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "thinned"
const ompp_metric_row_t ompp_thinned_metrics[OMPP_METRIC_THINNED_NUM] = {
    [OMPP_METRIC_THINNED] = {"thinned", OMPP_UNIT_COUNT, OF_THINNED(EXACT),
                             "executions whose times are those of a sample"},
    [OMPP_METRIC_THINNED_TIMED] = {"thinned_timed", OMPP_UNIT_COUNT, OF_THINNED(EXACT),
                                   "of these, those that were timed"},
    [OMPP_METRIC_THINNED_TIME] = {"thinned_time", OMPP_UNIT_NS, OF_THINNED(SAMPLED), "what these took"},
    [OMPP_METRIC_THINNED_SQUARES] = {"thinned_squares", OMPP_UNIT_COUNT, OF_THINNED(SAMPLED),
                                     "sum of the squares of what each took, in ns"},
};
#undef OF_THINNED

#define OF_MEETS OMPP_QUALITY_SAMPLED, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, "PMPI"
const ompp_metric_row_t ompp_meet_metrics[OMPP_METRIC_MEET_NUM] = {
    [OMPP_METRIC_MEETS] = {"meets", OMPP_UNIT_COUNT, OF_MEETS, "collective calls that were compared"},
    [OMPP_METRIC_MEET_LAST] = {"meet_last", OMPP_UNIT_COUNT, OF_MEETS, "of these, to which this rank came last"},
    [OMPP_METRIC_MEET_LATE] = {"meet_late", OMPP_UNIT_NS, OF_MEETS, "by how much, later than the others on average"},
    [OMPP_METRIC_MEET_WAIT] = {"meet_wait", OMPP_UNIT_NS, OF_MEETS, "in these, until the last rank came"},
    [OMPP_METRIC_MEET_REST] = {"meet_rest", OMPP_UNIT_NS, OF_MEETS, "in these, after that"},
};
const ompp_metric_row_t ompp_pair_metrics[OMPP_METRIC_PAIR_NUM] = {
    [OMPP_METRIC_PAIRS] = {"pairs", OMPP_UNIT_COUNT, OF_MEETS, "calls whose messages were compared"},
    [OMPP_METRIC_PAIR_SENDER] = {"pair_sender", OMPP_UNIT_NS, OF_MEETS, "in these, until the sender came"},
    [OMPP_METRIC_PAIR_RECEIVER] = {"pair_receiver", OMPP_UNIT_NS, OF_MEETS, "in these, until the receiver came"},
    [OMPP_METRIC_PAIR_REST] = {"pair_rest", OMPP_UNIT_NS, OF_MEETS, "in these, after that"},
};
#undef OF_MEETS

const ompp_column_row_t ompp_columns[OMPP_COLUMN_NUM] = {
#define OMPP_COLUMN(id, title, unit, source, arg, meaning) \
    [OMPP_COLUMN_##id] = {title, OMPP_UNIT_##unit, OMPP_SOURCE_##source, arg, meaning},
#include "model/ompp_column.def"
#undef OMPP_COLUMN
};

const uint8_t ompp_mpi_columns[] = {OMPP_COLUMN_MPI_T,  OMPP_COLUMN_IN_V,   OMPP_COLUMN_OUT_V,
                                    OMPP_COLUMN_RECV_C, OMPP_COLUMN_SEND_C, OMPP_COLUMN_COLL_C};
const size_t ompp_nmpi_columns = sizeof ompp_mpi_columns;

/* The short names used in the rows of ompp_construct.def. */
enum {
#define OMPP_PHASE(id, name, kind, meaning) id = OMPP_PHASE_##id,
#include "model/ompp_phase.def"
#undef OMPP_PHASE
#define OMPP_COLUMN(id, title, unit, source, arg, meaning) id = OMPP_COLUMN_##id,
#include "model/ompp_column.def"
#undef OMPP_COLUMN
    NONE = OMPP_CONSTRUCT_F_NONE,
    FORK = OMPP_CONSTRUCT_F_FORK,
    ONCE = OMPP_CONSTRUCT_F_ONCE,
    TASK = OMPP_CONSTRUCT_F_TASK,
    PATH = OMPP_CONSTRUCT_F_PATH,
    ALONE = OMPP_CONSTRUCT_F_ALONE,
};

/* Constants, all of them: the first event may come before any constructor of ours, from one of a library that is
 * initialised earlier. */
#define LIST(...) \
    sizeof((const uint8_t[]){__VA_ARGS__}), { __VA_ARGS__ }
#define PHASES LIST
#define COLUMNS LIST
#define SPLIT(column) ((column) | OMPP_COLUMN_SPLIT)
#define OMPP_CONSTRUCT(id, full, brief, place, flags, phases, columns, env) \
    [OMPP_CONSTRUCT_##id] = {full, brief, OMPP_PLACE_##place, flags, phases, columns, env},
const ompp_construct_row_t ompp_constructs[OMPP_CONSTRUCT_NUM] = {
#include "model/ompp_construct.def"
};
#undef OMPP_CONSTRUCT
#undef PHASES

/* The way back from a phase to its slot: the place of its name among the arguments of PHASES, counted from 1. */
#define SLOTS_1(a) [a] = 1
#define SLOTS_2(a, b) SLOTS_1(a), [b] = 2
#define SLOTS_3(a, b, c) SLOTS_2(a, b), [c] = 3
#define SLOTS_4(a, b, c, d) SLOTS_3(a, b, c), [d] = 4
#define SLOTS_5(a, b, c, d, e) SLOTS_4(a, b, c, d), [e] = 5
#define SIXTH(a, b, c, d, e, f, ...) f
#define PHASES(...) SIXTH(__VA_ARGS__, SLOTS_5, SLOTS_4, SLOTS_3, SLOTS_2, SLOTS_1, )(__VA_ARGS__)
#define OMPP_CONSTRUCT(id, full, brief, place, flags, phases, columns, env) [OMPP_CONSTRUCT_##id] = {phases},
const uint8_t ompp_phase_places[OMPP_CONSTRUCT_NUM][OMPP_PHASE_NUM] = {
#include "model/ompp_construct.def"
};
#undef OMPP_CONSTRUCT

const ompp_coverage_row_t ompp_coverage_rows[OMPP_COVERAGE_NUM] = {
#define OMPP_COVERAGE(id, name, text, weight) [OMPP_COVERAGE_##id] = {name, text, OMPP_WEIGHT_##weight},
#include "model/ompp_coverage.def"
#undef OMPP_COVERAGE
};

const ompp_whatif_flag_t ompp_whatif_flags[OMPP_WHATIF_FLAG_NUM] = {
#define OMPP_WHATIF_FLAG(id, warning, name) [OMPP_WHATIF_BIT_##id] = {name, OMPP_WHATIF_W_##warning},
#include "model/ompp_whatif_flag.def"
#undef OMPP_WHATIF_FLAG
};

const ompp_whatif_warning_text_t ompp_whatif_warnings[OMPP_WHATIF_WARNING_NUM] = {
#define OMPP_WHATIF_WARNING(id, name, sentence) [OMPP_WHATIF_W_##id] = {name, sentence},
#include "model/ompp_whatif_flag.def"
#undef OMPP_WHATIF_WARNING
};

const char *const ompp_whatif_modes[OMPP_WHATIF_MODE_NUM] = {
    [OMPP_WHATIF_OFF] = "off", [OMPP_WHATIF_VIRTUAL] = "virtual", [OMPP_WHATIF_DELAY] = "delay"};

const ompp_class_row_t ompp_classes[OMPP_CLASS_NUM] = {
#define OMPP_CLASS(id, title, meaning) [OMPP_CLASS_##id] = {title, meaning},
#include "model/ompp_class.def"
#undef OMPP_CLASS
};

const ompp_rule_t ompp_rules[] = {
#define OMPP_RULE(construct, phase, class, few) \
    {OMPP_CONSTRUCT_##construct, OMPP_PHASE_##phase, OMPP_CLASS_##class, OMPP_CLASS_##few},
#include "model/ompp_class.def"
#undef OMPP_RULE
};
const size_t ompp_nrules = sizeof ompp_rules / sizeof ompp_rules[0];

ompp_construct_t ompp_construct_by_name(const char *full)
{
    unsigned c = 0;

    while (c < OMPP_CONSTRUCT_NUM && strcmp(ompp_constructs[c].full, full) != 0) c++;
    return c;
}

ompp_phase_t ompp_phase_by_name(const char *name)
{
    unsigned p = 0;

    while (p < OMPP_PHASE_NUM && strcmp(ompp_phase_name[p], name) != 0) p++;
    return p;
}
