/**
 * \file
 * Writing and reading reports. Called by ompp_job.c at the end of a run and by the tools. Includes base, model and
 * analysis; never runtime: every report can be made from a file.
 */
#ifndef OMPP_REPORT_H
#define OMPP_REPORT_H

#include "model/ompp_job.h"
#include "model/ompp_profile.h"

#include <stdio.h>

#define OMPP_REPORT_DIGITS 2 /* of times in the text, as ompP */
#define OMPP_REPORT_FORMAT 1 /* version of the XML */

/**
 * \brief Writes the text report, in ompP's format.
 * \param[in] profile  borrowed; numbered (ompp_analysis_number).
 * \param[in] digits   after the point of times, 0-9.
 * \param[in] full     nothing is folded, however large it is.
 * \param[in] out      borrowed; the caller checks ferror() and fclose().
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_report_text(const ompp_profile_t *profile, int digits, bool full, FILE *out);

/** By what regions, and call paths below the same one, are ordered. */
typedef enum {
    OMPP_SORT_TIME,  /* inclusive */
    OMPP_SORT_OWN,   /* exclusive */
    OMPP_SORT_CALLS, /* execC */
    OMPP_SORT_PLACE, /* file, line */
    OMPP_SORT_FILE,  /* as in the file: by first execution */
    OMPP_SORT_NUM
} ompp_sort_t;

/** What of a report is shown, and in which order. */
typedef struct {
    ompp_sort_t sort;
    double min;         /* percent of the duration, inclusive, that a region or call path has at least */
    unsigned top;       /* so many regions, with what stands above them; 0 = all */
    const char *region; /* only those with this number, or this in type, place or name; with what stands above and below
                           them. NULL = all */
    uint32_t rank;      /* whose rows are shown; the others are added up; OMPP_NONE = all */
    bool told;          /* a line below the callgraph says how much is left out */
} ompp_view_t;

/**
 * \brief Writes the text report as somebody wants to see it.
 * \param[in] view  borrowed. A rank that the profile does not keep is no error: all rows are added up then.
 * \return 0, -OMPP_E_NOMEM; -OMPP_E_NOTFOUND: there is no such region, and nothing was written.
 */
int ompp_report_view(const ompp_profile_t *profile, int digits, const ompp_view_t *view, FILE *out);

/** \brief The same as one object of JSON: view->rank has no effect. \return as ompp_report_view(). */
int ompp_report_json(const ompp_profile_t *profile, const ompp_view_t *view, FILE *out);

/**
 * \brief The lines of the section ompp Summary.
 * \param[in]  profile  borrowed; numbered.
 * \param[out] text     shape [size], cut where that is too little.
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_report_summary(const ompp_profile_t *profile, char *text, size_t size);

/** Views of samples. */
typedef enum { OMPP_BY_FLAT, OMPP_BY_CALLER, OMPP_BY_CALLEE, OMPP_BY_HOT, OMPP_BY_NUM } ompp_by_t;

/**
 * \brief Writes what samples say: functions and lines; each function with its callers; the tree of calls; of that the
 *        path that has most of each row's time.
 * \param[in] full  also rows of less than half a percent, and of tables more than fifty.
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_report_samples(const ompp_profile_t *profile, ompp_by_t by, bool full, FILE *out);

/**
 * \brief Writes the same views of a metric of the regions on call paths.
 * \param[in]  metric  a counter, a column (EXECT), or an expression of these.
 * \param[out] error   what is wrong with it, one line, shape [size]; "" when all is well.
 * \return 0, -OMPP_E_FORMAT (not a metric of this profile) or -OMPP_E_NOMEM.
 */
int ompp_report_metric(const ompp_profile_t *profile, const char *metric, ompp_by_t by, bool full, FILE *out,
                       char *error, size_t size);

/**
 * \brief How much of the text can be written in some seconds.
 * \param[out] bytes  0 = all of it.
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_report_text_room(const ompp_profile_t *profile, int digits, double seconds, uint64_t *bytes);

/**
 * \brief Writes the CSV report, in ompP's format; the same numbers as the text report, times with six digits.
 * \param[in] profile  borrowed; numbered (ompp_analysis_number).
 * \param[in] full     all of it, also where the time for the report was over.
 * \param[in] out      borrowed; the caller checks ferror() and fclose().
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_report_csv(const ompp_profile_t *profile, bool full, FILE *out);

/**
 * \brief Writes the What-if results as a profile of Coz, in its form of lines with tabs.
 * \param[in] profile  borrowed; numbered. Without results the file has no experiment.
 * \param[in] out      borrowed; the caller checks ferror() and fclose().
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_report_coz(const ompp_profile_t *profile, FILE *out);

/**
 * \brief Writes a page for browsers that has all of the profile in it, and asks for nothing else (docs/html.md).
 * \param[in] profile  borrowed; numbered.
 * \param[in] source   with the text of source files that can be read.
 * \param[in] out      borrowed; the caller checks ferror() and fclose().
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_report_html(const ompp_profile_t *profile, bool source, FILE *out);

/**
 * \brief Makes a report for others (OMPP_REDACT): directories, names of hosts and values of the environment go. Values
 *        that the report calculates with stay.
 * \param[in,out] profile  resolved, for nothing can be after this.
 */
void ompp_report_redact(ompp_profile_t *profile);

/**
 * \brief Writes the XML file (docs/xml.md).
 * \param[in] out  borrowed; the caller checks ferror() and fclose().
 * \return 0, -OMPP_E_NOMEM or -OMPP_E_IO.
 */
int ompp_report_xml_write(const ompp_profile_t *profile, FILE *out);

/**
 * \brief Reads an XML file; anything that is not in order is refused.
 * \param[out] profile  owned by the caller, ompp_profile_free(); NULL on failure.
 * \param[out] why      one line "file:line: reason" without newline, on failure.
 * \return 0, -OMPP_E_OPEN, -OMPP_E_FORMAT, -OMPP_E_VERSION or -OMPP_E_NOMEM.
 */
int ompp_report_xml_read(const char *path, ompp_profile_t **profile, char *why, size_t size);

/** \brief The same of an open file, from where it stands. \param[in] name  what messages call it. */
int ompp_report_xml_read_fd(int fd, const char *name, ompp_profile_t **profile, char *why, size_t size);

/**
 * \brief Analyses the profile and writes text and XML; see ompp_job_run_t. Names: A.PxT-n.ompp.{txt,xml} of an MPI run
 * (P ranks, T threads, n the smallest free number), A.T-n without MPI, A:r.T-n for one rank alone; see docs/report.md.
 */
ompp_job_run_t ompp_job_run;

#endif
