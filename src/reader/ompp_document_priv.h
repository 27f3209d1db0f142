/**
 * \file
 * What the parts of the reader share: lines of a file, failing with a reason, names.
 */
#ifndef OMPP_DOCUMENT_PRIV_H
#define OMPP_DOCUMENT_PRIV_H

#include "reader/ompp_document.h"

/** A file being read, line by line. */
typedef struct {
    ompp_document_t *doc;
    const char *const *lines; /* [nlines] without newlines; an empty one follows the last */
    size_t nlines;
    size_t at;        /* the line being read, from 0 */
    int rc;           /* 0 or -OMPP_E_*; the first failure counts */
    size_t fail_line; /* from 1 */
    char why[320];    /* reason and what to do */
} ompp_reading_t;

#define OMPP_DOC_COLUMNS 256 /* of a table, at most */
#define OMPP_DOC_LEVELS 4096 /* of call paths, at most; ompP stops at 32 */

/* What to do about a line that is not as it should be. */
#define OMPP_DO_RESTORE "restore the file as it was written"
#define OMPP_DO_VERSION "read it with a newer ompp-report, or remove it"

/**
 * \brief Refuses the file at the current line: "reason; what". Quoted text is made printable. Only the first call
 * counts. \return false, so that a reader can fail in one statement.
 */
