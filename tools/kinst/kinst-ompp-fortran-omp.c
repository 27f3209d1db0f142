/**
 * \file
 * OpenMP directives of Fortran on their way to OPARI2. Those it does not know or would spoil are hidden from it behind
 * comments, and come back in its output; where calls may stand around the construct or inside it, they are put there.
 * Two combined constructs are written as the two they are made of. The rest is noted for the report.
 */
#include "tools/kinst/kinst-ompp-fortran.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum {
    AROUND,       /* calls around a construct with an end directive */
    GROUP,        /* the same, and one in front of the end directive */
    AROUND_LOOP,  /* calls around a loop, whose end directive may be missing */
    INSIDE,       /* calls inside a construct with an end directive */
    OPAQUE,       /* AROUND, and everything inside is hidden */
    OPAQUE_LOOP,  /* AROUND_LOOP, the same */
    CALL,         /* calls around a directive alone */
    SPLIT,        /* parallel X: two constructs with an end directive each */
    HIDDEN,       /* passes OPARI2 unseen, not measured */
    HIDDEN_NOTED, /* the same, and the report says so */
    ATOMIC,       /* AROUND when it has an end directive, else for OPARI2 */
    ORDERED,      /* HIDDEN_NOTED with depend, else for OPARI2 */
    LOOP,         /* for OPARI2, with an end directive */
    PARALLEL_DO,  /* HIDDEN_NOTED with clauses that OPARI2 leaves with the team, else LOOP */
    SECTIONS,     /* for OPARI2, with a directive for the first section */
    CANCEL,
} action_t;

typedef struct {
    const char *name;
    action_t action;
    const char *type; /* of the region; SPLIT: the inner directive */
} row_t;

/* The first row whose name fits counts: longer names come first. Blanks between words are optional. */
static const row_t rows[] = {
    {"target enter data", CALL, "target"},
    {"target exit data", CALL, "target"},
    {"target update", CALL, "target"},
    {"target data", AROUND, "target"},
    {"target parallel do", OPAQUE_LOOP, "target"},
    {"target parallel loop", OPAQUE_LOOP, "target"},
    {"target parallel", OPAQUE, "target"},
    {"target simd", OPAQUE_LOOP, "target"},
    {"target teams distribute", OPAQUE_LOOP, "target"},
    {"target teams loop", OPAQUE_LOOP, "target"},
    {"target teams", OPAQUE, "target"},
    {"target", OPAQUE, "target"},
    {"teams distribute", OPAQUE_LOOP, "teams"},
    {"teams loop", OPAQUE_LOOP, "teams"},
    {"teams", AROUND, "teams"},
    {"distribute parallel do", OPAQUE_LOOP, "distribute"},
    {"distribute", AROUND_LOOP, "distribute"},
    {"parallel do simd", HIDDEN_NOTED, NULL},
    {"parallel do", PARALLEL_DO, NULL},
    {"do simd", LOOP, NULL},
    {"do", LOOP, NULL},
    {"parallel loop", HIDDEN_NOTED, NULL},
    {"parallel master taskloop", HIDDEN_NOTED, NULL},
    {"parallel masked taskloop", HIDDEN_NOTED, NULL},
    {"parallel master", SPLIT, "master"},
    {"parallel masked", HIDDEN_NOTED, NULL},
    {"master taskloop", HIDDEN_NOTED, NULL},
    {"masked taskloop", HIDDEN_NOTED, NULL},
    {"masked", INSIDE, "masked"},
    {"parallel sections", SECTIONS, NULL},
    {"sections", SECTIONS, NULL},
    {"scope", AROUND, "scope"},
    {"loop", AROUND_LOOP, "loop"},
    {"taskgroup", GROUP, "taskgroup"},
    {"taskloop", AROUND_LOOP, "taskloop"},
    {"taskyield", HIDDEN, NULL},
    {"atomic", ATOMIC, "atomic"},
    {"ordered", ORDERED, NULL},
    {"cancel", CANCEL, NULL},
    {"cancellation point", HIDDEN, NULL},
};

