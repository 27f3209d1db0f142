/**
 * \file
 * ompp-report: reads the profiles that runs leave behind and shows, checks or converts them.
 */
#include "report/ompp_report.h"

#include "analysis/ompp_analysis.h"
#include "base/ompp_env.h"
#include "base/ompp_error.h"
#include "model/ompp_collect.h"
#include "model/ompp_pack.h"
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_GOOD = 0, EXIT_BAD = 1, EXIT_USAGE = 2 };

/* What the command line asks for. */
typedef struct {
    const char *file;
    int digits;
} request_t;

static const char usage[] =
    "usage: ompp-report [show] [--digits=N] FILE.xml   print the text report\n"
    "       ompp-report csv FILE.xml                   print the CSV report\n"
    "       ompp-report check FILE.xml...              say whether the files are in order\n"
    "       ompp-report convert FILE...                write text and XML of what a run left: FILE.ompp.bin, beside it;\n"
    "                                                  /dev/shm/ompp-* of a process that died, in this directory\n"
    "       ompp-report --help | --version\n"
    "\n"
    "  --digits=N   digits after the point of times, 0-9 (default 2)\n"
    "\n"
    "Exit status: 0 good, 1 a file is missing or not in order, 2 wrong usage.\n";

static int complain(const char *message)
{
    fprintf(stderr, "ompp-report: %s\n", message);
    return EXIT_BAD;
}

static int wrong(const char *what, const char *word)
{
    fprintf(stderr, "ompp-report: %s%s%s; try ompp-report --help\n", what, word ? ": " : "", word ? word : "");
    return EXIT_USAGE;
}

static ompp_profile_t *load(const char *path)
{
    ompp_profile_t *profile;
    char why[1024];

    if (ompp_report_xml_read(path, &profile, why, sizeof why)) complain(why);
    return profile;
}

static bool is_numbered(const ompp_profile_t *profile)
{
    for (size_t r = 0; r < profile->nregions; r++)
        if (profile->regions[r].number == OMPP_NONE) return false;
    return true;
}

static int print(const request_t *request, bool csv)
{
    ompp_profile_t *profile = load(request->file);
    int rc;

    if (!profile) return EXIT_BAD;
    rc = is_numbered(profile) ? 0 : ompp_analysis_number(profile);
    if (rc == 0) rc = csv ? ompp_report_csv(profile, stdout) : ompp_report_text(profile, request->digits, stdout);
    ompp_profile_free(profile);
    if (rc) return complain(ompp_error_message(rc));
    if (fflush(stdout) || ferror(stdout)) return complain(strerror(errno));
    return EXIT_GOOD;
}

static int show(const request_t *request)
{
    return print(request, false);
}

static int csv(const request_t *request)
{
    return print(request, true);
}

static int check(const request_t *request)
{
    ompp_profile_t *profile = load(request->file);

    if (!profile) return EXIT_BAD;
    printf("%s: in order: %zu regions, %zu call paths, %zu threads of %zu ranks\n", request->file, profile->nregions,
           profile->nnodes - 1, profile->nlocations, profile->nranks_kept);
    ompp_profile_free(profile);
    return EXIT_GOOD;
}

/* The report of one rank of several is named after the rank. */
static int only_rank(const ompp_profile_t *profile)
{
    bool one = profile->mpi && profile->nranks > 1 && profile->nranks_kept == 1 && !profile->nrest;

    return one ? (int)profile->ranks[0].rank : -1;
}

static int convert(const request_t *request)
{
    ompp_job_t job = {.version = OMPP_JOB_VERSION, .formats = OMPP_JOB_TEXT, .tmpdir = ompp_env_foreign("TMPDIR"), .file = "",
                      .time_digits = request->digits, .resolve_seconds = 3600};
    ompp_profile_t *profile = NULL;
    const char *slash = strrchr(request->file, '/');
    bool died = ompp_collect_file(request->file, &profile) == 0;
    int rc = died ? 0 : ompp_pack_read_file(request->file, &profile);
    char message[1200], *dir = strndup(request->file, slash && !died ? (size_t)(slash - request->file) : 0);

    if (died) profile->version = ompp_profile_string(profile, PACKAGE_VERSION);
    job.dir = slash == request->file && !died ? "/" : dir ? dir : "";
    if (rc) {
        bool system = rc == -OMPP_E_OPEN || rc == -OMPP_E_IO;
        snprintf(message, sizeof message, "%.1000s: %s", request->file, system ? strerror(errno) : ompp_error_message(rc));
    } else {
        job.local_rank = only_rank(profile);
        rc = ompp_job_run(profile, &job);
        snprintf(message, sizeof message, "%s", job.message);
        if (job.path[0]) printf("%s\n%s\n", job.path, job.xml_path);
    }
    if (message[0]) complain(message);
    ompp_profile_free(profile);
    free(dir);
    return rc ? EXIT_BAD : EXIT_GOOD;
}

static const struct {
    const char *name;
    int (*run)(const request_t *request);
    bool many; /* takes more than one file */
} verbs[] = {{"show", show, false}, {"csv", csv, false}, {"check", check, true}, {"convert", convert, true}};
#define NVERBS (sizeof verbs / sizeof verbs[0])

static size_t find_verb(const char *word)
{
    size_t v = 0;

    while (v < NVERBS && strcmp(verbs[v].name, word) != 0) v++;
    return v;
}

static bool parse_digits(const char *text, int *digits)
{
    if (text[0] < '0' || text[0] > '9' || text[1]) return false;
    *digits = text[0] - '0';
    return true;
}

/* Options anywhere; the first other word may be a verb, the others are files, moved to the front of files. */
static int parse(int argc, char **argv, request_t *request, size_t *verb, char **files, int *nfiles)
{
    bool options = true;

    for (int i = 1; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && strncmp(argv[i], "--digits=", 9) == 0) {
            if (!parse_digits(argv[i] + 9, &request->digits)) return wrong("digits are 0 to 9, not", argv[i] + 9);
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            return wrong("unknown option", argv[i]);
        } else if (*verb == NVERBS && *nfiles == 0 && find_verb(argv[i]) < NVERBS) {
            *verb = find_verb(argv[i]);
        } else {
            files[(*nfiles)++] = argv[i];
        }
    }
    if (*verb == NVERBS) *verb = 0;
    if (*nfiles == 0) return wrong("no file named", NULL);
    if (*nfiles > 1 && !verbs[*verb].many) return wrong("more than one file, or an unknown verb", files[0]);
    return EXIT_GOOD;
}

int main(int argc, char **argv)
{
    request_t request = {.digits = OMPP_REPORT_DIGITS};
    size_t verb = NVERBS;
    int nfiles = 0, worst = EXIT_GOOD, rc;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0) return fputs(usage, stdout) < 0 ? EXIT_BAD : EXIT_GOOD;
        if (strcmp(argv[i], "--version") == 0) return printf("ompp-report %s\n", PACKAGE_VERSION) < 0 ? EXIT_BAD : EXIT_GOOD;
    }
    rc = parse(argc, argv, &request, &verb, argv, &nfiles);
    if (rc) return rc;
    for (int i = 0; i < nfiles; i++) {
        request.file = argv[i];
        rc = verbs[verb].run(&request);
        if (rc > worst) worst = rc;
    }
    return worst;
}
