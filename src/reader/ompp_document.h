/**
 * \file
 * A report as data: what stands in a text or CSV report, by whomever it was written, number by number as it was
 * printed. It is less than a profile (a report holds rounded sums, not measurements) and can be printed again in both
 * forms. Called by the tools. Includes base, model and the layout of reports; never runtime.
 */
#ifndef OMPP_DOCUMENT_H
#define OMPP_DOCUMENT_H

#include "base/ompp_table.h"
#include "model/ompp_tables.h"
#include "reader/ompp_decimal.h"
#include "report/ompp_text_layout.h"

#include <stdio.h>

#define OMPP_DOC_NONE UINT32_MAX /* no region: a row of sums */

typedef enum { OMPP_DOC_TEXT, OMPP_DOC_CSV } ompp_doc_form_t;

typedef enum {
    OMPP_SECTION_GENERAL,
    OMPP_SECTION_OVERVIEW,
    OMPP_SECTION_CALLGRAPH,
    OMPP_SECTION_FLAT,
    OMPP_SECTION_PATHS,
    OMPP_SECTION_OVERHEADS,
    OMPP_SECTION_OTHER, /* kept line by line */
    OMPP_SECTION_NUM = OMPP_SECTION_OTHER
} ompp_section_kind_t;

/** Titles in text and names of the blocks in CSV, [OMPP_SECTION_NUM]. */
typedef struct {
    const char *title, *block;
} ompp_section_row_t;
extern const ompp_section_row_t ompp_sections[OMPP_SECTION_NUM];

/** A section in its place. Lines of OTHER are kept, without newlines; in CSV with the ##BEG and ##END around them. */
typedef struct {
    ompp_section_kind_t kind;
    const char *title;
    const char *const *lines;
    size_t nlines;
} ompp_doc_section_t;

/** A line of General Information; name and value in the words of the form they were read from. */
typedef struct {
    const char *name, *value;
} ompp_doc_field_t;

/** A region as mentioned; mentions that differ in any character are kept apart. */
typedef struct {
    uint32_t number;
    ompp_construct_t construct;
    const char *place;  /* as text has it: "solve.c (20-30)" */
    const char *fields; /* as CSV has it, after the number: "LOOP,solve.c,20,30," */
    uint32_t next;      /* private */
} ompp_doc_region_t;

typedef struct {
    uint32_t region, level; /* level 1: below the root */
    size_t line;
    ompp_decimal_t value[4]; /* inclusive, its percentage, exclusive, its percentage */
} ompp_doc_node_t;

typedef enum { OMPP_CELL_TIME, OMPP_CELL_COUNT, OMPP_CELL_COUNTER, OMPP_CELL_EVALUATOR } ompp_cell_kind_t;

typedef struct {
    const char *title; /* without /I and /E */
    char part;         /* 0, 'I' or 'E' */
    ompp_cell_kind_t kind;
} ompp_doc_column_t;

typedef struct {
    ompp_row_kind_t kind;
    uint32_t rank, tid;
    size_t line;
    ompp_decimal_t *values; /* [ncolumns] */
} ompp_doc_row_t;

/** Step of a call path. */
typedef struct {
    uint32_t region;
    char mark; /* '+' inner node, '=' leaf, 0 in the flat profile */
} ompp_doc_step_t;

/** Table of one region (one step) or call path. */
typedef struct {
    size_t line;            /* of the last heading */
    ompp_doc_step_t *steps; /* [nsteps], from the first level to the node */
    size_t nsteps;
    bool ranked;    /* rows have ranks */
    bool mpi_first; /* rows had the MPI values before the counters, and the titles after them (ompP's MPI builds) */
    ompp_doc_column_t *columns;
    size_t ncolumns;
    ompp_doc_row_t *rows; /* the last one is the SUM */
    size_t nrows;
} ompp_doc_table_t;

/** Row of the parallel regions sorted by wallclock; the sum has no region. */
typedef struct {
    uint32_t region;
    size_t line;
    ompp_decimal_t wall, percent;
    ompp_decimal_t *values; /* [nextra] counters and evaluators */
} ompp_doc_wall_t;

typedef struct {
    ompp_decimal_t time, percent;
} ompp_doc_share_t;

/** Row of a table of overheads; the sum has the number OMPP_DOC_NONE. */
typedef struct {
    uint32_t number;
    size_t line;
    ompp_decimal_t total;
    ompp_doc_share_t *shares; /* [1 + nclasses]: all overheads, then each class */
} ompp_doc_overhead_t;

