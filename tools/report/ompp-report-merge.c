#define _GNU_SOURCE
#include "tools/report/ompp-report.h"

#include "base/ompp_path.h"
#include "base/ompp_write.h"
#include "model/ompp_pack.h"
#include "report/ompp_outfile.h"
#include "tools/report/ompp-report-left.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 2000u

/* Files and directories -> pieces, sorted by run; false after a complaint. */
static bool find_all(ompp_left_list_t *list, char **files, int n)
{
    char why[PATH_MAX + 100];
    bool ok = true;

    for (int i = 0; i < n || i == 0; i++) {
        if (ompp_left_find(list, n ? files[i] : NULL, why, sizeof why) >= 0) continue;
        ompp_report_complain(why);
        ok = false;
    }
    return ok;
}

/* A file stands for its run: the other ranks' lie beside it. */
static bool find_neighbours(ompp_left_list_t *list, char **files, int n)
{
    struct stat st;
    char why[PATH_MAX + 100], dir[PATH_MAX];
    bool ok = true;

    for (int i = 0; i < n && ok; i++) {
        const char *slash = strrchr(files[i], '/');
        if (stat(files[i], &st) != 0 || S_ISDIR(st.st_mode)) continue;
        snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - files[i]) + 1 : 1, slash ? files[i] : ".");
        ok = ompp_left_find(list, dir, why, sizeof why) >= 0;
    }
    return ok;
}

static bool is_named(const char *path, char **files, int n)
{
    struct stat is, named;

    for (int i = 0; i < n; i++)
        if (stat(files[i], &named) == 0 &&
            (S_ISDIR(named.st_mode) ||
             (stat(path, &is) == 0 && is.st_dev == named.st_dev && is.st_ino == named.st_ino)))
            return true;
    return n == 0;
}

/* A run that is asked for: all of them, or those of the files that are named. */
static bool is_wanted(const ompp_left_list_t *list, size_t run, char **files, int n)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->piece[i].run == run && is_named(list->piece[i].file.path, files, n)) return true;
    return false;
}

static size_t count_running(const ompp_left_list_t *list, size_t run)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) n += list->piece[i].run == run && list->piece[i].file.life == OMPP_LIFE_RUNS;
    return n;
}

static const char *why_it_stays(const ompp_left_file_t *file)
{
    if (!file->own) return "it is another user's";
    if (file->life >= OMPP_LIFE_ENDS) return "a process of this run is still there";
    if (file->life == OMPP_LIFE_HIDDEN)
        return "whether its process is gone is not seen from this PID namespace, but in its own";
    if (file->life == OMPP_LIFE_ELSEWHERE)
        return "that its process is gone is seen on its node alone: ompp-report collect --remove there";
    return NULL;
}

/* Nothing of a run goes whose processes are not all gone, and nothing of another user. \return NULL: it may go. which:
 * who says so. */
static const char *why_run_stays(const ompp_left_list_t *list, size_t run, const ompp_left_file_t **which)
{
    const char *why = NULL;

    for (size_t i = 0; i < list->n && !why; i++) {
        *which = &list->piece[i].file;
        if (list->piece[i].run == run) why = why_it_stays(*which);
    }
    return why;
}

static int complain_of_staying(const ompp_left_file_t *file, const char *why)
{
    char message[PATH_MAX + 200];

    snprintf(message, sizeof message, "%s: not removed: %s", file->path, why);
    return ompp_report_complain(message);
}

static int drop(const ompp_left_file_t *file)
{
    if (ompp_left_remove(file)) return EXIT_OK;
    return complain_of_staying(file, errno == ESTALE ? "something else is there now" : strerror(errno));
}

static int remove_run(const ompp_left_list_t *list, size_t run)
{
    const ompp_left_file_t *which = NULL;
    const char *why = why_run_stays(list, run, &which);
    int worst = EXIT_OK;

    if (why) return complain_of_staying(which, why);
    for (size_t i = 0; i < list->n; i++)
        if (list->piece[i].run == run && drop(&list->piece[i].file) != EXIT_OK) worst = EXIT_BAD;
    return worst;
}

static int merge_run(const ompp_left_list_t *list, size_t run, const request_t *request)
{
    size_t running = count_running(list, run);
    ompp_profile_t *profile = ompp_left_join(list, run, request->running);
    const ompp_left_run_t known = ompp_left_run(list, run);
    char message[PATH_MAX + 200];
    int rc = 0;

    if (running && !request->running) {
        snprintf(message, sizeof message,
                 "use --running to take in %zu processes of a run that still run: they are left out", running);
        ompp_report_complain(message);
    } else if (!profile) {
        snprintf(message, sizeof message, "%s: nothing of this run can be joined", known.path);
        ompp_report_complain(message);
    }
    const size_t taken = known.found - (request->running ? 0 : running);
    if (profile && taken + running < known.nranks) {
        snprintf(message, sizeof message,
                 "name a directory with what all ranks have left: the report has %zu of %" PRIu32 " ranks", taken,
                 known.nranks);
        ompp_report_complain(message);
    }
    if (profile) rc = ompp_report_write(profile, request, request->to ? request->to : "", "give --to= a directory", -1);
    if (profile && rc == 0 && request->remove) rc = remove_run(list, run);
    ompp_profile_free(profile);
    return rc || !profile ? EXIT_BAD : EXIT_OK;
}

