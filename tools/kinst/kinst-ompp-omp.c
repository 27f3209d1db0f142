/**
 * \file
 * OpenMP directives on their way to OPARI2. Those it knows are written in the form it understands (statements in
 * braces, clauses where they belong); those it does not know are hidden from it and, where a call may stand,
 * instrumented here; the rest is noted for the report. The rows of kinst-ompp-directive.c say what is done with each.
 */
#include "tools/kinst/kinst-ompp-source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void note_file(kinst_scan_t *s)
{
    const char *path = kinst_scan_path(s, &s->place);

    for (size_t i = 0; i < s->files.n; i++)
        if (strcmp(s->files.v[i], path) == 0) return;
    kinst_add(&s->files, path);
}

static void note_unseen(kinst_scan_t *s, const char *name, const char *why)
{
    const char *path = kinst_scan_path(s, &s->place);

    kinst_addf(&s->unseen, "%s at %s:%u", name, path, s->place.line);
    kinst_add(&s->unseen, why);
}

/* A directive on a line of its own. */
static void put_directive(kinst_scan_t *s, const char *text, bool hidden)
{
    kinst_scan_fresh_line(s);
    if (hidden) {
        kinst_addf(&s->hidden, "#pragma omp %s", text);
        kinst_scan_put(s, kinst_text("%s%zu", KINST_HIDDEN_PRAGMA, s->hidden.n - 1));
    } else {
        kinst_scan_put(s, kinst_text("#pragma omp %s", text));
        s->has_openmp = true;
    }
}

/* Behind a statement: the line may be that of a directive, or end the statement of one, which OPARI2 takes to the end
 * of its line. */
static void put_close(kinst_scan_t *s, const char *text)
{
    kinst_scan_fresh_line(s);
    kinst_scan_put(s, text);
}

static size_t put_begin(kinst_scan_t *s, const char *type)
{
    size_t region = kinst_scan_region(s, type, NULL);

    if (strcmp(type, "teams") == 0)
        kinst_scan_put(s, kinst_text(" { POMP2_Task_handle ompp_league_%zu; ompp_region_begin_%zu(&ompp_league_%zu);",
                                     region, region, region));
    else kinst_scan_put(s, kinst_text(" { ompp_region_begin_%zu();", region));
    s->has_openmp = true;
    return region;
}

static void put_end(kinst_scan_t *s, size_t region)
{
    kinst_scan_region_end(s, region);
    if (strcmp(s->regions[region - 1].type, "teams") == 0)
        put_close(s, kinst_text(" ompp_region_end_%zu(ompp_league_%zu); }", region, region));
    else put_close(s, kinst_text(" ompp_region_end_%zu(); }", region));
}

/* ---- Directives with their statements ---------------------------------------------------------------------------- */

/* One directive that is being translated. */
typedef struct {
    const char *text;       /* without "#pragma omp" */
    const char *stmt, *end; /* its statement in the scanned text; stmt = end when it has none */
} construct_t;

static void translate(kinst_scan_t *s, construct_t c);
static void scan_to(kinst_scan_t *s, const char *to);

/* Is there a cancel of this kind in the statement? */
static bool cancels(const construct_t *c, const char *kind)
{
    static const char word[] = "cancel";

    for (const char *p = c->stmt; kind && p && p < c->end && (p = memmem(p, c->end - p, word, strlen(word))); p++) {
        const char *rest = p, *line = p;
        while (line > c->stmt && line[-1] != '\n') line--;
        if (kinst_omp_at(line) == p && kinst_take(&rest, word) && kinst_take(&rest, kind)) return true;
    }
    return false;
}

static void put_statement(kinst_scan_t *s, const construct_t *c, bool hidden)
{
    put_directive(s, c->text, hidden);
    scan_to(s, c->end);
}

static void around(kinst_scan_t *s, const construct_t *c, const char *type, bool opaque)
{
    size_t region = put_begin(s, type);

    s->opaque += opaque;
    put_statement(s, c, true);
    s->opaque -= opaque;
    put_end(s, region);
}

