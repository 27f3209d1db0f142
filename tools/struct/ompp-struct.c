/**
 * \file
 * ompp-struct: prints the procedures of a program or library, with their loops and the calls that were inlined there.
 */
#include "base/ompp_clock.h"
#include "base/ompp_error.h"
#include "base/ompp_utf8.h"
#include "config.h"
#include "structure/ompp_saved.h"
#include "structure/ompp_scope.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { EXIT_OK = 0, EXIT_BAD = 1, EXIT_USAGE = 2 };

#define PROGRESS_SECONDS 2.0 /* between two words about it */
#define SLOW_SECONDS 0.01    /* of a procedure that is worth a word */

typedef struct {
    const char *file, *function; /* function: NULL = all */
    const char *address;         /* NULL = not asked for */
    double seconds;
    bool loops, summary, afresh; /* afresh: what was kept of the file is neither used nor written */
} request_t;

typedef struct {
    uint64_t procedures, loops, copies, inlined, irreducible, made, bytes;
    uint64_t limit, format, unsupported; /* procedures without loops, by reason */
    uint64_t jumps;                      /* of unknown targets */
    size_t not_reached;
    double slowest; /* seconds that one procedure took */
    char slowest_name[200];
} counts_t;

/* Names of the command line and of files, which others may have made. \return valid until the next call. */
static const char *shown(const char *name)
{
    static char *text;

    free(text);
    text = strdup(name);
    return text ? ompp_utf8_make_printable(text) : "?";
}

/* ---- One procedure ----------------------------------------------------------------------------------------------- */

static void print_place(const char *file, uint32_t line, uint32_t line_end)
{
    if (!file || !line) return;
    printf("  %s:%" PRIu32, shown(file), line);
    if (line_end > line) printf("-%" PRIu32, line_end);
}

static void print_scope(const ompp_scope_t *scope, unsigned depth)
{
    printf("%*s", (int)(2 * depth), "");
    if (scope->kind == OMPP_SCOPE_LOOP) printf("loop");
    else
        printf("%s%s", scope->kind == OMPP_SCOPE_INLINED ? "inlined " : "",
               scope->function ? shown(scope->function) : "?");
    print_place(scope->file, scope->line, scope->line_end);
    if (!scope->line && scope->low != UINT64_MAX) printf("  0x%" PRIx64, scope->low);
    printf("  %" PRIu64 " bytes", scope->bytes);
    if (scope->copies > 1) printf(", %" PRIu32 " copies", scope->copies);
    if (scope->irreducible) printf(", irreducible");
    if (scope->made) printf(scope->line ? ", by the compiler or an array expression" : ", by the compiler");
    printf("\n");
}

/* Does a loop lie in it? marks: of each scope. */
static void mark_loops(const ompp_procedure_t *p, bool *marks)
{
    for (size_t i = p->nscopes; i-- > 1;) {
        marks[i] = marks[i] || p->scopes[i].kind == OMPP_SCOPE_LOOP;
        if (marks[i]) marks[p->scopes[i].outer - p->scopes] = true;
    }
}

/* Scopes inside each, in the order of their first instructions. */
static void link_scopes(const ompp_procedure_t *p, size_t *inside, size_t *next)
{
    for (size_t i = p->nscopes; i-- > 1;) {
        size_t *at = &inside[p->scopes[i].outer - p->scopes];
        while (*at && p->scopes[*at].low < p->scopes[i].low) at = &next[*at];
        next[i] = *at;
        *at = i;
    }
}

static bool print_procedure(const ompp_procedure_t *p, bool loops_only)
{
    size_t *inside = calloc(p->nscopes, sizeof *inside), *next = calloc(p->nscopes, sizeof *next);
    bool *marks = calloc(p->nscopes, sizeof *marks);
    unsigned depth = 0;

    if (inside && next && marks) {
        mark_loops(p, marks);
        link_scopes(p, inside, next);
        for (size_t i = 0;;) {
            const bool shown = !loops_only || i == 0 || marks[i];
            if (shown) print_scope(&p->scopes[i], depth);
            if (shown && inside[i]) {
                i = inside[i];
                depth++;
                continue;
            }
            while (i && !next[i]) {
                i = (size_t)(p->scopes[i].outer - p->scopes);
                depth--;
            }
            if (!i) break;
            i = next[i];
        }
    }
    free(inside);
    free(next);
    free(marks);
    return inside && next && marks;
}

