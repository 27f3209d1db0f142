/**
 * \file
 * The instrumented text of a Fortran source: keeps OPARI2's calls and replaces its declarations, for which each
 * program unit gets its own, and lets every line name the user's file and line.
 */
#include "tools/kinst/kinst-ompp-fortran.h"

#include "base/ompp_hash.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Lines of OPARI2's output ------------------------------------------------------------------------------------ */

typedef struct {
    kinst_fortran_t *f;
    kinst_lines_t lines;
    const kinst_lines_t *in; /* what OPARI2 read */
    size_t nopari;           /* regions of OPARI2; the user's have the numbers behind them */
    char *block;             /* name of the common block with the handles */
    char quote;              /* of a text constant that goes on in the next line of code; 0 = none */
    char before;             /* last character of the line of code before */
    bool undescribed;        /* there is a handle without a description */
} work_t;

static char *replaced(const char *line, const char *at, size_t length, const char *by)
{
    return kinst_text("%.*s%s%s", (int)(at - line), line, by, at + length);
}

/* Number behind a word in the line; 0 = it is not there. *at = where it stands, *length up to the end of the number. */
static size_t numbered(const char *line, const char *word, const char **at, size_t *length)
{
    char *end;

    *at = strstr(line, word);
    if (!*at) return 0;
    size_t number = strtoul(*at + strlen(word), &end, 10);
    *length = end - *at;
    return number;
}

/* Calls that lack a variable which is in scope wherever OPARI2 puts them; see include/opari2/pomp2_lib.h for C. */
static char *with_team(char *line)
{
    static const struct {
        const char *from, *to;
    } names[] = {{"POMP2_Parallel_fork(", "ompp_f_fork("},
                 {"POMP2_Parallel_join(", "ompp_f_join("},
                 {"POMP2_Parallel_begin(", "ompp_f_begin("}};
    const char *at, *close;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        at = strstr(line, names[i].from);
        if (!at) continue;
        line = replaced(line, at, strlen(names[i].from), names[i].to);
        close = strrchr(line, ')');
        if (i == 2 && close) line = replaced(line, close, 0, ",pomp2_old_task");
    }
    return line;
}

/* OPARI2 passes no description for the sections of a combined construct. */
static char *with_description(char *line)
{
    const char *at, *close = strrchr(line, ')');
    size_t length, number;

    if (!strstr(line, "POMP2_Sections_enter(") || !close) return line;
    number = numbered(line, "opari2_region_", &at, &length);
    return number ? replaced(line, close, 0, kinst_text(",opari2_ctc_%zu", number)) : line;
}

static char *with_handles(work_t *w, char *line)
{
    const char *at;
    size_t length, number;

    while ((number = numbered(line, "opari2_region_", &at, &length))) {
        if (number > w->nopari || !*w->f->texts.v[number - 1]) w->undescribed = true;
        line = replaced(line, at, length, kinst_text("opari2_h(%zu)", number));
    }
    return line;
}

static bool is_league(const work_t *w, size_t region)
{
    return region <= w->f->nregions && strcmp(w->f->regions[region - 1].type, "teams") == 0;
}

/* Calls that stand for pragmas, and for constructs that OPARI2 does not know. */
static char *with_regions(const work_t *w, char *line)
{
    const char *at;
    char *call;
    size_t length, number;

    if ((number = numbered(line, "ompp_user_begin_", &at, &length))) {
        size_t id = w->nopari + number;
        call = is_league(w, number) ? kinst_text("ompp_f_teams(opari2_h(%zu),pomp2_league,opari2_ctc_%zu)", id, id)
                                    : kinst_text("POMP2_Begin(opari2_h(%zu),opari2_ctc_%zu)", id, id);
        return replaced(line, at, length, call);
    }
    if ((number = numbered(line, "ompp_user_await_", &at, &length)))
        return replaced(line, at, length, kinst_text("ompp_f_await_tasks(opari2_h(%zu))", w->nopari + number));
    if ((number = numbered(line, "ompp_user_end_", &at, &length))) {
        size_t id = w->nopari + number;
        call = is_league(w, number) ? kinst_text("ompp_f_teams_end(opari2_h(%zu),pomp2_league)", id)
                                    : kinst_text("POMP2_End(opari2_h(%zu))", id);
        return replaced(line, at, length, call);
    }
    return line;
}