/* At the end of the statement, the thread waits for the tasks. */
static void group(kinst_scan_t *s, const construct_t *c)
{
    size_t region = put_begin(s, "taskgroup");

    put_directive(s, c->text, true);
    kinst_scan_put(s, "\n{");
    scan_to(s, c->end);
    put_close(s, kinst_text(" ompp_region_await_%zu(); }", region));
    put_end(s, region);
}

static void inside(kinst_scan_t *s, const construct_t *c, const char *type)
{
    put_directive(s, c->text, true);
    kinst_scan_put(s, "\n");
    size_t region = put_begin(s, type);
    scan_to(s, c->end);
    put_end(s, region);
}

/* The statement in braces, so that OPARI2 finds its end. */
static void block(kinst_scan_t *s, const construct_t *c)
{
    put_directive(s, c->text, false);
    kinst_scan_put(s, "\n{");
    scan_to(s, c->end);
    put_close(s, " }");
}

static void nest(kinst_scan_t *s, const construct_t *c, const char *outer, const char *inner)
{
    put_directive(s, outer, false);
    kinst_scan_put(s, "\n{");
    translate(s, (construct_t){inner, c->stmt, c->end});
    put_close(s, " }");
}

/* "parallel x" as a parallel and an x in it; the analysis makes one region of them where they are one construct. */
static void team(kinst_scan_t *s, const construct_t *c, const kinst_directive_t *row, const kinst_clauses_t *clauses)
{
    kinst_buffer_t outer = {0}, inner = {0};

    kinst_puts(&outer, row->type);
    kinst_puts(&inner, row->inner);
    kinst_clauses_share_out(clauses, row->inner, &outer, &inner);
    /* The team ends right behind it: its barrier is the one. */
    if ((strcmp(row->inner, "for") == 0 || strcmp(row->inner, "for simd") == 0 ||
         strcmp(row->inner, "sections") == 0) &&
        !cancels(c, strcmp(row->inner, "sections") == 0 ? "sections" : "for"))
        kinst_puts(&inner, " nowait");
    nest(s, c, outer.text, inner.text);
}

static void nest_apart(kinst_scan_t *s, const construct_t *c, const kinst_directive_t *row,
                       const kinst_clauses_t *clauses)
{
    kinst_buffer_t outer = {0}, inner = {0};

    kinst_puts(&outer, row->type);
    kinst_puts(&inner, row->inner);
    for (size_t i = 0; i < clauses->n; i++)
        kinst_clause_put(strcmp(clauses->v[i].name, "filter") == 0 ? &outer : &inner, &clauses->v[i]);
    /* The outer one may be one that OPARI2 does not know. */
    const char *name;
    if (kinst_directive_find(outer.text, &name)->action == KINST_DO_INSIDE) {
        put_directive(s, outer.text, true);
        kinst_scan_put(s, "\n");
        size_t region = put_begin(s, row->type);
        translate(s, (construct_t){inner.text, c->stmt, c->end});
        put_end(s, region);
    } else {
        nest(s, c, outer.text, inner.text);
    }
}

/*
 * A task that may be cancelled, in which case OPARI2's call at its end is jumped over, or one that may be undeferred,
 * of which OPARI2 tells nothing. What the end of a scope cleans up is done however it is left.
 */
static void task(kinst_scan_t *s, const construct_t *c, const kinst_clauses_t *clauses)
{
    size_t region = kinst_scan_region(s, kinst_clause_named(clauses, "untied") ? "task*hasUntied=1" : "task", NULL);

    s->has_openmp = true;
    kinst_scan_put(s, kinst_text(" { POMP2_Task_handle ompp_task_%zu; ompp_region_begin_%zu(&ompp_task_%zu);", region,
                                 region, region));
    put_directive(s, kinst_text("%s firstprivate(ompp_task_%zu)", c->text, region), true);
    kinst_scan_put(
        s, kinst_text(
               "\n{ POMP2_Task_handle __attribute__((__cleanup__(ompp_region_leave_%zu))) ompp_run_%zu = ompp_task_%zu;"
               " ompp_pomp2_task_begin(&ompp_run_%zu);",
               region, region, region, region));
    scan_to(s, c->end);
    kinst_scan_region_end(s, region);
    put_close(s, kinst_text(" } ompp_region_end_%zu(); }", region));
}

