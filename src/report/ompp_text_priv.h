/**
 * \file
 * What the parts of the text writer share. The layout is ompP's, byte for byte; see docs/report.md.
 */
#ifndef OMPP_TEXT_PRIV_H
#define OMPP_TEXT_PRIV_H

#include "analysis/ompp_analysis.h"
#include "analysis/ompp_eval.h"
#include "analysis/ompp_properties.h"
#include "analysis/ompp_values.h"
#include "model/ompp_profile.h"
#include "report/ompp_report.h"
#include "report/ompp_text_layout.h"

#include <stdio.h>

/** An evaluator as a column. */
typedef struct {
    char title[32];
    const char *unit;
    ompp_eval_t *eval; /* owned */
} ompp_text_evaluator_t;

typedef enum { OMPP_TEXT_COLUMN, OMPP_TEXT_COUNTER, OMPP_TEXT_EVALUATOR } ompp_text_kind_t;

/** One column as printed. */
typedef struct {
    unsigned id;        /* ompp_column_t, or index of the counter or evaluator */
    const char *suffix; /* "", "/I" or "/E" */
    ompp_text_kind_t kind;
} ompp_text_column_t;

/** One report being written. */
typedef struct {
    FILE *out;
    const ompp_profile_t *profile;
    const ompp_profile_t *whole; /* with samples, of which profile is an outline; NULL = none */
    const ompp_view_t *view;     /* NULL = the whole report, as in the file */
    ompp_values_t *values;
    const ompp_paths_t *paths; /* borrowed from values */
    char *app;                 /* name of the application, printable */
    char **places;             /* [nregions] location as printed; NULL for regions that were never executed */
    uint32_t *regions;         /* executed regions by first execution, [nexecuted] */
    size_t nexecuted;
    uint32_t *order; /* locations by rank and thread, the rest last, [nlocations] */
    uint32_t *nodes; /* depth first, [nordered], without the root */
    size_t nordered;
    uint32_t *depth;             /* [nnodes] */
    bool *has_sibling;           /* [nnodes] another child of the same parent follows */
    bool *has_child;             /* [nnodes] */
    ompp_row_t *rows;            /* [nlocations] scratch */
    ompp_row_t *totals;          /* [nnodes] sums over locations; of the root: MPI columns only */
    ompp_row_t *sums;            /* [2] scratch: SUM and the omitted ranks of a table */
    ompp_text_column_t *columns; /* scratch: of the table that is being printed */
    uint32_t *path;              /* [nnodes] scratch */
    uint64_t *rank_exec;         /* [nranks_kept] scratch: execT of a table per rank */
    uint32_t *rank_sort;         /* [nranks_kept] scratch */
    bool *rank_shown;            /* [nranks_kept] */
    uint64_t duration_ns, nslots, nranks;
    int digits;                     /* after the point of times */
    int extra;                      /* columns that times need beyond ompP's width */
    bool show_ranks;                /* merged report: RANK column */
    bool collapse;                  /* one row for all threads in tables of locks */
    const ompp_counter_t *counters; /* borrowed from values */
    size_t ncounters;
    ompp_text_evaluator_t *evaluators; /* owned: the user's, then the derived metrics */
    size_t nevaluators, nused;         /* nused: of the user's that are understood */
    struct {
        size_t regions, nodes; /* that are left out */
        uint64_t own_ns;       /* thread time of these nodes, without what is below them */
        bool least;            /* some that have time, too */
        bool *kept;            /* [nregions] owned; NULL = nothing is left out */
    } folded;
    char *refused; /* owned: a line for Coverage per evaluator of the user's that is not; NULL = none */
} ompp_text_t;

/** One row of a table; rank and tid count for OMPP_ROW_THREAD only. */
typedef void ompp_text_row_fn(const ompp_text_t *t, ompp_row_kind_t kind, uint32_t rank, uint32_t tid,
                              const ompp_text_column_t *columns, size_t n, const ompp_row_t *row);

/** One line of the overhead tables, with the number that orders it. */
typedef struct {
    ompp_overhead_t values;
    uint32_t number;
    uint64_t sum_ns; /* of all classes */
    uint64_t key;    /* descending */
} ompp_text_overhead_t;