/* Ours for the lock function at p, which begins with "omp_", if it is called there. */
static void replace_lock(char *p)
{
    static const char *const operations[] = {"init", "destroy", "set", "unset", "test"};

    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        size_t length = strlen(operations[i]);
        if (strncasecmp(p + 4, operations[i], length) != 0) continue;
        bool nest = strncasecmp(p + 4 + length, "_nest_lock", 10) == 0;
        if (!nest && strncasecmp(p + 4 + length, "_lock", 5) != 0) return;
        if (*kinst_skip_blanks(p + 4 + length + (nest ? 10 : 5)) != '(') return;
        char *name = kinst_text("ompp_%s%slock", operations[i], nest ? "_nest" : "");
        memcpy(p, name, strlen(name));
        return;
    }
}

/* Does a name begin at p? Not if it is that of a component. before: last character of the line that goes on here. */
static bool is_name(const char *line, const char *p, char before)
{
    if (p > line && (isalnum((unsigned char)p[-1]) || p[-1] == '_')) return false;
    if (p > line && p[-1] == '&' && (isalnum((unsigned char)before) || before == '_')) return false;
    while (p > line && (isspace((unsigned char)p[-1]) || p[-1] == '&')) p--;
    return p == line ? before != '%' : p[-1] != '%';
}

/*
 * Ours for OpenMP's lock functions, where they are called: not in text constants and comments. OPARI2 spoils lines that
 * name several, as those of USE do.
 */
static void with_locks(work_t *w, char *line)
{
    size_t size = strlen(line);
    kinst_form_t form = w->f->form;
    char *p = line, *end = form.fixed && form.width && size > form.width ? line + form.width : line + size, before = 0;

    bool continues = form.fixed && kinst_fixed_continues(line);
    if (form.fixed && !continues) w->quote = w->before = 0;
    if (continues && end > line + 6) p += 6;
    if (!w->quote && *kinst_skip_blanks(p) == '!') p = strchr(p, '!') + 1; /* conditional compilation */
    for (const char *begin = p; p < end && (w->quote || *p != '!'); p++) {
        if (w->quote) w->quote = *p == w->quote ? 0 : w->quote;
        else if (*p == '\'' || *p == '"') w->quote = *p;
        else if (strncasecmp(p, "omp_", 4) == 0 && is_name(begin, p, w->before)) replace_lock(p);
        if (*p != '&' && (!isspace((unsigned char)*p) || (!form.fixed && before != '%'))) before = *p;
    }
    while (end > line && isspace((unsigned char)end[-1])) end--;
    bool more = form.fixed || (end > line && end[-1] == '&');
    if (!more) w->quote = 0;
    w->before = more ? before : 0;
}

static char *with_block(const work_t *w, char *line)
{
    char *at = strstr(line, "shared(/cb"), *slash = at ? strchr(at + 8, '/') : NULL;

    return slash ? replaced(line, at + 7, slash + 1 - (at + 7), w->block) : line;
}

/* A further line of a directive, before the line that ends it. */
static void add_clause(work_t *w, const char *clause, unsigned number)
{
    kinst_lines_add(&w->lines, w->f->form.fixed ? kinst_text("!$omp& %s", clause) : kinst_text("  !$omp %s &", clause),
                    number);
}

/*
 * OPARI2 leaves the variables of its if and num_threads clauses shared in a team: two threads that create tasks or
 * inner teams would take each other's. And a task must not take the enclosing task's variables, nor lose the handles by
 * its default clause.
 */
static void add_clauses(work_t *w, const char *line, unsigned number, const char *following)
{
    if (strstr(line, "firstprivate(pomp2_old_task) private(pomp2_new_task)")) {
        const char *own = strstr(following, "private(pomp2_if,"), *call = strstr(following, "POMP2_");
        if (!own || (call && call < own)) add_clause(w, "private(pomp2_if,pomp2_num_threads)", number);
    }
}

/* Behind the clauses of a task. */
static void add_task_clauses(work_t *w, char **line, unsigned number, const char *following)
{
    static const char own[] = "firstprivate(pomp2_new_task, pomp2_if)";
    bool fixed = w->f->form.fixed, shared = strncmp(following + strspn(following, " !$omp&"), "shared(/", 8) == 0;
    char *at = strstr(*line, own), *rest = at ? at + strlen(own) : NULL;

    if (!at) return;
    kinst_lines_add(&w->lines, kinst_text("%.*s%s", (int)(rest - *line), *line, fixed ? "" : " &"), number);
    if (!shared) add_clause(w, kinst_text("shared(%s)", w->block), number);
    add_clause(w, "private(pomp2_num_threads)", number);
    *line = kinst_text(fixed ? "!$omp& private(pomp2_old_task)%s" : "  !$omp private(pomp2_old_task)%s", rest);
}

