/**
 * \file
 * The tables of phases, metrics, columns, constructs and overhead classes. Adding one of them means adding a row in a
 * .def file; no writer, reader or analysis names a single one in code. Definitions follow the ompP report (see
 * docs/compatibility.md).
 */
#ifndef OMPP_TABLES_H
#define OMPP_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
#define OMPP_PHASE(id, name, kind, meaning) OMPP_PHASE_##id,
#include "model/ompp_phase.def"
#undef OMPP_PHASE
    OMPP_PHASE_NUM
} ompp_phase_t;

#define OMPP_MAX_PHASES 5   /* of one construct */
#define OMPP_MAX_COLUMNS 12 /* of one construct, without the MPI columns */
#define OMPP_NO_SLOT 0xff
#define OMPP_COLUMN_SPLIT 0x80 /* added to a column in a construct's list */

/* Metrics that are not phases. Built-in ones have fixed sets and indices; further sets are registered at run time. */
typedef enum { OMPP_SET_PHASES, OMPP_SET_MPI, OMPP_SET_FIRST_FREE } ompp_set_id_t;
typedef enum { OMPP_UNIT_NS, OMPP_UNIT_COUNT, OMPP_UNIT_BYTES, OMPP_UNIT_NUM } ompp_unit_t;
typedef enum { OMPP_QUALITY_EXACT, OMPP_QUALITY_SAMPLED, OMPP_QUALITY_SIMULATED, OMPP_QUALITY_HARDWARE } ompp_quality_t;
typedef enum { OMPP_REDUCE_SUM, OMPP_REDUCE_MIN, OMPP_REDUCE_MAX } ompp_reduction_t;
/*
 * What a registered metric is for. COLUMN: counts of a node alone while its thread works, printed as a column of all
 * tables. WAITS: the same while it waits; the metric after n others of the same set, n columns in all. Inclusive column
 * of a node: its own COLUMN value, and both of all nodes below. OBJECTS: a column for each data structure that is
 * named, none when there is none. SELECTED: the same for structures that have values of the set, zeros too; the others
 * were not counted. COST, READINGS: ns that one reading of all counters takes, and how often they were read. WANTED,
 * COUNTED: of counters that take turns, by the name of theirs: ns that one was to be counted, and ns that it was.
 * ERROR: how far its value may be off, in its unit. All of them stand at the root. LOSS: what the set has lost; said in
 * Coverage when it is not 0. CURVES, MODEL: the first of a set of simulated caches (ompp_cached.h).
 */
typedef enum {
    OMPP_USE_VALUE,
    OMPP_USE_COLUMN,
    OMPP_USE_WAITS,
    OMPP_USE_OBJECTS,
    OMPP_USE_SELECTED,
    OMPP_USE_COST,
    OMPP_USE_READINGS,
    OMPP_USE_WANTED,
    OMPP_USE_COUNTED,
    OMPP_USE_ERROR,
    OMPP_USE_LOSS,
    OMPP_USE_CURVES,
    OMPP_USE_MODEL,
    OMPP_USE_NUM
} ompp_metric_use_t;

/** Metrics of the set OMPP_SET_MPI, in order. */
typedef enum {
    OMPP_METRIC_BYTES_IN,
    OMPP_METRIC_BYTES_OUT,
    OMPP_METRIC_RECVS,
    OMPP_METRIC_SENDS,
    OMPP_METRIC_COLLS,
    OMPP_METRIC_MPI_NUM
} ompp_mpi_metric_t;

/**
 * Metrics of tasks, registered as two sets at the first task; of TASKEXEC nodes, on the thread where a task began and
 * where it ended. Tables compare by name, so that a profile that was read has them too.
 */
typedef enum {
    OMPP_METRIC_TASK_STARTS,
    OMPP_METRIC_TASK_WAIT,
    OMPP_METRIC_TASK_WAIT_MAX,
    OMPP_METRIC_TASK_START_NUM
} ompp_start_metric_t;
typedef enum {
    OMPP_METRIC_TASK_ENDS,
    OMPP_METRIC_TASK_RUN,
    OMPP_METRIC_TASK_RUN_MIN,
    OMPP_METRIC_TASK_RUN_MAX,
    OMPP_METRIC_TASK_END_NUM
} ompp_end_metric_t;
/** Metrics of loops whose iterations are handed out, registered as a set at the end of the first one. */
typedef enum {
    OMPP_METRIC_CHUNKS,
    OMPP_METRIC_CHUNK_ASKS,
    OMPP_METRIC_CHUNK_TIMED,
    OMPP_METRIC_CHUNK_TIME,
    OMPP_METRIC_CHUNK_NUM
} ompp_chunk_metric_t;
/** Metrics of regions that come often and are timed now and then, registered as a set when the first one is. */
typedef enum {
    OMPP_METRIC_THINNED,
    OMPP_METRIC_THINNED_TIMED,
    OMPP_METRIC_THINNED_TIME,
    OMPP_METRIC_THINNED_SQUARES,
    OMPP_METRIC_THINNED_NUM
} ompp_thinned_metric_t;
/**
 * Metrics of collective calls, of a sample that all ranks of a communicator have kept, booked at the end of the run;
 * of MPI nodes. Registered as a set then.
 */
