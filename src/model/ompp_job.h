/**
 * \file
 * What the process asks of libompp-report.so at the end of a run: the only contact between the library that lives in
 * the user's process and the one that needs libxml2 and libdwarf. Opened with RTLD_LOCAL by rank 0, function looked up
 * by OMPP_JOB_FUNCTION.
 */
#ifndef OMPP_JOB_H
#define OMPP_JOB_H

#include "model/ompp_profile.h"

#define OMPP_JOB_VERSION 8
#define OMPP_JOB_FUNCTION "ompp_job_run"
#define OMPP_SUMMARY_ROOM 2048 /* characters of a summary */

/** Formats of the report, a set. The XML file is always made. */
enum { OMPP_JOB_TEXT = 1, OMPP_JOB_CSV = 2, OMPP_JOB_HTML = 4 };

typedef struct {
    uint32_t version;   /* OMPP_JOB_VERSION */
    unsigned formats;   /* a set, or 0 for XML alone */
    const char *dir;    /* for the files: absolute, or "" for the working directory */
    const char *choose; /* what the user does to have them in another one: "set OMPP_OUTDIR to a directory" */
    const char *tmpdir; /* where they go when neither dir nor the working directory will do; NULL or "" = none */
    const char *file;   /* OMPP_REPORTFILE, or "" */
    bool overwrite, usepid;
    bool wants_summary;
    bool redact;            /* without directories, names of hosts and values of the environment */
    int local_rank;         /* -1: report of the whole run; else the report of this rank alone (ompP's A:r.T-n names) */
    int time_digits;        /* after the point, in the text */
    double resolve_seconds; /* longest time for finding lines of addresses */
    /* all is to be done in so many seconds from begun (ompp_clock_seconds()) on; begun 0 = no matter when */
    double begun, report_seconds;
    bool resolve_live; /* modules may be resolved through /proc/self/maps of this process (it is the measured one) */
    /* Results. */
    char path[1024];                 /* of the report: text, else CSV, else HTML, else XML; "" = there is none */
    char xml_path[1024];             /* of the XML file; "" = there is none */
    char message[1024];              /* what went wrong, one line; "" when nothing did */
    char summary[OMPP_SUMMARY_ROOM]; /* where the time went, in lines; "" = it is not wanted, or there was no report */
    char notice[1024]; /* what the user should know besides, one line, of a report that is written; "" = nothing */
} ompp_job_t;

/**
 * \brief Resolves addresses, numbers regions, writes the files.
 * \param[in,out] profile  borrowed; refined in place.
 * \param[in,out] job      borrowed.
 * \return 0, or a negative code with job->message set; what could be written is written.
 */
typedef int ompp_job_run_t(ompp_profile_t *profile, ompp_job_t *job);

#endif