static const row_t *find_row(const char *p)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (kinst_words(&p, rows[i].name)) return &rows[i];
    return NULL;
}

static bool is_loop(const char *name)
{
    static const char *const words[] = {"do", "loop", "simd", "distribute"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(name, words[i])) return true;
    return false;
}

/* Others may pass OPARI2, but it writes them in lower case, and macros of the preprocessor have their own. */
static bool is_known(const char *p)
{
    static const char *const words[] = {
        "parallel", "do",       "sections",   "section",          "single",           "workshare",
        "master",   "critical", "barrier",    "ordered",          "taskwait",         "atomic",
        "flush",    "task",     "paralleldo", "parallelsections", "parallelworkshare"};

    p = kinst_skip_blanks(p);
    if (strncasecmp(p, "end", 3) == 0) p = kinst_skip_blanks(p + 3);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (kinst_words(&p, words[i])) return true;
    return false;
}

typedef struct {
    kinst_fortran_t *f;
    kinst_lines_t in, out; /* before and after */
    const char *why;
} work_t;

/* ---- Where things end -------------------------------------------------------------------------------------------- */

/* Walks over the statements behind a directive up to the end of the loop that follows it. */
typedef struct {
    long labels[64]; /* of the open DO statements; 0 = END DO */
    unsigned depth;
    bool begun, ended, other;
    size_t last;
} loop_t;

static void walk_loop(void *context, const kinst_statement_t *s)
{
    loop_t *l = context;
    long label;

    if (l->ended || l->other) return;
    if (kinst_fortran_is_do(s->text, &label) && l->depth < 64) {
        l->labels[l->depth++] = label;
        l->begun = true;
    } else if (!l->begun) {
        l->other = true;
    } else if (strncmp(s->text, "enddo", 5) == 0 && l->depth > 0 && l->labels[l->depth - 1] == 0) {
        l->depth--;
    }
    while (s->label > 0 && l->depth > 0 && l->labels[l->depth - 1] == s->label) l->depth--;
    if (l->begun && l->depth == 0) {
        l->ended = true;
        l->last = s->last;
    }
}

/* Index of the last line of the loop that follows line i; 0 = there is none. */
static size_t loop_end(const work_t *w, size_t i)
{
    kinst_reader_t reader = {.form = w->f->form};
    const char *rest;
    loop_t l = {.last = 0};

    for (i++; i < w->in.n && !l.ended && !l.other; i++)
        if (kinst_line_kind(w->f->form, w->in.v[i].text, &rest) == KINST_LINE_CODE)
            kinst_read_code(&reader, w->in.v[i].text, i, walk_loop, &l);
    kinst_read_end(&reader, walk_loop, &l);
    return l.ended ? l.last : 0;
}

/* Index of the last line of the directive that begins at line i. */
static size_t directive_end(const work_t *w, size_t i)
{
    const char *before, *rest;

    kinst_line_kind(w->f->form, w->in.v[i].text, &before);
    for (; i + 1 < w->in.n; i++) {
        if (kinst_line_kind(w->f->form, w->in.v[i + 1].text, &rest) != KINST_LINE_DIRECTIVE) return i;
        if (!kinst_directive_continues(w->f->form, rest, before)) return i;
        before = rest;
    }
    return i;
}

static bool is_directive(const work_t *w, size_t i)
{
    const char *rest;

    return kinst_line_kind(w->f->form, w->in.v[i].text, &rest) == KINST_LINE_DIRECTIVE;
}

/* Does the directive at line i end a construct of this name? */
static bool is_end_of(const work_t *w, size_t i, const char *name)
{
    const char *p;

    return kinst_line_kind(w->f->form, w->in.v[i].text, &p) == KINST_LINE_DIRECTIVE &&
           kinst_words(&p, kinst_text("end %s", name));
}

