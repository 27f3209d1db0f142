/*
 * What the commands of ompp-report do with a file: read it, print it in some form, check it, convert it.
 */
#include "tools/report/ompp-report-show.h"

#include "analysis/ompp_analysis.h"
#include "base/ompp_clock.h"
#include "base/ompp_error.h"
#include "base/ompp_json.h"
#include "base/ompp_regular.h"
#include "model/ompp_collect.h"
#include "model/ompp_pack.h"
#include "reader/ompp_document.h"
#include "report/ompp_annotate.h"

#include "report/ompp_report.h"
#include "tools/common/ompp-progress.h"
#include "tools/report/ompp-report-left.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a file holds: one of them. */
typedef struct {
    ompp_profile_t *profile;   /* our XML */
    ompp_document_t *document; /* a text or CSV report, whoever wrote it */
} input_t;

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static const char *remedy(int rc)
{
    if (rc == -OMPP_E_VERSION) return "read it with the ompp-report of that version";
    if (rc == -OMPP_E_NOMEM) return "free some memory";
    return "restore the file as it was written";
}

static const char *shown_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : ompp_report_shown(path);
}

#define LATE_SECONDS 120.0 /* for what a run had no time for */

enum { MOST = 1 << 30 }; /* bytes of a report from a pipe, which may have no end */

/* A pipe is read once, and a report several times: it is kept. \return the copy, -1 with errno. */
static int keep(int fd)
{
    char part[65536];
    FILE *copy = tmpfile();
    size_t size = 0;
    ssize_t n = 0;
    bool ok = copy != NULL;

    while (ok && (n = read(fd, part, sizeof part)) > 0) {
        size += (size_t)n;
        ok = size <= MOST && fwrite(part, 1, (size_t)n, copy) == (size_t)n;
        if (size > MOST) errno = EFBIG;
    }
    ok = ok && n == 0 && fflush(copy) == 0;
    int kept = ok ? dup(fileno(copy)) : -1;
    const int error = errno;

    if (copy) fclose(copy);
    if (kept >= 0) lseek(kept, 0, SEEK_SET);
    errno = error;
    return kept;
}

/* \return a file that stands at its beginning, and can go there again; -1 with errno. */
static int open_input(const char *path)
{
    const bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), kept;
    struct stat st;

    if (fd < 0 || (!standard && (fstat(fd, &st) != 0 || S_ISREG(st.st_mode)))) return fd;
    kept = keep(fd);
    const int error = errno;
    if (!standard) close(fd);
    errno = error;
    return kept;
}

/* First bytes of a file say what it is; false when it cannot be read. */
static bool sniff(int fd, char *kind)
{
    char begin[256];
    ssize_t n = fd < 0 ? -1 : pread(fd, begin, sizeof begin, 0);

    *kind = n < 0 ? 0 : ompp_document_sniff(begin, (size_t)n);
    return n >= 0;
}

/* What a run leaves that could not write its report. */
static bool is_left(int fd)
{
    ompp_profile_t *profile = NULL;
    const bool is = ompp_collect_fd(fd, &profile, NULL) == 0 || ompp_pack_read_fd(fd, &profile) == 0;

    ompp_profile_free(profile);
    return is;
}

/* What the run had no time for is looked up now, where its files are. */
static void look_up_late(ompp_profile_t *profile)
{
    if (!ompp_analysis_is_late(profile)) return;
    ompp_clock_mark();
    ompp_clock_start("gettime");
    ompp_progress_begin("ompp-report", "looking up names that the run had no time for", -1);
    ompp_analysis_resolve_late(profile, ompp_clock_seconds() + LATE_SECONDS, "ompp-report");
    ompp_progress_end();
}