static const char *behind_for(const char *p, const char *end)
{
    if (!kinst_take(&p, "for")) return NULL;
    p = kinst_skip_space(p, end);
    return *p == '(' ? kinst_behind_token(p, end) : NULL;
}

/* The head of a loop that begins at p; one with braces in it is hidden from OPARI2. */
static const char *behind_head(kinst_scan_t *s, const char *p, const char *end)
{
    const char *behind = behind_for(p, end), *open = memchr(p, '(', end - p);

    if (!behind || !memchr(open, '{', behind - open)) return behind;
    scan_to(s, open + 1);
    kinst_scan_hide(s, behind - 1);
    return behind;
}

/* A loop; the body of the innermost one of the nest in braces. Of simd loops the body stays without calls. */
static void loop(kinst_scan_t *s, const construct_t *c, bool nested, bool simd, bool hidden)
{
    const char *body, *p = kinst_skip_space(c->stmt, c->end);

    put_directive(s, c->text, hidden);
    body = behind_head(s, p, c->end);
    for (const char *next; nested && body && (next = behind_head(s, kinst_skip_space(body, c->end), c->end));)
        body = next;
    bool open = body && *kinst_skip_space(body, c->end) != '{';
    if (open) {
        scan_to(s, body);
        kinst_scan_put(s, " {");
    }
    s->opaque += simd;
    scan_to(s, c->end);
    s->opaque -= simd;
    if (open) put_close(s, " }");
}

/* Each section gets its directive and its braces. */
static void sections(kinst_scan_t *s, const construct_t *c, bool hidden)
{
    const char *open = kinst_skip_space(c->stmt, c->end), *close = c->end - 1, *clauses, *omp;
    const kinst_directive_t *section = kinst_directive_find("section", &clauses);

    put_directive(s, c->text, hidden);
    if (*open != '{') {
        scan_to(s, c->end);
        return;
    }
    scan_to(s, open + 1);
    for (bool first = true;; first = false) {
        const char *p = kinst_skip_space(s->cursor, close);
        if (p >= close && !first) break;
        if ((omp = kinst_omp_at(p)) && kinst_directive_find(omp, &clauses) == section) {
            scan_to(s, p);
            kinst_scan_skip(s, kinst_end_of_directive(p, close));
            p = kinst_skip_space(s->cursor, close);
        } else if (!first) {
            break; /* cannot be */
        }
        put_directive(s, "section", hidden);
        kinst_scan_put(s, "\n{");
        while (p && p < close && !((omp = kinst_omp_at(p)) && kinst_directive_find(omp, &clauses) == section)) {
            p = kinst_behind_statement(p, close);
            if (p) p = kinst_skip_space(p, close);
        }
        scan_to(s, p ? p : close);
        put_close(s, " }");
        kinst_scan_put(s, "\n");
    }
    scan_to(s, c->end);
}

static void scope(kinst_scan_t *s, const construct_t *c, bool nowait)
{
    size_t region = put_begin(s, "scope");

    put_directive(s, nowait ? c->text : kinst_text("%s nowait", c->text), true);
    scan_to(s, c->end);
    if (!nowait) {
        put_close(s, kinst_text(" ompp_region_barrier_%zu();", region));
        put_directive(s, "barrier", true);
        kinst_scan_put(s, "\n");
    }
    put_end(s, region);
}

