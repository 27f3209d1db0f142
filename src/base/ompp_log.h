/**
 * \file
 * Messages to stderr. Every line starts "ompp: "; a file says who it is by OMPP_LOG_DOMAIN, shown at debug level only.
 * Never called from a signal handler. Nothing here exits or aborts.
 * Where the user can do something, a line says that first, then what is wrong: "set OMPP_CLOCK to one of ...: ...".
 *
 * Messages that are equal on all ranks are said by rank 0 alone (ompp_log_common); the rank becomes known at MPI_Init.
 */
#ifndef OMPP_LOG_H
#define OMPP_LOG_H

#include <stdbool.h>

#ifndef OMPP_LOG_DOMAIN
#define OMPP_LOG_DOMAIN "ompp"
#endif

/* Seen by the other libraries in the process. */
#pragma GCC visibility push(default)

typedef enum { OMPP_LOG_QUIET, OMPP_LOG_WARN, OMPP_LOG_INFO, OMPP_LOG_DEBUG } ompp_log_level_t;

extern ompp_log_level_t ompp_log_level;

/** \brief Sets the level; taken from OMPP_QUIET and OMPP_VERBOSE at start. */
void ompp_log_set_level(ompp_log_level_t level);

/** \brief Tells the rank, so that lines can name it and common ones be said once; -1 = no MPI. */
void ompp_log_set_rank(int rank);

void ompp_log_write(const char *domain, ompp_log_level_t level, bool common, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#define ompp_log_at(level, common, ...)                                                                 \
    do {                                                                                                \
        if (ompp_log_level >= (level)) ompp_log_write(OMPP_LOG_DOMAIN, (level), (common), __VA_ARGS__); \
    } while (0)

/** A problem of this process; at most one line each. */
#define ompp_warn(...) ompp_log_at(OMPP_LOG_WARN, false, __VA_ARGS__)
/** A problem that every rank has alike: rank 0 says it. */
#define ompp_warn_common(...) ompp_log_at(OMPP_LOG_WARN, true, __VA_ARGS__)

#pragma GCC visibility pop

#endif
