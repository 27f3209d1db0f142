/**
 * \file
 * Inside kinst-ompp: what the parts that make the instrumented text of a source share. The text goes one way:
 * -preprocess.c (the compiler's preprocessor) -> -omp.c (OpenMP directives, of which -directive.c has the list) with
 * -scan.c (walks from one to the next, ompp's own pragmas) and -lock.c (lock functions) -> -opari.c (OPARI2, and its
 * output put right) -> -source.c (files for the compiler).
 */
#ifndef OMPP_TOOLS_KINST_SOURCE_H
#define OMPP_TOOLS_KINST_SOURCE_H

#include "tools/kinst/kinst-ompp.h"

/** Text that grows; text[size] is 0. */
typedef struct {
    char *text;
    size_t size, room;
} kinst_buffer_t;

void kinst_put(kinst_buffer_t *b, const char *text, size_t size);
void kinst_puts(kinst_buffer_t *b, const char *text);
void kinst_putf(kinst_buffer_t *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A place in the user's files; flags: of a linemarker ("3 4" = system header), "" for none. */
typedef struct kinst_place {
    const char *file; /* as the compiler names it; NULL = the source itself */
    unsigned line;
    const char *flags;
    struct kinst_place *from; /* the line that includes its file; NULL = none */
} kinst_place_t;

/** Line `at` of the translated text, and those behind it, are `place` and behind it. */
typedef struct {
    unsigned at;
    kinst_place_t place;
} kinst_mapping_t;

/** A region that the wrapper itself instruments: begin and end are calls of functions that stand in front of the
 * text. */
typedef struct {
    const char *type; /* regionType of its description, see src/opari-bridge/ompp_pomp2_ctc.c */
    const char *name; /* of a user region, else NULL */
    kinst_place_t begin, end;
    unsigned first, last; /* lines of the translated text */
} kinst_region_t;

/** A walk through one text. */
typedef struct {
    const kinst_source_t *source;
    const char *absolute;     /* path of the source, for regions */
    bool preprocessed;        /* for OPARI2: OpenMP directives are rewritten, strings that it cannot read are hidden */
    bool noinstrument;        /* between the pragmas of that name */
    kinst_place_t quiet_from; /* where noinstrument stands */
    unsigned quiet_line;      /* the same in the translated text */
    kinst_list_t quiet;       /* "file:first:last" of those parts, and "" behind each: OMPT sees what is in them */
    unsigned opaque;          /* inside constructs in which calls are not possible (simd, target) */

    const char *text, *end, *cursor; /* what is read, and up to where */
    kinst_place_t place;             /* of the cursor */
    bool at_line_start;
    /* last character of code: a call may stand behind one that ends a statement or opens a block */
    char before;
    const char *word; /* last identifier in front of the cursor, when nothing but blanks follows it */

    kinst_buffer_t out; /* the translated text */
    unsigned line;      /* its current line, from 1 */
    kinst_mapping_t *mappings;
    size_t nmappings;
    kinst_list_t hidden; /* texts that stand behind KINST_HIDDEN */

    kinst_region_t *regions;
    size_t nregions;
    kinst_list_t ignored; /* pragmas, with the reason behind each: subject, reason, subject, ... */
    kinst_list_t unseen;  /* constructs that are not instrumented, the same way */
    kinst_list_t files;   /* with OpenMP directives, absolute */
    bool has_openmp, has_calls;
    bool own_locks; /* the text has functions of its own with the names of OpenMP's for locks */
    /* the compiler may have a message about the original that it has not about the translation */
    bool loud;
} kinst_scan_t;

/** Stands for hidden text number %zu. As a directive: a pragma that OPARI2 does not know. As code: an identifier. */
#define KINST_HIDDEN_PRAGMA "#pragma ompp_hidden "
#define KINST_HIDDEN_WORD "ompp_hidden_"
/** Where the declarations belong: behind those of pomp2_lib.h. */
#define KINST_DECLARATIONS "#pragma ompp_declarations"
/** Stands in preprocessed text where the compiler knows [[omp::directive()]]. */
#define KINST_HAS_ATTRIBUTES "#pragma ompp_attributes"

/* ---- Walking: kinst-ompp-scan.c ---------------------------------------------------------------------------------- */

/** \brief Begins at the begin of a text; scan is zeroed but for source, absolute and preprocessed. */
void kinst_scan_begin(kinst_scan_t *scan, const char *text, size_t size);

/** \brief A part without instrumentation ends here, if there is one. */
void kinst_scan_end_quiet(kinst_scan_t *scan);

/**
 * \brief Goes on to this place of the text, translating, or to an OpenMP directive of preprocessed text before it.
 * \param[out] eol  the end of the directive.
 * \return the directive behind "omp"; the caller has to move the cursor behind it. NULL: it has come to the place.
 */
const char *kinst_scan_to(kinst_scan_t *scan, const char *to, const char **eol);

/** \brief Goes on without writing what lies between; newlines are counted. */
void kinst_scan_skip(kinst_scan_t *scan, const char *to);

/** \brief Goes on with the text between hidden from OPARI2. */
void kinst_scan_hide(kinst_scan_t *scan, const char *to);

/**
 * \brief Writes text on the current line of the user.
 * \note May hold newlines, all lines of it are that line of the user.
 */
void kinst_scan_put(kinst_scan_t *scan, const char *text);

/** \brief Begins a new line of the output unless it stands at the begin of one. */
void kinst_scan_fresh_line(kinst_scan_t *scan);

kinst_place_t kinst_scan_place(const kinst_scan_t *scan, unsigned line);

/**
 * \brief Begin and end of what stands in lines first to last of the translated text, as "sscl=file:1:1*escl=file:9:9",
 *        for a C string. Both are in one file: what is in a file that is included in between has the line that
 *        includes it; with #line, the end is the last line of the file of the begin.
 */
char *kinst_scan_span(const kinst_scan_t *scan, kinst_place_t begin, unsigned first, kinst_place_t end, unsigned last);

/** \brief Path of a place's file for descriptions: absolute where the file exists. */
const char *kinst_scan_path(const kinst_scan_t *scan, const kinst_place_t *place);

/** \brief A region of the wrapper. \return its number, from 1. */
size_t kinst_scan_region(kinst_scan_t *scan, const char *type, const char *name);

/** \brief It ends here. */
void kinst_scan_region_end(kinst_scan_t *scan, size_t region);

/* ---- OpenMP directives: kinst-ompp-directive.c, kinst-ompp-omp.c ------------------------------------------------- */

/** What is done with a directive. */
typedef enum {
    KINST_DO_HIDE,     /* nothing to measure */
    KINST_DO_UNSEEN,   /* not measured, and noted */
    KINST_DO_ALONE,    /* for OPARI2, no statement */
    KINST_DO_BLOCK,    /* for OPARI2, with a statement */
    KINST_DO_LOOP,     /* for OPARI2, with a loop */
    KINST_DO_SECTIONS, /* for OPARI2, with sections */
    KINST_DO_TEAM,     /* a combined construct: outer with the clauses of a team, inner with the others */
    KINST_DO_NEST,     /* a combined construct: outer without clauses or with filter(), inner with the others */
    KINST_DO_AROUND,   /* calls around the construct */
    KINST_DO_GROUP,    /* the same, and one at the end of its statement */
    KINST_DO_CALL,     /* calls around the directive, no statement */
    KINST_DO_INSIDE,   /* calls around the statement, within the construct */
    KINST_DO_SCOPE,    /* AROUND, and the barrier at the end apart */
    KINST_DO_OPAQUE,   /* AROUND, and no calls inside */
    KINST_DO_INLINE,   /* nothing to measure, and no calls inside */
    KINST_DO_ATOMIC,
    KINST_DO_ORDERED,
    KINST_DO_CANCEL,
} kinst_action_t;

typedef struct {
    const char *name;
    kinst_action_t action;
    const char *type; /* of the region; of TEAM and NEST the outer directive */
    /* of TEAM and NEST; of LOOP, SECTIONS and BLOCK what is cancelled by its name; of others what part of it is not
     * measured */
    const char *inner;
    bool alone; /* no statement belongs to it */
} kinst_directive_t;

/**
 * \brief The row with the most words that the text behind "omp" begins with. \param[out] clauses  behind them.
 * \return NULL = it is no directive.
 */
const kinst_directive_t *kinst_directive_find(const char *p, const char **clauses);

/** \brief Is an ordered directive with these clauses the one that has no statement? */
bool kinst_directive_is_doacross(const char *clauses);

/** \brief Does a directive want a statement behind it? p stands behind "omp". */
bool kinst_directive_wants_block(const char *p);

/** \brief Translates the whole text; scan as for kinst_scan_begin(). */
void kinst_omp_scan(kinst_scan_t *scan, const char *text, size_t size);

/* ---- Locks: kinst-ompp-lock.c ------------------------------------------------------------------------------------ */

/**
 * \brief A call of an OpenMP lock function is written with the name of the measured one.
 * \param[in] word, end  a word of the scanned text; scan->word is the one before it.
 * \return NULL = it is none.
 */
const char *kinst_lock_function(const kinst_scan_t *scan, const char *word, const char *end);

/**
 * \brief Does preprocessed text declare one of their names anywhere but in omp.h: as member, in a namespace, as
 *        variable?
 */
bool kinst_lock_names_taken(const char *text, size_t size);

/* ---- Clauses: kinst-ompp-clause.c -------------------------------------------------------------------------------- */

typedef struct {
    char *name, *args; /* args: without the parentheses, NULL = none */
} kinst_clause_t;

typedef struct {
    kinst_clause_t v[64];
    size_t n;
    bool bad; /* not understood */
} kinst_clauses_t;

kinst_clauses_t kinst_clauses_read(const char *p);
const kinst_clause_t *kinst_clause_named(const kinst_clauses_t *c, const char *name);
void kinst_clause_put(kinst_buffer_t *b, const kinst_clause_t *clause);

/** \brief Is the name in the list, whose end is NULL? */
bool kinst_one_of(const char *name, const char *const names[]);

/**
 * \brief Shares the clauses of "parallel inner_name" out to the team and the inner construct; variables that only the
 *        inner one names are shared in the team.
 */
void kinst_clauses_share_out(const kinst_clauses_t *c, const char *inner_name, kinst_buffer_t *outer,
                             kinst_buffer_t *inner);

/** \brief The directive without the modifier of its if clause, which OPARI2 takes for a part of the condition. */
char *kinst_clauses_plain(const char *name, const kinst_clauses_t *clauses, const char *modifier);

/* ---- Statements: kinst-ompp-statement.c -------------------------------------------------------------------------- */

/** \brief Behind blanks, comments, linemarkers and pragmas other than OpenMP's. */
const char *kinst_skip_space(const char *p, const char *end);

/** \brief Behind the token at p, brackets with all that is in them. */
const char *kinst_behind_token(const char *p, const char *end);

/** \brief Behind the statement that begins at p. \return NULL when it is not understood or does not end. */
const char *kinst_behind_statement(const char *p, const char *end);

/** \brief The text behind "#pragma omp" when p stands at such a line, else NULL. */
const char *kinst_omp_at(const char *p);

/**
 * \brief OpenMP directives in attributes of preprocessed text become pragmas, where the compiler knows such attributes.
 * \return text, or a new one.
 */
char *kinst_attributes(char *text, size_t *size);

/* ---- The compiler's and OPARI2's part ---------------------------------------------------------------------------- */

/**
 * \brief The preprocessed source, with the declarations of pomp2_lib.h and KINST_DECLARATIONS in front.
 * \param[out] quiet  the preprocessor had nothing to say.
 * \return NULL when the compiler cannot.
 */
char *kinst_preprocess(const kinst_command_t *command, kinst_source_t *source, size_t *size, bool *quiet);

/**
 * \brief The preprocessed text with macros replaced in the arguments of "#pragma pomp inst data(...)", which compilers
 *        leave as they are in pragmas they do not know. As the macros are at the end of the file.
 * \param[in,out] size  of the text.  \return the text itself when there is nothing to replace.
 */
char *kinst_data_arguments(const kinst_command_t *command, const kinst_source_t *source, char *text, size_t *size);

/** \brief Digraphs in preprocessed text become the characters they stand for: <% is a brace and a blank. */
void kinst_digraphs(char *text, size_t size, bool cxx);

/**
 * \brief Lets OPARI2 instrument the scanned text.
 * \param[in]  head  goes where KINST_DECLARATIONS stands.
 * \param[out] body  text for the compiler, needs no preprocessor.
 * \param[out] ctcs  descriptions of all regions, as C strings without quotes.
 * \return NULL, or why there is no text.
 */
const char *kinst_opari(const kinst_scan_t *scan, const kinst_buffer_t *head, kinst_buffer_t *body, kinst_list_t *ctcs);

#endif