static void tell_of_skipped(const ompp_left_list_t *list)
{
    char message[100];

    if (!list->nskipped) return;
    snprintf(message, sizeof message, "name a file to read it: %zu found there %s another user's, and not opened",
             list->nskipped, list->nskipped == 1 ? "is" : "are");
    ompp_report_complain(message);
}

static bool is_same(const ompp_left_file_t *a, const ompp_left_file_t *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* The same file may be found twice: by its name and beside another. */
static void drop_doubles(ompp_left_list_t *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        char *found = realpath(list->piece[i].file.path, NULL);
        bool seen = false;
        if (found) {
            free(list->piece[i].file.path);
            list->piece[i].file.path = found;
        }
        for (size_t k = 0; k < n && !seen; k++) seen = is_same(&list->piece[k].file, &list->piece[i].file);
        if (seen) {
            ompp_profile_free(list->piece[i].profile);
            free(list->piece[i].file.path);
        } else {
            list->piece[n++] = list->piece[i];
        }
    }
    list->n = n;
}

/* ---- Which runs -------------------------------------------------------------------------------------------------- */

static void describe(const ompp_left_run_t *run, char *text, size_t n)
{
    time_t seconds = (time_t)(run->begin_epoch_ns / 1000000000u);
    struct tm tm;
    char when[40] = "";

    if (localtime_r(&seconds, &tm)) strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(text, n, "%s  %s, %u %s", when, *run->app ? run->app : "(no name)", (unsigned)run->nranks,
             run->nranks == 1 ? "process" : "ranks");
}

/* A line for a run: when, program, ranks, end, and the file that stands for it. */
static void list_run(const ompp_left_run_t *run)
{
    char text[400];

    describe(run, text, sizeof text);
    printf("%s", ompp_report_shown(text));
    if (run->found < run->nranks) printf(" (%zu of them found)", run->found);
    if (run->end) printf("; %.*s", (int)run->length, ompp_report_shown(run->end));
    if (run->living) printf("; %zu still %s", run->living, run->living == 1 ? "runs" : "run");
    printf("; %s\n", ompp_report_shown(run->path));
}

/* The newest run of which there is something to take; list->nruns when there is none. */
static size_t find_newest(const ompp_left_list_t *list, bool running)
{
    size_t newest = list->nruns;
    uint64_t begin = 0;

    for (size_t run = 0; run < list->nruns; run++) {
        ompp_left_run_t known = ompp_left_run(list, run);
        if ((known.found == known.living && !running) || (newest < list->nruns && known.begin_epoch_ns <= begin))
            continue;
        newest = run;
        begin = known.begin_epoch_ns;
    }
    return newest;
}

static int compare_begin(const void *a, const void *b)
{
    const ompp_left_run_t *x = a, *y = b;

    return x->begin_epoch_ns < y->begin_epoch_ns ? -1 : x->begin_epoch_ns > y->begin_epoch_ns;
}

/* Oldest first, as the last line is the one that is seen. */
static int list_runs(const ompp_left_list_t *list, char **files, int n)
{
    ompp_left_run_t *known = calloc(list->nruns + 1, sizeof *known);
    size_t wanted = 0;

    if (!known) return ompp_report_complain(strerror(errno));
    for (size_t run = 0; run < list->nruns; run++)
        if (is_wanted(list, run, files, n)) known[wanted++] = ompp_left_run(list, run);
    qsort(known, wanted, sizeof *known, compare_begin);
    for (size_t i = 0; i < wanted; i++) list_run(&known[i]);
    free(known);
    return EXIT_OK;
}

/* Several runs, which may be somebody else's under the same account: what is to be removed is named. */
static bool is_named_to_remove(const ompp_left_list_t *list, const request_t *request, int n)
{
    if (!request->remove || request->all || n > 0 || list->nruns < 2) return true;
    list_runs(list, NULL, 0);
    ompp_report_complain(
        "name the file of the run that is to be removed, or say --all: several runs have left something");
    return false;
}

/* Nothing is named: of runs that may have nothing to do with each other, the newest is meant. \return as
 * find_newest(). */