/* Index of the end directive of the construct at line i; 0 = there is none. */
static size_t construct_end(const work_t *w, size_t i, const char *name)
{
    unsigned depth = 1;
    const char *p;

    for (i = directive_end(w, i) + 1; i < w->in.n; i = directive_end(w, i) + 1) {
        if (kinst_line_kind(w->f->form, w->in.v[i].text, &p) != KINST_LINE_DIRECTIVE) continue;
        if (is_end_of(w, i, name) && --depth == 0) return i;
        const row_t *row = find_row(p);
        if (row && strcmp(row->name, name) == 0) depth++;
    }
    return 0;
}

/* Of a loop: its end directive, or its last line. */
static size_t loop_construct_end(const work_t *w, size_t i, const char *name)
{
    size_t last = loop_end(w, directive_end(w, i));
    const char *rest;

    if (last == 0) return 0;
    for (size_t k = last + 1; k < w->in.n; k++) {
        kinst_line_kind_t kind = kinst_line_kind(w->f->form, w->in.v[k].text, &rest);
        if (kind == KINST_LINE_COMMENT) continue;
        if (kind != KINST_LINE_DIRECTIVE) return last;
        /* The directive may have a longer name than the row: "end distribute parallel do" ends "distribute ...". */
        rest = kinst_skip_blanks(rest);
        bool ends = strncasecmp(rest, "end", 3) == 0;
        rest = kinst_skip_blanks(rest + (ends ? 3 : 0));
        return ends && strncasecmp(rest, name, strcspn(name, " ")) == 0 ? k : last;
    }
    return last;
}

/* ---- What is written --------------------------------------------------------------------------------------------- */

static void put(work_t *w, char *text, unsigned line) { kinst_lines_add(&w->out, text, line); }

/* Lines from to last, as they are, or with what directives are in the source hidden. */
static void copy(work_t *w, size_t from, size_t last, bool hide)
{
    for (size_t i = from; i <= last && i < w->in.n; i++) {
        kinst_line_t line = w->in.v[i];
        if (hide && is_directive(w, i)) {
            if (!line.original) continue;
            kinst_add(&w->f->hidden, line.original);
            /* In fixed form OPARI2 forgets a comment behind a directive. */
            line.text = kinst_text("%s !" KINST_FORTRAN_HIDDEN " %zu", w->f->form.fixed ? "      continue" : "",
                                   w->f->hidden.n - 1);
        }
        *(kinst_line_t *)kinst_push(&w->out.v, &w->out.n, sizeof line) = line;
    }
}

static size_t region(work_t *w, const char *type, size_t begin, size_t end)
{
    size_t id = kinst_fortran_region(w->f, type, "", w->in.v[begin].line);

    w->f->regions[id - 1].end = w->in.v[end].last;
    return id;
}

static void put_call(work_t *w, const char *what, size_t id, unsigned line)
{
    put(w, kinst_text("      call ompp_user_%s_%zu", what, id), line);
}

static void note(work_t *w, size_t i, const char *name)
{
    kinst_mapping_t m = kinst_fortran_mapped(w->f, w->in.v[i].line);

    kinst_addf(&w->f->unmeasured, "%s", name);
    kinst_addf(&w->f->unmeasured, "%s:%u", m.file ? m.file : w->f->source->path, m.line);
}

static size_t transform(work_t *w, size_t i);

/* Lines inside a construct that begins at begin, transformed in turn. */
static void inside(work_t *w, size_t from, size_t last, bool opaque)
{
    if (opaque) {
        copy(w, from, last, true);
        return;
    }
    for (size_t i = from; i <= last;) i = transform(w, i) + 1;
}