/* OPARI2 moves these clauses of a combined loop to the wrong half, or leaves them on both. */
static bool simple_loop(const kinst_clauses_t *clauses)
{
    static const char *const bad[] = {"lastprivate", "order", "linear", "allocate", NULL};

    for (size_t i = 0; i < clauses->n; i++)
        if (kinst_one_of(clauses->v[i].name, bad) || (clauses->v[i].args && strstr(clauses->v[i].args, "inscan")))
            return false;
    return true;
}

static void atomic(kinst_scan_t *s, const construct_t *c)
{
    const char *p = kinst_skip_space(c->stmt, c->end), *word = p;

    if (*p == '{' || kinst_take(&word, "if")) around(s, c, "atomic", false);
    else put_statement(s, c, false);
}

static bool switched_off(const kinst_scan_t *s, const char *type)
{
    return s->noinstrument ? strcmp(type, "parallel") != 0 : kinst_own_disables(type);
}

static void plain_block(kinst_scan_t *s, const construct_t *c, const kinst_directive_t *row,
                        const kinst_clauses_t *clauses)
{
    construct_t plain = *c;

    if (strcmp(row->name, "task") == 0 && (cancels(c, row->inner) || kinst_clause_named(clauses, "if"))) {
        task(s, c, clauses);
        return;
    }
    /* critical(name) is no clause */
    if (!clauses->bad) plain.text = kinst_clauses_plain(row->name, clauses, row->name);
    block(s, &plain);
}

/* Loops and sections, alone or combined with parallel. One that may be cancelled keeps its barrier, so it gets calls
 * around it. */
static void worksharing(kinst_scan_t *s, const construct_t *c, const kinst_directive_t *row,
                        const kinst_clauses_t *clauses)
{
    bool combined = strncmp(row->name, "parallel ", 9) == 0, cancelled = cancels(c, row->inner),
         simd = strstr(row->name, "simd");
    bool nested = kinst_clause_named(clauses, "collapse") || kinst_clause_named(clauses, "ordered") || simd;
    construct_t plain = *c;

    if (cancelled) s->loud = true; /* gcc objects to a combined loop that may be cancelled */
    if (combined && (cancelled || !simple_loop(clauses))) {
        team(s, c, row, clauses);
        return;
    }
    size_t region = cancelled ? put_begin(s, row->inner) : 0;
    if (combined) plain.text = kinst_clauses_plain(row->name, clauses, "parallel");
    if (row->action == KINST_DO_LOOP) loop(s, &plain, nested, simd, cancelled);
    else if (cancelled) put_statement(s, c, true);
    else sections(s, &plain, false);
    if (cancelled) put_end(s, region);
}

static void ordered(kinst_scan_t *s, const construct_t *c, const kinst_directive_t *row, const char *clauses)
{
    const char *simd = clauses;

    if (kinst_directive_is_doacross(clauses)) around(s, c, row->type, false);
    else if (kinst_take(&simd, "simd") || (kinst_take(&simd, "threads") && strstr(simd, "simd")))
        put_statement(s, c, true);
    else block(s, c);
}

static void measured(kinst_scan_t *s, const construct_t *c, const kinst_directive_t *row, const char *clause_text)
{
    kinst_clauses_t clauses = kinst_clauses_read(clause_text);
    bool rewritten = row->action == KINST_DO_LOOP || row->action == KINST_DO_SECTIONS || row->action == KINST_DO_TEAM ||
                     row->action == KINST_DO_NEST;

    if (clauses.bad && rewritten) {
        note_unseen(s, row->name, "its clauses were not understood");
        put_statement(s, c, true);
        return;
    }
    switch (row->action) {
    case KINST_DO_BLOCK: plain_block(s, c, row, &clauses); break;
    case KINST_DO_LOOP:
    case KINST_DO_SECTIONS: worksharing(s, c, row, &clauses); break;
    case KINST_DO_TEAM: team(s, c, row, &clauses); break;
    case KINST_DO_NEST: nest_apart(s, c, row, &clauses); break;
    case KINST_DO_AROUND:
    case KINST_DO_OPAQUE:
        if (row->inner) note_unseen(s, row->name, kinst_text("%s; the construct is measured", row->inner));
        around(s, c, row->type, row->action == KINST_DO_OPAQUE);
        break;
    case KINST_DO_INSIDE: inside(s, c, row->type); break;
    case KINST_DO_GROUP: group(s, c); break;
    case KINST_DO_SCOPE: scope(s, c, kinst_clause_named(&clauses, "nowait")); break;
    case KINST_DO_ATOMIC: atomic(s, c); break;
    case KINST_DO_ORDERED: ordered(s, c, row, clause_text); break;
    case KINST_DO_CALL: around(s, c, row->type, false); break;
    default: put_statement(s, c, false); break;
    }
}