/** The overhead tables before they are printed. lines: owned, free(). */
typedef struct {
    ompp_text_overhead_t *lines, sum; /* [n], by wallclock or by sum_ns */
    size_t n, nregions;               /* nregions: also those that are left out */
    uint64_t coverage_ns;             /* wallclock of parallel regions that are not inside others */
} ompp_text_overheads_t;

/** A line of General Information of MPI runs: a sum over the whole report. */
typedef struct {
    const char *name;
    ompp_column_t column;
} ompp_text_mpi_line_t;

extern const ompp_text_mpi_line_t ompp_text_mpi_lines[];
extern const size_t ompp_text_nmpi_lines;

/** Buffer for a time. */
typedef struct {
    char text[32];
} ompp_seconds_t;

/**
 * \brief Regions that the source has and nobody executed; no section when there are none.
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_text_never(ompp_text_t *t);
int ompp_text_data(ompp_text_t *t);

/** \brief Misses of simulated caches; no section when there are none. \return 0 or -OMPP_E_NOMEM. */
int ompp_text_cache(ompp_text_t *t);
int ompp_text_cache_csv(ompp_text_t *t);

/**
 * \brief Writes a field of CSV: ompp_text_printable(), and semicolons for commas, since readers split at each comma and
 *        there is no quoting in this format.
 */
void ompp_text_csv(FILE *out, const char *text, bool word);

/** \param[in] profile  with samples, which t->profile does not have. */
int ompp_text_summary(ompp_text_t *t, const ompp_profile_t *profile);

/** \param[in] profile  with all functions and lines, of which t->profile has some. */
int ompp_text_samples(const ompp_text_t *t, const ompp_profile_t *profile);
int ompp_text_samples_csv(const ompp_text_t *t, const ompp_profile_t *profile);

/** \brief ns as seconds with t->digits digits, rounded half up; never goes through floating point. */
ompp_seconds_t ompp_text_seconds(const ompp_text_t *t, uint64_t ns);
/** \brief The same in tables that ompP does not have: two digits more, unless the user has said how many. */
ompp_seconds_t ompp_text_short_seconds(const ompp_text_t *t, uint64_t ns);

/** \brief The same with a given number of digits. */
ompp_seconds_t ompp_text_seconds_digits(uint64_t ns, int digits);

/** \return sum / n, rounded to the nearest. */
uint64_t ompp_text_mean(uint64_t sum, uint64_t n);

/** \return 100 a / b; 0 when b is 0. */
double ompp_text_percent(uint64_t a, uint64_t b);

/** \return a part of 1 as percent, as it is printed, with one digit; never -0.0. */
double ompp_text_part(double part);

/** \return 100 a / b with two digits; as text. */
ompp_seconds_t ompp_text_share(uint64_t a, double b);

/**
 * \brief Text that fits on a line of the report: bytes that are not UTF-8 and control characters become '?'.
 * \param[in] word  blanks become '_' and single quotes '`', so that the text stays one word for readers.
 * \return owned, free(); NULL when out of memory.
 */
char *ompp_text_printable(const char *text, bool word);

/** \brief Writes such text; nothing when out of memory. */
void ompp_text_put(const ompp_text_t *t, const char *text);

/** \brief Location of a region as the report writes it. \return owned, free(); NULL when out of memory. */
char *ompp_text_place(const ompp_profile_t *profile, uint32_t region);

/** \brief Last part of the path of a region's file (or module, while the file is not known); "unknown". Borrowed. */
const char *ompp_text_file(const ompp_profile_t *profile, const ompp_region_t *region);

/** \brief First start and last end of all ranks, ns since 1970. */
void ompp_text_period(const ompp_profile_t *profile, uint64_t *first, uint64_t *last);

/** \brief Date as ompP writes it, local time. */
void ompp_text_date(uint64_t epoch_ns, char *out, size_t size);

/** \return "final", "incremental" or "incomplete": the worst end of a rank is the end of the run. */
const char *ompp_text_type(const ompp_profile_t *profile);

/** \brief Names of the hosts, each once. */
void ompp_text_hosts(const ompp_text_t *t, const char *between);

/** \brief Lines of General Information about named data structures; none when there are none. */
void ompp_text_data_lines(ompp_text_t *t);

/** \brief The same for the header of the CSV report. */
void ompp_text_data_csv_lines(const ompp_text_t *t);

/**
 * \brief The section ompp Data as a block of the CSV report: exclusive values, per region and structure.
 * \return 0, -OMPP_E_NOMEM.
 */