bool ompp_reading_fail(ompp_reading_t *r, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * \brief The same where the line is not what it should be, or the file ends.
 * \param[in] expected  "a row, or SUM".
 * \return false.
 */
bool ompp_reading_expect(ompp_reading_t *r, const char *expected);

/** \brief The same for running out of memory. */
bool ompp_reading_nomem(ompp_reading_t *r);

/** \return the line at r->at, "" behind the end. */
static inline const char *ompp_reading_line(const ompp_reading_t *r)
{
    return r->at < r->nlines ? r->lines[r->at] : "";
}

/** \brief Keeps a line (or part of it) in the document; NULL and failed when out of memory. */
const char *ompp_reading_keep(ompp_reading_t *r, const char *text, size_t length);

/** \brief Appends a cleared item; NULL and failed when out of memory. See ompp_document_push. */
void *ompp_reading_push(ompp_reading_t *r, void *array, size_t *n, size_t size);

/** \brief Cleared memory; NULL and failed when out of memory. */
void *ompp_reading_alloc(ompp_reading_t *r, size_t n, size_t size);

/** \brief A section of this kind at the end of the list; fails where there is one already. \return NULL on failure. */
ompp_doc_section_t *ompp_reading_section(ompp_reading_t *r, ompp_section_kind_t kind, const char *title, size_t length);

/** \return which section has this name in that form, OMPP_SECTION_OTHER where ompP has none. */
ompp_section_kind_t ompp_reading_kind(ompp_doc_form_t form, const char *name, size_t length);

/**
 * \brief Judges the whole file: each section that reports have was there.
 * \return false where one is missing.
 */
bool ompp_reading_complete(ompp_reading_t *r, ompp_doc_form_t form);

/** \brief Takes text from *p where it stands there. */
bool ompp_take(const char **p, const char *text);

/** \brief Takes a number from *p, blanks before it skipped. */
bool ompp_take_number(const char **p, ompp_decimal_t *number);

/** \brief Takes a whole number up to limit. */
bool ompp_take_whole(const char **p, uint64_t limit, uint64_t *number);

/** \brief Takes "R00001". */
bool ompp_take_region(const char **p, uint32_t *number);

/** \brief The region that a line has named. \return false and failed when out of memory. See ompp_document_region. */
bool ompp_reading_region(ompp_reading_t *r, uint32_t number, ompp_construct_t construct, const char *place,
                         const char *fields, uint32_t *region);

/** \brief The end of the line of the whole program, "name: 4 threads]": into the document. The name may have colons.
 * \return false where it is no such thing, or out of memory. */
bool ompp_reading_root(ompp_reading_t *r, const char *text);

/** \brief Takes one part of a version and the dot after it. */
bool ompp_take_version(const char **p, uint64_t *part);

/** \brief Construct with this short name, OMPP_CONSTRUCT_NUM when there is none. */
ompp_construct_t ompp_construct_by_brief(const char *brief);

/** \brief Construct whose full name is the last word (or words) of text, with a separator before it. \param[out] length
 * of the rest. */
ompp_construct_t ompp_construct_at_end(const char *text, char separator, size_t *length);

/** \brief Construct whose full name text begins with, with a separator after it. */
ompp_construct_t ompp_construct_at_start(const char *text, char separator);

/** \return true for the columns that follow every table of an MPI run. */
bool ompp_doc_is_mpi(const ompp_doc_column_t *column);

/** \brief Adds a column; "bodyT/I" becomes title and part. False where it fails. */
bool ompp_reading_column(ompp_reading_t *r, ompp_doc_column_t **columns, size_t *n, const char *title, size_t length);

/**
 * \brief Reads one cell, up to its end.
 * \param[in,out] kind   of the column. A title that is not known is that of a counter, or of a derived value: the first
 * row tells. \param[in]     first  the cell is in the first row of its table. \return false where it is no such value.
 */
bool ompp_cell_take(ompp_cell_kind_t *kind, bool first, ompp_doc_form_t form, const char *cell, ompp_decimal_t *value);

/**
 * \brief Brings the cells of a row, as they stand, to the order of the titles: MPI builds of ompP write the MPI values
 * before the counters. \return position in the row of column c.
 */
size_t ompp_cell_position(const ompp_doc_column_t *columns, size_t ncolumns, size_t c);

/** \return true where the titles have counters before MPI columns, so that ompP's rows may be shifted. */
bool ompp_cells_may_shift(const ompp_doc_column_t *columns, size_t ncolumns);

/**
 * \brief Adds the step of a call path that the present line holds, "[+01]" or "[=01]", one level below the last.
 * \param[in] behind  the bracket: " " or ",".  \param[out] rest  of the line.
 * \return NULL where it is none.
 */
ompp_doc_step_t *ompp_reading_step(ompp_reading_t *r, ompp_doc_table_t *t, const char *behind, const char **rest);

/**
 * \brief The n-th title of a class of overheads: kept of the first table, compared in others.
 * \return false where it fails, or is another.
 */
bool ompp_reading_class(ompp_reading_t *r, bool first, size_t n, const char *title, size_t length);

/** \brief Rows for the present line, last of their tables, with room for values. \return NULL where it fails. */
ompp_doc_overhead_t *ompp_reading_overhead(ompp_reading_t *r, ompp_doc_overhead_t **rows, size_t *n);
ompp_doc_wall_t *ompp_reading_wall(ompp_reading_t *r);

/**
 * \brief Reads the rows of a table, up to SUM.
 * \param[in] read_row  adds the row of the present line. False where it fails.
 */
bool ompp_reading_rows(ompp_reading_t *r, ompp_doc_table_t *t,
                       bool (*read_row)(ompp_reading_t *r, ompp_doc_table_t *t));

/** \brief A row for the present line, last of the table, without values. \return NULL where it fails. */
ompp_doc_row_t *ompp_reading_row(ompp_reading_t *r, ompp_doc_table_t *t);

/**
 * \brief Values of the table's last row, from its cells behind the label. Settles the kinds of columns. False where it
 *        fails.
 */
bool ompp_reading_cells(ompp_reading_t *r, ompp_doc_table_t *t, ompp_doc_form_t form, const char *const cells[],
                        size_t n);

/** \brief Text of a place from the fields of CSV, and the other way round. \return in the document's memory; NULL: no
 * memory. */
const char *ompp_place_from_fields(ompp_document_t *document, ompp_construct_t construct, const char *fields);
const char *ompp_place_to_fields(ompp_document_t *document, ompp_construct_t construct, const char *place);

/** \brief printf into the document's memory. */
char *ompp_document_printf(ompp_document_t *document, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Readers of the two forms; false when the file was refused. */
bool ompp_read_text(ompp_reading_t *r);
bool ompp_read_csv(ompp_reading_t *r);

/* ---- Performance properties -------------------------------------------------------------------------------------- */

/** A property; pieces of the lines that it was read from. */
typedef struct {
    const char *name, *subject; /* subject: "LOOP place" in text, the place in CSV */
    size_t name_length, subject_length;
    ompp_decimal_t severity; /* a fraction */
} ompp_doc_property_t;

extern const char *const ompp_property_title; /* of the section in text */
extern const char *const ompp_property_block; /* in CSV */

/** \return false where the lines are no property. */
bool ompp_property_from_text(const char *first, const char *second, ompp_doc_property_t *property);
bool ompp_property_from_csv(const char *line, ompp_doc_property_t *property);

/**
 * \brief Places of the overview, for ompp_property_type().
 * \param[in,out] places  empty; the caller gives it back.
 * \return false when out of memory.
 */
bool ompp_property_places(const ompp_document_t *d, ompp_table_t *places);

/** \return the type to print before the place of a property read from CSV; "" when none belongs there. */
const char *ompp_property_type(const ompp_document_t *d, const ompp_table_t *places,
                               const ompp_doc_property_t *property);

/** \return length of the type, and the blank after it, that the subject of a property read from text begins with. */
size_t ompp_property_type_length(const char *subject);

/* ---- Names of General Information -------------------------------------------------------------------------------- */

/** How a field looks in both forms. */
typedef enum {
    OMPP_FIELD_SAME,    /* the same text */
    OMPP_FIELD_SECONDS, /* "1.00 sec" and "1.000000,sec" */
    OMPP_FIELD_VERSION, /* "0.8.99" and three fields */
} ompp_field_form_t;

typedef struct {
    const char *text, *csv; /* names; NULL: that form does not have it */
    ompp_field_form_t form;
    bool usual; /* every report of the form that has it has it */
} ompp_field_row_t;

extern const ompp_field_row_t ompp_fields[];
extern const size_t ompp_nfields;
extern const char *const ompp_version_keys[3];

/** \return row of the field with this name in that form, NULL when it looks alike in both. */
const ompp_field_row_t *ompp_field_find(ompp_doc_form_t form, const char *name);

#endif