static bool load(const char *path, input_t *input)
{
    const char *name = shown_name(path);
    char why[1024] = "", reading[300], kind;
    int rc;

    snprintf(reading, sizeof reading, "reading %s", name);
    ompp_progress_begin("ompp-report", reading, -1);
    const int fd = open_input(path);
    const bool known = sniff(fd, &kind);
    ompp_progress_end();
    *input = (input_t){0};
    if (!known) {
        fprintf(stderr, "ompp-report: %s: %s; name a report that can be read\n", name, strerror(errno));
        rc = -OMPP_E_IO;
    } else if (kind == 'X') {
        ompp_progress_begin("ompp-report", reading, fd);
        rc = ompp_report_xml_read_fd(fd, name, &input->profile, why, sizeof why);
        ompp_progress_end();
        if (rc) fprintf(stderr, "ompp-report: %s; %s\n", ompp_report_shown(why), remedy(rc));
    } else if (!kind && is_left(fd)) {
        fprintf(stderr, "ompp-report: use convert: %s is what a run left that could not write its report\n", name);
        rc = -OMPP_E_FORMAT;
    } else {
        lseek(fd, 0, SEEK_SET);
        ompp_progress_begin("ompp-report", reading, fd);
        rc = ompp_document_read_fd(fd, name, &input->document, why, sizeof why);
        ompp_progress_end();
        if (rc) ompp_report_complain(why);
    }
    if (fd >= 0) close(fd);
    return rc == 0;
}

static bool load_to_show(const char *path, input_t *input)
{
    const bool loaded = load(path, input);

    if (loaded && input->profile) look_up_late(input->profile);
    return loaded;
}

