/**
 * \file
 * ompp-report: reads the profiles and reports that runs leave behind and shows, checks or converts them. This file: its
 * command line.
 */
#include "tools/report/ompp-report.h"

#include "base/ompp_nearest.h"
#include "config.h"
#include "report/ompp_report.h"
#include "tools/report/ompp-report-show.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong(const char *what, const char *word)
{
    fprintf(stderr, "ompp-report: %s%s%s; try ompp-report --help\n", what, word ? ": " : "",
            word ? ompp_report_shown(word) : "");
    return EXIT_USAGE;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

/* Options of a command, beside --help and --version: bits, by their rows. */
enum {
    DIGITS,
    TO,
    REMOVE,
    RUNNING,
    LIST,
    ALL,
    EXPIRE,
    FULL,
    BY,
    SORT,
    TOP,
    REGION,
    RANK,
    MIN,
    COLOR,
    JSON,
    METRIC,
    OUTPUT,
    NOPTIONS
};
#define TAKES(option) (1u << (option))
#define TAKES_VIEW (TAKES(SORT) | TAKES(TOP) | TAKES(REGION) | TAKES(RANK) | TAKES(MIN))

static const char *const views[OMPP_BY_NUM] = {
    [OMPP_BY_FLAT] = "flat", [OMPP_BY_CALLER] = "caller", [OMPP_BY_CALLEE] = "callee", [OMPP_BY_HOT] = "hot"};
static const char *const sorts[OMPP_SORT_NUM] = {[OMPP_SORT_TIME] = "time",
                                                 [OMPP_SORT_OWN] = "own",
                                                 [OMPP_SORT_CALLS] = "calls",
                                                 [OMPP_SORT_PLACE] = "place",
                                                 [OMPP_SORT_FILE] = "file"};

static const struct {
    const char *name;
    int (*run)(const request_t *request);                          /* each file by itself */
    int (*run_all)(const request_t *request, char **files, int n); /* all together */
    int least, most;                                               /* files */
    unsigned options;
    const char *arguments, *brief, *help;
} verbs[] = {
    {"show", ompp_report_show, NULL, 1, 1,
     TAKES(DIGITS) | TAKES(FULL) | TAKES(BY) | TAKES(METRIC) | TAKES_VIEW | TAKES(COLOR) | TAKES(JSON),
     "[OPTION...] FILE", "print it as text",
     "Prints a report as text, in ompP's format. FILE is the XML that a run leaves (FILE.ompp.xml), or a text or CSV "
     "report of\n"
     "ompP (0.6 to 0.8.99) or of ompp. A text report comes out as it was. What CSV does not hold is left out, and "
     "said.\n"
     "On a terminal a report of XML is sorted by time, and what takes less than 0.1 % of the run is folded. In a pipe, "
     "and "
     "with --full,\n"
     "it is as in the file of the run.\n"},
    {"summary", ompp_report_show_summary, NULL, 1, INT_MAX, 0, "FILE...", "print where the time went, in 15 lines",
     "Prints the section ompp Summary: what the run prints on stderr at its end. FILE is the XML that a run leaves.\n"},
    {"csv", ompp_report_show_csv, NULL, 1, 1, TAKES(FULL), "[--full] FILE", "print it as CSV",
     "Prints a report as CSV, in ompP's format. FILE as for show. A CSV report comes out as it was. What CSV cannot "
     "hold is left\n"
     "out, and said; times of a text report have no more digits than it.\n"},
    {"html", ompp_report_show_page, NULL, 1, INT_MAX, TAKES(OUTPUT), "FILE... [-o OUT]", "write a page for browsers",
     "Writes a page that shows a run in a browser: one file, which asks nothing of the network and can be mailed. FILE "
     "is the XML that a\n"
     "run leaves. The page goes beside it, FILE.ompp.html. Source files that can be read are in it, unless OMPP_REDACT "
     "is set.\n"},
    {"annotate", NULL, ompp_report_show_source, 1, 2, TAKES(FULL), "[--full] FILE [SOURCE]",
     "show source text with its times",
     "Prints a source file with what was measured beside its lines: processor time by samples (own sec), and the time "
     "of "
     "regions and\n"
     "calls that begin there, of all threads together (reg. sec). FILE is the XML that a run leaves. Without SOURCE it "
     "prints in which\n"
     "files there was something.\n"},
    {"coz", ompp_report_show_coz, NULL, 1, 1, 0, "FILE", "print the what-if results for Coz's viewer",
     "Prints what causal profiling has found (OMPP_CAUSAL) as a profile of Coz, which Coz's viewer opens. FILE is the "
     "XML that the run\n"
     "left; the run has written the same beside it, as FILE.ompp.coz. Coz's phase correction is in it already.\n"},
    {"check", NULL, ompp_report_check, 1, INT_MAX, TAKES(COLOR) | TAKES(JSON), "FILE...", "say whether it is in order",
     "Says of each file whether it is in order. Of XML: that it is whole, every reference leads somewhere, and\n"
     "no time is longer than what contains it. Of text and CSV: that sums, percentages, callgraph and overheads follow "
     "from the\n"
     "other numbers of the report.\n"},
    {"convert", ompp_report_convert, NULL, 1, INT_MAX, TAKES(DIGITS), "[--digits=N] FILE...",
     "write text and XML of what a run left",
     "Writes text and XML of what a run left that could not write its report: FILE.ompp.bin, beside it; "
     "/dev/shm/ompp-* of a\n"
     "process that died, in the working directory.\n"},
    {"merge", NULL, ompp_report_merge, 0, INT_MAX,
     TAKES(DIGITS) | TAKES(TO) | TAKES(REMOVE) | TAKES(RUNNING) | TAKES(LIST) | TAKES(ALL), "[OPTION...] [DIR|FILE]...",
     "one report of all ranks of a run that died",
     "Joins what the ranks of a run have left behind that did not end well, and writes text and XML of it, marked "
     "incomplete. DIR is\n"
     "OMPP_JOB_DIR, or where ompp-report collect has put things; FILE is what one rank has left, and stands for its "
     "run; each run\n"
     "makes a report. None of them: the newest run alone that this user has left on this node, in OMPP_JOB_DIR or, "
     "when that is not\n"
     "set, where a run puts things then.\n"},
    {"collect", NULL, ompp_report_collect, 0, INT_MAX,
     TAKES(TO) | TAKES(REMOVE) | TAKES(RUNNING) | TAKES(ALL) | TAKES(EXPIRE), "[OPTION...] [DIR|FILE]...",
     "copy what ranks of this node have left",
     "Copies what the processes of this node have left behind, in compact form, to where the other nodes see it; "
     "ompp-report merge\n"
     "joins it there. DIR and FILE as for merge; none of them: the newest run alone. With --expire nothing is copied: "
     "leftovers in DIR,\n"
     "or where a run puts things, are removed.\n"},
};
#define NVERBS (sizeof verbs / sizeof verbs[0])

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* The index of a word in a list; -1 when it is not there. */
static int find_word(const char *word, const char *const *words, int n)
{
    while (n-- > 0 && strcmp(word, words[n]) != 0) {
    }
    return n;
}

static bool set_digits(const char *text, request_t *request)
{
    request->digits = text[0] - '0';
    return text[0] >= '0' && text[0] <= '9' && !text[1];
}

static bool set_to(const char *text, request_t *request)
{
    request->to = text;
    return *text;
}

static bool set_metric(const char *text, request_t *request)
{
    request->metric = text;
    if (request->by < 0) request->by = OMPP_BY_CALLEE;
    return *text;
}

static bool set_output(const char *text, request_t *request)
{
    request->output = text;
    return *text;
}

static bool set_expire(const char *text, request_t *request)
{
    request->expire = ompp_report_duration(text);
    return request->expire >= 0;
}

static bool set_by(const char *text, request_t *request)
{
    request->by = find_word(text, views, OMPP_BY_NUM);
    return request->by >= 0;
}

static bool set_sort(const char *text, request_t *request)
{
    const int sort = find_word(text, sorts, OMPP_SORT_NUM);

    if (sort >= 0) request->view.sort = (ompp_sort_t)sort;
    return sort >= 0;
}

/* \return false: no whole number, or not one from least on. */
static bool set_number(const char *text, unsigned least, uint32_t *number)
{
    unsigned long long value = 0;
    size_t n = 0;

    for (; text[n] >= '0' && text[n] <= '9' && n < 10; n++) value = 10 * value + (unsigned)(text[n] - '0');
    *number = (uint32_t)value;
    return n && !text[n] && value >= least && value < UINT32_MAX;
}

static bool set_top(const char *text, request_t *request) { return set_number(text, 1, &request->view.top); }

static bool set_rank(const char *text, request_t *request) { return set_number(text, 0, &request->view.rank); }

static bool set_region(const char *text, request_t *request)
{
    request->view.region = text;
    return *text;
}

/* "0.1" or "0.1%". */
static bool set_min(const char *text, request_t *request)
{
    char *end;

    request->view.min = strtod(text, &end);
    if (*end == '%') end++;
    return text[0] >= '0' && text[0] <= '9' && !*end && request->view.min >= 0 && request->view.min <= 100;
}

static bool set_color(const char *text, request_t *request)
{
    const int color = find_word(text, ompp_color_words, OMPP_COLOR_NUM);

    if (color >= 0) request->color = (ompp_color_t)color;
    return color >= 0;
}

/* Those without a value set a bool of the request. */
static const struct {
    const char *name, *value;
    bool (*set)(const char *text, request_t *request);
    size_t flag;
    const char *bad, *help;
} options[NOPTIONS] = {
    [BY] =
        {"--by", "VIEW", set_by, 0, "a view is flat, caller, callee or hot, not",
         "what samples say: flat (functions, lines), caller (who called each), callee (what each calls), hot (the path "
         "with most)"},
    [METRIC] = {"--metric", "NAME", set_metric, 0, "give --metric= a counter, a column or an expression",
                "these views of a counter, a column (EXECT) or an expression, instead of samples"},
    [SORT] = {"--sort", "KEY", set_sort, 0, "sort by time, own, calls, place or file, not",
              "order of regions: time, own (without what is below), calls, place, file (as in the file)"},
    [TOP] = {"--top", "N", set_top, 0, "--top= is a number of regions, 1 or more, not",
             "only the first N regions of that order, and what stands above them"},
    [REGION] = {"--region", "NAME", set_region, 0, "give --region= a number (R00012), or a part of a name or place",
                "only regions with that number (R00012), or with NAME in their type, place or name"},
    [RANK] = {"--rank", "N", set_rank, 0, "a rank is a number, not", "rows of that rank; the others are added up"},
    [MIN] = {"--min", "PERCENT", set_min, 0, "--min= is a percentage from 0 to 100, not",
             "only what takes PERCENT of the run or more (on a terminal: 0.1)"},
    [FULL] = {"--full", NULL, NULL, offsetof(request_t, full), NULL,
              "all of it: what a terminal does not show, what a very large report leaves out, all lines of a source"},
    [DIGITS] = {"--digits", "N", set_digits, 0, "digits are 0 to 9, not",
                "digits after the point of times, 0-9 (default 2, or those of the report)"},
    [COLOR] = {"--color", "WHEN", set_color, 0, "--color= is auto, always or never, not",
               "colors: auto (on a terminal), always, never"},
    [JSON] = {"--json", NULL, NULL, offsetof(request_t, json), NULL, "as JSON, for programs"},
    [OUTPUT] = {"-o", "OUT", set_output, 0, "give -o a file",
                "the file to write, - is standard output (default: beside FILE, FILE.ompp.html)"},
    [TO] = {"--to", "DIR", set_to, 0, "give --to= a directory", "where to write (default: the working directory)"},
    [REMOVE] = {"--remove", NULL, NULL, offsetof(request_t, remove), NULL,
                "remove what was read, when all was written"},
    [RUNNING] = {"--running", NULL, NULL, offsetof(request_t, running), NULL, "take in processes that still run"},
    [LIST] = {"--list", NULL, NULL, offsetof(request_t, list), NULL,
              "list the runs that have left something, and write nothing"},
    [ALL] = {"--all", NULL, NULL, offsetof(request_t, all), NULL,
             "all of them, where no file is named, not the newest alone"},
    [EXPIRE] =
        {"--expire", "TIME", set_expire, 0, "a time is 90s, 15m, 12h or 7d, not",
         "remove what processes have left that are gone, when TIME (90s, 15m, 12h, 7d) has passed since; root: of "
         "all users"},
};
/* As they stand in the help. */
static const unsigned shown[NOPTIONS] = {BY,    METRIC, SORT,   TOP, REGION, RANK,    MIN,  FULL, DIGITS,
                                         COLOR, JSON,   OUTPUT, TO,  REMOVE, RUNNING, LIST, ALL,  EXPIRE};

/* \param[in] who  of the help of all commands: which of them take it. */
static void help_option(unsigned option, bool who)
{
    char name[40];
    const char *between = "";

    snprintf(name, sizeof name, "%s%s%s", options[option].name,
             !options[option].value           ? ""
             : options[option].name[1] == '-' ? "="
                                              : " ",
             options[option].value ? options[option].value : "");
    printf("  %-14s ", name);
    for (size_t v = 0; who && v < NVERBS; v++) {
        if (!(verbs[v].options & TAKES(option))) continue;
        printf("%s%s", between, verbs[v].name);
        between = ", ";
    }
    printf("%s%s\n", who ? ": " : "", options[option].help);
}

static int help(void)
{
    printf("usage: ompp-report [COMMAND] [OPTION...] FILE...\n\nReads the reports of ompp and of ompP: XML, text and "
           "CSV.\n"
           "For show, csv, html, coz and check FILE may be a pipe; - is standard input.\n\n"
           "Commands:\n\n");
    for (size_t v = 0; v < NVERBS; v++)
        printf("  %-8s %-25s %s%s\n", verbs[v].name, verbs[v].arguments, verbs[v].brief, v ? "" : " (the default)");
    printf("\nOptions:\n\n");
    for (unsigned i = 0; i < NOPTIONS; i++) help_option(shown[i], true);
    printf("  --help         this text; after a command: about the command\n"
           "  --version      version\n"
           "\nExit status: 0 good, 1 a file cannot be read or is not in order, 2 wrong usage.\n");
    return ompp_report_finish();
}

static int help_of(size_t verb)
{
    printf("usage: ompp-report %s %s\n\n%s", verbs[verb].name, verbs[verb].arguments, verbs[verb].help);
    if (verbs[verb].options) printf("\n");
    for (unsigned i = 0; i < NOPTIONS; i++)
        if (verbs[verb].options & TAKES(shown[i])) help_option(shown[i], false);
    return ompp_report_finish();
}

static size_t find_verb(const char *word)
{
    size_t v = 0;

    while (v < NVERBS && strcmp(verbs[v].name, word) != 0) v++;
    return v;
}

/* ---- Command line ------------------------------------------------------------------------------------------------ */

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

/* An option at argv[*i]: into *request, and its bit into *used. \return exit status. */
static int parse_option(char **argv, int *i, request_t *request, unsigned *used)
{
    const char *word = argv[*i], *text;

    for (unsigned o = 0; o < NOPTIONS; o++) {
        if (options[o].set && (text = value_of(options[o].name, argv, i))) {
            *used |= TAKES(o);
            if (options[o].set(text, request)) return EXIT_OK;
            return wrong(options[o].bad, *text ? text : strstr(options[o].bad, ", not") ? "nothing" : NULL);
        }
        if (options[o].set || strcmp(word, options[o].name) != 0) continue;
        *used |= TAKES(o);
        *(bool *)((char *)request + options[o].flag) = true;
        return EXIT_OK;
    }
    return wrong("unknown option", word);
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
    const char *near = NULL;
    char text[64];

    for (unsigned o = 0; o < NOPTIONS; o++) {
        if (!(used & ~verbs[verb].options & TAKES(o))) continue;
        snprintf(text, sizeof text, "%s is not for", options[o].name);
        return wrong(text, verbs[verb].name);
    }
    if (used & TAKES(EXPIRE) && used & ~TAKES(EXPIRE)) return wrong("--expire stands alone", NULL);
    if (used & TAKES(BY) && used & (TAKES_VIEW | TAKES(JSON)))
        return wrong("--sort, --top, --region, --rank, --min and --json are not for --by", NULL);
    if (used & TAKES(JSON) && used & TAKES(RANK)) return wrong("--rank is not for --json, which has no rows", NULL);
    if (!named && nfiles > 0 && !is_file(files[0]) && (near = nearest_verb(files[0])))
        return wrong_verb(files[0], near);
    if (used & TAKES(OUTPUT) && nfiles > 1) return wrong("-o is for one FILE", NULL);
    if (nfiles < verbs[verb].least) return wrong("name a file", NULL);
    if (nfiles > verbs[verb].most) return wrong("name one file only, or the command is unknown", files[0]);
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
    request->viewed = used & TAKES_VIEW;
    request->folds = used & TAKES(MIN);
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
    request_t request = {.digits = -1, .by = -1, .expire = -1, .view = {.sort = OMPP_SORT_NUM, .rank = OMPP_NONE}};
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
