/**
 * \file
 * What the parts of ompp-report share: the request of the command line, messages, exit status.
 */
#ifndef OMPP_TOOLS_REPORT_H
#define OMPP_TOOLS_REPORT_H

#include "model/ompp_profile.h"
#include "report/ompp_report.h"
#include "tools/common/ompp-color.h"

#include <stdbool.h>
#include <sys/stat.h>

enum { EXIT_OK = 0, EXIT_BAD = 1, EXIT_USAGE = 2 };

/** What the command line asks for. */
typedef struct {
    const char *file;
    int digits;         /* -1: not said */
    bool full;          /* nothing is folded */
    bool viewed, folds; /* something of view was said; of it, min */
    ompp_view_t view;
    ompp_color_t color;
    bool json;
    int by;             /* ompp_by_t: a view of samples; -1: not said */
    const char *metric; /* of the view, instead of samples; NULL = none */
    const char *output; /* file to write; "-": standard output; NULL: not said */
    const char *to;     /* directory for what is written; NULL: not said */
    bool remove;        /* what was read goes, when all was written */
    bool running;       /* also processes that still run */
    bool list;          /* say which runs there are, and do nothing */
    bool all;           /* every run, where none is named */
    long expire;        /* seconds: remove what is older; -1: not said */
} request_t;

/**
 * \return text as it may stand on a line of a terminal: others choose names of files and of programs. Until the next
 *         call.
 */
const char *ompp_report_shown(const char *text);

/** \brief Says a line on stderr. \return EXIT_BAD. */
int ompp_report_complain(const char *message);

/** \brief Flushes standard output. \return EXIT_OK, or EXIT_BAD when it did not arrive. */
int ompp_report_finish(void);

/**
 * \brief Writes text and XML of a profile, and says where they are.
 * \param[in] choose  how the user chooses another directory. \param[in] rank  that the files are named after; -1: none.
 * \return 0, -OMPP_E_*.
 */
int ompp_report_write(ompp_profile_t *profile, const request_t *request, const char *dir, const char *choose, int rank);

/**
 * \brief Writes the page of a profile to request->output, or beside request->file, and says where it is.
 * \return exit status.
 */
int ompp_report_page(ompp_profile_t *profile, const request_t *request);

/* merge and collect: files and directories, n may be 0 for merge. \return exit status. */
int ompp_report_merge(const request_t *request, char **files, int n);
int ompp_report_collect(const request_t *request, char **files, int n);

/* collect --expire: directories, n may be 0. \return exit status. */
int ompp_report_expire(const request_t *request, char **files, int n);

/** \return whether reports are written as OMPP_REDACT says. */
bool ompp_report_is_redacted(void);

/** \brief Says that what is read is of another user: from now on no file is opened that he may not read. */
void ompp_report_note_maker(const struct stat *is);

/** \return whether that was said. */
bool ompp_report_is_foreign(void);

/** \return seconds of "90", "90s", "15m", "12h", "7d"; -1 of other words. */
long ompp_report_duration(const char *text);

#endif