static void count_procedure(const ompp_procedure_t *p, counts_t *counts)
{
    counts->procedures++;
    counts->jumps += p->unknown_jumps;
    counts->limit += p->loops_rc == -OMPP_E_LIMIT;
    counts->format += p->loops_rc == -OMPP_E_FORMAT;
    counts->unsupported += p->loops_rc == -OMPP_E_UNSUPPORTED;
    for (size_t i = 0; i < p->nparts; i++) counts->bytes += p->parts[i].high - p->parts[i].low;
    for (size_t i = 0; i < p->nscopes; i++) {
        const ompp_scope_t *scope = &p->scopes[i];
        counts->inlined += scope->kind == OMPP_SCOPE_INLINED;
        counts->loops += scope->kind == OMPP_SCOPE_LOOP;
        counts->copies += scope->copies;
        counts->irreducible += scope->irreducible;
        counts->made += scope->made;
    }
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static int wrong(const char *what, const char *word)
{
    fprintf(stderr, "ompp-struct: %s%s%s; try ompp-struct --help\n", what, word ? ": " : "", word ? shown(word) : "");
    return EXIT_USAGE;
}

static int complain(const char *file, int rc)
{
    const char *what = rc == -OMPP_E_OPEN    ? "cannot be opened; check its name and who may read it"
                       : rc == -OMPP_E_NOMEM ? "needs more memory than there is; ask for one --function"
                                             : "is no program or library of this machine, or is damaged";

    fprintf(stderr, "ompp-struct: %s %s\n", shown(file), what);
    return EXIT_BAD;
}

static bool is_wanted(const ompp_procedure_t *p, const request_t *request)
{
    return !request->function || (p->scopes[0].function && strcmp(p->scopes[0].function, request->function) == 0);
}

/* Of what -gsplit-dwarf has put into other files. \return whether all that was asked for is there. */
static bool print_missing(const ompp_structure_t *structure)
{
    const char *first;
    const size_t n = ompp_structure_missing(structure, &first);

    if (n) printf("not found: debug information of %zu units, as %s\n", n, shown(first));
    return n == 0;
}

static void print_summary(const counts_t *c, double seconds, bool kept)
{
    printf("%" PRIu64 " procedures of %.1f MB, %" PRIu64 " loops (%" PRIu64 " copies in the code, %" PRIu64
           " irreducible, %" PRIu64 " by the compiler), %" PRIu64 " inlined calls, in %.2f s%s\n",
           c->procedures, (double)c->bytes / 1e6, c->loops, c->copies, c->irreducible, c->made, c->inlined, seconds,
           kept ? ", as kept from an earlier time" : "");
    if (c->slowest >= SLOW_SECONDS) printf("slowest procedure: %s, %.2f s\n", shown(c->slowest_name), c->slowest);
    if (c->jumps) printf("not known: where %" PRIu64 " jumps by registers lead; most are calls\n", c->jumps);
    if (c->limit) printf("not reached: loops of %" PRIu64 " procedures that are too large\n", c->limit);
    if (c->format) printf("not reached: loops of %" PRIu64 " procedures whose code is not in the file\n", c->format);
    if (c->unsupported) printf("not reached: all loops, as this ompp was built without Zydis (libzydis-dev)\n");
    if (c->not_reached) printf("not reached: %zu addresses of procedures; raise --seconds\n", c->not_reached);
}

/* Several addresses may be of one procedure: the first one in the part with its entry counts. A cold part may lie
 * before that, and, without debug information, is asked for as a procedure of its own. */
static bool is_first(const ompp_procedure_t *p, uint64_t address, const uint64_t *addresses, size_t n)
{
    size_t first = 0, last = n;

    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        if (addresses[middle] < p->parts[0].low) first = middle + 1;
        else last = middle;
    }
    return first < n && addresses[first] == address;
}

