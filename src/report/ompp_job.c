/**
 * \file
 * The end of a run: analyse the profile, write the report. The one function that libompp-report.so exports.
 */
#include "report/ompp_outfile.h"
#include "report/ompp_report.h"
#include "report/ompp_text_priv.h"

#include "analysis/ompp_analysis.h"
#include "analysis/ompp_own.h"
#include "analysis/ompp_sample_sums.h"
#include "analysis/ompp_thinned.h"
#include "analysis/ompp_values.h"
#include "analysis/ompp_whatif.h"
#include "base/ompp_clock.h"
#include "base/ompp_error.h"
#include "base/ompp_path.h"
#include "base/ompp_write.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Name of the report without number and ending: A.PxT, A.T, A:r.T, with .pid when asked for. */
static void make_stem(const ompp_profile_t *profile, const ompp_job_t *job, char *out, size_t size)
{
    char app[200];
    uint32_t threads = ompp_analysis_max_threads(profile);
    int n;

    ompp_outfile_safe_name(ompp_profile_text(profile, profile->app), app, sizeof app);
    if (job->local_rank >= 0) n = snprintf(out, size, "%s:%d.%" PRIu32, app, job->local_rank, threads);
    else if (profile->mpi) n = snprintf(out, size, "%s.%" PRIu32 "x%" PRIu32, app, profile->nranks, threads);
    else n = snprintf(out, size, "%s.%" PRIu32, app, threads);
    if (job->usepid && !job->overwrite && profile->nranks_kept && n > 0 && (size_t)n < size)
        snprintf(out + n, size - n, ".%" PRIu32, profile->ranks[0].pid);
}

/* Coz's viewer has nothing to show without results. */
static unsigned wanted(const ompp_profile_t *profile, const ompp_job_t *job)
{
    return (job->formats & OMPP_JOB_TEXT ? 1u << OMPP_OUT_TEXT : 0) |
           (job->formats & OMPP_JOB_CSV ? 1u << OMPP_OUT_CSV : 0) |
           (job->formats & OMPP_JOB_HTML ? 1u << OMPP_OUT_HTML : 0) |
           (profile->whatif.nregions && !ompp_whatif_why(profile) ? 1u << OMPP_OUT_COZ : 0) | 1u << OMPP_OUT_XML;
}

/* In a directory other than the first, the user's exact name is only a name. */
static int open_exact(const ompp_profile_t *profile, ompp_outfile_t *files, const ompp_job_t *job, const char *dir,
                      bool first)
{
    char suffix[16] = "";
    const char *file = first ? job->file : ompp_path_last(job->file);

    if (job->local_rank >= 0) snprintf(suffix, sizeof suffix, ":%d", job->local_rank);
    return ompp_outfile_open_exact(files, dir, file, suffix, wanted(profile, job), first);
}

static int write_files(const ompp_profile_t *profile, const ompp_job_t *job, ompp_outfile_t *files)
{
    int rc =
        files->out[OMPP_OUT_TEXT] ? ompp_report_text(profile, job->time_digits, false, files->out[OMPP_OUT_TEXT]) : 0;

    if (rc == 0 && files->out[OMPP_OUT_CSV]) rc = ompp_report_csv(profile, false, files->out[OMPP_OUT_CSV]);
    if (rc == 0 && files->out[OMPP_OUT_HTML]) rc = ompp_report_html(profile, !job->redact, files->out[OMPP_OUT_HTML]);
    if (rc == 0 && files->out[OMPP_OUT_XML]) rc = ompp_report_xml_write(profile, files->out[OMPP_OUT_XML]);
    if (rc == 0 && files->out[OMPP_OUT_COZ]) rc = ompp_report_coz(profile, files->out[OMPP_OUT_COZ]);
    if (rc == 0) return ompp_outfile_commit(files);
    ompp_outfile_abandon(files);
    return rc;
}

/* All files in one directory, or nothing; only one where it goes to a device or pipe. exact: under the user's name. */
static int try_name(const ompp_profile_t *profile, ompp_job_t *job, const char *dir, bool first, bool exact)
{
    char stem[512];
    ompp_outfile_t files;
    int rc;

    errno = 0;
    if (exact) {
        rc = open_exact(profile, &files, job, dir, first);
    } else {
        make_stem(profile, job, stem, sizeof stem);
        rc = ompp_outfile_open(&files, dir, stem, !job->overwrite || !first, wanted(profile, job), first);
    }
    if (rc == 0) rc = write_files(profile, job, &files);
    if (rc) return rc;
    for (int i = OMPP_OUTFILES; i-- > 0;)
        if (files.path[i][0]) snprintf(job->path, sizeof job->path, "%s", files.path[i]);
    snprintf(job->xml_path, sizeof job->xml_path, "%s", files.path[OMPP_OUT_XML]);
    return 0;
}

/* In a directory other than the first the user's name may be that of anything. */
static int try_directory(const ompp_profile_t *profile, ompp_job_t *job, const char *dir, bool first)
{
    const bool exact = job->file[0];
    const int rc = try_name(profile, job, dir, first, exact);

    return rc && exact && !first ? try_name(profile, job, dir, first, false) : rc;
}

static const char *reason(int rc, int error)
{
    return error && rc != -OMPP_E_NOMEM ? ompp_write_why(error) : ompp_error_message(rc);
}