/* The construct from i to end, with calls around it or inside. \return end. */
static size_t surround(work_t *w, size_t i, size_t end, const row_t *row)
{
    size_t head = directive_end(w, i), tail = directive_end(w, end), id = region(w, row->type, i, end);
    bool opaque = row->action == OPAQUE || row->action == OPAQUE_LOOP, within = row->action == INSIDE;
    bool ends = is_directive(w, end);

    if (!within) put_call(w, "begin", id, w->in.v[i].line);
    copy(w, i, head, true);
    if (within) put_call(w, "begin", id, w->in.v[i].line);
    inside(w, head + 1, ends ? end - 1 : end, opaque);
    if (within) put_call(w, "end", id, w->in.v[end].line);
    if (row->action == GROUP) put_call(w, "await", id, w->in.v[end].line);
    if (ends) copy(w, end, tail, true);
    if (!within) put_call(w, "end", id, w->in.v[end].line);
    return ends ? tail : end;
}

/* parallel X: the clauses are those of the team, X has none. */
static size_t split(work_t *w, size_t i, size_t end, const row_t *row)
{
    size_t head = directive_end(w, i);
    char *first = w->in.v[i].text, *word = strcasestr(first, row->type);

    if (!word) return 0;
    memset(word, ' ', strlen(row->type));
    copy(w, i, head, false);
    put(w, kinst_text("!$omp %s", row->type), w->in.v[i].line);
    inside(w, head + 1, end - 1, false);
    put(w, kinst_text("!$omp end %s", row->type), w->in.v[end].line);
    put(w, kinst_text("!$omp end parallel"), w->in.v[end].line);
    return directive_end(w, end);
}

/*
 * A construct that OPARI2 must not see, with or without an end directive. What is inside is transformed as usual, but
 * not in a team that was not made by a construct of OPARI2's: its threads would share OPARI2's variables; nor the
 * sections of a construct that it does not see.
 */
static size_t hide(work_t *w, size_t i, const char *name, const char *label)
{
    size_t head = directive_end(w, i), end = is_loop(name) ? loop_construct_end(w, i, name) : 0;
    bool opaque = strncmp(name, "parallel", 8) == 0 || strcmp(name, "sections") == 0;

    note(w, i, label);
    if (end == 0) end = construct_end(w, i, name);
    copy(w, i, head, true);
    if (end == 0) return head;
    bool ends = is_directive(w, end);
    inside(w, head + 1, ends ? end - 1 : end, opaque);
    if (!ends) return end;
    copy(w, end, directive_end(w, end), true);
    return directive_end(w, end);
}

/* A directive that OPARI2 must not see, with the construct that it begins; one that ends a construct has none. */
static size_t leave_out(work_t *w, size_t i, const char *p)
{
    static const char *const others[] = {"parallel sections",
                                         "parallel workshare",
                                         "parallel",
                                         "sections",
                                         "single",
                                         "workshare",
                                         "master",
                                         "critical",
                                         "task",
                                         "atomic",
                                         "ordered"};
    const row_t *row = find_row(p);
    const char *name = row ? row->name : NULL, *rest = p, *why = w->in.v[i].why;

    for (size_t k = 0; k < sizeof others / sizeof others[0] && !name; k++)
        if (kinst_words(&rest, others[k])) name = others[k];
    if (name) return hide(w, i, name, kinst_text("%s (%s)", name, why));
    note(w, i, kinst_text("directive (%s)", why));
    copy(w, i, i, true);
    return i;
}

/* OPARI2 does not end loops of DO SIMD as they want, nor others before a directive that is hidden from it. */
static size_t loop(work_t *w, size_t i, const row_t *row)
{
    size_t head = directive_end(w, i), end = loop_construct_end(w, i, row->name);

    copy(w, i, head, false);
    if (end == 0 || is_directive(w, end)) return head;
    inside(w, head + 1, end, false);
    put(w, kinst_text("!$omp end %s", row->name), w->in.v[end].last);
    return end;
}

/* The first section needs no directive, and OPARI2 does not see one without. */
static size_t sections(work_t *w, size_t i)
{
    const size_t head = directive_end(w, i);
    size_t next = head + 1;
    const char *p = "";
    kinst_line_kind_t kind = KINST_LINE_COMMENT;

    copy(w, i, head, false);
    for (; next < w->in.n && kind == KINST_LINE_COMMENT; next++)
        kind = kinst_line_kind(w->f->form, w->in.v[next].text, &p);
    const bool has = kind == KINST_LINE_DIRECTIVE && (kinst_words(&p, "section") || strncasecmp(p, "end", 3) == 0);
    if (!has && (kind == KINST_LINE_CODE || kind == KINST_LINE_DIRECTIVE))
        put(w, kinst_text("!$omp section"), w->in.v[i].line);
    return head;
}