/** A report. Owns everything it points to. */
typedef struct {
    ompp_doc_form_t form; /* that it was read from */
    int digits;           /* of times, after the point */
    bool ours;            /* written by this project: columns count characters, not bytes */
    const char *app;      /* of the root */
    ompp_doc_section_t *sections;
    size_t nsections;
    ompp_doc_field_t *fields;
    size_t nfields;
    ompp_doc_region_t *regions;
    size_t nregions;
    uint32_t *overview; /* regions in the order of the overview */
    size_t noverview;
    ompp_decimal_t root[4]; /* as ompp_doc_node_t */
    uint64_t nthreads;      /* of the root */
    size_t root_line;
    ompp_doc_node_t *nodes;
    size_t nnodes;
    ompp_doc_table_t *flat, *paths;
    size_t nflat, npaths;
    size_t overheads_line;
    ompp_decimal_t runtime, coverage, coverage_percent;
    uint64_t runtime_threads, nparallel;
    ompp_doc_column_t *extra; /* columns of counters and evaluators in the table of wallclocks */
    size_t nextra;
    ompp_doc_wall_t *wall;
    size_t nwall;
    const char **classes; /* titles */
    size_t nclasses;
    ompp_doc_overhead_t *each, *whole;
    size_t neach, nwhole;
    bool no_parallel;   /* the section says where MPI's costs stand, in text */
    ompp_table_t index; /* private: regions by hash, index + 1 */
    void *memory;       /* chunks that all of the above lie in */
} ompp_document_t;

/**
 * \brief Reads a text or CSV report, told apart by its first line.
 * \param[in]  fd        of a file or a pipe, read from where it stands; stays open.
 * \param[in]  name      what messages call it.
 * \param[out] document  owned by the caller, ompp_document_free(); NULL on failure.
 * \param[out] why       one line "file:line: reason; what to do" without newline, on failure.
 * \return 0, -OMPP_E_IO, -OMPP_E_FORMAT, -OMPP_E_LIMIT or -OMPP_E_NOMEM.
 */
int ompp_document_read_fd(int fd, const char *name, ompp_document_t **document, char *why, size_t size);

/** \brief The same from memory. \param[in] name  what messages call it. \param[in] data  borrowed; any bytes. */
int ompp_document_parse(const char *name, const char *data, size_t length, ompp_document_t **document, char *why,
                        size_t size);

/**
 * \brief What a file is, from its beginning.
 * \return 'T' text report, 'C' CSV report, 'X' XML, 0 none of them.
 */
char ompp_document_sniff(const char *data, size_t length);

void ompp_document_free(ompp_document_t *document);

/**
 * \brief Writes the report as text, or as CSV.
 * \param[in]  digits  after the point of times; -1: as many as there are in the same form, ompP's two in text made from
 * CSV. \param[in]  notes   where to say what the form cannot hold, one line each; NULL: nowhere. \return 0 or
 * -OMPP_E_NOMEM. The caller checks ferror(out).
 */
int ompp_document_text(const ompp_document_t *document, int digits, FILE *out, FILE *notes);
int ompp_document_csv(const ompp_document_t *document, FILE *out, FILE *notes);

/**
 * \brief Recomputes what follows from other numbers of the report, within the rounding of the printed digits.
 * \param[in]  name  what messages call the report.
 * \param[in]  out   one line "name:line: objection" each.
 * \param[out] nchecked  number of values compared.
 * \return number of objections.
 */
size_t ompp_document_check(const ompp_document_t *document, const char *name, FILE *out, size_t *nchecked);

/* ---- For readers ------------------------------------------------------------------------------------------------- */

ompp_document_t *ompp_document_new(void);

/** \return cleared memory that lives as long as the document; NULL when there is none. */
void *ompp_document_alloc(ompp_document_t *document, size_t size);

/** \return copy of length bytes of text; NULL when out of memory. */
const char *ompp_document_text_copy(ompp_document_t *document, const char *text, size_t length);

/**
 * \brief Appends a cleared item to an array of the document.
 * \param[in,out] array  address of the pointer to the array. \param[in,out] n  number of items. \param[in] size  of
 * one. \return the new item; NULL when out of memory.
 */
void *ompp_document_push(ompp_document_t *document, void *array, size_t *n, size_t size);

/**
 * \brief Index of the region with exactly these properties, added where it is new.
 * \param[in] place, fields  borrowed; exactly one of them is NULL, always the same one, and is made from the other.
 * \return OMPP_DOC_NONE when out of memory.
 */
uint32_t ompp_document_region(ompp_document_t *document, uint32_t number, ompp_construct_t construct, const char *place,
                              const char *fields);

/** \return the value of a field by the name it has in text or CSV, or NULL. */
const char *ompp_document_field(const ompp_document_t *document, const char *name);

#endif
