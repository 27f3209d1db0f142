#define _GNU_SOURCE
#include "tools/ompp-report.h"

#include "base/ompp_env.h"
#include "base/ompp_error.h"
#include "model/ompp_pack.h"
#include "report/ompp_outfile.h"
#include "report/ompp_report.h"
#include "tools/ompp-report-left.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_MS 2000u

/* Files and directories -> pieces, sorted by run; false after a complaint. */
static bool find_all(ompp_left_list_t *list, char **files, int n)
{
    char why[PATH_MAX + 100];
    bool good = true;

    for (int i = 0; i < n || i == 0; i++) {
        if (ompp_left_find(list, n ? files[i] : NULL, why, sizeof why) >= 0) continue;
        ompp_report_complain(why);
        good = false;
    }
    return good;
}

/* A file stands for its run: the other ranks' lie beside it. */
static bool find_neighbours(ompp_left_list_t *list, char **files, int n)
{
    struct stat st;
    char why[PATH_MAX + 100], dir[PATH_MAX];
    bool good = true;

    for (int i = 0; i < n && good; i++) {
        const char *slash = strrchr(files[i], '/');
        if (stat(files[i], &st) != 0 || S_ISDIR(st.st_mode)) continue;
        snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - files[i]) + 1 : 1, slash ? files[i] : ".");
        good = ompp_left_find(list, dir, why, sizeof why) >= 0;
    }
    return good;
}

static bool is_named(const ompp_left_t *piece, char **files, int n)
{
    struct stat is, named;

    for (int i = 0; i < n; i++)
        if (stat(files[i], &named) == 0 &&
            (S_ISDIR(named.st_mode) || (stat(piece->path, &is) == 0 && is.st_dev == named.st_dev && is.st_ino == named.st_ino)))
            return true;
    return n == 0;
}

/* A run that is asked for: all of them, or those of the files that are named. */
static bool is_wanted(const ompp_left_list_t *list, size_t run, char **files, int n)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->piece[i].run == run && is_named(&list->piece[i], files, n)) return true;
    return false;
}

static size_t count_running(const ompp_left_list_t *list, size_t run)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) n += list->piece[i].run == run && list->piece[i].lives;
    return n;
}

static void remove_run(const ompp_left_list_t *list, size_t run)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->piece[i].run == run && !list->piece[i].lives) unlink(list->piece[i].path);
}

static int write_report(ompp_profile_t *profile, const request_t *request)
{
    ompp_job_t job = {.version = OMPP_JOB_VERSION,
                      .formats = OMPP_JOB_TEXT,
                      .dir = request->to ? request->to : "",
                      .tmpdir = ompp_env_foreign("TMPDIR"),
                      .file = "",
                      .local_rank = -1,
                      .time_digits = request->digits < 0 ? OMPP_REPORT_DIGITS : request->digits,
                      .resolve_seconds = 3600};
    int rc = ompp_job_run(profile, &job);

    if (job.path[0]) printf("%s\n%s\n", job.path, job.xml_path);
    if (job.message[0]) ompp_report_complain(job.message);
    return job.path[0] ? rc : -OMPP_E_IO;
}

static int merge_run(const ompp_left_list_t *list, size_t run, const request_t *request)
{
    size_t running = count_running(list, run);
    ompp_profile_t *profile = ompp_left_join(list, run, request->running);
    char message[200];
    int rc = 0;

    if (running && !request->running) {
        snprintf(message, sizeof message, "%zu processes of a run still run, and are left out; --running takes them in", running);
        ompp_report_complain(message);
    }
    if (profile) rc = write_report(profile, request);
    if (profile && rc == 0 && request->remove) remove_run(list, run);
    ompp_profile_free(profile);
    return rc || !profile ? EXIT_BAD : EXIT_GOOD;
}

/* The same file may be found twice: by its name and beside another. */
static void drop_doubles(ompp_left_list_t *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        char *found = realpath(list->piece[i].path, NULL);
        bool seen = false;
        if (found) {
            free(list->piece[i].path);
            list->piece[i].path = found;
        }
        for (size_t k = 0; k < n && !seen; k++) seen = strcmp(list->piece[k].path, list->piece[i].path) == 0;
        if (seen) {
            ompp_profile_free(list->piece[i].profile);
            free(list->piece[i].path);
        } else {
            list->piece[n++] = list->piece[i];
        }
    }
    list->n = n;
}

int ompp_report_merge(const request_t *request, char **files, int n)
{
    ompp_left_list_t list = {.patience_ms = request->running ? 0 : PATIENCE_MS};
    int worst = EXIT_GOOD;

    if (!find_all(&list, files, n) || !find_neighbours(&list, files, n)) worst = EXIT_BAD;
    drop_doubles(&list);
    ompp_left_group(&list);
    if (!list.n && worst == EXIT_GOOD) worst = ompp_report_complain("nothing there that a run has left behind");
    for (size_t run = 0; run < list.nruns; run++) {
        int rc = is_wanted(&list, run, files, n) ? merge_run(&list, run, request) : EXIT_GOOD;
        if (rc > worst) worst = rc;
    }
    ompp_left_free(&list);
    return worst == EXIT_GOOD ? ompp_report_finish() : worst;
}

/* ---- collect -------------------------------------------------------------------------------------------------------- */

static bool gather(const ompp_left_t *piece, const char *to)
{
    const char *slash = strrchr(piece->path, '/'), *name = slash ? slash + 1 : piece->path;
    char host[100], path[PATH_MAX], message[PATH_MAX + 100];

    ompp_outfile_safe_name(ompp_profile_text(piece->profile, piece->profile->ranks[0].host), host, sizeof host);
    if (piece->copy) snprintf(path, sizeof path, "%s/%s", to, name);
    else snprintf(path, sizeof path, "%s/%s.%s.ompp.bin", to, name, host);
    if (ompp_pack_write_file(path, piece->profile) == 0) {
        printf("%s\n", path);
        return true;
    }
    snprintf(message, sizeof message, "%s: %s", path, strerror(errno));
    ompp_report_complain(message);
    return false;
}

int ompp_report_collect(const request_t *request, char **files, int n)
{
    const char *to = request->to ? request->to : ".";
    ompp_left_list_t list = {.patience_ms = request->running ? 0 : PATIENCE_MS};
    bool good = find_all(&list, files, n);

    drop_doubles(&list);
    if (mkdir(to, 0777) != 0 && errno != EEXIST) good = false;
    for (size_t i = 0; i < list.n; i++) {
        const ompp_left_t *piece = &list.piece[i];
        if (piece->lives && !request->running) continue;
        bool done = gather(piece, to);
        if (done && request->remove && !piece->lives) unlink(piece->path);
        good = good && done;
    }
    ompp_left_free(&list);
    return good ? ompp_report_finish() : EXIT_BAD;
}