int ompp_text_data_csv(ompp_text_t *t);

/** \brief Columns of a construct's table, to t->columns. \return their number. */
size_t ompp_text_columns(const ompp_text_t *t, unsigned construct, bool split);

/**
 * \brief Counters and evaluators: compiled once per report; a bad expression is said in one line. Room for the columns
 *        of a table.
 * \return false when out of memory.
 */
bool ompp_text_counters_prepare(ompp_text_t *t);
void ompp_text_counters_release(ompp_text_t *t);

/** \return whether the report has anything to say about counters. */
bool ompp_text_has_counters(const ompp_text_t *t);

/** A line of a header, as text or as CSV. */
typedef void ompp_text_line_fn(const ompp_text_t *t, const char *name, const char *text);

/**
 * \brief What reading the counters costs, and for which share of the time each was counted; nothing in profiles without
 *        that.
 */
void ompp_text_reading_lines(const ompp_text_t *t, ompp_text_line_fn *line);

/** \brief Their lines in General Information. */
void ompp_text_counter_lines(const ompp_text_t *t, ompp_text_line_fn *line);

/** \brief Their columns. \return how many. */
size_t ompp_text_counter_columns(const ompp_text_t *t, bool split, ompp_text_column_t *columns);

/** \brief Title and value of a column of kind COUNTER or EVALUATOR, with the blank or comma before it. */
void ompp_text_counter_title(const ompp_text_t *t, const ompp_text_column_t *column);
void ompp_text_counter_cell(const ompp_text_t *t, const ompp_text_column_t *column, const ompp_row_t *row);
void ompp_text_counter_csv_title(const ompp_text_t *t, const ompp_text_column_t *column);
void ompp_text_counter_csv(const ompp_text_t *t, const ompp_text_column_t *column, const ompp_row_t *row);

/**
 * \brief Their titles, and their values summed over a region (OMPP_NONE: over all outermost teams), for the table of
 *        wallclocks.
 */
void ompp_text_counter_titles(const ompp_text_t *t, void (*put)(const ompp_text_t *, const ompp_text_column_t *));
void ompp_text_counter_sums(const ompp_text_t *t, uint32_t region,
                            void (*put)(const ompp_text_t *, const ompp_text_column_t *, const ompp_row_t *));

/** \brief Value of a column that is no evaluator: ns, bytes or count. */
uint64_t ompp_text_value(const ompp_text_column_t *column, const ompp_row_t *row);

/** Above that size, in bytes, the text folds (OMPP_TEXT_LIMIT). */
#define OMPP_TEXT_LIMIT ((uint64_t)64 << 20)

/** Subject of the coverage line that says how many bytes there is time for. */
extern const char *const ompp_text_late;

/**
 * \brief Leaves regions and call paths out of t->regions and t->nodes when the report would be larger than the limit.
 * \param[in] csv  complete, unless the time for the report was over.
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_text_fold(ompp_text_t *t, bool csv);

/** Of regions and nodes, which ones the sections print; [nregions], [nnodes]. */
typedef struct {
    bool *region, *node;
} ompp_text_kept_t;

/** \return false when out of memory; call ompp_text_kept_fini() in any case. */
bool ompp_text_kept_init(ompp_text_kept_t *kept, const ompp_profile_t *profile);
void ompp_text_kept_fini(ompp_text_kept_t *kept);

/** \brief Marks a node, what stands above it on its call path, and their regions. */
void ompp_text_keep(const ompp_profile_t *profile, uint32_t node, ompp_text_kept_t *kept);

/** \brief Leaves what is not marked out of t->regions and t->nodes; takes kept->region over. */
void ompp_text_drop(ompp_text_t *t, ompp_text_kept_t *kept);

/** \brief Finds the branches of the callgraph again, when t->nodes has changed. */
void ompp_text_link(ompp_text_t *t);

/** \brief Sorts, selects and folds as t->view says. \return 0, -OMPP_E_NOMEM; -OMPP_E_NOTFOUND: no such region. */
int ompp_text_view(ompp_text_t *t);

/** \return whether a region is not left out. */
bool ompp_text_shows(const ompp_text_t *t, uint32_t region);

/** \brief What is left out, in a line. \return false: nothing. */
bool ompp_text_folded(const ompp_text_t *t, char *text, size_t size);