static size_t choose_newest(const ompp_left_list_t *list, const request_t *request)
{
    size_t newest = find_newest(list, request->running);
    ompp_left_run_t known;
    char text[400], message[600];

    if (newest == list->nruns) {
        ompp_report_complain("use --running: all that is there is of runs that still run");
    } else if (list->nruns > 1) {
        known = ompp_left_run(list, newest);
        describe(&known, text, sizeof text);
        snprintf(message, sizeof message, "the newest of %zu runs: %s; --list lists them, --all takes all", list->nruns,
                 text);
        ompp_report_complain(message);
    }
    return newest;
}

static int merge_newest(const ompp_left_list_t *list, const request_t *request)
{
    size_t newest = choose_newest(list, request);

    return newest < list->nruns ? merge_run(list, newest, request) : EXIT_BAD;
}

static int merge_named(const ompp_left_list_t *list, const request_t *request, char **files, int n)
{
    int worst = EXIT_OK;

    for (size_t run = 0; run < list->nruns; run++) {
        int rc = is_wanted(list, run, files, n) ? merge_run(list, run, request) : EXIT_OK;
        if (rc > worst) worst = rc;
    }
    return worst;
}

static int merge_wanted(const ompp_left_list_t *list, const request_t *request, char **files, int n)
{
    if (request->list) return list_runs(list, files, n);
    if (!is_named_to_remove(list, request, n)) return EXIT_BAD;
    if (n == 0 && !request->all) return merge_newest(list, request);
    return merge_named(list, request, files, n);
}

/* ---- Files of other versions ------------------------------------------------------------------------------------- */

/* A line for each, as for runs: when it was written, why it is not read, what to do, and its path. */
static void list_foreign(const ompp_left_list_t *list, char **files, int n)
{
    struct stat st;
    struct tm tm;
    char when[40];

    for (size_t i = 0; i < list->nforeign; i++) {
        const ompp_left_file_t *file = &list->foreign[i];
        if (!is_named(file->path, files, n) || stat(file->path, &st) != 0) continue;
        if (!localtime_r(&st.st_mtime, &tm) || !strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm)) when[0] = '\0';
        printf("%s  written by another version of ompp%s: merge with the ompp-report of that version, or --remove this "
               "file; %s\n",
               when, file->life >= OMPP_LIFE_ENDS ? ", and its process is still there" : "",
               ompp_report_shown(file->path));
    }
}

/* Files that are named: one that cannot be read goes when it is asked for, and not otherwise. *taken: whether there are
 * such. */
static int take_foreign(const ompp_left_list_t *list, const request_t *request, char **files, int n, bool *taken)
{
    char message[PATH_MAX + 200];
    struct stat st;
    int worst = EXIT_OK;

    *taken = request->list && list->nforeign;
    for (size_t i = 0; i < list->nforeign && !request->list; i++) {
        const ompp_left_file_t *file = &list->foreign[i];
        const char *why = why_it_stays(file);
        bool named = false;
        for (int k = 0; k < n && !named; k++)
            named = stat(files[k], &st) == 0 && !S_ISDIR(st.st_mode) && is_named(file->path, &files[k], 1);
        if (!named) continue;
        *taken = true;
        if (!request->remove) {
            snprintf(message, sizeof message,
                     "merge it with the ompp-report of its version, or --remove it: %s was written by another version "
                     "of ompp",
                     file->path);
            worst = ompp_report_complain(message);
        } else if ((why ? complain_of_staying(file, why) : drop(file)) != EXIT_OK) {
            worst = EXIT_BAD;
        }
    }
    return worst;
}

static int complain_of_nothing(const ompp_left_list_t *list, char **files, int n)
{
    char places[2 * PATH_MAX + 100], message[2 * PATH_MAX + 200];

    if (n) snprintf(places, sizeof places, "%s%s", files[0], n > 1 ? ", ..." : "");
    else ompp_left_usual_places(places, sizeof places);
    snprintf(message, sizeof message, "%s: nothing there that a run %shas left behind%s", places,
             list->nforeign ? "of this version " : "", list->nforeign ? "; --list lists what others have" : "");
    return ompp_report_complain(message);
}

int ompp_report_merge(const request_t *request, char **files, int n)
{
    ompp_left_list_t list = {.patience_ms = request->running ? 0 : PATIENCE_MS};
    int worst = EXIT_OK;
    bool taken;

    if (!find_all(&list, files, n) || !find_neighbours(&list, files, n)) worst = EXIT_BAD;
    tell_of_skipped(&list);
    drop_doubles(&list);
    ompp_left_group(&list);
    const int rest = take_foreign(&list, request, files, n, &taken);
    if (rest > worst) worst = rest;
    if (request->list) list_foreign(&list, files, n);
    for (size_t run = 0; run < list.nruns && !taken; run++) taken = is_wanted(&list, run, files, n);
    if (worst == EXIT_OK && !taken) worst = complain_of_nothing(&list, files, n);
    if (list.n) {
        int rc = merge_wanted(&list, request, files, n);
        if (rc > worst) worst = rc;
    }
    ompp_left_free(&list);
    return worst == EXIT_OK ? ompp_report_finish() : worst;
}

