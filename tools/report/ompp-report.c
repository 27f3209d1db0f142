/**
 * \file
 * ompp-report: reads the profiles and reports that runs leave behind and shows, checks or converts them.
 */
#include "tools/report/ompp-report.h"
#include "report/ompp_report.h"

#include "analysis/ompp_analysis.h"
#include "base/ompp_error.h"
#include "base/ompp_nearest.h"
#include "base/ompp_regular.h"
#include "config.h"
#include "model/ompp_collect.h"
#include "model/ompp_pack.h"
#include "reader/ompp_document.h"
#include "report/ompp_annotate.h"
#include "tools/report/ompp-report-left.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a file holds: one of them. */
typedef struct {
    ompp_profile_t *profile;   /* our XML */
    ompp_document_t *document; /* a text or CSV report, whoever wrote it */
} input_t;

static int wrong(const char *what, const char *word)
{
    fprintf(stderr, "ompp-report: %s%s%s; try ompp-report --help\n", what, word ? ": " : "",
            word ? ompp_report_shown(word) : "");
    return EXIT_USAGE;
}

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

static bool load(const char *path, input_t *input)
{
    const char *name = shown_name(path);
    const int fd = open_input(path);
    char why[1024], kind;
    int rc;

    *input = (input_t){0};
    if (!sniff(fd, &kind)) {
        fprintf(stderr, "ompp-report: %s: %s; name a report that can be read\n", name, strerror(errno));
        rc = -OMPP_E_IO;
    } else if (kind == 'X') {
        rc = ompp_report_xml_read_fd(fd, name, &input->profile, why, sizeof why);
        if (rc) fprintf(stderr, "ompp-report: %s; %s\n", ompp_report_shown(why), remedy(rc));
    } else if (!kind && is_left(fd)) {
        fprintf(stderr, "ompp-report: use convert: %s is what a run left that could not write its report\n", name);
        rc = -OMPP_E_FORMAT;
    } else {
        lseek(fd, 0, SEEK_SET);
        rc = ompp_document_read_fd(fd, name, &input->document, why, sizeof why);
        if (rc) ompp_report_complain(why);
    }
    if (fd >= 0) close(fd);
    return rc == 0;
}

