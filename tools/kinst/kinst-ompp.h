/**
 * \file
 * kinst-ompp: compile and link wrapper. Parts: kinst-ompp.c (own options, usage), -own.c (what those options say),
 * -options.c (reading the compiler's command), -source.c (making the instrumented text; its parts are named in
 * kinst-ompp-source.h, those for Fortran in kinst-ompp-fortran.h), -text.c (how C is written), -memory.c and -inline.c
 * (hooks at loads and stores), -run.c (processes, private directory), -build.c (what is run in which order).
 *
 * The rule above all: a build that works without the wrapper works with it, with the compiler's messages and status.
 * Memory is not given back: the process is short.
 */
#ifndef OMPP_TOOLS_KINST_H
#define OMPP_TOOLS_KINST_H

#include <stdbool.h>
#include <stddef.h>

/** A list of words; v[n] is NULL. */
typedef struct {
    char **v;
    size_t n;
} kinst_list_t;

/** \brief A new element of size bytes at the end of an array that only grows so; array: address of the pointer to it.
 *         Ends the process when there is no memory. */
void *kinst_push(void *array, size_t *n, size_t size);
void kinst_add(kinst_list_t *list, const char *word);
void kinst_addf(kinst_list_t *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *kinst_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

typedef enum { KINST_WITH_AUTO, KINST_WITH_OPARI, KINST_WITH_OMPT } kinst_with_t;

/** The wrapper's own options. */
typedef struct {
    bool verbose, dry_run;
    bool memory; /* hooks at loads and stores */
    kinst_with_t with;
    const char *opari;
    double opari_seconds;
    kinst_list_t opari_options;
    kinst_list_t left_out; /* constructs that these options leave out, as the report names them */
} kinst_own_t;

extern kinst_own_t kinst_own;

/** \brief Do the options for OPARI2 switch a construct off? */
bool kinst_own_disables(const char *construct);

/* ---- The compiler's command -------------------------------------------------------------------------------------- */

/** OTHER: of C's kind, but no text that the wrapper reads: preprocessed, a module of C++. */
typedef enum { KINST_LANG_OTHER, KINST_LANG_C, KINST_LANG_CXX, KINST_LANG_FORTRAN, KINST_LANG_ASSEMBLER } kinst_lang_t;
typedef enum { KINST_STEP_LINK, KINST_STEP_COMPILE, KINST_STEP_ASSEMBLE, KINST_STEP_NONE } kinst_step_t;

/** What a word of the command is, as far as the wrapper must know. */
typedef enum {
    KINST_WORD_OPTION,
    KINST_WORD_DEPENDENCY,
    KINST_WORD_OUTPUT,
    KINST_WORD_SOURCE,
    KINST_WORD_INPUT
} kinst_word_t;

/** The text that stands for a source. */
typedef enum { KINST_TEXT_INSTRUMENTED, KINST_TEXT_NOTED, KINST_TEXT_ORIGINAL } kinst_level_t;

typedef struct {
    const char *path; /* as the user wrote it */
    kinst_lang_t lang;
    size_t word;                   /* its place in the command */
    char *dir;                     /* private directory of its texts */
    kinst_level_t level;           /* the best text there is */
    struct kinst_fortran *fortran; /* what is known of a Fortran source */
    char *plain;                   /* what stands for the source where it is compiled as it is; NULL = itself */
    char *text[2];                 /* file for the levels INSTRUMENTED and NOTED; NULL = none */
    const char *reason;            /* why it is not instrumented, NULL = it is, or there is nothing to instrument */
    const char *x;                 /* language of the -x in force, NULL = by suffix */
    bool preprocessed;             /* the instrumented text is */
    bool quiet;                    /* the preprocessor had nothing to say */
    kinst_list_t files; /* absolute paths of the source and its headers as far as they have OpenMP directives */
} kinst_source_t;

typedef struct {
    kinst_list_t words;
    kinst_word_t *kinds;
    size_t ncompiler; /* words of the compiler itself: "ccache gcc" has two */
    kinst_source_t *sources;
    size_t nsources, ninputs, nheaders;
    kinst_step_t step;
    bool openmp_by_preprocessor; /* given with -Xpreprocessor or -Wp, to which preprocessed text does not go */
    bool openmp, debug, dependencies, static_link, mpi, clang, cxx_driver;
    const char *mpi_family; /* "openmpi", "mpich" or "" */
} kinst_command_t;

/** \brief Reads a command; never fails. */
void kinst_command_read(kinst_command_t *command, char *const words[]);

/** \brief Is it -save-temps in one of its forms? */
bool kinst_keeps_temporaries(const char *word);

/* ---- Sources ----------------------------------------------------------------------------------------------------- */

/**
 * \brief Makes the texts of a source: sets level, text and reason.
 * \param[in] opari  let OPARI2 instrument OpenMP constructs.
 */
void kinst_source_make(const kinst_command_t *command, kinst_source_t *source, bool opari);

/** \brief Gives a source up to the next lower level, with a reason that Coverage will show. */
void kinst_source_lower(kinst_source_t *source, const char *reason);

/** \brief A copy of a source whose text is the user's, with a note for the report that it has no hooks. */
kinst_source_t kinst_source_unhooked(const kinst_source_t *source, const char *why);

/** \brief The same for Fortran. Where only notes are needed, the original stands for the text. */
void kinst_fortran_make(const kinst_command_t *command, kinst_source_t *source, bool opari);
void kinst_fortran_lower(kinst_source_t *source, const char *reason);
/** \brief The user's text with a note for the report. */
void kinst_fortran_unhooked(kinst_source_t *source, const char *subject, const char *why);

/**
 * \brief Assembler file that tells the run what the build did with the Fortran sources of the command, made at each
 *        call.
 * \return NULL = nothing to tell, or it cannot be made.
 */
const char *kinst_fortran_notes(const kinst_command_t *command);

/**
 * \return the option for the form of the command's sources, when gfortran may be told that they are preprocessed and
 *         takes their names from their first lines; NULL when one of them is no such text, or they differ.
 */
const char *kinst_fortran_form(const kinst_command_t *command);

/** \brief Makes ompp.mod for this compiler when a source uses it, and lets the command find it. */
void kinst_fortran_module(kinst_command_t *command);

/* ---- Text: end is one past the last character, *end is 0 --------------------------------------------------------- */

/** \brief As the inside of a C string. */
char *kinst_escaped(const char *text);

const char *kinst_skip_blanks(const char *p);

/**
 * \brief The word at *p, moving behind it and the blanks that follow.
 * \return false, *p as it was: another word is there.
 */
bool kinst_take(const char **p, const char *word);

/**
 * \brief Words that have one blank between them in name, and any in the text.
 * \return behind them, NULL = others are there.
 */
const char *kinst_behind_words(const char *p, const char *name);

/** \brief Behind a string or character constant that begins at p. */
const char *kinst_behind_quotes(const char *p, const char *end);

/** \brief Text between the outer parentheses of what stands from p to end, without blanks around it. */
char *kinst_in_parentheses(const char *p, const char *end);

/**
 * \brief The arguments between p and end, apart at commas that are in no brackets or quotes, without blanks around
 *        them.
 * \return false when there are not exactly three.
 */
bool kinst_three_arguments(const char *p, const char *end, char *arguments[3]);

/** \brief Behind R"x( ... )x" that begins at its quote. */
const char *kinst_behind_raw(const char *p, const char *end);

/** \brief Behind the comment that begins at p. */
const char *kinst_behind_comment(const char *p, const char *end);

/**
 * \brief The newline that ends the line, or the end; continuation lines belong to it. In a directive, comments do as
 *        well.
 */
const char *kinst_end_of_line(const char *p, const char *end);
const char *kinst_end_of_directive(const char *p, const char *end);

/* ---- Hooks at loads and stores: --memory ------------------------------------------------------------------------- */

/** \brief Ends the wrapper with a word when the command cannot be built with hooks. */
void kinst_memory_check(const kinst_command_t *command);

/** \brief Adds the options that put hooks into what is compiled, behind the user's. */
void kinst_memory_compile(kinst_list_t *argv, const kinst_command_t *command, const kinst_source_t *source);

/**
 * \brief From now on clang takes precompiled headers that were made without hooks, whatever else about them differs.
 */
void kinst_memory_take_headers(void);

/** \brief Adds the library with the hooks. */
void kinst_memory_link(kinst_list_t *argv);

/** \brief What gcc's preprocessor has to read for --memory; nothing otherwise. */
void kinst_memory_preprocess(kinst_list_t *argv, const kinst_command_t *command);

/**
 * \brief Compiles a source of a command that also links, with hooks, to a private object.
 * \param[in] before  the compiler's words and what comes before the user's. \param[in] text words that name the file to
 *                    compile.
 * \param[in] err     messages are added to this file; NULL = the user's stderr.
 * \return wait status.
 */
int kinst_memory_object(const kinst_command_t *command, size_t source, const kinst_list_t *before,
                        const kinst_list_t *text, const char *err, bool silent);

/** \brief Adds that object to a command that links. */
void kinst_memory_add_object(kinst_list_t *argv, size_t source);

/**
 * \brief Runs one of several commands, as kinst_inline_run() does, whose messages go to one file.
 * \return wait status.
 */
int kinst_memory_run(const kinst_list_t *argv, const kinst_command_t *command, const char *err);

/* ---- Hooks that are not called but inlined ----------------------------------------------------------------------- */

/**
 * \brief Adds the option that has gcc's assembler inline them, where it can; says, on request, why hooks are going to
 *        be called.
 */
void kinst_inline_prepare(kinst_list_t *argv, const kinst_command_t *command);

/** \brief Does a command of clang make objects that kinst_inline_run() can make? Then it is run for each source. */
bool kinst_inline_fits(const kinst_command_t *command);

typedef struct kinst_run kinst_run_t;

/**
 * \brief Runs a command that makes an object with hooks of one source, with clang in steps that inline them where it
 *        can; any other command as it is, for which command is NULL.
 * \return wait status.
 */
int kinst_inline_run(const kinst_list_t *argv, const kinst_command_t *command, const kinst_run_t *how);

/**
 * \brief Notes what clang's hooks change in a source and the user's headers: whether ThreadSanitizer is on, directives
 *        that are not seen.
 *
 * \param[in,out] notes  subject, reason, subject, ...; nothing is added when it is not built with clang and hooks.
 */
void kinst_memory_note(const kinst_command_t *command, const kinst_source_t *source, kinst_list_t *notes);

/* ---- Processes --------------------------------------------------------------------------------------------------- */

struct kinst_run {
    const char *cwd;       /* NULL = stay */
    const char *out, *err; /* files for stdout and stderr, NULL = the wrapper's own */
    double seconds;        /* 0 = no limit; with a limit the process gets a group of its own */
    bool always;           /* also with --dry-run: it makes what other commands need */
    /* the compiler may add to the files that DEPENDENCIES_OUTPUT and SUNPRO_DEPENDENCIES name */
    bool dependencies;
};

enum { KINST_TIMED_OUT = -2 };

/** \return wait status, or KINST_TIMED_OUT. A command that cannot be started has exit status 127 or 126. */
int kinst_run(char *const argv[], const kinst_run_t *how);

/**
 * \brief Runs OPARI2 in a directory on the file from.
 * \param[in] options  its options for the language, NULL behind them; the user's and those that the wrapper relies on
 *                     are added.
 * \return NULL, or why it gave nothing.
 */
const char *kinst_run_opari(const char *const options[], const char *dir, const char *from, const char *to);

/** \brief Replaces this process; on failure says so as a shell does and exits 126 or 127. */
void kinst_exec(char *const argv[]) __attribute__((noreturn));

/**
 * \brief The private directory of this process, made at the first call; removed at exit and on signals. NULL = cannot
 *        be made.
 */
const char *kinst_private(void);

/** \brief Cleans up and ends as the process with this wait status ended: exit status, or the same signal. */
void kinst_finish(int status) __attribute__((noreturn));

/**
 * \brief The compiler's preprocessor on a file in the source's language.
 * \param[in] more      options in front of the user's; NULL = none.
 * \param[in] out, err  files for the text and the messages. \return the text; NULL when that fails.
 */
char *kinst_preprocessed(const kinst_command_t *command, const kinst_list_t *more, const kinst_source_t *source,
                         const char *path, const char *out, const char *err, size_t *size);

/** \brief A whole file. \return NULL when it cannot be read. */
char *kinst_file_read(const char *path, size_t *size);
bool kinst_file_write(const char *path, const char *text, size_t size);

/** \brief One line for --verbose. */
void kinst_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief Echoes a command for -@, --verbose and --dry-run, quoted for a shell. */
void kinst_echo(char *const argv[]);

/** \brief Builds; ends the process. */
void kinst_build(kinst_command_t *command) __attribute__((noreturn));

#endif
