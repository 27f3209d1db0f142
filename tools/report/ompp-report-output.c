/*
 * What ompp-report writes: messages, reports, and whether its output arrived.
 */
#include "tools/report/ompp-report.h"

#include "base/ompp_env.h"
#include "base/ompp_error.h"
#include "base/ompp_utf8.h"
#include "base/ompp_write.h"
#include "report/ompp_outfile.h"
#include "report/ompp_report.h"
#include "tools/common/ompp-progress.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define FOREIGN_SECONDS 60 /* for programs that another user's profile names */

const char *ompp_report_shown(const char *text)
{
    static char shown[3 * PATH_MAX];

    snprintf(shown, sizeof shown, "%s", text);
    return ompp_utf8_make_printable(shown);
}

int ompp_report_complain(const char *message)
{
    fprintf(stderr, "ompp-report: %s\n", ompp_report_shown(message));
    return EXIT_BAD;
}

bool ompp_report_is_redacted(void)
{
    const char *set = ompp_env_foreign("OMPP_REDACT");

    return set && strcmp(set, "0") != 0;
}

/* Output that did not arrive is a failure, too. */
int ompp_report_finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_OK;
    fprintf(stderr, "ompp-report: standard output: %s\n", strerror(errno));
    return EXIT_BAD;
}

int ompp_report_write(ompp_profile_t *profile, const request_t *request, const char *dir, const char *choose, int rank)
{
    ompp_job_t job = {.version = OMPP_JOB_VERSION,
                      .formats = OMPP_JOB_TEXT,
                      .dir = dir,
                      .choose = choose,
                      .tmpdir = ompp_env_foreign("TMPDIR"),
                      .redact = ompp_report_is_redacted(),
                      .file = "",
                      .local_rank = rank,
                      .time_digits = request->digits < 0 ? OMPP_REPORT_DIGITS : request->digits,
                      .resolve_seconds = ompp_report_is_foreign() ? FOREIGN_SECONDS : 3600};
    ompp_progress_begin("ompp-report", "finding names and lines, writing the report", -1);
    int rc = ompp_job_run(profile, &job);
    ompp_progress_end();

    if (job.path[0]) printf("%s\n%s\n", job.path, job.xml_path);
    if (job.message[0]) ompp_report_complain(job.message);
    return rc;
}

/* "app.2-0.ompp.xml" becomes "app.2-0.ompp.html"; of standard input: standard output. */
static void page_name(const request_t *request, char *name, size_t size)
{
    const char *file = request->output ? request->output : request->file;
    const size_t n = strlen(file);
    const bool xml = n > 4 && strcmp(file + n - 4, ".xml") == 0;

    if (request->output || strcmp(file, "-") == 0) snprintf(name, size, "%s", file);
    else snprintf(name, size, "%.*s.html", (int)(xml ? n - 4 : n), file);
}

static int write_page(const ompp_profile_t *profile, const char *name)
{
    const bool source = !ompp_report_is_redacted();
    ompp_outfile_t files;

    if (strcmp(name, "-") == 0) return ompp_report_html(profile, source, stdout);
    int rc = ompp_outfile_open_exact(&files, "", name, "", 1u << OMPP_OUT_HTML, true);
    if (rc) return rc;
    rc = ompp_report_html(profile, source, files.out[OMPP_OUT_HTML]);
    if (rc == 0) return ompp_outfile_commit(&files);
    ompp_outfile_abandon(&files);
    return rc;
}

int ompp_report_page(ompp_profile_t *profile, const request_t *request)
{
    char name[PATH_MAX], message[PATH_MAX + 200];

    if (ompp_report_is_redacted()) ompp_report_redact(profile);
    page_name(request, name, sizeof name);
    const int rc = write_page(profile, name);
    if (rc) {
        snprintf(message, sizeof message, "give -o a file that can be written: %s: %s", name,
                 rc == -OMPP_E_NOMEM ? ompp_error_message(rc) : ompp_write_why(errno));
        return ompp_report_complain(message);
    }
    if (strcmp(name, "-") != 0) printf("%s\n", name);
    return ompp_report_finish();
}