/* The procedure of the i-th address, as it was kept or by analysis. */
static int find_procedure(ompp_structure_t *structure, const ompp_saved_t *all, size_t i, double deadline,
                          counts_t *counts, const ompp_procedure_t **procedure)
{
    *procedure = all->procedures[i];
    if (all->kept) return *procedure ? 0 : -OMPP_E_NOTFOUND;
    const double begin = ompp_clock_seconds();
    const int rc = ompp_scope_procedure(structure, all->addresses[i], deadline, procedure);
    const double seconds = ompp_clock_seconds() - begin;
    all->procedures[i] = rc == 0 ? *procedure : NULL;
    if (rc == 0 && seconds > counts->slowest) {
        const char *name = (*procedure)->scopes[0].function;
        counts->slowest = seconds;
        snprintf(counts->slowest_name, sizeof counts->slowest_name, "%s", name ? name : "?");
    }
    return rc;
}

/* \return 0, -OMPP_E_NOMEM. */
static int show_each(ompp_structure_t *structure, const request_t *request, const ompp_saved_t *all, double deadline,
                     counts_t *counts)
{
    double word = ompp_clock_seconds() + PROGRESS_SECONDS;

    for (size_t i = 0; i < all->n; i++) {
        const ompp_procedure_t *p;
        const int rc = find_procedure(structure, all, i, deadline, counts, &p);
        if (rc == -OMPP_E_NOMEM) return rc;
        if (rc == -OMPP_E_TIMEOUT) counts->not_reached++;
        if (rc == 0 && is_wanted(p, request) && is_first(p, all->addresses[i], all->addresses, all->n)) {
            count_procedure(p, counts);
            if (!request->summary && !print_procedure(p, request->loops)) return -OMPP_E_NOMEM;
        }
        if (ompp_clock_seconds() < word) continue;
        fprintf(stderr, "ompp-struct: %zu of %zu addresses\n", i + 1, all->n);
        word = ompp_clock_seconds() + PROGRESS_SECONDS;
    }
    return 0;
}

/* What was cut short would stay so. */
static bool is_complete(const ompp_saved_t *all, const counts_t *counts)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->procedures[i] && all->procedures[i]->loops_rc == -OMPP_E_LIMIT) return false;
    return counts->not_reached == 0;
}

static int show_all(ompp_structure_t *structure, const request_t *request)
{
    const double begin = ompp_clock_seconds(), deadline = request->seconds > 0 ? begin + request->seconds : DBL_MAX;
    char directory[OMPP_SAVED_PATH];
    const bool keeps = !request->afresh && ompp_saved_directory(directory);
    ompp_saved_t all = {0};
    counts_t counts = {0};
    bool late = false;
    int rc = 0;

    if (!keeps || !ompp_saved_load(directory, structure, &all)) {
        ompp_saved_fini(&all);
        rc = ompp_scope_addresses(structure, deadline, &all.addresses, &all.n);
        late = rc == -OMPP_E_TIMEOUT;
        all.procedures = calloc(all.n + 1, sizeof *all.procedures);
        if (!all.procedures) rc = -OMPP_E_NOMEM;
    }
    if (rc != -OMPP_E_NOMEM) rc = show_each(structure, request, &all, deadline, &counts);
    if (rc != -OMPP_E_NOMEM) print_summary(&counts, ompp_clock_seconds() - begin, all.kept);
    if (rc == 0 && print_missing(structure) && keeps && !all.kept && !late && is_complete(&all, &counts))
        ompp_saved_store(directory, structure, &all);
    ompp_saved_fini(&all);
    if (rc == -OMPP_E_NOMEM) return complain(request->file, rc);
    if (late) printf("not reached: some debug information; raise --seconds\n");
    if (request->function && counts.procedures == 0 && counts.not_reached == 0) {
        fprintf(stderr, "ompp-struct: %s has no", shown(request->file));
        fprintf(stderr, " procedure %s; names are those of the source\n", shown(request->function));
        return EXIT_BAD;
    }
    return EXIT_OK;
}

