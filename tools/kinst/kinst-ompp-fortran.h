/**
 * \file
 * kinst-ompp: Fortran. Parts: -fortran-text.c (lines, statements), -fortran-words.c (words of directives),
 * -fortran-scan.c (what is in a source: ompp's own pragmas, include files), -fortran-directive.c and -fortran-omp.c
 * (directives on their way to OPARI2), -fortran-opari.c (runs it), -fortran-units.c (program units: where declarations
 * go), -fortran-rewrite.c (the instrumented text), -fortran.c (what the object tells the run).
 *
 * OPARI2 puts an include line into program units, not into all that need it, and one set of variables for all
 * constructs of a unit. Here its calls are kept and its declarations are not: each unit gets declarations of what it
 * uses.
 */
#ifndef OMPP_TOOLS_KINST_FORTRAN_H
#define OMPP_TOOLS_KINST_FORTRAN_H

#include "tools/kinst/kinst-ompp.h"

#include <stdio.h>

/** How a source is written. */
typedef struct {
    bool fixed;     /* fixed form */
    bool cpp;       /* the compiler preprocesses it */
    unsigned width; /* of a line in fixed form; 0 = no limit */
} kinst_form_t;

kinst_form_t kinst_form_of(const kinst_command_t *command, const kinst_source_t *source);

/** One line, without its newline. */
typedef struct {
    char *text;
    unsigned line, last; /* physical lines of the source that it stands for; 0 = of none */
    /* First line of a directive: as it is in the source, newlines included; else NULL. In the text for the compiler:
     * the line is the source's. */
    char *original;
    const char *why; /* why OPARI2 must not see the directive that begins here; NULL = it may */
} kinst_line_t;

typedef struct {
    kinst_line_t *v;
    size_t n;
} kinst_lines_t;

/** \param[in] text  owned by the list from then on. */
void kinst_lines_add(kinst_lines_t *lines, char *text, unsigned line);

/** \brief Splits a text; the lines are numbered from 1. */
kinst_lines_t kinst_lines_of(const char *text);

typedef enum { KINST_LINE_COMMENT, KINST_LINE_DIRECTIVE, KINST_LINE_CPP, KINST_LINE_CODE } kinst_line_kind_t;

/** \brief What a line is. DIRECTIVE: of OpenMP, *rest stands behind the sentinel; CPP: *rest stands behind '#'. */
kinst_line_kind_t kinst_line_kind(kinst_form_t form, const char *line, const char **rest);

/**
 * \brief Is a directive line the continuation of the one before?
 * \param[in] rest, before  behind their sentinels; NULL = none.
 */
bool kinst_directive_continues(kinst_form_t form, const char *rest, const char *before);

/** \brief Fixed form: does the line go on with the statement before? */
bool kinst_fixed_continues(const char *line);

/** \brief Words at *p, blanks between them optional, in any case; moves behind them. Words end where the name ends. */
bool kinst_words(const char **p, const char *words);

/**
 * \brief Length of the longest word of directives or name of a clause that stands at p, in any case; 0 = none.
 * \param[out] clause  it is the name of a clause alone.
 */
size_t kinst_fortran_word(const char *p, size_t length, bool *clause);

/** A statement: lower case, without blanks, comments and labels; texts are "". */
typedef struct {
    char *text;
    long label;         /* 0 = none */
    size_t first, last; /* lines */
} kinst_statement_t;

/** Reads statements line by line. All zero but the form = at the begin. */
typedef struct {
    kinst_form_t form;
    char *text; /* of the statement that is open */
    size_t size, room, first, last;
    long label;
    char quote;      /* text constant that goes on in the next line */
    bool open, more; /* a statement is open; free form: its last line ended with & */
} kinst_reader_t;

typedef void kinst_statement_fn(void *context, const kinst_statement_t *statement);

/** \brief Reads one line of code; calls fn for each statement that is complete. */
void kinst_read_code(kinst_reader_t *reader, const char *line, size_t number, kinst_statement_fn *fn, void *context);

/** \brief Ends the statement that is open: at a line that cannot lie in one, and at the end. */
void kinst_read_end(kinst_reader_t *reader, kinst_statement_fn *fn, void *context);

/* ---- What is in a source ----------------------------------------------------------------------------------------- */

/** A #line of the user: physical line `at` and on are `line` and on of `file` (NULL = the source itself). */
typedef struct {
    unsigned at, line;
    const char *file;
} kinst_mapping_t;

typedef struct {
    const char *type; /* "userRegion", or a construct that is instrumented here */
    char *name;
    unsigned begin, end; /* physical lines */
} kinst_user_region_t;