/** \return columns that a column of a table takes, without the blank in front of it. */
int ompp_text_column_width(const ompp_text_t *t, const ompp_text_column_t *column);
int ompp_text_counter_width(const ompp_text_t *t, const ompp_text_column_t *column);

/** \brief The values of a region, or of a node, to t->rows. */
void ompp_text_gather_region(ompp_text_t *t, uint32_t region);
void ompp_text_gather_node(ompp_text_t *t, uint32_t node);

/** \brief Hands the rows of a table to print, in order: threads, omitted ranks, sum; of what stands in t->rows. */
void ompp_text_rows(ompp_text_t *t, unsigned construct, bool split, ompp_text_row_fn *print);

/** \brief Nodes from the first level down to this one, to t->path. \return how many. */
uint32_t ompp_text_path(ompp_text_t *t, uint32_t node);

/**
 * \brief Inclusive and exclusive time of a node in the callgraph, ns; of the root the time outside the regions below
 *        it.
 */
uint64_t ompp_text_inclusive(const ompp_text_t *t, uint32_t node);
uint64_t ompp_text_exclusive(const ompp_text_t *t, uint32_t node);

/**
 * \brief "PARALLEL LOOP file (1-2)" for a property; OMPP_NONE: the program.
 * \return owned, free(); NULL when out of memory.
 */
char *ompp_text_subject(const ompp_text_t *t, uint32_t region);

#define OMPP_TEXT_OWN_MARK " * " /* in advice, before what is said of own cost, which is its end */

/** \return what to do about a finding, one line; owned, free(); NULL when out of memory. */
char *ompp_text_advice(const ompp_text_t *t, const ompp_finding_t *finding);

#define OMPP_TEXT_LEAST_PERCENT 0.1 /* severity of a property that is listed */

/** \return whether a property is severe enough to be listed. */
bool ompp_text_is_listed(const ompp_text_t *t, const ompp_finding_t *finding);

/** \brief Sets t->rank_shown: all ranks, or of many those with the least and the most in t->rank_exec. */
void ompp_text_choose_ranks(ompp_text_t *t);

/** \brief Overheads of all parallel regions, by wallclock. \return 0 or -OMPP_E_NOMEM. */
int ompp_text_overhead_lines(const ompp_text_t *t, ompp_text_overheads_t *overheads);

/** \brief Puts the lines in the order of the table for the whole program: by the sum of all classes. */
void ompp_text_overhead_by_sum(ompp_text_overheads_t *overheads);

/** \return whether reports of this run have the overhead class. */
bool ompp_text_has_class(const ompp_text_t *t, unsigned class);

/* Sections. */
void ompp_text_general(ompp_text_t *t);
void ompp_text_coverage(ompp_text_t *t);

/** \brief A line for each thing in Coverage that makes times untrustworthy: at the head of what advises by them. */
void ompp_text_cautions(ompp_text_t *t);

/** \brief The same in at most 80 columns each, without consequences. \return lines. */
size_t ompp_text_short_cautions(ompp_text_t *t);

/**
 * \return what to do about the cautions, owned, free(); NULL = none doubts that the program loses so much.
 * \param[in] lost_ns  of the largest loss, thread time, without own cost.
 * \param[in] advice  on that loss: it is in the result, too, where measuring explains a part of the loss at most.
 */
char *ompp_text_remedy(const ompp_text_t *t, uint64_t lost_ns, const char *advice);

/** \brief A section with these lines; none when there are none. */
void ompp_text_caution_section(ompp_text_t *t);

void ompp_text_overview(ompp_text_t *t);
void ompp_text_callgraph(ompp_text_t *t);
void ompp_text_flat(ompp_text_t *t);
void ompp_text_callgraph_profiles(ompp_text_t *t);
int ompp_text_overheads(ompp_text_t *t);
int ompp_text_properties(ompp_text_t *t);
int ompp_text_efficiency(ompp_text_t *t);
int ompp_text_ideal(ompp_text_t *t);
int ompp_text_outside(ompp_text_t *t);
int ompp_text_tasks(ompp_text_t *t);
int ompp_text_loops(ompp_text_t *t);
int ompp_text_whatif(ompp_text_t *t);

/** \brief Orders regions, nodes and locations and sums nodes up, once per report. \return 0 or -OMPP_E_NOMEM. */
int ompp_text_prepare(ompp_text_t *t);
void ompp_text_release(ompp_text_t *t);

#endif
