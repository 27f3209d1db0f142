#include "model/ompp_tables.h"

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
    [OMPP_METRIC_TASK_RUN] = {"task_run", OMPP_UNIT_NS, OF_TASKS(SUM), "time of tasks, without other tasks that ran meanwhile"},
    [OMPP_METRIC_TASK_RUN_MIN] = {"task_run_min", OMPP_UNIT_NS, OF_TASKS(MIN), "shortest of these times"},
    [OMPP_METRIC_TASK_RUN_MAX] = {"task_run_max", OMPP_UNIT_NS, OF_TASKS(MAX), "longest of these times"},
};
#undef OF_TASKS

const ompp_column_row_t ompp_columns[OMPP_COLUMN_NUM] = {
#define OMPP_COLUMN(id, title, unit, source, arg, meaning)                                                             \
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
    ALONE = OMPP_CONSTRUCT_F_ALONE,
};

#define LIST(...) {__VA_ARGS__}
#define LENGTH(...) sizeof((const uint8_t[]){__VA_ARGS__})
#define PHASES LIST
#define COLUMNS LIST
#define SPLIT(column) ((column) | OMPP_COLUMN_SPLIT)
#define OMPP_CONSTRUCT(id, full, brief, place, flags, list_of_phases, list_of_columns, env)                            \
    [OMPP_CONSTRUCT_##id] = {full, brief, OMPP_PLACE_##place, flags, 0, 0, list_of_phases, list_of_columns, env},
static ompp_construct_row_t rows[OMPP_CONSTRUCT_NUM] = {
#include "model/ompp_construct.def"
};
#undef OMPP_CONSTRUCT
#undef PHASES
#undef COLUMNS
#define PHASES LENGTH
#define COLUMNS LENGTH
#define OMPP_CONSTRUCT(id, full, brief, place, flags, number_of_phases, number_of_columns, env)                        \
    [OMPP_CONSTRUCT_##id] = {number_of_phases, number_of_columns},
static const uint8_t lengths[OMPP_CONSTRUCT_NUM][2] = {
#include "model/ompp_construct.def"
};
#undef OMPP_CONSTRUCT

const ompp_construct_row_t *const ompp_constructs = rows;

const ompp_class_row_t ompp_classes[OMPP_CLASS_NUM] = {
#define OMPP_CLASS(id, title, meaning) [OMPP_CLASS_##id] = {title, meaning},
#include "model/ompp_class.def"
#undef OMPP_CLASS
};

const ompp_rule_t ompp_rules[] = {
#define OMPP_RULE(construct, phase, class, few)                                                                        \
    {OMPP_CONSTRUCT_##construct, OMPP_PHASE_##phase, OMPP_CLASS_##class, OMPP_CLASS_##few},
#include "model/ompp_class.def"
#undef OMPP_RULE
};
const size_t ompp_nrules = sizeof ompp_rules / sizeof ompp_rules[0];

uint8_t ompp_phase_slot[OMPP_CONSTRUCT_NUM][OMPP_PHASE_NUM];

/* What follows from the rows: lengths of the lists, and the way back from a phase to its slot. */
__attribute__((constructor)) static void derive(void)
{
    memset(ompp_phase_slot, OMPP_NO_SLOT, sizeof ompp_phase_slot);
    for (unsigned c = 0; c < OMPP_CONSTRUCT_NUM; c++) {
        rows[c].nphases = lengths[c][0];
        rows[c].ncolumns = lengths[c][1];
        for (unsigned s = 0; s < rows[c].nphases; s++) ompp_phase_slot[c][rows[c].phases[s]] = s;
    }
}

ompp_construct_t ompp_construct_by_name(const char *full)
{
    unsigned c = 0;

    while (c < OMPP_CONSTRUCT_NUM && strcmp(rows[c].full, full) != 0) c++;
    return c;
}

ompp_phase_t ompp_phase_by_name(const char *name)
{
    unsigned p = 0;

    while (p < OMPP_PHASE_NUM && strcmp(ompp_phase_name[p], name) != 0) p++;
    return p;
}