static bool has_clause(const work_t *w, size_t i, const char *clause)
{
    for (size_t last = directive_end(w, i); i <= last; i++)
        if (strcasestr(w->in.v[i].text, clause)) return true;
    return false;
}

/* The directive or line at i. \return index of the last line that was written. */
static size_t transform(work_t *w, size_t i)
{
    const char *p;
    size_t end = 0, head;
    const row_t *row = NULL;

    if (kinst_line_kind(w->f->form, w->in.v[i].text, &p) == KINST_LINE_DIRECTIVE) row = find_row(p);
    if (!row && !is_directive(w, i)) {
        copy(w, i, i, false);
        return i;
    }
    if (w->in.v[i].why) return leave_out(w, i, p);
    head = directive_end(w, i);
    if (!row) {
        copy(w, i, head, !is_known(p));
        return head;
    }
    switch (row->action) {
    case AROUND:
    case GROUP:
    case OPAQUE:
    case INSIDE: end = construct_end(w, i, row->name); break;
    case AROUND_LOOP:
    case OPAQUE_LOOP: end = loop_construct_end(w, i, row->name); break;
    case ATOMIC: /* the next directive is its end, if it has one */
        for (end = head + 1; end < w->in.n; end++)
            if (kinst_line_kind(w->f->form, w->in.v[end].text, &p) == KINST_LINE_DIRECTIVE) break;
        end = end < w->in.n && is_end_of(w, end, "atomic") ? end : 0;
        if (end) break;
        copy(w, i, head, false);
        return head;
    case CALL: {
        size_t id = region(w, row->type, i, head);
        put_call(w, "begin", id, w->in.v[i].line);
        copy(w, i, head, true);
        put_call(w, "end", id, w->in.v[i].line);
        return head;
    }
    case SPLIT:
        end = construct_end(w, i, row->name);
        return end ? split(w, i, end, row) : hide(w, i, row->name, row->name);
    case ORDERED:
        if (has_clause(w, i, "depend") || has_clause(w, i, "doacross")) {
            note(w, i, "ordered depend");
            copy(w, i, head, true);
        } else {
            copy(w, i, head, false);
        }
        return head;
    case PARALLEL_DO:
        if (has_clause(w, i, "ordered(") || has_clause(w, i, "ordered ("))
            return hide(w, i, row->name, "parallel do ordered(n)");
        if (has_clause(w, i, "order(") || has_clause(w, i, "order ("))
            return hide(w, i, row->name, "parallel do order");
        if (has_clause(w, i, "linear(") || has_clause(w, i, "linear ("))
            return hide(w, i, row->name, "parallel do linear");
        return loop(w, i, row);
    case LOOP: return loop(w, i, row);
    case SECTIONS: return sections(w, i);
    case CANCEL: w->why = "it has cancel, which leaves out calls"; break;
    case HIDDEN: copy(w, i, head, true); return head;
    case HIDDEN_NOTED: return hide(w, i, row->name, row->name);
    }
    if (end && strcmp(row->name, "taskloop") == 0) note(w, i, "tasks of taskloop");
    if (end) return surround(w, i, end, row);
    if (row->action != CANCEL) note(w, i, row->name);
    copy(w, i, head, true);
    return head;
}

const char *kinst_fortran_hide(kinst_fortran_t *f, kinst_lines_t *out)
{
    work_t w = {.f = f};

    f->unmeasured.n = 0;
    f->nregions = f->nuser;
    kinst_fortran_prepare(f, &w.in);
    for (size_t i = 0; i < w.in.n && !w.why; i++) i = transform(&w, i);
    *out = w.out;
    return w.why;
}