static void unload(input_t *input)
{
    ompp_profile_free(input->profile);
    ompp_document_free(input->document);
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

#define LEAST_PERCENT 0.1 /* of the run, that a terminal shows */

static bool is_numbered(const ompp_profile_t *profile)
{
    for (size_t r = 0; r < profile->nregions; r++)
        if (profile->regions[r].number == OMPP_NONE) return false;
    return true;
}

/* What somebody reads on a terminal is sorted, and without what takes next to nothing. */
static ompp_view_t view_of(const request_t *request)
{
    const bool terminal = isatty(STDOUT_FILENO) && !request->full && !request->json;
    ompp_view_t view = request->view;

    view.told = terminal;
    if (!request->folds) view.min = terminal ? LEAST_PERCENT : 0;
    if (view.sort == OMPP_SORT_NUM) view.sort = terminal || view.top ? OMPP_SORT_TIME : OMPP_SORT_FILE;
    return view;
}

/* \return 0, or -OMPP_E_NOTFOUND when the profile has no such rank: said. */
static int check_rank(const request_t *request, const ompp_profile_t *p)
{
    uint32_t rank = request->view.rank;

    for (size_t r = 0; rank != OMPP_NONE && r < p->nranks_kept; r++)
        if (p->ranks[r].rank == rank) rank = OMPP_NONE;
    if (rank == OMPP_NONE) return 0;
    ompp_progress_end();
    if (p->nrest && rank < p->nranks)
        fprintf(stderr,
                "ompp-report: rank %" PRIu32 " is added up with others in %s; set OMPP_RANK_DETAIL for the run\n", rank,
                shown_name(request->file));
    else
        fprintf(stderr, "ompp-report: %s has no rank %" PRIu32 ", but ranks 0 to %" PRIu32 "\n",
                shown_name(request->file), rank, p->nranks ? p->nranks - 1 : 0);
    return -OMPP_E_NOTFOUND;
}

static int print_view(const request_t *request, const ompp_profile_t *profile, int digits, FILE *out)
{
    const ompp_view_t view = view_of(request);
    int rc = check_rank(request, profile);

    if (rc) return rc;
    rc = request->json ? ompp_report_json(profile, &view, out) : ompp_report_view(profile, digits, &view, out);
    if (rc == -OMPP_E_NOTFOUND)
        fprintf(stderr,
                "ompp-report: no region has '%s' in its type, place or name; see the Region Overview of --full\n",
                ompp_report_shown(view.region));
    return rc;
}

static int print_text(const request_t *request, const ompp_profile_t *profile, FILE *out)
{
    const int digits = request->digits < 0 ? OMPP_REPORT_DIGITS : request->digits;

    if (request->viewed || request->json || (isatty(STDOUT_FILENO) && !request->full))
        return print_view(request, profile, digits, out);
    return ompp_report_text(profile, digits, request->full, out);
}

/* Of a terminal the report is printed when it is whole: until then it has the line of progress. \return 0, -OMPP_E_*;
 * -OMPP_E_NOTFOUND was said. */
static int print_profile(const request_t *request, const ompp_profile_t *profile, bool csv)
{
    const bool colored = !csv && !request->json && ompp_color_is_on(request->color, STDOUT_FILENO);
    char *text = NULL;
    size_t size = 0;
    FILE *out = colored || isatty(STDOUT_FILENO) ? open_memstream(&text, &size) : stdout;

    if (!out) return -OMPP_E_NOMEM;
    ompp_progress_begin("ompp-report", "writing the report", -1);
    int rc = csv ? ompp_report_csv(profile, request->full, out) : print_text(request, profile, out);
    ompp_progress_end();
    if (out != stdout && fclose(out) != 0 && rc == 0) rc = -OMPP_E_NOMEM;
    if (rc == 0 && colored) ompp_color_put(text, stdout);
    else if (rc == 0 && text) fwrite(text, 1, size, stdout);
    free(text);
    return rc;
}

/* What the other form cannot hold is said line by line, after the report. */
static int print_document(const request_t *request, const ompp_document_t *document, bool csv)
{
    char *notes = NULL;
    size_t size;
    FILE *memory = open_memstream(&notes, &size);
    int rc = memory ? 0 : -OMPP_E_NOMEM;

    if (rc == 0)
        rc = csv ? ompp_document_csv(document, stdout, memory)
                 : ompp_document_text(document, request->digits, stdout, memory);
    if (memory) fclose(memory);
    for (char *line = notes ? strtok(notes, "\n") : NULL; line && !rc; line = strtok(NULL, "\n"))
        fprintf(stderr, "ompp-report: %s: %s\n", shown_name(request->file), line);
    free(notes);
    return rc;
}

static int print(const request_t *request, bool csv)
{
    input_t input;
    int rc = 0;

    if (!load_to_show(request->file, &input)) return EXIT_BAD;
    if (input.profile && !is_numbered(input.profile)) rc = ompp_analysis_number(input.profile);
    if (input.document && (request->viewed || request->json)) {
        fprintf(stderr, "ompp-report: name the XML of the run: %s cannot be sorted, selected from or shown as JSON\n",
                shown_name(request->file));
        rc = -OMPP_E_NOTFOUND;
    }
    if (rc == 0)
        rc = input.profile ? print_profile(request, input.profile, csv) : print_document(request, input.document, csv);
    unload(&input);
    if (rc == -OMPP_E_NOTFOUND) return EXIT_BAD;
    return rc ? ompp_report_complain(ompp_error_message(rc)) : ompp_report_finish();
}

static int show_samples(const request_t *request)
{
    char error[400] = "";
    input_t input;

    if (!load_to_show(request->file, &input)) return EXIT_BAD;
    int rc = 0;
    if (!input.profile) {
        fprintf(stderr, "ompp-report: name the XML of the run: %s has no samples\n", shown_name(request->file));
        rc = -OMPP_E_FORMAT;
    } else {
        if (request->metric)
            rc = ompp_report_metric(input.profile, request->metric, (ompp_by_t)request->by, request->full, stdout,
                                    error, sizeof error);
        else rc = ompp_report_samples(input.profile, (ompp_by_t)request->by, request->full, stdout);
        if (*error) fprintf(stderr, "ompp-report: --metric=%s: %s\n", ompp_report_shown(request->metric), error);
        else if (rc) ompp_report_complain(ompp_error_message(rc));
    }
    unload(&input);
    return rc ? EXIT_BAD : ompp_report_finish();
}

int ompp_report_show(const request_t *request)
{
    return request->by >= 0 ? show_samples(request) : print(request, false);
}

int ompp_report_show_csv(const request_t *request) { return print(request, true); }

int ompp_report_show_summary(const request_t *request)
{
    char text[OMPP_SUMMARY_ROOM];
    input_t input;
    int rc = 0;

    if (!load(request->file, &input)) return EXIT_BAD;
    if (!input.profile) {
        fprintf(stderr, "ompp-report: name the XML of the run: of %s there is no summary\n", shown_name(request->file));
        unload(&input);
        return EXIT_BAD;
    }
    if (!is_numbered(input.profile)) rc = ompp_analysis_number(input.profile);
    if (rc == 0) rc = ompp_report_summary(input.profile, text, sizeof text);
    if (rc == 0) fputs(text, stdout);
    unload(&input);
    return rc ? ompp_report_complain(ompp_error_message(rc)) : ompp_report_finish();
}

/* ---- Source ------------------------------------------------------------------------------------------------------ */

static FILE *open_source(const char *path)
{
    const int fd = ompp_regular_open(path);

    return fd >= 0 ? fdopen(fd, "r") : NULL;
}

/* As it is named, else where it was compiled. */
static int show_source(const request_t *request, const ompp_profile_t *profile, const char *name)
{
    FILE *source = open_source(name);
    const int error = errno;
    const char *path = source ? NULL : ompp_report_path(profile, name);

    if (path) source = open_source(path);
    if (!source) {
        fprintf(stderr, "ompp-report: %s: %s; name a source file that can be read\n", ompp_report_shown(name),
                strerror(error));
        return -OMPP_E_OPEN;
    }
    const int rc = ompp_report_annotate(profile, path ? path : name, request->full, source, stdout);
    fclose(source);
    return rc;
}

int ompp_report_show_source(const request_t *request, char **files, int n)
{
    input_t input;

    int rc = load_to_show(files[0], &input) ? 0 : -OMPP_E_IO;
    if (rc == 0 && !input.profile) {
        fprintf(stderr, "ompp-report: name the XML of the run: %s has no lines\n", shown_name(files[0]));
        rc = -OMPP_E_FORMAT;
    } else if (rc == 0) {
        rc = n > 1 ? show_source(request, input.profile, files[1]) : ompp_report_files(input.profile, stdout);
        if (rc == -OMPP_E_NOTFOUND)
            fprintf(stderr, "ompp-report: nothing was measured in %s; leave it out to see in which files there was\n",
                    ompp_report_shown(files[1]));
        else if (rc && rc != -OMPP_E_OPEN) ompp_report_complain(ompp_error_message(rc));
    }
    unload(&input);
    return rc ? EXIT_BAD : ompp_report_finish();
}

/* A text or CSV report has no blocks of observations. */
int ompp_report_show_coz(const request_t *request)
{
    input_t input;
    int rc = 0;

    if (!load_to_show(request->file, &input)) return EXIT_BAD;
    if (!input.profile || !input.profile->whatif.nregions) {
        fprintf(stderr, "ompp-report: %s: %s has no what-if results\n",
                input.profile ? "run the program with OMPP_CAUSAL=virtual" : "name the XML of a run with OMPP_CAUSAL",
                shown_name(request->file));
        unload(&input);
        return EXIT_BAD;
    }
    if (!is_numbered(input.profile)) rc = ompp_analysis_number(input.profile);
    if (rc == 0) rc = ompp_report_coz(input.profile, stdout);
    unload(&input);
    return rc ? ompp_report_complain(ompp_error_message(rc)) : ompp_report_finish();
}

/* Text and CSV have no call paths of single threads. Sources are in the page: of another user's run those that he may
 * read. */
int ompp_report_show_page(const request_t *request)
{
    const int fd = strcmp(request->file, "-") == 0 ? -1 : ompp_left_open(request->file);
    input_t input;
    int rc = EXIT_BAD;

    if (fd >= 0) close(fd);
    if (!load_to_show(request->file, &input)) return EXIT_BAD;
    const int numbered = input.profile && !is_numbered(input.profile) ? ompp_analysis_number(input.profile) : 0;
    if (!input.profile)
        fprintf(stderr, "ompp-report: name the XML of the run: of %s there is no page\n", shown_name(request->file));
    else if (numbered) ompp_report_complain(ompp_error_message(numbered));
    else rc = ompp_report_page(input.profile, request);
    unload(&input);
    return rc;
}

/* ---- Checking ---------------------------------------------------------------------------------------------------- */

/* What is said of a file: objections, one line each, to stderr; or everything as JSON, to stdout. */
typedef struct {
    const char *name;
    bool read;
    size_t nbad, nchecked;
    char *objections; /* owned; lines */
} verdict_t;

static void put_json(const verdict_t *v, const input_t *input, bool first)
{
    const ompp_profile_t *p = input->profile;
    const ompp_document_t *d = input->document;
    const char *between = "";

    printf("%s\n  {\"file\": ", first ? "" : ",");
    ompp_json_text(stdout, v->name);
    printf(", \"read\": %s, \"in_order\": %s, \"objections\": [", v->read ? "true" : "false",
           v->read && !v->nbad ? "true" : "false");
    for (char *line = v->objections ? strtok(v->objections, "\n") : NULL; line; line = strtok(NULL, "\n")) {
        fputs(between, stdout);
        ompp_json_text(stdout, line);
        between = ", ";
    }
    fputs("]", stdout);
    if (p)
        printf(", \"regions\": %zu, \"call_paths\": %zu, \"threads\": %zu, \"ranks\": %zu", p->nregions, p->nnodes - 1,
               p->nlocations, p->nranks_kept);
    if (d) printf(", \"regions\": %zu, \"call_paths\": %zu, \"values_checked\": %zu", d->nflat, d->npaths, v->nchecked);
    putchar('}');
}

static void put_words(const verdict_t *v, const input_t *input, const request_t *request)
{
    const bool colored = ompp_color_is_on(request->color, STDOUT_FILENO);
    const ompp_profile_t *p = input->profile;
    const ompp_document_t *d = input->document;

    if (!v->read) return;
    if (v->objections) fputs(v->objections, stderr);
    printf("%s: %s%s%s", v->name,
           !colored  ? ""
           : v->nbad ? "\033[1;31m"
                     : "\033[1;32m",
           v->nbad ? "not in order" : "in order", colored ? "\033[0m" : "");
    if (v->nbad) printf(": %zu objections", v->nbad);
    else if (p)
        printf(": %zu constructs, calls and functions on %zu call paths, %zu thread%s of %zu rank%s", p->nregions,
               p->nnodes - 1, p->nlocations, p->nlocations == 1 ? "" : "s", p->nranks_kept,
               p->nranks_kept == 1 ? "" : "s");
    else printf(": %zu regions, %zu call paths; %zu values checked", d->nflat, d->npaths, v->nchecked);
    if (d && v->nbad) printf(", %zu values checked", v->nchecked);
    putchar('\n');
}

/* That a profile is whole was found when it was read. \return exit status. */
static int check_file(const request_t *request, const char *path, bool first)
{
    input_t input;
    char *name = strdup(shown_name(path));
    verdict_t v = {.name = name ? name : "", .read = load(path, &input)};
    size_t size;
    FILE *memory = open_memstream(&v.objections, &size);

    ompp_progress_begin("ompp-report", "checking", -1);
    if (memory && input.profile) v.nbad = ompp_analysis_check(input.profile, v.name, memory);
    if (memory && input.document) v.nbad = ompp_document_check(input.document, v.name, memory, &v.nchecked);
    ompp_progress_end();
    if (!memory || fclose(memory) != 0) v.nbad++;
    if (request->json) put_json(&v, &input, first);
    else put_words(&v, &input, request);
    unload(&input);
    free(v.objections);
    free(name);
    return v.read && !v.nbad ? EXIT_OK : EXIT_BAD;
}

int ompp_report_check(const request_t *request, char **files, int n)
{
    int worst = EXIT_OK;

    if (request->json) putchar('[');
    for (int i = 0; i < n; i++) {
        const int rc = check_file(request, files[i], i == 0);
        if (rc > worst) worst = rc;
    }
    if (request->json) puts("\n]");
    const int rc = ompp_report_finish();
    return rc > worst ? rc : worst;
}

/* ---- Converting -------------------------------------------------------------------------------------------------- */

/* The report of one rank of several is named after the rank. */
static int only_rank(const ompp_profile_t *profile)
{
    bool one = profile->mpi && profile->nranks > 1 && profile->nranks_kept == 1 && !profile->nrest;

    return one ? (int)profile->ranks[0].rank : -1;
}

int ompp_report_convert(const request_t *request)
{
    ompp_profile_t *profile = NULL;
    const char *slash = strrchr(request->file, '/');
    const int fd = ompp_left_open(request->file);
    int rc = fd < 0 ? -OMPP_E_OPEN : ompp_collect_fd(fd, &profile, NULL);
    bool died = rc == 0;
    if (rc == -OMPP_E_FORMAT) rc = ompp_pack_read_fd(fd, &profile);
    const int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
    char message[1200], *dir = strndup(request->file, slash && !died ? (size_t)(slash - request->file) : 0);

    if (rc) {
        ompp_left_why(request->file, rc, message, sizeof message);
        ompp_report_complain(message);
    } else {
        rc = ompp_report_write(profile, request,
                               slash == request->file && !died ? "/"
                               : dir                           ? dir
                                                               : "",
                               "change to a working directory", only_rank(profile));
    }
    ompp_profile_free(profile);
    free(dir);
    return rc ? EXIT_BAD : EXIT_OK;
}