/* Functions between these are compiled for devices as well, where there is no library to call. */
static void device_code(kinst_scan_t *s, const char *text)
{
    const char *rest = kinst_behind_words(text, "declare target");

    if ((rest && !*rest) || kinst_behind_words(text, "begin declare target")) s->opaque++;
    if (kinst_behind_words(text, "end declare target") && s->opaque) s->opaque--;
}

static void translate(kinst_scan_t *s, construct_t c)
{
    const char *clauses = "";
    const kinst_directive_t *row = kinst_directive_find(c.text, &clauses);
    bool quiet =
        row && (row->action == KINST_DO_HIDE || row->action == KINST_DO_CANCEL || row->action == KINST_DO_INLINE);

    if (!quiet) note_file(s);
    if (row && row->action == KINST_DO_INLINE) {
        s->opaque++;
        put_statement(s, &c, true);
        s->opaque--;
    } else if (!row || row->action == KINST_DO_UNSEEN) {
        note_unseen(s, row ? row->name : "directive", "OPARI2 does not know it");
        put_statement(s, &c, true);
    } else if (!quiet && s->opaque) {
        note_unseen(s, row->name, "inside a construct where no call may stand");
        put_statement(s, &c, true);
    } else if (quiet || switched_off(s, row->type)) {
        device_code(s, c.text);
        put_statement(s, &c, true);
    } else {
        measured(s, &c, row, clauses);
    }
}

static void directive(kinst_scan_t *s, const char *p, const char *eol)
{
    bool wants = kinst_directive_wants_block(p);
    const char *end = s->end, *stmt = wants ? kinst_behind_statement(eol, end) : eol;
    construct_t c = {kinst_text("%.*s", (int)(eol - p), p), eol, stmt ? stmt : eol};

    for (char *q = (char *)c.text; *q; q++)
        if (*q == '\n' || *q == '\\') *q = ' ';
    s->before = wants ? ')' : ';';
    s->cursor = eol;
    if (stmt) {
        const char *behind = kinst_skip_space(stmt, end);
        bool branch = wants && kinst_take(&behind, "else"); /* OPARI2 would take the else for a part of the statement */
        if (branch) kinst_scan_put(s, " {");
        translate(s, c);
        if (branch) put_close(s, " }");
    } else {
        note_unseen(s, "directive", "the statement behind it was not understood");
        put_directive(s, c.text, true);
    }
    /* OPARI2 may miss the end of a construct that is not the end of its line. */
    const char *rest = kinst_skip_blanks(s->cursor);
    if (rest < end && *rest != '\n' && *rest != '\r') kinst_scan_put(s, "\n");
    s->before = ';';
    s->at_line_start = false;
}

/* Goes on to this place of the text; the directives before it are translated. */
static void scan_to(kinst_scan_t *s, const char *to)
{
    const char *eol;

    for (const char *p; (p = kinst_scan_to(s, to, &eol));) directive(s, p, eol);
}

void kinst_omp_scan(kinst_scan_t *s, const char *text, size_t size)
{
    kinst_scan_begin(s, text, size);
    scan_to(s, s->end);
    kinst_scan_end_quiet(s);
}