/* An identifier at p, as a directive of OPARI2's input writes it, or NULL. */
static const char *spelling(const work_t *w, const char *p, size_t length)
{
    const kinst_lines_t *lines = w->in;
    const char *rest;

    for (size_t i = 0; i < lines->n; i++) {
        if (kinst_line_kind(w->f->form, lines->v[i].text, &rest) != KINST_LINE_DIRECTIVE) continue;
        for (const char *q = rest; *q;) {
            size_t n = strspn(q, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
            if (n == length && strncasecmp(q, p, n) == 0) return q;
            q += n ? n : 1;
        }
    }
    return NULL;
}

/* Expression of an if or num_threads clause in a line of OPARI2's, or NULL. */
static char *expression(char *line)
{
    static const char *const heads[] = {"      pomp2_num_threads = ", "      pomp2_if = ("};

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        if (strncmp(line, heads[i], strlen(heads[i])) == 0) return line + strlen(heads[i]);
    return NULL;
}

/* OPARI2 writes expressions in lower case, but macros of the preprocessor have their own. */
static void keep_case(const work_t *w, char *line)
{
    char *p = w->f->form.cpp ? expression(line) : NULL;

    while (p && *p) {
        size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_");
        const char *original = n ? spelling(w, p, n) : NULL;
        if (original) memcpy(p, original, n);
        p += n ? n : 1;
    }
}

/* A line with an expression, in as many lines as it takes. Both forms may be broken anywhere, in text constants too. */
static void add_expression(work_t *w, const char *line, unsigned number)
{
    bool fixed = w->f->form.fixed;
    size_t width = fixed ? 72 : 130, length;

    for (const char *begin = ""; *line; begin = fixed ? "     &" : "      &", number = 0) {
        length = strnlen(line, width - strlen(begin));
        bool more = line[length];
        kinst_lines_add(&w->lines, kinst_text("%s%.*s%s", begin, (int)length, line, more && !fixed ? "&" : ""), number);
        line += length;
    }
}

/* OPARI2 leaves blanks where clauses were, which may push others over the end of the line. */
static void squeeze(kinst_form_t form, char *line)
{
    const char *rest;
    char *to;

    if (kinst_line_kind(form, line, &rest) != KINST_LINE_DIRECTIVE) return;
    to = line + (rest - line);
    for (const char *p = rest; *p; p++)
        if (*p != ' ' || p[1] != ' ') *to++ = *p;
    *to = '\0';
}

/* "#line 12 "/private/in/source.f90"": the number, or 0. */
static unsigned own_line(const char *line, const char *own)
{
    char *rest;
    unsigned long number;

    if (strncmp(line, "#line ", 6) != 0) return 0;
    number = strtoul(line + 6, &rest, 10);
    return strncmp(rest, " \"", 2) == 0 && strncmp(rest + 2, own, strlen(own)) == 0 ? (unsigned)number : 0;
}

static bool is_own_subroutine(const char *line)
{
    return strstr(line, "subroutine POMP2_Init_reg_") == line + 6 ||
           strstr(line, "subroutine POMP2_USER_Init_reg_") == line + 6;
}

/* Without OPARI2's include line; NULL = nothing else is in it. */
static char *without_include(char *line)
{
    char *at = strstr(line, "include 'source.f90.opari.inc'");

    if (!at) return line;
    line = kinst_text("%.*s", (int)(at - line), line);
    return line[strspn(line, " ")] ? line : NULL;
}

/* Adds the lines that are hidden from OPARI2 in this one, if there are any. */
static bool add_hidden(work_t *w, const char *line, unsigned place, bool locks)
{
    const char *rest;
    const char *at = strstr(line, "!" KINST_FORTRAN_HIDDEN " ");
    size_t number = at ? strtoul(at + sizeof KINST_FORTRAN_HIDDEN + 1, NULL, 10) : 0;

    if (!at || number >= w->f->hidden.n) return false;
    kinst_lines_t lines = kinst_lines_of(w->f->hidden.v[number]);
    for (size_t i = 0; i < lines.n; i++) {
        if (locks && kinst_line_kind(w->f->form, lines.v[i].text, &rest) == KINST_LINE_CODE)
            with_locks(w, lines.v[i].text);
        kinst_lines_add(&w->lines, lines.v[i].text, place ? place++ : 0);
        w->lines.v[w->lines.n - 1].original = lines.v[i].text;
    }
    return true;
}

static void read_output(work_t *w, const kinst_lines_t *in, const char *out, const char *own)
{
    kinst_lines_t all = kinst_lines_of(out);
    unsigned number = 0, given;
    const char *following = out, *rest;
    bool locks = !(kinst_own_disables("locks") || kinst_own_disables("sync"));

    for (size_t i = 0; i < all.n; i++) {
        char *line = all.v[i].text;
        following += strcspn(following, "\n");
        if (*following) following++;
        if (is_own_subroutine(line)) return;
        if ((given = own_line(line, own))) {
            number = given;
            continue;
        }
        if (i == 0 && !*line) continue;
        line = without_include(line);
        if (!line) continue;
        unsigned place = kinst_fortran_physical(in, number).line;
        if (add_hidden(w, line, place, locks)) {
            number += number > 0;
            continue;
        }
        keep_case(w, line);
        squeeze(w->f->form, line);
        line = kinst_fortran_constants(w->f, line);
        line = with_block(w, with_regions(w, with_handles(w, with_description(with_team(line)))));
        if (locks && kinst_line_kind(w->f->form, line, &rest) == KINST_LINE_CODE) with_locks(w, line);
        add_clauses(w, line, place, following);
        add_task_clauses(w, &line, place, following);
        if (expression(line)) add_expression(w, line, place);
        else kinst_lines_add(&w->lines, line, place);
        if (number) number++;
    }
}

/* ---- Declarations ------------------------------------------------------------------------------------------------ */

/* Statements are read without their blanks. */
static const char data_call[] = "callompp_f_inst_data";

static bool is_ours(const char *name)
{
    return strcmp(name, data_call) == 0 || strncmp(name, "opari2_", 7) == 0 || strncmp(name, "pomp2_", 6) == 0 ||
           strncmp(name, "ompp_f_", 7) == 0 ||
           (strncmp(name, "ompp_", 5) == 0 && strlen(name) > 9 && strcmp(name + strlen(name) - 4, "lock") == 0);
}

/* A text constant in pieces, since lines are short. */
static void put_constant(FILE *out, bool fixed, size_t number, const char *text)
{
    const char *join = fixed ? "//\n     &" : "// &\n      ", *p = text;

    fprintf(out, "      character(len=%zu) opari2_ctc_%zu\n      parameter (opari2_ctc_%zu=", strlen(text), number,
            number);
    fputs(fixed ? "\n     &" : " &\n      ", out);
    do {
        if (p > text) fputs(join, out);
        fputc('"', out);
        for (int i = 0; i < 50 && *p; i++, p++) fputs(*p == '"' ? "\"\"" : (char[]){*p, '\0'}, out);
        fputc('"', out);
    } while (*p);
    fputs(")\n", out);
}

/* A variable of any type and rank, of which its descriptor is passed. */
static const char data_interface[] = "      interface\n"
                                     "      subroutine ompp_f_inst_data(name, nbytes, data)\n"
                                     "      character(len=*), intent(in) :: name\n"
                                     "      integer(kind=8), intent(in) :: nbytes\n"
                                     "      type(*), dimension(..), intent(in) :: data\n"
                                     "      end subroutine ompp_f_inst_data\n"
                                     "      end interface\n";

static void put_declaration(const work_t *w, FILE *out, const char *name)
{
    static const struct {
        const char *name, *type;
    } types[] = {
        {"pomp2_old_task", "integer(kind=8)"},
        {"pomp2_new_task", "integer(kind=8)"},
        {"pomp2_league", "integer(kind=8)"},
        {"pomp2_if", "logical(kind=4)"},
        {"pomp2_num_threads", "integer(kind=4)"},
        {"pomp2_lib_get_max_threads", "integer(kind=4), external ::"},
        {"ompp_testlock", "logical(kind=4), external ::"},
        {"ompp_test_nestlock", "integer(kind=4), external ::"},
    };
    const kinst_list_t *texts = &w->f->texts;

    if (strncmp(name, "opari2_ctc_", 11) == 0) {
        size_t number = strtoul(name + 11, NULL, 10);
        if (number > 0 && number <= texts->n) put_constant(out, w->f->form.fixed, number, texts->v[number - 1]);
        return;
    }
    if (strcmp(name, "opari2_h") == 0) {
        fprintf(out, "      integer(kind=8) opari2_h(%zu)\n      common %s opari2_h\n", texts->n, w->block);
        return;
    }
    if (strcmp(name, data_call) == 0) {
        fputs(data_interface, out);
        return;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(name, types[i].name) == 0) {
            fprintf(out, "      %s %s\n", types[i].type, name);
            return;
        }
    fprintf(out, "      external %s\n", name);
}

static void put_unit(const work_t *w, FILE *out, const kinst_unit_t *unit)
{
    for (size_t i = 0; i < unit->uses.n; i++) put_declaration(w, out, unit->uses.v[i]);
}

/* ---- The whole text ---------------------------------------------------------------------------------------------- */

/*
 * gfortran puts the name of the file that it reads into what the program says when ALLOCATE fails. With -fpreprocessed
 * that is the name in the first line; the line behind it is no statement, for its form is taken for fixed.
 */
static void put_name(const kinst_fortran_t *f, FILE *out)
{
    if (f->form.cpp) return;
    kinst_fortran_marker(f, out, 1);
    fputc('\n', out);
}

static void put_text(const work_t *w, const kinst_units_t *units, FILE *out)
{
    kinst_mapping_t next = {0}; /* what the compiler takes the next line for; line 0 = not known */
    const char *rest, *before = NULL;

    for (size_t i = 0; i <= w->lines.n; i++) {
        for (size_t k = 0; k < units->n; k++) {
            if (units->v[k].place != i) continue;
            put_unit(w, out, &units->v[k]);
            next.line = 0;
        }
        if (i == w->lines.n) return;
        const kinst_line_t *line = &w->lines.v[i];
        const kinst_mapping_t place = kinst_fortran_mapped(w->f, line->line);
        bool directive = kinst_line_kind(w->f->form, line->text, &rest) == KINST_LINE_DIRECTIVE;
        bool inside = directive && kinst_directive_continues(w->f->form, rest, before);
        bool there = place.line == next.line && kinst_fortran_same_file(place, next);
        if (line->line && !there && !inside) {
            kinst_fortran_marker(w->f, out, line->line);
            next = place;
        }
        fprintf(out, "%s\n", line->text);
        before = directive ? rest : NULL;
        if (next.line) next.line++;
    }
}

/* The same for every build of this text with this command; another one for other objects that may come into the same
 * program. */
static char *block_name(const kinst_fortran_t *f)
{
    const uint64_t hash = ompp_hash_text(ompp_hash_text(OMPP_HASH_START, f->absolute), f->command);

    return kinst_text("/ompp_h_%016llx/", (unsigned long long)hash);
}

static const char *instrument(work_t *w)
{
    kinst_opari_text_t text = {0};
    const char *reason = kinst_fortran_opari(w->f, &text);

    if (reason) return reason;
    w->nopari = w->f->texts.n;
    w->in = &text.in;
    read_output(w, &text.in, text.out, text.own);
    if (w->undescribed) return "OPARI2 did not describe a construct";
    kinst_fortran_drop_empty(w->f, &w->lines);
    w->f->instrumented = true;
    return NULL;
}

const char *kinst_fortran_text(kinst_fortran_t *f, bool opari, FILE *out)
{
    work_t w = {.f = f, .block = block_name(f)};
    kinst_units_t units = {0};
    const char *reason = NULL;

    f->texts.n = 0;
    f->nregions = f->nuser;
    f->instrumented = false;
    if (opari) reason = instrument(&w);
    else
        for (size_t i = 0; i < f->lines.n; i++)
            kinst_lines_add(&w.lines, with_handles(&w, with_regions(&w, f->lines.v[i].text)), f->lines.v[i].line);
    if (reason) return reason;
    for (size_t i = 0; i < f->nregions; i++) kinst_add(&f->texts, kinst_fortran_description(f, &f->regions[i]));
    reason = kinst_fortran_units(&units, f, &w.lines, is_ours);
    if (reason) return reason;
    put_name(f, out);
    put_text(&w, &units, out);
    return NULL;
}