static void unload(input_t *input)
{
    ompp_profile_free(input->profile);
    ompp_document_free(input->document);
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static bool is_numbered(const ompp_profile_t *profile)
{
    for (size_t r = 0; r < profile->nregions; r++)
        if (profile->regions[r].number == OMPP_NONE) return false;
    return true;
}

static int print_profile(const ompp_profile_t *profile, int digits, bool full, bool csv)
{
    if (csv) return ompp_report_csv(profile, full, stdout);
    return ompp_report_text(profile, digits < 0 ? OMPP_REPORT_DIGITS : digits, full, stdout);
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

    if (!load(request->file, &input)) return EXIT_BAD;
    if (input.profile && !is_numbered(input.profile)) rc = ompp_analysis_number(input.profile);
    if (rc == 0)
        rc = input.profile ? print_profile(input.profile, request->digits, request->full, csv)
                           : print_document(request, input.document, csv);
    unload(&input);
    return rc ? ompp_report_complain(ompp_error_message(rc)) : ompp_report_finish();
}

static int show_samples(const request_t *request)
{
    char error[400] = "";
    input_t input;

    if (!load(request->file, &input)) return EXIT_BAD;
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

static int show(const request_t *request) { return request->by >= 0 ? show_samples(request) : print(request, false); }

static int csv(const request_t *request) { return print(request, true); }

/* ---- Source ------------------------------------------------------------------------------------------------------ */

/* The XML, and a source file; without it, which files there are. */
static int annotate(const request_t *request, char **files, int n)
{
    const int fd = n > 1 ? ompp_regular_open(files[1]) : -1;
    FILE *source = fd >= 0 ? fdopen(fd, "r") : NULL;
    input_t input;

    if (n > 1 && !source) {
        fprintf(stderr, "ompp-report: %s: %s; name a source file that can be read\n", ompp_report_shown(files[1]),
                strerror(errno));
        return EXIT_BAD;
    }
    int rc = load(files[0], &input) ? 0 : -OMPP_E_IO;
    if (rc == 0 && !input.profile) {
        fprintf(stderr, "ompp-report: name the XML of the run: %s has no lines\n", shown_name(files[0]));
        rc = -OMPP_E_FORMAT;
    } else if (rc == 0) {
        rc = source ? ompp_report_annotate(input.profile, files[1], request->full, source, stdout)
                    : ompp_report_files(input.profile, stdout);
        if (rc == -OMPP_E_NOTFOUND)
            fprintf(stderr, "ompp-report: nothing was measured in %s; leave it out to see in which files there was\n",
                    ompp_report_shown(files[1]));
        else if (rc) ompp_report_complain(ompp_error_message(rc));
    }
    unload(&input);
    if (source) fclose(source);
    return rc ? EXIT_BAD : ompp_report_finish();
}

/* A text or CSV report has no blocks of observations. */
static int coz(const request_t *request)
{
    input_t input;
    int rc = 0;

    if (!load(request->file, &input)) return EXIT_BAD;
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

/* ---- Checking ---------------------------------------------------------------------------------------------------- */

static int check_document(const char *path, const ompp_document_t *document)
{
    size_t nchecked, nbad = ompp_document_check(document, path, stderr, &nchecked);

    if (nbad) printf("%s: not in order: %zu objections, %zu values checked\n", path, nbad, nchecked);
    else
        printf("%s: in order: %zu regions, %zu call paths; %zu values checked\n", path, document->nflat,
               document->npaths, nchecked);
    return nbad ? EXIT_BAD : ompp_report_finish();
}

/* That it is whole was found when it was read. */
static int check_profile(const char *path, const ompp_profile_t *profile)
{
    size_t nbad = ompp_analysis_check(profile, path, stderr);

    if (nbad) printf("%s: not in order: %zu objections\n", path, nbad);
    else
        printf("%s: in order: %zu regions, %zu call paths, %zu threads of %zu ranks\n", path, profile->nregions,
               profile->nnodes - 1, profile->nlocations, profile->nranks_kept);
    return nbad ? EXIT_BAD : ompp_report_finish();
}

static int check(const request_t *request)
{
    input_t input;
    int rc;

    if (!load(request->file, &input)) return EXIT_BAD;
    const char *name = shown_name(request->file);
    rc = input.profile ? check_profile(name, input.profile) : check_document(name, input.document);
    unload(&input);
    return rc;
}

/* ---- Converting -------------------------------------------------------------------------------------------------- */

/* The report of one rank of several is named after the rank. */
static int only_rank(const ompp_profile_t *profile)
{
    bool one = profile->mpi && profile->nranks > 1 && profile->nranks_kept == 1 && !profile->nrest;

    return one ? (int)profile->ranks[0].rank : -1;
}

static int convert(const request_t *request)
{
    ompp_profile_t *profile = NULL;
    const char *slash = strrchr(request->file, '/');
    int rc = ompp_collect_file(request->file, &profile, NULL);
    bool died = rc == 0;
    if (rc == -OMPP_E_FORMAT) rc = ompp_pack_read_file(request->file, &profile);
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

/* ---- Command line ------------------------------------------------------------------------------------------------ */

/* Options of a command, beside --help and --version. */
enum {
    TAKES_DIGITS = 1,
    TAKES_TO = 2,
    TAKES_REMOVE = 4,
    TAKES_RUNNING = 8,
    TAKES_LIST = 16,
    TAKES_ALL = 32,
    TAKES_EXPIRE = 64,
    TAKES_FULL = 128,
    TAKES_BY = 256
};

static const char *const views[OMPP_BY_NUM] = {
    [OMPP_BY_FLAT] = "flat", [OMPP_BY_CALLER] = "caller", [OMPP_BY_CALLEE] = "callee"};

static const struct {
    const char *name;
    int (*run)(const request_t *request);                          /* each file by itself */
    int (*run_all)(const request_t *request, char **files, int n); /* all together */
    int least, most;                                               /* files */
    unsigned options;
    const char *arguments, *brief, *help;
} verbs[] = {
    {"show", show, NULL, 1, 1, TAKES_DIGITS | TAKES_FULL | TAKES_BY, "[--by=VIEW] [--metric=NAME] [--digits=N] FILE",
     "print it as text",
     "Prints a report as text, in ompP's format. FILE is the XML that a run leaves (FILE.ompp.xml), or a text or CSV "
     "report of\n"
     "ompP (0.6 to 0.8.99) or of ompp. A text report comes out as it was. What CSV does not hold is left out, and "
     "said.\n"},
    {"csv", csv, NULL, 1, 1, TAKES_FULL, "[--full] FILE", "print it as CSV",
     "Prints a report as CSV, in ompP's format. FILE as for show. A CSV report comes out as it was. What CSV cannot "
     "hold is left\n"
     "out, and said; times of a text report have no more digits than it.\n"},
    {"annotate", NULL, annotate, 1, 2, TAKES_FULL, "[--full] FILE [SOURCE]", "show source text with its times",
     "Prints a source file with what was measured beside its lines: processor time by samples (own sec), and the time "
     "of "
     "regions and\n"
     "calls that begin there, of all threads together (reg. sec). FILE is the XML that a run leaves. Without SOURCE it "
     "prints in which\n"
     "files there was something.\n"},
    {"coz", coz, NULL, 1, 1, 0, "FILE", "print the what-if results for Coz's viewer",
     "Prints what causal profiling has found (OMPP_CAUSAL) as a profile of Coz, which Coz's viewer opens. FILE is the "
     "XML that the run\n"
     "left; the run has written the same beside it, as FILE.ompp.coz. Coz's phase correction is in it already.\n"},
    {"check", check, NULL, 1, INT_MAX, 0, "FILE...", "say whether it is in order",
     "Says of each file whether it is in order. Of XML: that it is whole, every reference leads somewhere, and\n"
     "no time is longer than what contains it. Of text and CSV: that sums, percentages, callgraph and overheads follow "
     "from the\n"
     "other numbers of the report.\n"},
    {"convert", convert, NULL, 1, INT_MAX, TAKES_DIGITS, "[--digits=N] FILE...",
     "write text and XML of what a run left",
     "Writes text and XML of what a run left that could not write its report: FILE.ompp.bin, beside it; "
     "/dev/shm/ompp-* of a\n"
     "process that died, in the working directory.\n"},
    {"merge", NULL, ompp_report_merge, 0, INT_MAX,
     TAKES_DIGITS | TAKES_TO | TAKES_REMOVE | TAKES_RUNNING | TAKES_LIST | TAKES_ALL, "[OPTION...] [DIR|FILE]...",
     "one report of all ranks of a run that died",
     "Joins what the ranks of a run have left behind that did not end well, and writes text and XML of it, marked "
     "incomplete. DIR is\n"
     "OMPP_JOB_DIR, or where ompp-report collect has put things; FILE is what one rank has left, and stands for its "
     "run; each run\n"
     "makes a report. None of them: the newest run alone that this user has left on this node, in OMPP_JOB_DIR or, "
     "when that is not\n"
     "set, where a run puts things then.\n"},
    {"collect", NULL, ompp_report_collect, 0, INT_MAX,
     TAKES_TO | TAKES_REMOVE | TAKES_RUNNING | TAKES_ALL | TAKES_EXPIRE, "[OPTION...] [DIR|FILE]...",
     "copy what ranks of this node have left",
     "Copies what the processes of this node have left behind, in compact form, to where the other nodes see it; "
     "ompp-report merge\n"
     "joins it there. DIR and FILE as for merge; none of them: the newest run alone. With --expire nothing is copied: "
     "leftovers in DIR,\n"
     "or where a run puts things, are removed.\n"},
};
#define NVERBS (sizeof verbs / sizeof verbs[0])

static int help(void)
{
    printf("usage: ompp-report [COMMAND] [OPTION...] FILE...\n\nReads the reports of ompp and of ompP: XML, text and "
           "CSV.\n"
           "For show, csv, coz and check FILE may be a pipe; - is standard input.\n\n"
           "Commands:\n\n");
    for (size_t v = 0; v < NVERBS; v++)
        printf("  %-8s %-25s %s%s\n", verbs[v].name, verbs[v].arguments, verbs[v].brief, v ? "" : " (the default)");
    printf(
        "\nOptions:\n\n"
        "  --by=VIEW   show: what samples say: flat (functions, lines), caller (who called each), callee (what each "
        "calls)\n"
        "  --metric=NAME  show: these views of a counter, a column or an expression\n"
        "  --full      show, csv: also what the report of a run leaves out when it is very large; annotate: all lines\n"
        "  --digits=N  digits after the point of times, 0-9 (default 2, or those of the report)\n"
        "  --to=DIR    merge, collect: where to write (default: the working directory)\n"
        "  --remove    merge, collect: remove what was read, when all was written\n"
        "  --running   merge, collect: take in processes that still run\n"
        "  --list      merge: list the runs that have left something, and write nothing\n"
        "  --all       merge, collect: all of them, where no file is named, not the newest alone\n"
        "  --expire=TIME  collect: remove what processes have left that are gone, when TIME (90s, 15m, 12h, 7d) has "
        "passed since\n"
        "  --help      this text; after a command: about the command\n"
        "  --version   version\n"
        "\nExit status: 0 good, 1 a file cannot be read or is not in order, 2 wrong usage.\n");
    return ompp_report_finish();
}

static int help_of(size_t verb)
{
    printf("usage: ompp-report %s %s\n\n%s", verbs[verb].name, verbs[verb].arguments, verbs[verb].help);
    if (verbs[verb].options) printf("\n");
    if (verbs[verb].options & TAKES_BY)
        printf("  --by=VIEW   what samples say: flat (functions and lines), caller (who called each function), callee "
               "(what "
               "it calls)\n"
               "  --metric=NAME  a counter, a column (EXECT) or an expression, instead of samples\n");
    if (verbs[verb].options & TAKES_FULL)
        printf("  --full      also what the report of a run leaves out when it is very large\n");
    if (verbs[verb].options & TAKES_DIGITS) printf("  --digits=N  digits after the point of times, 0-9\n");
    if (verbs[verb].options & TAKES_TO) printf("  --to=DIR    where to write (default: the working directory)\n");
    if (verbs[verb].options & TAKES_REMOVE) printf("  --remove    remove what was read, when all was written\n");
    if (verbs[verb].options & TAKES_RUNNING) printf("  --running   take in processes that still run\n");
    if (verbs[verb].options & TAKES_LIST)
        printf("  --list      list the runs that have left something, and write nothing\n");
    if (verbs[verb].options & TAKES_ALL)
        printf("  --all       all of them, where no file is named, not the newest alone\n");
    if (verbs[verb].options & TAKES_EXPIRE)
        printf(
            "  --expire=TIME  remove what processes have left that are gone, when TIME (90s, 15m, 12h, 7d) has passed "
            "since;\n"
            "              root: of all users\n");
    return ompp_report_finish();
}

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

/* What --NAME=VALUE or --NAME VALUE at argv[*i] says, "" for nothing; NULL where another word stands. *i comes to its
 * last word. */
static const char *value_of(const char *name, char **argv, int *i)
{
    size_t n = strlen(name);

    if (strncmp(argv[*i], name, n) != 0) return NULL;
    if (argv[*i][n] == '=') return argv[*i] + n + 1;
    if (argv[*i][n]) return NULL;
    return argv[*i + 1] ? argv[++*i] : "";
}

/* An option without a value. \return exit status. */
static int parse_switch(const char *word, request_t *request, unsigned *used)
{
    static const struct {
        const char *name;
        unsigned bit;
        size_t offset; /* of a bool in request_t */
    } switches[] = {
        {"--full", TAKES_FULL, offsetof(request_t, full)},
        {"--remove", TAKES_REMOVE, offsetof(request_t, remove)},
        {"--running", TAKES_RUNNING, offsetof(request_t, running)},
        {"--list", TAKES_LIST, offsetof(request_t, list)},
        {"--all", TAKES_ALL, offsetof(request_t, all)},
    };

    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (strcmp(word, switches[i].name) != 0) continue;
        *used |= switches[i].bit;
        *(bool *)((char *)request + switches[i].offset) = true;
        return EXIT_OK;
    }
    return wrong("unknown option", word);
}

/* An option at argv[*i]: into *request, and its bit into *used. \return exit status. */
static int parse_option(char **argv, int *i, request_t *request, unsigned *used)
{
    const char *word = argv[*i], *text;

    if ((text = value_of("--digits", argv, i))) {
        *used |= TAKES_DIGITS;
        if (!parse_digits(text, &request->digits)) return wrong("digits are 0 to 9, not", text);
    } else if ((text = value_of("--to", argv, i))) {
        *used |= TAKES_TO;
        if (!*text) return wrong("give --to= a directory", NULL);
        request->to = text;
    } else if ((text = value_of("--expire", argv, i))) {
        *used |= TAKES_EXPIRE;
        request->expire = ompp_report_duration(text);
        if (request->expire < 0) return wrong("a time is 90s, 15m, 12h or 7d, not", text);
    } else if ((text = value_of("--by", argv, i))) {
        *used |= TAKES_BY;
        for (request->by = OMPP_BY_NUM - 1; request->by >= 0 && strcmp(text, views[request->by]) != 0;) request->by--;
        if (request->by < 0) return wrong("a view is flat, caller or callee, not", text);
    } else if ((text = value_of("--metric", argv, i))) {
        *used |= TAKES_BY;
        if (!*text) return wrong("give --metric= a counter, a column or an expression", NULL);
        request->metric = text;
        if (request->by < 0) request->by = OMPP_BY_CALLEE;
    } else {
        return parse_switch(word, request, used);
    }
    return EXIT_OK;
}

static bool is_file(const char *path) { return strcmp(path, "-") == 0 || access(path, F_OK) == 0; }

static const char *nearest_verb(const char *word)
{
    ompp_nearest_t nearest;

    ompp_nearest_begin(&nearest, word);
    for (size_t v = 0; v < NVERBS; v++) ompp_nearest_offer(&nearest, verbs[v].name, verbs[v].name);
    return nearest.n ? nearest.best[0].item : NULL;
}

static int wrong_verb(const char *word, const char *near)
{
    fprintf(stderr, "ompp-report: did you mean %s? %s is neither a command nor a file; try ompp-report --help\n", near,
            ompp_report_shown(word));
    return EXIT_USAGE;
}

/* Are options and number of files those of the command? */
static int check_usage(size_t verb, bool named, unsigned used, char **files, int nfiles)
{
    static const char *const names[] = {"--digits is not for",  "--to is not for",   "--remove is not for",
                                        "--running is not for", "--list is not for", "--all is not for",
                                        "--expire is not for",  "--full is not for", "--by is not for"};
    const char *near = NULL;

    for (unsigned bit = 0; bit < sizeof names / sizeof names[0]; bit++)
        if (used & ~verbs[verb].options & 1u << bit) return wrong(names[bit], verbs[verb].name);
    if (used & TAKES_EXPIRE && used & ~(unsigned)TAKES_EXPIRE) return wrong("--expire stands alone", NULL);
    if (!named && nfiles > 0 && !is_file(files[0]) && (near = nearest_verb(files[0])))
        return wrong_verb(files[0], near);
    if (nfiles < verbs[verb].least) return wrong("name a file", NULL);
    if (nfiles > verbs[verb].most) return wrong("name one file: there are more, or this is no command", files[0]);
    return EXIT_OK;
}

/* Options anywhere; the first other word may be a verb, the others are files, moved to the front of files. */
static int parse(int argc, char **argv, request_t *request, size_t *verb, char **files, int *nfiles)
{
    bool options = true;
    unsigned used = 0;

    for (int i = 1; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            int rc = parse_option(argv, &i, request, &used);
            if (rc) return rc;
        } else if (*verb == NVERBS && *nfiles == 0 && find_verb(argv[i]) < NVERBS) {
            *verb = find_verb(argv[i]);
        } else {
            files[(*nfiles)++] = argv[i];
        }
    }
    const bool named = *verb < NVERBS;
    if (!named) *verb = 0;
    return check_usage(*verb, named, used, files, *nfiles);
}

/* "help", and "help COMMAND", where it is no file. */
static bool answer_word(char **argv, int *rc)
{
    if (!argv[1] || strcmp(argv[1], "help") != 0 || is_file(argv[1])) return false;
    size_t verb = argv[2] ? find_verb(argv[2]) : NVERBS;
    *rc = verb < NVERBS ? help_of(verb) : help();
    return true;
}

/* --help and --version count wherever they stand before "--". */
static bool answer(int argc, char **argv, int *rc)
{
    size_t verb = NVERBS;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (verb == NVERBS && argv[i][0] != '-') verb = find_verb(argv[i]);
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            *rc = verb < NVERBS ? help_of(verb) : help();
            return true;
        }
        if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-v") == 0) {
            printf("ompp-report %s\n", PACKAGE_VERSION);
            *rc = ompp_report_finish();
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    request_t request = {.digits = -1, .by = -1, .expire = -1};
    size_t verb = NVERBS;
    int nfiles = 0, worst = EXIT_OK, rc;

    if (answer_word(argv, &rc) || answer(argc, argv, &rc)) return rc;
    rc = parse(argc, argv, &request, &verb, argv, &nfiles);
    if (rc) return rc;
    if (verbs[verb].run_all) return verbs[verb].run_all(&request, argv, nfiles);
    for (int i = 0; i < nfiles; i++) {
        request.file = argv[i];
        rc = verbs[verb].run(&request);
        if (rc > worst) worst = rc;
    }
    return worst;
}