/* The whole path of name in dir, whatever is absolute. */
static void whole_path(char *path, size_t size, const char *dir, const char *name)
{
    size_t used = 0;

    path[0] = '\0';
    if (*dir != '/' && *name != '/' && getcwd(path, size)) used = strlen(path);
    if (*dir && *name != '/') used += (size_t)snprintf(path + used, size - used, "%s%s", used ? "/" : "", dir);
    if (used < size) snprintf(path + used, size - used, "%s%s", *name == '/' ? "" : "/", name);
}

static void say(const ompp_profile_t *profile, ompp_job_t *job, const char *why, int error, bool written)
{
    char stem[512], name[560] = "", path[700], got[700] = "", remedy[100];

    if (!job->file[0]) {
        make_stem(profile, job, stem, sizeof stem);
        ompp_outfile_first_name(name, sizeof name, stem, !job->overwrite, wanted(profile, job));
    }
    whole_path(path, sizeof path, job->dir ? job->dir : "", job->file[0] ? job->file : name);
    if (written) whole_path(got, sizeof got, "", job->path);
    ompp_write_remedy(error, job->file[0] ? "set OMPP_REPORTFILE to a file" : job->choose, remedy, sizeof remedy);
    snprintf(job->message, sizeof job->message, "%s: cannot write the report %.400s (%s)%s%.400s", remedy, path, why,
             written ? "; it is " : ", nor anywhere else", got);
}

static int write_somewhere(const ompp_profile_t *profile, ompp_job_t *job)
{
    const char *dirs[] = {job->dir ? job->dir : "", "", job->tmpdir, "/tmp"}, *why = NULL;
    int rc = 0, error = 0;

    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
        if (!dirs[i] || (i > 0 && !strcmp(dirs[i], dirs[0])) || (i > 1 && !*dirs[i])) continue;
        rc = try_directory(profile, job, dirs[i], i == 0);
        if (rc == 0 && i > 0) say(profile, job, why, error, true);
        if (rc == 0) return 0;
        if (why) continue;
        error = errno;
        why = reason(rc, error);
    }
    say(profile, job, why, error, false);
    return rc;
}

/* Neither a file size limit nor a pipe whose reader goes away may kill the program. */
static int write_unharmed(const ompp_profile_t *profile, ompp_job_t *job)
{
    ompp_write_t writing;

    ompp_write_begin(&writing);
    int rc = write_somewhere(profile, job);
    ompp_write_end(&writing);
    return rc;
}

/* Seconds left for all that is still to be done. */
static double left(const ompp_job_t *job)
{
    return job->begun ? job->begun + job->report_seconds - ompp_clock_seconds() : INFINITY;
}

/* Lines are looked up in half of the time at most: the rest is for what cannot be left out. */
static int resolve(ompp_profile_t *profile, const ompp_job_t *job)
{
    const double half = left(job) / 2, now = ompp_clock_seconds();

    const bool short_of_time = half < job->resolve_seconds;
    const char *who = short_of_time ? "OMPP_REPORT_SECONDS" : "OMPP_RESOLVE_SECONDS";
    const double deadline = now + (short_of_time ? half : job->resolve_seconds);
    const int rc = ompp_analysis_resolve(profile, deadline, who), names = ompp_analysis_names(profile, deadline, who);

    return rc ? rc : names;
}

/* The text, and CSV where it is asked for, get half of the time that is left: the XML has to be whole. */
static int shorten(ompp_profile_t *profile, const ompp_job_t *job)
{
    const unsigned nfiles = !!(job->formats & OMPP_JOB_TEXT) + !!(job->formats & OMPP_JOB_CSV),
                   whole = !!(job->formats & OMPP_JOB_HTML); /* the page takes about as long, and is not shortened */
    uint64_t room = 0;
    int rc = nfiles ? ompp_report_text_room(profile, job->time_digits, left(job) / (2 * (nfiles + whole)), &room) : 0;

    if (room) ompp_profile_add_coverage(profile, OMPP_COVERAGE_LATE, ompp_text_late, "OMPP_REPORT_SECONDS", room);
    if (room && profile->ncoverage) profile->coverage[profile->ncoverage - 1].nranks = 0; /* said of the run */
    return rc;
}

static int analyse(ompp_profile_t *profile, const ompp_job_t *job)
{
    int rc = resolve(profile, job), next = ompp_analysis_unify(profile);

    if (rc == 0) rc = next;
    next = ompp_analysis_number(profile);
    if (rc == 0) rc = next;
    ompp_analysis_outside(profile);
    ompp_analysis_own(profile);
    ompp_analysis_thinned(profile);
    ompp_analysis_counted(profile);
    ompp_samples_check(profile);
    next = shorten(profile, job);
    return rc ? rc : next;
}

__attribute__((visibility("default"))) int ompp_job_run(ompp_profile_t *profile, ompp_job_t *job)
{
    int analysed, written;

    job->path[0] = job->xml_path[0] = job->message[0] = job->summary[0] = 0;
    if (job->version != OMPP_JOB_VERSION) {
        snprintf(job->message, sizeof job->message, "libompp-report.so is of another version than libompp.so");
        return -OMPP_E_VERSION;
    }
    job->notice[0] = 0;
    analysed = analyse(profile, job);
    if (job->redact) ompp_report_redact(profile);
    written = write_unharmed(profile, job);
    if (written) return written;
    ompp_whatif_notice(profile, job->notice, sizeof job->notice);
    if (job->wants_summary) ompp_report_summary(profile, job->summary, sizeof job->summary);
    if (analysed && !job->message[0])
        snprintf(job->message, sizeof job->message, "addresses in the report: %s", ompp_error_message(analysed));
    return analysed;
}