typedef enum {
    OMPP_METRIC_MEETS,
    OMPP_METRIC_MEET_LAST,
    OMPP_METRIC_MEET_LATE,
    OMPP_METRIC_MEET_WAIT,
    OMPP_METRIC_MEET_REST,
    OMPP_METRIC_MEET_NUM
} ompp_meet_metric_t;
/** Metrics of calls that wait for messages, in the same way: of those that both sides have kept. */
typedef enum {
    OMPP_METRIC_PAIRS,
    OMPP_METRIC_PAIR_SENDER,
    OMPP_METRIC_PAIR_RECEIVER,
    OMPP_METRIC_PAIR_REST,
    OMPP_METRIC_PAIR_NUM
} ompp_pair_metric_t;

/** Metrics of samples, registered as one set when they are taken; of the node where each found its thread. */
typedef enum { OMPP_METRIC_SAMPLES, OMPP_METRIC_SAMPLED_NS, OMPP_METRIC_SAMPLES_NUM } ompp_sample_metric_t;

/** A metric outside the phases: a row of a set. */
typedef struct {
    const char *name;
    ompp_unit_t unit;
    ompp_quality_t quality;
    ompp_reduction_t threads, ranks; /* how values of threads, and of ranks, combine */
    const char *source;              /* who measures it */
    const char *meaning;
    ompp_metric_use_t use;
} ompp_metric_row_t;

extern const ompp_metric_row_t ompp_mpi_metrics[OMPP_METRIC_MPI_NUM];
extern const ompp_metric_row_t ompp_start_metrics[OMPP_METRIC_TASK_START_NUM],
    ompp_end_metrics[OMPP_METRIC_TASK_END_NUM];
extern const ompp_metric_row_t ompp_sample_metrics[OMPP_METRIC_SAMPLES_NUM];
extern const ompp_metric_row_t ompp_chunk_metrics[OMPP_METRIC_CHUNK_NUM];
extern const ompp_metric_row_t ompp_thinned_metrics[OMPP_METRIC_THINNED_NUM];
/* For libompp-mpi, too. */
extern const ompp_metric_row_t ompp_meet_metrics[OMPP_METRIC_MEET_NUM] __attribute__((visibility("default")));
extern const ompp_metric_row_t ompp_pair_metrics[OMPP_METRIC_PAIR_NUM] __attribute__((visibility("default")));
extern const char *const ompp_unit_name[OMPP_UNIT_NUM]; /* "ns", "count", "bytes" */

typedef enum {
    OMPP_SOURCE_EXEC,
    OMPP_SOURCE_VISITS,
    OMPP_SOURCE_TIME,
    OMPP_SOURCE_TIME_LESS,
    OMPP_SOURCE_COUNT,
    OMPP_SOURCE_TASKS,
    OMPP_SOURCE_MPI_TIME,
    OMPP_SOURCE_METRIC
} ompp_column_source_t;

typedef enum {
#define OMPP_COLUMN(id, title, unit, source, arg, meaning) OMPP_COLUMN_##id,
#include "model/ompp_column.def"
#undef OMPP_COLUMN
    OMPP_COLUMN_NUM
} ompp_column_t;

typedef struct {
    const char *title;
    ompp_unit_t unit;
    ompp_column_source_t source;
    int arg; /* phase or metric */
    const char *meaning;
} ompp_column_row_t;

typedef enum {
#define OMPP_CONSTRUCT(id, full, brief, place, flags, phases, columns, env) OMPP_CONSTRUCT_##id,
#include "model/ompp_construct.def"
#undef OMPP_CONSTRUCT
    OMPP_CONSTRUCT_NUM
} ompp_construct_t;

typedef enum {
    OMPP_PLACE_RANGE,
    OMPP_PLACE_LINE,
    OMPP_PLACE_NAMED,
    OMPP_PLACE_OPTNAMED,
    OMPP_PLACE_CALL,
    OMPP_PLACE_ADDRESS
} ompp_place_t;

enum {
    OMPP_CONSTRUCT_F_NONE = 0,
    OMPP_CONSTRUCT_F_FORK = 1,
    OMPP_CONSTRUCT_F_ONCE = 2,
    OMPP_CONSTRUCT_F_TASK = 4,
    OMPP_CONSTRUCT_F_ALONE = 8,
    OMPP_CONSTRUCT_F_PATH = 16
};

typedef struct {
    const char *full, *brief; /* "PARALLEL LOOP", "PARLOOP" */
    ompp_place_t place;
    unsigned flags; /* OMPP_CONSTRUCT_F_* */
    uint8_t nphases;
    uint8_t phases[OMPP_MAX_PHASES]; /* slot -> phase */
    uint8_t ncolumns;
    uint8_t columns[OMPP_MAX_COLUMNS]; /* ompp_column_t in print order; OMPP_COLUMN_SPLIT set: has /I and /E values */
    const char *env;                   /* variable that disables it; NULL = cannot be disabled */
} ompp_construct_row_t;