/* ---- collect ----------------------------------------------------------------------------------------------------- */

static bool gather(const ompp_left_t *piece, const char *to)
{
    const char *name = ompp_path_last(piece->file.path);
    char host[100], path[PATH_MAX], message[PATH_MAX + 100];

    ompp_outfile_safe_name(ompp_profile_text(piece->profile, piece->profile->ranks[0].host), host, sizeof host);
    if (piece->copy) snprintf(path, sizeof path, "%s/%s", to, name);
    else snprintf(path, sizeof path, "%s/%s.%s.ompp.bin", to, name, host);
    if (ompp_pack_write_file(path, piece->profile, true) == 0) {
        printf("%s\n", path);
        return true;
    }
    snprintf(message, sizeof message, "%s: %s", path, ompp_write_why(errno));
    ompp_report_complain(message);
    return false;
}

/*
 * A piece goes when its own process is gone, for what is collected is whole without it; but not from under the others
 * of its node. Processes elsewhere are for who collects there.
 */
static bool may_go(const ompp_left_list_t *runs, const ompp_left_t *piece)
{
    bool ok = !why_it_stays(&piece->file);
    size_t run = runs->nruns;

    for (size_t i = 0; i < runs->n && run == runs->nruns; i++)
        if (is_same(&runs->piece[i].file, &piece->file)) run = runs->piece[i].run;
    for (size_t i = 0; i < runs->n && ok; i++)
        ok = runs->piece[i].run != run || runs->piece[i].file.life < OMPP_LIFE_HIDDEN;
    return ok;
}

static bool remove_piece(const ompp_left_list_t *runs, const ompp_left_t *piece)
{
    const char *why = why_it_stays(&piece->file);

    if (may_go(runs, piece)) return drop(&piece->file) == EXIT_OK;
    if (piece->file.own && piece->file.life == OMPP_LIFE_ELSEWHERE) return true;
    complain_of_staying(&piece->file, why ? why : "another process of this run is still there");
    return false;
}

/*
 * Collect takes the runs that merge would: the newest one, or those that are named. Finding out which files belong
 * together changes what is known of them (ompp_left_group), and they are gathered as they are: for this they are found
 * once more.
 */
static bool is_run_wanted(const ompp_left_list_t *runs, size_t newest, const request_t *request, char **files, int n,
                          const ompp_left_t *piece)
{
    for (size_t i = 0; i < runs->n; i++) {
        if (!is_same(&runs->piece[i].file, &piece->file)) continue;
        if (n == 0 && !request->all) return runs->piece[i].run == newest;
        return is_wanted(runs, runs->piece[i].run, files, n);
    }
    return false;
}

static bool find_with_neighbours(ompp_left_list_t *list, char **files, int n)
{
    bool ok = find_all(list, files, n);

    ok = find_neighbours(list, files, n) && ok;
    drop_doubles(list);
    return ok;
}

int ompp_report_collect(const request_t *request, char **files, int n)
{
    if (request->expire >= 0) return ompp_report_expire(request, files, n);
    const char *to = request->to ? request->to : ".";
    ompp_left_list_t list = {.patience_ms = request->running ? 0 : PATIENCE_MS}, runs = {0};
    bool ok = find_with_neighbours(&list, files, n) && find_with_neighbours(&runs, files, n);
    size_t newest = 0, taken = 0, running = 0;

    tell_of_skipped(&list);
    ompp_left_group(&runs);
    if (!runs.n && ok) ok = complain_of_nothing(&runs, files, n) == EXIT_OK;
    if (runs.n && n == 0 && !request->all) newest = choose_newest(&runs, request);
    if (mkdir(to, 0777) != 0 && errno != EEXIST) ok = false;
    for (size_t i = 0; i < list.n; i++) {
        const ompp_left_t *piece = &list.piece[i];
        if (!is_run_wanted(&runs, newest, request, files, n, piece)) continue;
        if (piece->file.life == OMPP_LIFE_RUNS && !request->running) {
            running++;
            continue;
        }
        taken++;
        ok = gather(piece, to) && (!request->remove || remove_piece(&runs, piece)) && ok;
    }
    if (running && !taken) ompp_report_complain("use --running: all that is there is of runs that still run");
    ompp_left_free(&list);
    ompp_left_free(&runs);
    return ok ? ompp_report_finish() : EXIT_BAD;
}