static int show_address(ompp_structure_t *structure, const request_t *request)
{
    const ompp_scope_t *chain[512];
    ompp_spot_t spot;
    unsigned n = 0;
    char *end;
    const uint64_t address = strtoull(request->address, &end, 0);

    if (*end || end == request->address) return wrong("no address", request->address);
    const int rc = ompp_scope_at(structure, address, DBL_MAX, &spot);
    if (rc == -OMPP_E_NOMEM) return complain(request->file, rc);
    if (rc != 0) {
        fprintf(stderr, "ompp-struct: %s has no procedure at %s; addresses are those of the file\n",
                shown(request->file), request->address);
        return EXIT_BAD;
    }
    for (const ompp_scope_t *s = spot.scope; s && n < 512; s = s->outer) chain[n++] = s;
    for (unsigned i = 0; i < n; i++) print_scope(chain[n - 1 - i], i);
    printf("%*s0x%" PRIx64, (int)(2 * n), "", address);
    print_place(spot.file, spot.line, 0);
    printf("\n");
    if (spot.loops_rc) printf("not reached: its loops\n");
    return EXIT_OK;
}

/* ---- Command line ------------------------------------------------------------------------------------------------ */

static int usage(FILE *to)
{
    fprintf(to, "usage: ompp-struct [option...] FILE\n"
                "Prints the procedures of a program or library, calls that were inlined into them, and loops.\n"
                "Options:\n"
                "  --function=NAME   procedures of this name only\n"
                "  --address=NUMBER  what this address of the file lies in\n"
                "  --loops           no inlined calls without loops\n"
                "  --summary         the last lines only: how much there is\n"
                "  --seconds=N       stop after this time, and say what was not reached\n"
                "  --no-cache        neither use nor keep what was found of a file (~/.cache/ompp)\n"
                "  --version\n"
                "  -h, --help\n");
    return to == stdout ? EXIT_OK : EXIT_USAGE;
}

/* The value of an option, or NULL: it is another one. */
static const char *value_of(const char *word, const char *option)
{
    const size_t n = strlen(option);

    return strncmp(word, option, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

/* \return -1 to go on, or the exit status. */
static int read_word(const char *word, request_t *request)
{
    const char *seconds = value_of(word, "--seconds");
    char *end = NULL;

    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return usage(stdout);
    if (strcmp(word, "--version") == 0) return printf("ompp-struct %s\n", PACKAGE_VERSION) < 0 ? EXIT_BAD : EXIT_OK;
    if (strcmp(word, "--loops") == 0) request->loops = true;
    else if (strcmp(word, "--summary") == 0) request->summary = true;
    else if (strcmp(word, "--no-cache") == 0) request->afresh = true;
    else if (value_of(word, "--function")) request->function = value_of(word, "--function");
    else if (value_of(word, "--address")) request->address = value_of(word, "--address");
    else if (seconds) {
        request->seconds = strtod(seconds, &end);
        if (end == seconds || *end || !(request->seconds > 0)) return wrong("no number of seconds above 0", seconds);
    } else if (word[0] == '-') return wrong("unknown option", word);
    else if (request->file) return wrong("more than one file", word);
    else request->file = word;
    return -1;
}

/* Each .dwo file stays open. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    request_t request = {0};
    ompp_structure_t *structure;

    for (int i = 1; i < argc; i++) {
        const int status = read_word(argv[i], &request);
        if (status >= 0) return status;
    }
    if (!request.file) return argc < 2 ? usage(stderr) : wrong("no file", NULL);
    raise_limit();
    ompp_clock_mark();
    ompp_clock_start("gettime");
    const int rc = ompp_structure_open(request.file, NULL, &structure);
    if (rc != 0) return complain(request.file, rc);
    if (!ompp_structure_has_lines(structure))
        fprintf(stderr, "ompp-struct: %s has no debug information: loops have no lines; compile it with -g\n",
                shown(request.file));
    const int status = request.address ? show_address(structure, &request) : show_all(structure, &request);
    ompp_structure_close(structure);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "ompp-struct: standard output: %s\n", strerror(errno));
        return EXIT_BAD;
    }
    return status;
}