/** Kinds of events, by what they cost. */
typedef enum {
#define OMPP_COST(id, name, meaning) OMPP_COST_##id,
#include "model/ompp_cost.def"
#undef OMPP_COST
    OMPP_COST_NUM
} ompp_cost_t;

typedef enum {
#define OMPP_CLASS(id, title, meaning) OMPP_CLASS_##id,
#include "model/ompp_class.def"
#undef OMPP_CLASS
    OMPP_CLASS_NUM,
    OMPP_CLASS_NONE = OMPP_CLASS_NUM
} ompp_class_t;

typedef struct {
    const char *title, *meaning;
} ompp_class_row_t;

typedef struct {
    uint8_t construct, phase, class, class_few;
} ompp_rule_t;

/** Kinds of coverage lines. */
typedef enum {
#define OMPP_COVERAGE(id, name, text, weight) OMPP_COVERAGE_##id,
#include "model/ompp_coverage.def"
#undef OMPP_COVERAGE
    OMPP_COVERAGE_NUM
} ompp_coverage_kind_t;

typedef enum { OMPP_WEIGHT_FACT, OMPP_WEIGHT_TIMES } ompp_coverage_weight_t;

typedef struct {
    const char *name, *text;
    ompp_coverage_weight_t weight;
} ompp_coverage_row_t;

extern const ompp_coverage_row_t ompp_coverage_rows[OMPP_COVERAGE_NUM];

extern const char *const ompp_phase_name[OMPP_PHASE_NUM];
extern const bool ompp_phase_is_work[OMPP_PHASE_NUM]; /* the thread runs the user's code */
extern const ompp_column_row_t ompp_columns[OMPP_COLUMN_NUM];
extern const ompp_construct_row_t ompp_constructs[OMPP_CONSTRUCT_NUM];
extern const ompp_class_row_t ompp_classes[OMPP_CLASS_NUM];
extern const ompp_rule_t ompp_rules[];
extern const size_t ompp_nrules;

/** Columns that follow every table of an MPI run, in print order. */
extern const uint8_t ompp_mpi_columns[];
extern const size_t ompp_nmpi_columns;

/* slot + 1; 0 = the construct has no such phase */
extern const uint8_t ompp_phase_places[OMPP_CONSTRUCT_NUM][OMPP_PHASE_NUM];

/** \return slot of a phase in a construct, or OMPP_NO_SLOT. */
static inline uint8_t ompp_phase_slot(unsigned construct, unsigned phase)
{
    return (uint8_t)(ompp_phase_places[construct][phase] - 1);
}

/** \return construct with this full name, or OMPP_CONSTRUCT_NUM. */
ompp_construct_t ompp_construct_by_name(const char *full);

/** \return phase of this name, or OMPP_PHASE_NUM. */
ompp_phase_t ompp_phase_by_name(const char *name);

/** \return true when the construct starts a team (PARALLEL and its combined forms, TEAMS). */
static inline bool ompp_construct_forks(unsigned construct)
{
    return ompp_constructs[construct].flags & OMPP_CONSTRUCT_F_FORK;
}

/**
 * \brief What an execution of a construct costs that is brief and may come often: one that is only counted, or timed.
 * \return OMPP_COST_NUM: it is not one of them, each is timed.
 */
static inline ompp_cost_t ompp_construct_brief_cost(unsigned construct, bool counted)
{
    switch (construct) {
    case OMPP_CONSTRUCT_ATOMIC: return counted ? OMPP_COST_ATOMIC_COUNTED : OMPP_COST_ATOMIC;
    case OMPP_CONSTRUCT_CRITICAL:
    case OMPP_CONSTRUCT_ORDERED: return counted ? OMPP_COST_CRITICAL_COUNTED : OMPP_COST_CRITICAL;
    case OMPP_CONSTRUCT_LOCK: return counted ? OMPP_COST_LOCK_COUNTED : OMPP_COST_LOCK;
    case OMPP_CONSTRUCT_TASK: return counted ? OMPP_COST_CREATE_COUNTED : OMPP_COST_ENTER;
    case OMPP_CONSTRUCT_TASKEXEC: return counted ? OMPP_COST_TASK_COUNTED : OMPP_COST_TASK;
    default: return OMPP_COST_NUM;
    }
}

/** \return true for what is no region, but a part of a call path between regions (FUNCTION, LINE). */
static inline bool ompp_construct_is_path(unsigned construct)
{
    return ompp_constructs[construct].flags & OMPP_CONSTRUCT_F_PATH;
}

/** \return true for a part of a function: a line, a loop, an inlined call. */
static inline bool ompp_construct_is_part(unsigned construct)
{
    return ompp_construct_is_path(construct) && construct != OMPP_CONSTRUCT_FUNCTION;
}

#endif
