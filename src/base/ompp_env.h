/**
 * \file
 * The environment, read once. Rows stand in ompp_env.def; only ompp_env.c calls getenv. Needs nothing.
 */
#ifndef OMPP_ENV_H
#define OMPP_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

typedef char *ompp_env_STRING_t;
typedef bool ompp_env_FLAG_t;
typedef int64_t ompp_env_INT_t;
typedef uint64_t ompp_env_BYTES_t;
typedef double ompp_env_SECONDS_t;
typedef char *ompp_env_WORDS_t;
typedef char *ompp_env_WORD_t;
typedef char *ompp_env_FOREIGN_t;
typedef char *ompp_env_LATER_t;

#define OMPP_ENV_DIGITS 4        /* of the number of a member of a numbered family, "OMPP_CTR12" */
#define OMPP_ENV_NUMBER_MAX 9999 /* which is the largest number that has so many */

/** Values of a numbered family, ascending by number; empty ones are left out. Owned by the module, never freed. */
typedef struct {
    unsigned n;
    unsigned *number; /* [n] */
    char **text;      /* [n] */
} ompp_env_list_t;
typedef ompp_env_list_t ompp_env_LIST_t;

/** Values after ompp_env_read(); strings are owned by the module and never freed ("" = not set). */
typedef struct {
#define OMPP_ENV(field, name, type, def, unit, help) ompp_env_##type##_t field;
#include "base/ompp_env.def"
#undef OMPP_ENV
} ompp_env_t;

typedef enum {
    OMPP_ENV_STRING,
    OMPP_ENV_FLAG,
    OMPP_ENV_INT,
    OMPP_ENV_BYTES,
    OMPP_ENV_SECONDS,
    OMPP_ENV_WORDS,
    OMPP_ENV_WORD,
    OMPP_ENV_FOREIGN,
    OMPP_ENV_LIST,
    OMPP_ENV_LATER
} ompp_env_type_t;

/** One row of the table, for help, manual page and documentation. */
typedef struct {
    const char *name;
    ompp_env_type_t type;
    const char *def;
    const char *unit;
    const char *help;
    size_t offset; /* of the field in ompp_env_t */
} ompp_env_row_t;

extern ompp_env_t ompp_env;
extern const ompp_env_row_t ompp_env_rows[];
extern const size_t ompp_env_nrows;

/**
 * \return whether the environment is that of the user whose rights the process has. Else (a setuid or setgid program,
 *         or one with capabilities of its file) every variable is as if it were not set, and nothing is measured.
 */
bool ompp_env_is_trusted(void);

/**
 * \brief Reads all variables into ompp_env, once; later calls do nothing. Sets the log level from OMPP_QUIET and
 *        OMPP_VERBOSE.
 *
 * Bad values: one warning each, that names the variable, the value, what is accepted and what is used instead. Unknown
 * names that start with OMPP_: one warning each. errno stays as it was.
 * \note Threads: call before the first thread is measured.
 */
void ompp_env_read(void);

/**
 * \brief Value of a row as text, as it stood in the environment when it was read. Of an environment that is not read:
 *        as it is.
 * \return borrowed text; "" when not set.
 */
const char *ompp_env_text(const ompp_env_row_t *row);

/**
 * \brief Has a variable of ours, or a member of a numbered family ("OMPP_CTR"), a value that is not empty? As
 *        ompp_env_text, before and after the environment is read.
 */
bool ompp_env_is_set(const char *name);

/**
 * \brief Any other variable of other software (job environment); the one way for the rest of the code to ask for it.
 * \return borrowed text, or NULL.
 */
const char *ompp_env_foreign(const char *name);

#pragma GCC visibility pop

/** Notes of the launcher: the variables it has set, with commas between; and, with the name of one behind it, what that
 * one was before. */
#define OMPP_ENV_RESTORE "_OMPP_RESTORE"
#define OMPP_ENV_WAS "_OMPP_WAS_"
/** The process that the launcher became, where the environment stays for the program's children (--children). */
#define OMPP_ENV_LAUNCHED "_OMPP_LAUNCHED"
/** The launcher's own file; and, where the program has replaced itself (exec), the file that the launcher is to run
 * now. */
#define OMPP_ENV_COMMAND "_OMPP_COMMAND"
#define OMPP_ENV_EXEC "_OMPP_EXEC"

/** With --children: the program that the launcher has chosen libraries for, and its process. */
#define OMPP_ENV_REEXEC "_OMPP_CHOSEN"
#define OMPP_ENV_REEXEC_SIZE 80

struct stat;

/** \brief Its value for a program in this process. \param[out] text  [OMPP_ENV_REEXEC_SIZE]. */
void ompp_env_reexec(char *text, const struct stat *program);

/**
 * \brief In a program that the launcher has started: reads all variables, and makes the environment what it was without
 *        the launcher, so that the program's children get that, unless they shall be measured too. Otherwise does
 *        nothing.
 * \return whether it was.
 * \note Threads: at load, before there are others.
 */
bool ompp_env_restore(void);

/**
 * \brief What another program needs that is started in place of this one (exec), so that the launcher measures it with
 *        the same options.
 * \param[out] command  the launcher's own file; borrowed.
 * \return NAME=value, NULL-terminated, borrowed; NULL when this process was not launched, or its environment stayed as
 *         it was.
 */
char *const *ompp_env_again(const char **command);

/**
 * \brief Would a variable of ours take this value as it is? For options, whose wrong values stop the launch.
 * \param[in]  name   "OMPP_CLOCK", or a member of a family, "OMPP_CTR1".
 * \param[in]  shown  what the user calls it, "--clock".
 * \param[out] wrong  what to do and what is wrong, "set --clock to one of auto|tsc|gettime: 'sundial' is not
 *                    understood"; when the result is false.
 */
bool ompp_env_accepts(const char *name, const char *text, const char *shown, char *wrong, size_t size);

/** \brief Whether the value of a row was not understood, so that its default is used. */
bool ompp_env_is_misread(const ompp_env_row_t *row);

/** \brief Reads a number of bytes, with k, M or G. \return false when it is none. */
bool ompp_env_parse_bytes(const char *text, uint64_t *value);

/** \return whether word is one of the words of a value of a WORDS row. */
bool ompp_env_has_word(const char *words, const char *word);

#endif