typedef struct kinst_fortran {
    const kinst_source_t *source;
    const kinst_command_t *compiler;
    const char *absolute; /* path of the source */
    const char *command;  /* the whole command, as one text */
    kinst_form_t form;
    kinst_lines_t lines; /* ompp's pragmas are calls of ompp_user_begin_N, ompp_user_end_N and POMP2_* */
    kinst_user_region_t *regions;
    size_t nregions, nuser; /* nuser: those of pragmas, which come first */
    kinst_mapping_t *mappings;
    size_t nmappings;
    kinst_list_t ignored;    /* pragmas, with the reason behind each: subject, reason, subject, ... */
    kinst_list_t hidden;     /* lines that OPARI2 does not see */
    kinst_list_t constants;  /* text constants of directives, which it does not see either */
    kinst_list_t refused;    /* physical lines of directives that it does not do */
    kinst_list_t unmeasured; /* constructs that are not instrumented: name, place, name, ... */
    kinst_list_t unseen;     /* absolute paths of its include files that have OpenMP directives */
    const char *unsearched;  /* why not all of its include files were searched, NULL = they were */
    kinst_list_t texts;      /* descriptions of OPARI2's regions, and of the user's behind them */
    bool has_openmp, has_calls;
    bool preprocessed; /* lines are those of the preprocessed source */
    bool needs_cpp;    /* the preprocessor decides what directives are */
    bool uses_ompp;    /* use ompp */
    bool has_omp_inst; /* pragmas that look like OpenMP's: gfortran refuses them */
    bool instrumented; /* OPARI2 did its part */
} kinst_fortran_t;

void kinst_fortran_scan(kinst_fortran_t *f, const char *text);

/** \brief A new region that begins at a physical line. \return its number, from 1. */
size_t kinst_fortran_region(kinst_fortran_t *f, const char *type, char *name, unsigned line);

/**
 * \brief The lines that OPARI2 gets: what it does not know is behind comments "!ompp_hidden N" (f->hidden), with calls
 *        of ompp_user_begin_N and ompp_user_end_N where it is measured all the same.
 * \return NULL, or why OPARI2 must not do this source.
 */
const char *kinst_fortran_hide(kinst_fortran_t *f, kinst_lines_t *out);
#define KINST_FORTRAN_HIDDEN "ompp_hidden"

/**
 * \brief f->lines with directives that OPARI2 can read: no text constants (f->constants), comments, and words over
 *        several lines; of those that it must not see, a line with their name. The same for bounds of loops: what is in
 *        the source is behind a comment "!ompp_hidden N" (f->hidden).
 */
void kinst_fortran_prepare(kinst_fortran_t *f, kinst_lines_t *out);

/** \brief Is a statement DO, of any kind? *label = of its last statement, 0 = END DO ends it. */
bool kinst_fortran_is_do(const char *text, long *label);

/** \brief Does a line include a file of Fortran? Of one that is found, *lines gets the lines. */
bool kinst_fortran_included(const kinst_fortran_t *f, const char *line, kinst_lines_t *lines);

/** \brief The line with its text constants. */
char *kinst_fortran_constants(const kinst_fortran_t *f, char *line);

/** \brief Takes the lines of directives out of which OPARI2 took all clauses. */
void kinst_fortran_drop_empty(const kinst_fortran_t *f, kinst_lines_t *lines);

/** \brief The source as it is, but without pragmas that look like OpenMP's. */
void kinst_fortran_plain(const kinst_fortran_t *f, const char *text, FILE *out);

/** \brief File and line that a physical line of the source stands for. */
kinst_mapping_t kinst_fortran_mapped(const kinst_fortran_t *f, unsigned line);

bool kinst_fortran_same_file(kinst_mapping_t a, kinst_mapping_t b);

/** \brief Writes '# 12 "file"' for a line of the source. */
void kinst_fortran_marker(const kinst_fortran_t *f, FILE *out, unsigned line);

/** \brief Notes include files with OpenMP directives in f->unseen. */
void kinst_fortran_includes(kinst_fortran_t *f, const char *text);

/** \brief Does a line include a file with USE, IMPORT or IMPLICIT statements? Declarations must come behind it. */
bool kinst_fortran_includes_head(const kinst_fortran_t *f, const char *line);

/** What OPARI2 was given, and gave. */
typedef struct {
    kinst_lines_t in;
    char *out;
    const char *own; /* path by which it names the source */
} kinst_opari_text_t;

/** \brief Lines of the source that a line of OPARI2's input stands for. */
kinst_line_t kinst_fortran_physical(const kinst_lines_t *in, unsigned line);

/**
 * \brief Runs OPARI2, without the directives that it refuses; reads its descriptions into f->texts.
 * \return NULL, or why there is no text.
 */
const char *kinst_fortran_opari(kinst_fortran_t *f, kinst_opari_text_t *text);

/* ---- Program units ----------------------------------------------------------------------------------------------- */

/** A program unit that uses something of ours. */
typedef struct {
    size_t place;      /* its declarations come before this line */
    size_t header;     /* line of its first statement */
    kinst_list_t uses; /* names, each once */
} kinst_unit_t;

typedef struct {
    kinst_unit_t *v;
    size_t n;
} kinst_units_t;

/**
 * \brief Finds the program units and what each uses.
 * \param[in] is_ours  for a name in lower case.
 * \return NULL, or why the source could not be understood.
 */
const char *kinst_fortran_units(kinst_units_t *units, const kinst_fortran_t *f, const kinst_lines_t *lines,
                                bool (*is_ours)(const char *name));

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

/** \brief The text that the compiler gets, with OPARI2's calls when opari is true. Sets f->texts and f->instrumented.
 *  \return NULL, or why there is none. */
const char *kinst_fortran_text(kinst_fortran_t *f, bool opari, FILE *out);

/** \brief A description in OPARI2's form, with the user's file and lines. */
char *kinst_fortran_description(const kinst_fortran_t *f, const kinst_user_region_t *region);

#endif
